//! What every world offers to those who act in it.

use std::sync::Arc;

use derrl_logic::{Action, Alphabet, Facts, GroundAction, Object, Universe, legal_actions};

use crate::fault::Fault;
use crate::journal::Journal;
use crate::rng::Rng;
use crate::scene::{Objects, Scene};

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

impl Outcome {
    /// This reward, and the episode goes on.
    pub fn running(reward: f64) -> Outcome {
        Outcome { reward, status: Status::Running }
    }

    /// This reward, and the episode has ended by itself.
    pub fn terminated(reward: f64) -> Outcome {
        Outcome { reward, status: Status::Terminated }
    }

    /// This reward, and the episode is cut off at its horizon.
    pub fn truncated(reward: f64) -> Outcome {
        Outcome { reward, status: Status::Truncated }
    }
}

/// What is to be done in an instance that was entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entered {
    /// An episode has begun.
    Begun,
    /// The goal holds at first.
    Reached,
    /// The goal does not hold, and nothing can be done about it.
    Stuck,
}

/// What episodes of a world cost, which decides how many of them the learner may spend on comparing policies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cost {
    /// Microseconds: hundreds of episodes are run wherever they help.
    Cheap,
    /// Seconds: a score takes so many episodes, and what needs many more is left out.
    Dear {
        /// How many episodes a score takes.
        episodes: usize,
    },
}

impl Cost {
    /// How many episodes a score takes by default.
    pub fn episodes(self) -> usize {
        match self {
            Cost::Cheap => 200,
            Cost::Dear { episodes } => episodes,
        }
    }
}

/// A relational MDP with a fixed horizon, as the engine sees it: draws instances of one task and says what actions do.
///
/// The same seed gives the same instances and, for the same actions, the same facts and rewards. An action
/// whose preconditions fail changes nothing and still costs what an action costs.
///
/// This trait is made for speed: objects and predicates are numbers. [`named::Env`](crate::named::Env) asks for less and
/// speaks in names.
pub trait Env: Send {
    /// Draws an instance of the task and starts an episode in it.
    fn reset(&mut self, rng: &mut Rng);

    /// Starts another episode in the instance drawn last.
    fn restart(&mut self);

    /// The objects of the current instance. It is quickest if instances with the same objects share one allocation.
    fn universe(&self) -> &Arc<Universe>;

    /// Writes what holds now, state and background, into `facts` (cleared and sealed by the caller's helper
    /// [`observe`]).
    fn facts(&self, facts: &mut Facts);

    /// A number that tells apart any two states of this universe with different facts or legal actions, or `None` where
    /// the state does not fit 128 bits. Equal codes in one universe mean equal facts. States with a code are grounded once.
    fn code(&self) -> Option<u128> {
        None
    }

    /// Writes the ground actions that are legal now, in the order of [`GroundAction`]s and each once, to the end of
    /// `actions` and returns true; or returns false: then any action may be tried.
    ///
    /// A world that lists legal actions has at least one wherever an episode is running: where there is none, the
    /// episode has ended. Only actions on distinct objects of the declared types are listed: one that has equal arguments is
    /// an action of its own, of fewer arguments.
    fn legal(&self, _actions: &mut Vec<GroundAction>) -> bool {
        false
    }

    /// What has changed since the episode began, where states are large and steps change little of them: the facts of the
    /// initial state with these changes are those of the current one.
    fn journal(&self) -> Option<&Journal> {
        None
    }

    /// Acts. The objects are of the current universe. Where the world lists legal actions, it is one of them; else any tuple
    /// of objects is allowed.
    fn step(&mut self, action: Action, args: &[Object], rng: &mut Rng) -> Outcome;

    /// Whether the episode has reached what the task asks for.
    fn succeeded(&self) -> bool;

    /// Whether the task asks for anything that is reached or not. Where it does not, as where queues are to be kept short, the
    /// share of successes means nothing to people and is not reported.
    fn has_goal(&self) -> bool {
        true
    }

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
    fn fault(&self) -> Option<&Fault> {
        None
    }

    /// What an episode costs.
    fn cost(&self) -> Cost {
        Cost::Cheap
    }

    /// How many instances the task lists, where somebody chose them: a score then plays each of them once. 0 where instances are
    /// drawn.
    fn instances(&self) -> usize {
        0
    }

    /// Starts an episode in the `i`-th instance that the task lists, and says what is to be done there.
    fn enter(&mut self, _i: usize) -> Entered {
        self.restart();
        Entered::Begun
    }

    /// What the current instance is called, where it has a name: its file.
    fn title(&self) -> Option<&str> {
        None
    }

    /// What the steps of this episode have cost, where that is more than a number of steps.
    fn spent(&self) -> Option<f64> {
        None
    }

    /// The program behind the world, with its version, where there is one.
    fn simulator(&self) -> Option<String> {
        None
    }

    /// What other controllers of note achieve in the current instance, by name.
    fn references(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    /// What the current state looks like; by default its objects, and the facts say the rest. Not made for speed.
    fn scene(&self) -> Scene {
        Scene::Objects(Objects::of(self.universe()))
    }

    /// The best-known return (not discounted) from the start of the current instance; `None` where nobody knows. Where
    /// chance takes part it is the expected one, and once an episode is over that of the best policy with the same luck, where
    /// that can be told: a score and its yardstick then have the same draws.
    fn best_return(&self) -> Option<f64> {
        None
    }

    /// A copy in the same state that goes its own way, where the world can be copied: then its states can be walked.
    fn copy(&self) -> Option<Box<dyn Env>> {
        None
    }
}

/// The facts of the current state and what follows from them, in place of what `facts` held.
pub fn observe(env: &dyn Env, facts: &mut Facts) {
    observe_given(env, facts);
    facts.derive(env.universe());
}

/// The facts of the current state as the world gives them, in place of what `facts` held: far fewer than what follows from them,
/// where that says what is legal.
pub fn observe_given(env: &dyn Env, facts: &mut Facts) {
    facts.clear();
    env.facts(facts);
    facts.seal();
}

/// The legal actions of the current state in place of what `actions` held, and true; or false, and none, where any may be
/// tried. They are what the world lists or else, where the domain file says what is legal, what follows from the facts that
/// [`observe`] gave.
pub fn list_legal(
    env: &dyn Env,
    alphabet: &Alphabet,
    facts: &Facts,
    actions: &mut Vec<GroundAction>,
) -> bool {
    actions.clear();
    if !env.legal(actions)
        && let Some(all) = legal_actions(facts, alphabet, env.universe())
    {
        *actions = all;
    }
    // A world that has nothing legal left is one that goes on all the same: then anything may be tried.
    !actions.is_empty()
}

/// The actions that may be taken in the current state: the legal ones where that means something, else all. Looks at the facts
/// by itself.
pub fn choices(env: &dyn Env, alphabet: &Alphabet) -> Vec<GroundAction> {
    let mut facts = Facts::new(alphabet);
    if alphabet.has_legality() {
        observe(env, &mut facts);
    }
    let mut actions = Vec::new();
    if list_legal(env, alphabet, &facts, &mut actions) {
        actions
    } else {
        env.universe().ground_actions(alphabet)
    }
}
