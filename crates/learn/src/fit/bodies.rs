//! The search for a rule and its place: a beam over bodies, all places in the order at once.

use std::hash::Hasher;

use derrl_logic::{Action, Arg, Literal};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use super::draft::Draft;
use super::regret::Regrets;
use crate::hashing::scattered;
use crate::limits::{ALIKE, NOTHING};

/// How the search is bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Atoms of a body, at the most.
    pub longest: usize,
    /// Single atoms that are extended, at the most.
    pub singles: usize,
    /// Longer bodies that are extended, at the most, for each length.
    pub beam: usize,
}

/// A rule to put in.
#[derive(Clone, Debug)]
pub struct Insertion {
    /// What it saves beyond its price.
    pub gain: f64,
    /// The level before which it goes.
    pub at: usize,
    /// The rule.
    pub draft: Draft,
}

/// A policy as the search meets it: by state, the level that decides and what is lost.
pub struct Standing {
    /// The level that decides, or their number.
    pub by: Vec<u32>,
    /// What is lost.
    pub cost: Vec<f64>,
    /// How many levels there are.
    pub levels: usize,
}

struct Body {
    atoms: Vec<usize>,
    /// What tells them from other atoms, whatever their order.
    key: u64,
    /// The masks that have them all.
    held: Vec<u64>,
    gain: f64,
    /// How many variables beyond the head's it uses: they are used in their order, so that bodies that differ in names
    /// only are met once.
    extra: usize,
}

/// What has to be saved beyond a price.
#[derive(Clone, Copy, Debug)]
pub struct Bar {
    /// More than this.
    pub above: f64,
    /// At least this: a rule that saves as much is known, so that what saves less need not be looked at.
    pub known: f64,
}

/// A rule at its best place.
pub fn placed(regrets: &Regrets<'_>, draft: &Draft, standing: &Standing) -> Insertion {
    let of = &regrets.actions[draft.action as usize];
    let mut cover = vec![0; of.lists()];
    of.cover(&of.holding(draft), &mut cover);
    let mut gains = vec![0.0; standing.levels + 1];
    let (gain, at) = score(regrets, draft.action, &cover, standing, &mut gains);
    let price = regrets.price * (1 + draft.length()) as f64;
    Insertion { gain: gain - price, at, draft: draft.clone() }
}

/// The rule of an action that saves most beyond its price, if it passes the bar.
pub fn best_body(
    regrets: &Regrets<'_>,
    action: u32,
    standing: &Standing,
    reach: Reach,
    bar: Bar,
) -> Option<Insertion> {
    let problem = regrets.problem;
    let atoms = problem.grounder.atoms(Action(action));
    let arity = problem.alphabet.action(Action(action)).args.len();
    let longest = problem.alphabet.max_body.unwrap_or(reach.longest).min(reach.longest);
    let of = &regrets.actions[action as usize];
    let mut best: Option<Insertion> = None;
    let beat = |best: &Option<Insertion>| {
        let above = best.as_ref().map_or(bar.above, |b| b.gain) + NOTHING;
        above.max(bar.known - NOTHING)
    };
    let mut beam = vec![Body { atoms: Vec::new(), key: 0, held: of.everywhere(), gain: 0.0, extra: 0 }];
    let (mut held, mut cover) = (Vec::new(), vec![0; of.lists()]);
    // How often each cover was met, what it saves and where: that depends on nothing else.
    let mut alike: FxHashMap<u64, (usize, (f64, usize))> = FxHashMap::default();
    let open = Open::new(regrets, action, standing);
    let mut gains = vec![0.0; standing.levels + 1];
    best = choose(regrets, standing, (action, &beam[0]), beat(&best)).or(best);
    for length in 1..=longest {
        let mut seen = FxHashSet::default();
        let mut next: Vec<Body> = Vec::new();
        for body in &beam {
            let fits: Vec<_> = body.atoms.iter().map(|&i| regrets.fitting(action, i)).collect();
            for j in 0..atoms.len() {
                let Some(extra) = introduces(&atoms[j], arity, body.extra) else { continue };
                let key = body.key.wrapping_add(scattered(j));
                if !fits.iter().all(|f| f[j]) || !seen.insert(key) {
                    continue;
                }
                of.narrow(&body.held, j, &mut held);
                if held == body.held && extra == body.extra {
                    continue;
                }
                // Neither this body nor a longer one saves more than its bound.
                let price = regrets.price * (1 + length) as f64;
                let Some(bound) = open.bound(|list| of.meets(list, &held), beat(&best) + price) else {
                    continue;
                };
                of.cover(&held, &mut cover);
                let known = alike.entry(told_apart(&cover));
                let (times, (gain, at)) =
                    known.or_insert_with(|| (0, score(regrets, action, &cover, standing, &mut gains)));
                *times += 1;
                if *times > ALIKE {
                    continue;
                }
                let (gain, at) = (*gain, *at);
                let net = gain - price;
                let longer = || {
                    let mut longer = body.atoms.clone();
                    longer.insert(longer.partition_point(|&i| i < j), j);
                    longer
                };
                if net > beat(&best) {
                    let draft = Draft { action, atoms: longer(), choice: None };
                    if draft.is_safe(problem) {
                        best = Some(Insertion { gain: net, at, draft });
                    }
                }
                let hope = bound - regrets.price * (2 + length) as f64;
                if length < longest && hope > beat(&best) {
                    next.push(Body { atoms: longer(), key, held: held.clone(), gain, extra });
                }
            }
        }
        next.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        next.truncate(if length == 1 { reach.singles } else { reach.beam });
        beam = next;
        for body in &beam {
            best = choose(regrets, standing, (action, body), beat(&best)).or(best);
        }
    }
    best
}

