//! A counterexample as a picture: its states side by side, with the actions between them.

use std::fmt::Write as _;

use derrl_learn::{Counterexample, Kind};

/// Pixels a unit of a drawing, at the most.
const UNIT: f64 = 36.0;
/// Pixels a state, across, at the most.
const FRAME: f64 = 320.0;
/// Pixels between states, for the action.
const GAP: f64 = 120.0;
const LINE: f64 = 20.0;
/// Pixels a letter, about.
const LETTER: f64 = 8.0;
const MARGIN: f64 = 20.0;
/// States in a row.
const ROW: usize = 4;

const STYLE: &str = "
  text { font: 14px sans-serif; fill: #222 }
  .title { font-weight: bold }
  .wrong { fill: #c02020; font-weight: bold }
  .ground { fill: #e8e6e1; stroke: #cfccc4 }
  .wall { fill: #6b6862; stroke: #6b6862 }
  .thing { fill: #bcd0e8; stroke: #4a6a90 }
  .goal { fill: #f4cf7a; stroke: #a07818 }
  .agent { fill: #c0504d; stroke: #7a2a28 }
  .red { fill: #e07070 } .green { fill: #7fc27f } .blue { fill: #7f9fe0 }
  .purple { fill: #b58fd0 } .yellow { fill: #ead66a } .grey { fill: #aaaaaa }
  .arrow { stroke: #555; stroke-width: 2; fill: none; marker-end: url(#head) }
  .paper { fill: #ffffff }
";

/// The run as an SVG document.
pub fn film(found: &Counterexample) -> String {
    let widest = found.drawings.iter().map(|d| d.width).fold(1.0, f64::max);
    let highest = found.drawings.iter().map(|d| d.height).fold(1.0, f64::max);
    let unit = UNIT.min(FRAME / widest);
    let (frame, height) = (widest * unit, highest * unit);
    let columns = found.drawings.len().clamp(1, ROW);
    let rows = found.drawings.len().div_ceil(ROW).max(1);
    let row_height = height + 2.5 * LINE;
    let (title, notes) = (title(found), notes(found));
    let foot = (notes.len() as f64 + 0.5) * LINE;
    let longest = notes.iter().chain([&title]).map(|line| line.chars().count()).max().unwrap_or(0);
    let width = 2.0 * MARGIN + (columns as f64 * (frame + GAP)).max(longest as f64 * LETTER);
    let total = 2.0 * MARGIN + 2.0 * LINE + rows as f64 * row_height + foot;

    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {total:.0}\" width=\"{width:.0}\" \
         height=\"{total:.0}\" role=\"img\">\n<title>{0}</title>\n<style>{STYLE}</style>\n\
         <defs><marker id=\"head\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" markerHeight=\"7\" \
         orient=\"auto\"><path d=\"M0 0 L10 5 L0 10 z\" fill=\"#555\"/></marker></defs>\n\
         <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n\
         <text class=\"title\" x=\"{MARGIN}\" y=\"{1}\">{0}</text>\n",
        escape(&title),
        MARGIN + LINE / 2.0,
    );
    for (i, drawing) in found.drawings.iter().enumerate() {
        let x = MARGIN + (i % ROW) as f64 * (frame + GAP);
        let y = MARGIN + 2.0 * LINE + (i / ROW) as f64 * row_height;
        // Drawings stand on one line.
        let top = y + height - drawing.height * unit;
        let _ = write!(svg, "<g transform=\"translate({x:.1} {top:.1})\">\n{}</g>\n", drawing.svg(unit));
        let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{:.1}\">{}</text>", y + height + LINE, i + 1);
        if let Some(step) = found.steps.get(i) {
            let class = if i + 1 == found.wrong_step { " class=\"wrong\"" } else { "" };
            let (from, to, mid) = (x + frame + 10.0, x + frame + GAP - 10.0, y + height / 2.0);
            let _ = writeln!(svg, "<path class=\"arrow\" d=\"M{from:.1} {mid:.1} L{to:.1} {mid:.1}\"/>");
            let _ = writeln!(
                svg,
                "<text{class} x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                f64::midpoint(from, to),
                mid - 8.0,
                escape(&step.action)
            );
            if let Some(back) = found.back_to
                && i + 1 == found.steps.len()
            {
                let (x, y) = (f64::midpoint(from, to), mid + LINE);
                let _ = writeln!(
                    svg,
                    "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">back to {back}</text>"
                );
            }
        }
    }
    for (i, line) in notes.iter().enumerate() {
        let y = total - MARGIN - foot + (i as f64 + 1.0) * LINE;
        let _ = writeln!(svg, "<text x=\"{MARGIN}\" y=\"{y:.1}\">{}</text>", escape(line));
    }
    svg.push_str("</svg>\n");
    svg
}

fn title(found: &Counterexample) -> String {
    let what = match found.kind {
        Kind::Loop => "A loop",
        Kind::DeadEnd => "A dead end",
    };
    format!("{what} in {}", found.instance)
}

fn notes(found: &Counterexample) -> Vec<String> {
    let mut notes = vec![match &found.why {
        Some(m) => format!("Step {} goes wrong, by {}", found.wrong_step, m.text),
        None => format!("Step {} goes wrong: no rule fires there, so any action will do", found.wrong_step),
    }];
    if let Some(m) = found.why.as_ref().filter(|m| !m.substitution.is_empty()) {
        let pairs: Vec<String> = m.substitution.iter().map(|(v, o)| format!("{v} = {o}")).collect();
        notes.push(format!("with {}", pairs.join(", ")));
    }
    if let Some(instead) = &found.instead {
        notes.push(format!("{} would have come nearer", instead.action));
    }
    notes
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
