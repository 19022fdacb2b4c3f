//! What can go wrong while a page is made.

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The training curve of a run cannot be read.
    #[error("metrics.jsonl is damaged in line {line}: {problem}")]
    Metrics {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// The world cannot be made.
    #[error(transparent)]
    World(#[from] derrl_env::Error),
    /// An episode cannot be run, or a policy not verified.
    #[error(transparent)]
    Learner(#[from] derrl_learn::Error),
    /// Something is not what it should be as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The states of this world cannot be walked.
    #[error("this world cannot be walked")]
    NoSpace,
    /// The template asks for something that there is not.
    #[error("the template asks for `{0}`, which is not known")]
    Template(String),
}
