//! Ground atoms as text: a state given by hand, an action named on a command line.

use crate::alphabet::{Action, Alphabet, Measure, Pred};
use crate::diagnostic::{Error, Source};
use crate::parser;
use crate::resolve::Resolver;
use crate::syntax::{Atom, Clause, Constant, Head, Indicator, Item, NumberFact, Term, TermKind};

/// Ground facts in names.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct GroundFacts {
    /// What holds.
    pub atoms: Vec<(Pred, Vec<Constant>)>,
    /// What measures are.
    pub numbers: Vec<(Measure, Vec<Constant>, f64)>,
}

/// The facts of a state given by hand, in the order of the text.
///
/// ```
/// use derrl_logic::{Alphabet, Source, parse_facts};
/// let domain = Alphabet::parse(&Source::new("d.pl", ":- action(up). :- state(curr/2). :- state(north)."))?;
/// let facts = parse_facts(&Source::new("state.pl", "curr(2, -1). north."), &domain)?;
/// assert_eq!(facts.atoms.len(), 2);
/// # Ok::<(), derrl_logic::Error>(())
/// ```
pub fn parse_facts(source: &Source, alphabet: &Alphabet) -> Result<GroundFacts, Error> {
    let program = parser::parse(source)?;
    let resolver = Resolver::new(source, alphabet);
    let mut facts = GroundFacts::default();
    for item in &program.items {
        let clause = match item {
            Item::Clause(clause) => clause,
            Item::Directive(directive) => {
                return Err(source.error(directive.span, "a directive in a state").with_help(FACTS_ONLY));
            }
        };
        match fact(clause, &resolver)? {
            Fact::Atom(pred, atom) => facts.atoms.push((pred, constants(atom, source)?)),
            Fact::Number(measure, number) => {
                facts.numbers.push((measure, constants(&number.measure, source)?, number.value));
            }
        }
    }
    Ok(facts)
}

const FACTS_ONLY: &str = "a state holds ground facts only, such as `p(a, 3).`";

/// A fact in names, with the id of what it is about.
pub(crate) enum Fact<'a> {
    Atom(Pred, &'a Atom),
    Number(Measure, &'a NumberFact),
}

/// The fact that a clause states.
pub(crate) fn fact<'a>(clause: &'a Clause, resolver: &Resolver<'_>) -> Result<Fact<'a>, Error> {
    let source = resolver.source;
    if clause.weight.is_some() {
        return Err(source.error(clause.span, "a weight in a state").with_help(FACTS_ONLY));
    }
    if !clause.body.is_empty() || !clause.choices.is_empty() {
        return Err(source.error(clause.span, "a rule in a state").with_help(FACTS_ONLY));
    }
    match &clause.head {
        Head::False(span) => Err(source.error(*span, "a constraint in a state").with_help(FACTS_ONLY)),
        Head::Never(action) => {
            Err(source.error(action.span, "a rule that forbids in a state").with_help(FACTS_ONLY))
        }
        Head::Number(number) => {
            let Atom { name, args, span } = &number.measure;
            let measure = resolver.measure(name, args.len(), *span)?;
            Ok(Fact::Number(measure, number))
        }
        Head::Atom(atom) => {
            if let Some(measure) = resolver.alphabet.find_measure(&atom.name, atom.args.len()) {
                let name = &resolver.alphabet.measure(measure).name;
                let error =
                    source.error(atom.span, format!("`{}` is a number", Indicator(name, atom.args.len())));
                return Err(error.with_help(format!("say what it is, as in `{atom} = 7.`")));
            }
            let pred = resolver.predicate(&atom.name, atom.args.len(), atom.span)?;
            if resolver.alphabet.predicate(pred).role.is_given() {
                return Ok(Fact::Atom(pred, atom));
            }
            let message = format!("`{}` is derived: it follows from other facts", atom.indicator());
            Err(source.error(atom.span, message).with_help("remove this fact; it is found where it holds"))
        }
    }
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
    let names = constants(&atom, &source)?;
    Ok(alphabet.find_ground(&atom.name, &names).unwrap_or((action, names)))
}

/// The arguments of a ground atom.
fn constants(atom: &Atom, source: &Source) -> Result<Vec<Constant>, Error> {
    atom.args.iter().map(|term| constant(term, atom, source).cloned()).collect()
}

/// The constant that an argument of a ground atom is.
pub(crate) fn constant<'a>(term: &'a Term, atom: &Atom, source: &Source) -> Result<&'a Constant, Error> {
    match &term.kind {
        TermKind::Const(constant) => Ok(constant),
        TermKind::Var(name) => {
            let error = source.error(term.span, format!("`{name}` is a variable; `{atom}` must be ground"));
            Err(error.with_help(format!("name an object here; one that is called so is written `'{name}'`")))
        }
    }
}
