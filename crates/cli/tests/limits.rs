//! Input without end, instances too large to train on, and signals while there is much to do.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// What is refused is refused at once, and small runs end soon, on a busy machine too.
const SOON: Duration = Duration::from_secs(180);

fn derrl(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_derrl"));
    command.current_dir(folder).env("NO_COLOR", "1").stdin(Stdio::null()).args(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The output of a command that has to end soon.
fn run(folder: &Path, args: &[&str]) -> (Option<i32>, String) {
    let begun = Instant::now();
    let mut child = derrl(folder, args).spawn().expect("the command starts");
    while child.try_wait().expect("it can be waited for").is_none() {
        if begun.elapsed() > SOON {
            let _ = child.kill();
            panic!("{args:?} takes too long");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let Output { status, stderr, .. } = child.wait_with_output().expect("it has ended");
    (status.code(), String::from_utf8_lossy(&stderr).into_owned())
}

#[test]
fn nothing_is_read_to_an_end_that_it_does_not_have() {
    let folder = TempDir::new().expect("a temporary folder");
    let at = folder.path();
    fs::create_dir(at.join("run")).expect("a folder");
    for link in ["d.pddl", "d.pl", "run/config.toml"] {
        std::os::unix::fs::symlink("/dev/zero", at.join(link)).expect("a link");
    }
    let cases: &[&[&str]] = &[
        &["check", "d.pl"],
        &["eval", "/dev/zero", "--domain", "blocks"],
        &["eval", "run"],
        &["train", "./d.pl"],
        &["train", "blocks", "--config", "/dev/zero", "--out", "new"],
        &["train", "d.pddl", "--train", "d.pddl"],
    ];
    for args in cases {
        let (code, said) = run(at, args);
        assert!(code == Some(2) || args[0] == "check" && code == Some(1), "{args:?}: {code:?} {said}");
        assert!(said.contains("more than") && said.contains("bytes"), "{args:?}: {said}");
    }
    assert!(!at.join("new").exists());
}

/// One problem of many that is too large is enough.
#[test]
fn training_on_a_huge_problem_is_refused_with_an_estimate() {
    let folder = TempDir::new().expect("a temporary folder");
    let at = folder.path();
    assert_eq!(run(at, &["new", "ferry"]).0, Some(0));
    let all = |name: &str, of: &dyn Fn(usize) -> String| -> String {
        (0..20_000).map(|i| of(i).replace('_', &format!("{name}{i}"))).collect()
    };
    let objects =
        format!("{} - location {} - car", all("l", &|_| "_ ".to_string()), all("c", &|_| "_ ".to_string()));
    let (at_start, goals) = (all("c", &|i| format!("(at _ l{i}) ")), all("c", &|_| "(at _ l0) ".to_string()));
    let problem = format!(
        "(define (problem huge) (:domain ferry) (:objects {objects})
          (:init (at-ferry l0) (empty-ferry) {at_start}) (:goal (and {goals})))"
    );
    fs::write(at.join("ferry/train/p9.pddl"), problem).expect("a file");
    let (code, said) = run(at, &["train", "ferry", "--out", "run"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("training on 40000 objects") && said.contains("memory"), "{said}");
}

#[test]
fn a_state_of_many_objects_is_explained_soon() {
    let folder = TempDir::new().expect("a temporary folder");
    let at = folder.path();
    let facts: Vec<String> = (0..30_000).map(|i| format!("top(b{i}). on(b{i}, floor).\n")).collect();
    let facts = facts.concat();
    fs::write(at.join("state.pl"), format!("isFloor(floor). goal_on(b0, b1).\n{facts}")).expect("a file");
    fs::write(at.join("policy.pl"), "0.99::move(X, Y) :- top(X), top(Y), goal_on(X, Y).\n").expect("a file");
    let (code, said) = run(at, &["explain", "policy.pl", "--domain", "blocks", "--state", "state.pl"]);
    assert_eq!(code, Some(0), "{said}");
}

/// Rules and definitions with more substitutions than anybody waits for are refused, whether or not they derive anything.
#[test]
fn one_decision_takes_so_much_work_and_no_more() {
    let folder = TempDir::new().expect("a temporary folder");
    let at = folder.path();
    let state = |blocks: usize| -> String {
        (0..blocks)
            .map(|i| format!("top(b{i}). on(b{i}, floor).\n"))
            .chain(["isFloor(floor).".into()])
            .collect()
    };
    fs::write(at.join("13.pl"), state(13)).expect("a file");
    fs::write(at.join("29.pl"), state(29)).expect("a file");
    let all = |atom: &str, names: &str| -> String {
        names.chars().map(|name| atom.replace('_', &name.to_string())).collect::<Vec<_>>().join(", ")
    };
    let eight = ["block"; 8].join(", ");
    let cases = [
        // 4.3e11 facts.
        (
            "29.pl",
            format!(
                ":- derived(p({eight})).\np(A, B, C, D, E, F, G, H) :- {}.\nmove(X, Y) :- top(X), isFloor(Y), p(X, A, B, C, D, E, F, G).\n",
                all("top(_)", "ABCDEFGH")
            ),
            "explodes",
        ),
        // No fact, by looking at all ways to put 14 blocks into 13 places.
        (
            "13.pl",
            format!(
                ":- derived(p).\np :- {}.\nmove(X, Y) :- top(X), isFloor(Y), p.\n",
                all("top(_)", "ABCDEFGHIJKLMN")
            ),
            "explodes",
        ),
        // The same in a rule.
        (
            "13.pl",
            format!("move(X, Y) :- isFloor(Y), on(X, Y), {}.\n", all("on(_, Y)", "ABCDEFGHIJKLM")),
            "too much work",
        ),
    ];
    for (state, policy, why) in cases {
        fs::write(at.join("policy.pl"), policy).expect("a file");
        let (code, said) = run(at, &["explain", "policy.pl", "--domain", "blocks", "--state", state]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(why) && said.contains("= help:"), "{said}");
    }
}

/// What if is answered by many decisions: it gives up where all together are too much.
#[test]
fn a_change_is_looked_for_with_so_much_work_and_no_more() {
    let folder = TempDir::new().expect("a temporary folder");
    let at = folder.path();
    let blocks: Vec<String> = (0..9).map(|i| format!("top(b{i}). on(b{i}, floor).\n")).collect();
    fs::write(at.join("state.pl"), format!("isFloor(floor).\n{}", blocks.concat())).expect("a file");
    // One block more than there are.
    let all = ('A'..='I').map(|v| format!(", on({v}, Y)")).collect::<Vec<_>>().concat();
    let never = |weight: usize| format!("0.{weight}::move(X, Y) :- isFloor(Y), on(X, Y){all}.\n");
    let rules = (6..9).map(never).collect::<String>() + "0.5::move(X, Y) :- top(X), isFloor(Y).\n";
    fs::write(at.join("policy.pl"), rules).expect("a file");
    let asked = ["explain", "policy.pl", "--domain", "blocks", "--state", "state.pl"];
    let answer = derrl(at, &asked).args(["--what-if", "move(b0, b1)"]).output().expect("it starts");
    assert_eq!(answer.status.code(), Some(0), "{answer:?}");
    let said = String::from_utf8_lossy(&answer.stdout);
    assert!(said.contains("for a change took too long"), "{said}");
}

fn terminate(child: &Child) {
    let status = Command::new("kill").arg(child.id().to_string()).status().expect("kill starts");
    assert!(status.success());
}

/// Whatever takes long: it ends soon after a signal, and says so.
#[test]
fn signals_are_answered_within_a_second() {
    let folder = TempDir::new().expect("a temporary folder");
    let at = folder.path();
    let many = "0.99::move(X, Y) :- top(X), top(Y), goal_on(X, Y).\n".repeat(40_000);
    fs::write(at.join("many.pl"), many).expect("a file");
    let few = "0.99::move(X, Y) :- top(X), top(Y), goal_on(X, Y).\n0.80::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n";
    fs::write(at.join("few.pl"), few).expect("a file");
    let cases: &[&[&str]] = &[
        &["simplify", "many.pl", "--domain", "blocks", "--max-objects", "5"],
        &["verify", "few.pl", "--domain", "blocks", "--max-objects", "9", "--every-state", "--force"],
        // Exploring would solve it before the signal comes.
        &[
            "train",
            "gridworld",
            "--out",
            "run",
            "--set",
            "without=explore,draw,change,try",
            "--set",
            "updates=100000",
            "--set",
            "doubling=false",
            "--max-steps",
            "1000000000",
        ],
    ];
    for args in cases {
        let mut child =
            derrl(at, args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(1500));
        assert!(child.try_wait().expect("it can be waited for").is_none(), "{args:?} ended by itself");
        terminate(&child);
        let begun = Instant::now();
        while child.try_wait().expect("it can be waited for").is_none() {
            assert!(begun.elapsed() < Duration::from_secs(3), "{args:?} goes on");
            std::thread::sleep(Duration::from_millis(10));
        }
        // Before it has begun its work, the signal ends it.
        let code = child.wait().expect("it has ended").code();
        assert!(code.is_none_or(|code| code == 130), "{args:?}: {code:?}");
    }
}

#[test]
fn a_link_in_the_place_of_event_files_is_not_followed() {
    let folder = TempDir::new().expect("a temporary folder");
    let at = folder.path();
    let settings = ["--set", "updates=5", "--set", "restarts=1", "--episodes", "2", "--no-report"];
    let train = |more: &[&str]| run(at, &[&["train", "blocks", "--out", "run"], more, &settings].concat());
    fs::create_dir(at.join("elsewhere")).expect("a folder");
    fs::create_dir(at.join("run")).expect("a folder");
    std::os::unix::fs::symlink(at.join("elsewhere"), at.join("run/tensorboard")).expect("a link");
    let (code, said) = train(&["--tensorboard"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("tensorboard is a link"), "{said}");
    assert_eq!(fs::read_dir(at.join("elsewhere")).expect("a folder").count(), 0);
}

const QUICK: [&str; 7] = ["--set", "updates=2", "--set", "restarts=1", "--episodes", "2", "--no-report"];

/// A run whose files have changed does not go on as if they had not.
#[test]
fn a_run_goes_on_with_the_files_it_began_with() {
    let folder = TempDir::new().expect("a temporary folder");
    let at = folder.path();
    assert_eq!(run(at, &["new", "ferry"]).0, Some(0));
    let (code, said) = run(at, &[&["train", "ferry", "--out", "run"][..], &QUICK].concat());
    assert_eq!(code, Some(0), "{said}");
    let refused = |why: &str| {
        let (code, said) = run(at, &["train", "--resume", "run"]);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains(why), "{said}");
    };
    let domain = fs::read_to_string(at.join("ferry/domain.pddl")).expect("the domain");
    fs::write(at.join("ferry/domain.pddl"), format!("{domain}\n; changed\n")).expect("a file");
    refused("ferry/domain.pddl has changed since this run began");
    fs::write(at.join("ferry/domain.pddl"), domain).expect("a file");
    fs::rename(at.join("ferry/train/p2.pddl"), at.join("p2.pddl")).expect("it can be moved");
    refused("ferry/train/p2.pddl is gone since this run began");
    fs::rename(at.join("p2.pddl"), at.join("ferry/train/p2.pddl")).expect("it can be moved");
    fs::copy(at.join("ferry/train/p2.pddl"), at.join("ferry/train/p99.pddl")).expect("it can be copied");
    refused("ferry/train/p99.pddl was not there when this run began");
    fs::remove_file(at.join("ferry/train/p99.pddl")).expect("it can be removed");
    assert_eq!(run(at, &["train", "--resume", "run", "--no-report"]).0, Some(0));
}

/// Whatever is changed in the configuration or the domain file, also before anything else was written.
#[test]
fn a_damaged_run_is_not_trained() {
    let folder = TempDir::new().expect("a temporary folder");
    let at = folder.path();
    assert_eq!(run(at, &[&["train", "blocks", "--out", "whole"][..], &QUICK].concat()).0, Some(0));
    fs::create_dir(at.join("run")).expect("a folder");
    let files =
        ["config.toml", "domain.pl"].map(|f| (f, fs::read(at.join("whole").join(f)).expect("a file")));
    for (damaged, (name, bytes)) in files.iter().enumerate() {
        fs::write(at.join("run").join(files[1 - damaged].0), &files[1 - damaged].1).expect("a file");
        for i in 0..12 {
            let mut changed = bytes.clone();
            let place = i * (bytes.len() - 1) / 11;
            match i % 3 {
                0 => changed[place] ^= 1,
                1 => changed.truncate(place),
                // A line is missing.
                _ => {
                    let text = String::from_utf8_lossy(bytes).into_owned();
                    let lines: Vec<&str> = text.lines().collect();
                    let at = i * (lines.len() - 1) / 11;
                    changed = [&lines[..at], &lines[at + 1..]].concat().join("\n").into_bytes();
                }
            }
            fs::write(at.join("run").join(name), &changed).expect("a file");
            let (code, said) = run(at, &["train", "--resume", "run"]);
            assert_eq!(code, Some(2), "{name}, {i}: {said}");
            assert!(!at.join("run/policy.pl").exists());
        }
    }
}

#[test]
fn what_a_run_cannot_take_is_refused() {
    let folder = TempDir::new().expect("a temporary folder");
    let at = folder.path();
    assert_eq!(run(at, &[&["train", "blocks", "--out", "run"][..], &QUICK].concat()).0, Some(0));
    let cases: &[&[&str]] = &[
        &["train", "--resume", "run", "--episodes", "3"],
        &["train", "--resume", "run", "--config", "run/config.toml"],
        &["train", "--resume", "run", "--freeze", "1"],
        &["train", "blocks", "--freeze", "1", "--out", "new"],
    ];
    for args in cases {
        let (code, said) = run(at, args);
        assert_eq!(code, Some(2), "{args:?}: {said}");
    }
    assert!(!at.join("new").exists());
}
