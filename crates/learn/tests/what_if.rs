//! Explanations hold: what is said to be a smallest change is one, by trying them all.

use std::collections::BTreeSet;

use derrl_env::{Rng, observe};
use derrl_learn::{
    Ask, Bounds, Explainer, Found, Others, Reason, Seen, Standing, WhatIf, WhatIfs, evaluate, explain_episode,
};
use derrl_logic::{
    Alphabet, Constant, Decider, Facts, GroundAction, Object, Policy, Pred, Role, Source, Universe,
    parse_state, parse_state_in,
};

const DOMAIN: &str = ":- action(go(thing)). :- action(stop).
    :- state(p(thing)). :- state(q(thing, thing)). :- state(r). :- background(b(thing)). :- background(c(box)).
    :- subtype(box, thing).
    false :- p(X), q(X, Y). r :- q(X, Y), q(Y, X). false :- r, b(X), p(X).";

/// Rules of all kinds: negation, constants, heads that the body leaves open, equal weights.
const RULES: &[&str] = &[
    "0.90::go(X) :- p(X).",
    "0.80::go(X) :- q(X, Y), p(Y).",
    "0.80::go(X) :- q(X, Y), \\+ p(Y), b(X).",
    "0.95::go(X) :- r, \\+ q(X, X).",
    "0.70::go(X) :- q(Y, Z), b(Y).",
    "0.85::go(X) :- q(X, o1).",
    "0.60::go(X) :- \\+ p(X), \\+ r.",
    "0.90::stop :- q(X, Y), q(Y, X).",
    "0.80::stop :- p(X), p(Y), \\+ q(X, Y).",
    "0.70::stop :- r.",
    "0.95::stop :- c(X), p(X).",
    "0.50::go(X) :- p(o7).",
];

struct Case {
    alphabet: Alphabet,
    universe: Universe,
    policy: Policy,
    facts: Facts,
}

impl Case {
    fn draw(rng: &mut Rng) -> Case {
        let alphabet = Alphabet::parse(&Source::new("domain.pl", DOMAIN)).unwrap();
        let text: Vec<&str> = RULES.iter().copied().filter(|_| rng.below(3) == 0).collect();
        let policy = Policy::parse(&Source::new("policy.pl", text.join("\n")), &alphabet).unwrap();
        let types = ["thing", "thing", "box"].map(|t| alphabet.types.find(t).unwrap());
        let named = |(i, t): (usize, &_)| (Constant::name(&format!("o{i}")), *t);
        let universe = Universe::new(types.iter().enumerate().map(named).collect());
        let mut facts = Facts::new(&alphabet);
        for (pred, args) in atoms(&alphabet, &universe, true) {
            if rng.below(3) == 0 {
                facts.push(pred, &args);
            }
        }
        facts.seal();
        Case { alphabet, universe, policy, facts }
    }

    fn standing(&self, facts: &Facts, action: &GroundAction) -> Standing {
        let decider = Decider::new(&self.policy, &self.alphabet, &self.universe);
        match decider.decide(facts, &self.alphabet, &self.universe).ties.as_slice() {
            [] => Standing::AnyAction,
            [only] if only == action => Standing::Alone,
            ties if ties.contains(action) => Standing::Tie,
            _ => Standing::Beaten,
        }
    }

    /// The size of the smallest change after which `good` holds, by trying all of up to `most` facts: first those that break no
    /// constraint, then all.
    fn smallest(&self, background: bool, most: usize, good: &dyn Fn(&Facts) -> bool) -> Option<usize> {
        let atoms = atoms(&self.alphabet, &self.universe, background);
        let of = |good: &dyn Fn(&Facts) -> bool| {
            (0..=most).find(|&size| any_flipped(&atoms, size, &mut self.facts.clone(), good))
        };
        let before = self.violations(&self.facts);
        of(&|facts| good(facts) && self.violations(facts).is_subset(&before)).or_else(|| of(good))
    }

