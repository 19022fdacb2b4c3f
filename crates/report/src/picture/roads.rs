//! Intersections with lanes, queues and lights. Traffic keeps to the right.

use derrl_env::scene::{Lane, Roads};

use super::{Marks, Picture};
use crate::node::{Node, number};

const BLOCK: f64 = 190.0;
const CAR: f64 = 13.0;
const GREEN: &str = "#2fa84f";
const RED: &str = "#c9453b";
/// Cars drawn of a queue at the most; its length stands behind them.
const MOST_CARS: u32 = 5;

pub(super) fn draw(scene: &Roads, marks: &Marks) -> Picture {
    let ends = |pick: fn(&(i32, i32)) -> i32| {
        let all = scene.nodes.iter().map(|n| pick(&n.at));
        (all.clone().min().unwrap_or(0), all.max().unwrap_or(0))
    };
    let ((left, right), (low, top)) = (ends(|at| at.0), ends(|at| at.1));
    // Roads that lead out are drawn only in part: the margin is smaller than a block.
    let width = (f64::from(right - left) * BLOCK - 60.0).max(120.0);
    let height = (f64::from(top - low) * BLOCK - 60.0).max(120.0);
    let mut picture = Picture::empty(width, height, label(scene));
    let at = |i: usize| {
        let (x, y) = scene.nodes.get(i).map_or((left, top), |n| n.at);
        (f64::from(x - left) * BLOCK - 30.0, f64::from(top - y) * BLOCK - 30.0)
    };
    let ways = || {
        scene.lanes.iter().map(|lane| {
            let ((x1, y1), (x2, y2)) = (at(lane.from), at(lane.to));
            Node::line(x1, y1, x2, y2)
        })
    };
    let asphalt = ways().map(|way| way.stroke("var(--road)", 44.0));
    let middle = ways().map(|way| way.stroke("var(--sunk)", 1.5).set("stroke-dasharray", "8 8"));
    picture.put("roads", (0.0, 0.0), asphalt.chain(middle).collect());
    for (i, node) in scene.nodes.iter().enumerate().filter(|(_, n)| n.lights) {
        let turn = scene.turn == Some(i);
        let mark = marks.get(&node.name);
        let square = Node::rect(-22.0, -22.0, 44.0, 44.0).at("rx", 4.0).fill("var(--road)");
        let square = if turn { square.stroke("var(--accent)", 4.0) } else { square };
        let text = mark.map_or_else(|| node.name.clone(), |m| format!("{}={}", m.names, node.name));
        let ink = mark.map_or(if turn { "var(--accent)" } else { "var(--ink)" }, |m| m.colour);
        let name = Node::text(0.0, 6.0, 17.0, text).middle().bold().fill(ink);
        picture.put(format!("node {}", node.name), at(i), vec![square, name]);
    }
    for (i, way) in scene.lanes.iter().enumerate() {
        lane(&mut picture, scene, i, way, (at(way.from), at(way.to)), marks);
    }
    picture
}

fn lane(
    picture: &mut Picture,
    scene: &Roads,
    i: usize,
    lane: &Lane,
    ((x1, y1), (x2, y2)): ((f64, f64), (f64, f64)),
    marks: &Marks,
) {
    let length = (x2 - x1).hypot(y2 - y1).max(1.0);
    let (dx, dy) = ((x2 - x1) / length, (y2 - y1) / length);
    let (rx, ry) = (-dy, dx); // to the right of the way it goes
    let turned = format!("rotate({})", number(dy.atan2(dx).to_degrees()));
    let point = |back: f64, side: f64| (x2 - dx * back + rx * side, y2 - dy * back + ry * side);
    let (green, wanted) = (scene.green.contains(&i), scene.wanted.contains(&i));
    picture.put(format!("light {}", lane.name), point(31.0, 11.0), light(green, wanted, &turned));
    if let Some(mark) = marks.get(&lane.name) {
        let frame = Node::rect(-36.0, -10.0, 72.0, 20.0).at("rx", 6.0).fill("none").stroke(mark.colour, 3.5);
        let key = format!("mark {}", lane.name);
        picture.put(key, point(74.0, 11.0), vec![frame.set("transform", turned.clone())]);
        picture.put(format!("name {}", lane.name), point(100.0, 32.0), mark.badge(0.0, 0.0));
    }
    let queue = scene.queues.get(i).copied().unwrap_or(0);
    for car in 0..queue.min(MOST_CARS) {
        let body = Node::rect(-5.0, -4.0, 10.0, 8.0).at("rx", 2.5).fill("var(--ink)");
        let at = point(48.0 + f64::from(car) * CAR, 11.0);
        picture.put(format!("car {} {car}", lane.name), at, vec![body.set("transform", turned.clone())]);
    }
    if queue > 0 {
        let at = point(51.0 + f64::from(queue.min(MOST_CARS)) * CAR, 11.0);
        let count = Node::text(0.0, 4.5, 13.0, queue.to_string()).middle().bold().fill("var(--soft)");
        picture.put(format!("queue {}", lane.name), at, vec![count]);
    }
}

/// A light. Green is a disc with an arrow in the direction of the lane, red a square with a bar; red that is about to become green has
/// a green rim. They differ in form as well as in colour.
fn light(green: bool, wanted: bool, turned: &str) -> Vec<Node> {
    let parts = if green {
        vec![
            Node::circle(0.0, 0.0, 9.0).fill(GREEN).stroke("var(--card)", 2.0),
            Node::path("M-5 0 H3 M0 -3.6 L4 0 L0 3.6")
                .fill("none")
                .stroke("#fff", 2.2)
                .set("stroke-linecap", "round")
                .set("stroke-linejoin", "round"),
        ]
    } else {
        let (rim, width) = if wanted { (GREEN, 4.0) } else { ("var(--card)", 2.0) };
        vec![
            Node::rect(-7.5, -7.5, 15.0, 15.0).at("rx", 2.5).fill(RED).stroke(rim, width),
            Node::line(0.0, -4.2, 0.0, 4.2).stroke("#fff", 2.6).set("stroke-linecap", "round"),
        ]
    };
    vec![Node::new("g").set("transform", turned).all(parts)]
}

fn label(scene: &Roads) -> String {
    let waiting: u32 = scene.queues.iter().sum();
    let lights = scene.nodes.iter().filter(|n| n.lights).count();
    let (s, t) = (if waiting == 1 { "" } else { "s" }, if lights == 1 { "" } else { "s" });
    format!("{waiting} vehicle{s} waiting after {} seconds, at {lights} intersection{t}.", scene.time)
}
