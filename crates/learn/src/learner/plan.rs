//! What comes next.
//!
//! Moves come in the order of their price. Once one of them has found something better, the cheapest comes first again. Where none of those
//! that rest on exact values is due, larger instances are taken in; in the end those that sample take turns, the one on which least was
//! spent first.

use derrl_env::Rng;

use super::ledger::{Ledger, Part};
use super::limits::{
    AGREED, DRAWN_FIRST, DRAWN_FLAT, DRAWN_LATER, IDLE, INVENTIONS, LAST_SHARE, LATE, LATE_ROUNDS, NEARLY,
    PATIENCE, PATIENCE_SHARE, RESIDUE, ROUNDS, SETTLED,
};
use super::moves::Move;
use super::record::Record;
use super::words::Words;

/// What a run has to know of its world and settings.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// Steps in all, at the most.
    pub most: u64,
    /// Sizes of instances, those that were made up included.
    pub sizes: usize,
    /// Sizes that the world has by itself.
    pub given: usize,
    /// Whether states come again, so that tables of them say what actions are worth.
    pub tables: bool,
    /// Whether there are numbers to compare.
    pub numbers: bool,
    /// Whether episodes succeed or fail.
    pub has_goal: bool,
    /// Restarts of the gradient, at the most.
    pub restarts: usize,
    /// Moves that are switched off.
    pub without: Vec<Move>,
}

impl Terms {
    fn has(&self, what: Move) -> bool {
        !self.without.contains(&what)
    }

    /// Sizes on which lists are compared: those that are explored and one more.
    pub fn compared(&self, record: &Record) -> usize {
        (record.sizes + 1).min(self.sizes)
    }
}

/// What comes next; `None` where nothing is left to do.
pub fn next(record: &Record, ledger: &Ledger, terms: &Terms, rng: &mut Rng) -> Option<Move> {
    let steps = ledger.all();
    if steps as f64 >= (1.0 - LAST_SHARE) * terms.most as f64 {
        return None;
    }
    if ledger.of(Part::Random) == 0 {
        return Some(Move::Look);
    }
    if let Some(exact) = exact(record, terms) {
        return Some(exact);
    }
    if is_enough(record, steps, terms) {
        let shorter = terms.has(Move::Shorten) && !record.is_shortened() && !record.elites.is_empty();
        let confirms = terms.has_goal && terms.has(Move::Confirm) && !record.is_confirmed;
        let fails = !record.succeeds(terms.given);
        return if shorter {
            Some(Move::Shorten)
        } else if confirms && !fails {
            Some(Move::Confirm)
        } else {
            None
        };
    }
    sampling(record, ledger, terms, rng)
}

/// The next of the moves that rest on exact values; `None` where none of them is due.
fn exact(record: &Record, terms: &Terms) -> Option<Move> {
    if !terms.tables || !terms.has(Move::Explore) {
        return None;
    }
    let late = record.sizes > LATE;
    let solved = terms.has_goal && record.succeeds(terms.compared(record).min(terms.given));
    let settled =
        record.residue <= SETTLED && (!terms.has_goal || record.succeeds(record.sizes.min(terms.given)));
    if !record.is_fitted() && terms.has(Move::Fit) {
        return Some(Move::Fit);
    }
    let rounds = if late { LATE_ROUNDS } else { ROUNDS };
    let helps = record.news && (record.idle < IDLE || !solved) || record.idle == 0;
    if !settled && !record.is_full && record.rounds < rounds && helps {
        return Some(Move::Explore);
    }
    let lacks = !solved || record.residue > RESIDUE && !late;
    let ways = if solved { Words::SINGLE } else { record.words.wider().len() };
    if terms.has(Move::Widen) && lacks && !settled && record.widened() < ways {
        return Some(Move::Widen);
    }
    // Where there are no larger instances to judge by, a list that nearly always succeeds lacks no predicate.
    let nearly = terms.sizes == 1 && terms.has_goal && record.success() >= NEARLY;
    let may_invent =
        !nearly && record.words.invented.len() < INVENTIONS && record.sizes >= LATE.min(terms.sizes);
    if terms.has(Move::Invent) && !solved && !settled && may_invent && !record.is_made(Move::Invent) {
        return Some(Move::Invent);
    }
    (record.sizes < terms.sizes).then_some(Move::Raise)
}

/// Whether more work cannot be expected to change the answer.
fn is_enough(record: &Record, steps: u64, terms: &Terms) -> bool {
    if record.is_flat() || record.elites.is_empty() {
        return false;
    }
    let bar = if record.by_chance { RESIDUE } else { SETTLED };
    let succeeds = terms.has_goal && record.succeeds(terms.given);
    let exact = terms.tables && !record.is_full && record.residue <= bar;
    let exact = exact && (succeeds || !terms.has_goal || record.by_chance);
    let solved = succeeds && !terms.numbers;
    let agreed = !terms.has_goal && record.agreed >= AGREED;
    let waited = steps - record.changed_at >= PATIENCE.max((PATIENCE_SHARE * steps as f64) as u64);
    exact || solved || agreed || record.is_saturated() || waited && !may_add(record, terms)
}

/// Whether sums of numbers are still to be compared.
fn may_add(record: &Record, terms: &Terms) -> bool {
    terms.numbers && terms.has(Move::Sums) && !record.words.sums
}

/// The next of the moves that sample.
fn sampling(record: &Record, ledger: &Ledger, terms: &Terms, rng: &mut Rng) -> Option<Move> {
    let steps = ledger.all();
    let flat = record.is_flat();
    let waited = steps - record.changed_at >= PATIENCE.max((PATIENCE_SHARE * steps as f64) as u64);
    if waited && !flat && may_add(record, terms) {
        return Some(Move::Sums);
    }
    let restarts = terms.has(Move::Gradient) && record.restarts.len() < terms.restarts;
    let trained = ledger.of(Part::Training);
    let raced = steps - ledger.of(Part::Trying) - trained;
    let draws =
        terms.has(Move::Draw) && record.tried.len() < DRAWN_FIRST && record.elites.len() < DRAWN_FIRST;
    // A table that is not full knows what actions are worth: lists drawn at random would only fit the instances of the races.
    let knows = terms.tables && !record.is_full && terms.has(Move::Explore);
    let tries = record.can_try && !flat && !knows;
    let draws = draws && !knows;
    let due = [
        (restarts, trained, Move::Gradient),
        (terms.has(Move::Draw) && draws, 0, Move::Draw),
        (terms.has(Move::Try) && tries, ledger.of(Part::Trying), Move::Try),
        (terms.has(Move::Change) && !knows, raced, Move::Change),
    ];
    let least = due.into_iter().filter(|d| d.0).min_by_key(|d| d.1)?.2;
    if least == Move::Change && terms.has(Move::Draw) {
        let drawn = rng.unit() < if flat { DRAWN_FLAT } else { DRAWN_LATER };
        return Some(if drawn { Move::Draw } else { Move::Change });
    }
    Some(least)
}
