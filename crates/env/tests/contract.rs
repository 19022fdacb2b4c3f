//! The laws of every world: each runs over all rows of [`worlds()`] and all their tasks, so that a new world is tested by
//! existing.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::{Arc, OnceLock};

use derrl_env::{Env, Error, Options, Rng, Status, Task, World, contract, find, observe, worlds};
use derrl_logic::{Action, Alphabet, Facts, Object, Source};
use proptest::prelude::*;

/// Every task of every world that runs by itself. Those behind a simulator are too slow for these laws: one of their own
/// is below.
fn each_task(mut law: impl FnMut(&'static World, &'static Task, &Arc<Alphabet>)) {
    for spec in worlds().iter().filter(|s| !is_simulated(s)) {
        let alphabet = spec.alphabet();
        for task in spec.tasks() {
            law(spec, task, &alphabet);
        }
    }
}

/// Whether a world needs another program, be it installed or not.
fn is_simulated(spec: &'static World) -> bool {
    static KNOWN: OnceLock<Vec<bool>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| {
        let made = |s: &'static World| s.make(&s.alphabet(), &s.tasks()[0].name, &Options::default());
        worlds()
            .iter()
            .map(|s| match made(s) {
                Ok(env) => env.simulator().is_some(),
                Err(e) => matches!(e, Error::Simulator(_)),
            })
            .collect()
    });
    worlds().iter().zip(known).any(|(s, &simulated)| s.name() == spec.name() && simulated)
}

fn world(spec: &'static World, task: &Task, alphabet: &Arc<Alphabet>) -> Box<dyn Env> {
    spec.make(alphabet, &task.name, &Options::default())
        .unwrap_or_else(|e| panic!("{} / {} with default options: {e}", spec.name(), task.name))
}

fn facts_of(env: &dyn Env, alphabet: &Alphabet) -> Facts {
    let mut facts = Facts::new(alphabet);
    observe(env, &mut facts);
    facts
}

#[test]
fn domain_files_parse_without_warnings_and_name_their_world() {
    for spec in worlds() {
        let source = Source::new(format!("{}.pl", spec.name()), spec.domain());
        let (alphabet, warnings) = Alphabet::check(&source).unwrap_or_else(|e| panic!("{e}"));
        assert!(warnings.is_empty(), "{}", warnings[0]);
        assert_eq!(alphabet.environment.as_deref(), Some(spec.name()));
    }
}

#[test]
fn rows_of_the_table_are_distinct_and_described() {
    let mut names: Vec<&str> = worlds().iter().map(derrl_env::World::name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), worlds().len());
    for spec in worlds() {
        assert!(!spec.summary().is_empty());
        assert!(
            spec.tasks().first().is_some_and(|t| t.scored),
            "{}: the first task is the one trained on",
            spec.name()
        );
        let mut tasks: Vec<&str> = spec.tasks().iter().map(|t| t.name.as_str()).collect();
        tasks.sort_unstable();
        tasks.dedup();
        assert_eq!(tasks.len(), spec.tasks().len(), "{}: task names repeat", spec.name());
        assert!(spec.tasks().iter().all(|t| !t.summary.is_empty()));
    }
}

#[test]
fn built_in_worlds_keep_the_contract() {
    for world in worlds() {
        match contract::check(world) {
            // Nothing to check where its simulator is not installed.
            Err(broken) if is_simulated(world) && broken.law == "it can be made" => {}
            other => other.unwrap_or_else(|broken| panic!("{broken}")),
        }
    }
}

/// Tasks of free size, beyond the default size: only there are states so large that a journal is worth it.
#[test]
fn large_tasks_keep_the_contract_and_some_a_journal() {
    let mut kept = Vec::new();
    for world in worlds().iter().filter(|s| !is_simulated(s)) {
        let large = Options { size: Some(12), ..Options::default() };
        let Ok(mut env) = world.make(&world.alphabet(), "large", &large) else { continue };
        env.reset(&mut Rng::new(0, 0));
        if env.journal().is_some() {
            kept.push(world.name());
        }
        let alone = World::new(world.name(), world.domain()).expect("it parsed before");
        let of = world.clone();
        let alone = alone.engine_task("large", move |alphabet, _| of.make(alphabet, "large", &large));
        contract::check(&alone).unwrap_or_else(|broken| panic!("{broken}"));
    }
    assert_eq!(kept, ["blocks", "gridworld"]);
}

