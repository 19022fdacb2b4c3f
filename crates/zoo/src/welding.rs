//! Welding: an action of four arguments, all of which have to fit.

use derrl_env::Rng;

use crate::small::{Extent, Say, Small, between, numbered, with_tasks};
use crate::{Animal, STEP, world};

const DOMAIN: &str = ":- action(weld(left, right, tool, bench)).
:- state(loose(left)).
:- background(pair(left, right)).
:- background(fits(tool, left)).
:- background(lies(right, bench)).
:- background(clean(tool)).
:- background(near(left, bench)).
";

const BY_HAND: &str = "0.90::weld(A, B, T, W) :- loose(A), pair(A, B), fits(T, A), lies(B, W).\n";

const TOOLS: usize = 2;
const BENCHES: usize = 2;

struct Welding {
    n: (usize, usize),
    loose: Vec<bool>,
    /// By left part: its right part, its tool; by right part: its bench.
    pair: Vec<usize>,
    fits: Vec<usize>,
    lies: Vec<usize>,
    /// What does not matter.
    clean: usize,
    near: Vec<usize>,
}

pub fn animal() -> Animal {
    let world = world("welding", DOMAIN, "two parts are joined with a tool on a bench: four arguments");
    let extent = Extent { unit: "pairs of parts", train: (1, 3), large: (6, 8), huge: None };
    let make = |low, high| Welding {
        n: (low, high),
        loose: Vec::new(),
        pair: Vec::new(),
        fits: Vec::new(),
        lies: Vec::new(),
        clean: 0,
        near: Vec::new(),
    };
    Animal { world: with_tasks(world, extent, make), by_hand: BY_HAND, tuned: false }
}

impl Small for Welding {
    fn draw(&mut self, rng: &mut Rng) {
        let n = between(self.n, rng);
        self.loose = vec![true; n];
        self.pair = (0..n).collect();
        rng.shuffle(&mut self.pair);
        let mut any = |count: usize| -> Vec<usize> { (0..n).map(|_| rng.below(count)).collect() };
        (self.fits, self.lies, self.near) = (any(TOOLS), any(BENCHES), any(BENCHES));
        self.clean = rng.below(TOOLS);
    }

    fn objects(&self) -> Vec<(String, &'static str)> {
        let n = self.loose.len();
        let parts = numbered("a", n, "left").chain(numbered("b", n, "right"));
        parts.chain(numbered("t", TOOLS, "tool")).chain(numbered("w", BENCHES, "bench")).collect()
    }

    fn facts(&self, say: Say<'_>) {
        let n = self.loose.len();
        let (tools, benches) = (2 * n, 2 * n + TOOLS);
        for i in 0..n {
            if self.loose[i] {
                say("loose", &[i]);
            }
            say("pair", &[i, n + self.pair[i]]);
            say("fits", &[tools + self.fits[i], i]);
            say("lies", &[n + i, benches + self.lies[i]]);
            say("near", &[i, benches + self.near[i]]);
        }
        say("clean", &[tools + self.clean]);
    }

    fn act(&mut self, _: &str, args: &[usize], _: &mut Rng) -> (f64, bool) {
        let n = self.loose.len();
        let (a, b, tool, bench) = (args[0], args[1] - n, args[2] - 2 * n, args[3] - 2 * n - TOOLS);
        if self.pair[a] == b && self.fits[a] == tool && self.lies[b] == bench {
            self.loose[a] = false;
        }
        if self.won() { (1.0, true) } else { (STEP, false) }
    }

    fn won(&self) -> bool {
        self.loose.iter().all(|l| !l)
    }

    fn horizon(&self) -> usize {
        20 * self.loose.len() + 20
    }
}
