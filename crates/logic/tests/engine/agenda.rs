//! An agenda decides as the decider does, whatever the rules and however facts change.

use super::*;
use derrl_logic::{Agenda, EveryAction, Source, legal_actions};

/// What an agenda would do, with all ties listed.
fn decision(agenda: &mut Agenda) -> Decision {
    let best = agenda.best();
    let ties = if best.fires() { (0..best.len()).map(|k| best.nth(k)).collect() } else { Vec::new() };
    Decision { value: best.value(), ties }
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn agendas_decide_as_deciders_do(
        world in world(),
        raw in vec(raw_rule(), 1..6),
        variables in 1..=MOST_VARIABLES,
        changes in vec((0..6usize, prop::array::uniform3(0..60usize)), 0..25),
        reload in 0..40usize,
    ) {
        let World { alphabet, universe, facts } = &world;
        let policy = policy(alphabet, variables, &raw);
        let decider = Decider::new(&policy, alphabet, universe);
        let mut agenda = Agenda::new(&policy, alphabet, universe).expect("five objects fit");
        let mut facts = facts.clone();
        agenda.load(&facts);
        prop_assert_eq!(decision(&mut agenda), decider.decide(&facts, alphabet, universe));
        for (step, &(pred, args)) in changes.iter().enumerate() {
            let pred = Pred((pred % alphabet.predicates.len()) as u32);
            let arity = alphabet.predicate(pred).args.len();
            if arity > 0 && universe.is_empty() {
                continue;
            }
            let args: Vec<Object> =
                args.iter().take(arity).map(|o| Object((o % universe.len().max(1)) as u32)).collect();
            let holds = facts.flip(pred, &args);
            agenda.change(pred, &args, holds);
            // Saying it twice changes nothing.
            agenda.change(pred, &args, holds);
            if step == reload {
                agenda.load(&facts);
            }
            // Several changes may come before a decision is asked for.
            if step % 3 != 1 {
                prop_assert_eq!(decision(&mut agenda), decider.decide(&facts, alphabet, universe));
            }
        }
        prop_assert_eq!(decision(&mut agenda), decider.decide(&facts, alphabet, universe));
    }

    #[test]
    fn every_action_is_found_by_its_number(world in world()) {
        let all = world.universe.ground_actions(&world.alphabet);
        let every = EveryAction::new(&world.alphabet, &world.universe);
        prop_assert_eq!((0..every.len()).map(|k| every.nth(k)).collect::<Vec<_>>(), all);
    }
}

/// Rows of a wide rule are counted, not listed: a billion actions take no time.
#[test]
fn open_arguments_are_not_enumerated() {
    let text = ":- action(move(block, place)). :- state(top(block)). :- state(hot(place)). :- subtype(block, place).";
    let blocks = Alphabet::parse(&derrl_logic::Source::new("d.pl", text)).expect("it parses");
    let policy = "move(X, Y) :- top(X), \\+ hot(Y).";
    let policy = Policy::parse(&derrl_logic::Source::new("p.pl", policy), &blocks).expect("it parses");
    let n = 50_000u32;
    let block = blocks.types.find("block").expect("it is declared");
    let universe = Universe::new((0..n).map(|i| (Constant::Int(i64::from(i)), block)).collect());
    let (top, hot) = (Pred(0), Pred(1));
    let mut agenda = Agenda::new(&policy, &blocks, &universe).expect("pairs fit");
    agenda.load(&Facts::new(&blocks));
    assert_eq!(agenda.best().len(), 50_000 * 49_999, "no rule fires: any action will do");
    for x in 0..20_000 {
        agenda.change(top, &[Object(x)], true);
    }
    assert_eq!(agenda.best().len(), 20_000 * 49_999);
    agenda.change(hot, &[Object(7)], true);
    // Each but block 7 itself has one place less.
    let best = agenda.best();
    assert_eq!(best.len(), 20_000 * 49_999 - 19_999);
    assert_eq!(best.nth(7).args, [Object(0), Object(9)]);
    assert_eq!(best.nth(best.len() - 1).args, [Object(19_999), Object(49_999)]);
    assert!(agenda.bytes() < 20_000_000, "{} bytes", agenda.bytes());
}

