//! The junction of a traffic light, with the vehicles around it, as the network file draws it.

use derrl_env::scene::{Streets, Vehicle};

use super::{Marks, Picture};
use crate::node::{Node, number};

/// Pixels across.
const SIZE: f64 = 640.0;
/// Metres.
const LANE: f64 = 3.2;
const CAR: (f64, f64) = (4.6, 2.0);
const BAR: f64 = 1.4;

const GREEN: &str = "#2fa84f";
const YELLOW: &str = "#e0a100";
const RED: &str = "#c9453b";

pub(super) fn draw(scene: &Streets, marks: &Marks) -> Picture {
    let scale = SIZE / (2.0 * scene.radius.max(1.0));
    let (cx, cy) = scene.centre;
    let at = |(x, y): (f64, f64)| (SIZE / 2.0 + (x - cx) * scale, SIZE / 2.0 - (y - cy) * scale);
    let mut picture = Picture::empty(SIZE, SIZE, label(scene));
    let lines = |width: f64, colour: &str| -> Vec<Node> {
        let pieces = scene.roads.iter().flat_map(|road| road.windows(2));
        let pieces = pieces.filter_map(|ends| clipped(at(ends[0]), at(ends[1])));
        let paths = pieces.map(|((x1, y1), (x2, y2))| {
            Node::line(tenth(x1), tenth(y1), tenth(x2), tenth(y2))
                .stroke(colour, width)
                .set("stroke-linecap", "round")
        });
        paths.collect()
    };
    let asphalt = lines(tenth((LANE + 0.6) * scale), "var(--road)");
    picture.put(format!("roads {}", scene.light), (0.0, 0.0), asphalt);
    for phase in &scene.phases {
        let Some(mark) = marks.get(&phase.name) else { continue };
        for (n, &stop) in phase.stops.iter().enumerate() {
            let Some(stop) = scene.stops.get(stop) else { continue };
            let (x, y) = at(stop.at);
            if !inside(x, y) {
                continue;
            }
            let frame =
                Node::line(0.0, 0.0, tenth(-18.0 * stop.way.0 * scale), tenth(18.0 * stop.way.1 * scale))
                    .stroke(mark.colour, tenth(LANE * scale))
                    .at("stroke-opacity", 0.45);
            picture.put(format!("mark {} {n}", phase.name), (x, y), vec![frame]);
            if n == 0 {
                let (dx, dy) = (-23.0 * stop.way.0 * scale, 23.0 * stop.way.1 * scale);
                picture.put(format!("name {}", phase.name), (x, y), mark.badge(tenth(dx), tenth(dy)));
            }
        }
    }
    for (n, stop) in scene.stops.iter().enumerate() {
        let (x, y) = at(stop.at);
        if !inside(x, y) {
            continue;
        }
        // A bar across the lane, a part for each way on from it, from left to right.
        let (rx, ry) = (stop.way.1, stop.way.0); // to the right of the way it goes, on the screen
        let part = LANE / stop.letters.len().max(1) as f64;
        let bars = stop.letters.chars().enumerate().map(|(i, letter)| {
            let from = (i as f64 * part - LANE / 2.0) * scale;
            let to = from + part * scale;
            Node::line(tenth(rx * from), tenth(ry * from), tenth(rx * to), tenth(ry * to))
                .stroke(colour(letter), tenth(BAR * scale))
        });
        picture.put(format!("stop {} {n}", scene.light), (x, y), bars.collect());
    }
    for vehicle in &scene.vehicles {
        let (x, y) = at(vehicle.at);
        if inside(x, y) {
            picture.put(format!("car {}", vehicle.name), (x, y), vec![car(vehicle, scale)]);
        }
    }
    picture
}

fn colour(letter: char) -> &'static str {
    match letter {
        'G' | 'g' => GREEN,
        'y' | 'Y' => YELLOW,
        _ => RED,
    }
}

