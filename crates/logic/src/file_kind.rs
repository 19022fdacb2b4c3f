//! Telling domain files from policy files by what they hold.

use crate::diagnostic::{Error, Source};
use crate::parser;
use crate::syntax::{Head, Item, Program, Tree};

/// Directives that policies may have, too.
pub(crate) const DEFINING: [&str; 3] = ["derived", "closure", "distance"];

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// It describes an alphabet: it has a directive other than those by which a policy defines predicates of its own, or
    /// constraints `false :- ...` and no weights.
    Domain,
    /// It holds rules for actions: everything else.
    Policy,
}

impl FileKind {
    /// The kind of a text that parses.
    ///
    /// ```
    /// use derrl_logic::{FileKind, Source};
    /// assert_eq!(FileKind::detect(&Source::new("a", ":- variables(3)."))?, FileKind::Domain);
    /// assert_eq!(FileKind::detect(&Source::new("b", "0.9::up :- north."))?, FileKind::Policy);
    /// # Ok::<(), derrl_logic::Error>(())
    /// ```
    pub fn detect(source: &Source) -> Result<FileKind, Error> {
        parser::parse(source).map(|program| FileKind::of(&program))
    }

    /// The kind of a syntax tree. A constraint among weighted rules does not make a domain: every domain
    /// has a directive, for it declares its actions.
    pub fn of(program: &Program) -> FileKind {
        let of_policy =
            |tree: &Tree| matches!(tree, Tree::Compound { name, .. } if DEFINING.contains(&name.as_str()));
        let mut directives = program.items.iter().filter_map(|item| match item {
            Item::Directive(directive) => Some(&directive.tree),
            Item::Clause(_) => None,
        });
        let directive = directives.any(|tree| !of_policy(tree));
        let clauses = || {
            program.items.iter().filter_map(|item| match item {
                Item::Clause(clause) => Some(clause),
                Item::Directive(_) => None,
            })
        };
        let weighted = clauses().any(|c| c.weight.is_some());
        let forbids = clauses().any(|c| matches!(c.head, Head::False(_) | Head::Never(_)));
        if directive || (forbids && !weighted) { FileKind::Domain } else { FileKind::Policy }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds() {
        let kind = |text| FileKind::detect(&Source::new("t.pl", text)).expect("the text parses");
        for domain in [":- action(up).", "false :- p.", "p :- q. false :- p. ", ":- x. 0.5::up :- p."] {
            assert_eq!(kind(domain), FileKind::Domain, "{domain}");
        }
        for policy in [
            "",
            "up :- north.",
            "1::up :- north.",
            "0.5::up :- p. false :- p.",
            "up.",
            ":- derived(p). p :- q. up :- p.",
        ] {
            assert_eq!(kind(policy), FileKind::Policy, "{policy}");
        }
    }
}
