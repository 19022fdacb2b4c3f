use super::*;
use crate::learner::limits::{ELITES, ROWS_PER_STEP, TABLE_SHARE};
use crate::learner::list::RuleList;
use crate::learner::origin::Origin;
use crate::learner::play::{Instance, Play};
use crate::learner::record::{Elite, Exploration};
use derrl_logic::Action;

/// A world of facts with a goal and so many sizes of its own.
fn facts(sizes: usize) -> Terms {
    Terms {
        most: 1_000_000,
        sizes,
        given: sizes,
        tables: true,
        has_goal: true,
        restarts: 4,
        ..Terms::default()
    }
}

/// A world of numbers without a goal.
fn numbers() -> Terms {
    Terms { most: 1_000_000, sizes: 1, given: 1, numbers: true, ..Terms::default() }
}

fn without(mut terms: Terms, moves: &[Move]) -> Terms {
    terms.without = moves.to_vec();
    terms
}

/// Two instances of each size, nothing found.
fn nothing(sizes: usize) -> Record {
    let of_size = |n: usize| Instance { size: n / 2, number: n as u64, astray: false };
    Record::new((0..2 * sizes).map(of_size).collect())
}

/// A list of its own number that went like this everywhere.
fn elite(number: u32, record: &Record, earned: f64, success: bool) -> Elite {
    let list = RuleList { otherwise: Some(Action(number)), ..RuleList::default() };
    let plays = vec![Play { earned, success, steps: 1 }; record.instances.len()];
    Elite { list, plays, around: 0.0, origin: Origin::Drawn }
}

/// Lists were fitted to all that was explored, from the best list too.
fn fitted(record: &mut Record) {
    let best = record.elites.first().map(|e| e.list.clone()).unwrap_or_default();
    record.fitted = Some((record.explored.len(), best));
}

/// Something was explored, and lists fitted to it, so often that no more of it is due.
fn explored(record: &mut Record) {
    let (list, sizes) = (RuleList::default(), (record.sizes, record.small));
    record.explored.push(Exploration { sizes, instances: 8, list, failed: Vec::new(), most: 1000 });
    fitted(record);
    (record.rounds, record.idle, record.news) = (ROUNDS, IDLE, false);
}

/// A list succeeds everywhere, and loses nothing on what was explored.
fn solved(sizes: usize) -> Record {
    let mut record = nothing(sizes);
    let best = elite(0, &record, 1.0, true);
    record.enter(best, 0);
    explored(&mut record);
    record.residue = 0.0;
    record
}

fn after(steps: u64, record: &Record, terms: &Terms) -> Option<Move> {
    let mut ledger = Ledger::default();
    ledger.spend(100);
    ledger.begin(Source::Change);
    ledger.spend(steps - 100);
    next(record, &ledger, terms, &mut Rng::new(0, 0))
}

#[test]
fn a_run_looks_explores_and_fits() {
    let mut record = nothing(1);
    let first = next(&record, &Ledger::default(), &facts(1), &mut Rng::new(0, 0));
    assert_eq!(first, Some(Move::Look));
    assert_eq!(after(1000, &record, &facts(1)), Some(Move::Explore));
    explored(&mut record);
    record.fitted = None;
    (record.rounds, record.idle, record.news) = (1, 0, true);
    assert_eq!(after(1000, &record, &facts(1)), Some(Move::Fit));
    assert_eq!(after(1000, &record, &without(facts(1), &[Move::Fit])), Some(Move::Explore));
    fitted(&mut record);
    assert_eq!(after(1000, &record, &facts(1)), Some(Move::Explore), "there was news");
    record.is_full = true;
    assert_ne!(after(1000, &record, &facts(1)), Some(Move::Explore), "no more can be noted");
}

