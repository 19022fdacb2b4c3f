//! All levels of DoorKey up to this many keys and doors.
//!
//! What a policy sees of a level, and what its actions do, depends on which rooms the doors join, where the keys lie and
//! which door each fits. Levels that differ only in geometry, in colours or in the names of keys and doors are therefore
//! one instance here.

use std::sync::Arc;

use derrl_logic::{Action, Alphabet, Facts, Object, Universe};
use rustc_hash::FxHashSet;

use super::{Exhaustive, Extent, Family, Next, Size, Space};
use crate::binding::Binding;
use crate::doorkey::env::{picture, square, thing};
use crate::doorkey::grid::{Cell, Colour, DoorState, Grid, Outcome, Pos};
use crate::doorkey::layout::{ROOM, Shape, rooms};
use crate::doorkey::level::{self, Key, Level, State};
use crate::doorkey::world::World;
use crate::doorkey::{NAME, Names, VOCABULARY};
use crate::error::Error;
use crate::scene::{Scene, Walker};

/// The row's entry.
pub(crate) fn doorkey() -> Exhaustive {
    Exhaustive::sizes("keys and doors", (2, MOST_KEYS + MOST_DOORS), |alphabet, extent| {
        Ok(Box::new(DoorKey::new(alphabet, extent)?))
    })
}

const MOST_KEYS: usize = 6;
const MOST_DOORS: usize = Shape::MAX_DOORS as usize;

struct DoorKey {
    binding: Binding,
    sizes: Vec<Size>,
    /// For each size, its levels: the shape and the choices that lead to it.
    levels: Vec<Vec<(Shape, Vec<u8>)>>,
    universes: Vec<((u8, u8), Arc<Universe>)>,
}

impl DoorKey {
    fn new(alphabet: &Arc<Alphabet>, extent: &Extent) -> Result<DoorKey, Error> {
        let binding = Binding::new(NAME, &VOCABULARY, alphabet)?;
        let mut universes = Vec::new();
        let mut sizes = Vec::new();
        let mut levels = Vec::new();
        for size in 2..=extent.largest {
            let mut these = Vec::new();
            let mut widest = 0.0f64;
            let mut states = 0.0;
            for doors in 1..=MOST_DOORS.min(size) {
                let keys = (size - doors) as u8;
                let Ok(shape) = Shape::new(keys, doors as u8) else { continue };
                universes.push((
                    (keys, doors as u8),
                    Arc::new(Names { keys, doors: doors as u8 }.universe(alphabet)),
                ));
                let each = f64::from(1u32 << doors) * f64::from(keys + 1);
                let found = each_level(shape);
                widest = widest.max(each);
                states += each * found.len() as f64;
                these.extend(found.into_iter().map(|choices| (shape, choices)));
            }
            let title = format!("{size} keys and doors");
            sizes.push(Size { size, title, families: these.len() as u64, states, widest });
            levels.push(these);
        }
        // Keys and doors are named by where they are, which makes no difference here: no policy may tell them apart.
        let named = extent.named.iter().find(|name| {
            universes
                .iter()
                .any(|((keys, doors), u)| u.find(name).is_some_and(|o| o.0 < u32::from(keys + doors)))
        });
        if let Some(name) = named {
            return Err(Error::Option(format!(
                "the policy names `{name}`, but keys and doors are numbered by their places in a level, and places are \
                 not walked: say in the rule what tells `{name}` from others"
            )));
        }
        Ok(DoorKey { binding, sizes, levels, universes })
    }
}

