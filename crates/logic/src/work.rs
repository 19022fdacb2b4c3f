//! A limit on the work of one answer.
//!
//! A rule with many variables can have more substitutions than anybody waits for. Who answers somebody that waits bounds the
//! joins of its thread by [`bounded`]. Elsewhere nothing is bounded, and asking costs next to nothing.

use std::cell::Cell;
use std::ops::ControlFlow;

use crate::diagnostic::Error;

/// Facts that are tried for literals while one decision is taken and explained, at the most: some seconds of work.
pub const MOST_WORK: u64 = 100_000_000;

thread_local! {
    /// How many more facts may be tried.
    static LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// What `ask` gives, or an error where rules and definitions try more than `most` facts for their literals meanwhile. `ask` then
/// ends soon, with a wrong result. Only what this thread does is counted. Within a smaller bound that one counts.
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
    let is_spent = LEFT.get() == 0;
    drop(outer);
    if !is_spent {
        return Ok(given);
    }
    let message =
        format!("the rules take too much work: more than {most} facts were tried for their conditions");
    let help = "give them fewer variables, more conditions that bind these, or smaller instances";
    Err(Error::new(message).with_help(help))
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
}
