//! `derrl verify`, `diff` and `simplify` as a person uses them.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

const FILES: &[(&str, &str)] = &[
    (
        "good.pl",
        "0.99::move(X, Y) :- top(X), top(Y), goal_on(X, Y).\n0.80::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n",
    ),
    (
        "loop.pl",
        "0.98::move(X, Y) :- top(X), top(Y), goal_on(X, Y), \\+ on(X, floor).\n\
         0.98::move(X, Y) :- on(X, floor), \\+ goal_on(X, Y).\n0.99::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n",
    ),
    ("silent.pl", ""),
    (
        "long.pl",
        "0.995::move(X, Y) :- top(X), top(Y), goal_on(X, Y), \\+ isFloor(Y).\n\
         0.994::move(X, Y) :- top(X), on(X, Z), isFloor(Y), \\+ isFloor(X).\n\
         0.5::move(X, Y) :- on(X, Y), on(Y, X).\n",
    ),
    ("drop.pl", "null :- acc(X).\n"),
    ("walk.pl", "up :- north.\ndown :- south.\nleft :- west.\nright :- east.\n"),
    ("green.pl", "green(X) :- highest(X).\n"),
    (
        "keys.pl",
        "0.9::pick(X) :- key(X), samecolor(X, Y), door(Y), notcarrying.\n\
         0.95::open(X) :- locked(X), samecolor(X, Y), carrying(Y).\n0.99::goto(X) :- goal(X), unlocked.\n",
    ),
    ("key.pl", "pick(X) :- key(X), samecolor(X, k1).\n"),
];

const CAREFUL: &str = "up :- curr(X, Y), north, succ(Y, Z), \\+ obs(X, Z).
down :- curr(X, Y), south, succ(Z, Y), \\+ obs(X, Z).
left :- curr(X, Y), west, succ(Z, X), \\+ obs(Z, Y).
right :- curr(X, Y), east, succ(X, Z), \\+ obs(Z, Y).
";

fn folder() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    for (name, text) in FILES {
        std::fs::write(folder.path().join(name), text).expect("a file can be written");
    }
    folder
}

fn derrl(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_derrl"));
    command.current_dir(folder).args(args).stdin(Stdio::null());
    command
}

fn run(folder: &Path, args: &[&str]) -> Output {
    derrl(folder, args).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&output.stderr)))
}

#[test]
fn a_proof() {
    let folder = folder();
    let output = run(folder.path(), &["verify", "good.pl", "--domain", "blocks", "--max-objects", "5"]);
    assert_eq!(output.status.code(), Some(0));
    insta::assert_snapshot!("verify_proved", text(&output.stdout));
    insta::assert_snapshot!("verify_progress", text(&output.stderr));
    let args = ["verify", "good.pl", "--domain", "blocks", "--max-objects", "7", "--every-state", "--json"];
    let all = json(&run(folder.path(), &args));
    assert_eq!(all["verdict"], "proved");
    assert_eq!(all["sizes"][5]["instances"], 1_410_444);
    assert_eq!(all["sizes"][5]["states"], 1_410_444);
    assert!(all["counterexample"].is_null());
    // Far beyond what can be listed, if blocks that the policy does not name are taken for alike.
    let far = json(&run(
        folder.path(),
        &["verify", "good.pl", "--domain", "blocks", "--max-objects", "18", "--json"],
    ));
    assert_eq!(far["verdict"], "proved");
    assert_eq!(far["sizes"][16]["longest_run"], 18);
    assert!(far["sizes"][16]["instances"].as_str().is_some_and(|n| n.len() == 21), "more than 64 bits hold");
}

