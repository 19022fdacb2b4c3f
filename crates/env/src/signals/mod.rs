//! Signals: the real traffic lights of any SUMO scenario, with the phases of their own programs.
//!
//! Lights decide one after the other, whenever they may: who acts is whoever's turn it is, and all share one policy. What is safe
//! (yellow, minimum green, clearance) is kept by the world. The return of an episode is minus the mean delay per vehicle in
//! seconds: time lost on the road and waited for room to enter, those who never arrived or entered included. With several
//! scenarios, each episode is one of them, and its return is in units of what the longest-queue controller loses there, so that a
//! crowded scenario does not drown a quiet one.

mod streets;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use derrl_logic::{Action, Alphabet, Constant, Facts, GroundAction, Object, Universe};
use derrl_traci::Sumo;
use derrl_traci::scenario::{Drive, Film, Manner, Measures, Outcome as Hour, Rival, Safety, Scenario};

use crate::binding::{Binding, Vocabulary, type_named};
use crate::env::{Cost, Env, Outcome};
use crate::error::Error;
use crate::fault::Fault;
use crate::rng::Rng;
use crate::scene::Scene;
use crate::space::Exhaustive;
use crate::world::{Options, Task, World};
use streets::streets;

/// The row of the table of worlds.
pub fn world() -> World {
    let tasks = [Task::new("train", "the scenarios of --sumocfg, or a grid of 5 intersections")];
    World::built_in(NAME, include_str!("../../domains/signals.pl"))
        .about("operate real traffic lights, in the SUMO simulator")
        .words(include_str!("../../domains/signals.words"))
        .engine_tasks(tasks, Signals::new)
        .vocabulary(VOCABULARY)
        .takes(&["sumocfg", "clearance"])
        .with_space(Exhaustive::Never(
            "its states are those of every vehicle in the SUMO simulator, which cannot be listed; `derrl eval` measures delays"
                .into(),
        ))
}

const NAME: &str = "signals";

/// What lights decide about where no scenario is named.
const DEFAULT: &str = "five";

const VOCABULARY: Vocabulary<'static> = Vocabulary {
    predicates: &[("current", 1), ("leads", 2)],
    measures: &[
        ("queue", 1),
        ("near", 1),
        ("arriving", 1),
        ("inside", 1),
        ("flow", 1),
        ("blocked", 1),
        ("max_wait", 1),
        ("red_for", 1),
        ("green_for", 0),
        ("standing", 1),
    ],
    actions: &[("keep", 0), ("switch", 1)],
};
const CURRENT: usize = 0;
const LEADS: usize = 1;

