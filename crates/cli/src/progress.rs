//! What a person sees while runs are under way, and how they are stopped and saved.

use std::cell::Cell;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use derrl_learn::{Best, Checkpoint, Learned, Observer, UpdateStats};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::run_folder::RunFolder;
use crate::say;
use crate::so_far::{Cut, SoFar};

/// Set by Ctrl-C.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// How long after Ctrl-C the program ends, whatever it is doing.
const GRACE: Duration = Duration::from_millis(800);

/// What is said where the program ends before it came to an end by itself.
static LAST_WORD: Mutex<Option<String>> = Mutex::new(None);

/// From now on, Ctrl-C asks what is under way to stop and save. What has not ended within a second, and whatever gets a second
/// Ctrl-C, is cut off: files are written whole or not at all, so that nothing is lost but what came after the last of them.
pub fn catch_interrupts() {
    let handler = || {
        let again = INTERRUPTED.swap(true, Ordering::SeqCst);
        let cut_off = || {
            let last = LAST_WORD.lock().unwrap_or_else(PoisonError::into_inner).take();
            say!("{}", last.as_deref().unwrap_or("interrupted"));
            std::process::exit(130);
        };
        let watch = move || {
            std::thread::sleep(GRACE);
            cut_off();
        };
        // Where no thread is to be had, nobody waits.
        if again || std::thread::Builder::new().spawn(watch).is_err() {
            cut_off();
        }
    };
    // Fails only if a handler exists already, which is then this one.
    let _ = ctrlc::set_handler(handler);
}

/// What to say where Ctrl-C cuts off what follows.
pub fn last_word(text: String) {
    *LAST_WORD.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
}

/// Whether Ctrl-C was pressed.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Set by `--quiet`.
static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on, nothing is said about progress.
pub fn be_quiet() {
    QUIET.store(true, Ordering::SeqCst);
}

/// How a bar looks that knows the time left by itself.
pub const TIMED: &str = "{bar:30} {percent}%  {msg}  {elapsed}, {eta} left";

/// A bar of this length and look on standard error, and whether it is all that is to be seen: where standard error is no
/// terminal, nothing is drawn, and lines may be said instead. Where all is to be quiet, neither is.
pub fn bar(length: u64, look: &str) -> (ProgressBar, bool) {
    let quiet = QUIET.load(Ordering::SeqCst);
    let on_terminal = std::io::stderr().is_terminal() || quiet;
    let bar = ProgressBar::new(length);
    bar.set_draw_target(if on_terminal && !quiet {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    });
    if let Ok(style) = ProgressStyle::with_template(look) {
        bar.set_style(style);
    }
    (bar, on_terminal)
}

/// What a program that runs training sees of it, and how it stops it, from another thread.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    done: AtomicU64,
    planned: AtomicU64,
    message: Mutex<String>,
    enough: AtomicBool,
    best: Mutex<Option<SoFar>>,
}

impl Control {
    /// Asks the run to end with its best policy so far.
    pub fn enough(&self) {
        self.enough.store(true, Ordering::SeqCst);
    }

    /// The best policy so far, where it is new since this was last asked.
    pub fn new_best(&self) -> Option<SoFar> {
        self.best.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Asks the run to stop and save.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }

    /// Whether the run is to stop.
    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Counts an update.
    pub(crate) fn count(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// Says what is under way.
    pub(crate) fn say(&self, text: String) {
        *self.message.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }

    /// How many updates are done, how many are planned so far, and a word on what is under way.
    pub fn progress(&self) -> (u64, u64, String) {
        let message = self.message.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (self.done.load(Ordering::Relaxed), self.planned.load(Ordering::Relaxed), message)
    }
}

/// Shows progress and keeps checkpoints of the runs in these folders.
pub struct Watch<'a> {
    folders: &'a [RunFolder],
    /// Told instead of a terminal, where there is one.
    control: Option<&'a Control>,
    bar: ProgressBar,
    on_terminal: bool,
    updates: u64,
    runs: Mutex<Vec<Watched>>,
    /// When the time of a run is up, where it is limited.
    until: Option<Instant>,
    failed: Mutex<Option<anyhow::Error>>,
}

