//! PDDL for `derrl`.

mod clauses;
mod domain;
mod env;
mod explore;
mod formula;
pub mod generate;
mod load;
mod plan;
mod problem;
mod query;
mod relation;
mod scope;
mod sexp;
mod simulator;
mod task;
mod translate;
mod types;

pub use domain::{Domain, Function, ObjectDecl, Predicate, Role};
pub use env::{PddlEnv, Problems, default_horizon};
pub use explore::{Graph, Solvability, graph, solvability};
pub use formula::{Atom, Axiom, Cost, Effect, Formula, Schema, Term};
pub use load::{load_domain, load_problem, load_problems, problem_files};
pub use plan::{Checked, Plan};
pub use problem::Problem;
pub use simulator::{Actions, Simulator, State};
pub use task::Task;
pub use translate::{Translation, plain};
pub use types::{Kind, TypeId, Types};
