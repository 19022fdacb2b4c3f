//! The command as a person uses it: good input, bad input, interruption.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

const POLICY: &str =
    "0.99::move(X, Y) :- top(X), top(Y), goal_on(X, Y).\n0.80::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n";

fn derrl(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_derrl"));
    command.current_dir(folder).env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

fn run(folder: &Path, args: &[&str]) -> Output {
    derrl(folder).args(args).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("standard output is one JSON document")
}

/// A folder with a policy for blocks.
fn with_policy() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    std::fs::write(folder.path().join("policy.pl"), POLICY).expect("a file can be written");
    folder
}

const QUICK: [&str; 6] = ["--set", "updates=40", "--set", "restarts=2", "--episodes", "20"];

fn quick<'a>(args: &[&'a str]) -> Vec<&'a str> {
    args.iter().copied().chain(QUICK).collect()
}

#[test]
fn train_prints_one_json_document_and_leaves_a_folder() {
    let folder = TempDir::new().unwrap();
    let result = json(&run(folder.path(), &["train", "blocks", "--json"]));
    for key in ["domain", "seed", "policy", "rules", "scores", "episodes", "steps", "seconds", "policy_path"]
    {
        assert!(!result[key].is_null(), "{key} is missing");
    }
    let train = &result["scores"]["train"];
    for key in ["mean", "stderr", "success_rate", "best_known", "episodes"] {
        assert!(train[key].is_number(), "scores.train.{key} is missing");
    }
    assert!(train["mean"].as_f64().unwrap() >= 0.96);
    let run_folder = folder.path().join("runs/blocks-1");
    for file in [
        "policy.pl",
        "policy.unsimplified.pl",
        "config.toml",
        "domain.pl",
        "metrics.jsonl",
        "checkpoint.json",
        "curve.svg",
    ] {
        assert!(run_folder.join(file).is_file(), "{file} is missing");
    }
    let leftovers = std::fs::read_dir(&run_folder)
        .unwrap()
        .filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().ends_with(".partial"));
    assert_eq!(leftovers.count(), 0, "nothing half-written is left");
    // The policy text is the policy: what training reports is the score of the text.
    let scored =
        json(&run(folder.path(), &["eval", "runs/blocks-1/policy.pl", "--domain", "blocks", "--json"]));
    assert_eq!(scored["scores"], result["scores"]);
    let by_folder = json(&run(folder.path(), &["eval", "runs/blocks-1", "--json"]));
    assert_eq!(by_folder["scores"], result["scores"]);
    // A second run takes the next folder.
    json(&run(folder.path(), &quick(&["train", "blocks", "--json"])));
    assert!(folder.path().join("runs/blocks-2/policy.pl").is_file());
}

#[test]
fn seeds_are_runs_of_their_own() {
    let folder = TempDir::new().unwrap();
    let all = json(&run(
        folder.path(),
        &quick(&["train", "countdown", "--seeds", "3..4", "--json", "--out", "all"]),
    ));
    let runs = all["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    let one = json(&run(
        folder.path(),
        &quick(&["train", "countdown", "--seed", "4", "--json", "--out", "one", "--threads", "1"]),
    ));
    for key in ["policy", "scores", "steps", "episodes", "restart"] {
        assert_eq!(runs[1][key], one[key], "{key} does not depend on threads or company");
    }
}

#[test]
fn a_domain_file_of_ones_own() {
    let folder = TempDir::new().unwrap();
    let domains = json(&run(folder.path(), &["domains", "--json"]));
    let blocks = domains["domains"].as_array().unwrap().iter().find(|d| d["name"] == "blocks").unwrap();
    let own = blocks["domain_file"].as_str().unwrap().replace(":- rules(move/2, 2).", ":- rules(move/2, 3).");
    std::fs::write(folder.path().join("own.pl"), own).unwrap();
    let result = json(&run(folder.path(), &quick(&["train", "./own.pl", "--json"])));
    assert_eq!(result["domain"], "./own.pl");
    assert!(folder.path().join("runs/own-1/policy.pl").is_file());
}

#[test]
fn explain_tells_rule_substitution_and_why_not() {
    let folder = with_policy();
    let out = json(&run(folder.path(), &["explain", "policy.pl", "--domain", "blocks", "--json"]));
    let steps = out["steps"].as_array().unwrap();
    assert_eq!(steps.last().unwrap()["status"], "terminated");
    for step in steps {
        let fired = &step["fired"];
        assert!(fired["text"].as_str().unwrap().contains("move(X, Y)"));
        assert_eq!(fired["substitution"][0][0], "X");
        assert_eq!(step["others"].as_array().unwrap().len(), 8, "every other ground action is answered for");
    }
    let shown =
        run(folder.path(), &["explain", "policy.pl", "--domain", "blocks", "--why-not", "move(b, floor)"]);
    insta::assert_snapshot!("explain", text(&shown.stdout));
}

