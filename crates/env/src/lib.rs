//! The worlds of `derrl`: what holds now and what an action does.
//!
//! A [`World`] is a value made at run time: a name, an alphabet, tasks, and how to make an environment of each. The built-in
//! ones are a file (or folder) and a row of a table each. An environment is seeded, has a fixed horizon and tells
//! *terminated* from *truncated*. It knows no learner.
//!
//! ```
//! use derrl_env::{Rng, observe};
//! use derrl_logic::Facts;
//!
//! let world = derrl_env::find("blocks")?;
//! let alphabet = world.alphabet();
//! let mut rng = Rng::new(0, 0);
//! let mut env = world.env("train")?;
//! env.reset(&mut rng);
//!
//! let mut facts = Facts::new(&alphabet);
//! observe(env.as_ref(), &mut facts);
//! assert!(facts.show(&alphabet, env.universe()).contains(&"isFloor(floor)".to_string()));
//!
//! let actions = env.universe().ground_actions(&alphabet);
//! let outcome = env.step(actions[0].action, &actions[0].args, &mut rng);
//! assert!(outcome.reward <= 1.0);
//! # Ok::<(), derrl_env::Error>(())
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `world.rs` | [`World`], tasks, options |
//! | `env.rs` | the trait [`Env`] of the engine: what every environment offers |
//! | `named.rs` | the trait [`named::Env`] that speaks in names, and how it becomes the one of the engine |
//! | `binding.rs` | how a world's own numbering is bound to an alphabet |
//! | `contract.rs` | the laws that every world keeps |
//! | `fault.rs` | why a world cannot go on |
//! | `table.rs` | the table of built-in worlds |
//! | `journal.rs` | what changed since an episode began |
//! | `rng.rs` | the one generator |
//! | `shield.rs` | worlds in which rules forbid actions, whoever acts |
//! | `scene.rs` | what a state looks like |
//! | `pixels.rs` | worlds that are seen: cells with an image each |
//! | `countdown.rs`, `blocks.rs`, `rearrange.rs`, `gridworld.rs`, `doorkey/`, `cartpole.rs`, `pacman/`, `traffic.rs`, `signals.rs` | the worlds |
//! | `space/` | all instances of a world up to a size, as graphs: the trait [`Space`] and a file per world |
//! | `domains/*.pl` | their alphabets, as text |

mod binding;
mod blocks;
mod cartpole;
pub mod contract;
mod countdown;
pub mod doorkey;
mod env;
mod error;
mod fault;
mod gridworld;
// The world of CONTRIBUTING.md, so that it is compiled.
#[cfg(test)]
mod hanoi;
mod journal;
pub mod named;
mod pacman;
mod pixels;
mod rearrange;
mod rng;
pub mod scene;
mod shield;
#[cfg(feature = "sumo")]
pub mod signals;
mod space;
mod table;
mod towers;
#[cfg(feature = "sumo")]
mod traffic;
mod world;

pub use binding::{Binding, Vocabulary, type_named};
pub use env::{Cost, Entered, Env, Outcome, Status, choices, list_legal, observe, observe_given};
pub use error::{Error, nearest};
pub use fault::{BoxError, Fault};
pub use journal::Journal;
pub use pixels::{PATCH, Pixels, Sight};
pub use rng::{Rng, Stream};
pub use scene::{Objects, Scene};
pub use shield::{Holds, ShieldCounts, ShieldTally, Shielded};
pub use space::{Exhaustive, Extent, Family, MakeSpace, Next, Size, Space, observe_state};
pub use table::{find, find_in, worlds};
pub use world::{Make, MakePixels, MakeSized, Options, Seeing, Task, World};
