//! Real traffic lights: any SUMO scenario with the phases of its own programs. Traffic is looked at every few seconds, whoever
//! decides says which phase comes next, and yellow, minimum green and clearance are kept for all alike.
//!
//! ```no_run
//! use std::sync::Arc;
//! use derrl_traci::Sumo;
//! use derrl_traci::scenario::{Drive, Manner, Measures, Outcome, Scenario};
//!
//! # fn main() -> derrl_traci::Result<()> {
//! let sumo = Sumo::find()?;
//! let scenario = Arc::new(Scenario::find(&sumo, "my.sumocfg")?);
//! let mut drive = Drive::start(&sumo, &scenario, 7, &Manner::default())?;
//! while !drive.is_over() {
//!     for light in 0..scenario.city().lights.len() {
//!         if drive.may_decide(light) {
//!             let measures = Measures::of(&drive, light);
//!             let phases = 0..scenario.city().lights[light].phases.len();
//!             let fullest = phases.max_by(|&a, &b| measures.near(a).total_cmp(&measures.near(b)));
//!             drive.switch(light, fullest.unwrap_or(0))?;
//!         }
//!     }
//!     drive.advance()?;
//! }
//! println!("{:.1} s lost per vehicle", Outcome::of(drive)?.trips.delay);
//! # Ok(())
//! # }
//! ```

mod drive;
mod files;
mod film;
mod measures;
mod net;
mod ring;
mod rivals;
mod sight;
mod trips;

pub use drive::{Drive, Hands, Look, Manner, Safety, Signal};
pub use files::{GRIDS, INSTALL_RESCO, RESCO, Scenario};
pub use film::{At, Film};
pub use measures::Measures;
pub use net::{City, Light, Link, Phase, Road};
pub use rivals::{Outcome, Rival};
pub use sight::{Placed, RANGE, Seen, Sight};
pub use trips::Trips;