#[test]
fn where_exploring_no_longer_helps_words_are_widened_then_a_predicate_invented_then_more_is_taken_in() {
    let mut record = nothing(2);
    let fails = elite(0, &record, 0.0, false);
    record.enter(fails, 0);
    explored(&mut record);
    assert_eq!(after(1000, &record, &facts(2)), Some(Move::Widen));
    // As many wider words as there are, with what is known now.
    record.note(Move::Widen);
    record.widened = record.words.wider().len();
    record.sizes = 2;
    record.note(Move::Widen);
    assert_eq!(after(1000, &record, &facts(2)), Some(Move::Invent));
    assert_eq!(after(1000, &record, &facts(3)), Some(Move::Invent));
    record.note(Move::Invent);
    assert_eq!(after(1000, &record, &facts(3)), Some(Move::Raise));
    assert_eq!(after(1000, &record, &facts(2)), Some(Move::Gradient), "nothing is left to take in");
    // Once there is more to know, wider words are worth another try.
    explored(&mut record);
    assert_eq!(after(1000, &record, &facts(2)), Some(Move::Widen));
    let narrow = without(facts(3), &[Move::Widen, Move::Invent]);
    assert_eq!(after(1000, &record, &narrow), Some(Move::Raise));
}

#[test]
fn what_is_solved_is_taken_to_larger_sizes_then_shortened_confirmed_and_done() {
    let mut record = solved(2);
    assert_eq!(after(1000, &record, &facts(2)), Some(Move::Raise));
    record.sizes = 2;
    assert_eq!(after(1000, &record, &facts(2)), Some(Move::Shorten));
    assert_eq!(after(1000, &record, &without(facts(2), &[Move::Shorten])), Some(Move::Confirm));
    record.shortened = Some(record.elites[0].list.clone());
    assert_eq!(after(1000, &record, &facts(2)), Some(Move::Confirm));
    assert_eq!(after(1000, &record, &without(facts(2), &[Move::Confirm])), None);
    record.is_confirmed = true;
    assert_eq!(after(1000, &record, &facts(2)), None);
    // A new best list has to be edited, shortened and confirmed itself.
    let better = elite(1, &record, 2.0, true);
    record.enter(better, 1000);
    assert_eq!(after(1000, &record, &facts(2)), Some(Move::Fit));
    fitted(&mut record);
    assert_eq!(after(1000, &record, &facts(2)), Some(Move::Shorten));
}

#[test]
fn a_list_that_fails_in_a_larger_size_is_not_enough() {
    let mut record = solved(2);
    record.sizes = 2;
    record.elites[0].plays[3].success = false;
    record.elites[0].plays[3].earned = 0.0;
    assert_eq!(
        after(1000, &record, &facts(2)),
        Some(Move::Widen),
        "though it loses nothing on what was explored"
    );
    let narrow = without(facts(2), &[Move::Widen, Move::Invent]);
    assert_eq!(after(1000, &record, &narrow), Some(Move::Try), "small instances teach nothing more");
    record.small = 2;
    assert_eq!(after(1000, &record, &narrow), Some(Move::Gradient));
}

#[test]
fn the_source_that_spent_least_comes_next_and_an_exact_table_may_spend_more() {
    let mut record = nothing(1);
    for n in 0..2 {
        let fails = elite(n, &record, f64::from(n), false);
        record.enter(fails, 0);
    }
    explored(&mut record);
    let terms = without(facts(1), &[Move::Draw]);
    record.shortened = record.elites.first().map(|e| e.list.clone());
    let mut ledger = Ledger::default();
    ledger.spend(100);
    for source in [Source::Gradient, Source::Change, Source::Try] {
        ledger.begin(source);
        ledger.spend(1000);
    }
    record.news = false;
    let due = |record: &Record, ledger: &Ledger| next(record, ledger, &terms, &mut Rng::new(0, 0));
    ledger.begin(Source::Table);
    ledger.spend(1000 * TABLE_SHARE);
    assert_eq!(due(&record, &ledger), Some(Move::Widen), "of equals the table comes first");
    ledger.spend(TABLE_SHARE);
    assert_eq!(due(&record, &ledger), Some(Move::Gradient));
    // Computing counts as steps do, but it is none.
    let steps = ledger.all();
    ledger.begin(Source::Gradient);
    ledger.think(2 * ROWS_PER_STEP);
    assert_eq!((due(&record, &ledger), ledger.all()), (Some(Move::Change), steps));
    ledger.begin(Source::Change);
    ledger.spend(2);
    assert_eq!(due(&record, &ledger), Some(Move::Try));
    ledger.begin(Source::Try);
    ledger.spend(2);
    assert_eq!(due(&record, &ledger), Some(Move::Widen));
    // Where exploring goes on to meet new states, the table tells of a sample and has no larger share.
    record.news = true;
    assert_ne!(due(&record, &ledger), Some(Move::Widen));
    record.news = false;
    ledger.begin(Source::Table);
    ledger.think(2 * ROWS_PER_STEP * TABLE_SHARE);
    assert_eq!(due(&record, &ledger), Some(Move::Gradient));
    assert_eq!(ledger.of(Source::Table), 1001 * TABLE_SHARE);
    // What found something better goes on, and its steps stay counted.
    ledger.succeed();
    assert_eq!(due(&record, &ledger), Some(Move::Widen));
    assert_eq!(ledger.of(Source::Table), 1001 * TABLE_SHARE);
}

