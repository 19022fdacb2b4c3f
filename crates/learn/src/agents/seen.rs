//! States met so far, each encoded once for a model and its critic.

use std::sync::Arc;

use derrl_env::{Env, list_legal, observe};
use derrl_logic::{Alphabet, Facts, GroundAction, Universe};
use rustc_hash::FxHashMap;

use crate::agents::reinforce::Model;
use crate::agents::training_atoms::{Matched, TrainingAtoms};

/// A universe as a model sees it.
pub struct Known<M: Model> {
    matched: Matched,
    /// The ground actions: the legal ones where the world lists them.
    pub actions: Arc<[GroundAction]>,
    /// What the model computes once for a universe and its actions.
    pub world: M::World,
}

/// A state as a model sees it.
pub struct Entry<M: Model> {
    /// Its universe.
    pub known: Arc<Known<M>>,
    /// What the model computes once per state.
    pub state: M::State,
    /// The ground atoms that hold, for the critic.
    pub atoms: Vec<u32>,
}

/// The states met so far, found again by the world's code of the state.
pub struct Seen<M: Model> {
    alphabet: Arc<Alphabet>,
    facts: Facts,
    /// The universes met, with all their ground actions where any may be tried.
    worlds: Vec<Universes<M>>,
    places: FxHashMap<Arc<Universe>, usize>,
    current: usize,
    index: FxHashMap<(u32, u128), Arc<Entry<M>>>,
    legal: Vec<GroundAction>,
}

struct Universes<M: Model> {
    universe: Arc<Universe>,
    all: Option<Arc<Known<M>>>,
}

/// States kept at the most: beyond, all are forgotten and encoded anew.
const MOST: usize = 1 << 15;
/// Universes kept at the most, likewise.
const MOST_UNIVERSES: usize = 1 << 10;

impl<M: Model> Seen<M> {
    /// No states yet.
    pub fn new(alphabet: &Arc<Alphabet>) -> Seen<M> {
        Seen {
            alphabet: Arc::clone(alphabet),
            facts: Facts::new(alphabet),
            worlds: Vec::new(),
            places: FxHashMap::default(),
            current: 0,
            index: FxHashMap::default(),
            legal: Vec::new(),
        }
    }

    /// The current state of the world, encoded if it is new.
    pub fn look_up(&mut self, model: &M, training: &TrainingAtoms, env: &dyn Env) -> Arc<Entry<M>> {
        let wanted = env.universe();
        if self.worlds.get(self.current).is_none_or(|k| !Arc::ptr_eq(&k.universe, wanted)) {
            if self.worlds.len() >= MOST_UNIVERSES {
                self.worlds.clear();
                self.places.clear();
                self.index.clear();
            }
            let (worlds, places) = (&mut self.worlds, &mut self.places);
            self.current = *places.entry(Arc::clone(wanted)).or_insert_with(|| {
                worlds.push(Universes { universe: Arc::clone(wanted), all: None });
                worlds.len() - 1
            });
            worlds[self.current].universe = Arc::clone(wanted);
        }
        let key = env.code().map(|code| (self.current as u32, code));
        if let Some(entry) = key.and_then(|key| self.index.get(&key)) {
            return Arc::clone(entry);
        }
        observe(env, &mut self.facts);
        let know = |actions: Vec<GroundAction>| {
            let actions: Arc<[GroundAction]> = actions.into();
            Arc::new(Known {
                matched: training.matched(wanted),
                world: model.world(wanted, &actions),
                actions,
            })
        };
        let known = if list_legal(env, &self.alphabet, &self.facts, &mut self.legal) {
            know(self.legal.clone())
        } else {
            let all = &mut self.worlds[self.current].all;
            Arc::clone(all.get_or_insert_with(|| know(wanted.ground_actions(&self.alphabet))))
        };
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
