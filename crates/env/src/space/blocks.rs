//! All configurations of blocks, with all goals.
//!
//! Blocks that a policy does not name are alike to it, and to the world. So unless every state is asked for, all goals
//! over unnamed blocks are one, goal_on(a, b), and configurations that differ only in the names of the other blocks are
//! one: what is left is, for each stack, its height and where in it a and b are.

use std::sync::Arc;

use derrl_logic::{Action, Alphabet, Facts, Object, Universe};

use super::{Exhaustive, Extent, Family, Next, Size, Space};
use crate::binding::Binding;
use crate::blocks::{GOAL_ON, IS_FLOOR, NAME, ON, TOP, VOCABULARY, universe};
use crate::error::Error;
use crate::scene::{Scene, Stacks};

/// The row's entry: 5 bits per block fit 128 for up to 25 blocks.
pub(crate) fn blocks() -> Exhaustive {
    Exhaustive::sizes("blocks", (2, MOST), |alphabet, extent| Ok(Box::new(Blocks::new(alphabet, extent)?)))
}

const MOST: usize = 25;
const BITS: u32 = 5;

struct Blocks {
    binding: Binding,
    universes: Vec<Arc<Universe>>,
    sizes: Vec<Size>,
    /// Whether blocks other than those of the goal are alike.
    alike: bool,
}

impl Blocks {
    fn new(alphabet: &Arc<Alphabet>, extent: &Extent) -> Result<Blocks, Error> {
        let numbers = 2..=extent.largest;
        let universes: Vec<_> = numbers.clone().map(|n| Arc::new(universe(alphabet, n))).collect();
        let largest = &universes[universes.len() - 1];
        let is_block = |o: Object| (o.0 as usize) < extent.largest;
        let alike =
            !extent.every_state && !extent.named.iter().any(|name| largest.find(name).is_some_and(is_block));
        let sizes = numbers
            .map(|n| {
                let goals = if alike { 1 } else { (n * (n - 1)) as u64 };
                let widest = if alike { classes(n) } else { configurations(n) };
                let states = widest * goals as f64;
                Size { size: n, title: format!("{n} blocks"), families: goals, states, widest }
            })
            .collect();
        let binding = Binding::new(NAME, &VOCABULARY, alphabet)?;
        Ok(Blocks { binding, universes, sizes, alike })
    }
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

/// How many configurations remain when blocks other than a and b are alike.
fn classes(n: usize) -> f64 {
    // partitions[m]: the ways to write m as a sum, for the stacks without a and b.
    let mut partitions = vec![0.0; n + 1];
    partitions[0] = 1.0;
    for part in 1..=n {
        for m in part..=n {
            partitions[m] += partitions[m - part];
        }
    }
    let mut count = 0.0;
    for h in 1..=n {
        let h1 = h as f64;
        count += h1 * (h1 - 1.0) * partitions[n - h]; // a and b in one stack of height h
        for k in 1..=n - h {
            count += h1 * k as f64 * partitions[n - h - k]; // in two
        }
    }
    count
}

impl Space for Blocks {
    fn sizes(&self) -> &[Size] {
        &self.sizes
    }

    fn family(&self, size: usize, i: u64) -> Box<dyn Family> {
        let n = self.sizes[size].size as u32;
        let x = (i / u64::from(n - 1)) as u32;
        let y = (i % u64::from(n - 1)) as u32;
        let goal = if self.alike { (0, 1) } else { (x, if y < x { y } else { y + 1 }) };
        Box::new(Configurations {
            binding: self.binding.clone(),
            universe: Arc::clone(&self.universes[size]),
            n,
            goal,
            alike: self.alike,
        })
    }
}

/// All configurations of n blocks with one goal. A state is what each block is on, 5 bits per block; n is the floor.
struct Configurations {
    binding: Binding,
    universe: Arc<Universe>,
    n: u32,
    goal: (u32, u32),
    alike: bool,
}

impl Configurations {
    fn decode(&self, state: u128) -> Vec<u32> {
        (0..self.n).map(|x| (state >> (BITS * x)) as u32 & 31).collect()
    }

    fn below(&self, state: u128, x: u32) -> u32 {
        debug_assert!(x < self.n, "only blocks are on something");
        (state >> (BITS * x)) as u32 & 31
    }

    fn encode(below: &[u32]) -> u128 {
        below.iter().enumerate().fold(0, |code, (x, &y)| code | u128::from(y) << (BITS * x as u32))
    }

    fn achieved(&self, state: u128) -> bool {
        self.below(state, self.goal.0) == self.goal.1
    }

    fn is_clear(&self, state: u128, x: u32) -> bool {
        (0..self.n).all(|z| self.below(state, z) != x)
    }

    /// The stacks, each from the bottom up.
    fn stacks(&self, state: u128) -> Vec<Vec<u32>> {
        let below = self.decode(state);
        let mut above = vec![None; self.n as usize];
        for (x, &y) in below.iter().enumerate() {
            if y != self.n {
                above[y as usize] = Some(x as u32);
            }
        }
        let bottoms = (0..self.n).filter(|&x| below[x as usize] == self.n);
        bottoms.map(|x| std::iter::successors(Some(x), |&x| above[x as usize]).collect()).collect()
    }

