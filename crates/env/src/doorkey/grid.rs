//! A Minigrid level: its cells, its agent, and what each of Minigrid's primitive moves does.
//!
//! The semantics, the action numbers and the encoding are those of Minigrid 3.2.0, so that a list of [`Move`]s means the
//! same here as in `env.step`. A [`Grid`] reads and prints as text, two characters a cell:
//!
//! | text | cell |
//! |---|---|
//! | `..` | floor |
//! | `[]` | wall |
//! | `Kr` | key (a colour: `r`ed `g`reen `b`lue `p`urple `y`ellow gr`e`y) |
//! | `Lr` `Cr` `Or` | door: locked, closed, open |
//! | `GG` | goal |
//! | `>>` `vv` `<<` `^^` | the agent on the floor, and where it looks |
//!
//! # Examples
//!
//! ```
//! use derrl_env::doorkey::grid::{Grid, Move, Outcome};
//!
//! let mut grid: Grid = "
//!     [][][][][][][]
//!     []>>KrLr..GG[]
//!     [][][][][][][]
//! ".parse()?;
//! for id in [3, 2, 5, 2, 2] {
//!     let primitive = Move::from_id(id).ok_or("not a move of Minigrid")?;
//!     assert_eq!(grid.apply(primitive), Outcome::Changed);
//! }
//! assert_eq!(grid.apply(Move::Forward), Outcome::Goal);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::str::FromStr;

/// One of Minigrid's six colours, in the order of Minigrid's own numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Colour {
    /// Number 0.
    Red,
    /// Number 1.
    Green,
    /// Number 2.
    Blue,
    /// Number 3.
    Purple,
    /// Number 4, the colour of the key and the door of Minigrid's DoorKey.
    Yellow,
    /// Number 5, also the colour of walls.
    Grey,
}

impl Colour {
    /// Every colour, by number.
    pub const ALL: [Self; 6] = [Self::Red, Self::Green, Self::Blue, Self::Purple, Self::Yellow, Self::Grey];

    /// Minigrid's number for the colour.
    pub fn id(self) -> u8 {
        self as u8
    }

    /// The name of the colour.
    pub fn name(self) -> &'static str {
        ["red", "green", "blue", "purple", "yellow", "grey"][self as usize]
    }

    /// The letter of the colour in the text of a grid.
    pub fn letter(self) -> char {
        ['r', 'g', 'b', 'p', 'y', 'e'][self as usize]
    }

    fn from_letter(letter: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|colour| colour.letter() == char::from(letter))
    }
}

/// Whether a door can be walked through, as Minigrid numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DoorState {
    /// State 0: the agent can walk through.
    Open,
    /// State 1: a toggle opens it, without a key.
    Closed,
    /// State 2: a toggle opens it if the agent carries a key of its colour.
    Locked,
}

/// What is on one square.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cell {
    /// Floor.
    Empty,
    /// A wall.
    Wall,
    /// A key lying on the floor: it blocks the way until it is picked up.
    Key(Colour),
    /// A door.
    Door(Colour, DoorState),
    /// The goal: stepping on it ends the episode.
    Goal,
}

impl Cell {
    /// Whether the agent can step on the cell.
    pub fn is_walkable(self) -> bool {
        matches!(self, Self::Empty | Self::Goal | Self::Door(_, DoorState::Open))
    }

    /// Minigrid's triple of object, colour and state.
    pub fn encode(self) -> [u8; 3] {
        match self {
            Self::Empty => [1, 0, 0],
            Self::Wall => [2, Colour::Grey.id(), 0],
            Self::Door(colour, state) => [4, colour.id(), state as u8],
            Self::Key(colour) => [5, colour.id(), 0],
            Self::Goal => [8, Colour::Green.id(), 0],
        }
    }
}

/// A square by its column and row, counted from the top left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pos {
    /// Column.
    pub x: u8,
    /// Row.
    pub y: u8,
}

impl Pos {
    /// The square at a column and a row.
    pub fn new(x: u8, y: u8) -> Self {
        Self { x, y }
    }

