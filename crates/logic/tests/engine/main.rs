//! The engine finds what a naive reading of the definitions finds: every law here equates it with code that
//! enumerates all substitutions and looks every literal up by linear search.

mod agenda;
mod derive;
mod numbers;

use std::collections::BTreeSet;
use std::fmt;
use std::ops::ControlFlow;

use derrl_logic::alphabet::{ActionDecl, Predicate};
use derrl_logic::{
    Action, Alphabet, Arg, Constant, Decider, Decision, Facts, GroundAction, Grounder, Grounding, Literal,
    Object, Policy, Pred, Query, Role, Rule, RuleCount, Type, Types, Universe, Var, candidates,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// What objects are called, and what rules may name: `z` is the name of none.
const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
const MENTIONED: [&str; 4] = ["a", "b", "z", "c"];

/// An alphabet, objects and what holds of them. Facts need not respect types: the engine does not ask.
struct World {
    alphabet: Alphabet,
    universe: Universe,
    facts: Facts,
}

/// A failing world is shown as a person would write it.
impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types = &self.alphabet.types;
        let object = |o| format!("{}: {}", self.universe.name(o), types.name(self.universe.type_of(o)));
        let objects: Vec<String> = self.universe.objects().map(object).collect();
        let facts = self.facts.show(&self.alphabet, &self.universe);
        write!(f, "{}% objects {}\n% facts {}", self.alphabet, objects.join(", "), facts.join(", "))
    }
}

/// Numbers that [`literal`] reads as a literal: its predicate, sign and terms.
type RawLiteral = (usize, bool, [usize; 3]);

fn raw_literal() -> impl Strategy<Value = RawLiteral> {
    (0..6usize, prop::bool::weighted(0.7), prop::array::uniform3(0..60usize))
}

/// A literal over the first `variables` variables and, one time in six, a constant.
fn literal(alphabet: &Alphabet, variables: usize, raw: RawLiteral) -> Literal {
    let (pred, positive, terms) = raw;
    let pred = Pred((pred % alphabet.predicates.len()) as u32);
    let term = |&t: &usize| match t % 6 {
        5 => Arg::Const(Constant::name(MENTIONED[t / 6 % MENTIONED.len()])),
        _ => Arg::Var(Var((t / 6 % variables) as u8)),
    };
    let args = terms.iter().take(alphabet.predicate(pred).args.len()).map(term).collect();
    Literal { positive, pred, args }
}

/// Numbers that [`policy`] reads as a rule: its action, weight and body.
type RawRule = (usize, u8, Vec<RawLiteral>);

fn raw_rule() -> impl Strategy<Value = RawRule> {
    (0..6usize, 0..4u8, vec(raw_literal(), 0..4))
}

/// A policy over the first `variables` variables. Its rules need be neither safe nor well-typed.
fn policy(alphabet: &Alphabet, variables: usize, raw: &[RawRule]) -> Policy {
    let rule = |(action, weight, body): &RawRule| Rule {
        weight: f64::from(*weight) / 4.0,
        action: Action((action % alphabet.actions.len()) as u32),
        body: body.iter().map(|&l| literal(alphabet, variables, l)).collect(),
        choices: Vec::new(),
    };
    Policy { rules: raw.iter().map(rule).collect() }
}

fn types() -> impl Strategy<Value = Types> {
    let names: Vec<String> = ["p", "q", "r"].map(String::from).to_vec();
    let typed = prop::array::uniform3(any::<bool>()).prop_map(move |[a, b, c]| {
        // Subtypes go from lower to higher numbers: no cycles.
        let pairs = [(a, 1, 2), (b, 1, 3), (c, 2, 3)];
        let pairs: Vec<_> = pairs.iter().filter(|p| p.0).map(|p| (Type(p.1), Type(p.2))).collect();
        Types::new(&names, &pairs)
    });
    prop_oneof![1 => Just(Types::new(&[], &[])), 2 => typed]
}

