//! Blocks in stacks on a floor. A stack stands over the place of its bottom block, so that nothing moves but what was moved.

use std::fmt::Write as _;

use derrl_env::scene::Stacks;

use super::{Mark, Marks, Picture};
use crate::node::Node;

const BLOCK: f64 = 58.0;
/// The blocks of the goal, and what is between their stacks.
const SMALL: f64 = 34.0;
const GAP: f64 = 6.0;
const HUES: [&str; 10] = [
    "#7fa7d6", "#e2a76f", "#9cc38a", "#c79ad1", "#d98a8a", "#7fc2bf", "#d6c26b", "#a9a9c9", "#b7a08c",
    "#8fb7e8",
];

pub(super) fn draw(scene: &Stacks, marks: &Marks) -> Picture {
    let count = scene.blocks.len().max(4) as f64;
    let beside = 150.0 + scene.goal.len().saturating_sub(1) as f64 * (SMALL + GAP);
    let (width, height) = (count * (BLOCK + 22.0) + beside, levels(scene) as f64 * BLOCK + 92.0);
    let name = |b: u32| scene.name(b);
    let mut picture = Picture::empty(width, height, label(scene));
    let ground = height - 44.0;
    let (left, right) = (30.0, width - beside + 20.0);

    let floor = marks.get(&scene.floor);
    let text = floor.map_or_else(|| scene.floor.clone(), |m| format!("{} = {}", m.names, scene.floor));
    let sign = Node::text(left - 8.0, ground + 30.0, 15.0, text);
    picture.put(
        "floor",
        (0.0, 0.0),
        vec![
            Node::rect(left - 14.0, ground, right - left + 28.0, 8.0)
                .at("rx", 4.0)
                .fill(floor.map_or("var(--wall)", |m| m.colour)),
            match floor {
                Some(mark) => sign.bold().fill(mark.colour),
                None => sign.fill("var(--faint)"),
            },
        ],
    );
    let (looks, high) = wanted(scene);
    picture.put("goal", (width - beside + 58.0, ground - high), looks);
    let step = (right - left) / count;
    for stack in &scene.stacks {
        let Some(&bottom) = stack.first() else { continue };
        let x = left + (f64::from(bottom) + 0.5) * step - BLOCK / 2.0;
        for (level, &b) in stack.iter().enumerate() {
            let at = (x, ground - (level as f64 + 1.0) * BLOCK);
            picture.put(format!("block {}", name(b)), at, block(b, name(b), BLOCK, marks.get(name(b))));
        }
    }
    picture
}

/// How many blocks high a picture is. A few blocks have room for all of them in one stack; of many, there is room for more than the
/// highest stack has, in steps, so that the picture keeps its size for long.
fn levels(scene: &Stacks) -> usize {
    let all = scene.blocks.len();
    let goal = scene.goal.iter().map(Vec::len).max().unwrap_or(0);
    let highest = scene.stacks.iter().map(Vec::len).max().unwrap_or(0).max(goal);
    if all <= 8 { all } else { all.min((highest / 4 + 1) * 4) }
}

/// Adds a block that a hand holds, over its own place.
pub(super) fn hang(picture: &mut Picture, scene: &Stacks, b: u32, marks: &Marks) {
    let count = scene.blocks.len().max(4) as f64;
    let beside = 150.0 + scene.goal.len().saturating_sub(1) as f64 * (SMALL + GAP);
    let step = (picture.width - beside - 10.0) / count;
    let at = (
        30.0 + (f64::from(b) + 0.5) * step - BLOCK / 2.0,
        picture.height - 44.0 - levels(scene) as f64 * BLOCK,
    );
    let arm = Node::path(format!("M{} -40 v26 M6 2 v-16 h{} v16", BLOCK / 2.0, BLOCK - 12.0)).fill("none");
    let mut looks = vec![arm.stroke("var(--wall)", 4.0).set("stroke-linecap", "round")];
    looks.extend(block(b, scene.name(b), BLOCK, marks.get(scene.name(b))));
    picture.put(format!("block {}", scene.name(b)), at, looks);
    let _ = write!(picture.label, " In the hand: {}.", scene.name(b));
}

/// The stacks that are wanted, small and in a frame, and how high they are.
fn wanted(scene: &Stacks) -> (Vec<Node>, f64) {
    let floor = scene.blocks.len() as u32;
    let blocks = |stack: &Vec<u32>| stack.iter().filter(|b| **b != floor).count();
    let high = scene.goal.iter().map(blocks).max().unwrap_or(0) as f64 * SMALL;
    let wide = scene.goal.len() as f64 * (SMALL + GAP) - GAP;
    let mut looks = vec![Node::text(wide / 2.0, -14.0, 14.0, "goal").middle().fill("var(--faint)")];
    for (column, stack) in scene.goal.iter().enumerate() {
        let x = column as f64 * (SMALL + GAP);
        for (level, &b) in stack.iter().filter(|b| **b != floor).enumerate() {
            let y = high - (level as f64 + 1.0) * SMALL;
            looks.push(Node::group(block(b, scene.name(b), SMALL, None)).moved(x, y));
        }
    }
    if scene.goal.iter().any(|stack| stack.first() == Some(&floor)) {
        looks.push(Node::rect(-5.0, high, wide + 10.0, 4.0).at("rx", 2.0).fill("var(--wall)"));
    }
    let frame = Node::rect(-12.0, -34.0, wide + 24.0, high + 46.0).at("rx", 10.0);
    looks.push(frame.fill("none").stroke("var(--line)", 1.5).set("stroke-dasharray", "4 4"));
    (looks, high)
}

fn label(scene: &Stacks) -> String {
    let stack = |s: &Vec<u32>| s.iter().map(|b| scene.name(*b)).collect::<Vec<_>>().join(" under ");
    let stacks: Vec<String> = scene.stacks.iter().map(stack).collect();
    format!("Stacks: {}. Goal: {}.", stacks.join("; "), scene.wanted())
}

fn block(i: u32, name: &str, size: f64, mark: Option<Mark<'_>>) -> Vec<Node> {
    let letters = name.chars().count() as f64;
    let font = (size * 0.42).min(size * 1.4 / letters.max(1.0));
    let side = Node::rect(1.5, 1.5, size - 3.0, size - 3.0).at("rx", 8.0).fill(HUES[i as usize % HUES.len()]);
    let mut looks = vec![
        mark.map_or(side.clone(), |m| side.stroke(m.colour, 5.0)),
        Node::text(size / 2.0, size / 2.0 + font * 0.35, font, name).middle().bold().fill("#1c2024"),
    ];
    looks.extend(mark.into_iter().flat_map(|m| m.badge(size - 3.0, 3.0)));
    looks
}