#[test]
fn an_alphabet_may_leave_out_predicates_but_not_add_any() {
    for spec in worlds().iter().filter(|s| !is_simulated(s)) {
        let mut less = (*spec.alphabet()).clone();
        less.predicates.truncate(1);
        less.measures.truncate(1);
        less.constraints.clear();
        less.program = None; // what defined predicates that are gone
        less.actions.iter_mut().for_each(|action| action.legal = None);
        let less = Arc::new(less);
        let mut env = world(spec, &spec.tasks()[0], &less);
        env.reset(&mut Rng::new(0, 0));
        facts_of(env.as_ref(), &less);

        let mut more = (*spec.alphabet()).clone();
        let name = more.predicates.first_mut().map(|p| &mut p.name);
        let name = name.or(more.measures.first_mut().map(|m| &mut m.name));
        name.expect("a world says something").push_str("_no_world_has_this");
        let made = spec.make(&Arc::new(more), &spec.tasks()[0].name, &Options::default());
        assert!(matches!(made.err(), Some(Error::Vocabulary { .. })), "{}", spec.name());
    }
}

#[test]
fn what_does_not_exist_is_refused_with_the_nearest_name() {
    for spec in worlds() {
        let mistyped = &spec.name()[..spec.name().len() - 1];
        let error = find(mistyped).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains(spec.name()), "{error}");
        let mistyped = &spec.tasks()[0].name[1..];
        let error = spec.find_task(mistyped).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains(&spec.tasks()[0].name), "{error}");
    }
}

/// Every option by name, with a value that a world may take and, where there is any, one that none takes.
fn options() -> Vec<(&'static str, Options, Option<Options>)> {
    let none = Options::default;
    vec![
        ("noise", Options { noise: Some(0.1), ..none() }, Some(Options { noise: Some(1.5), ..none() })),
        ("size", Options { size: Some(5), ..none() }, Some(Options { size: Some(0), ..none() })),
        (
            "obstacles",
            Options { obstacles: Some(3), ..none() },
            Some(Options { obstacles: Some(1 << 40), ..none() }),
        ),
        ("range", Options { range: Some(21), ..none() }, Some(Options { range: Some(0), ..none() })),
        ("shared", Options { shared: true, ..none() }, None),
        (
            "sumocfg",
            Options { sumocfg: vec!["five".to_string()], ..none() },
            Some(Options { sumocfg: vec!["no-such.sumocfg".to_string()], ..none() }),
        ),
        (
            "clearance",
            Options { clearance: Some(0), ..none() },
            Some(Options { clearance: Some(1 << 40), ..none() }),
        ),
        ("facts", Options { facts: true, ..none() }, None),
    ]
}

#[test]
fn options_are_taken_by_some_task_or_refused_by_all() {
    for spec in worlds() {
        for name in spec.options() {
            assert!(options().iter().any(|o| o.0 == *name), "{name} is not among the options tested here");
        }
    }
    for spec in worlds().iter().filter(|s| !is_simulated(s)) {
        let alphabet = spec.alphabet();
        for (name, good, bad) in options() {
            let taken = |options: &Options| -> Vec<Result<Box<dyn Env>, Error>> {
                spec.tasks().iter().map(|t| spec.make(&alphabet, &t.name, options)).collect()
            };
            assert_eq!(
                spec.options().contains(&name),
                taken(&good).iter().any(Result::is_ok),
                "{} --{name}",
                spec.name()
            );
            for made in bad.iter().flat_map(taken) {
                assert!(
                    matches!(made.err(), Some(Error::Option(_))),
                    "{} --{name} out of range",
                    spec.name()
                );
            }
        }
        let nan = Options { noise: Some(f64::NAN), ..Options::default() };
        assert!(spec.make(&alphabet, &spec.tasks()[0].name, &nan).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Any action with any tuple of objects (ill-typed, repeated), also after the end of the episode.
    #[test]
    fn no_sequence_of_actions_panics(
        seed in any::<u64>(),
        choices in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>()), 1..120),
        restarts in any::<u64>(),
    ) {
        each_task(|spec, task, alphabet| {
            let mut env = world(spec, task, alphabet);
            let mut rng = Rng::new(seed, 0);
            env.reset(&mut rng);
            for (i, (action, objects)) in choices.iter().enumerate() {
                let action = Action(action.index(alphabet.actions.len()) as u32);
                let n = env.universe().len();
                let mut some = Rng::new(*objects, 0);
                let args: Vec<Object> =
                    alphabet.action(action).args.iter().map(|_| Object(some.below(n) as u32)).collect();
                let outcome = env.step(action, &args, &mut rng);
                assert!(outcome.reward.is_finite());
                facts_of(env.as_ref(), alphabet);
                let _ = (env.code(), env.succeeded());
                if restarts >> (i % 64) & 0b1001 == 0b1001 {
                    env.restart();
                }
            }
        });
    }
}

