//! `derrl reproduce runtime`: seconds an episode of training, as problems grow.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::curves::COLORS;
use crate::experiments::{Axis, SizeOption, settings};
use crate::job::{Job, Purpose, Results};
use crate::names::{capital, shown};
use crate::page::{Block, Cell, Claim, Figure, Section, Verdict, row};
use crate::plan::{Plan, each_seed};
use crate::sample::Sample;
use crate::solved::Solved;
use derrl_report::{Chart, Scale, Series, Stroke};

use derrl_report::table::thousands;

/// The sizes of an axis that are measured.
fn sizes<'a>(plan: &Plan, axis: &'a Axis) -> &'a [usize] {
    let quick = plan.experiments.runtime.quick.sizes.clamp(1, axis.sizes.len());
    if plan.quick { &axis.sizes[..quick] } else { &axis.sizes }
}

/// The axes that are measured.
fn axes(plan: &Plan) -> impl Iterator<Item = &Axis> {
    let axes = &plan.experiments.runtime.axes;
    axes.iter().filter(|a| plan.includes(&a.domain) && !(plan.quick && a.slow))
}

/// Over how many decisions an agent is measured.
fn window(plan: &Plan, axis: &Axis, agent: &str) -> u64 {
    let spec = &plan.experiments.runtime;
    let of = |all: &BTreeMap<String, u64>| all.get(agent).copied().unwrap_or(0);
    plan.decisions(of(axis.decisions.as_ref().unwrap_or(&spec.decisions)), of(&spec.quick.decisions))
}

/// The jobs of one agent at one size.
fn jobs(plan: &Plan, axis: &Axis, at: usize, agent: &str) -> anyhow::Result<Vec<Job>> {
    let spec = &plan.experiments.runtime;
    let mut job = Job::new(agent, &axis.domain, &settings(&[&spec.settings])?)?;
    job.purpose = Purpose::Time;
    job.options = axis.options.clone();
    let size = Some(axis.sizes[at]);
    match axis.option {
        SizeOption::Size => job.options.size = size,
        SizeOption::Range => job.options.range = size,
    }
    job.task = "large".to_string();
    job.decisions = window(plan, axis, agent);
    if let Some(learning) = &mut job.learning {
        learning.restarts = 1;
    }
    Ok(each_seed(&job, plan.seeds(spec.seeds, spec.quick.seeds)))
}

/// The jobs of all axes.
pub fn all_jobs(plan: &Plan) -> anyhow::Result<Vec<Job>> {
    let spec = &plan.experiments.runtime;
    let mut all = Vec::new();
    for axis in axes(plan) {
        for at in 0..sizes(plan, axis).len() {
            for agent in &spec.agents {
                all.extend(jobs(plan, axis, at, agent)?);
            }
        }
    }
    Ok(all)
}

