//! What was spent on what, and the random streams of episodes.

use derrl_env::Rng;
use serde::{Deserialize, Serialize};

use crate::settings::streams::Purpose;

/// What steps are spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Playing at random, to see what there is.
    Random,
    /// Exploring.
    Exploring,
    /// Training by the gradient.
    Training,
    /// Racing lists.
    Racing,
    /// Trying actions.
    Trying,
    /// The last comparison and the shortening.
    Last,
}

/// Steps by what they were spent on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    steps: [u64; 6],
}

impl Ledger {
    /// Takes down steps.
    pub fn spend(&mut self, part: Part, steps: u64) {
        self.steps[part as usize] += steps;
    }

    /// Steps of a part.
    pub fn of(&self, part: Part) -> u64 {
        self.steps[part as usize]
    }

    /// All steps.
    pub fn all(&self) -> u64 {
        self.steps.iter().sum()
    }
}

/// Where the numbers of episodes begin that are not raced: no two uses share an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// Races.
    Races = 0,
    /// Random play.
    Random = 1 << 28,
    /// Episodes in which actions are tried.
    Trying = 2 << 28,
    /// The last comparison.
    Last = 3 << 28,
}

/// The random streams of an episode of a seed: one for the world and one to break ties.
pub fn streams(seed: u64, from: From, number: u64) -> (Rng, Rng) {
    let mut rng = Purpose::Race(from as u64 + number).rng(seed);
    let (world, ties) = (rng.bits(), rng.bits());
    (Rng::new(world, 0), Rng::new(ties, 1))
}