const FERRY: &str = "
    :- action(sail(location, location)). :- action(board(car, location)). :- action(debark(car, location)). :- action(wait).
    :- state(at_ferry(location)). :- state(at(car, location)). :- state(empty_ferry). :- state(on(car)).
    :- background(goal_at(car, location)). :- background(far(location, location)).
    :- legal(sail/2). :- legal(board/2). :- legal(debark/2). :- legal(wait/0).
    sail(L, M) :- at_ferry(L), \\+ far(L, M).
    sail(L, M) :- at_ferry(L), far(L, M), far(M, N).
    board(C, L) :- at(C, L), at_ferry(L), empty_ferry.
    debark(C, L) :- on(C), at_ferry(L).
    wait :- empty_ferry, at(C, L), at_ferry(L), goal_at(C, L).
";

/// Sailing alters nearly all actions that rules derive, boarding hardly any: whichever way a level is derived, decisions are the
/// same. Variables of a precondition may stand for objects of the rule.
#[test]
fn levels_that_change_as_a_whole_decide_the_same() {
    let alphabet = Alphabet::parse(&Source::new("d.pl", FERRY)).expect("it parses");
    let of = |t: &str| alphabet.types.find(t).expect("it is declared");
    let pred = |name: &str, arity| alphabet.find_predicate(name, arity).expect("it is declared");
    let (cars, places) = (30_u32, 40_u32);
    let names = (0..cars).map(|c| (Constant::Int(i64::from(c)), of("car")));
    let names = names.chain((0..places).map(|l| (Constant::Int(100 + i64::from(l)), of("location"))));
    let universe = Universe::new(names.collect());
    let place = |l: u32| Object(cars + l % places);
    for text in [
        "0.9::debark(C, L) :- goal_at(C, L).
         0.8::board(C, L) :- goal_at(C, M).
         0.7::sail(L, M) :- on(C), goal_at(C, M).
         0.6::sail(L, M) :- empty_ferry, at(C, M), goal_at(C, N).
         0.5::sail(L, M) :- empty_ferry, at(C, M), goal_at(C, L).",
        "0.9::sail(L, M) :- empty_ferry, \\+ at_ferry(M).
         0.9::sail(L, M) :- at(C, M), at(C, L).
         0.7::board(C, L) :- far(L, M).
         0.7::wait :- at(C, L), goal_at(C, M).",
        "0.9::board(C, L) :- goal_at(C, L), far(L, M).
         0.8::sail(L, M) :- far(M, 100), at(C, L).
         0.8::sail(L, M) :- on(C), \\+ goal_at(C, L), \\+ far(M, 101).",
        "0.9::wait :- on(C).",
    ] {
        let policy = Policy::parse(&Source::new("p.pl", text), &alphabet).expect("it parses");
        let decider = Decider::new(&policy, &alphabet, &universe);
        let mut agenda = Agenda::new(&policy, &alphabet, &universe).expect("pairs fit");
        let mut given = Facts::new(&alphabet);
        let (mut ferry, mut state) = (0, 12345_u32);
        let mut draw = |n: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) % n
        };
        let mut facts: Vec<(Pred, Vec<Object>)> = vec![(pred("at_ferry", 1), vec![place(0)])];
        facts.push((pred("empty_ferry", 0), Vec::new()));
        for c in 0..cars {
            facts.push((pred("at", 2), vec![Object(c), place(draw(places))]));
            facts.push((pred("goal_at", 2), vec![Object(c), place(draw(places))]));
        }
        for l in 0..places {
            facts.push((pred("far", 2), vec![place(l), place(l + 1 + draw(places - 1))]));
        }
        for (p, args) in &facts {
            given.push(*p, args);
        }
        given.seal();
        let sealed = |given: &Facts| {
            let mut facts = given.clone();
            facts.derive(&universe);
            facts
        };
        agenda.load(&sealed(&given));
        for step in 0..400 {
            let mut changes = Vec::new();
            match draw(4) {
                0 => changes.push((pred("empty_ferry", 0), Vec::new())),
                1 => changes.push((pred("on", 1), vec![Object(draw(cars))])),
                2 => changes.push((pred("at", 2), vec![Object(draw(cars)), place(draw(places))])),
                _ => {
                    changes.push((pred("at_ferry", 1), vec![place(ferry)]));
                    ferry = (ferry + 1 + draw(places - 1)) % places;
                    changes.push((pred("at_ferry", 1), vec![place(ferry)]));
                }
            }
            for (pred, args) in changes {
                let holds = given.flip(pred, &args);
                agenda.change(pred, &args, holds);
            }
            // Now and then nobody asks for a while.
            if step % 50 > 40 {
                continue;
            }
            let facts = sealed(&given);
            let decision = decider.decide(&facts, &alphabet, &universe);
            let best = agenda.best();
            let ties: Vec<_> = (0..best.len()).map(|k| best.nth(k)).collect();
            assert_eq!((best.value(), ties), (decision.value, decision.ties), "{text} at step {step}");
            if !best.fires() {
                assert_eq!(Some(best.len()), legal_actions(&facts, &alphabet, &universe).map(|l| l.len()));
            }
        }
    }
}

