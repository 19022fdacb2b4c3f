//! The gradient of the loss J + lambda_sem L_sem with respect to the logits of every rule slot.

use crate::experience::relaxed::RelaxedGradient;
use crate::experience::rollout::{Batch, Derived, Step};
use crate::experience::rules::Rules;
use crate::experience::states::{ListId, StateId, States};
use crate::language::body::Body;
use crate::language::ids::SlotId;
use crate::language::problem::Problem;
use crate::settings::config::{Config, ConstraintMode};
use crate::settings::estimator::{Gradient, Value};

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
    /// For each list of masks and action that has it: dJ/dF summed over the steps, by deriving slot, and last for none.
    /// All 0 between two gradients.
    coefficients: Vec<f64>,
    /// For each state, what all its actions share when no rule derived them. All 0 between two gradients.
    shared: Vec<f64>,
    /// The states of the batch.
    visited: Vec<StateId>,
    /// Their lists of masks.
    touched: Vec<ListId>,
    /// Which lists these are.
    is_touched: Vec<bool>,
    /// For each slot, its gradient so far.
    sums: Vec<RelaxedGradient>,
}

impl LogitGradient {
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
        let relaxed = on.config.estimator.choices().1 == Value::Relaxed;
        let width = on.problem.widest() + 1;
        self.sums.resize_with(on.rules.distributions.len(), RelaxedGradient::default);
        for (sum, d) in self.sums.iter_mut().zip(&on.rules.distributions) {
            sum.clear(d.p.len());
        }
        let mut of_kind: Vec<(f64, &[u64])> = Vec::new();
        for list in self.touched.drain(..) {
            self.is_touched[list.0 as usize] = false;
            let list = on.states.lists().get(list);
            let relaxation = on.rules.relaxation(on.problem, list.learner, list.kind);
            relaxation.best(&list.masks, &mut of_kind);
            let actions = &on.problem.kind(list.kind).actions;
            let rows = self.coefficients[list.first.0 as usize * width..].chunks_exact_mut(width);
            for (&action, coefficients) in actions.iter().zip(rows) {
                let slots = on.problem.slots_of(list.learner, action);
                let first = on.problem.lane(slots.first).index();
                let bests = &of_kind[first..first + slots.count()];
                let own = &on.rules.distributions[slots.range()];
                let f = |i: usize| own[i].confidence * bests[i].0;
                let nearest =
                    (1..bests.len()).fold(0, |nearest, i| if f(i) > f(nearest) { i } else { nearest });
                for (i, &(f, mask)) in bests.iter().enumerate() {
                    let derived = coefficients[i];
                    let c = if i == nearest { derived + coefficients[width - 1] } else { derived };
                    if c == 0.0 {
                        continue;
                    }
                    let k = slots.first.index() + i;
                    let confidence = own[i].confidence;
                    self.sums[k].add(relaxation.empty(first + i), f, mask, c * confidence);
                    // F = confidence times the acting value, which is 1 for a rule that fired
                    self.confidence[k] += derived * if relaxed { f } else { 1.0 };
                }
                coefficients.fill(0.0);
            }
        }
        for ((sum, d), out) in self.sums.iter().zip(&on.rules.distributions).zip(&mut self.atoms) {
            sum.finish(&d.p, out);
        }
    }

    /// Sums dJ/dF over the steps of the batch, by list of masks, action and deriving slot: F and its gradient depend on
    /// nothing else.
    ///
    /// All actions that no rule derived share one pi, so what they have in common is summed once per state.
    fn gather(&mut self, on: &Experience<'_>, scale: f64) {
        let width = on.problem.widest() + 1;
        let none = width - 1;
        self.coefficients.resize(width * on.states.lists().rows(), 0.0);
        self.is_touched.resize(on.states.lists().len(), false);
        self.shared.resize(on.states.len(), 0.0);
        self.visited.clear();
        for step in &on.batch.steps {
            let rows = on.states.rows(step.state);
            let c = scale * step.advantage;
            let rest = f64::from(step.rest);
            let shared = &mut self.shared[step.state.0 as usize];
            if *shared == 0.0 {
                self.visited.push(step.state);
            }
            *shared -= c * rest;
            let mut taken_by = none;
            for d in on.batch.derived(step) {
                let place = on.problem.place(d.slot).index();
                let weight = c * f64::from(d.weight) * rest;
                for a in d.places() {
                    let at = rows[a].0 as usize * width;
                    self.coefficients[at + none] += c * rest;
                    self.coefficients[at + place] -= weight;
                }
                if d.contains(step.action as usize) {
                    taken_by = place;
                }
            }
            self.coefficients[rows[step.action as usize].0 as usize * width + taken_by] += c;
        }
        for &state in &self.visited {
            let shared = std::mem::take(&mut self.shared[state.0 as usize]);
            for row in on.states.rows(state) {
                self.coefficients[row.0 as usize * width + none] += shared;
            }
            for &list in on.states.lists_of(state) {
                if !std::mem::replace(&mut self.is_touched[list.0 as usize], true) {
                    self.touched.push(list);
                }
            }
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
                d_f[d.slot.index()] += scale * step.advantage * surprise(step, d);
            }
            for (k, &c) in d_f.iter().enumerate().filter(|(_, c)| **c != 0.0) {
                let own = on.problem.slots_of_learner(on.states.learner(step.state));
                let from = step.bodies as usize + own.place_of(SlotId::at(k)) * words;
                let chosen: Vec<usize> = Body(&on.batch.bodies[from..from + words]).atoms().collect();
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
            if std::mem::replace(&mut seen[learner.index()], step.bodies) == step.bodies {
                continue;
            }
            let c = scale * step.advantage;
            for (i, k) in on.problem.slots_of_learner(learner).range().enumerate() {
                let d = &on.rules.distributions[k];
                let from = step.bodies as usize + i * words;
                let gradient = &mut self.atoms[k];
                gradient.iter_mut().zip(&d.p).for_each(|(g, p)| *g -= c * p);
                Body(&on.batch.bodies[from..from + words]).atoms().for_each(|j| gradient[j] += c);
            }
        }
        self.confidence_of_crisp(on);
    }

    /// dJ/d confidence where the acting value is the confidence itself.
    fn confidence_of_crisp(&mut self, on: &Experience<'_>) {
        let scale = -1.0 / (on.config.temperature * on.batch.episodes.len() as f64);
        for step in &on.batch.steps {
            for d in on.batch.derived(step) {
                self.confidence[d.slot.index()] += scale * step.advantage * surprise(step, d);
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

/// 1[a taken] - pi_a, summed over actions that one slot derived.
fn surprise(step: &Step, d: &Derived) -> f64 {
    let taken = if d.contains(step.action as usize) { 1.0 } else { 0.0 };
    taken - f64::from(d.count as f32 * d.weight * step.rest)
}

#[cfg(test)]
mod tests;
