//! All configurations of blocks, with all goals.
//!
//! Blocks that a policy does not name are alike to it, and to the world. So unless every state is asked for, all goals
//! over unnamed blocks are one, goal_on(a, b), and configurations that differ only in the names of the other blocks are
//! one: what is left is, for each stack, its height and where in it a and b are.

use std::sync::Arc;

use derrl_logic::{Action, Alphabet, Facts, Object, Universe};

use super::towers::{
    MOST, Packed, Universes, configurations, each_configuration, each_partition, stacks_in_words,
};
use super::{Exhaustive, Extent, Family, Next, Size, Space};
use crate::binding::Binding;
use crate::blocks::NAME;
use crate::error::Error;
use crate::scene::Scene;
use crate::towers::say_goal;

/// The row's entry.
pub(crate) fn blocks() -> Exhaustive {
    Exhaustive::sizes("blocks", (2, MOST), |alphabet, extent| Ok(Box::new(Blocks::new(alphabet, extent)?)))
}

struct Blocks {
    /// Blocks other than those of the goal are alike, or not.
    universes: Universes,
    sizes: Vec<Size>,
}

impl Blocks {
    fn new(alphabet: &Arc<Alphabet>, extent: &Extent) -> Result<Blocks, Error> {
        let universes = Universes::new(NAME, alphabet, extent)?;
        let alike = universes.alike;
        let sizes = (2..=extent.largest)
            .map(|n| {
                let goals = if alike { 1 } else { (n * (n - 1)) as u64 };
                let widest = if alike { classes(n) } else { configurations(n) };
                let states = widest * goals as f64;
                Size { size: n, title: format!("{n} blocks"), families: goals, states, widest }
            })
            .collect();
        Ok(Blocks { universes, sizes })
    }
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
        let Universes { binding, all, alike } = &self.universes;
        let goal = if *alike { (0, 1) } else { (x, if y < x { y } else { y + 1 }) };
        Box::new(Configurations {
            binding: binding.clone(),
            universe: Arc::clone(&all[size]),
            n,
            packed: Packed { n },
            goal,
            alike: *alike,
        })
    }
}

/// All configurations of n blocks with one goal.
struct Configurations {
    binding: Binding,
    universe: Arc<Universe>,
    n: u32,
    packed: Packed,
    goal: (u32, u32),
    alike: bool,
}

impl Configurations {
    fn achieved(&self, state: u128) -> bool {
        self.packed.below(state, self.goal.0) == self.goal.1
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
        Packed::encode(&below)
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

impl Family for Configurations {
    fn universe(&self) -> &Arc<Universe> {
        &self.universe
    }

    fn title(&self) -> String {
        let name = |x: u32| self.universe.name(Object(x));
        format!("{} blocks, goal_on({}, {})", self.n, name(self.goal.0), name(self.goal.1))
    }

    fn label(&self, state: u128) -> Option<String> {
        let is_named = |x: u32| !self.alike || x < 2;
        Some(stacks_in_words(self.packed.towers(state).stacks(), &self.universe, is_named))
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
                if_open(Packed::encode(below), 1);
            });
        }
    }

    fn is_closed(&self) -> bool {
        true
    }

    fn facts(&self, state: u128, facts: &mut Facts) {
        self.packed.say(state, &self.binding, facts);
        say_goal(&self.binding, facts, self.goal.0, self.goal.1);
    }

    fn step(&self, state: u128, action: Action, args: &[Object]) -> Next {
        match self.exact_step(state, action, args) {
            Next::State(next) if next != state => Next::State(self.representative(next)),
            next => next,
        }
    }

    fn exact_step(&self, state: u128, _action: Action, args: &[Object]) -> Next {
        match self.packed.moved(state, args[0].0, args[1].0) {
            Some(next) if self.achieved(next) => Next::Reached,
            next => Next::State(next.unwrap_or(state)),
        }
    }

    fn representative(&self, state: u128) -> u128 {
        if self.alike { self.named(self.packed.towers(state).stacks()) } else { state }
    }

    /// Every block above either block of the goal has to leave, and each can go to the floor at once.
    fn shortest(&self, state: u128) -> Option<u32> {
        if self.achieved(state) {
            return Some(0);
        }
        let mut over = 0u32;
        for under in [self.goal.0, self.goal.1] {
            let mut at = under;
            while let Some(next) = self.packed.above(state, at) {
                over |= 1 << next;
                at = next;
            }
        }
        Some(over.count_ones() + 1)
    }

    fn scene(&self, state: u128) -> Scene {
        self.packed.towers(state).scene(vec![vec![self.goal.1, self.goal.0]], &self.universe)
    }
}
