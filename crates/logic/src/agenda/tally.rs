//! The actions that rules of one value derive: how often each, and the k-th of them in order.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::ranked::Ranked;
use crate::join::Packing;
use crate::universe::Object;

/// How many derivations every action has, as a number by the action's key; those with any are ranked.
///
/// A rule whose last head variable is open derives nearly all actions of a row: those that share their other arguments. Such
/// rows have a count of their own, and the derivations of an action are
///
/// ```text
/// derivations(prefix, last) = row(prefix) + single(prefix, last)
/// ```
///
/// where single counts are below zero for the few objects that a row leaves out. So a row takes one number, not one an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Single counts other than 0.
    single: FxHashMap<u64, i32>,
    /// Actions with a single count and at least one derivation.
    derived: Ranked,
    wide: Option<Wide>,
    /// Counts are filled in bulk first; ranks are kept from then on.
    ranked: bool,
}

/// What rules with an open last variable add.
#[derive(Clone, Debug)]
struct Wide {
    packing: Packing,
    /// Actions with a single count.
    touched: Ranked,
    /// Those of them in rows that count: a row's length includes them.
    covered: Ranked,
    /// By action, in order.
    rows: Vec<Rows>,
}

/// The rows of one action.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// The keys of the action.
    pub keys: Range<u64>,
    pub arity: usize,
    /// The objects of the last argument's type, in order.
    pub last: Vec<Object>,
    counts: FxHashMap<u64, i32>,
    /// Rows with a count, by how many of their objects are of the last argument's type: arguments are distinct, so a row has
    /// so many actions less.
    standing: Vec<Ranked>,
}

impl Rows {
    pub fn new(keys: Range<u64>, arity: usize, last: Vec<Object>) -> Rows {
        Rows { keys, arity, last, counts: FxHashMap::default(), standing: vec![Ranked::default(); arity] }
    }

    fn count(&self, row: u64) -> i32 {
        self.counts.get(&row).copied().unwrap_or(0)
    }

    /// How many objects of a row are of the last argument's type and below `limit`.
    fn overlap(&self, row: u64, packing: Packing, limit: Object) -> usize {
        let objects = (0..self.arity - 1).map(|place| packing.get(row, self.arity - 1, place));
        objects.filter(|o| *o < limit && self.last.binary_search(o).is_ok()).count()
    }

    /// How many actions are in rows that count.
    fn len(&self) -> usize {
        let rows = self.standing.iter().enumerate();
        rows.map(|(overlap, rows)| rows.len() * self.last.len().saturating_sub(overlap)).sum()
    }

    /// How many of them have a key below this one.
    fn rank(&self, key: u64, packing: Packing) -> usize {
        if key <= self.keys.start || key >= self.keys.end {
            return if key >= self.keys.end { self.len() } else { 0 };
        }
        let row = packing.pop(key);
        let rows = self.standing.iter().enumerate();
        let before: usize =
            rows.map(|(overlap, rows)| rows.rank(row) * self.last.len().saturating_sub(overlap)).sum();
        if self.count(row) == 0 {
            return before;
        }
        let last = packing.get(key, 1, 0);
        before + self.last.partition_point(|o| *o < last) - self.overlap(row, packing, last)
    }
}

impl Tally {
    /// Nothing derived yet, by rules that open these rows.
    pub fn new(packing: Packing, rows: Vec<Rows>) -> Tally {
        let wide = (!rows.is_empty()).then(|| Wide {
            packing,
            touched: Ranked::default(),
            covered: Ranked::default(),
            rows,
        });
        Tally { wide, ..Tally::default() }
    }

    /// Changes the derivations of one action.
    pub fn add(&mut self, key: u64, by: i32) {
        let (before, after) = change(&mut self.single, key, by);
        if !self.ranked {
            return;
        }
        if self.wide.is_some() {
            self.rank_again(key);
        } else if before == 0 {
            self.derived.insert(key);
        } else if after == 0 {
            self.derived.remove(key);
        }
    }

    /// Changes the derivations of all actions of a row.
    pub fn add_row(&mut self, row: u64, by: i32) {
        let Some(wide) = &mut self.wide else { return };
        let packing = wide.packing;
        let first = packing.push(row, Object(0));
        let Some(rows) = wide.rows.iter_mut().find(|r| r.keys.contains(&first)) else { return };
        let (before, after) = change(&mut rows.counts, row, by);
        if !self.ranked {
            return;
        }
        let overlap = rows.overlap(row, packing, Object(u32::MAX));
        if before == 0 {
            rows.standing[overlap].insert(row);
        } else if after == 0 {
            rows.standing[overlap].remove(row);
        }
        let touched: Vec<u64> = wide.touched.range(first, packing.push(row + 1, Object(0))).collect();
        for key in touched {
            self.rank_again(key);
        }
    }

