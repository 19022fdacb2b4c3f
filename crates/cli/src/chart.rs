//! Line charts as SVG: what a training curve or a figure of the paper needs, and no more.
//!
//! Colours are attributes, so that a chart stands alone; the parts that depend on light or dark have classes (`bg`, `grid`,
//! and all `text`), so that a page can restyle them.

use std::fmt::Write;

/// A line chart.
#[derive(Clone, Debug, Default)]
pub struct Chart {
    /// Above the plot.
    pub title: String,
    /// Under the x axis, with the unit.
    pub x_label: String,
    /// Beside the y axis, with the unit.
    pub y_label: String,
    /// How x is laid out.
    pub x_scale: Scale,
    /// How y is laid out.
    pub y_scale: Scale,
    /// What is drawn, in order: later lines lie on top, and come first in the legend.
    pub series: Vec<Series>,
}

/// How an axis is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    #[default]
    Linear,
    /// By logarithm; values that are not above 0 are left out.
    Log,
}

/// A line of a chart.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Its name in the legend; lines without a name are not listed.
    pub name: Option<String>,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
    /// The lower and upper end of a band around it, at the same x as the points; empty for none.
    pub band: Vec<(f64, f64)>,
    /// Its colour, as CSS has it.
    pub color: &'static str,
    /// Its width in pixels.
    pub width: f64,
    /// How it is drawn.
    pub stroke: Stroke,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stroke {
    /// In one go.
    #[default]
    Solid,
    /// In dashes: a reference rather than a measurement.
    Dashed,
    /// With a marker at each point: few points, each measured.
    Marked,
}

/// Narrow, so that text is still large enough where a phone shrinks it.
const WIDTH: f64 = 520.0;
const PLOT_HEIGHT: f64 = 280.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 20.0;
const BOTTOM: f64 = 56.0;
/// The baseline of the first row of the legend, and the distance of rows.
const LEGEND: f64 = 46.0;
const LEGEND_ROW: f64 = 20.0;

/// An axis: what it covers, and its ticks.
struct Axis {
    scale: Scale,
    range: (f64, f64),
    ticks: Vec<f64>,
}

/// An axis goes this share of its length beyond the values at either end.
const MARGIN: f64 = 0.03;

