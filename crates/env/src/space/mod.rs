//! Every instance of a world up to a size, for those who want to look at all of them.
//!
//! A world that can list its instances offers a [`Space`]: sizes from the smallest up, each a number of [`Family`]s. A
//! family is a finite graph: its instances share their objects and what never changes (say, the goal), its states are
//! numbers, and actions lead from one to another. There is no horizon.

mod blocks;
mod countdown;
mod doorkey;
mod gridworld;
mod rearrange;
mod towers;

use std::borrow::Cow;
use std::sync::Arc;

use derrl_logic::{Action, Alphabet, Constant, Facts, GroundAction, Object, Universe};

use crate::error::Error;
use crate::scene::Scene;

pub(crate) use self::{
    blocks::blocks, countdown::countdown, doorkey::doorkey, gridworld::gridworld, rearrange::rearrange,
};

/// Whether all instances of a world can be listed.
#[derive(Clone)]
pub enum Exhaustive {
    /// They can, size by size.
    Sizes {
        /// What sizes are counted in: `blocks`.
        unit: Cow<'static, str>,
        /// The smallest and the largest size there is.
        range: (usize, usize),
        /// Whether they are lists of instances that somebody chose, whose states are not counted before they are walked.
        chosen: bool,
        /// Makes the space.
        make: MakeSpace,
    },
    /// They cannot, and this is why.
    Never(Cow<'static, str>),
}

/// Makes the space of a world for an alphabet. The extent is within the world's range.
pub type MakeSpace = Arc<dyn Fn(&Arc<Alphabet>, &Extent) -> Result<Box<dyn Space>, Error> + Send + Sync>;

impl Exhaustive {
    /// Instances that can be listed size by size.
    pub fn sizes<F>(unit: impl Into<Cow<'static, str>>, range: (usize, usize), make: F) -> Exhaustive
    where
        F: Fn(&Arc<Alphabet>, &Extent) -> Result<Box<dyn Space>, Error> + Send + Sync + 'static,
    {
        Exhaustive::Sizes { unit: unit.into(), range, chosen: false, make: Arc::new(make) }
    }

    /// The same, where a size is a list of instances that somebody chose.
    #[must_use]
    pub fn of_chosen(self) -> Exhaustive {
        match self {
            Exhaustive::Sizes { unit, range, make, .. } => {
                Exhaustive::Sizes { unit, range, chosen: true, make }
            }
            never @ Exhaustive::Never(_) => never,
        }
    }
}

/// Which instances are asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extent {
    /// The largest size.
    pub largest: usize,
    /// The most obstacles, for worlds that have some.
    pub obstacles: Option<usize>,
    /// The objects that are told apart by name. Where states differ only in how other objects are called, a space may
    /// give one of them, with the number of instances that it stands for.
    pub named: Vec<Constant>,
    /// Whether to give every state, also those that differ from others in names only.
    pub every_state: bool,
}

/// Obstacles at the most where nothing is said.
const OBSTACLES: usize = 2;

impl Extent {
    /// How many obstacles there are at the most, in worlds that have some.
    pub fn most_obstacles(&self) -> usize {
        self.obstacles.unwrap_or(OBSTACLES)
    }
}

/// One size of a space.
#[derive(Clone, Debug, PartialEq)]
pub struct Size {
    /// The size, in the world's unit.
    pub size: usize,
    /// In words: `3 blocks`.
    pub title: String,
    /// How many families it has.
    pub families: u64,
    /// How many states all of them have together, about.
    pub states: f64,
    /// How many states the largest of them has, about.
    pub widest: f64,
}

/// Every instance of a world up to a size.
pub trait Space: Send + Sync {
    /// The sizes, from the smallest up.
    fn sizes(&self) -> &[Size];

    /// The `i`-th family of the `size`-th entry of [`Space::sizes`].
    fn family(&self, size: usize, i: u64) -> Box<dyn Family>;
}

/// Where an action leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// To a state, perhaps the same.
    State(u128),
    /// To what was asked for.
    Reached,
    /// To an end that is not what was asked for.
    Lost,
}

/// Instances with the same objects and the same background, as a finite graph of states.
pub trait Family: Send + Sync {
    /// The objects. Families with the same objects share one allocation.
    fn universe(&self) -> &Arc<Universe>;

    /// What its instances have in common, in words: `3 blocks, goal_on(a, b)`.
    fn title(&self) -> String;

    /// What tells it from the other families of its size, for readers of certificates.
    fn name(&self) -> String {
        self.title()
    }

    /// What tells a state from the others of the family that it can be told from, in words, for readers of certificates; `None`
    /// where the world has none.
    fn label(&self, _state: u128) -> Option<String> {
        None
    }

    /// Calls `visit` with every state that an instance starts in, and with the number of instances that this state stands
    /// for. Instances that cannot be solved are left out.
    fn starts(&self, visit: &mut dyn FnMut(u128, u128));

    /// Whether actions lead from starts to starts only, until the end.
    fn is_closed(&self) -> bool;

    /// Writes what holds in a state into `facts`.
    fn facts(&self, state: u128, facts: &mut Facts);

    /// Writes the ground actions that are legal in a state to the end of `actions`, in order, and returns true; or returns
    /// false: then any action may be tried. As in [`Env::legal`](crate::Env::legal).
    fn legal(&self, _state: u128, _actions: &mut Vec<GroundAction>) -> bool {
        false
    }

    /// Where an action leads, up to the names of objects that are not told apart.
    fn step(&self, state: u128, action: Action, args: &[Object]) -> Next;

    /// Where an action leads, with all names kept.
    fn exact_step(&self, state: u128, action: Action, args: &[Object]) -> Next {
        self.step(state, action, args)
    }

    /// The state that stands for all that differ from this one in names that are not told apart.
    fn representative(&self, state: u128) -> u128 {
        state
    }

    /// The fewest actions from a state to what is asked for; `None` where no actions lead there.
    fn shortest(&self, state: u128) -> Option<u32>;

    /// What a state looks like: the same scene as that of the world's environment.
    fn scene(&self, state: u128) -> Scene;
}

/// The facts of a state and what follows from them, in place of what `facts` held.
pub fn observe_state(family: &dyn Family, state: u128, facts: &mut Facts) {
    facts.clear();
    family.facts(state, facts);
    facts.seal();
    facts.derive(family.universe());
}