    /// The constraints of the domain that a state breaks, each with the objects it breaks them for. Read off the text by hand.
    fn violations(&self, facts: &Facts) -> BTreeSet<(u8, Vec<Object>)> {
        let pred = |name: &str, arity| self.alphabet.find_predicate(name, arity).unwrap();
        let (p, q, r, b) = (pred("p", 1), pred("q", 2), pred("r", 0), pred("b", 1));
        let mut all = BTreeSet::new();
        for x in self.universe.objects() {
            if facts.holds(r, &[]) && facts.holds(b, &[x]) && facts.holds(p, &[x]) {
                all.insert((2, vec![x]));
            }
            for y in self.universe.objects().filter(|&y| y != x) {
                if facts.holds(p, &[x]) && facts.holds(q, &[x, y]) {
                    all.insert((0, vec![x, y]));
                }
                if facts.holds(q, &[x, y]) && facts.holds(q, &[y, x]) && !facts.holds(r, &[]) {
                    all.insert((1, vec![x, y]));
                }
            }
        }
        all
    }
}

/// All well-typed ground atoms, with or without those of background predicates.
fn atoms(alphabet: &Alphabet, universe: &Universe, background: bool) -> Vec<(Pred, Vec<Object>)> {
    let mut all = Vec::new();
    for (i, decl) in alphabet.predicates.iter().enumerate() {
        if decl.role == Role::Background && !background {
            continue;
        }
        let mut tuples: Vec<Vec<Object>> = vec![Vec::new()];
        for &t in &decl.args {
            let fits = |o: &Object| alphabet.types.is_subtype(universe.type_of(*o), t);
            tuples = tuples
                .iter()
                .flat_map(|tuple| universe.objects().filter(fits).map(|o| [tuple.as_slice(), &[o]].concat()))
                .collect();
        }
        all.extend(tuples.into_iter().map(|tuple| (Pred(i as u32), tuple)));
    }
    all
}

fn any_flipped(
    atoms: &[(Pred, Vec<Object>)],
    size: usize,
    facts: &mut Facts,
    good: &dyn Fn(&Facts) -> bool,
) -> bool {
    if size == 0 {
        return good(facts);
    }
    (0..atoms.len()).any(|i| {
        let (pred, args) = &atoms[i];
        facts.flip(*pred, args);
        let found = any_flipped(&atoms[i + 1..], size - 1, facts, good);
        facts.flip(*pred, args);
        found
    })
}

/// A change as it was reported, applied to a state.
fn apply(case: &Case, change: &derrl_learn::Change) -> Facts {
    let mut facts = case.facts.clone();
    for (texts, holds) in [(&change.removed, false), (&change.added, true)] {
        for text in texts {
            let source = Source::new("change", format!("{text}."));
            let (pred, names) = derrl_logic::parse_facts(&source, &case.alphabet).unwrap().atoms.remove(0);
            let args: Vec<Object> = names.iter().map(|n| case.universe.find(n).unwrap()).collect();
            assert_eq!(facts.flip(pred, &args), holds, "{text} changes");
        }
    }
    facts
}

fn size(found: &Found) -> Option<usize> {
    match found {
        Found::Already => Some(0),
        Found::Found(change) => Some(change.removed.len() + change.added.len()),
        Found::Impossible | Found::Beyond { .. } => None,
        Found::GaveUp { .. } => panic!("these states are small"),
        Found::Unreachable => panic!("nobody walked"),
    }
}

#[test]
fn flipping_a_fact_twice_changes_nothing() {
    let mut rng = Rng::new(1, 0);
    for _ in 0..20 {
        let case = Case::draw(&mut rng);
        for (pred, args) in atoms(&case.alphabet, &case.universe, true) {
            let mut facts = case.facts.clone();
            let held = facts.holds(pred, &args);
            assert_eq!(facts.flip(pred, &args), !held);
            assert_eq!(facts.holds(pred, &args), !held);
            let mut resealed = facts.clone();
            resealed.seal();
            assert_eq!(facts, resealed, "flipping keeps the order");
            facts.flip(pred, &args);
            assert_eq!(facts, case.facts);
        }
    }
}

