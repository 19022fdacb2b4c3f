//! Facts with indexes, changed one at a time.

use rustc_hash::FxHashMap;

use crate::universe::Object;

/// How objects are packed into a number: `bits` each, the first in the highest place, so that numbers sort as tuples do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packing {
    bits: u32,
}

impl Packing {
    /// For a universe of this many objects.
    pub fn new(objects: usize) -> Packing {
        Packing { bits: usize::BITS - objects.saturating_sub(1).max(1).leading_zeros() }
    }

    /// The bits of a tuple of this arity.
    pub fn width(self, arity: usize) -> u32 {
        self.bits * arity as u32
    }

    #[inline]
    pub fn push(self, key: u64, o: Object) -> u64 {
        key << self.bits | u64::from(o.0)
    }

    /// What is left of a tuple without its last object.
    pub fn pop(self, key: u64) -> u64 {
        key >> self.bits
    }

    pub fn pack(self, args: &[Object]) -> u64 {
        args.iter().fold(0, |key, &o| self.push(key, o))
    }

    /// The object at a place of a tuple of this arity.
    #[inline]
    pub fn get(self, key: u64, arity: usize, place: usize) -> Object {
        let shift = self.bits * (arity - 1 - place) as u32;
        Object((key >> shift & self.one()) as u32)
    }

    /// The bits of the object at a place of a tuple of this arity.
    pub fn mask(self, arity: usize, place: usize) -> u64 {
        self.one() << (self.bits * (arity - 1 - place) as u32)
    }

    fn one(self) -> u64 {
        (1 << self.bits) - 1
    }
}

/// The tuples of one predicate, each packed into a number, with the indexes that joins ask for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relation {
    /// Where each tuple is.
    rows: FxHashMap<u64, Row>,
    /// `tuples[row]`; rows that are not in use hold what they held last.
    tuples: Vec<u64>,
    unused: Vec<Row>,
    indexes: Vec<Index>,
}

type Row = u32;

/// The tuples of a relation by some of their places. By none: all of them in one bucket.
#[derive(Clone, Debug)]
struct Index {
    mask: u64,
    buckets: FxHashMap<u64, Vec<Row>>,
    /// Where each row stands in its bucket, so that it can be taken out at once.
    places: Vec<u32>,
}

impl Relation {
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    #[inline]
    pub fn contains(&self, tuple: u64) -> bool {
        self.rows.contains_key(&tuple)
    }

    /// The index by the places in `mask`, made where there is none yet.
    pub fn index(&mut self, mask: u64) -> usize {
        if let Some(known) = self.indexes.iter().position(|i| i.mask == mask) {
            return known;
        }
        let mut index = Index { mask, buckets: FxHashMap::default(), places: vec![0; self.tuples.len()] };
        for &row in self.rows.values() {
            index.insert(row, self.tuples[row as usize]);
        }
        self.indexes.push(index);
        self.indexes.len() - 1
    }

    /// The tuples whose places in the mask of an index are those of `key`.
    #[inline]
    pub fn matching(&self, index: usize, key: u64) -> impl Iterator<Item = u64> {
        let rows = self.indexes[index].buckets.get(&key).map_or(&[][..], Vec::as_slice);
        rows.iter().map(|&row| self.tuples[row as usize])
    }

    /// All tuples, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.rows.keys().copied()
    }

    /// Adds a tuple that is not there.
    pub fn insert(&mut self, tuple: u64) {
        let row = self.unused.pop().unwrap_or_else(|| {
            self.tuples.push(0);
            self.indexes.iter_mut().for_each(|i| i.places.push(0));
            self.tuples.len() as Row - 1
        });
        self.tuples[row as usize] = tuple;
        self.rows.insert(tuple, row);
        self.indexes.iter_mut().for_each(|i| i.insert(row, tuple));
    }

    /// Takes out a tuple, if it is there.
    pub fn remove(&mut self, tuple: u64) {
        let Some(row) = self.rows.remove(&tuple) else { return };
        self.indexes.iter_mut().for_each(|i| i.remove(row, tuple));
        self.unused.push(row);
    }

    /// Makes room for as many tuples again, so that hash tables seldom have to be made anew in the middle of an episode: that
    /// takes time in all of them, not in what has changed.
    pub fn make_room(&mut self) {
        self.rows.reserve(self.rows.len());
        for index in &mut self.indexes {
            index.buckets.reserve(index.buckets.len());
        }
    }

    /// Forgets all tuples and keeps the indexes.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.tuples.clear();
        self.unused.clear();
        for index in &mut self.indexes {
            index.buckets.clear();
            index.places.clear();
        }
    }

    /// The bytes it holds on the heap, hash tables estimated from their capacity.
    pub fn bytes(&self) -> usize {
        let indexes: usize = self.indexes.iter().map(Index::bytes).sum();
        self.rows.capacity() * size_of::<(u64, Row, u8)>()
            + self.tuples.capacity() * size_of::<u64>()
            + self.unused.capacity() * size_of::<Row>()
            + indexes
    }
}

impl Index {
    fn insert(&mut self, row: Row, tuple: u64) {
        let bucket = self.buckets.entry(tuple & self.mask).or_default();
        self.places[row as usize] = bucket.len() as u32;
        bucket.push(row);
    }

    fn remove(&mut self, row: Row, tuple: u64) {
        let Some(bucket) = self.buckets.get_mut(&(tuple & self.mask)) else { return };
        let place = self.places[row as usize];
        bucket.swap_remove(place as usize);
        match bucket.get(place as usize) {
            Some(&moved) => self.places[moved as usize] = place,
            // Else buckets of objects that were once of interest would add up.
            None if bucket.is_empty() => {
                self.buckets.remove(&(tuple & self.mask));
            }
            None => {}
        }
    }

    fn bytes(&self) -> usize {
        let rows: usize = self.buckets.values().map(Vec::capacity).sum();
        self.buckets.capacity() * size_of::<(u64, Vec<Row>, u8)>()
            + (rows + self.places.capacity()) * size_of::<Row>()
    }
}
