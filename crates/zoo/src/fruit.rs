//! Fruit: eat what is ripe and sweet, among predicates and objects that do not matter.

use derrl_env::Rng;

use crate::small::{Extent, Say, Small, between, numbered, with_tasks};
use crate::{Animal, STEP, world};

const DOMAIN: &str = ":- action(eat(fruit)).
:- state(there(fruit)).
:- state(sunny).
:- state(windy).
:- state(bird(rock)).
:- background(ripe(fruit)).
:- background(sweet(fruit)).
:- background(near(fruit, fruit)).
:- background(stone(rock)).
";

const BY_HAND: &str = "0.90::eat(X) :- there(X), ripe(X), sweet(X).\n";

/// Properties of fruit that do not matter.
const FEW: usize = 4;
const MANY: usize = 60;

struct Fruit {
    n: (usize, usize),
    /// The names of the properties: ripe, sweet, and those that do not matter.
    names: Vec<String>,
    is: Vec<Vec<bool>>,
    near: Vec<(usize, usize)>,
    eaten: Vec<bool>,
    ill: bool,
    weather: u64,
}

/// A world with a few predicates that do not matter.
pub fn animal() -> Animal {
    named("fruit", FEW, "ripe and sweet fruit is eaten, whatever the weather", (10, 14))
}

/// The same with many.
pub fn wide() -> Animal {
    named("wide", MANY, "the same with 60 properties that do not matter", (8, 10))
}

fn named(name: &str, others: usize, summary: &str, large: (usize, usize)) -> Animal {
    let names: Vec<String> =
        ["ripe", "sweet"].map(String::from).into_iter().chain((0..others).map(|i| format!("q{i}"))).collect();
    let mut domain = DOMAIN.to_string();
    for name in &names[2..] {
        domain.push_str(":- background(");
        domain.push_str(name);
        domain.push_str("(fruit)).\n");
    }
    let world = world(name, &domain, summary);
    let extent = Extent { unit: "pieces of fruit", train: (2, 4), large, huge: None };
    let make = move |low, high| Fruit {
        n: (low, high),
        names: names.clone(),
        is: Vec::new(),
        near: Vec::new(),
        eaten: Vec::new(),
        ill: false,
        weather: 0,
    };
    Animal { world: with_tasks(world, extent, make), by_hand: BY_HAND, tuned: false }
}

impl Fruit {
    fn is_good(&self, fruit: usize) -> bool {
        self.is[fruit][0] && self.is[fruit][1] && !self.eaten[fruit]
    }
}

impl Small for Fruit {
    fn draw(&mut self, rng: &mut Rng) {
        let n = between(self.n, rng);
        self.eaten = vec![false; n];
        self.ill = false;
        loop {
            self.is = (0..n).map(|_| self.names.iter().map(|_| rng.unit() < 0.5).collect()).collect();
            if (0..n).any(|i| self.is_good(i)) {
                break;
            }
        }
        self.near = (0..n).map(|_| (rng.below(n), rng.below(n))).filter(|(a, b)| a != b).collect();
        self.weather = rng.bits();
    }

    fn objects(&self) -> Vec<(String, &'static str)> {
        numbered("f", self.is.len(), "fruit").chain(numbered("r", 2, "rock")).collect()
    }

    fn facts(&self, say: Say<'_>) {
        let n = self.is.len();
        for (i, is) in self.is.iter().enumerate() {
            if !self.eaten[i] {
                say("there", &[i]);
            }
            for (name, _) in self.names.iter().zip(is).filter(|(_, is)| **is) {
                say(name, &[i]);
            }
        }
        for &(a, b) in &self.near {
            say("near", &[a, b]);
        }
        say("stone", &[n]);
        say("stone", &[n + 1]);
        if self.weather & 1 == 1 {
            say("sunny", &[]);
        }
        if self.weather & 2 == 2 {
            say("windy", &[]);
        }
        say("bird", &[n + (self.weather >> 2 & 1) as usize]);
    }

    fn act(&mut self, _: &str, args: &[usize], _: &mut Rng) -> (f64, bool) {
        self.weather = self.weather.rotate_right(3);
        if !self.is_good(args[0]) {
            self.ill = true;
            return (-1.0, true);
        }
        self.eaten[args[0]] = true;
        if self.won() { (1.0, true) } else { (STEP, false) }
    }

    fn won(&self) -> bool {
        !self.ill && (0..self.is.len()).all(|i| !self.is_good(i))
    }

    fn horizon(&self) -> usize {
        4 * self.is.len()
    }
}