fn alphabet() -> impl Strategy<Value = Alphabet> {
    let arity = prop_oneof![1 => Just(0), 3 => Just(1), 4 => Just(2), 1 => Just(3usize)];
    let predicate = (arity, prop::array::uniform3(0..8u32), prop::bool::weighted(0.3));
    let action = (0..4usize, prop::array::uniform3(0..8u32), vec(0..6usize, 0..2));
    let constants = prop_oneof![2 => Just(0), 1 => 1..=3usize];
    (types(), vec(predicate, 1..5), vec(action, 1..4), 1..=4usize, constants).prop_map(
        |(types, predicates, actions, variables, constants)| {
            let id = |t: u32| Type(t % types.len() as u32);
            let predicates: Vec<Predicate> = predicates
                .iter()
                .enumerate()
                .map(|(i, (arity, args, negatable))| Predicate {
                    name: format!("p{i}"),
                    args: args.iter().take(*arity).map(|&t| id(t)).collect(),
                    role: Role::State,
                    negatable: *negatable,
                })
                .collect();
            let actions: Vec<ActionDecl> = actions
                .iter()
                .enumerate()
                .map(|(i, (arity, args, forbidden))| ActionDecl {
                    name: format!("a{i}"),
                    places: (0..(*arity).min(variables) as u8).collect(),
                    args: args.iter().take((*arity).min(variables)).map(|&t| id(t)).collect(),
                    rules: RuleCount::AtMost(1),
                    forbidden: forbidden
                        .iter()
                        .filter(|&&p| p < predicates.len())
                        .map(|&p| Pred(p as u32))
                        .collect(),
                    legal: None,
                })
                .collect();
            Alphabet {
                environment: None,
                types,
                of_domain: predicates.len(),
                program: None,
                measures: Vec::new(),
                predicates,
                actions,
                constants: MENTIONED[..constants].iter().map(|c| Constant::name(c)).collect(),
                variables,
                variables_given: true,
                max_body: None,
                shield: Vec::new(),
                templates: None,
                constraints: Vec::new(),
            }
        },
    )
}

/// Numbers that become a fact: its predicate and objects.
fn raw_facts() -> impl Strategy<Value = Vec<(usize, [usize; 3])>> {
    vec((0..6usize, prop::array::uniform3(0..60usize)), 0..30)
}

/// What holds in a universe of `objects`.
fn facts(alphabet: &Alphabet, objects: usize, raw: &[(usize, [usize; 3])]) -> Facts {
    let mut facts = Facts::new(alphabet);
    for &(pred, args) in raw {
        let pred = Pred((pred % alphabet.predicates.len()) as u32);
        let arity = alphabet.predicate(pred).args.len();
        if arity == 0 || objects > 0 {
            let args: Vec<Object> = args.iter().take(arity).map(|o| Object((o % objects) as u32)).collect();
            facts.push(pred, &args);
        }
    }
    facts.seal();
    facts
}

fn world_of(alphabet: impl Strategy<Value = Alphabet>) -> impl Strategy<Value = World> {
    (alphabet, vec(0..8u32, 0..=5), raw_facts()).prop_map(|(alphabet, types, raw)| {
        let id = |t: &u32| Type(t % alphabet.types.len() as u32);
        let objects: Vec<_> = NAMES.iter().map(|n| Constant::name(n)).zip(types.iter().map(id)).collect();
        let facts = facts(&alphabet, objects.len(), &raw);
        World { universe: Universe::new(objects), facts, alphabet }
    })
}

fn world() -> impl Strategy<Value = World> {
    world_of(alphabet())
}

// The naive reading.

/// What variables stand for; `None` for those that are not used.
type Phi = Vec<Option<Object>>;

/// A substitution of `variables` variables in which those of the head stand for the arguments of an action.
fn head(action: &GroundAction, variables: usize) -> Phi {
    let mut phi = vec![None; variables.max(action.args.len())];
    phi.iter_mut().zip(&action.args).for_each(|(p, &o)| *p = Some(o));
    phi
}

impl World {
    /// Whether a literal is true where its variables stand for objects.
    fn is_true(&self, literal: &Literal, phi: &Phi) -> bool {
        let args: Option<Vec<Object>> = literal
            .args
            .iter()
            .map(|arg| match arg {
                Arg::Var(v) => phi[v.0 as usize],
                Arg::Const(c) => self.universe.objects().find(|&o| self.universe.name(o) == c),
            })
            .collect();
        let holds = args.is_some_and(|args| self.facts.iter().any(|f| f == (literal.pred, &args[..])));
        holds == literal.positive
    }

