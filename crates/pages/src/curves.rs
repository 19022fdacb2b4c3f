//! Training curves, of one run and of several.

use derrl_learn::mean_stderr;
use derrl_report::{Chart, Document, Plot, Series, Stroke};
use serde::Serialize;
use serde_json::Value;

use crate::error::Error;

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

/// The chart of one run; none without a point.
pub fn drawn(curves: &[Curve]) -> Option<Drawn> {
    if curves.iter().all(|c| c.points.is_empty()) {
        return None;
    }
    let lines: Vec<(bool, &[(f64, f64)])> = curves.iter().map(|c| (c.chosen, c.points.as_slice())).collect();
    let (chart, plot) = training_curve("", &lines).draw();
    Some(Drawn { chart, plot, restarts: curves.len() })
}

/// The training curves of all restarts, each with whether it was chosen, in the colours of the page.
pub fn training_curve(title: &str, curves: &[(bool, &[(f64, f64)])]) -> Chart {
    let line = |points: &[(f64, f64)]| Series { points: points.to_vec(), ..Series::default() };
    let (chosen, others): (Vec<_>, Vec<_>) = curves.iter().partition(|c| c.0);
    let name = |text: &str, i: usize| (i == 0).then(|| text.to_string());
    let mut series: Vec<Series> = Vec::new();
    for (i, (_, points)) in others.into_iter().enumerate() {
        let name = name("other restarts", i);
        series.push(Series {
            name,
            color: "var(--faint)",
            width: 1.0,
            stroke: Stroke::Faint,
            ..line(points)
        });
    }
    for (i, (_, points)) in chosen.into_iter().enumerate() {
        series.push(Series {
            name: name("chosen restart", i),
            color: "var(--accent)",
            width: 2.6,
            ..line(points)
        });
    }
    Chart {
        title: title.to_string(),
        x_label: "episodes of the restart".to_string(),
        y_label: "mean return while exploring".to_string(),
        series,
        ..Chart::default()
    }
}

/// The curves of several runs on top of each other, with their mean and a band from the lowest to the highest.
pub fn overlaid(curves: &[&[(f64, f64)]]) -> Option<Drawn> {
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
    let points = xs.iter().map(|&x| (x, mean_stderr(&at(x)).0)).collect();
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
const MOST_POINTS: usize = 200;

/// The curves of this many restarts at the most, thinned to what can be seen, the chosen one last.
pub fn curves(metrics: &str, chosen: u64, most: usize) -> Result<Vec<Curve>, Error> {
    let mut curves: Vec<Curve> = Vec::new();
    for (i, line) in metrics.lines().enumerate() {
        let damaged = |problem: String| Error::Metrics { line: i + 1, problem };
        let point: Value = serde_json::from_str(line).map_err(|e| damaged(e.to_string()))?;
        let parts = (point["restart"].as_u64(), point["episodes"].as_u64(), point["mean_return"].as_f64());
        let (Some(restart), Some(episodes), Some(mean)) = parts else {
            return Err(damaged("it has no restart, episodes and mean_return".to_string()));
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
