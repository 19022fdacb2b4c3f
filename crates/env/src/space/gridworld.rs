//! All grids up to a size with up to this many obstacles, and all places of agent and target.

use std::sync::Arc;

use derrl_logic::{Action, Alphabet, Facts, Object, Universe};

use super::{Exhaustive, Extent, Family, Next, Size, Space};
use crate::binding::Binding;
use crate::error::Error;
use crate::gridworld::{COMPASS, CURR, MOVES, NAME, OBS, SIGNS, SUCC, TARGET, VOCABULARY, universe};
use crate::scene::{Grid, Scene, Thing, Walker};

/// The row's entry.
pub(crate) fn gridworld() -> Exhaustive {
    Exhaustive::sizes("cells per side", (2, 100), |alphabet, extent| {
        Ok(Box::new(Gridworld::new(alphabet, extent)?))
    })
}

struct Gridworld {
    binding: Binding,
    universes: Vec<Arc<Universe>>,
    sizes: Vec<Size>,
    /// For each size: how many obstacles there may be.
    obstacles: usize,
}

impl Gridworld {
    fn new(alphabet: &Arc<Alphabet>, extent: &Extent) -> Result<Gridworld, Error> {
        let obstacles = extent.most_obstacles();
        let numbers = 2..=extent.largest;
        let sizes = numbers
            .clone()
            .map(|n| {
                let cells = n * n;
                // A grid has a free cell for the agent beside that for the target.
                let counts = 0..=obstacles.min(cells - 2);
                let (mut families, mut states) = (0u64, 0.0);
                for k in counts {
                    families = families.saturating_add(families_of(cells, k));
                    states += choose(cells, k) as f64 * (cells - k) as f64 * (cells - k - 1) as f64;
                }
                let title = match obstacles.min(cells - 2) {
                    0 => format!("{n}x{n} cells"),
                    1 => format!("{n}x{n} cells, up to 1 obstacle"),
                    k => format!("{n}x{n} cells, up to {k} obstacles"),
                };
                Size { size: n, title, families, states, widest: (cells - 1) as f64 }
            })
            .collect();
        let universes = numbers.map(|n| Arc::new(universe(alphabet, n))).collect();
        let binding = Binding::new(NAME, &VOCABULARY, alphabet)?;
        Ok(Gridworld { binding, universes, sizes, obstacles })
    }
}

/// n over k, as far as 64 bits go.
fn choose(n: usize, k: usize) -> u64 {
    let Some(rest) = n.checked_sub(k) else { return 0 };
    let mut sets: u128 = 1;
    for i in 0..k.min(rest) {
        // Up to the middle it only grows, so that it may stop where 64 bits end.
        sets = sets * (n - i) as u128 / (i + 1) as u128;
        if sets >= u128::from(u64::MAX) {
            return u64::MAX;
        }
    }
    sets as u64
}

/// A family for every set of k obstacles and every free cell as the target.
fn families_of(cells: usize, k: usize) -> u64 {
    choose(cells, k).saturating_mul((cells - k) as u64)
}

/// The `i`-th set of k numbers below n, in lexicographic order.
fn nth_set(n: usize, k: usize, mut i: u64) -> Vec<usize> {
    let mut set = Vec::with_capacity(k);
    let mut from = 0;
    for left in (0..k).rev() {
        loop {
            let with = choose(n - from - 1, left);
            from += 1;
            if i < with {
                set.push(from - 1);
                break;
            }
            i -= with;
        }
    }
    set
}

impl Space for Gridworld {
    fn sizes(&self) -> &[Size] {
        &self.sizes
    }

    fn family(&self, size: usize, mut i: u64) -> Box<dyn Family> {
        let n = self.sizes[size].size;
        let cells = n * n;
        let mut k = 0;
        while k < self.obstacles && i >= families_of(cells, k) {
            i -= families_of(cells, k);
            k += 1;
        }
        let free = (cells - k) as u64;
        let mut blocked = vec![false; cells];
        for cell in nth_set(cells, k, i / free) {
            blocked[cell] = true;
        }
        let target = (0..cells).filter(|&c| !blocked[c]).nth((i % free) as usize).unwrap_or_default();
        let mut maze = Maze {
            binding: self.binding.clone(),
            universe: Arc::clone(&self.universes[size]),
            n: n as i32,
            blocked,
            target,
            distance: Vec::new(),
        };
        maze.search();
        Box::new(maze)
    }
}

/// A grid with its obstacles and its target. A state is the agent's cell.
struct Maze {
    binding: Binding,
    universe: Arc<Universe>,
    n: i32,
    blocked: Vec<bool>,
    target: usize,
    /// Moves from each cell to the target.
    distance: Vec<Option<u32>>,
}

impl Maze {
    /// Columns one after the other, as the world numbers its cells.
    fn place(&self, cell: usize) -> (i32, i32) {
        (cell as i32 / self.n, cell as i32 % self.n)
    }

    fn moved(&self, cell: usize, action: usize) -> usize {
        let (x, y) = self.place(cell);
        let (dx, dy) = MOVES[action];
        let (x, y) = (x + dx, y + dy);
        let inside = (0..self.n).contains(&x) && (0..self.n).contains(&y);
        let to = (x * self.n + y) as usize;
        if inside && !self.blocked[to] { to } else { cell }
    }

