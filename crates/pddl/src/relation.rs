//! Sets of tuples of objects that are tested, changed and joined in constant time per tuple.

use rustc_hash::FxHashMap;

const NONE: u32 = u32::MAX;

/// A set of tuples of one arity, indexed by every argument.
///
/// Takes memory in the number of tuples and objects.
#[derive(Clone, Debug)]
pub(crate) struct Relation {
    arity: usize,
    objects: usize,
    count: usize,
    /// The tuples, one after the other; a tuple's place is its slot.
    flat: Vec<u32>,
    slots: Slots,
    /// For each argument and object, the slots of the tuples that have it there. Empty below two arguments.
    by_arg: Vec<Vec<Vec<u32>>>,
    /// For each slot and argument, where the slot stands in the list of `by_arg`.
    places: Vec<u32>,
}

/// Where a tuple is.
#[derive(Clone, Debug)]
enum Slots {
    /// By its number among all tuples of objects.
    Dense(Vec<u32>),
    /// The same where there are many more tuples than facts.
    Sparse(FxHashMap<u128, u32>),
}

impl Relation {
    /// Whether tuples of that arity over that many objects can be numbered.
    pub(crate) fn fits(arity: usize, objects: usize) -> bool {
        (objects.max(1) as u128).checked_pow(arity as u32).is_some()
    }

    /// An empty set, for about that many tuples.
    pub(crate) fn new(arity: usize, objects: usize, expected: usize) -> Relation {
        let all = (objects as u128).checked_pow(arity as u32).unwrap_or(u128::MAX);
        let slots = if all <= (4096.max(8 * (expected + objects))) as u128 {
            Slots::Dense(vec![NONE; all as usize])
        } else {
            Slots::Sparse(FxHashMap::default())
        };
        let by_arg = if arity < 2 { Vec::new() } else { vec![vec![Vec::new(); objects]; arity] };
        Relation { arity, objects, count: 0, flat: Vec::new(), slots, by_arg, places: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    #[inline]
    fn key(&self, args: &[u32]) -> u128 {
        args.iter().fold(0, |key, &o| key * self.objects as u128 + u128::from(o))
    }

    #[inline]
    fn slot(&self, args: &[u32]) -> u32 {
        match &self.slots {
            Slots::Dense(slots) => {
                let key = args.iter().fold(0, |key, &o| key * self.objects + o as usize);
                slots[key]
            }
            Slots::Sparse(slots) => slots.get(&self.key(args)).copied().unwrap_or(NONE),
        }
    }

    fn set_slot(&mut self, key: u128, slot: u32) {
        match &mut self.slots {
            Slots::Dense(slots) => slots[key as usize] = slot,
            Slots::Sparse(slots) if slot == NONE => {
                slots.remove(&key);
            }
            Slots::Sparse(slots) => {
                slots.insert(key, slot);
            }
        }
    }

    #[inline]
    pub(crate) fn contains(&self, args: &[u32]) -> bool {
        self.slot(args) != NONE
    }

    /// The tuple in a slot.
    #[inline]
    pub(crate) fn tuple(&self, slot: u32) -> &[u32] {
        let start = slot as usize * self.arity;
        &self.flat[start..start + self.arity]
    }

    /// The tuples, in no particular order.
    pub(crate) fn tuples(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.count as u32).map(|slot| self.tuple(slot))
    }

    /// The slots of the tuples with that object as that argument. Only for two arguments and more.
    #[inline]
    pub(crate) fn with(&self, arg: usize, object: u32) -> &[u32] {
        &self.by_arg[arg][object as usize]
    }

    /// Adds a tuple; whether it was new.
    pub(crate) fn insert(&mut self, args: &[u32]) -> bool {
        if self.contains(args) {
            return false;
        }
        let slot = self.count as u32;
        self.count += 1;
        self.flat.extend_from_slice(args);
        self.set_slot(self.key(args), slot);
        for (lists, &o) in self.by_arg.iter_mut().zip(args) {
            let list = &mut lists[o as usize];
            self.places.push(list.len() as u32);
            list.push(slot);
        }
        true
    }

    /// Takes a tuple out; whether it was there.
    pub(crate) fn remove(&mut self, args: &[u32]) -> bool {
        let slot = self.slot(args);
        if slot == NONE {
            return false;
        }
        self.set_slot(self.key(args), NONE);
        let last = self.count as u32 - 1;
        let indexed = !self.by_arg.is_empty();
        if indexed {
            for (arg, &o) in args.iter().enumerate() {
                let list = &mut self.by_arg[arg][o as usize];
                let place = self.places[slot as usize * self.arity + arg] as usize;
                list.swap_remove(place);
                if let Some(&moved) = list.get(place) {
                    self.places[moved as usize * self.arity + arg] = place as u32;
                }
            }
        }
        if slot != last {
            // The last tuple takes the free slot.
            let (from, to) = (last as usize * self.arity, slot as usize * self.arity);
            let key = self.key(&self.flat[from..from + self.arity]);
            self.set_slot(key, slot);
            for arg in 0..self.arity {
                let o = self.flat[from + arg];
                self.flat[to + arg] = o;
                if indexed {
                    let place = self.places[from + arg];
                    self.places[to + arg] = place;
                    self.by_arg[arg][o as usize][place as usize] = slot;
                }
            }
        }
        self.count -= 1;
        self.flat.truncate(self.count * self.arity);
        if indexed {
            self.places.truncate(self.count * self.arity);
        }
        true
    }

    /// Takes all tuples out.
    pub(crate) fn clear(&mut self) {
        for slot in 0..self.count {
            let start = slot * self.arity;
            let key = self.key(&self.flat[start..start + self.arity]);
            self.set_slot(key, NONE);
            for arg in 0..self.by_arg.len() {
                let o = self.flat[start + arg] as usize;
                self.by_arg[arg][o].clear();
            }
        }
        self.count = 0;
        self.flat.clear();
        self.places.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use derrl_env::Rng;

    use super::*;

    /// Random changes agree with a set of the standard library, lists by argument included.
    #[test]
    fn a_relation_is_a_set() {
        for (arity, objects, expected) in [(0, 5, 0), (1, 7, 3), (2, 6, 10), (3, 5, 10), (2, 3000, 1)] {
            let mut rng = Rng::new(7, arity as u64);
            let mut relation = Relation::new(arity, objects, expected);
            let mut set: BTreeSet<Vec<u32>> = BTreeSet::new();
            for step in 0..4000 {
                let tuple: Vec<u32> = (0..arity).map(|_| rng.below(objects.min(9)) as u32).collect();
                if rng.below(2) == 0 {
                    assert_eq!(relation.insert(&tuple), set.insert(tuple));
                } else {
                    assert_eq!(relation.remove(&tuple), set.remove(&tuple));
                }
                if step % 1000 == 999 {
                    relation.clear();
                    set.clear();
                }
                let mut all: Vec<Vec<u32>> = relation.tuples().map(<[u32]>::to_vec).collect();
                all.sort();
                assert!(all.iter().eq(set.iter()));
                for arg in 0..if arity < 2 { 0 } else { arity } {
                    let o = rng.below(objects.min(9)) as u32;
                    let mut with: Vec<&[u32]> =
                        relation.with(arg, o).iter().map(|&s| relation.tuple(s)).collect();
                    with.sort_unstable();
                    assert!(with.into_iter().eq(set.iter().filter(|t| t[arg] == o).map(Vec::as_slice)));
                }
            }
        }
    }
}
