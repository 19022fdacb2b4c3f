//! The relaxed F: how likely a sampled body is to hold.
//!
//! Under the mask of a substitution phi, a body sampled from P holds iff it contains no atom that is false under
//! phi, and abstains iff it is empty:
//!
//! F(phi) = prod_{j false under phi} (1 - P_j) - prod_j (1 - P_j),   F = max_phi F(phi)

use std::ops::Range;

use crate::rollout::Rules;

/// log(1 - P_j) of one slot, with what makes sums over masks fast.
#[derive(Debug, Default)]
pub struct Relaxation {
    atoms: usize,
    /// `bytes[i * 256 + v]`: the sum of log(1 - P_j) over the set bits of byte v at place i.
    bytes: Vec<f64>,
    /// The sum over all atoms.
    all: f64,
    /// prod_j (1 - P_j).
    pub empty: f64,
}

impl Relaxation {
    /// Takes the probabilities of a slot.
    pub fn prepare(&mut self, p: &[f64]) {
        self.atoms = p.len();
        let places = p.len().div_ceil(8);
        self.bytes.clear();
        self.bytes.resize(places * 256, 0.0);
        self.all = 0.0;
        for place in 0..places {
            let table = &mut self.bytes[place * 256..(place + 1) * 256];
            for (bit, &p) in p[place * 8..].iter().take(8).enumerate() {
                let l = (1.0 - p).max(1e-12).ln();
                self.all += l;
                for v in 0..1usize << bit {
                    table[v | 1 << bit] = table[v] + l;
                }
            }
        }
        self.empty = self.all.exp();
    }

    /// log prod_{j not in mask} (1 - P_j).
    #[inline]
    pub fn log_within(&self, mask: &[u64]) -> f64 {
        let mut inside = 0.0;
        for (place, table) in self.bytes.chunks_exact(256).enumerate() {
            inside += table[(mask[place / 8] >> (place % 8 * 8) & 255) as usize];
        }
        self.all - inside
    }

    /// The place of the best mask among those given end to end, and its log prod; `None` if there are none.
    #[inline]
    pub fn best(&self, masks: &[u64], words: usize) -> Option<(usize, f64)> {
        let mut best: Option<(usize, f64)> = None;
        for (i, mask) in masks.chunks_exact(words).enumerate() {
            let log = self.log_within(mask);
            if best.is_none_or(|(_, b)| log > b) {
                best = Some((i, log));
            }
        }
        best
    }

    /// F of a ground action whose masks are given.
    #[inline]
    pub fn value(&self, masks: &[u64], words: usize) -> f64 {
        self.best(masks, words).map_or(0.0, |(_, log)| log.exp() - self.empty)
    }

    /// Adds `scale` dF/dx_j to `out`, with x_j = logit(P_j), for the masks of a ground action.
    ///
    /// dF/dx_j is -P_j F for the atoms outside the best mask and P_j prod(1 - P) for those inside.
    pub fn gradient(&self, p: &[f64], masks: &[u64], words: usize, scale: f64, out: &mut [f64]) {
        let Some((i, log)) = self.best(masks, words) else { return };
        let mask = &masks[i * words..(i + 1) * words];
        let outside = -scale * (log.exp() - self.empty);
        let inside = scale * self.empty;
        for (j, (o, p)) in out.iter_mut().zip(p).enumerate() {
            let within = mask[j / 64] >> (j % 64) & 1 == 1;
            *o += p * if within { inside } else { outside };
        }
    }
}

/// The slot with the highest confidence times F for a ground action, and that value.
#[inline]
pub fn best_slot(slots: Range<usize>, rules: &Rules, masks: &[u64], words: usize) -> (usize, f64) {
    let mut best = (slots.start, f64::NEG_INFINITY);
    for k in slots {
        let f = rules.distributions[k].confidence * rules.relaxations[k].value(masks, words);
        if f > best.1 {
            best = (k, f);
        }
    }
    best
}
