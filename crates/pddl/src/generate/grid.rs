//! Problems on grids.

use std::collections::VecDeque;

use derrl_env::Rng;

use super::{Numbers, Text, numbered, some};

/// The steps to the four sides, with their names. Rows count upwards.
const SIDES: [(isize, isize, &str); 4] = [(1, 0, "up"), (-1, 0, "down"), (0, 1, "right"), (0, -1, "left")];

/// Cells of a grid, some of which are walls.
struct Grid {
    rows: usize,
    columns: usize,
    free: Vec<bool>,
}

impl Grid {
    fn new(rows: usize, columns: usize) -> Grid {
        Grid { rows, columns, free: vec![true; rows * columns] }
    }

    /// Makes about this share of the cells walls, and everything that is cut off from the largest part.
    fn wall(&mut self, share: f64, rng: &mut Rng) {
        for cell in &mut self.free {
            *cell = rng.unit() >= share;
        }
        let mut largest: Vec<bool> = vec![false; self.free.len()];
        let mut seen = largest.clone();
        for cell in 0..self.free.len() {
            if self.free[cell] && !seen[cell] {
                let part = self.reached(cell, &|_| false);
                seen.iter_mut().zip(&part).for_each(|(s, p)| *s |= p);
                if part.iter().filter(|p| **p).count() > largest.iter().filter(|p| **p).count() {
                    largest = part;
                }
            }
        }
        self.free = largest;
    }

    /// The free cell beside a cell on a side.
    fn beside(&self, cell: usize, side: usize) -> Option<usize> {
        let (up, right, _) = SIDES[side];
        let row = (cell / self.columns).checked_add_signed(up).filter(|r| *r < self.rows)?;
        let column = (cell % self.columns).checked_add_signed(right).filter(|c| *c < self.columns)?;
        Some(row * self.columns + column).filter(|&c| self.free[c])
    }

    /// Which cells can be walked to, where some are taken.
    fn reached(&self, from: usize, taken: &dyn Fn(usize) -> bool) -> Vec<bool> {
        let mut reached = vec![false; self.free.len()];
        reached[from] = true;
        let mut queue = VecDeque::from([from]);
        while let Some(cell) = queue.pop_front() {
            for next in (0..SIDES.len()).filter_map(|side| self.beside(cell, side)) {
                if !reached[next] && !taken(next) {
                    reached[next] = true;
                    queue.push_back(next);
                }
            }
        }
        reached
    }

    fn cells(&self) -> Vec<usize> {
        (0..self.free.len()).filter(|&c| self.free[c]).collect()
    }

    /// `l3-4`: row and column from 1.
    fn name(&self, cell: usize) -> String {
        format!("l{}-{}", cell / self.columns + 1, cell % self.columns + 1)
    }

    fn names(&self, cells: &[usize]) -> Vec<String> {
        cells.iter().map(|&c| self.name(c)).collect()
    }
}

pub(super) fn usual_floortile(rows: usize, rng: &mut Rng) -> Numbers {
    let columns = (1 + rng.below(2) + 4 * rows / 5).max(2);
    [rows, columns, 1 + rng.below(columns - 1), 0, 0]
}

/// All rows but the lowest are painted like a chess board. Each robot has a column of its own at first, so that they can make way.
pub(super) fn floortile([rows, columns, robots, ..]: Numbers, rng: &mut Rng) -> Text {
    let (rows, columns) = (rows.max(1), columns.max(2));
    let robots = robots.clamp(1, columns);
    let grid = Grid::new(rows + 1, columns);
    let (colors, phase) = (["white", "black"], rng.below(2));
    let (mut init, mut goal) = (Vec::new(), Vec::new());
    for color in colors {
        init.push(format!("available-color {color}"));
    }
    let places: Vec<usize> =
        some(robots, columns, rng).into_iter().map(|column| columns * rng.below(rows + 1) + column).collect();
    for (r, &place) in places.iter().enumerate() {
        init.push(format!("robot-at robot{} {}", r + 1, grid.name(place)));
        init.push(format!("robot-has robot{} {}", r + 1, colors[rng.below(2)]));
    }
    for cell in 0..grid.free.len() {
        let name = grid.name(cell);
        if !places.contains(&cell) {
            init.push(format!("clear {name}"));
        }
        for (side, (_, _, word)) in SIDES.into_iter().enumerate() {
            if let Some(next) = grid.beside(cell, side) {
                init.push(format!("{word} {} {name}", grid.name(next)));
            }
        }
        if cell >= columns {
            goal.push(format!("painted {name} {}", colors[(cell / columns + cell % columns + phase) % 2]));
        }
    }
    let colors = colors.map(String::from).to_vec();
    let objects =
        vec![("robot", numbered("robot", robots)), ("tile", grid.names(&grid.cells())), ("color", colors)];
    Text { objects, init, goal }
}

