//! The relaxed F: how likely a sampled body is to hold.
//!
//! Under the mask of a substitution phi, a body sampled from P holds iff it contains no atom that is false under
//! phi, and abstains iff it is empty:
//!
//! F(phi) = prod_{j false under phi} (1 - P_j) - prod_j (1 - P_j),   F = max_phi F(phi)

use crate::language::body::Body;

/// Atoms whose sums are looked up together.
const ATOMS: usize = 6;
/// The sums over them.
const SUMS: usize = 1 << ATOMS;
/// How many tables of sums the atoms of a 64-bit word may have: few numbers, so that the loop over them is unrolled.
const TABLES: [usize; 4] = [4, 5, 7, 11];
/// How many slots may be looked at together, one to a lane of a vector register.
const LANES: [usize; 2] = [4, 8];

/// log(1 - P_j) of all slots of one kind of a learner, with what makes sums over masks fast.
#[derive(Debug, Default)]
pub struct Relaxation {
    /// For each slot, prod_j (1 - P_j).
    empty: Vec<f64>,
    /// By group of slots, by word, by table, by which atoms of the table, by slot: the sum of log(1 - P_j) over the atoms.
    sums: Vec<f32>,
    /// The slots of a group.
    lanes: usize,
    /// The tables of a word.
    tables: usize,
    words: usize,
}

impl Relaxation {
    /// Takes the probabilities of the slots, which are over the same atoms, for masks of `words` words.
    pub fn prepare<'a>(&mut self, slots: impl ExactSizeIterator<Item = &'a [f64]>, words: usize) {
        self.empty.clear();
        self.lanes = least(&LANES, slots.len());
        self.words = words;
        let groups = slots.len().div_ceil(self.lanes);
        for (slot, p) in slots.enumerate() {
            if slot == 0 {
                self.tables = least(&TABLES, if words > 1 { 64 } else { p.len() }.div_ceil(ATOMS));
                self.sums.clear();
                self.sums.resize(groups * self.group(), 0.0);
            }
            let at = slot / self.lanes * self.group() + slot % self.lanes;
            let mut all = 0.0;
            for (word, atoms) in p.chunks(64).enumerate() {
                for (table, atoms) in atoms.chunks(ATOMS).enumerate() {
                    let from = at + (word * self.tables + table) * SUMS * self.lanes;
                    let table = &mut self.sums[from..];
                    for bit in 0..ATOMS {
                        // Places beyond the last atom count as atoms that are never there.
                        let log = atoms.get(bit).map_or(0.0, |p| (1.0 - p).max(1e-12).ln());
                        all += log;
                        for without in 0..1usize << bit {
                            let sum = table[without * self.lanes] + log as f32;
                            table[(without | 1 << bit) * self.lanes] = sum;
                        }
                    }
                }
            }
            self.empty.push(all.exp());
        }
    }

    /// The length of the sums of a group of slots.
    fn group(&self) -> usize {
        self.words * self.tables * SUMS * self.lanes
    }

    /// For each slot, F of a ground action whose masks are given end to end, and the mask that gives it: 0 and none
    /// without masks.
    #[inline]
    pub fn best<'a>(&self, masks: &'a [u64], best: &mut Vec<(f64, &'a [u64])>) {
        best.clear();
        match (self.lanes, self.tables) {
            (4, 4) => self.best_of::<4, 4>(masks, best),
            (4, 5) => self.best_of::<4, 5>(masks, best),
            (4, 7) => self.best_of::<4, 7>(masks, best),
            (4, _) => self.best_of::<4, 11>(masks, best),
            (_, 4) => self.best_of::<8, 4>(masks, best),
            (_, 5) => self.best_of::<8, 5>(masks, best),
            (_, 7) => self.best_of::<8, 7>(masks, best),
            _ => self.best_of::<8, 11>(masks, best),
        }
    }

    #[inline]
    fn best_of<'a, const L: usize, const T: usize>(
        &self,
        masks: &'a [u64],
        best: &mut Vec<(f64, &'a [u64])>,
    ) {
        let tables = self.sums.as_chunks::<L>().0.as_chunks::<SUMS>().0.as_chunks::<T>().0;
        for (empty, tables) in self.empty.chunks(L).zip(tables.chunks_exact(self.words)) {
            let nearest = nearest(tables, masks);
            best.extend(empty.iter().zip(nearest).map(|(empty, (log, at))| match masks {
                [] => (0.0, masks),
                _ => (f64::from(log.exp()) - empty, &masks[at as usize..at as usize + self.words]),
            }));
        }
    }

    /// prod_j (1 - P_j) of a slot.
    #[inline]
    pub fn empty(&self, slot: usize) -> f64 {
        self.empty[slot]
    }
}

