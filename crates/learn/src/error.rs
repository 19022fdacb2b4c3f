//! What can go wrong in learning.

use derrl_env::Fault;
use thiserror::Error as ThisError;

/// The most candidate atoms of an action, about: beyond, they alone would take gigabytes.
pub const MOST_CANDIDATES: f64 = 1e6;

/// A setting, policy or world that learning cannot work with.
#[derive(Clone, Debug, PartialEq, ThisError)]
pub enum Error {
    /// A name that is not in its table.
    #[error("unknown {kind} `{name}`{help}")]
    Unknown {
        /// What the table holds.
        kind: &'static str,
        /// The name asked for.
        name: String,
        /// What was perhaps meant.
        help: String,
    },
    /// A setting outside its range.
    #[error("setting `{name}` is {value}: it must be {range}")]
    Setting {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: String,
        /// What would be right.
        range: &'static str,
    },
    /// The alphabet gives some action nothing to reason with.
    #[error(
        "action `{action}` has no candidate atoms: declare state or background predicates that it may use"
    )]
    NoCandidates {
        /// The action.
        action: String,
    },
    /// The alphabet gives more candidate atoms than can be kept.
    #[error(
        "about {bound:.0e} candidate atoms per action, and at most {MOST_CANDIDATES:.0e} are possible: declare fewer variables, fewer \
         constants or predicates of fewer arguments"
    )]
    TooManyCandidates {
        /// About how many.
        bound: f64,
    },
    /// NLRL has nothing to choose clauses from, or too much.
    #[error("{0}")]
    Templates(String),
    /// A policy that was saved does not fit the domain.
    #[error("a saved policy does not fit the domain: {0}")]
    Policy(String),
    /// A rule to start from that could not be learned.
    #[error("{0}")]
    Given(String),
    /// A verdict that cannot be certified.
    #[error("{0}")]
    Certificate(String),
    /// Soft facts where a policy has no gradient to them.
    #[error("{0}")]
    Soft(String),
    /// A world that is seen whose steps bring too many different things.
    #[error(
        "steps of this world bring {0} different rewards, and symbols are told apart by what they bring: at most 16 are possible"
    )]
    Sight(usize),
    /// A definition from which too much follows, or rules that take too much work.
    #[error("{0}")]
    Definition(derrl_logic::Error),
    /// Somebody asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// A thread of a search failed.
    #[error("a worker failed: {0}")]
    Worker(String),
    /// The world failed in the middle of a run: its own error, whole.
    #[error(transparent)]
    World(#[from] Fault),
    /// An environment could not be made.
    #[error(transparent)]
    Env(#[from] derrl_env::Error),
}

impl Error {
    /// The row of that name, or an error that suggests the nearest one.
    pub fn lookup<T: Copy>(kind: &'static str, name: &str, table: &[(T, &'static str)]) -> Result<T, Error> {
        table.iter().find(|row| row.1 == name).map(|row| row.0).ok_or_else(|| Error::Unknown {
            kind,
            name: name.to_string(),
            help: derrl_env::nearest(name, table.iter().map(|row| row.1)),
        })
    }
}
