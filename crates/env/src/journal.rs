//! What changed since an episode began, for those who would rather not read a large state anew at every step.

use std::sync::atomic::{AtomicU64, Ordering};

use derrl_logic::{Object, Pred};

/// The changes of facts since an episode began, in order.
///
/// Any number of readers may follow it, each with a place of its own; whoever has lost the thread, because another episode
/// began, sees it by [`Journal::episode`] and reads the whole state. It takes memory in the number of changes.
#[derive(Debug)]
pub struct Journal {
    episode: u64,
    changes: Vec<Change>,
    /// The arguments of all changes, one after the other.
    args: Vec<Object>,
}

#[derive(Clone, Copy, Debug)]
struct Change {
    pred: Pred,
    holds: bool,
    /// Where its arguments end.
    end: u32,
}

impl Journal {
    /// An empty journal of a new episode.
    pub fn new() -> Journal {
        let mut journal = Journal { episode: 0, changes: Vec::new(), args: Vec::new() };
        journal.begin();
        journal
    }

    /// Begins another episode: forgets all changes.
    pub fn begin(&mut self) {
        // Unique in this process, so that journals of different worlds are never taken for each other.
        static EPISODES: AtomicU64 = AtomicU64::new(0);
        self.episode = EPISODES.fetch_add(1, Ordering::Relaxed);
        self.changes.clear();
        self.args.clear();
    }

    /// Notes that a fact holds from now on, or that it no longer does.
    pub fn note(&mut self, pred: Pred, args: &[Object], holds: bool) {
        self.args.extend_from_slice(args);
        self.changes.push(Change { pred, holds, end: self.args.len() as u32 });
    }

    /// A number that no other episode has.
    pub fn episode(&self) -> u64 {
        self.episode
    }

    /// How many changes there were.
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// Whether nothing has changed.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The changes from number `from` on: which fact, and whether it holds now.
    pub fn since(&self, from: usize) -> impl Iterator<Item = (Pred, &[Object], bool)> {
        let from = from.min(self.changes.len());
        let mut start = from.checked_sub(1).map_or(0, |before| self.changes[before].end as usize);
        self.changes[from..].iter().map(move |change| {
            let args = &self.args[start..change.end as usize];
            start = change.end as usize;
            (change.pred, args, change.holds)
        })
    }
}

impl Default for Journal {
    fn default() -> Journal {
        Journal::new()
    }
}
