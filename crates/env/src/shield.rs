//! Worlds under a shield: what rules forbid is not among the legal actions, so that whoever acts, in training or later, acts
//! within them.
//!
//! A shield is part of an alphabet (`never(move(X, Y)) :- fragile(Y).`). [`World`](crate::World) wraps every environment and
//! every space that it makes for such an alphabet. Where all actions are forbidden, the least bad are legal: see [`Shield`].

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use derrl_logic::{Action, Alphabet, Facts, GroundAction, Left, Object, Shield, Universe, legal_actions};
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::env::{Cost, Entered, Env, Outcome, observe};
use crate::fault::Fault;
use crate::journal::Journal;
use crate::rng::Rng;
use crate::scene::Scene;
use crate::space::{Family, Next, Size, Space, observe_state};

/// How often a shield took part, over all environments of a world.
#[derive(Debug, Default)]
pub struct ShieldCounts {
    steps: AtomicU64,
    restricted: AtomicU64,
    forced: AtomicU64,
    violations: AtomicU64,
}

/// How often a shield took part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ShieldTally {
    /// Actions taken.
    pub steps: u64,
    /// Those of them in states where something was forbidden.
    pub restricted: u64,
    /// Those of them in states where everything was: one of the least bad was taken.
    pub forced: u64,
    /// Forbidden actions that were taken although others were not forbidden. Whoever chooses among legal actions takes none.
    pub violations: u64,
}

impl ShieldTally {
    fn all(&self) -> [u64; 4] {
        [self.steps, self.restricted, self.forced, self.violations]
    }

    /// What came after an earlier count.
    #[must_use]
    pub fn since(&self, before: &ShieldTally) -> ShieldTally {
        let [now, then] = [self.all(), before.all()];
        let [steps, restricted, forced, violations] = std::array::from_fn(|i| now[i].saturating_sub(then[i]));
        ShieldTally { steps, restricted, forced, violations }
    }
}

impl ShieldCounts {
    fn all(&self) -> [&AtomicU64; 4] {
        [&self.steps, &self.restricted, &self.forced, &self.violations]
    }

    /// The counts so far. Environments that act report at the start and at the end of their episodes.
    pub fn tally(&self) -> ShieldTally {
        let [steps, restricted, forced, violations] = self.all().map(|count| count.load(Ordering::Relaxed));
        ShieldTally { steps, restricted, forced, violations }
    }

    fn add(&self, tally: &ShieldTally) {
        for (count, more) in self.all().into_iter().zip(tally.all()) {
            count.fetch_add(more, Ordering::Relaxed);
        }
    }
}

/// What may be done in a state.
#[derive(Debug)]
struct Allowed {
    /// In order.
    actions: Vec<GroundAction>,
    left: Left,
}

/// Actions of states that are remembered, at the most.
const MOST_KNOWN: usize = 1 << 18;
/// Universes that are remembered, at the most.
const MOST_UNIVERSES: usize = 64;

/// Finds out what is allowed, and remembers it for states that have codes.
#[derive(Debug)]
struct Guard {
    alphabet: Arc<Alphabet>,
    facts: Facts,
    places: Vec<(Arc<Universe>, Shield)>,
    known: FxHashMap<(usize, u128), Arc<Allowed>>,
    /// Actions in `known`.
    held: usize,
}

impl Guard {
    fn new(alphabet: &Arc<Alphabet>) -> Guard {
        Guard {
            facts: Facts::new(alphabet),
            alphabet: Arc::clone(alphabet),
            places: Vec::new(),
            known: FxHashMap::default(),
            held: 0,
        }
    }

    /// The place of the shield of a universe; `None` where nothing is forbidden.
    fn enter(&mut self, universe: &Arc<Universe>) -> Option<usize> {
        if let Some(at) = self.places.iter().position(|(known, _)| Arc::ptr_eq(known, universe)) {
            return Some(at);
        }
        if self.places.len() >= MOST_UNIVERSES {
            self.places.clear();
            self.forget();
        }
        self.places.push((Arc::clone(universe), Shield::new(&self.alphabet, universe)?));
        Some(self.places.len() - 1)
    }

    fn forget(&mut self) {
        self.known.clear();
        self.held = 0;
    }

