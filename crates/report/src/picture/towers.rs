//! A state of blocks on each other and on a table, read from facts such as `on(a, b)` and `holding(c)`.

use std::collections::BTreeSet;

use derrl_env::scene::Stacks;

use super::facts::{Fact, read};
use super::places::token;
use super::{Marks, Picture, stacks};

/// The blocks of a state, and those that a hand holds, where that is what facts are about.
pub fn towers(facts: &[String]) -> Option<(Stacks, Vec<u32>)> {
    let all: Vec<Fact<'_>> = facts.iter().map(|f| read(f)).collect();
    let of = |name: &'static str| all.iter().filter(move |f| f.name == name);
    let standing: Vec<&str> = of("on_table").filter(|f| f.args.len() == 1).map(|f| f.args[0]).collect();
    let on: Vec<(&str, &str)> =
        of("on").filter(|f| f.args.len() == 2).map(|f| (f.args[0], f.args[1])).collect();
    let held: Vec<&str> = of("holding").filter(|f| f.args.len() == 1).map(|f| f.args[0]).collect();
    // Others may be said of single blocks: what a policy defines.
    let is_about_towers = |f: &Fact<'_>| {
        f.args.len() < 2 && token(f.name).is_none() || matches!(f.name, "on" | "goal_on") && f.args.len() == 2
    };
    if on.is_empty() && of("goal_on").next().is_none()
        || standing.is_empty() && held.is_empty()
        || !all.iter().all(is_about_towers)
    {
        return None;
    }
    let mut blocks: BTreeSet<&str> = standing.iter().chain(&held).copied().collect();
    blocks.extend(on.iter().map(|(x, _)| *x));
    let mut blocks: Vec<&str> = blocks.into_iter().collect();
    // `b10` after `b9`.
    blocks.sort_by_key(|b| (b.chars().count(), *b));
    let number = |block: &str| blocks.iter().position(|b| *b == block).map(|i| i as u32);
    let tower = |bottom: &str, on: &[(&str, &str)]| {
        let mut tower: Vec<u32> = number(bottom).into_iter().collect();
        let mut top = bottom;
        while let Some((next, _)) = on.iter().find(|(_, y)| *y == top)
            && tower.len() <= blocks.len()
        {
            tower.extend(number(next));
            top = next;
        }
        tower
    };
    let goal: Vec<(&str, &str)> =
        of("goal_on").filter(|f| f.args.len() == 2).map(|f| (f.args[0], f.args[1])).collect();
    let bottoms =
        goal.iter().map(|(_, y)| *y).filter(|y| !goal.iter().any(|(x, _)| x == y)).collect::<BTreeSet<_>>();
    let towers: Vec<Vec<u32>> = standing.iter().map(|b| tower(b, &on)).collect();
    // Facts may say that a block is in two places.
    let mut seen: Vec<u32> =
        towers.iter().flatten().copied().chain(held.iter().filter_map(|b| number(b))).collect();
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    if seen.len() < count {
        return None;
    }
    let scene = Stacks {
        stacks: towers,
        goal: bottoms.iter().map(|b| tower(b, &goal)).collect(),
        blocks: blocks.iter().map(ToString::to_string).collect(),
        floor: "table".to_string(),
    };
    let held = held.iter().filter_map(|block| number(block)).collect();
    Some((scene, held))
}

/// Draws such a state.
pub(super) fn draw(facts: &[String], marks: &Marks) -> Option<Picture> {
    let (scene, held) = towers(facts)?;
    let mut picture = stacks::draw(&scene, marks);
    // What the hand holds hangs over its own place.
    for block in held {
        stacks::hang(&mut picture, &scene, block, marks);
    }
    Some(picture)
}
