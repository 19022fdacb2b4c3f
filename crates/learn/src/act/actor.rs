//! A policy acting as its text reads: argmax of F, ties broken uniformly by a seeded generator.

use std::borrow::Cow;
use std::sync::Arc;

use derrl_env::{Env, Journal, Rng, list_legal, observe, observe_given};
use derrl_logic::{Agenda, Alphabet, Decider, Facts, GroundAction, Policy, Universe};
use rustc_hash::FxHashMap;

/// A policy acting in an environment.
///
/// In small states it joins its rules with all facts, and remembers what it decided where states have codes. Where the world
/// keeps a journal it follows that: then the time of a decision depends on what has changed, not on the size of the state. The
/// decisions are the same.
pub struct Actor<'a> {
    alphabet: Cow<'a, Alphabet>,
    policy: Cow<'a, Policy>,
    facts: Facts,
    compiled: Vec<Compiled>,
    /// The place of each universe in `compiled`: those with the same objects are one.
    places: FxHashMap<Arc<Universe>, usize>,
    /// The universe of the last decision: episodes stay in one.
    current: usize,
    /// The legal actions of the current state, where the world lists them.
    legal: Vec<GroundAction>,
    /// Actions that remembered decisions are among.
    known: usize,
    /// Which values decided so far: those of the rules that were of use, and 0 where none fired.
    decided: Vec<f64>,
}

struct Compiled {
    /// The allocation that was seen last.
    universe: Arc<Universe>,
    decider: Decider,
    /// All ground actions, listed when no rule has fired for the first time.
    all: Option<Arc<[GroundAction]>>,
    /// Decisions taken before, by the code of the state.
    known: FxHashMap<u128, (f64, Arc<[GroundAction]>)>,
    /// Made when a world first shows a journal.
    follower: Option<Follower>,
}

/// Actions that remembered decisions are among, at the most, all universes together: about 16 MiB.
const MOST_KNOWN: usize = 1 << 18;
/// Universes for which the policy is kept compiled, at the most: beyond, all are forgotten.
const MOST_UNIVERSES: usize = 1 << 10;

impl<'a> Actor<'a> {
    /// An actor for a policy over this alphabet.
    pub fn new(policy: &'a Policy, alphabet: &'a Alphabet) -> Actor<'a> {
        Actor {
            alphabet: Cow::Borrowed(alphabet),
            policy: Cow::Borrowed(policy),
            facts: Facts::new(alphabet),
            compiled: Vec::new(),
            places: FxHashMap::default(),
            current: 0,
            legal: Vec::new(),
            known: 0,
            decided: Vec::new(),
        }
    }

    /// An actor that keeps its policy.
    pub fn owned(policy: Policy, alphabet: &Alphabet) -> Actor<'static> {
        Actor {
            alphabet: Cow::Owned(alphabet.clone()),
            policy: Cow::Owned(policy),
            facts: Facts::new(alphabet),
            compiled: Vec::new(),
            places: FxHashMap::default(),
            current: 0,
            legal: Vec::new(),
            known: 0,
            decided: Vec::new(),
        }
    }

    /// The policy.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Which values decided so far: those of the rules that were of use, and 0 where none fired.
    pub fn decided(&self) -> &[f64] {
        &self.decided
    }

    fn note(&mut self, value: f64) {
        if !self.decided.contains(&value) {
            self.decided.push(value);
        }
    }

    /// The place of the policy compiled for a universe.
    fn enter(&mut self, universe: &Arc<Universe>) -> usize {
        let known = |at: usize| self.compiled.get(at).is_some_and(|c| Arc::ptr_eq(&c.universe, universe));
        if known(self.current) {
            return self.current;
        }
        self.current = if let Some(&at) = self.places.get(universe) {
            self.compiled[at].universe = Arc::clone(universe);
            at
        } else {
            if self.compiled.len() >= MOST_UNIVERSES {
                self.compiled.clear();
                self.places.clear();
                self.known = 0;
            }
            self.places.insert(Arc::clone(universe), self.compiled.len());
            self.compiled.push(Compiled {
                universe: Arc::clone(universe),
                decider: Decider::new(&self.policy, &self.alphabet, universe),
                all: None,
                known: FxHashMap::default(),
                follower: None,
            });
            self.compiled.len() - 1
        };
        self.current
    }

    /// An action of highest value in the current state; where no rule fires, any action. Where the world lists legal actions,
    /// it is one of these.
    pub fn act(&mut self, env: &dyn Env, rng: &mut Rng) -> GroundAction {
        let universe = env.universe();
        let at = self.enter(universe);
        let compiled = &mut self.compiled[at];
        if let Some(journal) = env.journal() {
            let follower = compiled
                .follower
                .get_or_insert_with(|| Follower::new(&self.policy, &self.alphabet, universe));
            if let Some(agenda) = follower.follow(journal, env, &mut self.facts) {
                let best = agenda.best();
                let (value, action) = (best.value(), best.nth(rng.below(best.len())));
                self.note(value);
                return action;
            }
        }
        // States with numbers hardly come again.
        let code = if self.alphabet.measures.is_empty() { env.code() } else { None };
        if let Some((value, ties)) = code.and_then(|code| compiled.known.get(&code)) {
            let (value, action) = (*value, ties[rng.below(ties.len())].clone());
            self.note(value);
            return action;
        }
        observe(env, &mut self.facts);
        let legal =
            list_legal(env, &self.alphabet, &self.facts, &mut self.legal).then_some(self.legal.as_slice());
        let decision = compiled.decider.decide_among(&self.facts, &self.alphabet, universe, legal);
        let value = decision.value;
        let ties: Arc<[GroundAction]> = if !decision.ties.is_empty() {
            decision.ties.into()
        } else if let Some(legal) = legal {
            legal.into()
        } else {
            let all = compiled.all.get_or_insert_with(|| universe.ground_actions(&self.alphabet).into());
            Arc::clone(all)
        };
        let action = ties[rng.below(ties.len())].clone();
        if let Some(code) = code.filter(|_| self.known < MOST_KNOWN) {
            // A list that all states share counts once at most.
            self.known += if Arc::strong_count(&ties) > 1 { 1 } else { ties.len() };
            compiled.known.insert(code, (value, ties));
        }
        self.note(value);
        action
    }

    /// What following journals takes: facts held, and bytes on the heap. Nothing where no world has shown a journal.
    pub fn following(&self) -> (usize, usize) {
        let agendas = self.compiled.iter().filter_map(|c| c.follower.as_ref()?.agenda.as_ref());
        agendas.fold((0, 0), |(facts, bytes), agenda| (facts + agenda.facts(), bytes + agenda.bytes()))
    }
}

