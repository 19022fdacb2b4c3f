//! PacMan: reach the goal in a grid of cells without meeting an enemy.
//!
//! `move(D)` leads one cell up, down, left or right; at the border it changes nothing. Arriving at the goal gives 1, meeting an
//! enemy -1; both end the episode. All other moves give 0. Enemies stand still. Only mazes are drawn in which the goal can be
//! reached.
//!
//! The state is seen as pixels ([`Pixels`]): a sprite per cell, off its place, brighter or darker, and noisy. Facts speak of the
//! symbols of cells. They are those that a [`Sight`] tells from the pixels or, without one, the true ones.

mod sprites;
mod ways;

use std::sync::Arc;

use derrl_logic::{Action, Alphabet, Constant, Facts, Object, Universe};

use crate::binding::{Binding, Vocabulary, type_named};
use crate::env::{Env, Outcome, Status};
use crate::error::Error;
use crate::pixels::{Pixels, Sight};
use crate::rng::Rng;
use crate::scene::{Grid, Scene, Thing, Walker};
use crate::space::Exhaustive;
use crate::world::{Options, Seeing, Task, World};
use sprites::Sprite;

/// The row of the table of worlds.
pub fn world() -> World {
    seen(None)
}

/// The world with facts as a sight sees them, or the true ones.
fn seen(sight: Option<Arc<dyn Sight>>) -> World {
    let tasks = [
        Task::new("train", "5x5 cells with 5 enemies"),
        Task::new("larger", "8x8 cells with 10 enemies"),
        Task::new("large", "grids of --size cells per side with --obstacles enemies").on_request(),
    ];
    let make = move |alphabet: &Arc<Alphabet>, task: &str, options: &Options| {
        PacMan::new(alphabet, task, options, sight.clone().filter(|_| !options.facts))
    };
    let seeing = Seeing {
        make: |alphabet, task, options| Ok(Box::new(PacMan::new(alphabet, task, options, None)?)),
        through: |sight| seen(Some(sight)),
        kinds: &["oneself", "goal", "empty", "enemy"],
    };
    World::built_in(NAME, include_str!("../../domains/pacman.pl"))
        .about("reach the goal without meeting an enemy; the state is seen as pixels")
        .words(include_str!("../../domains/pacman.words"))
        .engine_tasks(tasks, make)
        .vocabulary(VOCABULARY)
        .takes(&["noise", "size", "obstacles", "facts"])
        .seen_as(seeing)
        .with_space(Exhaustive::Never(
            "its states are pixels, and noise makes each of them new; `derrl eval` plays as many episodes as you like".into(),
        ))
}

const NAME: &str = "pacman";

const VOCABULARY: Vocabulary<'static> = Vocabulary {
    predicates: &[
        ("s0", 1),
        ("s1", 1),
        ("s2", 1),
        ("s3", 1),
        ("leads", 2),
        ("adjacent", 2),
        ("to_s1_past_s2", 1),
        ("to_s1_past_s3", 1),
        ("to_s2_past_s1", 1),
        ("to_s2_past_s3", 1),
        ("to_s3_past_s1", 1),
        ("to_s3_past_s2", 1),
    ],
    measures: &[],
    actions: &[("move", 1)],
};
/// `s0` to `s3` have the numbers of their symbols.
const SYMBOLS: usize = 4;
const LEADS: usize = 4;
const ADJACENT: usize = 5;
/// The first of the ways, each with its two symbols.
const WAYS: usize = 6;
const ENDS: [(u8, u8); 6] = [(1, 2), (1, 3), (2, 1), (2, 3), (3, 1), (3, 2)];

/// Up, down, left and right, in columns and rows from the top left.
const STEPS: [(i32, i32); 4] = [(0, -1), (0, 1), (-1, 0), (1, 0)];
const DIRECTIONS: [&str; 4] = ["up", "down", "left", "right"];

/// What is in a cell, by its number in [`Seeing::kinds`].
const ONESELF: u8 = 0;
const GOAL: u8 = 1;
const EMPTY: u8 = 2;
const ENEMY: u8 = 3;

/// The standard deviation of the noise of pixels, where `--noise` says nothing.
const NOISE: f64 = 0.2;
/// Steps per cell of a side: an episode in a 5x5 maze has at most 30.
const STEPS_PER_SIDE: usize = 6;
/// Cells per side at the most.
const LARGEST: usize = 30;
/// Bits of a symbol in a code, and how many cells fit.
const SYMBOL_BITS: u32 = 2;
const CODED: usize = 128 / SYMBOL_BITS as usize;

