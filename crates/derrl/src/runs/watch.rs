//! What is kept of runs while they are under way: checkpoints, the best policies so far, and the time they took.

use std::cell::Cell;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use derrl_learn::{Best, Checkpoint, Learned, Observer, UpdateStats};

use crate::listener::Listener;
use crate::runs::folder::RunFolder;
use crate::runs::now::Heart;
use crate::runs::so_far::{Cut, SoFar};

/// Keeps what the runs in these folders have found, and passes on how far they are.
pub struct Watch<'a> {
    folders: &'a [RunFolder],
    listener: &'a dyn Listener,
    runs: Mutex<Vec<Watched>>,
    heart: Heart,
    /// When the time of a run is up, where it is limited.
    until: Option<Instant>,
    failed: Mutex<Option<anyhow::Error>>,
}

/// What is known of a run under way.
#[derive(Clone, Default)]
struct Watched {
    /// When it may be saved again.
    next_save: Option<Instant>,
    /// Seconds in which some thread worked for it, with those of earlier processes.
    seconds: f64,
    /// Until when its time is counted.
    counted: Option<Instant>,
    /// Each policy that was the best so far.
    bests: Vec<SoFar>,
    /// Whether the last of them is not yet in the folder.
    is_new: bool,
    /// Decisions so far, as far as they were told.
    decisions: u64,
}

impl Watched {
    /// Writes the best policy so far to the folder, where it is not yet there.
    fn save_best(&mut self, folder: &RunFolder) -> anyhow::Result<()> {
        let new = std::mem::take(&mut self.is_new);
        if new { folder.save_bests(&self.bests) } else { Ok(()) }
    }

    /// Seconds so far, with those since its time was last counted.
    fn seconds_now(&self) -> f64 {
        self.seconds + self.counted.map_or(0.0, |counted| counted.elapsed().as_secs_f64())
    }

    /// Counts the time from `start` to now, in which a thread worked for this run. What another thread has counted is not counted again.
    fn worked(&mut self, start: Instant) {
        let now = Instant::now();
        let start = self.counted.map_or(start, |counted| counted.max(start));
        self.seconds += now.saturating_duration_since(start).as_secs_f64();
        self.counted = Some(now);
    }
}

