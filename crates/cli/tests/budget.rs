//! Runs that end within a budget: with the best policy so far, and saying so everywhere.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Instant;

use serde_json::Value;

fn run(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_derrl")).args(args).current_dir(folder).output().expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn result(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("result.json")).expect("there is a result");
    serde_json::from_str(&text).expect("one JSON document")
}

/// A run that takes minutes: exploring does not solve the world.
const LONG: &[&str] = &["train", "gridworld", "--set", "without=gradient", "--max-steps", "1000000000"];

/// A run that takes about a second.
const NUMBERS: &[&str] = &["train", "cartpole", "--seed", "3", "--max-steps", "1000000000"];

#[test]
fn a_run_ends_after_so_many_seconds_with_the_best_so_far() {
    // Without numbers and with them.
    for (args, first, then) in [(LONG, "1.5", "5"), (NUMBERS, "0.1", "0.4")] {
        let folder = tempfile::tempdir().expect("there is room");
        let at = folder.path();
        let more = ["--out", "run", "--max-seconds", first, "--episodes", "10"];
        let ended = format!("ended after {first} s");
        let begun = Instant::now();
        let done = run(at, &[args, &more].concat());
        assert!(begun.elapsed().as_secs_f64() < 30.0, "{args:?}");
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        assert!(text(&done.stdout).contains(&ended), "{}", text(&done.stdout));
        let told = result(&at.join("run"));
        assert_eq!(told["ended"]["by"], "max_seconds");
        assert!(told["rules"].as_array().is_some_and(|rules| !rules.is_empty()), "{told:#}");
        assert!(told["steps"].as_u64().is_some_and(|n| n > 1000), "{told:#}");
        let page = fs::read_to_string(at.join("run/report.html")).expect("there is a page");
        assert!(page.contains(&format!("This run {ended}")));
        let best = fs::read_to_string(at.join("run/best.pl")).expect("it may go on");
        let rules = told["policy"].as_str().expect("a text");
        assert!(best.starts_with("% The best so far, after ") && best.contains(rules), "{best}");

        // The time is up still; with more of it the run goes on.
        let again = run(at, &["train", "--resume", "run", "--no-report"]);
        assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
        assert_eq!(result(&at.join("run"))["policy"], told["policy"]);
        let longer = run(at, &["train", "--resume", "run", "--no-report", "--max-seconds", then]);
        assert_eq!(longer.status.code(), Some(0), "{}", text(&longer.stderr));
        assert!(result(&at.join("run"))["steps"].as_u64() > told["steps"].as_u64());
    }
}

#[test]
fn a_run_keeps_to_its_steps_and_says_so() {
    for (world, most) in [("gridworld", 20_000), ("cartpole", 30_000)] {
        let folder = tempfile::tempdir().expect("there is room");
        let at = folder.path();
        let steps = most.to_string();
        let args = ["train", world, "--out", "run", "--max-steps", &steps, "--episodes", "10", "--no-report"];
        let done = run(at, &args);
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        let told = result(&at.join("run"));
        // What is under way when they are used up is not cut off.
        assert!(told["steps"].as_u64().is_some_and(|n| n <= most + most / 4), "{world}: {}", told["steps"]);
        assert_eq!(told["ended"]["by"], "max_steps", "{world}: {told:#}");
        assert!(text(&done.stdout).contains("as asked: more steps may find better rules"));
    }
    // A run that ends by itself says nothing of a budget that it did not need.
    let folder = tempfile::tempdir().expect("there is room");
    let args =
        ["train", "blocks", "--out", "run", "--max-steps", "1000000", "--max-seconds", "600", "--no-report"];
    assert!(run(folder.path(), &args).status.success());
    assert_eq!(result(&folder.path().join("run"))["ended"], Value::Null);
    assert!(!folder.path().join("run/best.pl").exists());
}

#[test]
fn several_seeds_have_the_time_each() {
    let folder = tempfile::tempdir().expect("there is room");
    let more = ["--out", "runs", "--max-seconds", "0.7", "--episodes", "5", "--seeds", "0..1", "--no-report"];
    let done = run(folder.path(), &[LONG, &more].concat());
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
    for seed in ["seed-0", "seed-1"] {
        let told = result(&folder.path().join("runs").join(seed));
        assert_eq!(told["ended"]["by"], "max_seconds");
        assert!(told["steps"].as_u64().is_some_and(|n| n > 0), "{told:#}");
    }
}

#[test]
fn the_old_meaning_of_max_steps_is_explained() {
    let folder = tempfile::tempdir().expect("there is room");
    let at = folder.path();
    assert!(run(at, &["new", "ferry"]).status.success());
    for args in [
        &["plan", "run", "ferry/test/p1.pddl", "--max-steps", "50"][..],
        &["eval", "run", "--max-steps", "50"],
        &["train", "ferry", "--max-steps", "50"],
    ] {
        let refused = run(at, args);
        assert_eq!(refused.status.code(), Some(2), "{args:?}");
        assert!(text(&refused.stderr).contains("--horizon"), "{args:?}: {}", text(&refused.stderr));
    }
    for wrong in [&["--max-seconds", "0"], &["--max-seconds", "soon"], &["--max-steps", "0"]] {
        assert_eq!(run(at, &[&["train", "blocks"], &wrong[..]].concat()).status.code(), Some(2), "{wrong:?}");
    }
}
