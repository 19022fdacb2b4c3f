//! Conditions as clauses of derrl's language.
//!
//! A condition becomes a disjunction of conjunctions; `exists` gives variables of a body, `forall` a predicate of its own
//! that holds where there is a counterexample, and is negated. derrl's clauses are under object identity: distinct
//! variables stand for distinct objects. PDDL's are not, so a clause is written once for every way in which its variables
//! may stand for the same object, as far as types and inequalities allow it.

use derrl_logic::Error;

use crate::domain::Domain;
use crate::formula::{Formula, Term};
use crate::types::Kind;

/// The most clauses that one condition may become.
const MAX_CLAUSES: usize = 2000;

/// The predicate of a literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Symbol {
    /// A predicate of the domain.
    Predicate(u32),
    /// Whether an object is of a kind.
    Kind(Kind),
    /// The `i`-th counterexample.
    Helper(u32),
    /// What never holds.
    Never,
}

/// A literal of a clause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Literal {
    pub(crate) holds: bool,
    pub(crate) symbol: Symbol,
    pub(crate) args: Vec<Term>,
}

/// A clause in which distinct variables and constants are distinct objects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Clause {
    pub(crate) head: Vec<Term>,
    pub(crate) body: Vec<Literal>,
}

/// A predicate that holds where a `forall` fails.
#[derive(Clone, Debug)]
pub(crate) struct Helper {
    /// Its name, before it is made unique.
    pub(crate) name: String,
    pub(crate) kinds: Vec<Kind>,
    pub(crate) clauses: Vec<Clause>,
    /// The names of the variables of its clauses, by slot.
    pub(crate) names: Vec<String>,
}

/// A conjunction that still has equalities.
#[derive(Clone, Debug, Default)]
struct Conjunction {
    literals: Vec<Literal>,
    equal: Vec<(Term, Term, bool)>,
    /// The variables that `exists` brought.
    vars: Vec<u16>,
}

/// Which of a head's variables stand for the same object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heads<'p> {
    /// Any may: derived predicates.
    Free,
    /// Those at equal places do, and no others: actions.
    At(&'p [u8]),
}

/// Writes the conditions of one action or axiom as clauses.
pub(crate) struct Clauses<'a> {
    pub(crate) domain: &'a Domain,
    /// What messages and helpers are named after.
    pub(crate) owner: &'a str,
    pub(crate) kinds: &'a [Kind],
    pub(crate) names: &'a [String],
    pub(crate) helpers: &'a mut Vec<Helper>,
}

