//! Drawing the bodies of rules.

use derrl_env::Rng;

/// One atom by the Gumbel-max trick: argmax(log P + u_0, log(1 - P) + u_1), u ~ Gumbel(0, 1).
///
/// It is in the body with probability P exactly, which is what [`Sampler`] draws for all atoms at once.
pub fn gumbel_max(p: f64, rng: &mut Rng) -> bool {
    let mut gumbel = || -(-(rng.unit() + f64::MIN_POSITIVE).ln()).ln();
    p.ln() + gumbel() > (1.0 - p).ln() + gumbel()
}

/// Draws the bodies of several slots at once: the same distribution as [`gumbel_max`] on every atom, at a cost that
/// grows with the number of atoms that come out against the odds, not with the number of atoms.
///
/// Atom j is *against the odds* with probability q_j = min(P_j, 1 - P_j). Let N ~ Poisson(Lambda) points fall on the atoms,
/// each on atom j with probability lambda_j / Lambda, where lambda_j = -log(1 - q_j) and Lambda is their sum. Then the
/// atoms are hit independently of each other, and each with probability 1 - e^-lambda_j = q_j.
#[derive(Clone, Debug, Default)]
pub struct Sampler {
    /// The atoms with P >= 1/2, bodies end to end.
    likely: Vec<u64>,
    /// Where a point falls: an alias table (Walker, 1977), whose length is a power of 2.
    cells: Vec<Cell>,
    /// How many points fall.
    points: Poisson,
    /// Cells with less than their share, and with more, while the table is built.
    less: Vec<u32>,
    more: Vec<u32>,
    shares: Vec<f64>,
}

/// A cell of the alias table: an atom, and one that has the rest of the cell.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    /// The atom's share of the cell, of 2^32.
    share: u32,
    /// The atom's place in the bodies.
    own: u32,
    /// That of the other atom.
    other: u32,
}

impl Sampler {
    /// Prepares to sample a body for each of these lists of probabilities, each of `words` words. Where a point falls is exact to
    /// within the number of atoms times 2^-32, as the bits that choose a cell also help to choose within it.
    pub fn prepare<'a>(&mut self, bodies: impl IntoIterator<Item = &'a [f64]>, words: usize) {
        self.likely.clear();
        self.cells.clear();
        self.shares.clear();
        for body in bodies {
            let from = self.likely.len();
            self.likely.resize(from + words, 0);
            for (j, &p) in body.iter().enumerate() {
                let likely = p >= 0.5;
                self.likely[from + j / 64] |= u64::from(likely) << (j % 64);
                let place = (from * 64 + j) as u32;
                self.cells.push(Cell { share: u32::MAX, own: place, other: place });
                self.shares.push(-(if likely { p } else { 1.0 - p }).ln());
            }
        }
        let rate: f64 = self.shares.iter().sum();
        self.points.prepare(rate);
        let length = self.cells.len().next_power_of_two();
        self.cells.resize(length, Cell::default());
        self.shares.resize(length, 0.0);
        self.share_cells(if rate > 0.0 { length as f64 / rate } else { 0.0 });
    }

    /// Gives the rest of cells with less than their share to atoms with more (Vose, 1991).
    fn share_cells(&mut self, scale: f64) {
        self.less.clear();
        self.more.clear();
        for (i, share) in (0..).zip(&mut self.shares) {
            *share *= scale;
            if *share < 1.0 { self.less.push(i) } else { self.more.push(i) }
        }
        while let (Some(less), Some(&more)) = (self.less.pop(), self.more.last()) {
            let (less, more) = (less as usize, more as usize);
            self.cells[less].share = (self.shares[less] * 2f64.powi(32)) as u32;
            self.cells[less].other = self.cells[more].own;
            self.shares[more] -= 1.0 - self.shares[less];
            if self.shares[more] < 1.0 {
                self.more.pop();
                self.less.push(more as u32);
            }
        }
    }

    /// Draws all bodies, end to end. They are given empty.
    #[inline]
    pub fn draw(&self, rng: &mut Rng, bodies: &mut [u64]) {
        let mut random = rng.stream();
        let mut pair = 0;
        for point in 0..self.points.draw(random.bits()) {
            // A random word is enough for two points: of each half the lowest bits say which cell, and all say which part.
            pair = if point % 2 == 0 { random.bits() } else { pair >> 32 };
            let cell = &self.cells[pair as usize & (self.cells.len() - 1)];
            let place = if (pair as u32) < cell.share { cell.own } else { cell.other };
            bodies[place as usize / 64] |= 1 << (place % 64);
        }
        bodies.iter_mut().zip(&self.likely).for_each(|(body, likely)| *body ^= likely);
    }
}

/// The Poisson distribution, drawn from by looking a random number up among its sums.
#[derive(Clone, Debug)]
struct Poisson {
    /// The least number with a probability worth mentioning.
    least: usize,
    /// Probabilities from that number on, relative to that of the mode.
    weights: Vec<f64>,
    /// Pr[N <= n], of 2^64, from that number on.
    up_to: Vec<u64>,
    /// By the first bits of a random number, where to start looking.
    guide: [u32; 1 << GUIDE],
}

/// The bits that say where to start looking.
const GUIDE: u32 = 6;
/// A probability not worth mentioning, relative to that of the mode.
const NEGLIGIBLE: f64 = 1e-20;

impl Default for Poisson {
    fn default() -> Poisson {
        Poisson { least: 0, weights: Vec::new(), up_to: Vec::new(), guide: [0; 1 << GUIDE] }
    }
}

impl Poisson {
    fn prepare(&mut self, rate: f64) {
        let mode = rate as usize;
        self.weights.clear();
        self.least = mode;
        let mut weight = 1.0;
        while weight > NEGLIGIBLE {
            self.weights.push(weight);
            if self.least == 0 {
                break;
            }
            weight *= self.least as f64 / rate;
            self.least -= usize::from(weight > NEGLIGIBLE);
        }
        self.weights.reverse();
        let mut next = mode + 1;
        weight = rate / next as f64;
        while weight > NEGLIGIBLE {
            self.weights.push(weight);
            next += 1;
            weight *= rate / next as f64;
        }
        let scale = 2f64.powi(64) / self.weights.iter().sum::<f64>();
        let mut sum = 0.0;
        self.up_to.clear();
        self.up_to.extend(self.weights.iter().map(|weight| {
            sum += weight;
            (sum * scale) as u64
        }));
        if let Some(last) = self.up_to.last_mut() {
            *last = u64::MAX;
        }
        let mut at = 0;
        for (first, start) in (0u64..).zip(&mut self.guide) {
            while self.up_to[at] < first << (u64::BITS - GUIDE) {
                at += 1;
            }
            *start = at as u32;
        }
    }

    #[inline]
    fn draw(&self, random: u64) -> usize {
        let mut at = self.guide[(random >> (u64::BITS - GUIDE)) as usize] as usize;
        while self.up_to[at] < random {
            at += 1;
        }
        self.least + at
    }
}
