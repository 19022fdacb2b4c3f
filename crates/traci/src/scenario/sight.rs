//! What there is to see of the traffic at a moment: every vehicle by the light that it comes to next.

use std::collections::{HashMap, HashSet};

use crate::error::{Error, Fault, Result, Said};
use crate::process::Process;
use crate::protocol::{Answer, Batch, Domain, Update, Value, Variable};
use crate::scenario::net::{City, Light};
use crate::scenario::ring::break_rings;

/// How far lights see, in metres of road.
pub const RANGE: f64 = 200.0;

/// Vehicles slower than this stand, in m/s: SUMO's notion of a queue.
const STANDING: f64 = 0.1;

/// A lane is full from this share of its length on, if somebody stands on it.
const FULL: f64 = 0.75;

/// Far enough to see everything from anywhere.
pub(crate) const EVERYWHERE: f64 = 1e7;

const VARIABLES: [Variable; 5] =
    [Variable::NEXT_LIGHTS, Variable::SPEED, Variable::WAITING_TIME, Variable::TIME_LOSS, Variable::LANE];

/// A vehicle on its way to a light.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seen {
    /// Metres to the stop line.
    pub distance: f64,
    /// Metres per second.
    pub speed: f64,
    /// Seconds it has stood for; 0 if it moves.
    pub waiting: f64,
}

impl Seen {
    /// Whether it stands.
    pub fn stands(&self) -> bool {
        self.speed < STANDING
    }
}

/// Where a vehicle is.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    /// Its id.
    pub id: String,
    /// Its front, in metres to the east and north.
    pub at: (f64, f64),
    /// Where it looks, in degrees clockwise from north.
    pub heading: f64,
    /// Whether it stands.
    pub stands: bool,
}

/// Where all vehicles are now.
pub(crate) fn places(city: &City, process: &mut Process, now: u64) -> Result<Vec<Placed>> {
    let variables = [Variable::POSITION, Variable::ANGLE, Variable::SPEED];
    let mut batch = Batch::new();
    batch.look_around(&city.centre, EVERYWHERE, now as f64, (Domain::Vehicle, &variables));
    let answers = process.ask(|client| client.send(&batch, "looking where vehicles are"))?;
    let [Answer::Around(vehicles)] = answers.as_slice() else {
        return Err(garbled(now, "places are not told as they were asked for"));
    };
    let placed = vehicles.iter().map(|vehicle| match vehicle.values.as_slice() {
        [(_, Value::Position(x, y)), (_, Value::Double(heading)), (_, Value::Double(speed))] => Ok(Placed {
            id: vehicle.object.clone(),
            at: (*x, *y),
            heading: *heading,
            stands: *speed < STANDING,
        }),
        other => Err(garbled(now, &format!("vehicle {:?} is told as {other:?}", vehicle.object))),
    });
    placed.collect()
}

/// The traffic at a moment.
#[derive(Debug, Clone, Default)]
pub struct Sight {
    /// For each light and link, the vehicles that come to it next, within [`RANGE`].
    pub coming: Vec<Vec<Vec<Seen>>>,
    /// For each lane, the vehicles on it.
    pub on_lane: Vec<u32>,
    /// For each lane, the vehicles that stand on it.
    pub standing_on: Vec<u32>,
    /// For each lane behind a light, whether it is full.
    pub full: Vec<bool>,
    /// Vehicles within sight of a light that stand.
    pub standing: usize,
    /// Vehicles on the road.
    pub running: usize,
    /// Vehicles that find no room to enter.
    pub pending: usize,
    /// Vehicles that have stood inside a junction for five minutes.
    pub stuck: usize,
    /// Vehicles that were towed away so far, because they stood in a ring that no light can free.
    pub towed: usize,
}

/// Looks at the traffic again and again, and keeps account of the time lost.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Lanes behind the lights, which may be full.
    behind: Vec<usize>,
    lights: HashMap<String, usize>,
    /// Lanes inside the junctions of lights.
    junctions: HashSet<usize>,
    /// Vehicles that have just stood for five minutes, or so many times as long, inside another junction.
    held: Vec<String>,
    /// Seconds lost so far by each vehicle on the road, and the look at which it was seen last.
    losses: HashMap<String, (f64, u64)>,
    looks: u64,
    /// Seconds lost on the road by all vehicles so far.
    pub lost: f64,
}

/// Seconds for which somebody has to stand inside a junction to be stuck.
const STUCK: f64 = 300.0;

/// Looks are not farther apart than this, in seconds.
const OFTEN: f64 = 10.0;

impl Watch {
    pub fn new(city: &City) -> Self {
        let links = city.lights.iter().flat_map(|l| l.links.iter().flatten());
        let mut behind: Vec<usize> = links.map(|l| l.to).collect();
        behind.sort_unstable();
        behind.dedup();
        let lights = city.lights.iter().enumerate().map(|(n, l)| (l.id.clone(), n)).collect();
        let links = city.lights.iter().flat_map(|l| l.links.iter().flatten());
        let junctions = links.flat_map(|l| l.inside.iter().copied()).collect();
        Self { behind, lights, junctions, ..Self::default() }
    }

