//! The learner: one search for all worlds.
//!
//! Five parts, each of which knows one thing:
//!
//! | part | knows |
//! |---|---|
//! | *record* ([`record`]) | what was found: the best lists of rules and how they went, what was explored and tried |
//! | *plan* ([`plan`]) | what comes next: a pure function of the record and the steps taken |
//! | *moves* ([`moves`]) | where new lists come from: a table of them, each with its switch |
//! | *judge* ([`judge`]) | which of two lists is better: the only place that compares how they went |
//! | *ledger* ([`ledger`]) | what everything cost, and the random streams of episodes |
//!
//! Whatever a move proposes is raced against the weakest of the best lists, on common instances, and dropped as soon as it is
//! behind ([`run`]). In the end the best few are compared on instances that nobody has seen ([`finish`]). What rules may say is plain data ([`words`]).

mod checkpoint;
mod draw;
mod finish;
mod judge;
mod labelled;
mod ledger;
mod list;
mod moves;
mod observer;
mod origin;
mod plan;
mod play;
mod record;
mod run;
mod saved;
mod search;
mod seen;
mod trying;
mod vocabulary;
mod words;

use crate::limits;

pub use checkpoint::{Checkpoint, Learned, Partial};
pub use moves::{MOVES, Move};
pub use observer::{Best, Observer, Point, Silent};
pub use origin::{Origin, RestartResult};
pub use search::{MakeEnv, MakeSizes, Search, Sizes};
pub use words::{Widening, WideningStep};
