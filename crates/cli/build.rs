//! Notes the commit that is compiled, for `derrl --version`.

use std::env;
use std::fs;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=DERRL_COMMIT");
    println!("cargo:rerun-if-changed=build.rs");
    let commit = env::var("DERRL_COMMIT").ok().or_else(packaged).or_else(checked_out);
    println!("cargo:rustc-env=DERRL_COMMIT={}", commit.as_deref().unwrap_or("unknown commit"));
}

/// The commit of a crate from a registry, as Cargo wrote it down.
fn packaged() -> Option<String> {
    let info = fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, after) = info.split_once("\"sha1\": \"")?;
    after.get(..9).map(str::to_string)
}

/// The commit of a clone.
fn checked_out() -> Option<String> {
    let git = |args: &[&str]| {
        let told = Command::new("git").args(args).output().ok().filter(|told| told.status.success())?;
        Some(String::from_utf8_lossy(&told.stdout).trim().to_string())
    };
    // Not the repository of somebody else, in which the sources were unpacked.
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    // Only a commit or a checkout changes this file.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
    git(&["rev-parse", "--short=9", "HEAD"])
}
