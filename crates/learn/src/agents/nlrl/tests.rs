//! The candidates against a brute-force reading of their definition, deduction against naive forward chaining.

use std::collections::BTreeSet;

use derrl_env::{Options, observe, worlds};
use derrl_logic::{Object, Source};

use super::*;

fn blocks() -> (Arc<Alphabet>, Nlrl) {
    let alphabet = derrl_env::find("blocks").expect("the world exists").alphabet();
    let nlrl = Nlrl::new(&alphabet, 0.1).expect("blocks has templates");
    (alphabet, nlrl)
}

fn shown(nlrl: &Nlrl, slot: usize) -> Vec<String> {
    let slot = &nlrl.deduction.slots[slot];
    (0..slot.clauses.len()).map(|c| slot.show(c, &nlrl.alphabet, &nlrl.templates)).collect()
}

#[test]
fn the_rules_that_the_paper_reports_are_candidates() {
    let (_, nlrl) = blocks();
    let contains = |slot, clause: &str| assert!(shown(&nlrl, slot).iter().any(|c| c == clause), "{clause}");
    contains(0, "move(X, Y) :- top(X), pred(X, Y).");
    contains(1, "move(X, Y) :- top(X), goal_on(X, Y).");
    contains(2, "pred(X, Y) :- isFloor(Y), pred2(X).");
    contains(3, "pred2(X) :- on(X, Y), on(Y, Z).");
    // No clause of `given` slots uses an invented predicate; the one before the last has X alone in its head.
    assert!(shown(&nlrl, 1).iter().all(|c| !c.contains("pred")));
}

#[test]
fn candidates_are_all_pairs_up_to_renaming() {
    // p(X) :- two of q(X), q(Y), r(X, X), r(X, Y), r(Y, X), r(Y, Y), with X in it.
    let text = ":- action(p/1). :- state(q/1). :- state(r/2). :- nlrl(slot(p/1, 1, given)).";
    let alphabet = Alphabet::parse(&Source::new("d.pl", text)).expect("the domain is well-formed");
    let templates = alphabet.templates.clone().expect("it has templates");
    let found = &slots(&alphabet, &templates).expect("clauses fit")[0];
    assert_eq!((found.atoms.len(), found.clauses.len()), (6, 15 - 1), "all but q(Y), r(Y, Y)");
    // With two existential variables, Y and Z are interchangeable.
    let text = ":- action(p). :- state(r/2). :- nlrl(slot(p/0, 2, given)).";
    let alphabet = Alphabet::parse(&Source::new("d.pl", text)).expect("the domain is well-formed");
    let templates = alphabet.templates.clone().expect("it has templates");
    let found = &slots(&alphabet, &templates).expect("clauses fit")[0];
    // Of the 6 pairs of r(X,X), r(X,Y), r(Y,X), r(Y,Y): {XX,XY}={YY,YX}, {XX,YX}={YY,XY}, {XX,YY}, {XY,YX}.
    assert_eq!(found.clauses.len(), 4);
}

#[test]
fn recursion_is_possible_but_not_in_a_circle() {
    let text = ":- action(go/1). :- state(r/2). :- nlrl(invent(p/2)).
        :- nlrl(slot(go/1, 1, invented)). :- nlrl(slot(p/2, 1, invented)).";
    let alphabet = Arc::new(Alphabet::parse(&Source::new("d.pl", text)).expect("the domain is well-formed"));
    let nlrl = Nlrl::new(&alphabet, 0.1).expect("it has templates");
    let clauses = shown(&nlrl, 1);
    assert!(clauses.contains(&"p(X, Y) :- r(X, Z), p(Z, Y).".to_string()), "{clauses:?}");
    assert!(clauses.iter().all(|c| !c[7..].contains("p(X, Y)")), "{clauses:?}");
}

#[test]
fn templates_of_every_built_in_domain_have_candidates() {
    for spec in worlds().iter().filter(|s| s.alphabet().measures.is_empty()) {
        let alphabet = spec.alphabet();
        let nlrl = Nlrl::new(&alphabet, 0.1).unwrap_or_else(|e| panic!("{}: {e}", spec.name()));
        assert!((10..5000).contains(&nlrl.parameters()), "{}: {}", spec.name(), nlrl.parameters());
    }
}

#[test]
fn templates_that_explode_are_refused() {
    let text = ":- action(go). :- state(big/32). :- nlrl(slot(go/0, 4, given)).";
    let alphabet = Arc::new(Alphabet::parse(&Source::new("d.pl", text)).expect("the domain is well-formed"));
    let error = Nlrl::new(&alphabet, 0.1).err().expect("there are 4^32 atoms");
    assert!(error.to_string().contains("too many candidate clauses"), "{error}");
    let text = ":- action(go(t)). :- state(p(s)). :- nlrl(slot(go/1, 1, given)).";
    let alphabet = Arc::new(Alphabet::parse(&Source::new("d.pl", text)).expect("the domain is well-formed"));
    let error = Nlrl::new(&alphabet, 0.1).err().expect("no body can bind X");
    assert!(error.to_string().contains("no clause fits a template of `go/1`"), "{error}");
}

