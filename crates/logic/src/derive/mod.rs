//! Derived predicates: what follows from the facts of a world by definitions in the domain or the policy.
//!
//! | file | holds |
//! |---|---|
//! | `program.rs` | [`Program`]: definitions in ids |
//! | `read.rs` | definitions from text |
//! | `strata.rs` | the order in which they can be evaluated |
//! | `engine.rs` | what follows from a set of facts |
//! | `compare.rs` | comparisons of numbers |
//! | `native.rs` | closures and distances by breadth-first search |
//! | `maintain.rs` | derived facts kept up to date as others change |
//! | `why.rs` | why a derived fact holds |

mod compare;
mod engine;
mod maintain;
mod native;
mod program;
mod read;
mod strata;
mod why;

pub(crate) use compare::Interned;
pub use engine::{MOST_FACTS, closure_clauses};
pub use maintain::Maintained;
pub use program::{DefiningClause, Definition, How, Program};
pub(crate) use read::{Declared, Sugar};
pub use why::{Derivation, Explainer, Reason, why};
