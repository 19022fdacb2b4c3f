//! `derrl reproduce convergence`: training reward over episodes, all agents.

use derrl_learn::mean_stderr;
use serde_json::{Map, Value, json};

use super::Plan;
use super::curves::{COLORS, Curve, RETURN_LABEL, WINDOW};
use super::experiments::ConvergenceExpect;
use super::job::Results;
use super::page::{Block, Claim, Figure, Section, row};
use crate::chart::{Chart, Scale, Series, Stroke};
use crate::table::thousands;

/// The section.
pub fn section(plan: &Plan, results: &Results) -> anyhow::Result<Section> {
    let spec = &plan.experiments.convergence;
    let mut blocks = vec![Block::Text(format!(
        "The runs of the generalisation table while they train, exploring. Lines are means over seeds of the return of the last {:.0}% of the episodes so far, \
         bands one standard deviation. An agent that restarts is shown by the restart it chose. Random does not learn: the dashed line is its score.",
        100.0 * WINDOW
    ))];
    let mut data = Map::new();
    let mut claims = Vec::new();
    for table in plan.tables().filter(|t| spec.domains.contains(&t.domain) && t.options.noise.is_none()) {
        let mut series = Vec::new();
        let mut rows = vec![row(["agent", "episodes in all", "return at the end of training"])];
        let mut curves = Map::new();
        let mut span = (f64::INFINITY, 0.0_f64);
        let mut flat = Vec::new();
        let mut lines: Vec<(&str, Curve)> = Vec::new();
        let mut best = f64::NAN;
        for (agent, color) in spec.agents.iter().zip(COLORS) {
            let finished = results.all(&plan.table_jobs(table, agent)?);
            let runs: Vec<_> = finished.iter().map(|f| &f.trained).collect();
            let curve = Curve::new(&runs);
            let name = shown(agent);
            best = finished.first().and_then(|f| f.scores.first()).map_or(best, |s| s.best_known);
            if let (Some(first), Some(last)) = (curve.points.first(), curve.points.last()) {
                span = (span.0.min(first.0), span.1.max(last.0));
                let episodes: Vec<f64> = runs.iter().map(|t| t.episodes as f64).collect();
                rows.push(row([
                    name.clone(),
                    format!("{:.0}", mean_stderr(&episodes).0),
                    curve.end().map_or_else(String::new, |v| format!("{v:.2}")),
                ]));
                series.push(curve.series(&name, color));
                curves.insert(agent.clone(), curve.json());
                lines.push((agent, curve));
            } else if let Some(score) =
                finished.iter().filter_map(|f| f.scores.first()).map(|s| s.mean).reduce(|a, b| a + b)
            {
                flat.push((name, score / finished.len() as f64, color));
            }
        }
        let floor = flat.first().map_or(f64::NAN, |(_, mean, _)| *mean);
        claims.extend(judge(&spec.expect, &table.title, &lines, floor, best));
        for (name, mean, color) in flat {
            rows.push(row([name.clone(), "0".to_string(), format!("{mean:.2}")]));
            curves.insert(name.to_lowercase(), json!(mean));
            if span.1 > 0.0 {
                series.push(Series {
                    name: Some(name),
                    points: vec![(span.0, mean), (span.1, mean)],
                    color,
                    width: 2.0,
                    stroke: Stroke::Dashed,
                    ..Series::default()
                });
            }
        }
        // DERRL is drawn last, on top.
        series.reverse();
        let chart = Chart {
            title: table.title.clone(),
            x_label: "training episodes (log scale)".to_string(),
            y_label: RETURN_LABEL.to_string(),
            x_scale: Scale::Log,
            y_scale: Scale::Linear,
            series,
        };
        blocks.push(Block::Figure(Figure {
            name: format!("convergence-{}", table.domain),
            caption: format!(
                "{}: training reward over episodes, {} seeds.",
                table.title,
                plan.table_seeds(table)
            ),
            svg: chart.to_svg(),
        }));
        blocks.push(Block::Table(rows));
        data.insert(table.domain.clone(), Value::Object(curves));
    }
    Ok(Section { id: "convergence", title: "Convergence", blocks, claims, data: Value::Object(data) })
}

/// Whether one agent learns in about as many episodes as the other. `floor` is what acting at random earns.
fn judge(
    expect: &ConvergenceExpect,
    title: &str,
    lines: &[(&str, Curve)],
    floor: f64,
    best: f64,
) -> Option<Claim> {
    let goal = floor + expect.share * (best - floor);
    let find = |agent: &str| lines.iter().find(|(name, _)| *name == agent).map(|(_, curve)| curve);
    let (own, other) = (find(&expect.agent)?.reaches(goal), find(&expect.beside)?.reaches(goal));
    let show = |episodes: Option<f64>| {
        episodes.map_or_else(|| "never".to_string(), |e| format!("after {} episodes", thousands(e as u64)))
    };
    let (agent, beside) = (shown(&expect.agent), shown(&expect.beside));
    Some(Claim {
        experiment: "convergence".to_string(),
        text: format!(
            "{title}: {agent} converges on par with {beside}, within a factor of {}",
            expect.factor
        ),
        held: own.is_some_and(|own| other.is_none_or(|other| own <= expect.factor * other)),
        detail: format!("a return of {goal:.2}: {agent} {}, {beside} {}", show(own), show(other)),
    })
}

/// An agent's name as the paper writes it.
pub fn shown(agent: &str) -> String {
    if agent == "random" { "Random".to_string() } else { agent.to_uppercase() }
}