#[test]
fn counterexamples() {
    let folder = folder();
    for (name, args) in [
        ("loop", &["loop.pl", "--domain", "blocks", "--max-objects", "4"][..]),
        ("silent", &["silent.pl", "--domain", "blocks", "--max-objects", "4"]),
        ("dead_end", &["drop.pl", "--domain", "countdown", "--max-objects", "3"]),
        ("bad_luck", &["walk.pl", "--domain", "gridworld", "--max-objects", "3", "--obstacles", "1"]),
    ] {
        let args = [&["verify"], args].concat();
        let output = run(folder.path(), &[&args[..], &["--picture", "film.svg"]].concat());
        assert_eq!(output.status.code(), Some(1), "{name}: a refutation is not success");
        insta::assert_snapshot!(format!("verify_{name}"), text(&output.stdout));
        let film = std::fs::read_to_string(folder.path().join("film.svg")).expect("the picture is written");
        assert!(film.starts_with("<svg") && film.ends_with("</svg>\n"));
        let told = json(&run(folder.path(), &[&args[..], &["--json"]].concat()));
        let verdict = if name == "silent" { "proved-if-ties-are-random" } else { "refuted" };
        assert_eq!(told["verdict"], verdict, "{name}");
        let found = &told["counterexample"];
        let steps = found["steps"].as_array().expect("steps").len();
        let drawn = film.matches("rx=\"10\" fill=\"#f1efea\"").count();
        assert!(drawn == steps || drawn == steps + 1, "{name}: one picture per state");
        assert!(found["wrong_step"].as_u64().is_some_and(|s| s >= 1 && s <= steps as u64));
    }
}

#[test]
fn chance_may_end_a_loop() {
    let folder = folder();
    let args = ["verify", "keys.pl", "--domain", "doorkey", "--max-objects", "6"];
    assert_eq!(run(folder.path(), &args).status.code(), Some(1), "a key out of reach may be tried for ever");
    let output = run(folder.path(), &[&args[..], &["--ties", "random"]].concat());
    assert_eq!(output.status.code(), Some(0));
    insta::assert_snapshot!("verify_random_ties", text(&output.stdout));
    // Behind a wall of two, chance does not help, and it is said that ties are not to blame.
    std::fs::write(folder.path().join("careful.pl"), CAREFUL).expect("a file can be written");
    let args = ["verify", "careful.pl", "--domain", "gridworld", "--max-objects", "3", "--ties", "random"];
    let output = run(folder.path(), &args);
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!("verify_random_ties_loop", text(&output.stdout));
}

#[test]
fn differences() {
    let folder = folder();
    let diff = |a: &str, b: &str, more: &[&str]| {
        let args = ["diff", a, b, "--domain", "blocks", "--max-objects", "4"];
        run(folder.path(), &[&args[..], more].concat())
    };
    let same = diff("good.pl", "long.pl", &[]);
    assert_eq!(same.status.code(), Some(0));
    assert_eq!(text(&same.stdout), "equivalent: the same decision in all 43 states\n");
    let other = diff("good.pl", "loop.pl", &[]);
    assert_eq!(other.status.code(), Some(1));
    insta::assert_snapshot!("diff_different", text(&other.stdout));
    let told = json(&diff("good.pl", "silent.pl", &["--json"]));
    assert_eq!(told["equivalent"], false);
    assert_eq!(told["difference"]["second"]["fires"], false);
}

#[test]
fn simplification() {
    let folder = folder();
    let args = ["simplify", "long.pl", "--domain", "blocks", "--max-objects", "5"];
    let output = run(folder.path(), &args);
    assert_eq!(output.status.code(), Some(0));
    insta::assert_snapshot!("simplify", format!("{}\n{}", text(&output.stdout), text(&output.stderr)));
    // Values that two decimals cannot tell apart keep their order.
    let to_file = run(folder.path(), &[&args[..], &["--out", "short.pl"]].concat());
    assert!(to_file.stdout.is_empty());
    assert_eq!(std::fs::read(folder.path().join("short.pl")).expect("the file"), output.stdout);
    let same = ["diff", "long.pl", "short.pl", "--domain", "blocks", "--max-objects", "5"];
    assert_eq!(run(folder.path(), &same).status.code(), Some(0));
    let told = json(&run(folder.path(), &[&args[..], &["--json"]].concat()));
    assert_eq!(told["policy"], text(&output.stdout));
    assert!(told["removed"].as_array().is_some_and(|r| r.len() >= 3));
}

