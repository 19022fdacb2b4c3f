//! A whole state given by hand: facts as text, with the objects that they speak of.
//!
//! ```prolog
//! :- object(c, block).          % only needed where the facts do not tell, or to forbid all other names
//! top(a). on(a, b). on(b, floor).
//! isFloor(floor). goal_on(b, a).
//! ```

use rustc_hash::{FxHashMap, FxHashSet};

use crate::alphabet::{Alphabet, Measure, Pred, Role, Type};
use crate::diagnostic::{Error, Source, nearest};
use crate::facts::Facts;
use crate::ground_text::{Fact, constant, fact};
use crate::parser;
use crate::resolve::{Resolver, list};
use crate::syntax::{Atom, Constant, Directive, Item, NumberFact, Quoted, Span, Tree};
use crate::universe::{Object, Universe};

/// The objects and facts of a state given as text.
///
/// An object is what a fact names, or what `:- object(name, type).` or `:- object(name).` declares. Once a text declares one, it has
/// to declare them all, so that a slip of the pen is found. The type of an object is the one declared, else the most general one that
/// fits all its facts; a fact `key(k1)` also says that `k1` is of type `key`, where there is a type of that name.
///
/// ```
/// use derrl_logic::{Alphabet, Source, parse_state};
/// let domain = ":- action(move(block, place)). :- state(on(block, place)). :- subtype(block, place).";
/// let domain = Alphabet::parse(&Source::new("d.pl", domain))?;
/// let (universe, facts) = parse_state(&Source::new("state.pl", "on(a, b). on(b, floor)."), &domain)?;
/// assert_eq!(facts.show(&domain, &universe), ["on(a, b)", "on(b, floor)"]);
/// assert_eq!(universe.ground_actions(&domain).len(), 4); // a or b onto another place
/// # Ok::<(), derrl_logic::Error>(())
/// ```
pub fn parse_state(source: &Source, alphabet: &Alphabet) -> Result<(Universe, Facts), Error> {
    let program = parser::parse(source)?;
    let mut draft = Draft { source, alphabet, objects: Vec::new(), by_name: FxHashMap::default() };
    for item in &program.items {
        if let Item::Directive(directive) = item {
            draft.declare(directive)?;
        }
    }
    let closed = !draft.objects.is_empty();
    let resolver = Resolver::new(source, alphabet);
    let mut said = Said::default();
    for item in &program.items {
        let Item::Clause(clause) = item else { continue };
        match fact(clause, &resolver)? {
            Fact::Atom(pred, atom) => {
                let decl = alphabet.predicate(pred);
                let namesake = if atom.args.len() == 1 { alphabet.types.find(&decl.name) } else { None };
                said.atoms.push((pred, draft.arguments(&decl.args, atom, namesake, closed)?));
            }
            Fact::Number(measure, number) => {
                let args = draft.arguments(&alphabet.measure(measure).args, &number.measure, None, closed)?;
                said.number(measure, args, number, source)?;
            }
        }
    }
    if said.atoms.is_empty() && said.numbers.is_empty() {
        return Err(
            Error::new(format!("{} holds no facts", source.name)).with_help("write some, such as `p(a, 3).`")
        );
    }
    let objects = draft.objects.iter().map(|o| Ok((o.name.clone(), draft.type_of(o)?)));
    let universe = Universe::new(objects.collect::<Result<_, Error>>()?);
    let facts = said.facts(alphabet, &universe, std::iter::empty())?;
    Ok((universe, facts))
}

/// The facts of a state of a known instance: the state predicates hold exactly where the text says; the background is that of
/// `instance`, except for background predicates that the text mentions, which it replaces. Measures that the text does not mention are as in
/// `instance`. Every constant must be an object of the
/// instance and of the right type.
pub fn parse_state_in(
    source: &Source,
    alphabet: &Alphabet,
    universe: &Universe,
    instance: &Facts,
) -> Result<Facts, Error> {
    let program = parser::parse(source)?;
    let resolver = Resolver::new(source, alphabet);
    let mut said = Said::default();
    for item in &program.items {
        let clause = match item {
            Item::Clause(clause) => clause,
            Item::Directive(directive) => {
                let error = source.error(directive.span, "a declaration in a state of a known instance");
                return Err(error.with_help("its objects are those of the instance: write facts only"));
            }
        };
        let known = |wanted: &[Type], atom: &Atom| known_objects(source, alphabet, universe, wanted, atom);
        match fact(clause, &resolver)? {
            Fact::Atom(pred, atom) => said.atoms.push((pred, known(&alphabet.predicate(pred).args, atom)?)),
            Fact::Number(measure, number) => {
                let args = known(&alphabet.measure(measure).args, &number.measure)?;
                said.number(measure, args, number, source)?;
            }
        }
    }
    let numbered: FxHashSet<Measure> = said.numbers.iter().map(|n| n.0).collect();
    let kept = instance.all_numbers().filter(|n| !numbered.contains(&n.0));
    said.kept.extend(kept.map(|(measure, args, value)| (measure, args.to_vec(), value)));
    let mentioned: Vec<Pred> = said.atoms.iter().map(|(p, _)| *p).collect();
    let is_kept = |p: &Pred| alphabet.predicate(*p).role == Role::Background && !mentioned.contains(p);
    said.facts(alphabet, universe, instance.iter().filter(|(p, _)| is_kept(p)))
}

