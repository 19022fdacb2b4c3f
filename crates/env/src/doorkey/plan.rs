//! High-level actions as lists of Minigrid's primitive moves.
//!
//! [`plan`] looks at a grid alone, so it plans for the real Minigrid as well as for ours. Paths are shortest over
//! squares and directions. The agent never walks over the goal on its way to something else, since that would end the
//! episode; it opens doors that are merely closed.
//!
//! # What is put down, and where
//!
//! Minigrid's agent has one hand, and keeps the key after unlocking. The paper's rule for `pick` asks for `notcarrying`,
//! which would then never hold again: after the first of several doors no rule would fire. So `open` ends by putting the
//! key down, with Minigrid's own `drop`, and `notcarrying` means the same here and there. Such a key has done its work:
//! once no door of its colour is locked any more, `pick` leaves it alone, since the paper's rule for `pick` (a key that
//! matches a door, locked or not) would otherwise take it up again and again. Both hold whatever a policy does, and cost
//! nothing to a rule without `notcarrying`.
//!
//! A key is put down at the nearest square where it takes nothing out of reach: every square that could be reached still can
//! (or, in rooms too narrow for that, every key, door and goal). In a level whose keys never stood in the way there
//! always is such a square: the one the key came from.

use super::grid::{Cell, Colour, Direction, DoorState, Grid, Move, Pos};

/// A high-level action, in terms of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Task {
    /// Take the key of a colour, putting down first what is carried.
    Pick(Colour),
    /// Unlock the door on a square, and put the key down.
    Open(Pos),
    /// Step on the goal on a square, or go next to the key or door on it, and face it.
    Goto(Pos),
}

/// The moves that do a task, or `None` if it cannot be done: then nothing must change.
///
/// # Examples
///
/// ```
/// use derrl_env::doorkey::grid::{Colour, Grid, Move::{Forward, Left, PickUp}};
/// use derrl_env::doorkey::plan::{Task, plan};
///
/// let grid: Grid = "
///     [][][][][][]
///     []..Kg[]..[]
///     []>>..LrKr[]
///     [][][][][][]
/// ".parse()?;
/// assert_eq!(plan(&grid, Task::Pick(Colour::Green)), Some(vec![Forward, Left, PickUp]));
/// assert_eq!(plan(&grid, Task::Pick(Colour::Red)), None);
/// # Ok::<(), derrl_env::doorkey::grid::GridError>(())
/// ```
pub fn plan(grid: &Grid, task: Task) -> Option<Vec<Move>> {
    let mut rehearsal = Rehearsal { grid: grid.clone(), moves: Vec::new() };
    match task {
        Task::Pick(colour) => {
            let key = grid.find(Cell::Key(colour)).filter(|_| !is_spent(grid, colour))?;
            if let Some(carried) = grid.agent.carrying {
                rehearsal.put_down(carried)?;
            }
            rehearsal.face(key)?;
            rehearsal.act(Move::PickUp);
        }
        Task::Open(door) => {
            let colour = grid.agent.carrying?;
            if grid.get(door) != Cell::Door(colour, DoorState::Locked) {
                return None;
            }
            rehearsal.face(door)?;
            rehearsal.act(Move::Toggle);
            rehearsal.put_down(colour)?;
        }
        Task::Goto(pos) => match grid.get(pos) {
            Cell::Goal => rehearsal.walk(search(grid, Some(pos), |at, _| at == pos)?),
            Cell::Key(_) | Cell::Door(..) => rehearsal.face(pos)?,
            Cell::Empty | Cell::Wall => return None,
        },
    }
    Some(rehearsal.moves)
}

/// Whether a key of this colour has nothing left to do: its doors, of which there are some, are all unlocked.
fn is_spent(grid: &Grid, colour: Colour) -> bool {
    let is_any = |state| grid.find(Cell::Door(colour, state)).is_some();
    !is_any(DoorState::Locked) && (is_any(DoorState::Open) || is_any(DoorState::Closed))
}

/// A grid to try moves on, and the moves so far.
struct Rehearsal {
    grid: Grid,
    moves: Vec<Move>,
}

impl Rehearsal {
    fn act(&mut self, primitive: Move) {
        self.grid.apply(primitive);
        self.moves.push(primitive);
    }

    fn walk(&mut self, path: Vec<Move>) {
        for primitive in path {
            self.act(primitive);
        }
    }

    /// Goes next to a square, looking at it.
    fn face(&mut self, target: Pos) -> Option<()> {
        let path = search(&self.grid, None, |at, direction| at.ahead(direction) == target)?;
        self.walk(path);
        Some(())
    }

    /// Goes to the nearest place where the key may lie, and drops it there.
    fn put_down(&mut self, key: Colour) -> Option<()> {
        let before = Reach::of(&self.grid, self.grid.agent.pos);
        let spot = |keeps: fn(&Reach, &Reach, usize) -> bool| {
            search(&self.grid, None, |at, direction| {
                let front = at.ahead(direction);
                let Some(index) = self.grid.index(front) else { return false };
                if self.grid.get(front) != Cell::Empty {
                    return false;
                }
                let mut after = self.grid.clone();
                after.set(front, Cell::Key(key));
                keeps(&before, &Reach::of(&after, at), index)
            })
        };
        let path = spot(Reach::keeps_squares).or_else(|| spot(Reach::keeps_objects))?;
        self.walk(path);
        self.act(Move::Drop);
        Some(())
    }
}

/// What the agent could get to without picking anything up or unlocking anything.
struct Reach {
    /// The squares it can stand on, by reading order.
    stand: Vec<bool>,
    /// The keys, doors and goals it can stand next to, by reading order.
    touch: Vec<bool>,
}

