//! The laws of every world: each runs over all rows of [`ENVS`] and all their tasks, so that a new world is tested by
//! existing.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::{Arc, OnceLock};

use derrl_env::{ENVS, Env, Error, Options, Outcome, Rng, Spec, Status, Task, find, make, observe};
use derrl_logic::{Action, Alphabet, Facts, GroundAction, Object, Pred, Role, Source};
use proptest::prelude::*;

/// No built-in instance takes more actions than this: an episode that does is a world without a horizon.
const LONGEST: usize = 1000;
/// Instances a law looks at, for each task.
const INSTANCES: u64 = 60;

/// Every task of every world that runs by itself. Those behind a simulator are too slow for these laws: one of their own
/// is below.
fn each_task(mut law: impl FnMut(&'static Spec, &'static Task, &Arc<Alphabet>)) {
    for spec in ENVS.iter().filter(|s| !is_simulated(s)) {
        let alphabet = spec.alphabet();
        for task in spec.tasks {
            law(spec, task, &alphabet);
        }
    }
}

/// Whether a world needs another program, be it installed or not.
fn is_simulated(spec: &'static Spec) -> bool {
    static KNOWN: OnceLock<Vec<bool>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| {
        let made = |s: &'static Spec| make(s, &s.alphabet(), s.tasks[0].name, &Options::default());
        ENVS.iter()
            .map(|s| match made(s) {
                Ok(env) => env.simulator().is_some(),
                Err(e) => matches!(e, Error::Simulator(_)),
            })
            .collect()
    });
    ENVS.iter().zip(known).any(|(s, &simulated)| s.name == spec.name && simulated)
}

fn world(spec: &'static Spec, task: &Task, alphabet: &Arc<Alphabet>) -> Box<dyn Env> {
    make(spec, alphabet, task.name, &Options::default())
        .unwrap_or_else(|e| panic!("{} / {} with default options: {e}", spec.name, task.name))
}

fn facts_of(env: &dyn Env, alphabet: &Alphabet) -> Facts {
    let mut facts = Facts::new(alphabet);
    observe(env, &mut facts);
    facts
}

/// A walk of uniformly random legal actions to the end of an episode: every action with what it brought.
fn walk(
    env: &mut dyn Env,
    actions: &[GroundAction],
    choices: &mut Rng,
    world: &mut Rng,
) -> Vec<(usize, Outcome)> {
    let mut taken = Vec::new();
    loop {
        let a = choices.below(actions.len());
        let outcome = env.step(actions[a].action, &actions[a].args, world);
        taken.push((a, outcome));
        if outcome.status != Status::Running {
            return taken;
        }
        assert!(taken.len() < LONGEST, "no end after {LONGEST} actions");
    }
}

#[test]
fn domain_files_parse_without_warnings_and_name_their_world() {
    for spec in ENVS {
        let source = Source::new(format!("{}.pl", spec.name), spec.domain);
        let (alphabet, warnings) = Alphabet::check(&source).unwrap_or_else(|e| panic!("{e}"));
        assert!(warnings.is_empty(), "{}", warnings[0]);
        assert_eq!(alphabet.environment.as_deref(), Some(spec.name));
    }
}

#[test]
fn rows_of_the_table_are_distinct_and_described() {
    let mut names: Vec<&str> = ENVS.iter().map(|s| s.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), ENVS.len());
    for spec in ENVS {
        assert!(!spec.summary.is_empty());
        assert!(
            spec.tasks.first().is_some_and(|t| t.scored),
            "{}: the first task is the one trained on",
            spec.name
        );
        let mut tasks: Vec<&str> = spec.tasks.iter().map(|t| t.name).collect();
        tasks.sort_unstable();
        tasks.dedup();
        assert_eq!(tasks.len(), spec.tasks.len(), "{}: task names repeat", spec.name);
        assert!(spec.tasks.iter().all(|t| !t.summary.is_empty()));
    }
}

#[test]
fn a_seed_replays() {
    each_task(|spec, task, alphabet| {
        let trace = |seed| {
            let mut env = world(spec, task, alphabet);
            let (mut choices, mut rng) = (Rng::new(seed, 1), Rng::new(seed, 2));
            let mut trace = Vec::new();
            for _ in 0..5 {
                env.reset(&mut rng);
                let actions = env.universe().ground_actions(alphabet);
                trace.push((facts_of(env.as_ref(), alphabet), env.best_return(), Vec::new()));
                for _ in 0..LONGEST {
                    let a = &actions[choices.below(actions.len())];
                    let outcome = env.step(a.action, &a.args, &mut rng);
                    trace.push((facts_of(env.as_ref(), alphabet), outcome.reward, vec![outcome.status]));
                    if outcome.status != Status::Running {
                        break;
                    }
                }
            }
            trace
        };
        for seed in 0..5 {
            assert_eq!(trace(seed), trace(seed), "{} / {} seed {seed}", spec.name, task.name);
        }
    });
}

