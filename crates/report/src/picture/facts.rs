//! A state of a world that has no picture of its own: objects in a circle, binary facts as arrows between them, facts of one object
//! beside it, all others as text.

use std::collections::BTreeSet;
use std::f64::consts::TAU;

use super::{Marks, Picture};
use crate::node::{Node, number};

const WIDTH: f64 = 560.0;
/// Objects and arrows in a graph that can still be read, at the most. Beyond, facts are text only.
const MOST_OBJECTS: usize = 16;
const MOST_ARROWS: usize = 40;
const NODE: f64 = 20.0;
const LINE: f64 = 21.0;
/// Letters in a line of text.
const LETTERS: usize = 66;
/// Facts written as text, at the most.
const MOST_TEXT: usize = 60;

/// A fact by its name and its objects.
struct Fact<'a> {
    text: &'a str,
    name: &'a str,
    args: Vec<&'a str>,
}

/// Reads `on(a, 'b, c')`. Commas and brackets inside quotes are part of a name.
fn read(text: &str) -> Fact<'_> {
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

pub(super) fn draw(facts: &[String], marks: &Marks) -> Picture {
    let all: Vec<Fact<'_>> = facts.iter().map(|f| read(f)).collect();
    let objects: Vec<&str> =
        all.iter().flat_map(|f| &f.args).copied().collect::<BTreeSet<_>>().into_iter().collect();
    let arrows = all.iter().filter(|f| f.args.len() == 2).count();
    let is_graph = arrows > 0 && objects.len() <= MOST_OBJECTS && arrows <= MOST_ARROWS;
    let in_text = |f: &&Fact<'_>| !is_graph || !matches!(f.args.len(), 1 | 2);
    let lines = lines(all.iter().filter(in_text).map(|f| f.text));
    let radius = if is_graph { (22.0 * objects.len() as f64).clamp(90.0, 190.0) } else { 0.0 };
    let graph = if is_graph { 2.0 * radius + 110.0 } else { 20.0 };
    let height = graph + lines.len() as f64 * LINE + 24.0;
    let label =
        if facts.is_empty() { "Nothing holds.".to_string() } else { format!("{}.", facts.join("; ")) };
    let mut picture = Picture::empty(WIDTH, height, label);
    if is_graph {
        draw_graph(&mut picture, &all, &objects, radius, marks);
    }
    for (i, line) in lines.iter().enumerate() {
        let at = (16.0, graph + (i as f64 + 0.7) * LINE);
        let text = Node::text(0.0, 0.0, 14.0, line.as_str()).fill("var(--ink)");
        picture.put(format!("text {i}"), at, vec![text]);
    }
    picture
}

