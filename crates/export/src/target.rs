//! The table of languages.

use derrl_logic::diagnostic::nearest;
use derrl_logic::{Alphabet, Policy};

use crate::explicit::Explicit;
use crate::{asp, dot, problog, program, prolog, python, rust};

/// A language that policies are written in.
#[derive(Debug)]
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// The usual ending of its files.
    pub extension: &'static str,
    /// One line on what comes out.
    pub summary: &'static str,
    write: fn(&Explicit<'_>) -> String,
}

/// Every language. Adding one is a file and a row.
pub static TARGETS: &[Target] = &[
    Target { name: "prolog", extension: "pl", summary: "a program for SWI-Prolog", write: prolog::write },
    Target {
        name: "problog",
        extension: "pl",
        summary: "a program for ProbLog; the probability of an action is its value",
        write: problog::write,
    },
    Target { name: "asp", extension: "lp", summary: "an answer-set program for clingo", write: asp::write },
    Target {
        name: "python",
        extension: "py",
        summary: "a Python module without dependencies",
        write: python::write,
    },
    Target {
        name: "rust",
        extension: "rs",
        summary: "a Rust module without dependencies",
        write: rust::write,
    },
    Target {
        name: "program",
        extension: "txt",
        summary: "a loop of guarded steps, to read",
        write: program::write,
    },
    Target {
        name: "dot",
        extension: "dot",
        summary: "a picture of the rules, for Graphviz",
        write: dot::write,
    },
];

/// A language that is not in the table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown target `{name}`; {help}")]
pub struct UnknownTarget {
    /// The name asked for.
    pub name: String,
    /// What was perhaps meant.
    pub help: String,
}

/// The language of that name, or an error that suggests the nearest one.
pub fn find(name: &str) -> Result<&'static Target, UnknownTarget> {
    let names = || TARGETS.iter().map(|t| t.name);
    TARGETS.iter().find(|t| t.name == name).ok_or_else(|| UnknownTarget {
        name: name.to_string(),
        help: match nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are: {}", names().collect::<Vec<_>>().join(", ")),
        },
    })
}

/// The policy as a text of that language.
pub fn export(target: &Target, policy: &Policy, alphabet: &Alphabet) -> String {
    (target.write)(&Explicit::new(policy, alphabet))
}