/// An agenda that reads along in a journal.
struct Follower {
    /// `None` where the facts of this many objects do not fit it.
    agenda: Option<Agenda>,
    /// Facts with the parts of bodies among their predicates, where these are named.
    wider: Option<Facts>,
    episode: Option<u64>,
    /// How many changes of the episode have been read.
    read: usize,
    /// Whether the domain file says what is legal, which the agenda knows.
    has_legality: bool,
    /// Whether the world lists legal actions itself: an agenda does not see these.
    lists: bool,
}

impl Follower {
    fn new(policy: &Policy, alphabet: &Alphabet, universe: &Universe) -> Follower {
        // An agenda counts substitutions, and parts of a body that share no variable multiply them. Where these are independent, they are
        // named; else the plain decider asks only whether there is one.
        let apart = policy.rules.iter().any(|r| r.parts_apart(alphabet.action(r.action).args.len()) > 1);
        let named = if apart { policy.with_parts_named(alphabet) } else { None };
        let agenda = match &named {
            Some((policy, alphabet)) => Agenda::new(policy, alphabet, universe),
            None if apart => None,
            None => Agenda::new(policy, alphabet, universe),
        };
        Follower {
            agenda,
            wider: named.map(|(_, alphabet)| Facts::new(&alphabet)),
            episode: None,
            read: 0,
            has_legality: alphabet.has_legality(),
            lists: false,
        }
    }

    /// The agenda of the current state: after the changes not yet read or, in another episode, from all its facts.
    fn follow(&mut self, journal: &Journal, env: &dyn Env, facts: &mut Facts) -> Option<&mut Agenda> {
        let agenda = self.agenda.as_mut()?;
        if self.episode == Some(journal.episode()) {
            if self.lists {
                return None;
            }
            for (pred, args, holds) in journal.since(self.read) {
                agenda.change(pred, args, holds);
            }
        } else {
            self.episode = Some(journal.episode());
            self.lists = !self.has_legality && env.legal(&mut Vec::new());
            if self.lists {
                return None;
            }
            let facts = self.wider.as_mut().unwrap_or(facts);
            observe_given(env, facts);
            agenda.load(facts);
            facts.clear();
        }
        self.read = journal.len();
        Some(agenda)
    }
}
