//! The relaxed F: how likely a sampled body is to hold.
//!
//! Under the mask of a substitution phi, a body sampled from P holds iff it contains no atom that is false under
//! phi, and abstains iff it is empty:
//!
//! F(phi) = prod_{j false under phi} (1 - P_j) - prod_j (1 - P_j),   F = max_phi F(phi)

use std::ops::Range;

use crate::rollout::{Rules, bits};

/// log(1 - P_j) of one slot, with what makes sums over masks fast.
#[derive(Debug, Default)]
pub struct Relaxation {
    /// `sums[i * 16 + v]`: the sum of log(1 - P_j) over the set bits of v, the four atoms at place i.
    sums: Vec<f64>,
    /// prod_j (1 - P_j).
    pub empty: f64,
}

impl Relaxation {
    /// Takes the probabilities of a slot.
    pub fn prepare(&mut self, p: &[f64]) {
        self.sums.clear();
        self.sums.resize(p.len().div_ceil(4) * 16, 0.0);
        let mut all = 0.0;
        for (table, four) in self.sums.chunks_exact_mut(16).zip(p.chunks(4)) {
            for (bit, &p) in four.iter().enumerate() {
                let l = (1.0 - p).max(1e-12).ln();
                all += l;
                for v in 0..1usize << bit {
                    table[v | 1 << bit] = table[v] + l;
                }
            }
        }
        self.empty = all.exp();
    }

    /// log prod_{j not in mask} (1 - P_j), or some number that is not above `least` either.
    ///
    /// Every atom outside the mask makes it smaller, so most masks need no look at all of their atoms.
    #[inline]
    fn log_within(&self, mask: &[u64], least: f64) -> f64 {
        let mut log = 0.0;
        for (tables, &word) in self.sums.chunks(16 * 16).zip(mask) {
            let mut outside = !word;
            for table in tables.as_chunks::<16>().0 {
                log += table[(outside & 15) as usize];
                if log <= least {
                    return log;
                }
                outside >>= 4;
            }
        }
        log
    }

    /// F of a ground action whose masks are given end to end, and the mask that gives it (0 and none without masks).
    #[inline]
    pub fn best<'a>(&self, masks: &'a [u64], words: usize) -> (f64, &'a [u64]) {
        let mut best: (f64, &[u64]) = (f64::NEG_INFINITY, &[]);
        for mask in masks.chunks_exact(words) {
            let log = self.log_within(mask, best.0);
            if log > best.0 {
                best = (log, mask);
            }
        }
        if best.1.is_empty() { (0.0, best.1) } else { (best.0.exp() - self.empty, best.1) }
    }
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
    /// Nothing summed yet, for so many atoms.
    pub fn clear(&mut self, atoms: usize) {
        self.outside = 0.0;
        self.instead.clear();
        self.instead.resize(atoms, 0.0);
    }

    /// Adds `scale` dF/dx, given F and the best mask.
    #[inline]
    pub fn add(&mut self, of: &Relaxation, f: f64, mask: &[u64], scale: f64) {
        let outside = -scale * f;
        self.outside += outside;
        let instead = scale * of.empty - outside;
        for j in bits(mask) {
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

/// The slot with the highest confidence times F for a ground action, and that value.
#[inline]
pub fn best_slot(slots: Range<usize>, rules: &Rules, masks: &[u64], words: usize) -> (usize, f64) {
    let mut best = (slots.start, f64::NEG_INFINITY);
    for k in slots {
        let f = rules.distributions[k].confidence * rules.relaxations[k].best(masks, words).0;
        if f > best.1 {
            best = (k, f);
        }
    }
    best
}
