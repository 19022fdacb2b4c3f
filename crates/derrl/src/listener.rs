//! What whoever runs training is told of it, and how it is stopped.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::runs::now::Clock;
use crate::runs::so_far::SoFar;

/// Is told how far a run is, and may end it. The calls come from several threads.
pub trait Listener: Sync {
    /// A word on what is under way.
    fn say(&self, _text: &str) {}

    /// What a run goes over to, in a few words. Called often.
    fn phase(&self, _text: &str) {}

    /// All runs have taken so many decisions together.
    fn decided(&self, _decisions: u64) {}

    /// The run of this seed has a better policy.
    fn best(&self, _seed: u64, _best: &SoFar) {}

    /// So many of the episodes of a task are scored.
    fn scoring(&self, _task: &str, _done: usize, _of: usize) {}

    /// What is told every second what the runs are doing; none where nobody looks.
    fn clock(&self) -> Option<Clock> {
        None
    }

    /// A part is over, training or scoring: what follows may be printed.
    fn over(&self) {}

    /// Whether all is to stop, and to be saved.
    fn stopped(&self) -> bool {
        false
    }

    /// Whether the run is to end with its best policy so far.
    fn enough(&self) -> bool {
        false
    }
}

/// Hears nothing and stops nothing.
pub struct Deaf;

impl Listener for Deaf {}

/// What a program that runs training sees of it, and how it stops it, from another thread.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    done: AtomicU64,
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

    /// How many decisions were taken, and a word on what is under way.
    pub fn progress(&self) -> (u64, String) {
        let message = self.message.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (self.done.load(Ordering::Relaxed), message)
    }
}

impl Listener for Control {
    fn say(&self, text: &str) {
        text.clone_into(&mut self.message.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn phase(&self, text: &str) {
        self.say(text);
    }

    fn decided(&self, decisions: u64) {
        self.done.store(decisions, Ordering::Relaxed);
    }

    fn best(&self, seed: u64, best: &SoFar) {
        self.say(&format!("seed {seed}: {}", best.how()));
        *self.best.lock().unwrap_or_else(PoisonError::into_inner) = Some(best.clone());
    }

    fn scoring(&self, task: &str, done: usize, _of: usize) {
        if done == 0 {
            self.say(&format!("scoring {task}"));
        }
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    fn enough(&self) -> bool {
        self.enough.load(Ordering::SeqCst)
    }
}