impl Axis {
    fn new(scale: Scale, values: &[f64]) -> Axis {
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
                let range = (low - margin, high + margin);
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

    fn shows(&self, value: f64) -> bool {
        value.is_finite() && (self.scale == Scale::Linear || value > 0.0)
    }

    /// Where a value lies, from 0 at the start of the axis to 1 at its end.
    fn at(&self, value: f64) -> f64 {
        let (low, high) = self.range;
        match self.scale {
            Scale::Linear => (value - low) / (high - low),
            Scale::Log => (value / low).ln() / (high / low).ln(),
        }
    }

    fn label(&self, tick: f64) -> String {
        match self.scale {
            Scale::Linear => number(tick, &self.ticks),
            Scale::Log => power(tick),
        }
    }
}

impl Chart {
    /// The chart as a complete SVG document.
    pub fn to_svg(&self) -> String {
        let (legend, rows) = self.legend();
        let top = LEGEND + rows as f64 * LEGEND_ROW;
        let height = top + PLOT_HEIGHT + BOTTOM;
        let bottom = height - BOTTOM;
        let right = WIDTH - RIGHT;
        let x_values: Vec<f64> = self.series.iter().flat_map(|s| &s.points).map(|p| p.0).collect();
        let x_axis = Axis::new(self.x_scale, &x_values);
        let ends = |s: &Series| s.band.iter().flat_map(|b| [b.0, b.1]).collect::<Vec<_>>();
        let y_values = self.series.iter().flat_map(|s| s.points.iter().map(|p| p.1).chain(ends(s)));
        let y_axis = Axis::new(self.y_scale, &y_values.collect::<Vec<_>>());
        let px = |x: f64| LEFT + x_axis.at(x) * (right - LEFT);
        let py = |y: f64| bottom - y_axis.at(y) * PLOT_HEIGHT;
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" \
             role=\"img\" aria-label=\"{title}\" font-family=\"system-ui, sans-serif\" font-size=\"15\" fill=\"#222\">\n\
             <rect class=\"bg\" width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>\n\
             <text x=\"{LEFT}\" y=\"22\" font-size=\"17\" font-weight=\"600\">{title}</text>\n",
            title = escape(&self.title)
        );
        for &x in &x_axis.ticks {
            let at = px(x);
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{at:.1}\" y1=\"{top}\" x2=\"{at:.1}\" y2=\"{bottom}\" stroke=\"#e2e2e2\"/>\
                 <text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                bottom + 20.0,
                x_axis.label(x)
            );
        }
        for &y in &y_axis.ticks {
            let at = py(y);
            let _ = writeln!(
                svg,
                "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\" stroke=\"#e2e2e2\"/>\
                 <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                LEFT - 8.0,
                at + 4.5,
                y_axis.label(y)
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n\
             <text transform=\"translate(18 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            f64::midpoint(LEFT, right),
            height - 12.0,
            escape(&self.x_label),
            f64::midpoint(top, bottom),
            escape(&self.y_label)
        );
        // Bands first: no band hides a line.
        for series in &self.series {
            let seen: Vec<(f64, (f64, f64))> = series
                .points
                .iter()
                .map(|p| p.0)
                .zip(series.band.iter().copied())
                .filter(|(x, (low, high))| x_axis.shows(*x) && y_axis.shows(*low) && y_axis.shows(*high))
                .collect();
            if seen.is_empty() {
                continue;
            }
            let there = seen.iter().map(|&(x, (_, high))| format!("{:.1},{:.1}", px(x), py(high)));
            let back = seen.iter().rev().map(|&(x, (low, _))| format!("{:.1},{:.1}", px(x), py(low)));
            let _ = writeln!(
                svg,
                "<polygon points=\"{}\" fill=\"{}\" fill-opacity=\"0.18\"/>",
                there.chain(back).collect::<Vec<_>>().join(" "),
                series.color
            );
        }
        for series in &self.series {
            let seen: Vec<(f64, f64)> = series
                .points
                .iter()
                .copied()
                .filter(|p| x_axis.shows(p.0) && y_axis.shows(p.1))
                .map(|(x, y)| (px(x), py(y)))
                .collect();
            let path: Vec<String> = seen.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let dashes = if series.stroke == Stroke::Dashed { " stroke-dasharray=\"6 5\"" } else { "" };
            let _ = writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"{dashes}/>",
                path.join(" "),
                series.color,
                series.width
            );
            if series.stroke == Stroke::Marked {
                for (x, y) in seen {
                    let _ = writeln!(
                        svg,
                        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"{}\"/>",
                        series.color
                    );
                }
            }
        }
        svg.push_str(&legend);
        svg.push_str("</svg>\n");
        svg
    }

    /// The legend between title and plot, with the number of its rows.
    fn legend(&self) -> (String, usize) {
        let (mut svg, mut x, mut row) = (String::new(), LEFT, 0);
        for series in self.series.iter().rev() {
            let Some(name) = &series.name else { continue };
            let width = 28.0 + 8.4 * name.chars().count() as f64;
            if x + width > WIDTH - RIGHT && x > LEFT {
                (x, row) = (LEFT, row + 1);
            }
            let y = LEGEND + f64::from(row) * LEGEND_ROW;
            let dashes = if series.stroke == Stroke::Dashed { " stroke-dasharray=\"6 4\"" } else { "" };
            let _ = writeln!(
                svg,
                "<line x1=\"{x:.1}\" y1=\"{}\" x2=\"{:.1}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"3\"{dashes}/>\
                 <text x=\"{:.1}\" y=\"{y}\">{}</text>",
                y - 4.5,
                x + 22.0,
                y - 4.5,
                series.color,
                x + 28.0,
                escape(name)
            );
            x += width + 14.0;
        }
        let rows = if svg.is_empty() { 0 } else { row as usize + 1 };
        (svg, rows)
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

/// A power of ten, as people write it: `0.001`, `1000`, beyond that `10⁵`.
fn power(value: f64) -> String {
    let exponent = value.log10().round() as i32;
    if (-3..=4).contains(&exponent) {
        return format!("{value:.0$}", (-exponent).max(0) as usize);
    }
    let digit = |c: char| match c {
        '-' => '⁻',
        c => c.to_digit(10).and_then(|d| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(d as usize)).unwrap_or(c),
    };
    format!("10{}", exponent.to_string().chars().map(digit).collect::<String>())
}

/// A tick's label, with as many decimals as tell its neighbours apart.
fn number(value: f64, ticks: &[f64]) -> String {
    let step = if ticks.len() > 1 { ticks[1] - ticks[0] } else { 1.0 };
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let text = format!("{value:.decimals$}");
    if text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.') {
        text.replace('-', "")
    } else {
        text
    }
}

/// Text as HTML and SVG take it.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
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
        assert_eq!([1e-6, 0.001, 1.0, 1000.0, 1e5].map(power), ["10⁻⁶", "0.001", "1", "1000", "10⁵"]);
    }

    #[test]
    fn nothing_to_draw_is_still_a_chart() {
        for scale in [Scale::Linear, Scale::Log] {
            let svg = Chart { x_scale: scale, y_scale: scale, ..Chart::default() }.to_svg();
            assert!(svg.starts_with("<svg") && !svg.contains("NaN"), "{svg}");
        }
    }

    #[test]
    fn a_long_legend_takes_another_row_and_text_is_escaped() {
        let series = |name: &str| Series { name: Some(name.to_string()), ..Series::default() };
        let names = ["with constraints", "without constraints", "a < b & more"];
        let chart = Chart { series: names.map(series).to_vec(), ..Chart::default() };
        assert_eq!(chart.legend().1, 2);
        assert!(chart.to_svg().contains("a &lt; b &amp; more"));
    }
}
