//! A run as the page has it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use derrl_logic::{Alphabet, Arg, Policy, Role, Var};
use derrl_report::{Chart, Document, Plot, Series, Stroke};
use serde::Serialize;
use serde_json::{Map, Value};

use super::Extent;
use super::episodes::{self, Episodes};
use super::verification::{self, Verification};
use crate::domain::{Domain, read_source};
use crate::run_folder::RunFolder;
use crate::run_result::training_curve;

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
    /// The training curves, drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    chart: Option<Drawn>,
    verification: Verification,
    /// Whether it learned what it should, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    solved: Option<bool>,
    /// What to try where it did not.
    advice: Vec<String>,
    /// The curve of the chosen restart.
    #[serde(skip)]
    chosen: Vec<(f64, f64)>,
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
pub struct Curve {
    /// Which restart.
    pub restart: u64,
    /// Whether its policy was chosen.
    pub chosen: bool,
    /// Episodes so far and mean return.
    pub points: Vec<(f64, f64)>,
}

/// A chart, where its lines are, and how many restarts it shows.
#[derive(Serialize)]
pub struct Drawn {
    chart: Document,
    plot: Plot,
    restarts: usize,
}

fn drawn(curves: &[Curve]) -> Option<Drawn> {
    if curves.iter().all(|c| c.points.is_empty()) {
        return None;
    }
    let lines: Vec<(bool, &[(f64, f64)])> = curves.iter().map(|c| (c.chosen, c.points.as_slice())).collect();
    let (chart, plot) = training_curve("", &lines).draw();
    Some(Drawn { chart, plot, restarts: curves.len() })
}

/// What the runs of a domain have in common.
#[derive(Serialize)]
pub struct Summary {
    domain: String,
    /// The mean return over the runs, by task.
    means: BTreeMap<String, f64>,
    /// The best known return, by task.
    best_known: BTreeMap<String, f64>,
    /// How many different sets of rules they learned, whatever the values of the rules.
    rule_sets: usize,
    /// The curves of all runs, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    chart: Option<Drawn>,
}

/// What the runs of each domain have in common.
pub fn summarise(runs: &[Run]) -> Vec<Summary> {
    let domains: BTreeSet<&str> = runs.iter().map(|r| r.domain.as_str()).collect();
    let summary = |domain: &str| {
        let of_domain = || runs.iter().filter(|r| r.domain == domain);
        let means = |field: &str| -> BTreeMap<String, f64> {
            let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
            for score in of_domain().flat_map(|r| &r.scores) {
                values.entry(score.task.clone()).or_default().extend(score.score[field].as_f64());
            }
            values.retain(|_, of_task| !of_task.is_empty());
            values.into_iter().map(|(task, v)| (task, derrl_learn::mean_stderr(&v).0)).collect()
        };
        let rules = |r: &Run| -> BTreeSet<String> {
            r.rules.iter().map(|rule| rule.text.split("::").last().unwrap_or_default().to_string()).collect()
        };
        Summary {
            domain: domain.to_string(),
            means: means("mean"),
            best_known: means("best_known"),
            rule_sets: of_domain().map(rules).collect::<BTreeSet<_>>().len(),
            chart: overlaid(&of_domain().map(|r| r.chosen.as_slice()).collect::<Vec<_>>()),
        }
    };
    domains.into_iter().map(summary).collect()
}

