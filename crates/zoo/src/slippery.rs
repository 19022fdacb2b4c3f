//! Fetching things with slippery hands: grabbing fails, and things fall, by chance.

use derrl_env::Rng;

use crate::small::{Extent, Say, Small, between, numbered, with_tasks};
use crate::{Animal, STEP, world};

const DOMAIN: &str = ":- action(go(place)).
:- action(grab(thing)).
:- action(deliver).
:- state(here(place)).
:- state(lies(thing, place)).
:- state(holds(thing)).
:- background(home(place)).
";

const BY_HAND: &str = "0.90::deliver :- holds(X), here(Y), home(Y).
0.80::go(Y) :- holds(X), home(Y).
0.70::grab(X) :- lies(X, Y), here(Y).
0.60::go(Y) :- lies(X, Y).
";

/// The chance that grabbing works.
const GRABS: f64 = 0.7;
/// The chance that what is carried falls on the way.
const FALLS: f64 = 0.1;

struct Slippery {
    n: (usize, usize),
    at: usize,
    lies: Vec<Option<usize>>,
    carried: Option<usize>,
}

pub fn animal() -> Animal {
    let world = world("slippery", DOMAIN, "things are fetched; grabbing fails and things fall by chance");
    let extent = Extent { unit: "things", train: (1, 3), large: (6, 8), huge: None };
    let make = |low, high| Slippery { n: (low, high), at: 0, lies: Vec::new(), carried: None };
    Animal { world: with_tasks(world, extent, make), by_hand: BY_HAND, tuned: false }
}

impl Small for Slippery {
    fn draw(&mut self, rng: &mut Rng) {
        let n = between(self.n, rng);
        self.lies = (0..n).map(|_| Some(1 + rng.below(n))).collect();
        (self.at, self.carried) = (0, None);
    }

    fn objects(&self) -> Vec<(String, &'static str)> {
        let n = self.lies.len();
        numbered("t", n, "thing").chain(numbered("p", n + 1, "place")).collect()
    }

    fn facts(&self, say: Say<'_>) {
        let n = self.lies.len();
        say("here", &[n + self.at]);
        say("home", &[n]);
        for (i, place) in self.lies.iter().enumerate() {
            if let Some(p) = place {
                say("lies", &[i, n + p]);
            }
        }
        if let Some(thing) = self.carried {
            say("holds", &[thing]);
        }
    }

    fn act(&mut self, action: &str, args: &[usize], rng: &mut Rng) -> (f64, bool) {
        match action {
            "go" => {
                self.at = args[0] - self.lies.len();
                if let Some(thing) = self.carried.filter(|_| rng.unit() < FALLS) {
                    self.carried = None;
                    self.lies[thing] = Some(self.at);
                }
            }
            "grab" => {
                let reach = self.carried.is_none() && self.lies[args[0]] == Some(self.at);
                if reach && rng.unit() < GRABS {
                    self.lies[args[0]] = None;
                    self.carried = Some(args[0]);
                }
            }
            _ if self.at == 0 => self.carried = None,
            _ => {}
        }
        if self.won() { (1.0, true) } else { (STEP, false) }
    }

    fn won(&self) -> bool {
        self.carried.is_none() && self.lies.iter().all(Option::is_none)
    }

    fn horizon(&self) -> usize {
        12 * self.lies.len() + 8
    }
}
