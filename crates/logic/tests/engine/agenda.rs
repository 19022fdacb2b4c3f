//! An agenda decides as the decider does, whatever the rules and however facts change.

use super::*;
use derrl_logic::{Agenda, EveryAction};

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
