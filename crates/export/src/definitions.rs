//! What derived predicates mean, for languages with clauses.

use std::fmt::Write as _;

use derrl_logic::Pred;

use crate::explicit::{Clause, Explicit, Meaning, Write, apply};
use crate::vocabulary::Vocabulary;

/// How a logic program writes definitions.
pub(crate) struct Style<'s> {
    /// A name as the language has it, with quotes where it needs them.
    pub name: &'s dyn Fn(Pred) -> String,
    /// A term of the head of a clause.
    pub clause: &'s dyn Fn(&Clause) -> (Vec<String>, String),
    /// Closures over tuples and distances: the new predicate, a fresh name, and what they follow.
    pub sugar: &'s dyn Fn(&Sugar) -> String,
}

/// A closure over tuples or a distance in names.
pub(crate) struct Sugar {
    /// The predicate that is defined.
    pub name: String,
    /// A name for a predicate that helps to define it.
    pub help: String,
    /// What a step is.
    pub step: String,
    /// The goals, where these are not arguments.
    pub goals: Option<String>,
    pub closure: bool,
    /// How many objects a node has.
    pub k: usize,
}

impl Sugar {
    /// Variables for the nodes with these letters: `A1, A2, B1, B2`.
    pub fn nodes(&self, letters: &str) -> String {
        let node = |letter: char| (1..=self.k).map(move |i| format!("{letter}{i}"));
        letters.chars().flat_map(node).collect::<Vec<_>>().join(", ")
    }
}

/// The definitions that the rules need, each under its text as a comment.
pub(crate) fn write(policy: &Explicit<'_>, names: &mut Vocabulary, style: &Style<'_>) -> String {
    let mut text = String::new();
    if policy.definitions.is_empty() {
        return text;
    }
    text.push_str("\n% What is derived from the facts.\n");
    for defined in &policy.definitions {
        for line in &defined.text {
            let _ = writeln!(text, "% {line}");
        }
        let sugar = |closure, k, along, to: Option<Pred>, help| Sugar {
            name: (style.name)(defined.pred),
            help,
            step: (style.name)(along),
            goals: to.map(|p| (style.name)(p)),
            closure,
            k,
        };
        match defined.how {
            Meaning::Clauses(ref clauses) => {
                for clause in clauses {
                    let (head, body) = (style.clause)(clause);
                    let head = apply(&(style.name)(defined.pred), &head);
                    let _ = if body.is_empty() {
                        writeln!(text, "{head}.")
                    } else {
                        writeln!(text, "{head} :- {body}.")
                    };
                }
            }
            Meaning::Closure { of, k } => {
                let help = names.fresh("way");
                text.push_str(&(style.sugar)(&sugar(true, k, of, None, help)));
            }
            Meaning::Distance { along, to, k } => {
                let help = names.fresh("distance");
                text.push_str(&(style.sugar)(&sugar(false, k, along, to, help)));
            }
        }
    }
    text
}

/// The body of a clause for a language with variables, its head with `arg` for each term.
pub(crate) fn head_and_body(
    clause: &Clause,
    arg: &dyn Fn(&derrl_logic::Arg) -> String,
    parts: &Write<'_>,
) -> (Vec<String>, String) {
    (clause.head.iter().map(arg).collect(), clause.body(parts))
}
