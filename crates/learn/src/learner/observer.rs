//! Who is told how training goes.

use serde::{Deserialize, Serialize};

use super::checkpoint::{Checkpoint, Learned};
use crate::training::restart::UpdateStats;

/// Told what happens while runs are under way, and asked whether to stop; called from worker threads.
///
/// A panic of an observer ends the search with an error.
pub trait Observer: Sync {
    /// Another point of the training curve of an agent. DERRL, which restarts, tells of every restart.
    fn point(&self, _point: &Point) {}
    /// The thread that calls begins a piece of work for the run with this seed.
    fn begins(&self, _seed: u64) {}
    /// An update of a restart of the run with this seed is done.
    fn updated(&self, _seed: u64, _restart: u64, _stats: &UpdateStats) {}
    /// The run can be resumed from here. Called about every second, and where a restart is interrupted.
    fn checkpoint(&self, _seed: u64, _checkpoint: &Checkpoint) {}
    /// The run goes over to something else, said in a few words that a person understands: `improving the rules`.
    fn phase(&self, _seed: u64, _what: &str) {}
    /// The run has taken so many decisions in all. Called as often as is convenient.
    fn decided(&self, _seed: u64, _decisions: u64) {}
    /// The run has a better policy than it had before, or its first one.
    fn best(&self, _seed: u64, _best: &Best<'_>) {}
    /// The run is finished.
    fn finished(&self, _seed: u64, _checkpoint: &Checkpoint, _learned: &Learned) {}
    /// Whether to stop as soon as possible. Asked often: it should take no time.
    fn interrupted(&self) -> bool {
        false
    }
}

/// The best policy of a run that is under way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Best<'a> {
    /// Its text, as `policy.pl` would have it.
    pub policy: &'a str,
    /// Its mean return, as far as it was tried.
    pub mean_return: f64,
    /// The share of the episodes tried that succeeded, where there is a goal.
    pub success: Option<f64>,
    /// Decisions that the run had taken when it was found.
    pub decisions: u64,
}

/// A point of a training curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Episodes run so far.
    pub episodes: u64,
    /// Decisions taken so far.
    pub decisions: u64,
    /// The mean undiscounted return of the episodes since the last point, acting as in training.
    pub mean_return: f64,
}

/// An observer that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}
