//! An episode: a network, its traffic, and decisions at fixed intervals.

use std::path::{Path, PathBuf};

use crate::demand::{Demand, DemandSpec};
use crate::error::{Error, Fault, Result, Said};
use crate::find::Sumo;
use crate::network::{Intersection, Lights, Network};
use crate::process::{Patience, Process};
use crate::protocol::{Answer, Batch, Domain, Update, Value, Variable};
use crate::scratch::Scratch;
use crate::signals::{Settings, Signals};

/// How a simulation runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Who operates the lights.
    pub lights: Lights,
    /// Seconds from one decision to the next.
    pub interval: u32,
    /// Seconds of yellow, at the start of an interval, for a lane that loses its green. The new green lasts for the rest of
    /// the interval at least.
    pub yellow: u32,
    /// How long to wait for SUMO.
    pub patience: Patience,
}

impl Default for Options {
    /// Our lights, a decision every 10 s, 3 s of yellow (so at least 7 s of green).
    fn default() -> Self {
        Self { lights: Lights::Ours, interval: 10, yellow: 3, patience: Patience::default() }
    }
}

/// What happened from one decision to the next.
#[derive(Debug, Clone, PartialEq)]
pub struct Interval {
    /// The second at which it ended.
    pub end: u64,
    /// The mean queue of each incoming lane of each intersection over the seconds of the interval, in vehicles.
    pub mean_queues: Vec<Vec<f64>>,
}

impl Interval {
    /// The reward of an intersection: r = −(1/n) Σ q̄ over its n incoming lanes, q̄ the mean queue of a lane in vehicles.
    ///
    /// So it is normalised by the number of lanes and of seconds: 3-way and 4-way intersections, short and long intervals
    /// compare. It lies between minus the [capacity](crate::IncomingLane::capacity) of a lane and 0. With the default demand
    /// random decisions earn about −1.5 on the layout of five and −1.9 on that of eight, near the paper's −1.54
    /// and −2.17.
    pub fn reward(&self, intersection: usize) -> f64 {
        let queues = self.mean_queues.get(intersection).map_or(&[][..], Vec::as_slice);
        // Without lanes there is no queue.
        -queues.iter().sum::<f64>() / queues.len().max(1) as f64
    }
}

/// Where the vehicles of an episode are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Vehicles that reached their goal.
    pub arrived: usize,
    /// Vehicles on the road.
    pub running: usize,
    /// Vehicles that want to enter but find no room yet; they are in no queue that we count.
    pub waiting: usize,
}

/// A running simulation. Ends with its process when dropped.
///
/// Each interval: look at [`queues`](Self::queues), [`decide`](Self::decide) for the intersections that are to change,
/// [`advance`](Self::advance). An intersection without a decision stays as it is; before its first it is all red.
///
/// After an error other than [`Error::Invalid`] the simulator is lost, and only [`restart`](Self::restart) helps.
#[derive(Debug)]
pub struct Simulation {
    sumo: Sumo,
    network: Network,
    spec: DemandSpec,
    options: Options,
    process: Process,
    files: Scratch,
    episodes: u64,
    /// Whether the conversation failed, so that only a new process helps.
    lost: bool,
    // Of the episode:
    seed: u64,
    demand: Demand,
    signals: Signals,
    queues: Vec<Vec<u32>>,
    traffic: Traffic,
}

impl Simulation {
    /// Starts a simulation with the default [`Options`], at second 0.
    pub fn start(sumo: &Sumo, network: &Network, demand: &DemandSpec, seed: u64) -> Result<Self> {
        Self::start_with(sumo, network, demand, seed, Options::default())
    }

    /// Starts a simulation at second 0. The same arguments give the same traffic, to the vehicle and the second.
    pub fn start_with(
        sumo: &Sumo,
        network: &Network,
        demand: &DemandSpec,
        seed: u64,
        options: Options,
    ) -> Result<Self> {
        let Options { interval, yellow, lights, patience } = options;
        if yellow >= interval {
            let why = format!("{yellow} s of yellow leave no green in an interval of {interval} s");
            return Err(Error::Invalid(why));
        }
        let files = Scratch::new()?;
        let spec = *demand;
        let (demand, routes) = write_demand(&spec, network, seed, &files, 0)?;
        let process = Process::start(sumo, &arguments(network, lights, &routes, seed), patience)?;
        let mut simulation = Self {
            sumo: sumo.clone(),
            network: network.clone(),
            spec,
            options,
            process,
            files,
            episodes: 1,
            lost: false,
            seed,
            demand,
            signals: Signals::default(),
            queues: Vec::new(),
            traffic: Traffic::default(),
        };
        simulation.begin()?;
        Ok(simulation)
    }

