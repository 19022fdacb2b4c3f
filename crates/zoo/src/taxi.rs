//! A taxi on a grid: fetch the passenger and bring them where they want to go. Needs ten rules.

use derrl_env::Rng;

use crate::small::{Extent, Say, Small, between, numbered, with_tasks};
use crate::{Animal, STEP, world};

const DOMAIN: &str = ":- action(up).
:- action(down).
:- action(left).
:- action(right).
:- action(pick).
:- action(drop).
:- state(at(x, y)).
:- state(waiting(x, y)).
:- state(inside).
:- background(dest(x, y)).
:- background(xless(x, x)).
:- background(yless(y, y)).
:- variables(4).
";

const BY_HAND: &str = "0.90::pick :- at(X, Y), waiting(X, Y).
0.90::drop :- inside, at(X, Y), dest(X, Y).
0.80::right :- at(X, Y), waiting(Z, W), xless(X, Z).
0.80::left :- at(X, Y), waiting(Z, W), xless(Z, X).
0.80::up :- at(X, Y), waiting(Z, W), yless(Y, W).
0.80::down :- at(X, Y), waiting(Z, W), yless(W, Y).
0.80::right :- at(X, Y), waiting(Z, Y), xless(X, Z).
0.80::left :- at(X, Y), waiting(Z, Y), xless(Z, X).
0.80::up :- at(X, Y), waiting(X, W), yless(Y, W).
0.80::down :- at(X, Y), waiting(X, W), yless(W, Y).
0.70::right :- inside, at(X, Y), dest(Z, W), xless(X, Z).
0.70::left :- inside, at(X, Y), dest(Z, W), xless(Z, X).
0.70::up :- inside, at(X, Y), dest(Z, W), yless(Y, W).
0.70::down :- inside, at(X, Y), dest(Z, W), yless(W, Y).
0.70::right :- inside, at(X, Y), dest(Z, Y), xless(X, Z).
0.70::left :- inside, at(X, Y), dest(Z, Y), xless(Z, X).
0.70::up :- inside, at(X, Y), dest(X, W), yless(Y, W).
0.70::down :- inside, at(X, Y), dest(X, W), yless(W, Y).
";

type Cell = (usize, usize);

struct Taxi {
    n: (usize, usize),
    side: usize,
    from: Cell,
    to: Cell,
    at: Cell,
    inside: bool,
    done: bool,
}

pub fn animal() -> Animal {
    let world = world("taxi", DOMAIN, "a taxi on a grid fetches a passenger and brings them home");
    let extent = Extent { unit: "cells per side", train: (3, 4), large: (8, 8), huge: None };
    let make = |low, high| {
        let cell = (0, 0);
        Taxi { n: (low, high), side: 0, from: cell, to: cell, at: cell, inside: false, done: false }
    };
    Animal { world: with_tasks(world, extent, make), by_hand: BY_HAND, tuned: true }
}

impl Small for Taxi {
    fn draw(&mut self, rng: &mut Rng) {
        let side = between(self.n, rng);
        let mut cell = || (rng.below(side), rng.below(side));
        (self.at, self.from, self.to) = (cell(), cell(), cell());
        while self.to == self.from {
            self.to = cell();
        }
        (self.side, self.inside, self.done) = (side, false, false);
    }

    fn objects(&self) -> Vec<(String, &'static str)> {
        numbered("x", self.side, "x").chain(numbered("y", self.side, "y")).collect()
    }

    fn facts(&self, say: Say<'_>) {
        let k = self.side;
        say("at", &[self.at.0, k + self.at.1]);
        if self.inside {
            say("inside", &[]);
        } else if !self.done {
            say("waiting", &[self.from.0, k + self.from.1]);
        }
        say("dest", &[self.to.0, k + self.to.1]);
        for i in 0..k {
            for j in i + 1..k {
                say("xless", &[i, j]);
                say("yless", &[k + i, k + j]);
            }
        }
    }

    fn act(&mut self, action: &str, _: &[usize], _: &mut Rng) -> (f64, bool) {
        let ((x, y), last) = (self.at, self.side - 1);
        match action {
            "up" => self.at.1 = (y + 1).min(last),
            "down" => self.at.1 = y.saturating_sub(1),
            "right" => self.at.0 = (x + 1).min(last),
            "left" => self.at.0 = x.saturating_sub(1),
            "pick" => self.inside |= self.at == self.from,
            _ => self.done = self.inside && self.at == self.to,
        }
        if self.done { (1.0, true) } else { (STEP, false) }
    }

    fn won(&self) -> bool {
        self.done
    }

    fn horizon(&self) -> usize {
        8 * self.side
    }
}
