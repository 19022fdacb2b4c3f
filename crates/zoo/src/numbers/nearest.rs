//! Nearest: collect items on a square and keep away from hazards that move.

use std::f64::consts::TAU;

use derrl_env::{BoxError, Outcome, Rng, Task, named};

use super::{uniform, world};
use crate::Animal;

const DOMAIN: &str = ":- action(left).
:- action(right).
:- action(down).
:- action(up).
:- action(stay).
:- subtype(item, thing).
:- subtype(hazard, thing).
:- state(nearest(item)).                  % of the items that are left
:- background(hazard(hazard)).
:- number(x, metre).                      % where one is, on a square of one metre
:- number(y, metre).
:- number(x(thing), metre).
:- number(y(thing), metre).
:- number(distance(thing), metre).        % a hazard is fatal below 0.1
";

const BY_HAND: &str = "0.90::left :- hazard(H), distance(H) =< 0.2, x(H) > x + 0.07.
0.80::right :- hazard(H), distance(H) =< 0.2, x(H) - x =< -0.07.
0.70::down :- hazard(H), distance(H) =< 0.2, y(H) > y.
0.60::up :- hazard(H), distance(H) =< 0.2.
0.50::right :- nearest(I), x(I) > x + 0.1.
0.40::left :- nearest(I), x(I) - x =< -0.1.
0.30::up :- nearest(I), y(I) > y.
0.20::down :- nearest(I), y(I) =< y.
";

/// Metres per step. What is not farther off in either direction is collected.
const STRIDE: f64 = 0.1;
/// Nearer hazards are fatal.
const FATAL: f64 = 0.1;
/// No hazard starts nearer.
const SAFE: f64 = 0.3;
/// Metres per step of the hazards, from and to.
const SPEED: (f64, f64) = (0.01, 0.02);
/// What a step costs. An item is worth 1.
const STEP: f64 = 0.01;
/// Steps per item.
const STEPS: usize = 20;

#[derive(Clone)]
struct Nearest {
    /// How many items and hazards there are at the start.
    n: (usize, usize),
    at: [f64; 2],
    items: Vec<Thing>,
    hazards: Vec<Thing>,
}

#[derive(Clone)]
struct Thing {
    name: String,
    at: [f64; 2],
    moves: [f64; 2],
}

pub fn animal() -> Animal {
    let of = |items, hazards| {
        move || Nearest { n: (items, hazards), at: [0.0; 2], items: Vec::new(), hazards: Vec::new() }
    };
    let world = world("nearest", DOMAIN, "collect items on a square and keep away from hazards that move")
        .task(Task::new("train", "3 items, 2 hazards, 60 steps").size(5), of(3, 2))
        .task(Task::new("large", "9 items, 6 hazards, 180 steps").size(15), of(9, 6));
    Animal { world, by_hand: BY_HAND, tuned: false }
}

fn anywhere(rng: &mut Rng) -> [f64; 2] {
    [rng.unit(), rng.unit()]
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

impl Thing {
    /// Goes on, and turns round at the walls.
    fn go(&mut self) {
        for (at, moves) in self.at.iter_mut().zip(&mut self.moves) {
            *at += *moves;
            if !(0.0..=1.0).contains(at) {
                *at = at.clamp(0.0, 1.0);
                *moves = -*moves;
            }
        }
    }
}

impl named::Env for Nearest {
    fn reset(&mut self, rng: &mut Rng) -> Result<(), BoxError> {
        self.at = anywhere(rng);
        let item = |i| Thing { name: format!("i{i}"), at: anywhere(rng), moves: [0.0; 2] };
        self.items = (0..self.n.0).map(item).collect();
        let me = self.at;
        let hazard = |i| {
            let at = loop {
                let at = anywhere(rng);
                if distance(at, me) > SAFE {
                    break at;
                }
            };
            let (speed, course) = (uniform(SPEED.0, SPEED.1, rng), uniform(0.0, TAU, rng));
            Thing { name: format!("h{i}"), at, moves: [speed * course.cos(), speed * course.sin()] }
        };
        self.hazards = (0..self.n.1).map(hazard).collect();
        Ok(())
    }

    fn facts(&self, facts: &mut named::Facts) {
        facts.number("x", &[], self.at[0]);
        facts.number("y", &[], self.at[1]);
        let far = |thing: &Thing| distance(thing.at, self.at);
        for thing in self.items.iter().chain(&self.hazards) {
            facts.number("x", &[&thing.name], thing.at[0]);
            facts.number("y", &[&thing.name], thing.at[1]);
            facts.number("distance", &[&thing.name], far(thing));
        }
        for item in &self.items {
            facts.object(&item.name, "item");
        }
        if let Some(item) = self.items.iter().min_by(|a, b| far(a).total_cmp(&far(b))) {
            facts.say("nearest", &[&item.name]);
        }
        for hazard in &self.hazards {
            facts.say("hazard", &[&hazard.name]);
        }
    }

    fn step(&mut self, action: &str, _: &[&str], _: &mut Rng) -> Result<Outcome, BoxError> {
        let by = match action {
            "left" => [-STRIDE, 0.0],
            "right" => [STRIDE, 0.0],
            "down" => [0.0, -STRIDE],
            "up" => [0.0, STRIDE],
            _ => [0.0; 2],
        };
        self.at = [(self.at[0] + by[0]).clamp(0.0, 1.0), (self.at[1] + by[1]).clamp(0.0, 1.0)];
        self.hazards.iter_mut().for_each(Thing::go);
        let me = self.at;
        if self.hazards.iter().any(|hazard| distance(hazard.at, me) < FATAL) {
            return Ok(Outcome::terminated(-1.0));
        }
        let before = self.items.len();
        self.items.retain(|item| (0..2).any(|i| (item.at[i] - me[i]).abs() > STRIDE));
        let reward = (before - self.items.len()) as f64 - STEP;
        Ok(if self.items.is_empty() { Outcome::terminated(reward) } else { Outcome::running(reward) })
    }

    fn has_goal(&self) -> bool {
        false
    }

    fn horizon(&self) -> usize {
        STEPS * self.n.0
    }

    fn copy(&self) -> Option<Box<dyn named::Env>> {
        Some(Box::new(self.clone()))
    }
}