/// A vehicle with its front at its place.
fn car(vehicle: &Vehicle, scale: f64) -> Node {
    let (length, width) = (CAR.0 * scale, CAR.1 * scale);
    let ink = if vehicle.stands { "var(--ink)" } else { "var(--accent)" };
    // Degrees are clockwise from north; the car is drawn with its front to the top.
    Node::rect(tenth(-width / 2.0), 0.0, tenth(width), tenth(length))
        .at("rx", 2.0)
        .fill(ink)
        .stroke("var(--card)", 1.0)
        .set("transform", format!("rotate({})", number(vehicle.heading.round())))
}

fn inside(x: f64, y: f64) -> bool {
    (0.0..=SIZE).contains(&x) && (0.0..=SIZE).contains(&y)
}

fn tenth(x: f64) -> f64 {
    (x * 10.0).round() / 10.0
}

/// The part of a line that lies in the picture (Liang and Barsky).
fn clipped((x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> Option<((f64, f64), (f64, f64))> {
    let (dx, dy) = (x2 - x1, y2 - y1);
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    for (p, q) in [(-dx, x1), (dx, SIZE - x1), (-dy, y1), (dy, SIZE - y1)] {
        if p == 0.0 {
            if q < 0.0 {
                return None;
            }
        } else if p < 0.0 {
            from = from.max(q / p);
        } else {
            to = to.min(q / p);
        }
    }
    (from <= to).then_some(((x1 + from * dx, y1 + from * dy), (x1 + to * dx, y1 + to * dy)))
}

fn label(scene: &Streets) -> String {
    let waiting = scene.vehicles.iter().filter(|v| v.stands).count();
    let s = if waiting == 1 { "" } else { "s" };
    format!("{waiting} vehicle{s} waiting around light {} after {} seconds.", scene.light, scene.time)
}

#[cfg(test)]
mod tests {
    use derrl_env::scene::{Ahead, Stop};

    use super::*;

    fn scene() -> Streets {
        let stop = Stop { at: (-10.0, 0.0), way: (1.0, 0.0), letters: "rG".into() };
        let vehicle =
            |name: &str, x: f64| Vehicle { name: name.into(), at: (x, 0.0), heading: 90.0, stands: x < 0.0 };
        Streets {
            light: "A".into(),
            centre: (0.0, 0.0),
            radius: 100.0,
            roads: vec![vec![(-500.0, 0.0), (500.0, 0.0)], vec![(300.0, 300.0), (400.0, 300.0)]],
            stops: vec![stop],
            phases: vec![Ahead { name: "p1".into(), stops: vec![0] }],
            vehicles: vec![vehicle("near", -20.0), vehicle("far", 300.0)],
            time: 60,
        }
    }

    #[test]
    fn what_is_around_the_light_is_drawn_and_nothing_else() {
        let picture = draw(&scene(), &Marks::default());
        let keys: Vec<&str> = picture.pieces.iter().map(|p| p.key.as_str()).collect();
        assert_eq!(keys, ["roads A", "stop A 0", "car near"]);
        assert_eq!(picture.pieces[0].looks.len(), 1, "the road that is near");
        assert_eq!(picture.pieces[1].looks.len(), 2, "a bar for each way on");
        assert_eq!((picture.pieces[2].x, picture.pieces[2].y), (256.0, 320.0));
        assert_eq!(picture.label, "1 vehicle waiting around light A after 60 seconds.");
        // The road ends at the edges of the picture.
        assert_eq!(clipped((-1000.0, 320.0), (2000.0, 320.0)), Some(((0.0, 320.0), (640.0, 320.0))));
        assert_eq!(clipped((700.0, 0.0), (700.0, 900.0)), None);
    }

    #[test]
    fn the_lanes_of_a_phase_that_a_rule_speaks_of_are_marked() {
        let marks = Marks { of: vec![("p1".into(), 0, "X".into())] };
        let keys: Vec<String> = draw(&scene(), &marks).pieces.into_iter().map(|p| p.key).collect();
        assert_eq!(keys, ["roads A", "mark p1 0", "name p1", "stop A 0", "car near"]);
    }
}