/// A body with the choice that saves most beyond its price, where that is more than `least`.
fn choose(
    regrets: &Regrets<'_>,
    standing: &Standing,
    (action, body): (u32, &Body),
    least: f64,
) -> Option<Insertion> {
    let of = &regrets.actions[action as usize];
    let price = regrets.price * (2 + body.atoms.len()) as f64;
    let mut cover = vec![0; of.lists()];
    let mut gains = vec![0.0; standing.levels + 1];
    let mut best: Option<Insertion> = None;
    for choice in 0..regrets.problem.choices(Action(action)).len() {
        let draft = Draft { action, atoms: body.atoms.clone(), choice: Some(choice) };
        if !draft.is_safe(regrets.problem) {
            continue;
        }
        of.cover(&of.choose(&body.held, choice), &mut cover);
        let (gain, at) = score(regrets, action, &cover, standing, &mut gains);
        let gain = gain - price;
        if gain > best.as_ref().map_or(least, |b| b.gain) {
            best = Some(Insertion { gain, at, draft });
        }
    }
    best
}

/// The rows with an action that loses less than what is lost in its state now: list and what is saved, those of one state together, the
/// one that saves most first.
struct Open {
    rows: Vec<(u32, f64)>,
    /// For each state where its rows end, and what its rows and those of the states after it save at the most.
    states: Vec<(usize, f64)>,
}

impl Open {
    fn new(regrets: &Regrets<'_>, action: u32, standing: &Standing) -> Open {
        let mut open = Open { rows: Vec::new(), states: Vec::new() };
        for of_state in regrets.actions[action as usize].rows.chunk_by(|a, b| a.state == b.state) {
            let first = open.rows.len();
            let s = of_state[0].state as usize;
            let saves = |least: f64| regrets.weights[s] * (standing.cost[s] - least);
            let rows = of_state.iter().map(|r| (r.list, saves(r.least)));
            open.rows.extend(rows.filter(|(_, saves)| *saves > NOTHING));
            open.rows[first..].sort_by(|a, b| b.1.total_cmp(&a.1));
            if let Some(&(_, most)) = open.rows.get(first) {
                open.states.push((open.rows.len(), most));
            }
        }
        let mut rest = 0.0;
        for (_, most) in open.states.iter_mut().rev() {
            rest += *most;
            *most = rest;
        }
        open
    }

    /// The most that a body that meets these lists, or any longer one, saves: in each state the best of the actions that it derives.
    /// `None` if that is no more than `least`.
    fn bound(&self, meets: impl Fn(u32) -> bool, least: f64) -> Option<f64> {
        let (mut total, mut from) = (0.0, 0);
        for &(to, rest) in &self.states {
            if total + rest < least - NOTHING {
                return None;
            }
            let best = self.rows[from..to].iter().find(|(list, _)| meets(*list));
            total += best.map_or(0.0, |(_, saves)| *saves);
            from = to;
        }
        (total > least).then_some(total)
    }
}

/// What tells one cover from another.
fn told_apart(cover: &[u8]) -> u64 {
    let mut hash = FxHasher::default();
    hash.write(cover);
    hash.finish()
}

/// How many variables beyond the head's are used once this atom joins a body that uses the first `used` of them; `None` where
/// it would leave one out.
fn introduces(atom: &Literal, arity: usize, used: usize) -> Option<usize> {
    let mut used = used;
    for arg in &atom.args {
        if let Arg::Var(v) = arg {
            let v = usize::from(v.0);
            if v >= arity + used {
                if v > arity + used {
                    return None;
                }
                used += 1;
            }
        }
    }
    Some(used)
}

/// What a rule with this cover saves at its best place, and that place.
fn score(
    regrets: &Regrets<'_>,
    action: u32,
    cover: &[u8],
    standing: &Standing,
    gains: &mut [f64],
) -> (f64, usize) {
    gains.fill(0.0);
    let rows = &regrets.actions[action as usize].rows;
    regrets.looked.set(regrets.looked.get() + rows.len() as u64);
    let mut at = 0;
    while at < rows.len() {
        let state = rows[at].state;
        let (mut sum, mut n) = (0.0, 0.0);
        while let Some(row) = rows.get(at).filter(|r| r.state == state) {
            if cover[row.list as usize] != 0 {
                sum += row.sum;
                n += row.count;
            }
            at += 1;
        }
        if n > 0.0 {
            let s = state as usize;
            gains[standing.by[s] as usize] += regrets.weights[s] * (standing.cost[s] - sum / n);
        }
    }
    // A rule before level k decides in the states that levels from k on decide now.
    let (mut top, mut sum) = ((f64::NEG_INFINITY, 0), 0.0);
    for k in (0..gains.len()).rev() {
        sum += gains[k];
        if sum > top.0 + NOTHING {
            top = (sum, k);
        }
    }
    top
}
