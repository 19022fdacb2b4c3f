//! PDDL for `derrl`: reads planning domains and problems, simulates them, and writes them in derrl's language.
//!
//! A [`Domain`] and a problem of it become a [`Task`]: conditions are joins, effects lists of changes. A [`Simulator`] is a
//! state of a task. A [`Translation`] is the domain as the text that derrl learns with; [`PddlEnv`] plays episodes in
//! [`Problems`]. The model is used to simulate only.
//!
//! ```
//! use std::sync::Arc;
//! use derrl_env::{Env, Rng};
//! use derrl_logic::Source;
//! use derrl_pddl::{Domain, PddlEnv, Problems, Task, Translation};
//!
//! let domain = Arc::new(Domain::parse(&Source::new("lamps.pddl", "
//!     (define (domain lamps) (:requirements :negative-preconditions)
//!       (:predicates (lit ?x))
//!       (:action press :parameters (?x) :precondition (not (lit ?x)) :effect (lit ?x)))"))?);
//! let task = Arc::new(Task::parse(&Source::new("two.pddl", "
//!     (define (problem two) (:domain lamps) (:objects a b) (:init) (:goal (and (lit a) (lit b))))"), &domain)?);
//!
//! let translation = Translation::new(&domain, [task.as_ref()])?;
//! assert!(translation.text().contains("press(X) :- \\+ lit(X)."));
//!
//! let problems = Problems::new(&translation, &translation.alphabet()?, vec![task], None)?;
//! let mut env = PddlEnv::new(Arc::new(problems))?;
//! let mut actions = Vec::new();
//! for _ in 0..2 {
//!     actions.clear();
//!     env.legal(&mut actions);
//!     env.step(actions[0].action, &actions[0].args.clone(), &mut Rng::new(0, 0));
//! }
//! assert!(env.succeeded());
//! # Ok::<(), derrl_logic::Error>(())
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `sexp.rs`, `scope.rs` | from text to lists of words; from names to ids |
//! | `domain.rs`, `problem.rs`, `types.rs`, `formula.rs` | what the files say, in ids |
//! | `load.rs` | files and folders |
//! | `relation.rs`, `query.rs` | sets of tuples; conditions as joins over them |
//! | `task.rs`, `simulator.rs` | a compiled problem; its states |
//! | `explore.rs` | all states that can be reached, where they are few |
//! | `variants.rs`, `enlarge.rs`, `compose.rs` | problems like those that were given, of the same size and larger |
//! | `repeated.rs` | actions with equal arguments |
//! | `clauses.rs`, `translate.rs` | conditions as clauses; the domain as derrl's text |
//! | `env.rs` | episodes |
//! | `plan.rs` | plans: written, read, checked |
//! | `generate/`, `worlds/` | domains of our own, with problems of any size and policies written by hand |
//! | `bench.rs` | what the benchmark measures |

pub mod bench;
mod clauses;
mod compose;
mod domain;
mod enlarge;
mod env;
mod explore;
mod formula;
pub mod generate;
mod load;
mod plan;
mod problem;
mod query;
mod relation;
mod repeated;
mod scope;
mod sexp;
mod simulator;
mod task;
mod translate;
mod types;
mod variants;

pub use compose::composed;
pub use domain::{Domain, Function, ObjectDecl, Predicate, Role};
pub use enlarge::enlarged;
pub use env::{PddlEnv, Problems, default_horizon};
pub use explore::{Graph, Solvability, graph, solvability};
pub use formula::{Atom, Axiom, Cost, Effect, Formula, Schema, Term};
pub use load::{load_domain, load_problem, load_problems, problem_files};
pub use plan::{Checked, Plan};
pub use problem::Problem;
pub use repeated::{Repeated, repeated};
pub use simulator::{Actions, Simulator, State};
pub use task::Task;
pub use translate::{Translation, plain};
pub use types::{Kind, TypeId, Types};
pub use variants::variants;
