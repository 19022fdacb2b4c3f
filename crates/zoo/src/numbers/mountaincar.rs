//! MountainCar: drive an underpowered car out of a valley by swinging.
//!
//! The dynamics are those of Gymnasium's `MountainCar-v0` (Moore, 1990), in the same order of operations.

use derrl_env::{Rng, Task};

use super::control::{Control, Controlled};
use super::{uniform, world};
use crate::Animal;

const DOMAIN: &str = ":- action(left).
:- action(coast).
:- action(right).
:- number(position, metre).               % of the car; the valley is at -0.52, the goal at 0.5
:- number(speed, metre_per_step).         % above 0: to the right
";

const BY_HAND: &str = "0.90::left :- position > -0.45, speed =< 0.017.
0.80::right :- speed > -0.001.
0.70::right :- position =< -0.9.
0.60::left :- speed =< -0.001.
";

#[derive(Clone)]
pub(super) struct MountainCar;

pub fn animal() -> Animal {
    let world = world("mountaincar", DOMAIN, "drive an underpowered car out of a valley by swinging")
        .task(Task::new("train", "a car in the valley, 200 steps"), Controlled::<MountainCar>::new);
    Animal { world, by_hand: BY_HAND, tuned: false }
}

const LEFTMOST: f64 = -1.2;
const RIGHTMOST: f64 = 0.6;
const GOAL: f64 = 0.5;
const FASTEST: f64 = 0.07;
const FORCE: f64 = 0.001;
const GRAVITY: f64 = 0.0025;

impl Control for MountainCar {
    /// Position and speed.
    type State = [f64; 2];
    type Seen = [f64; 2];
    const MEASURES: &'static [&'static str] = &["position", "speed"];
    const ACTIONS: &'static [&'static str] = &["left", "coast", "right"];
    const HORIZON: usize = 200;
    const HAS_GOAL: bool = true;

    fn start(rng: &mut Rng) -> [f64; 2] {
        [uniform(-0.6, -0.4, rng), 0.0]
    }

    fn seen(&state: &[f64; 2]) -> [f64; 2] {
        state
    }

    fn act([position, speed]: &mut [f64; 2], action: usize) -> (f64, bool) {
        *speed += (action as f64 - 1.0) * FORCE + (3.0 * *position).cos() * -GRAVITY;
        *speed = speed.clamp(-FASTEST, FASTEST);
        *position = (*position + *speed).clamp(LEFTMOST, RIGHTMOST);
        if *position == LEFTMOST && *speed < 0.0 {
            *speed = 0.0;
        }
        (-1.0, *position >= GOAL && *speed >= 0.0)
    }
}
