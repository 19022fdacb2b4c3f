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

/// Distinct states kept, fewer where states are large. Where training meets more, these are a sample in which each is
/// equally likely to be.
pub const MOST_STATES: usize = 4096;
/// A state with up to this many pairs counts as one, a larger one in proportion.
const PAIRS: usize = 16;

/// An action with the masks of a ground action of it.
pub type Pair = (Action, Arc<[u64]>);

/// A state as rules see it: the pairs of its ground actions, in order, each once.
pub type Sight = Box<[Pair]>;

/// The distinct states met so far; where they are too many, those with the lowest hashes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Met {
    /// By hash.
    states: BTreeMap<u128, Sight>,
    /// Their size, in pairs.
    size: usize,
    /// The lowest hash of a state that there was no room for: none from there on is kept.
    ceiling: Option<u128>,
}

impl Met {
    /// Whether a state of that hash would be new and be kept.
    pub fn wants(&self, hash: u128) -> bool {
        self.ceiling.is_none_or(|ceiling| hash < ceiling) && !self.states.contains_key(&hash)
    }

    /// Keeps a state that is wanted, in place of those with the highest hashes where there is no room.
    pub fn add(&mut self, hash: u128, mut sight: Vec<Pair>) {
        sight.sort_unstable();
        self.size += size(&sight);
        self.states.insert(hash, sight.into());
        while self.size > MOST_STATES * PAIRS
            && let Some((highest, sight)) = self.states.pop_last()
        {
            self.size -= size(&sight);
            self.ceiling = Some(highest);
        }
    }

    /// The states kept, in the order of their hashes.
    pub fn iter(&self) -> impl Iterator<Item = &Sight> {
        self.states.values()
    }

    /// How many states are kept.
    pub fn states(&self) -> usize {
        self.states.len()
    }

    /// The states as they are saved.
    pub fn save(&self) -> SavedStates {
        let mut places: FxHashMap<&[u64], u32> = FxHashMap::default();
        let halves = |hash: u128| [(hash >> 64) as u64, hash as u64];
        let mut saved = SavedStates { ceiling: self.ceiling.map(halves), ..SavedStates::default() };
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

    /// The states that were saved, for masks of `words` words; `None` if these are not states of this many actions.
    pub fn load(saved: &SavedStates, words: usize, actions: usize) -> Option<Met> {
        let lists: Vec<(Arc<[u64]>, u128)> =
            saved.lists.iter().map(|masks| (masks.as_slice().into(), hash_masks(masks))).collect();
        if lists.iter().any(|(masks, _)| !masks.len().is_multiple_of(words)) {
            return None;
        }
        let whole = |[high, low]: [u64; 2]| u128::from(high) << 64 | u128::from(low);
        let mut met = Met { ceiling: saved.ceiling.map(whole), ..Met::default() };
        for pairs in &saved.states {
            let mut hash = 0;
            let mut sight = Vec::with_capacity(pairs.len());
            for &(action, list) in pairs {
                let (masks, of_list) = lists.get(list as usize).filter(|_| (action as usize) < actions)?;
                hash = with_pair(hash, Action(action), *of_list);
                sight.push((Action(action), Arc::clone(masks)));
            }
            if met.wants(hash) {
                met.add(hash, sight);
            }
        }
        Some(met)
    }
}

/// States in a form that takes little room: lists of masks once each, and states as pairs of an action and a list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedStates {
    lists: Vec<Vec<u64>>,
    states: Vec<Vec<(u32, u32)>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ceiling: Option<[u64; 2]>,
}

/// How much room a state takes.
fn size(sight: &[Pair]) -> usize {
    sight.len().max(PAIRS)
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

    fn state(rng: &mut Rng) -> (u128, Vec<Pair>) {
        let actions = if rng.below(9) == 0 { 1 + rng.below(40) } else { 1 + rng.below(3) };
        let pairs: Vec<Pair> = (0..actions as u32)
            .map(|action| (Action(action), vec![rng.below(40) as u64, rng.below(9) as u64].into()))
            .collect();
        let hash = pairs.iter().fold(0, |hash, (a, masks)| with_pair(hash, *a, hash_masks(masks)));
        (hash, pairs)
    }

    fn keep(met: &mut Met, (hash, sight): (u128, Vec<Pair>)) {
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
        assert!((MOST_STATES / 2..MOST_STATES).contains(&whole.states()), "{} states", whole.states());
        rng.shuffle(&mut states);
        let mut cut = Met::default();
        for (i, s) in states.into_iter().enumerate() {
            if i % 777 == 0 {
                let text = serde_json::to_string(&cut.save()).unwrap();
                cut = Met::load(&serde_json::from_str(&text).unwrap(), 1, 40).unwrap();
            }
            keep(&mut cut, s);
        }
        assert!(cut == whole);
        assert_eq!(Met::load(&whole.save(), 1, 2), None, "an action that there is not");
    }
}
