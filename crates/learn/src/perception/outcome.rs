//! What entering a cell brings: what symbols are told apart by.

use std::cmp::Ordering;

use derrl_env::{Outcome, Status};
use serde::{Deserialize, Serialize};

/// What entering a cell brings.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Brings {
    /// The reward.
    pub reward: f64,
    /// Whether the episode ends by it.
    pub ends: bool,
}

impl Brings {
    pub(super) fn of(outcome: Outcome) -> Brings {
        Brings { reward: outcome.reward, ends: outcome.status == Status::Terminated }
    }

    /// The best first; of the same reward, the one with which the episode goes on.
    pub(super) fn order(&self, other: &Brings) -> Ordering {
        other.reward.total_cmp(&self.reward).then(self.ends.cmp(&other.ends))
    }
}
