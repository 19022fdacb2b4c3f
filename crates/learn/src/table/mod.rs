//! What was seen of the world: states by their codes, and what each action led to there.
//!
//! States are kept with their facts and not with masks, so that what was seen serves every language that the search tries.

pub mod explore;
pub mod values;

use crate::hashing::digest;
use crate::limits::{COMPARED, NOTED_STATES};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use derrl_env::{Env, Outcome, Status, list_legal, observe};
use derrl_logic::{Alphabet, Decider, Facts, GroundAction, Grounder, Grounding, Policy, Universe};
use rustc_hash::FxHashMap;

use self::values::Values;

/// A state by its place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place(pub u32);

/// One thing that came of an action, and how often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// The state that followed; `None` where the episode ended. A horizon is no end: the state beyond it follows.
    pub next: Option<Place>,
    /// The reward.
    pub reward: f64,
    /// How often.
    pub count: f64,
    /// Whether the horizon cut the episode off there. What is paid then depends on the time.
    cut: bool,
}

/// A state that was met.
#[derive(Debug)]
pub struct Noted {
    universe: usize,
    facts: Facts,
    /// The actions that can be taken.
    pub actions: Arc<[GroundAction]>,
    /// What came of each of them.
    pub seen: Vec<Vec<Seen>>,
    /// How often the policy came here.
    pub visits: f64,
}

impl Noted {
    /// How often an action was tried.
    pub fn tries(&self, action: usize) -> f64 {
        self.seen[action].iter().map(|s| s.count).sum()
    }

    /// How many actions were tried.
    pub fn tried(&self) -> usize {
        self.seen.iter().filter(|s| !s.is_empty()).count()
    }
}

#[derive(Debug)]
struct Known {
    universe: Arc<Universe>,
    /// All ground actions, listed where the world does not say which are legal.
    all: Option<Arc<[GroundAction]>>,
}

/// All states met, with what came of the actions tried in them.
#[derive(Debug)]
pub struct Table {
    alphabet: Arc<Alphabet>,
    universes: Vec<Known>,
    current: usize,
    index: FxHashMap<(usize, u128), Place>,
    states: Vec<Noted>,
    /// How many actions of all states there are, by the number of objects of the state and that of arguments.
    choices: FxHashMap<(usize, usize), u64>,
    facts: Facts,
    /// Environment steps taken.
    pub steps: u64,
    /// Whether some action had two different outcomes in one state.
    pub by_chance: bool,
    /// What states are worth at discounts that were asked for, after so many steps.
    worth: RefCell<(u64, Vec<Rc<Values>>)>,
}

impl Table {
    /// Nothing seen yet.
    pub fn new(alphabet: &Arc<Alphabet>) -> Table {
        Table {
            facts: Facts::new(alphabet),
            alphabet: Arc::clone(alphabet),
            universes: Vec::new(),
            current: 0,
            index: FxHashMap::default(),
            states: Vec::new(),
            choices: FxHashMap::default(),
            steps: 0,
            by_chance: false,
            worth: RefCell::default(),
        }
    }

    /// What states are worth at this discount. Asked for again before anything else was seen, it takes no time.
    pub fn values(&self, gamma: f64) -> Rc<Values> {
        let mut known = self.worth.borrow_mut();
        if known.0 != self.steps {
            *known = (self.steps, Vec::new());
        }
        if let Some(values) = known.1.iter().find(|v| v.gamma == gamma) {
            return Rc::clone(values);
        }
        let values = Rc::new(Values::new(self, gamma));
        known.1.push(Rc::clone(&values));
        values
    }

    /// The actions that a policy takes in each state, by their places among the actions there.
    pub fn taken(&self, policy: &Policy, alphabet: &Alphabet) -> Vec<Vec<usize>> {
        let mut deciders: FxHashMap<usize, Decider> = FxHashMap::default();
        let taken = |state: &Noted| {
            let universe = &self.universes[state.universe].universe;
            let decider =
                deciders.entry(state.universe).or_insert_with(|| Decider::new(policy, alphabet, universe));
            let facts = state.facts.in_alphabet(alphabet, universe);
            let legal = Some(state.actions.as_ref());
            let ties = decider.decide_among(&facts, alphabet, universe, legal).ties;
            let all = 0..state.actions.len();
            if ties.is_empty() {
                all.collect()
            } else {
                all.filter(|&a| ties.contains(&state.actions[a])).collect()
            }
        };
        self.states.iter().map(taken).collect()
    }

    /// How many states are noted.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there is no room for more states.
    pub fn is_full(&self) -> bool {
        self.states.len() >= NOTED_STATES
    }

    /// A state.
    pub fn state(&self, at: Place) -> &Noted {
        &self.states[at.0 as usize]
    }

