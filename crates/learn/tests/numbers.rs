//! Explanations of rules that compare numbers and choose by them.

use std::sync::Arc;

use derrl_env::Rng;
use derrl_learn::{Bounds, Explainer, Found, Reason, Standing};
use derrl_logic::{
    Alphabet, Decider, Facts, GroundAction, Measure, Policy, Source, Universe, parse_ground_action,
    parse_state,
};

const DOMAIN: &str = "
    :- action(left). :- action(right). :- action(green(phase)).
    :- state(current(phase)). :- state(broken(phase)).
    :- number(angle). :- number(spin). :- number(queue(phase), cars). :- number(near(phase), cars).";

struct Case {
    alphabet: Arc<Alphabet>,
    policy: Policy,
    universe: Universe,
    facts: Facts,
}

fn case(policy: &str, state: &str) -> Case {
    case_in(DOMAIN, policy, state)
}

fn case_in(domain: &str, policy: &str, state: &str) -> Case {
    let domain = Arc::new(Alphabet::parse(&Source::new("d.pl", domain)).expect("it is well-formed"));
    let read = Policy::read(&Source::new("policy.pl", policy), &domain).unwrap_or_else(|e| panic!("{e}"));
    let (policy, alphabet) = read;
    let (universe, facts) =
        parse_state(&Source::new("state.pl", state), &alphabet).unwrap_or_else(|e| panic!("{e}"));
    Case { alphabet, policy, universe, facts }
}

impl Case {
    fn explainer(&self) -> Explainer<'_> {
        Explainer::new(&self.policy, &self.alphabet)
    }

    fn action(&self, text: &str) -> GroundAction {
        let (action, names) = parse_ground_action(text, &self.alphabet).expect("it is an action");
        let args = names.iter().map(|n| self.universe.find(n).expect("it is an object")).collect();
        GroundAction { action, args }
    }

    fn is_best(&self, facts: &Facts, action: &GroundAction) -> bool {
        let decider = Decider::new(&self.policy, &self.alphabet, &self.universe);
        let decision = decider.decide(facts, &self.alphabet, &self.universe);
        decision.value > 0.0 && decision.ties.contains(action)
    }
}

#[test]
fn readings_say_what_a_number_is_and_needs() {
    let case = case(
        "0.9::right :- angle > 0.02, spin =< 1, \\+ spin < -5. 0.5::left :- spin >= -2.",
        "angle = 0.013. spin = 0.5.",
    );
    let why = case.explainer().why_not(&case.action("right"), 0.5, &case.facts, &case.universe);
    assert_eq!((why.reason, why.failed), (Reason::Failed, vec!["angle > 0.02".to_string()]));
    let nearest = why.nearest.expect("a rule is about it");
    let words: Vec<&str> = nearest.readings.iter().map(|r| r.words.as_str()).collect();
    assert_eq!(
        words,
        ["angle is 0.013, needs more than 0.02", "spin is 0.5, at most 1", "spin is 0.5, at least -5"]
    );
    let fired = case.explainer().fired(&case.action("left"), &case.facts, &case.universe).expect("it fires");
    assert_eq!(fired.readings[0].words, "spin is 0.5, at least -2");
    assert_eq!(fired.because, [""; 0], "what a number is needs no derivation");
}

#[test]
fn a_number_that_is_not_reported_is_said() {
    let case = case("right :- angle > 0.02. left :- spin < 5.", "spin = 0.5.");
    let why = case.explainer().why_not(&case.action("right"), 1.0, &case.facts, &case.universe);
    assert_eq!(why.nearest.expect("a rule is about it").readings[0].words, "angle is not reported");
}

#[test]
fn choices_are_told_by_what_they_fall_on() {
    let case = case(
        "green(P) :- current(Q), near(P) > near(Q), most(queue(P)).",
        "current(p1). near(p1) = 1. near(p2) = 2. near(p3) = 3. queue(p1) = 9. queue(p2) = 4. queue(p3) = 7.",
    );
    let (universe, facts) = (&case.universe, &case.facts);
    let fired = case.explainer().fired(&case.action("green(p3)"), facts, universe).expect("it fires");
    assert_eq!(fired.body, ["current(p1)", "near(p3) > near(p1)", "most(queue(p3))"]);
    assert_eq!(case.explainer().fired(&case.action("green(p2)"), facts, universe), None);
    let why = case.explainer().why_not(&case.action("green(p2)"), 1.0, facts, universe);
    assert_eq!((why.reason, why.failed), (Reason::Failed, vec!["most(queue(p2))".to_string()]));
    let what_if = case.explainer().what_if(&case.action("green(p2)"), facts, universe, Bounds::default());
    let changes: Vec<(&str, f64)> = what_if.numbers.iter().map(|n| (n.of.as_str(), n.to)).collect();
    // Alone or as a tie: as many on p2 as on p3, or as few on p3.
    assert!(
        changes.starts_with(&[("queue(p2)", 7.0), ("queue(p3)", 4.0)]) || changes[0].1 == 1.0,
        "{changes:?}"
    );
}

