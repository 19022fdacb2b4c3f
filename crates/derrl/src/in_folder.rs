//! Training in a folder, for programs: what `derrl train` does, without a terminal.
//!
//! The folder holds the same files, so that every command works on it, and the run can be resumed. A run of a PDDL domain reads
//! its problems from their files again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use derrl_env::{Options, World};
use derrl_learn::Config;
use serde_json::{Value, json};

use crate::domain::Domain;
pub use crate::listener::Control;
use crate::pddl::Files;
use crate::planning::Planning;
pub use crate::runs::SoFar;
use crate::runs::{self, End, How, RunConfig, RunFolder, page, tensorboard};
use crate::settings::with_setting;

/// What is asked of a run.
#[derive(Clone)]
pub struct Request {
    /// The world to train on.
    pub world: World,
    /// The domain of PDDL that the world is made of, if it is.
    pub planning: Option<Planning>,
    /// The task to train on, if not the first.
    pub task: Option<String>,
    /// The seed.
    pub seed: u64,
    /// Episodes per score, if not as many as the world asks for.
    pub episodes: Option<usize>,
    /// Whether types are ignored.
    pub untyped: bool,
    /// Options of the world.
    pub options: Options,
    /// Changed settings, as `KEY=VALUE`.
    pub settings: Vec<String>,
    /// Steps within which the run ends with the best policy so far.
    pub max_steps: Option<u64>,
    /// Seconds after which the run ends with the best policy so far.
    pub max_seconds: Option<f64>,
}

/// How training ended.
#[derive(Debug)]
pub enum Ended {
    /// The policy is learned and scored: what `train --json` prints.
    Finished(Value),
    /// It was asked to stop, and can be resumed.
    Stopped,
    /// The world failed: its own error. The run can be resumed.
    Failed(derrl_env::Fault),
}

/// The world that a domain file describes, with that file in place of its own.
pub fn world_of(file: &str, text: &str) -> anyhow::Result<World> {
    let Domain { world, text, .. } = Domain::parse(file, file, text.to_string(), false)?;
    Ok(world.with_domain(file, text)?)
}

/// Makes the folder of a new run. A folder that holds a run already is left alone: an error.
pub fn start(request: &Request, folder: &Path) -> anyhow::Result<()> {
    let (config, domain) = asked(request)?;
    let _lock = RunFolder::lock(folder)?;
    RunFolder::create(folder, config, &domain)?;
    Ok(())
}

/// An error if a request is wrong, or if the folder holds another run than it asks for.
pub fn check(request: &Request, folder: &Path) -> anyhow::Result<()> {
    let (config, domain) = asked(request)?;
    if !folder.join("config.toml").exists() {
        return Ok(());
    }
    let there = RunFolder::open(folder)?;
    let mut differing = differences(&config, &there.config)?;
    if there.domain_text != domain {
        differing.push("another domain file".to_string());
    }
    if differing.is_empty() {
        return Ok(());
    }
    bail!(
        "{} holds another run ({}): choose another folder, or ask for the same",
        folder.display(),
        differing.join(", ")
    )
}

/// What differs between the run that is asked for and one that is there.
fn differences(asked: &RunConfig, there: &RunConfig) -> anyhow::Result<Vec<String>> {
    let values = |config: &RunConfig| -> anyhow::Result<BTreeMap<String, toml::Value>> {
        // Whether files have changed is told when the run goes on.
        let pddl = config.pddl.clone().map(|files| Files { sums: BTreeMap::new(), ..files });
        let config = RunConfig { derrl: String::new(), pddl, ..config.clone() };
        let mut table = toml::Table::try_from(&config)?;
        let settings = table.remove("settings").and_then(|s| s.as_table().cloned()).unwrap_or_default();
        Ok(table.into_iter().chain(settings).collect())
    };
    let (asked, there) = (values(asked)?, values(there)?);
    let shown = |value: Option<&toml::Value>| value.map_or_else(|| "none".to_string(), ToString::to_string);
    let keys: BTreeSet<&String> = asked.keys().chain(there.keys()).collect();
    let differing = keys.into_iter().filter(|&key| asked.get(key) != there.get(key));
    Ok(differing
        .map(|key| format!("{key} {}, not {}", shown(there.get(key)), shown(asked.get(key))))
        .collect())
}

