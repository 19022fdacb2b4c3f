//! `derrl report`, and the page that `derrl train` leaves: which runs, what their folders hold, which page.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use derrl_logic::Policy;
pub use derrl_pages::Extent;
use derrl_pages::{Record, Run, Subject, showpiece};
use derrl_report::Theme;
use serde_json::{Value, json};

use crate::args::Report;
use crate::cli::{Outcome, print, print_json};
use crate::domain::{Domain, read_source};
use crate::picture::{Format, save_episode};
use crate::run_folder::RunFolder;
use crate::safe_file::write_named;
use crate::say;
use crate::shell::quoted;
use crate::verify;
use derrl_reproduce::page::RUNS_FILE;

/// The name of the page in the folder of a run.
pub const FILE: &str = "report.html";

/// How many folders deep runs are looked for, below the one that is named.
const DEPTH: usize = 4;

/// What was written.
pub struct Written {
    /// How large the page is, in bytes.
    pub bytes: usize,
    /// What the page lacks, and why.
    pub notes: Vec<String>,
}

/// Writes the page of the run or runs in a folder.
pub fn run(args: &Report) -> Outcome {
    let folders = find(&args.folder)?;
    let out = args.out.clone().unwrap_or_else(|| args.folder.join(page_name(&args.folder)));
    if out.is_dir() {
        return Err(anyhow::anyhow!("--out {} is a folder: name a file", out.display()).into());
    }
    let mut extent = Extent::of(folders.len());
    if let Some(episodes) = args.episodes {
        (extent.episodes, extent.played) = (episodes as usize, usize::MAX);
    }
    extent.steps = args.steps as usize;
    let gif = args.gif.as_ref().map(|path| Format::of(path, &[Format::Gif]).map(|_| path)).transpose()?;
    let written = write(&args.folder, &folders, &out, extent)?;
    if let Some(path) = gif {
        film(&folders, path, extent.steps)?;
    }
    if args.json {
        print_json(&json!({
            "report": out.display().to_string(),
            "runs": folders.len(),
            "bytes": written.bytes,
            "notes": written.notes,
        }))?;
        return Ok(());
    }
    written.notes.iter().for_each(|note| say!("note: {note}"));
    print(&format!("{}\n", out.display()));
    Ok(())
}

/// Writes a page for these runs. Runs that are not finished are left out, with a note; with none finished it is an error.
pub fn write(top: &Path, folders: &[RunFolder], out: &Path, extent: Extent) -> anyhow::Result<Written> {
    let (finished, unfinished): (Vec<_>, Vec<_>) = folders.iter().partition(|f| is_finished(f));
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

/// Draws an instructive episode of the training task of the first finished run as a film.
fn film(folders: &[RunFolder], path: &Path, steps: usize) -> anyhow::Result<()> {
    let folder = folders.iter().find(|f| is_finished(f)).context("no run is finished")?;
    let read = Read::new(folder)?;
    let task = folder.task(&read.domain)?;
    let trace = showpiece(&read.subject(folder), &task.name, steps)?;
    save_episode(&trace, 1, path, Format::Gif, Theme::Light)
}

/// Whether the run has its results.
pub fn is_finished(folder: &RunFolder) -> bool {
    folder.policy_path().is_file() && folder.path().join("result.json").is_file()
}

/// The page's view of a finished run.
pub fn describe(folder: &RunFolder, label: &str, extent: Extent) -> anyhow::Result<Run> {
    let read = Read::new(folder)?;
    let result = read_json(&folder.path().join("result.json"))?
        .context("result.json went away while it was being read")?;
    let verified = read_json(&folder.path().join(verify::FILE)).map_err(|error| format!("{error:#}"));
    let record = Record {
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
    let result = read_json(&folder.path().join("result.json")).ok().flatten().filter(|_| is_finished(folder));
    let metrics = metrics(folder).unwrap_or_default();
    let mut told =
        derrl_pages::glance(label, &folder.config.domain, folder.config.seed, result.as_ref(), &metrics);
    if result.is_none() {
        let now = folder.now();
        told["stopped"] = now.is_none().into();
        told["now"] = json!(now);
        told["best"] = json!(folder.bests().last());
        told["resume"] = format!("derrl train --resume {}", quoted(folder.path())).into();
    }
    told
}

/// The domain and the policy of a run.
struct Read {
    domain: Domain,
    policy: Policy,
    place: String,
}

impl Read {
    fn new(folder: &RunFolder) -> anyhow::Result<Read> {
        let mut domain = folder.domain()?;
        let (policy, spoken) = Policy::read(&read_source(&folder.policy_path())?, &domain.alphabet)?;
        domain.alphabet = spoken;
        Ok(Read { domain, policy, place: quoted(folder.path()) })
    }

    fn subject<'a>(&'a self, folder: &'a RunFolder) -> Subject<'a> {
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
        problems: domain.pddl.is_some(),
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

/// The name of the page in a folder: the report of a reproduction is not overwritten.
fn page_name(folder: &Path) -> &'static str {
    if folder.join("results.json").is_file() { RUNS_FILE } else { FILE }
}

/// The runs at or below a folder, where there may be none yet. A folder that cannot be read as a run is left out.
pub fn find_any(top: &Path) -> anyhow::Result<Vec<RunFolder>> {
    let mut paths = Vec::new();
    collect(top, DEPTH, &mut paths)?;
    let mut folders: Vec<RunFolder> = paths.iter().filter_map(|path| RunFolder::open(path).ok()).collect();
    folders.sort_by_cached_key(|f| {
        (f.path().parent().map(Path::to_path_buf), f.config.seed, f.path().to_path_buf())
    });
    Ok(folders)
}

/// The runs at or below a folder, by path; seeds in order of their numbers.
fn find(top: &Path) -> anyhow::Result<Vec<RunFolder>> {
    let shown = top.display();
    if !top.is_dir() {
        let problem = if top.exists() { "is a file" } else { "is missing" };
        bail!("the folder {shown} {problem}: name the folder of a run, such as runs/blocks-1");
    }
    let mut paths = Vec::new();
    collect(top, DEPTH, &mut paths)?;
    if paths.is_empty() {
        bail!("{shown} holds no run: name a folder that `derrl train` wrote, such as runs/blocks-1");
    }
    let mut folders = paths.iter().map(|path| RunFolder::open(path)).collect::<anyhow::Result<Vec<_>>>()?;
    let parent = |f: &RunFolder| f.path().parent().map(Path::to_path_buf);
    folders.sort_by_cached_key(|f| (parent(f), f.config.seed, f.path().to_path_buf()));
    Ok(folders)
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    if folder.join("config.toml").is_file() {
        found.push(folder.to_path_buf());
        return Ok(());
    }
    if depth == 0 {
        return Ok(());
    }
    let problem = || format!("cannot read the folder {}", folder.display());
    for entry in fs::read_dir(folder).with_context(problem)? {
        let path = entry.with_context(problem)?.path();
        let hidden = path.file_name().is_some_and(|n| n.to_string_lossy().starts_with('.'));
        if path.is_dir() && !hidden {
            collect(&path, depth - 1, found)?;
        }
    }
    Ok(())
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
