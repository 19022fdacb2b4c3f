//! Pictures with words: a step of an episode with its caption, and a run as states side by side.

use derrl_learn::{Counterexample, ExplainedStep, Kind, Trace};

use crate::node::{Document, Node};
use crate::picture::{Marks, Picture, minus};

/// Pixels around everything.
const MARGIN: f64 = 20.0;
const LINE: f64 = 21.0;
/// Pixels per letter of 14 pixels, on the safe side of the widest common fonts.
const LETTER: f64 = 8.6;

/// What stands under the picture of a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Caption {
    /// Which step, and the return so far.
    pub title: String,
    /// What is done.
    pub action: String,
    /// Why, in lines.
    pub because: Vec<String>,
}

/// A picture and its caption.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// The state.
    pub picture: Picture,
    /// What is said about it.
    pub caption: Caption,
}

/// A step as a drawing of this width at the least, its picture above its caption.
fn frame(frame: &Frame, least_width: f64, lines: usize) -> Document {
    let Frame { picture, caption } = frame;
    let width = least_width.max(picture.width + 2.0 * MARGIN);
    let letters = ((width - 2.0 * MARGIN) / LETTER) as usize;
    let mut nodes = vec![
        Node::rect(MARGIN / 2.0, MARGIN / 2.0, width - MARGIN, picture.height + MARGIN)
            .at("rx", 10.0)
            .fill("var(--sunk)"),
        window(picture, ((width - picture.width) / 2.0, MARGIN), 1.0),
    ];
    let top = picture.height + MARGIN + MARGIN / 2.0;
    let text = |y: f64, size: f64, text: &str| Node::text(MARGIN, top + y, size, text);
    nodes.push(text(24.0, 14.0, &caption.title).fill("var(--soft)"));
    nodes.push(text(48.0, 19.0, &cut(&caption.action, letters * 3 / 4)).bold());
    let because: Vec<String> = caption.because.iter().flat_map(|line| wrapped(line, letters)).collect();
    for (i, line) in because.iter().take(lines).enumerate() {
        nodes.push(text(72.0 + i as f64 * LINE, 14.0, line).fill("var(--soft)"));
    }
    let label = format!("{}: {}. {}", caption.title, caption.action, picture.label);
    Document { width, height: top + 64.0 + lines as f64 * LINE, label, nodes }
}

impl Frame {
    /// How many lines of reasons it has at a width.
    fn lines(&self, least_width: f64) -> usize {
        let width = least_width.max(self.picture.width + 2.0 * MARGIN);
        let letters = ((width - 2.0 * MARGIN) / LETTER) as usize;
        self.caption.because.iter().map(|line| wrapped(line, letters).len()).sum()
    }
}

/// The steps of an explained episode, and its end.
pub fn frames(trace: &Trace) -> Vec<Frame> {
    let count = trace.steps.len();
    let mut total = 0.0;
    let mut frames: Vec<Frame> = Vec::with_capacity(count + 1);
    for step in &trace.steps {
        frames.push(of_step(step, count, total));
        total += step.reward;
    }
    let end = &trace.end;
    let action = match (end.status, end.success) {
        ("terminated", Some(true)) => "The goal is reached",
        ("terminated", _) => "The episode is over",
        ("truncated", _) => "The time is up",
        _ => "The episode goes on",
    };
    frames.push(Frame {
        picture: Picture::new(&end.scene, &end.facts, &Marks::default()),
        caption: Caption {
            title: format!("End after {count} steps · return {}", shown(end.total)),
            action: action.to_string(),
            because: Vec::new(),
        },
    });
    frames
}

fn of_step(step: &ExplainedStep, count: usize, total: f64) -> Frame {
    let e = &step.explanation;
    let because = match &e.fired {
        None => vec!["no rule fires: any action may be chosen".to_string()],
        Some(m) => {
            let pairs: Vec<String> = m.substitution.iter().map(|(v, o)| format!("{v} = {o}")).collect();
            let with = if pairs.is_empty() { String::new() } else { format!("with {}", pairs.join(", ")) };
            vec![format!("because {}", m.text), with]
        }
    };
    let agent = step.agent.map(|a| format!(" · agent {a}")).unwrap_or_default();
    let total = shown(total);
    Frame {
        picture: Picture::new(&step.scene, &e.facts, &Marks::of(e.fired.as_ref())),
        caption: Caption {
            title: format!("Step {} of {count}{agent} · return so far {total}", step.step),
            action: e.action.clone(),
            because: because.into_iter().filter(|line| !line.is_empty()).collect(),
        },
    }
}

/// The steps of an episode as drawings of one size.
pub fn stills(frames: &[Frame]) -> Vec<Document> {
    let widest = frames.iter().map(|f| f.picture.width + 2.0 * MARGIN).fold(LEAST_WIDTH, f64::max);
    let highest = frames.iter().map(|f| f.picture.height).fold(0.0, f64::max);
    let lines = frames.iter().map(|f| f.lines(widest)).max().unwrap_or(0);
    let of = |f: &Frame| {
        let picture = Picture { height: highest, ..f.picture.clone() };
        frame(&Frame { picture, caption: f.caption.clone() }, widest, lines)
    };
    frames.iter().map(of).collect()
}

/// Pixels of a still, across, at the least: room for a rule.
const LEAST_WIDTH: f64 = 520.0;

