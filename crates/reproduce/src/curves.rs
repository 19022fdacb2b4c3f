//! Training curves of several runs as one line with a band.

use derrl_learn::{TrainingResult, mean_stderr};
use serde_json::{Value, json};

use crate::sample::Sample;
use derrl_report::table::thousands;
use derrl_report::{Series, Stroke};

/// Colours that can be told apart, also by the colour-blind, on light and on dark.
pub const COLORS: [&str; 5] = ["#2b7bba", "#d95f02", "#1b9e77", "#c2558f", "#8a8a8a"];

/// What training curves show, on the axis.
pub const RETURN_LABEL: &str = "mean return of an episode";

/// Single batches of episodes are noisy: a point averages this share of the episodes before it.
pub const WINDOW: f64 = 0.2;

/// How many points a line has at the most.
const POINTS: usize = 100;

/// Mean and spread of runs at the same numbers of episodes.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Episodes, mean return, standard deviation.
    pub points: Vec<(f64, f64, f64)>,
}

impl Curve {
    /// Averages runs, as far as all of them go. Points lie evenly by logarithm, as learning does; each is the mean of what
    /// a run earned over the last [`WINDOW`] of its episodes so far.
    pub fn new(runs: &[&TrainingResult]) -> Curve {
        let runs: Vec<&TrainingResult> = runs.iter().copied().filter(|t| !t.curve.is_empty()).collect();
        let end = |t: &&TrainingResult| t.curve.last().map_or(0, |p| p.episodes);
        let begin = |t: &&TrainingResult| t.curve.first().map_or(0, |p| p.episodes);
        let last = runs.iter().map(end).min().unwrap_or(0) as f64;
        let first = runs.iter().map(begin).max().unwrap_or(0).max(1) as f64;
        let mut points = Vec::new();
        let mut before = 0.0;
        for i in 0..POINTS {
            let x = first * (last / first).max(1.0).powf(i as f64 / (POINTS - 1) as f64);
            if x < before * 1.0001 || runs.is_empty() {
                continue;
            }
            let values: Vec<f64> = runs.iter().map(|t| between(t, (1.0 - WINDOW) * x, x)).collect();
            let (mean, stderr) = mean_stderr(&values);
            points.push((x, mean, stderr * (values.len() as f64).sqrt()));
            before = x;
        }
        Curve { points }
    }

    /// As a line of a chart.
    pub fn series(&self, name: &str, color: &'static str) -> Series {
        Series {
            name: Some(name.to_string()),
            points: self.points.iter().map(|p| (p.0, p.1)).collect(),
            band: self.points.iter().map(|p| (p.1 - p.2, p.1 + p.2)).collect(),
            color,
            width: 2.0,
            stroke: Stroke::Solid,
        }
    }

    /// The mean over the last tenth of the episodes.
    pub fn end(&self) -> Option<f64> {
        let last = self.points.last()?.0;
        let late: Vec<f64> = self.points.iter().filter(|p| p.0 >= 0.9 * last).map(|p| p.1).collect();
        Some(mean_stderr(&late).0)
    }

    /// Episodes until the mean return first reaches a value.
    pub fn reaches(&self, value: f64) -> Option<f64> {
        self.points.iter().find(|p| p.1 >= value).map(|p| p.0)
    }

    /// For `results.json`.
    pub fn json(&self) -> Value {
        let column = |f: fn(&(f64, f64, f64)) -> f64| self.points.iter().map(f).collect::<Vec<_>>();
        json!({"episodes": column(|p| p.0), "mean_return": column(|p| p.1), "standard_deviation": column(|p| p.2)})
    }
}

/// What a run earned on average after `from` episodes and up to `to`; the run has a curve.
fn between(run: &TrainingResult, from: f64, to: f64) -> f64 {
    let inside: Vec<f64> = run
        .curve
        .iter()
        .filter(|p| p.episodes as f64 > from && p.episodes as f64 <= to)
        .map(|p| p.mean_return)
        .collect();
    if !inside.is_empty() {
        return mean_stderr(&inside).0;
    }
    // On the line between the points around it.
    let after =
        run.curve.iter().position(|p| p.episodes as f64 >= to).unwrap_or(run.curve.len().saturating_sub(1));
    let (a, b) = (run.curve[after.saturating_sub(1)], run.curve[after]);
    let (x, y) = (a.episodes as f64, b.episodes as f64);
    let share = if y > x { ((to - x) / (y - x)).clamp(0.0, 1.0) } else { 1.0 };
    a.mean_return + share * (b.mean_return - a.mean_return)
}

/// When runs first reached a return.
pub struct Reached {
    /// How many did.
    pub runs: usize,
    /// Of how many.
    all: usize,
    /// The logarithm of the episodes until then; all its episodes for a run that never did.
    pub log_episodes: Sample,
}

impl Reached {
    /// When these runs first reached the goal.
    pub fn new(curves: &[Curve], goal: f64) -> Reached {
        let episodes = curves.iter().filter_map(|c| c.reaches(goal).or(c.points.last().map(|p| p.0)));
        Reached {
            runs: curves.iter().filter(|c| c.reaches(goal).is_some()).count(),
            all: curves.len(),
            log_episodes: Sample::new(episodes.map(f64::ln).collect()),
        }
    }

    /// In words.
    pub fn shown(&self) -> String {
        let Reached { runs, all, log_episodes } = self;
        if *runs == 0 {
            return "never".to_string();
        }
        let some = if runs < all { format!(" ({runs} of {all} runs)") } else { String::new() };
        format!("after {} episodes{some}", thousands(log_episodes.mean().exp() as u64))
    }
}

#[cfg(test)]
mod tests {
    use derrl_learn::Point;

    use super::*;

    #[test]
    fn runs_are_averaged_as_far_as_all_go() {
        let run = |returns: &[f64]| TrainingResult {
            curve: (1..)
                .zip(returns)
                .map(|(i, &mean_return)| Point { episodes: 10 * i, decisions: 0, mean_return })
                .collect(),
            ..TrainingResult::default()
        };
        let (a, b) = (run(&[0.0, 1.0, 1.0]), run(&[0.0, 0.0, 0.0, 9.0]));
        let curve = Curve::new(&[&a, &b]);
        assert_eq!(curve.points[0], (10.0, 0.0, 0.0));
        let last = curve.points.last().unwrap();
        assert!(
            (last.0 - 30.0).abs() < 1e-9
                && (last.1 - 0.5).abs() < 1e-9
                && (last.2 - 0.5f64.sqrt()).abs() < 1e-9
        );
        assert_eq!(curve.reaches(0.4).map(f64::floor), Some(18.0));
        assert!(Curve::new(&[]).points.is_empty() && Curve::new(&[]).end().is_none());
    }
}
