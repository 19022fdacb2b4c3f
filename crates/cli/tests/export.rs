//! `derrl export` as a person uses it. That exported programs decide as the policy does is tested in the crate that
//! writes them, with the real tools.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

const POLICY: &str = "\
0.99::move(X, Y) :- top(X), on(X, Z), isFloor(Y).
0.98::move(X, Y) :- top(X), top(Y), goal_on(X, Y).
0.98::move(X, Y) :- on(X, floor), \\+ goal_on(X, Y).
";

const TARGETS: [&str; 7] = ["prolog", "problog", "asp", "python", "rust", "program", "dot"];

fn run(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_derrl"));
    command.current_dir(folder).args(args).output().expect("the command starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn with_policy() -> TempDir {
    let folder = TempDir::new().expect("a temporary folder");
    std::fs::write(folder.path().join("policy.pl"), POLICY).expect("a file can be written");
    folder
}

#[test]
fn every_target_as_it_reads() {
    let folder = with_policy();
    for target in TARGETS {
        let args = ["export", "policy.pl", "--domain", "blocks", "--to", target];
        let plain = run(folder.path(), &args);
        assert!(plain.status.success(), "{}", text(&plain.stderr));
        insta::assert_snapshot!(format!("export_{target}"), text(&plain.stdout));

        let json = run(folder.path(), &[&args[..], &["--json"]].concat());
        let json: Value = serde_json::from_slice(&json.stdout).expect("one JSON document");
        assert_eq!(json["text"], text(&plain.stdout));
        assert_eq!(json["target"], target);

        let to_file = run(folder.path(), &[&args[..], &["--out", "exported"]].concat());
        assert!(to_file.status.success() && to_file.stdout.is_empty());
        assert_eq!(std::fs::read(folder.path().join("exported")).expect("the file"), plain.stdout);
    }
}

#[test]
fn bad_input_gets_one_clear_error() {
    let folder = with_policy();
    std::fs::write(folder.path().join("other.pl"), "0.9::open(X) :- locked(X).\n").expect("a file");
    for (args, expected) in [
        (&["policy.pl", "--domain", "blocks", "--to", "cobol"][..], "invalid value 'cobol'"),
        (&["policy.pl", "--domain", "blocks"], "--to"),
        (&["policy.pl", "--to", "asp"], "say which domain"),
        (&["nothing.pl", "--domain", "blocks", "--to", "asp"], "nothing.pl is missing"),
        (&["other.pl", "--domain", "blocks", "--to", "asp"], "unknown action `open/1`"),
        (&["policy.pl", "--domain", "block", "--to", "asp"], "unknown domain `block`"),
        (&["policy.pl", "--domain", "blocks", "--to", "asp", "--out", "no/such/folder"], "cannot write"),
    ] {
        let output = run(folder.path(), &[&["export"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
        let error = text(&output.stderr);
        // Long errors are broken at spaces.
        assert!(error.replace('\n', " ").contains(expected), "{args:?}: {error}");
        assert_eq!(error.lines().filter(|l| l.starts_with("error")).count(), 1, "{args:?}: {error}");
    }
}
