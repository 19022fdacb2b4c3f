//! Turns experience into rules: the method of DERRL, and what makes its results readable.
//!
//! ```
//! use std::sync::Arc;
//! use derrl_env::{Options, find};
//! use derrl_learn::{Checkpoint, Config, Problem, Search, Silent, evaluate};
//!
//! let spec = find("blocks")?;
//! let alphabet = spec.alphabet();
//! let problem = Arc::new(Problem::new(&alphabet, 1)?);
//! let train = || spec.make(&alphabet, "train", &Options::default());
//!
//! // One run with seed 0 on two threads, from the start.
//! let config = Config::default();
//! let runs = Search::new(&problem, &config, &train, &Silent).run(vec![(0, Checkpoint::default())], 2)?;
//! let learned = runs.into_iter().flatten().next().expect("nobody interrupts");
//! println!("{}", learned.policy.display(&alphabet));
//!
//! // The rules were learned with three blocks; they hold with more.
//! let mut larger = spec.make(&alphabet, "dynamic-blocks", &Options::default())?;
//! let score = evaluate(&learned.policy, &alphabet, larger.as_mut(), 100, 0)?;
//! assert!(score.mean > 0.93);
//! # Ok::<(), derrl_learn::Error>(())
//! ```
//!
//! Read `training/plain.rs` first: it is the paper's training step in plain form, P → sample → F → pi → gradient. What runs
//! is its fast form, and gives the same numbers: `generator/mod.rs` (P), `experience/rollout.rs` (sample, F and pi) and
//! `training/gradient.rs`. Each folder uses only those above it:
//!
//! | folder | holds |
//! |---|---|
//! | `settings/` | every setting, with its unit and the paper's symbol; t-norms, estimators, random streams |
//! | `language/` | rule slots, candidate atoms, bodies and semantic constraints of an alphabet |
//! | `generator/` | the rule generator: its small network, sampling and optimiser |
//! | `experience/` | worlds whose steps are counted, states grounded once, episodes with sampled rules, the relaxed F |
//! | `training/` | the paper in plain form, the gradient, and one restart |
//! | `act/` | a policy acting as its text reads, in small states and large, and its scores |
//! | `table/` | what was explored: states, what actions led to there, and what states are worth |
//! | `fit/` | lists of rules that fit what actions lose |
//! | `invent/` | predicates that could be invented |
//! | `learner/` | the search: record, plan, moves, judge and ledger |
//! | `perception/` | symbols from pixels, learned from what actions do and bring |
//! | `insight/` | explanation, verification and comparison of policies |
//! | `agents/` | DERRL and the baselines of the paper behind one trait |

mod act;
mod agents;
mod error;
mod experience;
mod fit;
mod generator;
mod hashing;
mod insight;
mod invent;
mod language;
mod learner;
mod limits;
mod parallel;
mod perception;
mod settings;
mod table;
mod training;

pub use act::score::{
    Act, Actor, EpisodeResult, ProblemScore, SOLVED, Score, check_definitions, episode_streams, evaluate,
    evaluate_noting, evaluate_while, mean_stderr, run_episodes, score,
};
pub use act::soft::SoftPolicy;
pub use agents::{
    AGENTS, Agent, AgentSpec, BaselineConfig, MakeAgent, Parameters, Saved, Setup, TrainingJob,
    TrainingResult, evaluate_agent, find_agent,
};
pub use error::{Error, MOST_CANDIDATES};
pub use experience::counted::Counted;
pub use experience::met::{Met, SavedStates};
pub use experience::states::{StateId, States};
pub use generator::Generator;
pub use generator::adam::Adam;
pub use generator::network::Network;
pub use generator::sampler::{Sampler, gumbel_max};
pub use insight::compare::{Comparison, Difference, Everywhere, Pruned, Side};
pub use insight::diagnose::{Diagnosis, FirstFailure, Missing, Pair, Patient, Shown, diagnose};
pub use insight::explain::{
    Ask, Bounds, Change, End, ExplainedStep, Explainer, Explanation, Forbidden, Found, Laws, Leeway, Look,
    Match, NumberChange, Others, Reading, Reason, Seen, Standing, Trace, WhatIf, WhatIfs, WhyNot,
    explain_episode, find_action,
};
pub use insight::verify::{
    CertificateLine, Counterexample, Estimate, Excess, Failure, Guarded, Kind, Monitor, NoMonitor, Progress,
    Property, PropertyReport, Report, RunStep, ShieldReport, SizeReport, Subject, Tally, Verdict, Violating,
    Violation, Worst, WorstCase, certify, check_property, constants, estimate, verify,
};
pub use language::constraints::Constraints;
pub use language::ids::{KindId, Lane, Learner, Place, SlotId, Slots};
pub use language::problem::Problem;
pub use language::slot::{Given, RuleDistribution, Slot};
pub use learner::{
    Best, Checkpoint, Learned, MOVES, MakeEnv, MakeSizes, Move, Observer, Origin, Partial, Point,
    RestartResult, Search, Silent, Sizes, Widening, WideningStep,
};
pub use parallel::cores;
pub use perception::{Brings, Drawn, Gallery, Looking, Perception, perceive};
pub use settings::config::{BASELINES, Baseline, CONSTRAINT_MODES, Config, ConstraintMode};
pub use settings::estimator::{ESTIMATORS, Estimator};
pub use settings::explained::{Explained, explained};
pub use settings::tnorm::{TNORMS, TNorm};
pub use training::inference::{GroundAtoms, softmax, valuations, value};
pub use training::plain::{Plain, PlainStep};
pub use training::prune::{length, prune};
pub use training::restart::{Restart, Snapshot, UpdateStats};
