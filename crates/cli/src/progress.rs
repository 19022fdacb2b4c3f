//! What a person sees while runs are under way, and how they are stopped.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use derrl::Listener;
use derrl::runs::SoFar;
use derrl::runs::now::{Clock, Now};
use derrl_report::table::thousands;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::say;

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

/// How training looks: nobody knows when it ends, so that it has a clock and no percentage.
const CLOCK: &str = "{spinner} {elapsed}  {msg}";
/// Runs, and lines of rules, that a terminal shows at the most.
const MOST_SHOWN: usize = 3;
const MOST_RULES: usize = 8;

/// The runs under way, in a few lines: what each does, and the best rules so far.
fn shown(runs: &[Now]) -> String {
    let mut lines = Vec::new();
    for Now { seed, phase, decisions, speed, best, .. } in runs.iter().take(MOST_SHOWN) {
        let speed = speed.map_or_else(String::new, |s| format!(", {} per second", thousands(s as u64)));
        let decisions = match decisions {
            0 => String::new(),
            n => format!("; {} decisions{speed}", thousands(*n)),
        };
        lines.push(format!("seed {seed}: {phase}{decisions}"));
        if let Some(best) = best {
            lines.push(format!("   best so far: {}", best.how()));
            if runs.len() == 1 {
                let rules = best.policy.lines().filter(|l| l.contains("::")).take(MOST_RULES);
                lines.extend(rules.map(|rule| format!("   {rule}")));
            }
        }
    }
    if runs.len() > MOST_SHOWN {
        lines.push(format!("and {} more", runs.len() - MOST_SHOWN));
    }
    lines.join("\n")
}

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

/// Shows how far training and scoring are: by bars on a terminal, elsewhere by a line now and then. Ctrl-C stops all.
pub struct Terminal {
    training: ProgressBar,
    is_drawn: bool,
    /// Decisions of the run of each seed when a best policy was last told of.
    told: Mutex<HashMap<u64, u64>>,
    scoring: Mutex<Option<Scoring>>,
}

impl Terminal {
    /// Where nothing is under way yet.
    pub fn new() -> Terminal {
        let (training, is_drawn) = bar(0, CLOCK);
        Terminal { training, is_drawn, told: Mutex::default(), scoring: Mutex::default() }
    }

    fn scoring(&self) -> MutexGuard<'_, Option<Scoring>> {
        self.scoring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener for Terminal {
    fn say(&self, text: &str) {
        if self.is_drawn {
            self.training.set_message(text.to_string());
        } else {
            say!("{text}");
        }
    }

    fn clock(&self) -> Option<Clock> {
        let bar = self.training.clone();
        Some(Box::new(move |runs| {
            if !runs.is_empty() {
                bar.set_message(shown(runs));
            }
            bar.tick();
        }))
    }

    fn best(&self, seed: u64, best: &SoFar) {
        // A terminal shows each; elsewhere lines are said ever more rarely.
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let told = told.entry(seed).or_default();
        if self.is_drawn || best.decisions >= 2 * *told {
            *told = best.decisions.max(1);
            self.say(&format!("seed {seed}: {}", best.how()));
        }
    }

    fn scoring(&self, task: &str, done: usize, of: usize) {
        self.scoring().get_or_insert_with(Scoring::new).show(task, done, of);
    }

    fn over(&self) {
        self.training.finish_and_clear();
        self.scoring().take();
    }

    fn stopped(&self) -> bool {
        interrupted()
    }
}

/// A bar over the episodes of all tasks that are scored; without a terminal a line now and then, where it takes long.
struct Scoring {
    bar: ProgressBar,
    on_terminal: bool,
    task: String,
    episodes: usize,
    /// Episodes of the tasks before.
    before: u64,
    /// When to say something next.
    next: Instant,
}

/// Seconds of silence at the most, but for an episode that takes longer.
const SILENCE: Duration = Duration::from_secs(5);

impl Scoring {
    fn new() -> Scoring {
        let (bar, on_terminal) = bar(0, TIMED);
        let next = Instant::now() + SILENCE;
        Scoring { bar, on_terminal, task: String::new(), episodes: 0, before: 0, next }
    }

    fn show(&mut self, task: &str, done: usize, of: usize) {
        if self.task != task {
            self.before += self.episodes as u64;
            (self.task, self.episodes) = (task.to_string(), of);
            self.bar.set_length(self.before + of as u64);
            self.bar.set_message(format!("scoring {task}"));
        }
        self.bar.set_position(self.before + done as u64);
        if !self.on_terminal && Instant::now() >= self.next {
            say!("scoring {task}: {done} of {of} episodes");
            self.next = Instant::now() + SILENCE;
        }
    }
}

impl Drop for Scoring {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
