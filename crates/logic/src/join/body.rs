//! Bodies over packed relations, and the order in which their atoms are joined.

use super::store::{Packing, Relation};
use crate::alphabet::Var;
use crate::query::Binding;
use crate::rule::{Arg, Literal};
use crate::universe::{Object, Universe};

/// A conjunction of atoms whose distinct terms stand for distinct objects, as far as `identity` says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Body {
    pub atoms: Vec<Atom>,
    pub identity: Identity,
    pub variables: usize,
}

/// Which terms of a body stand for distinct objects.
///
/// In one clause all do. Where a body is made of two clauses, terms of one may stand for objects of the other: only what both
/// speak of is distinct from all.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Identity {
    /// For each variable, those that it differs from, as bits.
    differs: Vec<Vars>,
    /// Objects that are mentioned by name, and the variables that do not stand for them.
    named: Vec<(Object, Vars)>,
}

/// A set of variables, as bits.
pub(crate) type Vars = u32;

impl Identity {
    /// No terms are distinct yet.
    pub fn none(variables: usize) -> Identity {
        Identity { differs: vec![0; variables], named: Vec::new() }
    }

    /// All terms of one clause are distinct, and none of its variables stands for these objects.
    pub fn clause(variables: usize, named: Vec<Object>) -> Identity {
        let mut identity = Identity::none(variables);
        identity.add(all_vars(variables), named);
        identity
    }

    /// Makes these variables distinct from each other and from these objects.
    pub fn add(&mut self, vars: Vars, named: Vec<Object>) {
        for (v, differs) in self.differs.iter_mut().enumerate() {
            if vars >> v & 1 == 1 {
                *differs |= vars;
            }
        }
        self.named.extend(named.into_iter().map(|o| (o, vars)));
    }

    /// The variables that a variable differs from.
    pub fn differing(&self, v: Var) -> Vars {
        self.differs[v.0 as usize] & !(1 << v.0)
    }

    /// Whether a variable may stand for an object, given what others stand for.
    #[inline]
    pub fn allows(&self, v: Var, o: Object, binding: &Binding) -> bool {
        self.excluded(v, binding).all(|taken| taken != o)
    }

    /// The objects that a variable does not stand for, some more than once.
    #[inline]
    pub fn excluded<'a>(&'a self, v: Var, binding: &'a Binding) -> impl Iterator<Item = Object> + Clone + 'a {
        let differs = self.differs[v.0 as usize];
        let others = binding.iter().enumerate().filter(move |(w, _)| differs >> w & 1 == 1);
        let named = self.named.iter().filter(move |(_, vars)| vars >> v.0 & 1 == 1);
        others.filter_map(|(_, o)| *o).chain(named.map(|(o, _)| *o))
    }
}

/// The first variables.
pub(crate) fn all_vars(count: usize) -> Vars {
    1_u32.checked_shl(count as u32).unwrap_or(0).wrapping_sub(1)
}

/// A possibly negated atom over the relations of a store.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Atom {
    pub positive: bool,
    pub relation: usize,
    pub args: Vec<Slot>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    Var(Var),
    Object(Object),
}

impl Atom {
    pub fn mentions(&self, v: Var) -> bool {
        self.args.contains(&Slot::Var(v))
    }
}

/// A literal in objects; `None` where it names one that this universe lacks. Predicates are the first relations of a store.
pub(crate) fn atom(literal: &Literal, universe: &Universe) -> Option<Atom> {
    let slot = |arg: &Arg| match arg {
        Arg::Var(v) => Some(Slot::Var(*v)),
        Arg::Const(c) => universe.find(c).map(Slot::Object),
    };
    let args = literal.args.iter().map(slot).collect::<Option<_>>()?;
    Some(Atom { positive: literal.positive, relation: literal.pred.0 as usize, args })
}

/// The objects that literals mention by name, in order, each once.
pub(crate) fn named<'a>(literals: impl Iterator<Item = &'a Literal>, universe: &'a Universe) -> Vec<Object> {
    let mut named: Vec<Object> = literals.flat_map(|l| constants(l, universe)).collect();
    named.sort_unstable();
    named.dedup();
    named
}

fn constants<'a>(literal: &'a Literal, universe: &'a Universe) -> impl Iterator<Item = Object> + 'a {
    literal.args.iter().filter_map(|arg| match arg {
        Arg::Const(c) => universe.find(c),
        Arg::Var(_) => None,
    })
}

/// The order in which the atoms of a body are joined, and through which indexes.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// Which atom of the body.
    pub atom: usize,
    /// Whether the atom is read as if the changed fact did not hold.
    pub blind: bool,
    pub access: Access,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Access {
    /// All variables are known: look the atom up.
    Lookup,
    /// Go through the tuples that an index gives for what is known.
    Scan { index: usize },
}

impl Body {
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
        self.plan_from(&[], changed, relations, packing, objects)
    }

    /// The same with some variables known beforehand.
    pub fn plan_from(
        &self,
        bound: &[Var],
        changed: Option<usize>,
        relations: &mut [Relation],
        packing: Packing,
        objects: usize,
    ) -> Plan {
        let mut known = vec![false; self.variables];
        for v in bound {
            known[v.0 as usize] = true;
        }
        let learn = |known: &mut Vec<bool>, atom: &Atom| {
            for slot in &atom.args {
                if let Slot::Var(v) = slot {
                    known[v.0 as usize] = true;
                }
            }
        };
        if let Some(i) = changed {
            learn(&mut known, &self.atoms[i]);
        }
        let mut left: Vec<usize> = (0..self.atoms.len()).filter(|&j| Some(j) != changed).collect();
        let mut steps = Vec::with_capacity(left.len());
        while !left.is_empty() {
            let is_known = |slot: &Slot| match slot {
                Slot::Var(v) => known[v.0 as usize],
                Slot::Object(_) => true,
            };
            let expected = |j: usize| {
                let atom = &self.atoms[j];
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
            let atom = &self.atoms[j];
            let arity = atom.args.len();
            let places = (0..arity).filter(|&place| is_known(&atom.args[place]));
            let mask = places.map(|place| packing.mask(arity, place)).sum();
            let access = if atom.args.iter().all(is_known) {
                Access::Lookup
            } else {
                Access::Scan { index: relations[atom.relation].index(mask) }
            };
            let blind = changed.is_some_and(|i| j > i && atom.relation == self.atoms[i].relation);
            steps.push(Step { atom: j, blind, access });
            learn(&mut known, atom);
        }
        Plan { steps }
    }
}
