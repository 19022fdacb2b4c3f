//! Recycling: four kinds of item, four bins, one action. Needs four rules for it.

use derrl_env::Rng;

use crate::small::{Extent, Say, Small, between, numbered, with_tasks};
use crate::{Animal, STEP, world};

const DOMAIN: &str = ":- action(put(item, bin)).
:- state(waiting(item)).
:- background(glass(item)).
:- background(paper(item)).
:- background(metal(item)).
:- background(food(item)).
:- background(green(bin)).
:- background(blue(bin)).
:- background(yellow(bin)).
:- background(brown(bin)).
";

const BY_HAND: &str = "0.90::put(X, Y) :- waiting(X), glass(X), green(Y).
0.90::put(X, Y) :- waiting(X), paper(X), blue(Y).
0.90::put(X, Y) :- waiting(X), metal(X), yellow(Y).
0.90::put(X, Y) :- waiting(X), food(X), brown(Y).
";

const KINDS: [&str; 4] = ["glass", "paper", "metal", "food"];
const BINS: [&str; 4] = ["green", "blue", "yellow", "brown"];

struct Recycling {
    n: (usize, usize),
    kind: Vec<usize>,
    gone: Vec<bool>,
}

pub fn animal() -> Animal {
    let world = world("recycling", DOMAIN, "four kinds of item go into four bins; a wrong bin ends it");
    let extent = Extent { unit: "items", train: (2, 4), large: (10, 15), huge: None };
    let make = |low, high| Recycling { n: (low, high), kind: Vec::new(), gone: Vec::new() };
    Animal { world: with_tasks(world, extent, make), by_hand: BY_HAND, tuned: false }
}

impl Small for Recycling {
    fn draw(&mut self, rng: &mut Rng) {
        self.kind = (0..between(self.n, rng)).map(|_| rng.below(4)).collect();
        self.gone = vec![false; self.kind.len()];
    }

    fn objects(&self) -> Vec<(String, &'static str)> {
        numbered("i", self.kind.len(), "item").chain(numbered("bin", 4, "bin")).collect()
    }

    fn facts(&self, say: Say<'_>) {
        let n = self.kind.len();
        for i in 0..n {
            if !self.gone[i] {
                say("waiting", &[i]);
            }
            say(KINDS[self.kind[i]], &[i]);
        }
        for (b, name) in BINS.iter().enumerate() {
            say(name, &[n + b]);
        }
    }

    fn act(&mut self, _: &str, args: &[usize], _: &mut Rng) -> (f64, bool) {
        let n = self.kind.len();
        let (i, b) = (args[0], args[1] - n);
        if self.gone[i] {
            return (STEP, false);
        }
        if self.kind[i] != b {
            return (STEP - 1.0, true);
        }
        self.gone[i] = true;
        (STEP + 1.0 / n as f64, self.won())
    }

    fn won(&self) -> bool {
        self.gone.iter().all(|g| *g)
    }

    fn horizon(&self) -> usize {
        4 * self.kind.len()
    }
}
