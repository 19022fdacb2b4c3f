//! What makes a policy worth trusting: explanation, verification and comparison.

pub mod compare;
pub mod explain;
pub mod verify;
