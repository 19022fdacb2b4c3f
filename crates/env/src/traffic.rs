//! Traffic: the lights of a road network in the real SUMO, one agent an intersection.
//!
//! Every 10 seconds each intersection gives green to one of its incoming lanes. The reward of an agent is minus the mean
//! queue (halting vehicles) of its incoming lanes over those seconds, divided by the number of decisions in an episode, so
//! that the return of an episode is minus the mean queue of a lane, in vehicles. The return of all is the mean over agents.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use derrl_logic::{Action, Alphabet, Constant, Facts, Object, Universe};
use derrl_traci::{Controller, DemandSpec, Kind, Layout, Network, Node, Simulation, Sumo, longest_queue};

use crate::binding::{Binding, Vocabulary, type_named};
use crate::env::{Cost, Env, Outcome, Status};
use crate::error::Error;
use crate::fault::Fault;
use crate::rng::Rng;
use crate::scene::{Junction, Lane, Roads, Scene};
use crate::space::Exhaustive;
use crate::world::{Options, Task, World};

/// The row of the table of worlds.
pub fn world() -> World {
    let tasks = [
        Task::new("train", "5 intersections"),
        Task::new("agents-8", "8 intersections"),
        Task::new("large", "--size intersections in two rows").on_request(),
    ];
    World::built_in(NAME, include_str!("../domains/traffic.pl"))
        .about("keep queues short at intersections, in the SUMO simulator")
        .words(include_str!("../domains/traffic.words"))
        .engine_tasks(tasks, Traffic::new)
        .vocabulary(VOCABULARY)
        .takes(&["shared", "size"])
        .with_space(Exhaustive::Never(
        "its states are those of every vehicle in the SUMO simulator, which cannot be listed, and queues have no goal to \
         reach; `derrl eval` measures them".into(),
    ))
}

pub(crate) const NAME: &str = "traffic";

pub(crate) const VOCABULARY: Vocabulary<'static> = Vocabulary {
    predicates: &[("highest", 1), ("between", 3), ("intersection", 1)],
    measures: &[],
    actions: &[("green", 1)],
};
const HIGHEST: usize = 0;
const BETWEEN: usize = 1;
const INTERSECTION: usize = 2;

/// Seconds from one decision to the next.
const INTERVAL: u32 = 10;

#[derive(Debug)]
struct Traffic {
    binding: Binding,
    sumo: Sumo,
    network: Network,
    demand: DemandSpec,
    agents: Vec<Agent>,
    /// One learner for all intersections of a kind, instead of one for each.
    shared: bool,
    simulation: Option<Simulation>,
    /// The demand of the instance.
    seed: u64,
    turn: usize,
    rewards: Vec<f64>,
    /// Whether the last step completed a round.
    paid: bool,
    fault: Option<Fault>,
}

/// What the other controllers earn, by network and seed of the demand. They take several simulations, every agent is set
/// beside them, and they depend on nothing else: so they are shared by all worlds.
static COMPARED: Mutex<BTreeMap<(String, u64), Earnings>> = Mutex::new(BTreeMap::new());

