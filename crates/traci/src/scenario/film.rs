//! An episode as it can be watched afterwards: where every vehicle was, and what every light showed.

use std::collections::HashMap;

use crate::error::Result;
use crate::process::Process;
use crate::protocol::{Answer, Batch, Domain, Value, Variable};
use crate::scenario::net::City;
use crate::scenario::sight::{EVERYWHERE, garbled};

/// Metres by which a drawn way may miss a vehicle's place.
const TOLERANCE: f64 = 1.2;

/// Places of a vehicle that are held back at the most until it is known which of them are needed.
const HELD: usize = 120;

/// Where somebody was at a second, in metres to the east and north.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct At {
    /// The second.
    pub second: u64,
    /// The place.
    pub place: (f64, f64),
}

/// What was recorded of an episode.
#[derive(Debug, Clone, Default)]
pub struct Film {
    /// The ways of all vehicles, in the order in which they entered: between two places they go straight, at one speed.
    pub ways: Vec<Vec<At>>,
    /// For each light, what it showed, and from which second on.
    pub shown: Vec<Vec<(u64, String)>>,
    /// The way of each vehicle that is on the road.
    on_road: HashMap<String, Open>,
}

/// The way of a vehicle that is still on the road.
#[derive(Debug, Clone)]
struct Open {
    way: usize,
    /// Places since the last one that is kept.
    held: Vec<At>,
    seen: u64,
}

impl Film {
    pub(crate) fn new(city: &City) -> Self {
        Self { shown: vec![Vec::new(); city.lights.len()], ..Self::default() }
    }

    /// Takes a picture.
    pub(crate) fn shoot(&mut self, city: &City, process: &mut Process, now: u64) -> Result<()> {
        let mut batch = Batch::new();
        batch.look_around(&city.centre, EVERYWHERE, now as f64, (Domain::Vehicle, &[Variable::POSITION]));
        for light in &city.lights {
            batch.get(Domain::TrafficLight, Variable::SIGNALS, &light.id);
        }
        let answers = process.ask(|client| client.send(&batch, "recording"))?;
        let mut answers = answers.into_iter();
        let Some(Answer::Around(vehicles)) = answers.next() else {
            return Err(garbled(now, "places are not told as they were asked for"));
        };
        for vehicle in vehicles {
            let [(_, Value::Position(x, y))] = vehicle.values.as_slice() else {
                return Err(garbled(now, &format!("a vehicle is told as {:?}", vehicle.values)));
            };
            self.note(vehicle.object, At { second: now, place: (*x, *y) });
        }
        for (shown, answer) in self.shown.iter_mut().zip(answers) {
            let Answer::Got(Value::String(state)) = answer else {
                return Err(garbled(now, "a light is not told as it was asked for"));
            };
            if shown.last().is_none_or(|(_, last)| *last != state) {
                shown.push((now, state));
            }
        }
        let ways = &mut self.ways;
        self.on_road.retain(|_, open| {
            let here = open.seen == now;
            if !here {
                ways[open.way].extend(open.held.pop());
            }
            here
        });
        Ok(())
    }

    fn note(&mut self, vehicle: String, at: At) {
        let Some(open) = self.on_road.get_mut(&vehicle) else {
            self.on_road.insert(vehicle, Open { way: self.ways.len(), held: Vec::new(), seen: at.second });
            self.ways.push(vec![at]);
            return;
        };
        open.seen = at.second;
        let way = &mut self.ways[open.way];
        if let (Some(&from), Some(&last)) = (way.last(), open.held.last())
            && (open.held.len() == HELD || !open.held.iter().all(|held| is_near(*held, from, at)))
        {
            way.push(last);
            open.held.clear();
        }
        open.held.push(at);
    }

    /// Ends the ways of those who are still on the road.
    pub(crate) fn end(mut self) -> Self {
        for (_, mut open) in self.on_road.drain() {
            self.ways[open.way].extend(open.held.pop());
        }
        self
    }
}

/// Whether who goes straight from one place to another passes near a third in time.
fn is_near(third: At, from: At, to: At) -> bool {
    let share = (third.second - from.second) as f64 / (to.second - from.second).max(1) as f64;
    let along = |a: f64, b: f64| a + (b - a) * share;
    let (x, y) = (along(from.place.0, to.place.0), along(from.place.1, to.place.1));
    (x - third.place.0).hypot(y - third.place.1) <= TOLERANCE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_keep_what_is_needed_to_draw_them() {
        let mut film = Film::default();
        let place = |t: u64| match t {
            0..=10 => (10.0 * t as f64, 0.0),
            11..=200 => (100.0, 0.0),
            _ => (100.0, 5.0 * (t - 200) as f64),
        };
        for second in (0..=220).step_by(2) {
            film.note("a".into(), At { second, place: place(second) });
        }
        let film = film.end();
        let way = &film.ways[0];
        assert!(way.len() < 8, "{way:?}");
        for second in (0..=220).step_by(2) {
            let next = way.iter().position(|at| at.second >= second).unwrap().max(1);
            let at = At { second, place: place(second) };
            assert!(is_near(at, way[next - 1], way[next]), "{at:?} {way:?}");
        }
    }
}
