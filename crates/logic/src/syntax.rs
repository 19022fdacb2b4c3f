//! The syntax tree: what a text says, in names and with spans, before anything is resolved.

use std::fmt;
use std::sync::Arc;

/// A constant of the language: an integer (also negative) or an atom such as `floor` or `'Big Room'`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Constant {
    /// An integer.
    Int(i64),
    /// An atom by its name, without quotes.
    Name(Arc<str>),
}

impl Constant {
    /// The atom of that name.
    pub fn name(name: &str) -> Constant {
        Constant::Name(Arc::from(name))
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Constant::Int(i) => write!(f, "{i}"),
            Constant::Name(n) => write!(f, "{n}"),
        }
    }
}
