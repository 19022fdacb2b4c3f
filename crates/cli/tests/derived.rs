//! Policies that define predicates of their own, through every command that reads a policy.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const POLICY: &str = "\
:- derived(inplace(place)).
inplace(X) :- isFloor(X).
inplace(X) :- on(X, Y), goal_on(X, Y), inplace(Y).
0.99::move(X, Y) :- goal_on(X, Y), inplace(Y).
0.98::move(X, Y) :- isFloor(Y), \\+ inplace(X).
";

/// b is on a, and both are on the floor in the goal the other way round.
const STATE: &str = "\
top(b). on(b, a). on(a, floor). top(c). on(c, floor).
goal_on(a, b). goal_on(b, floor). goal_on(c, floor). isFloor(floor).
";

fn folder() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    let longer = POLICY.replace("0.98::move(X, Y) :- isFloor(Y),", "0.98::move(X, Y) :- isFloor(Y), top(X),");
    let never = format!("{POLICY}0.50::move(X, Y) :- inplace(X), top(Y).\n");
    for (name, text) in
        [("policy.pl", POLICY), ("longer.pl", &longer), ("never.pl", &never), ("state.pl", STATE)]
    {
        std::fs::write(folder.path().join(name), text).expect("a file can be written");
    }
    folder
}

fn derrl(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_derrl"));
    command.current_dir(folder).args(args).stdin(Stdio::null());
    command.output().expect("the command runs")
}

fn says(folder: &Path, args: &[&str]) -> String {
    let output = derrl(folder, args);
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{args:?}: {text}");
    text
}

#[test]
fn a_fact_is_explained_by_its_derivation() {
    let folder = folder();
    let args = ["explain", "policy.pl", "--domain", "rearrange", "--state", "state.pl"];
    let text = says(folder.path(), &args);
    assert!(text.contains("move(b, floor)"), "{text}");
    assert!(text.contains("inplace(floor)") && text.contains("isFloor(floor)"), "{text}");
    let why_not = says(folder.path(), &[&args[..], &["--why-not", "move(c, b)"]].concat());
    assert!(why_not.contains("goal_on(c, b)"), "{why_not}");
    let what_if = says(folder.path(), &[&args[..], &["--what-if", "move(c, b)"]].concat());
    assert!(what_if.contains("move(c, b)"), "{what_if}");
}

#[test]
fn policies_are_verified_compared_and_simplified() {
    let folder = folder();
    let verified =
        says(folder.path(), &["verify", "policy.pl", "--domain", "rearrange", "--max-objects", "4"]);
    assert!(verified.contains("proved"), "{verified}");
    let same = says(
        folder.path(),
        &["diff", "policy.pl", "longer.pl", "--domain", "rearrange", "--max-objects", "4"],
    );
    assert!(same.contains("same"), "{same}");
    let simple =
        says(folder.path(), &["simplify", "never.pl", "--domain", "rearrange", "--max-objects", "3"]);
    assert!(
        !simple.lines().any(|l| l.starts_with("0.50::")) && simple.contains("inplace(X) :- isFloor(X)."),
        "{simple}"
    );
    let checked = says(folder.path(), &["check", "policy.pl", "--domain", "rearrange"]);
    assert!(!checked.contains("error"), "{checked}");
}

#[test]
fn large_instances_are_solved_with_few_moves() {
    let folder = folder();
    let args =
        ["eval", "policy.pl", "--domain", "rearrange", "--task", "50-blocks", "--episodes", "5", "--json"];
    let json: serde_json::Value =
        serde_json::from_str(&says(folder.path(), &args)).expect("eval --json prints JSON");
    let score = &json["scores"]["50-blocks"];
    assert_eq!(score["success_rate"], 1.0, "{json}");
    let simple = score["references"]["table first"].as_f64().expect("the simple strategy is named");
    assert!(score["mean"].as_f64().expect("a mean") >= simple, "{json}");
}

/// A run that starts from such a policy keeps what it defines, through interruption, pages and scores.
#[test]
fn training_goes_on_from_definitions() {
    let folder = folder();
    let small = ["--set", "restarts=1", "--set", "updates=2", "--set", "without=explore,draw,change,try"];
    let args = ["train", "rearrange", "--from", "policy.pl", "--freeze", "1,2", "--out", "run"];
    says(folder.path(), &[&args[..], &small].concat());
    let text = std::fs::read_to_string(folder.path().join("run/policy.pl")).expect("the policy is there");
    assert!(text.contains(":- derived(inplace(place))."), "{text}");
    assert!(text.contains("0.98::move(X, Y) :- isFloor(Y), \\+ inplace(X)."), "{text}");
    assert!(says(folder.path(), &["eval", "run", "--task", "train"]).contains("train"));
    assert!(folder.path().join("run/report.html").is_file(), "its page is written");
}

#[test]
fn a_definition_that_explodes_is_refused() {
    let folder = folder();
    let text = ":- derived(p(block, block, block, block)).\n\
                p(X, Y, Z, U) :- on(X, V), on(Y, W), on(Z, A), on(U, B).\n\
                move(X, Y) :- isFloor(Y), \\+ p(X, X, X, X).\n";
    std::fs::write(folder.path().join("explodes.pl"), text).expect("a file can be written");
    let args = ["eval", "explodes.pl", "--domain", "rearrange", "--task", "large", "--size", "60"];
    let output = derrl(folder.path(), &args);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("explodes"), "{text}");
}
