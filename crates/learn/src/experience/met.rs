//! The states met in training, as far as rules can tell them apart: what simplification looks at.
//!
//! What a rule decides in a state depends on the masks of its ground actions alone, and ground actions with the same
//! action and the same masks always tie. So a state is kept as a set of such pairs, and states with equal sets are one.
//! Which states are kept is a function of the set of all states met, not of the order in which they came: a run that was
//! interrupted and resumed keeps the same ones.

use std::collections::BTreeMap;
use std::sync::Arc;

use derrl_logic::Action;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Distinct states kept. Where training meets more, these are a sample in which each is equally likely to be.
pub const MOST_STATES: usize = 4096;

/// A state as rules see it: each action with each list of masks that a ground action of it has, in order, each pair once.
pub type Sight = Box<[(Action, Arc<[u64]>)]>;

/// The distinct states met so far; beyond [`MOST_STATES`], those with the lowest hashes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Met {
    /// By hash.
    states: BTreeMap<u128, Sight>,
}

impl Met {
    /// Whether a state of that hash would be new and be kept.
    pub fn wants(&self, hash: u128) -> bool {
        let room = || {
            self.states.len() < MOST_STATES
                || self.states.last_key_value().is_some_and(|(last, _)| hash < *last)
        };
        !self.states.contains_key(&hash) && room()
    }

    /// Keeps a state, in place of the one with the highest hash where there is no room.
    pub fn add(&mut self, hash: u128, mut sight: Vec<(Action, Arc<[u64]>)>) {
        sight.sort_unstable();
        self.states.insert(hash, sight.into());
        if self.states.len() > MOST_STATES {
            self.states.pop_last();
        }
    }

    /// The states kept, in the order of their hashes.
    pub fn iter(&self) -> impl Iterator<Item = &Sight> {
        self.states.values()
    }

    /// How many states are kept.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// The states as they are saved.
    pub fn save(&self) -> SavedStates {
        let mut places: FxHashMap<&[u64], u32> = FxHashMap::default();
        let mut saved = SavedStates::default();
        for sight in self.states.values() {
            let pairs = sight.iter().map(|(action, masks)| {
                let list = *places.entry(masks).or_insert_with(|| {
                    saved.lists.push(masks.to_vec());
                    saved.lists.len() as u32 - 1
                });
                (action.0, list)
            });
            saved.states.push(pairs.collect());
        }
        saved
    }

    /// The states that were saved, for masks of `words` words; `None` if these are not states of so many actions.
    pub fn load(saved: &SavedStates, words: usize, actions: usize) -> Option<Met> {
        let lists: Vec<(Arc<[u64]>, u128)> =
            saved.lists.iter().map(|masks| (masks.as_slice().into(), hash_masks(masks))).collect();
        if lists.iter().any(|(masks, _)| !masks.len().is_multiple_of(words)) {
            return None;
        }
        let mut met = Met::default();
        for pairs in &saved.states {
            let mut hash = 0;
            let mut sight = Vec::with_capacity(pairs.len());
            for &(action, list) in pairs {
                let (masks, of_list) = lists.get(list as usize).filter(|_| (action as usize) < actions)?;
                hash = with_pair(hash, Action(action), *of_list);
                sight.push((Action(action), Arc::clone(masks)));
            }
            met.add(hash, sight);
        }
        Some(met)
    }
}

/// States in a form that takes little room: lists of masks once each, and states as pairs of an action and a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedStates {
    lists: Vec<Vec<u64>>,
    states: Vec<Vec<(u32, u32)>>,
}

/// A hash of masks, the same in every process.
pub fn hash_masks(masks: &[u64]) -> u128 {
    masks.iter().fold(masks.len() as u128, |hash, &word| mix(hash ^ u128::from(word)))
}

/// The hash of a state with a pair more, given that of its masks. The order of the pairs makes no difference.
pub fn with_pair(state: u128, action: Action, masks: u128) -> u128 {
    state.wrapping_add(mix(masks ^ u128::from(action.0) << 64))
}

/// Spreads every bit over all others: two rounds of multiply and fold.
fn mix(x: u128) -> u128 {
    const ODD: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;
    let once = (x ^ (x >> 67)).wrapping_mul(ODD);
    let twice = (once ^ (once >> 61)).wrapping_mul(ODD);
    twice ^ (twice >> 64)
}

#[cfg(test)]
mod tests {
    use derrl_env::Rng;

    use super::*;

    fn state(rng: &mut Rng) -> (u128, Vec<(Action, Arc<[u64]>)>) {
        let pairs: Vec<(Action, Arc<[u64]>)> = (0..1 + rng.below(3) as u32)
            .map(|action| (Action(action), vec![rng.below(40) as u64, rng.below(9) as u64].into()))
            .collect();
        let hash = pairs.iter().fold(0, |hash, (a, masks)| with_pair(hash, *a, hash_masks(masks)));
        (hash, pairs)
    }

    fn keep(met: &mut Met, (hash, sight): (u128, Vec<(Action, Arc<[u64]>)>)) {
        if met.wants(hash) {
            met.add(hash, sight);
        }
    }

    #[test]
    fn what_is_kept_depends_on_the_states_not_on_their_order() {
        let mut rng = Rng::new(1, 0);
        let mut states: Vec<_> = (0..20_000).map(|_| state(&mut rng)).collect();
        let mut whole = Met::default();
        states.iter().cloned().for_each(|s| keep(&mut whole, s));
        assert_eq!(whole.len(), MOST_STATES);
        rng.shuffle(&mut states);
        let mut cut = Met::default();
        for (i, s) in states.into_iter().enumerate() {
            if i % 777 == 0 {
                let text = serde_json::to_string(&cut.save()).unwrap();
                cut = Met::load(&serde_json::from_str(&text).unwrap(), 1, 3).unwrap();
            }
            keep(&mut cut, s);
        }
        assert!(cut == whole);
        assert_eq!(Met::load(&whole.save(), 1, 2), None, "an action that there is not");
    }
}
