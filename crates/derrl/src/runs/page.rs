//! The page of a run or of several: what their folders hold, as a page has it.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use derrl_files::safe_file::write_named;
use derrl_logic::Policy;
use derrl_pages::{Extent, Record, Run, Subject};
use serde_json::{Value, json};

use crate::domain::{Domain, read_source};
use crate::runs::folder::{PROOF, RunFolder};
use crate::runs::sight::GALLERY;
use crate::shell::quoted;

/// What was written.
pub struct Written {
    /// How large the page is, in bytes.
    pub bytes: usize,
    /// What the page lacks, and why.
    pub notes: Vec<String>,
}

/// Writes a page for these runs. Runs that are not finished are left out, with a note; with none finished it is an error.
pub fn write(top: &Path, folders: &[RunFolder], out: &Path, extent: Extent) -> anyhow::Result<Written> {
    let (finished, unfinished): (Vec<_>, Vec<_>) = folders.iter().partition(|f| f.is_finished());
    if finished.is_empty() {
        let shown = top.display();
        bail!("the run in {shown} is not finished: resume it with\n  derrl train --resume {}", quoted(top));
    }
    // What is said on the page itself; notes about a run are said with the run.
    let mut about_all: Vec<String> = unfinished
        .iter()
        .map(|f| format!("{} is not finished and left out", relative(f.path(), top)))
        .collect();
    let mut notes = Vec::new();
    let mut runs = Vec::with_capacity(finished.len());
    let mut of_domain: HashMap<&str, usize> = HashMap::new();
    let mut silent = 0;
    for folder in &finished {
        let label = relative(folder.path(), top);
        let place = of_domain.entry(&folder.config.domain).or_default();
        let episodes = if *place < extent.played { extent.episodes } else { 0 };
        *place += 1;
        silent += usize::from(episodes < extent.episodes);
        let run = describe(folder, &label, Extent { episodes, ..extent })
            .with_context(|| folder.path().display().to_string())?;
        let prefix = if label.is_empty() { String::new() } else { format!("{label}: ") };
        notes.extend(run.notes.iter().map(|note| format!("{prefix}{note}")));
        runs.push(run);
    }
    if silent > 0 {
        about_all.push(format!(
            "To keep this page small, {silent} of {} runs are here without episodes. A page for a part of the \
             folder has them, and so has one that is asked for episodes: derrl report --episodes 1",
            finished.len()
        ));
    }
    let html = derrl_pages::page(&name(top), &runs, &about_all)?;
    write_named(out, &html)?;
    Ok(Written { bytes: html.len(), notes: [about_all, notes].concat() })
}

/// The page's view of a finished run.
pub fn describe(folder: &RunFolder, label: &str, extent: Extent) -> anyhow::Result<Run> {
    let read = Read::new(folder)?;
    let result = read_json(&folder.path().join("result.json"))?
        .context("result.json went away while it was being read")?;
    let verified = read_json(&folder.path().join(PROOF)).map_err(|error| format!("{error:#}"));
    let symbols = read_json(&folder.path().join(GALLERY))?;
    let record = Record {
        symbols: symbols.as_ref(),
        subject: read.subject(folder),
        label,
        version: &folder.config.derrl,
        restarts: folder.config.settings.restarts,
        result: &result,
        metrics: &metrics(folder)?,
        verified: match &verified {
            Ok(found) => found.as_ref().map(Ok),
            Err(problem) => Some(Err(problem)),
        },
    };
    Ok(Run::new(&record, extent)?)
}

/// A run as a list of runs has it, finished or not. What cannot be read is left out: it may be written at this moment.
pub fn glance(folder: &RunFolder, label: &str) -> Value {
    let result =
        read_json(&folder.path().join("result.json")).ok().flatten().filter(|_| folder.is_finished());
    let metrics = metrics(folder).unwrap_or_default();
    let (domain, seed) = (&folder.config.domain, folder.config.seed);
    let mut told = derrl_pages::glance(label, domain, seed, result.as_ref(), &metrics);
    let bests = folder.bests();
    if told["chart"].is_null() {
        let points: Vec<(f64, f64)> =
            bests.iter().map(|best| (best.decisions as f64, best.mean_return)).collect();
        told["chart"] = json!(derrl_pages::of_bests(&points));
    }
    if result.is_none() {
        let now = folder.now();
        told["stopped"] = now.is_none().into();
        told["now"] = json!(now);
        told["best"] = json!(bests.last());
        told["resume"] = format!("derrl train --resume {}", quoted(folder.path())).into();
    }
    told
}

/// The domain and the policy of a run.
pub struct Read {
    /// The domain, with what the policy defines.
    pub domain: Domain,
    policy: Policy,
    place: String,
}

impl Read {
    /// Reads them from the folder of a finished run.
    pub fn new(folder: &RunFolder) -> anyhow::Result<Read> {
        let mut domain = folder.domain()?;
        let (policy, spoken) = Policy::read(&read_source(&folder.policy_path())?, &domain.alphabet)?;
        domain.alphabet = spoken;
        Ok(Read { domain, policy, place: quoted(folder.path()) })
    }

    /// For a page.
    pub fn subject<'a>(&'a self, folder: &'a RunFolder) -> Subject<'a> {
        subject(folder, &self.domain, &self.policy, &self.place)
    }
}

/// A policy in the world of a run, for a page. `place` is what commands call it.
pub fn subject<'a>(
    folder: &'a RunFolder,
    domain: &'a Domain,
    policy: &'a Policy,
    place: &'a str,
) -> Subject<'a> {
    Subject {
        domain: &domain.name,
        world: &domain.world,
        alphabet: &domain.alphabet,
        policy,
        seed: folder.config.seed,
        options: &folder.config.options,
        place,
    }
}

/// The training curves of a run; nothing where there are none.
fn metrics(folder: &RunFolder) -> anyhow::Result<String> {
    let path = folder.path().join("metrics.jsonl");
    if !path.exists() {
        return Ok(String::new());
    }
    fs::read_to_string(path).context("cannot read metrics.jsonl")
}

/// A JSON file of a run; `None` where it is not there.
fn read_json(path: &Path) -> anyhow::Result<Option<Value>> {
    let name = path.file_name().unwrap_or_default().display();
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
    serde_json::from_str(&text).map(Some).with_context(|| format!("{name} is damaged"))
}

/// The path of a run below the folder that was named; empty where it is that folder.
pub fn relative(path: &Path, top: &Path) -> String {
    path.strip_prefix(top).unwrap_or(path).display().to_string()
}

/// What a page calls the folder it is about: its own name, not where it lies.
pub fn name(top: &Path) -> String {
    let absolute = fs::canonicalize(top).unwrap_or_else(|_| top.to_path_buf());
    absolute.file_name().map_or_else(|| "run".to_string(), |n| n.to_string_lossy().into_owned())
}
