//! What makes a policy worth trusting: explanation, verification and comparison.

pub mod choices;
pub mod compare;
pub mod diagnose;
pub mod explain;
pub mod verify;