    fn rank_again(&mut self, key: u64) {
        let single = self.single.get(&key).copied().unwrap_or(0);
        let Some(wide) = &mut self.wide else { return };
        let row = wide.row_count(key);
        let keep = |set: &mut Ranked, member: bool| if member { set.insert(key) } else { set.remove(key) };
        keep(&mut wide.touched, single != 0);
        keep(&mut wide.covered, single != 0 && row > 0);
        keep(&mut self.derived, single != 0 && row + single > 0);
    }

    /// Ranks what was counted so far, and keeps ranks from now on.
    pub fn rank(&mut self) {
        self.ranked = true;
        self.single.reserve(self.single.len());
        let mut touched: Vec<u64> = self.single.keys().copied().collect();
        touched.sort_unstable();
        let Some(wide) = &mut self.wide else {
            self.derived = Ranked::from_sorted(&touched);
            return;
        };
        for rows in &mut wide.rows {
            let mut standing = vec![Vec::new(); rows.arity];
            for &row in rows.counts.keys() {
                standing[rows.overlap(row, wide.packing, Object(u32::MAX))].push(row);
            }
            for (set, mut rows) in rows.standing.iter_mut().zip(standing) {
                rows.sort_unstable();
                *set = Ranked::from_sorted(&rows);
            }
        }
        let among = |keep: &dyn Fn(u64) -> bool| {
            Ranked::from_sorted(&touched.iter().copied().filter(|&k| keep(k)).collect::<Vec<_>>())
        };
        let covered = among(&|key| wide.row_count(key) > 0);
        self.derived = among(&|key| wide.row_count(key) + self.single[&key] > 0);
        (wide.covered, wide.touched) = (covered, Ranked::from_sorted(&touched));
    }

    /// How many actions are derived.
    pub fn len(&self) -> usize {
        let rows = self.wide.as_ref().map_or(0, |w| w.rows.iter().map(Rows::len).sum::<usize>());
        self.derived.len() + rows - self.wide.as_ref().map_or(0, |w| w.covered.len())
    }

    /// The key of the derived action with exactly `k` before it, for `k` below the length.
    pub fn nth(&self, k: usize) -> u64 {
        let Some(wide) = &self.wide else { return self.derived.nth(k) };
        // The last key with at most k derived ones below it.
        let (mut low, mut high) = (0, wide.rows.iter().map(|r| r.keys.end).max().unwrap_or(0));
        high = high.max(self.derived.len().checked_sub(1).map_or(0, |last| self.derived.nth(last) + 1));
        while high - low > 1 {
            let mid = u64::midpoint(low, high);
            if self.below(wide, mid) <= k { low = mid } else { high = mid }
        }
        low
    }

    /// How many derived actions have a key below this one.
    fn below(&self, wide: &Wide, key: u64) -> usize {
        let rows: usize = wide.rows.iter().map(|r| r.rank(key, wide.packing)).sum();
        self.derived.rank(key) + rows - wide.covered.rank(key)
    }

    /// The bytes it holds on the heap, hash tables estimated from their capacity.
    pub fn bytes(&self) -> usize {
        let entry = size_of::<(u64, i32, u8)>();
        let rows = |r: &Rows| {
            r.counts.capacity() * entry
                + r.last.capacity() * size_of::<Object>()
                + r.standing.iter().map(Ranked::bytes).sum::<usize>()
        };
        let wide = self
            .wide
            .as_ref()
            .map_or(0, |w| w.touched.bytes() + w.covered.bytes() + w.rows.iter().map(rows).sum::<usize>());
        self.single.capacity() * entry + self.derived.bytes() + wide
    }
}

impl Wide {
    fn row_count(&self, key: u64) -> i32 {
        let rows = self.rows.iter().find(|r| r.keys.contains(&key));
        rows.map_or(0, |r| r.count(self.packing.pop(key)))
    }
}

/// Changes a count, which is kept only while it is not 0. Returns what it was and what it is.
fn change(counts: &mut FxHashMap<u64, i32>, key: u64, by: i32) -> (i32, i32) {
    let count = counts.entry(key).or_insert(0);
    let before = *count;
    *count += by;
    let after = *count;
    if after == 0 {
        counts.remove(&key);
    }
    (before, after)
}