/// The ground actions that one clause a slot derives, by naive forward chaining on sets of atoms.
fn naive(
    nlrl: &Nlrl,
    chosen: &[usize],
    facts: &Facts,
    universe: &Universe,
    actions: &[GroundAction],
) -> Vec<bool> {
    type Atom = (Symbol, Vec<Object>);
    let mut known: BTreeSet<Atom> = facts.iter().map(|(p, args)| (Symbol::Given(p), args.to_vec())).collect();
    let derives = |slot: &Slot, clause: usize, head: &[Object], known: &BTreeSet<Atom>| {
        let n = universe.len();
        (0..n.pow(slot.existential as u32)).any(|code| {
            let holds = |atom: u32| {
                let atom = &slot.atoms[atom as usize];
                let object = |&v: &u8| {
                    let v = usize::from(v);
                    let free = |e: usize| Object((code / n.pow(e as u32) % n) as u32);
                    head.get(v).copied().unwrap_or_else(|| free(v - head.len()))
                };
                known.contains(&(atom.symbol, atom.vars.iter().map(object).collect()))
            };
            let (i, j) = slot.clauses[clause];
            holds(i) && holds(j)
        })
    };
    let fits = |slot: &Slot, head: &[Object]| {
        let types = &nlrl.alphabet.types;
        head.iter().zip(&slot.head_types).all(|(&o, &t)| types.is_subtype(universe.type_of(o), t))
    };
    for _ in 1..nlrl.templates.steps {
        let before = known.clone();
        for (slot, &clause) in nlrl.deduction.slots.iter().zip(chosen) {
            let SlotHead::Invented(p) = slot.head else { continue };
            let n = universe.len();
            for code in 0..n.pow(slot.head_types.len() as u32) {
                let head: Vec<Object> =
                    (0..slot.head_types.len()).map(|i| Object((code / n.pow(i as u32) % n) as u32)).collect();
                if fits(slot, &head) && derives(slot, clause, &head, &before) {
                    known.insert((Symbol::Invented(p), head));
                }
            }
        }
    }
    let by_some_slot = |a: &GroundAction| {
        nlrl.deduction.slots.iter().zip(chosen).any(|(slot, &clause)| {
            slot.head == SlotHead::Action(a.action) && derives(slot, clause, &a.args, &known)
        })
    };
    actions.iter().map(by_some_slot).collect()
}

#[test]
fn with_certain_weights_deduction_is_datalog() {
    let mut derived = 0;
    for spec in worlds().iter().filter(|s| s.alphabet().measures.is_empty()) {
        let alphabet = spec.alphabet();
        let Ok(mut env) = spec.make(&alphabet, &spec.tasks()[0].name, &Options::default()) else { continue };
        if spec.name() == "traffic" {
            continue; // needs its simulator
        }
        let nlrl = Nlrl::new(&alphabet, 0.1).expect("it has templates");
        let mut rng = Rng::new(5, 0);
        let mut facts = Facts::new(&alphabet);
        for _ in 0..300 {
            env.reset(&mut rng);
            observe(env.as_ref(), &mut facts);
            let actions: Arc<[GroundAction]> = env.universe().ground_actions(&alphabet).into();
            let chosen: Vec<usize> =
                nlrl.deduction.slots.iter().map(|s| rng.below(s.clauses.len())).collect();
            let mut weights = vec![0.0; nlrl.parameters()];
            for (slot, &c) in nlrl.deduction.slots.iter().zip(&chosen) {
                weights[slot.at + c] = 1.0;
            }
            let world = nlrl.world(env.universe(), &actions);
            let state = nlrl.state(&world, &facts);
            let mut tape = Tape::default();
            let pi = nlrl.forward(&weights, &world, &state, &mut Scratch::default(), &mut tape).to_vec();
            let naive = naive(&nlrl, &chosen, &facts, env.universe(), &actions);
            // Derived actions share all of pi; with none, all actions share it.
            let count = naive.iter().filter(|d| **d).count();
            derived += count;
            for (p, d) in pi.iter().zip(&naive) {
                let expected = match (count, d) {
                    (0, _) => 1.0 / pi.len() as f64,
                    (_, true) => 1.0 / count as f64,
                    (_, false) => 0.0,
                };
                assert!((p - expected).abs() < 1e-12, "{}: {pi:?} {naive:?}", spec.name());
            }
        }
    }
    assert!(derived > 50, "the test sees actions derived: {derived}");
}
