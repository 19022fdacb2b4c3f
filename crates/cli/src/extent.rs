//! What `verify`, `diff` and `simplify` share: which instances, whether they are too many, and a bar meanwhile.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::bail;
use derrl_env::{Exhaustive, Extent, Size, Space, World};
use derrl_learn::{Monitor, Progress, constants, cores, estimate};
use derrl_logic::{Alphabet, Policy};
use indicatif::ProgressBar;

use crate::args::ExtentArgs;
use crate::domain::Domain;
use crate::progress::{TIMED, bar, interrupted};
use crate::say;
use crate::table::thousands;

/// The most states where no size is asked for: about a second of work.
const QUICK_STATES: f64 = 2e5;
/// The most memory without `--force`.
pub const MOST_BYTES: f64 = 4e9;
/// The most states without `--force`: hours of work.
const MOST_STATES: f64 = 5e9;

impl ExtentArgs {
    /// The extent for these policies: as large as was asked for, else as large as takes about a second.
    pub fn extent<'a>(
        &self,
        domain: &Domain,
        policies: impl IntoIterator<Item = &'a Policy>,
    ) -> anyhow::Result<Extent> {
        let (obstacles, every_state) = (self.obstacles, self.every_state);
        let named = constants(policies);
        let of = |largest| Extent { largest, obstacles, named: named.clone(), every_state };
        let (least, most) = match domain.world.exhaustive() {
            // Such a world is refused with its own reason.
            Exhaustive::Never(_) => (0, 0),
            Exhaustive::Sizes { range, .. } => *range,
        };
        if domain.pddl.is_some() {
            if self.max_objects.is_some() {
                bail!("--max-objects is not for PDDL: name the problems, as in --test PATH");
            }
            return Ok(of(most));
        }
        if let Some(largest) = self.max_objects {
            return Ok(of(largest));
        }
        let largest = quick(&domain.world, &domain.alphabet, (least, most), &of, self.threads())?;
        Ok(of(largest))
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.threads.map_or_else(cores, usize::from)
    }

    /// Says what a space takes, and refuses one that is too large.
    pub fn check(&self, space: &dyn Space) -> anyhow::Result<()> {
        match (affordable(space, self.threads()), self.force) {
            (Err(about), false) => {
                bail!("that would take {about}; choose a smaller --max-objects, or try anyway with --force")
            }
            (Ok(about) | Err(about), _) => say!("looking at {about}"),
        }
        Ok(())
    }
}

/// The largest size in a range that takes about a second to look at.
pub fn quick(
    world: &World,
    alphabet: &Arc<Alphabet>,
    (least, most): (usize, usize),
    of: &dyn Fn(usize) -> Extent,
    threads: usize,
) -> Result<usize, derrl_env::Error> {
    let mut largest = least;
    while largest < most {
        let larger = world.space(alphabet, &of(largest + 1))?;
        if estimate(larger.as_ref(), threads).states > QUICK_STATES {
            break;
        }
        largest += 1;
    }
    Ok(largest)
}

/// What looking at a space takes, in words: an error where that is too much.
pub fn affordable(space: &dyn Space, threads: usize) -> Result<String, String> {
    let takes = estimate(space, threads);
    let about = format!("about {} states and {} of memory", number(takes.states), memory(takes.bytes));
    if takes.bytes > MOST_BYTES || takes.states > MOST_STATES { Err(about) } else { Ok(about) }
}

fn number(n: f64) -> String {
    if n < 1e15 { thousands(n as u64) } else { format!("{n:.1e}") }
}

/// An amount of memory in words.
pub fn memory(bytes: f64) -> String {
    match bytes {
        b if b < 1e6 => "under 1 MB".to_string(),
        b if b < 1e9 => format!("{:.0} MB", b / 1e6),
        b if b < 1e15 => format!("{:.1} GB", b / 1e9),
        b => format!("{b:.1e} bytes"),
    }
}

/// A bar on a terminal, elsewhere one line per size if that is wanted; and what is needed to resume, now and then.
pub struct Meter<'a> {
    bar: ProgressBar,
    lines: bool,
    title: String,
    save: Option<Save<'a>>,
}

struct Save<'a> {
    last: Instant,
    save: &'a mut dyn FnMut(&Progress),
}

/// Progress is saved at most this often, so that short work leaves no trace.
const SAVE_EVERY: Duration = Duration::from_secs(10);

impl<'a> Meter<'a> {
    /// A bar; `save` is called with what is needed to resume, every few seconds.
    pub fn saving(save: &'a mut dyn FnMut(&Progress)) -> Meter<'a> {
        Meter { save: Some(Save { last: Instant::now(), save }), ..Meter::new(true) }
    }

    /// A bar; with `lines`, one line per size where there is no terminal.
    pub fn new(lines: bool) -> Meter<'a> {
        let (bar, on_terminal) = bar(0, TIMED);
        Meter { bar, lines: lines && !on_terminal, title: String::new(), save: None }
    }

    /// Clears the bar.
    pub fn finish(self) {
        self.bar.finish_and_clear();
    }
}

impl Monitor for Meter<'_> {
    fn walked(&mut self, size: &Size, done: u64) {
        if self.title != size.title {
            self.title.clone_from(&size.title);
            self.bar.set_length(size.families);
            self.bar.reset_eta();
            self.bar.set_message(size.title.clone());
            if self.lines {
                say!("{}", size.title);
            }
        }
        self.bar.set_position(done);
    }

    fn progress(&mut self, progress: &Progress) {
        if let Some(save) = &mut self.save
            && (save.last.elapsed() >= SAVE_EVERY || interrupted())
        {
            (save.save)(progress);
            save.last = Instant::now();
        }
    }

    fn interrupted(&mut self) -> bool {
        interrupted()
    }
}
