//! A whole run: restarts in waves, then simplification, refinement and growth.

pub mod attempt;
pub mod budget;
pub mod checkpoint;
mod dialects;
pub mod diary;
mod finish;
pub mod grow;
pub mod improve;
mod numbers;
pub mod observer;
pub mod prune;
pub mod refine;
pub mod scout;
pub mod waves;