#[test]
fn listing_and_checking() {
    let folder = with_policy();
    let list = run(folder.path(), &["domains"]);
    assert!(text(&list.stdout).contains("blocks: "));
    let check = run(folder.path(), &["check", "policy.pl", "--domain", "blocks"]);
    assert!(check.status.success());
    assert_eq!(text(&check.stdout), "policy.pl: policy ok: 2 rules\n");
    std::fs::write(folder.path().join("bad.pl"), "0.9::move(X, Y) :- tpo(X).\n").unwrap();
    let check = run(folder.path(), &["check", "policy.pl", "bad.pl", "--domain", "blocks"]);
    assert_eq!(check.status.code(), Some(2));
    insta::assert_snapshot!("check_bad", text(&check.stderr));
    std::fs::write(folder.path().join("never.pl"), "move(X, Y) :- top(X), on(Y, X).\n").unwrap();
    let check = run(folder.path(), &["check", "never.pl", "--domain", "blocks"]);
    assert!(check.status.success());
    assert!(
        text(&check.stdout).contains("never holds: `false :- top(X), on(Y, X).`"),
        "{}",
        text(&check.stdout)
    );
}

#[test]
fn training_starts_from_given_rules_and_goes_on_from_them_when_resumed() {
    let folder = with_policy();
    let args = ["train", "blocks", "--from", "policy.pl", "--freeze", "2,1", "--out", "run", "--json"];
    let output = run(folder.path(), &quick(&args));
    assert!(output.status.success(), "{}", text(&output.stderr));
    let given = std::fs::read_to_string(folder.path().join("policy.pl")).unwrap();
    let policy = json(&output)["policy"].as_str().unwrap().to_string();
    for rule in given.lines().filter(|l| l.contains("::")) {
        assert!(policy.lines().any(|l| l == rule), "`{rule}` stays in\n{policy}");
    }
    let resumed = run(folder.path(), &["train", "--resume", "run", "--json"]);
    assert_eq!(json(&resumed)["policy"], json(&output)["policy"]);
}

