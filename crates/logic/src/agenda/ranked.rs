//! A sorted set of numbers that knows the rank of each.

/// A set of numbers with its k-th smallest element, and the rank of any number, in logarithmic time.
///
/// The numbers stand in sorted chunks of bounded length, with a Fenwick tree over the lengths: a change moves at most one
/// chunk's worth of memory, which is faster than following the pointers of a tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranked {
    chunks: Vec<Vec<u64>>,
    /// The Fenwick tree: `sums[i]` is the number of elements in the chunks `i - (i & -i) .. i`. `sums[0]` is not used.
    sums: Vec<usize>,
    len: usize,
}

/// A chunk that grows beyond this is cut in two.
const LONGEST: usize = 512;

impl Ranked {
    /// The set of these numbers, which are sorted and distinct.
    pub fn from_sorted(numbers: &[u64]) -> Ranked {
        let chunks = numbers.chunks(LONGEST / 2).map(<[u64]>::to_vec).collect();
        let mut set = Ranked { chunks, sums: Vec::new(), len: numbers.len() };
        set.count_chunks();
        set
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Adds a number, unless it is there.
    pub fn insert(&mut self, number: u64) {
        let Some(c) = self.chunk_of(number) else {
            self.chunks.push(vec![number]);
            self.len = 1;
            return self.count_chunks();
        };
        let chunk = &mut self.chunks[c];
        let Err(at) = chunk.binary_search(&number) else { return };
        chunk.insert(at, number);
        self.len += 1;
        if chunk.len() > LONGEST {
            let upper = chunk.split_off(LONGEST / 2);
            self.chunks.insert(c + 1, upper);
            self.count_chunks();
        } else {
            self.add(c, 1);
        }
    }

    /// Takes a number out, if it is there.
    pub fn remove(&mut self, number: u64) {
        let Some(c) = self.chunk_of(number) else { return };
        let Ok(at) = self.chunks[c].binary_search(&number) else { return };
        self.chunks[c].remove(at);
        self.len -= 1;
        if self.chunks[c].is_empty() {
            self.chunks.remove(c);
            self.count_chunks();
        } else {
            self.add(c, -1);
        }
    }

    /// The number with exactly `k` smaller ones, for `k` below the length.
    pub fn nth(&self, mut k: usize) -> u64 {
        let mut c = 0;
        let mut step = self.chunks.len().next_power_of_two();
        while step > 0 {
            if let Some(&below) = self.sums.get(c + step)
                && below <= k
            {
                c += step;
                k -= below;
            }
            step /= 2;
        }
        self.chunks[c][k]
    }

    /// How many numbers of the set are smaller.
    pub fn rank(&self, number: u64) -> usize {
        let Some(c) = self.chunk_of(number) else { return 0 };
        let mut below = self.chunks[c].partition_point(|&n| n < number);
        let mut i = c;
        while i > 0 {
            below += self.sums[i];
            i &= i - 1;
        }
        below
    }

    /// The numbers from `low` to below `high`, in order.
    pub fn range(&self, low: u64, high: u64) -> impl Iterator<Item = u64> {
        (self.rank(low)..self.rank(high)).map(|k| self.nth(k))
    }

    /// The bytes it holds on the heap.
    pub fn bytes(&self) -> usize {
        let numbers: usize = self.chunks.iter().map(Vec::capacity).sum();
        numbers * size_of::<u64>()
            + self.chunks.capacity() * size_of::<Vec<u64>>()
            + self.sums.capacity() * size_of::<usize>()
    }

    /// The chunk in which a number stands or would stand: the last that does not begin above it.
    fn chunk_of(&self, number: u64) -> Option<usize> {
        let after = self.chunks.partition_point(|chunk| chunk[0] <= number);
        if self.chunks.is_empty() { None } else { Some(after.saturating_sub(1)) }
    }

    fn count_chunks(&mut self) {
        self.sums.clear();
        self.sums.resize(self.chunks.len() + 1, 0);
        for i in 1..self.sums.len() {
            self.sums[i] += self.chunks[i - 1].len();
            let parent = i + (i & i.wrapping_neg());
            if parent < self.sums.len() {
                self.sums[parent] += self.sums[i];
            }
        }
    }

    fn add(&mut self, c: usize, by: isize) {
        let mut i = c + 1;
        while i < self.sums.len() {
            self.sums[i] = self.sums[i].wrapping_add_signed(by);
            i += i & i.wrapping_neg();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::Ranked;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(20) })]

        #[test]
        fn ranks_are_those_of_the_sorted_list(
            start in prop::collection::btree_set(0..4000u64, 0..2000),
            changes in prop::collection::vec((any::<bool>(), 0..4000u64), 0..3000),
        ) {
            let mut set = Ranked::from_sorted(&start.iter().copied().collect::<Vec<_>>());
            let mut naive: BTreeSet<u64> = start;
            for &(add, number) in &changes {
                if add { set.insert(number); naive.insert(number); } else { set.remove(number); naive.remove(&number); }
            }
            prop_assert_eq!(set.len(), naive.len());
            for (k, &number) in naive.iter().enumerate() {
                prop_assert_eq!(set.nth(k), number);
                prop_assert_eq!(set.rank(number), k);
            }
            for number in 0..=4000 {
                prop_assert_eq!(set.rank(number), naive.range(..number).count());
            }
            prop_assert_eq!(
                set.range(1000, 2000).collect::<Vec<_>>(),
                naive.range(1000..2000).copied().collect::<Vec<_>>()
            );
        }

        #[test]
        fn it_grows_from_nothing(numbers in prop::collection::vec(0..100_000u64, 0..3000)) {
            let mut set = Ranked::default();
            for &n in &numbers {
                set.insert(n);
            }
            let sorted: BTreeSet<u64> = numbers.iter().copied().collect();
            prop_assert_eq!((0..set.len()).map(|k| set.nth(k)).collect::<Vec<_>>(), sorted.iter().copied().collect::<Vec<_>>());
            for &n in &sorted {
                set.remove(n);
            }
            prop_assert_eq!(set.len(), 0);
        }
    }
}
