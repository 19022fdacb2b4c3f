//! Groundings shared between all restarts.

use std::sync::{Arc, Mutex, PoisonError};

use derrl_logic::{Grounding, Universe};
use rustc_hash::FxHashMap;

/// Groundings shared between all restarts and threads of a problem: grounding depends on the state alone.
#[derive(Debug, Default)]
pub struct GroundingCache {
    inner: Mutex<Cached>,
}

#[derive(Debug, Default)]
struct Cached {
    universes: FxHashMap<Arc<Universe>, u32>,
    /// The number of the next universe: never given twice, so that a forgotten one is not taken for another.
    next: u32,
    index: FxHashMap<(u32, u128), Arc<Grounding>>,
    /// What the groundings take, in words.
    words: usize,
}

impl Cached {
    /// Forgets all but which number comes next.
    fn forget(&mut self) {
        *self = Cached { next: self.next, ..Cached::default() };
    }
}

impl GroundingCache {
    /// The number under which the states of a universe are kept. Equal universes share one.
    pub fn universe(&self, universe: &Arc<Universe>) -> u32 {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&known) = inner.universes.get(universe) {
            return known;
        }
        if inner.universes.len() >= MOST_UNIVERSES {
            inner.forget();
        }
        let number = inner.next;
        inner.next += 1;
        inner.universes.insert(Arc::clone(universe), number);
        number
    }

    /// Forgets all: what is asked for again is computed again.
    pub fn clear(&self) {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).forget();
    }

    /// The grounding of a state, computed if no thread has done so before.
    /// `None` if that is given up.
    pub fn get(
        &self,
        universe: u32,
        code: u128,
        compute: impl FnOnce() -> Option<Grounding>,
    ) -> Option<Arc<Grounding>> {
        let lock = || self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().index.get(&(universe, code)) {
            return Some(Arc::clone(known));
        }
        let grounding = Arc::new(compute()?); // two threads may both compute it: the results are equal
        let mut inner = lock();
        if inner.words > MOST_WORDS {
            inner.index.clear();
            inner.words = 0;
        }
        inner.words += grounding.len() + grounding.actions();
        inner.index.insert((universe, code), Arc::clone(&grounding));
        Some(grounding)
    }
}

/// Universes kept at the most: beyond, all are forgotten.
pub const MOST_UNIVERSES: usize = 1 << 12;

/// Words of memory that are kept at the most, 96 MiB: beyond, a cache is emptied and filled anew. Legal actions and places of
/// states take as much as masks do.
pub const MOST_WORDS: usize = 12 << 20;
