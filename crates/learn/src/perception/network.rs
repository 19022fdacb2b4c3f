//! The network that looks at a cell: pixels, one hidden layer, a number per symbol. In single precision, and with its gradient.

use derrl_env::{PATCH, Rng};
use serde::{Deserialize, Serialize};

/// Hidden units: a power of two, so that sums over them fill vector registers.
const HIDDEN: usize = 32;

/// About the mean of a pixel, which is taken off.
const GREY: f32 = 0.25;

/// Its parameters: weights of the hidden layer by input, biases, weights of the outputs, biases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Network {
    outputs: usize,
    theta: Vec<f32>,
}

/// What of the parameters lies where.
const BIAS: usize = PATCH * HIDDEN;
const ABOVE: usize = BIAS + HIDDEN;

/// The hidden layer of a cell.
pub type Hidden = [f32; HIDDEN];

impl Network {
    /// A network with random weights.
    pub fn new(outputs: usize, rng: &mut Rng) -> Network {
        let mut theta = vec![0.0; ABOVE + (HIDDEN + 1) * outputs];
        let mut draw = |weights: &mut [f32], inputs: usize| {
            let widest = (3.0 / inputs as f64).sqrt();
            for w in weights.iter_mut() {
                *w = (widest * (2.0 * rng.unit() - 1.0)) as f32;
            }
        };
        draw(&mut theta[..BIAS], PATCH);
        draw(&mut theta[ABOVE..ABOVE + HIDDEN * outputs], HIDDEN);
        Network { outputs, theta }
    }

    /// The number of outputs.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Whether it has as many parameters as its layers ask for, all of them numbers.
    pub fn is_whole(&self) -> bool {
        self.theta.len() == ABOVE + (HIDDEN + 1) * self.outputs && self.theta.iter().all(|w| w.is_finite())
    }

    /// The hidden layer of a cell.
    #[inline]
    fn hidden(&self, patch: &[f32]) -> Hidden {
        let mut hidden = [0.0; HIDDEN];
        hidden.copy_from_slice(&self.theta[BIAS..ABOVE]);
        for (x, weights) in patch.iter().zip(self.theta[..BIAS].as_chunks::<HIDDEN>().0) {
            let x = x - GREY;
            hidden.iter_mut().zip(weights).for_each(|(h, w)| *h += x * w);
        }
        hidden.map(|h| h.max(0.0))
    }

    /// Appends the outputs for a cell, and returns its hidden layer.
    pub fn forward(&self, patch: &[f32], outputs: &mut Vec<f32>) -> Hidden {
        let hidden = self.hidden(patch);
        let (weights, bias) = self.theta[ABOVE..].split_at(HIDDEN * self.outputs);
        outputs.extend(
            weights
                .as_chunks::<HIDDEN>()
                .0
                .iter()
                .zip(bias)
                .map(|(weights, bias)| bias + weights.iter().zip(&hidden).map(|(w, h)| w * h).sum::<f32>()),
        );
        hidden
    }

    /// Adds to `gradient` that of a loss whose gradient with respect to the outputs for a cell is given.
    pub fn backward(&self, patch: &[f32], hidden: &Hidden, d_outputs: &[f32], gradient: &mut [f32]) {
        let end = ABOVE + HIDDEN * self.outputs;
        let mut d_hidden = [0.0; HIDDEN];
        for (o, &d) in d_outputs.iter().enumerate() {
            let at = ABOVE + o * HIDDEN;
            gradient[end + o] += d;
            for i in 0..HIDDEN {
                gradient[at + i] += d * hidden[i];
                d_hidden[i] += d * self.theta[at + i];
            }
        }
        d_hidden.iter_mut().zip(hidden).for_each(|(d, h)| *d = if *h > 0.0 { *d } else { 0.0 });
        gradient[BIAS..ABOVE].iter_mut().zip(&d_hidden).for_each(|(g, d)| *g += d);
        for (x, gradient) in patch.iter().zip(gradient[..BIAS].as_chunks_mut::<HIDDEN>().0) {
            let x = x - GREY;
            gradient.iter_mut().zip(&d_hidden).for_each(|(g, d)| *g += x * d);
        }
    }
}

/// Adam (Kingma and Ba, 2015) with decoupled decay (Loshchilov and Hutter, 2019) for a network.
#[derive(Debug)]
pub struct Descent {
    rate: f32,
    step: i32,
    /// Of the batch under way.
    pub gradient: Vec<f32>,
    mean: Vec<f32>,
    square: Vec<f32>,
}

/// Weights fall by this share of the learning rate at each update, so that what is seen rarely is not learned by heart.
const DECAY: f32 = 0.5;
const BETA1: f32 = 0.9;
const BETA2: f32 = 0.99;

impl Descent {
    /// At this learning rate.
    pub fn new(network: &Network, rate: f32) -> Descent {
        let zeros = || vec![0.0; network.theta.len()];
        Descent { rate, step: 0, gradient: zeros(), mean: zeros(), square: zeros() }
    }

    /// Changes the learning rate for the steps to come.
    pub fn set_rate(&mut self, rate: f32) {
        self.rate = rate;
    }

    /// Moves the parameters against the gradient, which is 0 from then on.
    pub fn step(&mut self, network: &mut Network) {
        self.step += 1;
        let (unbias1, unbias2) = (1.0 - BETA1.powi(self.step), 1.0 - BETA2.powi(self.step));
        let moments = self.mean.iter_mut().zip(&mut self.square);
        for ((t, g), (m, v)) in network.theta.iter_mut().zip(&mut self.gradient).zip(moments) {
            // m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;  theta -= eta m^ / (sqrt v^ + e)
            *m += (1.0 - BETA1) * (*g - *m);
            *v += (1.0 - BETA2) * (*g * *g - *v);
            *t -= self.rate * ((*m / unbias1) / ((*v / unbias2).sqrt() + 1e-8) + DECAY * *t);
            *g = 0.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_matches_finite_differences() {
        let mut rng = Rng::new(0, 0);
        let mut network = Network::new(3, &mut rng);
        let patch: Vec<f32> = (0..PATCH).map(|_| rng.unit() as f32).collect();
        let d_outputs = [0.5, -1.0, 2.0];
        let loss = |network: &Network| {
            let mut outputs = Vec::new();
            network.forward(&patch, &mut outputs);
            outputs.iter().zip(d_outputs).map(|(o, d)| f64::from(*o) * f64::from(d)).sum::<f64>()
        };
        let hidden = network.forward(&patch, &mut Vec::new());
        let mut gradient = vec![0.0; network.theta.len()];
        network.backward(&patch, &hidden, &d_outputs, &mut gradient);
        for i in (0..network.theta.len()).step_by(97).chain(BIAS..network.theta.len()) {
            let before = network.theta[i];
            let by = 1e-3;
            network.theta[i] = before + by;
            let above = loss(&network);
            network.theta[i] = before - by;
            let below = loss(&network);
            network.theta[i] = before;
            let slope = (above - below) / f64::from(2.0 * by);
            assert!((slope - f64::from(gradient[i])).abs() < 2e-2, "{i}: {slope} and {}", gradient[i]);
        }
    }
}
