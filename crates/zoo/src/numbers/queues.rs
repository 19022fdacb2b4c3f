//! Queues: serve one of several queues per step; switching costs a step's wait of one customer.

use derrl_env::{BoxError, Outcome, Rng, Task, named};

use super::{uniform, world};
use crate::Animal;
use crate::small::between;

const DOMAIN: &str = ":- action(serve(desk)).
:- state(current(desk)).                  % the desk that was served last
:- number(queue(desk), customer).         % how many wait
";

const BY_HAND: &str = "0.90::serve(D) :- current(D), queue(D) > 0.
0.80::serve(D) :- most(queue(D)).
";

/// How many customers arrive per step at all desks together. One is served per step.
const LOAD: f64 = 0.9;
/// The longest queue at the start.
const LONGEST: usize = 5;

#[derive(Clone)]
struct Queues {
    /// How many desks there are, from and to.
    n: (usize, usize),
    desks: Vec<Desk>,
    current: usize,
}

#[derive(Clone)]
struct Desk {
    name: String,
    waiting: usize,
    /// The probability that a customer arrives in a step.
    rate: f64,
}

pub fn animal() -> Animal {
    let of = |low, high| move || Queues { n: (low, high), desks: Vec::new(), current: 0 };
    let world = world("queues", DOMAIN, "serve one of several queues per step; switching has a price")
        .task(Task::new("train", "3 or 4 desks, 100 steps").size(4), of(3, 4))
        .task(Task::new("large", "9 to 12 desks, 100 steps").size(12), of(9, 12));
    Animal { world, by_hand: BY_HAND, tuned: false }
}

impl named::Env for Queues {
    fn reset(&mut self, rng: &mut Rng) -> Result<(), BoxError> {
        let n = between(self.n, rng);
        let rates: Vec<f64> = (0..n).map(|_| uniform(0.2, 1.0, rng)).collect();
        let sum: f64 = rates.iter().sum();
        let desk = |(i, rate)| Desk {
            name: format!("d{i}"),
            waiting: rng.below(LONGEST + 1),
            rate: LOAD * rate / sum,
        };
        self.desks = rates.into_iter().enumerate().map(desk).collect();
        self.current = 0;
        Ok(())
    }

    fn facts(&self, facts: &mut named::Facts) {
        facts.say("current", &[&self.desks[self.current].name]);
        for desk in &self.desks {
            facts.number("queue", &[&desk.name], desk.waiting as f64);
        }
    }

    fn step(&mut self, _: &str, args: &[&str], rng: &mut Rng) -> Result<Outcome, BoxError> {
        let served = self.desks.iter().position(|desk| desk.name == args[0]).ok_or("no such desk")?;
        let mut cost = usize::from(served != self.current);
        self.current = served;
        self.desks[served].waiting = self.desks[served].waiting.saturating_sub(1);
        for desk in &mut self.desks {
            desk.waiting += usize::from(rng.unit() < desk.rate);
            cost += desk.waiting;
        }
        Ok(Outcome::running(-(cost as f64)))
    }

    fn has_goal(&self) -> bool {
        false
    }

    fn horizon(&self) -> usize {
        100
    }

    fn copy(&self) -> Option<Box<dyn named::Env>> {
        Some(Box::new(self.clone()))
    }
}
