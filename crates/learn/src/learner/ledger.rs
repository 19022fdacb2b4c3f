//! What was spent on what, and the random streams of episodes.

use derrl_env::Rng;
use serde::{Deserialize, Serialize};

use super::limits::{EPISODES, ROWS_PER_STEP};
use crate::settings::streams::Purpose;

/// Who takes steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    /// Random play.
    #[default]
    Look,
    /// The moves that rest on a table of what was explored.
    Table,
    /// The gradient.
    Gradient,
    /// Lists that are drawn and changed at random.
    Change,
    /// Actions that are tried.
    Try,
    /// Shortening, confirming and the last comparison.
    End,
}

/// How many sources there are.
const SOURCES: usize = Source::End as usize + 1;

/// Every step of the world, by who took it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    now: Source,
    steps: [u64; SOURCES],
    /// Steps and thoughts since each last found something better.
    effort: [u64; SOURCES],
}

impl Ledger {
    /// From here on this source takes the steps.
    pub fn begin(&mut self, source: Source) {
        self.now = source;
    }

    /// Takes down steps.
    pub fn spend(&mut self, steps: u64) {
        self.steps[self.now as usize] += steps;
        self.effort[self.now as usize] += steps;
    }

    /// Takes down computing, in rows of states that were looked at.
    pub fn think(&mut self, rows: u64) {
        self.effort[self.now as usize] += rows / ROWS_PER_STEP;
    }

    /// What takes steps now found something better.
    pub fn succeed(&mut self) {
        self.effort[self.now as usize] = 0;
    }

    /// Steps of a source.
    pub fn of(&self, source: Source) -> u64 {
        self.steps[source as usize]
    }

    /// Steps and thoughts of a source since it last found something better.
    pub fn effort(&self, source: Source) -> u64 {
        self.effort[source as usize]
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
    Races,
    /// Random play.
    Random,
    /// Episodes in which actions are tried.
    Trying,
    /// The last comparison.
    Last,
}

/// The random streams of an episode of a seed: one for the world and one to break ties.
pub fn streams(seed: u64, from: From, number: u64) -> (Rng, Rng) {
    let mut rng = Purpose::Race(((from as u64) << EPISODES) + number).rng(seed);
    let (world, ties) = (rng.bits(), rng.bits());
    (Rng::new(world, 0), Rng::new(ties, 1))
}
