//! What comes next.

use derrl_env::Rng;

use super::ledger::{Ledger, Part};
use super::limits::{
    DRAWN_FIRST, DRAWN_FLAT, DRAWN_LATER, LAST_SHARE, PATIENCE, PATIENCE_SHARE, TRYING_SHARE,
};
use super::record::Record;
use super::vocabulary::Width;

/// What a run does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Race a list drawn from nothing.
    Draw,
    /// Race a changed one of the best lists.
    Change,
    /// Try actions, and race what fits what came of them.
    Try,
    /// Allow sums.
    Widen,
    /// Race lists that are a little shorter than the best one.
    Shorten,
    /// Play new instances with the best list: one in which it fails joins the races; if there is none, nothing is left to gain.
    Confirm,
    /// Compare the best lists and stop.
    End,
}

/// What comes next, where a run may take so many steps in all.
pub fn next(record: &Record, ledger: &Ledger, most: u64, rng: &mut Rng) -> Next {
    let steps = ledger.all();
    let flat = record.is_flat();
    if steps as f64 >= (1.0 - LAST_SHARE) * most as f64 {
        return Next::End;
    }
    if record.tried.len() < DRAWN_FIRST {
        return Next::Draw;
    }
    if record.is_saturated() {
        return if !record.is_shortened() {
            Next::Shorten
        } else if !record.is_confirmed {
            Next::Confirm
        } else {
            Next::End
        };
    }
    let waited = steps - record.changed_at;
    if !flat && waited >= PATIENCE.max((PATIENCE_SHARE * steps as f64) as u64) {
        return if record.width == Width::Plain { Next::Widen } else { Next::End };
    }
    let trying = ledger.of(Part::Trying) as f64;
    if record.can_try && !flat && trying <= TRYING_SHARE * steps as f64 {
        return Next::Try;
    }
    if rng.unit() < if flat { DRAWN_FLAT } else { DRAWN_LATER } { Next::Draw } else { Next::Change }
}
