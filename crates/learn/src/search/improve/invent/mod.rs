//! Inventing predicates: a pool of definitions from templates, and which of them is worth having.
//!
//! Definitions are text ([`templates`]), so what is found prints as it was made. Those that hold of the same objects in all
//! states looked at are one ([`pool`]). Each is then offered to the search for rules by itself, and the best few compete in the
//! world ([`step`]). Before that, where rules lose much or are many, shorter ones are looked for in words of their own ([`second_look`]),
//! distances along the steps of a graph among them ([`distances`]).

mod distances;
mod pool;
mod second_look;
mod step;
mod templates;

pub use templates::Invention;
