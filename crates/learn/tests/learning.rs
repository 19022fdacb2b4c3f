//! It learns: fixed seeds, default settings, the paper's rules. And it learns the same whatever the threads do.

use std::sync::Arc;

use derrl_env::{Options, find};
use derrl_learn::{
    Checkpoint, Config, Counted, Estimator, Given, Learned, Move, Observer, Origin, Problem, Restart, Search,
    Silent, evaluate,
};
use derrl_logic::{Policy, Source};

/// What a run of each of these seeds learns.
fn learn(
    domain: &str,
    options: &Options,
    config: &Config,
    seeds: Vec<(u64, Checkpoint)>,
    threads: usize,
    observer: &dyn Observer,
) -> Vec<Option<Learned>> {
    let spec = find(domain).unwrap();
    let alphabet = spec.alphabet();
    let problem = Arc::new(Problem::new(&alphabet, 1).unwrap());
    let make_env = || spec.make(&alphabet, "train", options);
    Search::new(&problem, config, &make_env, observer).run(seeds, threads).unwrap()
}

fn fresh(seeds: std::ops::Range<u64>) -> Vec<(u64, Checkpoint)> {
    seeds.map(|s| (s, Checkpoint::default())).collect()
}

/// The score of what each seed learned, on each task.
fn scores(
    domain: &str,
    options: &Options,
    seeds: std::ops::Range<u64>,
) -> Vec<(u64, &'static str, f64, String)> {
    let spec = find(domain).unwrap();
    let alphabet = spec.alphabet();
    let mut all = Vec::new();
    let runs = learn(domain, options, &Config::default(), fresh(seeds.clone()), 2, &Silent);
    for (seed, run) in seeds.zip(runs) {
        let policy = run.unwrap().policy;
        for task in spec.tasks().iter().filter(|t| t.scored) {
            let mut env = spec.make(&alphabet, &task.name, &Options::default()).unwrap();
            let score = evaluate(&policy, &alphabet, env.as_mut(), 200, seed).unwrap();
            all.push((seed, task.name.as_str(), score.mean, policy.display(&alphabet).to_string()));
        }
    }
    all
}

#[test]
fn blocks_is_learned_and_generalises() {
    for (seed, task, mean, policy) in scores("blocks", &Options::default(), 0..4) {
        let target = if task == "dynamic-blocks" { 0.93 } else { 0.96 };
        assert!(mean >= target, "seed {seed}, {task}: {mean}\n{policy}");
    }
}

#[test]
fn countdown_is_learned_and_generalises() {
    for noise in [None, Some(0.1)] {
        for (seed, task, mean, policy) in scores("countdown", &Options { noise, ..Options::default() }, 0..3)
        {
            assert!(mean >= 0.98, "seed {seed}, noise {noise:?}, {task}: {mean}\n{policy}");
            assert_eq!(policy.lines().count(), 3, "a rule an action is enough:\n{policy}");
        }
    }
}

#[test]
fn doorkey_is_learned_and_generalises() {
    for (seed, task, mean, policy) in scores("doorkey", &Options::default(), 0..3) {
        assert!(mean >= 1.0, "seed {seed}, {task}: {mean}\n{policy}");
        assert_eq!(policy.lines().count(), 3, "a rule an action is enough:\n{policy}");
    }
}

/// The obstacle rules are found: `up :- north` alone earns 0.87. And where they are silent, others grow: 0.94 without.
#[test]
#[ignore = "the search earns 0.6 to 0.85 here: what it compares in the end is too little for this noise"]
fn gridworld_is_learned_and_generalises() {
    let spec = find("gridworld").unwrap();
    let alphabet = spec.alphabet();
    let runs = learn("gridworld", &Options::default(), &Config::default(), fresh(0..1), 2, &Silent);
    let policy = runs[0].as_ref().unwrap().policy.clone();
    for task in spec.tasks().iter().filter(|t| t.scored) {
        let mut env = spec.make(&alphabet, &task.name, &Options::default()).unwrap();
        let score = evaluate(&policy, &alphabet, env.as_mut(), 5000, 0).unwrap();
        assert!(score.mean >= 0.95, "{}: {}\n{}", task.name, score.mean, policy.display(&alphabet));
    }
}

#[test]
fn the_rules_of_blocks_are_the_papers() {
    let alphabet = find("blocks").unwrap().alphabet();
    let runs = learn("blocks", &Options::default(), &Config::default(), fresh(0..1), 2, &Silent);
    let learned = runs.into_iter().flatten().next().unwrap();
    let mut bodies: Vec<String> = learned
        .policy
        .display(&alphabet)
        .to_string()
        .lines()
        .filter_map(|l| l.split_once("::").map(|(_, rule)| rule.to_string()))
        .collect();
    bodies.sort();
    let expected =
        ["move(X, Y) :- top(X), on(X, Z), isFloor(Y).", "move(X, Y) :- top(X), top(Y), goal_on(X, Y)."];
    assert_eq!(bodies, expected);
}

/// What blocks learns from given rules, the numbered ones frozen; and its score on the training task.
fn learn_from(rules: &str, frozen: &[usize]) -> (String, f64) {
    let spec = find("blocks").unwrap();
    let alphabet = spec.alphabet();
    let given = Policy::parse(&Source::new("given.pl", rules), &alphabet).unwrap().rules;
    let given: Vec<Given> = given
        .into_iter()
        .enumerate()
        .map(|(i, rule)| Given { rule, frozen: frozen.contains(&(i + 1)) })
        .collect();
    let problem = Arc::new(Problem::starting_from(&alphabet, 1, &given).unwrap());
    let make_env = || spec.make(&alphabet, "train", &Options::default());
    let learned = Search::new(&problem, &Config::default(), &make_env, &Silent)
        .run(fresh(0..1), 2)
        .unwrap()
        .remove(0)
        .unwrap();
    let score = evaluate(&learned.policy, &alphabet, make_env().unwrap().as_mut(), 200, 0).unwrap();
    (learned.policy.display(&alphabet).to_string(), score.mean)
}

