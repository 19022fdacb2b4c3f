//! `derrl reproduce convergence`: training reward over episodes, all agents.

use derrl_learn::mean_stderr;
use serde_json::{Map, Value, json};

use crate::curves::{COLORS, Curve, RETURN_LABEL, Reached, WINDOW};
use crate::experiments::{ConvergenceExpect, TableSpec};
use crate::job::Results;
use crate::names::shown;
use crate::page::{Block, Cell, Claim, Figure, Section, Verdict, row};
use crate::plan::Plan;
use crate::sample::Sample;
use derrl_report::{Chart, Scale, Series, Stroke};

use derrl_report::table::thousands;

/// An agent over its training.
struct Line<'a> {
    agent: &'a str,
    color: &'static str,
    /// Episodes in all, restarts included.
    episodes: f64,
    /// Empty for an agent that does not learn.
    curve: Curve,
    /// The same of each run.
    curves: Vec<Curve>,
    /// The mean score on the training task, and the best known there.
    score: f64,
    best_known: f64,
}

/// The section.
pub fn section(plan: &Plan, results: &Results) -> anyhow::Result<Section> {
    let spec = &plan.experiments.convergence;
    let mut blocks = vec![Block::Text(format!(
        "Runs as those of the generalisation table while they train, exploring. Lines are means over seeds of the return of the last {:.0}% of the episodes so far, \
         bands one standard deviation. DERRL is trained by the gradient alone and shown by the restart whose rules came first. Random does not learn: the dashed line is its score.",
        100.0 * WINDOW
    ))];
    let mut data = Map::new();
    let mut claims = Vec::new();
    for table in plan.tables().filter(|t| spec.domains.contains(&t.domain) && t.options.noise.is_none()) {
        let lines = lines(plan, table, results)?;
        claims.extend(judge(&spec.expect, &table.title, &lines));
        blocks.push(Block::Figure(figure(table, &lines, plan.table_seeds(table))));
        blocks.push(Block::Table(ends(&lines)));
        let json = |l: &Line| if l.learns() { l.curve.json() } else { json!(l.score) };
        let curves: Map<String, Value> = lines.iter().map(|l| (l.agent.to_string(), json(l))).collect();
        data.insert(table.domain.clone(), Value::Object(curves));
    }
    Ok(Section { id: "convergence", title: "Convergence", blocks, claims, data: Value::Object(data) })
}

impl Line<'_> {
    fn learns(&self) -> bool {
        !self.curve.points.is_empty()
    }
}

fn lines<'a>(plan: &'a Plan, table: &TableSpec, results: &Results) -> anyhow::Result<Vec<Line<'a>>> {
    let agents = plan.experiments.convergence.agents.iter().zip(COLORS);
    agents
        .map(|(agent, color)| {
            let finished = results.all(&plan.curve_jobs(table, agent)?);
            let runs: Vec<_> = finished.iter().map(|f| &f.trained).collect();
            let scores = || finished.iter().filter_map(|f| f.scores.first());
            Ok(Line {
                agent,
                color,
                episodes: mean_stderr(&runs.iter().map(|t| t.episodes as f64).collect::<Vec<_>>()).0,
                curve: Curve::new(&runs),
                curves: runs.iter().map(|t| Curve::new(&[t])).collect(),
                score: mean_stderr(&scores().map(|s| s.mean).collect::<Vec<_>>()).0,
                best_known: mean_stderr(&scores().filter_map(|s| s.best_known).collect::<Vec<_>>()).0,
            })
        })
        .collect()
}

/// How training ends for each agent.
fn ends(lines: &[Line]) -> Vec<Vec<Cell>> {
    let mut rows =
        vec![row(["agent", "training episodes, restarts included", "return at the end of training"])];
    for line in lines {
        let end = line.curve.end().unwrap_or(line.score);
        rows.push(row([shown(line.agent), thousands(line.episodes as u64), format!("{end:.2}")]));
    }
    rows
}

fn figure(table: &TableSpec, lines: &[Line], seeds: u64) -> Figure {
    let episodes = || lines.iter().flat_map(|l| &l.curve.points).map(|p| p.0);
    let (first, last) = (episodes().fold(f64::INFINITY, f64::min), episodes().fold(0.0, f64::max));
    let series = |line: &Line| {
        if line.learns() {
            return line.curve.series(&shown(line.agent), line.color);
        }
        Series {
            name: Some(shown(line.agent)),
            points: vec![(first, line.score), (last, line.score)],
            color: line.color,
            width: 2.0,
            stroke: Stroke::Dashed,
            ..Series::default()
        }
    };
    let chart = Chart {
        title: table.title.clone(),
        x_label: "training episodes (log scale)".to_string(),
        y_label: RETURN_LABEL.to_string(),
        x_scale: Scale::Log,
        y_scale: Scale::Linear,
        // The first is drawn last, on top.
        series: lines.iter().rev().map(series).collect(),
    };
    Figure {
        name: format!("convergence-{}", table.domain),
        caption: format!("{}: training reward over episodes, {seeds} seeds.", table.title),
        chart: chart.document(),
    }
}

/// Whether one agent learns in about as many episodes as the other.
fn judge(expect: &ConvergenceExpect, title: &str, lines: &[Line]) -> Option<Claim> {
    let floor = lines.iter().find(|l| !l.learns())?;
    let goal = floor.score + expect.share * (floor.best_known - floor.score);
    let find = |agent: &str| lines.iter().find(|l| l.agent == agent).map(|l| Reached::new(&l.curves, goal));
    let (own, other) = (find(&expect.agent)?, find(&expect.beside)?);
    let allowed = Sample::new(other.log_episodes.runs.iter().map(|x| x + expect.factor.ln()).collect());
    let comparison = allowed.compare(&own.log_episodes, 0.0);
    let short = own.log_episodes.mean() > allowed.mean();
    let verdict = match (own.runs, other.runs) {
        (0, _) => Verdict::NotHeld,
        (_, 0) => Verdict::Held,
        _ => Verdict::at_least(comparison, short),
    };
    let (agent, beside) = (shown(&expect.agent), shown(&expect.beside));
    Some(Claim {
        experiment: "convergence".to_string(),
        text: format!(
            "{title}: {agent} converges on par with {beside}, within a factor of {}",
            expect.factor
        ),
        verdict,
        detail: format!("a return of {goal:.2}: {agent} {}, {beside} {}", own.shown(), other.shown()),
    })
}
