//! What a person sees while runs are under way, and how they are stopped and saved.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use derrl_learn::{Checkpoint, Learned, Observer, UpdateStats};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::run_folder::RunFolder;

/// Set by Ctrl-C.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on, Ctrl-C asks runs to stop and save; a second one ends the program at once.
pub fn catch_interrupts() {
    let handler = || {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    };
    // Fails only if a handler exists already, which is then this one.
    let _ = ctrlc::set_handler(handler);
}

/// Whether Ctrl-C was pressed.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// How a bar looks that knows the time left by itself.
pub const TIMED: &str = "{bar:30} {percent}%  {msg}  {elapsed}, {eta} left";

/// A bar of this length and look on standard error, and whether that is a terminal: elsewhere nothing is drawn.
pub fn bar(length: u64, look: &str) -> (ProgressBar, bool) {
    let on_terminal = std::io::stderr().is_terminal();
    let bar = ProgressBar::new(length);
    bar.set_draw_target(if on_terminal {
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
}

impl Control {
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
    /// Per run: when it was last saved, and how many restarts are planned.
    runs: Mutex<Vec<(Option<Instant>, usize)>>,
    failed: Mutex<Option<anyhow::Error>>,
}

/// Runs are saved at most this often.
const SAVE_EVERY: Duration = Duration::from_secs(1);

impl<'a> Watch<'a> {
    /// Watches the runs in these folders, each with this many updates a restart.
    pub fn new(folders: &'a [RunFolder], updates: usize) -> Watch<'a> {
        let (bar, on_terminal) = bar(0, TIMED);
        let runs = Mutex::new(vec![(None, 0); folders.len()]);
        Watch { folders, control: None, bar, on_terminal, updates: updates as u64, runs, failed: Mutex::new(None) }
    }

    /// The same, told to this control alone.
    pub fn controlled(self, control: &'a Control) -> Watch<'a> {
        self.bar.set_draw_target(ProgressDrawTarget::hidden());
        Watch { control: Some(control), ..self }
    }

    fn at(&self, seed: u64) -> usize {
        self.folders.iter().position(|f| f.config.seed == seed).unwrap_or(0)
    }

    fn save(&self, seed: u64, checkpoint: &Checkpoint, due: bool) {
        let at = self.at(seed);
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if due || runs[at].0.is_none_or(|last| last.elapsed() >= SAVE_EVERY) {
            if let Err(error) = self.folders[at].save(checkpoint) {
                self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
            runs[at].0 = Some(Instant::now());
        }
    }

    fn say(&self, text: String) {
        if let Some(control) = self.control {
            *control.message.lock().unwrap_or_else(PoisonError::into_inner) = text;
        } else if self.on_terminal {
            self.bar.set_message(text);
        } else {
            eprintln!("{text}");
        }
    }

    /// Clears the bar. An error if a checkpoint could not be written.
    pub fn finish(self) -> anyhow::Result<()> {
        self.bar.finish_and_clear();
        match self.failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

impl Observer for Watch<'_> {
    fn updated(&self, _seed: u64, _restart: u64, _stats: &UpdateStats) {
        self.bar.inc(1);
        if let Some(control) = self.control {
            control.count();
        }
    }

    fn checkpoint(&self, seed: u64, checkpoint: &Checkpoint) {
        self.save(seed, checkpoint, self.interrupted());
    }

    fn wave(&self, seed: u64, restarts: usize) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let at = self.at(seed);
        let added = restarts.saturating_sub(runs[at].1) as u64;
        runs[at].1 = restarts;
        drop(runs);
        self.bar.inc_length(added * self.updates);
        if let Some(control) = self.control {
            control.planned.fetch_add(added * self.updates, Ordering::Relaxed);
        }
        self.say(format!("seed {seed}: up to {restarts} restarts"));
    }

    fn finished(&self, seed: u64, checkpoint: &Checkpoint, learned: &Learned) {
        self.save(seed, checkpoint, true);
        self.say(format!("seed {seed}: restart {} chosen of {}", learned.restart, checkpoint.done.len()));
    }

    fn interrupted(&self) -> bool {
        let stopped = self.control.map_or_else(interrupted, Control::stopped);
        stopped || self.failed.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}
