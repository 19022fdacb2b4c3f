//! A level as the policy sees it: named keys and doors, the rooms between the doors, and the facts.
//!
//! A [`Level`] is made once from a [`Grid`] and shared. What changes during an episode is a [`State`] of two bytes: which
//! doors are locked, and which key is carried. Together they give the facts and their [code](Level::code).

use std::fmt;

use super::grid::{Cell, Colour, DoorState, Grid, Pos};

/// A key of a level, numbered in reading order of where it first lies: `k1`, `k2`, ...
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(pub u8);

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "k{}", u16::from(self.0) + 1)
    }
}

/// A door of a level, numbered in reading order: `d1`, `d2`, ...
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Door(pub u8);

impl fmt::Display for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "d{}", u16::from(self.0) + 1)
    }
}

/// Something that has a name in a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Object {
    /// A key.
    Key(Key),
    /// A door.
    Door(Door),
    /// The goal, named `goal`.
    Goal,
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => key.fmt(f),
            Self::Door(door) => door.fmt(f),
            Self::Goal => f.write_str("goal"),
        }
    }
}

/// A high-level action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Walk to a key and take it, putting down first what is carried.
    Pick(Key),
    /// Walk to a locked door, unlock it with the carried key, and put the key down.
    Open(Door),
    /// Walk to an object: onto the goal, next to anything else.
    Goto(Object),
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pick(key) => write!(f, "pick({key})"),
            Self::Open(door) => write!(f, "open({door})"),
            Self::Goto(object) => write!(f, "goto({object})"),
        }
    }
}

/// A ground atom that holds in some state of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fact {
    /// `carrying(k)`: the key is in hand.
    Carrying(Key),
    /// `notcarrying`: the hands are empty.
    NotCarrying,
    /// `locked(d)`: the door is locked.
    Locked(Door),
    /// `unlocked`: no door is locked any more.
    Unlocked,
    /// `key(k)`.
    Key(Key),
    /// `door(d)`.
    Door(Door),
    /// `goal(goal)`.
    Goal,
    /// `samecolor(x, y)`: two different objects, keys or doors, of one colour. Symmetric, and transitive among three
    /// different objects. The goal has no colour of its own: Minigrid paints every goal green.
    SameColor(Object, Object),
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Carrying(key) => write!(f, "carrying({key})"),
            Self::NotCarrying => f.write_str("notcarrying"),
            Self::Locked(door) => write!(f, "locked({door})"),
            Self::Unlocked => f.write_str("unlocked"),
            Self::Key(key) => write!(f, "key({key})"),
            Self::Door(door) => write!(f, "door({door})"),
            Self::Goal => f.write_str("goal(goal)"),
            Self::SameColor(x, y) => write!(f, "samecolor({x}, {y})"),
        }
    }
}

/// What changes during an episode, as the policy sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The locked doors: bit i is door i.
    pub locked: u8,
    /// The key in hand.
    pub carried: Option<Key>,
}

/// A set of rooms, a bit each.
pub(super) type Rooms = u8;

/// A set of doors, a bit each.
pub(super) type Doors = u8;

/// A key and what there is to know about it.
#[derive(Clone, Debug)]
pub(super) struct KeyPlace {
    pub colour: Colour,
    /// The room it first lies in. It never ends up out of reach of who could reach it there: doors, once open, stay
    /// open, and whoever puts it down stands in a room within reach.
    pub room: Rooms,
    /// The doors of its colour.
    pub fits: Doors,
}

/// A door and what there is to know about it.
#[derive(Clone, Debug)]
pub(super) struct DoorPlace {
    pub colour: Colour,
    pub pos: Pos,
    /// The rooms on its two sides.
    pub rooms: Rooms,
}

/// A level: where everything is at first, what it is called, and which rooms the doors join.
#[derive(Clone, Debug)]
pub struct Level {
    grid: Grid,
    pub(super) keys: Vec<KeyPlace>,
    pub(super) doors: Vec<DoorPlace>,
    pub(super) goal_room: Rooms,
    goal: Pos,
    start: Rooms,
    initial: State,
    /// The part of the code that never changes.
    background: u128,
}

