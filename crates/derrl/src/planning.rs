//! PDDL domains with their problems, for programs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use derrl_env::{Options, World};
use derrl_learn::{Score, evaluate};

use crate::asked::Asked;
use crate::domain::Domain;
use crate::pddl::{self, Files, Pddl};
use crate::policy::Policy;

/// A domain of PDDL with problems to train and to test on: what `derrl train DOMAIN.pddl --train ... --test ...` reads.
#[derive(Clone)]
pub struct Planning {
    domain: Domain,
    pddl: Arc<Pddl>,
}

/// Problems of a domain.
#[derive(Clone, Debug, Default)]
pub struct Problems {
    /// To train on: files, and folders of files.
    pub train: Vec<PathBuf>,
    /// To test on, a task each: its name, and a file or folder.
    pub test: Vec<(String, PathBuf)>,
    /// Steps of an episode at the most; by default 20, and 10 per object.
    pub horizon: Option<usize>,
}

/// What a policy did in a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Whether it reached the goal.
    pub solved: bool,
    /// What it did, in the names of the PDDL files: an action and its objects per step.
    pub steps: Vec<Vec<String>>,
    /// What that cost.
    pub cost: f64,
}

impl Planning {
    /// The domain in a file, or in the `domain.pddl` of a folder. A folder brings its own problems where none are named: those in
    /// `train/`, and a test for each other subfolder.
    pub fn load(domain: &Path, problems: &Problems) -> anyhow::Result<Planning> {
        let Some(file) = pddl::domain_file(domain) else {
            anyhow::bail!(
                "{}: a PDDL domain is a .pddl file, or a folder with a domain.pddl",
                domain.display()
            );
        };
        let asked = Asked {
            train: problems.train.clone(),
            test: problems.test.iter().map(|(_, path)| path.clone()).collect(),
            horizon: problems.horizon,
            shield: None,
        };
        let mut files = Files::find(domain, &file, &asked)?;
        for (found, (name, _)) in files.test.iter_mut().zip(&problems.test) {
            found.0.clone_from(name);
        }
        Planning::of(&domain.display().to_string(), &files)
    }

    fn of(name: &str, files: &Files) -> anyhow::Result<Planning> {
        let domain = Domain::of_pddl(name, files, None, false)?;
        let pddl = domain.pddl.clone().expect("a domain of PDDL has its problems");
        Ok(Planning { domain, pddl })
    }

    /// The world that it makes.
    pub fn world(&self) -> &World {
        &self.domain.world
    }

    /// The domain, with types or without.
    pub(crate) fn domain(&self, untyped: bool) -> anyhow::Result<Domain> {
        if untyped {
            Domain::of_pddl(&self.domain.name, &self.pddl.files, None, true)
        } else {
            Ok(self.domain.clone())
        }
    }

    /// An error if it has no problem to train on, or none that can be solved; else warnings of those that cannot.
    pub fn check_training(&self) -> anyhow::Result<Vec<String>> {
        Ok(self.domain.world.check_training()?)
    }

    /// How a policy does in every problem of a task.
    pub fn score(&self, policy: &Policy, task: &str, seed: u64) -> anyhow::Result<Score> {
        let mut env = self.domain.world.make(policy.alphabet(), task, &Options::default())?;
        Ok(evaluate(policy.rules(), policy.alphabet(), env.as_mut(), 1, seed)?)
    }

    /// What a policy does in the problem of a file.
    pub fn solve(
        &self,
        policy: &Policy,
        problem: &Path,
        horizon: Option<usize>,
        seed: u64,
    ) -> anyhow::Result<Solution> {
        let files = &self.pddl.files;
        let name = problem.display().to_string();
        // Those to train on stay: they say which goals rules may speak of.
        let test = vec![(name.clone(), std::path::absolute(problem)?)];
        let horizon = horizon.or(files.horizon);
        let with = Planning::of(&self.domain.name, &Files { test, horizon, ..files.clone() })?;
        let (task, played) = with.pddl.play_one(policy.rules(), policy.alphabet(), &name, seed)?;
        if played.solved {
            // By the rules of PDDL, not by what the policy believes.
            played.plan.check(&task)?;
        }
        let shown = played.plan.show(&task, played.cost);
        let steps = shown.lines().filter_map(|line| line.strip_prefix('(')?.strip_suffix(')'));
        let steps = steps.map(|step| step.split_whitespace().map(String::from).collect()).collect();
        Ok(Solution { solved: played.solved, steps, cost: played.cost })
    }
}
