//! numpy's `default_rng(seed)`, as far as Minigrid draws from it.
//!
//! Minigrid takes every random number from one `numpy.random.Generator`, and its levels for a seed are only as
//! portable as that generator. This is the same stream of numbers, from three parts:
//!
//! - *SeedSequence*: hashes the seed into a pool of four words, and the pool into the 256 bits that seed the generator;
//! - *PCG64* (XSL-RR): a 128-bit linear congruential generator with a permuted 64-bit output;
//! - *Lemire's method*: an unbiased number below a bound from one multiplication, rejecting rarely.

use std::ops::Range;

// The constants of numpy's SeedSequence.
const POOL: usize = 4;
const INIT_A: u32 = 0x43b0_d7e5;
const MULT_A: u32 = 0x931e_8875;
const INIT_B: u32 = 0x8b51_f9dd;
const MULT_B: u32 = 0x58f3_8ded;
const MIX_LEFT: u32 = 0xca01_f9dd;
const MIX_RIGHT: u32 = 0x4973_f715;
/// Half of a word: each hash ends by folding its upper half onto its lower.
const HALF: u32 = 16;

/// The multiplier of the 128-bit PCG generators.
const PCG_MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

/// A multiplicative hash whose constant changes with every word it hashes.
struct Hash {
    constant: u32,
    multiplier: u32,
}

impl Hash {
    fn word(&mut self, value: u32) -> u32 {
        let value = value ^ self.constant;
        self.constant = self.constant.wrapping_mul(self.multiplier);
        let value = value.wrapping_mul(self.constant);
        value ^ (value >> HALF)
    }
}

/// Joins two words of the pool into one.
fn mix(x: u32, y: u32) -> u32 {
    let mixed = MIX_LEFT.wrapping_mul(x).wrapping_sub(MIX_RIGHT.wrapping_mul(y));
    mixed ^ (mixed >> HALF)
}

/// `SeedSequence(seed).generate_state(4, uint64)`.
fn seed_words(seed: u64) -> [u64; 4] {
    let mut hash = Hash { constant: INIT_A, multiplier: MULT_A };
    // A seed of one or two words, padded with zeros: numpy hashes a missing word as zero.
    let entropy = [seed as u32, (seed >> 32) as u32, 0, 0];
    let mut pool: [u32; POOL] = entropy.map(|word| hash.word(word));
    for source in 0..POOL {
        for target in (0..POOL).filter(|&target| target != source) {
            pool[target] = mix(pool[target], hash.word(pool[source]));
        }
    }

    let mut hash = Hash { constant: INIT_B, multiplier: MULT_B };
    let mut words = pool.iter().cycle().map(|&word| u64::from(hash.word(word)));
    // Little-endian pairs, whatever the machine.
    std::array::from_fn(|_| {
        let low = words.next().unwrap_or_default();
        low | (words.next().unwrap_or_default() << 32)
    })
}

/// The stream of numbers of numpy's `default_rng(seed)`.
///
/// # Examples
///
/// ```
/// use derrl_env::doorkey::numpy::Generator;
///
/// // >>> rng = numpy.random.default_rng(42); [int(rng.integers(0, 10)) for _ in range(5)]
/// let mut rng = Generator::new(42);
/// assert_eq!([0; 5].map(|_| rng.integers(0..10)), [0, 7, 6, 4, 4]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generator {
    state: u128,
    increment: u128,
    /// The upper half of the last 64-bit output, when only its lower half has been used.
    half: Option<u32>,
}

impl Generator {
    /// The generator of `numpy.random.default_rng(seed)`, which is also what `env.reset(seed=seed)` gives a Minigrid level.
    pub fn new(seed: u64) -> Self {
        let [state_high, state_low, stream_high, stream_low] = seed_words(seed).map(u128::from);
        let increment = (((stream_high << 64) | stream_low) << 1) | 1;
        let mut rng = Self { state: 0, increment, half: None };
        rng.advance();
        rng.state = rng.state.wrapping_add((state_high << 64) | state_low);
        rng.advance();
        rng
    }

    fn advance(&mut self) {
        self.state = self.state.wrapping_mul(PCG_MULTIPLIER).wrapping_add(self.increment);
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.advance();
        // XSL-RR: fold the halves together, then rotate by the top six bits.
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    /// The next 32 bits: the lower half of a 64-bit output, and then its upper half.
    pub fn next_u32(&mut self) -> u32 {
        if let Some(upper) = self.half.take() {
            return upper;
        }
        let bits = self.next_u64();
        self.half = Some((bits >> 32) as u32);
        bits as u32
    }

    /// `rng.integers(range.start, range.end)`: a uniform number of the range.
    ///
    /// A range of one number draws nothing, as in numpy. An empty range, an error in numpy, gives its start.
    pub fn integers(&mut self, range: Range<u32>) -> u32 {
        let width = range.end.saturating_sub(range.start);
        if width <= 1 {
            return range.start;
        }
        // Lemire: the upper word of x · width is below width, and unbiased once the lower words
        // below 2³² mod width are turned away.
        let rejected = width.wrapping_neg() % width;
        loop {
            let product = u64::from(self.next_u32()) * u64::from(width);
            if product as u32 >= rejected {
                return range.start + (product >> 32) as u32;
            }
        }
    }

    /// `rng.uniform(low, high)`: low + (high − low) · u, with u uniform in [0, 1) in steps of 2⁻⁵³.
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        const STEP: f64 = 1.0 / (1u64 << 53) as f64;
        low + (high - low) * ((self.next_u64() >> 11) as f64 * STEP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_what_numpy_drew() {
        for line in include_str!("../../tests/fixtures/minigrid/numpy.txt").lines() {
            let mut words = line.split(' ');
            let mut rng = Generator::new(words.next().unwrap().parse().unwrap());
            for word in words {
                if let [low, high, value] = word.split(':').collect::<Vec<_>>()[..] {
                    let drawn = rng.integers(low.parse().unwrap()..high.parse().unwrap());
                    assert_eq!(drawn.to_string(), value, "{line}");
                } else {
                    let bits = u64::from_str_radix(word, 16).unwrap();
                    assert_eq!(rng.uniform(-1.0, 3.0).to_bits(), bits, "{line}");
                }
            }
        }
    }

    #[test]
    fn an_empty_range_and_a_single_number_draw_nothing() {
        let mut rng = Generator::new(7);
        let before = rng.clone();
        let reversed = Range { start: 5, end: 3 };
        assert_eq!((rng.integers(3..4), rng.integers(3..3), rng.integers(reversed)), (3, 3, 5));
        assert_eq!(rng, before);
    }
}
