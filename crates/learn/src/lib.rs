//! Turns experience into rules: the method of DERRL, and what makes its results readable.
//!
//! ```
//! use std::sync::Arc;
//! use derrl_env::{Options, find, make};
//! use derrl_learn::{Checkpoint, Config, Problem, Search, Silent, evaluate};
//!
//! let spec = find("blocks")?;
//! let alphabet = spec.alphabet();
//! let problem = Arc::new(Problem::new(&alphabet, 1)?);
//! let train = || make(spec, &alphabet, "train", &Options::default());
//!
//! // One run with seed 0 on two threads, from the start.
//! let config = Config::default();
//! let runs = Search::new(&problem, &config, &train, &Silent).run(vec![(0, Checkpoint::default())], 2)?;
//! let learned = runs.into_iter().flatten().next().expect("nobody interrupts");
//! println!("{}", learned.policy.display(&alphabet));
//!
//! // The rules were learned with three blocks; they hold with more.
//! let mut larger = make(spec, &alphabet, "dynamic-blocks", &Options::default())?;
//! let score = evaluate(&learned.policy, &alphabet, larger.as_mut(), 100, 0)?;
//! assert!(score.mean > 0.93);
//! # Ok::<(), derrl_learn::Error>(())
//! ```
//!
//! The paper is in three files: `inference.rs` (what a rule is worth in a state), `generator.rs` (how rules are proposed) and
//! `gradient.rs` (how the generator learns). Around them:
//!
//! | file | holds |
//! |---|---|
//! | `config.rs` | every setting, with its unit and the paper's symbol |
//! | `tnorm.rs`, `estimator.rs` | the tables of t-norms and of gradient estimators |
//! | `problem.rs`, `constraints.rs` | rule slots, candidate atoms and semantic constraints of an alphabet |
//! | `states.rs`, `rollout.rs`, `relaxed.rs` | states grounded once, episodes, and the relaxed F |
//! | `network.rs`, `adam.rs` | the small network behind the generator, and its optimiser |
//! | `train.rs`, `search.rs` | one restart; restarts in waves on all cores, with checkpoints |
//! | `simplify.rs`, `refine.rs` | dropping what changes no decision; settling by return which rules tie |
//! | `actor.rs` | a policy acting as its text reads, in small states and large |
//! | `evaluate.rs`, `explain.rs` | scores of a policy as its text reads; why it acts as it does |
//! | `agents/` | DERRL and the baselines of the paper behind one trait |

mod actor;
mod adam;
mod agents;
mod config;
mod constraints;
mod equivalence;
mod error;
mod estimator;
mod evaluate;
mod explain;
mod generator;
mod gradient;
mod grow;
mod inference;
mod network;
mod problem;
mod refine;
mod relaxed;
mod rollout;
mod sampler;
mod search;
mod simplify;
mod states;
mod tnorm;
mod train;
mod verify;

pub use adam::Adam;
pub use agents::{
    AGENTS, Agent, AgentSpec, Learning, MakeAgent, Parameters, Point, Saved, Setup, Trained, Training,
    Unwatched, Watcher, evaluate_agent, find_agent,
};
pub use config::{BASELINES, Baseline, CONSTRAINT_MODES, Config, ConstraintMode};
pub use constraints::Constraints;
pub use equivalence::{Comparison, Difference, Everywhere, Pruned, Side};
pub use error::Error;
pub use estimator::{ESTIMATORS, Estimator};
pub use evaluate::{
    Act, Actor, EpisodeResult, Score, episode_streams, evaluate, mean_stderr, run_episodes, score,
};
pub use explain::{
    Ask, Bounds, Change, End, ExplainedStep, Explainer, Explanation, Found, Match, Others, Reason, Standing,
    Trace, WhatIf, WhatIfs, WhyNot, explain_episode, find_action,
};
pub use generator::{Generator, Given, RuleDistribution, Slot};
pub use inference::{GroundAtoms, softmax, valuations, value};
pub use network::Network;
pub use problem::Problem;
pub use refine::{Judge, Judged, advantage, refine};
pub use sampler::{Sampler, gumbel_max};
pub use search::{Checkpoint, Learned, MakeEnv, Observer, Outcome, Partial, Search, Silent};
pub use simplify::{length, simplify};
pub use states::{StateId, States};
pub use tnorm::{TNORMS, TNorm};
pub use train::{Snapshot, Trainer, UpdateStats};
pub use verify::{
    Counterexample, Estimate, Excess, Failure, Kind, Monitor, NoMonitor, Progress, Report, RunStep,
    SizeReport, Subject, Tally, Ties, Verdict, Worst, WorstCase, constants, cores, estimate, verify,
};
