//! `derrl reproduce runtime`: seconds an episode of training, as problems grow.

use derrl_learn::mean_stderr;
use serde_json::{Value, json};

use super::Plan;
use super::convergence::shown;
use super::curves::COLORS;
use super::experiments::{Axis, settings};
use super::job::{Job, Purpose, Results};
use super::page::{Block, Claim, Figure, Section, row};
use crate::chart::{Chart, Scale, Series, Stroke};

/// The sizes of an axis that are measured.
fn sizes<'a>(plan: &Plan, axis: &'a Axis) -> &'a [usize] {
    let quick = plan.experiments.runtime.quick.sizes.clamp(1, axis.sizes.len());
    if plan.quick { &axis.sizes[..quick] } else { &axis.sizes }
}

/// The jobs of one agent at one size.
fn jobs(plan: &Plan, axis: &Axis, at: usize, agent: &str) -> anyhow::Result<Vec<Job>> {
    let spec = &plan.experiments.runtime;
    let mut job = Job::new(agent, &axis.domain, &settings(&[&spec.settings])?)?;
    job.purpose = Purpose::Time;
    job.options = axis.options.clone();
    let size = Some(axis.sizes[at]);
    match axis.option.as_deref() {
        Some("size") => job.options.size = size,
        Some("range") => job.options.range = size,
        _ => {}
    }
    job.task = axis.tasks.get(at).map_or("large", String::as_str).to_string();
    job.decisions = plan.decisions(spec.decisions, &spec.quick);
    if let Some(learning) = &mut job.learning {
        learning.restarts = 1;
    }
    Ok(plan.each_seed(&job, plan.seeds(spec.seeds)))
}

/// The jobs of all axes.
pub fn all_jobs(plan: &Plan) -> anyhow::Result<Vec<Job>> {
    let spec = &plan.experiments.runtime;
    let mut all = Vec::new();
    for axis in spec.axes.iter().filter(|a| plan.includes(&a.domain)) {
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
    let decisions = plan.decisions(spec.decisions, &spec.quick);
    let mut blocks = vec![Block::Text(format!(
        "Processor seconds an episode over the first {decisions} decisions of training on instances of each size: acting, gradient and update, all that is \
         prepared for states when they are first met, and the world itself. Runs are measured one at a time on one core."
    ))];
    let mut claims = Vec::new();
    let mut data = Vec::new();
    for axis in spec.axes.iter().filter(|a| plan.includes(&a.domain)) {
        let sizes = sizes(plan, axis);
        let mut lines: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
        let mut numbers = Vec::new();
        for agent in &spec.agents {
            let mut points = Vec::new();
            for (at, size) in sizes.iter().enumerate() {
                let times: Vec<_> =
                    results.all(&jobs(plan, axis, at, agent)?).iter().filter_map(|f| f.time).collect();
                if times.is_empty() {
                    continue;
                }
                let (mean, stderr) = mean_stderr(&times.iter().map(|t| t.episode).collect::<Vec<_>>());
                points.push((*size as f64, mean));
                numbers.push(json!({
                    "agent": agent, "size": size, "seconds_an_episode": mean, "stderr": stderr,
                    "seconds_a_decision": mean_stderr(&times.iter().map(|t| t.decision).collect::<Vec<_>>()).0,
                }));
            }
            lines.push((agent.clone(), points));
        }
        let of = |agent: &str| lines.iter().find(|l| l.0 == agent).map_or(&[][..], |l| &l.1);
        let (fast, slow) = (of(&spec.expect.fast), of(&spec.expect.slow));
        let ratios: Vec<(f64, f64)> = fast.iter().zip(slow).map(|(f, s)| (f.0, s.1 / f.1)).collect();
        let least = ratios.iter().map(|r| r.1).fold(f64::INFINITY, f64::min);
        let title = format!("{}: {}", super::ablation::capital(&axis.domain), axis.name);
        claims.push(Claim {
            experiment: "runtime".to_string(),
            claim: format!(
                "{title}: {} takes at least {} times {}'s time an episode",
                shown(&spec.expect.slow),
                spec.expect.ratio,
                shown(&spec.expect.fast)
            ),
            held: least.is_finite() && least >= spec.expect.ratio,
            detail: format!("at least {least:.1} times"),
        });
        blocks.push(Block::Figure(figure(axis, &title, &lines)));
        blocks.push(Block::Table(times_table(axis, &spec.agents, &lines, &ratios)));
        let ratios: Vec<Value> =
            ratios.iter().map(|(size, ratio)| json!({"size": size, "ratio": ratio})).collect();
        data.push(json!({"domain": axis.domain, "axis": axis.name, "unit": axis.unit, "times": numbers, "ratios": ratios}));
    }
    Ok(Section { id: "runtime", title: "Run time", blocks, claims, data: Value::Array(data) })
}

fn times_table(
    axis: &Axis,
    agents: &[String],
    lines: &[(String, Vec<(f64, f64)>)],
    ratios: &[(f64, f64)],
) -> Vec<Vec<super::page::Cell>> {
    let head =
        [axis.name.clone()].into_iter().chain(agents.iter().map(|a| format!("{}, ms an episode", shown(a))));
    let mut rows = vec![row(head.chain(["ratio".to_string()]))];
    for (i, (size, ratio)) in ratios.iter().enumerate() {
        let times =
            lines.iter().map(|(_, points)| points.get(i).map_or_else(String::new, |p| milliseconds(p.1)));
        rows.push(row([format!("{size}")].into_iter().chain(times).chain([format!("{ratio:.0}")])));
    }
    rows
}

/// Seconds as milliseconds, to three digits.
fn milliseconds(seconds: f64) -> String {
    let ms = 1000.0 * seconds;
    let decimals = (2.0 - ms.max(1e-6).log10().floor()).clamp(0.0, 5.0) as usize;
    format!("{ms:.decimals$}")
}

fn figure(axis: &Axis, title: &str, lines: &[(String, Vec<(f64, f64)>)]) -> Figure {
    let series = lines.iter().zip(COLORS).map(|((agent, points), color)| Series {
        name: Some(shown(agent)),
        points: points.clone(),
        color,
        width: 2.0,
        stroke: Stroke::Marked,
        ..Series::default()
    });
    let chart = Chart {
        title: title.to_string(),
        x_label: format!("{} ({})", axis.name, axis.unit),
        y_label: "seconds an episode (log scale)".to_string(),
        x_scale: Scale::Linear,
        y_scale: Scale::Log,
        series: series.collect(),
    };
    Figure {
        name: format!("runtime-{}-{}", axis.domain, axis.name.replace(' ', "-")),
        caption: format!("{title}: training time of an episode."),
        svg: chart.to_svg(),
    }
}
