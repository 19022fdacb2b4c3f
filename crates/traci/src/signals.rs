//! Which lane has green, which is to get it, and the signals on the way from one to the other.

use crate::error::{Error, Result};
use crate::network::Intersection;

/// The lights of all intersections: as they are, and as they were decided to become.
#[derive(Debug, Clone, Default)]
pub(crate) struct Signals {
    green: Vec<Option<usize>>,
    wanted: Vec<Option<usize>>,
}

/// Signals to be set: the index of an intersection and a letter for each of its movements.
pub(crate) type Settings = Vec<(usize, String)>;

impl Signals {
    /// All red.
    pub fn new(intersections: usize) -> Self {
        Self { green: vec![None; intersections], wanted: vec![None; intersections] }
    }

    /// The lane that has green.
    pub fn green(&self, intersection: usize) -> Option<usize> {
        self.green.get(intersection).copied().flatten()
    }

    /// The lane that has green or will get it.
    pub fn wanted(&self, intersection: usize) -> Option<usize> {
        self.wanted.get(intersection).copied().flatten()
    }

    /// Notes a request; the last one before [`changes`](Self::changes) counts.
    pub fn decide(&mut self, all: &[Intersection], intersection: usize, lane: usize) -> Result<()> {
        let Some(lanes) = all.get(intersection).map(|i| i.lanes.len()) else {
            return Err(Error::Invalid(format!("there is no intersection {intersection}")));
        };
        if lane >= lanes {
            let why = format!("i{intersection} has {lanes} incoming lanes, not a lane {lane}");
            return Err(Error::Invalid(why));
        }
        self.wanted[intersection] = Some(lane);
        Ok(())
    }

    /// What to set now, and what when the yellow is over, so that the requests come true; they count as fulfilled from here on.
    ///
    /// Only changes: signals stay as set, so that sending them again would only cost time.
    pub fn changes(&mut self, all: &[Intersection]) -> (Settings, Settings) {
        let (mut now, mut after_yellow) = (Vec::new(), Vec::new());
        for (i, intersection) in all.iter().enumerate() {
            let (before, after) = (self.green[i], self.wanted[i]);
            let Some(after) = after.filter(|_| before != after) else { continue };
            let green = intersection.lanes[after].green.clone();
            match before {
                // All was red: nobody is on the way whom a yellow would have to warn.
                None => now.push((i, green)),
                Some(before) => {
                    now.push((i, Intersection::yellow(&intersection.lanes[before].green, &green)));
                    after_yellow.push((i, green));
                }
            }
        }
        self.green.clone_from(&self.wanted);
        (now, after_yellow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{Node, Road};
    use crate::network::{IncomingLane, Kind};

    /// Intersections of three lanes with one movement each.
    fn intersections(count: usize) -> Vec<Intersection> {
        let lane = |i: usize, k: usize| IncomingLane {
            id: format!("f{k}_i{i}_0"),
            road: Road { from: Node::Fringe(k), to: Node::Intersection(i) },
            length: 100.0,
            signals: vec![k],
            green: (0..3).map(|s| if s == k { 'G' } else { 'r' }).collect(),
        };
        let lanes = |i| (0..3).map(|k| lane(i, k)).collect();
        let one = |i| Intersection { id: format!("i{i}"), kind: Kind::ThreeWay, lanes: lanes(i), signals: 3 };
        (0..count).map(one).collect()
    }

    fn to(i: usize, signals: &str) -> (usize, String) {
        (i, signals.to_owned())
    }

    #[test]
    fn a_change_goes_through_yellow_and_is_sent_once() {
        let all = intersections(2);
        let mut signals = Signals::new(2);
        signals.decide(&all, 1, 0).unwrap();
        assert_eq!(signals.changes(&all), (vec![to(1, "Grr")], vec![]), "no yellow after all red");
        assert_eq!((signals.green(0), signals.green(1)), (None, Some(0)));

        signals.decide(&all, 1, 0).unwrap();
        assert_eq!(signals.changes(&all), (vec![], vec![]), "no change, nothing sent");
        assert_eq!(signals.changes(&all), (vec![], vec![]), "no decision, nothing sent");

        signals.decide(&all, 1, 1).unwrap();
        signals.decide(&all, 1, 2).unwrap();
        signals.decide(&all, 0, 1).unwrap();
        let expected = (vec![to(0, "rGr"), to(1, "yrr")], vec![to(1, "rrG")]);
        assert_eq!(signals.changes(&all), expected, "the last request counts");
    }

    #[test]
    fn what_is_not_there_cannot_be_requested() {
        let all = intersections(1);
        let mut signals = Signals::new(1);
        let error = |e: Result<()>| e.unwrap_err().to_string();
        assert_eq!(error(signals.decide(&all, 1, 0)), "there is no intersection 1");
        assert_eq!(error(signals.decide(&all, 0, 3)), "i0 has 3 incoming lanes, not a lane 3");
        assert_eq!(signals.changes(&all), (vec![], vec![]));
    }
}
