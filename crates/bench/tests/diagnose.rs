//! What was taken away from a world is named, with two states that show it.

use std::process::Command;

use serde_json::Value;

/// A few of the twenty worlds; `derrl-bench diagnose` asks about all.
#[test]
fn what_was_taken_away_is_named() {
    let worlds = ["fruit", "lamps", "pipes", "long-lock"];
    let mut args = vec!["diagnose", "--json"];
    args.extend(worlds.iter().flat_map(|world| ["--world", world]));
    let output = Command::new(env!("CARGO_BIN_EXE_derrl-bench")).args(args).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let all: Value = serde_json::from_slice(&output.stdout).expect("standard output is one JSON document");
    let cases = all["diagnose"].as_array().expect("a list");
    assert_eq!(cases.len(), 5);
    for case in cases {
        assert_eq!(case["right"], true, "{case}");
        let found = &case["diagnosis"];
        if case["missing"] == "exploration" {
            assert!(found["pair"].is_null() && found["success_by_chance"] == 0.0, "{case}");
            continue;
        }
        // The action is right in the first state and wrong in the second one.
        let pair = &found["pair"];
        assert_eq!(pair["first"]["is_right"], true, "{case}");
        assert_eq!(pair["second"]["is_right"], false, "{case}");
        assert!(found["remedy"].as_str().is_some_and(|line| line.starts_with(":- ")), "{case}");
        assert!(found["fails_first"]["rule"].is_string(), "{case}");
    }
}