    /// The next square in a direction. At the edge of the world it wraps round to 255, where every grid has a wall.
    #[must_use]
    pub fn ahead(self, direction: Direction) -> Self {
        let Self { x, y } = self;
        match direction {
            Direction::Right => Self::new(x.wrapping_add(1), y),
            Direction::Down => Self::new(x, y.wrapping_add(1)),
            Direction::Left => Self::new(x.wrapping_sub(1), y),
            Direction::Up => Self::new(x, y.wrapping_sub(1)),
        }
    }

    /// The four squares around this one.
    pub fn neighbours(self) -> [Self; 4] {
        Direction::ALL.map(|direction| self.ahead(direction))
    }
}

impl fmt::Display for Pos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.x, self.y)
    }
}

/// Where the agent looks, as Minigrid numbers it: clockwise from the right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Direction 0.
    Right,
    /// Direction 1.
    Down,
    /// Direction 2.
    Left,
    /// Direction 3.
    Up,
}

impl Direction {
    /// Every direction, by number.
    pub const ALL: [Self; 4] = [Self::Right, Self::Down, Self::Left, Self::Up];

    /// The direction after a quarter turn to the right.
    #[must_use]
    pub fn clockwise(self) -> Self {
        Self::ALL[(self as usize + 1) % 4]
    }

    /// The direction after a quarter turn to the left.
    #[must_use]
    pub fn counterclockwise(self) -> Self {
        Self::ALL[(self as usize + 3) % 4]
    }
}

/// A primitive action, as Minigrid numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Move {
    /// Action 0: a quarter turn to the left.
    Left,
    /// Action 1: a quarter turn to the right.
    Right,
    /// Action 2: one step ahead.
    Forward,
    /// Action 3: take the key ahead, if the hands are empty.
    PickUp,
    /// Action 4: put the carried key on the floor ahead.
    Drop,
    /// Action 5: open or close the door ahead; a locked one opens with a carried key of its colour, which stays in hand.
    Toggle,
    /// Action 6: does nothing.
    Done,
}

impl Move {
    /// Every primitive action, by number.
    pub const ALL: [Self; 7] =
        [Self::Left, Self::Right, Self::Forward, Self::PickUp, Self::Drop, Self::Toggle, Self::Done];

    /// Minigrid's number for the action.
    pub fn id(self) -> u8 {
        self as u8
    }

    /// The action with a number of Minigrid's.
    pub fn from_id(id: u8) -> Option<Self> {
        Self::ALL.get(usize::from(id)).copied()
    }
}

/// What an action did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Nothing: its preconditions failed, or nothing that counts was different afterwards.
    Unchanged,
    /// The world is different now.
    Changed,
    /// The agent stepped on the goal.
    Goal,
}

/// The agent: where it is, where it looks, what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Agent {
    /// Its square.
    pub pos: Pos,
    /// Where it looks.
    pub direction: Direction,
    /// The colour of the key in its hand.
    pub carrying: Option<Colour>,
}

impl Agent {
    /// The square ahead of the agent.
    pub fn front(&self) -> Pos {
        self.pos.ahead(self.direction)
    }
}

/// A level and its agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Grid {
    width: u8,
    height: u8,
    /// Row by row.
    cells: Vec<Cell>,
    /// The agent.
    pub agent: Agent,
}

impl Grid {
    /// The longest side of a grid.
    pub const MAX_SIDE: u8 = 64;

    /// A grid of one cell kind, with an empty-handed agent at the top left, looking right. Sides are clamped to
    /// 1..=[`MAX_SIDE`](Self::MAX_SIDE).
    pub fn filled(width: u8, height: u8, cell: Cell) -> Self {
        let (width, height) = (width.clamp(1, Self::MAX_SIDE), height.clamp(1, Self::MAX_SIDE));
        let cells = vec![cell; usize::from(width) * usize::from(height)];
        let agent = Agent { pos: Pos::new(0, 0), direction: Direction::Right, carrying: None };
        Self { width, height, cells, agent }
    }

    /// Number of columns.
    pub fn width(&self) -> u8 {
        self.width
    }

    /// Number of rows.
    pub fn height(&self) -> u8 {
        self.height
    }

