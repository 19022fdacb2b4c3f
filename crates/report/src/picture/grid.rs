//! Squares with walls, keys, doors, a goal and an agent.

use std::fmt::Write as _;

use derrl_env::scene::{Grid, Thing, Walker};

use super::{Mark, Marks, Picture, Piece};
use crate::node::{Node, number};

const CELL: f64 = 44.0;
const MIDDLE: f64 = CELL / 2.0;

fn hue(colour: Option<&str>) -> &'static str {
    match colour {
        Some("red") => "#d8483e",
        Some("green") => "#3f9b4f",
        Some("blue") => "#3b78d8",
        Some("purple") => "#9257c9",
        Some("yellow") => "#d3a413",
        Some("grey") => "#87909a",
        _ => "var(--wall)",
    }
}

pub(super) fn draw(scene: &Grid, marks: &Marks) -> Picture {
    let labels = if scene.columns.is_empty() { 0.0 } else { 52.0 };
    let columns = scene.rows.first().map_or(0, |r| r.chars().count());
    let (width, height) = (columns as f64 * CELL, scene.rows.len() as f64 * CELL);
    let mut picture = Picture::empty(width + 24.0 + labels, height + 24.0 + labels / 2.0, label(scene));
    let place = |(x, y): (u32, u32)| (12.0 + labels + f64::from(x) * CELL, 12.0 + f64::from(y) * CELL);

    // One path for all walls and one for all of the floor: a grid has hundreds of squares.
    let (mut walls, mut floor) = (String::new(), String::new());
    for (y, row) in scene.rows.iter().enumerate() {
        for (x, square) in row.chars().enumerate() {
            let (px, py) = place((x as u32, y as u32));
            let _ = if square == '#' {
                write!(walls, "M{px} {py}h44.5v44.5h-44.5z")
            } else {
                write!(floor, "M{} {}h42v42h-42z", px + 1.0, py + 1.0)
            };
        }
    }
    let squares = vec![Node::path(walls).fill("var(--wall)"), Node::path(floor).fill("var(--floor)")];
    picture.put("squares", (0.0, 0.0), squares);
    for (i, name) in scene.columns.iter().enumerate() {
        let (x, _) = place((i as u32, 0));
        let at = (x + MIDDLE, 12.0 + height + 20.0);
        picture.put(format!("column {name}"), at, vec![axis_name(name, marks, "middle")]);
    }
    for (i, name) in scene.lines.iter().enumerate() {
        let (x, y) = place((0, i as u32));
        picture.put(format!("line {name}"), (x - 9.0, y + MIDDLE + 5.0), vec![axis_name(name, marks, "end")]);
    }
    // Where columns and rows have names, the square that the rule speaks of is what its variables meet in.
    let marked = |names: &[String]| -> Vec<(u32, &'static str)> {
        let mark = |(i, name): (usize, &String)| marks.get(name).map(|m| (i as u32, m.colour));
        names.iter().enumerate().filter_map(mark).collect()
    };
    for (i, colour) in marked(&scene.columns) {
        let band = Node::rect(1.0, 0.0, CELL - 2.0, height).at("rx", 6.0).fill(colour).set("opacity", "0.13");
        picture.put(format!("column mark {i}"), place((i, 0)), vec![band]);
    }
    for (i, colour) in marked(&scene.lines) {
        let band = Node::rect(0.0, 1.0, width, CELL - 2.0).at("rx", 6.0).fill(colour).set("opacity", "0.13");
        picture.put(format!("line mark {i}"), place((0, i)), vec![band]);
    }
    let path: Vec<(f64, f64)> = scene.trail.iter().map(|&at| place(at)).collect();
    if path.len() > 1 {
        let points: Vec<String> =
            path.iter().map(|(x, y)| format!("{},{}", number(x + MIDDLE), number(y + MIDDLE))).collect();
        let trail = Node::new("polyline")
            .set("points", points.join(" "))
            .fill("none")
            .stroke("var(--accent)", 4.0)
            .set("stroke-linecap", "round")
            .set("stroke-linejoin", "round")
            .set("stroke-dasharray", "1 9")
            .set("opacity", "0.65");
        picture.put("trail", (0.0, 0.0), vec![trail]);
    }
    for (i, item) in scene.things.iter().enumerate() {
        let mark = item.name.as_deref().and_then(|name| marks.get(name));
        let key = item.name.clone().unwrap_or_else(|| format!("{}{i}", item.kind));
        picture.put(format!("thing {key}"), place(item.at), thing(item, mark));
    }
    let holds = scene.agent.holds.as_ref().and_then(|t| t.name.as_deref()).and_then(|name| marks.get(name));
    let (x, y) = place(scene.agent.at);
    picture.pieces.push(Piece { key: "agent".into(), x, y, looks: walker(&scene.agent, holds), path });
    picture
}

fn axis_name(name: &str, marks: &Marks, anchor: &'static str) -> Node {
    match marks.get(name) {
        Some(mark) => Node::text(0.0, 0.0, 14.0, format!("{}={name}", mark.names)).bold().fill(mark.colour),
        None => Node::text(0.0, 0.0, 13.0, name).fill("var(--faint)"),
    }
    .set("text-anchor", anchor)
}