/// The same law for worlds behind a simulator, over a few decisions; nothing where the simulator is not installed.
#[test]
fn a_seed_replays_in_a_simulator() {
    for spec in ENVS.iter().filter(|s| is_simulated(s)) {
        let alphabet = spec.alphabet();
        let trace = || {
            let mut env = make(spec, &alphabet, spec.tasks[0].name, &Options::default()).ok()?;
            let (mut choices, mut rng) = (Rng::new(1, 1), Rng::new(1, 2));
            env.reset(&mut rng);
            let mut trace = Vec::new();
            for _ in 0..60 {
                let actions = env.universe().ground_actions(&alphabet);
                let a = &actions[choices.below(actions.len())];
                let facts = facts_of(env.as_ref(), &alphabet).show(&alphabet, env.universe());
                let outcome = env.step(a.action, &a.args, &mut rng);
                assert_eq!(env.fault(), None);
                trace.push((facts, outcome.reward, outcome.status));
            }
            Some(trace)
        };
        assert_eq!(trace(), trace(), "{}", spec.name);
    }
}

#[test]
fn restart_returns_to_the_initial_state() {
    each_task(|spec, task, alphabet| {
        let mut env = world(spec, task, alphabet);
        let mut rng = Rng::new(3, 0);
        for _ in 0..INSTANCES {
            env.reset(&mut rng);
            let universe = Arc::clone(env.universe());
            let initial = (facts_of(env.as_ref(), alphabet), env.code(), env.best_return());
            let actions = env.universe().ground_actions(alphabet);
            let mut choices = rng.clone();
            walk(env.as_mut(), &actions, &mut choices, &mut rng);
            env.restart();
            let again = (facts_of(env.as_ref(), alphabet), env.code(), env.best_return());
            assert_eq!(initial, again, "{} / {}", spec.name, task.name);
            assert!(Arc::ptr_eq(&universe, env.universe()));
            assert!(!env.succeeded(), "{} / {}: nothing is left to do", spec.name, task.name);
        }
    });
}

#[test]
fn legal_actions_exist_and_are_well_typed() {
    each_task(|spec, task, alphabet| {
        let mut env = world(spec, task, alphabet);
        let mut rng = Rng::new(4, 0);
        for _ in 0..INSTANCES {
            env.reset(&mut rng);
            let universe = env.universe();
            let actions = universe.ground_actions(alphabet);
            assert!(!actions.is_empty());
            for a in &actions {
                let types = &alphabet.action(a.action).args;
                assert_eq!(a.args.len(), types.len());
                let fits = |(o, &t): (&Object, _)| alphabet.types.is_subtype(universe.type_of(*o), t);
                assert!(a.args.iter().zip(types).all(fits), "{} / {}", spec.name, task.name);
            }
        }
    });
}

#[test]
fn facts_are_well_typed() {
    each_task(|spec, task, alphabet| {
        let mut env = world(spec, task, alphabet);
        let mut rng = Rng::new(5, 0);
        for _ in 0..INSTANCES {
            env.reset(&mut rng);
            let universe = env.universe();
            for (pred, args) in facts_of(env.as_ref(), alphabet).iter() {
                let types = &alphabet.predicate(pred).args;
                let fits = |(o, &t): (&Object, _)| alphabet.types.is_subtype(universe.type_of(*o), t);
                let shown = universe.show(&alphabet.predicate(pred).name, args);
                assert!(args.iter().zip(types).all(fits), "{} / {}: {shown}", spec.name, task.name);
            }
        }
    });
}

/// An episode that succeeds terminates, one that is cut off has not succeeded; no return beats the best-known one
/// (of these dynamics, none of which is random by default), and every number is a number.
#[test]
fn ends_and_rewards_are_as_declared() {
    each_task(|spec, task, alphabet| {
        let name = format!("{} / {}", spec.name, task.name);
        let mut env = world(spec, task, alphabet);
        let (mut choices, mut rng) = (Rng::new(6, 0), Rng::new(6, 1));
        for _ in 0..INSTANCES {
            env.reset(&mut rng);
            let actions = env.universe().ground_actions(alphabet);
            let best = env.best_return();
            assert!(best.is_finite(), "{name}");
            for _ in 0..4 {
                env.restart();
                let taken = walk(env.as_mut(), &actions, &mut choices, &mut rng);
                let total: f64 = taken.iter().map(|(_, o)| o.reward).sum();
                assert!(taken.iter().all(|(_, o)| o.reward.is_finite()), "{name}");
                assert!(total <= best + 1e-9, "{name}: a return of {total} beats the best-known {best}");
                let end = taken[taken.len() - 1].1.status;
                if env.succeeded() {
                    assert_eq!(end, Status::Terminated, "{name}");
                }
            }
        }
    });
}

