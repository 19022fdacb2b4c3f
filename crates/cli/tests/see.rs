//! What people see on a terminal: pictures, lists, settings, watching, and that all of it fits 80 columns.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const GOOD: &str =
    "0.99::move(X, Y) :- top(X), top(Y), goal_on(X, Y).\n0.80::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n";
const WALK: &str = "up :- north.\ndown :- south.\nleft :- west.\nright :- east.\n";
const KEYS: &str = "0.9::pick(X) :- key(X), samecolor(X, Y), door(Y), notcarrying.\n\
                    0.95::open(X) :- locked(X), samecolor(X, Y), carrying(Y).\n0.99::goto(X) :- goal(X), unlocked.\n";

fn folder() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    for (name, text) in [("good.pl", GOOD), ("walk.pl", WALK), ("keys.pl", KEYS)] {
        std::fs::write(folder.path().join(name), text).expect("a file can be written");
    }
    folder
}

fn run(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_derrl"));
    command.current_dir(folder).args(args).stdin(Stdio::null()).output().expect("the command starts")
}

fn said(folder: &Path, args: &[&str]) -> String {
    let output = run(folder, args);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!text.is_empty(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn what_is_printed_fits_80_columns() {
    let folder = folder();
    for args in [
        &["domains"][..],
        &["train", "--settings"],
        &["verify", "good.pl", "--domain", "blocks"],
        &["verify", "walk.pl", "--domain", "gridworld", "--max-objects", "3"],
        &["verify", "keys.pl", "--domain", "doorkey"],
        &["diff", "good.pl", "good.pl", "--domain", "blocks"],
        &["watch", "good.pl", "--domain", "blocks"],
        &["watch", "walk.pl", "--domain", "gridworld", "--steps", "5"],
        &["watch", "keys.pl", "--domain", "doorkey", "--steps", "5"],
    ] {
        for line in said(folder.path(), args).lines() {
            assert!(line.chars().count() <= 80, "{args:?}: {line}");
        }
    }
}

/// Every command, as its help lists them.
#[test]
fn every_help_fits_80_columns_and_ends_with_an_example() {
    let folder = folder();
    let all = said(folder.path(), &["--help"]);
    let commands = all.lines().skip_while(|l| *l != "Commands:").skip(1).take_while(|l| !l.is_empty());
    let names: Vec<&str> = commands
        .filter(|l| l.starts_with("  ") && !l.starts_with("   "))
        .filter_map(|l| l.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(names.len() >= 18, "{names:?}");
    for name in names {
        let help = said(folder.path(), &[name, "--help"]);
        assert!(help.lines().all(|l| l.chars().count() <= 80), "{help}");
        let end = help.split("Example").nth(1).unwrap_or_default();
        assert!(end.contains(&format!("\n  derrl {name}")), "{name} has no example at its end:\n{help}");
    }
}

#[test]
fn the_three_verdicts_have_words_and_exit_codes() {
    let folder = folder();
    for (args, code, words) in [
        (&["verify", "good.pl", "--domain", "blocks"][..], 0, "proved:"),
        (&["verify", "keys.pl", "--domain", "doorkey"], 1, "proved if ties are random:"),
        (&["verify", "keys.pl", "--domain", "doorkey", "--ties", "random"], 0, "proved if ties are random:"),
        (&["verify", "walk.pl", "--domain", "gridworld", "--max-objects", "3"], 1, "refuted:"),
    ] {
        let output = run(folder.path(), args);
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
        assert!(text.starts_with(words), "{args:?}: {text}");
    }
}

#[test]
fn an_episode_is_drawn_without_a_browser() {
    let folder = folder();
    let args = ["explain", "good.pl", "--domain", "blocks", "--picture"];
    for (file, begin) in [("a.svg", &b"<svg"[..]), ("a.png", b"\x89PNG"), ("a.gif", b"GIF89a")] {
        let output = run(folder.path(), &[&args[..], &[file]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let bytes = std::fs::read(folder.path().join(file)).expect("the picture");
        assert!(bytes.starts_with(begin), "{file}");
    }
    for (more, words) in [
        (&["a.bmp"][..], "ends with .svg or .png or .gif"),
        (&["nowhere/a.png"], "there is no folder nowhere"),
        (&["a.png", "--step", "99"], "there is no step 99"),
    ] {
        let output = run(folder.path(), &[&args[..], more].concat());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && text.contains(words), "{text}");
    }
}

#[test]
fn a_domain_can_be_copied_and_trained() {
    let folder = folder();
    let text = said(folder.path(), &["domains", "blocks"]);
    std::fs::write(folder.path().join("my.pl"), &text).expect("a file");
    assert!(run(folder.path(), &["check", "my.pl"]).status.success());
    let output = run(folder.path(), &["domains", "block"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("blocks"), "the nearest name is offered");
    let output = run(folder.path(), &["train"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(2) && text.contains("countdown:") && text.contains("gridworld:"),
        "{text}"
    );
}

#[test]
fn settings_come_from_a_file_and_a_policy_knows_its_run() {
    let folder = folder();
    let settings = said(folder.path(), &["train", "--settings"]);
    std::fs::write(folder.path().join("all.toml"), &settings).expect("a file");
    std::fs::write(folder.path().join("few.toml"), "updates = 5\nrestarts = 1\ngamma = 1\n").expect("a file");
    std::fs::write(folder.path().join("bad.toml"), "updatess = 5\n").expect("a file");
    let train = ["train", "blocks", "--episodes", "2", "--quiet", "--config"];
    let output = run(folder.path(), &[&train[..], &["few.toml", "--out", "r"]].concat());
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "r/policy.pl", "quiet: {output:?}");
    assert!(output.stderr.is_empty(), "quiet: {output:?}");
    let config = std::fs::read_to_string(folder.path().join("r/config.toml")).expect("its settings");
    assert!(config.contains("updates = 5") && config.contains("gamma = 1.0"), "{config}");
    let output = run(folder.path(), &[&train[..], &["bad.toml", "--out", "x"]].concat());
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is no setting `updatess`"));
    // The text of --settings is itself such a file.
    let both = [&train[..], &["all.toml", "--set", "updates=5", "--set", "restarts=1", "--out", "y"]];
    assert!(run(folder.path(), &both.concat()).status.success());
    assert!(run(folder.path(), &["eval", "r/policy.pl", "--episodes", "2"]).status.success());
    let output = run(folder.path(), &["eval", "nowhere"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("nowhere is missing"));
    assert!(run(folder.path(), &["report", "r", "--gif", "film.gif"]).status.success());
    assert!(std::fs::read(folder.path().join("film.gif")).expect("the film").starts_with(b"GIF89a"));
}

#[test]
fn shells_and_man_know_every_command() {
    let folder = folder();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = said(folder.path(), &["completions", shell]);
        assert!(script.contains("reproduce") && script.contains("watch"), "{shell}");
    }
    let manual = said(folder.path(), &["man"]);
    assert!(manual.starts_with(".ie") && manual.contains("DERRL VERIFY") && manual.contains("max\\-objects"));
    for command in [
        "domains",
        "train",
        "eval",
        "explain",
        "verify",
        "diff",
        "simplify",
        "export",
        "report",
        "serve",
        "watch",
        "check",
        "reproduce",
        "completions",
    ] {
        assert!(
            said(folder.path(), &[command, "--help"]).contains("Example"),
            "{command} --help has an example"
        );
    }
}