/// What is known of a run under way.
#[derive(Clone, Default)]
struct Watched {
    /// When it may be saved again.
    next_save: Option<Instant>,
    /// Restarts planned.
    restarts: usize,
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
    /// Decisions when a best policy was last told of.
    told: u64,
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
    /// Watches the runs in these folders, each with this many updates per restart.
    pub fn new(folders: &'a [RunFolder], updates: usize) -> Watch<'a> {
        let (bar, on_terminal) = bar(0, TIMED);
        let run = |f: &RunFolder| Watched { seconds: f.seconds(), bests: f.bests(), ..Watched::default() };
        let runs = Mutex::new(folders.iter().map(run).collect());
        // Runs whose time is limited are watched one at a time.
        let left = folders.first().and_then(RunFolder::seconds_left).map(|s| s.clamp(0.0, LONGEST));
        let until = left.map(|s| Instant::now() + Duration::from_secs_f64(s));
        Watch {
            folders,
            control: None,
            bar,
            on_terminal,
            updates: updates as u64,
            runs,
            until,
            failed: Mutex::new(None),
        }
    }

    /// The same, told to this control alone.
    pub fn controlled(self, control: &'a Control) -> Watch<'a> {
        self.bar.set_draw_target(ProgressDrawTarget::hidden());
        Watch { control: Some(control), ..self }
    }

    /// What ends the runs with their best policies so far, if anything does.
    pub fn cut(&self) -> Option<Cut> {
        if self.control.is_some_and(|control| control.enough.load(Ordering::SeqCst)) {
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
        self.control.map_or_else(interrupted, Control::stopped)
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

    /// Counts the time since this thread was last heard of for a run.
    fn count(&self, seed: u64) {
        let last = LAST_HEARD.replace(Some(Instant::now()));
        if let Some(last) = last {
            let at = self.at(seed);
            self.runs()[at].worked(last);
        }
    }

    fn say(&self, text: String) {
        if let Some(control) = self.control {
            control.say(text);
        } else if self.on_terminal {
            self.bar.set_message(text);
        } else {
            say!("{text}");
        }
    }

    /// Clears the bar, and returns the seconds that each run took. An error if a checkpoint could not be written.
    pub fn finish(self) -> anyhow::Result<Vec<f64>> {
        self.bar.finish_and_clear();
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
    fn begins(&self, _seed: u64) {
        LAST_HEARD.set(Some(Instant::now()));
    }

    fn improving(&self, seed: u64) {
        self.say(format!("seed {seed}: improving the rules"));
    }

    fn phase(&self, seed: u64, what: &str) {
        self.say(format!("seed {seed}: {what}"));
    }

    fn best(&self, seed: u64, best: &Best<'_>) {
        let at = self.at(seed);
        let mut runs = self.runs();
        let run = &mut runs[at];
        let best = SoFar { seconds: run.seconds_now(), ..SoFar::from(best) };
        if run.bests.last().is_some_and(|known| known.policy == best.policy) {
            return;
        }
        let how = best.how();
        if let Some(control) = self.control {
            *control.best.lock().unwrap_or_else(PoisonError::into_inner) = Some(best.clone());
        }
        run.bests.push(best.clone());
        run.is_new = true;
        // A terminal shows each; elsewhere lines are said ever more rarely.
        let due = self.on_terminal || best.decisions >= 2 * run.told;
        if due {
            run.told = best.decisions.max(1);
        }
        drop(runs);
        if due {
            self.say(format!("seed {seed}: {how}"));
        }
    }

    fn decided(&self, seed: u64, decisions: u64) {
        self.runs()[self.at(seed)].decisions = decisions;
    }

    fn updated(&self, seed: u64, _restart: u64, _stats: &UpdateStats) {
        self.count(seed);
        self.bar.inc(1);
        if let Some(control) = self.control {
            control.count();
        }
    }

    fn checkpoint(&self, seed: u64, checkpoint: &Checkpoint) {
        self.count(seed);
        let running: u64 = checkpoint.running.iter().map(|p| p.snapshot.steps).sum();
        let at = self.at(seed);
        let mut runs = self.runs();
        runs[at].decisions = runs[at].decisions.max(checkpoint.steps() + running);
        drop(runs);
        self.save(seed, checkpoint, self.interrupted());
    }

    fn wave(&self, seed: u64, restarts: usize) {
        let at = self.at(seed);
        let before = std::mem::replace(&mut self.runs()[at].restarts, restarts);
        let added = restarts.saturating_sub(before) as u64;
        self.bar.inc_length(added * self.updates);
        if let Some(control) = self.control {
            control.planned.fetch_add(added * self.updates, Ordering::Relaxed);
        }
        self.say(format!("seed {seed}: up to {restarts} restart{}", if restarts == 1 { "" } else { "s" }));
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
        self.save(seed, checkpoint, true);
        if checkpoint.done.len() > 1 {
            self.say(format!(
                "seed {seed}: restart {} chosen of {}",
                learned.restart + 1,
                checkpoint.done.len()
            ));
        }
    }

    fn interrupted(&self) -> bool {
        let ends = self.stopped() || self.cut().is_some();
        ends || self.failed.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}