    /// What is allowed in a state of this code, which `look` writes to the facts and of which it lists the legal actions.
    fn allowed(
        &mut self,
        universe: &Arc<Universe>,
        code: Option<u128>,
        look: impl FnOnce(&mut Facts, &mut Vec<GroundAction>) -> bool,
    ) -> Arc<Allowed> {
        let at = self.enter(universe).expect("a guard is made where something is forbidden");
        if let Some(known) = code.and_then(|code| self.known.get(&(at, code))) {
            return Arc::clone(known);
        }
        let mut actions = Vec::new();
        if !look(&mut self.facts, &mut actions) {
            let listed = legal_actions(&self.facts, &self.alphabet, universe).filter(|all| !all.is_empty());
            actions = listed.unwrap_or_else(|| universe.ground_actions(&self.alphabet));
        }
        let left = self.places[at].1.restrict(&mut actions, 0, &self.facts, universe);
        let allowed = Arc::new(Allowed { actions, left });
        if let Some(code) = code {
            if self.held > MOST_KNOWN {
                self.forget();
            }
            self.held += allowed.actions.len();
            self.known.insert((at, code), Arc::clone(&allowed));
        }
        allowed
    }
}

/// Something that is an environment: the one in a box, or one of a known kind.
pub trait Holds: Send {
    /// The environment.
    fn env(&self) -> &dyn Env;

    /// The environment, to act in.
    fn env_mut(&mut self) -> &mut dyn Env;
}

impl<E: Env> Holds for E {
    fn env(&self) -> &dyn Env {
        self
    }

    fn env_mut(&mut self) -> &mut dyn Env {
        self
    }
}

impl Holds for Box<dyn Env> {
    fn env(&self) -> &dyn Env {
        self.as_ref()
    }

    fn env_mut(&mut self) -> &mut dyn Env {
        self.as_mut()
    }
}

/// An environment under the shield of its alphabet.
pub struct Shielded<E> {
    env: E,
    counts: Arc<ShieldCounts>,
    /// Shared by all copies: what one has found out about a state, the others know.
    guard: Arc<Mutex<Guard>>,
    /// What is allowed now, once somebody has asked.
    now: RefCell<Option<Arc<Allowed>>>,
    /// Steps not yet reported.
    own: ShieldTally,
}

impl<E: Holds> Shielded<E> {
    /// The environment under the shield of an alphabet that has one.
    pub fn new(env: E, alphabet: &Arc<Alphabet>, counts: &Arc<ShieldCounts>) -> Shielded<E> {
        Shielded::guarded(env, counts, Arc::new(Mutex::new(Guard::new(alphabet))))
    }

    fn guarded(env: E, counts: &Arc<ShieldCounts>, guard: Arc<Mutex<Guard>>) -> Shielded<E> {
        let (now, own) = (RefCell::default(), ShieldTally::default());
        Shielded { env, counts: Arc::clone(counts), guard, now, own }
    }

    /// The environment, to begin an episode in another way than by [`Env::reset`].
    pub fn inner_mut(&mut self) -> &mut E {
        self.report();
        &mut self.env
    }

    /// The environment.
    pub fn inner(&self) -> &E {
        &self.env
    }

    fn report(&mut self) {
        self.now.take();
        self.counts.add(&std::mem::take(&mut self.own));
    }

    fn allowed(&self) -> Arc<Allowed> {
        let mut now = self.now.borrow_mut();
        let env = self.env.env();
        let look = |facts: &mut Facts, actions: &mut Vec<GroundAction>| {
            observe(env, facts);
            env.legal(actions)
        };
        let guard = || self.guard.lock().unwrap_or_else(PoisonError::into_inner);
        let find = || guard().allowed(env.universe(), env.code(), look);
        Arc::clone(now.get_or_insert_with(find))
    }
}

impl<E> Drop for Shielded<E> {
    fn drop(&mut self) {
        self.counts.add(&self.own);
    }
}

impl<E: Holds> Env for Shielded<E> {
    fn reset(&mut self, rng: &mut Rng) {
        self.report();
        self.env.env_mut().reset(rng);
    }

    fn restart(&mut self) {
        self.report();
        self.env.env_mut().restart();
    }

    fn legal(&self, actions: &mut Vec<GroundAction>) -> bool {
        actions.extend_from_slice(&self.allowed().actions);
        true
    }

    /// None: those who follow a journal do not ask what is allowed.
    fn journal(&self) -> Option<&Journal> {
        None
    }

    fn step(&mut self, action: Action, args: &[Object], rng: &mut Rng) -> Outcome {
        let allowed = self.allowed();
        self.own.steps += 1;
        if allowed.left.forced {
            self.own.forced += 1;
        } else if allowed.left.forbidden > 0 {
            let order = |known: &GroundAction| (known.action, known.args.as_slice()).cmp(&(action, args));
            self.own.violations += u64::from(allowed.actions.binary_search_by(order).is_err());
        }
        self.own.restricted += u64::from(allowed.left.forbidden > 0);
        self.now.take();
        self.env.env_mut().step(action, args, rng)
    }

