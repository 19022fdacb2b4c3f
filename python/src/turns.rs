//! Who plays an object: environments that are made from one share it, one after the other.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use pyo3::prelude::*;

use crate::failure::Error;

/// The players so far, and who of them plays each object, by its address. A player keeps its object alive.
static PLAYED: Mutex<(u64, BTreeMap<usize, Weak<AtomicU64>>)> = Mutex::new((0, BTreeMap::new()));

/// What a player knows of the object that it plays.
pub struct Turn {
    /// The number of the player that reset the object last.
    last: Arc<AtomicU64>,
    /// The number of this player.
    own: u64,
}

impl Turn {
    /// Of a new player of an object.
    pub fn of(object: &Bound<'_, PyAny>) -> Turn {
        let (players, played) = &mut *PLAYED.lock().unwrap_or_else(PoisonError::into_inner);
        *players += 1;
        played.retain(|_, last| last.strong_count() > 0);
        let entry = played.entry(object.as_ptr() as usize).or_default();
        let last = entry.upgrade().unwrap_or_else(|| {
            let last = Arc::default();
            *entry = Arc::downgrade(&last);
            last
        });
        Turn { last, own: *players }
    }

    /// Begins an episode.
    pub fn take(&self) {
        self.last.store(self.own, Ordering::Relaxed);
    }

    /// An error if another player began an episode since: then those of both are mixed up.
    pub fn check(&self) -> PyResult<()> {
        if self.last.load(Ordering::Relaxed) == self.own {
            return Ok(());
        }
        Err(Error::new_err(
            "this world was reset from elsewhere while an episode was under way: give each training, and each thread, an \
             object of its own",
        ))
    }
}