/// Every mistake: exit code 2, nothing on standard output, one clear error, nothing written.
#[test]
fn bad_input_gets_one_clear_error() {
    let folder = with_policy();
    std::fs::write(folder.path().join("a_file"), "x").unwrap();
    std::fs::write(folder.path().join("binary.pl"), [0xff, 0xfe, 0x00]).unwrap();
    std::fs::write(folder.path().join("long.pl"), "move(X, Y) :- on(X, A), on(A, B), on(B, Y).\n").unwrap();
    let marks = "<!-- derrl reproduce: begin --><!-- derrl reproduce: end -->";
    std::fs::write(folder.path().join("marked.md"), marks).unwrap();
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    std::fs::create_dir(folder.path().join("half")).unwrap();
    std::fs::write(folder.path().join("half/config.toml"), "derrl = ").unwrap();
    std::fs::write(
        folder.path().join("elsewhere.pl"),
        ":- environment(block).\n:- action(move/2).\n:- state(top/1).\n",
    )
    .unwrap();
    std::fs::write(
        folder.path().join("vocabulary.pl"),
        ":- environment(blocks).\n:- action(move/2).\n:- state(tops/1).\n",
    )
    .unwrap();
    let cases: &[(&str, &[&str])] = &[
        ("unknown domain", &["train", "block"]),
        ("unknown domain, far", &["train", "chess"]),
        ("unknown task", &["eval", "policy.pl", "--domain", "blocks", "--task", "dynamic-block"]),
        ("unknown setting", &["train", "blocks", "--set", "update=3"]),
        ("malformed setting", &["train", "blocks", "--set", "updates"]),
        ("setting of the wrong type", &["train", "blocks", "--set", "updates=many"]),
        ("setting out of range", &["train", "blocks", "--set", "gamma=2"]),
        ("unknown name in a setting", &["train", "blocks", "--set", "estimator=straight"]),
        ("seeds that are no range", &["train", "blocks", "--seeds", "a..b"]),
        ("seeds backwards", &["train", "blocks", "--seeds", "9..0"]),
        ("an option of another domain", &["train", "blocks", "--noise", "0.1"]),
        ("a probability out of range", &["train", "countdown", "--noise", "1.5"]),
        ("an unwritable folder", &["train", "blocks", "--out", "a_file/run"]),
        ("an unreadable policy", &["eval", "nowhere.pl", "--domain", "blocks"]),
        ("a policy for another domain", &["eval", "policy.pl", "--domain", "countdown"]),
        ("no domain named", &["eval", "policy.pl"]),
        ("not text", &["eval", "binary.pl", "--domain", "blocks"]),
        ("a folder without a run", &["train", "--resume", "empty"]),
        ("a half-written run", &["train", "--resume", "half"]),
        ("no such folder", &["train", "--resume", "gone"]),
        (
            "an action that does not exist",
            &["explain", "policy.pl", "--domain", "blocks", "--why-not", "fly(a)"],
        ),
        (
            "an object that does not exist",
            &["explain", "policy.pl", "--domain", "blocks", "--why-not", "move(q, floor)"],
        ),
        (
            "an object of the wrong type",
            &["explain", "policy.pl", "--domain", "blocks", "--why-not", "move(floor, a)"],
        ),
        ("an unknown environment", &["train", "./elsewhere.pl"]),
        ("a predicate that the world lacks", &["train", "./vocabulary.pl"]),
        (
            "a size that is no size",
            &["eval", "policy.pl", "--domain", "blocks", "--task", "large", "--size", "1"],
        ),
        (
            "a size for a task of fixed size",
            &["eval", "policy.pl", "--domain", "blocks", "--task", "train", "--size", "4"],
        ),
        ("a rule to freeze that is not there", &["train", "blocks", "--from", "policy.pl", "--freeze", "3"]),
        ("nothing to freeze rules of", &["train", "blocks", "--freeze", "1"]),
        ("given rules with too many variables", &["train", "blocks", "--from", "long.pl"]),
        ("given rules for another domain", &["train", "countdown", "--from", "policy.pl"]),
        (
            "given rules with hidden layers",
            &["train", "blocks", "--from", "policy.pl", "--set", "hidden=[8]"],
        ),
        ("an unknown part", &["reproduce", "tables"]),
        ("an unknown domain to reproduce", &["reproduce", "table", "--domain", "block"]),
        ("a file where a folder should be", &["reproduce", "table", "--domain", "blocks", "--out", "a_file"]),
        ("no seeds", &["reproduce", "table", "--seeds", "0"]),
        ("an unknown agent to run again", &["reproduce", "table", "--again", "derl:blocks"]),
        ("no place for the table", &["reproduce", "table", "--readme", "policy.pl"]),
        ("no table to put there", &["reproduce", "rules", "--readme", "marked.md"]),
        ("numbers for a task that has its own", &["train", "countdown", "--range", "20"]),
    ];
    let mut shown = String::new();
    for (name, args) in cases {
        let output = run(folder.path(), args);
        assert_eq!(output.status.code(), Some(2), "{name}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty(), "{name}: {}", text(&output.stdout));
        let said = text(&output.stderr);
        shown = format!("{shown}# {name}\n$ derrl {}\n{said}\n", args.join(" "));
    }
    assert!(!folder.path().join("runs").exists(), "nothing was started");
    insta::assert_snapshot!("bad_input", shown);
}

#[test]
fn a_folder_is_not_written_over() {
    let folder = TempDir::new().unwrap();
    json(&run(folder.path(), &quick(&["train", "blocks", "--json", "--out", "r"])));
    let again = run(folder.path(), &quick(&["train", "blocks", "--out", "r"]));
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("--resume r"), "{}", text(&again.stderr));
    // A finished run can be resumed: it is scored again, to the same result.
    let before: Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("r/result.json")).unwrap()).unwrap();
    let resumed = json(&run(folder.path(), &["train", "--resume", "r", "--json"]));
    assert_eq!(before["policy"], resumed["policy"]);
    assert_eq!(before["scores"], resumed["scores"]);
    // A configuration that was changed behind its back does not go with the checkpoint.
    let config = std::fs::read_to_string(folder.path().join("r/config.toml")).unwrap();
    std::fs::write(folder.path().join("r/config.toml"), config.replace("gamma = 0.95", "gamma = 0.5"))
        .unwrap();
    let other = run(folder.path(), &["train", "--resume", "r"]);
    assert_eq!(other.status.code(), Some(2));
    assert!(text(&other.stderr).contains("another configuration"), "{}", text(&other.stderr));
    std::fs::write(folder.path().join("r/checkpoint.json"), "{\"fingerprint\": \"").unwrap();
    let damaged = run(folder.path(), &["train", "--resume", "r"]);
    assert_eq!(damaged.status.code(), Some(2));
    assert!(text(&damaged.stderr).contains("damaged"), "{}", text(&damaged.stderr));
}

