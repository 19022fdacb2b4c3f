//! All configurations of blocks, with all of them as goals.
//!
//! Blocks that a policy does not name are alike to it, and to the world. So unless every state is asked for, goals that differ
//! only in the names of blocks are one: what is left of a goal is the heights of its stacks.

use std::sync::Arc;

use derrl_logic::{Action, Alphabet, Facts, Object, Universe};
use rustc_hash::FxHashMap;

use super::towers::{Packed, Universes, configurations, each_configuration, each_partition, stacks_in_words};
use super::{Exhaustive, Extent, Family, Next, Size, Space};
use crate::binding::Binding;
use crate::error::Error;
use crate::rearrange::{NAME, scene};
use crate::scene::Scene;
use crate::towers::{Towers, say_goal};

/// The row's entry. 8 blocks have 394,353 configurations.
pub(crate) fn rearrange() -> Exhaustive {
    Exhaustive::sizes("blocks", (2, 8), |alphabet, extent| {
        Ok(Box::new(Rearrangements::new(alphabet, extent)?))
    })
}

struct Rearrangements {
    universes: Universes,
    sizes: Vec<Size>,
    /// By size: the goals, each with the number of goals that it stands for.
    goals: Vec<Vec<(Vec<u32>, u128)>>,
}

impl Rearrangements {
    fn new(alphabet: &Arc<Alphabet>, extent: &Extent) -> Result<Rearrangements, Error> {
        let numbers = 2..=extent.largest;
        let universes = Universes::new(NAME, alphabet, extent)?;
        let goals: Vec<_> =
            numbers.clone().map(|n| if universes.alike { shapes(n) } else { all(n) }).collect();
        let sizes = numbers.zip(&goals).map(|(n, goals)| {
            let (families, widest) = (goals.len() as u64, configurations(n));
            Size { size: n, title: format!("{n} blocks"), families, states: widest * families as f64, widest }
        });
        Ok(Rearrangements { sizes: sizes.collect(), universes, goals })
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
        let Universes { binding, all, .. } = &self.universes;
        Box::new(ToGoal::new(binding.clone(), Arc::clone(&all[size]), goal, count))
    }
}

/// All configurations of n blocks with one goal.
struct ToGoal {
    binding: Binding,
    universe: Arc<Universe>,
    packed: Packed,
    goal: Vec<u32>,
    /// How many goals this one stands for.
    count: u128,
    /// Every configuration with the fewest moves from it to the goal. Moves can be undone, so these are the moves back.
    moves: FxHashMap<u128, u32>,
}

impl ToGoal {
    fn new(binding: Binding, universe: Arc<Universe>, goal: Vec<u32>, count: u128) -> ToGoal {
        let n = goal.len() as u32;
        let packed = Packed { n };
        let mut family = ToGoal { binding, universe, packed, goal, count, moves: FxHashMap::default() };
        let mut layer = vec![Packed::encode(&family.goal)];
        family.moves.insert(layer[0], 0);
        for distance in 1.. {
            let mut next = Vec::new();
            for &state in &layer {
                for (x, y) in (0..n).flat_map(|x| (0..=n).map(move |y| (x, y))) {
                    if let Some(to) = packed.moved(state, x, y)
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
        format!("{} blocks, {}", self.packed.n, goal.join(", "))
    }

    fn name(&self) -> String {
        stacks_in_words(Towers::new(&self.goal).stacks(), &self.universe, |_| true)
    }

    fn label(&self, state: u128) -> Option<String> {
        Some(stacks_in_words(self.packed.towers(state).stacks(), &self.universe, |_| true))
    }

    fn starts(&self, visit: &mut dyn FnMut(u128, u128)) {
        each_configuration(self.packed.n, &mut Vec::new(), &mut |below| {
            if below != self.goal {
                visit(Packed::encode(below), self.count);
            }
        });
    }

    fn is_closed(&self) -> bool {
        true
    }

    fn facts(&self, state: u128, facts: &mut Facts) {
        self.packed.say(state, &self.binding, facts);
        self.goal.iter().enumerate().for_each(|(x, &y)| say_goal(&self.binding, facts, x as u32, y));
    }

    fn step(&self, state: u128, _action: Action, args: &[Object]) -> Next {
        match self.packed.moved(state, args[0].0, args[1].0) {
            Some(next) if self.moves.get(&next) == Some(&0) => Next::Reached,
            next => Next::State(next.unwrap_or(state)),
        }
    }

    fn shortest(&self, state: u128) -> Option<u32> {
        self.moves.get(&state).copied()
    }

    fn scene(&self, state: u128) -> Scene {
        scene(&self.packed.towers(state), &self.goal, &self.universe)
    }
}
