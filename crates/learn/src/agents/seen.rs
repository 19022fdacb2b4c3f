//! States met so far, each encoded once for a model and its critic.

use std::sync::Arc;

use derrl_env::{Env, observe};
use derrl_logic::{Alphabet, Facts, GroundAction, Universe};
use rustc_hash::FxHashMap;

use crate::agents::reinforce::Model;
use crate::agents::training_atoms::{Matched, TrainingAtoms};

/// A universe as a model sees it.
pub struct Known<M: Model> {
    universe: Arc<Universe>,
    matched: Matched,
    /// The ground actions.
    pub actions: Arc<[GroundAction]>,
    /// What the model computes once a universe.
    pub world: M::World,
}

/// A state as a model sees it.
pub struct Entry<M: Model> {
    /// Its universe.
    pub known: Arc<Known<M>>,
    /// What the model computes once a state.
    pub state: M::State,
    /// The ground atoms that hold, for the critic.
    pub atoms: Vec<u32>,
}

/// The states met so far, found again by the world's code of the state.
pub struct Seen<M: Model> {
    alphabet: Arc<Alphabet>,
    facts: Facts,
    worlds: Vec<Arc<Known<M>>>,
    current: usize,
    index: FxHashMap<(u32, u128), Arc<Entry<M>>>,
}

/// States kept at the most: beyond, all are forgotten and encoded anew.
const MOST: usize = 1 << 15;

impl<M: Model> Seen<M> {
    /// No states yet.
    pub fn new(alphabet: &Arc<Alphabet>) -> Seen<M> {
        Seen {
            alphabet: Arc::clone(alphabet),
            facts: Facts::new(alphabet),
            worlds: Vec::new(),
            current: 0,
            index: FxHashMap::default(),
        }
    }

    /// The current state of the world, encoded if it is new.
    pub fn look_up(&mut self, model: &M, training: &TrainingAtoms, env: &dyn Env) -> Arc<Entry<M>> {
        let wanted = env.universe();
        if self.worlds.get(self.current).is_none_or(|k| !Arc::ptr_eq(&k.universe, wanted)) {
            let known = self.worlds.iter().position(|k| Arc::ptr_eq(&k.universe, wanted));
            self.current = known.unwrap_or_else(|| {
                let actions: Arc<[GroundAction]> = wanted.ground_actions(&self.alphabet).into();
                self.worlds.push(Arc::new(Known {
                    matched: training.matched(wanted),
                    world: model.world(wanted, &actions),
                    universe: Arc::clone(wanted),
                    actions,
                }));
                self.worlds.len() - 1
            });
        }
        let key = env.code().map(|code| (self.current as u32, code));
        if let Some(entry) = key.and_then(|key| self.index.get(&key)) {
            return Arc::clone(entry);
        }
        observe(env, &mut self.facts);
        let known = Arc::clone(&self.worlds[self.current]);
        let entry = Arc::new(Entry {
            state: model.state(&known.world, &self.facts),
            atoms: training.encode(&known.matched, &self.facts),
            known,
        });
        if let Some(key) = key {
            if self.index.len() >= MOST {
                self.index.clear();
            }
            self.index.insert(key, Arc::clone(&entry));
        }
        entry
    }
}
