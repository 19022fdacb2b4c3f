//! Which actions are right in a state: they lead to the goal, by the policy's own way or by a better one.

use super::survey::{Seen, Survey};

/// What is right in each state.
#[derive(Debug)]
pub struct Worth {
    /// By state and action: whether the action is right.
    pub right: Vec<Vec<bool>>,
    /// The states that matter: those of known instances that are reached from a start by right actions.
    pub needed: Vec<usize>,
}

/// The discount: shorter ways are better, even where no step costs anything.
const GAMMA: f64 = 0.98;
/// Rounds of value iteration, at the most, and what ends them.
const ROUNDS: usize = 2000;
const STILL: f64 = 1e-9;
/// A policy that succeeds this often needs no other action.
const SURE: f64 = 0.99;
/// Steps for which the chance of success is followed.
const LONGEST: usize = 400;
/// Worth less by this share of all differences is as good, where outcomes were sampled.
const NOISE: f64 = 0.02;

impl Worth {
    /// What is right in the states of a survey, where a policy chooses among `ties`.
    pub fn new(survey: &Survey, ties: &[Vec<usize>], horizon: usize) -> Worth {
        let n = survey.states.len();
        let known: Vec<usize> = survey.known().collect();
        let can = reaches(survey, &known);
        let mean = |seen: &[Seen], of: &dyn Fn(&Seen) -> f64| {
            let tries: f64 = seen.iter().map(|s| s.count).sum();
            seen.iter().map(|s| s.count / tries * of(s)).sum::<f64>()
        };
        // P_h(s): the policy reaches the goal within h actions.
        let mut wins = vec![0.0; n];
        for _ in 0..horizon.min(LONGEST) {
            let after = |s: &Seen| s.next.map_or(f64::from(u8::from(s.success)), |next| wins[next]);
            let next: Vec<f64> = known
                .iter()
                .map(|&s| {
                    let of = |&a: &usize| mean(&survey.states[s].seen[a], &after);
                    ties[s].iter().map(of).sum::<f64>() / ties[s].len().max(1) as f64
                })
                .collect();
            known.iter().zip(next).for_each(|(&s, p)| wins[s] = p);
        }
        // V(s) = max_a sum_o p_o (r_o + gamma V(s_o)), over all actions or over those of the policy.
        let value = |chosen: &dyn Fn(usize) -> Option<Vec<usize>>, fixed: Option<&[f64]>| {
            let mut v = vec![0.0; n];
            for _ in 0..ROUNDS {
                let mut change: f64 = 0.0;
                for &s in known.iter().rev() {
                    let q = |a: usize| {
                        mean(&survey.states[s].seen[a], &|o| o.reward + GAMMA * o.next.map_or(0.0, |x| v[x]))
                    };
                    let new = match (chosen(s), fixed) {
                        (Some(all), None) => all.iter().map(|&a| q(a)).sum::<f64>() / all.len().max(1) as f64,
                        (Some(_), Some(fixed)) => fixed[s],
                        (None, _) => {
                            (0..survey.states[s].actions.len()).map(q).fold(f64::NEG_INFINITY, f64::max)
                        }
                    };
                    let new = if new.is_finite() { new } else { 0.0 };
                    change = change.max((new - v[s]).abs());
                    v[s] = new;
                }
                if change < STILL {
                    break;
                }
            }
            v
        };
        let best = value(&|_| None, None);
        let own = value(&|s| Some(ties[s].clone()), None);
        let mixed = value(&|s| (wins[s] >= SURE).then(Vec::new), Some(&own));
        let (low, high) = known
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &s| (l.min(best[s]), h.max(best[s])));
        let slack = if survey.by_chance { NOISE * (high - low) } else { 1e-6 };
        let mut right: Vec<Vec<bool>> = survey.states.iter().map(|s| vec![false; s.actions.len()]).collect();
        for &s in known.iter().filter(|&&s| can[s]) {
            for a in 0..right[s].len() {
                let seen = &survey.states[s].seen[a];
                let q = |v: &[f64]| mean(seen, &|o| o.reward + GAMMA * o.next.map_or(0.0, |x| v[x]));
                let goes = seen.iter().any(|o| o.success || o.next.is_some_and(|x| can[x]));
                right[s][a] = goes && (q(&best) >= best[s] - slack || q(&mixed) >= mixed[s] - slack);
            }
        }
        let needed = needed(survey, &right);
        Worth { right, needed }
    }
}

/// Whether the goal can be reached from a state at all.
fn reaches(survey: &Survey, known: &[usize]) -> Vec<bool> {
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); survey.states.len()];
    let mut can = vec![false; survey.states.len()];
    let mut todo = Vec::new();
    for &s in known {
        for o in survey.states[s].seen.iter().flatten() {
            if let Some(next) = o.next {
                before[next].push(s);
            } else if o.success && !std::mem::replace(&mut can[s], true) {
                todo.push(s);
            }
        }
    }
    while let Some(s) = todo.pop() {
        for &earlier in &before[s] {
            if !std::mem::replace(&mut can[earlier], true) {
                todo.push(earlier);
            }
        }
    }
    can
}

/// The states that right actions lead to from a start.
fn needed(survey: &Survey, right: &[Vec<bool>]) -> Vec<usize> {
    let mut is_needed = vec![false; survey.states.len()];
    let starts = survey.starts.iter().zip(&survey.is_whole);
    let mut todo: Vec<usize> = starts.filter_map(|(&s, whole)| whole.then_some(s)).collect();
    while let Some(s) = todo.pop() {
        if !right[s].contains(&true) || std::mem::replace(&mut is_needed[s], true) {
            continue;
        }
        let actions = survey.states[s].seen.iter().zip(&right[s]).filter(|(_, right)| **right);
        todo.extend(actions.flat_map(|(seen, _)| seen).filter_map(|o| o.next));
    }
    (0..is_needed.len()).filter(|&s| is_needed[s]).collect()
}
