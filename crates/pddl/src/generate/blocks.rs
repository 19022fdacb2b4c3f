//! Problems in which blocks are stacked.

use derrl_env::Rng;

use super::{Numbers, Text, numbered};

/// Blocks in towers, bottom first: each block of a random order goes on the table or on a tower, all equally likely.
fn towers(blocks: usize, rng: &mut Rng) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..blocks).collect();
    rng.shuffle(&mut order);
    let mut towers: Vec<Vec<usize>> = Vec::new();
    for block in order {
        match rng.below(towers.len() + 1) {
            at if at < towers.len() => towers[at].push(block),
            _ => towers.push(vec![block]),
        }
    }
    towers
}

fn on(towers: &[Vec<usize>]) -> Vec<(usize, usize)> {
    let mut all: Vec<_> = towers.iter().flat_map(|t| t.windows(2).map(|w| (w[1], w[0]))).collect();
    all.sort_unstable();
    all
}

/// Which block is on which, and what is on the table and clear.
fn facts(towers: &[Vec<usize>], ends: bool) -> Vec<String> {
    let mut all: Vec<String> = on(towers).iter().map(|(x, y)| format!("on b{} b{}", x + 1, y + 1)).collect();
    for tower in towers.iter().filter(|_| ends) {
        all.push(format!("on-table b{}", tower[0] + 1));
        all.push(format!("clear b{}", tower[tower.len() - 1] + 1));
    }
    all
}

pub(super) fn usual(blocks: usize, _: &mut Rng) -> Numbers {
    [blocks, 0, 0, 0, 0]
}

/// Goals say which block is on which, or what is on the table and clear, too.
pub(super) fn without_hand([blocks, whole, ..]: Numbers, rng: &mut Rng) -> Text {
    let blocks = blocks.max(2);
    let start = towers(blocks, rng);
    let holds = on(&start);
    // A goal that asks for something, and for something that does not hold yet.
    let wanted = loop {
        let wanted = towers(blocks, rng);
        if on(&wanted).iter().any(|pair| !holds.contains(pair)) {
            break wanted;
        }
    };
    let (init, goal) = (facts(&start, true), facts(&wanted, whole > 0));
    Text { objects: vec![("block", numbered("b", blocks))], init, goal }
}

pub(super) fn with_hand(numbers: Numbers, rng: &mut Rng) -> Text {
    let mut text = without_hand(numbers, rng);
    text.init.push("arm-empty".to_string());
    text
}
