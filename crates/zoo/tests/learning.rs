//! Improvement by regret on worlds of the zoo: trained small, tested large.

use std::sync::Arc;

use derrl_env::Options;
use derrl_learn::{Improver, Problem, evaluate};
use derrl_logic::{Alphabet, Policy, Source};
use derrl_zoo::zoo;

/// Learns from a seed, and holds the large test against rules written by hand.
fn is_learned(name: &str, seed: u64) {
    let animal = zoo().into_iter().find(|a| a.world.name() == name).expect("it is in the zoo");
    let world = &animal.world;
    let alphabet = world.alphabet();
    let sizes = world.training_sizes(&alphabet, "train", &Options::default()).expect("sizes can be made");
    let problem = Arc::new(Problem::new(&alphabet, 1).expect("every action has candidate atoms"));
    let improved = Improver::new(&problem, sizes, seed, 100, &|| false).run(None).expect("no world fails");
    let by_hand = Policy::read(&Source::new("by hand", animal.by_hand), &alphabet).expect("it parses");
    let score = |policy: &Policy, alphabet: &Arc<Alphabet>| {
        let mut env = world.env("large").expect("the task exists");
        evaluate(policy, alphabet, env.as_mut(), 50, 1).expect("it runs")
    };
    let (own, hand) = (score(&improved.policy, &improved.alphabet), score(&by_hand.0, &by_hand.1));
    let rules = improved.policy.display(&improved.alphabet).to_string();
    println!("{name} {seed}: {own:?}, by hand {hand:?}, {} steps\n{rules}", improved.steps);
    assert_eq!(own.solved(), Some(true), "{name}, seed {seed}: {:?}\n{rules}", own.success_rate);
    assert!(
        own.mean >= hand.mean - 0.05,
        "{name}, seed {seed}: {}, by hand {}\n{rules}",
        own.mean,
        hand.mean
    );
}

#[test]
fn gripper_is_learned_on_a_few_balls() {
    is_learned("gripper", 0);
}

#[test]
fn blocks_are_unstacked() {
    is_learned("unstack", 0);
}

#[test]
fn lamps_need_negation_and_get_it() {
    is_learned("lamps", 0);
}
