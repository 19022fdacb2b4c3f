//! When a task counts as solved: `experiments/solved.toml`.

use std::collections::BTreeMap;

use anyhow::Context;
use derrl_learn::Score;
use serde::Deserialize;

/// What a policy has to earn on every task.
#[derive(Debug, Deserialize)]
pub struct Solved {
    /// The rounding of the paper's figures.
    rounding: f64,
    /// By domain and task.
    #[serde(flatten)]
    domains: BTreeMap<String, BTreeMap<String, Bar>>,
}

/// What a policy has to earn on a task.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bar {
    /// The paper's return of DERRL, for the paper's tasks.
    paper: Option<f64>,
    /// How close it has to come to the best-known return.
    best: Option<f64>,
    /// What it has to reach beyond the paper's return.
    least: Option<f64>,
    /// How close it has to come to what the simple strategies of the world earn.
    reference: Option<f64>,
}

impl Solved {
    /// The definition that this program was built with.
    pub fn read() -> anyhow::Result<Solved> {
        toml::from_str(include_str!("../experiments/solved.toml"))
            .context("experiments/solved.toml cannot be read")
    }

    /// Whether a score solves a task. An error for a task that is not defined.
    pub fn solves(&self, domain: &str, task: &str, score: &Score) -> anyhow::Result<bool> {
        let bar = self.domains.get(domain).and_then(|tasks| tasks.get(task));
        let bar = bar.with_context(|| {
            format!("experiments/solved.toml does not say when task {task} of {domain} is solved")
        })?;
        let near = bar.best.zip(score.best_known).is_none_or(|(within, best)| score.mean >= best - within);
        let least = bar.least.is_none_or(|least| score.mean >= least);
        let paper = bar.paper.is_none_or(|paper| score.mean >= paper - self.rounding);
        let beside =
            |within: f64| score.references.values().all(|&reference| score.mean >= reference - within);
        Ok(paper && near && least && bar.reference.is_none_or(beside))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(mean: f64, best_known: f64) -> Score {
        let (references, problems) = (BTreeMap::new(), Vec::new());
        Score {
            mean,
            stderr: 0.0,
            success_rate: Some(1.0),
            best_known: Some(best_known),
            episodes: 1,
            references,
            problems,
        }
    }

    #[test]
    fn every_scored_task_is_defined_and_solved_by_the_best() {
        let solved = Solved::read().unwrap();
        for spec in derrl_env::worlds() {
            for task in spec.tasks().iter().filter(|t| t.scored) {
                assert!(solved.solves(spec.name(), &task.name, &score(1.0, 1.0)).unwrap());
                // No world's bar is as wide as this.
                assert!(!solved.solves(spec.name(), &task.name, &score(-1000.0, 1.0)).unwrap());
            }
        }
        assert!(!solved.solves("blocks", "train", &score(0.96, 0.97)).unwrap(), "the paper earns 0.97");
        assert!(!solved.solves("doorkey", "train", &score(0.97, 1.0)).unwrap(), "the best is 1");
        assert!(!solved.solves("gridworld", "train", &score(0.88, 0.99)).unwrap(), "north alone earns that");
    }
}
