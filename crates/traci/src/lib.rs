//! Drives the real [SUMO](https://eclipse.dev/sumo) traffic simulator from Rust, over its TraCI protocol: finds it,
//! builds networks of intersections for it, fills them with seeded traffic, operates their lights and reports their queues.
//!
//! ```no_run
//! use derrl_traci::{DemandSpec, Layout, Network, Simulation, Sumo, longest_queue};
//!
//! # fn main() -> derrl_traci::Result<()> {
//! let sumo = Sumo::find()?; // or an error that tells how to install it
//! let network = Network::build(&sumo, &Layout::five())?;
//! let mut simulation = Simulation::start(&sumo, &network, &DemandSpec::default(), 7)?;
//! while !simulation.is_over() {
//!     for agent in 0..network.intersections().len() {
//!         let queues = &simulation.queues()[agent]; // vehicles that wait, one number per lane
//!         if let Some(lane) = longest_queue(queues, simulation.green(agent)) {
//!             simulation.decide(agent, lane)?; // green for this lane, red for the others
//!         }
//!     }
//!     let interval = simulation.advance()?; // ten seconds later
//!     println!("{} s: the first agent earns {:.2}", interval.end, interval.reward(0));
//! }
//! # Ok(())
//! # }
//! ```
//!
//! SUMO comes with Python's packages; a folder of its own keeps it out of the way of all else, and `DERRL_TOOLS` says where that is:
//!
//! ```sh
//! python3 -m venv .tools/sumo
//! .tools/sumo/bin/pip install eclipse-sumo==1.28.0
//! export DERRL_TOOLS="$PWD/.tools"
//! ```
//!
//! # Map
//!
//! From the outside in:
//!
//! - [`Simulation`]: an episode of decisions, which is what an environment wants; [`Controller`]: the ones to compare with;
//!   [`alone`]: SUMO without us.
//! - [`Layout`] (which roads), [`Network`] (what netconvert makes of it, and which signal serves which lane),
//!   [`DemandSpec`] and [`Demand`] (who drives).
//! - [`Process`]: a SUMO of our own, that goes when we go; [`Client`]: the conversation with it; [`Batch`]: what can be said in it.
//! - [`Sumo`]: where it is installed and which version it is. Record the version with every result: versions drive
//!   differently. Ours are measured with [`PINNED`].
//!
//! # Promises
//!
//! The same version, network, demand and seed give the same queues, to the vehicle and the second, in a new process or in one
//! that is used again, alone or beside others. Whatever SUMO does (die, hang, answer garbage), the caller gets an
//! [`Error`] that names the step, within the [`Patience`] given. No SUMO outlives the process that started it.
//!
//! # Limits
//!
//! One lane a direction, whole seconds, cars only. SUMO listens on all network interfaces while it waits for its
//! client (there is no option against it), which is some milliseconds.

mod alone;
mod client;
mod controllers;
mod demand;
mod error;
mod find;
mod layout;
mod network;
mod process;
mod program;
mod protocol;
pub mod scenario;
mod scratch;
mod signals;
mod simulation;

pub use alone::{Alone, alone};
pub use client::Client;
pub use controllers::{Controller, Outcome, longest_queue};
pub use demand::{Demand, DemandSpec, Trip};
pub use error::{Error, Fault, Result, Said};
pub use find::{INSTALL, PINNED, Sumo, Surroundings, TOOLS};
pub use layout::{Compass, Layout, Node, Road};
pub use network::{IncomingLane, Intersection, Kind, Lights, Network};
pub use process::{Patience, Process};
pub use protocol::{Answer, Batch, Domain, MAX_MESSAGE, Malformed, Update, Value, Variable};
pub use simulation::{Interval, Options, Simulation, Traffic};
