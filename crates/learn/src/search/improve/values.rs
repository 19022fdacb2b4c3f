//! What states are worth under the best of what was tried in them: dynamic programming on what was seen.

use super::table::{Seen, Table};

/// Sweeps over all states, at the most.
const SWEEPS: usize = 2000;
/// A sweep that changes no value by more is the last one.
const STILL: f64 = 1e-7;
/// Outcomes looked at in all sweeps, at the most: tables with many states get fewer sweeps.
const WORK: usize = 200_000_000;

/// V of each state: max over the actions tried of the mean over outcomes of r + gamma V(s'). A state in which nothing was
/// tried is worth the worst reward for ever.
pub fn values(table: &Table, gamma: f64) -> Vec<f64> {
    let outcomes = || table.places().flat_map(|p| table.state(p).seen.iter().flatten());
    let worst = outcomes().map(|s| s.reward).fold(0.0, f64::min);
    let sweeps = SWEEPS.min(WORK / outcomes().count().max(1)).max(1);
    let mut v = vec![worst / (1.0 - gamma); table.len()];
    for _ in 0..sweeps {
        let mut change = 0.0f64;
        // States met later are nearer to the ends of episodes: what they are worth goes first.
        for place in table.places().rev() {
            let tried = table.state(place).seen.iter().filter(|s| !s.is_empty());
            let best = tried.map(|s| worth(s, &v, gamma)).fold(f64::NEG_INFINITY, f64::max);
            let old = &mut v[place.0 as usize];
            if best.is_finite() && best != *old {
                change = change.max((best - *old).abs());
                *old = best;
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
