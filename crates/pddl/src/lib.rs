//! PDDL for `derrl`.

mod domain;
mod formula;
mod problem;
mod scope;
mod sexp;
mod types;

pub use domain::{Domain, Function, ObjectDecl, Predicate, Role};
pub use formula::{Atom, Axiom, Cost, Effect, Formula, Schema, Term};
pub use problem::Problem;
pub use types::{Kind, TypeId, Types};
