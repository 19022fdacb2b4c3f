//! Improvement by regret on worlds of the zoo: trained small, tested large.

use std::sync::Arc;

use derrl_env::Options;
use derrl_learn::{Improver, Problem, evaluate};
use derrl_zoo::zoo;

/// The share of large instances that what is learned from a seed solves.
fn learned(name: &str, seed: u64) -> f64 {
    let animal = zoo().into_iter().find(|a| a.world.name() == name).expect("it is in the zoo");
    let world = &animal.world;
    let alphabet = world.alphabet();
    let sizes = world.training_sizes(&alphabet, "train", &Options::default()).expect("sizes can be made");
    let problem = Arc::new(Problem::new(&alphabet, 1).expect("every action has candidate atoms"));
    let start = std::time::Instant::now();
    let improved = Improver::new(&problem, sizes, seed, 200, &|| false).run(None).expect("no world fails");
    let mut env = world.env("large").expect("the task exists");
    let score = evaluate(&improved.policy, &alphabet, env.as_mut(), 100, 1).expect("it runs");
    println!(
        "{name} {seed}: {:.2} return {:.3}, {} steps, {:.2} s, sizes {:?}\n{}",
        score.success_rate,
        score.mean,
        improved.steps,
        start.elapsed().as_secs_f64(),
        improved.success,
        improved.policy.display(&alphabet)
    );
    for w in &improved.widenings {
        println!("  {}: {:.3} -> {:.3} {}", w.to, w.before, w.after, w.kept);
    }
    score.success_rate
}

#[test]
fn probe() {
    let names = std::env::var("ZOO").unwrap_or("gripper".into());
    let seeds: u64 = std::env::var("SEEDS").map_or(1, |s| s.parse().unwrap());
    for name in names.split(',') {
        let mut ok = 0;
        for seed in 0..seeds {
            ok += u32::from(learned(name, seed) >= 0.99);
        }
        println!("== {name} {ok}/{seeds}");
    }
}