fn thing(item: &Thing, mark: Option<Mark<'_>>) -> Vec<Node> {
    let colour = hue(item.colour);
    let inner =
        |gap: f64, radius: f64| Node::rect(gap, gap, CELL - 2.0 * gap, CELL - 2.0 * gap).at("rx", radius);
    let mut looks = match item.kind {
        "obstacle" => vec![inner(3.0, 6.0).fill("var(--wall)")],
        "enemy" => vec![inner(6.0, 14.0).fill("var(--bad)")],
        "goal" => vec![
            inner(4.0, 7.0).fill("var(--good-soft)").stroke("var(--good)", 2.0),
            Node::path("M15 34 V10 l17 7 l-17 7")
                .fill("var(--good)")
                .stroke("var(--good)", 3.0)
                .set("stroke-linejoin", "round"),
        ],
        "key" => vec![key(colour).moved(-2.0, -5.0)],
        "door" => door(colour, item.state),
        _ => vec![inner(6.0, 6.0).fill(colour)],
    };
    if let Some(mark) = mark {
        looks.push(inner(2.0, 7.0).fill("none").stroke(mark.colour, 4.0));
    }
    if let Some(name) = item.name.as_deref().filter(|_| item.kind != "goal") {
        let solid = item.kind == "door" && item.state != Some("open");
        let (x, anchor, fill) =
            if solid { (5.0, "start", "#fff") } else { (CELL - 5.0, "end", "var(--soft)") };
        looks.push(Node::text(x, CELL - 6.0, 12.0, name).bold().set("text-anchor", anchor).fill(fill));
    }
    looks.extend(mark.into_iter().flat_map(|m| m.badge(CELL - 4.0, 4.0)));
    looks
}

fn key(colour: &str) -> Node {
    Node::new("g").set("transform", format!("translate({MIDDLE} {MIDDLE}) rotate(-35)")).all(vec![
        Node::circle(-8.0, 0.0, 6.5).fill("none").stroke(colour, 4.0),
        Node::path("M-1 0 H14 M9 0 v6 M13.5 0 v5")
            .fill("none")
            .stroke(colour, 4.0)
            .set("stroke-linecap", "round"),
    ])
}

fn door(colour: &str, state: Option<&str>) -> Vec<Node> {
    if state == Some("open") {
        let frame = Node::rect(3.0, 3.0, CELL - 6.0, CELL - 6.0).at("rx", 4.0).fill("var(--floor)");
        return vec![frame.stroke(colour, 3.0).set("stroke-dasharray", "7 5")];
    }
    let leaf = Node::rect(1.0, 1.0, CELL - 2.0, CELL - 2.0).at("rx", 4.0).fill(colour);
    if state == Some("locked") {
        let hole = Node::circle(MIDDLE + 5.0, MIDDLE - 7.0, 4.5).fill("#fff");
        return vec![leaf, hole, Node::path("M24.6 18 h4.8 l1.6 9 h-8 z").fill("#fff")];
    }
    vec![leaf, Node::circle(CELL - 12.0, MIDDLE, 3.0).fill("#fff")]
}

fn walker(agent: &Walker, mark: Option<Mark<'_>>) -> Vec<Node> {
    let body = match agent.facing {
        None => Node::circle(MIDDLE, MIDDLE, 14.0).fill("var(--accent)").stroke("var(--card)", 2.5),
        Some(turns) => Node::path("M15 0 L-10 11.5 L-5 0 L-10 -11.5 Z")
            .set("transform", format!("translate({MIDDLE} {MIDDLE}) rotate({})", u32::from(turns) * 90))
            .fill("var(--accent)")
            .stroke("var(--card)", 2.0)
            .set("stroke-linejoin", "round"),
    };
    let mut looks = vec![body];
    if let Some(held) = &agent.holds {
        let hand = Node::circle(CELL - 6.0, CELL - 6.0, 12.0).fill("var(--card)");
        looks.push(match mark {
            Some(mark) => hand.stroke(mark.colour, 3.0),
            None => hand.stroke("var(--line)", 1.5),
        });
        let corner = number(CELL - 6.0 - MIDDLE * 0.55);
        let small = Node::new("g").set("transform", format!("translate({corner} {corner}) scale(0.55)"));
        looks.push(small.with(key(hue(held.colour))));
        let name = mark.map(|m| Node::text(CELL + 9.0, CELL + 4.0, 13.0, m.names).bold().fill(m.colour));
        looks.extend(name);
    }
    looks
}

fn label(scene: &Grid) -> String {
    let (x, y) = scene.agent.at;
    let name = |names: &[String], i: u32| names.get(i as usize).cloned();
    let place = match (name(&scene.columns, x), name(&scene.lines, y)) {
        (Some(column), Some(line)) => format!("{column}, {line}"),
        _ => format!("column {x}, row {y}"),
    };
    let words = |t: &Thing| {
        let parts = [t.state, t.colour, Some(t.kind), t.name.as_deref()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
    };
    let things: Vec<String> = scene.things.iter().map(words).collect();
    let held = scene.agent.holds.as_ref().and_then(|t| t.name.as_deref());
    let holds = held.map(|name| format!(", carrying {name}")).unwrap_or_default();
    format!("Agent at {place}{holds}. There are: {}.", things.join("; "))
}
