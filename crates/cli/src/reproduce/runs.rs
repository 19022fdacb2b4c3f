//! The runs of DERRL as folders that every other command takes, and the page that shows them all.

use std::path::{Path, PathBuf};

use anyhow::Context;
use derrl::domain::Domain;
use derrl::runs::page;
use derrl::runs::result::RunResult;
use derrl::runs::{RunConfig, RunFolder};
use derrl_logic::{Policy, Scope, Source};
use derrl_pages::Extent;
use derrl_reproduce::experiments::TableSpec;
use derrl_reproduce::job::{Finished, Results};
use derrl_reproduce::page::RUNS_FILE;
use derrl_reproduce::plan::Plan;
use serde_json::json;

/// Writes a folder for each run of DERRL in the generalisation table, and a page for all of them. Returns the page, if
/// there are any runs.
pub fn write(plan: &Plan, results: &Results, top: &Path) -> anyhow::Result<Option<PathBuf>> {
    let mut folders = Vec::new();
    for table in plan.tables() {
        for finished in results.all(&plan.table_jobs(table, "derrl")?) {
            let name = table.id.trim_start_matches("table-");
            let path = top.join("runs").join(name).join(format!("seed-{}", finished.job.seed));
            folders.push(keep(table, finished, &path).with_context(|| path.display().to_string())?);
        }
    }
    if folders.is_empty() {
        return Ok(None);
    }
    let place = top.join(RUNS_FILE);
    page::write(top, &folders, &place, Extent::of(folders.len()))?;
    Ok(Some(place))
}

/// The folder of one run. Where it is there already it is left as it is, with what others have added to it.
fn keep(table: &TableSpec, finished: &Finished, path: &Path) -> anyhow::Result<RunFolder> {
    let job = &finished.job;
    let domain = Domain::load(&job.domain, false)?;
    let config = RunConfig {
        episodes: Some(job.episodes),
        options: job.options.clone(),
        budget: Some(job.decisions),
        ..RunConfig::new(&job.domain, job.seed, job.config.clone().unwrap_or_default())
    };
    let text = finished.rules.as_deref().unwrap_or_default();
    if let Ok(there) = RunFolder::open(path)
        && there.config == config
        && there.result().is_some_and(|r| r["policy"] == text && r["seconds"] == finished.seconds)
    {
        return Ok(there);
    }
    let (policy, alphabet) = Policy::read(&Source::new("learned rules", text), &domain.alphabet)?;
    let domain = Domain { alphabet, ..domain };
    let scores: Vec<_> = table
        .rows
        .iter()
        .zip(&finished.scores)
        .map(|(row, score)| {
            let suffix = if row.options.noise.is_some() { "+noise" } else { "" };
            (format!("{}{suffix}", row.task), score.clone())
        })
        .collect();
    let trained = &finished.trained;
    let points = trained.curve.iter().map(|p| (p.episodes as f64, p.mean_return)).collect();
    let result = RunResult {
        sight: None,
        policy: &policy,
        unsimplified: trained.unsimplified.clone().unwrap_or_default(),
        scores: &scores,
        // It was not kept.
        scope: Scope::default(),
        restarts: trained.restarts,
        restart: trained.restart,
        episodes: trained.episodes,
        steps: trained.decisions,
        selection_steps: trained.selection_steps,
        solved: scores.first().and_then(|(_, s)| s.solved()),
        cut: None,
        advice: Vec::new(),
        diagnosis: None,
        origins: Vec::new(),
        widenings: Vec::new(),
        seconds: finished.seconds,
        curves: vec![(trained.restart, points)],
    };
    let folder = RunFolder::replace(path, config, &domain.text)?;
    let mut lines = String::new();
    for point in &trained.curve {
        let point = json!({
            "restart": trained.restart, "episodes": point.episodes, "steps": point.decisions,
            "mean_return": point.mean_return,
        });
        lines.push_str(&point.to_string());
        lines.push('\n');
    }
    folder.write("metrics.jsonl", &lines)?;
    result.keep(&folder, &domain, false)?;
    Ok(folder)
}
