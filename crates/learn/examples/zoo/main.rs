#![allow(dead_code, missing_docs, clippy::wildcard_imports)]
//! Runs the improver on small worlds: `cargo run --release -p derrl-learn --example zoo -- NAME,.. SEEDS`.

mod adapter;
mod worlds;

use std::sync::Arc;
use std::time::Instant;

use adapter::{Adapter, Small, alphabet};
use derrl_env::{Env, Options, find};
use derrl_learn::{Improver, Problem, mean_stderr, run_episodes};
use derrl_logic::Alphabet;
use worlds::*;

type Make = Box<dyn Fn() -> Box<dyn Small>>;
fn small<S: Small + 'static>(f: impl Fn() -> S + 'static) -> Make {
    Box::new(move || Box::new(f()))
}

fn zoo() -> Vec<(&'static str, &'static str, Make, Make, Make)> {
    vec![
        (
            "unstack",
            TOWER,
            small(|| Tower::new(Goal::Unstack, 2, 4)),
            small(|| Tower::new(Goal::Unstack, 5, 5)),
            small(|| Tower::new(Goal::Unstack, 7, 10)),
        ),
        (
            "on",
            ON,
            small(|| Tower::new(Goal::On, 2, 4)),
            small(|| Tower::new(Goal::On, 5, 5)),
            small(|| Tower::new(Goal::On, 7, 10)),
        ),
        (
            "stack",
            TOWER,
            small(|| Tower::new(Goal::Stack, 2, 4)),
            small(|| Tower::new(Goal::Stack, 5, 5)),
            small(|| Tower::new(Goal::Stack, 7, 10)),
        ),
        (
            "lamps",
            LAMPS,
            small(|| Lamps::new(2, 4)),
            small(|| Lamps::new(5, 5)),
            small(|| Lamps::new(12, 16)),
        ),
        (
            "gripper",
            GRIPPER,
            small(|| Gripper::new((1, 3), (2, 3))),
            small(|| Gripper::new((4, 4), (3, 4))),
            small(|| Gripper::new((8, 12), (4, 6))),
        ),
        ("taxi", TAXI, small(|| Taxi::new(3, 4)), small(|| Taxi::new(5, 5)), small(|| Taxi::new(8, 8))),
        (
            "cliff2",
            CLIFF2,
            small(|| Cliff::new(false, 3, 5)),
            small(|| Cliff::new(false, 6, 6)),
            small(|| Cliff::new(false, 8, 10)),
        ),
        (
            "cliff1",
            CLIFF1,
            small(|| Cliff::new(true, 3, 5)),
            small(|| Cliff::new(true, 6, 6)),
            small(|| Cliff::new(true, 8, 10)),
        ),
        (
            "recycling",
            RECYCLING,
            small(|| Recycling::new(2, 4)),
            small(|| Recycling::new(5, 5)),
            small(|| Recycling::new(10, 15)),
        ),
        ("lock", LOCK, small(|| Lock::new(2, 4)), small(|| Lock::new(5, 5)), small(|| Lock::new(8, 10))),
        (
            "slippery",
            SLIPPERY,
            small(|| Slippery::new(1, 3)),
            small(|| Slippery::new(4, 4)),
            small(|| Slippery::new(6, 8)),
        ),
        (
            "fruit",
            FRUIT,
            small(|| Fruit::new(2, 4)),
            small(|| Fruit::new(5, 5)),
            small(|| Fruit::new(10, 14)),
        ),
    ]
}

