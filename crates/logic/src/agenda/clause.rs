//! Rules as clauses that count: what each way to make a body true adds to which actions.

use super::Keys;
use super::tally::Tally;
use crate::alphabet::{Alphabet, Type, Types, Var};
use crate::join::{Atom, Body, Slot, atom, named};
use crate::query::Binding;
use crate::rule::{Literal, Rule};
use crate::universe::Universe;

/// A body whose every substitution adds `adds` to the derivations of its head.
#[derive(Clone, Debug)]
pub(super) struct Clause {
    pub adds: i32,
    pub head: Head,
    pub body: Body,
}

/// The head of a clause. Its arguments are the first variables.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub action: usize,
    pub types: Vec<Type>,
    /// Whether the body leaves the last argument open.
    pub row: bool,
}

impl Clause {
    /// Adds `adds` to the derivations of what the head says under a substitution of the whole body.
    pub fn count(&self, phi: &Binding, adds: i32, keys: &Keys, tally: &mut Tally) {
        let head = &self.head;
        let bound = head.types.len() - usize::from(head.row);
        let mut key = keys.action(head.action);
        for (o, &t) in phi.iter().zip(&head.types[..bound]) {
            let Some(o) = *o else { return };
            if !keys.fits(o, t) {
                return;
            }
            key = keys.packing.push(key, o);
        }
        if !head.row {
            return tally.add(key, adds);
        }
        let row = key;
        tally.add_row(row, adds);
        // The last argument is none of the objects that the rule speaks of already.
        let others = phi[bound..].iter().flatten().chain(&self.body.named);
        for &o in others.filter(|&&o| keys.fits(o, head.types[bound])) {
            tally.add(keys.packing.push(row, o), -adds);
        }
    }
}

/// The clauses that count the derivations of a rule.
///
/// Variables that no positive literal binds range over a type, which is a relation like any other (`type_relation`). All but
/// one: where the last argument Y of the head is open, a substitution of the others derives a whole row of actions, less
/// those Y that the rule already speaks of and those that its negated literals a1, a2, .. on Y rule out. These are counted,
/// each once:
///
/// ```text
/// body, \+ a1, \+ a2  =  body  -  (body, a1)  -  (body, \+ a1, a2)
/// ```
pub(super) fn clauses(
    rule: &Rule,
    alphabet: &Alphabet,
    universe: &Universe,
    type_relation: &dyn Fn(Type) -> usize,
) -> Vec<Clause> {
    let types = &alphabet.action(rule.action).args;
    let compiled: Vec<Option<Atom>> = rule.body.iter().map(|l| atom(l, universe)).collect();
    let impossible = rule.body.iter().zip(&compiled).any(|(l, a)| l.positive && a.is_none());
    if impossible {
        return Vec::new();
    }
    let bound = |v: Var| rule.body.iter().any(|l| l.positive && l.vars().any(|w| w == v));
    let last = types.len().checked_sub(1).map(|at| Var(at as u8)).filter(|&v| !bound(v));

    // A negated literal about an object that this universe lacks is true.
    let (blocking, mut body): (Vec<Atom>, Vec<Atom>) =
        compiled.into_iter().flatten().partition(|a| !a.positive && last.is_some_and(|v| a.mentions(v)));
    let in_head = types.iter().enumerate().map(|(at, &t)| (Var(at as u8), t));
    let in_body = rule.body.iter().flat_map(Literal::vars).filter(|v| usize::from(v.0) >= types.len());
    let mut ranging: Vec<(Var, Type)> = in_head
        .chain(in_body.map(|v| (v, Types::ANY)))
        .filter(|&(v, _)| !bound(v) && Some(v) != last)
        .collect();
    ranging.sort_unstable_by_key(|r| r.0);
    ranging.dedup_by_key(|r| r.0);
    body.extend(ranging.into_iter().map(|(v, t)| Atom {
        positive: true,
        relation: type_relation(t),
        args: vec![Slot::Var(v)],
    }));

    let named = named(rule.body.iter(), universe);
    let in_rule = rule.body.iter().flat_map(Literal::vars).map(|v| usize::from(v.0) + 1);
    let variables = in_rule.max().unwrap_or(0).max(types.len());
    let clause = |adds: i32, row: bool, atoms: Vec<Atom>| Clause {
        adds,
        head: Head { action: rule.action.0 as usize, types: types.clone(), row },
        body: Body { atoms, named: named.clone(), variables },
    };
    let mut all = vec![clause(1, last.is_some(), body.clone())];
    for (j, blocks) in blocking.iter().enumerate() {
        let mut body = body.clone();
        body.push(Atom { positive: true, ..blocks.clone() });
        body.extend_from_slice(&blocking[..j]);
        all.push(clause(-1, false, body));
    }
    all
}