pub(super) fn usual_visitall(side: usize, _: &mut Rng) -> Numbers {
    [side, side, 0, 0, 0]
}

pub(super) fn visitall([rows, columns, ..]: Numbers, rng: &mut Rng) -> Text {
    let mut grid = Grid::new(rows.max(2), columns.max(2));
    if rows.min(columns) > 2 {
        grid.wall(0.15 * rng.unit(), rng);
    }
    let cells = grid.cells();
    let start = cells[rng.below(cells.len())];
    let mut init = vec![format!("at-robot {}", grid.name(start)), format!("visited {}", grid.name(start))];
    for &cell in &cells {
        for next in (0..SIDES.len()).filter_map(|side| grid.beside(cell, side)) {
            init.push(format!("connected {} {}", grid.name(cell), grid.name(next)));
        }
    }
    let share = 0.5 + 0.5 * rng.unit();
    let others: Vec<usize> = cells.iter().copied().filter(|&c| c != start).collect();
    let wanted = some(((others.len() as f64 * share) as usize).max(1), others.len(), rng);
    let goal = wanted.iter().map(|&i| format!("visited {}", grid.name(others[i]))).collect();
    Text { objects: vec![("place", grid.names(&cells))], init, goal }
}

pub(super) fn usual_sokoban(boxes: usize, _: &mut Rng) -> Numbers {
    [boxes, 5 + 6 * boxes / 5, 0, 0, 0]
}

/// Boxes are pulled from where they belong, so that they can be pushed back.
pub(super) fn sokoban([boxes, side, ..]: Numbers, rng: &mut Rng) -> Text {
    // One cell in four at the most has a box: there is room to pull.
    let boxes = boxes.max(1);
    let side = side.max(4).max((4 * boxes).isqrt() + 1);
    let (grid, goals, places, robot) = loop {
        let mut grid = Grid::new(side, side);
        grid.wall(0.1, rng);
        let cells = grid.cells();
        if cells.len() <= boxes {
            continue;
        }
        let goals: Vec<usize> = some(boxes, cells.len(), rng).iter().map(|&i| cells[i]).collect();
        let mut places = goals.clone();
        let free: Vec<usize> = cells.iter().copied().filter(|c| !places.contains(c)).collect();
        let mut robot = free[rng.below(free.len())];
        for _ in 0..4 * boxes {
            robot = pull(&grid, &mut places, robot, side, rng);
        }
        if places != goals {
            break (grid, goals, places, robot);
        }
    };
    let cells = grid.cells();
    let mut init = vec![format!("at-robot {}", grid.name(robot))];
    for (b, &place) in places.iter().enumerate() {
        init.push(format!("at box{} {}", b + 1, grid.name(place)));
    }
    for &cell in &cells {
        let name = grid.name(cell);
        if !places.contains(&cell) {
            init.push(format!("clear {name}"));
        }
        for (side, (_, _, word)) in SIDES.into_iter().enumerate() {
            if let Some(next) = grid.beside(cell, side) {
                init.push(format!("adjacent {name} {} {word}", grid.name(next)));
            }
        }
    }
    let goal = goals.iter().enumerate().map(|(b, &g)| format!("at box{} {}", b + 1, grid.name(g))).collect();
    let sides = SIDES.map(|(_, _, word)| word.to_string()).to_vec();
    let objects =
        vec![("location", grid.names(&cells)), ("direction", sides), ("box", numbered("box", boxes))];
    Text { objects, init, goal }
}

/// Walks to a box and pulls it, up to so many cells; where the robot then stands.
fn pull(grid: &Grid, places: &mut [usize], robot: usize, most: usize, rng: &mut Rng) -> usize {
    let reached = grid.reached(robot, &|cell| places.contains(&cell));
    let (b, side) = (rng.below(places.len()), rng.below(SIDES.len()));
    let Some(mut at) = grid.beside(places[b], side).filter(|&cell| reached[cell]) else { return robot };
    for _ in 0..=rng.below(most) {
        match grid.beside(at, side).filter(|cell| !places.contains(cell)) {
            Some(next) => (places[b], at) = (at, next),
            None => break,
        }
    }
    at
}
