//! The rule generator R_theta: from a rule slot to the probability of every candidate atom to be in its body.

use derrl_env::Rng;
use derrl_logic::Action;

use crate::config::Config;
use crate::network::Network;

/// A place for one rule of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The head's predicate.
    pub action: Action,
    /// m, the number of candidate atoms.
    pub atoms: usize,
}

/// R_theta with its parameters in one flat vector: the network's, then one confidence logit a slot.
#[derive(Clone, Debug)]
pub struct Generator {
    slots: Vec<Slot>,
    network: Network,
    /// The logit of P at the start, by slot: the prior that training is pulled towards.
    prior: Vec<f64>,
    with_confidence: bool,
    /// theta.
    pub theta: Vec<f64>,
}

/// What R_theta says of one slot.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleDistribution {
    /// P_j: the probability that atom j is in the body.
    pub p: Vec<f64>,
    /// The confidence that multiplies the rule's value.
    pub confidence: f64,
}

/// The least confidence of a rule. It orders rules without letting one fade away: at temperature 0.1 the
/// strongest rule is preferred to the weakest by e^2, and the weakest to no rule at all by e^8.
pub const LEAST_CONFIDENCE: f64 = 0.8;

impl Generator {
    /// A generator whose bodies have `config.body_prior` expected atoms, give or take the initial noise.
    pub fn new(slots: Vec<Slot>, config: &Config, rng: &mut Rng) -> Generator {
        let widest = slots.iter().map(|s| s.atoms).max().unwrap_or(0);
        let network = Network::new(slots.len(), &config.hidden, 2 * widest);
        let prior: Vec<f64> = slots
            .iter()
            .map(|s| {
                let p = (config.body_prior / s.atoms as f64).min(0.5);
                (p / (1.0 - p)).ln()
            })
            .collect();
        let mean = prior.iter().sum::<f64>() / prior.len().max(1) as f64;
        let mut theta = network.initial(config.init_noise, rng);
        // The prior sits in the last layer's bias, or in the rows of the single layer: atom in +x/2, out -x/2.
        network.shift_outputs(&mut theta, |slot, output| {
            let x = slot.map_or(mean, |s| prior[s]);
            if output % 2 == 0 { x / 2.0 } else { -x / 2.0 }
        });
        theta.extend(slots.iter().map(|_| 0.0));
        Generator { slots, network, prior, with_confidence: config.confidence, theta }
    }

    /// The slots.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// R_theta for every slot.
    pub fn distributions(&self) -> Vec<RuleDistribution> {
        (0..self.slots.len())
            .map(|slot| {
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
        for (slot, d) in d_logits.iter().enumerate() {
            let logits = self.logits(slot);
            let mut outputs = vec![0.0; self.network.outputs()];
            for j in 0..self.slots[slot].atoms {
                let g = d[j] + pull * (logits[j] - self.prior[slot]) - sharpen * (logits[j] / 2.0).tanh();
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

/// 1 / (1 + e^-x).
pub fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// One atom by the Gumbel-max trick: argmax(log P + u_0, log(1 - P) + u_1), u ~ Gumbel(0, 1).
///
/// It is in the body with probability P exactly, which is what [`Sampler`] draws for all atoms at once.
pub fn gumbel_max(p: f64, rng: &mut Rng) -> bool {
    let mut gumbel = || -(-(rng.unit() + f64::MIN_POSITIVE).ln()).ln();
    p.ln() + gumbel() > (1.0 - p).ln() + gumbel()
}

/// Draws whole bodies, 64 atoms at a time: the same distribution as [`gumbel_max`] on every atom.
///
/// An atom is in the body iff a uniform number is below P. Both are compared bit by bit from the top, for 64 atoms in
/// parallel, until all are decided: about 8 random words instead of 128 logarithms.
#[derive(Clone, Debug, Default)]
pub struct Sampler {
    /// `planes[word * PLANES + k]`: bit k (from the top) of P of each of the word's atoms.
    planes: Vec<u64>,
    full: Vec<u64>,
}

const PLANES: usize = 32;

impl Sampler {
    /// Prepares to sample bodies of these probabilities (to within 2^-32), each of `words` words.
    pub fn prepare(&mut self, p: &[f64], words: usize) {
        self.planes.clear();
        self.planes.resize(words * PLANES, 0);
        self.full.clear();
        self.full.resize(words, 0);
        for (j, &p) in p.iter().enumerate() {
            let (word, bit) = (j / 64, j % 64);
            self.full[word] |= 1 << bit;
            let fixed = (p * (1u64 << PLANES) as f64) as u64;
            let fixed = fixed.min((1 << PLANES) - 1);
            for k in 0..PLANES {
                self.planes[word * PLANES + k] |= (fixed >> (PLANES - 1 - k) & 1) << bit;
            }
        }
    }

    /// Draws a body.
    #[inline]
    pub fn draw(&self, rng: &mut Rng, body: &mut [u64]) {
        for (word, out) in body.iter_mut().enumerate() {
            let mut undecided = self.full[word];
            *out = 0;
            for &p in &self.planes[word * PLANES..(word + 1) * PLANES] {
                let r = rng.bits();
                *out |= undecided & p & !r;
                undecided &= !(p ^ r);
                if undecided == 0 {
                    break;
                }
            }
        }
    }
}