impl Clauses<'_> {
    /// The clauses with this head. `given` are the kinds that the head's declaration ensures for its slots.
    pub(crate) fn of(
        &mut self,
        head: &[u16],
        given: &[Kind],
        condition: &Formula,
        heads: Heads<'_>,
    ) -> Result<Vec<Clause>, Error> {
        let mut all = Vec::new();
        for conjunction in self.disjuncts(&condition.normal(true))? {
            self.variants(head, given, &conjunction, heads, &mut all)?;
        }
        all.sort();
        all.dedup();
        Ok(all)
    }

    fn too_many(&self) -> Error {
        Error::new(format!("the condition of `{}` becomes more than {MAX_CLAUSES} clauses", self.owner))
            .with_help("split the action, or give its variables types of their own")
    }

    fn disjuncts(&mut self, condition: &Formula) -> Result<Vec<Conjunction>, Error> {
        let literal = |holds: bool, inner: &Formula| match inner {
            Formula::Atom(a) => {
                let literal = Literal { holds, symbol: Symbol::Predicate(a.predicate), args: a.args.clone() };
                Conjunction { literals: vec![literal], ..Conjunction::default() }
            }
            Formula::Equal(a, b) => Conjunction { equal: vec![(*a, *b, holds)], ..Conjunction::default() },
            _ => unreachable!("in normal form only atoms and equalities are negated"),
        };
        Ok(match condition {
            Formula::Atom(_) | Formula::Equal(..) => vec![literal(true, condition)],
            Formula::Not(inner) => vec![literal(false, inner)],
            Formula::And(parts) => {
                let mut all = vec![Conjunction::default()];
                for part in parts {
                    let choices = self.disjuncts(part)?;
                    if all.len() * choices.len() > MAX_CLAUSES {
                        return Err(self.too_many());
                    }
                    all = all
                        .iter()
                        .flat_map(|a| {
                            choices.iter().map(move |b| Conjunction {
                                literals: [a.literals.as_slice(), &b.literals].concat(),
                                equal: [a.equal.as_slice(), &b.equal].concat(),
                                vars: [a.vars.as_slice(), &b.vars].concat(),
                            })
                        })
                        .collect();
                }
                all
            }
            Formula::Or(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(self.disjuncts(part)?);
                    if all.len() > MAX_CLAUSES {
                        return Err(self.too_many());
                    }
                }
                all
            }
            Formula::Exists(vars, inner) => {
                let mut all = self.disjuncts(inner)?;
                for conjunction in &mut all {
                    conjunction.vars.extend(vars);
                }
                all
            }
            Formula::Forall(vars, inner) => {
                // forall X: F  =  not counterexample(free variables), counterexample :- not F.
                let free = condition.free();
                let kinds: Vec<Kind> = free.iter().map(|&v| self.kinds[usize::from(v)]).collect();
                let counterexample = Formula::Exists(vars.clone(), Box::new(inner.normal(false)));
                let clauses = self.of(&free, &kinds, &counterexample, Heads::Free)?;
                let at = self.helpers.len() as u32;
                let name = format!("{}_fails", self.owner);
                self.helpers.push(Helper { name, kinds, clauses, names: self.names.to_vec() });
                let args = free.iter().map(|&v| Term::Var(v)).collect();
                let literal = Literal { holds: false, symbol: Symbol::Helper(at), args };
                vec![Conjunction { literals: vec![literal], ..Conjunction::default() }]
            }
        })
    }

    /// Adds the clause once for every way of merging variables.
    fn variants(
        &self,
        head: &[u16],
        given: &[Kind],
        conjunction: &Conjunction,
        heads: Heads<'_>,
        all: &mut Vec<Clause>,
    ) -> Result<(), Error> {
        let mut vars: Vec<u16> = head.to_vec();
        for &v in &conjunction.vars {
            if !vars.contains(&v) {
                vars.push(v);
            }
        }
        let terms = conjunction.literals.iter().flat_map(|l| &l.args);
        let equal = conjunction.equal.iter().flat_map(|(a, b, _)| [a, b]);
        let mut constants: Vec<u32> = terms
            .chain(equal)
            .filter_map(|t| if let Term::Object(o) = t { Some(*o) } else { None })
            .collect();
        constants.sort_unstable();
        constants.dedup();
        // The classes of equal terms: each constant is one, variables join or begin one.
        let classes: Vec<(Term, Vec<u16>)> =
            constants.iter().map(|&o| (Term::Object(o), Vec::new())).collect();
        let merge = Merge { clauses: self, head, given, conjunction, heads };
        merge.extend(&vars, classes, all)
    }
}

struct Merge<'a, 'b> {
    clauses: &'a Clauses<'b>,
    head: &'a [u16],
    given: &'a [Kind],
    conjunction: &'a Conjunction,
    heads: Heads<'a>,
}

