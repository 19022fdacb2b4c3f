//! DoorKey against data recorded from the real Minigrid 3.2.0 (`record_minigrid.py`), and the laws of its levels.

use derrl_env::doorkey::grid::{Grid, Move, Outcome};
use derrl_env::doorkey::layout;

/// FNV-1a, as the recording script computes it.
fn fnv(bytes: &[u8], digest: u64) -> u64 {
    bytes.iter().fold(digest, |digest, &byte| (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

/// Every cell, then the agent's x, y, direction and carried colour (255: empty hands).
fn snapshot(grid: &Grid) -> Vec<u8> {
    let agent = &grid.agent;
    let carried = agent.carrying.map_or(255, |colour| colour.id());
    let mut bytes = grid.encode();
    bytes.extend([agent.pos.x, agent.pos.y, agent.direction as u8, carried]);
    bytes
}

#[test]
fn layouts_are_those_of_minigrid() {
    for line in include_str!("fixtures/minigrid/layouts.txt").lines() {
        let [size, seed, digest] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let grid = layout::doorkey(size.parse().unwrap(), seed.parse().unwrap()).unwrap();
        assert_eq!(format!("{:016x}", fnv(&snapshot(&grid), FNV_START)), digest, "{line}\n{grid}");
    }
}

#[test]
fn primitive_moves_do_what_minigrid_does() {
    let mut scenes: Vec<(&str, String)> = Vec::new();
    let mut walks = 0;
    for line in include_str!("fixtures/minigrid/moves.txt").lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["scene", name] => scenes.push((name, String::new())),
            ["walk", name, digest, walk] => {
                let (_, text) = scenes.iter().find(|scene| scene.0 == name).unwrap();
                let mut grid: Grid = text.parse().unwrap();
                let mut hash = fnv(&snapshot(&grid), FNV_START);
                let mut letters = walk.bytes().peekable();
                while let Some(letter) = letters.next() {
                    let outcome = grid.apply(Move::from_id(letter - b'0').unwrap());
                    let at_goal = letters.next_if_eq(&b'!').is_some();
                    assert_eq!(outcome == Outcome::Goal, at_goal);
                    hash = fnv(&snapshot(&grid), hash);
                }
                assert_eq!(format!("{hash:016x}"), digest, "{line}");
                walks += 1;
            }
            _ => {
                let text = &mut scenes.last_mut().unwrap().1;
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    assert_eq!(walks, 24);
}
