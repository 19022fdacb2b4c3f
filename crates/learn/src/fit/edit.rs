//! Editing rules by what they lose: putting rules in, taking rules and atoms out, and changing their order.

use derrl_logic::{Action, RuleCount};

use super::bodies::{Bar, Insertion, Reach, Standing, best_body, placed};
use super::draft::{Draft, Levels, Placed};
use super::regret::Regrets;
use crate::limits::{MOST_RULES, MOVES_FOR, NOTHING};

/// Rules on the way from `levels` to those that all edits lead to.
#[derive(Clone, Debug)]
pub struct Edited {
    /// After the first rule that was put in: what actions lose is exact for small changes only.
    pub first: Levels,
    /// After all edits that lower what they lose by more than the price.
    pub all: Levels,
}

/// Edits rules as long as that lowers what they lose by more than the price, starting from `levels`.
pub fn edit(regrets: &Regrets<'_>, levels: Levels, reach: Reach, stop: &dyn Fn() -> bool) -> Edited {
    let mut levels = levels;
    prune(regrets, &mut levels);
    insert(regrets, &mut levels, reach, 1, stop);
    let first = levels.clone();
    insert(regrets, &mut levels, reach, usize::MAX, stop);
    if replace(regrets, &mut levels, reach, stop) {
        insert(regrets, &mut levels, reach, usize::MAX, stop);
    }
    Edited { first, all: levels }
}

/// Puts rules in as long as one saves more than its price, so many at the most.
fn insert(regrets: &Regrets<'_>, levels: &mut Levels, reach: Reach, most: usize, stop: &dyn Fn() -> bool) {
    // The most promising action goes first and sets the bar for the others.
    let mut last = vec![Last { saved: f64::INFINITY, draft: None }; regrets.actions.len()];
    for _ in 0..most {
        if levels.len() >= MOST_RULES {
            return;
        }
        let Some(found) = insertion(regrets, levels, reach, &mut last).filter(|_| !stop()) else { return };
        let before = regrets.total(levels);
        let mut longer = levels.clone();
        longer.insert(found.at, vec![Placed { draft: found.draft, frozen: None }]);
        prune(regrets, &mut longer);
        // What an insertion saves is exact, so this only guards against rounding.
        if regrets.total(&longer) >= before - NOTHING {
            break;
        }
        *levels = longer;
    }
}

/// Puts the best rule of the same action in the place of each rule, where that lowers what is lost: a rule may have to say more before another
/// one is of use. Where a rule ties with others, the new one may, too.
fn replace(regrets: &Regrets<'_>, levels: &mut Levels, reach: Reach, stop: &dyn Fn() -> bool) -> bool {
    let rules: Vec<Placed> = levels.iter().flatten().filter(|p| p.frozen.is_none()).cloned().collect();
    let mut any = false;
    for rule in rules {
        if stop() {
            return false;
        }
        let mut rest = levels.clone();
        for level in &mut rest {
            level.retain(|p| *p != rule);
        }
        rest.retain(|level| !level.is_empty());
        let (by, cost) = regrets.decided(&rest);
        let standing = Standing { by, cost, levels: rest.len() };
        let now = regrets.total(levels);
        let bar = Bar { above: regrets.total(&rest) - now, known: 0.0 };
        let Some(found) = best_body(regrets, rule.draft.action, &standing, reach, bar) else { continue };
        let new = Placed { draft: found.draft, frozen: None };
        let mut tied = levels.clone();
        tied.iter_mut().flatten().filter(|p| **p == rule).for_each(|p| *p = new.clone());
        rest.insert(found.at, vec![new]);
        for mut changed in [tied, rest] {
            prune(regrets, &mut changed);
            if regrets.total(&changed) < regrets.total(levels) - NOTHING {
                (*levels, any) = (changed, true);
            }
        }
    }
    any
}

/// What is remembered of an action.
#[derive(Clone, Debug)]
struct Last {
    /// What its best rule saved last.
    saved: f64,
    /// That rule: it may well save as much again.
    draft: Option<Draft>,
}

