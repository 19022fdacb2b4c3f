//! Whether a short list of rules can be right everywhere, in a language.
//!
//! A list is built from its first rule on. A body may come next if it derives only right actions in the states that no earlier rule
//! has settled (Rivest, *Learning decision lists*, 1987), or nearly so: what is best in a state is not always what a short rule
//! says, though the rule leads to the goal. Bodies are masks, the fullest ones, with every atom taken out that is not needed.

use derrl_logic::{
    Action, Alphabet, Facts, GroundAction, Grounder, Literal, Rule, RuleCount, Universe, subset,
};

use crate::language::body::Body;

/// A state as rules of a language see it.
#[derive(Debug)]
pub struct Sighted {
    /// The target predicate of each action, whether the action is right, and its maximal masks.
    pub actions: Vec<(Action, bool, Vec<Vec<u64>>)>,
}

impl Sighted {
    /// A state in a language.
    pub fn new(
        grounder: &Grounder,
        actions: &[GroundAction],
        right: &[bool],
        facts: &Facts,
        universe: &Universe,
        stop: &dyn Fn() -> bool,
    ) -> Option<Sighted> {
        let grounding = grounder.ground_unless(actions, facts, universe, stop)?;
        let of = |(i, action): (usize, &GroundAction)| {
            (action.action, right[i], grounding.masks(i).map(<[u64]>::to_vec).collect())
        };
        Some(Sighted { actions: actions.iter().enumerate().map(of).collect() })
    }

    /// Whether a body derives something, and whether all that it derives is right.
    fn derives(&self, action: Action, body: &[u64]) -> (bool, bool) {
        let of_kind = self.actions.iter().filter(|(a, ..)| *a == action);
        let mut derived = of_kind.filter(|(_, _, masks)| masks.iter().any(|m| subset(body, m)));
        match derived.next() {
            None => (false, true),
            Some((_, right, _)) => (true, *right && derived.all(|(_, right, _)| *right)),
        }
    }
}

/// A list of rules.
#[derive(Clone, Debug)]
pub struct List {
    /// The rules, the first to fire first.
    pub rules: Vec<Rule>,
    /// How many states are left without a right rule.
    pub left: usize,
    /// How many states there are.
    pub states: usize,
}

/// Rules of a list at the most: a longer one has learned the states by heart.
const MOST_RULES: usize = 24;
/// States that are asked for a body before each rule.
const ASKED: usize = 10;
/// Masks of an action that are tried.
const MASKS: usize = 3;
/// States that are asked if none has a rule.
const MOST_ASKED: usize = 60;
/// A rule may be wrong in this share of the states in which it is right, and each such state counts against so many.
const TOLERATED: f64 = 0.25;
const WRONG: f64 = 3.0;
/// A rule that is never wrong comes first if it is right in this share of the states that are left.
const FEW: f64 = 0.04;
/// What a state costs that is left: so many atoms, as a share of all states.
const LEFT: f64 = 300.0;

impl List {
    /// How much has to be said: atoms and rules, and a price for all that is left.
    pub fn cost(&self) -> f64 {
        let said: usize = self.rules.iter().map(|r| r.body.len() + 1).sum();
        said as f64 + LEFT * self.left as f64 / self.states.max(1) as f64
    }

    /// A short list that is right in as many of these states as possible.
    pub fn new(
        states: &[Sighted],
        grounder: &Grounder,
        alphabet: &Alphabet,
        stop: &dyn Fn() -> bool,
    ) -> List {
        let mut left: Vec<usize> = (0..states.len()).collect();
        let mut rules: Vec<Rule> = Vec::new();
        let mut wrong = 0;
        while !left.is_empty() && rules.len() < MOST_RULES && !stop() {
            let room = |action: Action| match alphabet.action(action).rules {
                RuleCount::AtMost(n) => rules.iter().filter(|r| r.action == action).count() < n,
                RuleCount::Auto => true,
            };
            let Some((action, body)) = next(states, &left, grounder, alphabet, &room) else { break };
            left.retain(|&s| {
                let (derives, is_right) = states[s].derives(action, &body);
                wrong += usize::from(derives && !is_right);
                !derives
            });
            let atoms = grounder.atoms(action);
            let literals = Body(&body).atoms().map(|j| atoms[j].clone()).collect();
            rules.push(Rule::new(1.0 - 0.01 * rules.len() as f64, action, literals));
        }
        List { rules, left: left.len() + wrong, states: states.len() }
    }
}

