//! Bodies and masks as sets of candidate atoms, one bit per atom.

use std::num::NonZeroU64;

use derrl_logic::subset;

/// A set of candidate atoms: the body of a rule, or a mask. It owns its words, or is a view of words kept elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Body<W = Box<[u64]>>(pub W);

impl Body {
    /// The set of these atoms, in `words` words.
    pub fn of(atoms: impl IntoIterator<Item = usize>, words: usize) -> Body {
        let mut body = Body(vec![0; words].into_boxed_slice());
        atoms.into_iter().for_each(|atom| body.insert(atom));
        body
    }
}

impl<W: AsRef<[u64]>> Body<W> {
    /// Its words.
    #[inline]
    pub fn words(&self) -> &[u64] {
        self.0.as_ref()
    }

    /// Whether an atom is in it.
    #[inline]
    pub fn contains(&self, atom: usize) -> bool {
        self.words()[atom / 64] >> (atom % 64) & 1 == 1
    }

    /// Its atoms, in order.
    #[inline]
    pub fn atoms(&self) -> impl Iterator<Item = usize> + '_ {
        self.words().iter().enumerate().flat_map(|(word, &b)| word_bits(b).map(move |bit| word * 64 + bit))
    }

    /// How many atoms it has.
    pub fn len(&self) -> usize {
        self.words().iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Whether it holds under one of these masks, given end to end: all its atoms are in the mask.
    #[inline]
    pub fn holds(&self, masks: &[u64]) -> bool {
        match *self.words() {
            [b] => masks.iter().any(|m| b & !m == 0),
            ref body => masks.chunks_exact(body.len()).any(|m| subset(body, m)),
        }
    }
}

impl<W: AsMut<[u64]>> Body<W> {
    /// Puts an atom in.
    #[inline]
    pub fn insert(&mut self, atom: usize) {
        self.0.as_mut()[atom / 64] |= 1 << (atom % 64);
    }

    /// Takes an atom out.
    #[inline]
    pub fn remove(&mut self, atom: usize) {
        self.0.as_mut()[atom / 64] &= !(1 << (atom % 64));
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_a_set_of_atoms() {
        let mut body = Body::of([3, 64, 100, 3], 2);
        assert_eq!(body.atoms().collect::<Vec<_>>(), [3, 64, 100]);
        assert_eq!((body.len(), body.contains(64), body.contains(65)), (3, true, false));
        body.remove(64);
        assert_eq!(body, Body::of([100, 3], 2));
        let masks: Vec<u64> =
            [Body::of([3, 4], 2), Body::of([3, 4, 100], 2)].iter().flat_map(|b| b.0.clone()).collect();
        assert!(body.holds(&masks) && !body.holds(&masks[..2]) && !body.holds(&[]));
        assert!(Body(&[0b1][..]).holds(&[0b10, 0b11]) && !Body(&[0b1][..]).holds(&[0b10]));
    }
}