/// The curves of several runs on top of each other, with their mean and a band from the lowest to the highest.
fn overlaid(curves: &[&[(f64, f64)]]) -> Option<Drawn> {
    let curves: Vec<&[(f64, f64)]> = curves.iter().copied().filter(|c| !c.is_empty()).collect();
    if curves.len() < 2 {
        return None;
    }
    let end = curves.iter().filter_map(|c| c.last()).map(|p| p.0).fold(0.0, f64::max);
    let start = curves.iter().filter_map(|c| c.first()).map(|p| p.0).fold(0.0, f64::max);
    // A run that ended stays where it ended.
    let value = |curve: &[(f64, f64)], x: f64| {
        let after = curve.partition_point(|p| p.0 <= x);
        let (before, next) = (curve[after.saturating_sub(1)], curve[after.min(curve.len() - 1)]);
        let share = if next.0 > before.0 { (x - before.0) / (next.0 - before.0) } else { 0.0 };
        before.1 + share.clamp(0.0, 1.0) * (next.1 - before.1)
    };
    let xs: Vec<f64> =
        (0..=MOST_POINTS).map(|i| start + (end - start) * i as f64 / MOST_POINTS as f64).collect();
    let at = |x: f64| curves.iter().map(|c| value(c, x)).collect::<Vec<f64>>();
    let points = xs.iter().map(|&x| (x, derrl_learn::mean_stderr(&at(x)).0)).collect();
    let ends = |values: Vec<f64>| {
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)))
    };
    let band = xs.iter().map(|&x| ends(at(x))).collect();
    let single = |c: &&[(f64, f64)]| Series {
        points: c.to_vec(),
        color: "var(--faint)",
        width: 1.0,
        stroke: Stroke::Faint,
        ..Series::default()
    };
    let mut series: Vec<Series> = curves.iter().map(single).collect();
    let name = Some(format!("mean of {} runs", curves.len()));
    series.push(Series { name, points, band, color: "var(--accent)", width: 2.6, ..Series::default() });
    let (x_label, y_label) =
        ("episodes of the restart".to_string(), "mean return while exploring".to_string());
    let (chart, plot) = Chart { x_label, y_label, series, ..Chart::default() }.draw();
    Some(Drawn { chart, plot, restarts: curves.len() })
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
    let curves = curves(&folder.path().join("metrics.jsonl"), chosen, extent.curves)?;
    Ok(Run {
        label: label.to_string(),
        domain: domain.name.clone(),
        world: domain.world.name().to_string(),
        summary: domain.world.summary().to_string(),
        seed: folder.config.seed,
        version: folder.config.derrl.clone(),
        rules: rules(&policy, alphabet),
        background: background(alphabet),
        scores: scores(&result["scores"], &domain.world),
        counts: counts.into_iter().map(|key| (key.to_string(), result[key].take())).collect(),
        chart: drawn(&curves),
        verification,
        solved: result["solved"].as_bool(),
        advice: advice(&result["advice"], folder),
        chosen: curves.into_iter().find(|c| c.chosen).map(|c| c.points).unwrap_or_default(),
        episodes,
        notes,
    })
}

/// A policy that was not trained, as a page shows a run: its rules, its scores and an episode.
pub fn of_policy(
    folder: &RunFolder,
    domain: &Domain,
    policy: &Policy,
    results: &Value,
    extent: Extent,
) -> anyhow::Result<Value> {
    let mut notes = Vec::new();
    let episodes = episodes::of_tasks(folder, domain, policy, results, extent, &mut notes);
    let alphabet = &domain.alphabet;
    let mut told = serde_json::to_value(episodes)?;
    told["rules"] = serde_json::to_value(rules(policy, alphabet))?;
    told["background"] = background(alphabet).into();
    told["scores"] = serde_json::to_value(scores(results, &domain.world))?;
    told["notes"] = notes.into();
    told["advice"] = Value::Array(Vec::new());
    Ok(told)
}

fn background(alphabet: &Alphabet) -> Vec<String> {
    let fixed = alphabet.predicates.iter().filter(|p| p.role == Role::Background);
    fixed.map(|p| p.name.clone()).collect()
}

/// A run as a list of runs has it, finished or not. What cannot be read is left out: it may be written at this moment.
pub fn glance(folder: &RunFolder, label: &str) -> Value {
    let result = read_json(&folder.path().join("result.json")).ok().flatten();
    let chosen = result.as_ref().and_then(|r| r["restart"].as_u64()).unwrap_or(0);
    let mut curves = curves(&folder.path().join("metrics.jsonl"), chosen, 24).unwrap_or_default();
    if result.is_none() {
        // Nothing is chosen yet: the restart that was begun last is the one to watch.
        let last = curves.iter().map(|c| c.restart).max();
        for curve in &mut curves {
            curve.chosen = Some(curve.restart) == last;
        }
        curves.sort_by_key(|c| c.chosen);
    }
    serde_json::json!({
        "label": label,
        "domain": folder.config.domain,
        "seed": folder.config.seed,
        "finished": is_finished(folder),
        "restarts": curves.len(),
        "scores": result.as_ref().map(|r| r["scores"].clone()),
        "solved": result.as_ref().and_then(|r| r["solved"].as_bool()),
        "chart": drawn(&curves),
    })
}

/// What to try where a run did not learn what it should: what the learner said, else what helps most often.
fn advice(said: &Value, folder: &RunFolder) -> Vec<String> {
    let said: Vec<String> =
        said.as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_string)).collect();
    if !said.is_empty() {
        return said;
    }
    let domain = &folder.config.domain;
    let seed = folder.config.seed + 1;
    let restarts = 2 * folder.config.settings.restarts;
    vec![
        format!("Another seed: derrl train {domain} --seed {seed}"),
        format!("More restarts: derrl train {domain} --set restarts={restarts}"),
        format!(
            "Whether the domain file offers the predicates and the rules per action that a solution needs: derrl check {domain}"
        ),
    ]
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

/// The curves of this many restarts at the most, thinned to what can be seen, the chosen one last.
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
            Some(curve) => curve.points.push((episodes as f64, mean)),
            None => {
                curves.push(Curve {
                    restart,
                    chosen: restart == chosen,
                    points: vec![(episodes as f64, mean)],
                });
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