    /// Distances from the target: every move can be undone, so they are those to it.
    fn search(&mut self) {
        self.distance = vec![None; self.blocked.len()];
        self.distance[self.target] = Some(0);
        let mut queue = vec![self.target];
        let mut at = 0;
        while at < queue.len() {
            let cell = queue[at];
            at += 1;
            for action in 0..MOVES.len() {
                let next = self.moved(cell, action);
                if self.distance[next].is_none() {
                    self.distance[next] = self.distance[cell].map(|d| d + 1);
                    queue.push(next);
                }
            }
        }
    }
}

impl Family for Maze {
    fn universe(&self) -> &Arc<Universe> {
        &self.universe
    }

    fn title(&self) -> String {
        let show = |cell: usize| {
            let (x, y) = self.place(cell);
            format!("(x{x}, y{y})")
        };
        let obstacles: Vec<String> =
            self.blocked.iter().enumerate().filter(|(_, b)| **b).map(|(cell, _)| show(cell)).collect();
        let obstacles = if obstacles.is_empty() {
            "no obstacles".to_string()
        } else {
            format!("obstacles {}", obstacles.join(" "))
        };
        format!("{0}x{0} cells, target {1}, {2}", self.n, show(self.target), obstacles)
    }

    fn label(&self, state: u128) -> Option<String> {
        let (x, y) = self.place(state as usize);
        Some(format!("{x} {y}"))
    }

    /// As in the tasks, the target can be reached within the horizon of 4 × size.
    fn starts(&self, visit: &mut dyn FnMut(u128, u128)) {
        let most = 4 * self.n as u32;
        for (cell, &distance) in self.distance.iter().enumerate() {
            if cell != self.target && distance.is_some_and(|d| d <= most) {
                visit(cell as u128, 1);
            }
        }
    }

    fn is_closed(&self) -> bool {
        false
    }

    fn facts(&self, state: u128, facts: &mut Facts) {
        let cell = |cell: usize| {
            let (x, y) = self.place(cell);
            [Object(x as u32), Object((self.n + y) as u32)]
        };
        let agent = state as usize;
        self.binding.say(facts, CURR, &cell(agent));
        let ((ax, ay), (tx, ty)) = (self.place(agent), self.place(self.target));
        for (i, (sx, sy)) in SIGNS.into_iter().enumerate() {
            if (sx == 0 || sx == (tx - ax).signum()) && (sy == 0 || sy == (ty - ay).signum()) {
                self.binding.say(facts, COMPASS + i, &[]);
            }
        }
        self.binding.say(facts, TARGET, &cell(self.target));
        for (i, _) in self.blocked.iter().enumerate().filter(|(_, b)| **b) {
            self.binding.say(facts, OBS, &cell(i));
        }
        let n = self.n as u32;
        for i in (0..2 * n).filter(|i| i % n != n - 1) {
            self.binding.say(facts, SUCC, &[Object(i), Object(i + 1)]);
        }
    }

    fn step(&self, state: u128, action: Action, _args: &[Object]) -> Next {
        let next = self.moved(state as usize, self.binding.action(action));
        if next == self.target { Next::Reached } else { Next::State(next as u128) }
    }

    fn shortest(&self, state: u128) -> Option<u32> {
        self.distance[state as usize]
    }

    fn scene(&self, state: u128) -> Scene {
        // Pictures count rows from the top, the world counts y from the bottom.
        let square = |cell: usize| {
            let (x, y) = self.place(cell);
            (x as u32, (self.n - 1 - y) as u32)
        };
        let name = |i: i32| self.universe.name(Object(i as u32)).to_string();
        let thing = |kind, cell| Thing { kind, name: None, at: square(cell), colour: None, state: None };
        let obstacles = (0..self.blocked.len()).filter(|&cell| self.blocked[cell]);
        Scene::Grid(Grid {
            rows: vec![".".repeat(self.n as usize); self.n as usize],
            columns: (0..self.n).map(name).collect(),
            lines: (self.n..2 * self.n).rev().map(name).collect(),
            things: obstacles
                .map(|cell| thing("obstacle", cell))
                .chain([thing("goal", self.target)])
                .collect(),
            agent: Walker { at: square(state as usize), facing: None, holds: None },
            trail: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_counted_and_listed() {
        let mut row = vec![1u64];
        for n in 0..=60 {
            for (k, &expected) in row.iter().enumerate() {
                assert_eq!(choose(n, k), expected, "{n} over {k}");
            }
            assert_eq!(choose(n, n + 1), 0);
            let sums = row.windows(2).map(|w| w[0] + w[1]);
            row = std::iter::once(1).chain(sums).chain([1]).collect();
        }
        assert_eq!(choose(10_000, 5_000), u64::MAX);
        assert_eq!(choose(10_000, 9_999), 10_000);
        let sets: Vec<Vec<usize>> = (0..choose(7, 5)).map(|i| nth_set(7, 5, i)).collect();
        assert!(sets.windows(2).all(|w| w[0] < w[1]), "each set once, in order");
        assert!(sets.iter().all(|s| s.len() == 5 && s.iter().all(|&c| c < 7) && s.is_sorted()));
    }
}
