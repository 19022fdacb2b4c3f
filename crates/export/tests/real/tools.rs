//! Running the real tools, and saying how to get them where they are missing.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The Python of the project's own tools, with ProbLog and clingo.
pub fn python() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = root.join(".tools/export/bin/python");
    assert!(
        python.exists(),
        "the tests need ProbLog and clingo; in the project's folder:\n  \
         python3 -m venv .tools/export && .tools/export/bin/pip install problog==2.2.6 clingo==5.8.0"
    );
    let ready = Command::new(&python).args(["-c", "import problog, clingo"]).output();
    assert!(
        ready.is_ok_and(|o| o.status.success()),
        "the tests need ProbLog and clingo; in the project's folder:\n  \
         .tools/export/bin/pip install problog==2.2.6 clingo==5.8.0"
    );
    python
}

/// SWI-Prolog.
pub fn swipl() -> PathBuf {
    let found = Command::new("swipl").arg("--version").output().is_ok_and(|o| o.status.success());
    assert!(found, "the tests need SWI-Prolog:\n  apt-get install -y swi-prolog-nox");
    PathBuf::from("swipl")
}

/// What a command prints; it must succeed and complain of nothing.
pub fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("cannot run {command:?}: {e}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed:\n{errors}");
    assert!(errors.trim().is_empty(), "{command:?} complains:\n{errors}");
    String::from_utf8(output.stdout).expect("the drivers print UTF-8")
}
