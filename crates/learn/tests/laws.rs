//! Laws that hold for every row of a table.

use std::sync::Arc;

use derrl_env::{Options, Rng, Status, World, observe};
use derrl_learn::{
    Config, Constraints, GroundAtoms, Learner, Network, Problem, Sampler, SlotId, States, TNORMS, TNorm,
    gumbel_max, length, prune, valuations, value,
};
use derrl_logic::{Action, Decider, Facts, Grounder, Policy, Rule};
use proptest::prelude::*;

/// Worlds that need no other program.
fn worlds() -> impl Iterator<Item = &'static World> {
    // Without comparisons there are no atoms about numbers.
    derrl_env::worlds().iter().filter(|s| s.name() != "traffic" && s.alphabet().measures.is_empty())
}

proptest! {
    #[test]
    fn t_norms_are_t_norms(a in 0.0..=1.0f64, b in 0.0..=1.0f64, c in 0.0..=1.0f64) {
        for (t, name) in TNORMS {
            let and = |x: f64, y: f64| t.value(&[x, y], &[1.0, 1.0]);
            let near = |x: f64, y: f64| (x - y).abs() < 1e-12;
            prop_assert!(near(and(a, b), and(b, a)), "{name} is commutative");
            prop_assert!(near(and(and(a, b), c), and(a, and(b, c))), "{name} is associative");
            prop_assert!(and(a.min(b), c) <= and(a.max(b), c), "{name} is monotone");
            prop_assert!(near(and(a, 1.0), a), "{name} has unit 1");
            prop_assert!(near(and(a, 0.0), 0.0), "{name} has zero 0");
            let folded = and(and(a, b), c);
            prop_assert!(near(t.value(&[a, b, c], &[1.0; 3]), folded), "{name} of three is {name} of two, twice");
        }
    }

    #[test]
    fn t_norm_gradients_match_finite_differences(y in prop::collection::vec(0.05..1.0f64, 1..5), seed in 0u64..1000) {
        let mut rng = Rng::new(seed, 0);
        let w: Vec<f64> = y.iter().map(|_| 0.5 + 0.5 * rng.unit()).collect();
        for (t, name) in TNORMS {
            let mut gradient = vec![0.0; y.len()];
            t.gradient(&y, &w, &mut gradient);
            for j in 0..y.len() {
                let at = |h: f64| {
                    let mut w = w.clone();
                    w[j] += h;
                    t.value(&y, &w)
                };
                let (down, here, up) = (at(-1e-6), at(0.0), at(1e-6));
                let one_sided = [(up - here) / 1e-6, (here - down) / 1e-6];
                let kink = (one_sided[0] - one_sided[1]).abs() > 1e-3;
                prop_assert!(kink || (gradient[j] - one_sided[0]).abs() < 1e-4, "{name}: {gradient:?} {one_sided:?}");
            }
        }
    }

    #[test]
    fn network_gradients_match_finite_differences(
        inputs in 1usize..4,
        hidden in prop::collection::vec(1usize..5, 0..3),
        outputs in 1usize..5,
        seed in 0u64..1000,
    ) {
        let network = Network::new(inputs, &hidden, outputs);
        let mut rng = Rng::new(seed, 0);
        let theta = network.initial(0.7, &mut rng);
        prop_assert_eq!(theta.len(), network.len());
        let input = rng.below(inputs);
        let d: Vec<f64> = (0..outputs).map(|_| rng.unit() - 0.5).collect();
        let loss = |theta: &[f64]| network.forward(theta, input).iter().zip(&d).map(|(o, d)| o * d).sum::<f64>();
        let mut gradient = vec![0.0; theta.len()];
        network.backward(&theta, input, &d, &mut gradient);
        for i in 0..theta.len() {
            let mut moved = theta.clone();
            moved[i] += 1e-6;
            let up = loss(&moved);
            moved[i] -= 2e-6;
            let expected = (up - loss(&moved)) / 2e-6;
            prop_assert!((gradient[i] - expected).abs() < 1e-6, "parameter {i}: {} and {expected}", gradient[i]);
        }
    }
}

#[test]
fn with_no_hidden_layer_a_slot_has_2m_parameters() {
    assert_eq!(Network::new(1, &[], 2 * 24).len(), 2 * 24);
}

#[test]
fn bulk_samples_have_the_distribution_of_the_gumbel_max_trick() {
    const N: usize = 40_000;
    let p: Vec<f64> = (0..70).map(|j| [0.0, 0.01, 0.3, 0.5, 0.97, 1.0, 0.125][j % 7]).collect();
    let mut sampler = Sampler::default();
    sampler.prepare([p.as_slice()], 2);
    let mut rng = Rng::new(3, 0);
    let mut bulk = vec![0usize; p.len()];
    for _ in 0..N {
        let mut body = [0u64; 2];
        sampler.draw(&mut rng, &mut body);
        (0..p.len()).for_each(|j| bulk[j] += (body[j / 64] >> (j % 64) & 1) as usize);
        assert_eq!(body[1] >> 6, 0, "no atom beyond K is ever drawn");
    }
    for (j, &p) in p.iter().enumerate() {
        let gumbel = (0..N).filter(|_| gumbel_max(p, &mut rng)).count();
        let sigma = (p * (1.0 - p) / N as f64).sqrt();
        for (name, count) in [("bulk", bulk[j]), ("gumbel-max", gumbel)] {
            let share = count as f64 / N as f64;
            assert!((share - p).abs() <= 5.0 * sigma + 1e-6, "{name}: {share} for P = {p}");
        }
    }
}

