//! The folders of runs, and learning in them.

pub mod config;
mod diagnosis;
pub mod folder;
mod learn;
pub mod manifest;
pub mod now;
pub mod page;
pub mod request;
pub mod result;
pub mod see;
pub mod sight;
pub mod so_far;
pub mod tensorboard;
mod watch;

pub use config::{MOST_CONFIG, RunConfig, Start};
pub use folder::{PAGE, PROOF, RunFolder, make_next_free};
pub use learn::{End, Finished, How, learn};
pub use manifest::Manifest;
pub use now::Now;
pub use request::Request;
pub use so_far::{Cut, SoFar};
