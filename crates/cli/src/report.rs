//! `derrl report`, and the page that `derrl train` leaves: one self-contained HTML file for one run or many.
//!
//! Everything that the page shows is computed here and saved in it as JSON; the files in `web/` only draw.
//!
//! | file | holds |
//! |---|---|
//! | `report.rs` | the command: which runs, which page |
//! | `report/run.rs` | a run as the page has it: rules, scores, curve |
//! | `report/verification.rs` | what is proved or refuted about its policy |
//! | `report/episodes.rs` | explained episodes, written briefly |
//! | `report/page.rs` | the HTML around them |

mod episodes;
pub mod page;
pub mod run;
pub mod verification;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use derrl_learn::{Ask, Bounds, Others, Trace, WhatIfs, explain_episode};
use derrl_logic::Policy;
use derrl_report::Theme;
use serde_json::json;

use crate::args::Report;
use crate::cli::{Outcome, print, print_json};
use crate::domain::read_source;
use crate::picture::{Format, save_episode};
use crate::run_folder::RunFolder;
use crate::safe_file::write_named;
use crate::say;
use crate::shell::quoted;
use derrl_reproduce::page::RUNS_FILE;

/// The name of the page in the folder of a run.
pub const FILE: &str = "report.html";

/// How many folders deep runs are looked for, below the one that is named.
const DEPTH: usize = 4;

/// How much of each run goes onto a page.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Episodes per task.
    pub episodes: usize,
    /// Steps an episode.
    pub steps: usize,
    /// Runs of each domain that have episodes at all.
    pub played: usize,
    /// Restarts whose curves are drawn.
    pub curves: usize,
    /// Until when episodes are explained; what is not explained by then is left out, with a note.
    pub until: Option<Instant>,
}

impl Extent {
    /// Steps an episode where nothing else is said: all of them in most worlds, five minutes of traffic.
    pub const STEPS: usize = 150;

    /// What a page of this many runs shows by default: less of each where there are many, so that it stays small.
    pub fn of(runs: usize) -> Extent {
        let (episodes, curves, played) = match runs {
            0..=1 => (4, 24, usize::MAX),
            2..=12 => (2, 24, usize::MAX),
            13..=60 => (1, 1, usize::MAX),
            _ => (1, 1, 10),
        };
        Extent { episodes, steps: Extent::STEPS, played, curves, until: None }
    }

    /// The same, for a page that takes no longer than these seconds, nor longer than a few.
    pub fn within(self, seconds: f64) -> Extent {
        let patience = Duration::from_secs_f64(seconds.clamp(LEAST_SECONDS, MOST_SECONDS));
        Extent { until: Some(Instant::now() + patience), ..self }
    }

    /// Whether its time is up.
    pub fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// The time for the page that training leaves: as long as training took, within these bounds.
const LEAST_SECONDS: f64 = 0.2;
const MOST_SECONDS: f64 = 3.0;

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
    let (finished, unfinished): (Vec<_>, Vec<_>) = folders.iter().partition(|f| run::is_finished(f));
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
        let run = run::describe(folder, &label, Extent { episodes, ..extent })
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
    let html = page::html(&name(top), &runs, &about_all)?;
    write_named(out, &html)?;
    Ok(Written { bytes: html.len(), notes: [about_all, notes].concat() })
}

/// Draws the first instructive episode of the training task of the first finished run as a film.
fn film(folders: &[RunFolder], path: &Path, steps: usize) -> anyhow::Result<()> {
    let folder = folders.iter().find(|f| run::is_finished(f)).context("no run is finished")?;
    let mut domain = folder.domain()?;
    let (policy, alphabet) = Policy::read(&read_source(&folder.policy_path())?, &domain.alphabet)?;
    domain.alphabet = alphabet;
    let task = folder.task(&domain)?;
    let mut env = domain.world.make(&domain.alphabet, &task.name, &folder.config.options.of(task))?;
    let ask = Ask { others: Others::None, what_if: WhatIfs::None, bounds: Bounds::default(), until: None };
    let mut best: Option<Trace> = None;
    let tried = if env.simulator().is_some() { 1 } else { episodes::LOOKED_AT };
    for number in 0..tried {
        let id = (folder.config.seed, number);
        let trace = explain_episode(&policy, &domain.alphabet, env.as_mut(), id, steps, &ask)?;
        if best.as_ref().is_none_or(|b| episodes::instructive(&trace) > episodes::instructive(b)) {
            best = Some(trace);
        }
    }
    let trace = best.context("there is no episode")?;
    save_episode(&trace, 1, path, Format::Gif, Theme::Light)
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
