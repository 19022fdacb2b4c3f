//! `derrl verify --certificate`, checked by `checker/check.py`: a program of its own, which shares no code with this one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const BLOCKS: &str =
    "0.99::move(X, Y) :- top(X), top(Y), goal_on(X, Y).\n0.80::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n";
const SWINGS: &str = "0.98::move(X, Y) :- on(X, floor), \\+ goal_on(X, Y).\n0.99::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n";
const NAMED: &str =
    "move(X, Y) :- top(X), isFloor(Y), on(X, b).\n0.5::move(X, Y) :- top(X), top(Y), goal_on(X, Y).\n";
const MISPLACED: &str = ":- derived(misplaced(block)).\nmisplaced(X) :- on(X, Y), \\+ goal_on(X, Y).\n\
    misplaced(X) :- on(X, Y), misplaced(Y).\n1.00::move(X, Y) :- goal_on(X, Y), \\+ misplaced(Y).\n\
    0.90::move(X, Y) :- isFloor(Y), misplaced(X).\n";
const COUNTDOWN: &str =
    "add :- acc(X), goal(Y), less(X, Y).\nsub :- acc(X), goal(Y), less(Y, X).\nnull :- acc(X), goal(X).\n";
const CAREFUL: &str = "up :- curr(X, Y), north, succ(Y, Z), \\+ obs(X, Z).\ndown :- curr(X, Y), south, succ(Z, Y), \\+ obs(X, Z).\n\
    left :- curr(X, Y), west, succ(Z, X), \\+ obs(Z, Y).\nright :- curr(X, Y), east, succ(X, Z), \\+ obs(Z, Y).\n";
const NEARER: &str = "up :- curr(X, Y), nearer(X, Y, X, Z), succ(Y, Z).\ndown :- curr(X, Y), nearer(X, Y, X, Z), succ(Z, Y).\n\
    left :- curr(X, Y), nearer(X, Y, Z, Y), succ(Z, X).\nright :- curr(X, Y), nearer(X, Y, Z, Y), succ(X, Z).\n";
const KEYS: &str = "0.9::pick(X) :- key(X), samecolor(X, Y), door(Y), notcarrying.\n\
    0.95::open(X) :- locked(X), samecolor(X, Y), carrying(Y).\n0.99::goto(X) :- goal(X), unlocked.\n";
const LOCKED_KEYS: &str = "0.9::pick(X) :- key(X), samecolor(X, Y), locked(Y), notcarrying.\n\
    0.95::open(X) :- locked(X), samecolor(X, Y), carrying(Y).\n0.99::goto(X) :- goal(X), unlocked.\n";
const ABOVE: &str = ":- closure(above, on).\n0.9::move(X, Y) :- top(X), top(Y), goal_on(X, Y).\n\
    0.8::move(X, Y) :- top(X), isFloor(Y), above(X, Z), goal_on(Z, W).\n0.7::move(X, Y) :- top(X), isFloor(Y), above(X, Z), goal_on(W, Z).\n";

/// Every world that can be walked, with every verdict: domain, policy, arguments, verdict.
const CASES: &[(&str, &str, &str, &str)] = &[
    ("blocks", BLOCKS, "--max-objects 6", "proved"),
    ("blocks", BLOCKS, "--max-objects 4 --every-state", "proved"),
    ("blocks", ABOVE, "--max-objects 4", "proved-if-ties-are-random"),
    ("blocks", SWINGS, "--max-objects 4", "refuted"),
    ("blocks", NAMED, "--max-objects 4", "proved-if-ties-are-random"),
    ("blocks", "", "--max-objects 4", "proved-if-ties-are-random"),
    ("countdown", COUNTDOWN, "--max-objects 3", "proved"),
    ("countdown", "null :- acc(X).\n", "--max-objects 3", "refuted"),
    ("gridworld", CAREFUL, "--max-objects 3 --obstacles 1", "proved-if-ties-are-random"),
    ("gridworld", CAREFUL, "--max-objects 3", "refuted"),
    ("NEARER", NEARER, "--max-objects 3 --obstacles 1", "proved"),
    ("doorkey", KEYS, "--max-objects 5", "proved-if-ties-are-random"),
    ("doorkey", LOCKED_KEYS, "--max-objects 5", "proved-if-ties-are-random"),
    ("doorkey", "goto(X) :- goal(X).\n", "--max-objects 3", "refuted"),
    ("rearrange", MISPLACED, "--max-objects 4", "proved"),
    ("rearrange", MISPLACED, "--max-objects 3 --every-state", "proved"),
    ("rearrange", BLOCKS, "--max-objects 3", "refuted"),
];

