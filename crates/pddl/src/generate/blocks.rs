//! Problems in which blocks are stacked.

use derrl_env::Rng;

use super::{Text, numbered};

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

pub(super) fn without_hand(blocks: usize, rng: &mut Rng) -> Text {
    let start = towers(blocks, rng);
    let holds = on(&start);
    // A goal that asks for something, and for something that does not hold yet.
    let wanted = loop {
        let wanted = on(&towers(blocks, rng));
        if wanted.iter().any(|pair| !holds.contains(pair)) {
            break wanted;
        }
    };
    let pair = |(x, y): &(usize, usize)| format!("on b{} b{}", x + 1, y + 1);
    let mut init: Vec<String> = holds.iter().map(pair).collect();
    for tower in &start {
        init.push(format!("on-table b{}", tower[0] + 1));
        init.push(format!("clear b{}", tower[tower.len() - 1] + 1));
    }
    Text { objects: vec![("block", numbered("b", blocks))], init, goal: wanted.iter().map(pair).collect() }
}

pub(super) fn with_hand(blocks: usize, rng: &mut Rng) -> Text {
    let mut text = without_hand(blocks, rng);
    text.init.push("arm-empty".to_string());
    text
}
