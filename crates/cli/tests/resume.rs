//! Runs stopped by real signals at any moment, and resumed, leave the files of a run that was never stopped.
#![cfg(unix)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread::sleep;
use std::time::{Duration, Instant};

use derrl_env::Rng;
use serde_json::Value;

/// What is trained, and how.
struct Case {
    domain: &'static str,
    settings: &'static [&'static str],
    /// Steps at the most.
    steps: &'static str,
    /// The folders of its runs below the one given.
    runs: &'static [&'static str],
    /// Runs that are interrupted again and again until they end.
    times: usize,
}

/// The gradient alone, in whole restarts: a run that takes a while.
const GRADIENT: &str = "without=explore,draw,change,try";

const CASES: [Case; 6] = [
    Case {
        domain: "blocks",
        settings: &[GRADIENT, "updates=1000"],
        runs: &["."],
        steps: "1000000",
        times: 1,
    },
    Case {
        domain: "blocks",
        settings: &[GRADIENT, "doubling=false", "updates=300"],
        runs: &["."],
        steps: "1000000",
        times: 1,
    },
    Case {
        domain: "doorkey",
        settings: &["doubling=false", "without=explore"],
        runs: &["."],
        steps: "1000000",
        times: 1,
    },
    Case {
        domain: "countdown",
        settings: &[GRADIENT, "doubling=false", "updates=900"],
        runs: &["."],
        steps: "1000000",
        times: 1,
    },
    // By exploration, and by sampling numbers.
    Case { domain: "gridworld", settings: &[], runs: &["."], steps: "30000", times: 1 },
    Case {
        domain: "cartpole",
        settings: &[],
        runs: &["seed-0", "seed-1", "seed-2"],
        steps: "1000000",
        times: 1,
    },
];

impl Case {
    fn start(&self, folder: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_derrl"));
        command.args([
            "train",
            self.domain,
            "--no-report",
            "--episodes",
            "5",
            "--set",
            "restarts=2",
            "--threads",
            "1",
            "--max-steps",
            self.steps,
            "--out",
        ]);
        command.arg(folder);
        self.settings.iter().for_each(|setting| {
            command.args(["--set", setting]);
        });
        if self.runs.len() > 1 {
            command.args(["--seeds", "0..2"]);
        }
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// The command that brings the runs of a folder further.
    fn next(&self, folder: &Path) -> Command {
        let begun = |run: &&str| folder.join(run).join("config.toml").exists();
        if self.runs.iter().all(begun) {
            let mut command = Command::new(env!("CARGO_BIN_EXE_derrl"));
            command.args(["train", "--no-report", "--threads", "2", "--resume"]).arg(folder);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            return command;
        }
        let _ = fs::remove_dir_all(folder); // it may not even be there
        self.start(folder)
    }

    /// What the runs left: all but times and paths.
    fn left(&self, folder: &Path) -> Vec<String> {
        let mut all = Vec::new();
        for run in self.runs {
            for file in
                ["metrics.jsonl", "policy.pl", "policy.unsimplified.pl", "checkpoint.json", "curve.svg"]
            {
                all.push(read(&folder.join(run).join(file)));
            }
            let mut result: Value =
                serde_json::from_str(&read(&folder.join(run).join("result.json"))).unwrap();
            for timing in ["seconds", "policy_path", "report_path"] {
                result.as_object_mut().unwrap().remove(timing);
            }
            all.push(result.to_string());
        }
        all
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Whether a process ended by itself, and well, before it was sent a signal.
fn ended(mut child: Child, after: Duration, signal: &str) -> bool {
    let start = Instant::now();
    while start.elapsed() < after {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "a run that nobody stopped ends with {status}");
            return true;
        }
        sleep(Duration::from_millis(2));
    }
    let sent = Command::new("kill").args([signal, &child.id().to_string()]).stderr(Stdio::null()).status();
    assert!(sent.is_ok());
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < Duration::from_secs(60), "{signal} does not stop it");
        sleep(Duration::from_millis(2));
    }
    false
}

/// Stops runs of a case again and again until they end, and compares what they leave. Returns how often they were stopped.
fn stopped(case: &Case, number: u64, dir: &Path) -> usize {
    let mut rng = Rng::new(7, number);
    let mut stops = 0;
    let whole = dir.join(format!("whole-{number}"));
    let start = Instant::now();
    assert!(case.start(&whole).status().unwrap().success(), "{}", case.domain);
    let lasts = start.elapsed().as_millis() as usize;
    for time in 0..case.times {
        let folder: PathBuf = dir.join(format!("stopped-{number}-{time}"));
        for n in 0.. {
            // Some twenty stops for each run, and ever fewer, so that it comes to an end.
            let most = lasts / 12 * (1 + n / 8);
            let after = Duration::from_millis(5 + rng.below(most.max(20)) as u64);
            let signal = ["-INT", "-TERM", "-KILL"][rng.below(3)];
            if ended(case.next(&folder).spawn().unwrap(), after, signal) {
                break;
            }
            stops += 1;
        }
        let (expected, found) = (case.left(&whole), case.left(&folder));
        assert!(found == expected, "{}, time {time}: files differ", case.domain);
    }
    stops
}

#[test]
fn runs_stopped_by_signals_end_as_if_they_had_not_been() {
    let dir = tempfile::tempdir().unwrap();
    let left = Mutex::new(CASES.iter().zip(0..));
    let work = || {
        let next = || left.lock().unwrap().next();
        std::iter::from_fn(next).map(|(case, number)| stopped(case, number, dir.path())).sum::<usize>()
    };
    let stops: usize = std::thread::scope(|scope| {
        let workers = [scope.spawn(work), scope.spawn(work)];
        workers.into_iter().map(|w| w.join().unwrap()).sum()
    });
    assert!(stops >= 100, "{stops} interruptions");
}
