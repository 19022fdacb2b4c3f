//! Line charts as SVG: what a training curve or a figure of the paper needs, and no more.

use std::fmt::Write;

/// A line chart.
pub struct Chart<'a> {
    /// Above the plot.
    pub title: &'a str,
    /// Under the x axis, with the unit.
    pub x_label: &'a str,
    /// Beside the y axis, with the unit.
    pub y_label: &'a str,
    /// What is drawn, in order: later lines lie on top.
    pub series: Vec<Series>,
}

/// A line of a chart.
pub struct Series {
    /// Its name in the legend; lines without a name are not listed.
    pub name: Option<String>,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
    /// Its colour, as CSS has it.
    pub color: &'static str,
    /// Its width in pixels.
    pub width: f64,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 64.0;
const BOTTOM: f64 = 56.0;

impl Chart<'_> {
    /// The chart as a complete SVG document.
    pub fn to_svg(&self) -> String {
        let points =
            || self.series.iter().flat_map(|s| &s.points).filter(|p| p.0.is_finite() && p.1.is_finite());
        let (x_ticks, y_ticks) = (ticks(points().map(|p| p.0)), ticks(points().map(|p| p.1)));
        let span = |t: &[f64]| (t[0], t[t.len() - 1]);
        let ((x0, x1), (y0, y1)) = (span(&x_ticks), span(&y_ticks));
        let px = |x: f64| LEFT + (x - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT);
        let py = |y: f64| HEIGHT - BOTTOM - (y - y0) / (y1 - y0) * (HEIGHT - TOP - BOTTOM);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             font-family=\"system-ui, sans-serif\" font-size=\"13\" fill=\"#222\">\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n\
             <text x=\"{LEFT}\" y=\"22\" font-size=\"16\" font-weight=\"600\">{}</text>\n",
            escape(self.title)
        );
        for &x in &x_ticks {
            let at = px(x);
            let (bottom, label) = (HEIGHT - BOTTOM, HEIGHT - BOTTOM + 20.0);
            let _ = writeln!(
                svg,
                "<line x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{bottom}\" stroke=\"#e6e6e6\"/>\
                 <text x=\"{at:.1}\" y=\"{label}\" text-anchor=\"middle\">{}</text>",
                number(x, &x_ticks)
            );
        }
        for &y in &y_ticks {
            let at = py(y);
            let (right, label) = (WIDTH - RIGHT, LEFT - 8.0);
            let _ = writeln!(
                svg,
                "<line x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{right}\" y2=\"{at:.1}\" stroke=\"#e6e6e6\"/>\
                 <text x=\"{label}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
                at + 4.0,
                number(y, &y_ticks)
            );
        }
        let (middle_x, middle_y) = (f64::midpoint(LEFT, WIDTH - RIGHT), f64::midpoint(TOP, HEIGHT - BOTTOM));
        let _ = writeln!(
            svg,
            "<text x=\"{middle_x}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n\
             <text transform=\"translate(18 {middle_y}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
            HEIGHT - 12.0,
            escape(self.x_label),
            escape(self.y_label)
        );
        let mut legend = LEFT;
        for series in &self.series {
            let path: Vec<String> = series
                .points
                .iter()
                .filter(|p| p.0.is_finite() && p.1.is_finite())
                .map(|&(x, y)| format!("{:.1},{:.1}", px(x), py(y)))
                .collect();
            let _ = writeln!(
                svg,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"/>",
                path.join(" "),
                series.color,
                series.width
            );
            if let Some(name) = &series.name {
                let _ = writeln!(
                    svg,
                    "<line x1=\"{legend}\" y1=\"42\" x2=\"{}\" y2=\"42\" stroke=\"{}\" stroke-width=\"3\"/>\
                     <text x=\"{}\" y=\"46\">{}</text>",
                    legend + 22.0,
                    series.color,
                    legend + 28.0,
                    escape(name)
                );
                legend += 28.0 + 7.2 * name.chars().count() as f64 + 22.0;
            }
        }
        svg.push_str("</svg>\n");
        svg
    }
}

/// Round numbers that cover the values: 4 to 9 of them, evenly spaced.
fn ticks(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let (low, high) = match (low, high) {
        (l, h) if l > h => (0.0, 1.0),
        (l, h) if h - l < 1e-9 => (l - 0.5, h + 0.5),
        range => range,
    };
    let rough = (high - low) / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= rough).unwrap_or(rough);
    let (first, last) = ((low / step).floor() as i64, (high / step).ceil() as i64);
    (first..=last).map(|i| i as f64 * step).collect()
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

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
