//! Gridworld: walk to a target around obstacles.
//!
//! `up`, `down`, `left` and `right` change one coordinate by one; a move into a wall or an obstacle changes nothing. The
//! reward is 1 on arriving at the target; if the horizon of 4 × size comes first, it is minus the Euclidean distance
//! to the target, divided by the size. All other moves give 0.
//!
//! The x coordinates `x0`, `x1`, ... and the y coordinates `y0`, `y1`, ... are different objects, so that object
//! identity never forbids a column and a row with the same number.

use std::sync::Arc;

use derrl_logic::{Action, Alphabet, Constant, Facts, Object, Universe};

use crate::binding::{Binding, Vocabulary, type_named};
use crate::env::{Env, Outcome, Status};
use crate::error::Error;
use crate::journal::Journal;
use crate::rng::Rng;
use crate::scene::{Grid, Scene, Thing, Walker};
use crate::space;
use crate::world::{Options, Task, World};

/// The row of the table of worlds.
pub fn world() -> World {
    let tasks = [
        Task::new("train", "3x3 and 5x5 grids with 2 obstacles"),
        Task::new("dynamic-obstacles", "3x3 and 5x5 grids with 3 or 4 obstacles"),
        Task::new("held-out-config", "grids as in train, agent and target where they never were together"),
        Task::new("large", "grids of --size cells per side with --obstacles").on_request(),
    ];
    World::built_in(NAME, include_str!("../domains/gridworld.pl"))
        .about("walk to a target around obstacles")
        .words(include_str!("../domains/gridworld.words"))
        .engine_tasks(tasks, Gridworld::new)
        .vocabulary(VOCABULARY)
        .takes(&["size", "obstacles"])
        .with_space(space::gridworld())
}

pub(crate) const NAME: &str = "gridworld";

pub(crate) const VOCABULARY: Vocabulary<'static> = Vocabulary {
    predicates: &[
        ("curr", 2),
        ("target", 2),
        ("obs", 2),
        ("succ", 2),
        ("north", 0),
        ("south", 0),
        ("east", 0),
        ("west", 0),
        ("northeast", 0),
        ("northwest", 0),
        ("southeast", 0),
        ("southwest", 0),
    ],
    measures: &[],
    actions: &[("up", 0), ("down", 0), ("left", 0), ("right", 0)],
};
pub(crate) const CURR: usize = 0;
pub(crate) const TARGET: usize = 1;
pub(crate) const OBS: usize = 2;
pub(crate) const SUCC: usize = 3;
/// `north` and the seven after it, each with the signs of (target - agent) that it asks for in x and y; 0 asks nothing.
pub(crate) const COMPASS: usize = 4;
pub(crate) const SIGNS: [(i32, i32); 8] =
    [(0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1)];
/// The step of each action in x and y.
pub(crate) const MOVES: [(i32, i32); 4] = [(0, 1), (0, -1), (-1, 0), (1, 0)];

