//! The Countdown Game: bring the accumulated number to the goal with the numbers of a stack.
//!
//! Each step takes the top of the stack and adds it to `acc`, subtracts it, or drops it; `acc` is kept inside the range.
//! When the stack is empty the reward is 1 if acc = goal, else -|goal - acc| / 10.

use std::sync::Arc;

use derrl_logic::{Action, Alphabet, Constant, Facts, Object, Universe};

use crate::error::Error;
use crate::rng::Rng;
use crate::scene::{Numbers, Scene};
use crate::space::COUNTDOWN;
use crate::table::{Options, Spec, Task};
use crate::world::{Binding, Env, Outcome, Status, Vocabulary, type_named};

/// The row of the table of worlds.
pub const SPEC: Spec = Spec {
    name: "countdown",
    summary: "reach a goal number by adding, subtracting or dropping the numbers of a stack",
    domain: include_str!("../domains/countdown.pl"),
    vocabulary: VOCABULARY,
    tasks: &[
        Task::new("train", "stacks of 2 numbers").target(0.98),
        Task::new("dynamic-stack", "stacks of 3, 4 or 5 numbers").target(0.98),
        Task::new("held-out-target", "goals never trained on").target(0.98),
        Task::new("held-out-initial", "stacks never trained on").target(0.98),
    ],
    options: &["noise"],
    make: |alphabet, task, options| Ok(Box::new(Countdown::new(alphabet, task, options)?)),
    exhaustive: COUNTDOWN,
};

const VOCABULARY: Vocabulary = Vocabulary {
    predicates: &[("curr", 1), ("next", 2), ("last", 1), ("acc", 1), ("goal", 1), ("less", 2)],
    actions: &[("add", 0), ("sub", 0), ("null", 0)],
};
pub(crate) const CURR: usize = 0;
pub(crate) const NEXT: usize = 1;
pub(crate) const LAST: usize = 2;
pub(crate) const ACC: usize = 3;
pub(crate) const GOAL: usize = 4;
pub(crate) const LESS: usize = 5;

pub(crate) const LOW: i8 = -4;
pub(crate) const HIGH: i8 = 6;
const N1: f64 = 10.0;
/// Goals that `train` never draws.
const HELD_OUT_GOALS: [i8; 3] = [-3, 0, 3];
/// Stacks that `train` never draws, top first.
const HELD_OUT_STACKS: [[i8; 2]; 3] = [[1, 3], [2, 2], [3, 1]];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Draw {
    Train,
    DynamicStack,
    HeldOutTarget,
    HeldOutInitial,
}

#[derive(Clone, Debug)]
struct Countdown {
    binding: Binding,
    universe: Arc<Universe>,
    draw: Draw,
    noise: f64,
    start: i8,
    goal: i8,
    /// The stack of the instance, top first.
    stack: Vec<i8>,
    taken: usize,
    acc: i8,
}

impl Countdown {
    fn new(alphabet: &Arc<Alphabet>, task: &str, options: &Options) -> Result<Countdown, Error> {
        Ok(Countdown {
            binding: Binding::new(SPEC.name, &VOCABULARY, alphabet)?,
            universe: Arc::new(universe(alphabet)),
            draw: match task {
                "dynamic-stack" => Draw::DynamicStack,
                "held-out-target" => Draw::HeldOutTarget,
                "held-out-initial" => Draw::HeldOutInitial,
                _ => Draw::Train,
            },
            noise: options.noise.unwrap_or(0.0),
            start: 0,
            goal: 0,
            stack: vec![1],
            taken: 0,
            acc: 0,
        })
    }

    /// The expected return of the best policy from here on: expectimax over the rest of the stack.
    fn best_from(&self, taken: usize, acc: i8) -> f64 {
        let Some(&top) = self.stack.get(taken) else {
            return payoff(self.goal, acc);
        };
        let dropped = self.best_from(taken + 1, acc);
        let chosen = [clamp(acc + top), clamp(acc - top)].map(|next| self.best_from(taken + 1, next));
        let risky = |v: f64| (1.0 - self.noise) * v + self.noise * dropped;
        chosen.into_iter().map(risky).fold(dropped, f64::max)
    }
}

