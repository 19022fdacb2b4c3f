//! Blocks World: put one block on another.
//!
//! `move(X, Y)` puts block X on block Y or on the floor if nothing is on X nor (a block) on Y. Every action costs
//! 0.02, except the one that achieves the goal, which gives 1. The horizon is 10 with 3 blocks, 4n beyond.

use std::sync::Arc;

use derrl_logic::{Action, Alphabet, Constant, Facts, Object, Universe};

use crate::binding::{Binding, Vocabulary, type_named};
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
        Task::new("train", "3 blocks, goal_on(a, b), the paper's 4 configurations"),
        Task::new("held-out-config", "3 blocks, goal_on(a, b), the paper's held-out configurations"),
        Task::new("dynamic-blocks", "4 or 5 blocks in any stacks"),
        Task::new("dynamic-stacks", "4 blocks in 2, 3 or 4 stacks"),
        Task::new("unseen-goal", "3 blocks in any stacks, any goal but goal_on(a, b)"),
        Task::new("large", "--size blocks in any stacks, any goal").on_request(),
    ];
    World::built_in(NAME, include_str!("../domains/blocks.pl"))
        .about("put one block on another, moving what is in the way")
        .engine_tasks(tasks, Blocks::new)
        .vocabulary(VOCABULARY)
        .takes(&["size"])
        .with_space(space::blocks())
}

pub(crate) const NAME: &str = "blocks";

pub(crate) const VOCABULARY: Vocabulary = Vocabulary {
    predicates: &[("top", 1), ("on", 2), ("goal_on", 2), ("isFloor", 1)],
    actions: &[("move", 2)],
};
pub(crate) const TOP: usize = 0;
pub(crate) const ON: usize = 1;
pub(crate) const GOAL_ON: usize = 2;
pub(crate) const IS_FLOOR: usize = 3;

const STEP: f64 = -0.02;
const GOAL: f64 = 1.0;
const NONE: u32 = u32::MAX;
/// States of up to this many blocks have a code: 5 bits per block and 10 for the goal fit 128.
const CODED: usize = 22;

