//! Acting with a policy as its text reads, and scores of it.

pub mod actor;
pub mod score;
pub mod soft;