/// The section.
pub fn section(plan: &Plan, results: &Results) -> anyhow::Result<Section> {
    let spec = &plan.experiments.runtime;
    let seeds = plan.seeds(spec.seeds, spec.quick.seeds);
    let mut blocks = vec![Block::Text(format!(
        "A training step: processor seconds per episode over the first decisions of training on instances of each size, mean of {seeds} runs: acting, gradient and update, \
         all that is prepared for states when they are first met, and the world itself. Runs are measured one at a time on one core."
    ))];
    blocks.extend(whole_runs(plan, results)?);
    let mut claims = Vec::new();
    let mut data = Vec::new();
    for axis in axes(plan) {
        let sizes = sizes(plan, axis);
        let mut lines: Vec<Line> = Vec::new();
        let mut numbers = Vec::new();
        for agent in &spec.agents {
            let mut points = Vec::new();
            for (at, size) in sizes.iter().enumerate() {
                let times: Vec<_> =
                    results.all(&jobs(plan, axis, at, agent)?).iter().filter_map(|f| f.time).collect();
                if times.is_empty() {
                    continue;
                }
                let episode = Sample::new(times.iter().map(|t| t.episode).collect());
                let decision = Sample::new(times.iter().map(|t| t.decision).collect());
                numbers.push(json!({
                    "agent": agent, "size": size, "seconds_per_episode": episode.mean(), "stderr": episode.stderr(),
                    "seconds_per_decision": decision.mean(),
                }));
                points.push(Measured { size: *size, episode, decision });
            }
            lines.push(Line { agent: agent.clone(), points });
        }
        let of = |agent: &str| lines.iter().find(|l| l.agent == agent).map_or(&[][..], |l| &l.points);
        let (fast, slow) = (of(&spec.expect.fast), of(&spec.expect.slow));
        let ratios: Vec<Ratio> = fast.iter().zip(slow).map(|(f, s)| s.over(f)).collect();
        // Both: an agent that learns sooner has shorter episodes, which is no merit of its speed.
        let least = ratios.iter().map(|r| r.episode.min(r.decision)).fold(f64::INFINITY, f64::min);
        let verdicts = fast.iter().zip(slow).map(|(f, s)| s.at_least(f, spec.expect.ratio));
        let title = format!("{}: {}", capital(&axis.domain), axis.name);
        claims.push(Claim {
            experiment: "runtime".to_string(),
            text: format!(
                "{title}: a training step of {} takes at least {} times {}'s time, per episode and per decision",
                shown(&spec.expect.slow),
                spec.expect.ratio,
                shown(&spec.expect.fast)
            ),
            verdict: verdicts.max().unwrap_or(Verdict::NotHeld),
            detail: format!("at least {least:.1} times"),
        });
        blocks.push(Block::Figure(figure(axis, &title, &lines)));
        let windows =
            spec.agents.iter().map(|a| format!("{} for {}", thousands(window(plan, axis, a)), shown(a)));
        let windows = format!("Decisions measured: {}.", windows.collect::<Vec<_>>().join(", "));
        blocks.push(Block::Text(
            [&windows, axis.note.as_deref().unwrap_or_default()].join(" ").trim().to_string(),
        ));
        blocks.push(Block::Table(times_table(axis, &spec.agents, &lines, &ratios)));
        let ratios: Vec<Value> = ratios
            .iter()
            .map(|r| json!({"size": r.size, "per_episode": r.episode, "per_decision": r.decision}))
            .collect();
        data.push(json!({"domain": axis.domain, "axis": axis.name, "unit": axis.unit, "times": numbers, "ratios": ratios}));
    }
    Ok(Section { id: "runtime", title: "Run time", blocks, claims, data: Value::Array(data) })
}

/// The time of whole runs: those of the generalisation table. Nothing where there are none yet.
fn whole_runs(plan: &Plan, results: &Results) -> anyhow::Result<Vec<Block>> {
    let agents = &plan.experiments.runtime.agents;
    let solved = Solved::read()?;
    let head = agents.iter().flat_map(|a| {
        [
            format!("{}, seconds", shown(a)),
            format!("{}, decisions", shown(a)),
            format!("{}, solved", shown(a)),
        ]
    });
    let mut rows = vec![row(std::iter::once("whole run".to_string()).chain(head))];
    for table in plan.tables() {
        let mut cells = vec![table.title.clone()];
        for agent in agents {
            let finished = results.all(&plan.table_jobs(table, agent)?);
            if finished.is_empty() {
                break;
            }
            let seconds = Sample::new(finished.iter().map(|f| f.training_seconds).collect());
            let decisions = Sample::new(finished.iter().map(|f| f.trained.decisions as f64).collect());
            let mut solving = 0;
            for f in &finished {
                let score = f.scores.first();
                solving += usize::from(match score {
                    Some(score) => solved.solves(&table.domain, &table.rows[0].task, score)?,
                    None => false,
                });
            }
            cells.push(format!("{:.2}", seconds.mean()));
            cells.push(thousands(decisions.mean() as u64));
            cells.push(format!("{solving} of {}", finished.len()));
        }
        if cells.len() > 1 {
            rows.push(row(cells));
        }
    }
    if rows.len() == 1 {
        return Ok(Vec::new());
    }
    let text = "A whole run: processor seconds from the start to the policy that is scored, races and the last comparison included, mean over the \
                runs of the generalisation table; solved: runs whose policy solves the training task. DERRL ends by itself, NLRL takes its whole budget.";
    Ok(vec![Block::Text(text.to_string()), Block::Table(rows)])
}

