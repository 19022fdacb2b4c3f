//! Drives the real [SUMO](https://eclipse.dev/sumo) traffic simulator over its TraCI protocol.

mod client;
mod demand;
mod error;
mod find;
mod layout;
mod network;
mod process;
mod program;
mod protocol;
mod scratch;

pub use client::Client;
pub use demand::{Demand, DemandSpec, Trip};
pub use error::{Error, Fault, Result, Said};
pub use find::{INSTALL, PINNED, Sumo, Surroundings};
pub use layout::{Compass, Layout, Node, Road};
pub use network::{IncomingLane, Intersection, Kind, Lights, Network};
pub use process::{Patience, Process};
pub use protocol::{Answer, Batch, Domain, MAX_MESSAGE, Malformed, Update, Value, Variable};
