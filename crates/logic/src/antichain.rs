//! Sets as bits, and the maximal ones of many.

use std::cmp::Reverse;

/// Whether every bit of `b` is set in `mask`.
#[inline]
pub fn subset(b: &[u64], mask: &[u64]) -> bool {
    b.iter().zip(mask).all(|(b, m)| b & !m == 0)
}

/// Sets every bit of `mask` that is set in `b`.
#[inline]
pub(crate) fn unite(mask: &mut [u64], b: &[u64]) {
    for (m, b) in mask.iter_mut().zip(b) {
        *m |= b;
    }
}

/// Collects sets, most of them again and again, and gives back those that are no subset of another one.
pub(crate) struct Antichain {
    /// How many 64-bit words a set takes.
    words: usize,
    /// The sets, end to end; some of them twice.
    sets: Vec<u64>,
    /// For each hash, where in `sets` the last set of that hash is. An entry that another set has taken over,
    /// or that is left from before the last [`Antichain::drain`], costs a duplicate and nothing else: what it
    /// points to is compared.
    recent: Vec<u32>,
    /// Where in `sets` each set starts, to be sorted; kept for its memory.
    order: Vec<(Reverse<u32>, u32)>,
}

/// The sets remembered to notice one that comes again are 2 to the power of this.
const RECENT_BITS: u32 = 11;

impl Antichain {
    /// No sets yet, for sets of that many words.
    pub(crate) fn new(words: usize) -> Antichain {
        Antichain { words, sets: Vec::new(), recent: vec![0; 1 << RECENT_BITS], order: Vec::new() }
    }

    /// Adds a set.
    pub(crate) fn insert(&mut self, set: &[u64]) {
        let mix = |h: u64, &w: &u64| (h.rotate_left(5) ^ w).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let hash = set.iter().fold(0, mix) >> (u64::BITS - RECENT_BITS);
        let recent = &mut self.recent[hash as usize];
        let at = *recent as usize;
        // Compared word by word: sets have a word or two, for which a call of memcmp takes longer.
        let known =
            self.sets.get(at..at + set.len()).is_some_and(|old| old.iter().zip(set).all(|(a, b)| a == b));
        if !known {
            *recent = self.sets.len() as u32;
            self.sets.extend_from_slice(set);
        }
    }

    /// Appends the maximal sets to `out`, each once, the fullest first and those of one size in order, and
    /// forgets all.
    pub(crate) fn drain(&mut self, out: &mut Vec<u64>) {
        let (words, sets) = (self.words, &self.sets);
        let set = |at: u32| &sets[at as usize..at as usize + words];
        let size = |set: &[u64]| set.iter().map(|w| w.count_ones()).sum::<u32>();
        self.order.clear();
        self.order
            .extend((0..sets.len()).step_by(words).map(|at| (Reverse(size(set(at as u32))), at as u32)));
        self.order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| set(a.1).cmp(set(b.1))));
        self.order.dedup_by(|a, b| a.0 == b.0 && set(a.1) == set(b.1));
        let start = out.len();
        // Distinct sets of one size are no subsets of each other: only fuller ones are compared.
        for same_size in self.order.chunk_by(|a, b| a.0 == b.0) {
            let fuller = out.len();
            for &(_, at) in same_size {
                if !out[start..fuller].chunks_exact(words).any(|kept| subset(set(at), kept)) {
                    out.extend_from_slice(set(at));
                }
            }
        }
        self.sets.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Every round of inserting and draining gives its maximal sets, whatever the rounds before left.
        #[test]
        fn the_maximal_sets(
            rounds in vec(vec(prop::array::uniform2((0..16u64, 0..4u32)), 0..40), 1..4),
            words in 1..=2usize,
        ) {
            let mut antichain = Antichain::new(words);
            for round in rounds {
                // Words of few bits make many subsets and duplicates.
                let set = |raw: &[(u64, u32); 2]| raw[..words].iter().map(|(w, by)| w << by).collect();
                let sets: Vec<Vec<u64>> = round.iter().map(set).collect();
                for set in &sets {
                    antichain.insert(set);
                }
                let mut out = vec![7];
                antichain.drain(&mut out);
                prop_assert_eq!(out.remove(0), 7);
                let maximal: BTreeSet<_> = sets
                    .iter()
                    .filter(|a| sets.iter().all(|b| a == &b || !subset(a, b)))
                    .cloned()
                    .collect();
                let size = |s: &[u64]| s.iter().map(|w| w.count_ones()).sum::<u32>();
                let mut expected: Vec<Vec<u64>> = maximal.into_iter().collect();
                expected.sort_by_key(|s| Reverse(size(s)));
                prop_assert_eq!(out, expected.concat());
            }
        }
    }

    #[test]
    fn subsets_are_compared_word_by_word() {
        assert!(subset(&[0b01, 0], &[0b11, 0]));
        assert!(subset(&[0b01, 0b10], &[0b11, 0b10]));
        assert!(!subset(&[0b01, 0b100], &[0b11, 0b11]));
    }
}
