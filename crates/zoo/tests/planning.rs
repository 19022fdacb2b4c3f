//! The planning domains: every problem parses, small ones are searched for a plan, and rules written by hand solve the others.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use derrl_env::Env;
use derrl_learn::Actor;
use derrl_logic::{Decider, Facts, Policy, Source};
use derrl_pddl::generate::Generator;
use derrl_pddl::{PddlEnv, Plan, Problems, Solvability, Task, Translation, solvability};
use derrl_zoo::planning::{DOMAINS, Domain, find};

/// The compiled problems.
fn tasks(domain: &Domain, problems: &[(usize, u64)]) -> Vec<Arc<Task>> {
    let parsed = domain.domain().expect("the domain is well-formed");
    problems.iter().map(|&(size, seed)| domain.task(&parsed, size, seed).expect("problems parse")).collect()
}

#[test]
fn each_domain_has_a_generator_and_problems_that_are_drawn_again() {
    assert_eq!(DOMAINS.len(), 13);
    for domain in DOMAINS {
        assert!(Generator::find(domain.name).is_some(), "{}", domain.name);
        let (train, test) = (domain.training(), domain.testing());
        assert!(train.len() >= 12 && test.len() >= 18, "{}", domain.name);
        assert!(train.iter().map(|t| t.0).max() < test.iter().map(|t| t.0).min(), "tests are larger");
        for &(size, seed) in &train {
            assert_eq!(domain.problem(size, seed), domain.problem(size, seed));
        }
        let distinct: std::collections::BTreeSet<String> =
            train.iter().map(|&(size, seed)| domain.problem(size, seed)).collect();
        // Of the smallest there are only so many.
        assert!(distinct.len() + 4 >= train.len(), "{}: {} of {}", domain.name, distinct.len(), train.len());
    }
}

#[test]
fn no_training_problem_is_unsolvable_and_small_ones_are_seen_to_be_solvable() {
    for domain in DOMAINS {
        let problems = domain.training();
        let mut solved = 0;
        for (task, problem) in tasks(domain, &problems).iter().zip(&problems) {
            match solvability(task, 5_000) {
                Solvability::Solvable(_) => solved += 1,
                Solvability::Unknown { .. } => {}
                Solvability::Unsolvable { .. } => panic!("{} {problem:?} has no plan", domain.name),
            }
        }
        assert!(solved >= 3, "{}: {solved} of {} in reach", domain.name, problems.len());
    }
}

#[test]
fn the_largest_are_as_large_as_those_of_the_competition() {
    let count = |name: &str, ty: &str| -> usize {
        let domain = find(name).expect("it is one of the domains");
        let parsed = domain.domain().expect("the domain is well-formed");
        let &(size, seed) = domain.testing().last().expect("there are tests");
        let text = domain.problem(size, seed);
        // Lines of objects end with their type.
        let objects = text.split("(:init").next().expect("objects come first");
        let (mut of_type, mut names) = (0, 0);
        let words: Vec<&str> =
            objects.split("(:objects").nth(1).expect("there are some").split_whitespace().collect();
        let mut i = 0;
        while i < words.len() {
            if words[i] == "-" {
                if words.get(i + 1).is_some_and(|w| w.trim_end_matches(')') == ty) {
                    of_type += names;
                }
                (names, i) = (0, i + 2);
            } else {
                (names, i) = (names + 1, i + 1);
            }
        }
        assert!(Task::parse(&Source::new(name, text.clone()), &parsed).is_ok());
        of_type
    };
    for (name, ty, most) in [
        ("blocksworld", "block", 488),
        ("ferry", "car", 974),
        ("ferry", "location", 487),
        ("miconic", "passenger", 485),
        ("miconic", "floor", 196),
        ("spanner", "spanner", 487),
        ("spanner", "nut", 244),
        ("transport", "vehicle", 50),
        ("transport", "package", 194),
        ("transport", "location", 99),
        ("satellite", "satellite", 99),
        ("satellite", "instrument", 195),
        ("satellite", "direction", 98),
        ("childsnack", "child", 292),
        ("floortile", "robot", 28),
        ("floortile", "tile", 35 * 28),
        ("sokoban", "box", 79),
    ] {
        assert!(count(name, ty) >= most, "{name}: {} of {ty}", count(name, ty));
    }
}

/// Conditions that are about nothing that a rule acts on, as a learner may come up with. 25 million sandwiches could be made here.
#[test]
fn conditions_apart_from_the_rest_take_no_list_of_what_is_legal() {
    let rules = "0.9::serve_sandwich_no_gluten(S, C, T, P) :- waiting(C, P), no_gluten_bread(B), no_gluten_content(D).
        0.8::move_tray(T, P, Q) :- ontray(S, T), waiting(C, Q), \\+ served(C).
        0.7::put_on_tray(S, T) :- at_kitchen_sandwich(S).
        0.6::make_sandwich_no_gluten(S, B, D) :- notexist(S), allergic_gluten(C), \\+ served(C), at(T, P).
        0.5::make_sandwich(S, B, D) :- notexist(S), not_allergic_gluten(C), at(T, P).";
    let domain = find("childsnack").expect("it is one of the domains");
    for (size, steps) in [(4, 40), (292, 30)] {
        let all = tasks(domain, &[(size, 0)]);
        let translation =
            Translation::new(&all[0].domain, all.iter().map(AsRef::as_ref)).expect("it is said in rules");
        let alphabet = Arc::new(translation.alphabet().expect("it parses"));
        let (policy, alphabet) =
            Policy::read(&Source::new("apart.pl", rules), &alphabet).unwrap_or_else(|e| panic!("{e}"));
        let problems = Arc::new(Problems::new(&translation, &alphabet, all, None).expect("they fit"));
        let mut env = PddlEnv::new(problems).expect("there is something to do");
        let mut actor = Actor::new(&policy, &alphabet);
        let (mut world, mut ties) = derrl_learn::episode_streams(0, 0);
        for step in 0..steps {
            let mut again = ties.clone();
            let action = actor.act(&env, &mut ties);
            if size < 10 {
                let decider = Decider::new(&policy, &alphabet, env.universe());
                let mut facts = Facts::new(&alphabet);
                derrl_env::observe(&env, &mut facts);
                let mut legal = Vec::new();
                env.legal(&mut legal);
                let all = decider.decide_among(&facts, &alphabet, env.universe(), Some(&legal)).ties;
                assert_eq!(action, all[again.below(all.len())], "step {step}");
            }
            if env.step(action.action, &action.args, &mut world).status != derrl_env::Status::Running {
                break;
            }
        }
    }
}

