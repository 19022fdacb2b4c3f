//! How much of each run goes onto a page.

use std::time::{Duration, Instant};

/// How much of each run goes onto a page.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Episodes per task.
    pub episodes: usize,
    /// Steps per episode.
    pub steps: usize,
    /// Runs of each domain that have episodes at all.
    pub played: usize,
    /// Restarts whose curves are drawn.
    pub curves: usize,
    /// Until when episodes are explained; what is not explained by then is left out, with a note.
    pub until: Option<Instant>,
    /// The one episode that is asked for, from 0; the most telling ones where none is.
    pub only: Option<u64>,
}

/// The time for the page that training leaves: as long as training took, within these bounds.
const LEAST_SECONDS: f64 = 0.5;
const MOST_SECONDS: f64 = 3.0;
/// The time for a page that somebody asks for: far more than built-in worlds take. What would have to change is a long search in worlds with
/// many objects.
const PATIENCE: Duration = Duration::from_secs(20);

impl Extent {
    /// Steps per episode where nothing else is said: all of them in most worlds, five minutes of traffic.
    pub const STEPS: usize = 150;

    /// What a page of this many runs shows by default: less of each where there are many, so that it stays small.
    pub fn of(runs: usize) -> Extent {
        let (episodes, curves, played) = match runs {
            0..=1 => (4, 24, usize::MAX),
            2..=12 => (2, 24, usize::MAX),
            13..=60 => (1, 1, usize::MAX),
            _ => (1, 1, 10),
        };
        let until = Some(Instant::now() + PATIENCE);
        Extent { episodes, steps: Extent::STEPS, played, curves, until, only: None }
    }

    /// The same, for a page that takes no longer than these seconds, nor longer than a few.
    #[must_use]
    pub fn within(self, seconds: f64) -> Extent {
        let patience = Duration::from_secs_f64(seconds.clamp(LEAST_SECONDS, MOST_SECONDS));
        Extent { until: Some(Instant::now() + patience), ..self }
    }

    /// Whether its time is up.
    pub(crate) fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}