    /// Names the unnamed blocks of some stacks in order: the stacks from the highest down, each from the bottom up.
    fn named(&self, mut stacks: Vec<Vec<u32>>) -> u128 {
        // All that tells stacks apart: their height, and where in them a and b are.
        let place = |stack: &[u32], x: u32| stack.iter().position(|&y| y == x);
        stacks.sort_by_cached_key(|s| std::cmp::Reverse((s.len(), place(s, 0), place(s, 1))));
        let mut below = vec![self.n; self.n as usize];
        let mut next = 2;
        for stack in stacks {
            let mut under = self.n;
            for x in stack {
                let x = if x < 2 {
                    x
                } else {
                    next += 1;
                    next - 1
                };
                below[x as usize] = under;
                under = x;
            }
        }
        Configurations::encode(&below)
    }

    /// How many ways there are to name the blocks other than a and b: (n - 2)! over the ways to swap equal stacks. And as
    /// many goals as there are.
    fn orbit(&self, plain: &[usize]) -> u128 {
        let factorial = |k: usize| (2..=k as u128).product::<u128>();
        let mut count = factorial(self.n as usize - 2) * u128::from(self.n * (self.n - 1));
        for height in 1..=self.n as usize {
            count /= factorial(plain.iter().filter(|&&h| h == height).count());
        }
        count
    }

    /// Every configuration up to the names of blocks other than a and b.
    fn each_class(&self, visit: &mut dyn FnMut(u128, u128)) {
        let n = self.n as usize;
        let mut marked: Vec<Vec<Vec<u32>>> = Vec::new();
        // A stack of height h with a at i, and b at j or in another stack. 2 is any other block.
        let stack = |h: usize, marks: &[(usize, u32)]| {
            let mut stack = vec![2; h];
            for &(at, x) in marks {
                stack[at] = x;
            }
            stack
        };
        for h in 1..=n {
            for i in 0..h {
                for j in (0..h).filter(|&j| j != i) {
                    marked.push(vec![stack(h, &[(i, 0), (j, 1)])]);
                }
                for k in 1..=n - h {
                    for j in 0..k {
                        marked.push(vec![stack(h, &[(i, 0)]), stack(k, &[(j, 1)])]);
                    }
                }
            }
        }
        for with_goal in marked {
            let used: usize = with_goal.iter().map(Vec::len).sum();
            let mut plain = Vec::new();
            each_partition(n - used, n, &mut plain, &mut |plain| {
                let mut stacks = with_goal.clone();
                stacks.extend(plain.iter().map(|&h| vec![2; h]));
                visit(self.named(stacks), self.orbit(plain));
            });
        }
    }
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

impl Family for Configurations {
    fn universe(&self) -> &Arc<Universe> {
        &self.universe
    }

    fn title(&self) -> String {
        let name = |x: u32| self.universe.name(Object(x));
        format!("{} blocks, goal_on({}, {})", self.n, name(self.goal.0), name(self.goal.1))
    }

    fn starts(&self, visit: &mut dyn FnMut(u128, u128)) {
        let mut if_open = |state, count| {
            if !self.achieved(state) {
                visit(state, count);
            }
        };
        if self.alike {
            self.each_class(&mut if_open);
        } else {
            each_configuration(self.n, &mut Vec::new(), &mut |below| {
                if_open(Configurations::encode(below), 1);
            });
        }
    }

    fn is_closed(&self) -> bool {
        true
    }

    fn facts(&self, state: u128, facts: &mut Facts) {
        for x in 0..self.n {
            if self.is_clear(state, x) {
                self.binding.say(facts, TOP, &[Object(x)]);
            }
            self.binding.say(facts, ON, &[Object(x), Object(self.below(state, x))]);
        }
        self.binding.say(facts, GOAL_ON, &[Object(self.goal.0), Object(self.goal.1)]);
        self.binding.say(facts, IS_FLOOR, &[Object(self.n)]);
    }

    fn step(&self, state: u128, action: Action, args: &[Object]) -> Next {
        match self.exact_step(state, action, args) {
            Next::State(next) if next != state => Next::State(self.representative(next)),
            next => next,
        }
    }

    fn exact_step(&self, state: u128, _action: Action, args: &[Object]) -> Next {
        let (x, y) = (args[0].0, args[1].0);
        let free = |b: u32| b == self.n || self.is_clear(state, b);
        if x == y || x >= self.n || !free(x) || !free(y) {
            return Next::State(state);
        }
        let from = self.below(state, x);
        let next = state ^ (u128::from(from ^ y) << (BITS * x));
        if self.achieved(next) { Next::Reached } else { Next::State(next) }
    }

    fn representative(&self, state: u128) -> u128 {
        if self.alike { self.named(self.stacks(state)) } else { state }
    }

    /// Every block above either block of the goal has to leave, and each can go to the floor at once.
    fn shortest(&self, state: u128) -> Option<u32> {
        if self.achieved(state) {
            return Some(0);
        }
        let mut over = 0u32;
        for under in [self.goal.0, self.goal.1] {
            let mut at = under;
            while let Some(next) = (0..self.n).find(|&z| self.below(state, z) == at) {
                over |= 1 << next;
                at = next;
            }
        }
        Some(over.count_ones() + 1)
    }

    fn scene(&self, state: u128) -> Scene {
        let name = |x: u32| self.universe.name(Object(x)).to_string();
        Scene::Stacks(Stacks {
            blocks: (0..self.n).map(name).collect(),
            stacks: self.stacks(state),
            goal: self.goal,
            floor: name(self.n),
        })
    }
}
