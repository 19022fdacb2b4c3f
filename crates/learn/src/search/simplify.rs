//! Removing what does not matter: atoms and rules whose absence changes no decision in the states met in training.

use derrl_logic::{Grounding, Policy, Rule, subset};

use crate::experience::states::States;
use crate::language::problem::Problem;

/// The policy without the rules and atoms that change no decision (set of best actions) in any of these states.
///
/// Values are levelled first where their order does not matter. Then rules are tried, the weakest first, and the atoms of each rule from the last to the first, until nothing
/// more can go. A rule keeps its value, so the order of the rules stays as it was learned. Frozen rules are not touched.
pub fn simplify(policy: &Policy, problem: &Problem, states: &States) -> Policy {
    let mut rules: Vec<Encoded> = policy.rules.iter().map(|r| Encoded::new(r, problem)).collect();
    let states: Vec<View> = states
        .ids()
        .take(MOST_STATES)
        .map(|id| View {
            grounding: states.grounding(id),
            actions: states.actions(id).iter().map(|a| a.action.0).collect(),
        })
        .collect();
    let wanted: Vec<Vec<bool>> = states.iter().map(|s| s.decision(&rules)).collect();
    let unchanged = |rules: &[Encoded]| states.iter().zip(&wanted).all(|(s, w)| s.decision(rules) == *w);
    level(&mut rules, &unchanged);
    loop {
        let before = size(&rules);
        let mut order: Vec<usize> = (0..rules.len()).collect();
        order.sort_by(|&i, &j| rules[i].weight.total_cmp(&rules[j].weight).then(j.cmp(&i)));
        let mut gone = vec![false; rules.len()];
        for i in order.into_iter().filter(|&i| !rules[i].frozen) {
            gone[i] = true;
            let left: Vec<Encoded> =
                (0..rules.len()).filter(|&k| !gone[k]).map(|k| rules[k].clone()).collect();
            gone[i] = unchanged(&left);
        }
        let mut at = 0;
        rules.retain(|_| {
            at += 1;
            !gone[at - 1]
        });
        for i in (0..rules.len()).filter(|&i| !rules[i].frozen).collect::<Vec<_>>() {
            for j in (0..rules[i].atoms.len()).rev() {
                if rules[i].atoms.len() == 1 {
                    break;
                }
                let atom = rules[i].atoms[j];
                rules[i].remove(j);
                if !(rules[i].safe(problem) && unchanged(&rules)) {
                    rules[i].insert(j, atom);
                }
            }
        }
        if size(&rules) == before {
            break;
        }
    }
    // The strongest rule of an action first, as it is read.
    rules.sort_by(|a, b| a.action.cmp(&b.action).then(b.weight.total_cmp(&a.weight)));
    Policy { rules: rules.iter().map(|r| r.decode(problem)).collect() }
}

/// Gives neighbouring rules in the order of values the same (higher) value wherever that changes no decision, so that
/// only an order that matters remains and rules that never compete say by themselves when they apply.
fn level(rules: &mut [Encoded], unchanged: &dyn Fn(&[Encoded]) -> bool) {
    let mut values: Vec<f64> = rules.iter().map(|r| r.weight).collect();
    values.sort_by(|a, b| b.total_cmp(a));
    values.dedup();
    let Some(mut upper) = values.first().copied() else { return };
    for &lower in &values[1..] {
        let mut levelled = rules.to_vec();
        levelled.iter_mut().filter(|r| r.weight == lower).for_each(|r| r.weight = upper);
        let frozen = rules.iter().any(|r| r.frozen && r.weight == lower);
        if !frozen && unchanged(&levelled) {
            rules.clone_from_slice(&levelled);
        } else {
            upper = lower;
        }
    }
}

/// States looked at, at the most: enough to tell atoms apart, few enough to take no time.
const MOST_STATES: usize = 4096;

/// How long a policy is to read: one for each rule and one for each atom.
pub fn length(policy: &Policy) -> usize {
    policy.rules.iter().map(|r| 1 + r.body.len()).sum()
}

fn size(rules: &[Encoded]) -> usize {
    rules.iter().map(|r| 1 + r.atoms.len()).sum()
}

struct View<'a> {
    grounding: &'a Grounding,
    actions: Vec<u32>,
}

impl View<'_> {
    /// Which ground actions have the highest value.
    fn decision(&self, rules: &[Encoded]) -> Vec<bool> {
        let values: Vec<f64> = self
            .actions
            .iter()
            .enumerate()
            .map(|(a, &action)| {
                rules
                    .iter()
                    .filter(|r| r.action == action && self.grounding.masks(a).any(|m| subset(&r.body, m)))
                    .map(|r| r.weight)
                    .fold(0.0, f64::max)
            })
            .collect();
        let best = values.iter().copied().fold(0.0, f64::max);
        values.iter().map(|&v| v == best).collect()
    }
}

#[derive(Clone)]
struct Encoded {
    weight: f64,
    action: u32,
    atoms: Vec<usize>,
    body: Vec<u64>,
    frozen: bool,
}

impl Encoded {
    fn new(rule: &Rule, problem: &Problem) -> Encoded {
        let mut encoded = Encoded {
            frozen: problem.is_frozen(rule),
            weight: rule.weight,
            action: rule.action.0,
            atoms: Vec::new(),
            body: vec![0; problem.grounder.words()],
        };
        for j in problem.places(rule) {
            encoded.insert(encoded.atoms.len(), j);
        }
        encoded
    }

    fn insert(&mut self, at: usize, atom: usize) {
        self.atoms.insert(at, atom);
        self.body[atom / 64] |= 1 << (atom % 64);
    }

    fn remove(&mut self, at: usize) {
        let atom = self.atoms.remove(at);
        self.body[atom / 64] &= !(1 << (atom % 64));
    }

    /// Whether every variable of a negated atom is bound by the head or a positive atom.
    fn safe(&self, problem: &Problem) -> bool {
        let rule = self.decode(problem);
        rule.is_safe(problem.alphabet.action(rule.action).args.len())
    }

    fn decode(&self, problem: &Problem) -> Rule {
        let action = derrl_logic::Action(self.action);
        let atoms = problem.grounder.atoms(action);
        Rule { weight: self.weight, action, body: self.atoms.iter().map(|&j| atoms[j].clone()).collect() }
    }
}
