//! Blocks World: put one block on another.
//!
//! `move(X, Y)` puts block X on block Y or on the floor if nothing is on X nor (a block) on Y. Every action costs
//! 0.02, except the one that achieves the goal, which gives 1. The horizon is 10 with 3 blocks, 4n beyond.

use std::sync::Arc;

use derrl_logic::{Action, Alphabet, Facts, Object, Universe};

use crate::binding::Binding;
use crate::env::{Env, Outcome, Status};
use crate::error::Error;
use crate::journal::Journal;
use crate::rng::Rng;
use crate::scene::Scene;
use crate::space;
use crate::towers::{Numbers, Towers, VOCABULARY, say_goal};
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
        .words(include_str!("../domains/blocks.words"))
        .engine_tasks(tasks, Blocks::new)
        .vocabulary(VOCABULARY)
        .takes(&["size"])
        .with_space(space::blocks())
}

pub(crate) const NAME: &str = "blocks";

const STEP: f64 = -0.02;
const GOAL: f64 = 1.0;
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
    numbers: Numbers,
    universe: Arc<Universe>,
    /// The number of blocks; also the number of the floor among the objects.
    n: u32,
    goal: (u32, u32),
    /// What each block is on at first.
    start: Vec<u32>,
    towers: Towers,
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
        let numbers = match draw {
            Draw::Listed(_) | Draw::UnseenGoal => &[3][..],
            Draw::DynamicBlocks => &[4, 5],
            Draw::DynamicStacks => &[4],
            Draw::Large => &[options.size.unwrap_or(10)],
        };
        let numbers = Numbers::new(numbers, alphabet)?;
        Ok(Blocks {
            binding: Binding::new(NAME, &VOCABULARY, alphabet)?,
            draw,
            universe: Arc::clone(&numbers.first().1),
            numbers,
            n: 0,
            goal: (0, 1),
            start: Vec::new(),
            towers: Towers::default(),
            code: 0,
            journal: (draw == Draw::Large).then(Journal::new),
            is_small: draw != Draw::Large,
            steps: 0,
            horizon: 0,
        })
    }

    fn achieved(&self) -> bool {
        self.towers.on(self.goal.0) == self.goal.1
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
        if let Some(journal) = &mut self.journal {
            self.towers.note_move(&self.binding, journal, x, from, to);
        }
    }
}

/// What a move of block `x` flips in the code.
fn code_change(x: u32, from: u32, to: u32) -> u128 {
    u128::from(from ^ to) << (5 * x)
}

impl Env for Blocks {
    fn reset(&mut self, rng: &mut Rng) {
        let (n, universe) = self.numbers.draw(rng);
        (self.n, self.universe) = (*n, Arc::clone(universe));
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
        self.towers.build(&self.start);
        self.code = 0;
        if self.start.len() <= CODED {
            for (x, &y) in self.start.iter().enumerate() {
                self.code |= u128::from(y) << (5 * x);
            }
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
        self.towers.say(&self.binding, facts);
        say_goal(&self.binding, facts, self.goal.0, self.goal.1);
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
        if let Some(from) = self.towers.put(x, y) {
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
        self.towers.scene(vec![vec![self.goal.1, self.goal.0]], &self.universe)
    }

    /// Exact: every block above either goal block has to leave, and each can go to the floor at once, so with u the
    /// number of distinct blocks above them the shortest plan has u + 1 actions (a test equates it with search).
    fn best_return(&self) -> Option<f64> {
        let (a, b) = self.goal;
        let start = Towers::new(&self.start);
        let mut over: Vec<u32> = start.over(a).chain(start.over(b)).collect();
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
