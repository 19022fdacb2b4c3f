//! The masks of ground actions, each list of them kept once.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::experience::met::hash_masks;
use crate::language::ids::{KindId, Learner};
use crate::language::problem::Problem;

/// The masks of a ground action, by their place among all lists that differ: many actions in many states have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListId(pub u32);

/// A list of masks with an action that has it, by the place among all such pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowId(pub u32);

/// Masks that ground actions of one kind have.
#[derive(Debug)]
pub struct MaskList {
    /// The learner that decides.
    pub learner: Learner,
    /// The kind of the actions.
    pub kind: KindId,
    /// The masks, end to end.
    pub masks: Arc<[u64]>,
    /// A hash of the masks.
    pub hash: u128,
    /// The row of the first action of the kind; those of the others follow.
    pub first: RowId,
}

/// All lists of masks that differ.
#[derive(Debug, Default)]
pub struct MaskLists {
    ids: FxHashMap<(Learner, KindId, Arc<[u64]>), ListId>,
    lists: Vec<MaskList>,
    rows: u32,
}

impl MaskLists {
    /// The list of these masks, for actions of this kind of this learner.
    pub fn add(&mut self, problem: &Problem, learner: Learner, kind: KindId, masks: &[u64]) -> ListId {
        *self.ids.entry((learner, kind, masks.into())).or_insert_with_key(|(_, _, masks)| {
            let first = RowId(self.rows);
            self.rows += problem.kind(kind).actions.len() as u32;
            let hash = hash_masks(masks);
            let masks = Arc::clone(masks);
            self.lists.push(MaskList { learner, kind, masks, hash, first });
            ListId(self.lists.len() as u32 - 1)
        })
    }

    /// A list.
    #[inline]
    pub fn get(&self, id: ListId) -> &MaskList {
        &self.lists[id.0 as usize]
    }

    /// How many lists there are.
    pub fn len(&self) -> usize {
        self.lists.len()
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows as usize
    }

    /// Forgets all lists. Ids given before are void afterwards.
    pub fn clear(&mut self) {
        *self = MaskLists::default();
    }
}
