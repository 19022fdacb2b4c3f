//! What has always been so in the states of an episode: a change that breaks it would lead to no state of the world.

use std::collections::{BTreeMap, BTreeSet};

/// Laws of the facts of some states.
#[derive(Debug, Default)]
pub struct Laws {
    /// Predicates of which there was never more than one fact.
    single: BTreeSet<String>,
    /// Predicates whose last argument was always given by the others: an object is in one place.
    functional: BTreeSet<String>,
    /// Pairs of predicates that never held at the same time, the first without arguments: an empty ferry carries nothing.
    apart: BTreeSet<(String, String)>,
    /// Pairs that never held of the same first object: what is on the ferry is at no place.
    exclusive: BTreeSet<(String, String)>,
}

/// A fact by its name and its arguments.
fn read(fact: &str) -> (&str, Vec<&str>) {
    let Some((name, rest)) = fact.strip_suffix(')').and_then(|f| f.split_once('(')) else {
        return (fact, Vec::new());
    };
    let mut quoted = false;
    let args = rest.split(|c: char| {
        quoted ^= c == '\'';
        c == ',' && !quoted
    });
    (name, args.map(str::trim).collect())
}

/// What is counted in a state.
#[derive(Default)]
struct Tally<'a> {
    facts: BTreeMap<&'a str, Vec<Vec<&'a str>>>,
}

impl<'a> Tally<'a> {
    fn of(facts: impl IntoIterator<Item = &'a str>) -> Tally<'a> {
        let mut tally = Tally::default();
        for (name, args) in facts.into_iter().map(read) {
            tally.facts.entry(name).or_default().push(args);
        }
        tally
    }

    fn is_single(&self, name: &str) -> bool {
        self.facts.get(name).is_none_or(|all| all.len() < 2)
    }

    fn is_functional(&self, name: &str) -> bool {
        let mut seen = BTreeSet::new();
        let all = self.facts.get(name).map(Vec::as_slice).unwrap_or_default();
        all.iter().filter(|args| args.len() > 1).all(|args| seen.insert(&args[..args.len() - 1]))
    }

    fn are_apart(&self, a: &str, b: &str) -> bool {
        !(self.facts.contains_key(a) && self.facts.contains_key(b))
    }

    fn are_exclusive(&self, a: &str, b: &str) -> bool {
        let of =
            |name: &str| self.facts.get(name).into_iter().flatten().filter_map(|args| args.first().copied());
        let first: BTreeSet<&str> = of(a).collect();
        of(b).all(|object| !first.contains(object))
    }
}

impl Laws {
    /// The laws of the states of an episode, each given by its facts. Background is not to be among them. Two states say too little.
    pub fn of(states: &[Vec<&str>]) -> Laws {
        let tallies: Vec<Tally<'_>> = states.iter().map(|facts| Tally::of(facts.iter().copied())).collect();
        if tallies.len() < 3 {
            return Laws::default();
        }
        let mut arity: BTreeMap<&str, usize> = BTreeMap::new();
        for (name, all) in tallies.iter().flat_map(|t| &t.facts) {
            arity.insert(name, all.first().map_or(0, Vec::len));
        }
        let always = |law: &dyn Fn(&Tally<'_>) -> bool| tallies.iter().all(law);
        let names = || arity.iter().filter(|(_, n)| **n > 0).map(|(name, _)| *name);
        let pairs = |first: &dyn Fn(usize) -> bool, law: &dyn Fn(&Tally<'_>, &str, &str) -> bool| {
            let mut found = BTreeSet::new();
            for (a, _) in arity.iter().filter(|(_, n)| first(**n)) {
                for (b, _) in arity.iter().filter(|(b, n)| *b != a && (**n > 0 || !first(1))) {
                    if always(&|t| law(t, a, b)) {
                        found.insert(((*a).to_string(), (*b).to_string()));
                    }
                }
            }
            found
        };
        Laws {
            single: names().filter(|name| always(&|t| t.is_single(name))).map(str::to_string).collect(),
            functional: names()
                .filter(|name| always(&|t| t.is_functional(name)))
                .map(str::to_string)
                .collect(),
            apart: pairs(&|n| n == 0, &|t, a, b| t.are_apart(a, b)),
            exclusive: pairs(&|n| n > 0, &|t, a, b| t.are_exclusive(a, b)),
        }
    }

    /// Whether a state without some of its facts and with others would break a law that it keeps.
    pub fn are_broken(&self, facts: &[String], removed: &[String], added: &[String]) -> bool {
        let kept = facts.iter().filter(|f| !removed.contains(f)).chain(added).map(String::as_str);
        let (before, after) = (Tally::of(facts.iter().map(String::as_str)), Tally::of(kept));
        let breaks = |law: &dyn Fn(&Tally<'_>) -> bool| law(&before) && !law(&after);
        self.single.iter().any(|name| breaks(&|t| t.is_single(name)))
            || self.functional.iter().any(|name| breaks(&|t| t.is_functional(name)))
            || self.apart.iter().any(|(a, b)| breaks(&|t| t.are_apart(a, b)))
            || self.exclusive.iter().any(|(a, b)| breaks(&|t| t.are_exclusive(a, b)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_always_so_tells_impossible_states() {
        let states = [
            vec!["at_ferry(l1)", "at(c1, l1)", "at(c2, l2)", "empty"],
            vec!["at_ferry(l1)", "on(c1)", "at(c2, l2)"],
            vec!["at_ferry(l2)", "on(c1)", "at(c2, l2)"],
        ];
        let laws = Laws::of(&states);
        let strings = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        let now = strings(&states[0]);
        let broken =
            |removed: &[&str], added: &[&str]| laws.are_broken(&now, &strings(removed), &strings(added));
        assert!(broken(&[], &["on(c1)"]), "it is at a place, and the ferry is empty");
        assert!(broken(&["empty"], &["on(c1)"]), "it is at a place");
        assert!(!broken(&["empty", "at(c1, l1)"], &["on(c1)"]));
        assert!(broken(&[], &["at_ferry(l2)"]), "there is one ferry");
        assert!(broken(&[], &["at(c2, l1)"]), "a car is in one place");
        assert!(!broken(&["at(c2, l2)"], &["at(c2, l1)"]));
        assert!(
            !Laws::of(&states[..1]).are_broken(&now, &[], &strings(&["on(c1)"])),
            "one state is not enough"
        );
    }
}