    /// The objects that a literal mentions by name.
    fn named(&self, literal: &Literal) -> Vec<Object> {
        let names = |o: &Object| literal.args.contains(&Arg::Const(self.universe.name(*o).clone()));
        self.universe.objects().filter(names).collect()
    }

    /// Every way to let `variables` stand for distinct objects, beside what `phi` says of others.
    fn substitutions(&self, variables: &[Var], phi: &Phi) -> Vec<Phi> {
        let mut all = vec![phi.clone()];
        for v in variables.iter().map(|v| v.0 as usize) {
            let longer = |phi: &Phi| -> Vec<Phi> {
                let fresh = self.universe.objects().filter(|&o| !phi.contains(&Some(o)));
                let bind =
                    |o| phi.iter().enumerate().map(|(w, &p)| if w == v { Some(o) } else { p }).collect();
                fresh.map(bind).collect()
            };
            all = all.iter().flat_map(longer).collect();
        }
        all
    }

    /// The substitutions of the body's variables that extend `phi` and make the body true: distinct terms
    /// stand for distinct objects.
    fn solutions(&self, body: &[Literal], phi: &Phi) -> BTreeSet<Phi> {
        let variables: BTreeSet<Var> = body.iter().flat_map(Literal::vars).collect();
        let open: Vec<Var> = variables.into_iter().filter(|v| phi[v.0 as usize].is_none()).collect();
        let named: Vec<Object> = body.iter().flat_map(|l| self.named(l)).collect();
        let solves = |phi: &Phi| {
            named.iter().all(|&o| !phi.contains(&Some(o))) && body.iter().all(|l| self.is_true(l, phi))
        };
        self.substitutions(&open, phi).into_iter().filter(solves).collect()
    }

    fn derives(&self, action: &GroundAction, body: &[Literal]) -> bool {
        !self.solutions(body, &head(action, MOST_VARIABLES)).is_empty()
    }

    /// Every action with every tuple of distinct objects of its types.
    fn ground_actions(&self) -> Vec<GroundAction> {
        let mut all = Vec::new();
        for (i, decl) in self.alphabet.actions.iter().enumerate() {
            let head: Vec<Var> = (0..decl.args.len() as u8).map(Var).collect();
            for phi in self.substitutions(&head, &vec![None; head.len()]) {
                let args: Vec<Object> = phi.into_iter().flatten().collect();
                let fits =
                    |(&o, &t): (&Object, &Type)| self.alphabet.types.is_subtype(self.universe.type_of(o), t);
                if args.iter().zip(&decl.args).all(fits) {
                    all.push(GroundAction { action: Action(i as u32), args });
                }
            }
        }
        all.sort();
        all
    }

    /// The maximal sets of atoms of K that are true together when the head is that of `action`.
    ///
    /// A body may leave any variable unused, so any subset of the variables may stand for something; an atom
    /// that mentions an object for which a variable stands belongs to no body that uses this variable.
    fn masks(&self, action: &GroundAction, atoms: &[Literal]) -> BTreeSet<Vec<usize>> {
        let phi = head(action, self.alphabet.variables);
        let open: Vec<Var> = (action.args.len()..self.alphabet.variables).map(|v| Var(v as u8)).collect();
        let mut masks: BTreeSet<Vec<usize>> = BTreeSet::new();
        for used in 0..1u32 << open.len() {
            let used: Vec<Var> =
                open.iter().enumerate().filter(|(i, _)| used >> i & 1 == 1).map(|(_, &v)| v).collect();
            for phi in self.substitutions(&used, &phi) {
                let true_atom = |l: &Literal| {
                    l.vars().all(|v| phi[v.0 as usize].is_some())
                        && self.named(l).iter().all(|&o| !phi.contains(&Some(o)))
                        && self.is_true(l, &phi)
                };
                masks.insert((0..atoms.len()).filter(|&j| true_atom(&atoms[j])).collect());
            }
        }
        let within = |a: &[usize], b: &[usize]| a.iter().all(|j| b.binary_search(j).is_ok());
        let maximal = |a: &&Vec<usize>| !masks.iter().any(|b| *a != b && within(a, b));
        masks.iter().filter(maximal).cloned().collect()
    }