/// The objects of a known universe that a fact speaks of.
fn known_objects(
    source: &Source,
    alphabet: &Alphabet,
    universe: &Universe,
    wanted: &[Type],
    atom: &Atom,
) -> Result<Vec<Object>, Error> {
    let mut args = Vec::with_capacity(wanted.len());
    for (term, &t) in atom.args.iter().zip(wanted) {
        let name = constant(term, atom, source)?;
        let known = || universe.objects().map(|o| universe.name(o));
        let Some(o) = universe.find(name) else {
            return Err(unknown(source, term.span, name, known()));
        };
        if !alphabet.types.is_subtype(universe.type_of(o), t) {
            let (is, needs) = (alphabet.types.name(universe.type_of(o)), alphabet.types.name(t));
            let message =
                format!("`{name}` is a `{}`, but `{atom}` needs a `{}` there", Quoted(is), Quoted(needs));
            return Err(source.error(term.span, message));
        }
        args.push(o);
    }
    Ok(args)
}

/// What a text says of a state, in objects.
#[derive(Default)]
struct Said {
    atoms: Vec<(Pred, Vec<Object>)>,
    numbers: Vec<(Measure, Vec<Object>, f64)>,
    numbered: FxHashSet<(Measure, Vec<Object>)>,
    /// Numbers of the instance that the text leaves as they are.
    kept: Vec<(Measure, Vec<Object>, f64)>,
}

impl Said {
    /// Adds a number; an error where the text gave another one before.
    fn number(
        &mut self,
        measure: Measure,
        args: Vec<Object>,
        fact: &NumberFact,
        source: &Source,
    ) -> Result<(), Error> {
        if !self.numbered.insert((measure, args.clone())) {
            let error = source.error(fact.span, format!("`{}` has a value already", fact.measure));
            return Err(error.with_help("remove one of them: a measure is one number"));
        }
        self.numbers.push((measure, args, fact.value));
        Ok(())
    }

    /// These facts, others, and what follows from them; an error where that is too much.
    fn facts<'a>(
        &self,
        alphabet: &Alphabet,
        universe: &Universe,
        others: impl Iterator<Item = (Pred, &'a [Object])>,
    ) -> Result<Facts, Error> {
        let mut facts = Facts::new(alphabet);
        others.for_each(|(pred, args)| facts.push(pred, args));
        self.atoms.iter().for_each(|(pred, args)| facts.push(*pred, args));
        self.numbers.iter().chain(&self.kept).for_each(|(m, args, value)| facts.set(*m, args, *value));
        facts.seal();
        facts.derive(universe);
        facts.fault().cloned().map_or(Ok(facts), Err)
    }
}

fn unknown<'a>(
    source: &Source,
    span: Span,
    name: &Constant,
    known: impl Iterator<Item = &'a Constant>,
) -> Error {
    let names: Vec<String> = known.map(ToString::to_string).collect();
    let help = match nearest(&name.to_string(), names.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the objects are {}", list(names.iter())),
    };
    source.error(span, format!("there is no object `{name}`")).with_help(help)
}

/// What is known so far of the objects of a text.
struct Draft<'a> {
    source: &'a Source,
    alphabet: &'a Alphabet,
    objects: Vec<Named>,
    /// Where each of them is.
    by_name: FxHashMap<Constant, usize>,
}

struct Named {
    name: Constant,
    /// Where it was declared or first named.
    span: Span,
    declared: Option<Type>,
    /// The types that facts ask for, each with the text of a fact that does.
    uses: Vec<(Type, String)>,
}

