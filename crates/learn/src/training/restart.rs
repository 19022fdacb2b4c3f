//! Training: REINFORCE on the rule generator, one restart at a time.

use std::sync::Arc;

use derrl_env::Rng;
use derrl_logic::Policy;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::experience::counted::Counted;
use crate::experience::met::{Met, SavedStates};
use crate::experience::rollout::{Acting, Batch};
use crate::experience::rules::Rules;
use crate::experience::states::States;
use crate::generator::Generator;
use crate::generator::adam::Adam;
use crate::language::problem::Problem;
use crate::settings::config::Config;
use crate::settings::streams::Purpose;
use crate::training::gradient::{Experience, LogitGradient};

/// The last part of training, in which probabilities are driven to 0 or 1.
const SHARPEN_SHARE: f64 = 0.25;

/// One restart in progress.
#[derive(Debug)]
pub struct Restart {
    problem: Arc<Problem>,
    config: Config,
    generator: Generator,
    adam: Adam,
    rng: Rng,
    updates: usize,
    steps: u64,
    episodes: u64,
    /// Steps after which it ends, where they are limited.
    most_steps: u64,
    states: States,
    batch: Batch,
    rules: Rules,
    gradient: LogitGradient,
    flat: Vec<f64>,
}

/// Everything that a restart needs to be resumed exactly where it was.
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
    states: SavedStates,
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

impl Restart {
    /// Starts restart number `restart` of the run with this seed.
    pub fn new(problem: &Arc<Problem>, config: &Config, seed: u64, restart: u64) -> Restart {
        let mut rng = Purpose::Restart(restart).rng(seed);
        let generator = Generator::new(problem, config, &mut rng);
        let adam = Adam::new(generator.theta.len(), config.learning_rate);
        Restart {
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
            most_steps: u64::MAX,
            batch: Batch::default(),
            rules: Rules::default(),
            gradient: LogitGradient::default(),
        }
    }

    /// The same restart, ended after this many steps. Its schedule is shortened, so that it still comes to its end.
    #[must_use]
    pub fn within(self, steps: u64) -> Restart {
        Restart { most_steps: steps, ..self }
    }

    /// A restart from a snapshot; `None` if it does not fit this problem and configuration.
    pub fn resume(problem: &Arc<Problem>, config: &Config, snapshot: &Snapshot) -> Option<Restart> {
        let mut trainer = Restart::new(problem, config, 0, 0);
        let parameters = trainer.generator.theta.len();
        let fits = snapshot.theta.len() == parameters && snapshot.adam.parameters() == Some(parameters);
        if !fits || snapshot.updates > config.updates {
            return None;
        }
        let (words, actions) = (problem.grounder.words(), problem.alphabet.actions.len());
        trainer.states.remember(Met::load(&snapshot.states, words, actions)?);
        trainer.generator.theta.clone_from(&snapshot.theta);
        trainer.adam = snapshot.adam.clone();
        trainer.rng = snapshot.rng.clone();
        trainer.updates = snapshot.updates;
        trainer.steps = snapshot.steps;
        trainer.episodes = snapshot.episodes;
        Some(trainer)
    }

    /// What is needed to resume it later.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            updates: self.updates,
            steps: self.steps,
            episodes: self.episodes,
            theta: self.generator.theta.clone(),
            adam: self.adam.clone(),
            rng: self.rng.clone(),
            states: self.states.met().save(),
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

    /// Whether all updates are done, or too few steps are left for half of another one.
    pub fn finished(&self) -> bool {
        let left = self.most_steps.saturating_sub(self.steps);
        self.updates >= self.config.updates
            || (self.updates > 0 && left < self.config.batch.div_ceil(2) as u64)
    }

    /// The share of training that is done.
    fn done(&self) -> f64 {
        let of_updates = self.updates as f64 / self.config.updates as f64;
        of_updates.max(self.steps as f64 / self.most_steps as f64)
    }

    /// The policy of each learner as it stands: every rule by argmax, in text precision.
    pub fn policies(&self) -> Vec<Policy> {
        let distributions = self.generator.distributions();
        let policy = |l| self.problem.policy(l, &distributions, &self.config);
        self.problem.each_learner().map(policy).collect()
    }

    /// The states met, with their groundings.
    pub fn states(&self) -> &States {
        &self.states
    }

    /// Episodes run so far.
    pub fn episodes(&self) -> u64 {
        self.episodes
    }

    /// Runs a batch of episodes and moves theta once. An error if the world failed or the update was interrupted: it can
    /// then be tried again, here or from a snapshot.
    pub fn update(&mut self, env: &mut Counted<'_>) -> Result<UpdateStats, Error> {
        let before = (self.rng.clone(), env.taken());
        self.collect(env);
        let failed = match env.world().fault() {
            Some(fault) => Some(Error::World(fault.clone())),
            None => env.stopped().then_some(Error::Interrupted),
        };
        if let Some(error) = failed {
            self.rng = before.0;
            return Err(error);
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
        let done = self.done();
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
        self.steps += env.taken() - before.1;
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
    pub fn act(&mut self, env: &mut Counted<'_>) -> u64 {
        let before = env.taken();
        self.collect(env);
        env.taken() - before
    }

    /// Runs a batch of episodes with the rules as they stand.
    fn collect(&mut self, env: &mut Counted<'_>) {
        self.states.trim();
        self.rules.prepare(self.generator.distributions(), &self.problem, self.config.temperature);
        let on = Acting { problem: &self.problem, config: &self.config, rules: &self.rules };
        let left = usize::try_from(self.most_steps.saturating_sub(self.steps)).unwrap_or(usize::MAX);
        self.batch.collect(&on, self.config.batch.min(left.max(1)), &mut self.states, env, &mut self.rng);
    }
}
