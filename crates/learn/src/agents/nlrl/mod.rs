//! NLRL: differentiable ILP trained by policy gradient (Jiang and Luo, 2019), the paper's closest relative.
//!
//! A domain file gives templates (`:- nlrl(...)`): predicates to invent, and slots for clauses with two body atoms. Every
//! clause that fits a slot is a candidate with a weight of its own; forward chaining over all of them at once values the
//! actions. What DERRL decides atom by atom is decided here clause by clause: C(m, 2) weights instead of 2m.

mod clauses;
mod deduction;

use std::sync::Arc;

use derrl_env::Rng;
use derrl_logic::{Alphabet, Facts, GroundAction, SlotHead, Templates, Universe};

use crate::agents::linear::{softmax_in_place, through_softmax};
use crate::agents::nlrl::clauses::{Slot, Symbol, slots};
use crate::agents::nlrl::deduction::{Deduction, Scratch, Tape, World};
use crate::agents::reinforce::{BaselineAgent, BaselineConfig, Model};
use crate::agents::{AgentSpec, Setup};
use crate::error::Error;
use crate::generator::network::normal;

/// The row of the table of agents.
pub const SPEC: AgentSpec = AgentSpec {
    name: "nlrl",
    summary: "differentiable ILP: weighs all clauses of two body atoms that fit the domain's templates",
    learning: Some(learning),
    make: |setup| Ok(Box::new(learner(setup)?)),
};

/// An untrained learner.
pub fn learner(setup: &Setup<'_>) -> Result<BaselineAgent<Nlrl>, Error> {
    let model = |alphabet: &_, _: &_, learning: &BaselineConfig| Nlrl::new(alphabet, learning.init_noise);
    BaselineAgent::new(setup, learning(), model)
}

fn learning() -> BaselineConfig {
    BaselineConfig {
        learning_rate: 0.1,
        batch: 128,
        init_noise: 0.5,
        restarts: 4,
        ..BaselineConfig::default()
    }
}

/// The candidate clauses of a domain.
pub struct Nlrl {
    alphabet: Arc<Alphabet>,
    templates: Templates,
    deduction: Deduction,
    init_noise: f64,
}

impl Nlrl {
    fn new(alphabet: &Arc<Alphabet>, init_noise: f64) -> Result<Nlrl, Error> {
        let templates = alphabet.templates.clone().ok_or_else(|| {
            Error::Templates(
                "the domain has no templates for NLRL: add lines such as `:- nlrl(slot(move/2, 1, given)).`"
                    .to_string(),
            )
        })?;
        let slots = slots(alphabet, &templates)?;
        let deduction = Deduction::new(alphabet, &templates, slots);
        Ok(Nlrl { alphabet: Arc::clone(alphabet), templates, deduction, init_noise })
    }
}

/// The most likely clause of a slot with its weight.
fn chosen(slot: &Slot, weights: &[f64]) -> (usize, f64) {
    let mine = &weights[slot.at..slot.at + slot.clauses.len()];
    let best = (0..mine.len()).max_by(|&a, &b| mine[a].total_cmp(&mine[b]).then(b.cmp(&a))).unwrap_or(0);
    (best, mine[best])
}

impl Model for Nlrl {
    type World = World;
    type State = Vec<f64>;
    type Tape = Tape;
    type Scratch = Scratch;

    fn parameters(&self) -> usize {
        self.deduction.clauses()
    }

    fn initial(&self, rng: &mut Rng) -> Vec<f64> {
        (0..self.parameters()).map(|_| self.init_noise * normal(rng)).collect()
    }

    /// w_s = softmax(theta_s) for every slot s.
    fn weights(&self, theta: &[f64]) -> Vec<f64> {
        let mut weights = theta.to_vec();
        for slot in &self.deduction.slots {
            softmax_in_place(&mut weights[slot.at..slot.at + slot.clauses.len()]);
        }
        weights
    }

    fn through_weights(&self, weights: &[f64], gradient: &mut [f64]) {
        for slot in &self.deduction.slots {
            let mine = slot.at..slot.at + slot.clauses.len();
            through_softmax(&weights[mine.clone()], &mut gradient[mine]);
        }
    }

    fn world(&self, universe: &Universe, actions: &Arc<[GroundAction]>) -> World {
        self.deduction.world(&self.alphabet, universe, actions)
    }

    fn state(&self, world: &World, facts: &Facts) -> Vec<f64> {
        world.encode(facts)
    }

    fn forward<'t>(
        &self,
        weights: &[f64],
        world: &World,
        state: &Vec<f64>,
        scratch: &mut Scratch,
        tape: &'t mut Tape,
    ) -> &'t [f64] {
        self.deduction.forward(weights, world, state, scratch, tape)
    }

    fn backward(
        &self,
        weights: &[f64],
        world: &World,
        _: &Vec<f64>,
        scratch: &mut Scratch,
        tape: &Tape,
        d_pi: &mut [f64],
        gradient: &mut [f64],
    ) {
        self.deduction.backward(weights, world, scratch, tape, d_pi, gradient);
    }

    /// The most likely clause of every slot with its weight, actions first; invented predicates that no shown clause uses are
    /// left out.
    fn rules(&self, theta: &[f64]) -> Option<String> {
        let weights = self.weights(theta);
        let slots = &self.deduction.slots;
        let chosen: Vec<(usize, f64)> = slots.iter().map(|s| chosen(s, &weights)).collect();
        let mut used = vec![false; self.templates.invented.len()];
        let mut shown = vec![false; slots.len()];
        let mut lines = Vec::new();
        loop {
            let next = (0..slots.len()).find(|&s| {
                !shown[s]
                    && match slots[s].head {
                        SlotHead::Action(_) => true,
                        SlotHead::Invented(p) => used[p],
                    }
            });
            let Some(s) = next else { break };
            shown[s] = true;
            let (clause, weight) = chosen[s];
            let (i, j) = slots[s].clauses[clause];
            for atom in [i, j] {
                if let Symbol::Invented(p) = slots[s].atoms[atom as usize].symbol {
                    used[p] = true;
                }
            }
            lines.push(format!("{weight:.2}::{}\n", slots[s].show(clause, &self.alphabet, &self.templates)));
        }
        Some(lines.concat())
    }
}

#[cfg(test)]
mod tests;