#[test]
fn a_smallest_change_is_one_and_no_smaller_one_exists() {
    let mut rng = Rng::new(7, 0);
    let mut sizes = [0; 4];
    for round in 0..60 {
        let case = Case::draw(&mut rng);
        let background = round % 3 == 0;
        let bounds = Bounds { changes: 3, background, inconsistent: true, ..Bounds::default() };
        let explainer = Explainer::new(&case.policy, &case.alphabet);
        for action in case.universe.ground_actions(&case.alphabet) {
            let WhatIf { now, chosen, alone, silent, .. } =
                explainer.what_if(&action, &case.facts, &case.universe, bounds);
            assert_eq!(now, case.standing(&case.facts, &action));
            let goals: [(&Found, &dyn Fn(Standing) -> bool); 2] = [
                (&chosen, &|s| matches!(s, Standing::Tie | Standing::Alone)),
                (&alone, &|s| s == Standing::Alone),
            ];
            let most = size(&chosen).map_or(3, |c| c.saturating_sub(1));
            let none = case.smallest(background, most, &|f| case.standing(f, &action) == Standing::AnyAction);
            let shorter = none.filter(|_| now == Standing::Beaten);
            assert_eq!(silent.as_ref().map(derrl_learn::Change::size), shorter);
            for (found, good) in goals {
                let truth = case.smallest(background, 3, &|facts| good(case.standing(facts, &action)));
                assert_eq!(
                    size(found),
                    truth,
                    "{found:?}\n{:?}",
                    case.facts.show(&case.alphabet, &case.universe)
                );
                if let Found::Found(change) = found {
                    let standing = case.standing(&apply(&case, change), &action);
                    assert_eq!(standing, change.standing);
                    assert!(good(standing));
                    assert!(change.fired.is_some());
                }
                if let Some(n) = truth {
                    sizes[n] += 1;
                }
            }
        }
    }
    assert!(sizes.iter().all(|&n| n > 5), "changes of all sizes occur: {sizes:?}");
}

#[test]
fn what_cannot_be_is_told_from_what_takes_too_many_changes() {
    let alphabet = Alphabet::parse(&Source::new("domain.pl", DOMAIN)).unwrap();
    let policy = "0.9::stop :- b(X). 0.8::go(X) :- p(X). 0.95::go(X) :- c(X), p(X), q(X, Y), r.";
    let policy = Policy::parse(&Source::new("policy.pl", policy), &alphabet).unwrap();
    let (universe, facts) = parse_state(&Source::new("state.pl", "b(x). b(y). c(z)."), &alphabet).unwrap();
    let explainer = Explainer::new(&policy, &alphabet);
    let of = |text: &str, bounds: Bounds| {
        let (action, names) = derrl_logic::parse_ground_action(text, &alphabet).unwrap();
        let action = derrl_learn::find_action(&alphabet, &universe, action, &names).unwrap();
        explainer.what_if(&action, &facts, &universe, bounds)
    };
    let all = Bounds { inconsistent: true, ..Bounds::default() };
    // `stop` always fires and is stronger than the only rule for x.
    assert_eq!(of("go(x)", all).chosen, Found::Impossible);
    assert_eq!(of("go(z)", Bounds { changes: 2, ..all }).chosen, Found::Beyond { changes: 2 });
    assert_eq!(size(&of("go(z)", all).alone), Some(3));
    let few = Bounds { states: 3, ..all };
    assert!(matches!(of("go(z)", few).chosen, Found::GaveUp { .. }));
    // Background facts stay unless told otherwise: then `stop` can be silenced.
    let any = Bounds { background: true, ..all };
    let answer = of("go(x)", any);
    assert_eq!(size(&answer.chosen), Some(3), "{answer:?}");
    assert_eq!(answer.silent.unwrap().removed, ["b(x)", "b(y)"]);
}

