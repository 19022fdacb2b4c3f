//! States met in training, each grounded once.

use std::ops::Range;
use std::sync::Arc;

use derrl_env::{Env, list_legal, observe};
use derrl_logic::{Action, Facts, GroundAction, Grounding, Universe};
use rustc_hash::FxHashMap;

pub use self::lists::{ListId, MaskLists, RowId};
pub use self::runs::RUN;
use self::runs::{RunId, Runs};
use crate::experience::met::{Met, with_pair};
use crate::language::cache::{MOST_UNIVERSES, MOST_WORDS};
use crate::language::ids::Learner;
use crate::language::problem::Problem;

mod lists;
mod runs;

/// A state by its place in [`States`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateId(pub u32);

/// The groundings of the states met so far, found again by the environment's code of the state.
#[derive(Debug)]
pub struct States {
    universes: Vec<Known>,
    /// The place of each universe: those with the same objects are one, whoever made them.
    places: FxHashMap<Arc<Universe>, usize>,
    /// The universe of the last look-up: episodes stay in one.
    current: usize,
    /// By code, for each universe and learner.
    index: Vec<FxHashMap<u128, StateId>>,
    learners: usize,
    entries: Vec<Entry>,
    /// What the entries take, in words.
    words: usize,
    facts: Facts,
    lists: MaskLists,
    runs: Runs,
    met: Met,
}

#[derive(Debug)]
struct Known {
    /// The allocation that was seen last.
    universe: Arc<Universe>,
    /// All its ground actions, listed where any may be tried.
    all: Option<Choices>,
    /// Its number in the shared cache.
    shared: u32,
}

/// The ground actions that a state is about.
#[derive(Debug)]
struct Choices {
    actions: Arc<[GroundAction]>,
    /// The ground actions of each target predicate in runs of up to 64, by their places.
    spans: Vec<Range<usize>>,
    /// Each run with each slot of its action.
    chances: Vec<Chance>,
}

impl Choices {
    fn new(actions: Vec<GroundAction>, problem: &Problem) -> Choices {
        let actions: Arc<[GroundAction]> = actions.into();
        let spans = spans(&actions);
        Choices { chances: chances(&spans, &actions, problem), spans, actions }
    }
}

/// A slot that may derive actions of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chance {
    /// The slot, by its rank among those of a learner, the stronger ones of an action first.
    pub rank: u32,
    /// The run, by its place among those of a state.
    pub run: u32,
    /// The place of the run's first action.
    pub first: u32,
}

/// A state as rules meet it.
#[derive(Clone, Copy, Debug)]
pub struct Meeting<'a> {
    /// What may derive what, run after run.
    pub chances: &'a [Chance],
    runs: &'a [(RunId, u64)],
    all: &'a Runs,
}

impl Meeting<'_> {
    /// 1 if a body, of which the first 64 atoms are given, may derive an action, as its atoms all hold somewhere, else 0.
    #[inline]
    pub fn may_derive(&self, chance: &Chance, first: u64) -> u64 {
        let (_, reach) = self.runs[chance.run as usize];
        u64::from(first & !reach == 0)
    }

    /// The actions of the run that a body derives, a bit each. An empty body abstains.
    #[inline]
    pub fn derived(&self, chance: &Chance, body: &[u64]) -> u64 {
        self.all.get(self.runs[chance.run as usize].0).derived(body)
    }
}

#[derive(Debug)]
struct Entry {
    universe: u32,
    learner: Learner,
    grounding: Arc<Grounding>,
    /// The row of each ground action.
    rows: Box<[RowId]>,
    /// The lists of masks that its actions have, each once, in the order of its actions: sums run in this order, and
    /// have to be the same whatever other states were met before.
    lists: Box<[ListId]>,
    /// The runs of its actions, each with the first 64 atoms that hold for some of them.
    runs: Box<[(RunId, u64)]>,
    /// Its legal actions, where the world lists them.
    legal: Option<Choices>,
}

/// Words that a ground action takes: its own, and those of its arguments.
const ACTION_WORDS: usize = 8;

impl Entry {
    /// About how many words of memory it takes.
    fn words(&self) -> usize {
        let legal = self.legal.as_ref().map_or(0, |l| l.actions.len() * ACTION_WORDS + l.chances.len() * 2);
        let places = self.rows.len().div_ceil(2) + self.lists.len().div_ceil(2) + self.runs.len() * 2;
        self.grounding.len() + self.grounding.actions() + places + legal
    }
}

