//! What may be said: rule slots, candidate atoms, bodies and constraints of an alphabet.

pub mod body;
pub mod cache;
pub mod constraints;
pub mod ids;
pub mod problem;
pub mod slot;
