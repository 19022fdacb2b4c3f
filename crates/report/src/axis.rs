//! The axes of a chart: what they cover, and where their ticks are.

use crate::picture::minus;

/// How an axis is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    #[default]
    Linear,
    /// By logarithm; values that are not above 0 are left out.
    Log,
}

/// An axis: what it covers, and its ticks.
pub(crate) struct Axis {
    scale: Scale,
    range: (f64, f64),
    /// The values with a tick.
    pub ticks: Vec<f64>,
}

/// An axis goes this share of its length beyond the values at either end.
const MARGIN: f64 = 0.03;

impl Axis {
    pub(crate) fn new(scale: Scale, values: &[f64]) -> Axis {
        let seen = values.iter().copied().filter(|v| v.is_finite() && (scale == Scale::Linear || *v > 0.0));
        let (low, high) = seen.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        match scale {
            Scale::Linear => {
                let (low, high) = match (low, high) {
                    (l, h) if l > h => (0.0, 1.0),
                    (l, h) if h - l < 1e-9 => (l - 1.0, h + 1.0),
                    range => range,
                };
                let margin = MARGIN * (high - low);
                let whole = values.iter().all(|v| v.fract() == 0.0);
                // What is never negative begins at 0, not below.
                let start = if low >= 0.0 && low <= 0.1 * high { 0.0 } else { low - margin };
                let range = (start, high + margin);
                Axis { scale, range, ticks: ticks(range, if whole { 1.0 } else { 0.0 }) }
            }
            Scale::Log => {
                let (low, high) = if low > high { (1.0, 10.0) } else { (low, high) };
                // At least two powers of ten, so that it can be read as a log scale.
                let (mut first, mut last) = (low.log10(), high.log10());
                if (last + 1e-9).floor() - (first - 1e-9).ceil() < 1.0 {
                    (first, last) =
                        ((first + 1e-9).floor(), (last - 1e-9).ceil().max((first + 1e-9).floor() + 1.0));
                }
                let margin = MARGIN * (last - first);
                let powers = ((first - 1e-9).ceil() as i32)..=((last + 1e-9).floor() as i32);
                Axis {
                    scale,
                    range: (10f64.powf(first - margin), 10f64.powf(last + margin)),
                    ticks: powers.map(|e| 10f64.powi(e)).collect(),
                }
            }
        }
    }

    pub(crate) fn shows(&self, value: f64) -> bool {
        value.is_finite() && (self.scale == Scale::Linear || value > 0.0)
    }

    /// Where a value lies, from 0 at the start of the axis to 1 at its end.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let (low, high) = self.range;
        match self.scale {
            Scale::Linear => (value - low) / (high - low),
            Scale::Log => (value / low).ln() / (high / low).ln(),
        }
    }

    /// The labels of all ticks, in one style.
    pub(crate) fn labels(&self) -> Vec<String> {
        match self.scale {
            Scale::Linear => linear(&self.ticks),
            Scale::Log => powers(&self.ticks),
        }
    }
}

/// Round numbers inside a range: 3 to 9 of them, evenly spaced by no less than `least`.
fn ticks((low, high): (f64, f64), least: f64) -> Vec<f64> {
    let rough = ((high - low) / 6.0).max(least);
    let power = 10f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power);
    let step = steps.into_iter().find(|s| *s >= rough * 0.999).unwrap_or(rough);
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    (first..=last).map(|i| i as f64 * step).collect()
}

/// Powers of ten, all in one style: in full where all of them are short, else all as `10⁵`.
fn powers(ticks: &[f64]) -> Vec<String> {
    let exponents: Vec<i32> = ticks.iter().map(|t| t.log10().round() as i32).collect();
    if exponents.iter().all(|e| (-3..=4).contains(e)) {
        return ticks.iter().zip(&exponents).map(|(t, e)| format!("{t:.0$}", (-e).max(0) as usize)).collect();
    }
    exponents.iter().map(|e| format!("10{}", superscript(*e))).collect()
}

/// A number as an exponent: `⁻¹²`.
pub fn superscript(exponent: i32) -> String {
    let digit = |c: char| match c {
        '-' => '⁻',
        c => c.to_digit(10).and_then(|d| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(d as usize)).unwrap_or(c),
    };
    exponent.to_string().chars().map(digit).collect()
}

/// Numbers with as many decimals as tell neighbours apart; thousands as `20k` where all are such.
fn linear(ticks: &[f64]) -> Vec<String> {
    let step = if ticks.len() > 1 { ticks[1] - ticks[0] } else { 1.0 };
    let (unit, suffix) = match step {
        s if s >= 1e6 => (1e6, "M"),
        s if s >= 1e3 => (1e3, "k"),
        _ => (1.0, ""),
    };
    let decimals = (-(step / unit).log10().floor()).max(0.0) as usize;
    let label = |tick: &f64| {
        let text = format!("{:.decimals$}", tick / unit);
        if text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.') {
            // Neither less than nothing nor thousands of it.
            text.trim_start_matches('-').to_string()
        } else {
            minus(&format!("{text}{suffix}"))
        }
    };
    ticks.iter().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_cover_their_values_and_have_round_ticks() {
        for (low, high) in [(0.0, 1.0), (-0.29, 1.03), (3.0, 3.0), (0.0, 76_800.0), (1e-6, 2e-6)] {
            let axis = Axis::new(Scale::Linear, &[low, high]);
            assert!(axis.at(low) >= 0.0 && axis.at(high) <= 1.0);
            assert!((2..=9).contains(&axis.ticks.len()), "{:?}", axis.ticks);
        }
        assert_eq!(Axis::new(Scale::Linear, &[3.0, 4.0, 5.0]).ticks, [3.0, 4.0, 5.0], "no half a block");
        assert_eq!(Axis::new(Scale::Log, &[0.002, 0.5, -1.0]).ticks, [0.01, 0.1]);
        assert_eq!(Axis::new(Scale::Log, &[20.0, 30.0]).ticks, [10.0, 100.0]);
    }

    #[test]
    fn the_labels_of_an_axis_are_in_one_style() {
        let labels = |scale, values: &[f64]| Axis::new(scale, values).labels();
        assert_eq!(labels(Scale::Log, &[100.0, 100_000.0]), ["10²", "10³", "10⁴", "10⁵"]);
        assert_eq!(labels(Scale::Log, &[0.01, 1.0]), ["0.01", "0.1", "1"]);
        assert_eq!(labels(Scale::Linear, &[-0.5, 0.5]), ["−0.4", "−0.2", "0.0", "0.2", "0.4"]);
        assert_eq!(labels(Scale::Linear, &[0.0, 60_000.0]), ["0", "20k", "40k", "60k"]);
        assert_eq!(labels(Scale::Linear, &[0.0, 3000.0]), ["0", "1k", "2k", "3k"]);
    }
}
