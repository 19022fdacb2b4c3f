//! Full rearrangement of blocks: from any stacks to any other stacks.
//!
//! `move(X, Y)` puts block X on block Y or on the floor if nothing is on X nor (a block) on Y. With n blocks the horizon is
//! H = 4n. An action costs 1 / 2H, and the one that reaches the goal gives 1 besides: any success earns at least 1/2, any failure less than
//! 0, and of two successes the shorter one earns more.

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
        Task::new("train", "3 or 4 blocks, any stacks, any goal").size(4),
        Task::new("10-blocks", "10 blocks, any stacks, any goal").size(10),
        Task::new("20-blocks", "20 blocks, any stacks, any goal").size(20),
        Task::new("50-blocks", "50 blocks, any stacks, any goal").size(50),
        Task::new("large", "--size blocks, any stacks, any goal").on_request(),
    ];
    World::built_in(NAME, include_str!("../domains/rearrange.pl"))
        .about("bring blocks from any stacks into any other stacks")
        .words(include_str!("../domains/rearrange.words"))
        .engine_tasks(tasks, Rearrange::of_task)
        .engine_sizes(3..=5, |alphabet, size, _| Ok(Box::new(Rearrange::new(alphabet, &[size])?)))
        .vocabulary(VOCABULARY)
        .takes(&["size"])
        .with_space(space::rearrange())
}

pub(crate) const NAME: &str = "rearrange";

/// States of up to this many blocks have a code: 5 bits for what a block is on and 5 for what it should be on.
const CODED: usize = 12;

#[derive(Debug)]
struct Rearrange {
    binding: Binding,
    numbers: Numbers,
    universe: Arc<Universe>,
    /// The number of blocks; also the number of the floor among the objects.
    n: u32,
    /// What each block should be on.
    goal: Vec<u32>,
    /// What each block is on at first.
    start: Vec<u32>,
    towers: Towers,
    /// How many blocks are not on what they should be on.
    wrong: u32,
    /// Kept where states have no code: small states are read at once.
    journal: Option<Journal>,
    steps: u32,
}

impl Rearrange {
    fn of_task(alphabet: &Arc<Alphabet>, task: &str, options: &Options) -> Result<Rearrange, Error> {
        let numbers = match task {
            "10-blocks" => &[10][..],
            "20-blocks" => &[20],
            "50-blocks" => &[50],
            "large" => &[options.size.unwrap_or(10)],
            _ => &[3, 4],
        };
        if options.size.is_some() && task != "large" {
            return Err(Error::Option(format!("task `{task}` has a fixed size; --size is for task `large`")));
        }
        Rearrange::new(alphabet, numbers)
    }

    fn new(alphabet: &Arc<Alphabet>, numbers: &[usize]) -> Result<Rearrange, Error> {
        let is_large = numbers.iter().any(|&n| n > CODED);
        let numbers = Numbers::new(numbers, alphabet)?;
        Ok(Rearrange {
            binding: Binding::new(NAME, &VOCABULARY, alphabet)?,
            universe: Arc::clone(&numbers.first().1),
            numbers,
            n: 0,
            goal: Vec::new(),
            start: Vec::new(),
            towers: Towers::default(),
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

/// Towers as a scene, with all towers that are wanted.
pub(crate) fn scene(towers: &Towers, goal: &[u32], universe: &Universe) -> Scene {
    let floor = goal.len() as u32;
    let on_floor = |stack: Vec<u32>| [vec![floor], stack].concat();
    towers.scene(Towers::new(goal).stacks().into_iter().map(on_floor).collect(), universe)
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
        let (n, universe) = self.numbers.draw(rng);
        (self.n, self.universe) = (*n, Arc::clone(universe));
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
        self.towers.build(&self.start);
        self.wrong = (0..self.n).map(|x| self.is_wrong(x, self.towers.on(x))).sum();
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
        self.goal.iter().enumerate().for_each(|(x, &y)| say_goal(&self.binding, facts, x as u32, y));
    }

    fn code(&self) -> Option<u128> {
        let of = |code: u128, &y: &u32| code << 5 | u128::from(y);
        (self.n as usize <= CODED).then(|| self.towers.below().iter().chain(&self.goal).fold(0, of))
    }

    fn journal(&self) -> Option<&Journal> {
        self.journal.as_ref()
    }

    fn step(&mut self, _action: Action, args: &[Object], _rng: &mut Rng) -> Outcome {
        let (x, y) = (args[0].0, args[1].0);
        self.steps += 1;
        if let Some(from) = self.towers.put(x, y) {
            self.wrong = self.wrong + self.is_wrong(x, y) - self.is_wrong(x, from);
            if let Some(journal) = &mut self.journal {
                self.towers.note_move(&self.binding, journal, x, from, y);
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
        scene(&self.towers, &self.goal, &self.universe)
    }

    /// The shortest plan is hard to find for many blocks; this is what the simple strategy earns.
    fn references(&self) -> Vec<(&'static str, f64)> {
        let moves = simple_strategy(&self.start, &self.goal);
        vec![("table first", 1.0 - f64::from(moves) * self.price())]
    }
}
