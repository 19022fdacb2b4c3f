//! The language of `derrl`: what is written and what follows from it.

pub mod alphabet;
mod candidates;
mod decide;
pub mod diagnostic;
mod domain;
mod facts;
mod file_kind;
mod ground_text;
mod grounding;
mod lexer;
mod lint;
pub mod parser;
mod policy;
mod query;
mod resolve;
pub mod rule;
mod state;
pub mod syntax;
mod universe;

pub use alphabet::{Action, Alphabet, Pred, Role, RuleCount, Type, Types, Var};
pub use candidates::candidates;
pub use decide::{Decider, Decision};
pub use diagnostic::{Diagnostic, Error, Severity, Source};
pub use facts::Facts;
pub use file_kind::FileKind;
pub use ground_text::{parse_facts, parse_ground_action};
pub use grounding::{Grounder, Grounding, subset};
pub use lint::Warning;
pub use policy::Policy;
pub use query::{Binding, Query};
pub use rule::{Arg, Literal, Rule};
pub use state::{parse_state, parse_state_in};
pub use syntax::Constant;
pub use universe::{GroundAction, Object, Universe};
