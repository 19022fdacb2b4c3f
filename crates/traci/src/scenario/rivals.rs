//! Controllers that traffic engineers know, to compare with: all on the same phases, with the same yellow, minimum green and
//! clearance.

use std::fmt;
use std::sync::Arc;

use crate::error::Result;
use crate::find::Sumo;
use crate::scenario::drive::{Drive, Hands, Look, Manner};
use crate::scenario::files::Scenario;
use crate::scenario::film::Film;
use crate::scenario::sight::Seen;
use crate::scenario::trips::Trips;

/// A controller to compare with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rival {
    /// The programs of the network as they are.
    OwnProgram,
    /// SUMO's actuated programs, with green up to 50 s.
    Actuated,
    /// The same with green up to 30 s, the best of 20, 30, 40 and 50 on most of the benchmark.
    ActuatedShort,
    /// SUMO's programs that prolong green while those who come would lose time.
    DelayBased,
    /// The phase for whose lanes most vehicles stand.
    LongestQueue,
    /// The phase to whose lanes most vehicles come, within 200 m: MaxWave of RESCO.
    Greedy,
    /// The phase of greatest pressure, by Varaiya: vehicles that come less those on the lanes where they go.
    MaxPressure,
    /// The same with vehicles that stand.
    MaxPressureStanding,
    /// Self-organising lights, by Cools and Gershenson: switch when those who wait have waited for so many vehicle-seconds, but let
    /// small groups cross.
    SelfOrganising,
}

/// Vehicle-seconds on red from which self-organising lights switch.
const PATIENCE: f64 = 50.0;
/// A group of at most so many vehicles within so many metres is let through.
const GROUP: usize = 3;
const CLOSE: f64 = 25.0;

