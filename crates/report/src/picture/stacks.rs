//! Blocks in stacks on a floor. A stack stands over the place of its bottom block, so that nothing moves but what was moved.

use derrl_env::scene::Stacks;

use super::{Mark, Marks, Picture};
use crate::node::Node;

const BLOCK: f64 = 58.0;
const HUES: [&str; 10] = [
    "#7fa7d6", "#e2a76f", "#9cc38a", "#c79ad1", "#d98a8a", "#7fc2bf", "#d6c26b", "#a9a9c9", "#b7a08c",
    "#8fb7e8",
];

pub(super) fn draw(scene: &Stacks, marks: &Marks) -> Picture {
    let count = scene.blocks.len().max(4) as f64;
    let (width, height) = (count * (BLOCK + 22.0) + 150.0, scene.blocks.len() as f64 * BLOCK + 92.0);
    let name = |b: u32| scene.blocks.get(b as usize).map_or(scene.floor.as_str(), String::as_str);
    let mut picture = Picture::empty(width, height, label(scene));
    let ground = height - 44.0;
    let (left, right) = (30.0, width - 130.0);

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
    let small = 34.0;
    let (x, y) = scene.goal;
    picture.put(
        "goal",
        (width - 92.0, ground - 2.0 * small),
        vec![
            Node::text(small / 2.0, -14.0, 14.0, "goal").middle().fill("var(--faint)"),
            Node::group(block(x, name(x), small, None)),
            Node::group(block(y, name(y), small, None)).moved(0.0, small),
            Node::rect(-12.0, -34.0, small + 24.0, 2.0 * small + 46.0)
                .at("rx", 10.0)
                .fill("none")
                .stroke("var(--line)", 1.5)
                .set("stroke-dasharray", "4 4"),
        ],
    );
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

fn label(scene: &Stacks) -> String {
    let name = |b: &u32| scene.blocks.get(*b as usize).unwrap_or(&scene.floor).clone();
    let stacks: Vec<String> =
        scene.stacks.iter().map(|s| s.iter().map(name).collect::<Vec<_>>().join(" under ")).collect();
    format!("Stacks: {}. Goal: {} on {}.", stacks.join("; "), name(&scene.goal.0), name(&scene.goal.1))
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
