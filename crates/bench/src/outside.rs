//! Other programs that benchmarks run beside us: how they are found, and a private folder for their files.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use tempfile::TempDir;

/// The first Python that answers a question: that of an environment in the folder of tools, else the one on PATH. With what it
/// printed.
pub fn python(environment: &str, question: &str) -> Option<(PathBuf, String)> {
    let tools = std::env::var_os("DERRL_TOOLS").filter(|v| !v.is_empty()).map(PathBuf::from);
    let own = tools.map(|tools| tools.join(environment).join("bin/python"));
    own.into_iter()
        .chain([PathBuf::from("python3")])
        .find_map(|python| said(&python, &["-c", question]).map(|answer| (python, answer)))
}

/// What a program prints, where it runs at all.
pub fn said(program: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok().filter(|o| o.status.success())?;
    String::from_utf8(output.stdout).ok()
}

/// A new folder with these files, which nobody else may look into. It is removed on drop.
pub fn private_folder(files: &[(&str, &str)]) -> anyhow::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let folder = builder.tempdir().context("cannot make a temporary folder")?;
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(folder)
}
