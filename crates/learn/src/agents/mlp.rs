//! MLP: two layers on the ground-atom vector v, one output a ground action of the training task.
//!
//! Its size is that of the training task. Elsewhere objects are matched by name (`training_atoms.rs`): facts about objects
//! it never saw are dropped, actions on them are never chosen, and actions on objects that are absent do not compete.
//! Where none of its actions exists it acts uniformly at random.

use std::sync::Arc;

use derrl_env::Rng;
use derrl_logic::{Facts, GroundAction, Universe};

use crate::agents::linear::{softmax_in_place, through_softmax};
use crate::agents::perceptron::Perceptron;
use crate::agents::reinforce::{BaselineAgent, BaselineConfig, Model};
use crate::agents::training_atoms::{Matched, TrainingAtoms};
use crate::agents::{AgentSpec, Setup};
use crate::error::Error;

/// The row of the table of agents.
pub const SPEC: AgentSpec = AgentSpec {
    name: "mlp",
    summary: "a two-layer perceptron on the ground atoms of the training task",
    learning: Some(learning),
    make: |setup| Ok(Box::new(learner(setup)?)),
};

/// An untrained learner.
pub fn learner(setup: &Setup<'_>) -> Result<BaselineAgent<Mlp>, Error> {
    let model = |_: &_, training: &TrainingAtoms, learning: &BaselineConfig| {
        let network =
            Perceptron { inputs: training.len(), hidden: learning.hidden, outputs: training.actions() };
        Ok(Mlp { training: training.clone(), network })
    };
    BaselineAgent::new(setup, learning(), model)
}

fn learning() -> BaselineConfig {
    BaselineConfig { learning_rate: 0.005, batch: 384, hidden: 64, ..BaselineConfig::default() }
}

/// The network with its sizes.
pub struct Mlp {
    training: TrainingAtoms,
    network: Perceptron,
}

/// How a universe corresponds to that of training.
pub struct World {
    matched: Matched,
    /// The output of each ground action, if it has one.
    outputs: Vec<Option<u32>>,
    /// Whether any has.
    any: bool,
}

#[derive(Default)]
pub struct Tape {
    hidden: Vec<f64>,
    y: Vec<f64>,
    pi: Vec<f64>,
}

impl Model for Mlp {
    type World = World;
    type State = Vec<u32>;
    type Tape = Tape;
    type Scratch = ();

    fn parameters(&self) -> usize {
        self.network.len()
    }

    fn initial(&self, rng: &mut Rng) -> Vec<f64> {
        self.network.initial(self.training.active(), rng)
    }

    fn world(&self, universe: &Universe, actions: &Arc<[GroundAction]>) -> World {
        let matched = self.training.matched(universe);
        let outputs: Vec<_> = actions.iter().map(|a| self.training.action(&matched, a)).collect();
        World { any: outputs.iter().any(Option::is_some), matched, outputs }
    }

    fn state(&self, world: &World, facts: &Facts) -> Vec<u32> {
        self.training.encode(&world.matched, facts)
    }

    fn forward<'t>(
        &self,
        weights: &[f64],
        world: &World,
        state: &Vec<u32>,
        (): &mut (),
        tape: &'t mut Tape,
    ) -> &'t [f64] {
        self.network.forward(weights, state, &mut tape.hidden, &mut tape.y);
        let Tape { y, pi, .. } = tape;
        pi.clear();
        if world.any {
            pi.extend(world.outputs.iter().map(|o| o.map_or(f64::NEG_INFINITY, |o| y[o as usize])));
        } else {
            pi.resize(world.outputs.len(), 0.0);
        }
        softmax_in_place(pi);
        pi
    }

    fn backward(
        &self,
        weights: &[f64],
        world: &World,
        state: &Vec<u32>,
        (): &mut (),
        tape: &Tape,
        d_pi: &mut [f64],
        gradient: &mut [f64],
    ) {
        if !world.any {
            return;
        }
        through_softmax(&tape.pi, d_pi);
        let mut d_y = vec![0.0; self.network.outputs];
        for (output, d) in world.outputs.iter().zip(&*d_pi) {
            if let Some(o) = output {
                d_y[*o as usize] += d;
            }
        }
        self.network.backward(weights, state, &tape.hidden, &d_y, gradient);
    }
}
