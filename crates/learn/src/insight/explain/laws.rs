//! What was so in all states that were seen: a change that breaks it would lead to no state of the world.
//!
//! A *law* counts facts, all of some kinds or those about one object: there is one agent, a car is at one place or on the ferry, what
//! has nothing on it is free. These are the invariants by which planners find variables of many values, here learned from states.

use std::collections::HashMap;
use std::sync::Arc;

use derrl_env::{Cost, Env, Rng, Status, choices, observe};
use derrl_logic::{Alphabet, Facts, MOST_WORK, Object, Pred, Role, Type, Types, Universe, bounded};

use super::Explainer;

/// Episodes in which states are looked for, steps of each, and the fewest states that make a law.
const EPISODES: u64 = 6;
const MOST_STEPS: usize = 60;
const FEWEST_STATES: usize = 3;
/// Kinds of facts in which laws are looked for: the pairs of more are too many.
const MOST_KINDS: usize = 80;

/// A fact that may change.
pub(super) type Atom = (Pred, Vec<Object>);

/// Facts of a predicate: all of them, or those that have one object at this place.
type Kind = (Pred, Option<usize>);

/// Of these kinds together there is one fact, or at most one: about each object of a type, or in the whole state.
#[derive(Clone, Debug, PartialEq)]
struct Law {
    of: Option<Type>,
    kinds: Vec<Kind>,
    /// One and not none.
    is_exact: bool,
}

/// What was so in all states that were seen.
#[derive(Clone, Debug, Default)]
pub struct Laws {
    laws: Vec<Law>,
}

/// How many facts of each kind a state has, about each object.
struct Tally {
    counts: HashMap<(Kind, Option<Object>), usize>,
    universe: Arc<Universe>,
}

impl Tally {
    fn new(facts: &Facts, universe: &Arc<Universe>, alphabet: &Alphabet) -> Tally {
        let mut counts = HashMap::new();
        let changing = facts.iter().filter(|(pred, _)| alphabet.predicate(*pred).role == Role::State);
        for (pred, args) in changing {
            *counts.entry(((pred, None), None)).or_default() += 1;
            for (at, &object) in args.iter().enumerate() {
                *counts.entry(((pred, Some(at)), Some(object))).or_default() += 1;
            }
        }
        Tally { counts, universe: Arc::clone(universe) }
    }

    /// How many facts of some kinds there are, about each object of a type.
    fn counts<'a>(
        &'a self,
        of: Option<Type>,
        kinds: &'a [Kind],
        types: &'a Types,
    ) -> impl Iterator<Item = usize> + 'a {
        let whole = of.is_none().then_some(None);
        let fits = move |o: &Object| of.is_some_and(|t| types.is_subtype(self.universe.type_of(*o), t));
        let objects = self.universe.objects().filter(fits).map(Some);
        whole.into_iter().chain(objects).map(|object| {
            kinds.iter().map(|kind| self.counts.get(&(*kind, object)).copied().unwrap_or(0)).sum()
        })
    }
}

/// States of a world, as they were seen.
#[derive(Default)]
pub struct Seen(Vec<Tally>);

impl Seen {
    /// States of a few short episodes of a task: half of the actions are the policy's, the others are drawn. None where episodes are
    /// dear. The world is to be reset afterwards.
    pub fn of_world(explainer: &Explainer<'_>, env: &mut dyn Env, seed: u64) -> Seen {
        let mut seen = Seen::default();
        if env.agents() > 1 || !matches!(env.cost(), Cost::Cheap) {
            return seen;
        }
        let alphabet = explainer.alphabet;
        let mut rng = Rng::new(seed, 0);
        let mut facts = Facts::new(alphabet);
        for _ in 0..EPISODES {
            env.reset(&mut rng);
            for _ in 0..MOST_STEPS {
                if env.fault().is_some() {
                    return seen;
                }
                observe(env, &mut facts);
                let universe = Arc::clone(env.universe());
                seen.note(&facts, &universe, alphabet);
                let all = choices(env, alphabet);
                let decide =
                    || explainer.decider(&universe).decide_among(&facts, alphabet, &universe, Some(&all));
                let Ok(best) = bounded(MOST_WORK, decide) else { return seen };
                let from = if best.ties.is_empty() || rng.below(2) == 0 { &all } else { &best.ties };
                if from.is_empty() {
                    break;
                }
                let action = &from[rng.below(from.len())];
                if env.step(action.action, &action.args, &mut rng).status != Status::Running {
                    break;
                }
            }
        }
        seen
    }

    /// Notes a state.
    pub(super) fn note(&mut self, facts: &Facts, universe: &Arc<Universe>, alphabet: &Alphabet) {
        self.0.push(Tally::new(facts, universe, alphabet));
    }

    /// What was so in all of them.
    pub fn laws(&self, alphabet: &Alphabet) -> Laws {
        if self.0.len() < FEWEST_STATES {
            return Laws::default();
        }
        let types = (0..alphabet.types.len() as u32).map(|t| Some(Type(t)));
        Laws { laws: types.chain([None]).flat_map(|of| laws_about(of, &self.0, alphabet)).collect() }
    }
}

