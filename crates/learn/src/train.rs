//! Training: REINFORCE on the rule generator, one restart at a time.

use std::sync::Arc;

use derrl_env::{Env, Rng};
use derrl_logic::Policy;
use serde::{Deserialize, Serialize};

use crate::adam::Adam;
use crate::config::{Config, ConstraintMode};
use crate::error::Error;
use crate::estimator::Gradient;
use crate::generator::Generator;
use crate::problem::Problem;
use crate::relaxed::best_slot;
use crate::rollout::{Batch, NO_SLOT, Rules, bits};
use crate::states::{StateId, States};

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
    /// The mean undiscounted return of its episodes.
    pub mean_return: f64,
    /// L_sem summed over rules, before the update.
    pub semantic_loss: f64,
    /// The expected number of atoms in a body, averaged over slots.
    pub body_size: f64,
}

/// The gradient of the loss with respect to the logits of every slot.
#[derive(Debug, Default)]
struct LogitGradient {
    atoms: Vec<Vec<f64>>,
    confidence: Vec<f64>,
    /// Per state visited in the batch, where its coefficients start; else `u32::MAX`.
    at: Vec<u32>,
    visited: Vec<StateId>,
    /// For each visited state and ground action: dJ/dF by deriving slot of the action, then for none.
    coefficients: Vec<f64>,
}

