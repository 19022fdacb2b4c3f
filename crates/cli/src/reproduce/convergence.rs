//! `derrl reproduce convergence`: training reward over episodes, all agents.

use derrl_learn::mean_stderr;
use serde_json::{Map, Value, json};

use super::Plan;
use super::curves::{COLORS, Curve};
use super::job::Results;
use super::page::{Block, Figure, Section, row};
use crate::chart::{Chart, Scale, Series, Stroke};

/// The section.
pub fn section(plan: &Plan, results: &Results) -> anyhow::Result<Section> {
    let spec = &plan.experiments.convergence;
    let mut blocks = vec![Block::Text(
        "The runs of the generalisation table while they train, exploring. Lines are means over seeds, bands one standard deviation. An agent \
         that restarts is shown by the restart it chose. Random does not learn: the dashed line is its score."
            .to_string(),
    )];
    let mut data = Map::new();
    for table in plan.tables().filter(|t| spec.domains.contains(&t.domain) && t.options.noise.is_none()) {
        let mut series = Vec::new();
        let mut rows = vec![row(["agent", "episodes in all", "return at the end of training"])];
        let mut curves = Map::new();
        let mut span = (f64::INFINITY, 0.0_f64);
        let mut flat = Vec::new();
        for (agent, color) in spec.agents.iter().zip(COLORS) {
            let finished = results.all(&plan.table_jobs(table, agent)?);
            let runs: Vec<_> = finished.iter().map(|f| &f.trained).collect();
            let curve = Curve::new(&runs);
            let name = shown(agent);
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
            } else if let Some(score) =
                finished.iter().filter_map(|f| f.scores.first()).map(|s| s.mean).reduce(|a, b| a + b)
            {
                flat.push((name, score / finished.len() as f64, color));
            }
        }
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
            y_label: "mean return of an episode".to_string(),
            x_scale: Scale::Log,
            y_scale: Scale::Linear,
            series,
        };
        blocks.push(Block::Figure(Figure {
            name: format!("convergence-{}", table.domain),
            caption: format!(
                "{}: training reward over episodes, {} seeds.",
                table.title,
                plan.seeds(table.seeds)
            ),
            svg: chart.to_svg(),
        }));
        blocks.push(Block::Table(rows));
        data.insert(table.domain.clone(), Value::Object(curves));
    }
    Ok(Section {
        id: "convergence",
        title: "Convergence",
        blocks,
        claims: Vec::new(),
        data: Value::Object(data),
    })
}

/// An agent's name as the paper writes it.
pub fn shown(agent: &str) -> String {
    if agent == "random" { "Random".to_string() } else { agent.to_uppercase() }
}
