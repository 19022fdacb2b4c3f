//! How the generator learns: the gradient, and one restart.

pub mod gradient;
pub mod inference;
pub mod plain;
pub mod prune;
pub mod restart;
