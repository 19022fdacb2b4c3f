//! The value baseline of NLRL, GCN and MLP: V(s), two layers on the ground-atom vector of the training task.

use derrl_env::Rng;

use crate::agents::perceptron::Perceptron;
use crate::agents::training_atoms::TrainingAtoms;
use crate::generator::adam::Adam;

/// V with its optimiser.
#[derive(Clone, Debug)]
pub struct Critic {
    network: Perceptron,
    theta: Vec<f64>,
    adam: Adam,
    gradient: Vec<f64>,
    hidden: Vec<f64>,
    y: Vec<f64>,
}

const HIDDEN: usize = 32;
const RATE: f64 = 0.01;

impl Critic {
    /// An untrained critic on these ground atoms.
    pub fn new(training: &TrainingAtoms, rng: &mut Rng) -> Critic {
        let network = Perceptron { inputs: training.len(), hidden: HIDDEN, outputs: 1 };
        Critic {
            theta: network.initial(training.active(), rng),
            adam: Adam::new(network.len(), RATE),
            gradient: vec![0.0; network.len()],
            network,
            hidden: Vec::new(),
            y: Vec::new(),
        }
    }

    /// V(s) for the atoms that hold in s.
    pub fn value(&mut self, atoms: &[u32]) -> f64 {
        self.network.forward(&self.theta, atoms, &mut self.hidden, &mut self.y);
        self.y[0]
    }

    /// Adds the gradient of (V(s) - G)^2 / 2, weighed by `weight`, to that of the next [`Critic::descend`]. Returns V(s).
    pub fn learn(&mut self, atoms: &[u32], g: f64, weight: f64) -> f64 {
        let v = self.value(atoms);
        self.network.backward(&self.theta, atoms, &self.hidden, &[weight * (v - g)], &mut self.gradient);
        v
    }

    /// Moves the parameters by what was learned since the last time.
    pub fn descend(&mut self) {
        self.adam.descend(&mut self.theta, &self.gradient);
        self.gradient.fill(0.0);
    }
}
