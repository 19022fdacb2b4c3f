//! The search for a rule and its place: a beam over bodies, all places in the order at once.

use derrl_logic::{Action, Arg, Literal};
use rustc_hash::{FxHashMap, FxHashSet};

use super::draft::Draft;
use super::regret::Regrets;

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

/// Bodies with the same ground actions that are extended, at the most: a longer body may tell them apart.
const ALIKE: usize = 3;
/// Gains below this are noise of arithmetic.
const NOTHING: f64 = 1e-9;

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
    let mut cover = vec![false; of.lists()];
    of.cover(&of.having(&draft.atoms), &mut cover);
    let mut gains = vec![0.0; standing.levels + 1];
    let (gain, at) = score(regrets, draft.action, &cover, standing, &mut gains);
    let price = regrets.price * (1 + draft.atoms.len()) as f64;
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
    let mut beam = vec![Body { atoms: Vec::new(), held: of.everywhere(), gain: 0.0, extra: 0 }];
    let mut held = Vec::new();
    let mut cover = vec![false; of.lists()];
    // How often each cover was met, what it saves and where: that depends on nothing else.
    let mut alike: FxHashMap<u64, (usize, (f64, usize))> = FxHashMap::default();
    let open = open_rows(regrets, action, standing);
    let mut gains = vec![0.0; standing.levels + 1];
    for length in 1..=longest {
        let mut seen = FxHashSet::default();
        let mut next: Vec<Body> = Vec::new();
        for body in &beam {
            for j in 0..atoms.len() {
                let fits = |&i: &usize| i != j && problem.alphabet.fit(&atoms[i], &atoms[j]);
                let Some(extra) = introduces(&atoms[j], arity, body.extra) else { continue };
                if !body.atoms.iter().all(fits) {
                    continue;
                }
                let mut longer = body.atoms.clone();
                let at = longer.partition_point(|&i| i < j);
                longer.insert(at, j);
                if !seen.insert(longer.clone()) {
                    continue;
                }
                of.narrow(&body.held, j, &mut held);
                if held == body.held && extra == body.extra {
                    continue;
                }
                // Neither this body nor a longer one saves more than its bound.
                let bound = bound(&open, |list| of.meets(list, &held));
                if bound - regrets.price * (1 + length) as f64 <= beat(&best) {
                    continue;
                }
                let known = alike.entry(of.cover(&held, &mut cover));
                let (times, (gain, at)) =
                    known.or_insert_with(|| (0, score(regrets, action, &cover, standing, &mut gains)));
                *times += 1;
                if *times > ALIKE {
                    continue;
                }
                let (gain, at) = (*gain, *at);
                let net = gain - regrets.price * (1 + length) as f64;
                if net > beat(&best) {
                    let draft = Draft { action, atoms: longer.clone() };
                    if draft.is_safe(problem) {
                        best = Some(Insertion { gain: net, at, draft });
                    }
                }
                let hope = bound - regrets.price * (2 + length) as f64;
                if length < longest && hope > beat(&best) {
                    next.push(Body { atoms: longer, held: held.clone(), gain, extra });
                }
            }
        }
        next.sort_by(|a, b| b.gain.total_cmp(&a.gain));
        next.truncate(if length == 1 { reach.singles } else { reach.beam });
        beam = next;
    }
    best
}

/// A row with an action that loses less than what is lost in its state now.
struct Open {
    state: u32,
    list: u32,
    saves: f64,
}

fn open_rows(regrets: &Regrets<'_>, action: u32, standing: &Standing) -> Vec<Open> {
    let rows = regrets.actions[action as usize].rows.iter();
    let open = rows.map(|r| {
        let s = r.state as usize;
        Open { state: r.state, list: r.list, saves: regrets.weights[s] * (standing.cost[s] - r.least) }
    });
    open.filter(|o| o.saves > NOTHING).collect()
}

/// The most that a body, or any longer one, saves: in each state the best of the actions that it derives.
fn bound(open: &[Open], meets: impl Fn(u32) -> bool) -> f64 {
    let (mut total, mut state, mut most) = (0.0, u32::MAX, 0.0);
    for row in open {
        if row.state != state {
            total += most;
            (state, most) = (row.state, 0.0);
        }
        if row.saves > most && meets(row.list) {
            most = row.saves;
        }
    }
    total + most
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
    cover: &[bool],
    standing: &Standing,
    gains: &mut [f64],
) -> (f64, usize) {
    gains.fill(0.0);
    let rows = &regrets.actions[action as usize].rows;
    let mut at = 0;
    while at < rows.len() {
        let state = rows[at].state;
        let (mut sum, mut n) = (0.0, 0.0);
        while let Some(row) = rows.get(at).filter(|r| r.state == state) {
            if cover[row.list as usize] {
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
