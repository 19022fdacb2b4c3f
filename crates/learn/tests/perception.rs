//! Symbols learned from pixels, held against the truth that they never saw.

use std::sync::Arc;

use derrl_env::{Options, Rng, find};
use derrl_learn::{Gallery, Looking, Perception, evaluate, perceive};
use derrl_logic::{Policy, Source};

fn learned(seed: u64, looking: Looking) -> Perception {
    let world = find("pacman").expect("it is in the table");
    let alphabet = world.alphabet();
    let make = world.seeing().expect("it is seen").make;
    let mut env = make(&alphabet, "train", &Options::default()).expect("it can be made");
    perceive(env.as_mut(), &alphabet, None, seed, looking, &|| false)
        .expect("nothing fails")
        .expect("nobody stops")
}

/// What it sees in new instances of a task.
fn gallery(perception: &Perception, task: &str, instances: usize) -> Gallery {
    let world = find("pacman").expect("it is in the table");
    let seeing = world.seeing().expect("it is seen");
    let mut env = (seeing.make)(&world.alphabet(), task, &Options::default()).expect("it can be made");
    Gallery::of(perception, env.as_mut(), seeing.kinds, instances, &mut Rng::new(99, 99))
}

/// The share of episodes of a task in which rules succeed by what is seen.
fn success(perception: Perception, rules: &str, task: &str, episodes: usize) -> f64 {
    let world = find("pacman").expect("it is in the table");
    let seen = (world.seeing().expect("it is seen").through)(Arc::new(perception));
    let (policy, alphabet) =
        Policy::read(&Source::new("p.pl", rules), &seen.alphabet()).expect("it is right");
    let mut env = seen.make(&alphabet, task, &Options::default()).expect("it can be made");
    let score = evaluate(&policy, &alphabet, env.as_mut(), episodes, 0).expect("nothing fails");
    score.success_rate.expect("there is a goal")
}

/// Rules that are given: nearer to what is worth most, past what costs.
const RULES: &str = "move(D) :- to_s1_past_s3(D).";

#[test]
fn symbols_are_what_they_bring() {
    let perception = learned(0, Looking::default());
    let brings: Vec<_> = perception.brings.iter().map(|b| (b.reward, b.ends)).collect();
    assert_eq!(brings, [(1.0, true), (0.0, false), (-1.0, true)]);
    for task in ["train", "larger"] {
        let gallery = gallery(&perception, task, 200);
        assert!(gallery.right() > 0.99, "{:?}", gallery.confusion);
        let success = success(perception.clone(), RULES, task, 200);
        assert!(success >= 0.98, "{task}: {success}");
    }
}

#[test]
fn the_same_seed_gives_the_same_sight() {
    let looking = Looking { round: 40, most: 80 };
    assert_eq!(learned(3, looking), learned(3, looking));
}

#[test]
fn rules_that_are_given_teach_sight_in_fifty_episodes() {
    let world = find("pacman").expect("it is in the table");
    let alphabet = world.alphabet();
    let (policy, alphabet) = Policy::read(&Source::new("p.pl", RULES), &alphabet).expect("it is right");
    let make = world.seeing().expect("it is seen").make;
    // `EPISODES=100 SEEDS=10 cargo test ... -- --nocapture` measures.
    let number = |name: &str, usual| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual);
    let (most, seeds) = (number("EPISODES", 50), number("SEEDS", 1));
    for seed in 0..seeds as u64 {
        let mut env = make(&alphabet, "train", &Options::default()).expect("it can be made");
        let looking = Looking { round: 10, most };
        let learned = perceive(env.as_mut(), &alphabet, Some(&policy), seed, looking, &|| false);
        let perception = learned.expect("nothing fails").expect("nobody stops");
        assert!(perception.episodes <= most as u64);
        let success = success(perception, RULES, "train", 1000);
        println!("seed {seed}, {most} episodes: {success}");
        assert!(success > 0.9, "seed {seed}: {success}");
    }
}