    /// The actions of highest value, where an action has that of the strongest rule that derives it.
    fn decide(&self, policy: &Policy) -> Decision {
        let value = |action: &GroundAction| {
            let fires =
                |r: &&Rule| r.action == action.action && !r.body.is_empty() && self.derives(action, &r.body);
            policy.rules.iter().filter(fires).map(|r| r.weight).fold(0.0, f64::max)
        };
        let actions = self.ground_actions();
        let best = actions.iter().map(value).fold(0.0, f64::max);
        let ties = actions.into_iter().filter(|a| best > 0.0 && value(a) == best).collect();
        Decision { value: best, ties }
    }

    fn ground(&self) -> (Grounder, Vec<GroundAction>, Grounding) {
        let grounder = Grounder::new(&self.alphabet);
        let actions = self.universe.ground_actions(&self.alphabet);
        let grounding = grounder.ground(&actions, &self.facts, &self.universe);
        (grounder, actions, grounding)
    }
}

/// The allowed and well-typed literals over variables and constants, positive ones first.
fn naive_candidates(alphabet: &Alphabet, action: Action) -> Vec<Literal> {
    let mut terms: Vec<Arg> = (0..alphabet.variables).map(|v| Arg::Var(Var(v as u8))).collect();
    terms.extend(alphabet.constants.iter().cloned().map(Arg::Const));
    let decl = alphabet.action(action);
    let head = (0..decl.args.len()).map(|v| Arg::Var(Var(v as u8)));
    let head: Vec<(Arg, Type)> = head.zip(decl.args.iter().copied()).collect();
    let is_constant = |a: &Arg| matches!(a, Arg::Const(_));
    let well_typed = |args: &[Arg], types: &[Type]| {
        let uses = [&head[..], &args.iter().cloned().zip(types.iter().copied()).collect::<Vec<_>>()].concat();
        let agree = |(v, t): &(Arg, Type), (w, u): &(Arg, Type)| {
            v != w || is_constant(v) || alphabet.types.overlap(*t, *u)
        };
        uses.iter().all(|x| uses.iter().all(|y| agree(x, y)))
    };
    let mut all = Vec::new();
    for positive in [true, false] {
        for (i, p) in alphabet.predicates.iter().enumerate() {
            let (pred, arity) = (Pred(i as u32), p.args.len());
            let allowed = !decl.forbidden.contains(&pred) && (positive || p.negatable);
            // Each number, written in base |terms|, is a tuple of terms.
            for number in 0..terms.len().pow(arity as u32) {
                let digit = |place| number / terms.len().pow((arity - 1 - place) as u32) % terms.len();
                let args: Vec<Arg> = (0..arity).map(|place| terms[digit(place)].clone()).collect();
                let ground = arity > 0 && args.iter().all(is_constant);
                if allowed && !ground && well_typed(&args, &p.args) {
                    all.push(Literal { positive, pred, args });
                }
            }
        }
    }
    all
}

/// Rules written by hand may have more variables than the alphabet.
const MOST_VARIABLES: usize = 5;

/// A set of candidate atoms as the engine writes it.
fn bits(atoms: impl IntoIterator<Item = usize>, words: usize) -> Vec<u64> {
    let mut set = vec![0; words];
    atoms.into_iter().for_each(|j| set[j / 64] |= 1 << (j % 64));
    set
}

/// The candidate atoms in a set.
fn atoms_of(set: &[u64]) -> Vec<usize> {
    (0..set.len() * 64).filter(|j| set[j / 64] >> (j % 64) & 1 == 1).collect()
}

