//! The worlds that report numbers keep the contract, and the rules written by hand are good.

use std::sync::Arc;

use derrl_env::contract;
use derrl_learn::{Checkpoint, Config, Learned, Problem, Search, Silent, evaluate};
use derrl_logic::{Alphabet, Policy, Source};
use derrl_zoo::numbers;

#[test]
fn every_world_keeps_the_contract() {
    for animal in numbers() {
        contract::check(&animal.world).expect("the world keeps the laws");
        let env = animal.world.env("train").expect("the task exists");
        assert!(env.copy().is_some(), "{} has copies", animal.world.name());
    }
}

#[test]
fn rules_written_by_hand_are_good() {
    let least = [
        ("mountaincar", "train", -100.0),
        ("acrobot", "train", -80.0),
        ("pendulum", "train", -145.0),
        ("queues", "train", -597.8),
        ("queues", "large", -2000.0),
        ("nearest", "train", 2.42),
        ("nearest", "large", 4.6),
        ("pong", "train", 4.8),
    ];
    let animals = numbers();
    for (name, task, least) in least {
        let animal = animals.iter().find(|a| a.world.name() == name).expect("it is one of them");
        let rules = Source::new(name, animal.by_hand);
        let (policy, alphabet) = Policy::read(&rules, &animal.world.alphabet()).expect("the rules parse");
        let mut env = animal.world.env(task).expect("the task exists");
        let score = evaluate(&policy, &alphabet, env.as_mut(), 100, 0).expect("it runs");
        println!("{name}, {task}: {:.2} ({:.2})", score.mean, score.stderr);
        // Instances vary: as good as this within two standard errors.
        assert!(score.mean + 2.0 * score.stderr >= least, "{name}, {task}: {score:?}");
        let has_goal = matches!(name, "mountaincar" | "acrobot");
        assert_eq!(score.success_rate.is_some(), has_goal, "{name}");
    }
}

/// What a run of this seed learns with so many decisions, however many threads there are.
fn learned(world: &derrl_env::World, decisions: u64, threads: usize) -> Learned {
    let problem = Arc::new(Problem::new(&world.alphabet(), 1).expect("it has measures"));
    let make = || world.env("train");
    let config = Config::default();
    let search = Search::new(&problem, &config, &make, &Silent).within(decisions);
    let seeds = (0..threads as u64).map(|seed| (seed, Checkpoint::default())).collect();
    let runs = search.run(seeds, threads).expect("it runs");
    runs.into_iter().flatten().next().expect("nobody interrupts")
}

#[test]
fn rules_for_queues_are_no_worse_than_those_written_by_hand() {
    let animals = numbers();
    let queues = animals.iter().find(|a| a.world.name() == "queues").expect("it is one of them");
    let one = learned(&queues.world, 60_000, 1);
    let rules = one.policy.display(&one.alphabet).to_string();
    assert!(
        rules.starts_with("1.00::serve(X) :- current(X), queue(X) > 0.\n")
            && rules.contains("most(queue(X))"),
        "{rules}"
    );
    assert!(one.policy.rules.len() <= 3, "{rules}");
    let (by_hand, wider) =
        Policy::read(&Source::new("by hand", queues.by_hand), &queues.world.alphabet()).expect("they parse");
    // The same new instances for both.
    for task in ["train", "large"] {
        let mean = |policy: &Policy, alphabet: &Alphabet| {
            let mut env = queues.world.env(task).expect("the task exists");
            evaluate(policy, alphabet, env.as_mut(), 300, 7).expect("it runs").mean
        };
        let (own, hand) = (mean(&one.policy, &one.alphabet), mean(&by_hand, &wider));
        println!("queues, {task}: {own:.2}, by hand {hand:.2}");
        assert!(own >= hand, "{task}: {own} for {hand} by hand\n{rules}");
    }
    assert!(one.steps <= 66_000, "{} decisions", one.steps);
    assert_eq!(learned(&queues.world, 60_000, 2).policy, one.policy, "threads change nothing");
}

#[test]
fn a_pole_and_a_car_are_mastered() {
    let animals = numbers();
    let car = animals.iter().find(|a| a.world.name() == "mountaincar").expect("it is one of them");
    let pole = derrl_env::find("cartpole").expect("it is built in");
    for (world, decisions, least) in [(pole, 400_000, 499.0), (&car.world, 300_000, -120.0)] {
        let one = learned(world, decisions, 1);
        let mut env = world.env("train").expect("the task exists");
        let score = evaluate(&one.policy, &one.alphabet, env.as_mut(), 100, 7).expect("it runs");
        let text = one.policy.display(&one.alphabet).to_string();
        println!("{} after {} decisions\n{text}", score.mean, one.steps);
        assert!(score.mean >= least, "{}: {}\n{text}", world.name(), score.mean);
        assert!(one.policy.rules.len() <= 12, "{text}");
    }
}
