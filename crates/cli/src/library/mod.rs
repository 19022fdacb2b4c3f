//! What the library offers beside its worlds: training in one call, and policies to act with.

pub mod error;
pub mod planning;
pub mod policy;
pub mod run;
pub mod state;
