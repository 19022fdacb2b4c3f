//! Turns experience into rules.

mod adam;
mod config;
mod constraints;
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

pub use adam::Adam;
pub use config::{BASELINES, Baseline, CONSTRAINT_MODES, Config, ConstraintMode};
pub use constraints::Constraints;
pub use error::Error;
pub use estimator::{ESTIMATORS, Estimator};
pub use evaluate::{Actor, EpisodeResult, Score, episode_streams, evaluate, mean_stderr, run_episodes};
pub use explain::{
    Ask, Bounds, Change, End, ExplainedStep, Explainer, Explanation, Found, Match, Others, Reason, Standing,
    Trace, WhatIf, WhatIfs, WhyNot, explain_episode, find_action,
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
