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

/// On the paper's grids, with phases instead of single lanes, rules lose less time than SUMO's actuated programs, and their
/// queues are shorter.
#[test]
fn rules_beat_actuated_programs_on_the_papers_grids() {
    let figures = |who: &str| -> [f64; 2] {
        let of = |seed: &str| {
            let args = ["run", "signals", who, "--sumocfg", "five", "eight", "--seed", seed, "--json"];
            let document = json(&derrl(&args));
            let runs = document["runs"].as_array().expect("runs").clone();
            let sum = |name: &str| runs.iter().map(|run| run[name].as_f64().expect("a number")).sum::<f64>();
            [sum("delay"), sum("queue_per_lane")]
        };
        let all = ["1000", "2000", "3000"].map(of);
        [0, 1].map(|k| all.iter().map(|figures| figures[k]).sum())
    };
    let (rules, actuated) = (figures("RULES"), figures("actuated"));
    assert!(rules[0] < actuated[0] && rules[1] < actuated[1], "{rules:?} against {actuated:?}");
}

/// The page of an hour is small, and says why each light decided as it did.
#[test]
fn an_hour_is_written_as_a_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("hour.html");
    let page = page.to_str().expect("text");
    let data = |who: &str| -> Value {
        json(&derrl(&["run", "signals", who, "--sumocfg", "five", "--page", page, "--json"]));
        let text = std::fs::read_to_string(page).expect("a page");
        assert!(text.len() < 1_000_000, "{} bytes", text.len());
        let from = text.split_once("id=\"data\">").expect("data").1;
        serde_json::from_str(from.split_once("</script>").expect("its end").0).expect("one document")
    };
    let hour = data("RULES");
    let count = |value: &Value| value.as_array().expect("a list").len();
    assert_eq!(count(&hour["lights"]), 5);
    assert!(count(&hour["ways"]) > 100 && count(&hour["roads"]) > 30);
    let rules = &hour["rules"];
    let texts: Vec<&str> =
        rules["texts"].as_array().expect("texts").iter().filter_map(Value::as_str).collect();
    assert!(texts.iter().any(|text| text.contains(", needs more than 1.2*near(p")), "{texts:?}");
    let decisions = rules["decisions"].as_array().expect("decisions");
    let acted: u64 = rules["acted"].as_array().expect("counts").iter().filter_map(Value::as_u64).sum();
    assert_eq!(decisions.iter().map(count).sum::<usize>() as u64, acted);
    assert!(count(&data("own-program")["rules"]["rules"]) == 0, "a program has no rules");
    let both = derrl(&["run", "signals", "RULES", "--sumocfg", "five", "eight", "--page", page]);
    assert_eq!(both.status.code(), Some(2));
}

/// The same rules in Python, and in C, drive an hour of SUMO by themselves, about as `derrl` does.
#[test]
fn exported_controllers_drive_an_hour_by_themselves() {
    let sumo = derrl_traci::Sumo::find().expect("SUMO");
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).to_str().expect("text").to_string();
    for (target, name) in [("sumo", "lights.py"), ("c", "rules.c")] {
        let output = derrl(&["export", "RULES", "--domain", "signals", "--to", target, "--out", &file(name)]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o", &file("rules.so"), &file("rules.c")])
        .output()
        .expect("a C compiler");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let config = write_crossing(folder.path(), &sumo);
    let delay = |more: &[&str]| -> f64 {
        let output = Command::new("python3")
            .arg(file("lights.py"))
            .args([&config, "--seed", "7"])
            .args(more)
            .env("SUMO_HOME", &sumo.home)
            .output()
            .expect("Python");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let line = said.lines().find(|line| line.contains("lost per vehicle")).expect("a delay");
        line.split(' ').next().expect("a number").parse().expect("a number")
    };
    let run = json(&derrl(&["run", "signals", "RULES", "--sumocfg", &config, "--seed", "7", "--json"]));
    let ours = run["runs"][0]["delay"].as_f64().expect("a number");
    let (python, c) = (delay(&[]), delay(&["--library", &file("rules.so")]));
    assert!((python - ours).abs() < 0.15 * ours, "{python} in Python, {ours} here");
    assert!((python - c).abs() < 1e-9, "{python} in Python, {c} in C");
    let other = derrl(&["export", "RULES", "--domain", "blocks", "--to", "sumo"]);
    assert_eq!(other.status.code(), Some(2));
}

/// A crossing of our own with crossings for those who walk. Returns its configuration.
fn write_crossing(folder: &Path, sumo: &derrl_traci::Sumo) -> String {
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("written");
    let ends = [("n", 0, 200), ("e", 200, 0), ("s", 0, -200), ("w", -200, 0)];
    let nodes = ends.map(|(id, x, y)| format!("<node id=\"{id}\" x=\"{x}\" y=\"{y}\"/>")).concat();
    write(
        "my.nod.xml",
        &format!("<nodes><node id=\"c\" x=\"0\" y=\"0\" type=\"traffic_light\"/>{nodes}</nodes>"),
    );
    let road = |a: &str, b: &str| {
        format!(
            "<edge id=\"{a}{b}\" from=\"{a}\" to=\"{b}\" numLanes=\"2\" speed=\"13.9\" sidewalkWidth=\"2\"/>"
        )
    };
    let edges = ends.map(|(id, ..)| road(id, "c") + &road("c", id)).concat();
    write("my.edg.xml", &format!("<edges>{edges}</edges>"));
    let built = Command::new(&sumo.netconvert)
        .args(["-n", "my.nod.xml", "-e", "my.edg.xml", "-o", "my.net.xml", "--crossings.guess"])
        .current_dir(folder)
        .env("SUMO_HOME", &sumo.home)
        .output()
        .expect("netconvert");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let flow = |id: &str, from: &str, to: &str, rate: u32| {
        format!(
            "<flow id=\"{id}\" from=\"{from}\" to=\"{to}\" begin=\"0\" end=\"900\" vehsPerHour=\"{rate}\"/>"
        )
    };
    let flows =
        [("a", "nc", "cs", 500), ("b", "wc", "ce", 400), ("c", "ec", "cs", 150), ("d", "sc", "cw", 100)];
    let flows = flows.map(|(id, from, to, rate)| flow(id, from, to, rate)).concat();
    write("my.rou.xml", &format!("<routes>{flows}</routes>"));
    write(
        "my.sumocfg",
        "<configuration><input><net-file value=\"my.net.xml\"/><route-files value=\"my.rou.xml\"/></input>\
         <time><begin value=\"0\"/><end value=\"900\"/></time></configuration>",
    );
    folder.join("my.sumocfg").to_str().expect("text").to_string()
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
    // It reads well to who knows traffic.
    let said = derrl(&["explain", "RULES", "--domain", "signals", "--steps", "200"]);
    let said = String::from_utf8_lossy(&said.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "the number of vehicles close to the light for X is more than 1.2 × the number of vehicles close to the light for Y \
         plus 0.5; of these, the one for which the number of vehicles close to the light for X is greatest",
        ", more than 1.2*near(p",
    ] {
        assert!(said.contains(words), "{words}");
    }
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
