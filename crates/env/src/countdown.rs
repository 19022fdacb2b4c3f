//! The Countdown Game: bring the accumulated number to the goal with the numbers of a stack.
//!
//! Each step takes the top of the stack and adds it to `acc`, subtracts it, or drops it; `acc` is kept inside the range.
//! When the stack is empty the reward is 1 if acc = goal, else -|goal - acc| / 10.

use std::sync::Arc;

use derrl_logic::{Action, Alphabet, Constant, Facts, Object, Universe};

use crate::binding::{Binding, Vocabulary, type_named};
use crate::env::{Env, Outcome, Status};
use crate::error::Error;
use crate::rng::Rng;
use crate::scene::{Numbers, Scene};
use crate::space;
use crate::world::{Options, Task, World};

/// The row of the table of worlds.
pub fn world() -> World {
    let tasks = [
        Task::new("train", "stacks of 2 numbers"),
        Task::new("dynamic-stack", "stacks of 3, 4 or 5 numbers"),
        Task::new("held-out-target", "goals never trained on"),
        Task::new("held-out-initial", "stacks never trained on"),
        Task::new("large", "stacks of --size numbers, --range numbers around 0").on_request(),
    ];
    World::built_in(NAME, include_str!("../domains/countdown.pl"))
        .about("reach a goal number by adding, subtracting or dropping the numbers of a stack")
        .words(include_str!("../domains/countdown.words"))
        .engine_tasks(tasks, Countdown::new)
        .vocabulary(VOCABULARY)
        .takes(&["noise", "size", "range"])
        .with_space(space::countdown())
}

pub(crate) const NAME: &str = "countdown";

pub(crate) const VOCABULARY: Vocabulary<'static> = Vocabulary {
    predicates: &[("curr", 1), ("next", 2), ("last", 1), ("acc", 1), ("goal", 1), ("less", 2)],
    measures: &[],
    actions: &[("add", 0), ("sub", 0), ("null", 0)],
};
pub(crate) const CURR: usize = 0;
pub(crate) const NEXT: usize = 1;
pub(crate) const LAST: usize = 2;
pub(crate) const ACC: usize = 3;
pub(crate) const GOAL: usize = 4;
pub(crate) const LESS: usize = 5;

/// The numbers of the tasks of fixed size.
pub(crate) const LOW: i8 = -4;
pub(crate) const HIGH: i8 = 6;
/// How many these are.
const RANGE: usize = (HIGH - LOW + 1) as usize;
/// Sizes that `large` takes: the numbers of a stack, 1 to 3, have to be among the numbers, and a code fits 128 bits.
const RANGES: std::ops::RangeInclusive<usize> = 8..=1000;
const STACKS: std::ops::RangeInclusive<usize> = 1..=100;
const N1: f64 = 10.0;
/// Goals that `train` never draws.
const HELD_OUT_GOALS: [i32; 3] = [-3, 0, 3];
/// Stacks that `train` never draws, top first.
const HELD_OUT_STACKS: [[i32; 2]; 3] = [[1, 3], [2, 2], [3, 1]];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Draw {
    Train,
    DynamicStack,
    HeldOutTarget,
    HeldOutInitial,
    Large,
}

#[derive(Clone, Debug)]
struct Countdown {
    binding: Binding,
    universe: Arc<Universe>,
    draw: Draw,
    /// The lengths of stacks, each equally likely.
    lengths: Vec<usize>,
    low: i32,
    high: i32,
    noise: f64,
    start: i32,
    goal: i32,
    /// The stack of the instance, top first.
    stack: Vec<i32>,
    taken: usize,
    acc: i32,
    /// Which numbers slipped in this episode, a bit each: there are at most 100.
    slipped: u128,
}