/// A kitchen of so many sandwiches, loaves and contents, all there, and what may be made of them.
fn kitchen(each: u32) -> (Alphabet, Universe, Facts) {
    let text = ":- action(make(sandwich, bread, content)). :- action(serve(sandwich)). :- state(there(item)).
        :- state(special(item)). :- state(open). :- derived(late(sandwich)). :- legal(make/3).
        :- subtype(sandwich, item). :- subtype(bread, item). :- subtype(content, item).
        make(S, B, C) :- open, there(S), there(B), there(C).
        late(S) :- special(S), \\+ there(S).";
    let alphabet = Alphabet::parse(&Source::new("kitchen.pl", text)).expect("it parses");
    let types = ["sandwich", "bread", "content"].map(|t| alphabet.types.find(t).expect("it is declared"));
    let objects = (0..3 * each).map(|i| (Constant::Int(i64::from(i)), types[(i / each) as usize]));
    let universe = Universe::new(objects.collect());
    let mut facts = Facts::new(&alphabet);
    for o in universe.objects() {
        facts.push(alphabet.find_predicate("there", 1).expect("it is declared"), &[o]);
    }
    facts.push(alphabet.find_predicate("open", 0).expect("it is declared"), &[]);
    facts.seal();
    (alphabet, universe, facts)
}

#[test]
fn what_falls_into_parts_is_not_listed_and_stays_the_same() {
    let (alphabet, universe, mut facts) = kitchen(20);
    let text = "0.9::make(S, B, C) :- \\+ special(B), \\+ special(C). 0.8::make(S, B, C) :- there(S).";
    let policy = Policy::parse(&Source::new("p.pl", text), &alphabet).expect("it parses");
    let decider = Decider::new(&policy, &alphabet, &universe);
    let mut agenda = Agenda::new(&policy, &alphabet, &universe).expect("few objects fit");
    agenda.load(&facts);
    let pred = |name: &str, arity| alphabet.find_predicate(name, arity).expect("it is declared");
    let (there, special, open) = (pred("there", 1), pred("special", 1), pred("open", 0));
    let all = universe.objects().collect::<Vec<_>>();
    // Some are special; the kitchen closes and opens again; nearly all is special, and all of it is.
    let mut changes = vec![(special, vec![all[25]]), (there, vec![all[3]]), (special, vec![all[59]])];
    changes.extend([(open, vec![]), (open, vec![])]);
    changes.extend((26..40).map(|i| (special, vec![all[i]])));
    changes.extend((20..25).map(|i| (special, vec![all[i]])));
    changes.push((special, vec![all[30]]));
    for (pred, args) in changes {
        facts.derive(&universe);
        assert_eq!(decision(&mut agenda), {
            let decision = decider.decide(&facts, &alphabet, &universe);
            if decision.value > 0.0 { decision } else { Decision { value: 0.0, ties: Vec::new() } }
        });
        let holds = facts.flip(pred, &args);
        agenda.change(pred, &args, holds);
    }
}

#[test]
fn what_follows_is_known_where_too_much_is_legal_to_be_listed() {
    // 200 * 200 * 200 are legal: more than what is derived in one state.
    let (alphabet, universe, mut facts) = kitchen(200);
    let text = "0.9::serve(S) :- late(S). 0.8::make(S, B, C) :- there(S).";
    let policy = Policy::parse(&Source::new("p.pl", text), &alphabet).expect("it parses");
    let mut agenda = Agenda::new(&policy, &alphabet, &universe).expect("few objects fit");
    agenda.load(&facts);
    assert!(agenda.bytes() < 10_000_000, "{}", agenda.bytes());
    assert_eq!((agenda.best().value(), agenda.best().len()), (0.8, 8_000_000));
    assert!(agenda.bytes() < 10_000_000, "{}", agenda.bytes());
    let first = universe.objects().next().expect("there are some");
    facts.flip(alphabet.find_predicate("there", 1).expect("it is declared"), &[first]);
    facts.flip(alphabet.find_predicate("special", 1).expect("it is declared"), &[first]);
    agenda.load(&facts);
    assert_eq!((agenda.best().value(), agenda.best().len()), (0.9, 1));
    assert!(agenda.fault().is_none());
}