fn derrl(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_derrl"));
    command.current_dir(folder).args(args).stdin(Stdio::null()).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A program of the checker.
fn python(folder: &Path, program: &str, args: &[&str]) -> Output {
    let program = root().join("checker").join(program);
    let mut command = Command::new("python3");
    command.arg("-B").arg(program).args(args).current_dir(folder).output().expect("Python 3 is there")
}

fn check(folder: &Path, more: &[&str]) -> Output {
    let files = ["c.jsonl", "--domain", "domain.pl", "--policy", "policy.pl"];
    python(folder, "check.py", &[&files, more].concat())
}

/// A folder with the files of a case, and its certificate.
fn certified(case: &(&str, &str, &str, &str), more: &[&str]) -> TempDir {
    let (domain, policy, args, verdict) = *case;
    let folder = TempDir::new().expect("a temporary folder");
    let at = folder.path();
    let domain = match domain {
        "NEARER" => fs::read_to_string(root().join("examples/derived/gridworld.pl")).expect("an example"),
        name => text(&derrl(at, &["domains", name]).stdout),
    };
    fs::write(at.join("domain.pl"), domain).expect("a file can be written");
    fs::write(at.join("policy.pl"), policy).expect("a file can be written");
    let mut all =
        vec!["verify", "policy.pl", "--domain", "./domain.pl", "--certificate", "c.jsonl", "--json"];
    all.extend(args.split(' '));
    all.extend(more);
    let output = derrl(at, &all);
    let told: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&output.stderr)));
    assert_eq!(told["verdict"], verdict, "{case:?}");
    folder
}

#[test]
fn what_is_true_is_accepted() {
    for case in CASES {
        let folder = certified(case, &[]);
        let output = check(folder.path(), &[]);
        assert_eq!(output.status.code(), Some(0), "{case:?}: {}", text(&output.stderr));
        let said = text(&output.stdout);
        let expected = match case.3 {
            "proved" => "however ties are broken",
            "refuted" => "does not reach the goal",
            _ => "if ties are random",
        };
        assert!(said.starts_with("yes: the policy ") && said.contains(expected), "{case:?}: {said}");
    }
}

/// More than 1,000 certificates that say something that is not so.
#[test]
fn what_is_not_true_is_rejected() {
    let mut rejected = 0;
    for case in CASES.iter().filter(|case| case.2 != "--max-objects 6" && case.0 != "NEARER") {
        let folder = certified(case, &[]);
        let output = python(folder.path(), "mutate.py", &["75", "c.jsonl", "domain.pl", "policy.pl"]);
        assert!(output.status.success(), "{case:?}: {}", text(&output.stderr));
        rejected += 75;
    }
    assert!(rejected >= 1000);
}

/// A certificate of one policy is none of another.
#[test]
fn another_policy_is_rejected() {
    let folder = certified(&CASES[0], &[]);
    for policy in [
        "",
        SWINGS,
        NAMED,
        &BLOCKS.replace("goal_on(X, Y)", "goal_on(Y, X)"),
        &BLOCKS.replace("0.80", "0.99"),
    ] {
        fs::write(folder.path().join("policy.pl"), policy).expect("a file can be written");
        let output = check(folder.path(), &[]);
        assert_eq!(output.status.code(), Some(1), "{policy}: {}", text(&output.stdout));
        assert!(text(&output.stderr).starts_with("no: "));
    }
    fs::write(folder.path().join("policy.pl"), "move(X, Y) :- top(X) | top(Y).")
        .expect("a file can be written");
    assert_eq!(check(folder.path(), &[]).status.code(), Some(2), "this cannot be read");
}

/// A file without end is not read to its end.
#[test]
fn a_file_that_is_too_large_is_refused() {
    let folder = certified(&CASES[1], &[]);
    let output =
        python(folder.path(), "check.py", &["c.jsonl", "--domain", "domain.pl", "--policy", "/dev/zero"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("it has more than"), "{}", text(&output.stderr));
}

/// What is forbidden is no choice, and whether everything ever is is checked too.
#[test]
fn shields_are_checked() {
    let files = ["--shield", "shield.pl"];
    let shields = [
        (
            "never(move(X, Y)) :- isFloor(Y), on(Z, Y), goal_on(X, W), on(X, W).\n",
            "never does what is forbidden",
        ),
        (
            "never(move(X, Y)) :- isFloor(Y).\nnever(move(X, Y)) :- top(X), top(Y).\nnever(move(X, Y)) :- on(X, Y).\n",
            "",
        ),
    ];
    for (rules, said) in shields {
        let folder = TempDir::new().expect("a temporary folder");
        let at = folder.path();
        fs::write(at.join("domain.pl"), derrl(at, &["domains", "blocks"]).stdout)
            .expect("a file can be written");
        fs::write(at.join("policy.pl"), BLOCKS).expect("a file can be written");
        fs::write(at.join("shield.pl"), rules).expect("a file can be written");
        let args = [
            "verify",
            "policy.pl",
            "--domain",
            "./domain.pl",
            "--max-objects",
            "4",
            "--certificate",
            "c.jsonl",
        ];
        derrl(at, &[&args[..], &files].concat());
        let output = check(at, &files);
        assert_eq!(output.status.code(), Some(0), "{rules}: {}", text(&output.stderr));
        assert!(text(&output.stdout).contains(said), "{rules}: {}", text(&output.stdout));
    }
}

/// The checker stays small enough to be read.
#[test]
fn the_checker_is_small() {
    let checker = fs::read_to_string(root().join("checker/check.py")).expect("the checker");
    let mut in_words = false;
    let code = checker.lines().filter(|line| {
        let line = line.trim();
        let quotes = line.starts_with("\"\"\"");
        let is_words = in_words || quotes;
        in_words = if quotes {
            !in_words && (line.len() < 6 || !line.ends_with("\"\"\""))
        } else {
            in_words && !line.ends_with("\"\"\"")
        };
        !is_words && !line.is_empty() && !line.starts_with('#')
    });
    let code = code.count();
    assert!(code > 100 && code <= 500, "{code} lines");
}
