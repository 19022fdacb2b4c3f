//! `derrl verify --property`, `--within` and `--served-within`: what has to be so beside reaching the goal.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const GOOD: &str =
    "0.99::move(X, Y) :- top(X), top(Y), goal_on(X, Y).\n0.80::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n";

/// Two blocks that are not those of the goal never come to stand on each other, and towers never get higher.
const NEVER: &str = ":- derived(bad).\nbad :- on(X, Y), on(Y, X).\n";
/// All blocks are on the floor, which happens on the way.
const FLAT: &str = ":- derived(high(block)).\nhigh(X) :- on(X, Y), on(Y, Z).\n:- derived(bad_flat(block)).\n\
    bad_flat(X) :- goal_on(X, Y), on(X, Z), isFloor(Z), on(Y, Z), top(X), top(Y).\n";

fn derrl(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_derrl"));
    command.current_dir(folder).args(args).stdin(Stdio::null()).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn place() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    for (name, text) in [("good.pl", GOOD), ("never.pl", NEVER), ("flat.pl", FLAT), ("none.pl", "")] {
        fs::write(folder.path().join(name), text).expect("a file can be written");
    }
    folder
}

const VERIFY: &[&str] = &["verify", "good.pl", "--domain", "blocks", "--max-objects", "4"];

