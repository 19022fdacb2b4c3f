//! What the engine derives is what a naive reading of the definitions derives: every clause with every assignment of distinct
//! objects, again and again until nothing new follows.

use super::*;
use derrl_logic::derive::{Derivation, Explainer, Maintained, Reason};
use derrl_logic::{Agenda, How, Source, legal_actions};
use std::fmt::Write as _;

const OBJECTS: usize = 5;

/// What the world gives: name and types. A `q` is a `p`.
const GIVEN: [(&str, &[&str]); 4] = [("e", &["p", "p"]), ("u", &["q"]), ("s", &["p", "q"]), ("n", &[])];

/// What clauses define, in pairs that may be defined by way of each other.
const DEFINED: [(&str, &[&str]); 6] = [
    ("d0", &["p"]),
    ("d1", &["p", "p"]),
    ("d2", &["q", "p"]),
    ("d3", &["p"]),
    ("d4", &["p", "p", "q"]),
    ("d5", &[]),
];

/// Numbers that become a clause: its head, then literals.
type RawClause = (usize, [usize; 3], Vec<(usize, bool, [usize; 3])>);

fn raw_clause() -> impl Strategy<Value = RawClause> {
    let terms = || prop::array::uniform3(0..60usize);
    (0..60usize, terms(), vec((0..60usize, prop::bool::weighted(0.75), terms()), 0..4))
}

/// A term: one of three variables, or now and then a constant that may be no object.
fn term(raw: usize) -> String {
    match raw % 8 {
        7 => MENTIONED[raw / 8 % MENTIONED.len()].to_string(),
        _ => ["X", "Y", "Z"][raw / 8 % 3].to_string(),
    }
}

fn atom(name: &str, args: &[String]) -> String {
    if args.is_empty() { name.to_string() } else { format!("{name}({})", args.join(", ")) }
}

/// A clause as text. Negated are only predicates of earlier pairs.
fn clause_text((head, terms, body): &RawClause) -> String {
    let at = head % DEFINED.len();
    let args =
        |terms: &[usize; 3], arity: usize| terms.iter().take(arity).map(|&t| term(t)).collect::<Vec<_>>();
    let (name, types) = DEFINED[at];
    let literals: Vec<String> = body
        .iter()
        .map(|(pred, positive, terms)| {
            let level = at / 2 * 2;
            let usable = GIVEN.len() + if *positive { level + 2 } else { level };
            let (name, types) =
                GIVEN.iter().chain(&DEFINED).nth(pred % usable).expect("it is below their number");
            format!("{}{}", if *positive { "" } else { "\\+ " }, atom(name, &args(terms, types.len())))
        })
        .collect();
    let head = atom(name, &args(terms, types.len()));
    if literals.is_empty() { format!("{head}.") } else { format!("{head} :- {}.", literals.join(", ")) }
}

/// A domain of these clauses; those that the reader refuses (unsafe, or of no type) are left out.
fn domain(clauses: &[RawClause]) -> Alphabet {
    let mut text = String::from(":- action(go). :- subtype(q, p). :- variables(3).\n");
    for (name, types) in GIVEN {
        let types: Vec<String> = types.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, ":- state({}).", atom(name, &types));
    }
    for (name, types) in DEFINED {
        let (types, vars): (Vec<String>, Vec<&str>) =
            (types.iter().map(ToString::to_string).collect(), ["X", "Y", "Z"][..types.len()].to_vec());
        // So that each has a definition: it never holds.
        let vars: Vec<String> = vars.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, ":- derived({}).\n{} :- n, \\+ n.", atom(name, &types), atom(name, &vars));
    }
    text += ":- closure(far, e). :- distance(nearer, e). :- distance(towards, d1, d0).\n";
    let parse = |text: &str| Alphabet::parse(&Source::new("d.pl", text));
    let mut alphabet = parse(&text).expect("the declarations are well-formed");
    for clause in clauses {
        let longer = format!("{text}{}\n", clause_text(clause));
        if let Ok(more) = parse(&longer) {
            (text, alphabet) = (longer, more);
        }
    }
    alphabet
}

fn universe(alphabet: &Alphabet, kinds: [bool; OBJECTS], count: usize) -> Universe {
    let of = |q: bool| alphabet.types.find(if q { "q" } else { "p" }).expect("both are declared");
    Universe::new((0..count).map(|i| (Constant::name(NAMES[i]), of(kinds[i]))).collect())
}

type Tuples = BTreeSet<(Pred, Vec<Object>)>;