    /// All states in the order in which they were met.
    pub fn places(&self) -> impl DoubleEndedIterator<Item = Place> + use<> {
        (0..self.states.len() as u32).map(Place)
    }

    /// How many ways there are to put objects for the variables of a language, over all actions of all states met.
    pub fn substitutions(&self, alphabet: &Alphabet) -> f64 {
        let of = |(&(objects, arguments), &count): (&(usize, usize), &u64)| {
            let spare = alphabet.variables_for(arguments).saturating_sub(arguments);
            count as f64 * (objects as f64).powi(spare as i32)
        };
        self.choices.iter().map(of).sum()
    }

    /// The same over as many states as are compared at the most: those beyond are sampled.
    pub fn substitutions_in_sample(&self, alphabet: &Alphabet) -> f64 {
        let share = (COMPARED as f64 / self.len().max(1) as f64).min(1.0);
        share * self.substitutions(alphabet)
    }

    /// The facts of a state, and its objects.
    pub fn facts(&self, at: Place) -> (&Facts, &Universe) {
        let state = self.state(at);
        (&state.facts, &self.universes[state.universe].universe)
    }

    /// The masks of a state's actions, in the alphabet of the table or a wider one.
    pub fn ground(&self, at: Place, grounder: &Grounder, alphabet: &Alphabet) -> Grounding {
        let (facts, universe) = self.facts(at);
        grounder.ground(&self.state(at).actions, &facts.in_alphabet(alphabet, universe), universe)
    }

    /// The current state of the world, noted if it is new.
    pub fn at(&mut self, env: &dyn Env) -> Place {
        let universe = self.universe(env.universe());
        let code = env.code().unwrap_or_else(|| {
            observe(env, &mut self.facts);
            digest(&self.facts)
        });
        if let Some(&known) = self.index.get(&(universe, code)) {
            return known;
        }
        observe(env, &mut self.facts);
        let actions = self.actions(env, universe);
        let objects = self.universes[universe].universe.len();
        for alike in actions.chunk_by(|a, b| a.args.len() == b.args.len()) {
            *self.choices.entry((objects, alike[0].args.len())).or_default() += alike.len() as u64;
        }
        let place = Place(self.states.len() as u32);
        self.states.push(Noted {
            universe,
            facts: self.facts.clone(),
            seen: vec![Vec::new(); actions.len()],
            actions,
            visits: 0.0,
        });
        self.index.insert((universe, code), place);
        place
    }

    /// The number of a universe. Equal ones are the same, whoever allocated them.
    fn universe(&mut self, wanted: &Arc<Universe>) -> usize {
        let is = |k: &Known| Arc::ptr_eq(&k.universe, wanted) || *k.universe == **wanted;
        if self.universes.get(self.current).is_some_and(is) {
            return self.current;
        }
        self.current = self.universes.iter().position(is).unwrap_or_else(|| {
            self.universes.push(Known { universe: Arc::clone(wanted), all: None });
            self.universes.len() - 1
        });
        self.current
    }

    /// The actions that can be taken now.
    fn actions(&mut self, env: &dyn Env, universe: usize) -> Arc<[GroundAction]> {
        let mut legal = Vec::new();
        if list_legal(env, &self.alphabet, &self.facts, &mut legal) {
            return legal.into();
        }
        let known = &mut self.universes[universe];
        let all = known.all.get_or_insert_with(|| known.universe.ground_actions(&self.alphabet).into());
        Arc::clone(all)
    }

    /// Notes what an action brought, given the state that the world is in afterwards. Returns that state while the episode
    /// goes on.
    pub fn note(&mut self, from: Place, action: usize, outcome: Outcome, env: &dyn Env) -> Option<Place> {
        self.steps += 1;
        let next = (outcome.status != Status::Terminated).then(|| self.at(env));
        let seen = &mut self.states[from.0 as usize].seen[action];
        let (reward, cut) = (outcome.reward, outcome.status == Status::Truncated);
        match seen.iter_mut().find(|s| s.next == next && s.reward == reward && s.cut == cut) {
            Some(s) => s.count += 1.0,
            None => seen.push(Seen { next, reward, count: 1.0, cut }),
        }
        self.by_chance |= !cut && seen.iter().filter(|s| !s.cut).count() > 1;
        next.filter(|_| outcome.status == Status::Running)
    }

    /// Notes that the policy came to a state.
    pub fn visit(&mut self, at: Place) {
        self.states[at.0 as usize].visits += 1.0;
    }

    /// Forgets which states the policy came to.
    pub fn forget_visits(&mut self) {
        self.states.iter_mut().for_each(|s| s.visits = 0.0);
    }
}
