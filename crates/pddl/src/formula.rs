//! Conditions and effects in ids: what a domain's text becomes.

use crate::types::Kind;

/// A variable of an action, axiom or goal by its slot, or an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// A variable. The parameters of an action or axiom are the first slots.
    Var(u16),
    /// A constant of the domain or an object of the problem: constants are every problem's first objects.
    Object(u32),
}

/// A predicate applied to terms.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Atom {
    /// An index into [`crate::Domain::predicates`].
    pub predicate: u32,
    /// Its arguments.
    pub args: Vec<Term>,
}

/// A condition. `imply` is read as a disjunction.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// All hold; true where there are none.
    And(Vec<Formula>),
    /// One holds; false where there are none.
    Or(Vec<Formula>),
    /// It does not hold.
    Not(Box<Formula>),
    /// The atom holds.
    Atom(Atom),
    /// Both terms are the same object.
    Equal(Term, Term),
    /// It holds for some objects of the variables' kinds.
    Exists(Vec<u16>, Box<Formula>),
    /// It holds for all objects of the variables' kinds.
    Forall(Vec<u16>, Box<Formula>),
}

impl Formula {
    /// The formula that always holds.
    pub const TRUE: Formula = Formula::And(Vec::new());

    /// The same condition with negation before atoms and equalities only, nested conjunctions and disjunctions
    /// flattened; `holds` false gives the negation.
    #[must_use]
    pub fn normal(&self, holds: bool) -> Formula {
        let flat = |parts: &[Formula], and: bool| {
            let mut all = Vec::new();
            for part in parts {
                match part.normal(holds) {
                    Formula::And(inner) if and => all.extend(inner),
                    Formula::Or(inner) if !and => all.extend(inner),
                    other => all.push(other),
                }
            }
            if all.len() == 1 {
                all.remove(0)
            } else if and {
                Formula::And(all)
            } else {
                Formula::Or(all)
            }
        };
        match self {
            Formula::And(parts) => flat(parts, holds),
            Formula::Or(parts) => flat(parts, !holds),
            Formula::Not(inner) => inner.normal(!holds),
            Formula::Atom(_) | Formula::Equal(..) if holds => self.clone(),
            Formula::Atom(_) | Formula::Equal(..) => Formula::Not(Box::new(self.clone())),
            Formula::Exists(vars, inner) if holds => {
                Formula::Exists(vars.clone(), Box::new(inner.normal(true)))
            }
            Formula::Forall(vars, inner) if !holds => {
                Formula::Exists(vars.clone(), Box::new(inner.normal(false)))
            }
            Formula::Exists(vars, inner) | Formula::Forall(vars, inner) => {
                Formula::Forall(vars.clone(), Box::new(inner.normal(holds)))
            }
        }
    }

    /// Calls `visit` with every atom and whether it stands under an even number of negations.
    pub fn atoms<'a>(&'a self, positive: bool, visit: &mut dyn FnMut(&'a Atom, bool)) {
        match self {
            Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|p| p.atoms(positive, visit)),
            Formula::Not(inner) => inner.atoms(!positive, visit),
            Formula::Atom(atom) => visit(atom, positive),
            Formula::Equal(..) => {}
            Formula::Exists(_, inner) | Formula::Forall(_, inner) => inner.atoms(positive, visit),
        }
    }

    /// The variables that occur in it and that it does not bind itself, each once, in order of slots.
    pub fn free(&self) -> Vec<u16> {
        let mut free = Vec::new();
        self.collect_free(&mut free);
        free.sort_unstable();
        free.dedup();
        free
    }

    fn collect_free(&self, free: &mut Vec<u16>) {
        let var = |t: &Term| if let Term::Var(v) = t { Some(*v) } else { None };
        match self {
            Formula::And(parts) | Formula::Or(parts) => parts.iter().for_each(|p| p.collect_free(free)),
            Formula::Not(inner) => inner.collect_free(free),
            Formula::Atom(atom) => free.extend(atom.args.iter().filter_map(var)),
            Formula::Equal(a, b) => free.extend([a, b].into_iter().filter_map(var)),
            Formula::Exists(vars, inner) | Formula::Forall(vars, inner) => {
                let mut below = Vec::new();
                inner.collect_free(&mut below);
                below.retain(|v| !vars.contains(v));
                free.append(&mut below);
            }
        }
    }
}

/// What an action costs.
#[derive(Clone, Debug, PartialEq)]
pub enum Cost {
    /// A number.
    Constant(f64),
    /// The problem's value of a function, an index into [`crate::Domain::functions`], of these arguments.
    Function(u32, Vec<Term>),
}

/// A part of an action's effect: for all objects of its variables for which the condition holds before the action,
/// facts become false and true.
#[derive(Clone, Debug, PartialEq)]
pub struct Effect {
    /// The variables that it is about beyond the action's own.
    pub vars: Vec<u16>,
    /// When it happens.
    pub condition: Formula,
    /// What holds afterwards.
    pub adds: Vec<Atom>,
    /// What no longer holds, unless it is also added.
    pub deletes: Vec<Atom>,
    /// What it adds to the cost.
    pub costs: Vec<Cost>,
}

/// An action schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    /// Its name as written.
    pub name: String,
    /// How many parameters it has: the first slots.
    pub arity: usize,
    /// The kind of every slot, parameters first.
    pub kinds: Vec<Kind>,
    /// The names of all slots, without `?`.
    pub names: Vec<String>,
    /// When it is applicable.
    pub precondition: Formula,
    /// What it does.
    pub effects: Vec<Effect>,
}

/// A rule for a derived predicate: it holds of the first slots if the body does.
#[derive(Clone, Debug, PartialEq)]
pub struct Axiom {
    /// The derived predicate.
    pub predicate: u32,
    /// The kind of every slot, the predicate's arguments first.
    pub kinds: Vec<Kind>,
    /// The names of all slots, without `?`.
    pub names: Vec<String>,
    /// The condition.
    pub body: Formula,
}
