//! Runs in worlds with numbers: the learner of `learner/`, one thread per run.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::Error;
use crate::learner::Run;
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
        let next = AtomicUsize::new(0);
        let found: Mutex<Vec<Option<Learned>>> = Mutex::new(vec![None; seeds.len()]);
        let failed: Mutex<Option<Error>> = Mutex::new(None);
        let failure = || failed.lock().unwrap_or_else(PoisonError::into_inner);
        let work = || {
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                let Some((seed, checkpoint)) = seeds.get(i) else { return };
                if failure().is_some() || self.observer.interrupted() {
                    return;
                }
                let one = AssertUnwindSafe(|| self.one_on_numbers(*seed, checkpoint, most));
                match catch_unwind(one).unwrap_or_else(|panic| Err(panicked(panic.as_ref()))) {
                    Ok(learned) => {
                        found.lock().unwrap_or_else(PoisonError::into_inner)[i] = learned;
                    }
                    Err(error) => {
                        failure().get_or_insert(error);
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..threads.min(seeds.len()) {
                scope.spawn(work);
            }
            work();
        });
        match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner)),
        }
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
