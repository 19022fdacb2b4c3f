//! What several runs say together: a mean with its noise, and whether two of them differ by more than that.

use derrl_learn::mean_stderr;

/// One value per run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// The values.
    pub runs: Vec<f64>,
    /// The standard error of the value within a run, where it is a mean itself: all that is known of the noise of a single
    /// run.
    within: f64,
}

/// How two samples compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Higher by more than the noise.
    Higher,
    /// Not told apart.
    Level,
    /// Lower by more than the noise.
    Lower,
}

/// A difference of fewer standard errors than this is noise.
const BEYOND: f64 = 2.0;

impl Sample {
    /// A sample of values that are exact in each run.
    pub fn new(runs: Vec<f64>) -> Sample {
        Sample { runs, within: 0.0 }
    }

    /// A sample of means over episodes, each with its standard error.
    pub fn of_means(means: impl Iterator<Item = (f64, f64)>) -> Sample {
        let (runs, errors): (Vec<f64>, Vec<f64>) = means.unzip();
        let squares = errors.iter().map(|e| e * e).sum::<f64>() / errors.len().max(1) as f64;
        Sample { runs, within: squares.sqrt() }
    }

    /// The mean; NaN without runs.
    pub fn mean(&self) -> f64 {
        if self.runs.is_empty() { f64::NAN } else { mean_stderr(&self.runs).0 }
    }

    /// The standard error of the mean over runs; `None` for fewer than two.
    pub fn stderr(&self) -> Option<f64> {
        (self.runs.len() > 1).then(|| mean_stderr(&self.runs).1)
    }

    /// The noise of the mean: over runs, and within them where there are too few to tell.
    fn noise(&self) -> f64 {
        let between = self.stderr().unwrap_or(0.0);
        between.max(self.within / (self.runs.len().max(1) as f64).sqrt())
    }

    /// How this sample compares with another. A difference counts only beyond both `tolerance` and twice its standard error.
    pub fn compare(&self, other: &Sample, tolerance: f64) -> Comparison {
        let noise = self.noise().hypot(other.noise());
        Comparison::of(self.mean() - other.mean(), tolerance.max(BEYOND * noise))
    }

    /// How this sample compares with a fixed value.
    pub fn compare_with(&self, value: f64, tolerance: f64) -> Comparison {
        Comparison::of(self.mean() - value, tolerance.max(BEYOND * self.noise()))
    }
}

impl Comparison {
    fn of(difference: f64, least: f64) -> Comparison {
        if difference > least {
            Comparison::Higher
        } else if difference < -least {
            Comparison::Lower
        } else {
            Comparison::Level
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_within_the_noise_is_level() {
        let wide = Sample::new(vec![0.5, 1.0, 1.5]);
        assert_eq!(wide.compare(&Sample::new(vec![0.6, 1.1, 1.6]), 0.0), Comparison::Level);
        assert_eq!(wide.compare(&Sample::new(vec![3.5, 4.0, 4.5]), 0.0), Comparison::Lower);
        assert_eq!(wide.compare(&wide, 0.0), Comparison::Level);
        // Exact values differ as soon as they differ by more than the tolerance.
        let (one, two) = (Sample::new(vec![1.0; 3]), Sample::new(vec![1.01; 3]));
        assert_eq!(two.compare(&one, 0.0), Comparison::Higher);
        assert_eq!(two.compare(&one, 0.02), Comparison::Level);
    }

    #[test]
    fn a_single_run_has_no_error_over_runs_but_the_noise_within_it() {
        let single = Sample::of_means([(0.9, 0.1)].into_iter());
        assert_eq!(single.stderr(), None);
        assert_eq!(single.compare_with(1.05, 0.0), Comparison::Level);
        assert_eq!(single.compare_with(1.15, 0.0), Comparison::Lower);
    }
}
