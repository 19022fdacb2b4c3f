//! The gradient of the loss J + lambda_sem L_sem with respect to the logits of every rule slot.

use crate::config::{Config, ConstraintMode};
use crate::estimator::{Gradient, Value};
use crate::problem::Problem;
use crate::relaxed::best_slot;
use crate::rollout::{Batch, Rules, bits};
use crate::states::{StateId, States};

/// What the gradient is taken of: a batch of episodes and the rules that acted in it.
#[derive(Clone, Copy, Debug)]
pub struct Experience<'a> {
    /// What is learned.
    pub problem: &'a Problem,
    /// How.
    pub config: &'a Config,
    /// The generator's distributions while the batch was collected.
    pub rules: &'a Rules,
    /// The states met.
    pub states: &'a States,
    /// The episodes.
    pub batch: &'a Batch,
}

/// The gradient of the loss with respect to the logits of every slot.
#[derive(Debug, Default)]
pub struct LogitGradient {
    /// With respect to x_j = logit(P_j), for every slot.
    pub atoms: Vec<Vec<f64>>,
    /// With respect to the confidence, for every slot.
    pub confidence: Vec<f64>,
    /// Per state visited in the batch, where its coefficients start; else `u32::MAX`.
    at: Vec<u32>,
    visited: Vec<StateId>,
    /// For each visited state: what all its actions share when no rule derived them; then, for each ground action, dJ/dF by
    /// deriving slot of the action, and last for none.
    coefficients: Vec<f64>,
}

impl LogitGradient {
    /// Drops what is remembered of states; to be called when their ids have become void.
    pub fn forget_states(&mut self) {
        self.at.clear();
    }

    /// The gradient of J + lambda_sem L_sem with respect to all logits. Returns L_sem.
    pub fn differentiate(&mut self, on: &Experience<'_>) -> f64 {
        let slots = on.rules.distributions.len();
        self.atoms.resize(slots, Vec::new());
        for (g, d) in self.atoms.iter_mut().zip(&on.rules.distributions) {
            g.clear();
            g.resize(d.p.len(), 0.0);
        }
        self.confidence.clear();
        self.confidence.resize(slots, 0.0);
        match on.config.estimator.choices().2 {
            Gradient::Relaxed => self.through_relaxed(on),
            Gradient::Weights => self.through_weights(on),
            Gradient::Score => self.through_score(on),
        }
        self.through_constraints(on)
    }

    /// J = -E[R]: for every step, dJ/dF_a = -A (1[a taken] - pi_a) / temperature, then dF/dx by the relaxed F.
    ///
    /// An action that a sampled rule derived credits that rule alone, so that two slots do not copy each other;
    /// an action that none derived credits the slot that was closest to it.
    fn through_relaxed(&mut self, on: &Experience<'_>) {
        let scale = -1.0 / (on.config.temperature * on.batch.episodes.len() as f64);
        self.gather(on, scale);
        let gradient = self;
        let problem = on.problem;
        let relaxed = on.config.estimator.choices().1 == Value::Relaxed;
        let width = problem.widest() + 1;
        for &state in &gradient.visited {
            let grounding = on.states.grounding(state);
            let words = grounding.words();
            let first = gradient.at[state.0 as usize] as usize + 1;
            let shared = gradient.coefficients[first - 1];
            let learner = on.states.learner(state);
            for (a, action) in on.states.actions(state).iter().enumerate() {
                let slots = problem.slots_of(learner, action.action);
                let masks = grounding.flat(a);
                let at = first + a * width;
                let undecided = gradient.coefficients[at + width - 1] + shared;
                let nearest = if undecided == 0.0 {
                    None
                } else {
                    Some(best_slot(slots.clone(), on.rules, masks, words).0)
                };
                for (i, k) in slots.clone().enumerate() {
                    let mut c = gradient.coefficients[at + i];
                    if nearest == Some(k) {
                        c += undecided;
                    }
                    if c != 0.0 {
                        let d = &on.rules.distributions[k];
                        let relaxation = &on.rules.relaxations[k];
                        relaxation.gradient(&d.p, masks, words, c * d.confidence, &mut gradient.atoms[k]);
                        let derived = gradient.coefficients[at + i];
                        // F = confidence times the acting value, which is 1 for a rule that fired
                        let acting = if relaxed { relaxation.value(masks, words) } else { 1.0 };
                        gradient.confidence[k] += derived * acting;
                    }
                }
            }
            gradient.at[state.0 as usize] = u32::MAX;
        }
    }

