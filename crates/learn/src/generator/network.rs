//! A small dense network from a one-hot input, with its gradient.

use derrl_env::Rng;

/// Layer sizes of a network; its parameters live in a flat vector outside.
///
/// The input is one-hot, so the first layer is a table with one row an input. With no hidden layer that table *is* the
/// output. Hidden layers apply tanh; the last layer is linear with a bias.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    inputs: usize,
    /// Sizes after the input: hidden layers, then the outputs.
    sizes: Vec<usize>,
}

impl Network {
    /// A network with these layer sizes.
    pub fn new(inputs: usize, hidden: &[usize], outputs: usize) -> Network {
        let mut sizes = hidden.to_vec();
        sizes.push(outputs);
        Network { inputs, sizes }
    }

    /// The number of outputs.
    pub fn outputs(&self) -> usize {
        self.sizes[self.sizes.len() - 1]
    }

    /// The number of parameters.
    pub fn len(&self) -> usize {
        let dense: usize = self.sizes.windows(2).map(|w| w[0] * w[1] + w[1]).sum();
        self.inputs * self.sizes[0] + dense
    }

    /// Whether there are no parameters.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Random initial parameters such that the outputs have about the standard deviation `spread`.
    pub fn initial(&self, spread: f64, rng: &mut Rng) -> Vec<f64> {
        let mut theta = Vec::with_capacity(self.len());
        let last = self.sizes.len() - 1;
        let first = if last == 0 { spread } else { 1.0 };
        theta.extend((0..self.inputs * self.sizes[0]).map(|_| first * normal(rng)));
        for (layer, w) in self.sizes.windows(2).enumerate() {
            let goal = if layer + 1 == last { 2.0 * spread } else { 1.0 };
            let scale = goal / (w[0] as f64).sqrt();
            theta.extend((0..w[0] * w[1]).map(|_| scale * normal(rng)));
            theta.extend(std::iter::repeat_n(0.0, w[1]));
        }
        theta
    }

    /// Adds `by(input, output)` to the outputs: in the table without hidden layers, else in the last bias
    /// (where the input is not known: `None`).
    pub fn shift_outputs(&self, theta: &mut [f64], by: impl Fn(Option<usize>, usize) -> f64) {
        let outputs = self.outputs();
        let end = self.len();
        if self.sizes.len() == 1 {
            for (i, t) in theta[..end].iter_mut().enumerate() {
                *t += by(Some(i / outputs), i % outputs);
            }
        } else {
            for (i, t) in theta[end - outputs..end].iter_mut().enumerate() {
                *t += by(None, i);
            }
        }
    }

    /// The outputs for an input.
    pub fn forward(&self, theta: &[f64], input: usize) -> Vec<f64> {
        self.activations(theta, input).pop().unwrap_or_default()
    }

    /// The values of every layer.
    fn activations(&self, theta: &[f64], input: usize) -> Vec<Vec<f64>> {
        let width = self.sizes[0];
        let mut values = vec![theta[input * width..(input + 1) * width].to_vec()];
        let mut at = self.inputs * width;
        for w in self.sizes.windows(2) {
            let (from, to) = (w[0], w[1]);
            let below = values.last_mut().expect("the first layer is there");
            for x in below.iter_mut() {
                *x = x.tanh();
            }
            let (weights, bias) = theta[at..].split_at(from * to);
            let above = (0..to)
                .map(|o| bias[o] + below.iter().zip(&weights[o * from..]).map(|(x, w)| x * w).sum::<f64>())
                .collect();
            values.push(above);
            at += from * to + to;
        }
        values
    }

    /// Adds to `gradient` that of a loss whose gradient with respect to the outputs is given.
    pub fn backward(&self, theta: &[f64], input: usize, d_outputs: &[f64], gradient: &mut [f64]) {
        let values = self.activations(theta, input);
        let mut d = d_outputs.to_vec();
        let mut at = self.len();
        for (layer, w) in self.sizes.windows(2).enumerate().rev() {
            let (from, to) = (w[0], w[1]);
            at -= from * to + to;
            let below = &values[layer];
            let mut d_below = vec![0.0; from];
            for o in 0..to {
                gradient[at + from * to + o] += d[o];
                for i in 0..from {
                    gradient[at + o * from + i] += d[o] * below[i];
                    d_below[i] += d[o] * theta[at + o * from + i];
                }
            }
            // d tanh(x) = 1 - tanh(x)^2
            d = d_below.iter().zip(below).map(|(d, y)| d * (1.0 - y * y)).collect();
        }
        let width = self.sizes[0];
        for (g, d) in gradient[input * width..(input + 1) * width].iter_mut().zip(&d) {
            *g += d;
        }
    }
}

/// A standard normal number (Box and Muller).
pub fn normal(rng: &mut Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.unit()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.unit()).cos()
}
