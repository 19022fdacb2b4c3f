//! Full rearrangement of blocks: from any stacks to any other stacks.
//!
//! `move(X, Y)` puts block X on block Y or on the floor if nothing is on X nor (a block) on Y. With n blocks the horizon is
//! H = 4n. An action costs 1 / 2H, and the one that reaches the goal gives 1 besides: any success earns at least 1/2, any failure less than
//! 0, and of two successes the shorter one earns more.

use std::sync::Arc;

use derrl_logic::{Action, Alphabet, Facts, Object, Universe};

use crate::binding::{Binding, Vocabulary};
use crate::blocks::universe;
use crate::env::{Env, Outcome, Status};
use crate::error::Error;
use crate::journal::Journal;
use crate::rng::Rng;
use crate::scene::{Scene, Stacks};
use crate::space;
use crate::world::{Options, Task, World};

/// The row of the table of worlds.
pub fn world() -> World {
    let tasks = [
        Task::new("train", "3 or 4 blocks, any stacks, any goal").size(4),
        Task::new("10-blocks", "10 blocks, any stacks, any goal").size(10),
        Task::new("20-blocks", "20 blocks, any stacks, any goal").size(20),
        Task::new("50-blocks", "50 blocks, any stacks, any goal").size(50),
        Task::new("large", "--size blocks, any stacks, any goal").on_request(),
    ];
    World::built_in(NAME, include_str!("../domains/rearrange.pl"))
        .about("bring blocks from any stacks into any other stacks")
        .engine_tasks(tasks, Rearrange::of_task)
        .engine_sizes(3..=5, |alphabet, size, _| Ok(Box::new(Rearrange::new(alphabet, vec![size])?)))
        .vocabulary(VOCABULARY)
        .takes(&["size"])
        .with_space(space::rearrange())
}

pub(crate) const NAME: &str = "rearrange";

pub(crate) const VOCABULARY: Vocabulary = Vocabulary {
    predicates: &[("top", 1), ("on", 2), ("goal_on", 2), ("isFloor", 1)],
    actions: &[("move", 2)],
};
pub(crate) const TOP: usize = 0;
pub(crate) const ON: usize = 1;
pub(crate) const GOAL_ON: usize = 2;
pub(crate) const IS_FLOOR: usize = 3;

const NONE: u32 = u32::MAX;
/// States of up to this many blocks have a code: 5 bits for what a block is on and 5 for what it should be on.
const CODED: usize = 12;

#[derive(Debug)]
struct Rearrange {
    binding: Binding,
    /// The universes that the task draws from, by number of blocks: `sizes[k]` blocks in `universes[k]`.
    sizes: Vec<usize>,
    universes: Vec<Arc<Universe>>,
    universe: Arc<Universe>,
    /// The number of blocks; also the number of the floor among the objects.
    n: u32,
    /// What each block should be on.
    goal: Vec<u32>,
    start: Vec<u32>,
    /// `below[x]` is what block x is on.
    below: Vec<u32>,
    /// `above[x]` is what is on block x, or `NONE`.
    above: Vec<u32>,
    /// How many blocks are not on what they should be on.
    wrong: u32,
    /// Kept where states have no code: small states are read at once.
    journal: Option<Journal>,
    steps: u32,
}

impl Rearrange {
    fn of_task(alphabet: &Arc<Alphabet>, task: &str, options: &Options) -> Result<Rearrange, Error> {
        let sizes = match task {
            "10-blocks" => vec![10],
            "20-blocks" => vec![20],
            "50-blocks" => vec![50],
            "large" => vec![options.size.unwrap_or(10)],
            _ => vec![3, 4],
        };
        if options.size.is_some() && task != "large" {
            return Err(Error::Option(format!("task `{task}` has a fixed size; --size is for task `large`")));
        }
        Rearrange::new(alphabet, sizes)
    }

    fn new(alphabet: &Arc<Alphabet>, sizes: Vec<usize>) -> Result<Rearrange, Error> {
        if sizes.iter().any(|n| !(2..=100_000).contains(n)) {
            return Err(Error::Option("--size is a number of blocks from 2 to 100000".to_string()));
        }
        let universes: Vec<_> = sizes.iter().map(|&n| Arc::new(universe(alphabet, n))).collect();
        let is_large = sizes.iter().any(|&n| n > CODED);
        Ok(Rearrange {
            binding: Binding::new(NAME, &VOCABULARY, alphabet)?,
            universe: Arc::clone(&universes[0]),
            sizes,
            universes,
            n: 0,
            goal: Vec::new(),
            start: Vec::new(),
            below: Vec::new(),
            above: Vec::new(),
            wrong: 0,
            journal: is_large.then(Journal::new),
            steps: 0,
        })
    }

    fn horizon(&self) -> u32 {
        4 * self.n
    }

    fn price(&self) -> f64 {
        0.5 / f64::from(self.horizon())
    }

    fn is_wrong(&self, x: u32, on: u32) -> u32 {
        u32::from(self.goal[x as usize] != on)
    }
}

/// Random stacks: each block of a random order goes on the floor or on a stack, all equally likely. What each block is on.
fn draw_stacks(n: u32, rng: &mut Rng) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n).collect();
    rng.shuffle(&mut order);
    let mut tops: Vec<u32> = Vec::new();
    let mut below = vec![n; n as usize];
    for x in order {
        match rng.below(tops.len() + 1) {
            at if at < tops.len() => below[x as usize] = std::mem::replace(&mut tops[at], x),
            _ => tops.push(x),
        }
    }
    below
}

