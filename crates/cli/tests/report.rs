//! `derrl report` as a person uses it: one run, many, unfinished ones, and what `derrl verify` left. What the page shows is tested
//! in a browser (web/tests).

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

fn run(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_derrl"));
    command.current_dir(folder).args(args).stdin(Stdio::null()).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A folder with a quick run of a domain in `one`.
fn trained(domain: &str) -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    let quick = ["--set", "updates=40", "--set", "restarts=2", "--episodes", "20"];
    let output = run(folder.path(), &[&["train", domain, "--out", "one"], &quick[..]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    folder
}

/// Copies a run to another place and gives it another seed.
fn copy(from: &Path, to: &Path, seed: usize) {
    std::fs::create_dir_all(to).expect("a folder");
    for entry in std::fs::read_dir(from).expect("the folder of a run") {
        let entry = entry.expect("a file");
        std::fs::copy(entry.path(), to.join(entry.file_name())).expect("a file can be copied");
    }
    let config = std::fs::read_to_string(from.join("config.toml")).expect("the configuration");
    std::fs::write(to.join("config.toml"), config.replace("seed = 0", &format!("seed = {seed}")))
        .expect("a file");
}

/// What a page holds.
fn data(page: &Path) -> Value {
    let html = std::fs::read_to_string(page).expect("the page");
    let from = html.split_once("id=\"data\">").expect("the data").1;
    serde_json::from_str(from.split_once("</script>").expect("its end").0).expect("JSON")
}

#[test]
fn many_runs_share_a_small_page() {
    let folder = trained("countdown");
    let (one, all) = (folder.path().join("one"), folder.path().join("all"));
    for seed in 0..64 {
        copy(&one, &all.join(format!("runs/countdown/seed-{seed}")), seed);
    }
    copy(&one, &all.join("runs/other/deep/seed-0"), 0);
    copy(&one, &all.join(".hidden"), 0);
    copy(&one, &all.join("stopped"), 7);
    std::fs::remove_file(all.join("stopped/result.json")).expect("a run that was stopped");
    let output = run(folder.path(), &["report", "all", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    let bytes = std::fs::metadata(all.join("report.html")).expect("the page").len();
    assert_eq!(told["bytes"], bytes);
    assert!(bytes < 1_500_000, "{bytes} bytes");
    let notes = told["notes"].to_string();
    assert!(notes.contains("stopped is not finished and left out"), "{notes}");
    assert!(notes.contains("55 of 65 runs are here without episodes"), "{notes}");

    let page = data(&all.join("report.html"));
    assert!(page["notes"].to_string().contains("55 of 65"), "the page says so itself");
    let runs = page["runs"].as_array().expect("runs");
    let seeds: Vec<u64> = runs.iter().filter_map(|r| r["seed"].as_u64()).collect();
    assert_eq!(seeds[..64], (0..64).collect::<Vec<u64>>(), "in order of their numbers");
    assert_eq!(runs[64]["label"], "runs/other/deep/seed-0");
    let played = runs.iter().filter(|r| r["tasks"].as_array().is_some_and(|t| !t.is_empty())).count();
    assert_eq!(played, 10);

    let asked = run(folder.path(), &["report", "all", "--episodes", "1", "--out", "full.html"]);
    assert!(asked.status.success() && !text(&asked.stderr).contains("without episodes"));
    let full = data(&folder.path().join("full.html"));
    let runs = full["runs"].as_array().expect("runs");
    assert!(
        runs.iter().all(|r| r["tasks"].as_array().is_some_and(|t| t.len() == 4)),
        "all that was asked for"
    );
}

/// A run that exploring solves has no restart of the gradient, hence no curve.
#[test]
fn a_run_without_restarts_has_a_page() {
    let folder = TempDir::new().expect("a temporary folder");
    let args = ["train", "blocks", "--seeds", "0..1", "--episodes", "5", "--out", "all", "--json"];
    let output = run(folder.path(), &[&args[..], &["--set", "without=gradient"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout).expect("one JSON document");
    for result in told["runs"].as_array().expect("two runs") {
        assert_eq!((&result["restarts"], &result["episodes"]), (&0.into(), &0.into()));
        assert_eq!(result["solved"], true, "{result:#}");
    }
    let all = folder.path().join("all");
    assert_eq!(std::fs::read_to_string(all.join("seed-0/metrics.jsonl")).expect("its curves"), "");
    assert!(std::fs::read_to_string(all.join("seed-0/curve.svg")).is_ok_and(|drawn| !drawn.contains("NaN")));
    for page in [all.join("report.html"), all.join("seed-0/report.html")] {
        let page = data(&page);
        assert!(page["runs"][0]["chart"].is_null() && page["runs"][0]["counts"]["restarts"] == 0);
    }
    let output = run(folder.path(), &["report", "all", "--json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn a_verification_stays_with_its_run() {
    let folder = trained("blocks");
    let one = folder.path().join("one");
    let verified = |max: &str| run(folder.path(), &["verify", "one", "--max-objects", max, "--json"]);
    std::fs::write(one.join("policy.pl"), "move(X, Y) :- top(X), on(X, Z).\n").expect("a file");
    let refuted = verified("3");
    assert_eq!(refuted.status.code(), Some(1));
    assert!(text(&refuted.stderr).contains("`derrl report one` shows it"));
    let mut kept: Value =
        serde_json::from_str(&std::fs::read_to_string(one.join("verify.json")).expect("kept")).expect("JSON");
    let printed: Value = serde_json::from_slice(&refuted.stdout).expect("one JSON document");
    let drawn = kept.as_object_mut().and_then(|all| all.remove("pictures"));
    assert!(drawn.is_some_and(|p| p.as_array().is_some_and(|p| !p.is_empty())), "for the page");
    assert_eq!(kept, printed);

    let report = || {
        let output = run(folder.path(), &["report", "one"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        (data(&one.join("report.html"))["runs"][0]["verification"].clone(), text(&output.stderr))
    };
    let (shown, _) = report();
    assert_eq!((&shown["verdict"], &shown["quick"]), (&"proved-if-ties-are-random".into(), &false.into()));
    assert_eq!(shown["command"], "derrl verify one --max-objects 3");

    // Whatever was proved or refuted about another policy says nothing about this one.
    std::fs::write(
        one.join("policy.pl"),
        "0.99::move(X, Y) :- top(X), top(Y), goal_on(X, Y).\n0.80::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n",
    )
    .expect("a file");
    let (shown, notes) = report();
    assert!(notes.contains("verify.json is about another policy"), "{notes}");
    assert_eq!((&shown["verdict"], &shown["quick"]), (&"proved".into(), &true.into()));

    // A policy asked about in another domain is no part of the run.
    let before = std::fs::read(one.join("verify.json")).expect("kept");
    let elsewhere = run(folder.path(), &["verify", "one", "--domain", "blocks", "--max-objects", "3"]);
    assert!(elsewhere.status.success());
    assert_eq!(std::fs::read(one.join("verify.json")).expect("kept"), before);
}

#[test]
fn bad_input_gets_one_clear_error() {
    let folder = trained("countdown");
    let path = folder.path();
    copy(&path.join("one"), &path.join("several/seed-1"), 1);
    copy(&path.join("one"), &path.join("stopped"), 0);
    std::fs::remove_file(path.join("stopped/result.json")).expect("a run that was stopped");
    copy(&path.join("one"), &path.join("damaged"), 0);
    std::fs::write(path.join("damaged/metrics.jsonl"), "{\n").expect("a file");
    std::fs::create_dir(path.join("empty")).expect("a folder");
    for (args, expected) in [
        (&["report", "nothing"][..], "the folder nothing is missing"),
        (&["report", "one/policy.pl"], "is a file"),
        (&["report", "empty"], "empty holds no run"),
        (&["report", "stopped"], "not finished: resume it with   derrl train --resume stopped"),
        (&["report", "damaged"], "metrics.jsonl is damaged in line 1"),
        (&["report", "one", "--out", "empty"], "--out empty is a folder"),
        (&["report", "one", "--out", "no/such/page.html"], "cannot write no/such/page.html"),
        (&["report", "one", "--episodes", "many"], "--episodes"),
        (&["explain", "several"], "several holds several runs: name one of them, such as several/seed-1"),
    ] {
        let output = run(path, args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty(), "{args:?}");
        let error = text(&output.stderr);
        // Long errors are broken at spaces.
        assert!(error.replace('\n', " ").contains(expected), "{args:?}: {error}");
        assert_eq!(error.lines().filter(|l| l.starts_with("error")).count(), 1, "{args:?}: {error}");
    }
}
