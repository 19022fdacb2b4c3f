//! Ground atoms as text: a state given by hand, an action named on a command line.

use crate::alphabet::{Action, Alphabet, Pred};
use crate::diagnostic::{Error, Source};
use crate::parser;
use crate::resolve::Resolver;
use crate::syntax::{Atom, Constant, Head, Item, TermKind};

/// The facts of a state given by hand, in the order of the text.
///
/// ```
/// use derrl_logic::{Alphabet, Source, parse_facts};
/// let domain = Alphabet::parse(&Source::new("d.pl", ":- action(up). :- state(curr/2). :- state(north)."))?;
/// let facts = parse_facts(&Source::new("state.pl", "curr(2, -1). north."), &domain)?;
/// assert_eq!(facts.len(), 2);
/// # Ok::<(), derrl_logic::Error>(())
/// ```
pub fn parse_facts(source: &Source, alphabet: &Alphabet) -> Result<Vec<(Pred, Vec<Constant>)>, Error> {
    let program = parser::parse(source)?;
    let resolver = Resolver::new(source, alphabet);
    let only = "a state holds ground facts only, such as `p(a, 3).`";
    let fact = |item: &Item| {
        let clause = match item {
            Item::Clause(clause) => clause,
            Item::Directive(directive) => {
                return Err(source.error(directive.span, "a directive in a state").with_help(only));
            }
        };
        if clause.weight.is_some() {
            return Err(source.error(clause.span, "a weight in a state").with_help(only));
        }
        if !clause.body.is_empty() {
            return Err(source.error(clause.span, "a rule in a state").with_help(only));
        }
        match &clause.head {
            Head::False(span) => Err(source.error(*span, "a constraint in a state").with_help(only)),
            Head::Atom(atom) => {
                let pred = resolver.predicate(&atom.name, atom.args.len(), atom.span)?;
                Ok((pred, constants(atom, source)?))
            }
        }
    };
    program.items.iter().map(fact).collect()
}

/// The ground action that a text such as `move(b, floor)` names, with or without a final `.`.
///
/// ```
/// use derrl_logic::{Alphabet, Source, parse_ground_action};
/// let domain = Alphabet::parse(&Source::new("d.pl", ":- action(move/2)."))?;
/// assert_eq!(parse_ground_action("move(b,floor)", &domain)?.1.len(), 2);
/// # Ok::<(), derrl_logic::Error>(())
/// ```
pub fn parse_ground_action(text: &str, alphabet: &Alphabet) -> Result<(Action, Vec<Constant>), Error> {
    let source = Source::new("<action>", text);
    let atom = parser::parse_atom(&source)?;
    let action = Resolver::new(&source, alphabet).action(&atom.name, atom.args.len(), atom.span)?;
    Ok((action, constants(&atom, &source)?))
}

/// The arguments of a ground atom.
fn constants(atom: &Atom, source: &Source) -> Result<Vec<Constant>, Error> {
    let constant = |term: &crate::syntax::Term| match &term.kind {
        TermKind::Const(constant) => Ok(constant.clone()),
        TermKind::Var(name) => {
            let error = source.error(term.span, format!("`{name}` is a variable; `{atom}` must be ground"));
            Err(error.with_help(format!("name an object here; one that is called so is written `'{name}'`")))
        }
    };
    atom.args.iter().map(constant).collect()
}
