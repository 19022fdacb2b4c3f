//! What can go wrong, for those who use the library.

use derrl_env::Fault;

/// Anything that can go wrong in the library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A domain file, a policy or a fact is not well-formed.
    #[error(transparent)]
    Language(#[from] derrl_logic::Error),
    /// A world, task or option that cannot be had.
    #[error(transparent)]
    World(derrl_env::Error),
    /// The world failed in the middle of what it was doing: its own error, whole.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// A setting, or a domain, that learning cannot work with.
    #[error(transparent)]
    Learning(derrl_learn::Error),
    /// A language that policies are not exported to.
    #[error(transparent)]
    Export(#[from] derrl_export::UnknownTarget),
    /// A policy that a language cannot say.
    #[error(transparent)]
    Unsupported(#[from] derrl_export::Unsupported),
    /// An observer asked to stop before the end.
    #[error("interrupted")]
    Interrupted,
    /// More instances than can be looked at: what that would take.
    #[error("{0}")]
    TooLarge(String),
    /// A state that a policy does not know: why, in words.
    #[error("the policy does not know this state: {}", .0.join("; "))]
    Outside(Vec<String>),
    /// An action that is none of the state's.
    #[error("{0}")]
    Action(String),
}

impl From<derrl_env::Error> for Error {
    fn from(error: derrl_env::Error) -> Error {
        match error {
            derrl_env::Error::World(fault) => Error::Fault(fault),
            derrl_env::Error::Language(error) => Error::Language(error),
            other => Error::World(other),
        }
    }
}

impl From<derrl_learn::Error> for Error {
    fn from(error: derrl_learn::Error) -> Error {
        match error {
            derrl_learn::Error::World(fault) => Error::Fault(fault),
            derrl_learn::Error::Env(error) => error.into(),
            other => Error::Learning(other),
        }
    }
}
