//! SUMO without a client: what there is to reach in speed, and the same traffic to check ours against.

use std::time::Duration;

use crate::demand::DemandSpec;
use crate::error::{Error, Result, Said};
use crate::find::Sumo;
use crate::network::{Lights, Network};
use crate::program::run;
use crate::scratch::Scratch;
use crate::simulation::{arguments, write_demand};

/// How SUMO did by itself, in its own words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alone {
    /// Simulated seconds per second, without the start of the program.
    pub steps_per_second: f64,
    /// Vehicles that entered.
    pub inserted: usize,
    /// Vehicles still on the road at the end.
    pub running: usize,
}

/// Runs an episode in SUMO alone, under one of its own programs for the lights.
///
/// The command line is that of a [`Simulation`](crate::Simulation), with an end in place of a client. (With
/// [`Lights::Ours`] nobody would decide, so the fixed-time program runs.)
pub fn alone(
    sumo: &Sumo,
    network: &Network,
    lights: Lights,
    demand: &DemandSpec,
    seed: u64,
) -> Result<Alone> {
    let files = Scratch::new()?;
    let (_, routes) = write_demand(demand, network, seed, &files, 0)?;
    let mut command = sumo.command(&sumo.sumo);
    command
        .args(arguments(network, lights, &routes, seed))
        .args(["--end", &demand.horizon.to_string()])
        .args(["--duration-log.statistics", "true"]);
    let failed = |reason: &str, stderr: String| Error::Program {
        program: sumo.sumo.clone(),
        reason: reason.to_owned(),
        stderr: Said(stderr),
    };
    let output =
        run(&mut command, Duration::from_secs(600)).map_err(|reason| failed(&reason, String::new()))?;
    if !output.success {
        return Err(failed("failed to simulate", output.stderr));
    }
    read(&output.stdout).ok_or_else(|| failed("did not tell how it went", output.stdout))
}

/// Reads SUMO's closing words. Its duration is rounded to 10 ms, its real time factor (simulated seconds per second) is not.
fn read(said: &str) -> Option<Alone> {
    let number =
        |name: &str| said.lines().find_map(|line| line.trim().strip_prefix(name)?.trim().parse::<f64>().ok());
    Some(Alone {
        steps_per_second: number("Real time factor:")?,
        inserted: number("Inserted:")? as usize,
        running: number("Running:")? as usize,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_words_are_read() {
        let said = "Performance:\n Duration: 0.06s\n Real time factor: 10169.5\n UPS: 705644.067797\n\
                    Vehicles:\n Inserted: 343\n Running: 111\n Waiting: 0\n";
        assert_eq!(read(said), Some(Alone { steps_per_second: 10169.5, inserted: 343, running: 111 }));
        assert_eq!(read("Loading done.\n"), None);
    }
}
