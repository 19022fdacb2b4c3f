//! DoorKey against data recorded from the real Minigrid 3.2.0 (`record_minigrid.py`), and the laws of its levels.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::Arc;

use derrl_env::doorkey::grid::{Colour, Grid, Move, Outcome};
use derrl_env::doorkey::layout::{self, Shape};
use derrl_env::doorkey::level::{Action, Fact, Level, Object};
use derrl_env::doorkey::numpy::Generator;
use derrl_env::doorkey::world::{Walk, World};
use proptest::prelude::*;

/// FNV-1a, as the recording script computes it.
fn fnv(bytes: &[u8], digest: u64) -> u64 {
    bytes.iter().fold(digest, |digest, &byte| (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

/// Every cell, then the agent's x, y, direction and carried colour (255: empty hands).
fn snapshot(grid: &Grid) -> Vec<u8> {
    let agent = &grid.agent;
    let carried = agent.carrying.map_or(255, Colour::id);
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

/// Every fitting key within reach to its door, after a detour to a key that fits none; then to the goal.
fn thorough_solution(level: &Arc<Level>) -> Vec<Action> {
    let mut world = World::new(level.clone());
    let mut actions = Vec::new();
    let fits = |key| {
        level
            .background()
            .any(|fact| matches!(fact, Fact::SameColor(Object::Key(k), Object::Door(_)) if k == key))
    };
    // Every round opens a door at least.
    for _ in level.doors() {
        let detours = level.keys().filter(|&key| !fits(key));
        let (picks, opens) = (detours.chain(level.keys().filter(|&key| fits(key))), level.doors());
        for action in picks.map(Action::Pick).chain(opens.map(Action::Open)) {
            if world.step(action) == Outcome::Changed {
                actions.push(action);
            }
        }
    }
    actions.push(Action::Goto(Object::Goal));
    actions
}

fn digits(moves: &[Move]) -> String {
    moves.iter().map(|primitive| char::from(b'0' + primitive.id())).collect()
}

/// The plans that `record_minigrid.py verify` replays in the real Minigrid.
fn plans() -> String {
    let mut text = String::new();
    let walked = |level: Grid| {
        let level = Arc::new(Level::new(level).unwrap());
        let mut walk = Walk::new(level.clone());
        let moves: Vec<Move> = thorough_solution(&level)
            .into_iter()
            .flat_map(|action| walk.step(action).1.expect("an action of a solution can be done"))
            .collect();
        assert_eq!(walk.grid().agent.pos, level.goal());
        digits(&moves)
    };
    for (size, seeds) in [(5, 50), (6, 50), (8, 100), (16, 50)] {
        for seed in 0..seeds {
            let moves = walked(layout::doorkey(size, seed).unwrap());
            writeln!(text, "doorkey {size} {seed} {moves}").unwrap();
        }
    }
    for (keys, doors) in [(2, 1), (6, 1), (2, 2), (3, 2), (4, 3), (6, 4), (5, 5), (6, 5)] {
        for seed in 0..4 {
            let grid = rooms(Shape::new(keys, doors).unwrap(), seed);
            writeln!(text, "{grid}\nrooms {}", walked(grid.clone())).unwrap();
        }
    }
    text
}

#[test]
fn plans_are_those_that_solved_the_real_minigrid() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/minigrid/plans.txt");
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        std::fs::write(path, plans()).unwrap();
    }
    // Compared line by line, so that a difference is short to read.
    let verified = std::fs::read_to_string(path).unwrap();
    for (ours, verified) in plans().lines().zip(verified.lines()) {
        assert_eq!(ours, verified);
    }
    assert_eq!(plans().len(), verified.len());
}

/// An action that the paper's rules derive, ties broken at random.
///
/// ```prolog
/// pick(X) :- key(X), samecolor(X, Y), door(Y), notcarrying.
/// open(X) :- locked(X), samecolor(X, Y), carrying(Y).
/// goto(X) :- goal(X), unlocked.
/// ```
fn papers_choice(world: &World, rng: &mut Generator) -> Action {
    let facts: Vec<Fact> = world.facts().collect();
    let holds = |fact| facts.contains(&fact);
    let derived: Vec<Action> = facts
        .iter()
        .filter_map(|&fact| match fact {
            Fact::SameColor(Object::Key(x), Object::Door(_)) if holds(Fact::NotCarrying) => {
                Some(Action::Pick(x))
            }
            Fact::SameColor(Object::Door(x), Object::Key(y)) => {
                (holds(Fact::Locked(x)) && holds(Fact::Carrying(y))).then_some(Action::Open(x))
            }
            Fact::Goal if holds(Fact::Unlocked) => Some(Action::Goto(Object::Goal)),
            _ => None,
        })
        .collect();
    derived[rng.integers(0..derived.len() as u32) as usize]
}

#[test]
fn the_papers_rules_always_reach_the_goal_in_time() {
    for (doors, keys) in (1..=5).flat_map(|doors| (doors.max(2)..=6).map(move |keys| (doors, keys))) {
        let shape = Shape::new(keys, doors).unwrap();
        for seed in 0..200 {
            let mut world = World::new(Arc::new(Level::new(rooms(shape, seed)).unwrap()));
            let mut rng = Generator::new(seed);
            let arrival = (1..=shape.horizon()).find(|_| {
                let action = papers_choice(&world, &mut rng);
                world.step(action) == Outcome::Goal
            });
            assert!(arrival.is_some(), "{keys} keys, {doors} doors, seed {seed}");
        }
    }
}

fn rooms(shape: Shape, seed: u64) -> Grid {
    let mut rng = Generator::new(seed);
    layout::rooms(shape, |n| rng.integers(0..n))
}

/// Any number of keys and doors that fit together.
fn any_shape() -> impl Strategy<Value = Shape> {
    (1..=5u8)
        .prop_flat_map(|doors| (doors..=6, Just(doors)))
        .prop_map(|(keys, doors)| Shape::new(keys, doors).unwrap())
}

fn any_level() -> impl Strategy<Value = Arc<Level>> {
    let ours = (any_shape(), any::<u64>()).prop_map(|(shape, seed)| rooms(shape, seed));
    let train = any::<u64>().prop_map(|seed| rooms(Shape::TRAIN, seed));
    let minigrid = (5..12u8, any::<u64>()).prop_map(|(size, seed)| layout::doorkey(size, seed).unwrap());
    prop_oneof![4 => ours, 1 => train, 1 => minigrid].prop_map(|grid| Arc::new(Level::new(grid).unwrap()))
}

/// Every state that can be reached, with the world that is in it.
fn reachable(level: &Arc<Level>) -> Vec<World> {
    let mut worlds = vec![World::new(level.clone())];
    let mut seen: HashSet<_> = worlds.iter().map(World::state).collect();
    let mut next = 0;
    while let Some(world) = worlds.get(next).cloned() {
        for action in level.actions() {
            let mut after = world.clone();
            if after.step(action) == Outcome::Changed && seen.insert(after.state()) {
                worlds.push(after);
            }
        }
        next += 1;
    }
    worlds
}

fn fact_set(world: &World) -> Vec<String> {
    let mut facts: Vec<String> = world.facts().map(|fact| fact.to_string()).collect();
    facts.sort();
    facts
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rooms_decide_what_the_walk_on_the_grid_does(
        level in any_level(),
        choices in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let actions: Vec<Action> = level.actions().collect();
        let (mut world, mut walk) = (World::new(level.clone()), Walk::new(level.clone()));
        for choice in choices {
            // Actions at random seldom get far: every fourth one is a step towards the goal, but not onto it.
            let progress = world.solve().map(|solution| solution[0]);
            let action = match progress {
                Some(action) if choice >= 192 && action != Action::Goto(Object::Goal) => action,
                _ => actions[usize::from(choice) % actions.len()],
            };
            let grid = walk.grid().clone();
            let (outcome, moves) = walk.step(action);
            prop_assert_eq!(world.step(action), outcome, "{} in\n{}", action, grid);
            prop_assert_eq!(world.state(), walk.state());
            prop_assert_eq!(world.is_at_goal(), walk.grid().agent.pos == level.goal());
            if moves.is_none() {
                prop_assert_eq!(walk.grid(), &grid);
            }
        }
    }

    #[test]
    fn levels_keep_their_laws_in_every_state(level in any_level()) {
        for world in reachable(&level) {
            prop_assert!(world.solve().is_some());
            let state = world.state();
            let can = |action| world.clone().step(action) == Outcome::Changed;
            let locked = |door| world.facts().any(|fact| fact == Fact::Locked(door));
            let pairs: Vec<_> = level
                .background()
                .filter_map(|fact| match fact {
                    Fact::SameColor(Object::Key(key), Object::Door(door)) if locked(door) => Some((key, door)),
                    _ => None,
                })
                .collect();
            if let Some(&(_, door)) = pairs.iter().find(|pair| Some(pair.0) == state.carried) {
                prop_assert!(can(Action::Open(door)), "a key is met before its door");
            } else if state.locked != 0 {
                prop_assert!(pairs.iter().any(|&(key, _)| can(Action::Pick(key))), "there is no next key");
            }
        }
    }

    #[test]
    fn a_code_stands_for_a_set_of_facts(a in any_level(), b in any_level()) {
        let worlds = [reachable(&a), reachable(&b)].concat();
        let facts: Vec<_> = worlds.iter().map(fact_set).collect();
        let codes: Vec<u128> = worlds.iter().map(World::code).collect();
        for i in 0..worlds.len() {
            for j in 0..i {
                prop_assert_eq!(facts[i] == facts[j], codes[i] == codes[j]);
            }
        }
    }

    #[test]
    fn the_same_numbers_make_the_same_level(shape in any_shape(), seed in any::<u64>()) {
        prop_assert_eq!(rooms(shape, seed), rooms(shape, seed));
    }

    #[test]
    fn no_source_of_numbers_spoils_a_level(shape in any_shape(), numbers in prop::collection::vec(any::<u32>(), 1..8)) {
        let mut numbers = numbers.into_iter().cycle();
        let level = Level::new(layout::rooms(shape, |_| numbers.next().unwrap_or(0))).unwrap();
        prop_assert!(World::new(Arc::new(level)).solve().is_some());
    }
}
