//! The language of `derrl`: what is written and what follows from it.

pub mod alphabet;
pub mod diagnostic;
mod lexer;
pub mod parser;
pub mod rule;
pub mod syntax;

pub use diagnostic::{Diagnostic, Error, Severity, Source};
