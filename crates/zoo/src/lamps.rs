//! Lamps: those that are wanted are to be lit, and no others. Needs negation.

use derrl_env::{Rng, World};

use crate::small::{Extent, Named, Say, Small, between, numbered, with_tasks};
use crate::{Animal, STEP, world};

const DOMAIN: &str = ":- action(toggle(lamp)).
:- state(lit(lamp)).
:- background(wanted(lamp)).
";

const BY_HAND: &str = r"0.90::toggle(X) :- wanted(X), \+ lit(X).
0.90::toggle(X) :- lit(X), \+ wanted(X).
";

struct Lamps {
    n: (usize, usize),
    wanted: Vec<bool>,
    lit: Vec<bool>,
}

pub fn animal() -> Animal {
    let world = world("lamps", DOMAIN, "lamps that are wanted are to be lit, and no others");
    let extent = Extent { unit: "lamps", train: (2, 4), large: (12, 16), huge: None };
    let make = |low, high| Lamps { n: (low, high), wanted: Vec::new(), lit: Vec::new() };
    Animal { world: with_tasks(world, extent, make), by_hand: BY_HAND, tuned: false }
}

/// The same with so many that chance does not get them right, and no fewer to begin with.
pub fn many() -> World {
    const LAMPS: usize = 24;
    let make = || Named::new(Lamps { n: (LAMPS, LAMPS), wanted: Vec::new(), lit: Vec::new() });
    world("many-lamps", DOMAIN, "24 lamps of which some are wanted").task("train", make)
}

impl Small for Lamps {
    fn draw(&mut self, rng: &mut Rng) {
        let n = between(self.n, rng);
        loop {
            self.wanted = (0..n).map(|_| rng.unit() < 0.5).collect();
            self.lit = (0..n).map(|_| rng.unit() < 0.5).collect();
            if !self.won() {
                break;
            }
        }
    }

    fn objects(&self) -> Vec<(String, &'static str)> {
        numbered("l", self.lit.len(), "lamp").collect()
    }

    fn facts(&self, say: Say<'_>) {
        for i in 0..self.lit.len() {
            if self.lit[i] {
                say("lit", &[i]);
            }
            if self.wanted[i] {
                say("wanted", &[i]);
            }
        }
    }

    fn act(&mut self, _: &str, args: &[usize], _: &mut Rng) -> (f64, bool) {
        self.lit[args[0]] ^= true;
        if self.won() { (1.0, true) } else { (STEP, false) }
    }

    fn won(&self) -> bool {
        self.lit == self.wanted
    }

    fn horizon(&self) -> usize {
        4 * self.lit.len()
    }
}