/// The first of these that is not less than `n`, or the last.
fn least(of: &[usize], n: usize) -> usize {
    of.iter().copied().find(|&least| least >= n).unwrap_or(of[of.len() - 1])
}

/// For each slot of a group, the highest sum of log(1 - P_j) over the atoms outside a mask, and where the first mask with
/// it starts. The tables are given by word.
#[inline]
fn nearest<const L: usize, const T: usize>(
    tables: &[[[[f32; L]; SUMS]; T]],
    masks: &[u64],
) -> [(f32, u32); L] {
    let mut highest = [f32::NEG_INFINITY; L];
    let mut nearest = [0; L];
    for (at, mask) in masks.chunks_exact(tables.len()).enumerate() {
        let mut sum = [0.0; L];
        for (tables, &word) in tables.iter().zip(mask) {
            for (i, table) in tables.iter().enumerate() {
                let outside = (!word >> (i * ATOMS)) as usize % SUMS;
                sum.iter_mut().zip(&table[outside]).for_each(|(sum, log)| *sum += log);
            }
        }
        for lane in 0..L {
            let higher = sum[lane] > highest[lane];
            highest[lane] = if higher { sum[lane] } else { highest[lane] };
            nearest[lane] = if higher { at as u32 } else { nearest[lane] };
        }
    }
    std::array::from_fn(|lane| (highest[lane], nearest[lane] * tables.len() as u32))
}

/// dJ/dx of one slot, summed over many masks, with x_j = logit(P_j).
///
/// dF/dx_j is -P_j F for the atoms outside the best mask and P_j prod(1 - P) for those inside. The sum over all masks of
/// what atoms outside get is kept once; what an atom inside gets instead is kept by atom.
#[derive(Debug, Default)]
pub struct RelaxedGradient {
    outside: f64,
    instead: Vec<f64>,
}

impl RelaxedGradient {
    /// Nothing summed yet, for this many atoms.
    pub fn clear(&mut self, atoms: usize) {
        self.outside = 0.0;
        self.instead.clear();
        self.instead.resize(atoms, 0.0);
    }

    /// Adds `scale` dF/dx, given prod_j (1 - P_j), F and the best mask.
    #[inline]
    pub fn add(&mut self, empty: f64, f: f64, mask: &[u64], scale: f64) {
        let outside = -scale * f;
        self.outside += outside;
        let instead = scale * empty - outside;
        for j in Body(mask).atoms() {
            self.instead[j] += instead;
        }
    }

    /// Adds what was summed to `out`.
    pub fn finish(&self, p: &[f64], out: &mut [f64]) {
        for ((out, p), instead) in out.iter_mut().zip(p).zip(&self.instead) {
            *out += p * (self.outside + instead);
        }
    }
}

/// F of a ground action by its definition.
#[cfg(test)]
pub fn by_definition(p: &[f64], masks: &[u64], words: usize) -> f64 {
    let none: f64 = p.iter().map(|p| 1.0 - p).product();
    let outside = |mask: &[u64]| -> f64 {
        let outside = (0..p.len()).filter(|&j| !Body(mask).contains(j));
        outside.map(|j| 1.0 - p[j]).product()
    };
    masks.chunks_exact(words).map(|mask| outside(mask) - none).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use derrl_env::Rng;

    use super::*;

    #[test]
    fn the_best_of_many_masks_is_found_for_any_number_of_atoms_and_slots() {
        let mut rng = Rng::new(1, 0);
        for atoms in (1..=66usize).chain([127, 128, 129, 200]) {
            for slots in [1, 2, 4, 5, 8, 9] {
                let words = atoms.div_ceil(64);
                let p: Vec<Vec<f64>> = (0..slots)
                    .map(|_| {
                        (0..atoms).map(|_| rng.unit() * 4.0 / atoms as f64).map(|p| p.min(0.9)).collect()
                    })
                    .collect();
                let keep = |j: usize| if j < atoms { u64::MAX } else { 0 };
                let masks: Vec<u64> = (0..20 * words)
                    .map(|i| {
                        let within =
                            (0..64).fold(0u64, |all, bit| all | (1 << bit & keep(i % words * 64 + bit)));
                        (rng.bits() | rng.bits()) & within
                    })
                    .collect();
                let mut relaxation = Relaxation::default();
                relaxation.prepare(p.iter().map(Vec::as_slice), words);
                let mut best = Vec::new();
                relaxation.best(&masks, &mut best);
                assert_eq!(best.len(), slots);
                for ((f, mask), p) in best.into_iter().zip(&p) {
                    let expected = by_definition(p, &masks, words);
                    assert!((f - expected).abs() < 1e-5, "{atoms} atoms: {f}, by definition {expected}");
                    assert!(
                        (f - by_definition(p, mask, words)).abs() < 1e-5,
                        "{atoms} atoms: the mask gives it"
                    );
                }
            }
        }
    }
}
