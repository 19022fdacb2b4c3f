//! Acrobot: swing two links up by a torque at the joint between them.
//!
//! The dynamics are those of Gymnasium's `Acrobot-v1` (Sutton, 1996; Sutton and Barto, 2018), in the same order of operations.

use std::f64::consts::PI;

use derrl_env::{Rng, Task};

use super::control::{Control, Controlled};
use super::{uniform, world};
use crate::Animal;

const DOMAIN: &str =
    ":- action(left).                          % a torque of -1 at the joint between the links
:- action(rest).
:- action(right).                         % of 1
:- number(cos1, length_of_first).         % of the first link's angle: 1 hangs down, -1 stands up
:- number(sin1, length_of_first).
:- number(cos2, length_of_second).        % of the second link's angle to the first: 1 goes straight on
:- number(sin2, length_of_second).
:- number(speed1, radian_per_second).     % of the first link
:- number(speed2, radian_per_second).     % of the second link, relative to the first
";

const BY_HAND: &str = "0.90::right :- speed2 + 2.7*sin1 > 0.
0.80::left :- speed2 + 2.7*sin1 =< 0.
";

#[derive(Clone)]
pub(super) struct Acrobot;

pub fn animal() -> Animal {
    let world = world("acrobot", DOMAIN, "swing two links up by a torque at the joint between them")
        .task(Task::new("train", "two links that hang down, 500 steps"), Controlled::<Acrobot>::new);
    Animal { world, by_hand: BY_HAND, tuned: false }
}

/// Kilograms, of each link.
const MASS: f64 = 1.0;
/// Metres, of the first link.
const LENGTH: f64 = 1.0;
/// Metres from a link's joint to its centre of mass.
const CENTRE: f64 = 0.5;
/// Each link's moment of inertia.
const INERTIA: f64 = 1.0;
/// Metres per second squared.
const GRAVITY: f64 = 9.8;
/// Seconds per step.
const TAU: f64 = 0.2;
/// Radians per second, of the first and the second link.
const FASTEST: [f64; 2] = [4.0 * PI, 9.0 * PI];

/// How fast the state changes under a torque.
fn change([theta1, theta2, speed1, speed2]: [f64; 4], torque: f64) -> [f64; 4] {
    let (m, l, c, i, g) = (MASS, LENGTH, CENTRE, INERTIA, GRAVITY);
    let d1 = m * (c * c) + m * (l * l + c * c + 2.0 * l * c * theta2.cos()) + i + i;
    let d2 = m * (c * c + l * c * theta2.cos()) + i;
    let phi2 = m * c * g * (theta1 + theta2 - PI / 2.0).cos();
    let phi1 = -m * l * c * (speed2 * speed2) * theta2.sin()
        - 2.0 * m * l * c * speed2 * speed1 * theta2.sin()
        + (m * c + m * l) * g * (theta1 - PI / 2.0).cos()
        + phi2;
    let faster2 = (torque + d2 / d1 * phi1 - m * l * c * (speed1 * speed1) * theta2.sin() - phi2)
        / (m * (c * c) + i - d2 * d2 / d1);
    let faster1 = -(d2 * faster2 + phi1) / d1;
    [speed1, speed2, faster1, faster2]
}

/// The state one step later, by one step of the method of Runge and Kutta.
fn turned(state: [f64; 4], torque: f64) -> [f64; 4] {
    let along = |by: f64, k: [f64; 4]| std::array::from_fn(|i| state[i] + by * k[i]);
    let k1 = change(state, torque);
    let k2 = change(along(TAU / 2.0, k1), torque);
    let k3 = change(along(TAU / 2.0, k2), torque);
    let k4 = change(along(TAU, k3), torque);
    std::array::from_fn(|i| state[i] + TAU / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]))
}

/// The same angle from -pi to pi.
fn wrapped(mut angle: f64) -> f64 {
    while angle > PI {
        angle -= 2.0 * PI;
    }
    while angle < -PI {
        angle += 2.0 * PI;
    }
    angle
}

impl Control for Acrobot {
    /// The angle of the first link, that of the second relative to it, and how fast these change.
    type State = [f64; 4];
    type Seen = [f64; 6];
    const MEASURES: &'static [&'static str] = &["cos1", "sin1", "cos2", "sin2", "speed1", "speed2"];
    const ACTIONS: &'static [&'static str] = &["left", "rest", "right"];
    const HORIZON: usize = 500;
    const HAS_GOAL: bool = true;

    fn start(rng: &mut Rng) -> [f64; 4] {
        // Gymnasium rounds the start to single precision.
        std::array::from_fn(|_| f64::from(uniform(-0.1, 0.1, rng) as f32))
    }

    fn seen(&[theta1, theta2, speed1, speed2]: &[f64; 4]) -> [f64; 6] {
        [theta1.cos(), theta1.sin(), theta2.cos(), theta2.sin(), speed1, speed2]
    }

    fn act(state: &mut [f64; 4], action: usize) -> (f64, bool) {
        let [theta1, theta2, speed1, speed2] = turned(*state, action as f64 - 1.0);
        let (theta1, theta2) = (wrapped(theta1), wrapped(theta2));
        *state =
            [theta1, theta2, speed1.clamp(-FASTEST[0], FASTEST[0]), speed2.clamp(-FASTEST[1], FASTEST[1])];
        let up = -theta1.cos() - (theta2 + theta1).cos() > 1.0;
        (if up { 0.0 } else { -1.0 }, up)
    }
}