#[test]
fn a_frozen_rule_stays_to_the_letter_and_the_rest_is_learned() {
    let floor = "0.91::move(X, Y) :- top(X), on(X, Z), isFloor(Y).";
    let (policy, mean) = learn_from(floor, &[1]);
    assert!(mean >= 0.96 && policy.lines().any(|l| l == floor), "{mean}\n{policy}");
    // Even one that never fires, below which the others have to be found.
    let useless = "0.95::move(X, Y) :- on(X, Y), on(Y, X).";
    let (policy, mean) = learn_from(useless, &[1]);
    assert!(mean >= 0.96 && policy.lines().any(|l| l == useless), "{mean}\n{policy}");
}

#[test]
fn a_given_rule_that_is_wrong_is_unlearned() {
    let (policy, mean) = learn_from("0.99::move(X, Y) :- on(X, Y), on(Y, Z).", &[]);
    assert!(mean >= 0.96 && !policy.contains(" on(X, Y)"), "{mean}\n{policy}");
}

/// Without these, rules come from the gradient alone.
const GRADIENT_ALONE: [Move; 4] = [Move::Explore, Move::Draw, Move::Change, Move::Try];

/// The gradient alone, and not for long.
fn small() -> Config {
    Config { updates: 40, restarts: 2, without: GRADIENT_ALONE.to_vec(), ..Config::default() }
}

#[test]
fn threads_and_company_change_nothing() {
    for (domain, config) in [("blocks", small()), ("countdown", Config::default())] {
        let alone = |seed: u64, threads| {
            learn(domain, &Options::default(), &config, fresh(seed..seed + 1), threads, &Silent)
        };
        let together = learn(domain, &Options::default(), &config, fresh(0..3), 2, &Silent);
        for seed in 0..3 {
            let one = alone(seed, 1);
            assert_eq!(one, alone(seed, 3), "{domain}, seed {seed} with 1 and with 3 threads");
            assert_eq!(one[0], together[seed as usize], "{domain}, seed {seed} alone and with others");
        }
    }
}

/// And the one that does: straight through.
#[test]
fn the_gradient_alone_solves_blocks() {
    let alphabet = find("blocks").unwrap().alphabet();
    let config = Config { without: GRADIENT_ALONE.to_vec(), restarts: 12, ..Config::default() };
    let runs = learn("blocks", &Options::default(), &config, fresh(0..1), 1, &Silent);
    let learned = runs.into_iter().flatten().next().unwrap();
    assert!(learned.solved(), "{}: {}", learned.success, learned.policy.display(&alphabet));
    assert!(learned.selection_steps < learned.steps && learned.origins.contains(&Origin::Gradient));
}

/// The finding that shaped the design: the gradient as the paper words it stays near random on blocks.
#[test]
fn the_papers_estimator_alone_does_not_solve_blocks() {
    let spec = find("blocks").unwrap();
    let alphabet = spec.alphabet();
    let without = GRADIENT_ALONE.to_vec();
    let config =
        Config { estimator: Estimator::Paper, restarts: 2, doubling: false, without, ..Config::default() };
    let runs = learn("blocks", &Options::default(), &config, fresh(0..1), 2, &Silent);
    let policy = runs.into_iter().flatten().next().unwrap().policy;
    let mut env = spec.make(&alphabet, "train", &Options::default()).unwrap();
    let score = evaluate(&policy, &alphabet, env.as_mut(), 200, 0).unwrap();
    assert!(score.mean < 0.9, "{}: update DESIGN.md, it learns after all", score.mean);
}

/// Whatever the settings allow, training stays among the numbers: a checkpoint can be read again.
#[test]
fn extreme_settings_never_produce_nan() {
    let spec = find("countdown").unwrap();
    let alphabet = spec.alphabet();
    let problem = Arc::new(Problem::new(&alphabet, 1).unwrap());
    let base = Config { updates: 12, batch: 64, ..Config::default() };
    for settings in [
        Config { temperature: 0.02, ..base.clone() },
        Config { temperature: 1000.0, ..base.clone() },
        Config { learning_rate: 1000.0, ..base.clone() },
        Config { lambda_sem: 1000.0, ..base.clone() },
        Config { pull: 1000.0, sharpen: 1000.0, ..base.clone() },
        Config { init_noise: 1000.0, ..base.clone() },
        Config { body_prior: f64::MIN_POSITIVE, ..base.clone() },
    ] {
        settings.check().unwrap();
        let mut env = spec.make(&alphabet, "train", &Options::default()).unwrap();
        let mut trainer = Restart::new(&problem, &settings, 0, 0);
        while !trainer.finished() {
            trainer.update(&mut Counted::new(env.as_mut())).unwrap();
        }
        let text = serde_json::to_string(&trainer.snapshot()).unwrap();
        assert!(!text.contains("null"), "{settings:?}");
    }
    for settings in [
        Config { temperature: 0.01, ..base.clone() },
        Config { learning_rate: 1e300, ..base.clone() },
        Config { pull: f64::NAN, ..base.clone() },
        Config { lambda_sem: -1.0, ..base },
    ] {
        assert!(settings.check().is_err(), "{settings:?}");
    }
}
