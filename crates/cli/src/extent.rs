//! What `verify`, `diff` and `simplify` share: which instances, whether they are too many, and a bar meanwhile.

use std::time::{Duration, Instant};

use anyhow::bail;
use derrl::domain::Domain;
use derrl::extent::{affordable, quick};
use derrl_env::{Exhaustive, Extent, Size, Space};
use derrl_learn::{Monitor, Progress, constants, cores};
use derrl_logic::Policy;
use indicatif::ProgressBar;

use crate::args::ExtentArgs;
use crate::progress::{TIMED, bar, interrupted};
use crate::say;

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
        if domain.world.is_chosen() {
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
