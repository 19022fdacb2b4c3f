//! What a state looks like: data for a picture where the facts alone do not make one.
//!
//! A world says what is where ([`Env::scene`](crate::Env::scene)); who draws it decides on sizes and colours. There are
//! few kinds of picture, and a new world may well share one: two worlds are grids.

use std::collections::BTreeMap;

use derrl_logic::{Type, Universe};
use serde::Serialize;

/// What a state looks like.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Scene {
    /// There is no picture: the facts say all there is to say.
    #[default]
    Facts,
    /// Objects; the facts say how they stand to each other.
    Objects(Objects),
    /// Blocks in stacks.
    Stacks(Stacks),
    /// A stack of numbers and a sum.
    Numbers(Numbers),
    /// Squares, things and an agent.
    Grid(Grid),
    /// Roads, queues and traffic lights.
    Roads(Roads),
    /// The junction of a traffic light, and the vehicles around it.
    Streets(Streets),
    /// A pole on a cart.
    Cart(Cart),
    /// Text that the world wrote itself, in lines of letters of one width.
    Text {
        /// The text.
        text: String,
    },
    /// An image that the world made itself.
    Image(Image),
}

impl Scene {
    /// Where it is, in worlds of several places.
    pub fn place(&self) -> Option<&str> {
        match self {
            Scene::Roads(roads) => roads.nodes.get(roads.turn?).map(|node| node.name.as_str()),
            Scene::Streets(streets) => Some(&streets.light),
            _ => None,
        }
    }

    /// Seconds since the start, in worlds of which that can be said.
    pub fn time(&self) -> Option<u64> {
        match self {
            Scene::Roads(roads) => Some(roads.time),
            Scene::Streets(streets) => Some(streets.time),
            _ => None,
        }
    }
}

/// An image, as browsers take it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Image {
    /// The image inside a `data:` address.
    pub address: String,
    /// Its width in pixels.
    pub width: u32,
    /// Its height in pixels.
    pub height: u32,
}

/// A pole on a cart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cart {
    /// Where the cart is, to the right of the middle of its track, in metres.
    pub at: f64,
    /// How far the track goes to each side, in metres.
    pub track: f64,
    /// How far the pole leans to the right, in radians.
    pub angle: f64,
}

/// The objects of a world that has no picture of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Objects {
    /// Their names, one list per type.
    pub groups: Vec<Vec<String>>,
}

impl Objects {
    /// The objects of a universe by their types.
    pub fn of(universe: &Universe) -> Objects {
        let mut groups: BTreeMap<Type, Vec<String>> = BTreeMap::new();
        for object in universe.objects() {
            groups.entry(universe.type_of(object)).or_default().push(universe.name(object).to_string());
        }
        Objects { groups: groups.into_values().collect() }
    }
}

/// Blocks in stacks on a floor.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stacks {
    /// The names of the blocks.
    pub blocks: Vec<String>,
    /// The stacks, each from the bottom up, by the numbers of the blocks.
    pub stacks: Vec<Vec<u32>>,
    /// The stacks that are wanted, each from the bottom up. One that is to stand on the floor begins with the number of blocks.
    pub goal: Vec<Vec<u32>>,
    /// The name of the floor.
    pub floor: String,
}

impl Stacks {
    /// The name of a block by its number, or of the floor.
    pub fn name(&self, block: u32) -> &str {
        self.blocks.get(block as usize).unwrap_or(&self.floor)
    }

    /// The goal in words: `a on b; d on c on floor`.
    pub fn wanted(&self) -> String {
        let stack = |s: &Vec<u32>| s.iter().rev().map(|b| self.name(*b)).collect::<Vec<_>>().join(" on ");
        self.goal.iter().map(stack).collect::<Vec<_>>().join("; ")
    }
}

/// A stack of numbers that are used up from the top, and a sum that should reach a goal.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Numbers {
    /// The stack as it was at first, top first.
    pub numbers: Vec<i64>,
    /// How many of them are used up.
    pub taken: usize,
    /// The sum so far.
    pub acc: i64,
    /// Where it should be.
    pub goal: i64,
    /// The least and the greatest number there is.
    pub range: (i64, i64),
}

