//! What comes next.
//!
//! Moves come in the order of their price. Once one of them has found something better, the cheapest comes first again. Where none of those
//! that rest on exact values is due, larger instances are taken in; in the end those that sample take turns, the one on which least was
//! spent first.

use derrl_env::Rng;

use super::ledger::{Ledger, Source};
use super::limits::{
    AGREED, DRAWN_FIRST, DRAWN_FLAT, DRAWN_LATER, IDLE, INVENTIONS, LACKS, LAST_SHARE, LATE_ROUNDS, MUCH,
    NEARLY, PATIENCE, PATIENCE_SHARE, RESIDUE, ROUNDS, SETTLED, TABLE_SHARE,
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

    /// The steps after which no move begins: the others are for what is under way and for the last comparison.
    pub fn end(&self) -> u64 {
        ((1.0 - LAST_SHARE) * self.most as f64) as u64
    }

    /// The steps after which no race goes on: half of what is left after the last move.
    pub fn last_race(&self) -> u64 {
        u64::midpoint(self.end(), self.most)
    }

    /// Sizes on which lists are compared: those that are explored and one more.
    pub fn compared(&self, record: &Record) -> usize {
        (record.sizes + 1).min(self.sizes)
    }
}

/// What comes next; `None` where nothing is left to do.
pub fn next(record: &Record, ledger: &Ledger, terms: &Terms, rng: &mut Rng) -> Option<Move> {
    let steps = ledger.all();
    if ledger.of(Source::Look) == 0 {
        return Some(Move::Look);
    }
    let late = steps >= terms.end();
    let table = exact(record, terms).filter(|_| !late);
    if table.is_some() && record.succeeds(terms.compared(record).min(terms.given)) {
        return table;
    }
    if late || table.is_none() && is_enough(record, steps, terms) {
        let shorter = terms.has(Move::Shorten) && !record.is_shortened() && steps < terms.last_race();
        let shorter = shorter && !record.elites.is_empty();
        let confirms = terms.has_goal && terms.has(Move::Confirm) && !record.is_confirmed && !late;
        let fails = !record.succeeds(terms.given);
        return if shorter {
            Some(Move::Shorten)
        } else if confirms && !fails {
            Some(Move::Confirm)
        } else {
            None
        };
    }
    others(table, record, ledger, terms, rng)
}

/// The next of the moves that rest on exact values; `None` where none of them is due.
fn exact(record: &Record, terms: &Terms) -> Option<Move> {
    if !terms.tables || !terms.has(Move::Explore) {
        return None;
    }
    let late = record.sizes > record.small;
    let solved = terms.has_goal && record.succeeds(terms.compared(record).min(terms.given));
    let succeeds = terms.has_goal && record.succeeds(record.sizes.min(terms.given));
    // Where no success says so, nothing is known of the states that exploring still meets.
    let settled = record.residue <= SETTLED && (succeeds || !terms.has_goal && !record.news);
    if !record.is_fitted() && terms.has(Move::Fit) {
        return Some(Move::Fit);
    }
    let rounds = if late { LATE_ROUNDS } else { ROUNDS };
    let helps = record.news && (record.idle < IDLE || !solved) || record.idle == 0;
    // In larger instances lists are compared; what they lose there is looked at once, and again where they fail.
    let known = settled || record.is_full || late && solved && record.rounds > 0;
    if !known && record.rounds < rounds && helps {
        return Some(Move::Explore);
    }
    let lacks = !solved || record.residue > RESIDUE && !late;
    let ways = if solved && record.residue <= MUCH { Words::SINGLE } else { record.words.wider().len() };
    if terms.has(Move::Widen) && lacks && !settled && record.widened() < ways {
        return Some(Move::Widen);
    }
    // Where there are no larger instances to judge by, a list that nearly always succeeds lacks no predicate.
    let nearly = terms.sizes == 1 && terms.has_goal && record.success() >= NEARLY;
    let may_invent = !nearly && record.words.invented.len() < INVENTIONS;
    let fails = !solved || record.residue > LACKS && !late;
    if terms.has(Move::Invent) && fails && !settled && may_invent && !record.is_made(Move::Invent) {
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
    let exact = exact && (succeeds || !record.news && (!terms.has_goal || record.by_chance));
    let solved = succeeds && !terms.numbers;
    let agreed = !terms.has_goal && record.agreed >= AGREED;
    let waited = steps - record.changed_at >= PATIENCE.max((PATIENCE_SHARE * steps as f64) as u64);
    exact || solved || agreed || record.is_saturated() || waited && !may_add(record, terms)
}

/// Whether sums of numbers are still to be compared.
fn may_add(record: &Record, terms: &Terms) -> bool {
    terms.numbers && terms.has(Move::Sums) && !record.words.sums
}

/// The next move of the source that has spent least.
fn others(
    table: Option<Move>,
    record: &Record,
    ledger: &Ledger,
    terms: &Terms,
    rng: &mut Rng,
) -> Option<Move> {
    let steps = ledger.all();
    let flat = record.is_flat();
    let waited = steps - record.changed_at >= PATIENCE.max((PATIENCE_SHARE * steps as f64) as u64);
    if waited && !flat && may_add(record, terms) {
        return Some(Move::Sums);
    }
    // Where small instances teach nothing more, large ones would take long.
    let teaches = terms.given <= record.small || record.elites.is_empty() || !record.succeeds(record.small);
    let restarts = terms.has(Move::Gradient) && record.restarts.len() < terms.restarts && teaches;
    let first = record.tried.len() < DRAWN_FIRST && record.elites.len() < DRAWN_FIRST;
    let shorter = terms.has(Move::Shorten) && !flat && !record.elites.is_empty() && !record.is_shortened();
    let change =
        if terms.has(Move::Draw) && (first || rng.unit() < if flat { DRAWN_FLAT } else { DRAWN_LATER }) {
            Some(Move::Draw)
        } else if shorter {
            Some(Move::Shorten)
        } else {
            Some(Move::Change).filter(|_| terms.has(Move::Change) && !record.elites.is_empty())
        };
    let tries = terms.has(Move::Try) && record.can_try && !flat && !record.elites.is_empty();
    let due = [table, restarts.then_some(Move::Gradient), change, tries.then_some(Move::Try)];
    // Where exploring meets nothing new, or small instances do not, what actions are worth is known. Elsewhere it is known of a sample.
    let known = terms.sizes > 1 || !record.news;
    let effort = |what: &Move| {
        let share = if what.source() == Source::Table && known { TABLE_SHARE } else { 1 };
        ledger.effort(what.source()) / share
    };
    due.into_iter().flatten().min_by_key(effort)
}

#[cfg(test)]
mod tests;
