use super::*;

fn instances(astray: &[bool]) -> Vec<Instance> {
    let one = |(number, &astray): (usize, &bool)| Instance { size: number, number: number as u64, astray };
    astray.iter().enumerate().map(one).collect()
}

fn elite(number: u32, plays: &[(f64, bool)]) -> Elite {
    let plays = plays.iter().map(|&(earned, success)| Play { earned, success, steps: 1 }).collect();
    let list = RuleList { otherwise: Some(Action(number)), ..RuleList::default() };
    Elite { list, plays, around: f64::from(number), origin: Origin::Drawn }
}

fn best(record: &Record) -> Option<u32> {
    record.elites.first().and_then(|e| e.list.otherwise).map(|a| a.0)
}

#[test]
fn a_success_counts_as_much_as_all_that_is_earned_and_the_last_goes() {
    let mut record = Record::new(instances(&[false, false]));
    record.enter(elite(0, &[(0.9, false), (0.9, false)]), 10);
    record.enter(elite(1, &[(0.1, true), (0.1, true)]), 20);
    assert_eq!((best(&record), record.changed_at, record.version), (Some(1), 20, 2));
    record.is_confirmed = true;
    record.enter(elite(2, &[(0.0, true), (0.1, true)]), 30);
    assert_eq!((best(&record), record.changed_at, record.is_confirmed), (Some(1), 20, true));
    record.enter(elite(3, &[(0.3, true), (0.1, true)]), 40);
    assert_eq!((best(&record), record.changed_at, record.is_confirmed), (Some(3), 40, false));
    for n in 4..10 {
        record.enter(elite(n, &[(0.0, true), (0.05, true)]), 50);
    }
    assert_eq!(record.elites.len(), ELITES);
    assert!(record.elites.iter().all(|e| e.list.otherwise != Some(Action(0))), "it never succeeds");
}

#[test]
fn where_nothing_is_earned_who_gets_around_more_is_better() {
    let mut record = Record::new(instances(&[false]));
    for n in [2, 5, 3] {
        record.enter(elite(n, &[(0.0, false)]), 0);
    }
    assert!(record.is_flat() && !record.is_saturated());
    assert_eq!(best(&record), Some(5));
    record.enter(elite(1, &[(0.1, false)]), 0);
    assert!(!record.is_flat());
    assert_eq!(best(&record), Some(1));
}

#[test]
fn an_instance_that_starts_astray_counts_once_somebody_succeeds_in_it() {
    let mut record = Record::new(instances(&[false, true]));
    record.enter(elite(0, &[(1.0, true), (0.0, false)]), 0);
    assert!(record.succeeds(2), "nobody knows whether the second can be solved");
    record.enter(elite(1, &[(0.0, false), (0.5, true)]), 0);
    assert!(record.succeeds(1) && !record.succeeds(2));
    assert_eq!((best(&record), record.success()), (Some(0), 0.5));
}

#[test]
fn a_move_need_not_be_made_again_until_something_is_new() {
    let mut record = Record::new(instances(&[false]));
    assert!(!record.is_made(Move::Invent) && record.is_fitted());
    record.note(Move::Invent);
    record.note(Move::Widen);
    record.widened = 2;
    assert!(record.is_made(Move::Invent) && record.widened() == 2);
    let list = RuleList::default();
    record.explored.push(Exploration { sizes: (1, 1), instances: 8, list, failed: Vec::new(), most: 100 });
    assert!(!record.is_made(Move::Invent) && record.widened() == 0 && !record.is_fitted());
}