    /// Looks at the traffic now. Two messages at the most, whatever the number of vehicles.
    pub fn look(&mut self, city: &City, process: &mut Process, now: u64, sight: &mut Sight) -> Result<()> {
        let mut batch = Batch::new();
        batch.look_around(&city.centre, EVERYWHERE, now as f64, (Domain::Vehicle, &VARIABLES));
        batch.get(Domain::Simulation, Variable::PENDING, "");
        let answers = process.ask(|client| client.send(&batch, "looking at the traffic"))?;
        let [Answer::Around(vehicles), Answer::Got(Value::Strings(pending))] = answers.as_slice() else {
            return Err(garbled(now, "the traffic is not told as it was asked for"));
        };
        sight.clear(city);
        self.held.clear();
        sight.pending = pending.len();
        sight.running = vehicles.len();
        self.looks += 1;
        for vehicle in vehicles {
            self.note(city, vehicle, sight).map_err(|why| garbled(now, &why))?;
        }
        let looks = self.looks;
        self.losses.retain(|_, (_, seen)| *seen == looks);
        // A lane on which nobody stands is not full, so few lanes are asked for.
        let asked: Vec<usize> = self.behind.iter().copied().filter(|&l| sight.standing_on[l] > 0).collect();
        let mut batch = Batch::new();
        for &lane in &asked {
            batch.get(Domain::Lane, Variable::OCCUPANCY, &city.lanes[lane].id);
        }
        let answers = process.ask(|client| client.send(&batch, "looking at the roads behind the lights"))?;
        for (&lane, answer) in asked.iter().zip(&answers) {
            let Answer::Got(Value::Double(share)) = answer else {
                return Err(garbled(now, "a share of a lane is no number"));
            };
            sight.full[lane] = *share > FULL;
        }
        sight.towed += break_rings(city, &self.junctions, process, &self.held)?;
        Ok(())
    }

    fn note(&mut self, city: &City, vehicle: &Update, sight: &mut Sight) -> Result<(), String> {
        let [
            (_, Value::Compound(ahead)),
            (_, Value::Double(speed)),
            (_, Value::Double(waiting)),
            (_, Value::Double(loss)),
            (_, Value::String(lane)),
        ] = vehicle.values.as_slice()
        else {
            return Err(format!("vehicle {:?} is told as {:?}", vehicle.object, vehicle.values));
        };
        let before = if let Some(known) = self.losses.get_mut(&vehicle.object) {
            std::mem::replace(known, (*loss, self.looks)).0
        } else {
            self.losses.insert(vehicle.object.clone(), (*loss, self.looks));
            0.0
        };
        self.lost += loss - before;
        let stands = *speed < STANDING;
        if let Some(lane) = city.lane(lane) {
            sight.on_lane[lane] += 1;
            sight.standing_on[lane] += u32::from(stands);
            if stands && city.lanes[lane].inside && *waiting >= STUCK {
                sight.stuck += 1;
                if *waiting % STUCK < OFTEN && !self.junctions.contains(&lane) {
                    self.held.push(vehicle.object.clone());
                }
            }
        }
        // The number of lights ahead comes first, then four values for each.
        let [_, Value::String(light), Value::Int(link), Value::Double(distance), ..] = ahead.as_slice()
        else {
            return Ok(()); // none ahead
        };
        if *distance > RANGE {
            return Ok(());
        }
        let waiting = if stands { *waiting } else { 0.0 };
        sight.standing += usize::from(stands);
        let link = usize::try_from(*link).ok();
        let coming = self.lights.get(light).map(|&n| &mut sight.coming[n]);
        if let Some(coming) = coming.zip(link).and_then(|(links, link)| links.get_mut(link)) {
            coming.push(Seen { distance: *distance, speed: *speed, waiting });
        }
        Ok(())
    }
}

impl Sight {
    fn clear(&mut self, city: &City) {
        self.coming.resize(city.lights.len(), Vec::new());
        for (links, light) in self.coming.iter_mut().zip(&city.lights) {
            links.resize(light.links.len(), Vec::new());
            links.iter_mut().for_each(Vec::clear);
        }
        for counts in [&mut self.on_lane, &mut self.standing_on] {
            counts.clear();
            counts.resize(city.lanes.len(), 0);
        }
        self.full.clear();
        self.full.resize(city.lanes.len(), false);
        (self.standing, self.stuck) = (0, 0);
    }

    /// How many vehicles stand inside the junction of a light that came by a link.
    pub fn inside(&self, light: &Light, link: usize) -> u32 {
        let lanes = light.links.get(link).and_then(Option::as_ref).map_or(&[][..], |l| &l.inside);
        lanes.iter().map(|&lane| self.standing_on.get(lane).copied().unwrap_or_default()).sum()
    }
}

pub(crate) fn garbled(step: u64, why: &str) -> Error {
    Error::Simulator {
        doing: "looking at the traffic".to_owned(),
        step,
        fault: Fault::Garbled(why.to_owned()),
        stderr: Said::default(),
    }
}