/// Seconds per episode and per decision at one size.
struct Measured {
    size: usize,
    episode: Sample,
    decision: Sample,
}

/// How many times as long something takes at one size.
struct Ratio {
    size: usize,
    episode: f64,
    decision: f64,
}

impl Measured {
    fn over(&self, other: &Measured) -> Ratio {
        Ratio {
            size: self.size,
            episode: self.episode.mean() / other.episode.mean(),
            decision: self.decision.mean() / other.decision.mean(),
        }
    }

    /// Whether this takes at least `ratio` times as long as the other, per episode and per decision.
    fn at_least(&self, other: &Measured, ratio: f64) -> Verdict {
        let judge = |slow: &Sample, fast: &Sample| {
            let wanted = Sample::new(fast.runs.iter().map(|seconds| ratio * seconds).collect());
            Verdict::at_least(slow.compare(&wanted, 0.0), slow.mean() < wanted.mean())
        };
        judge(&self.episode, &other.episode).max(judge(&self.decision, &other.decision))
    }
}

/// An agent over all sizes.
struct Line {
    agent: String,
    points: Vec<Measured>,
}

fn times_table(axis: &Axis, agents: &[String], lines: &[Line], ratios: &[Ratio]) -> Vec<Vec<Cell>> {
    let head =
        [axis.name.clone()].into_iter().chain(agents.iter().map(|a| format!("{}, ms per episode", shown(a))));
    let mut rows = vec![row(head.chain(["ratio per episode", "ratio per decision"].map(String::from)))];
    for (i, ratio) in ratios.iter().enumerate() {
        let times = lines
            .iter()
            .map(|l| l.points.get(i).map_or_else(String::new, |p| milliseconds(p.episode.mean())));
        let ratios = [format!("{:.1}", ratio.episode), format!("{:.1}", ratio.decision)];
        rows.push(row([ratio.size.to_string()].into_iter().chain(times).chain(ratios)));
    }
    rows
}

/// Seconds as milliseconds, to three digits.
fn milliseconds(seconds: f64) -> String {
    let ms = 1000.0 * seconds;
    let decimals = (2.0 - ms.max(1e-6).log10().floor()).clamp(0.0, 5.0) as usize;
    format!("{ms:.decimals$}")
}

fn figure(axis: &Axis, title: &str, lines: &[Line]) -> Figure {
    let series = lines.iter().zip(COLORS).rev().map(|(line, color)| Series {
        name: Some(shown(&line.agent)),
        points: line.points.iter().map(|p| (p.size as f64, p.episode.mean())).collect(),
        color,
        width: 2.0,
        stroke: Stroke::Marked,
        ..Series::default()
    });
    let chart = Chart {
        title: title.to_string(),
        x_label: if axis.name.ends_with(&axis.unit) {
            axis.name.clone()
        } else {
            format!("{} ({})", axis.name, axis.unit)
        },
        y_label: "seconds per episode (log scale)".to_string(),
        x_scale: Scale::Linear,
        y_scale: Scale::Log,
        series: series.collect(),
    };
    Figure {
        name: format!("runtime-{}-{}", axis.domain, axis.name.replace(' ', "-")),
        caption: format!("{title}: training time of an episode."),
        chart: chart.document(),
    }
}
