//! Predicates that could be invented: definitions from templates, each meaning once.
//!
//! Definitions are text ([`templates`]), so what is found prints as it was made. Those that hold of the same objects in all
//! states looked at are one ([`pool`]). Distances along the steps of a graph are among them ([`distances`]).

mod distances;
mod pool;
mod templates;

pub use pool::{distances, extended, graphs, pool};
pub use templates::Invention;
