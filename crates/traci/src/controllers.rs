//! Controllers to compare a learned one with, all on the same network and traffic.

use std::fmt;
use std::time::{Duration, Instant};

use crate::demand::{DemandSpec, SplitMix64};
use crate::error::Result;
use crate::find::Sumo;
use crate::network::{Lights, Network};
use crate::simulation::{Options, Simulation, Traffic};

/// Who decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Controller {
    /// Any lane, with equal chances, at every decision.
    Random,
    /// SUMO's fixed-time program.
    FixedTime,
    /// SUMO's actuated program.
    Actuated,
    /// The lane with the [longest queue](longest_queue), at every decision.
    LongestQueue,
}

impl Controller {
    /// All controllers.
    pub const ALL: [Self; 4] = [Self::Random, Self::FixedTime, Self::Actuated, Self::LongestQueue];

    /// Who operates the lights under this controller.
    pub fn lights(self) -> Lights {
        match self {
            Self::Random | Self::LongestQueue => Lights::Ours,
            Self::FixedTime => Lights::FixedTime,
            Self::Actuated => Lights::Actuated,
        }
    }

    /// Runs one episode, in a process of its own. The lights of `options` do not matter.
    pub fn run(
        self,
        sumo: &Sumo,
        network: &Network,
        demand: &DemandSpec,
        seed: u64,
        options: Options,
    ) -> Result<Outcome> {
        let options = Options { lights: self.lights(), ..options };
        self.drive(&mut Simulation::start_with(sumo, network, demand, seed, options)?)
    }

    /// Drives a started simulation to its end. It must have been started with [`lights`](Self::lights).
    pub fn drive(self, simulation: &mut Simulation) -> Result<Outcome> {
        // Not the numbers of the demand, which start from the seed itself.
        let mut draw = SplitMix64(simulation.seed() ^ 0xda94_2042_e4dd_58b5);
        let agents = simulation.network().intersections().len();
        let mut sums = vec![0.0; agents];
        let mut intervals = 0u32;
        let (first, started) = (simulation.time(), Instant::now());
        while !simulation.is_over() {
            for i in 0..agents {
                let queues = &simulation.queues()[i];
                let lane = match self {
                    Self::Random => Some(draw.below(queues.len().max(1))),
                    Self::LongestQueue => longest_queue(queues, simulation.green(i)),
                    Self::FixedTime | Self::Actuated => None,
                };
                if let Some(lane) = lane {
                    simulation.decide(i, lane)?;
                }
            }
            let interval = simulation.advance()?;
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum -= interval.reward(i);
            }
            intervals += 1;
        }
        let elapsed = started.elapsed();
        let queues = sums.into_iter().map(|sum| sum / f64::from(intervals.max(1))).collect();
        Ok(Outcome { queues, traffic: simulation.traffic(), steps: simulation.time() - first, elapsed })
    }
}

impl fmt::Display for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Random => "random",
            Self::FixedTime => "fixed-time",
            Self::Actuated => "actuated",
            Self::LongestQueue => "longest-queue-first",
        })
    }
}

/// The lane with the longest queue. Of several, the one that has green keeps it (a change costs a yellow), else the
/// first counts; `None` without lanes.
///
/// ```
/// use derrl_traci::longest_queue;
///
/// assert_eq!(longest_queue(&[2, 5, 5], None), Some(1));
/// assert_eq!(longest_queue(&[2, 5, 5], Some(2)), Some(2));
/// assert_eq!(longest_queue(&[2, 5, 5], Some(0)), Some(1));
/// assert_eq!(longest_queue(&[], None), None);
/// ```
pub fn longest_queue(queues: &[u32], green: Option<usize>) -> Option<usize> {
    let most = queues.iter().max()?;
    green.filter(|&lane| queues.get(lane) == Some(most)).or_else(|| queues.iter().position(|q| q == most))
}

/// How an episode went.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The mean queue of each intersection, in vehicles a lane: the mean over the seconds of the episode and over its incoming
    /// lanes.
    pub queues: Vec<f64>,
    /// Where the vehicles were at the end.
    pub traffic: Traffic,
    /// Seconds simulated, each of which is a step.
    pub steps: u64,
    /// Real time for the steps, without the start.
    pub elapsed: Duration,
}

impl Outcome {
    /// The mean queue: the mean of [`queues`](Self::queues) over the intersections, in vehicles a lane.
    pub fn mean_queue(&self) -> f64 {
        self.queues.iter().sum::<f64>() / self.queues.len().max(1) as f64
    }

    /// The mean reward of all agents over the episode: minus the mean queue, because all intervals are of one length.
    pub fn reward(&self) -> f64 {
        -self.mean_queue()
    }

    /// Simulated seconds per second.
    pub fn steps_per_second(&self) -> f64 {
        self.steps as f64 / self.elapsed.as_secs_f64()
    }
}
