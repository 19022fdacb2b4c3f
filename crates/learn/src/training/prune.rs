//! Removing what does not matter: atoms and rules whose absence changes no decision in the states met in training.

use std::sync::Arc;

use derrl_logic::{Action, Alphabet, Literal, Policy, Rule};

use crate::experience::met::Met;
use crate::language::body::Body;
use crate::language::problem::Problem;

/// The policy without the rules and atoms that change no decision (the set of best actions) in any of these states.
///
/// Values are levelled first where their order does not matter. Then rules and atoms are dropped one at a time. A rule
/// keeps its value, so the order of the rules stays as it was learned. Frozen rules are not touched.
pub fn prune(policy: &Policy, problem: &Problem, met: &Met) -> Policy {
    let rules = |policy: &Policy| policy.rules.iter().map(|r| Encoded::new(r, problem)).collect::<Vec<_>>();
    let decisions = |rules: &[Encoded]| met.iter().map(|s| decision(s, rules)).collect::<Vec<_>>();
    let wanted = decisions(&rules(policy));
    let unchanged = |policy: &Policy| {
        let rules = rules(policy);
        met.iter().zip(&wanted).all(|(sight, wanted)| decision(sight, &rules) == *wanted)
    };
    let frozen = |rule: &Rule| problem.is_frozen(rule);
    let levelled = level(policy, &frozen, &unchanged);
    let mut drop = Drop { alphabet: &problem.alphabet, frozen: &frozen, dropped: &mut |_| () };
    let mut pruned =
        drop.one_at_a_time(levelled.clone(), &mut |candidate| Some(unchanged(candidate))).unwrap_or(levelled);
    strongest_first(&mut pruned);
    pruned
}

/// Puts the strongest rule of an action first, as a policy is read.
pub fn strongest_first(policy: &mut Policy) {
    policy.rules.sort_by(|a, b| a.action.cmp(&b.action).then(b.weight.total_cmp(&a.weight)));
}

/// The places of a policy's rules, the weakest first; of equal rules the last.
pub fn weakest_first(policy: &Policy) -> Vec<usize> {
    let weight = |i: usize| policy.rules[i].weight;
    let mut order: Vec<usize> = (0..policy.rules.len()).collect();
    order.sort_by(|&i, &j| weight(i).total_cmp(&weight(j)).then(j.cmp(&i)));
    order
}

/// How long a policy is to read: one for each rule and one for each atom.
pub fn length(policy: &Policy) -> usize {
    policy.rules.iter().map(|r| 1 + r.body.len()).sum()
}

/// Drops what a policy can do without, one rule or atom at a time.
pub struct Drop<'a> {
    /// The alphabet of the policy.
    pub alphabet: &'a Alphabet,
    /// Tells the rules that stay as they are.
    pub frozen: &'a dyn Fn(&Rule) -> bool,
    /// Told what is dropped, before it is.
    pub dropped: &'a mut dyn FnMut(Dropped<'_>),
}

/// What is dropped.
pub enum Dropped<'a> {
    /// A rule.
    Rule(&'a Rule),
    /// An atom of a rule.
    Atom(&'a Literal, &'a Rule),
}

impl Drop<'_> {
    /// The policy without what `unchanged` says makes no difference; `None` as soon as `unchanged` gives up.
    ///
    /// Rules are tried from the weakest, then the atoms of each rule from the last to the first, until nothing more can go.
    /// A body keeps an atom and stays safe.
    pub fn one_at_a_time(
        &mut self,
        mut policy: Policy,
        unchanged: &mut dyn FnMut(&Policy) -> Option<bool>,
    ) -> Option<Policy> {
        loop {
            let before = length(&policy);
            let mut gone = vec![false; policy.rules.len()];
            for i in weakest_first(&policy) {
                if (self.frozen)(&policy.rules[i]) {
                    continue;
                }
                gone[i] = true;
                gone[i] = unchanged(&without(&policy, &gone))?;
                if gone[i] {
                    (self.dropped)(Dropped::Rule(&policy.rules[i]));
                }
            }
            policy = without(&policy, &gone);
            for i in 0..policy.rules.len() {
                if (self.frozen)(&policy.rules[i]) {
                    continue;
                }
                let arity = self.alphabet.action(policy.rules[i].action).args.len();
                for j in (0..policy.rules[i].body.len()).rev() {
                    let mut candidate = policy.clone();
                    candidate.rules[i].body.remove(j);
                    let rule = &candidate.rules[i];
                    if !rule.body.is_empty() && rule.is_safe(arity) && unchanged(&candidate)? {
                        (self.dropped)(Dropped::Atom(&policy.rules[i].body[j], &policy.rules[i]));
                        policy = candidate;
                    }
                }
            }
            if length(&policy) == before {
                return Some(policy);
            }
        }
    }
}

/// The policy without some of its rules.
fn without(policy: &Policy, gone: &[bool]) -> Policy {
    let rules = policy.rules.iter().zip(gone).filter(|(_, gone)| !**gone);
    Policy { rules: rules.map(|(rule, _)| rule.clone()).collect() }
}

/// Gives neighbouring rules in the order of values the same (higher) value wherever that changes no decision, so that
/// only an order that matters remains and rules that never compete say by themselves when they apply.
fn level(policy: &Policy, frozen: &dyn Fn(&Rule) -> bool, unchanged: &dyn Fn(&Policy) -> bool) -> Policy {
    let mut policy = policy.clone();
    let mut values: Vec<f64> = policy.rules.iter().map(|r| r.weight).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values.dedup();
    let Some(mut upper) = values.first().copied() else { return policy };
    for &lower in &values[1..] {
        let mut levelled = policy.clone();
        levelled.rules.iter_mut().filter(|r| r.weight == lower).for_each(|r| r.weight = upper);
        let fixed = policy.rules.iter().any(|r| frozen(r) && r.weight == lower);
        if !fixed && unchanged(&levelled) {
            policy = levelled;
        } else {
            upper = lower;
        }
    }
    policy
}

/// Which of the ground actions of a state have the highest value.
fn decision(sight: &[(Action, Arc<[u64]>)], rules: &[Encoded]) -> Vec<bool> {
    let value = |(action, masks): &(Action, Arc<[u64]>)| {
        let fires = |r: &&Encoded| r.action == *action && r.body.holds(masks);
        rules.iter().filter(fires).map(|r| r.weight).fold(0.0, f64::max)
    };
    let values: Vec<f64> = sight.iter().map(value).collect();
    let best = values.iter().copied().fold(0.0, f64::max);
    values.iter().map(|&v| v == best).collect()
}

/// A rule as it is held against masks.
struct Encoded {
    weight: f64,
    action: Action,
    body: Body,
}

impl Encoded {
    fn new(rule: &Rule, problem: &Problem) -> Encoded {
        let body = Body::of(problem.places(rule), problem.grounder.words());
        Encoded { weight: rule.weight, action: rule.action, body }
    }
}
