//! Pendulum: swing a pendulum up and keep it there, with a torque too weak to lift it at once.
//!
//! The dynamics are those of Gymnasium's `Pendulum-v1`, in the same order of operations; the torque is one of five.

use std::f64::consts::PI;

use derrl_env::{Rng, Task};

use super::control::{Control, Controlled};
use super::{uniform, world};
use crate::Animal;

// Gymnasium draws positive angles to the left; here, as in cartpole, they are to the right.
const DOMAIN: &str = ":- action(hard_left).                     % a torque of -2
:- action(left).                          % of -1
:- action(none).
:- action(right).                         % of 1
:- action(hard_right).                    % of 2
:- number(height, metre).                 % of the tip: 1 upright, -1 hanging down (the cosine)
:- number(side, metre).                   % of the tip, above 0 to the right (the sine)
:- number(spin, radian_per_second).       % above 0 to the right where the pendulum is upright
";

const BY_HAND: &str = "0.95::hard_left :- height > 0.4, side + 0.23*spin > 0.12.
0.90::left :- height > 0.4, side + 0.23*spin > 0.03.
0.85::hard_right :- height > 0.4, side + 0.23*spin =< -0.12.
0.80::right :- height > 0.4, side + 0.23*spin =< -0.03.
0.75::none :- height > 0.4.
0.70::none :- spin > 6.4.
0.65::none :- spin =< -6.4.
0.60::hard_right :- spin + 1.2*side > 0.
0.55::hard_left :- spin + 1.2*side =< 0.
";

#[derive(Clone)]
pub(super) struct Pendulum;

pub fn animal() -> Animal {
    let world = world("pendulum", DOMAIN, "swing a pendulum up and keep it there by one of five torques")
        .task(Task::new("train", "a pendulum at any angle, 200 steps"), Controlled::<Pendulum>::new);
    Animal { world, by_hand: BY_HAND, tuned: false }
}

/// Metres per second squared.
const GRAVITY: f64 = 10.0;
/// Kilograms.
const MASS: f64 = 1.0;
/// Metres.
const LENGTH: f64 = 1.0;
/// Seconds per step.
const TAU: f64 = 0.05;
/// Radians per second.
const FASTEST: f64 = 8.0;

impl Control for Pendulum {
    /// The angle, 0 upright, and the spin.
    type State = [f64; 2];
    type Seen = [f64; 3];
    const MEASURES: &'static [&'static str] = &["height", "side", "spin"];
    const ACTIONS: &'static [&'static str] = &["hard_left", "left", "none", "right", "hard_right"];
    const HORIZON: usize = 200;
    const HAS_GOAL: bool = false;

    fn start(rng: &mut Rng) -> [f64; 2] {
        [uniform(-PI, PI, rng), uniform(-1.0, 1.0, rng)]
    }

    fn seen(&[theta, spin]: &[f64; 2]) -> [f64; 3] {
        [theta.cos(), theta.sin(), spin]
    }

    fn act([theta, spin]: &mut [f64; 2], action: usize) -> (f64, bool) {
        let torque = action as f64 - 2.0;
        let off = (*theta + PI).rem_euclid(2.0 * PI) - PI;
        let cost = off * off + 0.1 * (*spin * *spin) + 0.001 * (torque * torque);
        let faster = 3.0 * GRAVITY / (2.0 * LENGTH) * theta.sin() + 3.0 / (MASS * LENGTH * LENGTH) * torque;
        *spin = (*spin + faster * TAU).clamp(-FASTEST, FASTEST);
        *theta += *spin * TAU;
        (-cost, false)
    }
}
