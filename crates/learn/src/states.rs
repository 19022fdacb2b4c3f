//! States met in training, each grounded once.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use derrl_env::{Env, observe};
use derrl_logic::{Action, Facts, GroundAction, Grounding, Universe, subset};
use rustc_hash::FxHashMap;

use crate::problem::Problem;

/// A state by its place in [`States`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateId(pub u32);

/// The groundings of the states met so far, found again by the environment's code of the state.
#[derive(Debug)]
pub struct States {
    universes: Vec<Known>,
    /// The universe of the last look-up: episodes stay in one.
    current: usize,
    /// By universe, learner and code.
    index: FxHashMap<(u32, u32, u128), StateId>,
    entries: Vec<Entry>,
    masks: usize,
    facts: Facts,
    sets: MaskSets,
    memo: Memo,
    /// Runs of up to 64 actions numbered so far.
    runs: u32,
}

#[derive(Debug)]
struct Known {
    universe: Arc<Universe>,
    actions: Arc<[GroundAction]>,
    /// For each target predicate, the places of its ground actions.
    by_predicate: Vec<Range<u32>>,
    /// Its number in the shared cache.
    shared: u32,
}

#[derive(Debug)]
struct Entry {
    universe: u32,
    learner: u32,
    grounding: Arc<Grounding>,
    /// For each target predicate, all atoms that hold for some of its ground actions under some substitution.
    reach: Box<[u64]>,
    /// The mask set of each ground action.
    sets: Box<[SetId]>,
    /// The number of its first run of up to 64 actions; those of one predicate follow each other.
    runs: u32,
}

/// The masks of a ground action, by their place among all that differ: many actions in many states have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetId(pub u32);

/// The masks that the ground actions with this set have.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct MaskSet {
    /// The learner that decides.
    pub learner: u32,
    /// The target predicate.
    pub action: Action,
    /// The masks, end to end.
    pub masks: Box<[u64]>,
}

/// All mask sets that differ.
#[derive(Debug, Default)]
struct MaskSets {
    ids: FxHashMap<Arc<MaskSet>, SetId>,
    sets: Vec<Arc<MaskSet>>,
}

impl MaskSets {
    fn add(&mut self, learner: u32, action: Action, masks: &[u64]) -> SetId {
        let set = MaskSet { learner, action, masks: masks.into() };
        *self.ids.entry(Arc::new(set)).or_insert_with_key(|set| {
            self.sets.push(Arc::clone(set));
            SetId(self.sets.len() as u32 - 1)
        })
    }

    fn clear(&mut self) {
        self.ids.clear();
        self.sets.clear();
    }
}

/// Which actions a body derives, kept for the bodies and runs met last: the same few are sampled over and over.
#[derive(Debug)]
struct Memo(Box<[Remembered]>);

#[derive(Clone, Copy, Debug, Default)]
struct Remembered {
    body: u64,
    run: u32,
    derived: u64,
}

/// Places in the memory of derivations, a power of 2.
const MEMO: usize = 1 << 12;

impl Memo {
    /// Where the answer for a body in a run is kept, if it is.
    #[inline]
    fn place(&mut self, run: u32, body: u64) -> &mut Remembered {
        let hash =
            (body ^ u64::from(run).wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xd1b5_4a32_d192_ed03);
        &mut self.0[(hash >> (64 - MEMO.ilog2())) as usize]
    }

    /// Empty, which an empty body stands for: it is never asked for.
    fn clear(&mut self) {
        self.0.fill(Remembered::default());
    }
}

/// Groundings shared between all restarts and threads of a problem: grounding depends on the state alone.
#[derive(Debug, Default)]
pub struct GroundingCache {
    inner: Mutex<Cached>,
}

#[derive(Debug, Default)]
struct Cached {
    universes: Vec<Arc<Universe>>,
    index: FxHashMap<(u32, u128), Arc<Grounding>>,
    masks: usize,
}