// What single worlds promise beyond the contract.

/// The return of a shortest plan from the start of the current instance, by search.
fn shortest_plan(env: &mut dyn Env, alphabet: &Alphabet) -> f64 {
    let actions = env.universe().ground_actions(alphabet);
    let mut rng = Rng::new(0, 0);
    let mut best = f64::NEG_INFINITY;
    let mut seen = HashSet::new();
    let mut queue = VecDeque::from([Vec::<usize>::new()]);
    // Breadth-first over plans, replayed from the start: the first plan that terminates is shortest and, with equal
    // costs, best.
    while let Some(plan) = queue.pop_front() {
        env.restart();
        let mut total = 0.0;
        let mut status = Status::Running;
        for &a in &plan {
            let outcome = env.step(actions[a].action, &actions[a].args, &mut rng);
            total += outcome.reward;
            status = outcome.status;
        }
        match status {
            Status::Terminated => return total,
            Status::Truncated => best = best.max(total),
            Status::Running => {
                if seen.insert(env.code()) {
                    for a in 0..actions.len() {
                        queue.push_back(plan.iter().copied().chain([a]).collect());
                    }
                }
            }
        }
    }
    best
}

/// Every state of up to 5 blocks with the goal to come, up to the names of the blocks.
#[test]
fn best_return_of_blocks_is_that_of_a_shortest_plan() {
    let spec = find("blocks").expect("it is in the table");
    let alphabet = spec.alphabet();
    // n blocks have 1, 3, 13, 73, 501 states; those with a on b are as many as n - 1 blocks have.
    for (size, states) in [(2, 3 - 1), (3, 13 - 3), (4, 73 - 13), (5, 501 - 73)] {
        let options = Options { size: Some(size), ..Options::default() };
        let mut env = spec.make(&alphabet, "large", &options).expect("task large takes a size");
        let goal_on = alphabet.find_predicate("goal_on", 2).expect("blocks has it");
        let mut rng = Rng::new(10, size as u64);
        let mut checked = HashSet::new();
        while checked.len() < states {
            env.reset(&mut rng);
            let a_on_b = facts_of(env.as_ref(), &alphabet).holds(goal_on, &[Object(0), Object(1)]);
            if a_on_b && checked.insert(env.code()) {
                let best = env.best_return().expect("blocks knows it");
                let searched = shortest_plan(env.as_mut(), &alphabet);
                assert!((best - searched).abs() < 1e-9, "{best} by formula, {searched} by search");
            }
        }
    }
}

/// The facts of one predicate in an initial state, in names.
fn shown(env: &dyn Env, alphabet: &Alphabet, predicate: &str) -> Vec<String> {
    let all = facts_of(env, alphabet).show(alphabet, env.universe());
    all.into_iter().filter(|f| f.starts_with(&format!("{predicate}("))).collect()
}

/// What `train` of a world draws, told by some predicates, over many instances; and what another task draws.
fn drawn(name: &str, task: &str, predicates: &[&str]) -> BTreeSet<String> {
    let spec = find(name).expect("it is in the table");
    let alphabet = spec.alphabet();
    let mut env = spec.make(&alphabet, task, &Options::default()).expect("it has the task");
    let mut rng = Rng::new(11, 0);
    (0..20_000)
        .map(|_| {
            env.reset(&mut rng);
            let size = env.universe().len();
            let facts: Vec<String> =
                predicates.iter().flat_map(|p| shown(env.as_ref(), &alphabet, p)).collect();
            format!("{size} {}", facts.join(" "))
        })
        .collect()
}

