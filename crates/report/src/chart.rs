//! Line charts: what a training curve or a figure of the paper needs, and no more.

use crate::axis::Axis;
pub use crate::axis::Scale;
use crate::node::{Document, Node};

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

/// A line of a chart.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Its name in the legend; lines without a name are not listed.
    pub name: Option<String>,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
    /// The lower and upper end of a band around it, at the same x as the points; empty for none.
    pub band: Vec<(f64, f64)>,
    /// Its colour, as CSS has it or `var(--name)` of the theme.
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
    /// Faintly: one of many that matter together.
    Faint,
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
/// Points of a line at the most: more cannot be seen.
const MOST_POINTS: usize = 600;

/// Where a chart has its plot, in pixels, so that a page can say which values the pointer is at.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Plot {
    /// The left and right end, and the upper and lower one.
    pub frame: [f64; 4],
    /// Of each named line, its name, its colour and its points: x and y in pixels, then both values.
    pub lines: Vec<(String, &'static str, Vec<[f64; 4]>)>,
}

impl Chart {
    /// The chart as a drawing.
    pub fn document(&self) -> Document {
        self.draw().0
    }

    /// The chart as a drawing, and where its lines are.
    pub fn draw(&self) -> (Document, Plot) {
        let (legend, rows) = self.legend();
        let top = LEGEND + rows as f64 * LEGEND_ROW - if self.title.is_empty() { 24.0 } else { 0.0 };
        let height = top + PLOT_HEIGHT + BOTTOM;
        let (bottom, right) = (height - BOTTOM, WIDTH - RIGHT);
        let x_values: Vec<f64> = self.series.iter().flat_map(|s| &s.points).map(|p| p.0).collect();
        let x_axis = Axis::new(self.x_scale, &x_values);
        let ends = |s: &Series| s.band.iter().flat_map(|b| [b.0, b.1]).collect::<Vec<_>>();
        let y_values = self.series.iter().flat_map(|s| s.points.iter().map(|p| p.1).chain(ends(s)));
        let y_axis = Axis::new(self.y_scale, &y_values.collect::<Vec<_>>());
        let px = |x: f64| LEFT + x_axis.at(x) * (right - LEFT);
        let py = |y: f64| bottom - y_axis.at(y) * PLOT_HEIGHT;
        let mut nodes = vec![Node::text(LEFT, 22.0, 17.0, self.title.as_str()).bold()];
        let faint = |node: Node| node.fill("var(--soft)");
        for (&x, label) in x_axis.ticks.iter().zip(x_axis.labels()) {
            nodes.push(Node::line(px(x), top, px(x), bottom).stroke("var(--line)", 1.0));
            nodes.push(faint(Node::text(px(x), bottom + 20.0, 14.0, label).middle()));
        }
        for (&y, label) in y_axis.ticks.iter().zip(y_axis.labels()) {
            nodes.push(Node::line(LEFT, py(y), right, py(y)).stroke("var(--line)", 1.0));
            nodes.push(faint(Node::text(LEFT - 8.0, py(y) + 4.5, 14.0, label).set("text-anchor", "end")));
        }
        let (across, down) = (f64::midpoint(LEFT, right), f64::midpoint(top, bottom));
        nodes.push(faint(Node::text(across, height - 12.0, 14.0, self.x_label.as_str()).middle()));
        nodes.push(
            faint(Node::text(0.0, 0.0, 14.0, self.y_label.as_str()).middle())
                .set("transform", format!("translate(18 {down:.1}) rotate(-90)")),
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
            let there = seen.iter().map(|&(x, (_, high))| (px(x), py(high)));
            let back = seen.iter().rev().map(|&(x, (low, _))| (px(x), py(low)));
            let band = Node::new("polygon").set("points", points(there.chain(back)));
            nodes.push(band.fill(series.color).set("fill-opacity", "0.18"));
        }
        let mut lines = Vec::new();
        for series in &self.series {
            let shown = series.points.iter().filter(|p| x_axis.shows(p.0) && y_axis.shows(p.1));
            let seen: Vec<[f64; 4]> = thinned(shown.map(|&(x, y)| [px(x), py(y), x, y]).collect());
            let line = Node::new("polyline")
                .set("points", points(seen.iter().map(|p| (p[0], p[1]))))
                .fill("none")
                .stroke(series.color, series.width)
                .set("stroke-linejoin", "round");
            let single = seen.len() == 1;
            nodes.push(match series.stroke {
                Stroke::Dashed => line.set("stroke-dasharray", "6 5"),
                Stroke::Faint => line.set("opacity", "0.4"),
                Stroke::Solid | Stroke::Marked => line,
            });
            if series.stroke == Stroke::Marked || single {
                nodes.extend(seen.iter().map(|p| Node::circle(p[0], p[1], 4.0).fill(series.color)));
            }
            if let Some(name) = &series.name {
                let rounded = |p: &[f64; 4]| [tenth(p[0]), tenth(p[1]), p[2], (p[3] * 1e4).round() / 1e4];
                lines.push((name.clone(), series.color, seen.iter().map(rounded).collect()));
            }
        }
        nodes.extend(legend);
        let label = if self.title.is_empty() { self.y_label.clone() } else { self.title.clone() };
        (Document { width: WIDTH, height, label, nodes }, Plot { frame: [LEFT, right, top, bottom], lines })
    }

