//! The record of figures: a line a measurement, with its date, commit and machine.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use serde_json::{Value, json};

use crate::provenance::{commit, machine, today};

/// Appends figures to a file of JSON lines.
pub fn append(path: &Path, name: &str, figures: &Value) -> anyhow::Result<()> {
    let entry = json!({
        "date": today(),
        "commit": commit(),
        "machine": machine(),
        "bench": name,
        "figures": figures,
    });
    let shown = path.display();
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).with_context(|| format!("cannot make the folder of {shown}"))?;
    }
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .with_context(|| format!("cannot open {shown}"))?;
    writeln!(file, "{entry}").with_context(|| format!("cannot write {shown}"))
}
