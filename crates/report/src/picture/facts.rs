//! A state of a world that has no picture of its own: a graph of its objects. Objects of a type share a column, or all lie on a
//! circle; binary facts are arrows, dashed where they are wanted; facts of one object stand under it; all others are text.

use std::collections::BTreeSet;
use std::f64::consts::TAU;

use super::{Marks, Picture};
use crate::node::{Node, number};

type Point = (f64, f64);

const WIDTH: f64 = 560.0;
/// Objects and arrows in a graph that can still be read, at the most. Beyond, facts are text only.
const MOST_OBJECTS: usize = 24;
const MOST_ARROWS: usize = 48;
/// Columns beside each other, and objects in one, at the most. Beyond, objects lie on a circle.
const MOST_COLUMNS: usize = 4;
const MOST_ROWS: usize = 12;
/// Half the height of an object, and the distance of two in a column.
const HALF: f64 = 14.0;
const ROW: f64 = 62.0;
const LINE: f64 = 21.0;
/// Letters in a line of text.
const LETTERS: usize = 66;
/// Facts written as text, at the most.
const MOST_TEXT: usize = 60;

/// A fact by its name and its objects.
pub(super) struct Fact<'a> {
    pub text: &'a str,
    pub name: &'a str,
    pub args: Vec<&'a str>,
}

/// Reads `on(a, 'b, c')`. Commas and brackets inside quotes are part of a name.
pub(super) fn read(text: &str) -> Fact<'_> {
    let Some((name, rest)) = text.strip_suffix(')').and_then(|t| t.split_once('(')) else {
        return Fact { text, name: text, args: Vec::new() };
    };
    let mut quoted = false;
    let args = rest.split(|c: char| {
        quoted ^= c == '\'';
        c == ',' && !quoted
    });
    Fact { text, name, args: args.map(str::trim).collect() }
}

/// Draws facts about objects that come in groups; objects that no group names are a group of their own.
pub(super) fn draw(groups: &[Vec<String>], facts: &[String], marks: &Marks) -> Picture {
    let all: Vec<Fact<'_>> = facts.iter().map(|f| read(f)).collect();
    let mut groups: Vec<Vec<&str>> = groups.iter().map(|g| g.iter().map(String::as_str).collect()).collect();
    let named: BTreeSet<&str> = groups.iter().flatten().copied().collect();
    let others: BTreeSet<&str> =
        all.iter().flat_map(|f| &f.args).copied().filter(|o| !named.contains(o)).collect();
    groups.push(others.into_iter().collect());
    groups.retain(|group| !group.is_empty());
    let count: usize = groups.iter().map(Vec::len).sum();
    let arrows = all.iter().filter(|f| f.args.len() == 2).count();
    let is_graph = (1..=MOST_OBJECTS).contains(&count)
        && arrows <= MOST_ARROWS
        && all.iter().any(|f| matches!(f.args.len(), 1 | 2));
    let in_text = |f: &&Fact<'_>| !is_graph || !matches!(f.args.len(), 1 | 2);
    let texts: Vec<String> = all.iter().filter(in_text).map(|f| short(f.text)).collect();
    let lines = lines(texts.iter().map(String::as_str));
    let (places, graph) = if is_graph { places(&groups) } else { (Vec::new(), 20.0) };
    // Room for one line even where there is none: the picture keeps its size when `handempty` comes and goes.
    let height = graph + lines.len().max(1) as f64 * LINE + 24.0;
    let label =
        if facts.is_empty() { "Nothing holds.".to_string() } else { format!("{}.", facts.join("; ")) };
    let mut picture = Picture::empty(WIDTH, height, label);
    if is_graph {
        Graph { all: &all, places: &places, taken: Vec::new() }.draw(&mut picture, marks);
    }
    for (i, line) in lines.iter().enumerate() {
        let at = (16.0, graph + (i as f64 + 0.7) * LINE);
        let text = Node::text(0.0, 0.0, 14.0, line.as_str()).fill("var(--ink)");
        picture.put(format!("text {i}"), at, vec![text]);
    }
    picture
}

/// A fact, with at most four digits that count where it reports a number.
fn short(fact: &str) -> String {
    let reading = fact.rsplit_once(" = ").and_then(|(of, value)| Some((of, value.parse::<f64>().ok()?)));
    match reading {
        Some((of, value)) => {
            let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
            format!("{of} = {rounded}")
        }
        None => fact.to_string(),
    }
}