#[derive(Clone, Debug)]
struct PacMan {
    binding: Binding,
    universe: Arc<Universe>,
    sight: Option<Arc<dyn Sight>>,
    /// Cells per side.
    side: usize,
    enemies: usize,
    noise: f32,
    /// What is in each cell at first, and how it looks.
    start: Vec<(u8, usize)>,
    /// Where oneself is and was at first, as numbers of cells.
    agent: usize,
    entrance: usize,
    /// The last direction.
    facing: usize,
    /// The seed of what noise there is in this instance.
    seed: u64,
    steps: usize,
    status: Status,
    /// The symbols of the current state, as they are seen.
    symbols: Vec<u8>,
}

impl PacMan {
    fn new(
        alphabet: &Arc<Alphabet>,
        task: &str,
        options: &Options,
        sight: Option<Arc<dyn Sight>>,
    ) -> Result<PacMan, Error> {
        let is_free = task == "large";
        for (name, given) in [("size", options.size.is_some()), ("obstacles", options.obstacles.is_some())] {
            if given && !is_free {
                return Err(Error::Option(format!(
                    "task `{task}` has its own grids; --{name} is for task `large`"
                )));
            }
        }
        let fixed = if task == "train" { (5, 5) } else { (8, 10) };
        let side = options.size.unwrap_or(fixed.0);
        if !(2..=LARGEST).contains(&side) {
            return Err(Error::Option(format!("--size is a number of cells per side from 2 to {LARGEST}")));
        }
        let enemies = options.obstacles.unwrap_or(if is_free { side } else { fixed.1 });
        let most = side * side / 2;
        if enemies > most {
            return Err(Error::Option(format!(
                "--obstacles is at most half of the cells: {most} with --size {side}"
            )));
        }
        let binding = Binding::new(NAME, &VOCABULARY, alphabet)?;
        let [direction, cell] = ["direction", "cell"].map(|name| type_named(alphabet, name));
        let directions = DIRECTIONS.iter().map(|name| (Constant::name(name), direction));
        let cells = (0..side * side).map(|i| (Constant::name(&format!("c{}_{}", i % side, i / side)), cell));
        Ok(PacMan {
            binding,
            universe: Arc::new(Universe::new(directions.chain(cells).collect())),
            sight,
            side,
            enemies,
            noise: options.noise.unwrap_or(NOISE) as f32,
            start: Vec::new(),
            agent: 0,
            entrance: 0,
            facing: 0,
            seed: 0,
            steps: 0,
            status: Status::Running,
            symbols: Vec::new(),
        })
    }

    fn horizon(&self) -> usize {
        STEPS_PER_SIDE * self.side
    }

    /// The cell next to a cell in a direction; `None` beyond the border.
    fn next(&self, cell: usize, direction: usize) -> Option<usize> {
        let side = self.side as i32;
        let (dx, dy) = STEPS[direction];
        let (x, y) = (cell as i32 % side + dx, cell as i32 / side + dy);
        let inside = (0..side).contains(&x) && (0..side).contains(&y);
        inside.then_some((y * side + x) as usize)
    }

    /// The cells next to a cell.
    fn around(&self, cell: usize) -> impl Iterator<Item = usize> {
        (0..STEPS.len()).filter_map(move |d| self.next(cell, d))
    }

    /// The direction that an object stands for.
    fn direction(args: &[Object]) -> Option<usize> {
        args.first().map(|o| o.0 as usize).filter(|&d| d < STEPS.len())
    }

    /// The object of a cell.
    fn object(number: usize) -> Object {
        Object((STEPS.len() + number) as u32)
    }

    /// Looks at the current state.
    fn look(&mut self) {
        let mut symbols = std::mem::take(&mut self.symbols);
        match &self.sight {
            None => self.truth(&mut symbols),
            Some(sight) => {
                let mut frame = Vec::new();
                self.frame(&mut frame);
                sight.symbols(&frame, &mut symbols);
            }
        }
        self.symbols = symbols;
    }

    /// Whether the goal can be reached within the horizon.
    fn solvable(&self) -> bool {
        let kinds: Vec<u8> = self.start.iter().map(|&(kind, _)| kind).collect();
        let steps = ways::distances(&kinds, GOAL, ENEMY, |cell| self.around(cell));
        steps[self.entrance].is_some_and(|n| n as usize <= self.horizon())
    }
}

impl Env for PacMan {
    fn reset(&mut self, rng: &mut Rng) {
        let cells = self.side * self.side;
        let mut places: Vec<usize> = (0..cells).collect();
        loop {
            rng.shuffle(&mut places);
            self.start.clear();
            self.start.resize(cells, (EMPTY, 0));
            self.entrance = places[0];
            self.start[places[1]].0 = GOAL;
            for &cell in places[2..].iter().take(self.enemies) {
                self.start[cell] = (ENEMY, rng.below(sprites::LOOKS));
            }
            if self.solvable() {
                break;
            }
        }
        self.seed = rng.bits();
        self.restart();
    }

    fn restart(&mut self) {
        self.agent = self.entrance;
        self.facing = sprites::RIGHT;
        self.steps = 0;
        self.status = Status::Running;
        self.look();
    }

