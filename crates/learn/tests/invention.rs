//! Invention: where rules over what the world reports do not suffice, the learner defines predicates itself.

use std::sync::Arc;

use derrl_env::{Env, Options, find};
use derrl_learn::{Improved, Improver, Problem, evaluate};
use derrl_logic::Alphabet;

fn improve(seed: u64) -> (Arc<Alphabet>, Improved) {
    let world = find("rearrange").expect("the world exists");
    let alphabet = world.alphabet();
    let problem = Arc::new(Problem::new(&alphabet, 1).expect("every action has candidate atoms"));
    let options = Options::default();
    let sized = |n| world.make_sized(&alphabet, n, &options).expect("the size exists").expect("it is made");
    let sizes: Vec<Box<dyn Env>> = (3..=5).map(sized).collect();
    let improver = Improver::new(&problem, sizes, seed, 100, &|| false);
    (alphabet, improver.run(None).expect("the world does not fail"))
}

#[test]
fn rearranging_blocks_needs_a_predicate_and_gets_it() {
    for seed in 0..std::env::var("SEEDS").map_or(1, |s| s.parse().expect("a number")) {
        let from = std::time::Instant::now();
        let (_, improved) = improve(seed);
        println!("seed {seed}: {:.1?}, {} steps", from.elapsed(), improved.steps);
        for w in &improved.widenings {
            println!("  {} {:.4} -> {:.4} {}", w.to, w.before, w.after, w.kept);
        }
        println!("{}", improved.policy.display(&improved.alphabet));
        let world = find("rearrange").expect("the world exists");
        for task in ["train", "10-blocks", "20-blocks", "50-blocks"] {
            let mut env = world.make(&improved.alphabet, task, &Options::default()).expect("the task exists");
            let score = evaluate(&improved.policy, &improved.alphabet, env.as_mut(), 50, 1).expect("it runs");
            println!("  {task}: {:.3} {:.4} {:?}", score.success_rate, score.mean, score.references);
        }
    }
}
