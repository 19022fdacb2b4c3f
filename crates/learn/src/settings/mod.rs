//! Settings, and the tables of t-norms and estimators they choose from.

pub mod config;
pub mod estimator;
pub mod explained;
pub mod named;
pub mod streams;
pub mod tnorm;
