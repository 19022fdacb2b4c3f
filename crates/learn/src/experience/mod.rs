//! What is seen: states grounded once, and episodes with sampled rules.

pub mod counted;
pub mod episode;
pub mod met;
pub mod relaxed;
pub mod rollout;
pub mod rules;
pub mod states;
