//! The command in the hands of a hostile user: full disks, closed pipes, planted links, flipped bits, kills, crowds.
#![cfg(unix)]

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const POLICY: &str =
    "0.99::move(X, Y) :- top(X), top(Y), goal_on(X, Y).\n0.80::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\n";
const QUICK: [&str; 8] =
    ["--set", "updates=40", "--set", "restarts=2", "--set", "wave=2", "--episodes", "20"];
/// No command of these tests takes longer.
const PATIENCE: Duration = Duration::from_secs(120);

fn derrl(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_derrl"));
    command.current_dir(folder).env("NO_COLOR", "1").stdin(Stdio::null()).args(args);
    command
}

fn quick<'a>(args: &[&'a str]) -> Vec<&'a str> {
    args.iter().copied().chain(QUICK).collect()
}

fn run(folder: &Path, args: &[&str]) -> Output {
    derrl(folder, args).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn place() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    fs::write(folder.path().join("policy.pl"), POLICY).expect("a file can be written");
    folder
}

/// Waits for a command; one that hangs is killed, and fails the test.
fn wait(child: &mut Child, what: &str) -> ExitStatus {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(status) = child.try_wait().expect("the command can be waited for") {
            return status;
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            panic!("{what} hangs");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn full() -> Stdio {
    OpenOptions::new().write(true).open("/dev/full").expect("a full device").into()
}

/// Every command that prints a result.
const PRINTING: &[&[&str]] = &[
    &["--help"],
    &["--version"],
    &["domains"],
    &["domains", "--json"],
    &["train", "--settings"],
    &["export", "policy.pl", "--domain", "blocks", "--to", "python"],
    &["check", "policy.pl", "--domain", "blocks"],
    &["eval", "policy.pl", "--domain", "blocks", "--episodes", "2"],
    &["explain", "policy.pl", "--domain", "blocks"],
    &["verify", "policy.pl", "--domain", "blocks", "--max-objects", "3"],
    &["simplify", "policy.pl", "--domain", "blocks", "--max-objects", "3"],
];

#[test]
fn a_result_that_is_lost_is_an_error() {
    let folder = place();
    for args in PRINTING {
        let output = derrl(folder.path(), args).stdout(full()).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        assert!(
            said.contains("cannot write to standard output: No space left on device"),
            "{args:?}: {said}"
        );
    }
}

#[test]
fn a_closed_pipe_is_silent() {
    let folder = place();
    for args in PRINTING {
        let mut child =
            derrl(folder.path(), args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut stderr = child.stderr.take().unwrap();
        let status = wait(&mut child, &format!("{args:?}"));
        let mut said = String::new();
        stderr.read_to_string(&mut said).unwrap();
        assert_eq!(status.code(), Some(0), "{args:?}: {said}");
        assert!(!said.contains("error") && !said.contains("panick"), "{args:?}: {said}");
    }
}

#[test]
fn messages_that_are_lost_change_nothing() {
    let folder = place();
    let messages: &[&[&str]] = &[
        &["train", "blocks", "--seeds", "0..3"],
        &["eval", "policy.pl", "--domain", "blocks"],
        &["simplify", "policy.pl", "--domain", "blocks", "--max-objects", "3"],
        &["verify", "policy.pl", "--domain", "blocks", "--max-objects", "3"],
    ];
    for args in messages {
        let args = if args[0] == "train" { quick(args) } else { args.to_vec() };
        let mut child = derrl(folder.path(), &args).stdout(Stdio::null()).stderr(full()).spawn().unwrap();
        assert_eq!(wait(&mut child, "training with a full error stream").code(), Some(0), "{args:?}");
    }
    // A mistake keeps its exit code when nobody can be told about it.
    let status =
        derrl(folder.path(), &["eval", "nowhere.pl", "--domain", "blocks"]).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(2));
}

/// `derrl train ... 2>&1 | head -1`: worker threads find nobody to talk to, and train on.
#[test]
fn training_outlives_the_reader_of_its_messages() {
    let folder = place();
    for attempt in 0..3 {
        let mut child = derrl(folder.path(), &quick(&["train", "blocks", "--seeds", "0..3"]))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        assert!(line.contains("seed"), "{line}");
        drop(stderr);
        assert_eq!(wait(&mut child, "training without a reader").code(), Some(0), "attempt {attempt}");
    }
}