impl GroundingCache {
    /// The number under which the states of a universe are kept. Equal universes share one.
    fn universe(&self, universe: &Arc<Universe>) -> u32 {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let at = inner.universes.iter().position(|u| u == universe).unwrap_or_else(|| {
            inner.universes.push(Arc::clone(universe));
            inner.universes.len() - 1
        });
        at as u32
    }

    /// The grounding of a state, computed if no thread has done so before.
    fn get(&self, universe: u32, code: u128, compute: impl FnOnce() -> Grounding) -> Arc<Grounding> {
        let lock = || self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().index.get(&(universe, code)) {
            return Arc::clone(known);
        }
        let grounding = Arc::new(compute()); // two threads may both compute it: the results are equal
        let mut inner = lock();
        if inner.masks > MOST_MASKS {
            inner.index.clear();
            inner.masks = 0;
        }
        inner.masks += grounding.len();
        inner.index.insert((universe, code), Arc::clone(&grounding));
        grounding
    }
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
            sets: MaskSets::default(),
            memo: Memo(vec![Remembered::default(); MEMO].into()),
            runs: 0,
        }
    }

    /// Empties the cache if it has outgrown its bound. Ids given before are void afterwards.
    pub fn trim(&mut self) {
        if self.masks > MOST_MASKS {
            self.index.clear();
            self.entries.clear();
            self.masks = 0;
            self.sets.clear();
            self.memo.clear();
            self.runs = 0;
        }
    }

    /// How many states are kept.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether no state is kept.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The current state of the environment, in which this learner is to decide; grounded if it is new.
    #[inline]
    pub fn look_up(&mut self, problem: &Problem, env: &dyn Env, learner: usize) -> StateId {
        let universe = self.universe(problem, env);
        let learner = learner as u32;
        let code = env.code();
        if let Some(code) = code
            && let Some(&id) = self.index.get(&(universe, learner, code))
        {
            return id;
        }
        self.add(problem, env, universe, learner, code)
    }

    #[inline]
    fn universe(&mut self, problem: &Problem, env: &dyn Env) -> u32 {
        let wanted = env.universe();
        if let Some(known) = self.universes.get(self.current)
            && Arc::ptr_eq(&known.universe, wanted)
        {
            return self.current as u32;
        }
        self.current =
            self.universes.iter().position(|k| Arc::ptr_eq(&k.universe, wanted)).unwrap_or_else(|| {
                let actions: Arc<[GroundAction]> = wanted.ground_actions(&problem.alphabet).into();
                let place = |p: usize| actions.partition_point(|a| (a.action.0 as usize) < p) as u32;
                self.universes.push(Known {
                    universe: Arc::clone(wanted),
                    by_predicate: (0..problem.alphabet.actions.len())
                        .map(|p| place(p)..place(p + 1))
                        .collect(),
                    actions,
                    shared: problem.cache.universe(wanted),
                });
                self.universes.len() - 1
            });
        self.current as u32
    }

    #[cold]
    fn add(
        &mut self,
        problem: &Problem,
        env: &dyn Env,
        universe: u32,
        learner: u32,
        code: Option<u128>,
    ) -> StateId {
        let known = &self.universes[universe as usize];
        let facts = &mut self.facts;
        let mut compute = || {
            observe(env, facts);
            problem.grounder.ground(&known.actions, facts, &known.universe)
        };
        let grounding = match code {
            Some(code) => problem.cache.get(known.shared, code, compute),
            None => Arc::new(compute()),
        };
        self.masks += grounding.len();
        let id = StateId(self.entries.len() as u32);
        let set =
            |(a, ground): (usize, &GroundAction)| self.sets.add(learner, ground.action, grounding.flat(a));
        self.entries.push(Entry {
            universe,
            learner,
            reach: reach(&grounding, &known.by_predicate),
            sets: known.actions.iter().enumerate().map(set).collect(),
            runs: self.runs,
            grounding,
        });
        self.runs += known.by_predicate.iter().map(|span| span.len().div_ceil(RUN) as u32).sum::<u32>();
        if let Some(code) = code {
            self.index.insert((universe, learner, code), id);
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
        &self.universes[self.entries[id.0 as usize].universe as usize].actions
    }

    /// For each target predicate, the places of its ground actions in the list of a state.
    #[inline]
    pub fn by_predicate(&self, id: StateId) -> &[Range<u32>] {
        &self.universes[self.entries[id.0 as usize].universe as usize].by_predicate
    }

    /// All atoms that hold for some ground action of the `p`-th target predicate.
    #[inline]
    pub fn reach(&self, id: StateId, p: usize) -> &[u64] {
        let entry = &self.entries[id.0 as usize];
        let words = entry.grounding.words();
        &entry.reach[p * words..(p + 1) * words]
    }

    /// The mask set of each ground action of a state.
    #[inline]
    pub fn sets(&self, id: StateId) -> &[SetId] {
        &self.entries[id.0 as usize].sets
    }

    /// All mask sets, in the order of their ids.
    pub fn mask_sets(&self) -> &[Arc<MaskSet>] {
        &self.sets.sets
    }

    /// The runs of up to 64 ground actions of the `p`-th target predicate: the number of the first, and its first
    /// action's place in the state's list.
    #[inline]
    pub fn runs(&self, id: StateId, p: usize) -> Runs {
        let entry = &self.entries[id.0 as usize];
        let by_predicate = &self.universes[entry.universe as usize].by_predicate;
        let before: u32 = by_predicate[..p].iter().map(|span| span.len().div_ceil(RUN) as u32).sum();
        let span = &by_predicate[p];
        Runs { number: entry.runs + before, from: span.start, to: span.end }
    }

    /// Which of the actions of a run a body derives, as a set of bits.
    #[inline]
    pub fn derived(&mut self, id: StateId, run: &Runs, body: &[u64]) -> u64 {
        let grounding = &self.entries[id.0 as usize].grounding;
        let derive = || {
            let holds = |&a: &u32| within(body, grounding.flat(a as usize));
            run.actions().filter(holds).fold(0, |set, a| set | 1 << (a - run.from))
        };
        let &[body] = body else { return derive() };
        let place = self.memo.place(run.number, body);
        if place.run != run.number || place.body != body {
            *place = Remembered { body, run: run.number, derived: derive() };
        }
        place.derived
    }

    /// The learner that decides in a state.
    #[inline]
    pub fn learner(&self, id: StateId) -> usize {
        self.entries[id.0 as usize].learner as usize
    }

    /// The ids of all states kept.
    pub fn ids(&self) -> impl Iterator<Item = StateId> + use<> {
        (0..self.entries.len() as u32).map(StateId)
    }
}

