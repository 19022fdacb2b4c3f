//! What states are worth under the best of what was tried in them: dynamic programming on what was seen.

use super::{Seen, Table};
use crate::limits::{STILL, SWEEPS, SWEPT};

/// What states are worth, and where that is known.
#[derive(Debug)]
pub struct Values {
    /// V of each state: max over the actions tried of the mean over outcomes of r + gamma V(s'). A state in which nothing
    /// was tried is worth the worst reward for ever.
    pub of: Vec<f64>,
    /// The discount.
    pub gamma: f64,
    /// Whether V rests on what was seen: an end can be reached, or all that can be reached was tried. Else V is only the
    /// worst that can be.
    known: Vec<bool>,
}

impl Values {
    /// What was seen is worth, at this discount.
    pub fn new(table: &Table, gamma: f64) -> Values {
        Values { of: values(table, gamma, None), gamma, known: known(table) }
    }

    /// The same where these actions are taken in each state, each as often as the others.
    pub fn of_policy(table: &Table, gamma: f64, taken: &[Vec<usize>]) -> Values {
        Values { of: values(table, gamma, Some(taken)), gamma, known: known(table) }
    }

    /// Whether it is known what an action is worth, given what came of it.
    pub fn tells(&self, seen: &[Seen]) -> bool {
        !seen.is_empty() && seen.iter().filter_map(|s| s.next).all(|p| self.known[p.0 as usize])
    }
}

/// The states from which an end can be reached over what was seen, or nothing untried can.
fn known(table: &Table) -> Vec<bool> {
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); table.len()];
    let (mut ends, mut open) = (Vec::new(), Vec::new());
    for place in table.places() {
        let state = table.state(place);
        if state.tried() < state.actions.len() {
            open.push(place.0);
        }
        for s in state.seen.iter().flatten() {
            match s.next {
                Some(next) => before[next.0 as usize].push(place.0),
                None => ends.push(place.0),
            }
        }
    }
    let reaching = |from: Vec<u32>| {
        let mut reached = vec![false; before.len()];
        let mut left = from;
        while let Some(at) = left.pop() {
            if !std::mem::replace(&mut reached[at as usize], true) {
                left.extend(&before[at as usize]);
            }
        }
        reached
    };
    let open = reaching(open);
    reaching(ends).into_iter().zip(open).map(|(end, open)| end || !open).collect()
}

/// V of each state: of the best of the actions tried, or on average of those of them that are taken.
fn values(table: &Table, gamma: f64, taken: Option<&[Vec<usize>]>) -> Vec<f64> {
    let outcomes = || table.places().flat_map(|p| table.state(p).seen.iter().flatten());
    let worst = outcomes().map(|s| s.reward).fold(0.0, f64::min);
    let sweeps = SWEEPS.min(SWEPT / outcomes().count().max(1)).max(1);
    let mut v = vec![worst / (1.0 - gamma); table.len()];
    for _ in 0..sweeps {
        let mut change = 0.0f64;
        // States met later are nearer to the ends of episodes: what they are worth goes first.
        for place in table.places().rev() {
            let at = place.0 as usize;
            let seen = &table.state(place).seen;
            let worths = |actions: &mut dyn Iterator<Item = &Vec<Seen>>| -> Vec<f64> {
                actions.filter(|s| !s.is_empty()).map(|s| worth(s, &v, gamma)).collect()
            };
            let new = match taken.map(|taken| worths(&mut taken[at].iter().map(|&a| &seen[a]))) {
                Some(own) if !own.is_empty() => own.iter().sum::<f64>() / own.len() as f64,
                // Where none of them was tried, what was tried is all that is known.
                Some(_) => {
                    let all = worths(&mut seen.iter());
                    all.iter().sum::<f64>() / all.len().max(1) as f64
                }
                None => worths(&mut seen.iter()).into_iter().fold(f64::NEG_INFINITY, f64::max),
            };
            if new.is_finite() && new != v[at] && seen.iter().any(|s| !s.is_empty()) {
                change = change.max((new - v[at]).abs());
                v[at] = new;
            }
        }
        if change < STILL {
            break;
        }
    }
    v
}

/// The mean of r + gamma V(s') over what came of an action.
pub fn worth(seen: &[Seen], v: &[f64], gamma: f64) -> f64 {
    let n: f64 = seen.iter().map(|s| s.count).sum();
    let of = |s: &Seen| s.count * (s.reward + gamma * s.next.map_or(0.0, |p| v[p.0 as usize]));
    seen.iter().map(of).sum::<f64>() / n
}
