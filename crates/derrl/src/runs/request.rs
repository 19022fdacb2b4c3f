//! What is asked of a run, looked over: the only way to the settings of a new run.

use anyhow::bail;
use derrl_env::{Env, Options, Task};
use derrl_learn::{Config, Problem};

use crate::domain::Domain;
use crate::estimate;
use crate::runs::config::{RunConfig, Start};

/// What is asked of a run.
#[derive(Clone)]
pub struct Request {
    /// The domain to train on.
    pub domain: Domain,
    /// Whether its types are ignored.
    pub untyped: bool,
    /// The task to train on, if not the first.
    pub task: Option<String>,
    /// The seed.
    pub seed: u64,
    /// Episodes per score, if not as many as the world asks for.
    pub episodes: Option<usize>,
    /// Options of the world.
    pub options: Options,
    /// Settings of training.
    pub settings: Config,
    /// The rules to start from.
    pub start: Option<Start>,
    /// Steps within which the run ends with the best policy so far.
    pub max_steps: Option<u64>,
    /// Seconds after which the run ends with the best policy so far.
    pub max_seconds: Option<f64>,
}

impl Request {
    /// As `config.toml` has it. An error if something is wrong with it.
    pub fn config(&self) -> anyhow::Result<RunConfig> {
        self.settings.check()?;
        let task = self.task()?.name.clone();
        let first = self.domain.world.training_task()?.name.as_str();
        self.env()?;
        Problem::new(&self.domain.alphabet, 1)?;
        Ok(RunConfig {
            task: (task != first).then_some(task),
            episodes: self.episodes,
            untyped: self.untyped,
            start: self.start.clone(),
            options: self.options.clone(),
            pddl: self.domain.pddl.as_ref().map(|pddl| pddl.files.clone()),
            budget: self.max_steps,
            max_seconds: self.max_seconds,
            ..RunConfig::new(&self.domain.name, self.seed, self.settings.clone())
        })
    }

    /// What training takes, in words, where it is a good deal. An error where it is too much, unless it is forced.
    pub fn estimate(&self, threads: usize, force: bool) -> anyhow::Result<Option<String>> {
        let alphabet = &self.domain.alphabet;
        let mut env = self.env()?;
        let problem = Problem::new(alphabet, 1)?;
        estimate::check(env.as_mut(), alphabet, &problem, &self.settings, threads, force)
    }

    /// The task to train on.
    fn task(&self) -> anyhow::Result<&Task> {
        let world = &self.domain.world;
        let first = world.training_task()?.name.as_str();
        let task = world.find_task(self.task.as_deref().unwrap_or(first))?;
        if task.scored && task.name != first {
            bail!(
                "--task {}: this task is kept for scores; train on `{first}` or on a task of free size",
                task.name
            );
        }
        Ok(task)
    }

    fn env(&self) -> anyhow::Result<Box<dyn Env>> {
        Ok(self.domain.world.make(&self.domain.alphabet, &self.task()?.name, &self.options)?)
    }
}
