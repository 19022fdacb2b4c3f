//! Where rules come from, and what each restart of the gradient came to.

use serde::{Deserialize, Serialize};

use crate::training::restart::UpdateStats;

/// The part of the learner that found a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// It was given and frozen.
    Given,
    /// The gradient on the rule generator: the paper's method.
    Gradient,
    /// Editing by regret, on what was explored or tried.
    Improvement,
    /// Lists that were drawn and changed.
    Drawn,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Origin::Given => "given",
            Origin::Gradient => "gradient",
            Origin::Improvement => "improvement",
            Origin::Drawn => "races",
        })
    }
}

/// A restart of the gradient that is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RestartResult {
    /// Which restart.
    pub restart: u64,
    /// The rules by argmax, as learned.
    pub learned: String,
    /// The same without what changes no decision on the training task.
    pub simplified: String,
    /// Atoms of the learned rules on which no decision depends, in any of the states met (`Met`).
    pub redundant_atoms: usize,
    /// Rules and atoms of the simplified policy.
    pub length: usize,
    /// Updates done.
    pub updates: usize,
    /// Episodes of training.
    pub episodes: u64,
    /// Environment steps of training.
    pub steps: u64,
    /// Environment steps of the races that followed.
    pub selection_steps: u64,
    /// Whether its rules were the best so far.
    pub led: bool,
    /// The training curve.
    pub curve: Vec<UpdateStats>,
}
