//! A stack of numbers, and a number line on which the sum moves towards the goal.

use derrl_env::scene::Numbers;

use super::{Marks, Picture, minus};
use crate::node::Node;

const WIDTH: f64 = 480.0;
const AXIS: f64 = 262.0;

pub(super) fn draw(scene: &Numbers, marks: &Marks) -> Picture {
    let mut picture = Picture::empty(WIDTH, 340.0, label(scene));
    let (low, high) = scene.range;
    // The flag at the goal needs room on the right.
    let at = |n: i64| 40.0 + ((n - low) as f64 / (high - low).max(1) as f64) * (WIDTH - 100.0);
    picture.put(
        "axis",
        (0.0, 0.0),
        vec![
            Node::line(at(low) - 20.0, AXIS, at(high) + 20.0, AXIS)
                .stroke("var(--wall)", 3.0)
                .set("stroke-linecap", "round"),
        ],
    );
    // A line of very many numbers has room for some of their names only.
    let every = ((high - low) / 24 + 1).max(1);
    for n in low..=high {
        let mark = marks.get(&n.to_string());
        if mark.is_none() && (n - low) % every != 0 {
            continue;
        }
        let tick = Node::line(0.0, -6.0, 0.0, 6.0);
        let name = Node::text(0.0, 30.0, 17.0, minus(&n.to_string())).middle();
        let looks = match mark {
            Some(mark) => vec![
                tick.stroke(mark.colour, 4.0),
                name.bold().fill(mark.colour),
                Node::text(0.0, 53.0, 17.0, mark.names).middle().bold().fill(mark.colour),
            ],
            None => vec![tick.stroke("var(--wall)", 2.0), name.fill("var(--soft)")],
        };
        picture.put(format!("tick {n}"), (at(n), AXIS), looks);
    }
    picture.put(
        "goal",
        (at(scene.goal), AXIS),
        vec![
            Node::line(0.0, -4.0, 0.0, -96.0).stroke("var(--good)", 3.0).set("stroke-linecap", "round"),
            Node::path("M0 -97 h48 l-9 12 l9 12 h-48 z").fill("var(--good)"),
            Node::text(20.0, -80.0, 14.0, "goal").middle().bold().fill("var(--card)"),
        ],
    );
    picture.put(
        "acc",
        (at(scene.acc), AXIS),
        vec![
            Node::path("M0 -4 l-9 -15 h18 z").fill("var(--accent)"),
            Node::circle(0.0, -34.0, 21.0).fill("var(--accent)").stroke("var(--sunk)", 3.0),
            Node::text(0.0, -29.0, 14.0, "acc").middle().bold().fill("var(--card)"),
        ],
    );
    stack(&mut picture, scene);
    picture
}

fn stack(picture: &mut Picture, scene: &Numbers) {
    let count = scene.numbers.len() as f64;
    let step = 70f64.min((WIDTH - 20.0) / count.max(1.0));
    let left = WIDTH / 2.0 - (count * step - 14.0) / 2.0;
    let title = Node::text(0.0, 0.0, 15.0, "stack, from the top").middle().fill("var(--faint)");
    picture.put("stack label", (WIDTH / 2.0, 32.0), vec![title]);
    for (i, n) in scene.numbers.iter().enumerate() {
        let (used, top) = (i < scene.taken, i == scene.taken);
        let card = Node::rect(0.0, 0.0, 56f64.min(step - 4.0), 64.0).at("rx", 10.0);
        let number =
            Node::text(28f64.min(step / 2.0 - 2.0), 42.0, 29.0, minus(&n.to_string())).middle().bold();
        let looks = if used {
            vec![
                card.fill("none")
                    .stroke("var(--wall)", 1.5)
                    .set("stroke-dasharray", "4 5")
                    .set("opacity", "0.55"),
                number.set("opacity", "0.4"),
            ]
        } else if top {
            vec![card.fill("var(--card)").stroke("var(--accent)", 4.0), number]
        } else {
            vec![card.fill("var(--card)").stroke("var(--wall)", 1.5), number]
        };
        picture.put(format!("card {i}"), (left + i as f64 * step, 50.0), looks);
    }
}

fn label(scene: &Numbers) -> String {
    let rest: Vec<String> = scene.numbers.iter().skip(scene.taken).map(i64::to_string).collect();
    let rest = if rest.is_empty() { "empty".to_string() } else { rest.join(", ") };
    format!("Sum {}, goal {}. Stack: {rest}.", scene.acc, scene.goal)
}
