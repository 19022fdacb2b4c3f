//! The language of `derrl`: what is written and what follows from it.

pub mod alphabet;
pub mod rule;
pub mod syntax;
