//! Pictures with words: a step of an episode with its caption, and a run as states side by side.

use derrl_env::Scene;
use derrl_learn::{Counterexample, ExplainedStep, Kind, Trace, Violating};

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
    let (large, letters) = letters(width);
    let mut nodes = vec![
        Node::rect(MARGIN / 2.0, MARGIN / 2.0, width - MARGIN, picture.height + MARGIN)
            .at("rx", 10.0)
            .fill("var(--sunk)"),
        window(picture, ((width - picture.width) / 2.0, MARGIN), 1.0),
    ];
    let top = picture.height + MARGIN + MARGIN / 2.0;
    let text = |y: f64, size: f64, text: &str| Node::text(MARGIN, top + large * y, large * size, text);
    nodes.push(text(24.0, 14.0, &caption.title).fill("var(--soft)"));
    nodes.push(text(48.0, 19.0, &cut(&caption.action, letters * 3 / 4)).bold());
    let because: Vec<String> = caption.because.iter().flat_map(|line| wrapped(line, letters)).collect();
    for (i, line) in because.iter().take(lines).enumerate() {
        nodes.push(text(72.0 + i as f64 * LINE, 14.0, line).fill("var(--soft)"));
    }
    let label = format!("{}: {}. {}", caption.title, caption.action, picture.label);
    Document { width, height: top + large * (64.0 + lines as f64 * LINE), label, nodes }
}

/// How much larger than usual letters are in a drawing of this width, and how many fit into a line.
fn letters(width: f64) -> (f64, usize) {
    let large = (width / WIDE).max(1.0);
    (large, ((width - 2.0 * MARGIN) / (LETTER * large)) as usize)
}

/// Drawings that are wider than this are looked at smaller than they are.
const WIDE: f64 = 1400.0;

