//! Rules that forbid, from the command line: `--shield FILE` in training, scoring, explaining, proving and exporting.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

fn run(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_derrl"));
    command.args(args).current_dir(folder).env("NO_COLOR", "1").output().expect("it starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)))
}

/// Nothing is put on the floor that something is to stand on: the policy alone would.
const SHIELD: &str = "never(move(X, Y)) :- isFloor(Y), goal_on(Z, X).\n";
const POLICY: &str = "0.90::move(X, Y) :- top(X), goal_on(X, Y), top(Y).\n\
    0.80::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n";

fn place() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    fs::write(folder.path().join("shield.pl"), SHIELD).expect("a file");
    fs::write(folder.path().join("policy.pl"), POLICY).expect("a file");
    fs::write(
        folder.path().join("state.pl"),
        "top(a). on(a, b). on(b, floor). isFloor(floor). goal_on(b, a).\n",
    )
    .expect("a file");
    folder
}

#[test]
fn a_run_keeps_its_shield_and_says_how_often_it_took_part() {
    let folder = place();
    let at = folder.path();
    let train = ["train", "blocks", "--shield", "shield.pl", "--out", "run", "--json", "--no-report"];
    let quick = ["--set", "updates=20", "--set", "restarts=2", "--episodes", "20"];
    let trained = json(&run(at, &[&train[..], &quick].concat()));
    let shield = &trained["shield"];
    assert_eq!(shield["violations"], 0, "{shield}");
    assert!(shield["restricted"].as_u64().is_some_and(|n| n > 0), "{shield}");
    let domain = fs::read_to_string(at.join("run/domain.pl")).expect("its domain");
    assert!(domain.ends_with(&format!("% From shield.pl:\n{SHIELD}\n")), "{domain}");
    // Whatever is asked of the run is asked under its shield.
    let score = json(&run(at, &["eval", "run", "--episodes", "5", "--json"]));
    assert_eq!(score["shield"]["violations"], 0);
    assert!(score["shield"]["steps"].as_u64().is_some_and(|n| n > 0));
    let free = json(&run(at, &["eval", "policy.pl", "--domain", "blocks", "--episodes", "5", "--json"]));
    assert!(free["shield"].is_null());
}

#[test]
fn explain_names_the_rule_that_forbade() {
    let folder = place();
    let explain = ["explain", "policy.pl", "--domain", "blocks", "--state", "state.pl"];
    let alone = text(&run(folder.path(), &explain).stdout);
    assert!(alone.contains("move(a, floor)"), "{alone}");
    let under = [&explain[..], &["--shield", "shield.pl", "--why-not", "move(a, floor)"]].concat();
    let said = text(&run(folder.path(), &under).stdout);
    assert!(
        said.contains("forbidden: move(a, floor) by never(move(X, Y)) :- isFloor(Y), goal_on(Z, X)."),
        "{said}"
    );
    assert!(said.contains("not move(a, floor): it is forbidden"), "{said}");
}

#[test]
fn verify_tells_never_violated_from_reaching_the_goal() {
    let folder = place();
    let verify = ["verify", "policy.pl", "--domain", "blocks", "--max-objects", "3", "--shield", "shield.pl"];
    let said = text(&run(folder.path(), &verify).stdout);
    assert!(said.contains("never violated: in") && said.contains("states the policy alone"), "{said}");
    let found = json(&run(folder.path(), &[&verify[..], &["--json"]].concat()));
    assert_eq!(found["shield"]["never_violated"], true, "{found}");
    assert!(found["shield"]["corrected_states"].as_u64().is_some_and(|n| n > 0), "{found}");
}

#[test]
fn an_export_carries_the_shield() {
    let folder = place();
    let export = ["export", "policy.pl", "--domain", "blocks", "--shield", "shield.pl", "--to"];
    let prolog = text(&run(folder.path(), &[&export[..], &["prolog"]].concat()).stdout);
    assert!(prolog.contains("forbidden_move"), "{prolog}");
    // The program decides as the policy does under the shield.
    let python = run(folder.path(), &[&export[..], &["python", "-o", "policy.py"]].concat());
    assert!(python.status.success(), "{}", text(&python.stderr));
    assert!(fs::read_to_string(folder.path().join("policy.py")).is_ok_and(|t| t.contains("forbidden")));
}

#[test]
fn mistakes_in_a_shield_are_shown_in_its_file() {
    let folder = place();
    fs::write(folder.path().join("bad.pl"), "\nnever(move(X, Y)) :- fragile(Y).\n").expect("a file");
    for command in ["eval", "explain", "verify", "simplify"] {
        let args = [command, "policy.pl", "--domain", "blocks", "--shield", "bad.pl"];
        let output = run(folder.path(), &args);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("unknown predicate") && said.contains("bad.pl:2:"), "{said}");
    }
}

#[test]
fn planning_domains_have_shields_too() {
    let folder = place();
    let at = folder.path();
    assert!(run(at, &["new", "ferry"]).status.success());
    // A ferry that never sails empty cannot fetch a car from elsewhere.
    fs::write(at.join("calm.pl"), "never(sail(X, Y)) :- empty_ferry.\n").expect("a file");
    let eval = ["eval", "ferry/by-hand.pl", "--domain", "ferry", "--json"];
    let free = json(&run(at, &eval));
    assert_eq!(free["scores"]["test"]["success_rate"], 1.0, "{free}");
    let calm = json(&run(at, &[&eval[..], &["--shield", "calm.pl"]].concat()));
    assert!(calm["scores"]["test"]["success_rate"].as_f64().is_some_and(|s| s < 1.0), "{calm}");
    assert_eq!(calm["shield"]["violations"], 0, "{calm}");
}

/// In a world of numbers, with an action that is never forbidden.
#[test]
fn an_export_carries_a_shield_of_numbers() {
    let folder = place();
    let at = folder.path();
    fs::write(at.join("shield.pl"), "never(left) :- angle > 0.1.\n").expect("a file");
    fs::write(at.join("policy.pl"), "0.9::left :- angle =< 0.\n").expect("a file");
    for language in ["python", "c", "program"] {
        let args = ["export", "policy.pl", "--domain", "cartpole", "--shield", "shield.pl", "--to", language];
        let output = run(at, &args);
        assert!(output.status.success(), "{language}: {}", text(&output.stderr));
        assert!(text(&output.stdout).contains("forbidden_left"), "{language}");
    }
}