impl Reach {
    fn of(grid: &Grid, from: Pos) -> Self {
        let squares = usize::from(grid.width()) * usize::from(grid.height());
        let mut reach = Self { stand: vec![false; squares], touch: vec![false; squares] };
        let mut frontier = vec![from];
        while let Some(pos) = frontier.pop() {
            let Some(index) = grid.index(pos) else { continue };
            if std::mem::replace(&mut reach.stand[index], true) {
                continue;
            }
            for side in pos.neighbours() {
                let (cell, Some(index)) = (grid.get(side), grid.index(side)) else { continue };
                reach.touch[index] |= !matches!(cell, Cell::Empty | Cell::Wall);
                if matches!(cell, Cell::Empty | Cell::Door(_, DoorState::Open | DoorState::Closed)) {
                    frontier.push(side);
                }
            }
        }
        reach
    }

    /// Whether no object is lost.
    fn keeps_objects(&self, after: &Self, _: usize) -> bool {
        self.touch.iter().zip(&after.touch).all(|(before, after)| *after || !before)
    }

    /// Whether no object is lost, and no square but the one that is now taken.
    fn keeps_squares(&self, after: &Self, taken: usize) -> bool {
        let squares = self.stand.iter().zip(&after.stand).enumerate();
        self.keeps_objects(after, taken)
            && squares.into_iter().all(|(i, (before, after))| *after || !before || i == taken)
    }
}

/// The shortest moves to a square and a direction that are accepted. Only the goal on `enter` may be stepped on.
///
/// Breadth-first over squares, directions, and whether the closed door ahead has just been opened. Turns come before
/// steps, left before right, so that equally short paths are always chosen alike.
fn search(
    grid: &Grid,
    enter: Option<Pos>,
    mut accept: impl FnMut(Pos, Direction) -> bool,
) -> Option<Vec<Move>> {
    #[derive(Clone, Copy)]
    struct Node {
        pos: Pos,
        direction: Direction,
        opened: bool,
    }
    let id = |node: Node| {
        grid.index(node.pos).map(|index| (index * 4 + node.direction as usize) * 2 + usize::from(node.opened))
    };

    let squares = usize::from(grid.width()) * usize::from(grid.height());
    let start = Node { pos: grid.agent.pos, direction: grid.agent.direction, opened: false };
    let mut seen = vec![false; squares * 8];
    seen[id(start)?] = true;
    // Every node found, with the place of the node before it in this list.
    let mut found: Vec<(Node, usize, Option<Move>)> = vec![(start, 0, None)];
    let mut next = 0;
    while let Some(&(node, ..)) = found.get(next) {
        let front = node.pos.ahead(node.direction);
        if !node.opened && accept(node.pos, node.direction) {
            let mut moves = Vec::new();
            while let (_, before, Some(primitive)) = found[next] {
                moves.push(primitive);
                next = before;
            }
            moves.reverse();
            return Some(moves);
        }
        let step = Node { pos: front, opened: false, ..node };
        let ahead = match grid.get(front) {
            Cell::Door(_, DoorState::Closed) if node.opened => Some((step, Move::Forward)),
            Cell::Door(_, DoorState::Closed) => Some((Node { opened: true, ..node }, Move::Toggle)),
            Cell::Empty | Cell::Door(_, DoorState::Open) => Some((step, Move::Forward)),
            Cell::Goal if enter == Some(front) => Some((step, Move::Forward)),
            _ => None,
        };
        let left = Node { direction: node.direction.counterclockwise(), ..node };
        let right = Node { direction: node.direction.clockwise(), ..node };
        let turns = [(left, Move::Left), (right, Move::Right)].into_iter().filter(|_| !node.opened);
        for (node, primitive) in turns.chain(ahead) {
            if let Some(id) = id(node)
                && !std::mem::replace(&mut seen[id], true)
            {
                found.push((node, next, Some(primitive)));
            }
        }
        next += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moves(text: &str, tasks: &[Task]) -> String {
        let mut grid: Grid = text.parse().unwrap();
        let mut digits = String::new();
        for &task in tasks {
            for primitive in plan(&grid, task).unwrap() {
                grid.apply(primitive);
                digits.push(char::from(b'0' + primitive.id()));
            }
            digits.push(' ');
        }
        digits
    }

    #[test]
    fn a_closed_door_is_opened_on_the_way() {
        assert_eq!(moves("[][][][][]\n[]>>CrGG[]\n[][][][][]", &[Task::Goto(Pos::new(3, 1))]), "522 ");
    }

    #[test]
    fn the_goal_is_no_shortcut() {
        let text = "
            [][][][][][]
            []>>..GGKr[]
            []........[]
            [][][][][][]";
        assert_eq!(moves(text, &[Task::Goto(Pos::new(4, 1))]), "1202220 ");
    }

    #[test]
    fn a_key_is_put_down_out_of_the_way() {
        // In the corridor the key may only lie behind the agent, away from the door.
        let text = "
            [][][][][][][]
            []>>KrLr..GG[]
            [][][][][][][]";
        let door = Pos::new(3, 1);
        assert_eq!(
            moves(text, &[Task::Pick(Colour::Red), Task::Open(door), Task::Goto(Pos::new(5, 1))]),
            "3 25004 00222 "
        );
    }

    #[test]
    fn a_spent_key_and_a_carried_one_are_left_alone() {
        let grid: Grid = "[][][][][][]\n[]>>KrOr..[]\n[][][][][][]".parse().unwrap();
        assert_eq!(plan(&grid, Task::Pick(Colour::Red)), None);
        let mut grid: Grid = "[][][][][][]\n[]>>Kr..Lr[]\n[][][][][][]".parse().unwrap();
        grid.apply(Move::PickUp);
        assert_eq!(plan(&grid, Task::Pick(Colour::Red)), None);
    }
}