    /// Starts another episode, at second 0 of the traffic of `seed`.
    ///
    /// The same process reads the new traffic (`load`), which takes 10 ms where a new process takes 50, and gives the same
    /// traffic as a new one. After an error there is a new process.
    pub fn restart(&mut self, seed: u64) -> Result<()> {
        let (demand, routes) = write_demand(&self.spec, &self.network, seed, &self.files, self.episodes)?;
        let arguments = arguments(&self.network, self.options.lights, &routes, seed);
        self.episodes += 1;
        if self.lost || self.process.ask(|client| client.load(&arguments)).is_err() {
            self.process = Process::start(&self.sumo, &arguments, self.options.patience)?;
        }
        self.demand = demand;
        self.seed = seed;
        self.begin()
    }

    /// Subscribes to all that is watched, and sets the lights to red if they are ours.
    fn begin(&mut self) -> Result<()> {
        let intersections = self.network.intersections();
        self.signals = Signals::new(intersections.len());
        self.queues = intersections.iter().map(|i| vec![0; i.lanes.len()]).collect();
        let mut batch = Batch::new();
        for lane in intersections.iter().flat_map(|i| &i.lanes) {
            batch.subscribe(Domain::Lane, &[Variable::HALTING], &lane.id);
        }
        batch.subscribe(Domain::Vehicle, &[Variable::COUNT], "");
        batch.subscribe(Domain::Simulation, &[Variable::EXPECTED], "");
        if self.options.lights == Lights::Ours {
            let red = intersections.iter().map(Intersection::all_red).enumerate().collect();
            batch.append(commands(intersections, red));
        }
        self.lost = true;
        let answers = self.process.ask(|client| client.send(&batch, "subscribing to the queues"))?;
        let updates: Vec<_> = answers
            .into_iter()
            .filter_map(|answer| if let Answer::Subscribed(update) = answer { Some(update) } else { None })
            .collect();
        self.note(&updates)?;
        self.lost = false;
        Ok(())
    }

    /// The simulator used.
    pub fn sumo(&self) -> &Sumo {
        &self.sumo
    }

    /// The network simulated.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The journeys of this episode.
    pub fn demand(&self) -> &Demand {
        &self.demand
    }

    /// The seed of this episode.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The second reached.
    pub fn time(&self) -> u64 {
        self.process.step()
    }

    /// Whether the horizon of the demand is reached, after which nobody enters.
    pub fn is_over(&self) -> bool {
        self.time() >= u64::from(self.spec.horizon)
    }

    /// The queue now on each incoming lane of each intersection: vehicles slower than 0.1 m/s.
    pub fn queues(&self) -> &[Vec<u32>] {
        &self.queues
    }

    /// The lane that has green at an intersection, if the lights are ours and there was a decision.
    pub fn green(&self, intersection: usize) -> Option<usize> {
        self.signals.green(intersection)
    }

    /// The lane that was last [decided](Self::decide) to get green at an intersection.
    pub fn decided(&self, intersection: usize) -> Option<usize> {
        self.signals.wanted(intersection)
    }

    /// Where the vehicles are now.
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// The process of the simulator, to ask for what is not covered here. Do not step it.
    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// Requests green for a lane of an intersection, from the next [`advance`](Self::advance) on. Sends nothing yet; the last
    /// request before an advance counts.
    pub fn decide(&mut self, intersection: usize, lane: usize) -> Result<()> {
        if self.options.lights != Lights::Ours {
            return Err(Error::Invalid("SUMO operates these lights; a request has no effect".into()));
        }
        self.signals.decide(self.network.intersections(), intersection, lane)
    }

