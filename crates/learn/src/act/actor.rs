//! A policy acting as its text reads: argmax of F, ties broken uniformly by a seeded generator.

use std::borrow::Cow;
use std::sync::Arc;

use derrl_env::{Env, Journal, Rng, observe};
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
}

struct Compiled {
    universe: Arc<Universe>,
    decider: Decider,
    /// All ground actions, listed when no rule has fired for the first time.
    all: Option<Arc<[GroundAction]>>,
    /// Decisions taken before, by the code of the state.
    known: FxHashMap<u128, Arc<[GroundAction]>>,
    /// Made when a world first shows a journal.
    follower: Option<Follower>,
}

/// Decisions remembered for a universe, at the most.
const MOST_KNOWN: usize = 1 << 16;

impl<'a> Actor<'a> {
    /// An actor for a policy over this alphabet.
    pub fn new(policy: &'a Policy, alphabet: &'a Alphabet) -> Actor<'a> {
        Actor {
            alphabet: Cow::Borrowed(alphabet),
            policy: Cow::Borrowed(policy),
            facts: Facts::new(alphabet),
            compiled: Vec::new(),
        }
    }

    /// An actor that keeps its policy.
    pub fn owned(policy: Policy, alphabet: &Alphabet) -> Actor<'static> {
        Actor {
            alphabet: Cow::Owned(alphabet.clone()),
            policy: Cow::Owned(policy),
            facts: Facts::new(alphabet),
            compiled: Vec::new(),
        }
    }

    /// The policy.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// An action of highest value in the current state; where no rule fires, any action.
    pub fn act(&mut self, env: &dyn Env, rng: &mut Rng) -> GroundAction {
        let universe = env.universe();
        let at = self.compiled.iter().position(|c| Arc::ptr_eq(&c.universe, universe)).unwrap_or_else(|| {
            let decider = Decider::new(&self.policy, &self.alphabet, universe);
            let universe = Arc::clone(universe);
            self.compiled.push(Compiled {
                universe,
                decider,
                all: None,
                known: FxHashMap::default(),
                follower: None,
            });
            self.compiled.len() - 1
        });
        let compiled = &mut self.compiled[at];
        if let Some(journal) = env.journal() {
            let follower = compiled
                .follower
                .get_or_insert_with(|| Follower::new(&self.policy, &self.alphabet, universe));
            if let Some(agenda) = follower.follow(journal, env, &mut self.facts) {
                let best = agenda.best();
                return best.nth(rng.below(best.len()));
            }
        }
        let code = env.code();
        if let Some(ties) = code.and_then(|code| compiled.known.get(&code)) {
            return ties[rng.below(ties.len())].clone();
        }
        observe(env, &mut self.facts);
        let decision = compiled.decider.decide(&self.facts, &self.alphabet, universe);
        let ties: Arc<[GroundAction]> = if decision.ties.is_empty() {
            let all = compiled.all.get_or_insert_with(|| universe.ground_actions(&self.alphabet).into());
            Arc::clone(all)
        } else {
            decision.ties.into()
        };
        let action = ties[rng.below(ties.len())].clone();
        if let Some(code) = code.filter(|_| compiled.known.len() < MOST_KNOWN) {
            compiled.known.insert(code, ties);
        }
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
    /// `None` where the facts of so many objects do not fit it.
    agenda: Option<Agenda>,
    episode: Option<u64>,
    /// How many changes of the episode have been read.
    read: usize,
}

impl Follower {
    fn new(policy: &Policy, alphabet: &Alphabet, universe: &Universe) -> Follower {
        // An agenda counts substitutions, and parts of a body that share no variable multiply them: the plain decider asks only whether
        // there is one.
        let apart = policy.rules.iter().any(|r| r.parts_apart(alphabet.action(r.action).args.len()) > 1);
        let agenda = if apart { None } else { Agenda::new(policy, alphabet, universe) };
        Follower { agenda, episode: None, read: 0 }
    }

    /// The agenda of the current state: after the changes not yet read or, in another episode, from all its facts.
    fn follow(&mut self, journal: &Journal, env: &dyn Env, facts: &mut Facts) -> Option<&mut Agenda> {
        let agenda = self.agenda.as_mut()?;
        if self.episode == Some(journal.episode()) {
            for (pred, args, holds) in journal.since(self.read) {
                agenda.change(pred, args, holds);
            }
        } else {
            observe(env, facts);
            agenda.load(facts);
            facts.clear();
            self.episode = Some(journal.episode());
        }
        self.read = journal.len();
        Some(agenda)
    }
}
