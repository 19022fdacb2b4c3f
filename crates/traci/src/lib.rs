//! Drives the real [SUMO](https://eclipse.dev/sumo) traffic simulator over its TraCI protocol.

mod client;
mod error;
mod find;
mod process;
mod program;
mod protocol;

pub use client::Client;
pub use error::{Error, Fault, Result, Said};
pub use find::{INSTALL, PINNED, Sumo, Surroundings};
pub use process::{Patience, Process};
pub use protocol::{Answer, Batch, Domain, MAX_MESSAGE, Malformed, Update, Value, Variable};
