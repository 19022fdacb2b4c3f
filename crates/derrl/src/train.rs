//! Training in one call.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use derrl_env::{Options, World};
use derrl_learn::{Best, Checkpoint, Config, Learned, Observer, Point, Score, Silent, UpdateStats, cores};

use crate::error::Error;
use crate::listener::Deaf;
use crate::policy::Policy;
use crate::score::{Exam, score};
use crate::setup::Setup;

/// What training came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The seed.
    pub seed: u64,
    /// What was learned.
    pub policy: Policy,
    /// The same rules before simplification.
    pub unsimplified: Policy,
    /// The score of the policy on each task that is scored by default, by name.
    pub scores: BTreeMap<String, Score>,
    /// The restarts, with their training curves.
    pub restarts: Checkpoint,
}

/// Learns a policy for the first task of a world, and scores it on all. The same seed gives the same policy on any number of
/// threads.
pub fn train(world: &World, settings: &Config, seed: u64) -> Result<Run, Error> {
    train_observed(world, settings, seed, cores(), &Silent)
}

/// The same on so many threads; the observer is told what happens, and may ask to stop: [`Error::Interrupted`].
pub fn train_observed(
    world: &World,
    settings: &Config,
    seed: u64,
    threads: usize,
    observer: &dyn Observer,
) -> Result<Run, Error> {
    let setup = Setup::of_world(world, &Options::default(), settings)?;
    let keeping = Keeping { observer, last: Mutex::default() };
    let learned = setup.search(vec![(seed, Checkpoint::default())], &keeping, threads)?.pop().flatten();
    let learned = learned.ok_or(Error::Interrupted)?;
    let options = Options::default();
    let exam = Exam { tasks: &[], options: &options, episodes: None, seed };
    let scores = score(&learned.policy, &learned.alphabet, world, &exam, &Deaf)?;
    let scores = scores.ok_or(Error::Interrupted)?.into_iter().collect();
    Ok(Run {
        seed,
        policy: Policy::new(learned.policy, &learned.alphabet),
        unsimplified: Policy::new(learned.unsimplified, &learned.unsimplified_alphabet),
        scores,
        restarts: keeping.last.into_inner().unwrap_or_else(PoisonError::into_inner),
    })
}

/// Passes all on, and keeps the last checkpoint.
struct Keeping<'a> {
    observer: &'a dyn Observer,
    last: Mutex<Checkpoint>,
}

impl Observer for Keeping<'_> {
    fn point(&self, point: &Point) {
        self.observer.point(point);
    }

    fn begins(&self, seed: u64) {
        self.observer.begins(seed);
    }

    fn updated(&self, seed: u64, restart: u64, stats: &UpdateStats) {
        self.observer.updated(seed, restart, stats);
    }

    fn checkpoint(&self, seed: u64, checkpoint: &Checkpoint) {
        self.observer.checkpoint(seed, checkpoint);
    }

    fn phase(&self, seed: u64, what: &str) {
        self.observer.phase(seed, what);
    }

    fn decided(&self, seed: u64, decisions: u64) {
        self.observer.decided(seed, decisions);
    }

    fn best(&self, seed: u64, best: &Best<'_>) {
        self.observer.best(seed, best);
    }

    fn finished(&self, seed: u64, checkpoint: &Checkpoint, learned: &Learned) {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone_from(checkpoint);
        self.observer.finished(seed, checkpoint, learned);
    }

    fn interrupted(&self) -> bool {
        self.observer.interrupted()
    }
}