fn draw_graph(picture: &mut Picture, all: &[Fact<'_>], objects: &[&str], radius: f64, marks: &Marks) {
    let centre = (WIDTH / 2.0, radius + 50.0);
    let at = |object: &str| {
        let i = objects.iter().position(|o| *o == object).unwrap_or(0);
        let angle = TAU * i as f64 / objects.len().max(1) as f64 - TAU / 4.0;
        (centre.0 + radius * 1.15 * angle.cos(), centre.1 + radius * angle.sin())
    };
    for fact in all {
        let &[from, to] = fact.args.as_slice() else { continue };
        let back = all.iter().any(|f| f.args == [to, from]);
        let same = all.iter().filter(|f| f.args == fact.args);
        let place = same.clone().position(|f| f.name == fact.name).unwrap_or(0);
        let looks = if from == to {
            self_arrow(at(from), fact.name)
        } else {
            // Several facts about the same two objects bend apart.
            let bend = if back || same.count() > 1 { 18.0 + 26.0 * place as f64 } else { 0.0 };
            arrow(at(from), at(to), bend, fact.name)
        };
        picture.put(format!("fact {}", fact.text), (0.0, 0.0), looks);
    }
    for object in objects {
        let mark = marks.get(object);
        let disc = Node::circle(0.0, 0.0, NODE).fill("var(--card)");
        let letters = object.chars().count() as f64;
        let size = (30.0 / letters.max(2.0)).clamp(8.0, 15.0);
        let mut looks = vec![
            match mark {
                Some(mark) => disc.stroke(mark.colour, 4.0),
                None => disc.stroke("var(--wall)", 1.8),
            },
            Node::text(0.0, size * 0.35, size, *object).middle().bold().fill("var(--ink)"),
        ];
        looks.extend(mark.into_iter().flat_map(|m| m.badge(NODE - 3.0, 3.0 - NODE)));
        let said: Vec<&str> = all.iter().filter(|f| f.args == [*object]).map(|f| f.name).collect();
        for (i, name) in said.iter().enumerate() {
            let y = NODE + 13.0 + 13.0 * i as f64;
            looks.push(Node::text(0.0, y, 11.5, *name).middle().fill("var(--accent)"));
        }
        picture.put(format!("object {object}"), at(object), looks);
    }
}

/// An arrow from one disc to another that keeps to the right by `bend`, with its name at its middle.
fn arrow((x1, y1): (f64, f64), (x2, y2): (f64, f64), bend: f64, name: &str) -> Vec<Node> {
    let length = (x2 - x1).hypot(y2 - y1).max(1.0);
    let (dx, dy) = ((x2 - x1) / length, (y2 - y1) / length);
    let middle = (f64::midpoint(x1, x2) - dy * bend, f64::midpoint(y1, y2) + dx * bend);
    let toward = |(fx, fy): (f64, f64), gap: f64| {
        let far = (middle.0 - fx).hypot(middle.1 - fy).max(1.0);
        (fx + (middle.0 - fx) / far * gap, fy + (middle.1 - fy) / far * gap)
    };
    let (from, to) = (toward((x1, y1), NODE + 2.0), toward((x2, y2), NODE + 4.0));
    let line = format!(
        "M{} {} Q{} {} {} {}",
        number(from.0),
        number(from.1),
        number(middle.0 - dy * bend * 0.5),
        number(middle.1 + dx * bend * 0.5),
        number(to.0),
        number(to.1)
    );
    let (tx, ty) = (middle.0 - dy * bend * 0.1, middle.1 + dx * bend * 0.1);
    let mut looks = vec![Node::path(line).fill("none").stroke("var(--faint)", 1.8)];
    looks.push(head(toward_tip(middle, to), to));
    looks.extend(named(tx, ty, name));
    looks
}

fn toward_tip((mx, my): (f64, f64), (x, y): (f64, f64)) -> (f64, f64) {
    let length = (x - mx).hypot(y - my).max(1.0);
    ((x - mx) / length, (y - my) / length)
}

/// The head of an arrow that points this way.
fn head((dx, dy): (f64, f64), (x, y): (f64, f64)) -> Node {
    let corner =
        |side: f64| format!("{} {}", number(x - dx * 9.0 - dy * side), number(y - dy * 9.0 + dx * side));
    Node::path(format!("M{} {} L{} L{} Z", number(x), number(y), corner(4.5), corner(-4.5)))
        .fill("var(--faint)")
}

fn self_arrow((x, y): (f64, f64), name: &str) -> Vec<Node> {
    let top = y - NODE;
    let d = format!(
        "M{} {} C{} {} {} {} {} {}",
        number(x - 7.0),
        number(top + 2.0),
        number(x - 26.0),
        number(top - 30.0),
        number(x + 26.0),
        number(top - 30.0),
        number(x + 7.0),
        number(top + 2.0)
    );
    let mut looks = vec![Node::path(d).fill("none").stroke("var(--faint)", 1.8)];
    looks.push(head((-0.5, 0.86), (x + 7.0, top + 1.0)));
    looks.extend(named(x, top - 24.0, name));
    looks
}

/// A name over a line, on a ground of its own so that it can be read.
fn named(x: f64, y: f64, name: &str) -> Vec<Node> {
    let width = 7.4 * name.chars().count() as f64 + 6.0;
    vec![
        Node::rect(x - width / 2.0, y - 9.0, width, 17.0).at("rx", 4.0).fill("var(--sunk)"),
        Node::text(x, y + 4.0, 12.0, name).middle().fill("var(--soft)"),
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
