//! A world that is seen as pixels: learned, scored on larger mazes, and what happens to a run that has lost its sight.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

fn derrl(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_derrl"));
    command.current_dir(folder).env("NO_COLOR", "1").stdin(Stdio::null()).args(args);
    command.output().expect("the command starts")
}

fn json(folder: &Path, args: &[&str]) -> Value {
    let output = derrl(folder, args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}: {said}"))
}

#[test]
fn rules_and_symbols_are_learned_from_reward() {
    let folder = TempDir::new().expect("a temporary folder");
    let at = folder.path();
    let run = json(at, &["train", "pacman", "--out", "run", "--threads", "1", "--episodes", "100", "--json"]);
    for task in ["train", "larger"] {
        assert!(run["scores"][task]["success_rate"].as_f64() >= Some(0.98), "{task}: {}", run["scores"]);
    }
    let seen = &run["perception"];
    assert!(seen["right"].as_f64() >= Some(0.99) && seen["soft"].as_f64() >= Some(0.9), "{seen}");
    assert!(run["policy"].as_str().is_some_and(|p| p.contains("to_s1_past_s3(X)")), "{}", run["policy"]);
    let page = fs::read_to_string(at.join("run/report.html")).expect("there is a page");
    assert!(page.contains("\"confusion\"") && page.contains("symbolsNode"));

    // The same sight and rules elsewhere, and with perfect perception.
    for more in [&["--task", "large", "--size", "6", "--obstacles", "8"][..], &["--facts"]] {
        let args = [&["eval", "run", "--episodes", "100", "--json"], more].concat();
        let score = json(at, &args);
        let scores = score["scores"].as_object().expect("it has scores").clone();
        assert!(scores.values().all(|s| s["success_rate"].as_f64() >= Some(0.98)), "{more:?}: {score}");
    }

    // Symbols mean nothing without the sight that tells them apart.
    let sight = at.join("run/perception.json");
    let whole = fs::read_to_string(&sight).expect("it is there");
    for text in [
        None,
        Some(&whole[..whole.len() / 2]),
        Some("{}"),
        Some(&whole.replace("\"outputs\":4", "\"outputs\":3")),
    ] {
        match text {
            Some(text) => fs::write(&sight, text).expect("a file can be written"),
            None => fs::remove_file(&sight).expect("a file can be removed"),
        }
        for command in ["eval", "report", "explain"] {
            let output = derrl(at, &[command, "run"]);
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{command}: {said}");
            assert!(said.contains("perception.json"), "{command}: {said}");
        }
    }
}

#[test]
fn with_perception_given_rules_are_learned_alone() {
    let folder = TempDir::new().expect("a temporary folder");
    let at = folder.path();
    let run =
        json(at, &["train", "pacman", "--facts", "--no-report", "--out", "run", "--threads", "1", "--json"]);
    assert_eq!(run["scores"]["larger"]["success_rate"], 1.0, "{run}");
    assert!(run["perception"].is_null() && !at.join("run/perception.json").exists());
}

#[test]
fn the_true_facts_are_for_worlds_that_are_seen() {
    let folder = TempDir::new().expect("a temporary folder");
    let output = derrl(folder.path(), &["train", "blocks", "--facts"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("takes no --facts"));
}
