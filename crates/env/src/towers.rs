//! Blocks in towers on a floor: what the worlds of blocks share.
//!
//! Blocks are numbered from 0; their number is also the number of the floor among the objects.

use std::sync::Arc;

use derrl_logic::{Alphabet, Constant, Facts, Object, Universe};

use crate::binding::{Binding, Vocabulary, type_named};
use crate::error::Error;
use crate::journal::Journal;
use crate::rng::Rng;
use crate::scene::{Scene, Stacks};

pub(crate) const VOCABULARY: Vocabulary<'static> = Vocabulary {
    predicates: &[("top", 1), ("on", 2), ("goal_on", 2), ("isFloor", 1)],
    measures: &[],
    actions: &[("move", 2)],
};
const TOP: usize = 0;
const ON: usize = 1;
const GOAL_ON: usize = 2;
const IS_FLOOR: usize = 3;

/// Nothing is on a block.
const NONE: u32 = u32::MAX;

/// Blocks in towers.
#[derive(Debug, Default)]
pub(crate) struct Towers {
    n: u32,
    /// `below[x]` is what block x is on.
    below: Vec<u32>,
    /// `above[x]` is what is on block x, or `NONE`.
    above: Vec<u32>,
}

impl Towers {
    /// Towers in which each block is on what this says.
    pub fn new(below: &[u32]) -> Towers {
        let mut towers = Towers::default();
        towers.build(below);
        towers
    }

    /// Puts each block on what this says.
    pub fn build(&mut self, below: &[u32]) {
        self.n = below.len() as u32;
        self.below.clear();
        self.below.extend_from_slice(below);
        self.above.clear();
        self.above.resize(below.len(), NONE);
        for (x, &y) in below.iter().enumerate() {
            if y != self.n {
                self.above[y as usize] = x as u32;
            }
        }
    }

    /// What each block is on.
    pub fn below(&self) -> &[u32] {
        &self.below
    }

    /// What a block is on.
    #[inline]
    pub fn on(&self, x: u32) -> u32 {
        self.below[x as usize]
    }

    /// Puts block x on y. Returns what it was on; `None`, and nothing is moved, where that cannot be done.
    #[inline]
    pub fn put(&mut self, x: u32, y: u32) -> Option<u32> {
        let clear = |b: u32| self.above[b as usize] == NONE;
        if x == y || x >= self.n || !clear(x) || (y != self.n && !clear(y)) {
            return None;
        }
        let from = self.below[x as usize];
        if from != self.n {
            self.above[from as usize] = NONE;
        }
        if y != self.n {
            self.above[y as usize] = x;
        }
        self.below[x as usize] = y;
        Some(from)
    }

    /// The blocks above one, from the bottom up.
    pub fn over(&self, x: u32) -> impl Iterator<Item = u32> {
        self.from(x).skip(1)
    }

    /// A block and those above it, from the bottom up.
    fn from(&self, x: u32) -> impl Iterator<Item = u32> {
        let above = |x: &u32| Some(self.above[*x as usize]).filter(|y| *y != NONE);
        std::iter::successors(Some(x), above)
    }

    /// The towers, each from the bottom up, in the order of their lowest blocks.
    pub fn stacks(&self) -> Vec<Vec<u32>> {
        let bottoms = (0..self.n).filter(|&x| self.on(x) == self.n);
        bottoms.map(|x| self.from(x).collect()).collect()
    }

    /// Says what is on what, what is on top, and which object is the floor.
    pub fn say(&self, binding: &Binding, facts: &mut Facts) {
        for x in 0..self.n {
            if self.above[x as usize] == NONE {
                binding.say(facts, TOP, &[Object(x)]);
            }
            binding.say(facts, ON, &[Object(x), Object(self.on(x))]);
        }
        binding.say(facts, IS_FLOOR, &[Object(self.n)]);
    }

    /// Notes what changed when block x was put on `to`.
    pub fn note_move(&self, binding: &Binding, journal: &mut Journal, x: u32, from: u32, to: u32) {
        if from == to {
            return;
        }
        let [x, from, to] = [x, from, to].map(Object);
        binding.note(journal, ON, &[x, from], false);
        binding.note(journal, ON, &[x, to], true);
        for (place, is_top) in [(from, true), (to, false)] {
            if place.0 != self.n {
                binding.note(journal, TOP, &[place], is_top);
            }
        }
    }

    /// The towers as a scene, with the stacks that are wanted.
    pub fn scene(&self, goal: Vec<Vec<u32>>, universe: &Universe) -> Scene {
        let name = |x: u32| universe.name(Object(x)).to_string();
        Scene::Stacks(Stacks {
            blocks: (0..self.n).map(name).collect(),
            stacks: self.stacks(),
            goal,
            floor: name(self.n),
        })
    }
}

/// Says that block x is wanted on y.
pub(crate) fn say_goal(binding: &Binding, facts: &mut Facts, x: u32, y: u32) {
    binding.say(facts, GOAL_ON, &[Object(x), Object(y)]);
}

/// The numbers of blocks that a task draws from, each with its universe.
#[derive(Debug)]
pub(crate) struct Numbers {
    all: Vec<(u32, Arc<Universe>)>,
}

impl Numbers {
    /// At least one number. An error where one is too small or too large.
    pub fn new(numbers: &[usize], alphabet: &Alphabet) -> Result<Numbers, Error> {
        if numbers.iter().any(|n| !(2..=100_000).contains(n)) {
            return Err(Error::Option("--size is a number of blocks from 2 to 100000".to_string()));
        }
        Ok(Numbers { all: numbers.iter().map(|&n| (n as u32, Arc::new(universe(alphabet, n)))).collect() })
    }

    /// The first of them.
    pub fn first(&self) -> &(u32, Arc<Universe>) {
        &self.all[0]
    }

    /// One of them.
    pub fn draw(&self, rng: &mut Rng) -> &(u32, Arc<Universe>) {
        &self.all[rng.below(self.all.len())]
    }
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
