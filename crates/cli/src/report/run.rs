//! A run as the page has it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use derrl_logic::{Alphabet, Arg, Policy, Role, Var};
use serde::Serialize;
use serde_json::{Map, Value};

use super::Extent;
use super::episodes::{self, Episodes};
use super::verification::{self, Verification};
use crate::domain::read_source;
use crate::run_folder::RunFolder;

/// All that a page shows of a run.
#[derive(Serialize)]
pub struct Run {
    /// Where it is below the folder of the page; empty for that folder itself.
    label: String,
    domain: String,
    /// The world that the domain describes.
    world: String,
    summary: String,
    seed: u64,
    version: String,
    rules: Vec<RuleText>,
    /// The predicates that never change during an episode.
    background: Vec<String>,
    scores: Vec<TaskScore>,
    /// What `train` counted: episodes, steps, restarts, seconds.
    counts: Map<String, Value>,
    curves: Vec<Curve>,
    verification: Verification,
    #[serde(flatten)]
    episodes: Episodes,
    /// What is missing or odd, and why.
    pub notes: Vec<String>,
}

/// A rule in parts, so that each can be set in type.
#[derive(Serialize)]
struct RuleText {
    weight: f64,
    text: String,
    head: AtomText,
    body: Vec<AtomText>,
}

/// An atom in parts. Variables begin with a capital letter, constants do not.
#[derive(Serialize)]
struct AtomText {
    name: String,
    args: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    negated: bool,
}

#[derive(Serialize)]
struct TaskScore {
    task: String,
    summary: String,
    /// As `train --json` gives it.
    score: Value,
}

/// The training curve of a restart.
#[derive(Serialize)]
struct Curve {
    restart: u64,
    chosen: bool,
    /// Episodes so far and mean return.
    points: Vec<(u64, f64)>,
}

/// What the runs of a domain have in common.
#[derive(Serialize)]
pub struct Summary {
    domain: String,
    /// The mean return over the runs, by task.
    means: BTreeMap<String, f64>,
    /// How many different sets of rules they learned, whatever the values of the rules.
    rule_sets: usize,
}

/// What the runs of each domain have in common.
pub fn summarise(runs: &[Run]) -> Vec<Summary> {
    let domains: BTreeSet<&str> = runs.iter().map(|r| r.domain.as_str()).collect();
    let summary = |domain: &str| {
        let of_domain = || runs.iter().filter(|r| r.domain == domain);
        let mut returns: BTreeMap<String, Vec<f64>> = BTreeMap::new();
        for score in of_domain().flat_map(|r| &r.scores) {
            let mean = score.score["mean"].as_f64();
            returns.entry(score.task.clone()).or_default().extend(mean);
        }
        let rules = |r: &Run| -> BTreeSet<String> {
            r.rules.iter().map(|rule| rule.text.split("::").last().unwrap_or_default().to_string()).collect()
        };
        Summary {
            domain: domain.to_string(),
            means: returns.into_iter().map(|(task, r)| (task, derrl_learn::mean_stderr(&r).0)).collect(),
            rule_sets: of_domain().map(rules).collect::<BTreeSet<_>>().len(),
        }
    };
    domains.into_iter().map(summary).collect()
}

/// Points of a curve at the most: more cannot be seen.
const MOST_POINTS: usize = 120;

/// Whether the run has its results.
pub fn is_finished(folder: &RunFolder) -> bool {
    folder.policy_path().is_file() && folder.path().join("result.json").is_file()
}

