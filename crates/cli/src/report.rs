//! `derrl report`: which runs, and which page.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use derrl::runs::page::{Read, write};
use derrl::runs::{PAGE, RunFolder};
use derrl_pages::{Extent, showpiece};
use derrl_report::Theme;
use derrl_reproduce::page::RUNS_FILE;
use serde_json::json;

use crate::args::Report;
use crate::failure::Outcome;
use crate::output::{print, print_json};
use crate::picture::{Format, save_episode};
use crate::say;

/// How many folders deep runs are looked for, below the one that is named.
const DEPTH: usize = 4;

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

/// Draws an instructive episode of the training task of the first finished run as a film.
fn film(folders: &[RunFolder], path: &Path, steps: usize) -> anyhow::Result<()> {
    let folder = folders.iter().find(|f| f.is_finished()).context("no run is finished")?;
    let read = Read::new(folder)?;
    let task = folder.task(&read.domain)?;
    let trace = showpiece(&read.subject(folder), &task.name, steps)?;
    save_episode(&trace, 1, path, Format::Gif, Theme::Light)
}

/// The name of the page in a folder: the report of a reproduction is not overwritten.
fn page_name(folder: &Path) -> &'static str {
    if folder.join("results.json").is_file() { RUNS_FILE } else { PAGE }
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
