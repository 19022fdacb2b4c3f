//! Turns experience into rules.

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
mod inference;
mod network;
mod problem;
mod refine;
mod relaxed;
mod rollout;
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
pub use evaluate::{Act, Actor, EpisodeResult, Score, evaluate, mean_stderr, run_episodes, score};
pub use explain::{
    ExplainedStep, Explainer, Explanation, Match, Reason, WhyNot, explain_episode, find_action,
};
pub use generator::{Generator, RuleDistribution, Sampler, Slot, gumbel_max};
pub use inference::{GroundAtoms, softmax, valuations, value};
pub use network::Network;
pub use problem::Problem;
pub use refine::{Judge, Judged, advantage, refine};
pub use search::{Checkpoint, Learned, MakeEnv, Observer, Outcome, Partial, Search, Silent};
pub use simplify::{length, simplify};
pub use states::{StateId, States};
pub use tnorm::{TNORMS, TNorm};
pub use train::{Snapshot, Trainer, UpdateStats};
pub use verify::{
    Counterexample, Estimate, Excess, Failure, Kind, NoOverseer, Overseer, Progress, Report, RunStep,
    SizeReport, Subject, Tally, Verdict, Worst, WorstCase, constants, cores, estimate, verify,
};
