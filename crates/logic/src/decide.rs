//! Acting by rules: which ground actions a policy derives from facts, and which of them are best.

use std::ops::ControlFlow;

use crate::alphabet::{Action, Alphabet, Type, Var};
use crate::choose::{Chosen, Preference};
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
    /// Whether the body holds of a head that is known; only where the body leaves arguments of the head open.
    of_known: Option<Query>,
    preference: Preference,
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
    let mut rules: Vec<&Rule> = policy.rules.iter().filter(|r| !r.abstains()).collect();
    rules.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    rules
}

impl Decider {
    /// Compiles a policy. Rules that abstain are left out.
    pub fn new(policy: &Policy, alphabet: &Alphabet, universe: &Universe) -> Decider {
        let rules: Vec<Compiled> = strongest_first(policy)
            .into_iter()
            .filter_map(|rule| Compiled::new(rule, alphabet, universe))
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
        let mut ties = Vec::new();
        let mut value = 0.0;
        let mut binding = vec![None; self.variables];
        for rule in &self.rules {
            // Rules come strongest first: once something is derived, weaker rules cannot matter.
            if !ties.is_empty() && rule.value < value {
                break;
            }
            value = rule.value;
            if !rule.preference.is_empty() {
                let world = (facts, alphabet, universe);
                ties.extend(rule.choose(world, legal, &mut binding, &|phi| rule.ground(phi)));
                continue;
            }
            if rule.legal_derived(facts, alphabet, universe, legal, &mut binding, &mut ties) {
                continue;
            }
            let _ = rule.query.solve(facts, universe, &mut binding, &mut |phi| {
                rule.complete(alphabet, universe, &mut phi.to_vec(), 0, &mut |phi| {
                    let action = rule.ground(phi);
                    if is_legal(&action, facts, alphabet, legal) {
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

/// Whether an action is among the legal ones, where they are listed, or legal by the domain.
fn is_legal(
    action: &GroundAction,
    facts: &Facts,
    alphabet: &Alphabet,
    legal: Option<&[GroundAction]>,
) -> bool {
    match legal {
        Some(legal) => legal.binary_search(action).is_ok(),
        None => alphabet.action(action.action).legal.is_none_or(|legal| facts.holds(legal, &action.args)),
    }
}

/// The substitutions by which a rule derives legal actions, those of the head first: of all that satisfy the body, those that its
/// choices leave. `legal` lists the legal actions in order, where the world does.
pub fn substitutions(
    rule: &Rule,
    facts: &Facts,
    alphabet: &Alphabet,
    universe: &Universe,
    legal: Option<&[GroundAction]>,
) -> Vec<Vec<Option<Object>>> {
    let Some(compiled) = Compiled::new(rule, alphabet, universe) else { return Vec::new() };
    let in_body = rule.body.iter().flat_map(Literal::vars).map(|v| usize::from(v.0) + 1);
    let variables = in_body.max().unwrap_or(0).max(compiled.types.len());
    let world = (facts, alphabet, universe);
    compiled.choose(world, legal, &mut vec![None; variables], &|phi| phi.to_vec())
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
    /// `None` where the rule derives nothing in this universe.
    fn new(rule: &Rule, alphabet: &Alphabet, universe: &Universe) -> Option<Compiled> {
        let types = alphabet.action(rule.action).args.clone();
        let head: Vec<Var> = (0..types.len() as u8).map(Var).collect();
        let binds = |v: &Var| rule.body.iter().any(|l| l.positive && l.vars().any(|w| w == *v));
        let preference = Preference::new(&rule.choices, universe)?;
        // A choice tells substitutions of one head apart.
        let mut query = if preference.is_empty() {
            Query::of_head(&rule.body, types.len(), universe)
        } else {
            Query::new(&rule.body, &[], universe)
        };
        let mut of_known = (!head.iter().all(binds)).then(|| Query::new(&rule.body, &head, universe));
        for o in preference.named() {
            query.keep_apart(o);
            if let Some(query) = &mut of_known {
                query.keep_apart(o);
            }
        }
        Some(Compiled { value: rule.weight, action: rule.action, types, query, of_known, preference })
    }

    /// The action that the head is under a substitution.
    fn ground(&self, phi: &Binding) -> GroundAction {
        let args = phi[..self.types.len()].iter().flatten().copied().collect();
        GroundAction { action: self.action, args }
    }

    /// What `derived` gives for the best substitutions by the choices of the rule, of those that derive a legal action.
    fn choose<T>(
        &self,
        (facts, alphabet, universe): (&Facts, &Alphabet, &Universe),
        legal: Option<&[GroundAction]>,
        binding: &mut Binding,
        derived: &dyn Fn(&Binding) -> T,
    ) -> Vec<T> {
        let mut chosen = Chosen::new();
        let listed = self.of_known.as_ref().is_some_and(|query| {
            self.each_legal(facts, alphabet, universe, legal, &mut |args| {
                binding.fill(None);
                binding.iter_mut().zip(args).for_each(|(b, o)| *b = Some(*o));
                let _ = query.solve(facts, universe, binding, &mut |phi| {
                    chosen.offer(&self.preference, phi, facts, || derived(phi));
                    ControlFlow::Continue(())
                });
            })
        });
        binding.fill(None);
        if !listed {
            let _ = self.query.solve(facts, universe, binding, &mut |phi| {
                self.complete(alphabet, universe, &mut phi.to_vec(), 0, &mut |phi| {
                    if is_legal(&self.ground(phi), facts, alphabet, legal) {
                        chosen.offer(&self.preference, phi, facts, || derived(phi));
                    }
                });
                ControlFlow::Continue(())
            });
        }
        chosen.all()
    }

    /// Lists the legal actions that the rule derives, one by one, where it leaves arguments open and something says what is legal:
    /// all ways to fill these in may be far more. Returns whether it did.
    fn legal_derived(
        &self,
        facts: &Facts,
        alphabet: &Alphabet,
        universe: &Universe,
        legal: Option<&[GroundAction]>,
        binding: &mut Binding,
        ties: &mut Vec<GroundAction>,
    ) -> bool {
        let Some(query) = &self.of_known else { return false };
        let listed = self.each_legal(facts, alphabet, universe, legal, &mut |args| {
            binding.fill(None);
            binding.iter_mut().zip(args).for_each(|(b, o)| *b = Some(*o));
            if query.holds(facts, universe, binding) {
                ties.push(GroundAction { action: self.action, args: args.to_vec() });
            }
        });
        binding.fill(None);
        listed
    }

    /// Calls `each` with the arguments of the legal actions of the rule, where something says what is legal. Returns whether it does.
    fn each_legal(
        &self,
        facts: &Facts,
        alphabet: &Alphabet,
        universe: &Universe,
        legal: Option<&[GroundAction]>,
        each: &mut dyn FnMut(&[Object]),
    ) -> bool {
        let mut try_one = |args: &[Object]| {
            let distinct = args.iter().enumerate().all(|(i, o)| !args[..i].contains(o));
            let is = |(o, t): (&Object, &Type)| alphabet.types.is_subtype(universe.type_of(*o), *t);
            if distinct && args.iter().zip(&self.types).all(is) {
                each(args);
            }
        };
        match (legal, alphabet.action(self.action).legal) {
            (Some(legal), _) => {
                let first = legal.partition_point(|a| a.action < self.action);
                let of_action = legal[first..].iter().take_while(|a| a.action == self.action);
                of_action.for_each(|a| try_one(&a.args));
            }
            (None, Some(legal)) => facts.tuples(legal).for_each(try_one),
            (None, None) => return false,
        }
        true
    }

    /// Gives every head variable from `at` on that the body left open each object of its type that no term of
    /// the rule stands for, and emits the substitution.
    fn complete(
        &self,
        alphabet: &Alphabet,
        universe: &Universe,
        phi: &mut Binding,
        at: usize,
        emit: &mut dyn FnMut(&Binding),
    ) {
        let Some(&t) = self.types.get(at) else {
            return emit(phi);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Source;
    use crate::syntax::Constant;

    /// Rules that leave arguments of the head open derive, of the legal actions, what they derive where everything is legal.
    #[test]
    fn legal_actions_are_found_one_by_one_where_heads_are_open() {
        let text =
            ":- action(serve(a, a, b)).\n:- state(p(a)).\n:- state(q(a, b)).\n:- state(ready(a, a, b)).\n";
        let free = Alphabet::parse(&Source::new("free", text)).expect("it parses");
        let legal = format!("{text}:- legal(serve/3).\nserve(X, Y, Z) :- ready(X, Y, Z).\n");
        let legal = Alphabet::parse(&Source::new("legal", legal)).expect("it parses");
        let of = |name: &str, t: &str| {
            (Constant::Name(name.into()), free.types.find(t).expect("the type is declared"))
        };
        let universe =
            Universe::new(vec![of("a1", "a"), of("a2", "a"), of("a3", "a"), of("b1", "b"), of("b2", "b")]);
        let rules = [
            "serve(X, Y, Z) :- p(U).",
            "serve(X, Y, Z) :- p(X), \\+ q(X, Z).",
            "serve(X, Y, Z) :- q(Y, U).",
            "serve(X, Y, Z) :- p(a1).",
        ];
        let facts = |alphabet: &Alphabet, seed: usize| {
            let mut facts = Facts::new(alphabet);
            let mut bits = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 7;
            let mut coin = || {
                bits = bits.rotate_left(5).wrapping_mul(0x2545_f491_4f6c_dd1d);
                bits >> 62 == 0
            };
            for (i, predicate) in free.predicates.iter().enumerate() {
                let mut tuples = vec![Vec::new()];
                for t in &predicate.args {
                    let is = |o: &Object| free.types.is_subtype(universe.type_of(*o), *t);
                    let longer = |tuple: &Vec<Object>| {
                        let more = universe.objects().filter(is).filter(|o| !tuple.contains(o));
                        more.map(|o| [tuple.as_slice(), &[o]].concat()).collect::<Vec<_>>()
                    };
                    tuples = tuples.iter().flat_map(longer).collect();
                }
                for tuple in tuples.iter().filter(|_| coin()) {
                    facts.push(crate::alphabet::Pred(i as u32), tuple);
                }
            }
            facts.seal();
            facts.derive(&universe);
            facts
        };
        for (seed, rule) in (0..40).flat_map(|seed| rules.iter().map(move |rule| (seed, rule))) {
            let source = Source::new("rule", *rule);
            let policy = Policy::parse(&source, &free).expect("it parses");
            let (open, ruled) = (facts(&free, seed), facts(&legal, seed));
            let ready = free.find_predicate("ready", 3).expect("it is declared");
            let derived = Decider::new(&policy, &free, &universe).decide(&open, &free, &universe).ties;
            let expected: Vec<_> = derived.into_iter().filter(|a| open.holds(ready, &a.args)).collect();
            let listed: Vec<_> = legal_actions(&ruled, &legal, &universe).expect("legality is declared");
            let decider = Decider::new(&policy, &legal, &universe);
            for decision in [
                decider.decide(&ruled, &legal, &universe),
                decider.decide_among(&ruled, &legal, &universe, Some(&listed)),
            ] {
                if expected.is_empty() {
                    assert_eq!(decision.ties, listed, "{rule}: any legal action");
                } else {
                    assert_eq!(decision.ties, expected, "{rule}");
                }
            }
        }
    }
}
