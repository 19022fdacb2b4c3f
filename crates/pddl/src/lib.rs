//! PDDL for `derrl`.

mod domain;
mod formula;
mod problem;
mod query;
mod relation;
mod scope;
mod sexp;
mod simulator;
mod task;
mod types;

pub use domain::{Domain, Function, ObjectDecl, Predicate, Role};
pub use formula::{Atom, Axiom, Cost, Effect, Formula, Schema, Term};
pub use problem::Problem;
pub use simulator::{Actions, Simulator, State};
pub use task::Task;
pub use types::{Kind, TypeId, Types};
