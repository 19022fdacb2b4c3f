//! Fast Downward's LAMA, a planner that is given the model: how long it takes to a plan, and how long that is.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};
use serde::Deserialize;

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
        let tools = std::env::var_os("DERRL_TOOLS").filter(|v| !v.is_empty()).map(PathBuf::from);
        let mut pythons: Vec<PathBuf> = tools.iter().map(|t| t.join("pddl/bin/python")).collect();
        pythons.push("python3".into());
        let python = pythons.into_iter().find(|python| {
            let asked = Command::new(python).args(["-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('up_fast_downward') is None)"]).output();
            asked.is_ok_and(|output| output.status.success())
        })?;
        Some(Lama { python })
    }

    /// Plans for a problem, for this many seconds at the most.
    pub fn plan(&self, domain: &str, problem: &str, seconds: u32) -> anyhow::Result<Planned> {
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        let folder = builder.tempdir().context("cannot make a temporary folder")?;
        for (name, text) in [("lama.py", SCRIPT), ("domain.pddl", domain), ("problem.pddl", problem)] {
            let path = folder.path().join(name);
            std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
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
