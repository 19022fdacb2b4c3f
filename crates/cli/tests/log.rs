//! Logs of decisions: `derrl eval --log`, `--strict` and `derrl replay`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const GOOD: &str =
    "0.99::move(X, Y) :- top(X), top(Y), goal_on(X, Y).\n0.80::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n";

fn derrl(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_derrl"));
    command.current_dir(folder).args(args).stdin(Stdio::null()).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn place() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    fs::write(folder.path().join("good.pl"), GOOD).expect("a file can be written");
    fs::write(folder.path().join("other.pl"), GOOD.replace("0.80", "0.995")).expect("a file can be written");
    fs::write(folder.path().join("half.pl"), GOOD.lines().next().expect("a rule"))
        .expect("a file can be written");
    folder
}

const EVAL: &[&str] = &["eval", "good.pl", "--domain", "blocks", "--episodes", "20", "--log", "log.jsonl"];
const REPLAY: &[&str] = &["replay", "good.pl", "log.jsonl", "--domain", "blocks"];

#[test]
fn every_decision_is_logged_and_can_be_played_again() {
    let folder = place();
    let at = folder.path();
    let output = derrl(at, &[EVAL, &["--task", "train", "--task", "unseen-goal", "--seed", "7"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let log = fs::read_to_string(at.join("log.jsonl")).expect("a log");
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.iter().filter(|line| line["task"].is_string()).count(), 2);
    let decisions: Vec<&Value> = lines.iter().filter(|line| line["action"].is_string()).collect();
    assert!(decisions.len() > 40, "at least one per episode");
    for decision in &decisions {
        let rule = decision["rule"].as_u64().expect("a rule fires in every state");
        let margin = decision["margin"].as_f64().expect("so few actions are compared");
        assert_eq!(decision["value"], if rule == 1 { 0.99 } else { 0.80 });
        assert!([0.99, 0.80, 0.19].contains(&margin), "{decision}");
        assert!(decision["substitution"].as_array().is_some_and(|s| s.len() >= 2));
        assert_eq!(decision["facts"].as_str().map(str::len), Some(16), "a digest");
    }
    let output = derrl(at, REPLAY);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), format!("all {} decisions are as logged\n", decisions.len()));
}

/// Whatever is changed in a log, replaying it says where.
#[test]
fn a_log_that_was_changed_is_noticed() {
    let folder = place();
    let at = folder.path();
    derrl(at, &[EVAL, &["--task", "train"]].concat());
    let log = fs::read_to_string(at.join("log.jsonl")).expect("a log");
    let lines: Vec<&str> = log.lines().collect();
    let changed = |f: &dyn Fn(&mut Value)| {
        let mut line: Value = serde_json::from_str(lines[5]).expect("JSON");
        f(&mut line);
        let line = line.to_string();
        let mut all = lines.clone();
        all[5] = &line;
        all.join("\n")
    };
    let cases: Vec<(&str, String)> = vec![
        ("facts", changed(&|line| line["facts"] = "0123456789abcdef".into())),
        ("action", changed(&|line| line["action"] = "move(a, a)".into())),
        ("rule", changed(&|line| line["rule"] = 3.into())),
        ("substitution", changed(&|line| line["substitution"][0][1] = "z".into())),
        ("value", changed(&|line| line["value"] = 0.5.into())),
        ("margin", changed(&|line| line["margin"] = 0.5.into())),
        ("ties", changed(&|line| line["ties"] = 9.into())),
        ("the log ends", lines[..lines.len() - 1].join("\n")),
        ("", [&lines[..3], &lines[4..]].concat().join("\n")),
        ("there is no", format!("{log}{}", lines[lines.len() - 1])),
        ("", log.replacen("\"seed\":0", "\"seed\":1", 1)),
    ];
    for (said, text_of_log) in cases {
        fs::write(at.join("log.jsonl"), text_of_log).expect("a file can be written");
        let output = derrl(at, REPLAY);
        assert_eq!(output.status.code(), Some(1), "{said}: {}", text(&output.stderr));
        let answer = text(&output.stdout);
        assert!(answer.starts_with("differs after ") && answer.contains(said), "{said}: {answer}");
    }
    // Another policy decides otherwise somewhere.
    fs::write(at.join("log.jsonl"), &log).expect("a file can be written");
    let output = derrl(at, &["replay", "other.pl", "log.jsonl", "--domain", "blocks"]);
    assert_eq!(output.status.code(), Some(1));
    for (bad, said) in [("", "empty"), ("{}", "not a line of a log"), (lines[1], "a log begins with")] {
        fs::write(at.join("log.jsonl"), bad).expect("a file can be written");
        let output = derrl(at, REPLAY);
        assert_eq!(output.status.code(), Some(2), "{bad}");
        assert!(text(&output.stderr).contains(said), "{bad}: {}", text(&output.stderr));
    }
    let output = derrl(at, &["replay", "good.pl", "nowhere.jsonl", "--domain", "blocks"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_state_without_a_rule_is_an_alarm_if_that_is_asked() {
    let folder = place();
    let at = folder.path();
    let eval = |policy: &str, more: &[&str]| {
        let args = ["eval", policy, "--domain", "blocks", "--task", "train", "--episodes", "20"];
        derrl(at, &[&args, more].concat())
    };
    assert_eq!(eval("good.pl", &["--strict"]).status.code(), Some(0));
    assert_eq!(eval("half.pl", &[]).status.code(), Some(0), "nobody asked");
    let output = eval("half.pl", &["--strict"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("no rule fired in "), "{}", text(&output.stdout));
    let output = eval("half.pl", &["--strict", "--json"]);
    let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let (silent, all) = (told["without_a_rule"].as_u64(), told["decisions"].as_u64());
    assert!(silent > Some(0) && silent < all, "{told}");
}

/// Three blocks are what it was learned on.
#[test]
fn a_state_outside_what_it_was_learned_on_is_an_alarm() {
    let folder = place();
    let at = folder.path();
    let learned_on = "% learned on: objects block 3..3, place 1..1\n% learned on: facts goal_on/2, isFloor/1, on/2, top/1\n";
    fs::write(at.join("known.pl"), [learned_on, GOOD].concat()).expect("a file can be written");
    let eval = |task: &str| {
        let args = ["eval", "known.pl", "--domain", "blocks", "--episodes", "5", "--strict", "--task", task];
        derrl(at, &args)
    };
    assert_eq!(eval("train").status.code(), Some(0));
    let output = eval("dynamic-blocks");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(
        text(&output.stdout).contains("objects of type block: it was learned on 3"),
        "{}",
        text(&output.stdout)
    );
    let explain = ["explain", "known.pl", "--domain", "blocks", "--task", "dynamic-blocks", "--steps", "1"];
    let output = derrl(at, &explain);
    assert!(text(&output.stdout).contains("outside what it knows: "), "{}", text(&output.stdout));
    fs::write(at.join("known.pl"), ["% learned on: luck\n", GOOD].concat()).expect("a file can be written");
    let output = derrl(at, &explain);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("known.pl:1:"), "{}", text(&output.stderr));
}