/// The naive reading.
fn oracle(alphabet: &Alphabet, universe: &Universe, given: &Tuples) -> Tuples {
    let program = alphabet.program.as_ref().expect("something is derived");
    let mut holds = given.clone();
    let of_type = |o: Object, t: Type| alphabet.types.is_subtype(universe.type_of(o), t);
    let mut rounds: Vec<Vec<&str>> = DEFINED.chunks(2).map(|c| c.iter().map(|d| d.0).collect()).collect();
    rounds.push(vec!["far", "nearer", "towards"]);
    for round in rounds {
        loop {
            let mut new = Vec::new();
            for d in program.definitions() {
                let decl = alphabet.predicate(d.pred);
                if !round.contains(&decl.name.as_str()) {
                    continue;
                }
                match &d.how {
                    How::Clause(clause) => {
                        assign(clause.variables, universe, &mut Vec::new(), &mut |phi| {
                            let value = |arg: &Arg| match arg {
                                Arg::Var(v) => Some(phi[v.0 as usize]),
                                Arg::Const(c) => universe.find(c),
                            };
                            let tuple =
                                |args: &[Arg]| args.iter().map(value).collect::<Option<Vec<Object>>>();
                            // Distinct terms stand for distinct objects.
                            let named: Vec<&Constant> = clause
                                .head
                                .iter()
                                .chain(clause.body.iter().flat_map(|l| &l.args))
                                .filter_map(|a| if let Arg::Const(c) = a { Some(c) } else { None })
                                .collect();
                            let apart = phi.iter().all(|&o| !named.contains(&universe.name(o)));
                            let body = clause.body.iter().all(|l| {
                                tuple(&l.args).is_some_and(|t| holds.contains(&(l.pred, t))) == l.positive
                            });
                            if let (true, true, Some(t)) = (apart, body, tuple(&clause.head))
                                && t.iter().zip(&decl.args).all(|(&o, &t)| of_type(o, t))
                            {
                                new.push((d.pred, t));
                            }
                        });
                    }
                    How::Compare(_) => unreachable!("the domain declares no numbers"),
                    How::Closure { of } => {
                        for a in universe.objects() {
                            let ends = distances(*of, universe, &holds, a);
                            let reached =
                                universe.objects().filter(|&b| b != a && ends[b.0 as usize].is_some());
                            new.extend(reached.map(|b| (d.pred, vec![a, b])));
                        }
                    }
                    How::Distance { along, to } => {
                        for (_, t) in holds.iter().filter(|(p, _)| p == along) {
                            let (x, y) = (
                                distances(*along, universe, &holds, t[0]),
                                distances(*along, universe, &holds, t[1]),
                            );
                            let nearer = |from: Option<usize>, then: Option<usize>| {
                                then.is_some_and(|n| from > Some(n))
                            };
                            match to {
                                None => {
                                    let goals = universe.objects();
                                    let goals = goals.filter(|z| nearer(x[z.0 as usize], y[z.0 as usize]));
                                    new.extend(goals.map(|z| (d.pred, vec![t[0], t[1], z])));
                                }
                                Some(to) => {
                                    let goals = || {
                                        holds.iter().filter(|(p, _)| p == to).map(|(_, g)| g[0].0 as usize)
                                    };
                                    let best = |d: &[Option<usize>]| goals().filter_map(|g| d[g]).min();
                                    if nearer(best(&x), best(&y)) {
                                        new.push((d.pred, t.clone()));
                                    }
                                }
                            }
                        }
                    }
                }
            }
            let before = holds.len();
            holds.extend(new);
            if holds.len() == before {
                break;
            }
        }
    }
    holds
}

/// The fewest steps from an object to each other one, by relaxing all steps again and again.
fn distances(along: Pred, universe: &Universe, holds: &Tuples, from: Object) -> Vec<Option<usize>> {
    let mut d = vec![None; universe.len()];
    d[from.0 as usize] = Some(0);
    for _ in 0..universe.len() {
        for (_, t) in holds.iter().filter(|(p, _)| *p == along) {
            let (a, b) = (t[0].0 as usize, t[1].0 as usize);
            if let Some(n) = d[a] {
                d[b] = Some(d[b].map_or(n + 1, |m: usize| m.min(n + 1)));
            }
        }
    }
    d
}

fn assign(left: usize, universe: &Universe, phi: &mut Vec<Object>, emit: &mut dyn FnMut(&[Object])) {
    if left == 0 {
        return emit(phi);
    }
    for o in universe.objects() {
        if !phi.contains(&o) {
            phi.push(o);
            assign(left - 1, universe, phi, emit);
            phi.pop();
        }
    }
}