impl Countdown {
    fn new(alphabet: &Arc<Alphabet>, task: &str, options: &Options) -> Result<Countdown, Error> {
        let draw = match task {
            "dynamic-stack" => Draw::DynamicStack,
            "held-out-target" => Draw::HeldOutTarget,
            "held-out-initial" => Draw::HeldOutInitial,
            "large" => Draw::Large,
            _ => Draw::Train,
        };
        for (name, given) in [("size", options.size.is_some()), ("range", options.range.is_some())] {
            if given && draw != Draw::Large {
                return Err(Error::Option(format!(
                    "task `{task}` has its own stacks and numbers; --{name} is for task `large`"
                )));
            }
        }
        let (size, range) = (options.size.unwrap_or(10), options.range.unwrap_or(RANGE));
        if !STACKS.contains(&size) {
            return Err(Error::Option("--size is a length of stacks from 1 to 100".to_string()));
        }
        if !RANGES.contains(&range) {
            return Err(Error::Option("--range is how many numbers there are, from 8 to 1000".to_string()));
        }
        let low = 1 - (range as i32 - 1) / 2;
        let high = low + range as i32 - 1;
        Ok(Countdown {
            binding: Binding::new(NAME, &VOCABULARY, alphabet)?,
            universe: Arc::new(numbers(alphabet, low, high)),
            lengths: match draw {
                Draw::DynamicStack => vec![3, 4, 5],
                Draw::Large => vec![size],
                _ => vec![2],
            },
            draw,
            low,
            high,
            noise: options.noise.unwrap_or(0.0),
            start: 0,
            goal: 0,
            stack: vec![1],
            taken: 0,
            acc: 0,
            slipped: 0,
        })
    }

    /// The expected return of the best policy from each `acc`, at each place of the stack and at its end: expectimax, from the
    /// bottom of the stack to its top.
    fn values(&self) -> Vec<Vec<f64>> {
        let mut all = vec![(self.low..=self.high).map(|acc| payoff(self.goal, acc)).collect::<Vec<f64>>()];
        for &top in self.stack.iter().rev() {
            let below = all.last().expect("the end of the stack has values");
            let value = |acc: i32| below[self.object(acc).0 as usize];
            let best = |acc: i32| {
                self.choices(acc, top).map(|next| self.chance(next, acc, value)).fold(f64::MIN, f64::max)
            };
            all.push((self.low..=self.high).map(best).collect());
        }
        all.reverse();
        all
    }

    /// The sums after dropping a number, adding it and taking it away.
    fn choices(&self, acc: i32, top: i32) -> impl Iterator<Item = i32> {
        [acc, self.clamp(acc + top), self.clamp(acc - top)].into_iter()
    }

    /// The expected value of going to a sum from another one, where one may slip.
    fn chance(&self, next: i32, acc: i32, value: impl Fn(i32) -> f64) -> f64 {
        (1.0 - self.noise) * value(next) + self.noise * value(acc)
    }

    /// The return of the best policy with the luck of this episode, once it is over; until then, its expected return.
    fn best(&self) -> f64 {
        let values = self.values();
        if self.noise == 0.0 || self.taken < self.stack.len() {
            return values[0][self.object(self.start).0 as usize];
        }
        let mut acc = self.start;
        for (i, &top) in self.stack.iter().enumerate() {
            let value = |acc: i32| values[i + 1][self.object(acc).0 as usize];
            let worth = |next: &i32| self.chance(*next, acc, value);
            let next =
                self.choices(acc, top).max_by(|a, b| worth(a).total_cmp(&worth(b))).expect("three choices");
            acc = if self.slipped >> i & 1 == 1 { acc } else { next };
        }
        payoff(self.goal, acc)
    }

    fn clamp(&self, n: i32) -> i32 {
        n.clamp(self.low, self.high)
    }

    fn object(&self, n: i32) -> Object {
        Object((n - self.low) as u32)
    }
}

/// The numbers from `low` to `high`.
fn numbers(alphabet: &Alphabet, low: i32, high: i32) -> Universe {
    let number = type_named(alphabet, "number");
    Universe::new((low..=high).map(|n| (Constant::Int(i64::from(n)), number)).collect())
}

/// The numbers of the tasks of fixed size.
pub(crate) fn universe(alphabet: &Alphabet) -> Universe {
    numbers(alphabet, LOW.into(), HIGH.into())
}

/// `n`, kept inside the range of the tasks of fixed size.
pub(crate) fn clamp(n: i8) -> i8 {
    n.clamp(LOW, HIGH)
}

fn payoff(goal: i32, acc: i32) -> f64 {
    if goal == acc { 1.0 } else { -f64::from((goal - acc).abs()) / N1 }
}