impl Laws {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.laws.is_empty()
    }

    /// The laws that a changed state breaks and the original one does not: in words, and the atoms of which one must change.
    pub(super) fn broken<'a>(
        &'a self,
        (now, before): (&'a Facts, &'a Facts),
        flipped: &'a [Atom],
        alphabet: &'a Alphabet,
        universe: &'a Universe,
    ) -> impl Iterator<Item = (String, Vec<Atom>)> + 'a {
        self.laws.iter().filter_map(move |law| {
            let breaks = |o: &Option<Object>| !law.is_kept(*o, now) && law.is_kept(*o, before);
            let object = law.touched(flipped, alphabet, universe).into_iter().find(breaks)?;
            let mut atoms: Vec<Atom> = law.facts(object, now).collect();
            if atoms.is_empty() {
                atoms = law.kinds.iter().flat_map(|k| every(*k, object, alphabet, universe)).collect();
            }
            Some((law.words(object, alphabet, universe), atoms))
        })
    }
}

/// The laws about the objects of a type, or about whole states. Kinds that were never seen obey none.
fn laws_about(of: Option<Type>, seen: &[Tally], alphabet: &Alphabet) -> Vec<Law> {
    let types = &alphabet.types;
    let mut kinds: Vec<Kind> = Vec::new();
    for (i, decl) in alphabet.predicates.iter().enumerate().filter(|(_, p)| p.role == Role::State) {
        let pred = Pred(i as u32);
        match of {
            None => kinds.push((pred, None)),
            Some(of) => {
                let fits = |at: &usize| types.is_subtype(of, decl.args[*at]);
                kinds.extend((0..decl.args.len()).filter(fits).map(|at| (pred, Some(at))));
            }
        }
    }
    let always = |kinds: &[Kind], law: &dyn Fn(usize) -> bool| {
        seen.iter().all(|tally| tally.counts(of, kinds, types).all(law))
    };
    let occurs = |kind: &Kind| !always(&[*kind], &|n| n == 0);
    kinds.retain(|kind| occurs(kind) && always(&[*kind], &|n| n <= 1));
    kinds.truncate(MOST_KINDS);
    let is_exact = |kinds: &[Kind]| always(kinds, &|n| n == 1);
    let (exact, mut rest): (Vec<Kind>, Vec<Kind>) = kinds.into_iter().partition(|kind| is_exact(&[*kind]));
    let mut laws: Vec<Law> =
        exact.into_iter().map(|kind| Law { of, kinds: vec![kind], is_exact: true }).collect();
    // Groups of kinds of which there is one at most, as large as they get: one kind after another joins.
    while let Some(&first) = rest.first() {
        let mut group = vec![first];
        for &kind in &rest[1..] {
            let larger = [group.as_slice(), &[kind]].concat();
            if !is_exact(&group) && always(&larger, &|n| n <= 1) {
                group = larger;
            }
        }
        rest.retain(|kind| !group.contains(kind));
        laws.push(Law { of, is_exact: is_exact(&group), kinds: group });
    }
    laws
}

impl Law {
    /// The objects about which it counts these facts; `None` for whole states.
    fn touched(&self, facts: &[Atom], alphabet: &Alphabet, universe: &Universe) -> Vec<Option<Object>> {
        let fits = |o: &Object| self.of.is_none_or(|t| alphabet.types.is_subtype(universe.type_of(*o), t));
        let pairs = facts.iter().flat_map(|fact| self.kinds.iter().map(move |kind| (fact, kind)));
        let counted = pairs.filter(|((pred, _), (p, _))| pred == p);
        let object = counted.map(|((_, args), (_, at))| at.map(|at| args[at]));
        object.filter(|object| object.as_ref().is_none_or(fits)).collect()
    }

    /// Whether a state keeps it, as far as it is about an object.
    fn is_kept(&self, object: Option<Object>, facts: &Facts) -> bool {
        match self.facts(object, facts).take(2).count() {
            0 => !self.is_exact,
            n => n == 1,
        }
    }

    /// The facts that it counts about an object, or all.
    fn facts<'a>(&'a self, object: Option<Object>, facts: &'a Facts) -> impl Iterator<Item = Atom> + 'a {
        self.kinds.iter().flat_map(move |&(pred, at)| {
            let counts = move |args: &&[Object]| at.is_none_or(|at| Some(args[at]) == object);
            facts.tuples(pred).filter(counts).map(move |args| (pred, args.to_vec()))
        })
    }

    /// As text: `at(c1, _) or on(c1): one of them holds`.
    fn words(&self, object: Option<Object>, alphabet: &Alphabet, universe: &Universe) -> String {
        let show = |&(pred, at): &Kind| {
            let decl = alphabet.predicate(pred);
            let arg = |i| match object {
                Some(object) if at == Some(i) => universe.name(object).to_string(),
                _ => "_".to_string(),
            };
            let args: Vec<String> = (0..decl.args.len()).map(arg).collect();
            if args.is_empty() { decl.name.clone() } else { format!("{}({})", decl.name, args.join(", ")) }
        };
        let kinds: Vec<String> = self.kinds.iter().map(show).collect();
        let number = if self.is_exact { "exactly one" } else { "at most one" };
        format!("{number} {}", kinds.join(" or "))
    }
}

/// All facts of a kind about an object that there could be.
fn every((pred, at): Kind, object: Option<Object>, alphabet: &Alphabet, universe: &Universe) -> Vec<Atom> {
    let mut all: Vec<Vec<Object>> = vec![Vec::new()];
    for (i, &t) in alphabet.predicate(pred).args.iter().enumerate() {
        let fits = |o: &Object| match object {
            Some(object) if at == Some(i) => *o == object,
            _ => alphabet.types.is_subtype(universe.type_of(*o), t),
        };
        let objects: Vec<Object> = universe.objects().filter(fits).collect();
        all = all.iter().flat_map(|args| objects.iter().map(|&o| [args.as_slice(), &[o]].concat())).collect();
    }
    all.into_iter().map(|args| (pred, args)).collect()
}
