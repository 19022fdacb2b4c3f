//! Training: REINFORCE on the rule generator, one restart at a time.

use std::sync::Arc;

use derrl_env::{Env, Rng};
use derrl_logic::Policy;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::experience::rollout::Batch;
use crate::experience::rules::Rules;
use crate::experience::states::States;
use crate::generator::Generator;
use crate::generator::adam::Adam;
use crate::language::problem::Problem;
use crate::settings::config::Config;
use crate::training::gradient::{Experience, LogitGradient};

/// The last part of training, in which probabilities are driven to 0 or 1.
const SHARPEN_SHARE: f64 = 0.25;

/// One restart in progress.
#[derive(Debug)]
pub struct Trainer {
    problem: Arc<Problem>,
    config: Config,
    generator: Generator,
    adam: Adam,
    rng: Rng,
    updates: usize,
    steps: u64,
    episodes: u64,
    states: States,
    batch: Batch,
    rules: Rules,
    gradient: LogitGradient,
    flat: Vec<f64>,
}

/// Everything that a restart needs to go on exactly where it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Updates done.
    pub updates: usize,
    /// Environment steps taken.
    pub steps: u64,
    /// Episodes run.
    pub episodes: u64,
    theta: Vec<f64>,
    adam: Adam,
    rng: Rng,
}

/// What one update saw.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct UpdateStats {
    /// Which update it was, from 1.
    pub update: usize,
    /// Episodes run so far.
    pub episodes: u64,
    /// Environment steps taken so far.
    #[serde(default)]
    pub steps: u64,
    /// The mean undiscounted return of its episodes.
    pub mean_return: f64,
    /// L_sem summed over rules, before the update.
    pub semantic_loss: f64,
    /// The expected number of atoms in a body, averaged over slots.
    pub body_size: f64,
}

impl Trainer {
    /// Starts restart number `restart` of the run with this seed.
    pub fn new(problem: &Arc<Problem>, config: &Config, seed: u64, restart: u64) -> Trainer {
        let mut rng = Rng::new(seed, restart);
        let generator = Generator::new(problem, config, &mut rng);
        let adam = Adam::new(generator.theta.len(), config.learning_rate);
        Trainer {
            flat: vec![0.0; generator.theta.len()],
            states: States::new(problem),
            problem: Arc::clone(problem),
            config: config.clone(),
            generator,
            adam,
            rng,
            updates: 0,
            steps: 0,
            episodes: 0,
            batch: Batch::default(),
            rules: Rules::default(),
            gradient: LogitGradient::default(),
        }
    }

    /// Goes on from a snapshot; `None` if it does not fit this problem and configuration.
    pub fn resume(problem: &Arc<Problem>, config: &Config, snapshot: &Snapshot) -> Option<Trainer> {
        let mut trainer = Trainer::new(problem, config, 0, 0);
        if snapshot.theta.len() != trainer.generator.theta.len() || snapshot.updates > config.updates {
            return None;
        }
        trainer.generator.theta.clone_from(&snapshot.theta);
        trainer.adam = snapshot.adam.clone();
        trainer.rng = snapshot.rng.clone();
        trainer.updates = snapshot.updates;
        trainer.steps = snapshot.steps;
        trainer.episodes = snapshot.episodes;
        Some(trainer)
    }

    /// What is needed to go on later.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            updates: self.updates,
            steps: self.steps,
            episodes: self.episodes,
            theta: self.generator.theta.clone(),
            adam: self.adam.clone(),
            rng: self.rng.clone(),
        }
    }

    /// Updates done so far.
    pub fn updates(&self) -> usize {
        self.updates
    }

    /// Environment steps taken so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Whether all updates are done.
    pub fn finished(&self) -> bool {
        self.updates >= self.config.updates
    }

    /// The policy of each learner as it stands: every rule by argmax, in text precision.
    pub fn policies(&self) -> Vec<Policy> {
        let distributions = self.generator.distributions();
        (0..self.problem.learners()).map(|l| self.problem.policy(l, &distributions, &self.config)).collect()
    }

    /// The states met, with their groundings.
    pub fn states(&self) -> &States {
        &self.states
    }

    /// Episodes run so far.
    pub fn episodes(&self) -> u64 {
        self.episodes
    }

    /// Runs a batch of episodes and moves theta once. An error if the world failed; theta is then as before.
    pub fn update(&mut self, env: &mut dyn Env) -> Result<UpdateStats, Error> {
        let problem = Arc::clone(&self.problem);
        self.states.trim();
        self.rules.prepare(self.generator.distributions(), &problem, self.config.temperature);
        self.batch.collect(&problem, &self.config, &self.rules, &mut self.states, env, &mut self.rng);
        if let Some(fault) = env.fault() {
            return Err(Error::World(fault.clone()));
        }
        let experience = Experience {
            problem: &self.problem,
            config: &self.config,
            rules: &self.rules,
            states: &self.states,
            batch: &self.batch,
        };
        let semantic_loss = self.gradient.differentiate(&experience);

        // The pull towards the prior fades to zero over the first part of training; over the last, what has been
        // chosen is made certain, so that weights near 1 leave the order of the rules to their confidence.
        let done = self.updates as f64 / self.config.updates as f64;
        let pull = self.config.pull * (1.0 - done / (1.0 - SHARPEN_SHARE)).max(0.0);
        let sharpen = self.config.sharpen * ((done - 1.0 + SHARPEN_SHARE) / SHARPEN_SHARE).max(0.0);
        let gradient = &mut self.gradient;
        if sharpen == 0.0 {
            // Rules are ordered only once they are found: earlier, a rule that trails loses its chance to improve.
            gradient.confidence.fill(0.0);
        }
        self.generator.backward(&gradient.atoms, &gradient.confidence, pull, sharpen, &mut self.flat);
        self.adam.descend(&mut self.generator.theta, &self.flat);

        self.updates += 1;
        self.steps += self.batch.steps.len() as u64;
        let slots = self.rules.distributions.len() as f64;
        self.episodes += self.batch.returns.len() as u64;
        Ok(UpdateStats {
            update: self.updates,
            episodes: self.episodes,
            steps: self.steps,
            mean_return: self.batch.returns.iter().sum::<f64>() / self.batch.returns.len() as f64,
            semantic_loss,
            body_size: self.rules.distributions.iter().flat_map(|d| &d.p).sum::<f64>() / slots,
        })
    }

    /// Runs a batch of episodes with the rules as they stand and learns nothing from it. Returns the steps taken.
    pub fn act(&mut self, env: &mut dyn Env) -> u64 {
        let problem = Arc::clone(&self.problem);
        self.rules.prepare(self.generator.distributions(), &problem, self.config.temperature);
        self.batch.collect(&problem, &self.config, &self.rules, &mut self.states, env, &mut self.rng);
        self.batch.steps.len() as u64
    }
}
