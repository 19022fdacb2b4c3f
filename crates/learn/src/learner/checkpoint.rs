//! What a run has done so far: all that is needed to resume it.

use std::sync::Arc;

use derrl_logic::{Alphabet, Policy};
use serde::{Deserialize, Serialize};

use super::limits::PERCENT;
use super::origin::{Origin, RestartResult};
use super::saved::Saved;
use super::words::WideningStep;
use crate::act::score::SOLVED;
use crate::training::restart::{Snapshot, UpdateStats};

/// A restart that is under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Partial {
    /// Which restart.
    pub restart: u64,
    /// Where it stands.
    pub snapshot: Snapshot,
    /// Its training curve so far. A curve has some two hundred points, however many updates there are.
    pub curve: Vec<UpdateStats>,
}

/// All that a run needs to be resumed: what is done and what is under way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Restarts of the gradient that are done, in order.
    pub done: Vec<RestartResult>,
    /// The restart that is under way, if any.
    pub running: Vec<Partial>,
    /// What the run has found so far, while it is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub racing: Option<Box<Saved>>,
    /// What the run ended with, once it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
}

/// What a run has come to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ending {
    /// The policy, with the predicates that it defines for itself.
    pub policy: String,
    /// The policy before it was shortened.
    pub unsimplified: String,
    /// Which part found each rule, in the order of the policy.
    pub origins: Vec<Origin>,
    /// Environment steps in all.
    pub steps: u64,
    /// Of these, steps of everything but training by the gradient.
    pub selection_steps: u64,
    /// The steps to a wider language that were tried.
    pub widenings: Vec<WideningStep>,
    /// The share of the episodes of the last comparison in which the policy succeeds.
    pub success: f64,
    /// Whether outcomes depend on chance, as far as was seen.
    pub by_chance: bool,
}

impl Checkpoint {
    /// Environment steps so far.
    pub fn steps(&self) -> u64 {
        let racing = self.racing.as_ref().map_or(0, |saved| saved.ledger.all());
        self.ending.as_ref().map_or(racing, |ending| ending.steps)
    }
}

/// A finished run.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// The policy: simplified, variables renamed.
    pub policy: Policy,
    /// The alphabet that it speaks: that of the problem, with the predicates that were invented.
    pub alphabet: Arc<Alphabet>,
    /// The same rules before simplification.
    pub unsimplified: Policy,
    /// The alphabet that these speak: they may define predicates and sums that the policy does without.
    pub unsimplified_alphabet: Arc<Alphabet>,
    /// The last restart of the gradient whose rules were the best so far.
    pub restart: u64,
    /// Environment steps of the whole run.
    pub steps: u64,
    /// How many of these were not training.
    pub selection_steps: u64,
    /// Which part found each rule, in the order of the policy.
    pub origins: Vec<Origin>,
    /// The steps to a wider language that were tried.
    pub widenings: Vec<WideningStep>,
    /// The share of the episodes of selection in which the policy succeeds.
    pub success: f64,
    /// Whether outcomes depend on chance, as far as was seen: then there may be no policy that always succeeds.
    pub by_chance: bool,
}

impl Learned {
    /// Whether the policy succeeds in nearly all training instances. No optimum is consulted.
    pub fn solved(&self) -> bool {
        self.success >= SOLVED
    }

    /// What a person could change where the task is not solved; nothing where it is.
    pub fn advice(&self, alphabet: &Alphabet) -> Vec<String> {
        if self.solved() {
            return Vec::new();
        }
        let mut advice = vec![format!(
            "not solved: the policy succeeds in {:.0}% of the training episodes",
            PERCENT * self.success
        )];
        if self.by_chance {
            advice.push("outcomes depend on chance here: perhaps no policy succeeds more often".to_string());
        }
        let mut tried: Vec<String> = Vec::new();
        for step in self.widenings.iter().filter(|w| !w.kept).map(|w| w.to.to_string()) {
            if !tried.contains(&step) {
                tried.push(step);
            }
        }
        if !tried.is_empty() {
            advice.push(format!("tried without enough gain: {}", tried.join(", ")));
        }
        if alphabet.variables_given {
            advice.push(format!(
                "allow one more variable: `:- variables({}).` in the domain file",
                alphabet.variables + 1
            ));
        }
        if alphabet.predicates.iter().any(|p| p.negatable) {
            advice.push("allow more predicates to be negated: `:- negation(p/n).`".to_string());
        }
        advice.push(
            "describe more: a predicate that tells the states apart in which other actions are right".into(),
        );
        advice.push("train on smaller instances first, or with a longer budget: `--max-steps`".into());
        advice
    }
}
