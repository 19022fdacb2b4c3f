//! `derrl explain` as a person uses it: episodes and states given by hand, ties, colour, and questions that make no sense.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const FILES: &[(&str, &str)] = &[
    (
        "policy.pl",
        "0.99::move(X, Y) :- top(X), top(Y), goal_on(X, Y).\n0.80::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n",
    ),
    ("walk.pl", "up :- north.\ndown :- south.\nleft :- west.\nright :- east.\n"),
    ("count.pl", "add :- acc(X), goal(Y), less(X, Y).\n"),
    // A situation that never came up: four blocks, two towers.
    (
        "towers.pl",
        "top(a). on(a, c). on(c, floor). top(d). on(d, b). on(b, floor).\ngoal_on(a, b). isFloor(floor).\n",
    ),
    ("bare.pl", "top(a). on(a, floor).\n"),
    ("corner.pl", "curr(x0, y0). north. east. northeast. target(x1, y1).\n"),
    ("number.pl", "curr(3). last(3). acc(2). goal(5).\n"),
    ("predicate.pl", "top(a). topp(b).\n"),
    ("constant.pl", "top(zebra).\n"),
    ("variable.pl", "on(a, X).\n"),
    ("rule.pl", "top(a) :- on(a, floor).\n"),
    ("action.pl", "move(a, floor).\n"),
    ("arity.pl", "top(a, b).\n"),
    ("empty.pl", "% nothing\n"),
    ("unended.pl", "top(a)\n"),
];

fn folder() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    for (name, text) in FILES {
        std::fs::write(folder.path().join(name), text).expect("a file can be written");
    }
    folder
}

fn run(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_derrl"));
    command.current_dir(folder).arg("explain").args(args).stdin(Stdio::null());
    command.env_remove("NO_COLOR").output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&output.stderr)))
}

#[test]
fn a_state_given_by_hand() {
    let folder = folder();
    let args = ["policy.pl", "--domain", "blocks", "--state", "towers.pl"];
    let asked = ["--why-not", "move(a,b)", "--what-if", "move( a , b )"];
    let output = run(folder.path(), &[&args[..], &asked].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    insta::assert_snapshot!("explain_state", text(&output.stdout));
    assert!(output.stderr.is_empty(), "nothing is missing");
    let told = json(&run(folder.path(), &[&args[..], &asked, &["--json"]].concat()));
    let step = &told["steps"][0];
    assert_eq!(step["facts"].as_array().map(Vec::len), Some(8));
    assert_eq!(step["ties"], serde_json::json!(["move(a, floor)", "move(d, floor)"]));
    assert_eq!(
        step["others"].as_array().map(Vec::len),
        Some(4 * 4 - 1),
        "every other action is answered for"
    );
    assert_eq!(step["what_if"]["action"], "move(a, b)");
    assert_eq!(told["objects"].as_array().map(Vec::len), Some(5));
}

#[test]
fn background_that_a_file_leaves_out() {
    let folder = folder();
    let args = ["count.pl", "--domain", "countdown", "--state", "number.pl"];
    let bare = run(folder.path(), &args);
    assert!(bare.status.success());
    assert_eq!(
        text(&bare.stderr),
        "note: number.pl: no facts of `less/2`, which rules need; with --task train, such background is that of an instance\n"
    );
    assert!(text(&bare.stdout).contains("no rule fires"));
    let full = run(folder.path(), &[&args[..], &["--task", "train"]].concat());
    assert!(full.status.success() && full.stderr.is_empty());
    assert!(text(&full.stdout).contains("since acc(2), goal(5), less(2, 5)"));
}

#[test]
fn ties_are_shown_as_ties() {
    let folder = folder();
    let args = ["walk.pl", "--domain", "gridworld", "--state", "corner.pl"];
    let mut chosen = std::collections::BTreeSet::new();
    for seed in 0..8 {
        let seed = seed.to_string();
        let output = run(folder.path(), &[&args[..], &["--seed", &seed, "--why-not", "up"]].concat());
        let said = text(&output.stdout);
        let up = said.contains("\n  up\n");
        assert!(said.contains(if up { "  ties with right\n" } else { "  ties with up\n" }), "{said}");
        let answer = if up { "up is what was chosen" } else { "not up: it ties, and chance chose another" };
        assert!(said.contains(answer), "{said}");
        chosen.insert(up);
    }
    assert_eq!(chosen.len(), 2, "chance breaks ties, by the seed");
}

#[test]
fn colour_is_for_those_who_see_it() {
    let folder = folder();
    let args = ["policy.pl", "--domain", "blocks"];
    let plain = text(&run(folder.path(), &args).stdout);
    assert!(!plain.contains('\x1b'), "a pipe is no terminal");
    let painted = text(&run(folder.path(), &[&args[..], &["--color", "always"]].concat()).stdout);
    assert!(painted.contains("\x1b[36m0.99::move(X, Y)"));
    let mut bare = String::new();
    let mut rest = painted.as_str();
    while let Some((before, after)) = rest.split_once('\x1b') {
        bare.push_str(before);
        rest = after.split_once('m').expect("a code ends with m").1;
    }
    bare.push_str(rest);
    assert_eq!(bare, plain, "colour changes no word");
}

#[test]
fn bad_states_and_questions_get_one_clear_error() {
    let folder = folder();
    let mut all = String::new();
    let state = |file| vec!["--state", file];
    for more in [
        state("predicate.pl"),
        vec!["--state", "constant.pl", "--task", "train"],
        state("variable.pl"),
        state("rule.pl"),
        state("action.pl"),
        state("arity.pl"),
        state("empty.pl"),
        state("unended.pl"),
        state("nowhere.pl"),
        vec!["--state", "towers.pl", "--why-not", "move(a, zebra)"],
        vec!["--state", "towers.pl", "--what-if", "move(a, a)"],
        vec!["--state", "towers.pl", "--what-if", "move(a)"],
        vec!["--why-not", "move(a, X)"],
        vec!["--why-not", ""],
        vec!["--why-not", "hop(a)"],
        vec!["--task", "nothing"],
        vec!["--any-fact"],
    ] {
        let args = [&["policy.pl", "--domain", "blocks"], &more[..]].concat();
        let output = run(folder.path(), &args);
        assert_eq!(output.status.code(), Some(2), "{more:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty(), "{more:?}");
        let error = text(&output.stderr);
        assert_eq!(error.lines().filter(|l| l.starts_with("error")).count(), 1, "{more:?}: {error}");
        let _ = write!(all, "$ derrl explain policy.pl {}\n{error}\n", more.join(" "));
    }
    insta::assert_snapshot!("explain_bad_input", all);
}