/// Ctrl-C in the middle, then --resume: the result is that of an uninterrupted run.
#[cfg(unix)]
#[test]
fn an_interrupted_run_goes_on_as_if_nothing_had_happened() {
    let folder = TempDir::new().unwrap();
    let long = [
        "train",
        "blocks",
        "--set",
        "updates=1000",
        "--set",
        "restarts=2",
        "--set",
        "doubling=false",
        "--set",
        "without=explore,draw,change,try",
        "--episodes",
        "20",
    ];
    let with = |out: &'static str| long.iter().copied().chain(["--out", out]).collect::<Vec<_>>();
    let whole = json(&derrl(folder.path()).args(with("whole")).arg("--json").output().unwrap());
    let child =
        derrl(folder.path()).args(with("cut")).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(250));
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    if output.status.code() == Some(130) {
        assert!(text(&output.stderr).contains("derrl train --resume cut"), "{}", text(&output.stderr));
        assert!(!folder.path().join("cut/policy.pl").exists());
    }
    let resumed = json(&run(folder.path(), &["train", "--resume", "cut", "--json"]));
    for key in ["policy", "unsimplified", "scores", "steps", "episodes", "restart"] {
        assert_eq!(resumed[key], whole[key], "{key}");
    }
    // Killed outright, with whatever was saved by then.
    let mut child = derrl(folder.path())
        .args(with("killed"))
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(400));
    let _ = child.kill();
    child.wait().unwrap();
    let resumed = json(&run(folder.path(), &["train", "--resume", "killed", "--json"]));
    assert_eq!(resumed["policy"], whole["policy"]);
}

#[test]
fn the_version_says_what_was_compiled() {
    let folder = with_policy();
    let told = text(&run(folder.path(), &["--version"]).stdout);
    assert!(told.starts_with(concat!("derrl ", env!("CARGO_PKG_VERSION"), " (")), "{told}");
    assert!(told.contains("with SUMO)"), "{told}");
    assert_eq!(text(&run(folder.path(), &["-V"]).stdout), concat!("derrl ", env!("CARGO_PKG_VERSION"), "\n"));
}

/// As a world in Python leaves it, or one in a crate of its own.
#[test]
fn folders_of_worlds_elsewhere_are_read_and_not_played() {
    let folder = with_policy();
    let here = folder.path();
    let domain =
        ":- environment(shelf).\n:- action(put(thing)).\n:- state(loose(thing)).\n:- state(red(thing)).\n";
    std::fs::create_dir(here.join("run")).expect("a folder can be made");
    run(here, &[&["train", "blocks", "--out", "blocks"][..], &QUICK].concat());
    let config = std::fs::read_to_string(here.join("blocks/config.toml")).expect("the run has settings");
    let write =
        |file: &str, text: &str| std::fs::write(here.join(file), text).expect("a file can be written");
    write("run/config.toml", &config.replace("domain = \"blocks\"", "domain = \"shelf\""));
    write("run/domain.pl", domain);
    write("run/policy.pl", "0.9::put(X) :- red(X).\n");
    write("state.pl", "loose(a). red(b).\n");
    for (args, wanted) in [
        (&["explain", "run", "--state", "state.pl"][..], "put(b)"),
        (&["export", "run", "--to", "prolog"], "put("),
        (&["check", "run/domain.pl", "run/policy.pl"], "policy ok"),
        (&["check", "run"], "policy ok"),
    ] {
        let done = run(here, args);
        assert!(
            done.status.success() && text(&done.stdout).contains(wanted),
            "{args:?}: {}",
            text(&done.stderr)
        );
    }
    for args in [
        &["explain", "run"][..],
        &["eval", "run"],
        &["watch", "run"],
        &["verify", "run"],
        &["diff", "run", "run"],
        &["simplify", "run"],
    ] {
        let done = run(here, args);
        let told = text(&done.stderr).replace('\n', " ");
        assert!(
            done.status.code() == Some(2) && told.contains("derrl.Run.load(folder, world)"),
            "{args:?}: {told}"
        );
    }
}
