//! Joins of bodies with large sets of facts that change one at a time.
//!
//! | file | holds |
//! |---|---|
//! | `store.rs` | facts packed into numbers, with indexes |
//! | `body.rs` | bodies, and the order in which their atoms are joined |
//! | `solve.rs` | the joins |

mod body;
mod solve;
mod store;

pub(crate) use body::{Atom, Body, Identity, Plan, Slot, Vars, all_vars, atom, named};
pub(crate) use solve::Join;
pub(crate) use store::{Packing, Relation};
