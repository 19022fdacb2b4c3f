//! The worlds that report numbers keep the contract, and the rules written by hand are good.

use derrl_env::contract;
use derrl_learn::evaluate;
use derrl_logic::{Policy, Source};
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
