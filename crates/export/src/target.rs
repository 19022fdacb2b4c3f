//! The table of languages.

use derrl_logic::diagnostic::nearest;
use derrl_logic::{Alphabet, Policy};

use crate::explicit::Explicit;
use crate::{asp, c, dot, problog, program, prolog, python, rust, sumo};

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
    /// What of a policy the language cannot say, where there is something.
    lacks: fn(&Explicit<'_>) -> Option<String>,
}

/// Everything can be said.
fn nothing(_: &Explicit<'_>) -> Option<String> {
    None
}

/// Numbers cannot be said.
fn numbers(policy: &Explicit<'_>) -> Option<String> {
    policy
        .has_numbers()
        .then(|| "it compares numbers, which are exported to c, python and program".to_string())
}

/// Every language. Adding one is a file and a row.
pub static TARGETS: &[Target] = &[
    Target {
        name: "prolog",
        extension: "pl",
        summary: "a program for SWI-Prolog",
        write: prolog::write,
        lacks: numbers,
    },
    Target {
        name: "problog",
        extension: "pl",
        summary: "a program for ProbLog; the probability of an action is its value",
        write: problog::write,
        lacks: numbers,
    },
    Target {
        name: "asp",
        extension: "lp",
        summary: "an answer-set program for clingo",
        write: asp::write,
        lacks: numbers,
    },
    Target {
        name: "python",
        extension: "py",
        summary: "a Python module without dependencies",
        write: python::write,
        lacks: nothing,
    },
    Target {
        name: "rust",
        extension: "rs",
        summary: "a Rust module without dependencies",
        write: rust::write,
        lacks: numbers,
    },
    Target {
        name: "c",
        extension: "c",
        summary: "a C99 file without heap or libraries",
        write: c::write,
        lacks: c::lacks,
    },
    Target {
        name: "sumo",
        extension: "py",
        summary: "a controller that operates the lights of a SUMO scenario, in Python (signals)",
        write: sumo::write,
        lacks: sumo::lacks,
    },
    Target {
        name: "program",
        extension: "txt",
        summary: "a loop of guarded steps, to read",
        write: program::write,
        lacks: nothing,
    },
    Target {
        name: "dot",
        extension: "dot",
        summary: "a picture of the rules, for Graphviz",
        write: dot::write,
        lacks: nothing,
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

/// A policy that cannot be said in a language.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this policy cannot be exported to {target}: {why}")]
pub struct Unsupported {
    /// The language.
    pub target: &'static str,
    /// What it cannot say.
    pub why: String,
}

/// The policy as a text of that language; an error where the language cannot say all of it. What a shield forbids is forbidden
/// there too; where it forbids everything, the program's policy says nothing.
pub fn export(target: &Target, policy: &Policy, alphabet: &Alphabet) -> Result<String, Unsupported> {
    let carrying = (!alphabet.shield.is_empty()).then(|| policy.carrying_shield(alphabet));
    let (policy, alphabet) = carrying.as_ref().map_or((policy, alphabet), |(p, a)| (p, a.as_ref()));
    let explicit = Explicit::new(policy, alphabet);
    match (target.lacks)(&explicit) {
        Some(why) => Err(Unsupported { target: target.name, why }),
        None => Ok((target.write)(&explicit)),
    }
}
