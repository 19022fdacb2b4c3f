//! Acting by rules: which ground actions a policy derives from facts, and which of them are best.

use std::ops::ControlFlow;

use crate::alphabet::{Action, Alphabet, Type};
use crate::facts::Facts;
use crate::policy::Policy;
use crate::query::{Binding, Query};
use crate::rule::{Literal, Rule};
use crate::universe::{GroundAction, Object, Universe};

/// A policy compiled for one universe, strongest rules first.
#[derive(Clone, Debug)]
pub struct Decider {
    rules: Vec<Compiled>,
    variables: usize,
}

#[derive(Clone, Debug)]
struct Compiled {
    value: f64,
    action: Action,
    types: Vec<Type>,
    query: Query,
}

/// What a policy would do: the actions of highest value.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// F of those actions; 0 where no rule fires.
    pub value: f64,
    /// The actions that share this value, in order. Where no rule derives a legal action, those that are legal. Empty where no
    /// rule fires and nothing says what is legal: then all actions tie.
    pub ties: Vec<GroundAction>,
}

/// The rules of a policy that can fire, the strongest first. Those that abstain are left out: an empty body or a weight
/// not above 0.
pub(crate) fn strongest_first(policy: &Policy) -> Vec<&Rule> {
    let mut rules: Vec<&Rule> =
        policy.rules.iter().filter(|r| r.weight > 0.0 && !r.body.is_empty()).collect();
    rules.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    rules
}

impl Decider {
    /// Compiles a policy. Rules that abstain are left out.
    pub fn new(policy: &Policy, alphabet: &Alphabet, universe: &Universe) -> Decider {
        let rules: Vec<Compiled> = strongest_first(policy)
            .into_iter()
            .map(|r| Compiled {
                value: r.weight,
                action: r.action,
                types: alphabet.action(r.action).args.clone(),
                query: Query::of_head(&r.body, alphabet.action(r.action).args.len(), universe),
            })
            .collect();
        let in_bodies =
            policy.rules.iter().flat_map(|r| &r.body).flat_map(Literal::vars).map(|v| v.0 as usize + 1);
        let in_heads = rules.iter().map(|r| r.types.len());
        let variables = in_bodies.chain(in_heads).max().unwrap_or(0);
        Decider { rules, variables }
    }

    /// The best actions in this state: argmax of F over the legal actions, with all ties.
    pub fn decide(&self, facts: &Facts, alphabet: &Alphabet, universe: &Universe) -> Decision {
        self.decide_among(facts, alphabet, universe, None)
    }

    /// The best of these actions, given in order, where the world itself lists the legal ones; else as [`Decider::decide`].
    pub fn decide_among(
        &self,
        facts: &Facts,
        alphabet: &Alphabet,
        universe: &Universe,
        legal: Option<&[GroundAction]>,
    ) -> Decision {
        let is_legal = |a: &GroundAction| match legal {
            Some(legal) => legal.binary_search(a).is_ok(),
            None => alphabet.action(a.action).legal.is_none_or(|legal| facts.holds(legal, &a.args)),
        };
        let mut ties = Vec::new();
        let mut value = 0.0;
        let mut binding = vec![None; self.variables];
        for rule in &self.rules {
            // Rules come strongest first: once something is derived, weaker rules cannot matter.
            if !ties.is_empty() && rule.value < value {
                break;
            }
            value = rule.value;
            let _ = rule.query.solve(facts, universe, &mut binding, &mut |phi| {
                rule.complete(alphabet, universe, &mut phi.to_vec(), 0, &mut |args| {
                    let action = GroundAction { action: rule.action, args };
                    if is_legal(&action) {
                        ties.push(action);
                    }
                });
                // A nullary head is derived by the first substitution as well as by all.
                if rule.types.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
        }
        if ties.is_empty() {
            return Decision {
                value: 0.0,
                ties: legal
                    .map(<[GroundAction]>::to_vec)
                    .or_else(|| legal_actions(facts, alphabet, universe))
                    .unwrap_or_default(),
            };
        }
        ties.sort();
        ties.dedup();
        Decision { value, ties }
    }
}

/// The legal ground actions in this state, in order; `None` where the domain does not say of any action when it is legal.
/// Actions of which it does not say so may always be tried.
pub fn legal_actions(facts: &Facts, alphabet: &Alphabet, universe: &Universe) -> Option<Vec<GroundAction>> {
    if !alphabet.has_legality() {
        return None;
    }
    let mut all = Vec::new();
    for (i, decl) in alphabet.actions.iter().enumerate() {
        let action = Action(i as u32);
        match decl.legal {
            Some(legal) => {
                all.extend(facts.tuples(legal).map(|args| GroundAction { action, args: args.to_vec() }));
            }
            None => all.extend(universe.actions_of(alphabet, action)),
        }
    }
    Some(all)
}

impl Compiled {
    /// Gives every head variable from `at` on that the body left open each object of its type that no term of
    /// the rule stands for, and emits the arguments of the head.
    fn complete(
        &self,
        alphabet: &Alphabet,
        universe: &Universe,
        phi: &mut Binding,
        at: usize,
        emit: &mut dyn FnMut(Vec<Object>),
    ) {
        let Some(&t) = self.types.get(at) else {
            return emit(phi[..at].iter().flatten().copied().collect());
        };
        let fits = |o: Object| alphabet.types.is_subtype(universe.type_of(o), t);
        match phi[at] {
            Some(o) if fits(o) => self.complete(alphabet, universe, phi, at + 1, emit),
            Some(_) => {}
            None => {
                for o in universe.objects() {
                    if fits(o) && self.query.free(o, phi) {
                        phi[at] = Some(o);
                        self.complete(alphabet, universe, phi, at + 1, emit);
                        phi[at] = None;
                    }
                }
            }
        }
    }
}
