//! The worlds of `derrl`: what holds now and what an action does.
//!
//! A world is one file (or folder) and one row of [`ENVS`]. It is seeded, has a fixed horizon, tells
//! *terminated* from *truncated*, and knows the best return of each of its instances. It knows no learner.
//!
//! ```
//! use derrl_env::{Options, Rng, make, observe};
//! use derrl_logic::Facts;
//!
//! let spec = derrl_env::find("blocks")?;
//! let alphabet = spec.alphabet();
//! let mut rng = Rng::new(0, 0);
//! let mut env = make(spec, &alphabet, "train", &Options::default())?;
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
//! | `world.rs` | the trait [`Env`] and how a world is bound to an alphabet |
//! | `table.rs` | [`ENVS`], tasks, options |
//! | `journal.rs` | what changed since an episode began |
//! | `rng.rs` | the one generator |
//! | `scene.rs` | what a state looks like |
//! | `countdown.rs`, `blocks.rs`, `gridworld.rs`, `doorkey/`, `traffic.rs` | the worlds |
//! | `space/` | all instances of a world up to a size, as graphs: the trait [`Space`] and a file a world |
//! | `domains/*.pl` | their alphabets, as text |

mod blocks;
mod countdown;
pub mod doorkey;
mod error;
mod gridworld;
mod journal;
mod rng;
pub mod scene;
mod space;
mod table;
mod traffic;
mod world;

pub use error::{Error, nearest};
pub use journal::Journal;
pub use rng::{Rng, Stream};
pub use scene::Scene;
pub use space::{Exhaustive, Extent, Family, MakeSpace, Next, Size, Space, observe_state, space};
pub use table::{ENVS, Make, Options, Spec, Task, find, make};
pub use world::{Binding, Env, Outcome, Status, Vocabulary, observe, type_named};