#[test]
fn no_move_begins_once_its_share_of_the_steps_is_spent() {
    let terms = facts(1);
    let record = nothing(1);
    assert_eq!(after(terms.end() - 1, &record, &terms), Some(Move::Explore));
    assert_eq!(after(terms.end(), &record, &terms), None);
    assert!(terms.end() < terms.last_race() && terms.last_race() < terms.most);
}

#[test]
fn worlds_of_numbers_are_drawn_for_first_and_sums_come_late() {
    let mut record = nothing(1);
    assert_eq!(after(1000, &record, &numbers()), Some(Move::Draw));
    let undrawn = without(numbers(), &[Move::Draw]);
    assert_eq!(after(1000, &record, &undrawn), None, "there is nothing to change");
    for n in 0..ELITES as u32 {
        let one = elite(n, &record, f64::from(n), false);
        record.enter(one, 1000);
    }
    record.tried = (0..DRAWN_FIRST as u64).collect();
    // What was tried costs less than what was raced.
    assert_eq!(after(10_000, &record, &numbers()), Some(Move::Try));
    record.can_try = false;
    // What is a little shorter is tried before chance.
    assert_eq!(after(10_000, &record, &undrawn), Some(Move::Shorten));
    assert_eq!(after(10_000, &record, &without(undrawn, &[Move::Draw, Move::Shorten])), Some(Move::Change));
    let late = 1000 + PATIENCE;
    assert_eq!(after(late, &record, &numbers()), Some(Move::Sums));
    assert_eq!(after(late, &record, &without(numbers(), &[Move::Sums])), Some(Move::Shorten));
    record.words.sums = true;
    assert_eq!(after(late, &record, &numbers()), Some(Move::Shorten));
}

#[test]
fn by_the_gradient_alone_restarts_follow_each_other_until_none_is_left() {
    let terms = without(facts(1), &[Move::Explore, Move::Draw, Move::Change, Move::Try]);
    let mut record = nothing(1);
    assert_eq!(after(1000, &record, &terms), Some(Move::Gradient));
    let fails = elite(0, &record, 0.0, false);
    record.enter(fails, 0);
    assert_eq!(after(1000, &record, &terms), Some(Move::Gradient));
    assert_eq!(after(1000, &record, &Terms { restarts: 0, ..terms }), None);
}

#[test]
fn without_a_goal_nothing_is_enough_while_exploring_meets_new_states() {
    let mut record = nothing(1);
    let one = elite(0, &record, 1.0, false);
    let other = elite(1, &record, 0.5, false);
    record.enter(one, 0);
    record.enter(other, 0);
    explored(&mut record);
    record.shortened = record.elites.first().map(|e| e.list.clone());
    record.residue = 0.0;
    let terms = Terms { has_goal: false, ..facts(1) };
    assert_eq!(after(1000, &record, &terms), None);
    (record.news, record.rounds, record.idle) = (true, 1, 0);
    assert_eq!(after(1000, &record, &terms), Some(Move::Explore));
}