#[test]
fn training_never_draws_what_is_held_out() {
    for (name, task, predicates) in [
        ("countdown", "held-out-target", &["goal"][..]),
        ("countdown", "held-out-initial", &["curr", "next"]),
        ("gridworld", "held-out-config", &["curr", "target"]),
        ("blocks", "held-out-config", &["on"]),
        ("blocks", "unseen-goal", &["goal_on"]),
    ] {
        let (train, held_out) = (drawn(name, "train", predicates), drawn(name, task, predicates));
        let common: Vec<_> = train.intersection(&held_out).collect();
        assert!(common.is_empty(), "{name} / {task}: {common:?}");
    }
}

#[test]
fn gridworld_draws_the_declared_grids() {
    let spec = find("gridworld").expect("it is in the table");
    let alphabet = spec.alphabet();
    let mut rng = Rng::new(12, 0);
    let sides = [("train", 2..=2), ("held-out-config", 2..=2), ("dynamic-obstacles", 3..=4)];
    for (task, obstacles) in sides {
        let mut env = spec.make(&alphabet, task, &Options::default()).expect("it has the task");
        for _ in 0..2000 {
            env.reset(&mut rng);
            assert!([6, 10].contains(&env.universe().len()));
            assert!(obstacles.contains(&shown(env.as_ref(), &alphabet, "obs").len()));
        }
    }
    for (size, obstacles) in [(2, 2), (3, 4), (10, 50), (40, 0), (100, 1000)] {
        let options = Options { size: Some(size), obstacles: Some(obstacles), ..Options::default() };
        let mut env = spec.make(&alphabet, "large", &options).expect("within the ranges");
        env.reset(&mut rng);
        assert_eq!(env.universe().len(), 2 * size);
        assert_eq!(shown(env.as_ref(), &alphabet, "obs").len(), obstacles);
    }
}

/// Compass atoms overlap: a quadrant implies its two half-planes and is implied by them.
#[test]
fn gridworld_compass_atoms_overlap() {
    let spec = find("gridworld").expect("it is in the table");
    let alphabet = spec.alphabet();
    let mut env = spec.make(&alphabet, "train", &Options::default()).expect("it has the task");
    let mut rng = Rng::new(13, 0);
    for _ in 0..2000 {
        env.reset(&mut rng);
        let facts = facts_of(env.as_ref(), &alphabet);
        let holds = |name: &str| alphabet.find_predicate(name, 0).is_some_and(|p| facts.holds(p, &[]));
        for ns in ["north", "south"] {
            for ew in ["east", "west"] {
                assert_eq!(holds(&format!("{ns}{ew}")), holds(ns) && holds(ew));
            }
        }
        assert!(!(holds("north") && holds("south")));
        assert!(!(holds("east") && holds("west")));
        assert!(["north", "south", "east", "west"].into_iter().any(holds), "the agent is not at the target");
    }
}

/// Beside what chance gave stands what the best player gets with the same luck: over many episodes it is what that player expects.
#[test]
fn in_noisy_countdown_the_best_known_has_the_luck_of_the_episode() {
    let spec = find("countdown").expect("it is in the table");
    let alphabet = spec.alphabet();
    let noisy = Options { noise: Some(0.2), ..Options::default() };
    let mut env = spec.make(&alphabet, "train", &noisy).expect("it has the task");
    let (mut rng, mut choose) = (Rng::new(14, 0), Rng::new(14, 1));
    let (mut expected, mut lucky, mut unlucky) = (0.0, 0.0, 0);
    let n = 20_000;
    for _ in 0..n {
        env.reset(&mut rng);
        let before = env.best_return().expect("it is known");
        while env.step(Action(choose.below(3) as u32), &[], &mut rng).status == Status::Running {}
        let with_luck = env.best_return().expect("it is known");
        expected += before / f64::from(n);
        lucky += with_luck / f64::from(n);
        unlucky += i32::from(with_luck < 1.0);
    }
    assert!((expected - lucky).abs() < 0.02, "{expected} expected, {lucky} with luck");
    assert!(expected < 0.9 && unlucky > n / 10, "{expected}, {unlucky} episodes of bad luck");
}