const GOAL: f64 = 1.0;
/// Grids of up to this many cells per side have a code: one bit per cell and seven for each of agent and target fit 128.
const CODED: usize = 10;
const CELL_BITS: u32 = 7;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Draw {
    Train,
    DynamicObstacles,
    HeldOutConfig,
    Large,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
struct Cell {
    x: i32,
    y: i32,
}

#[derive(Debug)]
struct Gridworld {
    binding: Binding,
    draw: Draw,
    /// The universes that the task draws from: `sizes[k]` cells per side in `universes[k]`.
    sizes: Vec<usize>,
    universes: Vec<Arc<Universe>>,
    universe: Arc<Universe>,
    /// How many obstacles an instance may have, each equally likely.
    obstacles: Vec<usize>,
    /// Cells per side.
    n: i32,
    start: Cell,
    target: Cell,
    agent: Cell,
    /// `blocked[cell]`: whether there is an obstacle.
    blocked: Vec<bool>,
    /// What the code has beside the agent's cell.
    fixed_code: u128,
    /// Kept where states have no code.
    journal: Option<Journal>,
    steps: u32,
    horizon: u32,
    /// Cells by the number of moves to reach them, for the search; kept for its memory.
    queue: Vec<u32>,
    seen: Vec<bool>,
}

impl Gridworld {
    fn new(alphabet: &Arc<Alphabet>, task: &str, options: &Options) -> Result<Gridworld, Error> {
        let draw = match task {
            "dynamic-obstacles" => Draw::DynamicObstacles,
            "held-out-config" => Draw::HeldOutConfig,
            "large" => Draw::Large,
            _ => Draw::Train,
        };
        for (name, given) in [("size", options.size.is_some()), ("obstacles", options.obstacles.is_some())] {
            if given && draw != Draw::Large {
                return Err(Error::Option(format!(
                    "task `{task}` has its own grids; --{name} is for task `large`"
                )));
            }
        }
        let size = options.size.unwrap_or(10);
        if !(2..=1000).contains(&size) {
            return Err(Error::Option("--size is a number of cells per side from 2 to 1000".to_string()));
        }
        let obstacles = options.obstacles.unwrap_or(size);
        if obstacles > size * size / 2 {
            let most = size * size / 2;
            return Err(Error::Option(format!(
                "--obstacles is at most half of the cells: {most} with --size {size}"
            )));
        }
        let (sizes, obstacles) = match draw {
            Draw::Train | Draw::HeldOutConfig => (vec![3, 5], vec![2]),
            Draw::DynamicObstacles => (vec![3, 5], vec![3, 4]),
            Draw::Large => (vec![size], vec![obstacles]),
        };
        let universes: Vec<_> = sizes.iter().map(|&n| Arc::new(universe(alphabet, n))).collect();
        Ok(Gridworld {
            binding: Binding::new(NAME, &VOCABULARY, alphabet)?,
            draw,
            universe: Arc::clone(&universes[0]),
            sizes,
            universes,
            obstacles,
            n: 0,
            start: Cell::default(),
            target: Cell::default(),
            agent: Cell::default(),
            blocked: Vec::new(),
            fixed_code: 0,
            journal: (draw == Draw::Large && size > CODED).then(Journal::new),
            steps: 0,
            horizon: 0,
            queue: Vec::new(),
            seen: Vec::new(),
        })
    }

    /// The number of a cell: columns one after the other, so that cells in order are facts in order.
    #[inline]
    fn number(&self, cell: Cell) -> usize {
        (cell.x * self.n + cell.y) as usize
    }

    fn cell(&self, number: u32) -> Cell {
        Cell { x: number as i32 / self.n, y: number as i32 % self.n }
    }

    /// The cell that a move leads to; the same cell if a wall or an obstacle is there.
    #[inline]
    fn moved(&self, from: Cell, action: usize) -> Cell {
        let (dx, dy) = MOVES[action];
        let to = Cell { x: from.x + dx, y: from.y + dy };
        let inside = (0..self.n).contains(&to.x) && (0..self.n).contains(&to.y);
        if inside && !self.blocked[self.number(to)] { to } else { from }
    }

    /// Whether the target can be reached within the horizon: breadth-first search from the agent.
    fn solvable(&mut self) -> bool {
        let mut queue = std::mem::take(&mut self.queue);
        let mut seen = std::mem::take(&mut self.seen);
        queue.clear();
        seen.clone_from(&self.blocked);
        queue.push(self.number(self.start) as u32);
        seen[self.number(self.start)] = true;
        let mut from = 0;
        let mut found = false;
        for _ in 0..self.horizon {
            let to = queue.len();
            for i in from..to {
                let at = self.cell(queue[i]);
                for action in 0..MOVES.len() {
                    let next = self.moved(at, action);
                    let number = self.number(next);
                    if !seen[number] {
                        seen[number] = true;
                        queue.push(number as u32);
                        found |= next == self.target;
                    }
                }
            }
            from = to;
            if found || from == queue.len() {
                break;
            }
        }
        (self.queue, self.seen) = (queue, seen);
        found
    }

    fn draw_cell(&self, rng: &mut Rng) -> Cell {
        self.cell(rng.below((self.n * self.n) as usize) as u32)
    }

    /// Pairs that `train` never draws and `held-out-config` always does: every fifth, over all distances and directions.
    fn held_out(&self) -> bool {
        let (a, t) = (self.start, self.target);
        (a.x + 2 * a.y + 3 * t.x + 4 * t.y) % 5 == 0
    }

    fn arrived(&self) -> bool {
        self.agent == self.target
    }
}

/// `x0`, `x1`, ..., `y0`, `y1`, ...
pub(crate) fn universe(alphabet: &Alphabet, n: usize) -> Universe {
    let axis = |name: &'static str| {
        let coordinate = type_named(alphabet, name);
        (0..n).map(move |i| (Constant::name(&format!("{name}{i}")), coordinate))
    };
    Universe::new(axis("x").chain(axis("y")).collect())
}

impl Gridworld {
    /// The coordinates of a cell.
    fn objects(&self, cell: Cell) -> [Object; 2] {
        [Object(cell.x as u32), Object((self.n + cell.y) as u32)]
    }

    /// Whether the target lies in a direction of the compass, seen from a cell.
    fn points(&self, direction: usize, from: Cell) -> bool {
        let (sx, sy) = SIGNS[direction];
        let (dx, dy) = (self.target.x - from.x, self.target.y - from.y);
        (sx == 0 || sx == dx.signum()) && (sy == 0 || sy == dy.signum())
    }

    /// Notes what a move of the agent to a cell changes. Out of line, so that steps without a journal do not pay for it.
    #[cold]
    #[inline(never)]
    fn note_move(&mut self, to: Cell) {
        if to == self.agent {
            return;
        }
        let Some(mut journal) = self.journal.take() else { return };
        self.binding.note(&mut journal, CURR, &self.objects(self.agent), false);
        self.binding.note(&mut journal, CURR, &self.objects(to), true);
        for i in 0..SIGNS.len() {
            let holds = self.points(i, to);
            if holds != self.points(i, self.agent) {
                self.binding.note(&mut journal, COMPASS + i, &[], holds);
            }
        }
        self.journal = Some(journal);
    }
}

