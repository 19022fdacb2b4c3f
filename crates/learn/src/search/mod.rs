//! A whole run: restarts in waves, then simplification, refinement and growth.

pub mod grow;
pub mod improve;
pub mod refine;
pub mod simplify;
pub mod waves;
