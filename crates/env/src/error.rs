//! What can be wrong with a request for a world.

use thiserror::Error;

use crate::fault::Fault;

/// A world, task or option that cannot be had.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Error {
    /// No world has this name.
    #[error("unknown domain `{name}`{help}")]
    UnknownDomain {
        /// The name asked for.
        name: String,
        /// What was perhaps meant.
        help: String,
    },
    /// The world has no such task.
    #[error("domain `{domain}` has no task `{name}`{help}")]
    UnknownTask {
        /// The world.
        domain: String,
        /// The task asked for.
        name: String,
        /// What was perhaps meant.
        help: String,
    },
    /// The world has no task at all.
    #[error("domain `{domain}` has no task: give it one with `World::task`")]
    NoTask {
        /// The world.
        domain: String,
    },
    /// An alphabet names what its world does not have.
    #[error("the environment `{world}` has no {kind} `{name}`{help}")]
    Vocabulary {
        /// The world.
        world: String,
        /// `predicate`, `measure` or `action`.
        kind: &'static str,
        /// The signature asked for.
        name: String,
        /// What was perhaps meant.
        help: String,
    },
    /// A program that the world needs is missing or does not work.
    #[error("{0}")]
    Simulator(String),
    /// An option that the world does not take, or a value outside its range.
    #[error("{0}")]
    Option(String),
    /// The text of a domain file is wrong.
    #[error(transparent)]
    Language(#[from] derrl_logic::Error),
    /// The world itself failed, while it was made.
    #[error(transparent)]
    World(#[from] Fault),
}

/// `; did you mean X?` with the closest name, or a list of all names where none is close.
pub fn nearest<'a>(wanted: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    let best = known.iter().map(|k| (strsim::jaro_winkler(wanted, k), k)).max_by(|a, b| a.0.total_cmp(&b.0));
    match best {
        Some((score, name)) if score > 0.8 => format!("; did you mean `{name}`?"),
        _ => format!("; there are: {}", known.join(", ")),
    }
}
