//! A pole on a cart.

use derrl_env::scene::Cart;

use super::Picture;
use crate::node::{Node, number};

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 230.0;
const GROUND: f64 = 190.0;
/// Pixels from the hinge to the tip of the pole.
const POLE: f64 = 118.0;

pub(super) fn draw(scene: &Cart) -> Picture {
    let degrees = scene.angle.to_degrees();
    let lean = if degrees < 0.0 { "left" } else { "right" };
    let side = if scene.at < 0.0 { "left" } else { "right" };
    let label = format!(
        "The cart is {:.2} m {side} of the middle; the pole leans {:.1} degrees to the {lean}.",
        scene.at.abs(),
        degrees.abs()
    );
    let mut picture = Picture::empty(WIDTH, HEIGHT, label);
    let across = (WIDTH - 100.0) / 2.0 / scene.track.max(1e-9);
    let middle = WIDTH / 2.0;
    let end = |x: f64| Node::line(x, GROUND - 7.0, x, GROUND + 7.0).stroke("var(--bad)", 3.0);
    picture.put(
        "track",
        (0.0, 0.0),
        vec![
            Node::line(20.0, GROUND, WIDTH - 20.0, GROUND).stroke("var(--wall)", 2.0),
            Node::line(middle, GROUND - 4.0, middle, GROUND + 4.0).stroke("var(--wall)", 2.0),
            end(middle - scene.track * across),
            end(middle + scene.track * across),
        ],
    );
    let turned = format!("rotate({})", number(degrees));
    let pole = Node::rect(-4.5, -POLE, 9.0, POLE).at("rx", 4.0).fill("#d2a06a");
    let upright = Node::line(0.0, 0.0, 0.0, -POLE - 14.0).stroke("var(--faint)", 1.0);
    picture.put(
        "cart",
        (middle + scene.at * across, GROUND - 32.0),
        vec![
            upright.set("stroke-dasharray", "3 5"),
            Node::rect(-34.0, 0.0, 68.0, 25.0).at("rx", 5.0).fill("var(--accent)"),
            Node::circle(-19.0, 25.0, 7.0).fill("var(--ink)"),
            Node::circle(19.0, 25.0, 7.0).fill("var(--ink)"),
            Node::new("g").set("transform", turned).with(pole),
            Node::circle(0.0, 0.0, 4.0).fill("var(--card)").stroke("var(--ink)", 1.5),
        ],
    );
    picture
}
