//! The language of `derrl`: what is written and what follows from it.

pub mod alphabet;
pub mod diagnostic;
mod domain;
mod file_kind;
mod ground_text;
mod lexer;
mod lint;
pub mod parser;
mod policy;
mod resolve;
pub mod rule;
pub mod syntax;

pub use alphabet::Alphabet;
pub use diagnostic::{Diagnostic, Error, Severity, Source};
pub use file_kind::FileKind;
pub use ground_text::{parse_facts, parse_ground_action};
pub use lint::Warning;
pub use policy::Policy;
pub use rule::Rule;
