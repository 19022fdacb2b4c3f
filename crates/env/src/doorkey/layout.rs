//! Where levels come from: Minigrid's own DoorKey for a seed, and our rooms with several keys and doors.
//!
//! # Several keys and doors
//!
//! Minigrid has no level with several coloured keys, locked doors and a goal, so [`rooms`] makes one: a tree of rooms
//! on a lattice, a locked door between a room and its parent, the agent in the first room and the goal in the last
//! one added, distinct colours, and keys that fit no door to tell apart from those that do.
//!
//! The paper's policy is memoryless and has no word for "within reach". So that this vocabulary suffices, every level
//! keeps two laws:
//!
//! 1. *There is always a next key.* In the order in which the rooms were added, the key of each door lies in a room
//!    that the doors before it open. Some keys therefore lie behind a locked door, and wait for it.
//! 2. *No key is met before its door.* A key lies in the room its door leads out of, or deeper. Whoever can take the key
//!    can walk to its door. Without this law an agent could take the key of a far door, and
//!    `open(X) :- locked(X), carrying(Y), samecolor(X, Y)` would try that door for ever.
//!
//! By the first law some `pick` of a matching key always succeeds while a door is locked, and among ties broken at
//! random it is tried sooner or later; by the second the `open` that follows succeeds at once.
//!
//! Keys and goal never stand in the way. A room is [`ROOM`] squares wide and high; objects lie where both coordinates in
//! the room are even, doors sit at odd ones. Two objects never touch, even at a corner, so they cannot fence anything
//! off, and never lie in front of a door.

use super::grid::{Cell, Colour, Direction, DoorState, Grid, Pos};
use super::numpy::Generator;

/// The inner side of a room of [`rooms`]. Odd, so that the squares for objects reach every corner.
pub const ROOM: u8 = 5;

/// Squares for objects along one side of a room: every other one.
const SPOTS: u8 = ROOM.div_ceil(2);

/// Places for a door along one side of a room: between the spots.
const DOORWAYS: u8 = ROOM / 2;

/// Why there is no such level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// A side that Minigrid's DoorKey cannot have.
    #[error("a DoorKey level has a side of 5 to {max}, not {0}", max = Grid::MAX_SIDE)]
    Size(u8),
    /// A number of keys and doors that [`rooms`] cannot lay out.
    #[error(
        "a level has 1 to 5 doors, and from as many keys as doors to 6: not {keys} keys and {doors} doors"
    )]
    Shape {
        /// Keys asked for.
        keys: u8,
        /// Doors asked for.
        doors: u8,
    },
}

/// The level that Minigrid 3.2.0 makes for `MiniGrid-DoorKey-{size}x{size}-v0` and `env.reset(seed=seed)`.
///
/// # Examples
///
/// ```
/// let grid = derrl_env::doorkey::layout::doorkey(5, 0)?;
/// assert_eq!(grid.to_string(), "\
/// [][][][][]
/// []..Ly..[]
/// []Ky[]..[]
/// []<<[]GG[]
/// [][][][][]");
/// # Ok::<(), derrl_env::doorkey::layout::LayoutError>(())
/// ```
pub fn doorkey(size: u8, seed: u64) -> Result<Grid, LayoutError> {
    if !(5..=Grid::MAX_SIDE).contains(&size) {
        return Err(LayoutError::Size(size));
    }
    // The draws come in Minigrid's order: split, agent, direction, door, key.
    let mut rng = Generator::new(seed);
    let mut grid = walled(size);
    grid.set(Pos::new(size - 2, size - 2), Cell::Goal);
    let split = draw(&mut rng, 2, size - 2);
    for y in 0..size {
        grid.set(Pos::new(split, y), Cell::Wall);
    }
    grid.agent.pos = floor_left_of(split, &grid, &mut rng);
    grid.agent.direction = Direction::ALL[usize::from(draw(&mut rng, 0, 4))];
    let door = Pos::new(split, draw(&mut rng, 1, size - 2));
    grid.set(door, Cell::Door(Colour::Yellow, DoorState::Locked));
    let key = floor_left_of(split, &grid, &mut rng);
    grid.set(key, Cell::Key(Colour::Yellow));
    Ok(grid)
}

fn draw(rng: &mut Generator, low: u8, high: u8) -> u8 {
    rng.integers(u32::from(low)..u32::from(high)) as u8
}

/// A free square left of a column, drawn until one is found, walls included, as Minigrid draws it.
fn floor_left_of(column: u8, grid: &Grid, rng: &mut Generator) -> Pos {
    loop {
        let pos = Pos::new(draw(rng, 0, column), draw(rng, 0, grid.height()));
        if grid.get(pos) == Cell::Empty && grid.agent.pos != pos {
            return pos;
        }
    }
}

/// A square of floor with wall around.
fn walled(size: u8) -> Grid {
    let mut grid = Grid::filled(size, size, Cell::Wall);
    carve(&mut grid, Pos::new(1, 1), size - 2);
    grid
}