/// The choices that lead to every level of a shape, once for each that differs in more than geometry.
///
/// [`rooms`] asks for: a colour for each key; the first slot; for each door an edge of the lattice and a place along it;
/// a spot for the goal; for each key a room and a spot; the agent's place and direction. Only the slot, the edges and
/// the rooms of keys matter: all others are 0.
fn each_level(shape: Shape) -> Vec<Vec<u8>> {
    let (keys, doors) = (usize::from(shape.keys()), usize::from(shape.doors()));
    let first_key = keys + 2 + 2 * doors;
    let matters = |call: usize| match call {
        _ if call == keys => true,
        _ if call > keys && call <= keys + 2 * doors => (call - keys) % 2 == 1,
        _ if call >= first_key && call < first_key + 2 * keys => (call - first_key).is_multiple_of(2),
        _ => false,
    };
    let mut seen = FxHashSet::default();
    let mut found = Vec::new();
    let mut choices: Vec<u8> = Vec::new();
    loop {
        let (grid, asked) = laid_out(shape, &choices);
        choices.resize(asked.len(), 0);
        if seen.insert(signature(&grid, keys, doors)) {
            found.push(choices.clone());
        }
        // The next choices, as an odometer counts.
        let Some(call) = (0..asked.len()).rev().find(|&c| matters(c) && u32::from(choices[c]) + 1 < asked[c])
        else {
            return found;
        };
        choices.truncate(call + 1);
        choices[call] += 1;
    }
}

/// The level of these choices (0 where there are none), and how many options each choice had.
fn laid_out(shape: Shape, choices: &[u8]) -> (Grid, Vec<u32>) {
    let mut asked = Vec::new();
    let grid = rooms(shape, |n| {
        let choice = choices.get(asked.len()).copied().unwrap_or(0);
        asked.push(n);
        u32::from(choice)
    });
    (grid, asked)
}

/// What tells levels apart: for each room after the first the room that its door leads out of, for each key its room.
fn signature(grid: &Grid, keys: usize, doors: usize) -> Vec<u8> {
    let slot = |pos: Pos| (pos.x / (ROOM + 1), pos.y / (ROOM + 1));
    let find = |cell: Cell| grid.find(cell).unwrap_or_else(|| Pos::new(0, 0));
    let mut known = vec![slot(grid.agent.pos)];
    let mut signature = Vec::with_capacity(keys + doors);
    for colour in &Colour::ALL[..doors] {
        let door = find(Cell::Door(*colour, DoorState::Locked));
        // A door in a vertical wall has rooms left and right of it, in a horizontal one above and below.
        let sides = if door.x % (ROOM + 1) == 0 {
            [slot(Pos::new(door.x - 1, door.y)), slot(Pos::new(door.x + 1, door.y))]
        } else {
            [slot(Pos::new(door.x, door.y - 1)), slot(Pos::new(door.x, door.y + 1))]
        };
        let parent = known.iter().position(|s| sides.contains(s)).unwrap_or_default();
        signature.push(parent as u8);
        let other = if sides[0] == known[parent] { sides[1] } else { sides[0] };
        known.push(other);
    }
    for colour in &Colour::ALL[..keys] {
        let room = slot(find(Cell::Key(*colour)));
        signature.push(known.iter().position(|&s| s == room).unwrap_or_default() as u8);
    }
    signature
}

impl Space for DoorKey {
    fn sizes(&self) -> &[Size] {
        &self.sizes
    }

    fn family(&self, size: usize, i: u64) -> Box<dyn Family> {
        let (shape, choices) = &self.levels[size][i as usize];
        let names = Names { keys: shape.keys(), doors: shape.doors() };
        let (grid, _) = laid_out(*shape, choices);
        let level =
            Arc::new(Level::new(grid).expect("every layout is a level: the contract of worlds tests it"));
        let universe = self.universes.iter().find(|(of, _)| *of == (names.keys, names.doors));
        let universe = Arc::clone(&universe.expect("every shape of the space has its universe").1);
        let mut family =
            Rooms { binding: self.binding.clone(), universe, names, level, distance: Vec::new() };
        family.search();
        Box::new(family)
    }
}

/// A level. A state is which doors are locked and which key is carried.
struct Rooms {
    binding: Binding,
    universe: Arc<Universe>,
    names: Names,
    level: Arc<Level>,
    /// Actions from each state to the goal.
    distance: Vec<Option<u32>>,
}

fn encode(state: State) -> u128 {
    u128::from(state.locked) * 8 + state.carried.map_or(0, |Key(k)| u128::from(k) + 1)
}

fn decode(state: u128) -> State {
    let carried = (state % 8) as u8;
    State { locked: (state / 8) as u8, carried: carried.checked_sub(1).map(Key) }
}

impl Rooms {
    fn world(&self, state: u128) -> World {
        World::at(Arc::clone(&self.level), decode(state))
    }