/// A number among those of the tasks of fixed size.
pub(crate) fn object(n: i8) -> Object {
    Object((n - LOW) as u32)
}

impl Env for Countdown {
    fn reset(&mut self, rng: &mut Rng) {
        let length = match self.lengths[..] {
            [only] => only,
            _ => self.lengths[rng.below(self.lengths.len())],
        };
        loop {
            self.stack.clear();
            self.stack.extend((0..length).map(|_| 1 + rng.below(3) as i32));
            let held_out_stack = HELD_OUT_STACKS.iter().any(|s| s[..] == self.stack[..]);
            self.start = self.low + rng.below((self.high - self.low + 1) as usize) as i32;
            let sum: i32 = self.stack[..=rng.below(length)].iter().sum();
            self.goal = if rng.bits() & 1 == 0 { self.start + sum } else { self.start - sum };
            let held_out_goal = HELD_OUT_GOALS.contains(&self.goal);
            let drawn = match self.draw {
                Draw::Train => !held_out_stack && !held_out_goal,
                Draw::HeldOutTarget => !held_out_stack && held_out_goal,
                Draw::HeldOutInitial => held_out_stack && !held_out_goal,
                Draw::DynamicStack | Draw::Large => true,
            };
            if drawn && (self.low..=self.high).contains(&self.goal) {
                break;
            }
        }
        self.restart();
    }

    fn restart(&mut self) {
        self.taken = 0;
        self.acc = self.start;
        self.slipped = 0;
    }

    fn universe(&self) -> &Arc<Universe> {
        &self.universe
    }

    fn facts(&self, facts: &mut Facts) {
        let rest = &self.stack[self.taken..];
        if let (Some(&top), Some(&bottom)) = (rest.first(), rest.last()) {
            self.binding.say(facts, CURR, &[self.object(top)]);
            self.binding.say(facts, LAST, &[self.object(bottom)]);
        }
        if let [top, below, ..] = *rest {
            self.binding.say(facts, NEXT, &[self.object(top), self.object(below)]);
        }
        self.binding.say(facts, ACC, &[self.object(self.acc)]);
        self.binding.say(facts, GOAL, &[self.object(self.goal)]);
        for x in self.low..=self.high {
            for y in x + 1..=self.high {
                self.binding.say(facts, LESS, &[self.object(x), self.object(y)]);
            }
        }
    }

    fn code(&self) -> Option<u128> {
        // Only the first, second and last number of the stack show in the facts; two bits each, 0 for none.
        let rest = &self.stack[self.taken..];
        let shown = [rest.first(), rest.get(1), rest.last()];
        let stack = shown.iter().fold(0, |code, n| code << 2 | n.map_or(0, |&n| n as u128));
        Some((stack << 10 | u128::from(self.object(self.acc).0)) << 10 | u128::from(self.object(self.goal).0))
    }

    fn step(&mut self, action: Action, _args: &[Object], rng: &mut Rng) -> Outcome {
        let Some(&top) = self.stack.get(self.taken) else {
            return Outcome { reward: 0.0, status: Status::Terminated };
        };
        let slips = self.noise > 0.0 && rng.unit() < self.noise;
        self.slipped |= u128::from(slips) << self.taken;
        self.taken += 1;
        match self.binding.action(action) {
            0 if !slips => self.acc = self.clamp(self.acc + top),
            1 if !slips => self.acc = self.clamp(self.acc - top),
            _ => {}
        }
        if self.taken == self.stack.len() {
            Outcome { reward: payoff(self.goal, self.acc), status: Status::Terminated }
        } else {
            Outcome { reward: 0.0, status: Status::Running }
        }
    }

    fn succeeded(&self) -> bool {
        self.taken == self.stack.len() && self.acc == self.goal
    }

    fn scene(&self) -> Scene {
        Scene::Numbers(Numbers {
            numbers: self.stack.iter().map(|&n| i64::from(n)).collect(),
            taken: self.taken,
            acc: i64::from(self.acc),
            goal: i64::from(self.goal),
            range: (i64::from(self.low), i64::from(self.high)),
        })
    }

    fn best_return(&self) -> Option<f64> {
        Some(self.best())
    }
}
