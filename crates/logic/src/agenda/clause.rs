//! Rules as clauses that count: what each way to make a body true adds to which actions.

use super::store::{Packing, Relation};
use crate::alphabet::{Alphabet, Type, Types, Var};
use crate::rule::{Arg, Literal, Rule};
use crate::universe::{Object, Universe};

/// A body whose every substitution adds `adds` to the derivations of its head.
#[derive(Clone, Debug)]
pub(super) struct Clause {
    pub adds: i32,
    pub head: Head,
    pub body: Vec<Atom>,
    /// Objects that the rule mentions by name: no variable stands for them.
    pub named: Vec<Object>,
    pub variables: usize,
}

/// The head of a clause. Its arguments are the first variables.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub action: usize,
    pub types: Vec<Type>,
    /// Whether the body leaves the last argument open.
    pub row: bool,
}

/// A possibly negated atom over the relations of the agenda.
#[derive(Clone, Debug)]
pub(super) struct Atom {
    pub positive: bool,
    pub relation: usize,
    pub args: Vec<Slot>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    Var(Var),
    Object(Object),
}

impl Atom {
    fn mentions(&self, v: Var) -> bool {
        self.args.contains(&Slot::Var(v))
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

    let mut named: Vec<Object> = rule.body.iter().flat_map(|l| constants(l, universe)).collect();
    named.sort_unstable();
    named.dedup();
    let in_rule = rule.body.iter().flat_map(Literal::vars).map(|v| usize::from(v.0) + 1);
    let variables = in_rule.max().unwrap_or(0).max(types.len());
    let clause = |adds: i32, row: bool, body: Vec<Atom>| Clause {
        adds,
        head: Head { action: rule.action.0 as usize, types: types.clone(), row },
        body,
        named: named.clone(),
        variables,
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

/// A literal in objects; `None` where it names one that this universe lacks.
fn atom(literal: &Literal, universe: &Universe) -> Option<Atom> {
    let slot = |arg: &Arg| match arg {
        Arg::Var(v) => Some(Slot::Var(*v)),
        Arg::Const(c) => universe.find(c).map(Slot::Object),
    };
    let args = literal.args.iter().map(slot).collect::<Option<_>>()?;
    Some(Atom { positive: literal.positive, relation: literal.pred.0 as usize, args })
}

fn constants<'a>(literal: &'a Literal, universe: &'a Universe) -> impl Iterator<Item = Object> + 'a {
    literal.args.iter().filter_map(|arg| match arg {
        Arg::Const(c) => universe.find(c),
        Arg::Var(_) => None,
    })
}

/// The order in which the atoms of a body are joined, and through which indexes.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    /// Which atom of the body.
    pub atom: usize,
    /// Whether the atom is read as if the changed fact did not hold.
    pub blind: bool,
    pub access: Access,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Access {
    /// All variables are known: look the atom up.
    Lookup,
    /// Go through the tuples that an index gives for what is known.
    Scan { index: usize },
}

impl Clause {
    /// A plan for the whole body (`changed` is `None`), or for the rest of it once an atom stands for a changed fact.
    ///
    /// A change of one fact changes the number of substitutions by
    ///
    /// ```text
    /// sum over atoms i:  (atoms before i with the fact)  x  (atom i is the fact)  x  (atoms after i without it)
    /// ```
    ///
    /// Next comes always the atom that is expected to have the fewest tuples, were objects spread evenly.
    pub fn plan(
        &self,
        changed: Option<usize>,
        relations: &mut [Relation],
        packing: Packing,
        objects: usize,
    ) -> Plan {
        let mut known = vec![false; self.variables];
        let learn = |known: &mut Vec<bool>, atom: &Atom| {
            for slot in &atom.args {
                if let Slot::Var(v) = slot {
                    known[v.0 as usize] = true;
                }
            }
        };
        if let Some(i) = changed {
            learn(&mut known, &self.body[i]);
        }
        let mut left: Vec<usize> = (0..self.body.len()).filter(|&j| Some(j) != changed).collect();
        let mut steps = Vec::with_capacity(left.len());
        while !left.is_empty() {
            let is_known = |slot: &Slot| match slot {
                Slot::Var(v) => known[v.0 as usize],
                Slot::Object(_) => true,
            };
            let expected = |j: usize| {
                let atom = &self.body[j];
                let places = atom.args.iter().filter(|s| is_known(s)).count();
                match atom.positive {
                    _ if places == atom.args.len() => 0.0,
                    true => {
                        relations[atom.relation].len() as f64 / (objects.max(2) as f64).powi(places as i32)
                    }
                    false => f64::INFINITY,
                }
            };
            let best = (0..left.len())
                .min_by(|&a, &b| expected(left[a]).total_cmp(&expected(left[b])))
                .expect("the list is not empty");
            let j = left.remove(best);
            let atom = &self.body[j];
            let arity = atom.args.len();
            let places = (0..arity).filter(|&place| is_known(&atom.args[place]));
            let mask = places.map(|place| packing.mask(arity, place)).sum();
            let access = if atom.args.iter().all(is_known) {
                Access::Lookup
            } else {
                Access::Scan { index: relations[atom.relation].index(mask) }
            };
            let blind = changed.is_some_and(|i| j > i && atom.relation == self.body[i].relation);
            steps.push(Step { atom: j, blind, access });
            learn(&mut known, atom);
        }
        Plan { steps }
    }
}
