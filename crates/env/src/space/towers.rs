//! States of blocks in towers as numbers: what the spaces of the worlds of blocks share.

use std::sync::Arc;

use derrl_logic::{Alphabet, Facts, Object, Universe};

use super::Extent;
use crate::binding::Binding;
use crate::error::Error;
use crate::towers::{Towers, VOCABULARY, universe};

/// The universes of 2 blocks and more, and how a policy sees them.
pub(super) struct Universes {
    pub binding: Binding,
    /// By number of blocks, from 2 on.
    pub all: Vec<Arc<Universe>>,
    /// Whether all blocks are alike to the policy, so that their names do not matter.
    pub alike: bool,
}

impl Universes {
    /// Those of this extent, in a world of that name.
    pub fn new(world: &str, alphabet: &Arc<Alphabet>, extent: &Extent) -> Result<Universes, Error> {
        let all: Vec<_> = (2..=extent.largest).map(|n| Arc::new(universe(alphabet, n))).collect();
        let largest = &all[all.len() - 1];
        let is_block = |o: Object| (o.0 as usize) < extent.largest;
        let is_named = extent.named.iter().any(|name| largest.find(name).is_some_and(is_block));
        let binding = Binding::new(world, &VOCABULARY, alphabet)?;
        Ok(Universes { binding, all, alike: !extent.every_state && !is_named })
    }
}

/// The most blocks whose towers fit a number.
pub(super) const MOST: usize = 25;
const BITS: u32 = 5;

/// Towers of n blocks as numbers: what each block is on, 5 bits per block; n is the floor.
#[derive(Clone, Copy)]
pub(super) struct Packed {
    pub n: u32,
}

impl Packed {
    pub fn encode(below: &[u32]) -> u128 {
        below.iter().enumerate().fold(0, |code, (x, &y)| code | u128::from(y) << (BITS * x as u32))
    }

    /// What block x is on.
    pub fn below(self, state: u128, x: u32) -> u32 {
        debug_assert!(x < self.n, "only blocks are on something");
        (state >> (BITS * x)) as u32 & 31
    }

    pub fn towers(self, state: u128) -> Towers {
        Towers::new(&(0..self.n).map(|x| self.below(state, x)).collect::<Vec<u32>>())
    }

    /// What is on a block or the floor.
    pub fn above(self, state: u128, place: u32) -> Option<u32> {
        (0..self.n).find(|&z| self.below(state, z) == place)
    }

    fn is_free(self, state: u128, place: u32) -> bool {
        place == self.n || self.above(state, place).is_none()
    }

    /// The state after block x was put on y, where that can be done.
    pub fn moved(self, state: u128, x: u32, y: u32) -> Option<u128> {
        let can = x != y && x < self.n && self.is_free(state, x) && self.is_free(state, y);
        can.then(|| state ^ u128::from(self.below(state, x) ^ y) << (BITS * x))
    }

    /// Says what is on what, what is on top, and which object is the floor.
    pub fn say(self, state: u128, binding: &Binding, facts: &mut Facts) {
        self.towers(state).say(binding, facts);
    }
}

/// Stacks as text, each from the bottom up, in alphabetical order: `a c|b`. Blocks that are not told apart are `_`.
pub(super) fn stacks_in_words(
    stacks: Vec<Vec<u32>>,
    universe: &Universe,
    is_named: impl Fn(u32) -> bool,
) -> String {
    let name = |x: u32| if is_named(x) { universe.name(Object(x)).to_string() } else { "_".to_string() };
    let words = |stack: Vec<u32>| stack.into_iter().map(name).collect::<Vec<_>>().join(" ");
    let mut stacks: Vec<String> = stacks.into_iter().map(words).collect();
    stacks.sort();
    stacks.join("|")
}

/// How many configurations n blocks have: a(n) = (2n - 1) a(n - 1) - (n - 1)(n - 2) a(n - 2).
pub(super) fn configurations(n: usize) -> f64 {
    let (mut before, mut now) = (1.0, 1.0);
    for k in 2..=n {
        let k = k as f64;
        (before, now) = (now, (2.0 * k - 1.0) * now - (k - 1.0) * (k - 2.0) * before);
    }
    now
}

/// Every configuration of n blocks, as what each is on, that goes on from those placed already.
pub(super) fn each_configuration(n: u32, below: &mut Vec<u32>, visit: &mut dyn FnMut(&[u32])) {
    let x = below.len() as u32;
    if x == n {
        return visit(below);
    }
    // A block goes onto any other one or the floor, and under what was there or, on the floor, nothing.
    for under in (0..x).chain([n]) {
        let over = (0..x).find(|&z| under != n && below[z as usize] == under);
        below.push(under);
        if let Some(z) = over {
            below[z as usize] = x;
        }
        each_configuration(n, below, visit);
        if let Some(z) = over {
            below[z as usize] = under;
        }
        below.pop();
    }
    // Or under a whole stack.
    for z in (0..x).filter(|&z| below[z as usize] == n).collect::<Vec<_>>() {
        below[z as usize] = x;
        below.push(n);
        each_configuration(n, below, visit);
        below.pop();
        below[z as usize] = n;
    }
}

/// Every way to write `left` as a sum of numbers up to `most`, in descending order.
pub(super) fn each_partition(
    left: usize,
    most: usize,
    parts: &mut Vec<usize>,
    visit: &mut dyn FnMut(&[usize]),
) {
    if left == 0 {
        return visit(parts);
    }
    for part in (1..=left.min(most)).rev() {
        parts.push(part);
        each_partition(left - part, part, parts, visit);
        parts.pop();
    }
}