    /// Sums dJ/dF over the steps of the batch, by state, ground action and deriving slot.
    ///
    /// All actions that no rule derived share one pi, so what they have in common is summed once a state.
    fn gather(&mut self, on: &Experience<'_>, scale: f64) {
        let width = on.problem.widest() + 1;
        let none = width - 1;
        self.at.resize(on.states.len(), u32::MAX);
        self.visited.clear();
        self.coefficients.clear();
        for step in &on.batch.steps {
            let learner = on.states.learner(step.state);
            let start = &mut self.at[step.state.0 as usize];
            if *start == u32::MAX {
                *start = self.coefficients.len() as u32;
                self.visited.push(step.state);
                let size = width * on.states.actions(step.state).len() + 1;
                self.coefficients.resize(self.coefficients.len() + size, 0.0);
            }
            let first = *start as usize + 1;
            let c = scale * step.advantage;
            let rest = f64::from(step.rest);
            self.coefficients[first - 1] -= c * rest;
            let mut taken_by = none;
            for d in on.batch.derived(step) {
                let action = on.states.actions(step.state)[d.action as usize].action;
                let place = d.slot as usize - on.problem.slots_of(learner, action).start;
                let at = first + d.action as usize * width;
                self.coefficients[at + none] += c * rest;
                self.coefficients[at + place] -= c * f64::from(d.weight) * rest;
                if d.action == step.action {
                    taken_by = place;
                }
            }
            self.coefficients[first + step.action as usize * width + taken_by] += c;
        }
    }

    /// The same dJ/dF, then dF/dw of the sampled body alone: the paper to the letter.
    fn through_weights(&mut self, on: &Experience<'_>) {
        let scale = -1.0 / (on.config.temperature * on.batch.episodes.len() as f64);
        let words = on.problem.grounder.words();
        let slots = on.rules.distributions.len();
        let mut d_f = vec![0.0; slots];
        for step in &on.batch.steps {
            d_f.fill(0.0);
            for d in on.batch.derived(step) {
                let taken = if d.action == step.action { 1.0 } else { 0.0 };
                d_f[d.slot as usize] += scale * step.advantage * (taken - f64::from(d.weight * step.rest));
            }
            for (k, &c) in d_f.iter().enumerate().filter(|(_, c)| **c != 0.0) {
                let base = on.problem.slots_of_learner(on.states.learner(step.state)).start;
                let from = step.bodies as usize + (k - base) * words;
                let chosen: Vec<usize> = bits(&on.batch.bodies[from..from + words]).collect();
                let d = &on.rules.distributions[k];
                let w: Vec<f64> = chosen.iter().map(|&j| d.p[j]).collect();
                let y = vec![1.0; w.len()];
                let mut d_w = vec![0.0; w.len()];
                on.config.tnorm.gradient(&y, &w, &mut d_w);
                for (&j, g) in chosen.iter().zip(&d_w) {
                    self.atoms[k][j] += c * d.confidence * g * d.p[j] * (1.0 - d.p[j]);
                }
                let f = on.config.tnorm.value(&y, &w);
                self.confidence[k] += c * f;
            }
        }
    }

    /// The score function of the rule sample of each episode: d log p(b) / dx_j = b_j - P_j.
    fn through_score(&mut self, on: &Experience<'_>) {
        let scale = -1.0 / on.batch.episodes.len() as f64;
        let words = on.problem.grounder.words();
        let mut seen = vec![u32::MAX; on.problem.learners()];
        for step in &on.batch.steps {
            // The first step of each learner in an episode stands for the episode: its return is G_0.
            let learner = on.states.learner(step.state);
            if std::mem::replace(&mut seen[learner], step.bodies) == step.bodies {
                continue;
            }
            let c = scale * step.advantage;
            for (i, k) in on.problem.slots_of_learner(learner).enumerate() {
                let d = &on.rules.distributions[k];
                let from = step.bodies as usize + i * words;
                let gradient = &mut self.atoms[k];
                gradient.iter_mut().zip(&d.p).for_each(|(g, p)| *g -= c * p);
                bits(&on.batch.bodies[from..from + words]).for_each(|j| gradient[j] += c);
            }
        }
        self.confidence_of_crisp(on);
    }

    /// dJ/d confidence where the acting value is the confidence itself.
    fn confidence_of_crisp(&mut self, on: &Experience<'_>) {
        let scale = -1.0 / (on.config.temperature * on.batch.episodes.len() as f64);
        for step in &on.batch.steps {
            for d in on.batch.derived(step) {
                let taken = if d.action == step.action { 1.0 } else { 0.0 };
                self.confidence[d.slot as usize] +=
                    scale * step.advantage * (taken - f64::from(d.weight * step.rest));
            }
        }
    }

    /// Adds lambda_sem dL_sem/dx. Returns L_sem.
    fn through_constraints(&mut self, on: &Experience<'_>) -> f64 {
        if on.config.constraints == ConstraintMode::Off {
            return 0.0;
        }
        let mut total = 0.0;
        let mut d_p = Vec::new();
        for (k, d) in on.rules.distributions.iter().enumerate() {
            d_p.clear();
            d_p.resize(d.p.len(), 0.0);
            total +=
                on.problem.constraints(on.problem.slots[k].action).loss(&d.p, on.config.lambda_sem, &mut d_p);
            for ((g, d_p), p) in self.atoms[k].iter_mut().zip(&d_p).zip(&d.p) {
                *g += d_p * p * (1.0 - p);
            }
        }
        total
    }
}

#[cfg(test)]
mod tests;
