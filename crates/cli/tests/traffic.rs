//! Traffic as a person uses it, in the real SUMO: `pip install eclipse-sumo==1.28.0`, or `./test.sh`, which installs it.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

fn derrl(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_derrl"));
    // Cargo sets DERRL_TOOLS to the folder of the project in which the simulator may be installed.
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).stdin(Stdio::null()).args(args);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("standard output is one JSON document")
}

/// One short restart and nothing else: an episode of the simulator takes a second.
const TINY: [&str; 10] = [
    "--set",
    "updates=4",
    "--set",
    "restarts=1",
    "--set",
    "doubling=false",
    "--set",
    "without=draw,change,try",
    "--episodes",
    "1",
];

#[test]
fn a_run_tells_the_simulator_and_the_other_controllers() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let mut args = vec!["train", "traffic", "--shared", "--json", "--out", out.to_str().unwrap()];
    args.extend(TINY);
    let result = json(&derrl(&args).output().unwrap());
    assert!(result["simulator"].as_str().unwrap().starts_with("SUMO "), "{}", result["simulator"]);
    assert!(result["solved"].is_null() && result["advice"] == serde_json::json!([]), "{result}");
    for task in ["train", "agents-8"] {
        let score = &result["scores"][task];
        for controller in ["random", "fixed-time", "actuated", "longest-queue-first"] {
            assert!(score["references"][controller].as_f64().unwrap() < 0.0, "{task}: {controller}");
        }
        // Queues are to be short: nothing is reached or not.
        assert!(score["success_rate"].is_null(), "{task}: {score}");
    }
}

/// The paper's rule, on demand that it was not chosen on: at most half of random's queue, and no more than fixed-time's.
#[test]
fn the_rule_of_the_paper_halves_the_queue_of_random() {
    let folder = TempDir::new().unwrap();
    let policy = folder.path().join("policy.pl");
    std::fs::write(&policy, "0.90::green(X) :- highest(X), between(X, Y, Z), intersection(Y).\n").unwrap();
    let args = [
        "eval",
        policy.to_str().unwrap(),
        "--domain",
        "traffic",
        "--episodes",
        "2",
        "--seed",
        "77",
        "--json",
    ];
    let result = json(&derrl(&args).output().unwrap());
    for task in ["train", "agents-8"] {
        let score = &result["scores"][task];
        let (mean, random) =
            (score["mean"].as_f64().unwrap(), score["references"]["random"].as_f64().unwrap());
        assert!(-mean <= 0.5 * -random, "{task}: {mean}, random {random}");
    }
}

#[test]
fn without_sumo_there_is_one_error_with_the_command_to_install_it() {
    let folder = TempDir::new().unwrap();
    let output = derrl(&["train", "traffic"])
        .current_dir(folder.path())
        .env_clear()
        .env("PATH", "/nonexistent")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("pip install eclipse-sumo=="), "{}", text(&output.stderr));
    assert!(!folder.path().join("runs").exists());
}

/// SUMO dies in the middle: an error that names the step, exit code 1, and a run that can be resumed.
#[cfg(target_os = "linux")]
#[test]
fn when_sumo_dies_the_run_can_be_resumed() {
    let folder = TempDir::new().unwrap();
    let out = folder.path().join("run");
    let mut args = vec!["train", "traffic", "--shared", "--threads", "1", "--out", out.to_str().unwrap()];
    args.extend(TINY);
    args[7 + 1] = "updates=30";
    let mut child = derrl(&args).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    let mut killed = 0;
    // The first simulator only shows that there is one, so one after the other is killed until the run gives up.
    while child.try_wait().unwrap().is_none() && start.elapsed() < Duration::from_secs(60) {
        // The simulator serves a port; netconvert, which runs before it, does not.
        let listed = Command::new("pgrep")
            .args(["-P", &child.id().to_string(), "-f", "remote-port"])
            .output()
            .unwrap();
        if let Some(pid) = text(&listed.stdout).lines().next() {
            std::thread::sleep(Duration::from_millis(300));
            Command::new("kill").args(["-9", pid]).stderr(Stdio::null()).status().unwrap();
            killed += 1;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(killed > 0, "the simulator has started");
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("step") && said.contains("--resume"), "{said}");
    let resumed = derrl(&["train", "--resume", out.to_str().unwrap(), "--json"]).output().unwrap();
    assert!(json(&resumed)["scores"]["train"]["mean"].is_number());
}