/// Why a grid is not a level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LevelError {
    /// Two keys of one colour cannot be told apart once they have been carried about.
    #[error("two keys are {0:?}; every key of a level has a colour of its own")]
    SharedColour(Colour),
    /// More doors than a state has room for.
    #[error("a level has at most {max} doors, not {0}", max = Level::MAX_DOORS)]
    Doors(usize),
    /// More rooms than a set of rooms has bits.
    #[error("a level has at most 8 rooms")]
    Rooms,
    /// Not exactly one goal.
    #[error("a level has one goal, not {0}")]
    Goals(usize),
    /// The agent does not stand on floor, or has something in hand.
    #[error("the agent of a level starts on floor, with empty hands")]
    Agent,
    /// Something lies in front of a door or cuts a room in two, or a door is not in a wall.
    #[error(
        "what is at {0} is in the way: rooms must stay in one piece around keys and goal, doors need floor on both sides and wall on the others"
    )]
    InTheWay(Pos),
}

impl Level {
    /// The most doors of a level.
    pub const MAX_DOORS: usize = 6;

    /// Reads a level from a grid.
    ///
    /// High-level actions are decided by rooms alone, which is right only if nothing that lies about can cut a room in
    /// two or bar a door; a grid in which something does is refused. One exception is as safe: with a single key and a
    /// single locked door between the agent and the goal, as in Minigrid's DoorKey, the key may lie anywhere on the
    /// agent's side, since it is taken up before anything else can happen and put down out of the way.
    pub fn new(grid: Grid) -> Result<Self, LevelError> {
        let (mut keys, mut doors, mut goals) = (Vec::new(), Vec::new(), Vec::new());
        for (pos, cell) in grid.cells() {
            match cell {
                Cell::Key(colour) => keys.push((pos, colour)),
                Cell::Door(colour, state) => doors.push((pos, colour, state)),
                Cell::Goal => goals.push(pos),
                Cell::Empty | Cell::Wall => {}
            }
        }
        let shared = keys.iter().enumerate().find(|(i, key)| keys[..*i].iter().any(|other| other.1 == key.1));
        if let Some((_, &(_, colour))) = shared {
            return Err(LevelError::SharedColour(colour));
        }
        if doors.len() > Self::MAX_DOORS {
            return Err(LevelError::Doors(doors.len()));
        }
        let [goal] = goals[..] else { return Err(LevelError::Goals(goals.len())) };
        if grid.get(grid.agent.pos) != Cell::Empty || grid.agent.carrying.is_some() {
            return Err(LevelError::Agent);
        }

        let lone = match (&keys[..], &doors[..]) {
            (&[(key, _)], &[(door, _, DoorState::Locked)]) => {
                FloorPlan::with_lone_key(&grid, key, door, goal)
            }
            _ => None,
        };
        let plan = lone.map_or_else(
            || {
                let objects: Vec<Pos> = keys.iter().map(|key| key.0).chain([goal]).collect();
                let doors: Vec<Pos> = doors.iter().map(|door| door.0).collect();
                FloorPlan::of(&grid, &objects, &doors)
            },
            Ok,
        )?;

        let door_set = |holds: &dyn Fn(Colour, DoorState) -> bool| {
            let those = doors.iter().enumerate().filter(|(_, door)| holds(door.1, door.2));
            those.fold(0, |set, (i, _)| set | 1 << i)
        };
        Ok(Self {
            keys: keys
                .iter()
                .map(|&(pos, colour)| KeyPlace {
                    colour,
                    room: plan.room(pos),
                    fits: door_set(&|door, _| door == colour),
                })
                .collect(),
            doors: doors
                .iter()
                .map(|&(pos, colour, _)| {
                    let rooms = pos.neighbours().into_iter().fold(0, |set, side| set | plan.room(side));
                    DoorPlace { colour, pos, rooms }
                })
                .collect(),
            goal_room: plan.room(goal),
            goal,
            start: plan.room(grid.agent.pos),
            initial: State { locked: door_set(&|_, state| state == DoorState::Locked), carried: None },
            background: background(keys.iter().map(|key| key.1), doors.iter().map(|door| door.1)),
            grid,
        })
    }

