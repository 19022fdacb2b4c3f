//! Improving a policy in all states, by what its training instances are worth.
//!
//! The states of small training instances come again and again. What actions lead to is noted ([`table`], [`explore`]), the
//! value of every state met follows by dynamic programming ([`values`]), and the regret of an action in a state is what the
//! best action is worth there less what it is worth itself ([`regret`]). Rules are put in, at any priority, that lower the sum
//! of the regrets over the states that the policy comes to: a beam search over bodies for all places at once ([`bodies`]).
//! Rules and atoms that lower it by less than their price go, and the order is settled in the same way ([`edit`]); where there are larger
//! training instances, these decide between orders that small ones hardly tell apart ([`arrange`]). Where the
//! language cannot say what is needed it widens ([`widen`]), by predicates of its own in the end ([`invent`]).
//!
//! This is approximate policy iteration in the language of rules (Fern, Yoon and Givan, 2006), on a table instead of
//! rollouts. It knows no model, only what it saw. Where states never come again no regret is known, and nothing is proposed.

mod arrange;
mod bodies;
mod draft;
mod driver;
mod edit;
mod explore;
mod invent;
mod regret;
mod table;
mod trial;
mod values;
mod widen;

pub use bodies::Reach;
pub use draft::{Draft, Levels, Placed, levels_of};
pub use driver::{Improved, Improver, WideningStep};
pub use edit::edit;
pub use regret::{Regrets, Sample};
pub use trial::{Trial, starts};
pub use widen::Widening;
