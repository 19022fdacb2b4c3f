//! Which ground actions a body derives.

use rustc_hash::FxHashMap;

use super::lists::{ListId, MaskLists};
use crate::language::body::word_bits;

/// So many ground actions are looked at together.
pub const RUN: usize = u64::BITS as usize;

/// The masks of up to 64 ground actions, turned on their side: for each atom, in which masks it is.
///
/// A body derives the actions that have a mask in which all its atoms are: one `and` an atom looks at 64 masks.
#[derive(Debug)]
pub struct Run {
    /// The first 64 atoms that are in some mask.
    reach: u64,
    /// For each 64 masks, for each 64 atoms.
    columns: Box<[Columns]>,
    /// The action that has each mask; none where there is but one action.
    owners: Box<[Owner]>,
}

/// The action that has a mask.
#[derive(Clone, Copy, Debug)]
struct Owner {
    /// Its place in the run.
    action: u32,
    /// The masks of other actions among the same 64.
    others: u64,
}

/// For each of 64 atoms, in which of 64 masks it is. The last column stands for no atom: it is full.
type Columns = [u64; 65];

/// So many atoms of a body are looked at without asking whether there are any left: few bodies have more, and a wrong
/// guess costs more time than a look.
const LOOKS: usize = 4;

impl Run {
    /// The actions that have these lists of masks, where masks are of `words` words.
    fn new(lists: &[&[u64]], words: usize) -> Run {
        let masks: usize = lists.iter().map(|masks| masks.len() / words).sum();
        let mut none = [0; 65];
        none[64] = u64::MAX;
        let mut columns = vec![none; masks.div_ceil(64) * words].into_boxed_slice();
        let mut owners: Vec<Owner> = Vec::with_capacity(masks);
        for (action, list) in (0..).zip(lists) {
            for mask in list.chunks_exact(words) {
                let at = owners.len();
                for (columns, &atoms) in columns[at / 64 * words..].iter_mut().zip(mask) {
                    word_bits(atoms).for_each(|bit| columns[bit] |= 1 << (at % 64));
                }
                owners.push(Owner { action, others: u64::MAX });
            }
        }
        if lists.len() == 1 {
            owners.clear();
        }
        for of_word in owners.chunks_mut(64) {
            let actions: Vec<u32> = of_word.iter().map(|o| o.action).collect();
            for owner in of_word {
                let own = |(bit, &action): (usize, &u32)| u64::from(action == owner.action) << bit;
                owner.others = !actions.iter().enumerate().map(own).sum::<u64>();
            }
        }
        let reach = lists.iter().flat_map(|list| list.iter().step_by(words)).fold(0, |all, m| all | m);
        Run { reach, columns, owners: owners.into() }
    }

    /// The actions that a body derives, a bit each. An empty body abstains.
    #[inline]
    pub fn derived(&self, body: &[u64]) -> u64 {
        let &[body] = body else { return self.derived_by_words(body) };
        if body == 0 {
            return 0;
        }
        match &*self.columns {
            [columns] => self.actions(0, common(columns, body)),
            many => {
                (0..).zip(many).fold(0, |all, (at, columns)| all | self.actions(at, common(columns, body)))
            }
        }
    }

    fn derived_by_words(&self, body: &[u64]) -> u64 {
        if body.iter().all(|&b| b == 0) {
            return 0;
        }
        let mut actions = 0;
        for (at, columns) in self.columns.chunks_exact(body.len()).enumerate() {
            let masks = columns.iter().zip(body).fold(u64::MAX, |masks, (c, &b)| masks & common(c, b));
            actions |= self.actions(at, masks);
        }
        actions
    }

    /// The actions that have some of these masks, which are a bit each of the `at`-th 64.
    #[inline]
    fn actions(&self, at: usize, masks: u64) -> u64 {
        if self.owners.is_empty() {
            return u64::from(masks != 0);
        }
        let (mut actions, mut left) = (0, masks);
        while left != 0 {
            let Owner { action, others } = self.owners[at * 64 + left.trailing_zeros() as usize];
            actions |= 1 << action;
            left &= others;
        }
        actions
    }

    /// The first 64 atoms that are in some mask.
    pub fn reach(&self) -> u64 {
        self.reach
    }

    /// How many 64-bit words it takes.
    fn len(&self) -> usize {
        self.columns.len() * 65 + self.owners.len() * 2
    }
}

/// The masks that have all these atoms.
#[inline]
fn common(columns: &Columns, atoms: u64) -> u64 {
    let mut left = atoms;
    let mut masks = u64::MAX;
    for _ in 0..LOOKS {
        masks &= columns[left.trailing_zeros() as usize];
        left &= left.wrapping_sub(1);
    }
    word_bits(left).fold(masks, |masks, bit| masks & columns[bit])
}

/// A run by its place among all that differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunId(u32);

/// All runs that differ.
#[derive(Debug, Default)]
pub struct Runs {
    ids: FxHashMap<Box<[ListId]>, RunId>,
    all: Vec<Run>,
    len: usize,
}

impl Runs {
    /// The run of ground actions with these lists of masks.
    pub fn add(&mut self, lists: &MaskLists, ids: &[ListId], words: usize) -> RunId {
        if let Some(&known) = self.ids.get(ids) {
            return known;
        }
        let masks: Vec<&[u64]> = ids.iter().map(|&id| &*lists.get(id).masks).collect();
        let run = Run::new(&masks, words);
        self.len += run.len();
        let id = RunId(self.all.len() as u32);
        self.all.push(run);
        self.ids.insert(ids.into(), id);
        id
    }

    /// A run.
    #[inline]
    pub fn get(&self, id: RunId) -> &Run {
        &self.all[id.0 as usize]
    }

    /// How many 64-bit words all runs take.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Forgets all runs. Ids given before are void afterwards.
    pub fn clear(&mut self) {
        *self = Runs::default();
    }
}