    /// The grid that the level starts from.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Where the goal is.
    pub fn goal(&self) -> Pos {
        self.goal
    }

    /// The state that the level starts in.
    pub fn initial(&self) -> State {
        self.initial
    }

    /// The keys, `k1` first.
    pub fn keys(&self) -> impl Iterator<Item = Key> + use<> {
        (0..self.keys.len() as u8).map(Key)
    }

    /// The doors, `d1` first.
    pub fn doors(&self) -> impl Iterator<Item = Door> + use<> {
        (0..self.doors.len() as u8).map(Door)
    }

    /// Everything with a name: the keys, the doors, the goal.
    pub fn objects(&self) -> impl Iterator<Item = Object> + use<> {
        self.keys().map(Object::Key).chain(self.doors().map(Object::Door)).chain([Object::Goal])
    }

    /// The ground actions: `pick` every key, `open` every door, `goto` every object.
    pub fn actions(&self) -> impl Iterator<Item = Action> + use<> {
        let picks = self.keys().map(Action::Pick);
        picks.chain(self.doors().map(Action::Open)).chain(self.objects().map(Action::Goto))
    }

    /// The colour of a key or a door. The goal has none, nor has an object of another level.
    pub fn colour(&self, object: Object) -> Option<Colour> {
        match object {
            Object::Key(Key(i)) => self.keys.get(usize::from(i)).map(|key| key.colour),
            Object::Door(Door(i)) => self.doors.get(usize::from(i)).map(|door| door.colour),
            Object::Goal => None,
        }
    }

    /// Where a door is.
    pub fn door_pos(&self, Door(i): Door) -> Option<Pos> {
        self.doors.get(usize::from(i)).map(|door| door.pos)
    }

    /// The facts that hold throughout an episode: `key`, `door`, `goal` and `samecolor`.
    pub fn background(&self) -> impl Iterator<Item = Fact> + '_ {
        let kinds = self.objects().map(|object| match object {
            Object::Key(key) => Fact::Key(key),
            Object::Door(door) => Fact::Door(door),
            Object::Goal => Fact::Goal,
        });
        let pairs = self.objects().flat_map(move |x| {
            let colour = self.colour(x);
            let same =
                self.objects().filter(move |&y| x != y && colour.is_some() && colour == self.colour(y));
            same.map(move |y| Fact::SameColor(x, y))
        });
        kinds.chain(pairs)
    }

    /// The facts that hold in a state and may change: `carrying`, `notcarrying`, `locked` and `unlocked`.
    pub fn state_facts(&self, state: State) -> impl Iterator<Item = Fact> + use<> {
        let hands = state.carried.map_or(Fact::NotCarrying, Fact::Carrying);
        let locked = self.doors().filter(move |door| state.locked & (1 << door.0) != 0).map(Fact::Locked);
        [hands].into_iter().chain(locked).chain((state.locked == 0).then_some(Fact::Unlocked))
    }

    /// A number for all the facts of a state, background included: two states, of one level or of two, have the same
    /// facts exactly when they have the same code. Less than 2⁶³.
    pub fn code(&self, state: State) -> u128 {
        let carried = state.carried.map_or(0, |key| u128::from(key.0) + 1);
        self.background | (u128::from(state.locked) << 3) | carried
    }

    /// The state that a grid of this level is in.
    pub fn read(&self, grid: &Grid) -> State {
        let is_locked = |door: &DoorPlace| grid.get(door.pos) == Cell::Door(door.colour, DoorState::Locked);
        let locked = self.doors.iter().enumerate().filter(|(_, door)| is_locked(door));
        let carried = self.keys.iter().position(|key| Some(key.colour) == grid.agent.carrying);
        State { locked: locked.fold(0, |set, (i, _)| set | 1 << i), carried: carried.map(|i| Key(i as u8)) }
    }

    /// The rooms within reach of the agent while these doors are locked.
    pub(super) fn reach(&self, locked: Doors) -> Rooms {
        let mut reached = self.start;
        loop {
            let passable = self.doors.iter().enumerate().filter(|(i, _)| locked & (1 << i) == 0);
            let joined = passable.filter(|(_, door)| door.rooms & reached != 0);
            let wider = joined.fold(reached, |set, (_, door)| set | door.rooms);
            if wider == reached {
                return reached;
            }
            reached = wider;
        }
    }
}