/// The numbers of the range.
pub(crate) fn universe(alphabet: &Alphabet) -> Universe {
    let number = type_named(alphabet, "number");
    Universe::new((LOW..=HIGH).map(|n| (Constant::Int(i64::from(n)), number)).collect())
}

pub(crate) fn clamp(n: i8) -> i8 {
    n.clamp(LOW, HIGH)
}

fn payoff(goal: i8, acc: i8) -> f64 {
    if goal == acc { 1.0 } else { -f64::from((goal - acc).abs()) / N1 }
}

pub(crate) fn object(n: i8) -> Object {
    Object((n - LOW) as u32)
}

impl Env for Countdown {
    fn reset(&mut self, rng: &mut Rng) {
        let length = if self.draw == Draw::DynamicStack { 3 + rng.below(3) } else { 2 };
        loop {
            self.stack.clear();
            self.stack.extend((0..length).map(|_| 1 + rng.below(3) as i8));
            let held_out_stack = HELD_OUT_STACKS.iter().any(|s| s[..] == self.stack[..]);
            self.start = LOW + rng.below((HIGH - LOW + 1) as usize) as i8;
            let sum: i8 = self.stack[..=rng.below(length)].iter().sum();
            self.goal = if rng.bits() & 1 == 0 { self.start + sum } else { self.start - sum };
            let held_out_goal = HELD_OUT_GOALS.contains(&self.goal);
            let drawn = match self.draw {
                Draw::Train => !held_out_stack && !held_out_goal,
                Draw::HeldOutTarget => !held_out_stack && held_out_goal,
                Draw::HeldOutInitial => held_out_stack && !held_out_goal,
                Draw::DynamicStack => true,
            };
            if drawn && (LOW..=HIGH).contains(&self.goal) {
                break;
            }
        }
        self.restart();
    }

    fn restart(&mut self) {
        self.taken = 0;
        self.acc = self.start;
    }

    fn universe(&self) -> &Arc<Universe> {
        &self.universe
    }

    fn facts(&self, facts: &mut Facts) {
        let rest = &self.stack[self.taken..];
        if let (Some(&top), Some(&bottom)) = (rest.first(), rest.last()) {
            self.binding.say(facts, CURR, &[object(top)]);
            self.binding.say(facts, LAST, &[object(bottom)]);
        }
        if let [top, below, ..] = *rest {
            self.binding.say(facts, NEXT, &[object(top), object(below)]);
        }
        self.binding.say(facts, ACC, &[object(self.acc)]);
        self.binding.say(facts, GOAL, &[object(self.goal)]);
        for x in LOW..=HIGH {
            for y in x + 1..=HIGH {
                self.binding.say(facts, LESS, &[object(x), object(y)]);
            }
        }
    }

    fn code(&self) -> Option<u128> {
        // Only the first, second and last number of the stack show in the facts; two bits each, 0 for none.
        let rest = &self.stack[self.taken..];
        let shown = [rest.first(), rest.get(1), rest.last()];
        let stack = shown.iter().fold(0, |code, n| code << 2 | n.map_or(0, |&n| n as u128));
        Some((stack << 4 | u128::from(object(self.acc).0)) << 4 | u128::from(object(self.goal).0))
    }

    fn step(&mut self, action: Action, _args: &[Object], rng: &mut Rng) -> Outcome {
        let Some(&top) = self.stack.get(self.taken) else {
            return Outcome { reward: 0.0, status: Status::Terminated };
        };
        self.taken += 1;
        let slips = self.noise > 0.0 && rng.unit() < self.noise;
        match self.binding.action(action) {
            0 if !slips => self.acc = clamp(self.acc + top),
            1 if !slips => self.acc = clamp(self.acc - top),
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
            range: (i64::from(LOW), i64::from(HIGH)),
        })
    }

    fn best_return(&self) -> f64 {
        self.best_from(0, self.start)
    }
}
