//! Pipes: the valve is to be opened from which water flows to the fire. Needs a closure.

use derrl_env::{Rng, World};

use crate::small::{Extent, Say, Small, between, numbered, with_tasks};
use crate::world;

const DOMAIN: &str = ":- action(open(valve)).
:- background(source(valve)).
:- background(feeds(valve, valve)).
:- state(fire(valve)).
";

/// How many pipes there are.
const PIPES: usize = 3;

struct Pipes {
    n: (usize, usize),
    /// The valves of each pipe, the source first.
    valves: Vec<Vec<usize>>,
    /// The pipe whose end burns.
    fire: usize,
    is_out: bool,
}

pub fn world_of_pipes() -> World {
    let world = world("pipes", DOMAIN, "the valve is to be opened from which water flows to the fire");
    let extent = Extent { unit: "valves per pipe", train: (2, 5), large: (8, 10), huge: None };
    with_tasks(world, extent, |low, high| Pipes {
        n: (low, high),
        valves: Vec::new(),
        fire: 0,
        is_out: false,
    })
}

impl Small for Pipes {
    fn draw(&mut self, rng: &mut Rng) {
        let lengths: Vec<usize> = (0..PIPES).map(|_| between(self.n, rng)).collect();
        // Names tell nothing.
        let mut valves: Vec<usize> = (0..lengths.iter().sum()).collect();
        rng.shuffle(&mut valves);
        let mut valves = valves.into_iter();
        self.valves = lengths.iter().map(|&n| valves.by_ref().take(n).collect()).collect();
        self.fire = rng.below(PIPES);
        self.is_out = false;
    }

    fn objects(&self) -> Vec<(String, &'static str)> {
        numbered("v", self.valves.iter().map(Vec::len).sum(), "valve").collect()
    }

    fn facts(&self, say: Say<'_>) {
        for (i, pipe) in self.valves.iter().enumerate() {
            say("source", &[pipe[0]]);
            pipe.windows(2).for_each(|two| say("feeds", two));
            if i == self.fire && !self.is_out {
                say("fire", &[pipe[pipe.len() - 1]]);
            }
        }
    }

    fn act(&mut self, _: &str, args: &[usize], _: &mut Rng) -> (f64, bool) {
        self.is_out = self.valves[self.fire][0] == args[0];
        (if self.is_out { 1.0 } else { -1.0 }, true)
    }

    fn won(&self) -> bool {
        self.is_out
    }

    fn horizon(&self) -> usize {
        2
    }
}
