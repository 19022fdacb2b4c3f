//! Walking along a cliff: columns and rows of types of their own, and of one type.

use derrl_env::{Rng, World};

use crate::small::{Extent, Say, Small, between, numbered, with_tasks};
use crate::{Animal, STEP, world};

const TWO: &str = ":- action(up).
:- action(down).
:- action(left).
:- action(right).
:- state(at(x, y)).
:- background(succx(x, x)).
:- background(succy(y, y)).
:- background(firstx(x)).
:- background(firsty(y)).
:- background(lastx(x)).
:- background(lasty(y)).
";

const ONE: &str = ":- action(up).
:- action(down).
:- action(left).
:- action(right).
:- state(at(c, c)).
:- background(succ(c, c)).
:- background(first(c)).
:- background(last(c)).
";

const TWO_BY_HAND: &str = "0.90::up :- at(X, Y), firsty(Y).
0.80::down :- at(X, Y), lastx(X).
0.70::right :- at(X, Y).
";

const ONE_BY_HAND: &str = "0.90::up :- at(X, X), first(X).
0.80::down :- at(X, Y), last(X).
0.80::down :- at(X, X), last(X).
0.70::right :- at(X, Y).
0.70::right :- at(X, X).
";

/// A grid whose lowest row, but for its ends, is an abyss. From the first end, or from above, to the last.
struct Cliff {
    n: (usize, usize),
    types: Types,
    width: usize,
    height: usize,
    at: (usize, usize),
}

#[derive(Clone, Copy, PartialEq)]
enum Types {
    One,
    Two,
}

pub fn animals() -> [Animal; 2] {
    let two = world("cliff", TWO, "along a cliff to the far end; x and y are of different types");
    let one = world("cliff-one", ONE, "the same with coordinates of one type");
    [
        Animal { world: tasks(two, Types::Two), by_hand: TWO_BY_HAND, tuned: true },
        Animal { world: tasks(one, Types::One), by_hand: ONE_BY_HAND, tuned: false },
    ]
}

fn tasks(world: World, types: Types) -> World {
    let extent = Extent { unit: "cells per side", train: (3, 5), large: (8, 10), huge: None };
    let make = move |low, high| Cliff { n: (low, high), types, width: 0, height: 0, at: (0, 0) };
    with_tasks(world, extent, make)
}

impl Small for Cliff {
    fn draw(&mut self, rng: &mut Rng) {
        self.width = between(self.n, rng);
        self.height = if self.types == Types::One { self.width } else { between(self.n, rng) };
        self.at = (0, 0);
        if rng.unit() < 0.5 {
            self.at = (rng.below(self.width), 1 + rng.below(self.height - 1));
        }
    }

    fn objects(&self) -> Vec<(String, &'static str)> {
        match self.types {
            Types::One => numbered("c", self.width, "c").collect(),
            Types::Two => numbered("x", self.width, "x").chain(numbered("y", self.height, "y")).collect(),
        }
    }

    fn facts(&self, say: Say<'_>) {
        let (w, h) = (self.width, self.height);
        if self.types == Types::One {
            say("at", &[self.at.0, self.at.1]);
            say("first", &[0]);
            say("last", &[w - 1]);
            (1..w).for_each(|i| say("succ", &[i - 1, i]));
            return;
        }
        say("at", &[self.at.0, w + self.at.1]);
        say("firstx", &[0]);
        say("lastx", &[w - 1]);
        say("firsty", &[w]);
        say("lasty", &[w + h - 1]);
        (1..w).for_each(|i| say("succx", &[i - 1, i]));
        (1..h).for_each(|i| say("succy", &[w + i - 1, w + i]));
    }

    fn act(&mut self, action: &str, _: &[usize], _: &mut Rng) -> (f64, bool) {
        let (x, y) = self.at;
        self.at = match action {
            "up" => (x, (y + 1).min(self.height - 1)),
            "down" => (x, y.saturating_sub(1)),
            "right" => ((x + 1).min(self.width - 1), y),
            _ => (x.saturating_sub(1), y),
        };
        let fell = self.at.1 == 0 && self.at.0 > 0;
        match () {
            () if self.won() => (1.0, true),
            () if fell => (-1.0, true),
            () => (STEP, false),
        }
    }

    fn won(&self) -> bool {
        self.at == (self.width - 1, 0)
    }

    fn horizon(&self) -> usize {
        50
    }
}
