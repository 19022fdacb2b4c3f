//! How a world's own numbering is bound to the alphabet that describes it.

use derrl_logic::alphabet::ActionDecl;
use derrl_logic::{Action, Alphabet, Facts, Measure, Object, Pred, Type, Types};

use crate::error::{Error, nearest};
use crate::journal::Journal;

/// What a world calls its predicates, measures and actions, in the order in which its code numbers them.
#[derive(Clone, Copy, Debug)]
pub struct Vocabulary<'a> {
    /// Predicates it gives facts of, by name and arity.
    pub predicates: &'a [(&'a str, usize)],
    /// Measures it reports numbers of, by name and arity.
    pub measures: &'a [(&'a str, usize)],
    /// Actions it understands, by name and arity.
    pub actions: &'a [(&'a str, usize)],
}

/// How the ids of an alphabet correspond to a world's own numbering.
#[derive(Clone, Debug)]
pub struct Binding {
    predicates: Vec<Option<Pred>>,
    measures: Vec<Option<Measure>>,
    actions: Vec<usize>,
}

impl Binding {
    /// Binds an alphabet to a world's vocabulary. An alphabet may leave out predicates and actions that the
    /// world has; one that names what the world lacks is an error.
    pub fn new(world: &str, vocabulary: &Vocabulary<'_>, alphabet: &Alphabet) -> Result<Binding, Error> {
        check_signatures(world, vocabulary, alphabet)?;
        // In none of the worlds that bind their numbers is there anything to do with equal arguments.
        if let Some(a) = alphabet.actions.iter().find(|a| a.repeats()) {
            let (world, name) = (world.to_string(), a.example());
            return Err(Error::Vocabulary { world, kind: "action", name, help: String::new() });
        }
        let measures = vocabulary.measures.iter().map(|&(n, a)| alphabet.find_measure(n, a)).collect();
        let predicates = vocabulary.predicates.iter().map(|&(n, a)| given(alphabet, n, a)).collect();
        let known = |a: &ActionDecl| {
            let place = vocabulary.actions.iter().position(|&known| known == (a.name.as_str(), a.arity()));
            place.expect("all actions of the alphabet were checked to be known")
        };
        let actions = alphabet.actions.iter().map(known).collect();
        Ok(Binding { predicates, measures, actions })
    }

    /// The world's own number of an action.
    #[inline]
    pub fn action(&self, action: Action) -> usize {
        self.actions[action.0 as usize]
    }

    /// Adds a fact by the world's own number of the predicate; nothing if the alphabet leaves it out.
    #[inline]
    pub fn say(&self, facts: &mut Facts, predicate: usize, args: &[Object]) {
        if let Some(p) = self.predicates[predicate] {
            facts.push(p, args);
        }
    }

    /// Says what a measure is, by the world's own number of the measure; nothing if the alphabet leaves it out.
    #[inline]
    pub fn report(&self, facts: &mut Facts, measure: usize, args: &[Object], value: f64) {
        if let Some(m) = self.measures[measure] {
            facts.set(m, args, value);
        }
    }

    /// Notes that a fact holds from now on, or no longer does, by the world's own number of the predicate; nothing if the
    /// alphabet leaves it out.
    pub fn note(&self, journal: &mut Journal, predicate: usize, args: &[Object], holds: bool) {
        if let Some(p) = self.predicates[predicate] {
            journal.note(p, args, holds);
        }
    }
}

/// The alphabet's type of that name, or `any` where it does not declare one.
pub fn type_named(alphabet: &Alphabet, name: &str) -> Type {
    alphabet.types.find(name).unwrap_or(Types::ANY)
}

/// An error if an alphabet names a predicate, a measure or an action that is not among these.
pub(crate) fn check_signatures(
    world: &str,
    known: &Vocabulary<'_>,
    alphabet: &Alphabet,
) -> Result<(), Error> {
    let check = |kind: &'static str, name: &str, arity: usize, known: &[(&str, usize)]| {
        if known.contains(&(name, arity)) {
            return Ok(());
        }
        let known: Vec<String> = known.iter().map(|(n, a)| format!("{n}/{a}")).collect();
        let wanted = format!("{name}/{arity}");
        let help = nearest(&wanted, known.iter().map(String::as_str));
        Err(Error::Vocabulary { world: world.to_string(), kind, name: wanted, help })
    };
    for p in alphabet.predicates.iter().filter(|p| p.role.is_given()) {
        check("predicate", &p.name, p.args.len(), known.predicates)?;
    }
    for m in &alphabet.measures {
        check("measure", &m.name, m.args.len(), known.measures)?;
    }
    for a in &alphabet.actions {
        check("action", &a.name, a.arity(), known.actions)?;
    }
    Ok(())
}

/// The predicate of that name that the world gives facts of. A domain may define one that the world has: then its definition says
/// what holds.
pub(crate) fn given(alphabet: &Alphabet, name: &str, arity: usize) -> Option<Pred> {
    alphabet.find_predicate(name, arity).filter(|&p| alphabet.predicate(p).role.is_given())
}