/// The bits of the code that tell one background from another: how many keys and doors, and for each the first object
/// of its colour. Colours themselves are no facts, only their sameness is.
fn background(
    keys: impl ExactSizeIterator<Item = Colour>,
    doors: impl ExactSizeIterator<Item = Colour>,
) -> u128 {
    let counts = (keys.len() as u128) << 9 | (doors.len() as u128) << 12;
    let mut first = [None; Colour::ALL.len()];
    keys.chain(doors).enumerate().fold(counts, |code, (i, colour)| {
        let class = *first[colour as usize].get_or_insert(i);
        code | (class as u128) << (15 + 4 * i)
    })
}

/// Which room each square belongs to.
struct FloorPlan {
    width: u8,
    height: u8,
    /// A number for each square, in reading order: 0 for walls and doors, the same number only within a room.
    labels: Vec<u16>,
    /// The room of each number: a set of one, or of none for 0.
    rooms: Vec<Rooms>,
}

impl FloorPlan {
    /// The rooms of a grid, if they stay in one piece around what lies in them, and doors lead from floor to floor.
    fn of(grid: &Grid, objects: &[Pos], doors: &[Pos]) -> Result<Self, LevelError> {
        let mut plan = Self::floor(grid)?;
        // Keys and goal belong to the room around them, which must be a single one.
        for &pos in objects {
            let is_floor = |side: &Pos| grid.get(*side) == Cell::Empty;
            let around = pos.neighbours().into_iter().find(is_floor).and_then(|side| grid.index(side));
            let (Some(around), Some(index)) = (around, grid.index(pos)) else {
                return Err(LevelError::InTheWay(pos));
            };
            plan.labels[index] = plan.labels[around];
        }
        for &pos in objects {
            let room = plan.room(pos);
            if pos.neighbours().into_iter().any(|side| plan.room(side) & !room != 0) {
                return Err(LevelError::InTheWay(pos));
            }
        }
        for &pos in doors {
            use Cell::{Empty, Wall};
            let around = pos.neighbours().map(|side| grid.get(side));
            if !matches!(around, [Empty, Wall, Empty, Wall] | [Wall, Empty, Wall, Empty]) {
                return Err(LevelError::InTheWay(pos));
            }
        }
        Ok(plan)
    }

    /// The pieces of bare floor. One pass numbers the squares after their neighbours on the left and above, and notes which
    /// numbers turn out to be the same room.
    fn floor(grid: &Grid) -> Result<Self, LevelError> {
        let width = usize::from(grid.width());
        let mut labels = vec![0_u16; width * usize::from(grid.height())];
        // Each number's smaller equal, or itself.
        let mut same = vec![0_u16];
        for (index, (pos, cell)) in grid.cells().enumerate() {
            if cell != Cell::Empty {
                continue;
            }
            let left = if pos.x > 0 { labels[index - 1] } else { 0 };
            let above = if pos.y > 0 { labels[index - width] } else { 0 };
            labels[index] = match (left, above) {
                (0, 0) => {
                    let new = same.len() as u16;
                    same.push(new);
                    new
                }
                (0, label) | (label, 0) => label,
                (left, above) => {
                    let (left, above) = (smallest(&same, left), smallest(&same, above));
                    same[usize::from(left.max(above))] = left.min(above);
                    left.min(above)
                }
            };
        }

        let mut rooms: Vec<Rooms> = vec![0];
        let mut next: Rooms = 1;
        for label in 1..same.len() as u16 {
            let first = smallest(&same, label);
            if first == label {
                if next == 0 {
                    return Err(LevelError::Rooms);
                }
                rooms.push(next);
                next <<= 1;
            } else {
                rooms.push(rooms[usize::from(first)]);
            }
        }
        Ok(Self { width: grid.width(), height: grid.height(), labels, rooms })
    }

