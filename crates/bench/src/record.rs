//! The record of figures: one line per measurement, with its date, commit and machine.

use std::path::Path;

use serde_json::{Value, json};

use derrl_files::provenance::{commit, machine, today};
use derrl_files::safe_file::{append_line, make_folder};

/// Appends figures to a file of JSON lines.
pub fn append(path: &Path, name: &str, figures: &Value) -> anyhow::Result<()> {
    let entry = json!({
        "date": today(),
        "commit": commit(),
        "machine": machine(derrl_learn::cores()),
        "bench": name,
        "figures": figures,
    });
    if let Some(parent) = path.parent() {
        make_folder(parent)?;
    }
    append_line(path, &entry.to_string())
}
