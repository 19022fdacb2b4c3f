//! Adam (Kingma and Ba, 2015) over one flat parameter vector.

/// The optimiser's state.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Adam {
    rate: f64,
    step: i32,
    mean: Vec<f64>,
    square: Vec<f64>,
}

const BETA1: f64 = 0.9;
const BETA2: f64 = 0.99;
const EPSILON: f64 = 1e-8;

impl Adam {
    /// An optimiser for `n` parameters with learning rate eta.
    pub fn new(n: usize, rate: f64) -> Adam {
        Adam { rate, step: 0, mean: vec![0.0; n], square: vec![0.0; n] }
    }

    /// The number of parameters, if what it remembers of them agrees.
    pub fn parameters(&self) -> Option<usize> {
        (self.mean.len() == self.square.len()).then_some(self.mean.len())
    }

    /// Changes the learning rate for the steps to come.
    pub fn set_rate(&mut self, rate: f64) {
        self.rate = rate;
    }

    /// Moves `theta` against the gradient of the loss.
    pub fn descend(&mut self, theta: &mut [f64], gradient: &[f64]) {
        self.step += 1;
        let unbias1 = 1.0 - BETA1.powi(self.step);
        let unbias2 = 1.0 - BETA2.powi(self.step);
        let moments = self.mean.iter_mut().zip(&mut self.square);
        for ((t, &g), (m, v)) in theta.iter_mut().zip(gradient).zip(moments) {
            // m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;  theta -= eta m^ / (sqrt v^ + e)
            *m += (1.0 - BETA1) * (g - *m);
            *v += (1.0 - BETA2) * (g * g - *v);
            *t -= self.rate * (*m / unbias1) / ((*v / unbias2).sqrt() + EPSILON);
        }
    }
}