    fn universe(&self) -> &Arc<Universe> {
        self.env.env().universe()
    }

    fn facts(&self, facts: &mut Facts) {
        self.env.env().facts(facts);
    }

    fn code(&self) -> Option<u128> {
        self.env.env().code()
    }

    fn succeeded(&self) -> bool {
        self.env.env().succeeded()
    }

    fn has_goal(&self) -> bool {
        self.env.env().has_goal()
    }

    fn agents(&self) -> usize {
        self.env.env().agents()
    }

    fn turn(&self) -> usize {
        self.env.env().turn()
    }

    fn learners(&self) -> usize {
        self.env.env().learners()
    }

    fn learner(&self, agent: usize) -> usize {
        self.env.env().learner(agent)
    }

    fn round_rewards(&self) -> &[f64] {
        self.env.env().round_rewards()
    }

    fn fault(&self) -> Option<&Fault> {
        self.env.env().fault()
    }

    fn cost(&self) -> Cost {
        self.env.env().cost()
    }

    fn instances(&self) -> usize {
        self.env.env().instances()
    }

    fn enter(&mut self, i: usize) -> Entered {
        self.report();
        self.env.env_mut().enter(i)
    }

    fn title(&self) -> Option<&str> {
        self.env.env().title()
    }

    fn spent(&self) -> Option<f64> {
        self.env.env().spent()
    }

    fn simulator(&self) -> Option<String> {
        self.env.env().simulator()
    }

    fn references(&self) -> Vec<(&'static str, f64)> {
        self.env.env().references()
    }

    fn scene(&self) -> Scene {
        self.env.env().scene()
    }

    fn best_return(&self) -> Option<f64> {
        self.env.env().best_return()
    }

    fn copy(&self) -> Option<Box<dyn Env>> {
        let copy = self.env.env().copy()?;
        Some(Box::new(Shielded::guarded(copy, &self.counts, Arc::clone(&self.guard))))
    }
}

/// A space of which every family is under a shield.
pub(crate) struct ShieldedSpace {
    pub space: Box<dyn Space>,
    pub alphabet: Arc<Alphabet>,
}

impl Space for ShieldedSpace {
    fn sizes(&self) -> &[Size] {
        self.space.sizes()
    }

    fn family(&self, size: usize, i: u64) -> Box<dyn Family> {
        let guard = Mutex::new(Guard::new(&self.alphabet));
        Box::new(ShieldedFamily { family: self.space.family(size, i), guard })
    }
}

struct ShieldedFamily {
    family: Box<dyn Family>,
    guard: Mutex<Guard>,
}

impl Family for ShieldedFamily {
    fn legal(&self, state: u128, actions: &mut Vec<GroundAction>) -> bool {
        let look = |facts: &mut Facts, listed: &mut Vec<GroundAction>| {
            observe_state(self.family.as_ref(), state, facts);
            self.family.legal(state, listed)
        };
        let mut guard = self.guard.lock().unwrap_or_else(PoisonError::into_inner);
        // Each state is looked at about once: nothing is remembered.
        actions.extend_from_slice(&guard.allowed(self.family.universe(), None, look).actions);
        true
    }

    fn universe(&self) -> &Arc<Universe> {
        self.family.universe()
    }

    fn title(&self) -> String {
        self.family.title()
    }

    fn name(&self) -> String {
        self.family.name()
    }

    fn label(&self, state: u128) -> Option<String> {
        self.family.label(state)
    }

    fn starts(&self, visit: &mut dyn FnMut(u128, u128)) {
        self.family.starts(visit);
    }

    fn is_closed(&self) -> bool {
        self.family.is_closed()
    }

    fn facts(&self, state: u128, facts: &mut Facts) {
        self.family.facts(state, facts);
    }

    fn step(&self, state: u128, action: Action, args: &[Object]) -> Next {
        self.family.step(state, action, args)
    }

    fn exact_step(&self, state: u128, action: Action, args: &[Object]) -> Next {
        self.family.exact_step(state, action, args)
    }

    fn representative(&self, state: u128) -> u128 {
        self.family.representative(state)
    }

    fn shortest(&self, state: u128) -> Option<u32> {
        self.family.shortest(state)
    }

    fn scene(&self, state: u128) -> Scene {
        self.family.scene(state)
    }
}
