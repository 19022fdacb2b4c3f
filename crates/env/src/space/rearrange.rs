//! All configurations of blocks, with all of them as goals.
//!
//! Blocks that a policy does not name are alike to it, and to the world. So unless every state is asked for, goals that differ
//! only in the names of blocks are one: what is left of a goal is the heights of its stacks.

use std::sync::Arc;

use derrl_logic::{Action, Alphabet, Facts, Object, Universe};
use rustc_hash::FxHashMap;

use super::blocks::{configurations, each_configuration, each_partition};
use super::{Exhaustive, Extent, Family, Next, Size, Space};
use crate::binding::Binding;
use crate::blocks::universe;
use crate::error::Error;
use crate::rearrange::{GOAL_ON, IS_FLOOR, NAME, ON, TOP, VOCABULARY, scene};
use crate::scene::Scene;

/// The row's entry. 8 blocks have 394,353 configurations.
pub(crate) fn rearrange() -> Exhaustive {
    Exhaustive::sizes("blocks", (2, 8), |alphabet, extent| {
        Ok(Box::new(Rearrangements::new(alphabet, extent)?))
    })
}

const BITS: usize = 5;

struct Rearrangements {
    binding: Binding,
    universes: Vec<Arc<Universe>>,
    sizes: Vec<Size>,
    /// By size: the goals, each with the number of goals that it stands for.
    goals: Vec<Vec<(Vec<u32>, u128)>>,
}

impl Rearrangements {
    fn new(alphabet: &Arc<Alphabet>, extent: &Extent) -> Result<Rearrangements, Error> {
        let numbers = 2..=extent.largest;
        let universes: Vec<_> = numbers.clone().map(|n| Arc::new(universe(alphabet, n))).collect();
        let largest = &universes[universes.len() - 1];
        let is_block = |o: Object| (o.0 as usize) < extent.largest;
        let alike =
            !extent.every_state && !extent.named.iter().any(|name| largest.find(name).is_some_and(is_block));
        let goals: Vec<_> = numbers.clone().map(|n| if alike { shapes(n) } else { all(n) }).collect();
        let sizes = numbers.zip(&goals).map(|(n, goals)| {
            let (families, widest) = (goals.len() as u64, configurations(n));
            Size { size: n, title: format!("{n} blocks"), families, states: widest * families as f64, widest }
        });
        let sizes = sizes.collect();
        let binding = Binding::new(NAME, &VOCABULARY, alphabet)?;
        Ok(Rearrangements { binding, universes, sizes, goals })
    }
}

/// Every configuration of n blocks.
fn all(n: usize) -> Vec<(Vec<u32>, u128)> {
    let mut goals = Vec::new();
    each_configuration(n as u32, &mut Vec::new(), &mut |below| goals.push((below.to_vec(), 1)));
    goals
}

/// The configurations of n blocks up to their names, each with the ways to name its blocks: n! over the ways to swap stacks of
/// the same height.
fn shapes(n: usize) -> Vec<(Vec<u32>, u128)> {
    let factorial = |k: usize| (2..=k as u128).product::<u128>();
    let mut goals = Vec::new();
    each_partition(n, n, &mut Vec::new(), &mut |heights| {
        let mut below = Vec::new();
        for &height in heights {
            let bottom = below.len() as u32;
            below.extend((0..height as u32).map(|i| if i == 0 { n as u32 } else { bottom + i - 1 }));
        }
        let swaps = |h: usize| factorial(heights.iter().filter(|&&height| height == h).count());
        goals.push((below, factorial(n) / (1..=n).map(swaps).product::<u128>()));
    });
    goals
}

impl Space for Rearrangements {
    fn sizes(&self) -> &[Size] {
        &self.sizes
    }

    fn family(&self, size: usize, i: u64) -> Box<dyn Family> {
        let (goal, count) = self.goals[size][i as usize].clone();
        Box::new(ToGoal::new(self.binding.clone(), Arc::clone(&self.universes[size]), goal, count))
    }
}

