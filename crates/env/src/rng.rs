//! The one source of randomness: a pinned, portable generator, always passed as an argument.

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

/// A seeded stream of random numbers (xoshiro256++), the same on every platform.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// The stream of this seed and purpose. Streams of different pairs are unrelated, so that e.g. evaluation
    /// draws the same instances whatever training has drawn.
    pub fn new(seed: u64, stream: u64) -> Rng {
        // SplitMix64's finaliser spreads nearby pairs before they seed the generator.
        let mut z = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ stream.wrapping_add(1).wrapping_mul(0xd1b5_4a32_d192_ed03);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Rng(Xoshiro256PlusPlus::seed_from_u64(z ^ (z >> 31)))
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A stream of its own for many numbers in a row.
    #[inline]
    pub fn stream(&mut self) -> Stream {
        Stream(SplitMix64::seed_from_u64(self.bits()))
    }

    /// A number below `n`, all equally likely to within 2^-32 (n is small here). `n` is at least 1.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.bits()) * n as u128) >> 64) as usize
    }

    /// A number in [0, 1).
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Shuffles in place (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// A short stream of random numbers (SplitMix64). Each is computed from its place in the stream, not from the one before,
/// so that the processor computes several at once.
#[derive(Clone, Debug)]
pub struct Stream(SplitMix64);

impl Stream {
    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
}