    /// The number of a square in reading order, if it is on the grid.
    pub fn index(&self, pos: Pos) -> Option<usize> {
        (pos.x < self.width && pos.y < self.height)
            .then(|| usize::from(pos.y) * usize::from(self.width) + usize::from(pos.x))
    }

    /// What is on a square. Everything off the grid is wall.
    pub fn get(&self, pos: Pos) -> Cell {
        self.index(pos).map_or(Cell::Wall, |index| self.cells[index])
    }

    /// Puts a cell on a square. Off the grid, nothing happens.
    pub fn set(&mut self, pos: Pos, cell: Cell) {
        if let Some(index) = self.index(pos) {
            self.cells[index] = cell;
        }
    }

    /// Every square with its cell, in reading order.
    pub fn cells(&self) -> impl Iterator<Item = (Pos, Cell)> + Clone + '_ {
        let rows = self.cells.chunks_exact(usize::from(self.width)).zip(0..);
        rows.flat_map(|(row, y)| row.iter().zip(0..).map(move |(&cell, x)| (Pos::new(x, y), cell)))
    }

    /// The first square in reading order that holds the cell.
    pub fn find(&self, cell: Cell) -> Option<Pos> {
        self.cells().find(|&(_, found)| found == cell).map(|(pos, _)| pos)
    }

    /// Does one primitive action, exactly as Minigrid's `env.step` would.
    pub fn apply(&mut self, primitive: Move) -> Outcome {
        let front = self.agent.front();
        let ahead = self.get(front);
        match (primitive, ahead, self.agent.carrying) {
            (Move::Left, ..) => self.agent.direction = self.agent.direction.counterclockwise(),
            (Move::Right, ..) => self.agent.direction = self.agent.direction.clockwise(),
            (Move::Forward, cell, _) if cell.is_walkable() => {
                self.agent.pos = front;
                if cell == Cell::Goal {
                    return Outcome::Goal;
                }
            }
            (Move::PickUp, Cell::Key(colour), None) => {
                self.agent.carrying = Some(colour);
                self.set(front, Cell::Empty);
            }
            (Move::Drop, Cell::Empty, Some(colour)) => {
                self.agent.carrying = None;
                self.set(front, Cell::Key(colour));
            }
            (Move::Toggle, Cell::Door(colour, state), carrying) => {
                let state = match state {
                    DoorState::Open => DoorState::Closed,
                    DoorState::Closed => DoorState::Open,
                    DoorState::Locked if carrying == Some(colour) => DoorState::Open,
                    DoorState::Locked => return Outcome::Unchanged,
                };
                self.set(front, Cell::Door(colour, state));
            }
            _ => return Outcome::Unchanged,
        }
        Outcome::Changed
    }

    /// The bytes of Minigrid's `grid.encode()`: three per cell, column by column.
    pub fn encode(&self) -> Vec<u8> {
        (0..self.width)
            .flat_map(|x| (0..self.height).map(move |y| Pos::new(x, y)))
            .flat_map(|pos| self.get(pos).encode())
            .collect()
    }
}

const AGENTS: [&str; 4] = [">>", "vv", "<<", "^^"];

impl fmt::Display for Grid {
    /// The grid as text. An agent on anything but floor hides what it stands on.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (pos, cell) in self.cells() {
            if pos.x == 0 && pos.y > 0 {
                f.write_str("\n")?;
            }
            if pos == self.agent.pos {
                f.write_str(AGENTS[self.agent.direction as usize])?;
                continue;
            }
            match cell {
                Cell::Empty => f.write_str("..")?,
                Cell::Wall => f.write_str("[]")?,
                Cell::Goal => f.write_str("GG")?,
                Cell::Key(colour) => write!(f, "K{}", colour.letter())?,
                Cell::Door(colour, state) => {
                    write!(f, "{}{}", ['O', 'C', 'L'][state as usize], colour.letter())?;
                }
            }
        }
        Ok(())
    }
}

