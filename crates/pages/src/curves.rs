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

/// The best rules so far by decisions and return, for runs in which nothing is trained by gradient; none before there are two.
pub fn of_bests(points: &[(f64, f64)]) -> Option<Drawn> {
    if points.len() < 2 {
        return None;
    }
    // What was best stays so until something is better.
    let steps = points.windows(2).flat_map(|pair| [pair[0], (pair[1].0, pair[0].1)]);
    let line = Series {
        name: Some("best rules so far".to_string()),
        points: steps.chain(points.last().copied()).collect(),
        color: "var(--accent)",
        width: 2.6,
        ..Series::default()
    };
    let (x_label, y_label) = ("decisions".to_string(), "return of these rules".to_string());
    let (chart, plot) = Chart { x_label, y_label, series: vec![line], ..Chart::default() }.draw();
    Some(Drawn { chart, plot, restarts: 0 })
}

/// The training curves of all restarts, each with whether it was chosen, in the colours of the page. Single updates are few
/// episodes, so lines are running means; the updates of the chosen restart stand behind its line.
pub fn training_curve(title: &str, curves: &[(bool, &[(f64, f64)])]) -> Chart {
    let (chosen, others): (Vec<_>, Vec<_>) = curves.iter().partition(|c| c.0);
    let name = |text: &str, i: usize| (i == 0).then(|| text.to_string());
    let mut series: Vec<Series> = Vec::new();
    for (i, (_, points)) in others.into_iter().enumerate() {
        series.push(Series {
            name: name("other restarts", i),
            points: smooth(points),
            color: "var(--faint)",
            width: 1.0,
            stroke: Stroke::Faint,
            ..Series::default()
        });
    }
    for (i, (_, points)) in chosen.into_iter().enumerate() {
        if reach(points) > 0 {
            series.push(Series {
                name: name("its single updates", i),
                points: points.to_vec(),
                color: "var(--accent)",
                width: 1.0,
                stroke: Stroke::Faint,
                ..Series::default()
            });
        }
        series.push(Series {
            name: name("chosen restart", i),
            points: smooth(points),
            color: "var(--accent)",
            width: 2.6,
            ..Series::default()
        });
    }
    Chart {
        title: title.to_string(),
        x_label: X_LABEL.to_string(),
        y_label: Y_LABEL.to_string(),
        series,
        ..Chart::default()
    }
}

const X_LABEL: &str = "episodes of the restart";
const Y_LABEL: &str = "mean return while exploring";

/// How many points to either side of a point its running mean takes: about a fortieth of the curve.
fn reach(points: &[(f64, f64)]) -> usize {
    points.len() / 40
}

/// The running mean of a curve. Near its ends the mean is over what there is on both sides, so that the ends stay.
fn smooth(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let most = reach(points);
    let mean = |i: usize| {
        let reach = most.min(i).min(points.len() - 1 - i);
        let near = &points[i - reach..=i + reach];
        near.iter().map(|p| p.1).sum::<f64>() / near.len() as f64
    };
    points.iter().enumerate().map(|(i, p)| (p.0, mean(i))).collect()
}

/// The curves of several runs on top of each other, with their mean and a band from the lowest to the highest.
pub fn overlaid(curves: &[&[(f64, f64)]]) -> Option<Drawn> {
    let curves: Vec<Vec<(f64, f64)>> =
        curves.iter().filter(|c| !c.is_empty()).map(|points| smooth(points)).collect();
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
    let single = |c: &Vec<(f64, f64)>| Series {
        points: c.clone(),
        color: "var(--faint)",
        width: 1.0,
        stroke: Stroke::Faint,
        ..Series::default()
    };
    let mut series: Vec<Series> = curves.iter().map(single).collect();
    let name = Some(format!("mean of {} runs", curves.len()));
    series.push(Series { name, points, band, color: "var(--accent)", width: 2.6, ..Series::default() });
    let (x_label, y_label) = (X_LABEL.to_string(), Y_LABEL.to_string());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_running_mean_keeps_lines_and_ends_and_calms_noise() {
        let line: Vec<(f64, f64)> = (0..200).map(|i| (f64::from(i), 0.5 * f64::from(i))).collect();
        assert!(smooth(&line).iter().zip(&line).all(|(a, b)| (a.1 - b.1).abs() < 1e-9 && a.0 == b.0));
        let noise: Vec<(f64, f64)> = (0..200).map(|i| (f64::from(i), f64::from(i % 2))).collect();
        let calm = smooth(&noise);
        assert_eq!((calm[0], calm[199]), (noise[0], noise[199]));
        assert!(calm[20..180].iter().all(|p| (p.1 - 0.5).abs() < 0.1), "{calm:?}");
        assert!(smooth(&[]).is_empty() && smooth(&[(1.0, 2.0)]) == [(1.0, 2.0)]);
    }

    #[test]
    fn damaged_metrics_are_an_error_with_a_line() {
        let good = r#"{"restart":0,"episodes":4,"mean_return":0.5}"#;
        assert_eq!(curves(&format!("{good}\n{good}\n"), 0, 1).unwrap()[0].points.len(), 2);
        for bad in ["{", r#"{"restart":0}"#] {
            let error = curves(&format!("{good}\n{bad}\n"), 0, 1).err().expect("damaged").to_string();
            assert!(error.contains("line 2"), "{error}");
        }
    }
}