/// Makes a square of floor, given its top left and its side.
fn carve(grid: &mut Grid, corner: Pos, side: u8) {
    for y in corner.y..corner.y + side {
        for x in corner.x..corner.x + side {
            grid.set(Pos::new(x, y), Cell::Empty);
        }
    }
}

/// How many keys, doors and colours a level of [`rooms`] has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    keys: u8,
    doors: u8,
    colours: u8,
}

impl Shape {
    /// The training level: two keys, one door, and the first three colours, so that other levels can have others.
    pub const TRAIN: Self = Self { keys: 2, doors: 1, colours: 3 };

    /// The most doors of a level.
    pub const MAX_DOORS: u8 = 5;

    /// A level of this many keys and doors, in all six colours: 1 to 5 doors, and from as many keys as doors to 6.
    pub fn new(keys: u8, doors: u8) -> Result<Self, LayoutError> {
        let colours = Colour::ALL.len() as u8;
        let fits = (1..=Self::MAX_DOORS).contains(&doors) && (doors..=colours).contains(&keys);
        if fits { Ok(Self { keys, doors, colours }) } else { Err(LayoutError::Shape { keys, doors }) }
    }

    /// Number of keys.
    pub fn keys(self) -> u8 {
        self.keys
    }

    /// Number of doors, all of them locked at first.
    pub fn doors(self) -> u8 {
        self.doors
    }

    /// Enough actions for a policy like the paper's, ties and all: 10 for every pair of a key and a door.
    ///
    /// Such a policy tries matching keys at random, and those out of reach or spent in vain. It needs 31 actions on
    /// average with 6 keys and 5 doors, and 18 if its rule for `pick` asks for a locked door; of 20,000 episodes, none
    /// took more than 106. The best needs three actions with one door.
    pub fn horizon(self) -> u32 {
        10 * u32::from(self.keys) * u32::from(self.doors)
    }

    /// Columns and rows of the lattice that the rooms are on: just enough for one room more than there are doors.
    fn lattice(self) -> (u8, u8) {
        match self.doors {
            0 | 1 => (2, 1),
            2 | 3 => (2, 2),
            _ => (3, 2),
        }
    }
}

/// The most rooms of a level.
const ROOMS: usize = Shape::MAX_DOORS as usize + 1;

/// A room while its level is being laid out.
#[derive(Clone, Copy, Default)]
struct Room {
    column: u8,
    row: u8,
    /// The room that its door leads out of. The first room is its own.
    parent: usize,
    /// The spots taken, a bit each.
    taken: u16,
}

impl Room {
    /// The top left square of its floor.
    fn corner(self) -> Pos {
        Pos::new(self.column * (ROOM + 1) + 1, self.row * (ROOM + 1) + 1)
    }

    /// Takes one of its free spots for an object.
    fn take_spot(&mut self, mut below: impl FnMut(u8) -> u8) -> Pos {
        let free = SPOTS * SPOTS - self.taken.count_ones() as u8;
        let mut skip = below(free);
        // At most six keys and a goal lie in a room of nine spots: there is a free one.
        let spot = (0..SPOTS * SPOTS)
            .filter(|spot| self.taken & (1 << spot) == 0)
            .find(|_| {
                let found = skip == 0;
                skip = skip.saturating_sub(1);
                found
            })
            .unwrap_or_default();
        self.taken |= 1 << spot;
        let Pos { x, y } = self.corner();
        Pos::new(x + 2 * (spot % SPOTS), y + 2 * (spot / SPOTS))
    }
}