impl Merge<'_, '_> {
    fn extend(
        &self,
        vars: &[u16],
        classes: Vec<(Term, Vec<u16>)>,
        all: &mut Vec<Clause>,
    ) -> Result<(), Error> {
        let Some((&var, rest)) = vars.split_first() else {
            if let Some(clause) = self.clause(&classes) {
                all.push(clause);
                if all.len() > MAX_CLAUSES {
                    return Err(self.clauses.too_many());
                }
            }
            return Ok(());
        };
        let (types, kinds) = (&self.clauses.domain.types, self.clauses.kinds);
        let kind = kinds[usize::from(var)];
        let place = |v: &u16| match self.heads {
            Heads::Free => None,
            Heads::At(places) => self.head.iter().position(|h| h == v).map(|at| places[at]),
        };
        let has = |members: &[u16], place_of: u8| members.iter().any(|m| place(m) == Some(place_of));
        let own_place = place(&var);
        // Where another variable of its place has a class, it is in that one.
        let given = own_place.and_then(|p| classes.iter().position(|(_, members)| has(members, p)));
        for i in 0..classes.len() {
            let (leader, members) = &classes[i];
            let other = own_place.is_some() && members.iter().any(|m| place(m).is_some());
            if given.is_some_and(|given| given != i) || (given.is_none() && other) {
                continue;
            }
            let fits = match leader {
                Term::Object(o) => types.belongs(&self.clauses.domain.constants[*o as usize].types, kind),
                Term::Var(_) => members.iter().all(|&m| types.overlap(kinds[usize::from(m)], kind)),
            };
            // An inequality between the two settles it now, not after all other merges.
            let apart = self.conjunction.equal.iter().any(|&(a, b, same)| {
                let inside = |t: Term| t == *leader || matches!(t, Term::Var(v) if members.contains(&v));
                let me = Term::Var(var);
                !same && ((a == me && inside(b)) || (b == me && inside(a)))
            });
            if fits && !apart {
                let mut joined = classes.clone();
                joined[i].1.push(var);
                self.extend(rest, joined, all)?;
            }
        }
        if given.is_some() {
            return Ok(());
        }
        let mut own = classes;
        own.push((Term::Var(var), vec![var]));
        self.extend(rest, own, all)
    }

    /// The clause of these classes; none where it contradicts itself.
    fn clause(&self, classes: &[(Term, Vec<u16>)]) -> Option<Clause> {
        let domain = self.clauses.domain;
        let of = |t: Term| match t {
            Term::Object(_) => t,
            Term::Var(v) => classes.iter().find(|c| c.1.contains(&v)).map_or(t, |c| c.0),
        };
        if self.conjunction.equal.iter().any(|&(a, b, same)| (of(a) == of(b)) != same) {
            return None;
        }
        let mut body: Vec<Literal> = Vec::new();
        for literal in &self.conjunction.literals {
            let args = literal.args.iter().map(|&t| of(t)).collect();
            let literal = Literal { args, ..literal.clone() };
            if body
                .iter()
                .any(|l| l.symbol == literal.symbol && l.args == literal.args && l.holds != literal.holds)
            {
                return None;
            }
            if !body.contains(&literal) {
                body.push(literal);
            }
        }
        // A variable that is not in the head needs a positive literal; where neither ensures its kind, the kind is one.
        let mut guards = Vec::new();
        for (leader, members) in classes {
            let Term::Var(_) = leader else { continue };
            let mut known: Vec<Kind> = self
                .head
                .iter()
                .zip(self.given)
                .filter(|(v, _)| members.contains(v))
                .map(|(_, &k)| k)
                .collect();
            for literal in body.iter().filter(|l| l.holds) {
                if let Symbol::Predicate(p) = literal.symbol {
                    let args = literal.args.iter().zip(&domain.predicates[p as usize].args);
                    known.extend(args.filter(|(t, _)| *t == leader).map(|(_, &k)| k));
                }
            }
            let mut wanted: Vec<Kind> = members.iter().map(|&m| self.clauses.kinds[usize::from(m)]).collect();
            wanted.sort();
            wanted.dedup();
            let bound = !known.is_empty();
            wanted.retain(|&w| !known.iter().any(|&k| domain.types.is_subkind(k, w)));
            if !bound && wanted.is_empty() {
                wanted.push(Kind::OBJECT);
            }
            guards.extend(wanted.into_iter().map(|kind| Literal {
                holds: true,
                symbol: Symbol::Kind(kind),
                args: vec![*leader],
            }));
        }
        // Positive literals first: what binds, then what tests.
        body.extend(guards);
        body.sort_by_key(|l| !l.holds);
        Some(Clause { head: self.head.iter().map(|&v| of(Term::Var(v))).collect(), body })
    }
}
