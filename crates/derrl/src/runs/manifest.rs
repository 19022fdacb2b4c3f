//! Which runs a folder of several holds. It is written before the first of them, so that a kill loses none.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use derrl_files::bounded::read_text;
use derrl_files::safe_file::write;
use derrl_files::sealed::{open, seal};
use serde::{Deserialize, Serialize};

use crate::runs::config::{MOST_CONFIG, RunConfig};

/// Seeds of one request, at the most.
pub const MOST_SEEDS: u64 = 10_000;

/// The name of the file.
const FILE: &str = "seeds.json";

/// What was asked for: the same run, once per seed.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The first seed.
    pub first: u64,
    /// The last seed.
    pub last: u64,
    /// What each run is, but for its seed.
    pub config: RunConfig,
    /// The text of the domain file.
    pub domain: String,
}

impl Manifest {
    /// Whether a folder has one.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(FILE).exists()
    }

    /// That of a folder, if it has one.
    pub fn read(folder: &Path) -> anyhow::Result<Option<Manifest>> {
        let path = folder.join(FILE);
        let shown = path.display();
        match read_text(&path, MOST_CONFIG) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {shown}")),
            Ok(text) => {
                let manifest: Manifest = open(&text).with_context(|| {
                    format!("{shown} is damaged: remove it to resume the runs that have folders")
                })?;
                if manifest.last.checked_sub(manifest.first).is_none_or(|more| more >= MOST_SEEDS) {
                    bail!("{shown} asks for more than {MOST_SEEDS} seeds: no run of ours wrote it");
                }
                Ok(Some(manifest))
            }
        }
    }

    /// Writes it into a folder.
    pub fn write(&self, folder: &Path) -> anyhow::Result<()> {
        write(&folder.join(FILE), &seal(self)?)
    }

    /// The runs: where each is, and what it is.
    pub fn runs<'a>(&'a self, folder: &'a Path) -> impl Iterator<Item = (PathBuf, RunConfig)> + 'a {
        (self.first..=self.last)
            .map(move |seed| (folder.join(format!("seed-{seed}")), RunConfig { seed, ..self.config.clone() }))
    }
}