/// So many ground actions are looked at together.
pub const RUN: usize = u64::BITS as usize;

/// The ground actions of a target predicate in a state, a run at a time.
#[derive(Clone, Debug)]
pub struct Runs {
    number: u32,
    /// The first action of the run, by its place in the state's list.
    pub from: u32,
    to: u32,
}

impl Runs {
    /// The actions of the run; none after the last run.
    #[inline]
    fn actions(&self) -> Range<u32> {
        self.from..self.to.min(self.from + RUN as u32)
    }

    /// Whether all runs are done.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.from >= self.to
    }

    /// Goes on to the next run.
    #[inline]
    pub fn advance(&mut self) {
        self.number += 1;
        self.from += RUN as u32;
    }
}

/// Whether a body is within one of the masks given end to end.
#[inline]
pub fn within(body: &[u64], masks: &[u64]) -> bool {
    match *body {
        [b] => masks.iter().any(|m| b & !m == 0),
        _ => masks.chunks_exact(body.len()).any(|m| subset(body, m)),
    }
}

/// The union of the masks of each target predicate's ground actions.
fn reach(grounding: &Grounding, by_predicate: &[Range<u32>]) -> Box<[u64]> {
    let words = grounding.words();
    let mut union = vec![0; words * by_predicate.len()];
    for (span, union) in by_predicate.iter().zip(union.chunks_exact_mut(words)) {
        for mask in span.clone().flat_map(|a| grounding.masks(a as usize)) {
            union.iter_mut().zip(mask).for_each(|(u, m)| *u |= m);
        }
    }
    union.into()
}
