//! Fast Downward's LAMA, a planner that is given the model: how long it takes to a plan, and how long that is.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};
use serde::Deserialize;

use crate::outside::{private_folder, python};

const SCRIPT: &str = include_str!("lama.py");

/// The planner: a Python that has it.
pub struct Lama {
    python: PathBuf,
}

/// What came of a problem.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Planned {
    /// Seconds until it ended.
    pub seconds: f64,
    /// Steps of its plan, if it found one in time.
    pub steps: Option<usize>,
}

impl Lama {
    /// The planner, if it is installed: in the folder of tools, or in the Python on PATH.
    pub fn installed() -> Option<Lama> {
        // It is looked for, not imported: that takes seconds.
        let question =
            "import importlib.util, sys; sys.exit(importlib.util.find_spec('up_fast_downward') is None)";
        python("pddl", question).map(|(python, _)| Lama { python })
    }

    /// Plans for a problem, for this many seconds at the most.
    pub fn plan(&self, domain: &str, problem: &str, seconds: u32) -> anyhow::Result<Planned> {
        let files = [("lama.py", SCRIPT), ("domain.pddl", domain), ("problem.pddl", problem)];
        let folder = private_folder(&files)?;
        let output = Command::new(&self.python)
            .args(["lama.py", &seconds.to_string(), "domain.pddl", "problem.pddl"])
            .current_dir(folder.path())
            .output()
            .context("cannot run Fast Downward")?;
        if !output.status.success() {
            bail!("Fast Downward failed: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        serde_json::from_slice(&output.stdout).context("Fast Downward's driver prints no figures")
    }
}