/// A picture at a place, cut off at its edges: roads lead out of it.
fn window(picture: &Picture, (x, y): (f64, f64), scale: f64) -> Node {
    Node::new("svg")
        .at("x", x)
        .at("y", y)
        .at("width", picture.width * scale)
        .at("height", picture.height * scale)
        .set("viewBox", format!("0 0 {} {}", picture.width, picture.height))
        .all(picture.nodes())
}

/// A return in two decimals, without the sign of a zero.
fn shown(value: f64) -> String {
    let text = format!("{value:.2}");
    minus(if text == "-0.00" { "0.00" } else { &text })
}

/// Pixels between states, for the arrow.
const GAP: f64 = 60.0;
/// Pixels per state, across, at the most: larger pictures are drawn smaller.
const WIDEST: f64 = 300.0;
/// States in a row.
const ROW: usize = 3;

/// A run that fails, its states side by side.
pub fn strip(found: &Counterexample) -> Document {
    let facts = |i: usize| found.steps.get(i).map_or(&[][..], |step| step.facts.as_slice());
    let marks = |i: usize| Marks::of(found.why.as_ref().filter(|_| i + 1 == found.wrong_step));
    let pictures: Vec<Picture> =
        found.scenes.iter().enumerate().map(|(i, scene)| Picture::new(scene, facts(i), &marks(i))).collect();
    let widest = pictures.iter().map(|p| p.width).fold(1.0, f64::max);
    let highest = pictures.iter().map(|p| p.height).fold(1.0, f64::max);
    let scale = (WIDEST / widest).min(1.0);
    let (cell, high) = (widest * scale, highest * scale);
    let columns = pictures.len().clamp(1, ROW);
    let width = 2.0 * MARGIN + columns as f64 * cell + (columns - 1) as f64 * GAP + 30.0;
    let letters = ((width - 2.0 * MARGIN) / LETTER) as usize;
    let title = title(found);
    let notes: Vec<String> = notes(found).iter().flat_map(|line| wrapped(line, letters)).collect();
    let heading = wrapped(&title, letters);
    let first = MARGIN + heading.len() as f64 * LINE;
    let row_height = high + 2.8 * LINE;
    let mut nodes = Vec::new();
    for (i, line) in heading.iter().enumerate() {
        nodes.push(Node::text(MARGIN, MARGIN + 12.0 + i as f64 * LINE, 15.0, line.as_str()).bold());
    }
    for (i, picture) in pictures.iter().enumerate() {
        let x = MARGIN + (i % ROW) as f64 * (cell + GAP);
        let y = first + (i / ROW) as f64 * row_height + 6.0;
        let wrong = i + 1 == found.wrong_step;
        let ground = Node::rect(x, y, cell, high).at("rx", 10.0).fill("var(--sunk)");
        nodes.push(if wrong { ground.stroke("var(--bad)", 2.5) } else { ground });
        let corner = (x + (cell - picture.width * scale) / 2.0, y + high - picture.height * scale);
        nodes.push(window(picture, corner, scale));
        let Some(step) = found.steps.get(i) else {
            nodes.push(
                Node::text(x + 4.0, y + high + LINE, 14.0, format!("{}. no way out", i + 1))
                    .fill("var(--bad)"),
            );
            continue;
        };
        let text = format!("{}. {}", i + 1, step.action);
        let action = Node::text(x + 4.0, y + high + LINE, 14.0, cut(&text, (cell / LETTER) as usize)).bold();
        nodes.push(if wrong { action.fill("var(--bad)") } else { action });
        let back = found.back_to.filter(|_| i + 1 == found.steps.len());
        let below = match back {
            Some(back) => Some(format!("back to {back}")),
            None if step.ties > 1 => Some(format!("one of {} that tie", step.ties)),
            None => None,
        };
        nodes.extend(
            below.map(|text| Node::text(x + 4.0, y + high + 1.9 * LINE, 13.0, text).fill("var(--soft)")),
        );
        if i + 1 < pictures.len() && (i + 1) % ROW != 0 {
            let (from, to, mid) = (x + cell + 10.0, x + cell + GAP - 10.0, y + high / 2.0);
            let line = format!("M{from:.1} {mid:.1} H{to:.1} m-8 -5 l8 5 l-8 5");
            nodes.push(Node::path(line).fill("none").stroke("var(--soft)", 2.0));
        }
    }
    let rows = pictures.len().div_ceil(ROW).max(1);
    let foot = first + rows as f64 * row_height + 10.0;
    for (i, line) in notes.iter().enumerate() {
        nodes.push(
            Node::text(MARGIN, foot + (i as f64 + 0.6) * LINE, 14.0, line.as_str()).fill("var(--soft)"),
        );
    }
    Document { width, height: foot + notes.len() as f64 * LINE + MARGIN, label: title, nodes }
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
        None => format!("Step {} goes wrong: no rule fires, so any action may be chosen", found.wrong_step),
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

fn cut(text: &str, letters: usize) -> String {
    if text.chars().count() <= letters {
        return text.to_string();
    }
    let kept: String = text.chars().take(letters.saturating_sub(1)).collect();
    format!("{kept}…")
}

/// Text in lines of at most this many letters, broken at spaces.
fn wrapped(text: &str, letters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < letters => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}