type OfPhase = fn(&Measures<'_>, usize) -> f64;

/// The measures of a phase, in the order of the vocabulary.
const OF_PHASE: [OfPhase; 8] = [
    |of, p| of.queue(p),
    |of, p| of.near(p),
    |of, p| of.arriving(p),
    |of, p| of.inside(p),
    |of, p| of.flow(p),
    |of, p| of.blocked(p),
    |of, p| of.max_wait(p),
    |of, p| of.red_for(p),
];
const GREEN_FOR: usize = 8;
const STANDING: usize = 9;
const SWITCH: usize = 1;

/// The lights of scenarios, one deciding after the other.
#[derive(Debug)]
pub struct Signals {
    binding: Binding,
    /// The alphabet's ids of the world's actions, by the world's own numbers.
    actions: [Option<Action>; 2],
    sumo: Sumo,
    places: Vec<Place>,
    manner: Manner,
    /// The place and the seed of the instance.
    at: usize,
    seed: u64,
    /// In a cell because a picture asks the simulator for more.
    drive: RefCell<Option<Drive>>,
    /// The light whose turn it is.
    turn: usize,
    /// What the episode has paid so far.
    paid: f64,
    /// How the last episode went, once it is over.
    hour: Option<Hour>,
    /// What was recorded of it.
    film: Option<Film>,
    /// What it looked like in the end.
    last: Scene,
    fault: Option<Fault>,
}

/// A scenario, with what each of its lights sees.
#[derive(Debug)]
struct Place {
    scenario: Arc<Scenario>,
    lights: Vec<View>,
    /// The seconds of delay per vehicle that count 1.
    unit: f64,
    /// The seconds of delay per vehicle at which an hour is given up; none where it is always driven to its end.
    hopeless: Option<f64>,
}

/// The objects of a light: its phases, then the neighbours it leads to.
#[derive(Debug)]
struct View {
    universe: Arc<Universe>,
    phases: usize,
    neighbours: Vec<usize>,
}

/// Scenarios met so far: reading one takes as long as an hour of a small one.
static KNOWN: Mutex<Option<HashMap<String, Arc<Scenario>>>> = Mutex::new(None);
/// What the longest-queue controller loses in a scenario, per vehicle.
static UNITS: Mutex<Option<HashMap<String, f64>>> = Mutex::new(None);

/// The seed of the traffic by which the unit of a scenario is found.
const UNIT_SEED: u64 = 0x5eed;

fn failed(error: derrl_traci::Error) -> Error {
    match error {
        derrl_traci::Error::Invalid(why) => Error::Option(format!("--sumocfg: {why}")),
        wrong @ (derrl_traci::Error::Network { .. } | derrl_traci::Error::File { .. }) => {
            Error::Option(format!("--sumocfg: {wrong}"))
        }
        other => Error::Simulator(other.to_string()),
    }
}

impl Signals {
    fn new(alphabet: &Arc<Alphabet>, _task: &str, options: &Options) -> Result<Signals, Error> {
        let binding = Binding::new(NAME, &VOCABULARY, alphabet)?;
        let sumo = Sumo::find().map_err(failed)?;
        let defaults = Safety::default();
        let clearance = options.clearance.map_or(defaults.clearance, |s| s as u64);
        if clearance > MOST_CLEARANCE {
            return Err(Error::Option(format!(
                "--clearance is a number of seconds from 0 to {MOST_CLEARANCE}"
            )));
        }
        let safety = Safety { clearance, ..defaults };
        let names =
            if options.sumocfg.is_empty() { vec![DEFAULT.to_string()] } else { options.sumocfg.clone() };
        let several = names.len() > 1;
        let manner = Manner { safety, ..Manner::default() };
        let places = names.iter().map(|name| Place::named(name, several, &sumo, &manner, alphabet));
        let places = places.collect::<Result<_, _>>()?;
        Ok(Signals::over(binding, alphabet, places, sumo, manner))
    }

    /// One scenario with the traffic of a seed of SUMO's: [`Env::restart`] begins its hour.
    pub fn once(
        alphabet: &Alphabet,
        sumo: &Sumo,
        scenario: &Arc<Scenario>,
        seed: u64,
        manner: Manner,
    ) -> Result<Signals, Error> {
        let binding = Binding::new(NAME, &VOCABULARY, alphabet)?;
        let places = vec![Place::new(Arc::clone(scenario), 1.0, None, alphabet)];
        Ok(Signals { seed, ..Signals::over(binding, alphabet, places, sumo.clone(), manner) })
    }

    fn over(
        binding: Binding,
        alphabet: &Alphabet,
        places: Vec<Place>,
        sumo: Sumo,
        manner: Manner,
    ) -> Signals {
        Signals {
            binding,
            actions: [alphabet.find_action("keep", 0), alphabet.find_action("switch", 1)],
            sumo,
            places,
            manner,
            at: 0,
            seed: 0,
            drive: RefCell::new(None),
            turn: 0,
            paid: 0.0,
            hour: None,
            film: None,
            last: Scene::Facts,
            fault: None,
        }
    }

    /// How the episode went, once it is over.
    pub fn hour(&self) -> Option<Hour> {
        self.hour
    }

    /// What was recorded of the episode, once it is over, where its manner asks for that.
    pub fn film(&mut self) -> Option<Film> {
        self.film.take()
    }

    /// The light whose turn it is, and the second.
    pub fn deciding(&self) -> (usize, u64) {
        (self.turn, self.drive.borrow().as_ref().map_or(0, Drive::now))
    }

    fn place(&self) -> &Place {
        &self.places[self.at]
    }

    fn view(&self) -> &View {
        &self.place().lights[self.turn]
    }

    fn begin(&mut self) -> Result<(), derrl_traci::Error> {
        *self.drive.get_mut() = None; // the simulator before ends first
        let mut drive = Drive::start(&self.sumo, &self.place().scenario, self.seed, &self.manner)?;
        let lights = self.place().lights.len();
        let turn = loop {
            if let Some(light) = (0..lights).find(|&light| drive.may_decide(light)) {
                break light;
            }
            if drive.is_over() {
                let why = "the scenario ends before any light may decide".to_string();
                return Err(derrl_traci::Error::Invalid(why));
            }
            drive.advance()?;
        };
        (self.turn, *self.drive.get_mut()) = (turn, Some(drive));
        Ok(())
    }

    /// Obeys, and goes on to the next decision. Returns the reward, and whether the episode is over.
    fn act(&mut self, phase: Option<usize>) -> Result<(f64, bool), derrl_traci::Error> {
        let lights = self.place().lights.len();
        let Place { unit, hopeless, .. } = *self.place();
        let Some(drive) = self.drive.get_mut() else { return Ok((0.0, true)) };
        if let Some(phase) = phase {
            drive.switch(self.turn, phase)?;
        }
        let before = drive.lost();
        let mut next = self.turn + 1;
        loop {
            if let Some(light) = (next..lights).find(|&light| drive.may_decide(light)) {
                let vehicles = drive.scenario().vehicles().max(1) as f64;
                let lost = (drive.lost() - before) / vehicles;
                self.turn = light;
                return Ok((-lost / unit, false));
            }
            if drive.is_over() {
                break;
            }
            let vehicles = drive.scenario().vehicles().max(1) as f64;
            if hopeless.is_some_and(|most| drive.lost() > most * vehicles) {
                let (begin, end) = (drive.scenario().begin(), drive.scenario().end());
                let share = (drive.now() - begin) as f64 / (end - begin).max(1) as f64;
                let delay = drive.lost() / vehicles / share.max(f64::EPSILON);
                *self.drive.get_mut() = None;
                return Ok((-delay / unit - self.paid, true));
            }
            drive.advance()?;
            next = 0;
        }
        let Some(mut drive) = self.drive.get_mut().take() else { return Ok((0.0, true)) };
        self.last =
            drive.places().map_or(Scene::Facts, |all| Scene::Streets(streets(&drive, self.turn, all)));
        self.film = drive.film();
        let hour = Hour::of(drive)?;
        self.hour = Some(hour);
        // What was paid on the way is close to what was lost; the last reward settles the account.
        Ok((-hour.trips.delay / unit - self.paid, true))
    }
}

/// An hour in which so many times as much has been lost as the longest-queue controller loses in a whole one is given up: it is taken
/// to go on as it went so far, which it never does, for jams grow.
const HOPELESS: f64 = 4.0;

/// Seconds of clearance at the most.
const MOST_CLEARANCE: u64 = 60;

impl Place {
    fn new(scenario: Arc<Scenario>, unit: f64, hopeless: Option<f64>, alphabet: &Alphabet) -> Place {
        let lights = (0..scenario.city().lights.len()).map(|light| View::new(&scenario, light, alphabet));
        Place { lights: lights.collect(), scenario, unit, hopeless }
    }

    fn named(
        name: &str,
        several: bool,
        sumo: &Sumo,
        manner: &Manner,
        alphabet: &Alphabet,
    ) -> Result<Place, Error> {
        let known = {
            let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
            known.as_ref().and_then(|known| known.get(name).cloned())
        };
        let scenario = if let Some(scenario) = known {
            scenario
        } else {
            let scenario = Arc::new(Scenario::find(sumo, name).map_err(failed)?);
            let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
            known.get_or_insert_default().insert(name.to_string(), Arc::clone(&scenario));
            scenario
        };
        let known = unit(name, &scenario, sumo, manner)?;
        Ok(Place::new(scenario, if several { known } else { 1.0 }, Some(HOPELESS * known), alphabet))
    }
}

/// What the longest-queue controller loses per vehicle, worked out once.
fn unit(name: &str, scenario: &Arc<Scenario>, sumo: &Sumo, manner: &Manner) -> Result<f64, Error> {
    // Held meanwhile, so that threads do not work it out side by side.
    let mut units = UNITS.lock().unwrap_or_else(PoisonError::into_inner);
    let units = units.get_or_insert_default();
    if let Some(&unit) = units.get(name) {
        return Ok(unit);
    }
    let hour = Rival::LongestQueue.run(sumo, scenario, UNIT_SEED, manner).map_err(failed)?;
    let unit = hour.trips.delay.max(1.0);
    units.insert(name.to_string(), unit);
    Ok(unit)
}

/// Thousandths tell all that matters, and can be read.
fn rounded(number: f64) -> f64 {
    (number * 1000.0).round() / 1000.0
}

impl View {
    fn new(scenario: &Scenario, light: usize, alphabet: &Alphabet) -> View {
        let (phase, other) = (type_named(alphabet, "phase"), type_named(alphabet, "light"));
        let city = scenario.city();
        let phases = city.lights[light].phases.len();
        let mut neighbours: Vec<usize> =
            city.lights[light].phases.iter().flat_map(|p| p.leads.iter().copied()).collect();
        neighbours.sort_unstable();
        neighbours.dedup();
        let names = (1..=phases).map(|n| (Constant::name(&format!("p{n}")), phase));
        // A light of a network may be called p1, too.
        let name = |&n: &usize| format!("light_{}", city.lights[n].id);
        let others = neighbours.iter().map(|n| (Constant::name(&name(n)), other));
        let universe = Arc::new(Universe::new(names.chain(others).collect()));
        View { universe, phases, neighbours }
    }
}

impl Env for Signals {
    fn reset(&mut self, rng: &mut Rng) {
        self.at = if self.places.len() > 1 { rng.below(self.places.len()) } else { 0 };
        self.seed = rng.bits() >> 33; // SUMO's seeds are 31 bits
        self.restart();
    }

    fn restart(&mut self) {
        (self.turn, self.paid, self.hour) = (0, 0.0, None);
        self.fault = self.begin().err().map(Fault::new);
    }

    fn universe(&self) -> &Arc<Universe> {
        &self.view().universe
    }

    fn facts(&self, facts: &mut Facts) {
        let (drive, view) = (self.drive.borrow(), self.view());
        let Some(drive) = &*drive else { return };
        let measures = Measures::of(drive, self.turn);
        let (light, signal) = (&drive.city().lights[self.turn], drive.signal(self.turn));
        self.binding.say(facts, CURRENT, &[Object(signal.phase as u32)]);
        self.binding.report(facts, GREEN_FOR, &[], measures.green_for());
        for (p, phase) in light.phases.iter().enumerate() {
            let object = Object(p as u32);
            for (number, measure) in OF_PHASE.iter().enumerate() {
                self.binding.report(facts, number, &[object], rounded(measure(&measures, p)));
            }
            for (n, _) in view.neighbours.iter().enumerate().filter(|(_, other)| phase.leads.contains(other))
            {
                self.binding.say(facts, LEADS, &[object, Object((view.phases + n) as u32)]);
            }
        }
        for (n, &other) in view.neighbours.iter().enumerate() {
            let object = Object((view.phases + n) as u32);
            self.binding.report(facts, STANDING, &[object], measures.standing(other));
        }
    }

    fn legal(&self, actions: &mut Vec<GroundAction>) -> bool {
        let drive = self.drive.borrow();
        let Some(drive) = &*drive else { return false };
        let current = drive.signal(self.turn).phase;
        let first = actions.len();
        if let Some(action) = self.actions[0] {
            actions.push(GroundAction { action, args: Vec::new() });
        }
        if let Some(action) = self.actions[SWITCH] {
            let others = (0..self.view().phases).filter(|&p| p != current);
            actions.extend(others.map(|p| GroundAction { action, args: vec![Object(p as u32)] }));
        }
        actions[first..].sort_unstable();
        true
    }

    fn step(&mut self, action: Action, args: &[Object], _rng: &mut Rng) -> Outcome {
        let phase = (self.binding.action(action) == SWITCH).then(|| args[0].0 as usize);
        let phase = phase.filter(|&p| p < self.view().phases);
        match self.act(phase) {
            Ok((reward, over)) => {
                self.paid += reward;
                if over { Outcome::truncated(reward) } else { Outcome::running(reward) }
            }
            Err(error) => {
                self.fault = Some(Fault::new(error));
                *self.drive.get_mut() = None;
                Outcome::truncated(0.0)
            }
        }
    }

    /// Nobody has stood inside a junction for minutes at the end: the traffic is not deadlocked.
    fn succeeded(&self) -> bool {
        self.hour.is_some_and(|hour| hour.stuck == 0)
    }

    /// Delays are to be short; there is no state in which that is done.
    fn has_goal(&self) -> bool {
        false
    }

    fn fault(&self) -> Option<&Fault> {
        self.fault.as_ref()
    }

    fn cost(&self) -> Cost {
        Cost::Dear { episodes: 20 }
    }

    fn scene(&self) -> Scene {
        let mut drive = self.drive.borrow_mut();
        let Some(drive) = &mut *drive else { return self.last.clone() };
        // A simulator that is gone says so at the next step.
        drive.places().map_or(Scene::Facts, |places| Scene::Streets(streets(drive, self.turn, places)))
    }

    fn simulator(&self) -> Option<String> {
        Some(format!("SUMO {}", self.sumo.version))
    }
}
