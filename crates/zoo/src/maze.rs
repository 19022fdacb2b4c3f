//! A maze in which berries are picked. Needs the distance to the nearest berry.

use derrl_env::Rng;

use crate::small::{Extent, Say, Small, between, numbered, with_tasks};
use crate::{Animal, STEP, world};

const DOMAIN: &str = ":- action(go(cell)).
:- action(pick(cell)).
:- state(here(cell)).
:- state(berry(cell)).
:- background(beside(cell, cell)).
:- legal(go/1).
:- legal(pick/1).
go(X) :- here(Y), beside(Y, X).
pick(X) :- here(X), berry(X).
";

const BY_HAND: &str = ":- distance(nearer, beside, berry).
0.90::pick(X) :- here(X).
0.80::go(X) :- here(Y), nearer(Y, X).
";

#[derive(Default)]
struct Maze {
    /// The side of the grid, from and to.
    sides: (usize, usize),
    side: usize,
    /// Cells with a way between them, the smaller number first.
    beside: Vec<(usize, usize)>,
    here: usize,
    /// By cell.
    berry: Vec<bool>,
}

pub fn animal() -> Animal {
    let world = world("maze", DOMAIN, "berries are picked in a maze: the distance to the nearest one");
    let extent = Extent { unit: "cells per side", train: (2, 4), large: (8, 9), huge: None };
    let make = |low, high| Maze { sides: (low, high), ..Maze::default() };
    Animal { world: with_tasks(world, extent, make), by_hand: BY_HAND, tuned: false }
}

/// A maze: a random spanning tree of the grid, and every other step with a chance of one half.
fn steps(side: usize, rng: &mut Rng) -> Vec<(usize, usize)> {
    let right = (0..side * side).filter(|c| c % side + 1 < side).map(|c| (c, c + 1));
    let down = (0..side * (side - 1)).map(|c| (c, c + side));
    let mut steps: Vec<(usize, usize)> = right.chain(down).collect();
    for i in (1..steps.len()).rev() {
        steps.swap(i, rng.below(i + 1));
    }
    let mut part: Vec<usize> = (0..side * side).collect();
    steps.retain(|&(a, b)| {
        let (one, other) = (part[a], part[b]);
        let joins = one != other;
        if joins {
            part.iter_mut().filter(|p| **p == other).for_each(|p| *p = one);
        }
        joins || rng.below(2) == 0
    });
    steps.sort_unstable();
    steps
}

impl Small for Maze {
    fn draw(&mut self, rng: &mut Rng) {
        self.side = between(self.sides, rng);
        let cells = self.side * self.side;
        self.beside = steps(self.side, rng);
        self.here = rng.below(cells);
        self.berry = vec![false; cells];
        for _ in 0..=rng.below(self.side) {
            self.berry[rng.below(cells)] = true;
        }
    }

    fn objects(&self) -> Vec<(String, &'static str)> {
        numbered("c", self.side * self.side, "cell").collect()
    }

    fn facts(&self, say: Say<'_>) {
        say("here", &[self.here]);
        for cell in (0..self.berry.len()).filter(|&cell| self.berry[cell]) {
            say("berry", &[cell]);
        }
        for &(a, b) in &self.beside {
            say("beside", &[a, b]);
            say("beside", &[b, a]);
        }
    }

    fn act(&mut self, action: &str, args: &[usize], _: &mut Rng) -> (f64, bool) {
        if action == "go" {
            self.here = args[0];
        } else {
            self.berry[args[0]] = false;
        }
        if self.won() { (1.0, true) } else { (STEP / self.side as f64, false) }
    }

    fn won(&self) -> bool {
        self.berry.iter().all(|b| !b)
    }

    fn horizon(&self) -> usize {
        4 * self.side * self.side
    }
}
