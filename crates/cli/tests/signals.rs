//! Real traffic lights on the command line, in the real SUMO.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const RULES: &str = "../../examples/traffic-lights/four-rules.pl";

fn derrl(args: &[&str]) -> Output {
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join(RULES);
    let mut command = Command::new(env!("CARGO_BIN_EXE_derrl"));
    let rules = rules.to_str().expect("a path that is text");
    command
        .args(args.iter().map(|arg| if *arg == "RULES" { rules } else { arg }))
        .output()
        .expect("derrl runs")
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one document")
}

#[test]
fn rules_and_known_controllers_drive_the_same_hour() {
    let run = |who: &str| {
        let document = json(&derrl(&["run", "signals", who, "--sumocfg", "five", "--seed", "3", "--json"]));
        document["runs"][0].clone()
    };
    let (rules, program) = (run("RULES"), run("own-program"));
    assert_eq!(rules["vehicles"], program["vehicles"], "the traffic is the same");
    let delay = |run: &Value| run["delay"].as_f64().expect("a number");
    assert!(delay(&rules) < 0.7 * delay(&program), "{} against {}", delay(&rules), delay(&program));
    assert_eq!(rules["stuck"], 0);
    let acted: Vec<u64> =
        rules["acted"].as_array().expect("rules").iter().filter_map(Value::as_u64).collect();
    assert_eq!(acted.len(), 5);
    assert!(acted[1..].iter().all(|&n| n > 0), "{acted:?}");
    assert_eq!(rules, run("RULES"), "the same seed, the same hour");
}

/// On the paper's grids, with phases instead of single lanes, rules lose less time than SUMO's actuated programs.
#[test]
fn rules_beat_actuated_programs_on_the_papers_grids() {
    let delay = |who: &str| -> f64 {
        let of = |seed: &str| {
            let args = ["run", "signals", who, "--sumocfg", "five", "eight", "--seed", seed, "--json"];
            let document = json(&derrl(&args));
            let runs = document["runs"].as_array().expect("runs");
            runs.iter().map(|run| run["delay"].as_f64().expect("a number")).sum::<f64>()
        };
        ["1000", "2000", "3000"].map(of).iter().sum()
    };
    let (rules, actuated) = (delay("RULES"), delay("actuated"));
    assert!(rules < actuated, "{rules} against {actuated}");
}

#[test]
fn scenarios_are_scored_one_by_one_and_explained() {
    let args =
        ["eval", "RULES", "--domain", "signals", "--sumocfg", "five", "eight", "--episodes", "1", "--json"];
    let scores = json(&derrl(&args))["scores"].clone();
    for name in ["train:five", "train:eight"] {
        assert!(scores[name]["mean"].as_f64().expect("a score") < 0.0, "{scores}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let picture = folder.path().join("light.svg");
    let args = ["explain", "RULES", "--domain", "signals", "--steps", "200", "--step", "200", "--picture"];
    let output = derrl(&[&args[..], &[picture.to_str().expect("text")]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let drawn = std::fs::read_to_string(&picture).expect("a picture");
    assert!(drawn.contains("<svg") && drawn.matches("rotate(").count() > 1, "vehicles are drawn");
}

#[test]
fn the_table_is_written_and_goes_on_where_it_stopped() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().to_str().expect("text");
    let reproduce =
        || derrl(&["reproduce", "signals", "--domain", "five", "--seeds", "2", "--out", out, "--json"]);
    let document = json(&reproduce());
    // The rules and five controllers with and without clearance, and four programs of SUMO's, with two seeds.
    assert_eq!(document["runs"].as_array().expect("runs").len(), 32);
    let compared = &document["comparison"][0];
    assert!(compared["rules"].as_f64() > Some(0.0) && compared["best"].is_string(), "{compared}");
    let kept = std::fs::read_to_string(folder.path().join("signals.jsonl")).expect("kept runs");
    assert_eq!(json(&reproduce())["runs"], document["runs"]);
    assert_eq!(std::fs::read_to_string(folder.path().join("signals.jsonl")).expect("kept runs"), kept);
    let page = std::fs::read_to_string(folder.path().join("signals.md")).expect("a table");
    assert!(page.contains("| four rules |") && page.contains("| max-pressure |"), "{page}");
}

#[test]
fn what_cannot_be_driven_gets_one_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("my.sumocfg");
    std::fs::write(&config, "<configuration><input><net-file value=\"no.net.xml\"/></input></configuration>")
        .expect("written");
    let config = config.to_str().expect("text");
    for (args, why) in [
        (vec!["run", "signals", "RULES", "--sumocfg", "paris"], "unknown scenario `paris`"),
        (vec!["run", "signals", "RULES", "--sumocfg", config], "no.net.xml is missing"),
        (vec!["run", "signals", "fastest", "--sumocfg", "five"], "fastest is missing: name a policy file"),
        (vec!["run", "signals", "RULES", "--sumocfg", "five", "--clearance", "999"], "999"),
        (vec!["eval", "RULES", "--domain", "signals", "--sumocfg", "paris"], "unknown scenario `paris`"),
        (vec!["eval", "RULES", "--domain", "signals", "--clearance", "999"], "--clearance is a number"),
        (vec!["train", "blocks", "--sumocfg", "five"], "takes no --sumocfg"),
    ] {
        let output = derrl(&args);
        let said = String::from_utf8_lossy(&output.stderr).replace("\n  ", " ").replace('\n', " ");
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(said.contains(why), "{args:?}: {said}");
    }
}
