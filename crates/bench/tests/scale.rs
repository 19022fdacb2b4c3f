//! `derrl-bench scale` end to end: what it decides is what the real SWI-Prolog and clingo decide.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Runs the command in the project's folder, where the tools are.
fn bench(args: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_derrl-bench"));
    command.current_dir(root).env("NO_COLOR", "1").stdin(Stdio::null()).arg("scale");
    command.args(args).output().expect("the command starts")
}

/// The bench fails where an answer differs; here it must have asked for some. A tool that is missing is a failure.
#[test]
fn prolog_and_clingo_decide_as_the_agenda_does() {
    let output = bench(&["--sizes", "10,60", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).expect("standard output is one JSON document");
    let rows = report["scale"].as_array().expect("a list of figures");
    let what: Vec<_> =
        rows.iter().map(|r| (r["world"].as_str().unwrap(), r["size"].as_u64().unwrap())).collect();
    let worlds = ["blocks", "blocks, above", "blocks, inplace", "lanes"];
    let expected: Vec<_> = worlds.iter().flat_map(|&world| [(world, 10), (world, 60)]).collect();
    assert_eq!(what, expected);
    for row in rows {
        let rivals = row["rivals"].as_array().expect("a list of rivals");
        let names: Vec<_> = rivals.iter().map(|r| r["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["SWI-Prolog", "clingo"], "./test.sh installs both");
        for rival in rivals {
            assert!(rival["states"].as_u64().unwrap() > 50, "{row}");
            assert_eq!(rival["same_answers"], true);
        }
        assert!(row["decisions"].as_u64().unwrap() >= 1000);
        assert!(row["facts_changed"].as_f64().unwrap() < 10.0, "few facts change: {row}");
        // The pairs of a closure are kept one by one, and a tower has many.
        assert!(
            row["world"] == "blocks, above"
                || row["bytes"].as_u64().unwrap() < 400 * row["facts"].as_u64().unwrap(),
            "memory is linear: {row}"
        );
    }
}

#[test]
fn sizes_out_of_range_are_refused() {
    for sizes in ["3", "10,many", "1000000"] {
        let output = bench(&["--sizes", sizes]);
        assert_eq!(output.status.code(), Some(2), "{sizes}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("--sizes"), "{sizes}");
    }
}