/// The settings of the run that a request asks for, and its domain file.
fn asked(request: &Request) -> anyhow::Result<(RunConfig, String)> {
    let world = &request.world;
    let domain = if let Some(planning) = &request.planning {
        planning.domain(request.untyped)?
    } else {
        let (name, text) = (world.name(), world.domain().to_string());
        Domain::of_world(name, name, text, request.untyped, world)?
    };
    let mut settings = Config::default();
    for setting in &request.settings {
        settings = with_setting(&settings, setting)?;
    }
    let text = domain.text.clone();
    let asked = runs::Request {
        domain,
        untyped: request.untyped,
        task: request.task.clone(),
        seed: request.seed,
        episodes: request.episodes,
        options: request.options.clone(),
        settings,
        start: None,
        max_steps: request.max_steps,
        max_seconds: request.max_seconds,
    };
    Ok((asked.config()?, text))
}

/// Trains in a folder that was started, from where it was, and leaves policy, scores and page in it.
/// A limit in seconds may be given anew.
pub fn learn(
    folder: &Path,
    world: &World,
    threads: usize,
    max_seconds: Option<f64>,
    control: &Control,
) -> anyhow::Result<Ended> {
    let _lock = RunFolder::lock(folder)?;
    let mut folders = [RunFolder::open(folder)?.of_world(world)];
    folders[0].config.max_seconds = max_seconds.or(folders[0].config.max_seconds);
    let how = How { threads, page: true, tensorboard: false };
    let mut result = Value::Null;
    Ok(match runs::learn(&folders, how, control, &mut |_, _, finished| result = finished.json)? {
        End::Done => Ended::Finished(result),
        End::Stopped => Ended::Stopped,
        End::Failed(fault) => Ended::Failed(fault),
    })
}

/// The best policy so far of the run in a folder, as `train --json` prints what a finished run learned; none where nothing was found.
pub fn so_far(folder: &Path) -> anyhow::Result<Option<Value>> {
    let folder = RunFolder::open(folder)?;
    let Some(best) = folder.bests().pop() else { return Ok(None) };
    let config = &folder.config;
    let task = config.task.clone().unwrap_or_else(|| "train".to_string());
    Ok(Some(json!({
        "domain": config.domain,
        "seed": config.seed,
        "task": task,
        "policy": best.policy,
        "mean": best.mean_return,
        "success_rate": best.success,
        "steps": best.decisions,
        "seconds": folder.seconds(),
    })))
}

/// Seconds that the run in a folder may still take, where they are limited, by itself or anew.
pub fn seconds_left(folder: &Path, max_seconds: Option<f64>) -> anyhow::Result<Option<f64>> {
    let mut folder = RunFolder::open(folder)?;
    folder.config.max_seconds = max_seconds.or(folder.config.max_seconds);
    Ok(folder.seconds_left())
}

/// Writes the page of a finished run, and returns its path.
pub fn write_report(folder: &Path, world: &World, out: Option<&Path>) -> anyhow::Result<PathBuf> {
    let folders = [RunFolder::open(folder)?.of_world(world)];
    let out = out.map_or_else(|| folders[0].page_path(), Path::to_path_buf);
    page::write(folder, &folders, &out, derrl_pages::Extent::of(1))
        .with_context(|| format!("cannot write the page {}", out.display()))?;
    Ok(out)
}

/// Writes the curves and scores of a finished run as event files for TensorBoard.
pub fn write_tensorboard(folder: &Path, logs: &Path) -> anyhow::Result<()> {
    tensorboard::write(&RunFolder::open(folder)?, logs)
}

/// What came of a run, once it is finished: what `train --json` printed.
pub fn result(folder: &Path) -> anyhow::Result<Option<Value>> {
    Ok(RunFolder::open(folder)?.result())
}