/// Configurations as the paper writes them: each stack from the bottom up.
const TRAIN: &[&[&[u32]]] = &[&[&[0, 1, 2]], &[&[2, 0, 1]], &[&[0, 2], &[1]], &[&[1, 2], &[0]]];
/// The paper also lists ((b,a,c)): there the goal holds already, so it is never drawn.
const HELD_OUT: &[&[&[u32]]] = &[&[&[0, 1], &[2]], &[&[1, 2, 0]]];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Draw {
    Listed(&'static [&'static [&'static [u32]]]),
    DynamicBlocks,
    DynamicStacks,
    UnseenGoal,
    Large,
}

#[derive(Debug)]
struct Blocks {
    binding: Binding,
    draw: Draw,
    /// The universes that the task draws from, by number of blocks: `sizes[k]` blocks in `universes[k]`.
    sizes: Vec<usize>,
    universes: Vec<Arc<Universe>>,
    universe: Arc<Universe>,
    /// The number of blocks; also the number of the floor among the objects.
    n: u32,
    goal: (u32, u32),
    start: Vec<u32>,
    /// `below[x]` is what block x is on.
    below: Vec<u32>,
    /// `above[x]` is what is on block x, or `NONE`.
    above: Vec<u32>,
    code: u128,
    /// Kept for the task of free size only: small states are read at once.
    journal: Option<Journal>,
    /// Whether there is no journal; then there is a code.
    is_small: bool,
    steps: u32,
    horizon: u32,
}

impl Blocks {
    fn new(alphabet: &Arc<Alphabet>, task: &str, options: &Options) -> Result<Blocks, Error> {
        let draw = match task {
            "held-out-config" => Draw::Listed(HELD_OUT),
            "dynamic-blocks" => Draw::DynamicBlocks,
            "dynamic-stacks" => Draw::DynamicStacks,
            "unseen-goal" => Draw::UnseenGoal,
            "large" => Draw::Large,
            _ => Draw::Listed(TRAIN),
        };
        if options.size.is_some() && draw != Draw::Large {
            return Err(Error::Option(format!("task `{task}` has a fixed size; --size is for task `large`")));
        }
        let sizes = match draw {
            Draw::Listed(_) | Draw::UnseenGoal => vec![3],
            Draw::DynamicBlocks => vec![4, 5],
            Draw::DynamicStacks => vec![4],
            Draw::Large => vec![options.size.unwrap_or(10)],
        };
        if sizes.iter().any(|n| !(2..=100_000).contains(n)) {
            return Err(Error::Option("--size is a number of blocks from 2 to 100000".to_string()));
        }
        let universes: Vec<_> = sizes.iter().map(|&n| Arc::new(universe(alphabet, n))).collect();
        Ok(Blocks {
            binding: Binding::new(NAME, &VOCABULARY, alphabet)?,
            draw,
            universe: Arc::clone(&universes[0]),
            sizes,
            universes,
            n: 0,
            goal: (0, 1),
            start: Vec::new(),
            below: Vec::new(),
            above: Vec::new(),
            code: 0,
            journal: (draw == Draw::Large).then(Journal::new),
            is_small: draw != Draw::Large,
            steps: 0,
            horizon: 0,
        })
    }

    fn achieved(&self) -> bool {
        self.below[self.goal.0 as usize] == self.goal.1
    }

    /// Random stacks: a random order of the blocks, cut at random places (`stacks` of them, or any number).
    fn draw_stacks(&mut self, stacks: Option<usize>, rng: &mut Rng) {
        let n = self.n as usize;
        let mut order: Vec<u32> = (0..self.n).collect();
        rng.shuffle(&mut order);
        let mut cut = vec![false; n];
        match stacks {
            None => cut.iter_mut().skip(1).for_each(|c| *c = rng.bits() & 1 == 0),
            Some(stacks) => {
                let mut gaps: Vec<usize> = (1..n).collect();
                rng.shuffle(&mut gaps);
                gaps.iter().take(stacks.min(n) - 1).for_each(|&g| cut[g] = true);
            }
        }
        self.start = vec![self.n; n];
        for i in 1..n {
            if !cut[i] {
                self.start[order[i] as usize] = order[i - 1];
            }
        }
    }

    fn draw_goal(&mut self, rng: &mut Rng) {
        let x = rng.below(self.n as usize) as u32;
        let y = rng.below(self.n as usize - 1) as u32;
        self.goal = (x, if y < x { y } else { y + 1 });
    }

    /// Notes what a move of block `x` changed. Out of line, so that small states do not pay for it.
    #[cold]
    #[inline(never)]
    fn note_move(&mut self, x: u32, from: u32, to: u32) {
        if self.n as usize <= CODED {
            self.code ^= code_change(x, from, to);
        }
        let Some(journal) = self.journal.as_mut().filter(|_| from != to) else { return };
        let [x, from, to] = [x, from, to].map(Object);
        self.binding.note(journal, ON, &[x, from], false);
        self.binding.note(journal, ON, &[x, to], true);
        for (place, is_top) in [(from, true), (to, false)] {
            if place.0 != self.n {
                self.binding.note(journal, TOP, &[place], is_top);
            }
        }
    }

    /// The blocks above `x` in the initial state.
    fn over(&self, x: u32) -> Vec<u32> {
        let mut above = vec![NONE; self.n as usize];
        for (x, &y) in self.start.iter().enumerate() {
            if y != self.n {
                above[y as usize] = x as u32;
            }
        }
        let mut over = Vec::new();
        let mut at = above[x as usize];
        while at != NONE {
            over.push(at);
            at = above[at as usize];
        }
        over
    }
}

/// What a move of block `x` flips in the code.
fn code_change(x: u32, from: u32, to: u32) -> u128 {
    u128::from(from ^ to) << (5 * x)
}

/// `a`, `b`, ..., `z`, `b27`, `b28`, ... and `floor`.
pub(crate) fn universe(alphabet: &Alphabet, n: usize) -> Universe {
    let block = type_named(alphabet, "block");
    let name = |i: usize| match u8::try_from(i) {
        Ok(i) if i < 26 => char::from(b'a' + i).to_string(),
        _ => format!("b{}", i + 1),
    };
    let mut objects: Vec<_> = (0..n).map(|i| (Constant::name(&name(i)), block)).collect();
    objects.push((Constant::name("floor"), type_named(alphabet, "place")));
    Universe::new(objects)
}

impl Env for Blocks {
    fn reset(&mut self, rng: &mut Rng) {
        let which = rng.below(self.sizes.len());
        self.universe = Arc::clone(&self.universes[which]);
        self.n = self.sizes[which] as u32;
        self.horizon = if self.n <= 3 { 10 } else { 4 * self.n };
        loop {
            self.goal = (0, 1);
            match self.draw {
                Draw::Listed(configurations) => {
                    self.start.clear();
                    self.start.resize(3, self.n);
                    for stack in configurations[rng.below(configurations.len())] {
                        for pair in stack.windows(2) {
                            self.start[pair[1] as usize] = pair[0];
                        }
                    }
                }
                Draw::DynamicBlocks => self.draw_stacks(None, rng),
                Draw::DynamicStacks => {
                    let stacks = 2 + rng.below(3);
                    self.draw_stacks(Some(stacks), rng);
                }
                Draw::UnseenGoal => {
                    self.draw_stacks(None, rng);
                    self.draw_goal(rng);
                    if self.goal == (0, 1) {
                        continue;
                    }
                }
                Draw::Large => {
                    self.draw_stacks(None, rng);
                    self.draw_goal(rng);
                }
            }
            self.restart();
            if !self.achieved() {
                return;
            }
        }
    }

    fn restart(&mut self) {
        let n = self.n as usize;
        self.below.clone_from(&self.start);
        self.above.clear();
        self.above.resize(n, NONE);
        self.code = 0;
        for (x, &y) in self.below.iter().enumerate() {
            if y != self.n {
                self.above[y as usize] = x as u32;
            }
            if n <= CODED {
                self.code |= u128::from(y) << (5 * x);
            }
        }
        if n <= CODED {
            self.code |= u128::from(self.goal.0 * 32 + self.goal.1) << (5 * CODED);
        }
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
        }
        self.binding.say(facts, GOAL_ON, &[Object(self.goal.0), Object(self.goal.1)]);
        self.binding.say(facts, IS_FLOOR, &[Object(self.n)]);
    }

    fn code(&self) -> Option<u128> {
        (self.n as usize <= CODED).then_some(self.code)
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
            if self.is_small {
                self.code ^= code_change(x, from, y);
            } else {
                self.note_move(x, from, y);
            }
            if self.achieved() {
                return Outcome { reward: GOAL, status: Status::Terminated };
            }
        }
        let status = if self.steps >= self.horizon { Status::Truncated } else { Status::Running };
        Outcome { reward: STEP, status }
    }

    fn succeeded(&self) -> bool {
        self.achieved()
    }

    fn scene(&self) -> Scene {
        let stack = |bottom: u32| {
            let above = |x: &u32| Some(self.above[*x as usize]).filter(|y| *y != NONE);
            std::iter::successors(Some(bottom), above).collect()
        };
        let name = |x: u32| self.universe.name(Object(x)).to_string();
        Scene::Stacks(Stacks {
            blocks: (0..self.n).map(name).collect(),
            stacks: (0..self.n).filter(|&x| self.below[x as usize] == self.n).map(stack).collect(),
            goal: self.goal,
            floor: name(self.n),
        })
    }

    /// Exact: every block above either goal block has to leave, and each can go to the floor at once, so with u the
    /// number of distinct blocks above them the shortest plan has u + 1 actions (a test equates it with search).
    fn best_return(&self) -> Option<f64> {
        let (a, b) = self.goal;
        let mut over = self.over(a);
        over.extend(self.over(b));
        over.sort_unstable();
        over.dedup();
        let unstack = over.len() as u32;
        Some(if unstack + 1 > self.horizon {
            f64::from(self.horizon) * STEP
        } else {
            f64::from(unstack) * STEP + GOAL
        })
    }
}