const EXAMPLE: &str = "as in `:- object(a, block).` or `:- object(a).`";

impl Draft<'_> {
    /// `:- object(name, type).` or `:- object(name).`
    fn declare(&mut self, directive: &Directive) -> Result<(), Error> {
        let mistake = |span, message: &str| Err(self.source.error(span, message).with_help(EXAMPLE));
        let Tree::Compound { name, args, .. } = &directive.tree else {
            return mistake(directive.span, "a state declares objects only");
        };
        if name != "object" || args.len() > 2 {
            return mistake(directive.span, "a state declares objects only");
        }
        let declared = match args.get(1) {
            None => None,
            Some(tree) => {
                let found = tree.as_name().and_then(|name| self.alphabet.types.find(name));
                let Some(t) = found else {
                    let types = &self.alphabet.types;
                    let known = (0..types.len() as u32).map(|t| Quoted(types.name(Type(t))));
                    let error = self.source.error(tree.span(), format!("there is no type `{tree}`"));
                    return Err(error.with_help(format!("the types are {}", list(known))));
                };
                Some(t)
            }
        };
        let name = match (args[0].as_name(), args[0].as_int()) {
            (Some(name), _) => Constant::name(name),
            (None, Some(int)) => Constant::Int(int),
            (None, None) => return mistake(args[0].span(), "an object is a constant"),
        };
        if self.by_name.contains_key(&name) {
            return Err(self.source.error(args[0].span(), format!("`{name}` is declared twice")));
        }
        self.add(Named { name, span: args[0].span(), declared, uses: Vec::new() });
        Ok(())
    }

    fn add(&mut self, object: Named) -> usize {
        let at = self.objects.len();
        self.by_name.insert(object.name.clone(), at);
        self.objects.push(object);
        at
    }

    /// The objects that a fact speaks of, which are of these types, and of `namesake` too; in a `closed` text only declared ones.
    fn arguments(
        &mut self,
        types: &[Type],
        atom: &Atom,
        namesake: Option<Type>,
        closed: bool,
    ) -> Result<Vec<Object>, Error> {
        let mut args = Vec::with_capacity(types.len());
        for (term, &t) in atom.args.iter().zip(types) {
            let name = constant(term, atom, self.source)?;
            let known = self.by_name.get(name).copied();
            if known.is_none() && closed {
                return Err(unknown(self.source, term.span, name, self.objects.iter().map(|o| &o.name)));
            }
            let at = known.unwrap_or_else(|| {
                self.add(Named { name: name.clone(), span: term.span, declared: None, uses: Vec::new() })
            });
            // `key(k1)` says that k1 is a key.
            for t in std::iter::once(t).chain(namesake) {
                if self.objects[at].uses.iter().all(|(other, _)| *other != t) {
                    self.objects[at].uses.push((t, atom.to_string()));
                }
            }
            args.push(Object(at as u32));
        }
        Ok(args)
    }

    /// The declared type, else the most general one that fits all uses.
    fn type_of(&self, object: &Named) -> Result<Type, Error> {
        let types = &self.alphabet.types;
        let quoted = |t: Type| Quoted(types.name(t));
        if let Some(declared) = object.declared {
            let misfit = object.uses.iter().find(|(t, _)| !types.is_subtype(declared, *t));
            return match misfit {
                None => Ok(declared),
                Some((t, text)) => {
                    let message = format!(
                        "`{}` is declared as a `{}`, but `{text}` needs a `{}`",
                        object.name,
                        quoted(declared),
                        quoted(*t)
                    );
                    Err(self.source.error(object.span, message))
                }
            };
        }
        let fits = |t: Type| object.uses.iter().all(|(wanted, _)| types.is_subtype(t, *wanted));
        let fitting: Vec<Type> = (0..types.len() as u32).map(Type).filter(|&t| fits(t)).collect();
        let greatest = fitting.iter().find(|&&t| fitting.iter().all(|&s| types.is_subtype(s, t)));
        if let Some(&t) = greatest {
            return Ok(t);
        }
        let uses: Vec<String> =
            object.uses.iter().map(|(t, text)| format!("a `{}` in `{text}`", quoted(*t))).collect();
        let message = format!("`{}` is {}", object.name, uses.join(" but "));
        let help = if fitting.is_empty() {
            "no object has both types".to_string()
        } else {
            format!("declare its type: one of {}", list(fitting.iter().map(|t| quoted(*t))))
        };
        Err(self.source.error(object.span, message).with_help(help))
    }
}