/// The rule and place that save most beyond their price.
fn insertion(regrets: &Regrets<'_>, levels: &Levels, reach: Reach, last: &mut [Last]) -> Option<Insertion> {
    let (by, cost) = regrets.decided(levels);
    let standing = Standing { by, cost, levels: levels.len() };
    let mut best: Option<Insertion> = None;
    let mut order: Vec<u32> = (0..regrets.actions.len() as u32).collect();
    order.sort_by(|&a, &b| last[b as usize].saved.total_cmp(&last[a as usize].saved).then(a.cmp(&b)));
    order.retain(|&action| match regrets.problem.alphabet.action(Action(action)).rules {
        RuleCount::AtMost(n) => levels.iter().flatten().filter(|p| p.draft.action == action).count() < n,
        RuleCount::Auto => true,
    });
    let drafts = order.iter().filter_map(|&a| last[a as usize].draft.as_ref());
    let again = drafts.map(|draft| placed(regrets, draft, &standing)).filter(|i| i.gain > NOTHING);
    let again = again.max_by(|a, b| a.gain.total_cmp(&b.gain));
    let known = again.as_ref().map_or(0.0, |i| i.gain);
    for action in order {
        let above = best.as_ref().map_or(0.0, |b| b.gain);
        let found = best_body(regrets, action, &standing, reach, Bar { above, known });
        let last = &mut last[action as usize];
        // An action that does not pass the bar saves no more than it.
        last.saved = found.as_ref().map_or(above.max(known).min(last.saved), |f| f.gain);
        last.draft = found.as_ref().map(|f| f.draft.clone()).or(last.draft.take());
        best = found.or(best);
    }
    // The search may miss now what it found before.
    best.or(again)
}

/// Takes out rules and atoms that are not worth their price, and moves rules to where they lose less, until nothing helps.
fn prune(regrets: &Regrets<'_>, levels: &mut Levels) {
    let mut now = regrets.total(levels);
    loop {
        let before = now;
        drop_rules(regrets, levels, &mut now);
        drop_atoms(regrets, levels, &mut now);
        reorder(regrets, levels, &mut now);
        if now >= before - NOTHING {
            return;
        }
    }
}

/// Where the rules are: level and place in it, the weakest first.
fn places(levels: &Levels) -> Vec<(usize, usize)> {
    let of_level = |l: usize| (0..levels[l].len()).rev().map(move |i| (l, i));
    (0..levels.len()).rev().flat_map(of_level).collect()
}

/// Takes the change if it costs no more, or less by so much.
fn take(regrets: &Regrets<'_>, levels: &mut Levels, changed: Levels, now: &mut f64, least: f64) -> bool {
    let total = regrets.total(&changed);
    let taken = total <= *now - least;
    if taken {
        (*levels, *now) = (changed, total);
    }
    taken
}

fn drop_rules(regrets: &Regrets<'_>, levels: &mut Levels, now: &mut f64) {
    for (l, i) in places(levels) {
        if levels[l][i].frozen.is_none() {
            // Levels that become empty stay until the end, so that places keep their numbers.
            let mut without = levels.clone();
            without[l].remove(i);
            take(regrets, levels, without, now, -NOTHING);
        }
    }
    levels.retain(|l| !l.is_empty());
}

fn drop_atoms(regrets: &Regrets<'_>, levels: &mut Levels, now: &mut f64) {
    for (l, i) in places(levels) {
        if levels[l][i].frozen.is_some() {
            continue;
        }
        if levels[l][i].draft.choice.is_some() && levels[l][i].draft.length() > 1 {
            let mut without = levels.clone();
            without[l][i].draft.choice = None;
            take(regrets, levels, without, now, -NOTHING);
        }
        for j in (0..levels[l][i].draft.atoms.len()).rev() {
            if levels[l][i].draft.length() == 1 {
                break;
            }
            let mut without = levels.clone();
            without[l][i].draft.atoms.remove(j);
            if without[l][i].draft.is_safe(regrets.problem) {
                take(regrets, levels, without, now, -NOTHING);
            }
        }
    }
}

/// Moves each rule to the level, present or new, where all lose least.
fn reorder(regrets: &Regrets<'_>, levels: &mut Levels, now: &mut f64) {
    let rules: Vec<Placed> = levels.iter().flatten().filter(|p| p.frozen.is_none()).cloned().collect();
    for rule in rules {
        let mut rest = levels.clone();
        for level in &mut rest {
            level.retain(|p| *p != rule);
        }
        rest.retain(|l| !l.is_empty());
        for to in 0..=rest.len() {
            let mut moved = rest.clone();
            moved.insert(to, vec![rule.clone()]);
            take(regrets, levels, moved, now, MOVES_FOR);
            if to < rest.len() {
                let mut joined = rest.clone();
                joined[to].push(rule.clone());
                take(regrets, levels, joined, now, MOVES_FOR);
            }
        }
    }
}