    /// Distances to the goal of all states: rounds over them until nothing changes.
    fn search(&mut self) {
        let states = 8 << self.names.doors;
        let mut distance: Vec<Option<u32>> = vec![None; states];
        let valid = |s: &usize| s % 8 <= usize::from(self.names.keys);
        loop {
            let mut changed = false;
            for s in (0..states).filter(valid) {
                for action in self.level.actions() {
                    let mut world = self.world(s as u128);
                    let after = match world.step(action) {
                        Outcome::Unchanged => continue,
                        Outcome::Goal => Some(0),
                        Outcome::Changed => distance[encode(world.state()) as usize],
                    };
                    if let Some(d) = after
                        && distance[s].is_none_or(|known| d + 1 < known)
                    {
                        distance[s] = Some(d + 1);
                        changed = true;
                    }
                }
            }
            if !changed {
                break;
            }
        }
        self.distance = distance;
    }
}

impl Family for Rooms {
    fn universe(&self) -> &Arc<Universe> {
        &self.universe
    }

    fn title(&self) -> String {
        let plural = |n: u8, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        format!("{}, {}", plural(self.names.keys, "key"), plural(self.names.doors, "door"))
    }

    fn name(&self) -> String {
        let signature = signature(self.level.grid(), self.names.keys.into(), self.names.doors.into());
        let rooms: Vec<String> = signature.iter().map(ToString::to_string).collect();
        let (parents, lies) = rooms.split_at(self.names.doors.into());
        format!("rooms {}, keys {}", parents.join(" "), lies.join(" "))
    }

    /// Keys and doors are numbered by their colours, which a level takes in order.
    fn label(&self, state: u128) -> Option<String> {
        let State { locked, carried } = decode(state);
        let colour = |object| self.level.colour(object).map(|c| c as u8);
        let locked = self.level.doors().filter(|d| locked & 1 << d.0 != 0);
        let mut locked: Vec<u8> = locked.filter_map(|d| colour(level::Object::Door(d))).collect();
        locked.sort_unstable();
        let locked: Vec<String> = locked.iter().map(ToString::to_string).collect();
        let hand = carried.and_then(|k| colour(level::Object::Key(k)));
        let hand = hand.map_or_else(|| "-".to_string(), |c| c.to_string());
        Some(format!("locked {}, hand {hand}", locked.join(" ")))
    }

    fn starts(&self, visit: &mut dyn FnMut(u128, u128)) {
        visit(encode(self.level.initial()), 1);
    }

    fn is_closed(&self) -> bool {
        false
    }

    fn facts(&self, state: u128, facts: &mut Facts) {
        self.names.say(&self.world(state), &self.binding, facts);
    }

    fn step(&self, state: u128, action: Action, args: &[Object]) -> Next {
        let mut world = self.world(state);
        match self.names.act(&mut world, self.binding.action(action), args[0]) {
            Outcome::Goal => Next::Reached,
            Outcome::Unchanged => Next::State(state),
            Outcome::Changed => Next::State(encode(world.state())),
        }
    }

    fn shortest(&self, state: u128) -> Option<u32> {
        self.distance[state as usize]
    }

    fn scene(&self, state: u128) -> Scene {
        let grid = self.level.grid();
        let now = decode(state);
        let (mut keys, mut doors) = (0u8, 0u8);
        let mut holds = None;
        let mut things = Vec::new();
        for (pos, cell) in grid.cells() {
            let seen = match cell {
                Cell::Empty | Cell::Wall | Cell::Goal => cell,
                Cell::Door(colour, _) => {
                    let locked = now.locked & (1 << doors) != 0;
                    doors += 1;
                    Cell::Door(colour, if locked { DoorState::Locked } else { DoorState::Open })
                }
                Cell::Key(_) => {
                    keys += 1;
                    if now.carried == Some(Key(keys - 1)) {
                        holds = thing(&self.level, pos, cell);
                        continue;
                    }
                    cell
                }
            };
            things.extend(thing(&self.level, pos, seen));
        }
        // Where in a room the agent stands makes no difference here: it stays where the level puts it.
        let agent = grid.agent;
        let walker = Walker { at: square(agent.pos), facing: Some(agent.direction as u8), holds };
        Scene::Grid(picture(grid, things, walker, Vec::new()))
    }
}
