//! A learned sight: the symbol of each cell, and how likely each symbol is.

use std::sync::Arc;

use derrl_env::{PATCH, Rng, Sight};
use serde::{Deserialize, Serialize};

use super::laws;
use super::network::Network;
use super::outcome::Brings;

/// A learned sight, with how it was learned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Perception {
    pub(super) network: Network,
    /// What entering a cell of each symbol brings, from symbol 1 on. Symbol 0 is oneself.
    pub brings: Vec<Brings>,
    /// The share of new steps after which oneself was found where the action leads.
    pub moves: f64,
    /// The share of new steps that brought what the symbol of the cell entered says.
    pub foretells: f64,
    /// Episodes that it was learned from.
    pub episodes: u64,
    /// Their steps.
    pub steps: u64,
}

impl Perception {
    /// How many symbols it tells apart.
    pub fn count(&self) -> usize {
        self.network.outputs()
    }

    /// Whether it can look: what was read from a file may be anything.
    pub fn is_whole(&self) -> bool {
        self.network.is_whole() && !self.brings.is_empty() && self.count() == self.brings.len() + 1
    }

    /// The probability of each symbol in each cell of a frame, cell after cell.
    pub fn soft(&self, frame: &[f32]) -> Vec<f32> {
        let mut outputs = Vec::new();
        frame.chunks_exact(PATCH).for_each(|patch| {
            self.network.forward(patch, &mut outputs);
        });
        let n = self.count();
        let mut oneself: Vec<f32> = outputs.iter().step_by(n).copied().collect();
        laws::softmax(&mut oneself);
        for (cell, oneself) in outputs.chunks_exact_mut(n).zip(oneself) {
            laws::softmax(&mut cell[1..]);
            cell[1..].iter_mut().for_each(|p| *p *= 1.0 - oneself);
            cell[0] = oneself;
        }
        outputs
    }
}

impl Sight for Perception {
    /// Oneself is in one cell, the most likely one; every other cell has its most likely other symbol.
    fn symbols(&self, frame: &[f32], symbols: &mut Vec<u8>) {
        let mut outputs = Vec::with_capacity(frame.len() / PATCH * self.count());
        frame.chunks_exact(PATCH).for_each(|patch| {
            self.network.forward(patch, &mut outputs);
        });
        let n = self.count();
        symbols.clear();
        symbols.extend(outputs.chunks_exact(n).map(|cell| 1 + laws::highest(&cell[1..]) as u8));
        if let Some(oneself) = laws::highest_by(outputs.chunks_exact(n).map(|cell| cell[0])) {
            symbols[oneself] = 0;
        }
    }
}

/// A sight that draws the symbol of each cell by its probability, instead of taking the most likely one: what rules make of soft facts
/// on average. What it draws depends on the frame alone.
#[derive(Debug)]
pub struct Drawn(pub Arc<Perception>);

impl Sight for Drawn {
    fn symbols(&self, frame: &[f32], symbols: &mut Vec<u8>) {
        let n = self.0.count();
        let soft = self.0.soft(frame);
        let seed = frame.iter().fold(0u64, |seed, x| seed.rotate_left(5) ^ u64::from(x.to_bits()));
        let mut rng = Rng::new(seed, 0);
        let mut draw = |p: &mut dyn Iterator<Item = f32>| {
            let p: Vec<f32> = p.collect();
            let mut left = rng.unit() as f32 * p.iter().sum::<f32>();
            let at = p.iter().position(|p| {
                left -= p;
                left < 0.0
            });
            at.unwrap_or(p.len() - 1)
        };
        symbols.clear();
        symbols.extend(soft.chunks_exact(n).map(|cell| 1 + draw(&mut cell[1..].iter().copied()) as u8));
        let oneself = draw(&mut soft.chunks_exact(n).map(|cell| cell[0]));
        symbols[oneself] = 0;
    }
}
