//! The rule generator R_theta: from a rule slot to the probability of every candidate atom to be in its body.

pub mod adam;
pub mod network;
pub mod sampler;

use derrl_env::Rng;

use self::network::Network;
use crate::language::problem::Problem;
use crate::language::slot::{RuleDistribution, Slot};
use crate::settings::config::Config;

/// R_theta with its parameters in one flat vector: the network's, then one confidence logit a slot.
#[derive(Clone, Debug)]
pub struct Generator {
    slots: Vec<Slot>,
    network: Network,
    /// The logit of P at the start, by slot, but for given rules: the prior that training is pulled towards.
    prior: Vec<f64>,
    /// By slot, what R_theta says where a rule is frozen.
    frozen: Vec<Option<RuleDistribution>>,
    with_confidence: bool,
    /// theta.
    pub theta: Vec<f64>,
}

/// The least confidence of a rule. It orders rules without letting one fade away: at temperature 0.1 the
/// strongest rule is preferred to the weakest by e^2, and the weakest to no rule at all by e^8.
pub const LEAST_CONFIDENCE: f64 = 0.8;

/// P of the atoms of a given rule at the start: it acts, and can still be unlearned.
const GIVEN: f64 = 0.9;

impl Generator {
    /// A generator whose bodies have `config.body_prior` expected atoms, give or take the initial noise; those of given
    /// rules are likely to be these rules.
    pub fn new(problem: &Problem, config: &Config, rng: &mut Rng) -> Generator {
        let slots = problem.slots.clone();
        let widest = slots.iter().map(|s| s.atoms).max().unwrap_or(0);
        let network = Network::new(slots.len(), &config.hidden, 2 * widest);
        let prior: Vec<f64> =
            slots.iter().map(|s| logit((config.body_prior / s.atoms as f64).min(0.5))).collect();
        let given = |s: &Slot| s.given.iter().flat_map(|g| problem.places(&g.rule)).collect::<Vec<_>>();
        let start: Vec<Vec<f64>> = slots
            .iter()
            .zip(&prior)
            .map(|(s, &prior)| {
                let mut logits = vec![prior; s.atoms];
                for j in given(s) {
                    logits[j] = logit(GIVEN);
                }
                logits
            })
            .collect();
        let frozen = slots
            .iter()
            .map(|s| {
                let mut p = vec![0.0; s.atoms];
                for j in given(s) {
                    p[j] = 1.0;
                }
                s.frozen().map(|rule| RuleDistribution { p, confidence: rule.weight })
            })
            .collect();
        let mean = prior.iter().sum::<f64>() / prior.len().max(1) as f64;
        let mut theta = network.initial(config.init_noise, rng);
        // The prior sits in the last layer's bias, or in the rows of the single layer: atom in +x/2, out -x/2.
        network.shift_outputs(&mut theta, |slot, output| {
            let x = slot.map_or(mean, |s| start[s].get(output / 2).copied().unwrap_or(mean));
            if output % 2 == 0 { x / 2.0 } else { -x / 2.0 }
        });
        theta.extend(slots.iter().map(|_| 0.0));
        Generator { slots, network, prior, frozen, with_confidence: config.confidence, theta }
    }

    /// The slots.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// R_theta for every slot.
    pub fn distributions(&self) -> Vec<RuleDistribution> {
        (0..self.slots.len())
            .map(|slot| {
                if let Some(frozen) = &self.frozen[slot] {
                    return frozen.clone();
                }
                let p = self.logits(slot).into_iter().map(sigmoid).collect();
                let confidence = if self.with_confidence { self.confidence(slot) } else { 1.0 };
                RuleDistribution { p, confidence }
            })
            .collect()
    }

    /// c = c0 + (1 - c0) sigmoid(x).
    fn confidence(&self, slot: usize) -> f64 {
        LEAST_CONFIDENCE + (1.0 - LEAST_CONFIDENCE) * sigmoid(self.theta[self.network.len() + slot])
    }

    /// x_j = logit(P_j) of a slot: the difference of its pair of outputs.
    fn logits(&self, slot: usize) -> Vec<f64> {
        let outputs = self.network.forward(&self.theta, slot);
        (0..self.slots[slot].atoms).map(|j| outputs[2 * j] - outputs[2 * j + 1]).collect()
    }

    /// The gradient with respect to theta, given for every slot the gradient with respect to x_j = logit(P_j)
    /// and to its confidence. `pull` adds that of (pull / 2) sum_j (x_j - prior)^2, and `sharpen` pushes every P_j away
    /// from 1/2.
    pub fn backward(
        &self,
        d_logits: &[Vec<f64>],
        d_confidence: &[f64],
        pull: f64,
        sharpen: f64,
        gradient: &mut [f64],
    ) {
        gradient.fill(0.0);
        for (slot, d) in d_logits.iter().enumerate().filter(|(slot, _)| self.frozen[*slot].is_none()) {
            let logits = self.logits(slot);
            let mut outputs = vec![0.0; self.network.outputs()];
            for j in 0..self.slots[slot].atoms {
                let away = if sharpen == 0.0 { 0.0 } else { sharpen * (logits[j] / 2.0).tanh() };
                let g = d[j] + pull * (logits[j] - self.prior[slot]) - away;
                outputs[2 * j] = g;
                outputs[2 * j + 1] = -g;
            }
            self.network.backward(&self.theta, slot, &outputs, gradient);
            if self.with_confidence {
                let s = sigmoid(self.theta[self.network.len() + slot]);
                gradient[self.network.len() + slot] =
                    d_confidence[slot] * (1.0 - LEAST_CONFIDENCE) * s * (1.0 - s);
            }
        }
    }
}

/// The inverse of [`sigmoid`].
fn logit(p: f64) -> f64 {
    (p / (1.0 - p)).ln()
}

/// 1 / (1 + e^-x).
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}
