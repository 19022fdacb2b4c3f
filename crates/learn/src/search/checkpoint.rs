//! What a run has done so far: all that is needed to resume it.

use std::sync::Arc;

use derrl_logic::{Alphabet, Policy};
use serde::{Deserialize, Serialize};

use crate::act::score::{SOLVED, mean_stderr};
use crate::learner::Saved;
use crate::search::diary::Diary;
use crate::search::improve::{Widening, WideningStep};
use crate::search::observer::Best;
use crate::search::refine::{advantage, paired};
use crate::search::scout::Scouted;
use crate::training::restart::{Snapshot, UpdateStats};

/// A restart that is done.
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
    /// The return of the simplified policy in each selection episode.
    pub returns: Vec<f64>,
    /// The share of these episodes that succeeded.
    #[serde(default)]
    pub success: f64,
    /// Rules and atoms of the simplified policy.
    pub length: usize,
    /// Updates done.
    pub updates: usize,
    /// Episodes of training.
    pub episodes: u64,
    /// Environment steps, selection included.
    pub steps: u64,
    /// Environment steps of selection.
    pub selection_steps: u64,
    /// What was added to the language of the domain file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub language: Vec<Widening>,
    /// The training curve.
    pub curve: Vec<UpdateStats>,
}

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
    /// Restarts that are done, in order.
    pub done: Vec<RestartResult>,
    /// Restarts that are under way, in order.
    pub running: Vec<Partial>,
    /// What came of the scout, once it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scout: Option<Scouted>,
    /// Answers found so far in a scout or the end of the run, while that is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diary: Option<Diary>,
    /// What a run about numbers has found so far, while it is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub racing: Option<Box<Saved>>,
    /// What the run ended with, once it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
}

/// What follows the last restart has come to this.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ending {
    /// The policy, with the predicates that it defines for itself.
    pub policy: String,
    /// Which part found each rule, in the order of the policy.
    pub origins: Vec<Origin>,
    /// Which restart it came from.
    pub restart: u64,
    /// Environment steps after the last restart.
    pub steps: u64,
    /// The steps to a wider language that were tried.
    pub widenings: Vec<WideningStep>,
    /// The share of the episodes of selection in which the policy succeeds.
    pub success: f64,
    /// Whether outcomes depend on chance, as far as was seen.
    pub by_chance: bool,
}

impl Checkpoint {
    /// Takes down where a restart stands.
    pub fn note(&mut self, partial: Partial) {
        self.running.retain(|p| p.restart != partial.restart);
        self.running.push(partial);
        self.running.sort_by_key(|p| p.restart);
    }

    /// Takes down what came of a restart.
    pub fn finish(&mut self, result: RestartResult) {
        self.running.retain(|p| p.restart != result.restart);
        self.done.push(result);
        self.done.sort_by_key(|o| o.restart);
    }

    /// Environment steps of the scout and of the restarts that are done, selection included.
    pub fn steps(&self) -> u64 {
        self.scout.as_ref().map_or(0, |s| s.steps) + self.done.iter().map(|r| r.steps).sum::<u64>()
    }

    /// The best policy so far; its share of successes where episodes succeed or fail.
    pub fn best(&self, decided: bool) -> Option<Best<'_>> {
        let judged = |returns: &[f64]| !returns.is_empty();
        let best = best_of(&self.done, &[]).first().map(|&i| &self.done[i]).filter(|d| judged(&d.returns));
        let scout = self
            .scout
            .as_ref()
            .filter(|s| judged(&s.returns) && best.is_none_or(|b| advantage(&s.returns, &b.returns).0 > 0.0));
        let (policy, returns, success) = match (scout, best) {
            (Some(s), _) => (&s.policy, &s.returns, s.success),
            (None, Some(b)) => (&b.simplified, &b.returns, b.success),
            (None, None) => return None,
        };
        let success = decided.then_some(success);
        Some(Best { policy, mean_return: mean_stderr(returns).0, success, decisions: self.steps() })
    }

    /// How many of these were selection.
    pub fn selection_steps(&self) -> u64 {
        self.done.iter().map(|r| r.selection_steps).sum()
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
    /// Which restart it came from.
    pub restart: u64,
    /// Environment steps of the whole run: of training, and of selecting, refining and growing rules.
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
            100.0 * self.success
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
        advice.push("train on smaller instances first, or with a longer budget: `--set restarts=N`, `--set updates=N`".into());
        advice
    }
}

/// The part of the learner that found a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// It was given and frozen.
    Given,
    /// The gradient on the rule generator: the paper's method.
    Gradient,
    /// Growth in states without a rule.
    Growth,
    /// Editing by regret on what was noted.
    Improvement,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Origin::Given => "given",
            Origin::Gradient => "gradient",
            Origin::Growth => "growth",
            Origin::Improvement => "improvement",
        })
    }
}

/// The restarts whose return is within the noise of the best one (a paired comparison on the same instances, which are numbered
/// where several episodes start in one), the simplest first, then the best, then the earliest. A restart that was judged on far fewer episodes than another one,
/// since it was short, is left out: the best of many such is good by luck.
pub fn best_of(done: &[RestartResult], instances: &[u64]) -> Vec<usize> {
    let most = done.iter().map(|d| d.returns.len()).max().unwrap_or(0);
    let judged: Vec<usize> = (0..done.len()).filter(|&i| FEWER * done[i].returns.len() >= most).collect();
    let common = judged.iter().map(|&i| done[i].returns.len()).min().unwrap_or(0);
    let mean = |i: usize| mean_stderr(&done[i].returns[..common]).0;
    let best = judged.iter().copied().max_by(|&i, &j| mean(i).total_cmp(&mean(j)).then(j.cmp(&i)));
    let Some(best) = best else { return Vec::new() };
    let mut close: Vec<usize> = judged
        .into_iter()
        .filter(|&i| {
            let (gap, stderr) = paired(&done[best].returns, &done[i].returns, instances);
            gap <= stderr + 1e-9
        })
        .collect();
    close.sort_by(|&i, &j| {
        done[i].length.cmp(&done[j].length).then(mean(j).total_cmp(&mean(i))).then(i.cmp(&j))
    });
    close
}

/// Restarts judged on fewer than one in so many of the episodes of another one are not compared with it.
const FEWER: usize = 4;