/// Squares, numbered by column and row from the top left.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Grid {
    /// The rows from the top: `#` is wall, `.` is floor.
    pub rows: Vec<String>,
    /// The names of the columns, where they have any.
    pub columns: Vec<String>,
    /// The names of the rows, where they have any.
    pub lines: Vec<String>,
    /// What stands or lies on the floor.
    pub things: Vec<Thing>,
    /// Who acts.
    pub agent: Walker,
    /// The squares it came along in the last action, its present one last.
    pub trail: Vec<(u32, u32)>,
}

/// Something on a grid, or in the hands of an agent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Thing {
    /// What it is: `key`, `door`, `goal` or `obstacle`.
    pub kind: &'static str,
    /// Its name, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its column and row.
    pub at: (u32, u32),
    /// Its colour: `red`, `green`, `blue`, `purple`, `yellow` or `grey`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub colour: Option<&'static str>,
    /// Of a door: `open`, `closed` or `locked`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<&'static str>,
}

/// The agent of a grid.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Walker {
    /// Its column and row.
    pub at: (u32, u32),
    /// Where it looks, in quarter turns clockwise from the right; `None` where that means nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facing: Option<u8>,
    /// What it carries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<Thing>,
}

/// A network of one-lane roads with traffic lights.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Roads {
    /// Where roads meet or end.
    pub nodes: Vec<Junction>,
    /// The lanes that lead to traffic lights.
    pub lanes: Vec<Lane>,
    /// How many vehicles wait on each lane.
    pub queues: Vec<u32>,
    /// Which lanes have green.
    pub green: Vec<usize>,
    /// Which lanes will get green when all have decided.
    pub wanted: Vec<usize>,
    /// Whose turn it is to decide, by number of node.
    pub turn: Option<usize>,
    /// Seconds since the start.
    pub time: u64,
}

/// Where roads meet or end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Junction {
    /// Its name.
    pub name: String,
    /// Where it is, x to the right and y upwards, in blocks.
    pub at: (i32, i32),
    /// Whether it has traffic lights.
    pub lights: bool,
}

/// A lane that leads to traffic lights.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lane {
    /// Its name.
    pub name: String,
    /// The number of the node where it starts.
    pub from: usize,
    /// The number of the node where it leads.
    pub to: usize,
    /// How many vehicles it has room for.
    pub capacity: u32,
}

/// The junction of a traffic light, and the vehicles around it. Places are in metres, to the east and north.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Streets {
    /// The name of the light.
    pub light: String,
    /// Its place.
    pub centre: (f64, f64),
    /// How far around it is of interest.
    pub radius: f64,
    /// The middle lines of lanes.
    pub roads: Vec<Vec<(f64, f64)>>,
    /// The ends of the lanes that lead to the light.
    pub stops: Vec<Stop>,
    /// The phases of the light.
    pub phases: Vec<Ahead>,
    /// The vehicles.
    pub vehicles: Vec<Vehicle>,
    /// Seconds since the start.
    pub time: u64,
}

/// The end of a lane before a light.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stop {
    /// Its place.
    pub at: (f64, f64),
    /// The direction in which vehicles go there, of length 1.
    pub way: (f64, f64),
    /// What the light shows, a letter for each way on from left to right: `G` and `g` for green, `y` for yellow, others for red.
    pub letters: String,
}

/// A phase of a light.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Ahead {
    /// Its name.
    pub name: String,
    /// The lanes that have green in it, by the numbers of their ends.
    pub stops: Vec<usize>,
}

/// A vehicle.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Vehicle {
    /// Its name.
    pub name: String,
    /// The place of its front.
    pub at: (f64, f64),
    /// Where it looks, in degrees clockwise from north.
    pub heading: f64,
    /// Whether it stands.
    pub stands: bool,
}