/// Facts that respect types.
fn given(alphabet: &Alphabet, universe: &Universe, raw: &[(usize, [usize; 3])]) -> Tuples {
    let mut facts = Tuples::new();
    for &(pred, args) in raw {
        let pred = Pred((pred % GIVEN.len()) as u32);
        let types = &alphabet.predicate(pred).args;
        let args: Option<Vec<Object>> = types
            .iter()
            .zip(args)
            .map(|(&t, o)| {
                let fit: Vec<Object> = universe
                    .objects()
                    .filter(|&o| alphabet.types.is_subtype(universe.type_of(o), t))
                    .collect();
                fit.get(o % fit.len().max(1)).copied()
            })
            .collect();
        facts.extend(args.map(|args| (pred, args)));
    }
    facts
}

fn sealed(alphabet: &Alphabet, universe: &Universe, tuples: &Tuples) -> Facts {
    let mut facts = Facts::new(alphabet);
    for (p, t) in tuples {
        facts.push(*p, t);
    }
    facts.seal();
    facts.derive(universe);
    assert!(facts.fault().is_none(), "five objects derive little");
    facts
}

fn all(facts: &Facts) -> Tuples {
    facts.iter().map(|(p, t)| (p, t.to_vec())).collect()
}

/// The fact that numbers stand for, one that respects types.
fn change(alphabet: &Alphabet, universe: &Universe, raw: (usize, [usize; 3])) -> Option<(Pred, Vec<Object>)> {
    given(alphabet, universe, &[raw]).pop_first()
}

/// A whole explanation is one of facts that hold, and comes down to given ones.
fn check(why: &Derivation, facts: &Facts, alphabet: &Alphabet, depth: usize) {
    assert!(depth < 200, "explanations are well-founded");
    assert_eq!(facts.holds(why.pred, &why.args), why.holds, "{why:?}");
    match &why.reason {
        Reason::Given => assert!(alphabet.predicate(why.pred).role.is_given()),
        Reason::Absent => assert!(!why.holds),
        Reason::Clause { definition, substitution, premises } => {
            let How::Clause(clause) = &alphabet.definitions()[*definition].how else {
                panic!("not a clause")
            };
            assert_eq!(alphabet.definitions()[*definition].pred, why.pred);
            assert_eq!(substitution.len(), clause.variables);
            for p in premises {
                check(p, facts, alphabet, depth + 1);
            }
        }
        Reason::Way { steps } => {
            assert_eq!((&steps[0].args[0], &steps[steps.len() - 1].args[1]), (&why.args[0], &why.args[1]));
            assert!(steps.windows(2).all(|s| s[0].args[1] == s[1].args[0]));
            for s in steps {
                check(s, facts, alphabet, depth + 1);
            }
        }
        Reason::Nearer { before, after, .. } => assert_eq!(*before, after + 1),
        Reason::Cut => panic!("small explanations are whole"),
    }
}