#[test]
fn codes_tell_states_apart_exactly_as_facts_do() {
    each_task(|spec, task, alphabet| {
        let mut env = world(spec, task, alphabet);
        let (mut choices, mut rng) = (Rng::new(7, 0), Rng::new(7, 1));
        // Universes are compared by value: instances with the same objects are in one universe.
        let mut universes = Vec::new();
        let mut by_code: HashMap<(usize, u128), Vec<String>> = HashMap::new();
        let mut by_facts: HashMap<(usize, Vec<String>), u128> = HashMap::new();
        for _ in 0..3 * INSTANCES {
            env.reset(&mut rng);
            let universe = Arc::clone(env.universe());
            let u = universes.iter().position(|v| *v == universe).unwrap_or_else(|| {
                universes.push(Arc::clone(&universe));
                universes.len() - 1
            });
            let actions = universe.ground_actions(alphabet);
            for _ in 0..LONGEST {
                if let Some(code) = env.code() {
                    let shown = facts_of(env.as_ref(), alphabet).show(alphabet, &universe);
                    let known = by_code.entry((u, code)).or_insert_with(|| shown.clone());
                    assert_eq!(*known, shown, "{} / {}: one code, two states", spec.name, task.name);
                    let known = *by_facts.entry((u, shown)).or_insert(code);
                    assert_eq!(known, code, "{} / {}: one state, two codes", spec.name, task.name);
                }
                let a = &actions[choices.below(actions.len())];
                if env.step(a.action, &a.args, &mut rng).status != Status::Running {
                    break;
                }
            }
        }
    });
}

/// Where a world keeps a journal, the initial facts with its changes are the facts of every later state.
#[test]
fn journals_tell_what_changed() {
    let mut kept = Vec::new();
    each_task(|spec, task, alphabet| {
        // Beyond the default size, which may be too small for a journal to be worth it.
        let larger = Options { size: Some(12), ..Options::default() };
        for options in [Options::default(), larger] {
            let Ok(mut env) = make(spec, alphabet, task.name, &options) else { continue };
            env.reset(&mut Rng::new(0, 0));
            if env.journal().is_some() {
                kept.push(spec.name);
                let changes: usize =
                    (0..INSTANCES / 4).map(|seed| check_journal(env.as_mut(), alphabet, seed)).sum();
                assert!(changes > 100, "{} / {}: {changes} changes", spec.name, task.name);
            }
        }
    });
    kept.dedup();
    assert_eq!(kept, ["blocks", "gridworld"]);
}

/// Follows the journal through an episode of random actions. How many changes there were.
fn check_journal(env: &mut dyn Env, alphabet: &Alphabet, seed: u64) -> usize {
    let (mut rng, mut choices) = (Rng::new(seed, 0), Rng::new(seed, 1));
    env.reset(&mut rng);
    let (episode, length) = env.journal().map(|j| (j.episode(), j.len())).expect("it keeps a journal");
    assert_eq!(length, 0, "nothing has happened yet");
    let actions = env.universe().ground_actions(alphabet);
    let mut facts = facts_of(env, alphabet);
    let mut read = 0;
    let mut status = Status::Running;
    while status == Status::Running {
        let action = &actions[choices.below(actions.len())];
        status = env.step(action.action, &action.args, &mut rng).status;
        let journal = env.journal().expect("a world that keeps a journal always does");
        assert_eq!(journal.episode(), episode);
        for (pred, args, holds) in journal.since(read) {
            assert_eq!(facts.flip(pred, args), holds, "only changes are noted");
        }
        read = journal.len();
        assert_eq!(facts, facts_of(env, alphabet));
    }
    env.restart();
    let journal = env.journal().expect("a world that keeps a journal always does");
    assert!(journal.is_empty() && journal.episode() != episode, "another episode, another journal");
    read
}

