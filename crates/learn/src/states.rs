//! States met in training, each grounded once.

use std::sync::Arc;

use derrl_env::{Env, observe};
use derrl_logic::{Facts, GroundAction, Grounding, Universe};
use rustc_hash::FxHashMap;

use crate::problem::Problem;

/// A state by its place in [`States`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateId(pub u32);

/// The groundings of the states met so far, found again by the environment's code of the state.
#[derive(Debug)]
pub struct States {
    universes: Vec<(Arc<Universe>, Arc<[GroundAction]>)>,
    /// The universe of the last look-up: episodes stay in one.
    current: usize,
    index: FxHashMap<(u32, u128), StateId>,
    entries: Vec<Entry>,
    masks: usize,
    facts: Facts,
}

#[derive(Debug)]
struct Entry {
    universe: u32,
    grounding: Grounding,
}

/// Masks kept at the most, about 64 MiB of them: beyond, the cache is emptied and filled anew.
const MOST_MASKS: usize = 8 << 20;

impl States {
    /// No states yet.
    pub fn new(problem: &Problem) -> States {
        States {
            universes: Vec::new(),
            current: 0,
            index: FxHashMap::default(),
            entries: Vec::new(),
            masks: 0,
            facts: Facts::new(&problem.alphabet),
        }
    }

    /// Empties the cache if it has outgrown its bound. Ids given before are void afterwards.
    pub fn trim(&mut self) -> bool {
        let full = self.masks > MOST_MASKS;
        if full {
            self.index.clear();
            self.entries.clear();
            self.masks = 0;
        }
        full
    }

    /// How many states are kept.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no state is kept.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The current state of the environment, grounded if it is new.
    #[inline]
    pub fn look_up(&mut self, problem: &Problem, env: &dyn Env) -> StateId {
        let universe = self.universe(problem, env);
        let code = env.code();
        if let Some(code) = code
            && let Some(&id) = self.index.get(&(universe, code))
        {
            return id;
        }
        self.add(problem, env, universe, code)
    }

    #[inline]
    fn universe(&mut self, problem: &Problem, env: &dyn Env) -> u32 {
        let wanted = env.universe();
        if let Some((known, _)) = self.universes.get(self.current)
            && Arc::ptr_eq(known, wanted)
        {
            return self.current as u32;
        }
        self.current = self.universes.iter().position(|(u, _)| Arc::ptr_eq(u, wanted)).unwrap_or_else(|| {
            self.universes.push((Arc::clone(wanted), wanted.ground_actions(&problem.alphabet).into()));
            self.universes.len() - 1
        });
        self.current as u32
    }

    #[cold]
    fn add(&mut self, problem: &Problem, env: &dyn Env, universe: u32, code: Option<u128>) -> StateId {
        observe(env, &mut self.facts);
        let (objects, actions) = &self.universes[universe as usize];
        let grounding = problem.grounder.ground(actions, &self.facts, objects);
        self.masks += (0..grounding.actions()).map(|a| grounding.flat(a).len()).sum::<usize>();
        let id = StateId(self.entries.len() as u32);
        self.entries.push(Entry { universe, grounding });
        if let Some(code) = code {
            self.index.insert((universe, code), id);
        }
        id
    }

    /// The masks of a state.
    #[inline]
    pub fn grounding(&self, id: StateId) -> &Grounding {
        &self.entries[id.0 as usize].grounding
    }

    /// The ground actions of a state, in the order of its grounding.
    #[inline]
    pub fn actions(&self, id: StateId) -> &Arc<[GroundAction]> {
        &self.universes[self.entries[id.0 as usize].universe as usize].1
    }

    /// The ids of all states kept.
    pub fn ids(&self) -> impl Iterator<Item = StateId> + use<> {
        (0..self.entries.len() as u32).map(StateId)
    }
}