impl Rival {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::OwnProgram,
        Self::Actuated,
        Self::ActuatedShort,
        Self::DelayBased,
        Self::LongestQueue,
        Self::Greedy,
        Self::MaxPressure,
        Self::MaxPressureStanding,
        Self::SelfOrganising,
    ];

    /// Who operates the lights under it.
    pub fn hands(self) -> Hands {
        match self {
            Self::OwnProgram => Hands::Programs,
            Self::Actuated => Hands::Actuated { longest: 50 },
            Self::ActuatedShort => Hands::Actuated { longest: 30 },
            Self::DelayBased => Hands::DelayBased,
            _ => Hands::Ours,
        }
    }

    /// The controller of this name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rival| rival.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::OwnProgram => "own-program",
            Self::Actuated => "actuated",
            Self::ActuatedShort => "actuated-30",
            Self::DelayBased => "delay-based",
            Self::LongestQueue => "longest-queue",
            Self::Greedy => "greedy",
            Self::MaxPressure => "max-pressure",
            Self::MaxPressureStanding => "max-pressure-standing",
            Self::SelfOrganising => "self-organising",
        }
    }

    /// Runs an episode, with lights operated as it does. With SUMO's own programs the safety is that of the programs.
    pub fn run(self, sumo: &Sumo, scenario: &Arc<Scenario>, seed: u64, manner: &Manner) -> Result<Outcome> {
        self.record(sumo, scenario, seed, manner).map(|(outcome, _)| outcome)
    }

    /// The same, with what was recorded where the manner asks for that.
    pub fn record(
        self,
        sumo: &Sumo,
        scenario: &Arc<Scenario>,
        seed: u64,
        manner: &Manner,
    ) -> Result<(Outcome, Option<Film>)> {
        let manner = Manner { hands: self.hands(), look: manner.look.max(Look::Always), ..*manner };
        let mut drive = Drive::start(sumo, scenario, seed, &manner)?;
        let mut gathered = Gathered::new(&drive);
        while !drive.is_over() {
            gathered.gather(&drive, manner.safety.every as f64);
            for light in 0..drive.city().lights.len() {
                if drive.may_decide(light) {
                    let phase = self.choose(&drive, light, &gathered);
                    drive.switch(light, phase)?;
                }
            }
            drive.advance()?;
        }
        let film = drive.film();
        Ok((Outcome::of(drive)?, film))
    }

    /// The phase it wants for a light that may decide.
    fn choose(self, drive: &Drive, light: usize, gathered: &Gathered) -> usize {
        let city = drive.city();
        let (of, current, sight) = (&city.lights[light], drive.signal(light).phase, drive.sight());
        let coming = &sight.coming[light];
        let count = |link: usize, standing: bool| {
            coming[link].iter().filter(|seen| !standing || seen.stands()).count() as f64
        };
        // Vehicles on lanes that have green, whichever way they go.
        let on_lanes = |phase: usize, standing: bool| -> f64 {
            let lanes = &of.phases[phase].lanes;
            let links = of.links.iter().enumerate();
            let links = links.filter(|(_, l)| l.as_ref().is_some_and(|l| lanes.contains(&l.from)));
            links.map(|(link, _)| count(link, standing)).sum()
        };
        let pressure = |phase: usize, standing: bool| -> f64 {
            // A movement from a road to a road may have several links. Their vehicles are counted once, and those behind the
            // junction as the mean of its lanes.
            let road = |lane: usize| city.lanes[lane].id.rsplit_once('_').map_or("", |(edge, _)| edge);
            let mut movements: Vec<((&str, &str), f64, f64, f64)> = Vec::new();
            for &(link, _) in &of.phases[phase].green {
                let Some(l) = &of.links[link] else { continue };
                let key = (road(l.from), road(l.to));
                let at = movements.iter().position(|m| m.0 == key).unwrap_or_else(|| {
                    movements.push((key, 0.0, 0.0, 0.0));
                    movements.len() - 1
                });
                let behind = if standing { &sight.standing_on } else { &sight.on_lane };
                movements[at].1 += count(link, standing);
                movements[at].2 += f64::from(behind[l.to]);
                movements[at].3 += 1.0;
            }
            movements.iter().map(|(_, before, behind, links)| before - behind / links).sum()
        };
        let best = |value: &dyn Fn(usize) -> f64| {
            // The first of the best, but the current one before all.
            let mut best = (current, value(current));
            for phase in 0..of.phases.len() {
                let this = value(phase);
                if this > best.1 {
                    best = (phase, this);
                }
            }
            best
        };
        match self {
            Self::LongestQueue => best(&|p| on_lanes(p, true)).0,
            Self::Greedy => best(&|p| on_lanes(p, false)).0,
            Self::MaxPressure => best(&|p| pressure(p, false)).0,
            Self::MaxPressureStanding => best(&|p| pressure(p, true)).0,
            Self::SelfOrganising => {
                let waited = &gathered.0[light];
                let (phase, most) = best(&|p| of.phases[p].green.iter().map(|&(link, _)| waited[link]).sum());
                let here = of.phases[current].green.iter().flat_map(|&(link, _)| &coming[link]);
                let group = here.filter(|seen: &&Seen| seen.distance < CLOSE).count();
                if most < PATIENCE || (1..=GROUP).contains(&group) { current } else { phase }
            }
            Self::OwnProgram | Self::Actuated | Self::ActuatedShort | Self::DelayBased => current,
        }
    }
}

impl fmt::Display for Rival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The vehicle-seconds on red that each link of each light has gathered since it last had green.
#[derive(Debug)]
struct Gathered(Vec<Vec<f64>>);

impl Gathered {
    fn new(drive: &Drive) -> Self {
        Self(drive.city().lights.iter().map(|l| vec![0.0; l.links.len()]).collect())
    }

    fn gather(&mut self, drive: &Drive, seconds: f64) {
        for (n, links) in self.0.iter_mut().enumerate() {
            let (light, phase) = (&drive.city().lights[n], drive.signal(n).phase);
            for (link, waited) in links.iter_mut().enumerate() {
                if light.is_green(phase, link) {
                    *waited = 0.0;
                } else {
                    *waited += seconds * drive.sight().coming[n][link].len() as f64;
                }
            }
        }
    }
}

/// How an episode went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// The journeys.
    pub trips: Trips,
    /// The mean number of vehicles that stand before a light.
    pub queue: f64,
    /// Vehicles that had stood inside a junction for five minutes at the end. Where there are any, the traffic is deadlocked.
    pub stuck: usize,
    /// Vehicles that were towed away, because they stood in a ring far from any light.
    pub towed: usize,
}

impl Outcome {
    /// That of an episode that is over. Ends its simulator.
    pub fn of(drive: Drive) -> Result<Self> {
        let (queue, stuck, towed) = (drive.mean_queue(), drive.sight().stuck, drive.sight().towed);
        Ok(Self { trips: drive.finish()?, queue, stuck, towed })
    }
}