/// What a rule does in the states that are left.
#[derive(Clone, Copy, PartialEq)]
struct Tally {
    /// States in which it derives right actions only.
    right: usize,
    /// States in which it derives a wrong one.
    wrong: usize,
}

impl Tally {
    fn of(states: &[Sighted], left: &[usize], action: Action, body: &[u64]) -> Tally {
        let mut tally = Tally { right: 0, wrong: 0 };
        for &s in left {
            match states[s].derives(action, body) {
                (false, _) => {}
                (true, true) => tally.right += 1,
                (true, false) => tally.wrong += 1,
            }
        }
        tally
    }

    fn worth(self) -> f64 {
        self.right as f64 - WRONG * self.wrong as f64
    }
}

/// The rule that is worth most in the states that are left.
fn next(
    states: &[Sighted],
    left: &[usize],
    grounder: &Grounder,
    alphabet: &Alphabet,
    room: &dyn Fn(Action) -> bool,
) -> Option<(Action, Vec<u64>)> {
    // One that is never wrong comes before one that is wrong now and then, if it is right in many states.
    let many = FEW * left.len() as f64;
    let mut best: Option<(f64, usize, Action, Vec<u64>)> = None;
    let stride = (left.len() / ASKED).max(1);
    // First those that are evenly spread, then, if none has a rule, all others.
    let spread = left.iter().step_by(stride);
    let others = left.iter().enumerate().filter(|(i, _)| i % stride != 0).map(|(_, s)| s);
    for (asked, &s) in spread.chain(others).enumerate() {
        if asked > ASKED && best.is_some() || asked > MOST_ASKED {
            break;
        }
        for (action, _, masks) in
            states[s].actions.iter().filter(|(action, right, _)| *right && room(*action))
        {
            let arity = alphabet.action(*action).args.len();
            let atoms = grounder.atoms(*action);
            let tally = |body: &[u64]| Tally::of(states, left, *action, body);
            for mask in masks.iter().take(MASKS) {
                for tolerated in [0.0, TOLERATED] {
                    let is_safe = |t: Tally| t.wrong as f64 <= tolerated * t.right as f64;
                    if !is_safe(tally(mask)) {
                        continue;
                    }
                    let body = shortened(mask, atoms, arity, &|body| is_safe(tally(body)));
                    let length = Body(&body).len();
                    if length == 0 || alphabet.max_body.is_some_and(|most| length > most) {
                        continue;
                    }
                    let tally = tally(&body);
                    let is_strict = tally.wrong == 0 && tally.right as f64 >= many;
                    let worth = tally.worth() + if is_strict { left.len() as f64 } else { 0.0 };
                    let is_better = |(most, short, ..): &(f64, usize, Action, Vec<u64>)| {
                        worth > *most || worth == *most && length < *short
                    };
                    if worth > 0.0 && best.as_ref().is_none_or(is_better) {
                        best = Some((worth, length, *action, body));
                    }
                }
            }
        }
    }
    best.map(|(_, _, action, body)| (action, body))
}

/// A body with every atom taken out that it is safe without.
fn shortened(mask: &[u64], atoms: &[Literal], arity: usize, is_safe: &dyn Fn(&[u64]) -> bool) -> Vec<u64> {
    let mut body = Body(mask.to_vec());
    let mut order: Vec<usize> = Body(mask).atoms().collect();
    // Negations go first: they say less.
    order.sort_by_key(|&j| atoms[j].positive);
    for j in order {
        body.remove(j);
        if !is_safe(body.words()) || !is_bound(body.words(), atoms, arity) {
            body.insert(j);
        }
    }
    body.0
}

/// Whether every variable of a negated atom is in the head or in another atom.
fn is_bound(body: &[u64], atoms: &[Literal], arity: usize) -> bool {
    let body = Body(body);
    let positive: Vec<usize> = body.atoms().filter(|&j| atoms[j].positive).collect();
    body.atoms().filter(|&j| !atoms[j].positive).all(|j| {
        atoms[j]
            .vars()
            .all(|v| usize::from(v.0) < arity || positive.iter().any(|&i| atoms[i].vars().any(|w| w == v)))
    })
}

/// Whether every body that derives the first action derives the second one too.
pub fn looks_alike(first: &(Action, bool, Vec<Vec<u64>>), second: &(Action, bool, Vec<Vec<u64>>)) -> bool {
    first.0 == second.0 && first.2.iter().all(|mask| second.2.iter().any(|other| subset(mask, other)))
}