fn run(
    name: &str,
    alphabet: &Arc<Alphabet>,
    seeds: u64,
    sizes: &dyn Fn() -> Vec<Box<dyn Env>>,
    test: &dyn Fn() -> Box<dyn Env>,
) {
    let problem = Arc::new(Problem::new(alphabet, 1).expect("problem"));
    let show = std::env::var("SHOW").is_ok();
    let (mut train_ok, mut test_ok) = (0, 0);
    let mut means = Vec::new();
    let mut tests = Vec::new();
    let (mut steps, mut rules) = (0, 0);
    let start = Instant::now();
    for seed in 0..seeds {
        let began = Instant::now();
        let learned = Improver::new(&problem, sizes(), seed, 200, &|| false).run(None).expect("improve");
        steps += learned.steps / seeds;
        rules += learned.policy.rules.len();
        let share = |env: &mut dyn Env, means: &mut Vec<f64>| {
            let r = run_episodes(&learned.policy, alphabet, env, 50, 77).expect("run");
            print!("[{:.1}] ", r.iter().map(|e| e.steps as f64).sum::<f64>() / r.len() as f64);
            means.push(r.iter().map(|e| e.value).sum::<f64>() / r.len() as f64);
            r.iter().filter(|e| e.success).count() as f64 / r.len() as f64
        };
        let a = share(sizes()[0].as_mut(), &mut means);
        let b = share(test().as_mut(), &mut tests);
        train_ok += usize::from(a >= 0.99);
        test_ok += usize::from(b >= 0.99);
        if show {
            println!(
                "seed {seed}: {a:.2} {b:.2} return {:.3} {:.3} steps {} {:.2}s",
                means[means.len() - 1],
                tests[tests.len() - 1],
                learned.steps,
                began.elapsed().as_secs_f64()
            );
            print!("{}", learned.policy.display(alphabet));
            for w in &learned.widenings {
                println!("  {}: {:.3} -> {:.3} {}", w.to, w.before, w.after, w.kept);
            }
        }
    }
    let secs = start.elapsed().as_secs_f64() / seeds as f64;
    println!(
        "{name:12} train {train_ok}/{seeds} {:.3}  large {test_ok}/{seeds} {:.3} [{:.3}..{:.3}]  {steps} steps, {secs:.2} s, {:.1} rules",
        mean_stderr(&means).0,
        mean_stderr(&tests).0,
        tests.iter().copied().fold(f64::INFINITY, f64::min),
        tests.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        rules as f64 / seeds as f64
    );
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let seeds = args.get(1).map_or(5, |s| s.parse().expect("seeds"));
    let wanted: Vec<&str> = args.first().map_or("all", String::as_str).split(',').collect();
    for (name, text, train, up, test) in zoo() {
        if wanted.contains(&"all") || wanted.contains(&name) {
            let alphabet = alphabet(text);
            let env = |s| -> Box<dyn Env> { Box::new(Adapter::new(s, &alphabet)) };
            run(
                name,
                &alphabet,
                seeds,
                &|| {
                    if std::env::var("ONE").is_ok() {
                        vec![env(train())]
                    } else {
                        vec![env(train()), env(up())]
                    }
                },
                &|| Box::new(Adapter::new(test(), &alphabet)),
            );
        }
    }
    for g in derrl_pddl::generate::GENERATORS {
        if wanted.contains(&"pddl") || wanted.contains(&format!("pddl-{}", g.name).as_str()) {
            use derrl_logic::Source;
            use derrl_pddl::{PddlEnv, Problems, Task, Translation};
            let domain = g.domain().expect("domain");
            let tasks = |size: usize, n: u64, from: u64| -> Vec<Arc<Task>> {
                (0..n)
                    .map(|i| {
                        Arc::new(
                            Task::parse(&Source::new("p.pddl", g.problem(size, from + i)), &domain)
                                .expect("task"),
                        )
                    })
                    .collect()
            };
            let first = g.smallest.max(1);
            let sizes: Vec<Vec<Arc<Task>>> = (0..5).map(|k| tasks(first + k, 10, 0)).collect();
            let large = tasks(20, 10, 1000);
            let translation =
                Translation::new(&domain, sizes.iter().flatten().chain(&large).map(AsRef::as_ref))
                    .expect("translation");
            let alphabet = Arc::new(translation.alphabet().expect("alphabet"));
            let env = |t: &Vec<Arc<Task>>| -> Box<dyn Env> {
                Box::new(
                    PddlEnv::new(Arc::new(
                        Problems::new(&translation, &alphabet, t.clone(), None).expect("problems"),
                    ))
                    .expect("env"),
                )
            };
            let hand = derrl_logic::Policy::parse(&Source::new("hand", g.policy), &alphabet).expect("hand");
            let r = run_episodes(&hand, &alphabet, env(&large).as_mut(), 20, 77).expect("run");
            println!(
                "by hand: {:.1} steps, {:.3}",
                r.iter().map(|e| e.steps as f64).sum::<f64>() / 20.0,
                r.iter().map(|e| e.value).sum::<f64>() / 20.0
            );
            run(g.name, &alphabet, seeds, &|| sizes.iter().map(env).collect(), &|| env(&large));
        }
    }
    for (name, large) in
        [("blocks", "dynamic-blocks"), ("countdown", "train"), ("doorkey", "train"), ("gridworld", "train")]
    {
        if wanted.contains(&"built-in") || wanted.contains(&name) {
            let spec = find(name).expect("spec");
            let alphabet = spec.alphabet();
            let env = |task: &str| spec.make(&alphabet, task, &Options::default()).expect("env");
            run(name, &alphabet, seeds, &|| vec![env("train")], &|| env(large));
        }
    }
}