/// Where each object lies, and how high the graph is: a column per group, or one circle.
fn places<'a>(groups: &[Vec<&'a str>]) -> (Vec<(&'a str, Point)>, f64) {
    let rows = groups.iter().map(Vec::len).max().unwrap_or(0);
    if (2..=MOST_COLUMNS).contains(&groups.len()) && rows <= MOST_ROWS {
        let height = (rows as f64 * ROW).max(190.0);
        let across = WIDTH / groups.len() as f64;
        let mut places = Vec::new();
        for (column, group) in groups.iter().enumerate() {
            let down = height / group.len() as f64;
            let x = (column as f64 + 0.5) * across;
            places.extend(group.iter().enumerate().map(|(i, o)| (*o, (x, 16.0 + (i as f64 + 0.5) * down))));
        }
        return (places, height + 32.0);
    }
    let objects: Vec<&str> = groups.concat();
    let radius = (24.0 * objects.len() as f64).clamp(80.0, 200.0);
    let at = |i: usize| {
        let angle = TAU * i as f64 / objects.len() as f64 - TAU / 4.0;
        (WIDTH / 2.0 + radius * 1.15 * angle.cos(), radius + 54.0 + radius * angle.sin())
    };
    (objects.iter().enumerate().map(|(i, o)| (*o, at(i))).collect(), 2.0 * radius + 116.0)
}

/// Half the width of an object.
fn half_width(object: &str) -> f64 {
    4.6 * object.chars().count() as f64 + 12.0
}

/// A place that is taken: its middle and half its sides.
type Box4 = (Point, Point);

fn overlap(((x1, y1), (w1, h1)): Box4, ((x2, y2), (w2, h2)): Box4) -> bool {
    (x1 - x2).abs() < w1 + w2 && (y1 - y2).abs() < h1 + h2
}

struct Graph<'a> {
    all: &'a [Fact<'a>],
    places: &'a [(&'a str, Point)],
    /// Where objects and names of arrows are: no further name is written over them.
    taken: Vec<Box4>,
}

impl Graph<'_> {
    fn at(&self, object: &str) -> Point {
        self.places.iter().find(|p| p.0 == object).map_or((0.0, 0.0), |p| p.1)
    }

    fn draw(mut self, picture: &mut Picture, marks: &Marks) {
        self.taken = self.places.iter().map(|&(o, at)| (at, (half_width(o), HALF))).collect();
        let mut names = Vec::new();
        for fact in self.all {
            let &[from, to] = fact.args.as_slice() else { continue };
            let mut looks = Vec::new();
            let name_at = if from == to {
                self.loop_around(from, &mut looks)
            } else {
                self.arrow(fact, from, to, &mut looks)
            };
            picture.put(format!("fact {}", fact.text), (0.0, 0.0), looks);
            names.push((fact, name_at));
        }
        for &(object, at) in self.places {
            picture.put(format!("object {object}"), at, self.object(object, marks));
        }
        // Names last: no line crosses them.
        for (fact, at) in names {
            picture.put(format!("name {}", fact.text), at, name_of(fact.name));
        }
    }

    /// A line from one object to another, bent where there are several or where a third object is in the way; where its
    /// name goes.
    fn arrow(&mut self, fact: &Fact<'_>, from: &str, to: &str, looks: &mut Vec<Node>) -> Point {
        let (start, end) = (self.at(from), self.at(to));
        let length = (end.0 - start.0).hypot(end.1 - start.1).max(1.0);
        let (dx, dy) = ((end.0 - start.0) / length, (end.1 - start.1) / length);
        let same = self.all.iter().filter(|f| f.args == fact.args);
        let place = same.clone().position(|f| f.name == fact.name).unwrap_or(0);
        let back = self.all.iter().any(|f| f.args == [to, from]);
        let between = self.places.iter().filter(|p| p.0 != from && p.0 != to).any(|&(_, (x, y))| {
            let along = (x - start.0) * dx + (y - start.1) * dy;
            let off = (y - start.1) * dx - (x - start.0) * dy;
            (0.0..length).contains(&along) && off.abs() < HALF
        });
        let first = if between { 0.3 * length.max(120.0) } else { 24.0 };
        let bend = if back || between || same.count() > 1 { first + 34.0 * place as f64 } else { 0.0 };
        let control = (f64::midpoint(start.0, end.0) - dy * bend, f64::midpoint(start.1, end.1) + dx * bend);
        let on = |t: f64| {
            let mix = |a: f64, b: f64, c: f64| (1.0 - t).powi(2) * a + 2.0 * t * (1.0 - t) * b + t * t * c;
            (mix(start.0, control.0, end.0), mix(start.1, control.1, end.1))
        };
        let (tail, tip) =
            (edge(start, half_width(from), control, 1.0), edge(end, half_width(to), control, 3.0));
        let path = format!(
            "M{} {} Q{} {} {} {}",
            number(tail.0),
            number(tail.1),
            number(control.0),
            number(control.1),
            number(tip.0),
            number(tip.1)
        );
        let line = Node::path(path).fill("none").stroke("var(--faint)", 1.8);
        // What is wanted is no fact of the world yet.
        looks.push(if fact.name.starts_with("goal_") { line.set("stroke-dasharray", "5 4") } else { line });
        looks.push(head(control, tip));
        // The first place along the line that is free; else the middle.
        let size = (name_width(fact.name) / 2.0, 9.0);
        let tries = [0.5, 0.4, 0.6, 0.32, 0.68, 0.25, 0.75].map(on);
        let free = |at: &Point| !self.taken.iter().any(|other| overlap((*at, size), *other));
        let at = tries.into_iter().find(free).unwrap_or(tries[0]);
        self.taken.push((at, size));
        at
    }

    /// A line from an object to itself; where its name goes.
    fn loop_around(&mut self, object: &str, looks: &mut Vec<Node>) -> Point {
        let (x, y) = self.at(object);
        let top = y - HALF;
        let path = format!(
            "M{} {} C{} {} {} {} {} {}",
            number(x - 7.0),
            number(top),
            number(x - 26.0),
            number(top - 30.0),
            number(x + 26.0),
            number(top - 30.0),
            number(x + 7.0),
            number(top)
        );
        looks.push(Node::path(path).fill("none").stroke("var(--faint)", 1.8));
        looks.push(head((x + 14.0, top - 12.0), (x + 7.0, top)));
        let at = (x, top - 23.0);
        self.taken.push((at, (24.0, 9.0)));
        at
    }

    fn object(&self, object: &str, marks: &Marks) -> Vec<Node> {
        let half = half_width(object);
        let mark = marks.get(object);
        let body = Node::rect(-half, -HALF, 2.0 * half, 2.0 * HALF).at("rx", HALF).fill("var(--card)");
        let mut looks = vec![
            match mark {
                Some(mark) => body.stroke(mark.colour, 4.0),
                None => body.stroke("var(--wall)", 1.8),
            },
            Node::text(0.0, 5.0, 14.5, object).middle().bold().fill("var(--ink)"),
        ];
        looks.extend(mark.into_iter().flat_map(|m| m.badge(half - 2.0, 2.0 - HALF)));
        let said: Vec<&str> = self.all.iter().filter(|f| f.args == [object]).map(|f| f.name).collect();
        if !said.is_empty() {
            let text = Node::text(0.0, HALF + 14.0, 12.5, said.join(", "));
            looks.push(text.middle().bold().fill("var(--accent)"));
        }
        looks
    }
}

