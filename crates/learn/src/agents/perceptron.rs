//! Two layers on a binary vector that is mostly zero: MLP's policy, and the critic of every baseline.

use derrl_env::Rng;

use crate::agents::linear::{add_outer, add_product, add_transposed, through_tanh};
use crate::generator::network::normal;

/// The sizes of a network y = b2 + W2 tanh(b1 + W1 x); its parameters live in a flat vector outside: W1 with one row an
/// *input* (so that an input that is 1 adds its row), b1, W2 with one row an output, b2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Perceptron {
    /// Length of x.
    pub inputs: usize,
    /// Length of the hidden layer.
    pub hidden: usize,
    /// Length of y.
    pub outputs: usize,
}

impl Perceptron {
    /// The number of parameters.
    pub fn len(&self) -> usize {
        (self.inputs + 1) * self.hidden + (self.hidden + 1) * self.outputs
    }

    fn first_bias(&self) -> usize {
        self.inputs * self.hidden
    }

    fn second(&self) -> usize {
        (self.inputs + 1) * self.hidden
    }

    fn second_bias(&self) -> usize {
        self.second() + self.hidden * self.outputs
    }

    /// Random initial parameters for about `active` inputs that are 1; y is close to 0.
    pub fn initial(&self, active: usize, rng: &mut Rng) -> Vec<f64> {
        let first = 1.0 / (active.max(1) as f64).sqrt();
        let second = 0.1 / (self.hidden.max(1) as f64).sqrt();
        let mut theta: Vec<f64> = (0..self.first_bias()).map(|_| first * normal(rng)).collect();
        theta.extend(std::iter::repeat_n(0.0, self.hidden));
        theta.extend((0..self.hidden * self.outputs).map(|_| second * normal(rng)));
        theta.extend(std::iter::repeat_n(0.0, self.outputs));
        theta
    }

    /// Writes the hidden layer and y for the inputs `active` that are 1.
    pub fn forward(&self, theta: &[f64], active: &[u32], hidden: &mut Vec<f64>, y: &mut Vec<f64>) {
        hidden.clear();
        hidden.extend_from_slice(&theta[self.first_bias()..self.second()]);
        for &i in active {
            let row = &theta[i as usize * self.hidden..(i as usize + 1) * self.hidden];
            hidden.iter_mut().zip(row).for_each(|(h, w)| *h += w);
        }
        for h in hidden.iter_mut() {
            *h = h.tanh();
        }
        y.clear();
        y.extend_from_slice(&theta[self.second_bias()..]);
        add_product(&theta[self.second()..self.second_bias()], hidden, y);
    }

    /// Adds to `gradient` that of a loss with this gradient with respect to y.
    pub fn backward(&self, theta: &[f64], active: &[u32], hidden: &[f64], d_y: &[f64], gradient: &mut [f64]) {
        gradient[self.second_bias()..].iter_mut().zip(d_y).for_each(|(g, d)| *g += d);
        let second = self.second()..self.second_bias();
        add_outer(d_y, hidden, &mut gradient[second.clone()]);
        let mut d = vec![0.0; self.hidden];
        add_transposed(&theta[second], d_y, &mut d);
        through_tanh(hidden, &mut d);
        let mut add = |at: usize| {
            gradient[at..at + self.hidden].iter_mut().zip(&d).for_each(|(g, d)| *g += d);
        };
        add(self.first_bias());
        for &i in active {
            add(i as usize * self.hidden);
        }
    }
}
