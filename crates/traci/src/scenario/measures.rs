//! What a traffic engineer would want to know of a phase: numbers computed from the vehicles that come to the light.
//!
//! Vehicles belong to the light and link that they come to next, however many roads lie between: lanes before a light can be
//! 10 m long. Where a vehicle has to give way in this phase and another phase protects it, it counts half.

use std::cell::OnceCell;

use crate::scenario::drive::{Drive, Safety, Signal};
use crate::scenario::net::{City, Light, goes};
use crate::scenario::sight::{Seen, Sight};

/// Vehicles so near count as near, in metres.
const NEAR: f64 = 60.0;

/// Vehicles that arrive within so many seconds count as arriving.
const SOON: f64 = 3.0;

/// No vehicle is taken to be slower than this when it is asked when it arrives, in m/s.
const SLOWEST: f64 = 3.0;

/// Seconds from one vehicle to the next over a stop line, and where they give way.
const HEADWAY: f64 = 2.0;
const GIVING_WAY: f64 = 4.0;

/// Seconds that the first vehicle takes to start, and m/s at which those behind it come.
const START: f64 = 1.0;
const PACE: f64 = 10.0;

/// Rates of flow are means over at least so many seconds for the phase that has green, and for others.
const HOLD: f64 = 8.0;
const SWITCHED: f64 = 10.0;

/// The measures of a light at a moment.
#[derive(Debug)]
pub struct Measures<'a> {
    city: &'a City,
    light: &'a Light,
    signal: &'a Signal,
    sight: &'a Sight,
    coming: &'a [Vec<Seen>],
    safety: Safety,
    now: u64,
    lanes: OnceCell<Vec<Queue>>,
}

/// The vehicles that come to a stop line, the nearest first, each with its link.
#[derive(Debug)]
struct Queue {
    length: f64,
    vehicles: Vec<(Seen, usize)>,
}

impl<'a> Measures<'a> {
    /// Those of a light now.
    pub fn of(drive: &'a Drive, light: usize) -> Self {
        let (city, sight) = (&**drive.city(), drive.sight());
        Self {
            city,
            light: &city.lights[light],
            signal: drive.signal(light),
            sight,
            coming: &sight.coming[light],
            safety: drive.safety(),
            now: drive.now(),
            lanes: OnceCell::new(),
        }
    }

    fn current(&self) -> usize {
        self.signal.phase
    }

    /// The vehicles that a phase lets go for which something holds.
    fn count(&self, phase: usize, holds: impl Fn(&Seen) -> bool) -> f64 {
        let of = |&(link, weight): &(usize, f64)| {
            weight * self.coming[link].iter().filter(|seen| holds(seen)).count() as f64
        };
        self.light.phases[phase].green.iter().map(of).sum()
    }

    /// Vehicles that stand and that the phase would let go.
    pub fn queue(&self, phase: usize) -> f64 {
        self.count(phase, Seen::stands)
    }

    /// Vehicles within 60 m that the phase would let go.
    pub fn near(&self, phase: usize) -> f64 {
        self.count(phase, |seen| seen.distance < NEAR)
    }

    /// Vehicles that reach the stop line within 3 s and that the phase would let go.
    pub fn arriving(&self, phase: usize) -> f64 {
        self.count(phase, |seen| seen.distance < SOON * seen.speed.max(SLOWEST))
    }

    /// All vehicles within sight that the phase would let go.
    pub fn coming(&self, phase: usize) -> f64 {
        self.count(phase, |_| true)
    }

    /// The longest that anybody has stood for whom the phase would let go, in seconds. Who walks has waited since the crossing
    /// last had green.
    pub fn max_wait(&self, phase: usize) -> f64 {
        let of = |&(link, _): &(usize, f64)| {
            if self.light.links[link].as_ref().is_some_and(|l| l.crossing) {
                return self.since_green(link);
            }
            self.coming[link].iter().map(|seen| seen.waiting).fold(0.0, f64::max)
        };
        self.light.phases[phase].green.iter().map(of).fold(0.0, f64::max)
    }

    /// Seconds since a link last had green.
    fn since_green(&self, link: usize) -> f64 {
        let phases = (0..self.light.phases.len()).filter(|&p| self.light.is_green(p, link));
        phases.map(|p| self.red_for(p)).fold(f64::INFINITY, f64::min)
    }

    /// Seconds for which the current phase has had green.
    pub fn green_for(&self) -> f64 {
        (self.now - self.signal.since) as f64
    }

