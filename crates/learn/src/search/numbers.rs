//! Runs in worlds with numbers: the learner of `learner/`, one thread per run.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;

use crate::error::Error;
use crate::learner::Run;
use crate::parallel::in_chunks;
use crate::search::checkpoint::{Checkpoint, Ending, Learned, Origin};
use crate::search::waves::{Search, panicked};

impl Search<'_> {
    /// Learns once per seed, each on a thread of its own.
    pub(super) fn run_on_numbers(
        &self,
        seeds: &[(u64, Checkpoint)],
        threads: usize,
        most: Option<u64>,
    ) -> Result<Vec<Option<Learned>>, Error> {
        let mut found: Vec<Option<Learned>> = vec![None; seeds.len()];
        let failed: RefCell<Option<Error>> = RefCell::default();
        let work = |(): &mut (), (seed, checkpoint): &(u64, Checkpoint), _: &AtomicBool| {
            let one = AssertUnwindSafe(|| self.one_on_numbers(*seed, checkpoint, most));
            Some(catch_unwind(one).unwrap_or_else(|panic| Err(panicked(panic.as_ref()))))
        };
        let done = |i: usize, result| match result {
            Ok(learned) => found[i] = learned,
            Err(error) => {
                failed.borrow_mut().get_or_insert(error);
            }
        };
        // Runs that are interrupted end by themselves.
        in_chunks(seeds, threads, || (), work, done, || failed.borrow().is_some());
        failed.into_inner().map_or(Ok(found), Err)
    }

    /// The run of a seed; `None` if it was interrupted.
    fn one_on_numbers(
        &self,
        seed: u64,
        checkpoint: &Checkpoint,
        most: Option<u64>,
    ) -> Result<Option<Learned>, Error> {
        let mut checkpoint = checkpoint.clone();
        if checkpoint.ending.is_none() {
            self.observer.begins(seed);
            let stop = || self.observer.interrupted();
            let mut run =
                Run::new(&self.problem.alphabet, self.make_env()?, seed, most, (self.observer, &stop));
            if let Some(saved) = checkpoint.racing.take() {
                run = run.from(&saved);
            }
            self.observer.phase(seed, "racing rules");
            let chosen = run.search().and_then(|()| {
                self.observer.improving(seed);
                run.finish()
            });
            let chosen = match chosen {
                Err(Error::Interrupted) => return Ok(None),
                other => other?,
            };
            let policy = chosen.policy.display(&chosen.alphabet).to_string();
            run.tell(&policy, chosen.mean_return, chosen.success);
            let origins = vec![Origin::Improvement; chosen.policy.rules.len()];
            let (steps, success) = (run.steps(), chosen.success);
            let widenings = Vec::new();
            let ending = Ending { policy, origins, restart: 0, steps, widenings, success, by_chance: false };
            checkpoint.ending = Some(ending);
        }
        let ending = checkpoint.ending.as_ref().ok_or(Error::Interrupted)?;
        let learned = self.learned(&checkpoint, ending)?;
        self.observer.finished(seed, &checkpoint, &learned);
        Ok(Some(learned))
    }
}
