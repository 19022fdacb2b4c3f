//! Traffic-like facts at any size: a grid of intersections whose queues change at every step, in this process.
//!
//! It speaks the language of the domain `traffic`, but one controller sees all lanes and switches one light a decision. It is
//! no model of traffic: it is there to change facts.

use std::sync::Arc;

use derrl_env::{Env, Journal, Outcome, Rng, Status, type_named};
use derrl_logic::{Action, Alphabet, Constant, Facts, Object, Pred, Universe};

/// Lanes that lead to an intersection.
const WAYS: usize = 4;
/// Vehicles that a green light lets through, and vehicles that arrive somewhere, a decision.
const LEAVE: u32 = 3;
const ARRIVE: usize = 4;
/// The longest queue at the start.
const QUEUE: usize = 9;
/// Decisions in an episode.
const HORIZON: u32 = 2_000;

/// A grid of intersections, each with four incoming lanes. Lane `l` leads to intersection `l / 4`.
#[derive(Debug)]
pub struct Lanes {
    universe: Arc<Universe>,
    highest: Pred,
    between: Pred,
    intersection: Pred,
    /// Where each lane comes from.
    from: Vec<Object>,
    start: Vec<u32>,
    queues: Vec<u32>,
    /// The lane with the longest queue of each intersection.
    longest: Vec<usize>,
    steps: u32,
    journal: Journal,
}

impl Lanes {
    /// At least so many lanes (a multiple of four). `None` where the alphabet is not that of traffic.
    pub fn new(alphabet: &Alphabet, lanes: usize) -> Option<Lanes> {
        let crossings = lanes.div_ceil(WAYS).max(1);
        let rows = (1..=crossings)
            .take_while(|r| r * r <= crossings)
            .filter(|r| crossings.is_multiple_of(*r))
            .last()?;
        let columns = crossings / rows;
        let node = |crossing: usize| Object((WAYS * crossings + crossing) as u32);
        let mut fringe = node(crossings).0;
        let mut from = Vec::with_capacity(WAYS * crossings);
        for crossing in 0..crossings {
            let (row, column) = (crossing / columns, crossing % columns);
            let neighbours = [
                (row > 0).then(|| crossing - columns),
                (column + 1 < columns).then(|| crossing + 1),
                (row + 1 < rows).then(|| crossing + columns),
                (column > 0).then(|| crossing - 1),
            ];
            // Lanes without an intersection behind them come from the edge of the network.
            from.extend(neighbours.map(|neighbour| {
                neighbour.map_or_else(
                    || {
                        fringe += 1;
                        Object(fringe - 1)
                    },
                    node,
                )
            }));
        }
        let (lane_type, node_type) = (type_named(alphabet, "lane"), type_named(alphabet, "node"));
        let lane = |i: usize| (Constant::name(&format!("lane{i}")), lane_type);
        let place = |i: usize| (Constant::name(&format!("node{i}")), node_type);
        let nodes = fringe as usize - WAYS * crossings;
        let objects = (0..WAYS * crossings).map(lane).chain((0..nodes).map(place)).collect();
        Some(Lanes {
            universe: Arc::new(Universe::new(objects)),
            highest: alphabet.find_predicate("highest", 1)?,
            between: alphabet.find_predicate("between", 3)?,
            intersection: alphabet.find_predicate("intersection", 1)?,
            from,
            start: Vec::new(),
            queues: Vec::new(),
            longest: vec![0; crossings],
            steps: 0,
            journal: Journal::new(),
        })
    }

    fn node(&self, crossing: usize) -> Object {
        Object((self.from.len() + crossing) as u32)
    }

    fn find_longest(&self, crossing: usize) -> usize {
        let lanes = WAYS * crossing..WAYS * (crossing + 1);
        lanes.rev().max_by_key(|&lane| self.queues[lane]).unwrap_or_default()
    }

    /// Notes the lane with the longest queue where it has become another.
    fn look_again(&mut self, crossing: usize) {
        let (before, now) = (self.longest[crossing], self.find_longest(crossing));
        if before != now {
            self.journal.note(self.highest, &[Object(before as u32)], false);
            self.journal.note(self.highest, &[Object(now as u32)], true);
            self.longest[crossing] = now;
        }
    }
}

impl Env for Lanes {
    fn reset(&mut self, rng: &mut Rng) {
        self.start = self.from.iter().map(|_| rng.below(QUEUE + 1) as u32).collect();
        self.restart();
    }

    fn restart(&mut self) {
        self.queues.clone_from(&self.start);
        self.longest = (0..self.longest.len()).map(|crossing| self.find_longest(crossing)).collect();
        self.steps = 0;
        self.journal.begin();
    }

    fn universe(&self) -> &Arc<Universe> {
        &self.universe
    }

    fn facts(&self, facts: &mut Facts) {
        for (crossing, &lane) in self.longest.iter().enumerate() {
            facts.push(self.highest, &[Object(lane as u32)]);
            facts.push(self.intersection, &[self.node(crossing)]);
        }
        for (lane, &from) in self.from.iter().enumerate() {
            let (lane, to) = (Object(lane as u32), self.node(lane / WAYS));
            facts.push(self.between, &[lane, from, to]);
            facts.push(self.between, &[lane, to, from]);
        }
    }

    fn code(&self) -> Option<u128> {
        None
    }

    fn journal(&self) -> Option<&Journal> {
        Some(&self.journal)
    }

    fn step(&mut self, _action: Action, args: &[Object], rng: &mut Rng) -> Outcome {
        let lane = args[0].0 as usize;
        if let Some(queue) = self.queues.get_mut(lane) {
            *queue = queue.saturating_sub(LEAVE);
            self.look_again(lane / WAYS);
        }
        for _ in 0..ARRIVE {
            let lane = rng.below(self.queues.len());
            self.queues[lane] += 1;
            self.look_again(lane / WAYS);
        }
        self.steps += 1;
        let status = if self.steps >= HORIZON { Status::Truncated } else { Status::Running };
        Outcome { reward: 0.0, status }
    }

    fn succeeded(&self) -> bool {
        true
    }

    fn best_return(&self) -> Option<f64> {
        Some(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use derrl_env::{find, observe};

    #[test]
    fn the_journal_tells_what_changed() {
        let alphabet = find("traffic").expect("the table has traffic").alphabet();
        let mut lanes = Lanes::new(&alphabet, 100).expect("the alphabet is that of traffic");
        let mut rng = Rng::new(0, 0);
        lanes.reset(&mut rng);
        let mut facts = Facts::new(&alphabet);
        observe(&lanes, &mut facts);
        assert_eq!(facts.iter().count(), 25 + 25 + 200);
        let mut read = 0;
        for _ in 0..300 {
            let lane = Object(rng.below(100) as u32);
            lanes.step(Action(0), &[lane], &mut rng);
            for (pred, args, holds) in lanes.journal.since(read) {
                assert_eq!(facts.flip(pred, args), holds);
            }
            read = lanes.journal.len();
            let mut now = Facts::new(&alphabet);
            observe(&lanes, &mut now);
            assert_eq!(facts, now);
        }
        assert!(read > 100, "the longest queues change often: {read} changes");
    }
}
