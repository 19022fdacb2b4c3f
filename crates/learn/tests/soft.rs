//! Soft facts: with probabilities of 0 and 1 they are facts, and the gradient to them is the slope.

use std::sync::Arc;

use derrl_env::{Rng, find, observe, observe_given};
use derrl_learn::{SoftPolicy, TNORMS, TNorm};
use derrl_logic::{Alphabet, Decider, Facts, Object, Policy, Pred, Source, Universe};
use proptest::prelude::*;

const RULES: &str = "
0.97::move(X, Y) :- top(X), top(Y), goal_on(X, Y).
0.64::move(X, Y) :- top(X), on(X, Z), isFloor(Y), \\+ goal_on(X, Z).
0.50::move(X, Y) :- on(X, floor), top(Y).
";

struct Instance {
    alphabet: Arc<Alphabet>,
    universe: Arc<Universe>,
    policy: Policy,
    /// All facts; the state of them is soft.
    all: Facts,
    certain: Facts,
    soft: Vec<(Pred, Vec<Object>)>,
}

/// A state of the world blocks in which what changes is soft, as is one atom that does not hold.
fn instance(seed: u64) -> Instance {
    let world = find("blocks").expect("it is in the table");
    let alphabet = world.alphabet_for(&Source::new("p.pl", RULES)).expect("it is read");
    let (policy, alphabet) = Policy::read(&Source::new("p.pl", RULES), &alphabet).expect("it is right");
    let mut env = world.make(&alphabet, "train", &derrl_env::Options::default()).expect("it can be made");
    env.reset(&mut Rng::new(seed, 0));
    let (mut all, mut given) = (Facts::new(&alphabet), Facts::new(&alphabet));
    observe(env.as_ref(), &mut all);
    observe_given(env.as_ref(), &mut given);
    let [on, top] = [("on", 2), ("top", 1)].map(|(n, a)| alphabet.find_predicate(n, a).expect("it has it"));
    let is_soft = |p: Pred| p == on || p == top;
    let soft = given.iter().filter(|(p, _)| is_soft(*p)).map(|(p, args)| (p, args.to_vec())).collect();
    let mut certain = Facts::new(&alphabet);
    given.iter().filter(|(p, _)| !is_soft(*p)).for_each(|(p, args)| certain.push(p, args));
    certain.seal();
    Instance { universe: Arc::clone(env.universe()), alphabet, policy, all, certain, soft }
}

impl Instance {
    fn soft_policy(&self, tnorm: TNorm) -> SoftPolicy {
        let place = (&*self.alphabet, &*self.universe);
        SoftPolicy::new(&self.policy, place, &self.certain, &self.soft, tnorm).expect("it has gradients")
    }
}

#[test]
fn certain_soft_facts_give_what_facts_give() {
    for seed in 0..50 {
        let here = instance(seed);
        for (tnorm, name) in TNORMS {
            let soft = here.soft_policy(tnorm);
            let values = soft.values(&vec![1.0; soft.soft()]);
            let highest = values.iter().copied().fold(0.0, f64::max);
            let decider = Decider::new(&here.policy, &here.alphabet, &here.universe);
            let decision = decider.decide_among(&here.all, &here.alphabet, &here.universe, None);
            assert_eq!(highest, decision.value, "{name}, seed {seed}");
            let best = soft.actions().iter().zip(&values).filter(|(_, f)| **f == highest && highest > 0.0);
            let best: Vec<_> = best.map(|(action, _)| action.clone()).collect();
            assert_eq!(best, decision.ties, "{name}, seed {seed}");
            assert!(soft.values(&vec![0.0; soft.soft()]).iter().all(|f| *f == 0.0));
        }
    }
}

#[test]
fn what_has_no_gradient_is_refused() {
    let text = ":- action(go(a)). :- state(p(a)). :- derived(q(a)). q(X) :- p(X). :- number(n).";
    let alphabet = Arc::new(Alphabet::parse(&Source::new("d.pl", text)).expect("it is right"));
    let universe = Universe::new(Vec::new());
    let p = alphabet.find_predicate("p", 1).expect("it is declared");
    for rules in ["go(X) :- q(X).", "go(X) :- p(X), n > 2."] {
        let (policy, alphabet) = Policy::read(&Source::new("p.pl", rules), &alphabet).expect("it is right");
        let facts = Facts::new(&alphabet);
        let soft = [(p, vec![Object(0)])];
        let refused =
            SoftPolicy::new(&policy, (&alphabet, &universe), &facts, &soft, TNorm::Product).map(|_| ());
        let error = refused.expect_err("it has none").to_string();
        assert!(error.contains("defined by `p`") || error.contains("compares numbers"), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn gradients_to_soft_facts_match_finite_differences(seed in 0u64..1000) {
        let here = instance(seed);
        let mut rng = Rng::new(seed, 1);
        for (tnorm, name) in TNORMS {
            let soft = here.soft_policy(tnorm);
            let v: Vec<f64> = (0..soft.soft()).map(|_| 0.3 + 0.7 * rng.unit()).collect();
            let d: Vec<f64> = soft.actions().iter().map(|_| rng.unit() - 0.5).collect();
            let gradient = soft.gradient(&v, &d);
            let at = |j: usize, h: f64| {
                let mut v = v.clone();
                v[j] += h;
                soft.values(&v).iter().zip(&d).map(|(f, d)| f * d).sum::<f64>()
            };
            for j in 0..v.len() {
                let (down, middle, up) = (at(j, -1e-6), at(j, 0.0), at(j, 1e-6));
                let sides = [(up - middle) / 1e-6, (middle - down) / 1e-6];
                let kink = (sides[0] - sides[1]).abs() > 1e-3;
                prop_assert!(kink || (gradient[j] - sides[0]).abs() < 1e-4, "{name}: {gradient:?} {sides:?}");
            }
        }
    }
}