#[test]
fn bad_input_gets_one_clear_error() {
    let folder = folder();
    let mut all = String::new();
    for args in [
        &["verify", "good.pl", "--domain", "blocks", "--max-objects", "1"][..],
        &["verify", "good.pl", "--domain", "blocks", "--max-objects", "-3"],
        &["verify", "good.pl", "--domain", "blocks", "--max-objects", "99999999999999999999"],
        &["verify", "good.pl", "--domain", "blocks", "--max-objects", "26"],
        &["verify", "good.pl", "--domain", "blocks", "--max-objects", "12", "--every-state"],
        &["verify", "walk.pl", "--domain", "gridworld", "--max-objects", "100", "--obstacles", "5000"],
        &["verify", "good.pl", "--domain", "blocks", "--max-objects", "4", "--obstacles", "2"],
        &["verify", "good.pl", "--domain", "countdown", "--max-objects", "3"],
        &["verify", "green.pl", "--domain", "traffic", "--max-objects", "3"],
        &["verify", "key.pl", "--domain", "doorkey", "--max-objects", "3"],
        &["verify", "loop.pl", "--domain", "blocks", "--max-objects", "3", "--picture", "no/such/folder.svg"],
        &["diff", "good.pl", "drop.pl", "--domain", "blocks", "--max-objects", "3"],
        &["diff", "good.pl", "--domain", "blocks", "--max-objects", "3"],
        &["simplify", "nothing.pl", "--domain", "blocks", "--max-objects", "3"],
        &["simplify", "good.pl", "--max-objects", "3"],
    ] {
        let output = run(folder.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty(), "{args:?}");
        let errors: Vec<String> = text(&output.stderr)
            .lines()
            .skip_while(|l| !l.starts_with("error"))
            .map(str::to_string)
            .collect();
        assert_eq!(errors.iter().filter(|l| l.starts_with("error")).count(), 1, "{args:?}: {errors:?}");
        let _ = write!(all, "$ derrl {}\n{}\n\n", args.join(" "), errors.join("\n"));
    }
    insta::assert_snapshot!("verify_bad_input", all);
}

/// Work that takes long can be stopped, and goes on where it was.
#[cfg(unix)]
#[test]
fn interrupted_and_resumed() {
    let folder = folder();
    let args = [
        "verify",
        "good.pl",
        "--domain",
        "blocks",
        "--max-objects",
        "7",
        "--every-state",
        "--threads",
        "1",
        "--json",
    ];
    let mut command = derrl(folder.path(), &args);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    assert!(lines.any(|line| line.is_ok_and(|l| l == "7 blocks")), "the largest size takes seconds");
    let interrupted =
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill is there");
    assert!(interrupted.success(), "it was still at work");
    let started = Instant::now();
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(130));
    assert!(started.elapsed() < Duration::from_secs(60), "it stops soon");
    let said: Vec<String> = lines.map_while(Result::ok).collect();
    assert!(said.iter().any(|l| l == "interrupted; the same command resumes here"), "{said:?}");
    let kept: Vec<_> = std::fs::read_dir(folder.path().join("runs")).expect("progress is kept").collect();
    assert_eq!(kept.len(), 1);
    let resumed = run(folder.path(), &args);
    assert!(text(&resumed.stderr).contains("going on from where the last run stopped"));
    let told = json(&resumed);
    assert_eq!(told["verdict"], "proved");
    assert_eq!(told["sizes"][5]["instances"], 1_410_444);
    let left = std::fs::read_dir(folder.path().join("runs")).expect("the folder").count();
    assert_eq!(left, 0, "nothing is left behind");
}