thread_local! {
    /// When this thread was last heard of: from then on it worked for the run that it names next.
    static LAST_HEARD: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Runs are saved at most this often, and so that saving takes a small share of the time.
const SAVE_EVERY: Duration = Duration::from_secs(1);
const SAVE_SHARE: u32 = 20;
/// Seconds that a limit may be away, at the most: the clock goes no further everywhere.
const LONGEST: f64 = 1e9;

impl<'a> Watch<'a> {
    /// Watches the runs in these folders.
    pub fn new(folders: &'a [RunFolder], listener: &'a dyn Listener) -> Watch<'a> {
        let run = |f: &RunFolder| Watched { seconds: f.seconds(), bests: f.bests(), ..Watched::default() };
        let runs = Mutex::new(folders.iter().map(run).collect());
        // Runs whose time is limited are watched one at a time.
        let left = folders.first().and_then(RunFolder::seconds_left).map(|s| s.clamp(0.0, LONGEST));
        let until = left.map(|s| Instant::now() + Duration::from_secs_f64(s));
        let heart = Heart::new(folders, listener.clock());
        Watch { folders, listener, runs, heart, until, failed: Mutex::new(None) }
    }

    /// What ends the runs with their best policies so far, if anything does.
    pub fn cut(&self) -> Option<Cut> {
        if self.listener.enough() {
            return Some(Cut::Enough);
        }
        let up = self.until.is_some_and(|until| Instant::now() >= until);
        self.folders[0].config.max_seconds.filter(|_| up).map(Cut::Seconds)
    }

    /// The best policy of a run so far, and the decisions that it has taken.
    pub fn so_far(&self, seed: u64) -> (Option<SoFar>, u64) {
        let runs = self.runs();
        let run = &runs[self.at(seed)];
        (run.bests.last().cloned(), run.decisions)
    }

    /// Whether somebody asked all to stop: nothing is to end with what it has.
    pub fn stopped(&self) -> bool {
        self.listener.stopped()
    }

    fn at(&self, seed: u64) -> usize {
        self.folders.iter().position(|f| f.config.seed == seed).unwrap_or(0)
    }

    fn save(&self, seed: u64, checkpoint: &Checkpoint, due: bool) {
        let at = self.at(seed);
        let mut runs = self.runs();
        let (run, folder) = (&mut runs[at], &self.folders[at]);
        if due || run.next_save.is_none_or(|next| Instant::now() >= next) {
            let begun = Instant::now();
            let saved = folder.save(checkpoint).and_then(|()| folder.save_seconds(run.seconds));
            if let Err(error) = saved.and_then(|()| run.save_best(folder)) {
                self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
            run.next_save = Some(Instant::now() + SAVE_EVERY.max(begun.elapsed() * SAVE_SHARE));
        }
    }

    fn runs(&self) -> MutexGuard<'_, Vec<Watched>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what a run is doing.
    fn enters(&self, seed: u64, phase: &str) {
        let at = self.at(seed);
        let decisions = self.runs()[at].decisions;
        self.heart.enters(at, seed, phase, decisions);
    }

    /// Counts the time since this thread was last heard of for a run.
    fn count(&self, seed: u64) {
        let last = LAST_HEARD.replace(Some(Instant::now()));
        if let Some(last) = last {
            let at = self.at(seed);
            self.runs()[at].worked(last);
        }
    }

    /// The seconds that each run took. An error if a checkpoint could not be written.
    pub fn finish(self) -> anyhow::Result<Vec<f64>> {
        drop(self.heart);
        self.listener.over();
        if let Some(error) = self.failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let mut runs = self.runs.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (run, folder) in runs.iter_mut().zip(self.folders) {
            run.save_best(folder)?;
        }
        Ok(runs.into_iter().map(|run| run.seconds).collect())
    }
}

impl Observer for Watch<'_> {
    fn begins(&self, seed: u64) {
        LAST_HEARD.set(Some(Instant::now()));
        self.enters(seed, "exploring");
    }

    fn phase(&self, seed: u64, what: &str) {
        self.enters(seed, what);
        self.listener.phase(&format!("seed {seed}: {what}"));
    }

    fn best(&self, seed: u64, best: &Best<'_>) {
        let at = self.at(seed);
        let mut runs = self.runs();
        let run = &mut runs[at];
        let best = SoFar { seconds: run.seconds_now(), ..SoFar::from(best) };
        if run.bests.last().is_some_and(|known| known.policy == best.policy) {
            return;
        }
        run.bests.push(best.clone());
        run.is_new = true;
        let decisions = run.decisions.max(best.decisions);
        drop(runs);
        self.heart.knows(at, decisions, Some(&best));
        self.listener.best(seed, &best);
    }

    fn decided(&self, seed: u64, decisions: u64) {
        self.count(seed);
        let at = self.at(seed);
        let mut runs = self.runs();
        runs[at].decisions = decisions;
        self.heart.knows(at, decisions, runs[at].bests.last());
        let all = runs.iter().map(|run| run.decisions).sum();
        drop(runs);
        self.listener.decided(all);
    }

    fn updated(&self, seed: u64, _restart: u64, _stats: &UpdateStats) {
        self.count(seed);
    }

    fn checkpoint(&self, seed: u64, checkpoint: &Checkpoint) {
        self.count(seed);
        let running: u64 = checkpoint.running.iter().map(|p| p.snapshot.steps).sum();
        let at = self.at(seed);
        let mut runs = self.runs();
        runs[at].decisions = runs[at].decisions.max(checkpoint.steps() + running);
        self.heart.knows(at, runs[at].decisions, runs[at].bests.last());
        drop(runs);
        self.save(seed, checkpoint, self.interrupted());
    }

    fn finished(&self, seed: u64, checkpoint: &Checkpoint, learned: &Learned) {
        self.count(seed);
        let at = self.at(seed);
        let mut runs = self.runs();
        let run = &mut runs[at];
        let policy = learned.policy.display(&learned.alphabet).to_string();
        // What the end of a run makes of its best policy is better, or the same.
        if run.bests.last().is_none_or(|known| known.policy != policy) {
            let last = run.bests.last();
            let mean_return = last.map_or(0.0, |best| best.mean_return);
            let success = last.and_then(|best| best.success).map(|_| learned.success);
            let (decisions, seconds) = (learned.steps, run.seconds_now());
            run.bests.push(SoFar { policy, mean_return, success, decisions, seconds });
            run.is_new = true;
        }
        drop(runs);
        self.heart.ends(at);
        self.save(seed, checkpoint, true);
    }

    fn interrupted(&self) -> bool {
        let ends = self.stopped() || self.cut().is_some();
        ends || self.failed.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}
