//! What symbols are, for people: examples, average images, and what they are taken for what they truly are.

use std::fmt::Write as _;

use derrl_env::{PATCH, Pixels, Rng, Sight};
use serde::Serialize;

use super::sight::Perception;

/// Examples that are kept per symbol.
const EXAMPLES: usize = 8;

/// What was seen in the first frames of some instances.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gallery {
    /// What there truly is.
    pub kinds: Vec<String>,
    /// By what truly is in a cell, by symbol: how many cells.
    pub confusion: Vec<Vec<u64>>,
    /// By symbol: the mean image, two hexadecimal digits per colour of a pixel.
    pub means: Vec<String>,
    /// By symbol: some images.
    pub examples: Vec<Vec<String>>,
}

impl Gallery {
    /// Looks at the first frames of so many instances.
    pub fn of(
        perception: &Perception,
        env: &mut dyn Pixels,
        kinds: &[&str],
        instances: usize,
        rng: &mut Rng,
    ) -> Gallery {
        let n = perception.count();
        let mut confusion = vec![vec![0u64; n]; kinds.len()];
        let mut sums = vec![vec![0.0f32; PATCH]; n];
        let mut examples = vec![Vec::new(); n];
        let (mut frame, mut symbols, mut truth) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..instances {
            env.reset(rng);
            env.frame(&mut frame);
            env.truth(&mut truth);
            perception.symbols(&frame, &mut symbols);
            for ((patch, &symbol), &kind) in frame.chunks_exact(PATCH).zip(&symbols).zip(&truth) {
                let symbol = usize::from(symbol);
                confusion[usize::from(kind)][symbol] += 1;
                sums[symbol].iter_mut().zip(patch).for_each(|(sum, x)| *sum += x);
                if examples[symbol].len() < EXAMPLES {
                    examples[symbol].push(hex(patch, 1.0));
                }
            }
        }
        let cells = |symbol: usize| confusion.iter().map(|row| row[symbol]).sum::<u64>().max(1);
        let means = sums.iter().enumerate().map(|(s, sum)| hex(sum, 1.0 / cells(s) as f32)).collect();
        Gallery { kinds: kinds.iter().map(ToString::to_string).collect(), confusion, means, examples }
    }

    /// The share of cells whose symbol is the one that most cells of their kind have.
    pub fn right(&self) -> f64 {
        let most: u64 = self.confusion.iter().filter_map(|row| row.iter().max()).sum();
        most as f64 / self.confusion.iter().flatten().sum::<u64>().max(1) as f64
    }
}

fn hex(patch: &[f32], scale: f32) -> String {
    let mut text = String::with_capacity(2 * patch.len());
    for x in patch {
        // Writing to a string cannot fail.
        let _ = write!(text, "{:02x}", (x * scale * 255.0).clamp(0.0, 255.0) as u8);
    }
    text
}
