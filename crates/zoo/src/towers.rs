//! Towers of blocks, as NLRL has them: all to the floor, all on one tower, one block on another.

use derrl_env::Rng;

use crate::small::{Extent, Say, Small, between, numbered, with_tasks};
use crate::{Animal, STEP, world};

const TOWER: &str = ":- action(move(block, place)).
:- state(top(block)).
:- state(on(block, place)).
:- background(isFloor(place)).
:- subtype(block, place).
";

const UNSTACK_BY_HAND: &str = "0.90::move(X, Y) :- top(X), isFloor(Y), on(X, Z).\n";

/// While two towers have more than one block, blocks go to the floor; then single blocks go on the tower.
const STACK_BY_HAND: &str = "0.90::move(X, Y) :- isFloor(Y), top(X), on(X, Z), top(V), on(V, W).
0.80::move(X, Y) :- top(X), top(Y), on(Y, Z), on(X, W), isFloor(W).
0.70::move(X, Y) :- top(X), top(Y).
";

const ON_BY_HAND: &str = "0.90::move(X, Y) :- goal_on(X, Y), top(X), top(Y).
0.80::move(X, Y) :- top(X), isFloor(Y), on(X, Z).
";

#[derive(Clone, Copy, PartialEq)]
enum Goal {
    Unstack,
    Stack,
    On,
}

/// The worlds by name, goal and policy, with what they are about and whether the defaults were chosen by them.
const TOWERS: [(&str, Goal, &str, &str, bool); 3] = [
    ("unstack", Goal::Unstack, UNSTACK_BY_HAND, "all blocks are put on the floor", true),
    ("stack", Goal::Stack, STACK_BY_HAND, "all blocks are put on one tower", true),
    ("on", Goal::On, ON_BY_HAND, "one block is put on another", true),
];

struct Tower {
    n: (usize, usize),
    goal: Goal,
    /// What each block is on; the floor is none.
    on: Vec<Option<usize>>,
    wanted: (usize, usize),
}

pub fn animals() -> Vec<Animal> {
    let animal = |&(name, goal, by_hand, about, tuned): &(&str, Goal, &'static str, &str, bool)| {
        let more = if goal == Goal::On { ":- background(goal_on(block, block)).\n" } else { "" };
        let world = world(name, &format!("{TOWER}{more}"), about);
        let extent = Extent { unit: "blocks", train: (2, 4), large: (20, 25), huge: Some(50) };
        let make = move |low, high| Tower { n: (low, high), goal, on: Vec::new(), wanted: (0, 1) };
        Animal { world: with_tasks(world, extent, make), by_hand, tuned }
    };
    TOWERS.iter().map(animal).collect()
}

impl Tower {
    fn is_clear(&self, block: usize) -> bool {
        !self.on.contains(&Some(block))
    }
}

impl Small for Tower {
    fn draw(&mut self, rng: &mut Rng) {
        let n = between(self.n, rng);
        loop {
            let mut order: Vec<usize> = (0..n).collect();
            rng.shuffle(&mut order);
            self.on = vec![None; n];
            for pair in order.windows(2) {
                if rng.unit() < 0.5 {
                    self.on[pair[1]] = Some(pair[0]);
                }
            }
            let x = rng.below(n);
            self.wanted = (x, (x + 1 + rng.below(n - 1)) % n);
            if !self.won() {
                break;
            }
        }
    }

    fn objects(&self) -> Vec<(String, &'static str)> {
        numbered("b", self.on.len(), "block").chain([("floor".to_string(), "place")]).collect()
    }

    fn facts(&self, say: Say<'_>) {
        let floor = self.on.len();
        for (x, below) in self.on.iter().enumerate() {
            if self.is_clear(x) {
                say("top", &[x]);
            }
            say("on", &[x, below.unwrap_or(floor)]);
        }
        say("isFloor", &[floor]);
        if self.goal == Goal::On {
            say("goal_on", &[self.wanted.0, self.wanted.1]);
        }
    }

    fn act(&mut self, _: &str, args: &[usize], _: &mut Rng) -> (f64, bool) {
        let (x, y, floor) = (args[0], args[1], self.on.len());
        if self.is_clear(x) && (y == floor || self.is_clear(y)) {
            self.on[x] = (y != floor).then_some(y);
        }
        if self.won() { (1.0, true) } else { (STEP, false) }
    }

    fn won(&self) -> bool {
        match self.goal {
            Goal::Unstack => self.on.iter().all(Option::is_none),
            Goal::Stack => self.on.iter().filter(|o| o.is_none()).count() == 1,
            Goal::On => self.on[self.wanted.0] == Some(self.wanted.1),
        }
    }

    fn horizon(&self) -> usize {
        4 * self.on.len()
    }
}
