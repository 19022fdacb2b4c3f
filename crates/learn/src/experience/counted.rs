//! A world whose steps are counted, whoever takes them.

use derrl_env::{Entered, Env, Outcome, Rng};
use derrl_logic::{Action, Object};

/// A world that counts its steps, knows how many are left, and is told when to stop.
///
/// All of training and selection acts through it: it lends out the world to look at, never to act in.
pub struct Counted<'e> {
    env: &'e mut dyn Env,
    stop: &'e dyn Fn() -> bool,
    taken: u64,
    limit: u64,
    /// Work done since `stop` was last asked.
    work: usize,
}

/// Work between two questions whether to stop: some milliseconds of it.
const WORK: usize = 1 << 16;

impl<'e> Counted<'e> {
    /// A world of which no step has been taken, without limit.
    pub fn new(env: &'e mut dyn Env) -> Counted<'e> {
        Counted::until(env, &|| false)
    }

    /// The same, to be left alone as soon as `stop` says so.
    pub fn until(env: &'e mut dyn Env, stop: &'e dyn Fn() -> bool) -> Counted<'e> {
        Counted { env, stop, taken: 0, limit: u64::MAX, work: 0 }
    }

    /// Sets how many steps may be taken, those taken before included. Episodes that have begun are run to their end.
    pub fn limit(&mut self, steps: u64) {
        self.limit = steps;
    }

    /// Counts steps that were taken elsewhere: an earlier process knows what came of them.
    pub fn count(&mut self, steps: u64) {
        self.taken += steps;
    }

    /// How many steps have been taken.
    pub fn taken(&self) -> u64 {
        self.taken
    }

    /// How many steps are left.
    pub fn left(&self) -> u64 {
        self.limit.saturating_sub(self.taken)
    }

    /// Whether somebody asks to stop.
    pub fn stopped(&self) -> bool {
        (self.stop)()
    }

    /// The same, asked now and then only, by those who say how much work they do.
    #[inline]
    pub fn stopped_after(&mut self, work: usize) -> bool {
        self.work += work;
        self.work >= WORK && {
            self.work = 0;
            self.stopped()
        }
    }

    /// The world as it stands.
    #[inline]
    pub fn world(&self) -> &dyn Env {
        self.env
    }

    /// Draws an instance and starts an episode in it.
    pub fn reset(&mut self, rng: &mut Rng) {
        self.env.reset(rng);
    }

    /// Starts an episode in the `i`-th instance that the task lists.
    pub fn enter(&mut self, i: usize) -> Entered {
        self.env.enter(i)
    }

    /// Starts another episode in the instance drawn last.
    pub fn restart(&mut self) {
        self.env.restart();
    }

    /// Acts.
    #[inline]
    pub fn step(&mut self, action: Action, args: &[Object], rng: &mut Rng) -> Outcome {
        self.taken += 1;
        self.env.step(action, args, rng)
    }
}

impl std::fmt::Debug for Counted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Counted")
            .field("taken", &self.taken)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
