//! The pool: definitions that tell objects apart in the states met, each meaning once.

use std::sync::Arc;

use derrl_logic::{Alphabet, Facts, Object, Policy, Pred, Source, Universe};
use rustc_hash::FxHashSet;

use super::distances::is_graph;
use super::templates::{Invention, Templates};
use crate::error::Error;
use crate::hashing::mix;
use crate::limits::{DEFINED_TOGETHER, MEANING_STATES, MOST_DEFINITIONS, MOST_PLACES};
use crate::table::Table;

/// The alphabet with these predicates after those that it has.
pub fn extended(alphabet: &Arc<Alphabet>, inventions: &[Invention]) -> Result<Arc<Alphabet>, Error> {
    let mut text = Policy::default().display(alphabet).to_string();
    let mut known: FxHashSet<String> = text.lines().map(str::to_string).collect();
    for line in inventions.iter().flat_map(|i| &i.lines) {
        if known.insert(line.clone()) {
            text.push_str(line);
            text.push('\n');
        }
    }
    let read = Policy::read(&Source::new("invented predicates", text), alphabet);
    let (_, wider) = read.map_err(|e| Error::Policy(e.to_string()))?;
    let mut wider = (*wider).clone();
    let own = wider.of_domain;
    wider.predicates[own..].iter_mut().for_each(|p| p.negatable = true);
    Ok(Arc::new(wider))
}

/// Those that can be defined together, with the alphabet that has them. Left out are those that the types of the domain do not allow, and
/// those whose name, put together from parts, is taken.
fn agreeing(alphabet: &Arc<Alphabet>, all: &[Invention]) -> Result<(Vec<Invention>, Arc<Alphabet>), Error> {
    let mut names = FxHashSet::default();
    let mut is_new = |one: &Invention| {
        alphabet.find_predicate(&one.name, one.arity).is_none() && names.insert((one.name.clone(), one.arity))
    };
    let mut all: Vec<Invention> = all.iter().filter(|one| is_new(one)).cloned().collect();
    if let Ok(wider) = extended(alphabet, &all) {
        return Ok((all, wider));
    }
    all.retain(|one| extended(alphabet, std::slice::from_ref(one)).is_ok());
    if let Ok(wider) = extended(alphabet, &all) {
        return Ok((all, wider));
    }
    // Some define the same name on the way to their own.
    let mut agree: Vec<Invention> = Vec::new();
    for one in all {
        agree.push(one);
        if extended(alphabet, &agree).is_err() {
            agree.pop();
        }
    }
    let wider = extended(alphabet, &agree)?;
    Ok((agree, wider))
}

