//! A lock: buttons are to be pressed in their order; a wrong one starts it anew.

use derrl_env::{Rng, World};

use crate::small::{Extent, Named, Say, Small, between, numbered, with_tasks};
use crate::{Animal, STEP, world};

const DOMAIN: &str = ":- action(press(button)).
:- state(pressed(button)).
:- background(first(button)).
:- background(after(button, button)).
";

const BY_HAND: &str = r"0.90::press(X) :- after(X, Y), pressed(Y), \+ pressed(X).
0.80::press(X) :- first(X).
";

struct Lock {
    n: (usize, usize),
    code: Vec<usize>,
    done: usize,
}

pub fn animal() -> Animal {
    let world = world("lock", DOMAIN, "buttons are to be pressed in their order; a wrong one starts it anew");
    let extent = Extent { unit: "buttons", train: (2, 4), large: (8, 10), huge: None };
    let make = |low, high| Lock { n: (low, high), code: Vec::new(), done: 0 };
    Animal { world: with_tasks(world, extent, make), by_hand: BY_HAND, tuned: false }
}

/// The same with one length that is far too long to be opened by chance, and none shorter to begin with.
pub fn long() -> World {
    const BUTTONS: usize = 12;
    let make = || Named::new(Lock { n: (BUTTONS, BUTTONS), code: Vec::new(), done: 0 });
    world("long-lock", DOMAIN, "a lock of twelve buttons").task("train", make)
}

impl Small for Lock {
    fn draw(&mut self, rng: &mut Rng) {
        self.code = (0..between(self.n, rng)).collect();
        rng.shuffle(&mut self.code);
        self.done = 0;
    }

    fn objects(&self) -> Vec<(String, &'static str)> {
        numbered("b", self.code.len(), "button").collect()
    }

    fn facts(&self, say: Say<'_>) {
        for &b in &self.code[..self.done] {
            say("pressed", &[b]);
        }
        say("first", &[self.code[0]]);
        for w in self.code.windows(2) {
            say("after", &[w[1], w[0]]);
        }
    }

    fn act(&mut self, _: &str, args: &[usize], _: &mut Rng) -> (f64, bool) {
        self.done = if args[0] == self.code[self.done] { self.done + 1 } else { 0 };
        if self.won() { (1.0, true) } else { (STEP, false) }
    }

    fn won(&self) -> bool {
        self.done == self.code.len()
    }

    fn horizon(&self) -> usize {
        6 * self.code.len()
    }
}
