//! Runs to look at where there are none: built-in worlds and planning domains, trained in a folder that goes away.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context;
use tempfile::TempDir;

/// What is trained, quick ones first: a built-in world, or a planning domain that `derrl new` knows.
const EXAMPLES: &[(&str, bool)] = &[
    ("blocks", true),
    ("doorkey", true),
    ("countdown", true),
    ("cartpole", true),
    ("gripper", false),
    ("ferry", false),
    ("gridworld", true),
    ("rearrange", true),
];

/// Enough steps for a planning domain that is an example.
const STEPS: &str = "150000";
/// How often it is looked whether a run has ended.
const NAP: Duration = Duration::from_millis(30);

/// The examples, as they are trained by another thread.
pub struct Examples {
    folder: TempDir,
    work: Option<JoinHandle<()>>,
    stops: Arc<AtomicBool>,
}

impl Examples {
    /// Begins to train them.
    pub fn new() -> anyhow::Result<Examples> {
        let folder = tempfile::Builder::new().prefix("derrl-examples-").tempdir();
        let folder = folder.context("cannot make a folder for examples")?;
        let program = std::env::current_exe().context("cannot find derrl itself")?;
        let stops = Arc::new(AtomicBool::new(false));
        let (top, stopped) = (folder.path().to_path_buf(), Arc::clone(&stops));
        let work = std::thread::Builder::new().spawn(move || train_all(&program, &top, &stopped));
        let work = work.context("cannot start a thread")?;
        Ok(Examples { folder, work: Some(work), stops })
    }

    /// Where they are.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Examples {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::SeqCst);
        if let Some(work) = self.work.take() {
            // It ends its run first, so that nothing writes to a folder that is gone.
            let _ = work.join();
        }
    }
}

/// Trains one after the other. What fails is missing on the page, and nothing else.
fn train_all(program: &Path, top: &Path, stops: &AtomicBool) {
    let worlds = top.join(".worlds");
    for (name, built_in) in EXAMPLES {
        let out = top.join(name);
        let mut train = Command::new(program);
        if *built_in {
            train.args(["train", name]);
        } else {
            let world: PathBuf = worlds.join(name);
            let made = Command::new(program)
                .arg("new")
                .arg(&world)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
            if !made.is_ok_and(|status| status.success()) {
                continue;
            }
            train.arg("train").arg(&world).args(["--max-steps", STEPS]);
        }
        train.args(["--no-report", "--quiet", "--threads", "1", "--out"]).arg(&out);
        train.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(child) = train.spawn() else { continue };
        if !ended(child, stops) {
            return;
        }
    }
}

/// Waits for a run to end; ends it where all is to stop, and then says no.
fn ended(mut child: Child, stops: &AtomicBool) -> bool {
    while matches!(child.try_wait(), Ok(None)) {
        if stops.load(Ordering::SeqCst) {
            let _ = child.kill();
            let _ = child.wait();
            return false;
        }
        std::thread::sleep(NAP);
    }
    true
}
