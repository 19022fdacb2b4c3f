//! Worlds that report numbers: classic control as Gymnasium defines it, and objects with queues and distances.
//!
//! ```
//! let pong = derrl_zoo::numbers().into_iter().find(|a| a.world.name() == "pong").expect("it is one of them");
//! assert_eq!(pong.world.alphabet().measures.len(), 5);
//! ```
//!
//! They have copies, and most have no goal: they are compared by returns.

mod acrobot;
mod control;
mod mountaincar;
mod nearest;
mod pendulum;
mod pong;
mod queues;

use derrl_env::{Exhaustive, Rng, World};

use crate::Animal;

/// All worlds that report numbers. Where they have objects, the second task has about three times as many.
pub fn numbers() -> Vec<Animal> {
    vec![
        mountaincar::animal(),
        acrobot::animal(),
        pendulum::animal(),
        queues::animal(),
        nearest::animal(),
        pong::animal(),
    ]
}

/// A world known to be right.
fn world(name: &str, domain: &str, summary: &str) -> World {
    crate::world(name, domain, summary).with_space(Exhaustive::Never(
        "its states are numbers, and there is no end of them; `derrl eval` plays as many episodes as you like".into(),
    ))
}

/// A number between two, all equally likely.
fn uniform(low: f64, high: f64, rng: &mut Rng) -> f64 {
    low + (high - low) * rng.unit()
}
