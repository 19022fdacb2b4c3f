//! Policies as programs of other languages, each of which takes the same decisions as the policy.
//!
//! What a policy leaves unsaid is said: distinct terms stand for distinct objects (explicit disequalities), a head
//! variable that the body leaves open ranges over the objects of its type (an enumeration of objects), the highest
//! value wins and equal values tie. Every program says in its header how facts go in and best actions come out. It
//! expects facts of the types that the domain declares.
//!
//! ```
//! use derrl_export::{export, find};
//! use derrl_logic::{Alphabet, Policy, Source};
//!
//! let domain = ":- action(move(block, place)). :- state(top(block)). :- subtype(block, place).";
//! let domain = Alphabet::parse(&Source::new("blocks.pl", domain))?;
//! let policy = Policy::parse(&Source::new("policy.pl", "0.9::move(X, Y) :- top(X), top(Y)."), &domain)?;
//!
//! let text = export(find("prolog")?, &policy, &domain)?;
//! assert!(text.contains("value(move(X, Y), 0.9) :- top(X), top(Y), X \\= Y."));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `target.rs` | [`TARGETS`], the table of languages |
//! | `explicit.rs` | a policy with nothing left unsaid: what all languages are written from |
//! | `vocabulary.rs` | names that a language does not allow, and names that are still free |
//! | `prolog.rs`, `problog.rs`, `asp.rs` | logic programs |
//! | `python.rs`, `rust.rs`, `c.rs` | functions from facts to actions |
//! | `sumo/` | a policy for traffic lights as a controller for SUMO |
//! | `program.rs`, `dot.rs` | for reading: a loop of guarded steps, a picture of the rules |

mod asp;
mod c;
mod definitions;
mod dot;
mod explicit;
mod problog;
mod program;
mod prolog;
mod python;
mod rust;
mod sumo;
mod target;
mod vocabulary;

pub use asp::{asp_constant, asp_name};
pub use problog::problog_name;
pub use prolog::prolog_name;
pub use target::{TARGETS, Target, UnknownTarget, Unsupported, export, find};