impl States {
    /// No states yet.
    pub fn new(problem: &Problem) -> States {
        States {
            universes: Vec::new(),
            places: FxHashMap::default(),
            current: 0,
            index: Vec::new(),
            learners: problem.learners(),
            entries: Vec::new(),
            words: 0,
            facts: Facts::new(&problem.alphabet),
            lists: MaskLists::default(),
            runs: Runs::default(),
            met: Met::default(),
        }
    }

    /// Empties the cache if it has outgrown its bound. Ids given before are void afterwards.
    pub fn trim(&mut self) {
        if self.words + self.runs.len() > MOST_WORDS || self.universes.len() > MOST_UNIVERSES {
            self.universes.clear();
            self.places.clear();
            self.index.iter_mut().for_each(FxHashMap::clear);
            self.entries.clear();
            self.words = 0;
            self.lists.clear();
            self.runs.clear();
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

    /// The current state of the environment, in which this learner is to decide; grounded if it is new. `None` if that
    /// takes long and `stop` says so.
    #[inline]
    pub fn look_up(
        &mut self,
        problem: &Problem,
        env: &dyn Env,
        learner: Learner,
        stop: &dyn Fn() -> bool,
    ) -> Option<StateId> {
        let universe = self.universe(problem, env);
        let code = env.code();
        if let Some(code) = code
            && let Some(&id) = self.index[universe as usize * self.learners + learner.index()].get(&code)
        {
            return Some(id);
        }
        self.add(problem, env, universe, learner, code, stop)
    }

    #[inline]
    fn universe(&mut self, problem: &Problem, env: &dyn Env) -> u32 {
        let wanted = env.universe();
        if let Some(known) = self.universes.get(self.current)
            && Arc::ptr_eq(&known.universe, wanted)
        {
            return self.current as u32;
        }
        self.enter(problem, wanted)
    }

    #[cold]
    fn enter(&mut self, problem: &Problem, wanted: &Arc<Universe>) -> u32 {
        self.current = if let Some(&at) = self.places.get(wanted) {
            self.universes[at].universe = Arc::clone(wanted);
            at
        } else {
            let shared = problem.cache.universe(wanted);
            self.universes.push(Known { universe: Arc::clone(wanted), all: None, shared });
            self.index.resize_with(self.universes.len() * self.learners, FxHashMap::default);
            self.places.insert(Arc::clone(wanted), self.universes.len() - 1);
            self.universes.len() - 1
        };
        self.current as u32
    }

    #[cold]
    fn add(
        &mut self,
        problem: &Problem,
        env: &dyn Env,
        universe: u32,
        learner: Learner,
        code: Option<u128>,
        stop: &dyn Fn() -> bool,
    ) -> Option<StateId> {
        let mut listed = Vec::new();
        let facts = &mut self.facts;
        observe(env, facts);
        let legal =
            list_legal(env, &problem.alphabet, facts, &mut listed).then(|| Choices::new(listed, problem));
        let known = &mut self.universes[universe as usize];
        let choices = match &legal {
            Some(legal) => legal,
            None => known.all.get_or_insert_with(|| {
                Choices::new(known.universe.ground_actions(&problem.alphabet), problem)
            }),
        };
        let compute = || problem.grounder.ground_unless(&choices.actions, facts, &known.universe, stop);
        let grounding = if let Some(code) = code {
            problem.cache.get(known.shared, code, compute)?
        } else {
            Arc::new(compute()?)
        };
        let id = StateId(self.entries.len() as u32);
        let of_action: Vec<ListId> = (choices.actions.iter().enumerate())
            .map(|(a, ground)| {
                let kind = problem.kind_of(ground.action);
                self.lists.add(problem, learner, kind, grounding.flat(a))
            })
            .collect();
        let row = |(ground, &list): (&GroundAction, &ListId)| {
            let RowId(first) = self.lists.get(list).first;
            RowId(first + problem.place_in_kind(ground.action) as u32)
        };
        let run = |span: &Range<usize>| {
            let id = self.runs.add(&self.lists, &of_action[span.clone()], grounding.words());
            (id, self.runs.get(id).reach())
        };
        let mut pairs: Vec<(ListId, Action)> = of_action
            .iter()
            .zip(choices.actions.iter())
            .map(|(&list, ground)| (list, ground.action))
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        let hash =
            pairs.iter().fold(0, |hash, &(list, action)| with_pair(hash, action, self.lists.get(list).hash));
        if self.met.wants(hash) {
            let sight =
                |&(list, action): &(ListId, Action)| (action, Arc::clone(&self.lists.get(list).masks));
            self.met.add(hash, pairs.iter().map(sight).collect());
        }
        let entry = Entry {
            universe,
            learner,
            rows: choices.actions.iter().zip(&of_action).map(row).collect(),
            lists: in_order(&of_action),
            runs: choices.spans.iter().map(run).collect(),
            grounding,
            legal,
        };
        self.words += entry.words();
        self.entries.push(entry);
        if let Some(code) = code {
            self.index[universe as usize * self.learners + learner.index()].insert(code, id);
        }
        Some(id)
    }

    /// The masks of a state.
    #[inline]
    pub fn grounding(&self, id: StateId) -> &Grounding {
        &self.entries[id.0 as usize].grounding
    }

    /// What may be done in a state: its legal actions where the world lists them, else all.
    #[inline]
    fn choices<'a>(&'a self, entry: &'a Entry) -> &'a Choices {
        let of_universe = || self.universes[entry.universe as usize].all.as_ref();
        entry
            .legal
            .as_ref()
            .or_else(of_universe)
            .expect("a state without legal actions of its own has those of its universe")
    }

    /// The ground actions of a state, in the order of its grounding: the legal ones where the world lists them, else all.
    #[inline]
    pub fn actions(&self, id: StateId) -> &Arc<[GroundAction]> {
        &self.choices(&self.entries[id.0 as usize]).actions
    }

    /// The row of each ground action of a state.
    #[inline]
    pub fn rows(&self, id: StateId) -> &[RowId] {
        &self.entries[id.0 as usize].rows
    }

    /// The lists of masks that the ground actions of a state have, each once.
    #[inline]
    pub fn lists_of(&self, id: StateId) -> &[ListId] {
        &self.entries[id.0 as usize].lists
    }

    /// All lists of masks.
    pub fn lists(&self) -> &MaskLists {
        &self.lists
    }

    /// A state as rules meet it.
    #[inline]
    pub fn meeting(&self, id: StateId) -> Meeting<'_> {
        let entry = &self.entries[id.0 as usize];
        Meeting { chances: &self.choices(entry).chances, runs: &entry.runs, all: &self.runs }
    }

    /// The learner that decides in a state.
    #[inline]
    pub fn learner(&self, id: StateId) -> Learner {
        self.entries[id.0 as usize].learner
    }

    /// The distinct states met so far, whether their groundings are still kept or not.
    pub fn met(&self) -> &Met {
        &self.met
    }

    /// Takes these states as met before.
    pub fn remember(&mut self, met: Met) {
        self.met = met;
    }
}

/// Each of these once, by its first place.
fn in_order(lists: &[ListId]) -> Box<[ListId]> {
    let mut places: Vec<(ListId, usize)> = lists.iter().copied().zip(0..).collect();
    places.sort_unstable();
    places.dedup_by_key(|(list, _)| *list);
    places.sort_unstable_by_key(|&(_, place)| place);
    places.into_iter().map(|(list, _)| list).collect()
}

/// The ground actions of a universe in runs of one target predicate each.
fn spans(actions: &[GroundAction]) -> Vec<Range<usize>> {
    let of_one = actions.chunk_by(|a, b| a.action == b.action);
    let mut from = 0;
    let runs = of_one.flat_map(|of_one| of_one.chunks(RUN)).map(|run| {
        from += run.len();
        from - run.len()..from
    });
    runs.collect()
}

/// Each run with each slot of its action.
fn chances(spans: &[Range<usize>], actions: &[GroundAction], problem: &Problem) -> Vec<Chance> {
    let of_run = |(run, span): (u32, &Range<usize>)| {
        let first = span.start as u32;
        let slots = problem.slots_of(Learner::FIRST, actions[span.start].action);
        slots.iter().map(move |slot| Chance { rank: slot.0, run, first })
    };
    (0..).zip(spans).flat_map(of_run).collect()
}

#[cfg(test)]
mod tests;