/// A level of several rooms, keys and locked doors, always solvable. See the [module](self) for its laws.
///
/// `below(n)` is the source of randomness: a number less than `n`. The same numbers give the same level.
///
/// # Examples
///
/// ```
/// use derrl_env::doorkey::layout::{Shape, rooms};
/// use derrl_env::doorkey::numpy::Generator;
///
/// let mut rng = Generator::new(3);
/// let grid = rooms(Shape::new(3, 2)?, |n| rng.integers(0..n));
/// // The green key waits behind the yellow door; the blue one fits no door.
/// assert_eq!(grid.to_string(), "\
/// [][][][][][][][][][][][][]
/// []Ky........[]........Kg[]
/// []....>>....[]..........[]
/// []..........[]........Kb[]
/// []..........Ly..........[]
/// []..........[]..........[]
/// [][][][][][][][][][]Lg[][]
/// [][][][][][][]GG........[]
/// [][][][][][][]..........[]
/// [][][][][][][]..........[]
/// [][][][][][][]..........[]
/// [][][][][][][]..........[]
/// [][][][][][][][][][][][][]");
/// # Ok::<(), derrl_env::doorkey::layout::LayoutError>(())
/// ```
pub fn rooms(shape: Shape, mut below: impl FnMut(u32) -> u32) -> Grid {
    // A source that does not keep its word may spoil the randomness, but not the level.
    let mut below = |n: u8| below(u32::from(n)).min(u32::from(n.saturating_sub(1))) as u8;
    let doors = usize::from(shape.doors);

    let mut colours = Colour::ALL;
    for i in 0..shape.keys {
        let other = i + below(shape.colours - i);
        colours.swap(usize::from(i), usize::from(other));
    }

    let (columns, rows) = shape.lattice();
    let mut grid = Grid::filled(columns * (ROOM + 1) + 1, rows * (ROOM + 1) + 1, Cell::Wall);
    let mut tree = [Room::default(); ROOMS];
    let start = below(columns * rows);
    tree[0] = Room { column: start % columns, row: start / columns, ..Room::default() };
    carve(&mut grid, tree[0].corner(), ROOM);
    for added in 1..=doors {
        let (room, door) = grow(&tree[..added], (columns, rows), &mut below);
        carve(&mut grid, room.corner(), ROOM);
        grid.set(door, Cell::Door(colours[added - 1], DoorState::Locked));
        tree[added] = room;
    }

    grid.set(tree[doors].take_spot(&mut below), Cell::Goal);
    for (i, &colour) in colours.iter().enumerate().take(usize::from(shape.keys)) {
        // The key of door i is in a room added before it (law 1), and not above the room the door leads
        // out of (law 2). The keys after those fit no door, and lie anywhere.
        let door = i + 1;
        let fits = |&room: &usize| door > doors || is_below(&tree, room, tree[door].parent);
        let candidates = 0..door.min(doors + 1);
        let count = candidates.clone().filter(fits).count() as u8;
        let choice = usize::from(below(count));
        let room = candidates.filter(fits).nth(choice).unwrap_or_default();
        grid.set(tree[room].take_spot(&mut below), Cell::Key(colour));
    }

    let corner = tree[0].corner();
    let pos = Pos::new(corner.x + below(ROOM), corner.y + below(ROOM));
    // The squares left and right of a spot are never spots.
    let beside = if pos.x == corner.x { pos.x + 1 } else { pos.x - 1 };
    grid.agent.pos = if grid.get(pos) == Cell::Empty { pos } else { Pos::new(beside, pos.y) };
    grid.agent.direction = Direction::ALL[usize::from(below(4))];
    grid
}

/// One room more, beside one of the tree, and the square of the door between them.
fn grow(tree: &[Room], (columns, rows): (u8, u8), mut below: impl FnMut(u8) -> u8) -> (Room, Pos) {
    let is_free = |column: u8, row: u8| {
        column < columns && row < rows && !tree.iter().any(|room| (room.column, room.row) == (column, row))
    };
    let edges = || {
        let ways = tree.iter().enumerate().flat_map(|(parent, room)| {
            let slot = Pos::new(room.column, room.row);
            Direction::ALL.map(|direction| (parent, direction, slot.ahead(direction)))
        });
        ways.filter(|&(_, _, slot)| is_free(slot.x, slot.y))
    };
    let choice = below(edges().count() as u8);
    // The lattice is connected and has a room to spare, so some edge leads out of the tree.
    let (parent, direction, slot) =
        edges().nth(usize::from(choice)).unwrap_or((0, Direction::Right, Pos::new(0, 0)));

    let Pos { x, y } = tree[parent].corner();
    let along = 1 + 2 * below(DOORWAYS);
    let door = match direction {
        Direction::Right => Pos::new(x + ROOM, y + along),
        Direction::Down => Pos::new(x + along, y + ROOM),
        Direction::Left => Pos::new(x - 1, y + along),
        Direction::Up => Pos::new(x + along, y - 1),
    };
    (Room { column: slot.x, row: slot.y, parent, taken: 0 }, door)
}

/// Whether a room is another one or lies beyond it, seen from the first.
fn is_below(tree: &[Room], mut room: usize, ancestor: usize) -> bool {
    while room > ancestor {
        room = tree[room].parent;
    }
    room == ancestor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_impossible_level_is_an_error() {
        assert_eq!(doorkey(4, 0), Err(LayoutError::Size(4)));
        assert_eq!(doorkey(65, 0), Err(LayoutError::Size(65)));
        for (keys, doors) in [(0, 0), (2, 0), (1, 2), (7, 2), (6, 6)] {
            assert_eq!(Shape::new(keys, doors), Err(LayoutError::Shape { keys, doors }));
        }
    }

    #[test]
    fn a_level_has_what_was_asked_for() {
        for (keys, doors) in [(2, 1), (6, 1), (4, 3), (6, 5)] {
            let mut rng = Generator::new(u64::from(keys));
            let grid = rooms(Shape::new(keys, doors).unwrap(), |n| rng.integers(0..n));
            let count = |kind: fn(Cell) -> bool| grid.cells().filter(|&(_, cell)| kind(cell)).count() as u8;
            assert_eq!(count(|cell| matches!(cell, Cell::Key(_))), keys);
            assert_eq!(count(|cell| matches!(cell, Cell::Door(_, DoorState::Locked))), doors);
            assert_eq!(count(|cell| cell == Cell::Goal), 1);
            assert_eq!(grid.get(grid.agent.pos), Cell::Empty);
        }
    }
}
