//! The two laws by which symbols are learned, with their gradients.

use derrl_env::{PATCH, Rng};

use super::frames::Seen;
use super::network::{Hidden, Network};

/// exp(x) / sum exp(x), in place.
pub fn softmax(x: &mut [f32]) {
    let highest = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    for x in x.iter_mut() {
        *x = (*x - highest).exp();
    }
    let total: f32 = x.iter().sum();
    for x in x.iter_mut() {
        *x /= total;
    }
}

/// The place of the first of the highest of some numbers.
pub fn highest_by(x: impl Iterator<Item = f32>) -> Option<usize> {
    let mut best: Option<(usize, f32)> = None;
    for (i, x) in x.enumerate() {
        if best.is_none_or(|(_, highest)| x > highest) {
            best = Some((i, x));
        }
    }
    best.map(|(i, _)| i)
}

/// The same; 0 where there are none.
pub fn highest(x: &[f32]) -> usize {
    highest_by(x.iter().copied()).unwrap_or(0)
}

/// The outputs for all cells of a frame, with what their gradient takes.
struct Looked<'a> {
    frame: &'a [f32],
    outputs: Vec<f32>,
    hidden: Vec<Hidden>,
    /// The likelihood that oneself is in each cell: softmax of the first outputs.
    oneself: Vec<f32>,
}

impl<'a> Looked<'a> {
    fn at(network: &Network, frame: &'a [f32]) -> Looked<'a> {
        let mut outputs = Vec::with_capacity(frame.len() / PATCH * network.outputs());
        let hidden = frame.chunks_exact(PATCH).map(|patch| network.forward(patch, &mut outputs)).collect();
        let mut oneself: Vec<f32> = outputs.iter().step_by(network.outputs()).copied().collect();
        softmax(&mut oneself);
        Looked { frame, outputs, hidden, oneself }
    }

    /// The outputs but the first of a cell.
    fn others(&self, network: &Network, cell: usize) -> &[f32] {
        let n = network.outputs();
        &self.outputs[cell * n + 1..(cell + 1) * n]
    }

    fn backward(&self, network: &Network, d_outputs: &[f32], gradient: &mut [f32]) {
        let cells =
            self.frame.chunks_exact(PATCH).zip(&self.hidden).zip(d_outputs.chunks_exact(network.outputs()));
        for ((patch, hidden), d) in cells {
            if d.iter().any(|d| *d != 0.0) {
                network.backward(patch, hidden, d, gradient);
            }
        }
    }
}

/// Adds the gradient of -log p to `gradient`, p being the probability of what was seen under both laws. `brings` is the number of
/// the outcome, where it is to be learned.
pub fn learn(network: &Network, seen: &Seen, brings: Option<usize>, rng: &mut Rng, gradient: &mut [f32]) {
    let n = network.outputs();
    let before = Looked::at(network, &seen.before);
    let mut d_before = vec![0.0; before.outputs.len()];
    if !seen.brought.ends {
        let after = Looked::at(network, &seen.after);
        let mut d_after = vec![0.0; after.outputs.len()];
        // p = sum_c q(c) q'(onward(c))
        let together: Vec<f32> =
            before.oneself.iter().zip(&seen.onward).map(|(q, &to)| q * after.oneself[to]).collect();
        let p = together.iter().sum::<f32>().max(1e-12);
        for (c, both) in together.iter().enumerate() {
            // d(-log p)/dz(c) = q(c) - q(c) q'(onward(c)) / p, and the same for z' at onward(c)
            d_before[c * n] += before.oneself[c] - both / p;
            d_after[seen.onward[c] * n] -= both / p;
            d_after[c * n] += after.oneself[c];
        }
        after.backward(network, &d_after, gradient);
    }
    let from = highest(&before.oneself);
    let to = seen.onward[from];
    before.backward(network, &d_before, gradient);
    if let Some(brings) = brings.filter(|_| to != from) {
        // -log softmax(z(to)) of what was brought. Where oneself is is taken for certain (straight-through).
        let patch = jittered(&seen.before[to * PATCH..(to + 1) * PATCH], rng);
        let mut d = Vec::with_capacity(n);
        let hidden = network.forward(&patch, &mut d);
        d[0] = 0.0;
        softmax(&mut d[1..]);
        d[brings + 1] -= 1.0;
        network.backward(&patch, &hidden, &d, gradient);
    }
}

/// Pixels per side of a cell, and numbers per pixel.
const SIDE: i32 = 8;
const COLOURS: usize = 3;
/// How far a cell is moved at the most, in pixels, and how much brighter or darker it is made, so that few examples stand for more.
const SHIFT: usize = 1;
const BRIGHTNESS: f32 = 0.15;

/// A cell as it could have been seen as well: a little off its place, brighter or darker.
fn jittered(patch: &[f32], rng: &mut Rng) -> Vec<f32> {
    let [dx, dy] = [0, 0].map(|_: i32| rng.below(2 * SHIFT + 1) as i32 - SHIFT as i32);
    let by = BRIGHTNESS * (2.0 * rng.unit() as f32 - 1.0);
    let mut out = Vec::with_capacity(patch.len());
    for y in 0..SIDE {
        for x in 0..SIDE {
            let inside = |at: i32| at.clamp(0, SIDE - 1);
            let from = (inside(y + dy) * SIDE + inside(x + dx)) as usize * COLOURS;
            out.extend(patch[from..from + COLOURS].iter().map(|pixel| pixel + by));
        }
    }
    out
}

/// Whether what was seen agrees with the crisp laws: oneself moved as the action says, and the cell entered brought what its symbol
/// says. `None` where a law says nothing.
pub fn agrees(network: &Network, seen: &Seen, brings: usize) -> (Option<bool>, Option<bool>) {
    let before = Looked::at(network, &seen.before);
    let from = highest(&before.oneself);
    let to = seen.onward[from];
    let moved = || highest(&Looked::at(network, &seen.after).oneself) == to;
    let foretold = || highest(before.others(network, to)) == brings;
    ((!seen.brought.ends).then(moved), (to != from).then(foretold))
}