#[test]
fn background_is_fixed_during_an_episode() {
    each_task(|spec, task, alphabet| {
        let background = |facts: &Facts| -> Vec<(Pred, Vec<Object>)> {
            let fixed = |p: &Pred| alphabet.predicate(*p).role == Role::Background;
            facts.iter().filter(|(p, _)| fixed(p)).map(|(p, args)| (p, args.to_vec())).collect()
        };
        let mut env = world(spec, task, alphabet);
        let (mut choices, mut rng) = (Rng::new(8, 0), Rng::new(8, 1));
        for _ in 0..INSTANCES {
            env.reset(&mut rng);
            let initial = background(&facts_of(env.as_ref(), alphabet));
            let actions = env.universe().ground_actions(alphabet);
            for _ in 0..LONGEST {
                let a = &actions[choices.below(actions.len())];
                let outcome = env.step(a.action, &a.args, &mut rng);
                assert_eq!(
                    initial,
                    background(&facts_of(env.as_ref(), alphabet)),
                    "{} / {}",
                    spec.name,
                    task.name
                );
                if outcome.status != Status::Running {
                    break;
                }
            }
        }
    });
}

#[test]
fn an_alphabet_without_types_works_too() {
    each_task(|spec, task, alphabet| {
        let untyped = Arc::new(alphabet.untyped());
        let mut env = world(spec, task, &untyped);
        let mut rng = Rng::new(9, 0);
        env.reset(&mut rng);
        let actions = env.universe().ground_actions(&untyped);
        let mut choices = rng.clone();
        walk(env.as_mut(), &actions, &mut choices, &mut rng);
    });
}

#[test]
fn an_alphabet_may_leave_out_predicates_but_not_add_any() {
    for spec in ENVS.iter().filter(|s| !is_simulated(s)) {
        let mut less = (*spec.alphabet()).clone();
        less.predicates.truncate(1);
        less.constraints.clear();
        let less = Arc::new(less);
        let mut env = world(spec, &spec.tasks[0], &less);
        env.reset(&mut Rng::new(0, 0));
        facts_of(env.as_ref(), &less);

        let mut more = (*spec.alphabet()).clone();
        more.predicates[0].name.push_str("_no_world_has_this");
        let made = make(spec, &Arc::new(more), spec.tasks[0].name, &Options::default());
        assert!(matches!(made.err(), Some(Error::Vocabulary { .. })), "{}", spec.name);
    }
}

#[test]
fn what_does_not_exist_is_refused_with_the_nearest_name() {
    for spec in ENVS {
        let mistyped = &spec.name[..spec.name.len() - 1];
        let error = find(mistyped).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains(spec.name), "{error}");
        let mistyped = &spec.tasks[0].name[1..];
        let error = spec.task(mistyped).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains(spec.tasks[0].name), "{error}");
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
    ]
}

#[test]
fn options_are_taken_by_some_task_or_refused_by_all() {
    for spec in ENVS {
        for name in spec.options {
            assert!(options().iter().any(|o| o.0 == *name), "{name} is not among the options tested here");
        }
    }
    for spec in ENVS.iter().filter(|s| !is_simulated(s)) {
        let alphabet = spec.alphabet();
        for (name, good, bad) in options() {
            let taken = |options: &Options| -> Vec<Result<Box<dyn Env>, Error>> {
                spec.tasks.iter().map(|t| make(spec, &alphabet, t.name, options)).collect()
            };
            assert_eq!(
                spec.options.contains(&name),
                taken(&good).iter().any(Result::is_ok),
                "{} --{name}",
                spec.name
            );
            for made in bad.iter().flat_map(taken) {
                assert!(matches!(made.err(), Some(Error::Option(_))), "{} --{name} out of range", spec.name);
            }
        }
        let nan = Options { noise: Some(f64::NAN), ..Options::default() };
        assert!(make(spec, &alphabet, spec.tasks[0].name, &nan).is_err());
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
        let mut env = make(spec, &alphabet, "large", &options).expect("task large takes a size");
        let goal_on = alphabet.find_predicate("goal_on", 2).expect("blocks has it");
        let mut rng = Rng::new(10, size as u64);
        let mut checked = HashSet::new();
        while checked.len() < states {
            env.reset(&mut rng);
            let a_on_b = facts_of(env.as_ref(), &alphabet).holds(goal_on, &[Object(0), Object(1)]);
            if a_on_b && checked.insert(env.code()) {
                let best = env.best_return();
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
    let mut env = make(spec, &alphabet, task, &Options::default()).expect("it has the task");
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
        let mut env = make(spec, &alphabet, task, &Options::default()).expect("it has the task");
        for _ in 0..2000 {
            env.reset(&mut rng);
            assert!([6, 10].contains(&env.universe().len()));
            assert!(obstacles.contains(&shown(env.as_ref(), &alphabet, "obs").len()));
        }
    }
    for (size, obstacles) in [(2, 2), (3, 4), (10, 50), (40, 0), (100, 1000)] {
        let options = Options { size: Some(size), obstacles: Some(obstacles), ..Options::default() };
        let mut env = make(spec, &alphabet, "large", &options).expect("within the ranges");
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
    let mut env = make(spec, &alphabet, "train", &Options::default()).expect("it has the task");
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