/// Reads a finished run and explains some of its episodes.
pub fn describe(folder: &RunFolder, label: &str, extent: Extent) -> anyhow::Result<Run> {
    let mut domain = folder.domain()?;
    let (policy, spoken) = Policy::read(&read_source(&folder.policy_path())?, &domain.alphabet)?;
    domain.alphabet = spoken;
    let alphabet = &domain.alphabet;
    let mut result = read_json(&folder.path().join("result.json"))?
        .context("result.json went away while it was being read")?;
    let mut notes = Vec::new();
    let trained = result["policy"].as_str().unwrap_or_default();
    if trained != policy.display(alphabet).to_string() {
        notes.push(
            "policy.pl was changed after training: scores and curve are those of the policy as it was learned"
                .to_string(),
        );
    }
    let episodes = episodes::of_tasks(folder, &domain, &policy, &result["scores"], extent, &mut notes);
    let verification = verification::of_run(folder, &domain, &policy, &mut notes);
    let chosen = result["restart"].as_u64().unwrap_or(0);
    let counts = ["episodes", "steps", "restarts", "seconds"];
    Ok(Run {
        label: label.to_string(),
        domain: domain.name.clone(),
        world: domain.world.name().to_string(),
        summary: domain.world.summary().to_string(),
        seed: folder.config.seed,
        version: folder.config.derrl.clone(),
        rules: rules(&policy, alphabet),
        background: alphabet
            .predicates
            .iter()
            .filter(|p| p.role == Role::Background)
            .map(|p| p.name.clone())
            .collect(),
        scores: scores(&result["scores"], &domain.world),
        counts: counts.into_iter().map(|key| (key.to_string(), result[key].take())).collect(),
        curves: curves(&folder.path().join("metrics.jsonl"), chosen, extent.curves)?,
        verification,
        episodes,
        notes,
    })
}

/// A JSON file of a run; `None` where it is not there.
pub fn read_json(path: &Path) -> anyhow::Result<Option<Value>> {
    let name = path.file_name().unwrap_or_default().display();
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
    serde_json::from_str(&text).map(Some).with_context(|| format!("{name} is damaged"))
}

fn rules(policy: &Policy, alphabet: &Alphabet) -> Vec<RuleText> {
    let rule = |rule: &derrl_logic::Rule| {
        let action = alphabet.action(rule.action);
        let arity = action.args.len();
        let arg = |a: &Arg| a.to_string();
        let body = rule.canonical(arity).body.into_iter().map(|l| AtomText {
            name: alphabet.predicate(l.pred).name.clone(),
            args: l.args.iter().map(arg).collect(),
            negated: !l.positive,
        });
        RuleText {
            weight: rule.weight,
            text: rule.display(alphabet).to_string(),
            head: AtomText {
                name: action.name.clone(),
                args: (0..arity as u8).map(|v| Var(v).to_string()).collect(),
                negated: false,
            },
            body: body.collect(),
        }
    };
    policy.rules.iter().map(rule).collect()
}

/// The scores in the order of the world's tasks.
fn scores(scores: &Value, spec: &derrl_env::World) -> Vec<TaskScore> {
    let Some(scores) = scores.as_object() else { return Vec::new() };
    let place = |task: &str| {
        let (name, noise) = task.split_once('+').map_or((task, false), |(name, _)| (name, true));
        (noise, spec.tasks().iter().position(|t| t.name == name))
    };
    let mut all: Vec<_> = scores.iter().collect();
    all.sort_by_key(|(task, _)| place(task));
    all.into_iter()
        .map(|(task, score)| TaskScore {
            task: task.clone(),
            summary: place(task).1.map_or_else(String::new, |i| spec.tasks()[i].summary.clone()),
            score: score.clone(),
        })
        .collect()
}

/// The curves of so many restarts at the most, thinned to what can be seen, the chosen one last.
fn curves(path: &Path, chosen: u64, most: usize) -> anyhow::Result<Vec<Curve>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(path).context("cannot read metrics.jsonl")?;
    let mut curves: Vec<Curve> = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let point: Value = serde_json::from_str(line)
            .with_context(|| format!("metrics.jsonl is damaged in line {}", i + 1))?;
        let parts = (point["restart"].as_u64(), point["episodes"].as_u64(), point["mean_return"].as_f64());
        let (Some(restart), Some(episodes), Some(mean)) = parts else {
            bail!("metrics.jsonl is damaged in line {}: it has no restart, episodes and mean_return", i + 1);
        };
        match curves.iter_mut().find(|c| c.restart == restart) {
            Some(curve) => curve.points.push((episodes, mean)),
            None => {
                curves.push(Curve { restart, chosen: restart == chosen, points: vec![(episodes, mean)] });
            }
        }
    }
    curves.sort_by_key(|c| (c.chosen, c.restart));
    let surplus = curves.len().saturating_sub(most);
    curves.drain(..surplus);
    for curve in &mut curves {
        let every = curve.points.len().div_ceil(MOST_POINTS);
        let last = curve.points.len() - 1;
        let mut at = 0;
        curve.points.retain(|_| {
            at += 1;
            (at - 1) % every == 0 || at - 1 == last
        });
    }
    Ok(curves)
}