    /// Simulates one interval: yellow where a green ends, then the greens decided on.
    ///
    /// Queues are looked at in every second, yet all goes to SUMO in one write. (At the moments of decision alone they are
    /// longer than on average, by 1% under random decisions and by 7% under longest-queue-first: not a fair comparison.)
    pub fn advance(&mut self) -> Result<Interval> {
        let Options { interval, yellow, .. } = self.options;
        let start = self.time();
        let intersections = self.network.intersections();
        let (now, after_yellow) = self.signals.changes(intersections);
        let (mut now, mut after_yellow) =
            (commands(intersections, now), commands(intersections, after_yellow));
        let mut stops: Vec<_> = (1..=u64::from(interval)).map(|s| (Batch::new(), start + s)).collect();
        // The yellow is shorter than the interval, and with none both come at once.
        stops[0].0.append(std::mem::take(&mut now));
        stops[yellow as usize].0.append(std::mem::take(&mut after_yellow));

        self.lost = true;
        let reports = self.process.ask(|client| client.step_through(stops))?;
        let mut sums: Vec<Vec<f64>> = self.queues.iter().map(|queues| vec![0.0; queues.len()]).collect();
        for updates in &reports {
            self.note(updates)?;
            for (sum, queue) in sums.iter_mut().flatten().zip(self.queues.iter().flatten()) {
                *sum += f64::from(*queue);
            }
        }
        self.lost = false;
        sums.iter_mut().flatten().for_each(|sum| *sum /= f64::from(interval));
        Ok(Interval { end: start + u64::from(interval), mean_queues: sums })
    }

    /// Takes over what the subscriptions report.
    fn note(&mut self, updates: &[Update]) -> Result<()> {
        self.take(updates).map_err(|why| Error::Simulator {
            doing: "reading the queues".into(),
            step: self.time(),
            fault: Fault::Garbled(why),
            stderr: Said::default(),
        })
    }

    /// Reports come in the order subscribed.
    fn take(&mut self, updates: &[Update]) -> Result<(), String> {
        let mut updates = updates.iter();
        let mut next = |object: &str, variable: Variable| -> Result<u32, String> {
            let update = updates.next().ok_or_else(|| format!("nothing about {object:?}"))?;
            let value = update.get(variable).and_then(Value::as_int).and_then(|n| u32::try_from(n).ok());
            match value {
                Some(n) if update.object == object => Ok(n),
                _ => Err(format!("{update:?} for {object:?}")),
            }
        };
        for (intersection, queues) in self.network.intersections().iter().zip(&mut self.queues) {
            for (lane, queue) in intersection.lanes.iter().zip(queues) {
                *queue = next(&lane.id, Variable::HALTING)?;
            }
        }
        let running = next("", Variable::COUNT)? as usize;
        let expected = next("", Variable::EXPECTED)? as usize;
        // All journeys are loaded at the start, so "expected" is all that have not arrived.
        let trips = self.demand.trips();
        let arrived = trips.len().saturating_sub(expected);
        let due = trips.partition_point(|trip| u64::from(trip.depart) < self.process.step());
        self.traffic = Traffic { arrived, running, waiting: due.saturating_sub(arrived + running) };
        Ok(())
    }
}

/// The commands that set signals.
fn commands(intersections: &[Intersection], settings: Settings) -> Batch {
    let mut batch = Batch::new();
    for (i, signals) in settings {
        let light = &intersections[i].id;
        batch.set(Domain::TrafficLight, Variable::SIGNALS, light, &Value::String(signals));
    }
    batch
}

pub(crate) fn write_demand(
    spec: &DemandSpec,
    network: &Network,
    seed: u64,
    files: &Scratch,
    episode: u64,
) -> Result<(Demand, PathBuf)> {
    let demand = Demand::new(spec, network.layout(), seed)?;
    // Never the file that the simulator may still have open.
    let routes = files.write(&format!("routes-{}.rou.xml", episode % 2), &demand.to_xml())?;
    Ok((demand, routes))
}

/// The command line of the simulator for an episode.
pub(crate) fn arguments(network: &Network, lights: Lights, routes: &Path, seed: u64) -> Vec<String> {
    let net = network.file(lights).to_string_lossy().into_owned();
    let routes = routes.to_string_lossy().into_owned();
    // SUMO reads its seed as a signed number of 32 bits.
    let seed = (seed & 0x7fff_ffff).to_string();
    [
        ["--net-file", &net],
        ["--route-files", &routes],
        ["--seed", &seed],
        ["--begin", "0"],
        ["--step-length", "1"],
        // Load all vehicles at once: they are few, and then we know how many are still expected.
        ["--route-steps", "0"],
        // A vehicle that waits for long is what we measure: it must not be lifted out of its jam.
        ["--time-to-teleport", "-1"],
        ["--xml-validation", "never"],
        ["--no-step-log", "true"],
    ]
    .concat()
    .into_iter()
    .map(str::to_owned)
    .collect()
}