impl Frame {
    /// How many lines of reasons it has at a width.
    fn lines(&self, least_width: f64) -> usize {
        let width = least_width.max(self.picture.width + 2.0 * MARGIN);
        let (_, letters) = letters(width);
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

/// A film of an episode: each step is shown for `hold` hundredths of a second, the last one for `last`, and between two steps things
/// move from their places to the next. Returns each drawing with its hundredths of a second.
pub fn film(frames: &[Frame], hold: u16, last: u16) -> Vec<(Document, u16)> {
    let mut between: Vec<Frame> = Vec::new();
    let mut times: Vec<u16> = Vec::new();
    let moves = if frames.len() <= MOST_MOVING { MOVES } else { 1 };
    for (i, now) in frames.iter().enumerate() {
        between.push(now.clone());
        let Some(next) = frames.get(i + 1) else {
            times.push(last);
            break;
        };
        times.push(hold);
        for k in 1..moves {
            let picture = moved(&now.picture, &next.picture, f64::from(k) / f64::from(moves));
            between.push(Frame { picture, caption: now.caption.clone() });
            times.push(MOVE);
        }
    }
    stills(&between).into_iter().zip(times).collect()
}

/// Drawings between two steps, and hundredths of a second of each.
const MOVES: u32 = 9;
const MOVE: u16 = 5;
/// In films of more steps, things jump: a drawing takes some milliseconds.
const MOST_MOVING: usize = 40;

/// A picture whose pieces are on their way to their places in the next one: `part` of the way, slow at both ends.
fn moved(from: &Picture, to: &Picture, part: f64) -> Picture {
    let part = part * part * (3.0 - 2.0 * part);
    let mut picture = from.clone();
    for piece in &mut picture.pieces {
        let Some(next) = to.pieces.iter().find(|p| p.key == piece.key) else { continue };
        let path =
            if next.path.len() > 1 { next.path.clone() } else { vec![(piece.x, piece.y), (next.x, next.y)] };
        // Which stretch of the path, and where on it.
        let at = part * (path.len() - 1) as f64;
        let stretch = (at as usize).min(path.len() - 2);
        let ((x0, y0), (x1, y1)) = (path[stretch], path[stretch + 1]);
        let share = at - stretch as f64;
        (piece.x, piece.y) = (x0 + (x1 - x0) * share, y0 + (y1 - y0) * share);
    }
    picture
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

/// A run, its states side by side.
struct Strip {
    title: String,
    cells: Vec<Cell>,
    notes: Vec<String>,
}

/// A state of a run, and what is done there.
struct Cell {
    picture: Picture,
    text: String,
    below: Option<String>,
    is_wrong: bool,
    /// Whether the run ends here.
    is_end: bool,
}

/// A run that fails, its states side by side.
pub fn strip(found: &Counterexample) -> Document {
    let cell = |(i, scene): (usize, &Scene)| {
        let step = found.steps.get(i);
        let is_wrong = i + 1 == found.wrong_step;
        let marks = Marks::of(found.why.as_ref().filter(|_| is_wrong));
        let back = found.back_to.filter(|_| i + 1 == found.steps.len());
        let ties = step.filter(|step| step.ties > 1).map(|step| format!("one of {} that tie", step.ties));
        Cell {
            picture: Picture::new(scene, step.map_or(&[][..], |step| step.facts.as_slice()), &marks),
            text: step.map_or("no way out", |step| step.action.as_str()).to_string(),
            below: back.map(|back| format!("back to {back}")).or(ties),
            is_wrong,
            is_end: step.is_none(),
        }
    };
    let cells = found.scenes.iter().enumerate().map(cell).collect();
    draw(&Strip { title: title(found), cells, notes: notes(found) })
}

/// A run that violates a property, its states side by side.
pub fn strip_of_property(property: &str, found: &Violating) -> Document {
    let cell = |((facts, action), scene): (&(Vec<String>, Option<String>), &Scene)| Cell {
        picture: Picture::new(scene, facts, &Marks::of(None)),
        text: action.as_deref().unwrap_or("here").to_string(),
        below: None,
        is_wrong: action.is_none(),
        is_end: action.is_none(),
    };
    let cells = found.steps.iter().zip(&found.scenes).map(cell).collect();
    let notes = found.starved.iter().map(|o| format!("{o} is left out")).collect();
    draw(&Strip { title: format!("Not {property}, in {}", found.instance), cells, notes })
}

fn draw(strip: &Strip) -> Document {
    let Strip { title, cells, notes } = strip;
    let widest = cells.iter().map(|c| c.picture.width).fold(1.0, f64::max);
    let highest = cells.iter().map(|c| c.picture.height).fold(1.0, f64::max);
    let scale = (WIDEST / widest).min(1.0);
    let (wide, high) = (widest * scale, highest * scale);
    let columns = cells.len().clamp(1, ROW);
    let width = 2.0 * MARGIN + columns as f64 * wide + (columns - 1) as f64 * GAP + 30.0;
    let letters = ((width - 2.0 * MARGIN) / LETTER) as usize;
    let notes: Vec<String> = notes.iter().flat_map(|line| wrapped(line, letters)).collect();
    let heading = wrapped(title, letters);
    let first = MARGIN + heading.len() as f64 * LINE;
    let row_height = high + 2.8 * LINE;
    let mut nodes = Vec::new();
    for (i, line) in heading.iter().enumerate() {
        nodes.push(Node::text(MARGIN, MARGIN + 12.0 + i as f64 * LINE, 15.0, line.as_str()).bold());
    }
    for (i, cell) in cells.iter().enumerate() {
        let x = MARGIN + (i % ROW) as f64 * (wide + GAP);
        let y = first + (i / ROW) as f64 * row_height + 6.0;
        let ground = Node::rect(x, y, wide, high).at("rx", 10.0).fill("var(--sunk)");
        nodes.push(if cell.is_wrong { ground.stroke("var(--bad)", 2.5) } else { ground });
        let picture = &cell.picture;
        let corner = (x + (wide - picture.width * scale) / 2.0, y + high - picture.height * scale);
        nodes.push(window(picture, corner, scale));
        let text = cut(&format!("{}. {}", i + 1, cell.text), (wide / LETTER) as usize);
        let text = Node::text(x + 4.0, y + high + LINE, 14.0, text);
        let text = if cell.is_end { text } else { text.bold() };
        nodes.push(if cell.is_wrong || cell.is_end { text.fill("var(--bad)") } else { text });
        let below = cell.below.as_ref();
        nodes.extend(
            below.map(|text| {
                Node::text(x + 4.0, y + high + 1.9 * LINE, 13.0, text.as_str()).fill("var(--soft)")
            }),
        );
        if i + 1 < cells.len() && (i + 1) % ROW != 0 {
            let (from, to, mid) = (x + wide + 10.0, x + wide + GAP - 10.0, y + high / 2.0);
            let line = format!("M{from:.1} {mid:.1} H{to:.1} m-8 -5 l8 5 l-8 5");
            nodes.push(Node::path(line).fill("none").stroke("var(--soft)", 2.0));
        }
    }
    let rows = cells.len().div_ceil(ROW).max(1);
    let foot = first + rows as f64 * row_height + 10.0;
    for (i, line) in notes.iter().enumerate() {
        nodes.push(
            Node::text(MARGIN, foot + (i as f64 + 0.6) * LINE, 14.0, line.as_str()).fill("var(--soft)"),
        );
    }
    let height = foot + notes.len() as f64 * LINE + MARGIN;
    Document { width, height, label: title.clone(), nodes }
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

/// Text in lines of at most this many letters, broken at spaces: between atoms rather than inside one.
fn wrapped(text: &str, letters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in atoms(text) {
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

/// The words of a text; what is in brackets belongs to one word.
fn atoms(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let ends = text.split(|c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ' ' && depth <= 0
    });
    ends.filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_between_atoms() {
        let text = "because 0.64::move(X, Y) :- top(X), on(X, Z), isFloor(Y).";
        let lines = wrapped(text, 30);
        assert_eq!(lines, ["because 0.64::move(X, Y) :-", "top(X), on(X, Z), isFloor(Y)."]);
        assert_eq!(wrapped("a(b, c", 4), ["a(b, c"], "a bracket that never closes");
    }

    #[test]
    fn things_move_from_place_to_place() {
        let piece = |x: f64, path: &[(f64, f64)]| crate::picture::Piece {
            key: "a".into(),
            x,
            y: 0.0,
            looks: Vec::new(),
            path: path.to_vec(),
        };
        let of = |piece| Picture { width: 9.0, height: 9.0, label: String::new(), pieces: vec![piece] };
        let half =
            |path: &[(f64, f64)]| moved(&of(piece(0.0, &[])), &of(piece(8.0, path)), 0.5).pieces[0].clone();
        assert_eq!((half(&[]).x, half(&[]).y), (4.0, 0.0));
        let round = half(&[(0.0, 0.0), (0.0, 6.0), (8.0, 6.0), (8.0, 0.0)]);
        assert_eq!((round.x, round.y), (4.0, 6.0), "along its path");
    }
}