/// The predicates that could be invented over an alphabet, the smallest first. Left out are those that hold of nothing, of
/// everything, of the same as another one or as its negation, in all states looked at.
pub fn pool(
    alphabet: &Arc<Alphabet>,
    table: &Table,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<Invention>, Error> {
    let states = sampled(table);
    let templates = Templates::new(alphabet);
    let mut known = Meanings::default();
    let mut given = vec![Meaning::default(); alphabet.predicates.len()];
    for (facts, universe) in &states {
        let facts = facts.in_alphabet(alphabet, universe);
        for (at, meaning) in given.iter_mut().enumerate() {
            meaning.look(&facts, universe, Pred(at as u32), alphabet);
        }
    }
    for meaning in &given {
        known.is_new(meaning);
    }
    let projections = distinct(&templates.projections(), alphabet, &states, &mut known, stop)?;
    let mut all = templates.all(&projections);
    all.truncate(MOST_DEFINITIONS);
    let mut others = distinct(&all, alphabet, &states, &mut known, stop)?;
    others.extend(projections);
    others.sort_by_key(|i| i.size);
    Ok(others)
}

/// The predicates whose facts are steps of a graph in some state met.
pub fn graphs(alphabet: &Arc<Alphabet>, table: &Table) -> Vec<Pred> {
    let leads = |p: &Pred| {
        let predicate = alphabet.predicate(*p);
        predicate.role.is_named()
            && matches!(*predicate.args.as_slice(), [from, to] if alphabet.types.overlap(from, to))
    };
    let mut graphs: Vec<Pred> = (0..alphabet.predicates.len() as u32).map(Pred).filter(leads).collect();
    let states = sampled(table);
    let facts: Vec<_> =
        states.iter().map(|(facts, universe)| facts.in_alphabet(alphabet, universe)).collect();
    graphs.retain(|p| facts.iter().any(|facts| is_graph(facts, *p)));
    graphs
}

/// The distances along these graphs that could be asked for, the smallest first. They lead to sets of objects that are given, that
/// are in `pool`, and more.
pub fn distances(
    alphabet: &Arc<Alphabet>,
    table: &Table,
    graphs: &[Pred],
    pool: &[Invention],
    stop: &dyn Fn() -> bool,
) -> Result<Vec<Invention>, Error> {
    let states = sampled(table);
    let templates = Templates::new(alphabet);
    let mut known = Meanings::default();
    let mut sets: Vec<Invention> = pool.iter().filter(|i| i.arity == 1).cloned().collect();
    distinct(&sets, alphabet, &states, &mut known, stop)?;
    sets.extend(distinct(&templates.places(graphs), alphabet, &states, &mut known, stop)?);
    sets.sort_by_key(|i| i.size);
    sets.truncate(MOST_PLACES);
    let (sets, wider) = agreeing(alphabet, &sets)?;
    let mut all = templates.distances(graphs, &sets, &wider);
    all.truncate(MOST_DEFINITIONS);
    distinct(&all, alphabet, &states, &mut known, stop)
}

/// States in which meanings are compared.
fn sampled(table: &Table) -> Vec<(&Facts, &Universe)> {
    let step = table.len().div_ceil(MEANING_STATES).max(1);
    table.places().step_by(step).map(|p| table.facts(p)).collect()
}

/// Those of the definitions whose meaning is not known yet.
fn distinct(
    all: &[Invention],
    alphabet: &Arc<Alphabet>,
    states: &[(&Facts, &Universe)],
    known: &mut Meanings,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<Invention>, Error> {
    let mut new = Vec::new();
    for batch in all.chunks(DEFINED_TOGETHER) {
        if stop() {
            return Err(Error::Interrupted);
        }
        let (allowed, wider) = agreeing(alphabet, batch)?;
        let batch = allowed.as_slice();
        let mut meanings = vec![Meaning::default(); batch.len()];
        for (facts, universe) in states {
            let facts = facts.in_alphabet(&wider, universe);
            if facts.fault().is_some() {
                continue;
            }
            for (meaning, one) in meanings.iter_mut().zip(batch) {
                if let Some(pred) = wider.find_predicate(&one.name, one.arity) {
                    meaning.look(&facts, universe, pred, &wider);
                }
            }
        }
        let fresh = batch.iter().zip(&meanings).filter(|(_, m)| known.is_new(m));
        new.extend(fresh.map(|(one, _)| one.clone()));
    }
    Ok(new)
}

/// Of what a predicate holds in the states looked at, and of what of its type it does not: two numbers that tell meanings apart.
#[derive(Clone, Copy, Debug, Default)]
struct Meaning {
    is: u64,
    is_not: u64,
    some: bool,
    some_not: bool,
}

impl Meaning {
    fn look(&mut self, facts: &Facts, universe: &Universe, pred: Pred, alphabet: &Alphabet) {
        let types = &alphabet.predicate(pred).args;
        mix(&mut self.is, u64::MAX);
        mix(&mut self.is_not, u64::MAX);
        for tuple in facts.tuples(pred) {
            self.some = true;
            for o in tuple {
                mix(&mut self.is, u64::from(o.0));
            }
        }
        let among = |o: &Object, place: usize| alphabet.types.is_subtype(universe.type_of(*o), types[place]);
        let mut not = |tuple: &[Object]| {
            if !facts.holds(pred, tuple) {
                self.some_not = true;
                for o in tuple {
                    mix(&mut self.is_not, u64::from(o.0));
                }
            }
        };
        match types.len() {
            1 => universe.objects().filter(|o| among(o, 0)).for_each(|o| not(&[o])),
            2 => {
                for a in universe.objects().filter(|o| among(o, 0)) {
                    universe.objects().filter(|o| among(o, 1) && *o != a).for_each(|b| not(&[a, b]));
                }
            }
            _ => self.some_not = true,
        }
        // Predicates of one and two arguments never mean the same.
        mix(&mut self.is, types.len() as u64);
        mix(&mut self.is_not, types.len() as u64);
    }
}

/// Meanings that were met, negations too.
#[derive(Default)]
struct Meanings(FxHashSet<u64>);

impl Meanings {
    /// Whether a meaning tells objects apart and was not met yet. It counts as met from now on.
    fn is_new(&mut self, m: &Meaning) -> bool {
        let tells = m.some && m.some_not;
        let new = tells && !self.0.contains(&m.is) && !self.0.contains(&m.is_not);
        if tells {
            self.0.extend([m.is, m.is_not]);
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_whose_names_are_taken_or_that_say_nothing_are_left_out() {
        let text = ":- action(move(block)).\n:- state(top(block)).\n:- state(held(block)).\n";
        let alphabet = Alphabet::parse(&Source::new("blocks", text)).expect("it parses");
        let defined = |name: &str, body: &str| Invention {
            name: name.to_string(),
            arity: 1,
            lines: vec![format!(":- derived({name}(block))."), format!("{name}(X) :- {body}.")],
            size: 1,
        };
        let all = [
            defined("free", "top(X)"),
            defined("free", "held(X)"),
            defined("held", "top(X)"),
            defined("odd", "nothing(X)"),
            defined("busy", "\\+ top(X)"),
        ];
        let (agree, wider) = agreeing(&Arc::new(alphabet), &all).expect("some agree");
        assert_eq!(agree.iter().map(|i| i.name.as_str()).collect::<Vec<_>>(), ["free", "busy"]);
        assert_eq!(agree[0], all[0]);
        assert!(wider.find_predicate("busy", 1).is_some() && wider.find_predicate("odd", 1).is_none());
    }
}