/// The masks of a state are the naive ones, each once, fullest first.
fn check_masks(world: &World) -> Result<(), TestCaseError> {
    let (grounder, actions, grounding) = world.ground();
    prop_assert_eq!(grounding.actions(), actions.len());
    prop_assert_eq!(grounding.words(), grounder.words());
    for (a, action) in actions.iter().enumerate() {
        let masks: Vec<Vec<usize>> = grounding.masks(a).map(atoms_of).collect();
        prop_assert!(masks.iter().is_sorted_by_key(|m| std::cmp::Reverse(m.len())));
        let distinct: BTreeSet<Vec<usize>> = masks.iter().cloned().collect();
        prop_assert_eq!(distinct.len(), masks.len());
        prop_assert_eq!(distinct, world.masks(action, grounder.atoms(action.action)));
        prop_assert_eq!(grounding.masks(a).collect::<Vec<_>>().concat(), grounding.flat(a));
    }
    Ok(())
}

/// An alphabet whose K has more than 64 atoms, or with negation more than 128.
fn wide_alphabet() -> impl Strategy<Value = Alphabet> {
    (0..2usize, any::<bool>()).prop_map(|(arity, negatable)| {
        let predicate = |(i, arity)| Predicate {
            name: format!("p{i}"),
            args: vec![Types::ANY; arity],
            role: Role::State,
            negatable,
        };
        Alphabet {
            environment: None,
            types: Types::new(&[], &[]),
            of_domain: 3,
            program: None,
            measures: Vec::new(),
            predicates: [3, 1, 2].into_iter().enumerate().map(predicate).collect(),
            actions: vec![ActionDecl {
                name: "a".to_string(),
                args: vec![Types::ANY; arity],
                places: (0..arity as u8).collect(),
                rules: RuleCount::Auto,
                forbidden: Vec::new(),
                legal: None,
            }],
            constants: Vec::new(),
            variables: 4,
            variables_given: true,
            max_body: None,
            shield: Vec::new(),
            templates: None,
            constraints: Vec::new(),
        }
    })
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn facts_are_a_set(
        alphabet in alphabet(),
        before in raw_facts(),
        pushed in raw_facts(),
        objects in 0..6usize,
    ) {
        // What a cleared set held before does not show.
        let mut facts = facts(&alphabet, objects, &before);
        facts.clear();
        prop_assert_eq!(&facts, &Facts::new(&alphabet));
        let mut model: BTreeSet<(Pred, Vec<Object>)> = BTreeSet::new();
        for (pred, args) in pushed {
            let pred = Pred((pred % alphabet.predicates.len()) as u32);
            let arity = alphabet.predicate(pred).args.len();
            let args: Vec<Object> = args.iter().take(arity).map(|&o| Object(o as u32 % 6)).collect();
            facts.push(pred, &args);
            model.insert((pred, args));
        }
        facts.seal();
        let all: Vec<_> = facts.iter().map(|(p, t)| (p, t.to_vec())).collect();
        prop_assert_eq!(&all, &model.iter().cloned().collect::<Vec<_>>());
        let mut again = facts.clone();
        again.seal();
        prop_assert_eq!(&again, &facts);
        for (i, predicate) in alphabet.predicates.iter().enumerate() {
            let (pred, arity) = (Pred(i as u32), predicate.args.len());
            let of_pred: Vec<&[Object]> =
                model.iter().filter(|f| f.0 == pred).map(|f| f.1.as_slice()).collect();
            prop_assert_eq!(facts.count(pred), of_pred.len());
            prop_assert_eq!(facts.tuples(pred).collect::<Vec<_>>(), of_pred.clone());
            for first in (0..7).map(Object) {
                let from: Vec<&[Object]> =
                    of_pred.iter().filter(|t| t.first() == Some(&first)).copied().collect();
                prop_assert_eq!(facts.tuples_from(pred, first).collect::<Vec<_>>(), from);
            }
            let mut tuples: Vec<Vec<Object>> = vec![Vec::new()];
            for _ in 0..arity {
                let longer = |t: &Vec<Object>| -> Vec<Vec<Object>> {
                    (0..7).map(|o| [&t[..], &[Object(o)]].concat()).collect()
                };
                tuples = tuples.iter().flat_map(longer).collect();
            }
            for t in tuples {
                prop_assert_eq!(facts.holds(pred, &t), model.contains(&(pred, t)));
            }
        }
    }

    #[test]
    fn ground_actions_are_the_typed_tuples(world in world()) {
        let actions = world.universe.ground_actions(&world.alphabet);
        prop_assert!(actions.is_sorted_by(|a, b| a < b));
        prop_assert_eq!(actions, world.ground_actions());
    }

    #[test]
    fn queries_find_every_substitution(
        world in world(),
        body in vec(raw_literal(), 0..5),
        variables in 1..=MOST_VARIABLES,
        bound in prop::array::uniform5((prop::bool::weighted(0.2), 0..60usize)),
    ) {
        let body: Vec<Literal> = body.iter().map(|&l| literal(&world.alphabet, variables, l)).collect();
        let mut phi: Phi = vec![None; MOST_VARIABLES];
        for (v, (is_bound, o)) in bound.into_iter().enumerate() {
            let o = Object((o % world.universe.len().max(1)) as u32);
            if is_bound && !world.universe.is_empty() && !phi.contains(&Some(o)) {
                phi[v] = Some(o);
            }
        }
        let known = (0..MOST_VARIABLES).filter(|&v| phi[v].is_some());
        let known: Vec<Var> = known.map(|v| Var(v as u8)).collect();
        let naive: Vec<Phi> = world.solutions(&body, &phi).into_iter().collect();
        // Which variables are known beforehand guides the order of the literals and nothing else.
        for known in [&known[..], &[]] {
            let query = Query::new(&body, known, &world.universe);
            let mut binding = phi.clone();
            let mut found: Vec<Phi> = Vec::new();
            let flow = query.solve(&world.facts, &world.universe, &mut binding, &mut |phi| {
                found.push(phi.to_vec());
                ControlFlow::Continue(())
            });
            prop_assert_eq!(&binding, &phi);
            prop_assert!(flow.is_continue());
            found.sort();
            prop_assert_eq!(&found, &naive);
            prop_assert_eq!(query.holds(&world.facts, &world.universe, &mut binding), !naive.is_empty());
            prop_assert_eq!(&binding, &phi);
        }
    }

    #[test]
    fn candidates_are_the_well_typed_atoms(alphabet in alphabet()) {
        for a in (0..alphabet.actions.len()).map(|a| Action(a as u32)) {
            prop_assert_eq!(candidates(&alphabet, a), naive_candidates(&alphabet, a));
            // The paper's |K|, where nothing is left out.
            let mut plain = alphabet.untyped();
            plain.constants.clear();
            plain.actions[a.0 as usize].forbidden.clear();
            let signs = |p: &Predicate| if p.negatable { 2 } else { 1 };
            let atoms = |p: &Predicate| signs(p) * plain.variables.pow(p.args.len() as u32);
            prop_assert_eq!(candidates(&plain, a).len(), plain.predicates.iter().map(atoms).sum::<usize>());
        }
    }

    #[test]
    fn decisions_are_argmax(
        world in world(),
        raw in vec(raw_rule(), 0..5),
        variables in 1..=MOST_VARIABLES,
    ) {
        let policy = policy(&world.alphabet, variables, &raw);
        let decider = Decider::new(&policy, &world.alphabet, &world.universe);
        let decision = decider.decide(&world.facts, &world.alphabet, &world.universe);
        prop_assert_eq!(decision, world.decide(&policy));
    }

    #[test]
    fn bodies_derive_what_their_query_finds(
        world in world(),
        bodies in vec(vec(any::<prop::sample::Index>(), 0..4), 1..8),
    ) {
        let (grounder, actions, grounding) = world.ground();
        for (a, action) in actions.iter().enumerate() {
            let atoms = grounder.atoms(action.action);
            for body in bodies.iter().filter(|_| !atoms.is_empty()) {
                let body: Vec<usize> = body.iter().map(|j| j.index(atoms.len())).collect();
                let literals: Vec<Literal> = body.iter().map(|&j| atoms[j].clone()).collect();
                let set = bits(body.iter().copied(), grounding.words());
                prop_assert_eq!(grounding.derives(a, &set), world.derives(action, &literals));
            }
        }
    }
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn masks_are_the_maximal_true_sets(world in world()) {
        check_masks(&world)?;
    }
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn masks_of_several_words(world in world_of(wide_alphabet())) {
        let words = if world.alphabet.predicates[0].negatable { 3 } else { 2 };
        prop_assert_eq!(Grounder::new(&world.alphabet).words(), words);
        check_masks(&world)?;
    }
}
