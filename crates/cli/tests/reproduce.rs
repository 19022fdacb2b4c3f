//! `derrl reproduce` as a person uses it: a slice of it, so small that it takes seconds.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

/// One domain, one seed, few decisions; the result is in the folder `r`.
const SLICE: &[&str] = &[
    "reproduce",
    "all",
    "--quick",
    "--seeds",
    "1",
    "--domain",
    "doorkey",
    "--budget",
    "1500",
    "--out",
    "r",
    "--json",
];

struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(TempDir::new().expect("a temporary folder"))
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_derrl"));
        command.current_dir(self.0.path()).stdin(Stdio::null()).args(args);
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().expect("the command starts")
    }

    fn json(&self, args: &[&str]) -> Value {
        let output = self.run(args);
        assert!(output.status.success(), "{}", said(&output));
        serde_json::from_slice(&output.stdout).expect("standard output is one JSON document")
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.0.path().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.0.path().join(file), text).expect("a file can be written");
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn finished_jobs(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder.join("jobs")).into_iter().flatten();
    let mut names: Vec<String> =
        entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_slice_gives_a_whole_report() {
    let place = Place::new();
    place.write(
        "README.md",
        "# Mine\n<!-- derrl reproduce: begin -->old<!-- derrl reproduce: end -->\nrest\n",
    );
    let with_readme: Vec<&str> = SLICE.iter().copied().chain(["--readme", "README.md"]).collect();
    let document = place.json(&with_readme);

    for part in ["table", "convergence", "runtime", "ablation", "rules", "programs"] {
        assert!(!document["results"][part].is_null(), "{part} is missing");
    }
    let rows = document["results"]["table"]["table-doorkey"]["rows"].as_array().unwrap();
    assert_eq!(rows[1]["agents"]["derrl"]["paper"], 0.78);
    for agent in ["derrl", "nlrl", "gcn", "mlp", "random"] {
        assert!(rows[0]["agents"][agent]["mean"].is_number(), "{agent} has no score");
    }
    for key in ["command", "date", "commit", "machine"] {
        assert!(document["run"][key].is_string(), "{key} is missing");
    }
    // Every experiment says whether it held; nothing is said of what was not run.
    let doorkey = &document["experiments"]["table-doorkey"];
    assert!(doorkey["held"].is_boolean() && doorkey["claims"].as_array().unwrap().len() == 2);
    assert_eq!(doorkey["experiment"]["seeds"], 3);
    assert!(document["experiments"]["table-blocks"]["held"].is_null());

    let html = place.read("r/report.html");
    assert!(html.contains("<svg") && !html.replace("http://www.w3.org/2000/svg", "").contains("http"));
    assert!(!html.contains("src=") && !html.contains("<link"), "the page needs nothing else");
    let markdown = place.read("r/report.md");
    let figures =
        markdown.lines().filter_map(|l| l.split_once("](figures/")).map(|(_, f)| f.trim_end_matches(')'));
    for figure in figures {
        assert!(place.read(&format!("r/figures/{figure}")).starts_with("<svg"), "{figure}");
    }
    let readme = place.read("README.md");
    assert!(readme.starts_with("# Mine\n") && readme.ends_with("rest\n") && !readme.contains("old"));
    assert!(
        readme.contains(": dynamic keys/doors |")
            && !readme.contains("training |")
            && readme.contains("(0.78)"),
        "{readme}"
    );
}

#[test]
fn what_is_finished_is_not_run_again_unless_asked_for() {
    let place = Place::new();
    let first = place.json(SLICE);
    let again = place.run(SLICE);
    assert!(!said(&again).contains(" runs: "), "{}", said(&again));
    let again: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(again["results"], first["results"], "also the times");

    // A finished job that was damaged is run again.
    let folder = place.0.path().join("r");
    let jobs = finished_jobs(&folder);
    let random = jobs.iter().find(|name| name.contains("random")).unwrap();
    place.write(&format!("r/jobs/{random}"), "{");
    assert_eq!(place.json(SLICE)["results"]["table"], first["results"]["table"]);

    let asked: Vec<&str> =
        SLICE.iter().copied().chain(["--again", "gcn:doorkey", "--again", "mlp:blocks"]).collect();
    let output = place.run(&asked);
    assert!(said(&output).contains("1 of 1 runs: gcn on doorkey, seed 0"), "{}", said(&output));
    assert_eq!(finished_jobs(&folder), jobs);
}

#[test]
fn the_runs_of_derrl_are_folders_that_other_commands_take() {
    let place = Place::new();
    let document = place.json(SLICE);
    let run = "r/runs/doorkey/seed-0";
    let policy = place.json(&["eval", run, "--task", "train", "--episodes", "2", "--json"])["policy"].clone();
    assert_eq!(document["results"]["rules"]["table-doorkey"]["derrl"][0], policy);

    // One page for all runs, beside the report and not in its place.
    let report = place.read("r/report.html");
    let page = place.read("r/runs.html");
    assert!(page.contains("runs/doorkey/seed-0"));
    place.write("r/runs.html", "");
    assert_eq!(place.json(&["report", "r", "--json"])["runs"], 1);
    assert_eq!(place.read("r/runs.html"), page);
    assert_eq!(place.read("r/report.html"), report);

    // The folder says how the run was made: training by it gives the same policy.
    assert_eq!(place.json(&["train", "--resume", run, "--json"])["policy"], policy);
}

#[test]
fn without_sumo_traffic_is_left_out_and_the_report_says_so() {
    let place = Place::new();
    let without_sumo = |args: &[&str]| {
        // Outside the project, where a simulator may be installed, and with nothing on the path.
        place
            .command(args)
            .env_remove("SUMO_HOME")
            .env_remove("DERRL_TOOLS")
            .env("PATH", "")
            .output()
            .expect("the command starts")
    };
    let rules = ["reproduce", "rules", "--quick", "--seeds", "1", "--budget", "500", "--out", "r"];
    let output = without_sumo(&[&rules[..], &["--domain", "doorkey", "--domain", "traffic"]].concat());
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains("Traffic is left out: SUMO"), "{}", said(&output));
    for file in ["report.html", "report.md", "results.json"] {
        assert!(place.read(&format!("r/{file}")).contains("Traffic is left out"), "{file}");
    }
    let output = without_sumo(&[&rules[..], &["--domain", "traffic"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("nothing is left to reproduce"), "{}", said(&output));
}

#[cfg(unix)]
#[test]
fn interrupted_it_keeps_what_is_finished_and_says_how_to_go_on() {
    let place = Place::new();
    let args = ["reproduce", "table", "--quick", "--domain", "countdown", "--threads", "1", "--out", "cut"];
    let child = place.command(&args).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let folder = place.0.path().join("cut");
    // The longest run comes first; the others take half a minute more.
    let mut waited = 0;
    while finished_jobs(&folder).is_empty() && waited < 1200 {
        std::thread::sleep(Duration::from_millis(50));
        waited += 1;
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    assert!(
        said(&output).contains("derrl reproduce table --quick --domain countdown --out cut"),
        "{}",
        said(&output)
    );
    assert!(output.stdout.is_empty() && !folder.join("report.html").exists());
    assert!(!finished_jobs(&folder).is_empty());
}