    /// Seconds since the phase last had green; 0 if it has.
    pub fn red_for(&self, phase: usize) -> f64 {
        if phase == self.current() { 0.0 } else { (self.now - self.signal.last[phase]) as f64 }
    }

    /// The share of the vehicles that the phase would let go whose road ahead is full.
    pub fn blocked(&self, phase: usize) -> f64 {
        let (mut all, mut held) = (0, 0);
        for &(link, _) in &self.light.phases[phase].green {
            let n = self.coming[link].len();
            all += n;
            held += if self.is_full(link) { n } else { 0 };
        }
        if all == 0 { 0.0 } else { f64::from(held as u32) / f64::from(all as u32) }
    }

    fn is_full(&self, link: usize) -> bool {
        self.light.links[link].as_ref().is_some_and(|l| self.sight.full[l.to])
    }

    /// Vehicles that stand inside the junction and came by links that the phase lets go.
    pub fn inside(&self, phase: usize) -> f64 {
        let links = self.light.phases[phase].green.iter().map(|&(link, _)| link);
        f64::from(links.map(|link| self.sight.inside(self.light, link)).sum::<u32>())
    }

    /// Vehicles that stand before a light, which may be a neighbour.
    pub fn standing(&self, light: usize) -> f64 {
        let seen = self.sight.coming[light].iter().flatten();
        seen.filter(|seen| seen.stands()).count() as f64
    }

    /// The best mean rate at which the phase would let vehicles go from now on, in vehicles per second: the largest of k divided
    /// by the time at which the k-th crosses the stop line. Yellow is charged to those who have no green yet.
    pub fn flow(&self, phase: usize) -> f64 {
        let least = if phase == self.current() { HOLD } else { SWITCHED };
        let (mut crossed, mut best) = (0.0, 0.0_f64);
        for (at, weight) in self.crossings(phase) {
            crossed += weight;
            best = best.max(crossed / at.max(least));
        }
        best
    }

    /// When the vehicles would cross that the phase lets go, in seconds from now, and what each counts. One crosses when it
    /// arrives, or a headway after the one before it; one without green, or whose road ahead is full, holds up those behind it.
    fn crossings(&self, phase: usize) -> Vec<(f64, f64)> {
        let current = self.current();
        let lost = if self.light.yellow(current, phase).is_some() { self.safety.yellow as f64 } else { 0.0 };
        let mut all: Vec<(f64, f64)> = Vec::new();
        for queue in self.queues() {
            let mut last: Option<f64> = None;
            for &(seen, link) in &queue.vehicles {
                let letter = self.light.letter(phase, link).unwrap_or(b'r');
                if !goes(letter) || self.is_full(link) {
                    if seen.distance <= queue.length {
                        break;
                    }
                    continue; // it is still on a road before this one, and may take another lane
                }
                let has_green = self.light.is_green(current, link);
                let arrives = if seen.stands() || !has_green {
                    (if has_green { 0.0 } else { lost }) + START + seen.distance / PACE
                } else {
                    seen.distance / seen.speed.max(SLOWEST)
                };
                let headway = if letter == b'G' { HEADWAY } else { GIVING_WAY };
                let at = last.map_or(arrives, |before| arrives.max(before + headway));
                last = Some(at);
                let protected = self.light.links[link].as_ref().is_some_and(|l| l.protected);
                all.push((at, if letter == b'G' || !protected { 1.0 } else { 0.5 }));
            }
        }
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        all
    }

    /// The vehicles by the lane that they come to.
    fn queues(&self) -> &[Queue] {
        self.lanes.get_or_init(|| {
            let mut numbers: Vec<usize> = Vec::new();
            let mut queues: Vec<Queue> = Vec::new();
            for (link, coming) in self.coming.iter().enumerate().filter(|(_, coming)| !coming.is_empty()) {
                let Some(from) = self.light.links[link].as_ref().map(|l| l.from) else { continue };
                let at = numbers.iter().position(|&n| n == from).unwrap_or_else(|| {
                    numbers.push(from);
                    queues.push(Queue { length: self.city.lanes[from].length, vehicles: Vec::new() });
                    numbers.len() - 1
                });
                queues[at].vehicles.extend(coming.iter().map(|&seen| (seen, link)));
            }
            for queue in &mut queues {
                queue.vehicles.sort_by(|(a, i), (b, j)| {
                    let by_place = a.distance.total_cmp(&b.distance).then(a.speed.total_cmp(&b.speed));
                    by_place.then(i.cmp(j))
                });
            }
            queues
        })
    }
}