#[test]
fn what_never_holds_is_proved_apart_from_the_goal() {
    let folder = place();
    let at = folder.path();
    let output = derrl(at, &[VERIFY, &["--property", "never.pl"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(
        text(&output.stdout).contains("\nnever bad: in all 43 states that can be reached\n"),
        "{}",
        text(&output.stdout)
    );
    let args = [VERIFY, &["--property", "flat.pl", "--json"]].concat();
    let output = derrl(at, &args);
    assert_eq!(output.status.code(), Some(1), "the goal is reached, but what is bad holds on the way");
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(told["verdict"], "proved");
    let [property] = told["properties"].as_array().expect("properties").as_slice() else {
        panic!("only what is called bad is a property: {told}");
    };
    assert_eq!((&property["property"], &property["holds"]), (&"never bad_flat".into(), &false.into()));
    // In two blocks, it holds at the start.
    let steps = property["counterexample"]["steps"].as_array().expect("a run");
    assert_eq!(steps.len(), 1, "{property}");
    assert!(steps[0][0].as_array().is_some_and(|facts| facts.contains(&"bad_flat(a)".into())), "{property}");
    // The states are those of the world with all names, too.
    let output = derrl(at, &[VERIFY, &["--property", "never.pl", "--every-state"]].concat());
    assert!(text(&output.stdout).contains("never bad: in all 784 states"), "{}", text(&output.stdout));
}

/// A bound holds from the longest run on, and below it a run is shown that takes longer.
#[test]
fn bounds_on_runs_are_exact() {
    let folder = place();
    let at = folder.path();
    let output = derrl(at, &[VERIFY, &["--json"]].concat());
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let longest = told["sizes"][2]["longest_run"].as_u64().expect("a number");
    for (most, holds) in [(longest, true), (longest + 1, true), (longest - 1, false), (1, false), (0, false)]
    {
        let most = most.to_string();
        let output = derrl(at, &[VERIFY, &["--within", &most, "--json"]].concat());
        let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let property = &told["properties"][0];
        assert_eq!(property["holds"], holds, "{most}: {property}");
        assert_eq!(output.status.code(), Some(i32::from(!holds)));
        if !holds {
            let steps = property["counterexample"]["steps"].as_array().expect("a run");
            assert_eq!(steps.len().to_string(), (most.parse::<usize>().expect("a number") + 1).to_string());
            assert!(
                steps[..steps.len() - 1].iter().all(|step| step[1].is_string()),
                "an action each: {property}"
            );
        }
    }
    // Where ties may be broken for ever, no bound holds.
    let args = ["verify", "none.pl", "--domain", "blocks", "--max-objects", "3", "--within", "1000"];
    assert_eq!(derrl(at, &args).status.code(), Some(1));
}

#[test]
fn a_file_without_properties_is_refused() {
    let folder = place();
    let at = folder.path();
    let helper = ":- derived(high(block)).\nhigh(X) :- on(X, Y), on(Y, Z).\n";
    for (bad, said) in [
        ("", "defines nothing whose name begins with `bad`"),
        (helper, "defines nothing whose name begins with `bad`"),
        (&[NEVER, GOOD].concat(), "holds rules for actions"),
        (":- derived(bad).\nbad :- onn(X, Y).\n", "onn"),
    ] {
        fs::write(at.join("p.pl"), bad).expect("a file can be written");
        let output = derrl(at, &[VERIFY, &["--property", "p.pl"]].concat());
        assert_eq!(output.status.code(), Some(2), "{bad}: {}", text(&output.stdout));
        assert!(text(&output.stderr).contains(said), "{bad}: {}", text(&output.stderr));
    }
}

/// The block below is moved last, so that nothing names it while the others go: as long as there are others.
#[test]
fn what_is_starved_is_shown_by_a_shortest_run() {
    let folder = place();
    let at = folder.path();
    for (within, holds) in [(2, false), (3, false), (4, true)] {
        let within = within.to_string();
        let output = derrl(at, &[VERIFY, &["--served-within", &within, "--json"]].concat());
        assert_eq!(output.status.code(), Some(i32::from(!holds)), "{}", text(&output.stderr));
        let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(told["verdict"], "proved");
        let property = &told["properties"][0];
        assert_eq!(
            (&property["property"], &property["holds"]),
            (&format!("every object served within {within} actions").into(), &holds.into())
        );
        if !holds {
            let found = &property["counterexample"];
            let starved = found["starved"].as_str().expect("an object");
            let steps = found["steps"].as_array().expect("a run");
            assert_eq!(steps.len().to_string(), (within.parse::<usize>().expect("a number") + 1).to_string());
            for step in &steps[..steps.len() - 1] {
                assert!(
                    step[1].as_str().is_some_and(|action| !action.contains(&format!("({starved},"))),
                    "{step}"
                );
            }
        }
    }
    // Only what waits is asked about: whatever is in its place by then does not.
    let waits = ":- derived(waiting_long(block)).\nwaiting_long(X) :- goal_on(X, Y), top(X), top(Y).\n";
    fs::write(at.join("waits.pl"), waits).expect("a file can be written");
    let output = derrl(at, &[VERIFY, &["--served-within", "2", "--property", "waits.pl"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    assert!(
        text(&output.stdout).contains("all that is waiting_long served within 2 actions"),
        "{}",
        text(&output.stdout)
    );
}

#[test]
fn a_violation_is_drawn() {
    let folder = place();
    let at = folder.path();
    for (asked, title) in [
        (["--served-within", "2"], "Not every object served within 2 actions"),
        (["--within", "1"], "Not the goal within 1 actions"),
        (["--property", "flat.pl"], "Not never bad_flat"),
    ] {
        let output = derrl(at, &[VERIFY, &asked, &["--picture", "run.svg"]].concat());
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
        let drawn = fs::read_to_string(at.join("run.svg")).expect("a picture");
        assert!(drawn.contains(title), "{drawn}");
        fs::remove_file(at.join("run.svg")).expect("it is there");
    }
}

#[test]
fn what_waits_is_asked_for_how_long() {
    let folder = place();
    let at = folder.path();
    let waits = ":- derived(waiting(block)).\nwaiting(X) :- goal_on(X, Y).\n";
    let wide = ":- derived(waiting(block, place)).\nwaiting(X, Y) :- goal_on(X, Y).\n";
    let bad = [NEVER, waits].concat();
    for (file, served, said) in [
        (waits, &[][..], "defines nothing whose name begins with `bad`"),
        (&bad, &[], "--served-within N"),
        (wide, &["--served-within", "2"], "is not about one object"),
    ] {
        fs::write(at.join("p.pl"), file).expect("a file can be written");
        let output = derrl(at, &[VERIFY, &["--property", "p.pl"], served].concat());
        assert_eq!(output.status.code(), Some(2), "{file}: {}", text(&output.stdout));
        assert!(text(&output.stderr).contains(said), "{file}: {}", text(&output.stderr));
    }
}
