//! Bodies and masks as sets of candidate atoms, a bit each.

use std::num::NonZeroU64;

/// The set bits of a body.
pub fn bits(body: &[u64]) -> impl Iterator<Item = usize> + '_ {
    body.iter().enumerate().flat_map(|(word, &b)| word_bits(b).map(move |bit| word * 64 + bit))
}

/// The set bits of a word, from the lowest.
#[inline]
pub fn word_bits(mut left: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = NonZeroU64::new(left)?.trailing_zeros() as usize;
        left &= left - 1;
        Some(bit)
    })
}