/// F from cached masks equals F by the paper's matrices, for every ground action of states met at random.
#[test]
fn masks_agree_with_the_papers_inference() {
    for spec in worlds() {
        let alphabet = spec.alphabet();
        let grounder = Grounder::new(&alphabet);
        let mut env = spec.make(&alphabet, "train", &Options::default()).unwrap();
        let mut rng = Rng::new(11, 0);
        let mut facts = Facts::new(&alphabet);
        for _ in 0..6 {
            env.reset(&mut rng);
            let universe = Arc::clone(env.universe());
            let actions = universe.ground_actions(&alphabet);
            let atoms = GroundAtoms::new(&alphabet, &universe);
            observe(env.as_ref(), &mut facts);
            let v = atoms.encode(&facts);
            let grounding = grounder.ground(&actions, &facts, &universe);
            for _ in 0..20 {
                let a = rng.below(actions.len());
                let k = grounder.atoms(actions[a].action);
                let mut body = vec![0u64; grounder.words()];
                let mut literals = Vec::new();
                for _ in 0..=rng.below(3) {
                    let j = rng.below(k.len());
                    if body[j / 64] >> (j % 64) & 1 == 0 {
                        body[j / 64] |= 1 << (j % 64);
                        literals.push(k[j].clone());
                    }
                }
                let rule = Rule::new(1.0, actions[a].action, literals);
                let x = atoms.ground(&rule, &actions[a].args, &universe);
                let w = vec![1.0; rule.body.len()];
                let by_matrices = value(&rule, &valuations(&rule, &x, &v, &w, TNorm::Lukasiewicz));
                let by_masks = if grounding.derives(a, &body) { 1.0 } else { 0.0 };
                assert_eq!(by_matrices, by_masks, "{}: {}", spec.name(), rule.display(&alphabet));
            }
        }
    }
}

#[test]
fn hard_constraints_are_never_violated() {
    let constrained: Vec<_> = worlds().filter(|w| !w.alphabet().constraints.is_empty()).collect();
    assert!(constrained.len() >= 3);
    for spec in constrained {
        let alphabet = spec.alphabet();
        let problem = Problem::new(&alphabet, 1).unwrap();
        let config = Config { constraints: derrl_learn::ConstraintMode::Hard, ..Config::default() };
        let mut rng = Rng::new(5, 0);
        let mut sampler = Sampler::default();
        let mut violations = 0;
        for (slot, s) in problem.slots.iter().enumerate() {
            let constraints: &Constraints = problem.constraints(s.action);
            let p: Vec<f64> = (0..s.atoms).map(|_| rng.unit()).collect();
            sampler.prepare([p.as_slice()], problem.grounder.words());
            for _ in 0..200 {
                let mut body = vec![0; problem.grounder.words()];
                sampler.draw(&mut rng, &mut body);
                violations += usize::from(constraints.violated(&body).is_some());
                problem.legalise(&config, SlotId::at(slot), &p, &mut body);
                assert_eq!(constraints.violated(&body), None, "{}", spec.name());
            }
        }
        assert!(violations > 0, "{}: the test has something to forbid", spec.name());
    }
}

/// A pruned policy decides as the original in every state it was pruned on.
#[test]
fn pruning_changes_no_decision() {
    for spec in worlds() {
        let alphabet = spec.alphabet();
        let problem = Problem::new(&alphabet, 1).unwrap();
        let mut env = spec.make(&alphabet, "train", &Options::default()).unwrap();
        let mut rng = Rng::new(9, 0);
        let mut states = States::new(&problem);
        let mut met = Vec::new();
        for _ in 0..40 {
            env.reset(&mut rng);
            let actions = env.universe().ground_actions(&alphabet);
            loop {
                states.look_up(&problem, env.as_ref(), Learner::FIRST, &|| false).unwrap();
                let mut facts = Facts::new(&alphabet);
                observe(env.as_ref(), &mut facts);
                met.push((facts, Arc::clone(env.universe())));
                let action = &actions[rng.below(actions.len())];
                if env.step(action.action, &action.args, &mut rng).status != Status::Running {
                    break;
                }
            }
        }
        let mut shorter = 0;
        for _ in 0..10 {
            let rules = (0..4)
                .map(|_| {
                    let action = Action(rng.below(alphabet.actions.len()) as u32);
                    let k = problem.grounder.atoms(action);
                    let mut picks: Vec<usize> = (0..=rng.below(3)).map(|_| rng.below(k.len())).collect();
                    picks.sort_unstable();
                    picks.dedup();
                    let body = picks.into_iter().map(|j| k[j].clone()).collect();
                    Rule::new(0.5 + 0.1 * rng.below(5) as f64, action, body)
                })
                .collect();
            let policy = Policy { rules };
            let simple = prune(&policy, &problem, states.met());
            shorter += usize::from(length(&simple) < length(&policy));
            for (facts, universe) in &met {
                let decide = |p: &Policy| {
                    let ties = Decider::new(p, &alphabet, universe).decide(facts, &alphabet, universe).ties;
                    // Where no rule fires any action will do: all of them tie.
                    if ties.is_empty() { universe.ground_actions(&alphabet) } else { ties }
                };
                assert_eq!(
                    decide(&policy),
                    decide(&simple),
                    "{}: {}",
                    spec.name(),
                    policy.display(&alphabet)
                );
            }
        }
        assert!(shorter > 0, "{}: something could be removed", spec.name());
    }
}