impl Env for Gridworld {
    fn reset(&mut self, rng: &mut Rng) {
        let which = rng.below(self.sizes.len());
        self.universe = Arc::clone(&self.universes[which]);
        let n = self.sizes[which];
        self.n = n as i32;
        self.horizon = 4 * n as u32;
        let obstacles = self.obstacles[rng.below(self.obstacles.len())];
        loop {
            self.start = self.draw_cell(rng);
            self.target = self.draw_cell(rng);
            let drawn = match self.draw {
                Draw::Train => !self.held_out(),
                Draw::HeldOutConfig => self.held_out(),
                Draw::DynamicObstacles | Draw::Large => true,
            };
            if !drawn || self.start == self.target {
                continue;
            }
            self.blocked.clear();
            self.blocked.resize(n * n, false);
            let mut left = obstacles;
            while left > 0 {
                let cell = self.draw_cell(rng);
                let number = self.number(cell);
                if cell != self.start && cell != self.target && !self.blocked[number] {
                    self.blocked[number] = true;
                    left -= 1;
                }
            }
            if self.solvable() {
                break;
            }
        }
        if n <= CODED {
            let cells =
                self.blocked.iter().enumerate().fold(0u128, |code, (i, &b)| code | u128::from(b) << i);
            self.fixed_code = (cells << CELL_BITS | self.number(self.target) as u128) << CELL_BITS;
        }
        self.restart();
    }

    fn restart(&mut self) {
        self.agent = self.start;
        self.steps = 0;
        if let Some(journal) = &mut self.journal {
            journal.begin();
        }
    }

    fn universe(&self) -> &Arc<Universe> {
        &self.universe
    }

    fn facts(&self, facts: &mut Facts) {
        self.binding.say(facts, CURR, &self.objects(self.agent));
        for i in (0..SIGNS.len()).filter(|&i| self.points(i, self.agent)) {
            self.binding.say(facts, COMPASS + i, &[]);
        }
        self.binding.say(facts, TARGET, &self.objects(self.target));
        for (i, _) in self.blocked.iter().enumerate().filter(|(_, b)| **b) {
            self.binding.say(facts, OBS, &self.objects(self.cell(i as u32)));
        }
        let n = self.n as u32;
        for i in (0..2 * n).filter(|i| i % n != n - 1) {
            self.binding.say(facts, SUCC, &[Object(i), Object(i + 1)]);
        }
    }

    fn code(&self) -> Option<u128> {
        (self.n as usize <= CODED).then(|| self.fixed_code | self.number(self.agent) as u128)
    }

    fn journal(&self) -> Option<&Journal> {
        self.journal.as_ref()
    }

    fn step(&mut self, action: Action, _args: &[Object], _rng: &mut Rng) -> Outcome {
        if self.arrived() {
            return Outcome { reward: 0.0, status: Status::Terminated };
        }
        if self.steps >= self.horizon {
            return Outcome { reward: 0.0, status: Status::Truncated };
        }
        self.steps += 1;
        let cell = self.moved(self.agent, self.binding.action(action));
        if self.journal.is_some() {
            self.note_move(cell);
        }
        self.agent = cell;
        if self.arrived() {
            return Outcome { reward: GOAL, status: Status::Terminated };
        }
        if self.steps < self.horizon {
            return Outcome { reward: 0.0, status: Status::Running };
        }
        let (dx, dy) = (self.target.x - self.agent.x, self.target.y - self.agent.y);
        let distance = f64::from(dx * dx + dy * dy).sqrt();
        Outcome { reward: -distance / f64::from(self.n), status: Status::Truncated }
    }

    fn succeeded(&self) -> bool {
        self.arrived()
    }

    fn scene(&self) -> Scene {
        // Pictures count rows from the top, the world counts y from the bottom.
        let square = |cell: Cell| (cell.x as u32, (self.n - 1 - cell.y) as u32);
        let name = |i: i32| self.universe.name(Object(i as u32)).to_string();
        let thing = |kind, cell| Thing { kind, name: None, at: square(cell), colour: None, state: None };
        let obstacles = self.blocked.iter().enumerate().filter(|(_, b)| **b);
        let things = obstacles.map(|(i, _)| thing("obstacle", self.cell(i as u32)));
        Scene::Grid(Grid {
            rows: vec![".".repeat(self.n as usize); self.n as usize],
            columns: (0..self.n).map(name).collect(),
            lines: (self.n..2 * self.n).rev().map(name).collect(),
            things: things.chain([thing("goal", self.target)]).collect(),
            agent: Walker { at: square(self.agent), facing: None, holds: None },
            trail: Vec::new(),
        })
    }

    /// Exact: only instances are drawn whose target a search reaches within the horizon.
    fn best_return(&self) -> Option<f64> {
        Some(GOAL)
    }
}