    /// The rooms of a level with one key and one locked door, if the key may be ignored: see [`Level::new`].
    fn with_lone_key(grid: &Grid, key: Pos, door: Pos, goal: Pos) -> Option<Self> {
        let mut bare = grid.clone();
        bare.set(key, Cell::Empty);
        let plan = Self::of(&bare, &[goal], &[door]).ok()?;
        let home = plan.room(grid.agent.pos);
        let is_takeable = key.neighbours().iter().any(|&side| grid.get(side) == Cell::Empty);
        (plan.room(key) == home && plan.room(goal) != home && is_takeable).then_some(plan)
    }

    /// The room of a square: a set of one, or of none for walls, doors and squares off the grid.
    fn room(&self, pos: Pos) -> Rooms {
        if pos.x >= self.width || pos.y >= self.height {
            return 0;
        }
        let label = self.labels[usize::from(pos.y) * usize::from(self.width) + usize::from(pos.x)];
        self.rooms[usize::from(label)]
    }
}

/// Follows a number to the smallest one of its room.
fn smallest(same: &[u16], mut label: u16) -> u16 {
    while same[usize::from(label)] != label {
        label = same[usize::from(label)];
    }
    label
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(text: &str) -> Result<Level, LevelError> {
        Level::new(text.parse().unwrap())
    }

    #[test]
    fn a_crooked_room_is_one_room() {
        let snake = level(
            "
            [][][][][][][]
            []..[]..[]GG[]
            []..[]..[]..[]
            []......>>..[]
            [][][][][][][]",
        );
        assert_eq!(snake.unwrap().goal_room, 1);
    }

    #[test]
    fn a_grid_that_is_no_level_says_why() {
        let error = |text| level(text).unwrap_err();
        assert_eq!(error(">>KrKr..GG"), LevelError::SharedColour(Colour::Red));
        assert_eq!(error(">>.."), LevelError::Goals(0));
        assert_eq!(error("Or>>GG"), LevelError::InTheWay(Pos::new(0, 0)));
        assert_eq!(error(">>..Kr..GG"), LevelError::InTheWay(Pos::new(2, 0)));
        assert_eq!(error(">>KrKgKb..GG"), LevelError::InTheWay(Pos::new(2, 0)));
        assert_eq!(error(">>..GG[]..[]..[]..[]..[]..[]..[]..[].."), LevelError::Rooms);
        assert_eq!(error(">>..GG[]LrLrLrLrLrLrLr"), LevelError::Doors(7));
        // A lone key may be in the way only on the agent's side of the door.
        assert!(level(">>..KrLr..GG").is_ok());
        assert_eq!(error(">>..LrKr..GG"), LevelError::InTheWay(Pos::new(2, 0)));
        let mut carrying: Grid = ">>Kr..GG".parse().unwrap();
        carrying.agent.carrying = Some(Colour::Blue);
        assert_eq!(Level::new(carrying).unwrap_err(), LevelError::Agent);
    }

    #[test]
    fn samecolor_joins_any_two_things_of_a_colour() {
        let two_doors = level("..Lr>>..Lr..GG\n[][]Kr[][][][]").unwrap();
        let pairs = two_doors.background().filter(|fact| matches!(fact, Fact::SameColor(..)));
        let pairs: Vec<String> = pairs.map(|fact| fact.to_string()).collect();
        assert_eq!(
            pairs,
            [
                "samecolor(k1, d1)",
                "samecolor(k1, d2)",
                "samecolor(d1, k1)",
                "samecolor(d1, d2)",
                "samecolor(d2, k1)",
                "samecolor(d2, d1)",
            ]
        );
    }
}