/// Blocks that are on these, as a scene. Its goal is a block that is not where it should be yet, such that all below its place is right.
pub(crate) fn scene(below: &[u32], goal: &[u32], universe: &Universe) -> Scene {
    let n = below.len() as u32;
    let over = |x: u32| (0..n).find(|&z| below[z as usize] == x);
    let stack = |bottom: u32| std::iter::successors(Some(bottom), |&x| over(x)).collect();
    let depth = |x: u32| std::iter::successors(Some(x), |&x| goal.get(x as usize).copied()).count();
    let wrong = (0..n).filter(|&x| below[x as usize] != goal[x as usize]).min_by_key(|&x| depth(x));
    let name = |x: u32| universe.name(Object(x)).to_string();
    Scene::Stacks(Stacks {
        blocks: (0..n).map(name).collect(),
        stacks: (0..n).filter(|&x| below[x as usize] == n).map(stack).collect(),
        goal: wrong.map_or((0, goal[0]), |x| (x, goal[x as usize])),
        floor: name(n),
    })
}

/// How many moves it takes to put every block that is not in place on the floor, then to build: a block is in place if it is
/// where it should be, and so is all below it.
pub(crate) fn simple_strategy(below: &[u32], goal: &[u32]) -> u32 {
    let floor = below.len() as u32;
    let in_place = |x: u32| {
        let mut at = x;
        while at != floor && below[at as usize] == goal[at as usize] {
            at = below[at as usize];
        }
        at == floor
    };
    let misplaced = (0..floor).filter(|&x| !in_place(x));
    misplaced.map(|x| u32::from(below[x as usize] != floor) + u32::from(goal[x as usize] != floor)).sum()
}

impl Env for Rearrange {
    fn reset(&mut self, rng: &mut Rng) {
        let which = rng.below(self.sizes.len());
        self.universe = Arc::clone(&self.universes[which]);
        self.n = self.sizes[which] as u32;
        loop {
            self.start = draw_stacks(self.n, rng);
            self.goal = draw_stacks(self.n, rng);
            if self.start != self.goal {
                break;
            }
        }
        self.restart();
    }

    fn restart(&mut self) {
        self.below.clone_from(&self.start);
        self.above.clear();
        self.above.resize(self.n as usize, NONE);
        for (x, &y) in self.below.iter().enumerate() {
            if y != self.n {
                self.above[y as usize] = x as u32;
            }
        }
        self.wrong = (0..self.n).map(|x| self.is_wrong(x, self.below[x as usize])).sum();
        self.steps = 0;
        if let Some(journal) = &mut self.journal {
            journal.begin();
        }
    }

    fn universe(&self) -> &Arc<Universe> {
        &self.universe
    }

    fn facts(&self, facts: &mut Facts) {
        for x in 0..self.n {
            if self.above[x as usize] == NONE {
                self.binding.say(facts, TOP, &[Object(x)]);
            }
            self.binding.say(facts, ON, &[Object(x), Object(self.below[x as usize])]);
            self.binding.say(facts, GOAL_ON, &[Object(x), Object(self.goal[x as usize])]);
        }
        self.binding.say(facts, IS_FLOOR, &[Object(self.n)]);
    }

    fn code(&self) -> Option<u128> {
        let of = |code: u128, &y: &u32| code << 5 | u128::from(y);
        (self.n as usize <= CODED).then(|| self.below.iter().chain(&self.goal).fold(0, of))
    }

    fn journal(&self) -> Option<&Journal> {
        self.journal.as_ref()
    }

    fn step(&mut self, _action: Action, args: &[Object], _rng: &mut Rng) -> Outcome {
        let (x, y) = (args[0].0, args[1].0);
        self.steps += 1;
        let clear = |b: u32| self.above[b as usize] == NONE;
        if x != y && x < self.n && clear(x) && (y == self.n || clear(y)) {
            let from = self.below[x as usize];
            if from != self.n {
                self.above[from as usize] = NONE;
            }
            if y != self.n {
                self.above[y as usize] = x;
            }
            self.below[x as usize] = y;
            self.wrong = self.wrong + self.is_wrong(x, y) - self.is_wrong(x, from);
            if let Some(journal) = self.journal.as_mut().filter(|_| from != y) {
                self.binding.note(journal, ON, &[Object(x), Object(from)], false);
                self.binding.note(journal, ON, &[Object(x), Object(y)], true);
                for (place, is_top) in [(from, true), (y, false)] {
                    if place != self.n {
                        self.binding.note(journal, TOP, &[Object(place)], is_top);
                    }
                }
            }
        }
        let reward = -self.price();
        match () {
            () if self.succeeded() => Outcome::terminated(reward + 1.0),
            () if self.steps >= self.horizon() => Outcome { reward, status: Status::Truncated },
            () => Outcome::running(reward),
        }
    }

    fn succeeded(&self) -> bool {
        self.wrong == 0
    }

    fn scene(&self) -> Scene {
        scene(&self.below, &self.goal, &self.universe)
    }

    /// The shortest plan is hard to find for many blocks; this is what the simple strategy earns.
    fn references(&self) -> Vec<(&'static str, f64)> {
        let moves = simple_strategy(&self.start, &self.goal);
        vec![("table first", 1.0 - f64::from(moves) * self.price())]
    }
}