/// Three rules and a state, drawn at random.
fn drawn(rng: &mut Rng) -> (Vec<String>, String) {
    let number = |rng: &mut Rng| (rng.below(17) as f64 - 8.0) / 4.0;
    let conditions = |rng: &mut Rng| {
        let all = [
            format!("angle > {}", number(rng)),
            format!("spin =< {}", number(rng)),
            format!("angle + 0.5*spin < {}", number(rng)),
            format!("angle - spin >= {}", number(rng)),
            format!("\\+ 3*spin < {}", number(rng)),
            format!("current(p1), queue(p1) > near(p1) + {}", number(rng)),
        ];
        (0..=rng.below(2)).map(|_| all[rng.below(all.len())].clone()).collect::<Vec<_>>().join(", ")
    };
    let rules: Vec<String> = (0..3)
        .map(|at| format!("0.{}::{} :- {}.", 9 - at, ["left", "right"][rng.below(2)], conditions(rng)))
        .collect();
    let state = format!(
        "current(p1). angle = {}. spin = {}. queue(p1) = {}. near(p1) = {}.",
        number(rng),
        number(rng),
        number(rng),
        number(rng)
    );
    (rules, state)
}

#[test]
fn the_least_change_of_a_number_turns_the_decision_and_no_smaller_one_does() {
    let mut rng = Rng::new(5, 0);
    let mut found = 0;
    for round in 0..40 {
        let (rules, state) = drawn(&mut rng);
        let case = case(&rules.join("\n"), &state);
        for action in ["left", "right"].map(|name| case.action(name)) {
            let what_if = case.explainer().what_if(&action, &case.facts, &case.universe, Bounds::default());
            if matches!(what_if.now, Standing::Alone | Standing::Tie) {
                assert!(what_if.numbers.is_empty() && what_if.chosen == Found::Already);
                continue;
            }
            let after = |measure: Measure, to: f64| {
                let mut facts = case.facts.clone();
                facts.change(measure, if measure.0 < 2 { &[] } else { &[derrl_logic::Object(0)] }, Some(to));
                facts.derive(&case.universe);
                case.is_best(&facts, &action)
            };
            for (at, name) in ["angle", "spin", "queue(p1)", "near(p1)"].into_iter().enumerate() {
                let measure = Measure(at as u32);
                let change = what_if.numbers.iter().find(|n| n.of == name);
                if let Some(change) = change {
                    found += 1;
                    assert!(after(measure, change.to), "{round}: {change:?} in {state} by {rules:?}");
                }
                // Nothing nearer does, on a fine grid that holds all turning points and their neighbours.
                let now = case.facts.get(measure, if at < 2 { &[] } else { &[derrl_logic::Object(0)] });
                let now = now.expect("it is reported");
                let nearer = change.map_or(f64::INFINITY, |c| (c.to - now).abs());
                for step in -1536..1536 {
                    let to = f64::from(step) / 96.0;
                    if (to - now).abs() < nearer - 1e-9 {
                        assert!(!after(measure, to), "{round}: {name} = {to} turns {state} by {rules:?}");
                    }
                }
            }
        }
    }
    assert!(found > 25, "{found}");
}

#[test]
fn within_its_leeway_a_number_turns_nothing_and_beyond_it_does() {
    let mut rng = Rng::new(6, 0);
    let mut ends = 0;
    for round in 0..40 {
        let (rules, state) = drawn(&mut rng);
        let case = case(&rules.join("\n"), &state);
        let decider = Decider::new(&case.policy, &case.alphabet, &case.universe);
        let best = |facts: &Facts| decider.decide_among(facts, &case.alphabet, &case.universe, None).ties;
        let chosen = best(&case.facts);
        let all = case.explainer().leeway(&case.facts, &case.universe);
        assert!(all.is_sorted_by(|a, b| a.room() <= b.room()), "{all:?}");
        for (at, name) in ["angle", "spin", "queue(p1)", "near(p1)"].into_iter().enumerate() {
            let args: &[derrl_logic::Object] = if at < 2 { &[] } else { &[derrl_logic::Object(0)] };
            let same = |to: f64| {
                let mut facts = case.facts.clone();
                facts.change(Measure(at as u32), args, Some(to));
                facts.derive(&case.universe);
                best(&facts) == chosen
            };
            let leeway = all.iter().find(|l| l.of == name);
            let (down, up) = leeway.map_or((None, None), |l| (l.down, l.up));
            for step in -1536..1536 {
                let to = f64::from(step) / 96.0;
                if down.is_none_or(|down| to > down) && up.is_none_or(|up| to < up) {
                    assert!(same(to), "{round}: {name} = {to} turns {state} by {rules:?}");
                }
            }
            for (end, beyond) in [(down, -1e-6), (up, 1e-6)] {
                let Some(end) = end else { continue };
                ends += 1;
                assert!(!same(end) || !same(end + beyond), "{round}: {name} at {end}, {state} by {rules:?}");
            }
        }
    }
    assert!(ends > 25, "{ends}");
}

/// How far numbers may be off is found by many decisions. Where these take too much work, nothing is said.
#[test]
fn leeway_takes_so_much_work_and_no_more() {
    let domain = ":- action(green(phase)). :- state(beside(phase, phase)). :- number(queue(phase), cars).";
    let leeway = |roads: usize| {
        let names = || (0..roads).map(|i| format!("p{i}"));
        let state: Vec<String> = names().map(|p| format!("beside({p}, q). queue({p}) = 3. ")).collect();
        // One more road is asked for than there are.
        let all = ('A'..).take(roads).map(|v| format!(", beside({v}, Y)")).collect::<Vec<_>>().concat();
        let rules = format!("0.9::green(X) :- beside(X, Y){all}. 0.5::green(X) :- queue(X) > 2.");
        let case = case_in(domain, &rules, &state.concat());
        case.explainer().leeway(&case.facts, &case.universe).len()
    };
    assert_eq!((leeway(4), leeway(10)), (4, 0));
}