/// Where a line towards a point leaves an object, with a gap.
fn edge((x, y): Point, half: f64, toward: Point, gap: f64) -> Point {
    let (dx, dy) = (toward.0 - x, toward.1 - y);
    let far = dx.hypot(dy).max(1.0);
    let (dx, dy) = (dx / far, dy / far);
    let reach = ((half + gap) / dx.abs().max(1e-9)).min((HALF + gap) / dy.abs().max(1e-9));
    (x + dx * reach, y + dy * reach)
}

/// The head of an arrow that comes from a point.
fn head((fx, fy): Point, (x, y): Point) -> Node {
    let length = (x - fx).hypot(y - fy).max(1.0);
    let (dx, dy) = ((x - fx) / length, (y - fy) / length);
    let corner =
        |side: f64| format!("{} {}", number(x - dx * 9.0 - dy * side), number(y - dy * 9.0 + dx * side));
    Node::path(format!("M{} {} L{} L{} Z", number(x), number(y), corner(4.5), corner(-4.5)))
        .fill("var(--faint)")
}

fn name_width(name: &str) -> f64 {
    7.2 * name.chars().count() as f64 + 8.0
}

/// A name over a line, on a ground of its own so that it can be read.
fn name_of(name: &str) -> Vec<Node> {
    let width = name_width(name);
    vec![
        Node::rect(-width / 2.0, -9.0, width, 18.0).at("rx", 4.0).fill("var(--sunk)"),
        Node::text(0.0, 4.0, 12.5, name).middle().fill("var(--soft)"),
    ]
}

/// Facts in lines that fit the picture.
fn lines<'a>(facts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let facts: Vec<&str> = facts.collect();
    let mut lines: Vec<String> = Vec::new();
    for fact in facts.iter().take(MOST_TEXT) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + fact.chars().count() + 3 <= LETTERS => {
                line.push_str("   ");
                line.push_str(fact);
            }
            _ => lines.push((*fact).to_string()),
        }
    }
    if facts.len() > MOST_TEXT {
        lines.push(format!("and {} more", facts.len() - MOST_TEXT));
    }
    lines
}