#[test]
fn a_change_that_keeps_the_constraints_is_preferred_and_others_are_shown_if_asked() {
    let alphabet = Alphabet::parse(&Source::new("domain.pl", DOMAIN)).unwrap();
    let policy = "0.9::go(X) :- p(X). 0.5::stop :- b(X).";
    let policy = Policy::parse(&Source::new("policy.pl", policy), &alphabet).unwrap();
    let state = Source::new("state.pl", "b(x). q(y, z). b(z).");
    let (universe, facts) = parse_state(&state, &alphabet).unwrap();
    let explainer = Explainer::new(&policy, &alphabet);
    let go = universe
        .ground_actions(&alphabet)
        .into_iter()
        .find(|a| a.args == [universe.find(&Constant::name("y")).unwrap()]);
    let go = go.unwrap();
    // p(y) alone breaks `false :- p(X), q(X, Y)`: it is offered only where nothing else is found.
    let one = Bounds { changes: 1, ..Bounds::default() };
    let any = Bounds { inconsistent: true, ..one };
    let Found::Found(quick) = explainer.what_if(&go, &facts, &universe, any).alone else {
        panic!("one fact is enough")
    };
    assert_eq!((quick.added.len(), quick.breaks.len()), (1, 1));
    assert_eq!(explainer.what_if(&go, &facts, &universe, one).alone, Found::Beyond { changes: 1 });
    let Found::Found(whole) = explainer.what_if(&go, &facts, &universe, Bounds::default()).alone else {
        panic!("two facts are enough")
    };
    assert_eq!(
        (whole.added, whole.removed, whole.breaks.len()),
        (vec!["p(y)".into()], vec!["q(y, z)".into()], 0)
    );
}

/// Each block is on one thing, and free if and only if nothing is on it: the domain file does not say so.
#[test]
fn laws_that_were_seen_keep_changes_among_states_that_can_be() {
    let spec = derrl_env::find("blocks").unwrap();
    let alphabet = spec.alphabet();
    let mut env = spec.make(&alphabet, "train", &derrl_env::Options::default()).unwrap();
    let policy =
        "0.9::move(X, Y) :- top(X), top(Y), goal_on(X, Y). 0.8::move(X, Y) :- top(X), on(X, Z), isFloor(Y).";
    let policy = Policy::parse(&Source::new("policy.pl", policy), &alphabet).unwrap();
    let explainer = Explainer::new(&policy, &alphabet);
    let laws = Seen::of_world(&explainer, env.as_mut(), 0).laws(&alphabet);
    assert!(!laws.is_empty());
    let state = "top(x). on(x, y). on(y, floor). top(z). on(z, floor). goal_on(y, z). isFloor(floor).";
    let (universe, facts) = parse_state(&Source::new("state.pl", state), &alphabet).unwrap();
    let case = Case { alphabet: Alphabet::clone(&alphabet), universe, policy: policy.clone(), facts };
    let blocks = ["x", "y", "z"].map(|name| case.universe.find(&Constant::name(name)).unwrap());
    let pred = |name, arity| case.alphabet.find_predicate(name, arity).unwrap();
    let (on, top) = (pred("on", 2), pred("top", 1));
    let can_be = |facts: &Facts| {
        let below = |x| facts.tuples(on).filter(|pair| pair[0] == x).count();
        let above = |x| facts.tuples(on).filter(|pair| pair[1] == x).count();
        blocks.iter().all(|&x| below(x) == 1 && above(x) + usize::from(facts.holds(top, &[x])) == 1)
    };
    let (mut found, mut odd) = (0, 0);
    for action in case.universe.ground_actions(&case.alphabet) {
        let explainer = Explainer::new(&policy, &case.alphabet);
        let changes = |what_if: WhatIf| {
            let found = [what_if.chosen, what_if.alone].into_iter().filter_map(|found| match found {
                Found::Found(change) => Some(change),
                _ => None,
            });
            found.chain(what_if.silent).collect::<Vec<_>>()
        };
        let ask = |explainer: Explainer<'_>| {
            changes(explainer.what_if(&action, &case.facts, &case.universe, Bounds::default()))
        };
        for change in ask(explainer.under(&laws)) {
            assert!(can_be(&apply(&case, &change)), "{change:?}");
            assert!(change.breaks.is_empty());
            found += 1;
        }
        odd += ask(explainer).iter().filter(|change| !can_be(&apply(&case, change))).count();
    }
    assert!(found > 3 && odd > 0, "{found} changes, {odd} odd ones without laws");
}