    fn universe(&self) -> &Arc<Universe> {
        &self.universe
    }

    fn facts(&self, facts: &mut Facts) {
        for (i, &symbol) in self.symbols.iter().enumerate().filter(|(_, s)| usize::from(**s) < SYMBOLS) {
            self.binding.say(facts, usize::from(symbol), &[PacMan::object(i)]);
        }
        for d in 0..STEPS.len() {
            for from in 0..self.symbols.len() {
                if let Some(to) = self.next(from, d) {
                    self.binding.say(facts, ADJACENT, &[PacMan::object(from), PacMan::object(to)]);
                }
            }
        }
        let Some(from) = self.symbols.iter().position(|&s| s == ONESELF) else { return };
        let led: Vec<(usize, usize)> =
            (0..STEPS.len()).filter_map(|d| Some((d, self.next(from, d)?))).collect();
        for &(d, to) in &led {
            self.binding.say(facts, LEADS, &[Object(d as u32), PacMan::object(to)]);
        }
        for (way, (to, past)) in ENDS.into_iter().enumerate() {
            let steps = ways::distances(&self.symbols, to, past, |cell| self.around(cell));
            // A step that enters a cell which is to be avoided is on no way.
            let nearer = |cell: usize| {
                self.symbols[cell] != past && steps[cell].is_some_and(|n| steps[from].is_some_and(|m| n < m))
            };
            for &(d, _) in led.iter().filter(|(_, cell)| nearer(*cell)) {
                self.binding.say(facts, WAYS + way, &[Object(d as u32)]);
            }
        }
    }

    fn code(&self) -> Option<u128> {
        let code = |code: u128, &symbol: &u8| code << SYMBOL_BITS | u128::from(symbol);
        (self.symbols.len() <= CODED).then(|| self.symbols.iter().fold(1, code))
    }

    fn step(&mut self, _action: Action, args: &[Object], _rng: &mut Rng) -> Outcome {
        if self.status != Status::Running {
            return Outcome { reward: 0.0, status: self.status };
        }
        self.steps += 1;
        if let Some(d) = PacMan::direction(args) {
            self.facing = d;
            self.agent = self.next(self.agent, d).unwrap_or(self.agent);
        }
        let (reward, status) = match self.start[self.agent].0 {
            GOAL => (1.0, Status::Terminated),
            ENEMY => (-1.0, Status::Terminated),
            _ if self.steps >= self.horizon() => (0.0, Status::Truncated),
            _ => (0.0, Status::Running),
        };
        self.status = status;
        self.look();
        Outcome { reward, status }
    }

    fn succeeded(&self) -> bool {
        self.start[self.agent].0 == GOAL
    }

    /// Exact: only mazes are drawn that can be solved.
    fn best_return(&self) -> Option<f64> {
        Some(1.0)
    }

    fn scene(&self) -> Scene {
        let square = |cell: usize| ((cell % self.side) as u32, (cell / self.side) as u32);
        let things = self.start.iter().enumerate().filter_map(|(i, &(kind, _))| {
            let kind = match kind {
                GOAL => "goal",
                ENEMY => "enemy",
                _ => return None,
            };
            Some(Thing { kind, name: None, at: square(i), colour: None, state: None })
        });
        Scene::Grid(Grid {
            rows: vec![".".repeat(self.side); self.side],
            columns: Vec::new(),
            lines: Vec::new(),
            things: things.collect(),
            agent: Walker { at: square(self.agent), facing: None, holds: None },
            trail: Vec::new(),
        })
    }

    fn copy(&self) -> Option<Box<dyn Env>> {
        Some(Box::new(self.clone()))
    }
}

impl Pixels for PacMan {
    fn cells(&self) -> usize {
        self.start.len()
    }

    fn frame(&self, frame: &mut Vec<f32>) {
        frame.clear();
        let mut rng = Rng::new(self.seed, self.steps as u64);
        for (i, &(kind, look)) in self.start.iter().enumerate() {
            let sprite = match kind {
                _ if i == self.agent => Sprite::Agent(self.facing),
                GOAL => Sprite::Goal,
                ENEMY => Sprite::Enemy(look),
                _ => Sprite::Empty,
            };
            sprites::look(sprite, self.noise, &mut rng, frame);
        }
    }

    fn onward(&self, _action: Action, args: &[Object], cell: usize) -> usize {
        PacMan::direction(args).and_then(|d| self.next(cell, d)).unwrap_or(cell)
    }

    fn look_through(&mut self, sight: Option<Arc<dyn Sight>>) {
        self.sight = sight;
        if !self.start.is_empty() {
            self.look();
        }
    }

    fn truth(&self, kinds: &mut Vec<u8>) {
        kinds.clear();
        kinds.extend(self.start.iter().map(|&(kind, _)| kind));
        kinds[self.agent] = ONESELF;
    }
}
