//! What is measured is told as a document, and a wrong request as one error.

use std::process::{Command, Output};

use serde_json::Value;

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_derrl-bench")).args(args).output().expect("the command starts")
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("standard output is one JSON document")
}

#[test]
fn bench_reports_rates_and_ratios() {
    let mut args = vec!["train", "--seconds", "0.2", "--json"];
    let domains = ["blocks", "cartpole", "queues"];
    args.extend(domains.iter().flat_map(|domain| ["--domain", domain]));
    let out = json(&run(&args));
    for (figures, domain) in out["train"].as_array().unwrap().iter().zip(domains) {
        assert_eq!(figures["domain"], domain);
        for key in
            ["environment", "acting", "training", "training_to_environment", "all_cores", "all_cores_to_one"]
        {
            assert!(figures[key].as_f64().unwrap() > 0.0, "{domain}, {key}");
        }
    }
}

#[test]
fn the_zoo_compares_by_returns_where_there_is_no_goal() {
    let args = ["zoo", "--world", "queues", "--seeds", "0..0", "--json"];
    let out = json(&run(&args));
    let large = &out["zoo"][0]["tasks"]["large"];
    assert!(large["solved"].is_null() && large["mean_success"].is_null(), "{large}");
    let (learned, by_hand) =
        (large["mean_return"].as_f64().unwrap(), large["by_hand_return"].as_f64().unwrap());
    assert!(learned >= 1.1 * by_hand, "{learned}, by hand {by_hand}");
}

#[test]
fn planning_problems_are_tested_beside_rules_written_by_hand() {
    let out = json(&run(&["planning", "--domain", "spanner", "--seeds", "0..0", "--json"]));
    let domain = &out["planning"][0];
    assert_eq!(domain["solved_by_hand"], domain["tests"]);
    let run = &domain["runs"][0];
    assert_eq!(run["solved"], domain["tests"], "{run}");
    assert!(
        run["run"]["cpu_seconds"].as_f64().unwrap() > 0.0 && run["run"]["decisions"].as_u64().unwrap() > 0
    );
    assert!((run["steps_beside_by_hand"].as_f64().unwrap() - 1.0).abs() < 0.1, "{run}");
}

#[test]
fn a_wrong_request_is_one_error() {
    for (args, wanted) in [
        (&["--seconds", "0"][..], "--seconds is a number above 0, not 0"),
        (&["zoo", "--world", "nowhere"], "nowhere"),
        (&["planning", "--domain", "ferri"], "ferry"),
        (&["seeds", "--seeds", "9..0"], "9 is above 0"),
    ] {
        let output = run(args);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(2) && told.contains(wanted), "{args:?}: {told}");
    }
}