impl Trainer {
    /// Starts restart number `restart` of the run with this seed.
    pub fn new(problem: &Arc<Problem>, config: &Config, seed: u64, restart: u64) -> Trainer {
        let mut rng = Rng::new(seed, restart);
        let generator = Generator::new(problem.slots.clone(), config, &mut rng);
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
        if self.states.trim() {
            self.gradient.at.clear();
        }
        self.rules.prepare(self.generator.distributions(), problem.grounder.words());
        self.batch.collect(&problem, &self.config, &self.rules, &mut self.states, env, &mut self.rng);
        if let Some(fault) = env.fault() {
            return Err(Error::World(fault.to_string()));
        }
        let semantic_loss = self.differentiate();

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
            mean_return: self.batch.returns.iter().sum::<f64>() / self.batch.returns.len() as f64,
            semantic_loss,
            body_size: self.rules.distributions.iter().flat_map(|d| &d.p).sum::<f64>() / slots,
        })
    }

    /// Runs a batch of episodes with the rules as they stand and learns nothing from it. Returns the steps taken.
    pub fn act(&mut self, env: &mut dyn Env) -> u64 {
        let problem = Arc::clone(&self.problem);
        self.rules.prepare(self.generator.distributions(), problem.grounder.words());
        self.batch.collect(&problem, &self.config, &self.rules, &mut self.states, env, &mut self.rng);
        self.batch.steps.len() as u64
    }

    /// The gradient of J + lambda_sem L_sem with respect to all logits. Returns L_sem.
    fn differentiate(&mut self) -> f64 {
        let slots = self.rules.distributions.len();
        self.gradient.atoms.resize(slots, Vec::new());
        for (g, d) in self.gradient.atoms.iter_mut().zip(&self.rules.distributions) {
            g.clear();
            g.resize(d.p.len(), 0.0);
        }
        self.gradient.confidence.clear();
        self.gradient.confidence.resize(slots, 0.0);
        match self.config.estimator.choices().2 {
            Gradient::Relaxed => self.through_relaxed(),
            Gradient::Weights => self.through_weights(),
            Gradient::Score => self.through_score(),
        }
        self.through_constraints()
    }

    /// J = -E[R]: for every step, dJ/dF_a = -A (1[a taken] - pi_a) / temperature, then dF/dx by the relaxed F.
    ///
    /// An action that a sampled rule derived credits that rule alone, so that two slots do not copy each other;
    /// an action that none derived credits the slot that was closest to it.
    fn through_relaxed(&mut self) {
        let scale = -1.0 / (self.config.temperature * self.batch.episodes.len() as f64);
        self.gather(scale);
        let problem = &self.problem;
        let gradient = &mut self.gradient;
        for &state in &gradient.visited {
            let grounding = self.states.grounding(state);
            let words = grounding.words();
            let mut at = gradient.at[state.0 as usize] as usize;
            let learner = self.states.learner(state);
            for (a, action) in self.states.actions(state).iter().enumerate() {
                let slots = problem.slots_of(learner, action.action);
                let masks = grounding.flat(a);
                let undecided = gradient.coefficients[at + slots.len()];
                let nearest = if undecided == 0.0 {
                    None
                } else {
                    Some(best_slot(slots.clone(), &self.rules, masks, words).0)
                };
                for (i, k) in slots.clone().enumerate() {
                    let mut c = gradient.coefficients[at + i];
                    if nearest == Some(k) {
                        c += undecided;
                    }
                    if c != 0.0 {
                        let d = &self.rules.distributions[k];
                        let relaxation = &self.rules.relaxations[k];
                        relaxation.gradient(&d.p, masks, words, c * d.confidence, &mut gradient.atoms[k]);
                        let derived = gradient.coefficients[at + i];
                        gradient.confidence[k] += derived; // of what the rule itself derived
                    }
                }
                at += slots.len() + 1;
            }
            gradient.at[state.0 as usize] = u32::MAX;
        }
    }

    /// Sums dJ/dF over the steps of the batch, by state, ground action and deriving slot.
    fn gather(&mut self, scale: f64) {
        let gradient = &mut self.gradient;
        gradient.at.resize(self.states.len(), u32::MAX);
        gradient.visited.clear();
        gradient.coefficients.clear();
        for step in &self.batch.steps {
            let actions = self.states.actions(step.state);
            let learner = self.states.learner(step.state);
            let start = &mut gradient.at[step.state.0 as usize];
            if *start == u32::MAX {
                *start = gradient.coefficients.len() as u32;
                gradient.visited.push(step.state);
                let width: usize = actions.iter().map(|a| self.problem.slots_of(learner, a.action).len() + 1).sum();
                gradient.coefficients.resize(gradient.coefficients.len() + width, 0.0);
            }
            let mut at = *start as usize;
            let c = scale * step.advantage;
            for (a, action) in actions.iter().enumerate() {
                let slots = self.problem.slots_of(learner, action.action);
                let i = step.at as usize + a;
                let by = self.batch.derived_by[i];
                let place = if by == NO_SLOT { slots.len() } else { by as usize - slots.start };
                let taken = if a as u32 == step.action { 1.0 } else { 0.0 };
                gradient.coefficients[at + place] += c * (taken - f64::from(self.batch.pi[i]));
                at += slots.len() + 1;
            }
        }
    }

    /// The same dJ/dF, then dF/dw of the sampled body alone: the paper to the letter.
    fn through_weights(&mut self) {
        let scale = -1.0 / (self.config.temperature * self.batch.episodes.len() as f64);
        let words = self.problem.grounder.words();
        let slots = self.rules.distributions.len();
        let mut d_f = vec![0.0; slots];
        for step in &self.batch.steps {
            d_f.fill(0.0);
            for a in 0..self.states.actions(step.state).len() {
                let i = step.at as usize + a;
                if self.batch.derived_by[i] != NO_SLOT {
                    let taken = if a as u32 == step.action { 1.0 } else { 0.0 };
                    let c = scale * step.advantage * (taken - f64::from(self.batch.pi[i]));
                    d_f[self.batch.derived_by[i] as usize] += c;
                }
            }
            for (k, &c) in d_f.iter().enumerate().filter(|(_, c)| **c != 0.0) {
                let base = self.problem.slots_of_learner(self.states.learner(step.state)).start;
                let from = step.bodies as usize + (k - base) * words;
                let chosen: Vec<usize> = bits(&self.batch.bodies[from..from + words]).collect();
                let d = &self.rules.distributions[k];
                let w: Vec<f64> = chosen.iter().map(|&j| d.p[j]).collect();
                let y = vec![1.0; w.len()];
                let mut d_w = vec![0.0; w.len()];
                self.config.tnorm.gradient(&y, &w, &mut d_w);
                for (&j, g) in chosen.iter().zip(&d_w) {
                    self.gradient.atoms[k][j] += c * d.confidence * g * d.p[j] * (1.0 - d.p[j]);
                }
                let f = self.config.tnorm.value(&y, &w);
                self.gradient.confidence[k] += c * f;
            }
        }
    }

    /// The score function of the rule sample of each episode: d log p(b) / dx_j = b_j - P_j.
    fn through_score(&mut self) {
        let scale = -1.0 / self.batch.episodes.len() as f64;
        let words = self.problem.grounder.words();
        let mut seen = vec![u32::MAX; self.problem.learners()];
        for step in &self.batch.steps {
            // The first step of each learner in an episode stands for the episode: its return is G_0.
            let learner = self.states.learner(step.state);
            if std::mem::replace(&mut seen[learner], step.bodies) == step.bodies {
                continue;
            }
            let c = scale * step.advantage;
            for (i, k) in self.problem.slots_of_learner(learner).enumerate() {
                let d = &self.rules.distributions[k];
                let from = step.bodies as usize + i * words;
                let gradient = &mut self.gradient.atoms[k];
                gradient.iter_mut().zip(&d.p).for_each(|(g, p)| *g -= c * p);
                bits(&self.batch.bodies[from..from + words]).for_each(|j| gradient[j] += c);
            }
        }
        self.confidence_of_crisp();
    }

    /// dJ/d confidence where the acting value is the confidence itself.
    fn confidence_of_crisp(&mut self) {
        let scale = -1.0 / (self.config.temperature * self.batch.episodes.len() as f64);
        for step in &self.batch.steps {
            for a in 0..self.states.actions(step.state).len() {
                let i = step.at as usize + a;
                let by = self.batch.derived_by[i];
                if by != NO_SLOT {
                    let taken = if a as u32 == step.action { 1.0 } else { 0.0 };
                    let d = scale * step.advantage * (taken - f64::from(self.batch.pi[i]));
                    self.gradient.confidence[by as usize] += d;
                }
            }
        }
    }

    /// Adds lambda_sem dL_sem/dx. Returns L_sem.
    fn through_constraints(&mut self) -> f64 {
        if self.config.constraints == ConstraintMode::Off {
            return 0.0;
        }
        let mut total = 0.0;
        let mut d_p = Vec::new();
        for (k, d) in self.rules.distributions.iter().enumerate() {
            d_p.clear();
            d_p.resize(d.p.len(), 0.0);
            total += self.problem.constraints(self.problem.slots[k].action).loss(
                &d.p,
                self.config.lambda_sem,
                &mut d_p,
            );
            for ((g, d_p), p) in self.gradient.atoms[k].iter_mut().zip(&d_p).zip(&d.p) {
                *g += d_p * p * (1.0 - p);
            }
        }
        total
    }
}
