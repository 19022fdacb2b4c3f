//! Rules that fit what actions lose: a beam search over bodies, and edits of whole lists.
//!
//! It knows states with the regret of each action ([`regret`]), wherever these come from. Rules are put in, at any priority, that lower
//! the sum of the regrets: a beam search over bodies for all places at once ([`bodies`]). Rules and atoms that lower it by less than
//! their price go, and the order is settled in the same way ([`edit`]).

mod bodies;
mod draft;
mod edit;
mod regret;

pub use bodies::Reach;
pub use draft::{Draft, Levels, Placed, levels_of, values};
pub use edit::{Edited, edit};
pub use regret::{Groundings, Regrets, Sample};
