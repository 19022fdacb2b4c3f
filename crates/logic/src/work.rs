//! A limit on the work of one answer.
//!
//! A rule with many variables can have more substitutions than anybody waits for. Who answers somebody that waits bounds the
//! joins of its thread by [`bounded`]. Elsewhere nothing is bounded, and asking costs next to nothing.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::diagnostic::Error;

/// Facts that are tried for literals while one decision is taken and explained, at the most: some seconds of work.
pub const MOST_WORK: u64 = 100_000_000;

thread_local! {
    /// How many more facts may be tried.
    static LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// What `ask` gives, or an error where rules and definitions try more than `most` facts for their literals meanwhile. `ask` then
/// ends soon, with a wrong result. What other threads do counts where they [work for](Share) this one. Within a smaller bound
/// that one counts.
pub fn bounded<T>(most: u64, ask: impl FnOnce() -> T) -> Result<T, Error> {
    /// Gives back what was set aside, after a panic too.
    struct Outer {
        all: u64,
        most: u64,
    }
    impl Drop for Outer {
        fn drop(&mut self) {
            let spent = self.most - LEFT.get();
            LEFT.set(if self.all == u64::MAX { self.all } else { self.all - spent });
        }
    }
    let all = LEFT.get();
    let most = most.min(all);
    LEFT.set(most);
    let outer = Outer { all, most };
    let given = ask();
    let is_spent = is_spent();
    drop(outer);
    if !is_spent {
        return Ok(given);
    }
    let message =
        format!("the rules take too much work: more than {most} facts were tried for their conditions");
    let help = "give them fewer variables, more conditions that bind these, or smaller instances";
    Err(Error::new(message).with_help(help))
}

/// Whether all work that was allowed is done, so that what comes next is wrong.
pub fn is_spent() -> bool {
    LEFT.get() == 0
}

/// The bound of a thread, for other threads that work for it.
#[derive(Debug)]
pub struct Share {
    /// What each of them may do.
    most: u64,
    spent: AtomicU64,
}

impl Share {
    /// What this thread may still do.
    pub fn new() -> Share {
        Share { most: LEFT.get(), spent: AtomicU64::new(0) }
    }

    /// Works within the bound, in another thread. Nothing where too much was done.
    pub fn work<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        if self.most == u64::MAX {
            return Some(work());
        }
        let given = bounded(self.most, || {
            let given = work();
            self.spent.fetch_add(self.most - LEFT.get(), Ordering::Relaxed);
            given
        });
        given.ok()
    }

    /// Counts what the others did, in the thread that they did it for.
    pub fn end(self) {
        let _ = spend(self.spent.into_inner());
    }
}

impl Default for Share {
    fn default() -> Share {
        Share::new()
    }
}

/// Counts facts that were tried. Breaks where they were too many.
#[inline]
pub(crate) fn spend(tried: u64) -> ControlFlow<()> {
    let left = LEFT.get();
    if left == u64::MAX {
        return ControlFlow::Continue(());
    }
    LEFT.set(left.saturating_sub(tried));
    if left <= tried { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// How much work is left, where it is bounded.
pub(crate) fn left() -> usize {
    usize::try_from(LEFT.get()).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_bounded_within_and_nowhere_else() {
        let spend_all = |n: u64| (0..n).take_while(|_| spend(1).is_continue()).count() as u64;
        assert_eq!(bounded(10, || spend_all(9)), Ok(9));
        let error = bounded(10, || spend_all(100)).expect_err("that is too much");
        assert!(error.message.contains("more than 10 facts"), "{}", error.message);
        assert_eq!(spend_all(100), 100, "nothing is bounded again");
        // What is spent within counts for whoever is around it.
        assert!(bounded(10, || bounded(8, || spend_all(6)).is_ok() && spend_all(3) == 3).is_ok());
        assert!(bounded(10, || bounded(8, || spend_all(6)).is_ok() && spend_all(4) == 4).is_err());
        assert!(bounded(10, || bounded(1000, || spend_all(50)).is_err()).is_err());
    }

    #[test]
    fn work_of_other_threads_counts_for_the_one_they_work_for() {
        let spend_all = |n: u64| (0..n).take_while(|_| spend(1).is_continue()).count() as u64;
        let helped = |each: u64| {
            let share = Share::new();
            let ended = std::thread::scope(|scope| {
                let help = || share.work(|| spend_all(each)).is_some();
                let all: Vec<_> = (0..2).map(|_| scope.spawn(help)).collect();
                all.into_iter().all(|one| one.join().expect("it ends"))
            });
            share.end();
            ended
        };
        assert!(helped(1000), "nothing is bounded");
        assert_eq!(bounded(10, || helped(4)), Ok(true));
        assert!(bounded(10, || helped(6)).is_err(), "together they did more");
        assert!(bounded(10, || assert!(!helped(1000))).is_err());
    }
}
