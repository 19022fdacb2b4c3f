//! Inventing predicates: a pool of definitions from templates, and which of them is worth having.
//!
//! Definitions are text ([`templates`]), so what is found prints as it was made. Those that hold of the same objects in all
//! states looked at are one ([`pool`]). Each is then offered to the search for rules by itself, and the best few compete in the
//! world ([`step`]).

mod pool;
mod step;
mod templates;

use pool::pool;
pub use templates::Invention;
