//! Learns reinforcement-learning policies that a person can read: first-order rules.
//!
//! Bring a world, learn a policy for it, look at it, act with it:
//!
//! ```
//! use derrl::{BoxError, Env, Facts, Outcome, Rng, Settings, State, World};
//!
//! /// Lamps, some of which are lit: put out all of them.
//! struct Lamps { lit: Vec<bool> }
//!
//! impl Env for Lamps {
//!     fn reset(&mut self, rng: &mut Rng) -> Result<(), BoxError> {
//!         self.lit.iter_mut().for_each(|lit| *lit = rng.below(2) == 0);
//!         self.lit[0] = true; // something is left to do
//!         Ok(())
//!     }
//!
//!     fn facts(&self, facts: &mut Facts) {
//!         for (i, lit) in self.lit.iter().enumerate() {
//!             let name = format!("lamp{i}");
//!             facts.say("lamp", &[&name]);
//!             if *lit {
//!                 facts.say("lit", &[&name]);
//!             }
//!         }
//!     }
//!
//!     fn step(&mut self, _toggle: &str, args: &[&str], _: &mut Rng) -> Result<Outcome, BoxError> {
//!         let i: usize = args[0]["lamp".len()..].parse()?;
//!         self.lit[i] = !self.lit[i];
//!         let done = self.lit.iter().all(|lit| !lit);
//!         Ok(if done { Outcome::terminated(1.0) } else { Outcome::running(-0.05) })
//!     }
//!
//!     fn horizon(&self) -> usize {
//!         20
//!     }
//! }
//!
//! let domain = "
//!     :- action(toggle(lamp)).
//!     :- state(lit(lamp)).
//!     :- background(lamp(lamp)).
//!     :- variables(2).
//! ";
//! let world = World::new("lamps", domain)?
//!     .task("train", || Lamps { lit: vec![false; 3] })
//!     .task("large", || Lamps { lit: vec![false; 30] });
//! # let settings = Settings { updates: 20, restarts: 2, ..Settings::default() };
//! # #[cfg(any())]
//! let settings = Settings::default();
//! let run = derrl::train(&world, &settings, 0)?;
//! println!("{}", run.policy);
//! println!("{:.3}", run.scores["large"].mean);
//!
//! let mut state = State::new();
//! state.say("lamp", &["a"]);
//! state.say("lit", &["a"]);
//! assert_eq!(run.policy.act(&state, &mut Rng::new(0, 0))?.to_string(), "toggle(a)");
//! # Ok::<(), derrl::Error>(())
//! ```
//!
//! | item | does |
//! |---|---|
//! | [`World`], [`Env`] | a world of your own: a name, an alphabet, tasks, and what actions do |
//! | [`contract::check`] | holds a world to the laws that all worlds keep; call it in a test |
//! | [`train`] | learns a policy and scores it on every task |
//! | [`Policy`] | acts, explains, answers why not, is proved and exported |
//! | [`Soft`] | a policy where facts hold with a probability, with the gradient to these |
//! | [`Planning`] | a PDDL domain with its problems, as a world |
//! | [`in_folder`] | training in a folder, as the command line does it |
//! | [`spread`] | restarts of a run in other processes or on other machines |
//! | [`engine`], [`learner`], [`logic`] | the crates below, for what this page does not offer |

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod asked;
pub mod domain;
mod error;
pub mod estimate;
pub mod extent;
pub mod in_folder;
mod listener;
pub mod pddl;
mod planning;
pub mod policies;
mod policy;
pub mod runs;
pub mod score;
pub mod settings;
pub mod setup;
pub mod shell;
mod soft;
pub mod spread;
mod state;
mod train;
pub mod worlds;

pub use derrl_env as engine;
pub use derrl_env::contract;
pub use derrl_env::named::{Actions, Env, Facts};
pub use derrl_env::{BoxError, Cost, Exhaustive, Fault, Options, Outcome, Rng, Status, Task, World};
pub use derrl_learn as learner;
pub use derrl_learn::{Config as Settings, Explanation, Score, WhyNot};
pub use derrl_logic as logic;
pub use error::Error;
pub use listener::{Control, Deaf, Listener};
pub use planning::{Planning, Problems, Solution};
pub use policy::{Action, Policy, Proof};
pub use soft::Soft;
pub use state::State;
pub use train::{Run, train, train_observed};
