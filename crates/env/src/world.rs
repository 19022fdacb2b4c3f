//! What every world offers, and how a world is bound to the alphabet that describes it.

use std::sync::Arc;

use derrl_logic::{Action, Alphabet, Facts, GroundAction, Object, Pred, Type, Types, Universe};

use crate::error::{Error, nearest};
use crate::journal::Journal;
use crate::rng::Rng;
use crate::scene::Scene;

/// Whether an episode goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It goes on.
    Running,
    /// It ended by itself: goal reached or lost.
    Terminated,
    /// It ran into its horizon.
    Truncated,
}

/// What an action brought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The reward of this action.
    pub reward: f64,
    /// Whether the episode goes on.
    pub status: Status,
}

/// A relational MDP with a fixed horizon: draws instances of one task and says what actions do.
///
/// The same seed gives the same instances and, for the same actions, the same facts and rewards. An action
/// whose preconditions fail changes nothing and still costs what an action costs.
pub trait Env: Send {
    /// Draws an instance of the task and starts an episode in it.
    fn reset(&mut self, rng: &mut Rng);

    /// Starts another episode in the instance drawn last.
    fn restart(&mut self);

    /// The objects of the current instance. Instances with the same objects share one allocation.
    fn universe(&self) -> &Arc<Universe>;

    /// Writes what holds now, state and background, into `facts` (cleared and sealed by the caller's helper
    /// [`observe`]).
    fn facts(&self, facts: &mut Facts);

    /// A number that tells apart any two states of this universe with different facts, or `None` where the
    /// state does not fit 128 bits. Equal codes in one universe mean equal facts.
    fn code(&self) -> Option<u128>;

    /// Writes the ground actions that are legal now, in the order of [`GroundAction`]s and each once, to the end of
    /// `actions` and returns true; or returns false: then any action may be tried.
    fn legal(&self, _actions: &mut Vec<GroundAction>) -> bool {
        false
    }

    /// What has changed since the episode began, where states are large and steps change little of them: the facts of the
    /// initial state with these changes are those of the current one.
    fn journal(&self) -> Option<&Journal> {
        None
    }

    /// Acts. The objects are of the current universe; any tuple of them is allowed.
    fn step(&mut self, action: Action, args: &[Object], rng: &mut Rng) -> Outcome;

    /// Whether the episode has reached what the task asks for.
    fn succeeded(&self) -> bool;

    /// How many agents act, one after the other; the world moves on when all have. Most worlds have one.
    fn agents(&self) -> usize {
        1
    }

    /// The agent whose turn it is: [`Env::universe`], [`Env::facts`], [`Env::code`] and [`Env::step`] are about it.
    fn turn(&self) -> usize {
        0
    }

    /// How many learners there are: agents that share a learner share its rules.
    fn learners(&self) -> usize {
        1
    }

    /// The learner of an agent.
    fn learner(&self, _agent: usize) -> usize {
        0
    }

    /// In a world of several agents, what each earned in the round that the last step completed; empty while a round is
    /// under way. The reward of the completing step is then their mean, that of the others 0.
    fn round_rewards(&self) -> &[f64] {
        &[]
    }

    /// Why the world cannot go on, where it depends on something that can fail. Episodes are then cut short, and what
    /// they gave is void.
    fn fault(&self) -> Option<&str> {
        None
    }

    /// How many episodes a score takes by default: fewer where episodes are costly.
    fn episodes(&self) -> usize {
        200
    }

    /// The program behind the world, with its version, where there is one.
    fn simulator(&self) -> Option<String> {
        None
    }

    /// What other controllers of note achieve in the current instance, by name.
    fn references(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// What the current state looks like; by default there is no picture beyond the facts. Not made for speed.
    fn scene(&self) -> Scene {
        Scene::Facts
    }

    /// The best-known expected return (not discounted) from the start of the current instance: by search where
    /// that is feasible, else by a hand-written controller.
    fn best_return(&self) -> f64;
}

/// The facts of the current state and what follows from them, in place of what `facts` held.
pub fn observe(env: &dyn Env, facts: &mut Facts) {
    facts.clear();
    env.facts(facts);
    facts.seal();
    facts.derive(env.universe());
}

/// What a world calls its predicates, actions and types, in the order in which its code numbers them.
#[derive(Clone, Copy, Debug)]
pub struct Vocabulary {
    /// Predicates it gives facts of, by name and arity.
    pub predicates: &'static [(&'static str, usize)],
    /// Actions it understands, by name and arity.
    pub actions: &'static [(&'static str, usize)],
}

/// How the ids of an alphabet correspond to a world's own numbering.
#[derive(Clone, Debug)]
pub struct Binding {
    predicates: Vec<Option<Pred>>,
    actions: Vec<usize>,
}

impl Binding {
    /// Binds an alphabet to a world's vocabulary. An alphabet may leave out predicates and actions that the
    /// world has; one that names what the world lacks is an error.
    pub fn new(world: &'static str, vocabulary: &Vocabulary, alphabet: &Alphabet) -> Result<Binding, Error> {
        let lacks = |kind: &'static str, name: &str, arity: usize, known: &[(&str, usize)]| {
            let known: Vec<String> = known.iter().map(|(n, a)| format!("{n}/{a}")).collect();
            let wanted = format!("{name}/{arity}");
            Error::Vocabulary {
                world,
                kind,
                help: nearest(&wanted, known.iter().map(String::as_str)),
                name: wanted,
            }
        };
        for p in alphabet.predicates.iter().filter(|p| p.role.is_given()) {
            let signature = (p.name.as_str(), p.args.len());
            if !vocabulary.predicates.contains(&signature) {
                return Err(lacks("predicate", signature.0, signature.1, vocabulary.predicates));
            }
        }
        // A domain may define a predicate that the world has: then its definition says what holds.
        let given = |&(name, arity): &(&str, usize)| {
            alphabet.find_predicate(name, arity).filter(|&p| alphabet.predicate(p).role.is_given())
        };
        let predicates = vocabulary.predicates.iter().map(given).collect();
        let actions = alphabet
            .actions
            .iter()
            .map(|a| {
                let signature = (a.name.as_str(), a.args.len());
                vocabulary
                    .actions
                    .iter()
                    .position(|&known| known == signature)
                    .ok_or_else(|| lacks("action", signature.0, signature.1, vocabulary.actions))
            })
            .collect::<Result<_, _>>()?;
        Ok(Binding { predicates, actions })
    }

    /// The world's own number of an action.
    #[inline]
    pub fn action(&self, action: Action) -> usize {
        self.actions[action.0 as usize]
    }

    /// Adds a fact by the world's own number of the predicate; nothing if the alphabet leaves it out.
    #[inline]
    pub fn say(&self, facts: &mut Facts, predicate: usize, args: &[Object]) {
        if let Some(p) = self.predicates[predicate] {
            facts.push(p, args);
        }
    }

    /// Notes that a fact holds from now on, or no longer does, by the world's own number of the predicate; nothing if the
    /// alphabet leaves it out.
    pub fn note(&self, journal: &mut Journal, predicate: usize, args: &[Object], holds: bool) {
        if let Some(p) = self.predicates[predicate] {
            journal.note(p, args, holds);
        }
    }
}

/// The alphabet's type of that name, or `any` where it does not declare one.
pub fn type_named(alphabet: &Alphabet, name: &str) -> Type {
    alphabet.types.find(name).unwrap_or(Types::ANY)
}