/// Why a text is not a grid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GridError {
    /// The rows have different lengths, or an odd one.
    #[error(
        "row {row} has {found} characters where {expected} are needed: two per cell, the same in every row"
    )]
    Ragged {
        /// The row, from 1.
        row: usize,
        /// Its length.
        found: usize,
        /// The length it should have.
        expected: usize,
    },
    /// A side is longer than [`Grid::MAX_SIDE`] or there is no cell at all.
    #[error("a grid has 1 to {} rows and columns, not {height} and {width}", Grid::MAX_SIDE)]
    Size {
        /// Columns.
        width: usize,
        /// Rows.
        height: usize,
    },
    /// Two characters that stand for no cell.
    #[error(
        "`{token}` at {pos} is no cell: write .. [] GG >> vv << ^^, or K, L, C or O and a colour of r g b p y e"
    )]
    Cell {
        /// What is written there.
        token: String,
        /// Where.
        pos: Pos,
    },
    /// There is not exactly one agent.
    #[error("a grid has one agent (>> vv << ^^), not {0}")]
    Agents(usize),
}

impl FromStr for Grid {
    type Err = GridError;

    /// Reads the text of a grid. Blank lines and spaces around rows are ignored.
    fn from_str(text: &str) -> Result<Self, GridError> {
        let rows: Vec<&str> = text.lines().map(str::trim).filter(|row| !row.is_empty()).collect();
        let expected = rows.first().map_or(0, |row| row.len() / 2 * 2);
        let (width, height) = (expected / 2, rows.len());
        let side = 1..=usize::from(Self::MAX_SIDE);
        if !side.contains(&width) || !side.contains(&height) {
            return Err(GridError::Size { width, height });
        }
        let mut grid = Self::filled(width as u8, height as u8, Cell::Empty);
        let mut agents = 0;
        for (y, row) in rows.iter().enumerate() {
            if row.len() != expected {
                return Err(GridError::Ragged { row: y + 1, found: row.len(), expected });
            }
            for (x, token) in row.as_bytes().chunks(2).enumerate() {
                let pos = Pos::new(x as u8, y as u8);
                if let Some(direction) = AGENTS.iter().position(|agent| agent.as_bytes() == token) {
                    grid.agent.pos = pos;
                    grid.agent.direction = Direction::ALL[direction];
                    agents += 1;
                    continue;
                }
                let cell = parse_cell(token).ok_or_else(|| GridError::Cell {
                    token: String::from_utf8_lossy(token).into_owned(),
                    pos,
                })?;
                grid.set(pos, cell);
            }
        }
        if agents == 1 { Ok(grid) } else { Err(GridError::Agents(agents)) }
    }
}

fn parse_cell(token: &[u8]) -> Option<Cell> {
    match token {
        b".." => Some(Cell::Empty),
        b"[]" => Some(Cell::Wall),
        b"GG" => Some(Cell::Goal),
        &[kind, letter] => {
            let colour = Colour::from_letter(letter)?;
            match kind {
                b'K' => Some(Cell::Key(colour)),
                b'O' => Some(Cell::Door(colour, DoorState::Open)),
                b'C' => Some(Cell::Door(colour, DoorState::Closed)),
                b'L' => Some(Cell::Door(colour, DoorState::Locked)),
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        let text = "[][][][][]\n[]>>KrGG[]\n[]LgCbOe[]\n[][][][][]";
        assert_eq!(text.parse::<Grid>().unwrap().to_string(), text);
    }

    #[test]
    fn a_wrong_text_says_what_is_wrong() {
        let error = |text: &str| text.parse::<Grid>().unwrap_err().to_string();
        assert_eq!(
            error("[]>>\n[]"),
            "row 2 has 2 characters where 4 are needed: two per cell, the same in every row"
        );
        assert_eq!(error(">>\nKq").split(':').next(), Some("`Kq` at (0, 1) is no cell"));
        assert_eq!(error(">>é").split(':').next(), Some("`é` at (1, 0) is no cell"));
        assert_eq!(error("..[]"), "a grid has one agent (>> vv << ^^), not 0");
        assert_eq!(error(""), "a grid has 1 to 64 rows and columns, not 0 and 0");
    }

    #[test]
    fn off_the_grid_is_wall() {
        let mut grid = Grid::filled(1, 1, Cell::Empty);
        for primitive in Move::ALL.into_iter().cycle().take(40) {
            grid.apply(primitive);
            assert_eq!(grid.agent.pos, Pos::new(0, 0));
        }
    }
}
