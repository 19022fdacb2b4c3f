//! Parts of bodies that only have to hold, as predicates of their own.
//!
//! In `make(S) :- bread(B), waiting(C)` nothing relates what is made to bread or children. Whoever counts substitutions would count as
//! many as there are pairs; as `holds1 :- bread(B)` each part holds or does not.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::alphabet::{Alphabet, Type, Var};
use crate::diagnostic::Source;
use crate::policy::Policy;
use crate::rule::{Arg, Literal, Rule};

impl Policy {
    /// The same policy where every part of a body that shares no variable with the head or the rest is a predicate of its own, and the
    /// alphabet with these, after all others. `None` where there are no such parts, or where one could be about an object of another
    /// part: then the two depend on each other, because distinct variables stand for distinct objects.
    pub fn with_parts_named(&self, alphabet: &Alphabet) -> Option<(Policy, Arc<Alphabet>)> {
        if !alphabet.measures.is_empty() {
            return None;
        }
        let speaking: Vec<&Rule> = self.rules.iter().filter(|rule| !rule.abstains()).collect();
        let mut text = Policy::default().display(alphabet).to_string();
        let mut rules = String::new();
        let mut named = 0;
        for rule in &speaking {
            let arity = alphabet.action(rule.action).args.len();
            let (rest, parts) = parts(rule, arity, alphabet)?;
            let mut holds = String::new();
            for part in parts {
                named += 1;
                let mut name = format!("holds{named}");
                while alphabet.predicates.iter().any(|p| p.name == name)
                    || alphabet.actions.iter().any(|a| a.name == name)
                {
                    name.push('_');
                }
                let part: Vec<String> = part.iter().map(|l| l.display(alphabet).to_string()).collect();
                let _ = writeln!(text, ":- derived({name}).\n{name} :- {}.", part.join(", "));
                let _ = write!(holds, ", {name}");
            }
            let rest = Rule { body: rest, ..(*rule).clone() };
            let shown = rest.display(alphabet).to_string();
            let shown = shown.strip_suffix('.')?;
            let holds = if rest.body.is_empty() { holds.replacen(", ", " :- ", 1) } else { holds };
            let _ = writeln!(rules, "{shown}{holds}.");
        }
        if named == 0 {
            return None;
        }
        let source = Source::new("parts", text + &rules);
        let (mut policy, wider) = Policy::read(&source, &Arc::new(alphabet.clone())).ok()?;
        // A text rounds weights.
        policy.rules.iter_mut().zip(&speaking).for_each(|(rule, of)| rule.weight = of.weight);
        let same = alphabet.predicates.iter().zip(&wider.predicates).all(|(a, b)| a == b);
        (same && policy.rules.len() == speaking.len()).then_some((policy, wider))
    }
}

/// The literals of a body that share variables with the head, or have none, and the others part by part. `None` where parts are not
/// independent, or the rule chooses.
fn parts(rule: &Rule, arity: usize, alphabet: &Alphabet) -> Option<(Vec<Literal>, Vec<Vec<Literal>>)> {
    let bits = |at: usize| rule.body[at].vars().fold(0_u32, |set, v| set | 1 << v.0);
    let head = 1_u32.checked_shl(arity as u32).unwrap_or(0).wrapping_sub(1);
    let mut groups: Vec<(u32, Vec<usize>)> = vec![(head, Vec::new())];
    for at in 0..rule.body.len() {
        let set = bits(at);
        let meets = |i: &usize| groups[*i].0 & set != 0;
        let meeting: Vec<usize> = (0..groups.len()).filter(meets).collect();
        // What is about nothing stays with the head.
        let into = match meeting.first() {
            Some(&first) => first,
            None if set == 0 => 0,
            None => {
                groups.push((0, Vec::new()));
                groups.len() - 1
            }
        };
        for &other in meeting.iter().skip(1).rev() {
            let (theirs, mut places) = groups.remove(other);
            groups[into].0 |= theirs;
            groups[into].1.append(&mut places);
        }
        groups[into].0 |= set;
        groups[into].1.push(at);
    }
    let literals = |places: &[usize]| {
        let mut places = places.to_vec();
        places.sort_unstable();
        places.into_iter().map(|at| rule.body[at].clone()).collect::<Vec<_>>()
    };
    let (first, others) = groups.split_first()?;
    if others.is_empty() {
        return Some((rule.body.clone(), Vec::new()));
    }
    let names_objects = rule.body.iter().flat_map(|l| &l.args).any(|a| matches!(a, Arg::Const(_)));
    if names_objects || !rule.choices.is_empty() {
        return None;
    }
    let types = types(rule, arity, alphabet);
    let apart = |v: Var, w: Var| {
        let of = |v: Var| types.iter().filter(move |(u, _)| *u == v).map(|(_, t)| *t);
        of(v).any(|a| of(w).any(|b| !alphabet.types.overlap(a, b)))
    };
    let vars = |set: u32| (0..u32::BITS as u8).filter(move |v| set >> v & 1 == 1).map(Var);
    for (i, (set, _)) in groups.iter().enumerate() {
        let rest = groups[i + 1..].iter().fold(0, |all, (set, _)| all | set);
        if vars(*set).any(|v| vars(rest).any(|w| !apart(v, w))) {
            return None;
        }
    }
    Some((literals(&first.1), others.iter().map(|(_, places)| literals(places)).collect()))
}

/// The types that are asked of each variable.
fn types(rule: &Rule, arity: usize, alphabet: &Alphabet) -> Vec<(Var, Type)> {
    let decl = alphabet.action(rule.action);
    let head = decl.args.iter().enumerate().map(|(i, &t)| (Var(i as u8), t)).take(arity);
    let body = rule.body.iter().filter(|l| l.positive).flat_map(|l| {
        l.args.iter().zip(&alphabet.predicate(l.pred).args).filter_map(|(arg, &t)| match arg {
            Arg::Var(v) => Some((*v, t)),
            Arg::Const(_) => None,
        })
    });
    head.chain(body).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn independent_parts_are_named() {
        let domain = ":- action(make(box)). :- action(rest). :- state(new(box)). :- state(bread(food)). :- state(near(child, child)).
            :- state(dark).";
        let alphabet = Arc::new(Alphabet::parse(&Source::new("d.pl", domain)).unwrap());
        let read = |text: &str| Policy::parse(&Source::new("p.pl", text), &alphabet).unwrap();
        let named = |text: &str| {
            let (policy, wider) = read(text).with_parts_named(&alphabet)?;
            Some(policy.display(&wider).to_string())
        };
        assert_eq!(
            named(
                "0.9::make(X) :- bread(Y), new(X), near(Z, U), dark, \\+ near(U, Z). 0.8::rest :- bread(X)."
            )
            .unwrap(),
            ":- derived(holds1).\n:- derived(holds2).\n:- derived(holds3).\nholds1 :- bread(X).\nholds2 :- near(X, Y), \\+ near(Y, X).\n\
             holds3 :- bread(X).\n0.90::make(X) :- new(X), dark, holds1, holds2.\n0.80::rest :- holds3.\n"
        );
        assert_eq!(named("make(X) :- new(X), dark."), None, "there are no such parts");
        assert_eq!(named("make(X) :- new(X), new(Y)."), None, "Y is not X");
        assert_eq!(named("make(X) :- near(Y, Z), near(U, V)."), None, "four different children");
    }
}
