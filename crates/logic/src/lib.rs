//! The language of `derrl`: what is written and what follows from it.

pub mod alphabet;
pub mod diagnostic;
mod domain;
mod lexer;
pub mod parser;
mod policy;
mod resolve;
pub mod rule;
pub mod syntax;

pub use alphabet::Alphabet;
pub use diagnostic::{Diagnostic, Error, Severity, Source};
pub use policy::Policy;
pub use rule::Rule;