proptest! {
    #![proptest_config(config(800))]

    #[test]
    fn the_engine_derives_what_definitions_say(
        clauses in vec(raw_clause(), 1..14),
        kinds in prop::array::uniform5(any::<bool>()),
        count in 1..=OBJECTS,
        raw in vec((0..60usize, prop::array::uniform3(0..60usize)), 0..16),
    ) {
        let alphabet = domain(&clauses);
        let universe = universe(&alphabet, kinds, count);
        let given = given(&alphabet, &universe, &raw);
        let facts = sealed(&alphabet, &universe, &given);
        prop_assert_eq!(all(&facts), oracle(&alphabet, &universe, &given), "{}", alphabet);

        // Text round-trips, definitions included.
        let again = Alphabet::parse(&Source::new("again.pl", alphabet.to_string()));
        prop_assert_eq!(again.as_ref(), Ok(&alphabet), "{}", alphabet);

        // Whatever holds has a well-founded explanation.
        let program = alphabet.program.as_ref().expect("something is derived");
        let mut explainer = Explainer::new(program, &facts, &universe).expect("little is derived");
        for (pred, args) in facts.iter() {
            let why = explainer.why(pred, args, 100_000).expect("it holds");
            prop_assert_eq!(why.pred, pred);
            check(&why, &facts, &alphabet, 0);
        }
    }

    #[test]
    fn incremental_derivation_agrees_with_evaluation(
        clauses in vec(raw_clause(), 1..14),
        kinds in prop::array::uniform5(any::<bool>()),
        count in 1..=OBJECTS,
        raw in vec((0..60usize, prop::array::uniform3(0..60usize)), 0..16),
        changes in vec((0..60usize, prop::array::uniform3(0..60usize)), 0..30),
        batch in 1..4usize,
    ) {
        let alphabet = domain(&clauses);
        let universe = universe(&alphabet, kinds, count);
        let mut given = given(&alphabet, &universe, &raw);
        let program = alphabet.program.as_ref().expect("something is derived");
        let asked = (0..alphabet.predicates.len() as u32).map(Pred);
        let mut maintained = Maintained::new(program, &universe, asked).expect("facts fit");
        let facts = sealed(&alphabet, &universe, &given);
        maintained.load(&facts).expect("little is derived");
        let mut holds = all(&facts);
        for (step, &raw) in changes.iter().enumerate() {
            if let Some((pred, args)) = change(&alphabet, &universe, raw) {
                let now = !given.contains(&(pred, args.clone()));
                maintained.change(pred, &args, now);
                let fact = (pred, args);
                if now { given.insert(fact.clone()); holds.insert(fact); } else { given.remove(&fact); holds.remove(&fact); }
            }
            if step % batch != 0 {
                continue;
            }
            let mut twice = None;
            maintained.settle(&mut |pred, args, now| {
                let fact = (pred, args.to_vec());
                let news = if now { holds.insert(fact.clone()) } else { holds.remove(&fact) };
                if !news { twice = Some(fact); }
            }).expect("little is derived");
            prop_assert_eq!(twice, None);
            prop_assert_eq!(&holds, &all(&sealed(&alphabet, &universe, &given)), "{}", alphabet);
        }
    }

    #[test]
    fn agendas_decide_as_deciders_do_with_derived_facts(
        clauses in vec(raw_clause(), 1..10),
        legal in vec(raw_clause(), 0..3),
        rules in vec((1..4u8, raw_clause()), 1..4),
        kinds in prop::array::uniform5(any::<bool>()),
        count in 1..=OBJECTS,
        raw in vec((0..60usize, prop::array::uniform3(0..60usize)), 0..16),
        changes in vec((0..60usize, prop::array::uniform3(0..60usize)), 0..20),
    ) {
        // The same clauses say what is legal and what to do: `d2` becomes the action `act/2`, `d5` the action `stay`.
        let as_action = |(_, terms, body): &RawClause| {
            let text = clause_text(&(2 + 6 * (terms[0] % 2), *terms, body.clone()));
            let (_, body) = text.trim_end_matches('.').split_once(" :- ").unwrap_or(("", "n"));
            if terms[1] % 5 == 0 { format!("stay :- {body}.") } else { format!("act(X, Y) :- {body}.") }
        };
        // Legality may also be said of a constant or of equal arguments.
        let as_legality = |clause: &RawClause| {
            let text = as_action(clause);
            match clause.1[2] % 8 {
                0 => text.replace("act(X, Y)", &format!("act(X, {})", MENTIONED[clause.1[2] / 8 % MENTIONED.len()])),
                1 => text.replace("act(X, Y)", "act(Y, Y)"),
                _ => text,
            }
        };
        let base = domain(&clauses).to_string();
        let mut text = format!("{base}:- action(act(p, q)). :- action(stay).\n");
        let parse = |text: &str| Alphabet::parse(&Source::new("d.pl", text));
        for clause in &legal {
            let clause = as_legality(clause);
            let name = if clause.starts_with("act") { "act/2" } else { "stay/0" };
            let declares = format!(":- legal({name}).");
            let declares = if text.contains(&declares) { String::new() } else { declares };
            let longer = format!("{text}{declares}\n{clause}\n");
            if parse(&longer).is_ok() {
                text = longer;
            }
        }
        let alphabet = parse(&text).expect("it was parsed before");
        let mut policy = Policy::default();
        for (weight, clause) in &rules {
            let rule = format!("0.{weight}::{}", as_action(clause));
            if let Ok(one) = Policy::parse(&Source::new("p.pl", rule), &alphabet) {
                policy.rules.extend(one.rules);
            }
        }
        let universe = universe(&alphabet, kinds, count);
        let mut given = given(&alphabet, &universe, &raw);
        let decider = Decider::new(&policy, &alphabet, &universe);
        let mut agenda = Agenda::new(&policy, &alphabet, &universe).expect("five objects fit");
        agenda.load(&sealed(&alphabet, &universe, &given));
        for raw in changes.iter().copied().map(Some).chain([None]) {
            let facts = sealed(&alphabet, &universe, &given);
            let decision = decider.decide(&facts, &alphabet, &universe);
            let best = agenda.best();
            prop_assert_eq!(best.value(), decision.value);
            let expected = if decision.ties.is_empty() { universe.ground_actions(&alphabet) } else { decision.ties };
            prop_assert_eq!((0..best.len()).map(|k| best.nth(k)).collect::<Vec<_>>(), expected.clone(), "{}", alphabet);
            if let Some(legal) = legal_actions(&facts, &alphabet, &universe).filter(|l| !l.is_empty()) {
                prop_assert!(expected.iter().all(|a| legal.contains(a)));
            }
            if let Some((pred, args)) = raw.and_then(|raw| change(&alphabet, &universe, raw)) {
                let fact = (pred, args);
                let now = !given.remove(&fact);
                agenda.change(fact.0, &fact.1, now);
                if now { given.insert(fact); }
            }
        }
    }
}