/// How many of the problems the rules written by hand solve, and in how many steps.
fn by_hand(domain: &Domain, problems: &[(usize, u64)]) -> Vec<Option<usize>> {
    let tasks = tasks(domain, problems);
    let parsed = domain.domain().expect("the domain is well-formed");
    let translation =
        Translation::new(&parsed, tasks.iter().map(AsRef::as_ref)).expect("it is said in rules");
    let rules = domain.by_hand().expect("it has rules");
    let source = Source::new(domain.name, rules);
    let alphabet = Arc::new(translation.alphabet_for(&source).expect("it parses"));
    let (policy, alphabet) = Policy::read(&source, &alphabet).unwrap_or_else(|e| panic!("{e}"));
    let problems = Arc::new(Problems::new(&translation, &alphabet, tasks, None).expect("they fit"));
    let mut env = PddlEnv::new(Arc::clone(&problems)).expect("there is something to do");
    let mut played = Vec::new();
    for i in 0..problems.len() {
        if !problems.drawn().contains(&i) {
            played.push(Some(0));
            continue;
        }
        env.start(i);
        let mut actor = Actor::new(&policy, &alphabet);
        let (mut world, mut ties) = derrl_learn::episode_streams(0, i as u64);
        loop {
            let action = actor.act(&env, &mut ties);
            if env.step(action.action, &action.args, &mut world).status != derrl_env::Status::Running {
                break;
            }
        }
        played.push(env.succeeded().then(|| env.steps()));
    }
    played
}

#[test]
fn rules_written_by_hand_solve_what_is_trained_on_and_tested() {
    for domain in DOMAINS.iter().filter(|d| d.by_hand().is_some()) {
        let all: Vec<(usize, u64)> = domain.training().into_iter().chain(domain.testing()).collect();
        // The largest take too long without optimization.
        let half = all.iter().map(|p| p.0).max().unwrap_or(0) / 4;
        let some: Vec<(usize, u64)> = all.into_iter().filter(|p| p.0 <= half.max(8)).collect();
        let failed: Vec<&(usize, u64)> =
            by_hand(domain, &some).iter().zip(&some).filter(|(s, _)| s.is_none()).map(|(_, p)| p).collect();
        assert!(
            failed.is_empty(),
            "{}: {} of {} not solved: {failed:?}",
            domain.name,
            failed.len(),
            some.len()
        );
    }
}

/// Fast Downward, if the project's own tools have it: `pip install --no-deps up-fast-downward==1.0.0` in `.tools/pddl`.
const PLANNER: &str = "import importlib.util, os, subprocess, sys
home = os.path.dirname(importlib.util.find_spec('up_fast_downward').origin)
script = os.path.join(home, 'downward', 'fast-downward.py')
sys.exit(subprocess.call([sys.executable, script, '--alias', 'lama-first', '--overall-time-limit', '60s',
                          '--plan-file', 'plan', 'domain.pddl', 'problem.pddl'], stdout=subprocess.DEVNULL))";

#[test]
fn a_planner_solves_the_problems_for_which_no_rules_are_known() {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.tools/pddl/bin/python");
    let question =
        "import importlib.util, sys; sys.exit(importlib.util.find_spec('up_fast_downward') is None)";
    if !Command::new(&python).args(["-c", question]).output().is_ok_and(|o| o.status.success()) {
        println!("left out: Fast Downward is not installed in .tools/pddl");
        return;
    }
    let without = DOMAINS.iter().filter(|d| d.by_hand().is_none());
    let largest =
        without.flat_map(|d| d.training().into_iter().rev().take(3).map(move |problem| (d, problem)));
    for (domain, (size, seed)) in largest {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("planner-{}", domain.name));
        std::fs::create_dir_all(&folder).expect("a folder for the files");
        std::fs::write(folder.join("domain.pddl"), domain.text()).expect("a file");
        std::fs::write(folder.join("problem.pddl"), domain.problem(size, seed)).expect("a file");
        let plan = folder.join("plan");
        let _ = std::fs::remove_file(&plan);
        let output =
            Command::new(&python).args(["-c", PLANNER]).current_dir(&folder).output().expect("Python runs");
        assert!(output.status.success(), "{}: {}", domain.name, String::from_utf8_lossy(&output.stderr));
        let task = &tasks(domain, &[(size, seed)])[0];
        let source = Source::new("plan", std::fs::read_to_string(&plan).expect("a plan"));
        Plan::parse(&source, task)
            .and_then(|plan| plan.check(task))
            .unwrap_or_else(|e| panic!("{}: {e}", domain.name));
    }
}