/// All configurations of n blocks with one goal. A state is what each block is on, 5 bits per block; n is the floor.
struct ToGoal {
    binding: Binding,
    universe: Arc<Universe>,
    n: u32,
    goal: Vec<u32>,
    /// How many goals this one stands for.
    count: u128,
    /// Every configuration with the fewest moves from it to the goal. Moves can be undone, so these are the moves back.
    moves: FxHashMap<u128, u32>,
}

impl ToGoal {
    fn new(binding: Binding, universe: Arc<Universe>, goal: Vec<u32>, count: u128) -> ToGoal {
        let n = goal.len() as u32;
        let mut family = ToGoal { binding, universe, n, goal, count, moves: FxHashMap::default() };
        let mut layer = vec![encode(&family.goal)];
        family.moves.insert(layer[0], 0);
        for distance in 1.. {
            let mut next = Vec::new();
            for &state in &layer {
                for (x, y) in (0..n).flat_map(|x| (0..=n).map(move |y| (x, y))) {
                    if let Some(to) = family.moved(state, x, y)
                        && !family.moves.contains_key(&to)
                    {
                        family.moves.insert(to, distance);
                        next.push(to);
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            layer = next;
        }
        family
    }

    fn below(state: u128, x: u32) -> u32 {
        (state >> (BITS * x as usize)) as u32 & 31
    }

    fn is_free(&self, state: u128, place: u32) -> bool {
        place == self.n || (0..self.n).all(|z| ToGoal::below(state, z) != place)
    }

    /// The state after block x was put on y, where that can be done.
    fn moved(&self, state: u128, x: u32, y: u32) -> Option<u128> {
        let can = x != y && x < self.n && self.is_free(state, x) && self.is_free(state, y);
        can.then(|| state ^ u128::from(ToGoal::below(state, x) ^ y) << (BITS * x as usize))
    }
}

fn encode(below: &[u32]) -> u128 {
    below.iter().enumerate().fold(0, |code, (x, &y)| code | u128::from(y) << (BITS * x))
}

impl Family for ToGoal {
    fn universe(&self) -> &Arc<Universe> {
        &self.universe
    }

    fn title(&self) -> String {
        let name = |x: u32| self.universe.name(Object(x)).to_string();
        let pairs = self.goal.iter().enumerate();
        let goal: Vec<String> =
            pairs.map(|(x, &y)| format!("goal_on({}, {})", name(x as u32), name(y))).collect();
        format!("{} blocks, {}", self.n, goal.join(", "))
    }

    fn starts(&self, visit: &mut dyn FnMut(u128, u128)) {
        each_configuration(self.n, &mut Vec::new(), &mut |below| {
            if below != self.goal {
                visit(encode(below), self.count);
            }
        });
    }

    fn is_closed(&self) -> bool {
        true
    }

    fn facts(&self, state: u128, facts: &mut Facts) {
        for x in 0..self.n {
            if self.is_free(state, x) {
                self.binding.say(facts, TOP, &[Object(x)]);
            }
            self.binding.say(facts, ON, &[Object(x), Object(ToGoal::below(state, x))]);
            self.binding.say(facts, GOAL_ON, &[Object(x), Object(self.goal[x as usize])]);
        }
        self.binding.say(facts, IS_FLOOR, &[Object(self.n)]);
    }

    fn step(&self, state: u128, _action: Action, args: &[Object]) -> Next {
        match self.moved(state, args[0].0, args[1].0) {
            Some(next) if self.moves.get(&next) == Some(&0) => Next::Reached,
            next => Next::State(next.unwrap_or(state)),
        }
    }

    fn shortest(&self, state: u128) -> Option<u32> {
        self.moves.get(&state).copied()
    }

    fn scene(&self, state: u128) -> Scene {
        let below: Vec<u32> = (0..self.n).map(|x| ToGoal::below(state, x)).collect();
        scene(&below, &self.goal, &self.universe)
    }
}
