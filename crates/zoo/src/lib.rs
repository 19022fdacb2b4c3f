//! Small worlds of different nature, by which learning is measured.
//!
//! Each world is a short file: what is said in it, how instances are drawn, what actions do, and a policy written by hand
//! that solves it. `derrl-bench zoo` trains each with default settings and tests it on instances several times as large.
//!
//! ```
//! let lamps = derrl_zoo::zoo().into_iter().find(|a| a.world.name() == "lamps").expect("lamps are in the zoo");
//! assert_eq!(lamps.world.tasks()[0].name, "train");
//! assert!(lamps.by_hand.contains("toggle"));
//! ```
//!
//! Worlds are written as [`Small`] ones, in numbers of objects; `small.rs` names them for the engine. Adding a world is one
//! file and one row of [`zoo`]. Those that report numbers are apart, in [`numbers()`].

mod cliff;
mod deprived;
mod fruit;
mod lamps;
mod lock;
mod maze;
mod numbers;
mod parcels;
mod pddl;
mod pipes;
pub mod planning;
mod recycling;
mod slippery;
mod small;
mod taxi;
mod towers;
mod welding;

pub use deprived::{Deprived, deprived};
use derrl_env::World;
pub use numbers::numbers;
pub use small::{Say, Small};

/// A world of the zoo.
#[derive(Clone, Debug)]
pub struct Animal {
    /// The world. Its first task is trained on; the others have larger instances.
    pub world: World,
    /// A policy written by hand that solves every instance, or is good where there is no goal.
    pub by_hand: &'static str,
    /// Whether the learner's defaults were chosen with this world in view. The others say how well it does elsewhere.
    pub tuned: bool,
}

/// The reward of a step that does not end the episode.
const STEP: f64 = -0.02;

/// All worlds but those that report numbers.
pub fn zoo() -> Vec<Animal> {
    let mut all = Vec::new();
    all.extend(towers::animals());
    all.extend(pddl::animals());
    all.extend([
        lamps::animal(),
        taxi::animal(),
        recycling::animal(),
        lock::animal(),
        slippery::animal(),
        fruit::animal(),
        fruit::wide(),
        welding::animal(),
        parcels::animal(),
        maze::animal(),
    ]);
    all.extend(cliff::animals());
    all
}

/// A world known to be right.
fn world(name: &str, domain: &str, summary: &str) -> World {
    World::new(name, domain).expect("domain texts of the zoo parse: a test reads each").about(summary)
}