#[test]
fn every_world_explains_the_episodes_that_it_scores() {
    for spec in derrl_env::worlds() {
        let alphabet = spec.alphabet();
        let Ok(mut env) = spec.make(&alphabet, &spec.tasks()[0].name, &derrl_env::Options::default()) else {
            continue; // the simulator behind it is missing; its own tests say so
        };
        let policy = Policy::default();
        let ask = Ask {
            others: Others::First(usize::MAX, None),
            what_if: WhatIfs::Others,
            leeway: true,
            bounds: Bounds { changes: 1, ..Bounds::default() },
            ..Ask::default()
        };
        let trace = explain_episode(&policy, &alphabet, env.as_mut(), (3, 0), 500, &ask).unwrap();
        let score = evaluate(&policy, &alphabet, env.as_mut(), 1, 3).unwrap();
        assert!((trace.end.total - score.mean).abs() < 1e-9, "{}", spec.name());
        assert_eq!(trace.end.success, score.success_rate.map(|share| share == 1.0), "{}", spec.name());
        for step in &trace.steps {
            let e = &step.explanation;
            assert!(e.fired.is_none() && e.ties.len() == e.others.len() + 1);
            assert!(e.others.iter().all(|o| o.reason == Reason::Tie && o.what_if.is_some()));
        }
    }
}

#[test]
fn a_state_of_an_instance_keeps_its_background() {
    let spec = derrl_env::find("countdown").unwrap();
    let alphabet = spec.alphabet();
    let mut env = spec.make(&alphabet, "train", &derrl_env::Options::default()).unwrap();
    env.reset(&mut Rng::new(0, 0));
    let mut facts = Facts::new(&alphabet);
    observe(env.as_ref(), &mut facts);
    let less = alphabet.find_predicate("less", 2).unwrap();
    let source = Source::new("state.pl", "acc(3). goal(5).");
    let changed = parse_state_in(&source, &alphabet, env.universe(), &facts).unwrap();
    assert_eq!(changed.count(less), 55);
    assert_eq!(changed.iter().count(), 57, "the state is what the text says, and no more");
    for (text, why) in
        [("acc(99).", "no object `99`"), ("goal(5). :- object(7).", "declaration"), ("ac(1).", "acc/1")]
    {
        let error =
            parse_state_in(&Source::new("state.pl", text), &alphabet, env.universe(), &facts).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
}

/// In blocks, every action that a rule may derive is answered by a state that can be: blocks in stacks, and the policy chooses it there.
#[test]
fn in_an_episode_the_answer_is_a_state_that_can_be_reached() {
    let spec = derrl_env::find("blocks").unwrap();
    let alphabet = spec.alphabet();
    let rules =
        "0.9::move(X, Y) :- top(X), top(Y), goal_on(X, Y). 0.8::move(X, Y) :- top(X), on(X, Z), isFloor(Y).";
    let policy = Policy::parse(&Source::new("policy.pl", rules), &alphabet).unwrap();
    let mut env = spec.make(&alphabet, "dynamic-blocks", &derrl_env::Options::default()).unwrap();
    let ask = Ask { others: Others::First(usize::MAX, None), what_if: WhatIfs::Others, ..Ask::default() };
    let (mut reached, mut never) = (0, 0);
    for episode in 0..6 {
        let trace = explain_episode(&policy, &alphabet, env.as_mut(), (3, episode), 500, &ask).unwrap();
        let score = evaluate(&policy, &alphabet, env.as_mut(), 6, 3).unwrap();
        assert!(score.success_rate == Some(1.0), "looking around changes nothing");
        for other in trace.steps.iter().flat_map(|step| &step.explanation.others) {
            let what_if = other.what_if.as_ref().unwrap();
            match &what_if.chosen {
                Found::Already => {}
                Found::Unreachable => never += 1,
                Found::Found(change) => {
                    reached += 1;
                    let look = change.look.as_ref().expect("it was reached");
                    let names = look.facts.iter().filter_map(|f| f.strip_prefix("on(")?.split(',').next());
                    assert_eq!(names.clone().count(), names.collect::<BTreeSet<_>>().len(), "{look:?}");
                    assert!(change.fired.is_some() && change.breaks.is_empty(), "{change:?}");
                    assert!(change.removed.iter().all(|fact| !look.facts.contains(fact)));
                    assert!(change.added.iter().all(|fact| look.facts.contains(fact)));
                }
                other => panic!("{other:?}"),
            }
        }
    }
    // To put a on c is never right where b is the goal.
    assert!(reached > 20 && never > 20, "{reached} {never}");
}
