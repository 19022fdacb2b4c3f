//! DoorKey: coloured keys and locked doors on a real grid, as in Minigrid.
//!
//! The agent has to unlock the doors with the keys of their colours and reach the goal, by the high-level actions
//! `pick`, `open` and `goto`, each of which stands for a walk of Minigrid's primitive moves. From the bottom up:
//!
//! - [`numpy`]: the random numbers that Minigrid draws;
//! - [`grid`]: cells, agent and primitive moves, with Minigrid's numbers and semantics;
//! - [`layout`]: Minigrid's own DoorKey levels for a seed, and ours with several rooms, keys and doors;
//! - [`plan`]: a high-level action as a list of primitive moves;
//! - [`level`]: names, rooms and facts of a level;
//! - [`world`]: episodes, decided by rooms ([`World`](world::World)) or walked on the grid ([`Walk`](world::Walk)).
//!
//! # What the actions do
//!
//! | action | changes something if | and then |
//! |---|---|---|
//! | `pick(K)` | the way to key K is free, K is not in hand, and K is not spent | what was carried lies on the floor, `carrying(K)` |
//! | `open(D)` | the way to door D is free, D is locked, a key of its colour is in hand | D is open for good, the key lies on the floor, `notcarrying` |
//! | `goto(O)` | the way to object O is free | onto the goal: the episode ends; anything else: no fact changes |
//!
//! A key is *spent* when doors of its colour exist and none is locked any more. That `open` puts the key down, and that
//! spent keys stay where they are, is argued in [`plan`]; that no level needs a word for "within reach", in [`layout`].
//!
//! The moves, levels and plans are checked against data from the real Minigrid 3.2.0: see `tests/record_minigrid.py`.
//!
//! # Examples
//!
//! The paper's three rules by hand, on a level with six keys and five doors:
//!
//! ```
//! use std::sync::Arc;
//! use derrl_env::doorkey::grid::Outcome;
//! use derrl_env::doorkey::layout::{Shape, rooms};
//! use derrl_env::doorkey::level::{Action, Fact, Level, Object};
//! use derrl_env::doorkey::numpy::Generator;
//! use derrl_env::doorkey::world::World;
//!
//! let mut rng = Generator::new(0);
//! let shape = Shape::new(6, 5)?;
//! let level = Arc::new(Level::new(rooms(shape, |n| rng.integers(0..n)))?);
//! let mut world = World::new(level);
//! for step in 1.. {
//!     let facts: Vec<Fact> = world.facts().collect();
//!     let holds = |fact| facts.contains(&fact);
//!     let mut derived = Vec::new();
//!     for &fact in &facts {
//!         match fact {
//!             // pick(X) :- key(X), samecolor(X, Y), door(Y), notcarrying.
//!             Fact::SameColor(Object::Key(x), Object::Door(_)) if holds(Fact::NotCarrying) => {
//!                 derived.push(Action::Pick(x));
//!             }
//!             // open(X) :- locked(X), samecolor(X, Y), carrying(Y).
//!             Fact::SameColor(Object::Door(x), Object::Key(y)) if holds(Fact::Locked(x)) && holds(Fact::Carrying(y)) => {
//!                 derived.push(Action::Open(x));
//!             }
//!             // goto(X) :- goal(X), unlocked.
//!             Fact::Goal if holds(Fact::Unlocked) => derived.push(Action::Goto(Object::Goal)),
//!             _ => {}
//!         }
//!     }
//!     let tie = rng.integers(0..derived.len() as u32) as usize;
//!     if world.step(derived[tie]) == Outcome::Goal {
//!         assert!(step <= shape.horizon());
//!         break;
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub(crate) mod env;
pub mod grid;
pub mod layout;
pub mod level;
pub mod numpy;
pub mod plan;
pub mod world;

pub(crate) use env::{NAME, Names, VOCABULARY, world};
