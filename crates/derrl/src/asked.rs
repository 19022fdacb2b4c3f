//! What is asked of a domain beside its name.

use std::path::PathBuf;

/// Which PDDL problems, and what is forbidden in them or in any other domain.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// PDDL problems to train on: files, or folders of them.
    pub train: Vec<PathBuf>,
    /// PDDL problems to score on: files, or folders of them, a task each.
    pub test: Vec<PathBuf>,
    /// Steps in a PDDL problem at the most (default: 20, and 10 per object).
    pub horizon: Option<usize>,
    /// A file of rules that forbid, beside those of the domain file.
    pub shield: Option<PathBuf>,
}