    /// The legend between title and plot, with the number of its rows.
    fn legend(&self) -> (Vec<Node>, usize) {
        let (mut nodes, mut x, mut row) = (Vec::new(), LEFT, 0);
        let first = LEGEND - if self.title.is_empty() { 24.0 } else { 0.0 };
        for series in self.series.iter().rev() {
            let Some(name) = &series.name else { continue };
            let width = 28.0 + 8.4 * name.chars().count() as f64;
            if x + width > WIDTH - RIGHT && x > LEFT {
                (x, row) = (LEFT, row + 1);
            }
            let y = first + f64::from(row) * LEGEND_ROW;
            let key = Node::line(x, y - 4.5, x + 22.0, y - 4.5).stroke(series.color, 3.0);
            nodes.push(match series.stroke {
                Stroke::Dashed => key.set("stroke-dasharray", "6 4"),
                Stroke::Faint => key.set("opacity", "0.4"),
                Stroke::Solid | Stroke::Marked => key,
            });
            nodes.push(Node::text(x + 28.0, y, 14.0, name.as_str()).fill("var(--ink)"));
            x += width + 14.0;
        }
        let rows = if nodes.is_empty() { 0 } else { row as usize + 1 };
        (nodes, rows)
    }
}

fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn points(all: impl Iterator<Item = (f64, f64)>) -> String {
    all.map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ")
}

/// At most [`MOST_POINTS`] of them, evenly, the last one always.
fn thinned(mut all: Vec<[f64; 4]>) -> Vec<[f64; 4]> {
    let every = all.len().div_ceil(MOST_POINTS).max(1);
    let last = all.len().saturating_sub(1);
    let mut at = 0;
    all.retain(|_| {
        at += 1;
        (at - 1) % every == 0 || at - 1 == last
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::Theme;

    #[test]
    fn nothing_to_draw_is_still_a_chart() {
        for scale in [Scale::Linear, Scale::Log] {
            let chart = Chart { x_scale: scale, y_scale: scale, ..Chart::default() };
            let svg = chart.document().to_svg(Theme::Light);
            assert!(svg.starts_with("<svg") && !svg.contains("NaN"), "{svg}");
        }
    }

    #[test]
    fn a_long_legend_takes_another_row_and_text_is_escaped() {
        let series = |name: &str| Series { name: Some(name.to_string()), ..Series::default() };
        let names = ["with constraints", "without constraints", "a < b & more"];
        let chart = Chart { series: names.map(series).to_vec(), ..Chart::default() };
        assert_eq!(chart.legend().1, 2);
        assert!(chart.document().to_svg(Theme::Dark).contains("a &lt; b &amp; more"));
    }

    #[test]
    fn a_curve_keeps_enough_points_and_its_last_one() {
        let points: Vec<(f64, f64)> = (0..5_000).map(|i| (f64::from(i), f64::from(i % 7))).collect();
        let series = vec![Series { name: Some("x".into()), points, ..Series::default() }];
        let (_, plot) = Chart { series, ..Chart::default() }.draw();
        let line = &plot.lines[0].2;
        assert!((300..=601).contains(&line.len()) && line.last().is_some_and(|p| p[2] == 4_999.0));
    }
}