/// What each controller earns.
type Earnings = Vec<(&'static str, f64)>;

/// What an intersection sees: itself, its neighbours and its incoming lanes.
#[derive(Debug)]
struct Agent {
    universe: Arc<Universe>,
    four_way: bool,
    /// For each incoming lane, the two nodes it lies between.
    lanes: Vec<(Object, Object)>,
    intersections: Vec<Object>,
}

/// Sizes of `large`.
const SIZES: std::ops::RangeInclusive<usize> = 1..=100;

fn rows(size: usize) -> Result<Layout, Error> {
    if !SIZES.contains(&size) {
        return Err(Error::Option("--size is a number of intersections from 1 to 100".to_string()));
    }
    Layout::rows(size).map_err(|e| Error::Option(e.to_string()))
}

impl Traffic {
    fn new(alphabet: &Arc<Alphabet>, task: &str, options: &Options) -> Result<Traffic, Error> {
        let binding = Binding::new(NAME, &VOCABULARY, alphabet)?;
        let failed = |e: derrl_traci::Error| Error::Simulator(e.to_string());
        let layout = match (task, options.size) {
            ("large", size) => rows(size.unwrap_or(12))?,
            (_, Some(_)) => {
                return Err(Error::Option(format!(
                    "task `{task}` has its own intersections; --size is for task `large`"
                )));
            }
            ("agents-8", None) => Layout::eight(),
            _ => Layout::five(),
        };
        let sumo = Sumo::find().map_err(failed)?;
        let network = Network::build(&sumo, &layout).map_err(failed)?;
        let agents = (0..network.intersections().len()).map(|i| Agent::new(&network, i, alphabet)).collect();
        Ok(Traffic {
            binding,
            sumo,
            rewards: vec![0.0; network.intersections().len()],
            network,
            demand: DemandSpec::default(),
            agents,
            shared: options.shared,
            simulation: None,
            seed: 0,
            turn: 0,
            paid: false,
            fault: None,
        })
    }

    fn intervals(&self) -> f64 {
        f64::from(self.demand.horizon.div_ceil(INTERVAL))
    }

    /// The lane with the longest queue at the intersection whose turn it is.
    fn highest(&self) -> usize {
        let Some(simulation) = &self.simulation else { return 0 };
        let queues = simulation.queues().get(self.turn).map_or(&[][..], Vec::as_slice);
        longest_queue(queues, simulation.green(self.turn)).unwrap_or(0)
    }

    /// Simulates one interval and pays the agents. Returns whether the episode is over.
    fn advance(&mut self) -> Result<bool, derrl_traci::Error> {
        let intervals = self.intervals();
        let Some(simulation) = &mut self.simulation else { return Ok(true) };
        let interval = simulation.advance()?;
        for (i, reward) in self.rewards.iter_mut().enumerate() {
            *reward = interval.reward(i) / intervals;
        }
        Ok(simulation.is_over())
    }

    /// What each controller earns on the demand of the current instance.
    fn compare(&self) -> Earnings {
        let key = (self.network.layout().name().to_string(), self.seed);
        let known = || COMPARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(values) = known().get(&key) {
            return values.clone();
        }
        let run = |controller: Controller| {
            let options = derrl_traci::Options { interval: INTERVAL, ..derrl_traci::Options::default() };
            let outcome = controller.run(&self.sumo, &self.network, &self.demand, self.seed, options);
            outcome.map_or(f64::NAN, |o| o.reward())
        };
        let values = vec![
            ("random", run(Controller::Random)),
            ("fixed-time", run(Controller::FixedTime)),
            ("actuated", run(Controller::Actuated)),
            ("longest-queue-first", run(Controller::LongestQueue)),
        ];
        if values.iter().all(|(_, value)| value.is_finite()) {
            known().insert(key, values.clone());
        }
        values
    }
}

impl Agent {
    fn new(network: &Network, i: usize, alphabet: &Alphabet) -> Agent {
        let intersection = &network.intersections()[i];
        let (lane, node) = (type_named(alphabet, "lane"), type_named(alphabet, "node"));
        let mut objects: Vec<_> = intersection.lanes.iter().map(|l| (Constant::name(&l.id), lane)).collect();
        let mut nodes: Vec<Node> = Vec::new();
        for road in intersection.lanes.iter().map(|l| l.road) {
            for end in [road.from, road.to] {
                if !nodes.contains(&end) {
                    nodes.push(end);
                }
            }
        }
        let first = objects.len();
        objects.extend(nodes.iter().map(|n| (Constant::name(&n.to_string()), node)));
        let place = |n: Node| Object((first + nodes.iter().position(|m| *m == n).unwrap_or(0)) as u32);
        Agent {
            four_way: intersection.kind == Kind::FourWay,
            lanes: intersection.lanes.iter().map(|l| (place(l.road.from), place(l.road.to))).collect(),
            intersections: nodes
                .iter()
                .filter(|n| matches!(n, Node::Intersection(_)))
                .map(|n| place(*n))
                .collect(),
            universe: Arc::new(Universe::new(objects)),
        }
    }
}

impl Env for Traffic {
    fn reset(&mut self, rng: &mut Rng) {
        self.seed = rng.bits() >> 33; // SUMO's seeds are 31 bits
        self.restart();
    }

    fn restart(&mut self) {
        self.turn = 0;
        self.paid = false;
        let started = if let Some(simulation) = &mut self.simulation {
            simulation.restart(self.seed)
        } else {
            let options = derrl_traci::Options { interval: INTERVAL, ..derrl_traci::Options::default() };
            Simulation::start_with(&self.sumo, &self.network, &self.demand, self.seed, options)
                .map(|simulation| self.simulation = Some(simulation))
        };
        self.fault = started.err().map(Fault::new);
    }

    fn universe(&self) -> &Arc<Universe> {
        &self.agents[self.turn].universe
    }

    fn facts(&self, facts: &mut Facts) {
        let agent = &self.agents[self.turn];
        self.binding.say(facts, HIGHEST, &[Object(self.highest() as u32)]);
        for (lane, &(from, to)) in agent.lanes.iter().enumerate() {
            // A lane lies between two nodes, whichever is named first.
            self.binding.say(facts, BETWEEN, &[Object(lane as u32), from, to]);
            self.binding.say(facts, BETWEEN, &[Object(lane as u32), to, from]);
        }
        for &node in &agent.intersections {
            self.binding.say(facts, INTERSECTION, &[node]);
        }
    }

    fn code(&self) -> Option<u128> {
        Some(self.highest() as u128)
    }

    fn step(&mut self, _action: Action, args: &[Object], _rng: &mut Rng) -> Outcome {
        let lane = args[0].0 as usize;
        let mut outcome = Ok(false);
        if let Some(simulation) = &mut self.simulation
            && lane < self.agents[self.turn].lanes.len()
        {
            outcome = simulation.decide(self.turn, lane).map(|()| false);
        }
        self.turn += 1;
        self.paid = self.turn == self.agents.len();
        if self.paid {
            self.turn = 0;
            outcome = outcome.and_then(|_| self.advance());
        }
        match outcome {
            Err(error) => {
                self.fault = Some(Fault::new(error));
                Outcome { reward: 0.0, status: Status::Truncated }
            }
            Ok(over) => {
                let mean = self.rewards.iter().sum::<f64>() / self.rewards.len() as f64;
                let status = if over { Status::Truncated } else { Status::Running };
                Outcome { reward: if self.paid { mean } else { 0.0 }, status }
            }
        }
    }

    /// Nobody is kept from entering: no queue has grown to the edge of the network.
    fn succeeded(&self) -> bool {
        self.simulation.as_ref().is_some_and(|s| s.traffic().waiting == 0)
    }

    /// Queues are to be short; there is no state in which that is done.
    fn has_goal(&self) -> bool {
        false
    }

    fn agents(&self) -> usize {
        self.agents.len()
    }

    fn turn(&self) -> usize {
        self.turn
    }

    fn learners(&self) -> usize {
        if self.shared { 2 } else { self.agents.len() }
    }

    fn learner(&self, agent: usize) -> usize {
        if self.shared { usize::from(self.agents[agent].four_way) } else { agent }
    }

    fn round_rewards(&self) -> &[f64] {
        if self.paid { &self.rewards } else { &[] }
    }

    fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    fn cost(&self) -> Cost {
        Cost::Dear { episodes: 20 }
    }

    fn simulator(&self) -> Option<String> {
        Some(format!("SUMO {}", self.sumo.version))
    }

    fn references(&self) -> Vec<(&'static str, f64)> {
        self.compare()
    }

    fn scene(&self) -> Scene {
        let layout = self.network.layout();
        let intersections = (0..layout.len()).map(Node::Intersection);
        let nodes: Vec<Node> = intersections.chain((0..layout.fringe()).map(Node::Fringe)).collect();
        let place = |node: Node| nodes.iter().position(|n| *n == node).unwrap_or(0);
        let mut roads = Roads { turn: Some(self.turn), ..Roads::default() };
        for (i, intersection) in self.network.intersections().iter().enumerate() {
            let first = roads.lanes.len();
            roads.lanes.extend(intersection.lanes.iter().map(|lane| Lane {
                name: lane.id.clone(),
                from: place(lane.road.from),
                to: place(lane.road.to),
                capacity: lane.capacity(),
            }));
            if let Some(simulation) = &self.simulation {
                roads.queues.extend(simulation.queues().get(i).into_iter().flatten());
                roads.green.extend(simulation.green(i).map(|lane| first + lane));
                roads.wanted.extend(simulation.decided(i).map(|lane| first + lane));
                roads.time = simulation.time();
            }
        }
        roads.nodes = nodes
            .iter()
            .map(|&node| Junction {
                name: node.to_string(),
                at: layout.point(node).unwrap_or_default(),
                lights: matches!(node, Node::Intersection(_)),
            })
            .collect();
        Scene::Roads(roads)
    }
}
