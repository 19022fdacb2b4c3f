//! Joins: the substitutions that make the body of a clause true, through indexes.

use super::Keys;
use super::clause::{Access, Atom, Clause, Plan, Slot};
use super::store::{Packing, Relation};
use super::tally::Tally;
use crate::query::Binding;
use crate::universe::Object;

/// One clause being joined by one plan.
pub(super) struct Join<'a> {
    pub relations: &'a [Relation],
    pub keys: &'a Keys,
    pub clause: &'a Clause,
    pub plan: &'a Plan,
    /// The changed fact that blind steps do not see.
    pub changed: u64,
    /// What each substitution adds.
    pub adds: i32,
}

impl Join<'_> {
    fn packing(&self) -> Packing {
        self.keys.packing
    }

    /// Counts every substitution of the whole body.
    pub fn all(&self, tally: &mut Tally) {
        self.descend(0, &mut vec![None; self.clause.variables], tally);
    }

    /// Counts the substitutions in which an atom of the body, which the plan leaves out, stands for the changed fact.
    pub fn through(&self, atom: usize, tally: &mut Tally) {
        let mut binding = vec![None; self.clause.variables];
        if self.bind(&self.clause.body[atom], self.changed, &mut binding).is_some() {
            self.descend(0, &mut binding, tally);
        }
    }

    fn descend(&self, at: usize, binding: &mut Binding, tally: &mut Tally) {
        let Some(step) = self.plan.steps.get(at) else {
            return self.count(binding, tally);
        };
        let atom = &self.clause.body[step.atom];
        let relation = &self.relations[atom.relation];
        // Places that are not known stay 0, as in the masked keys of the index.
        let key = atom
            .args
            .iter()
            .fold(0, |key, &slot| self.packing().push(key, value(slot, binding).unwrap_or(Object(0))));
        match step.access {
            Access::Lookup => {
                let holds = relation.contains(key) && !(step.blind && key == self.changed);
                if holds == atom.positive {
                    self.descend(at + 1, binding, tally);
                }
            }
            Access::Scan { index } => {
                for tuple in relation.matching(index, key) {
                    if step.blind && tuple == self.changed {
                        continue;
                    }
                    if let Some(fresh) = self.bind(atom, tuple, binding) {
                        self.descend(at + 1, binding, tally);
                        forget(fresh, binding);
                    }
                }
            }
        }
    }

    /// Lets the open variables of an atom stand for the objects of a tuple, distinct terms for distinct objects. Returns
    /// which variables these are, as a bit set; `None`, and nothing is bound, where the tuple does not match.
    fn bind(&self, atom: &Atom, tuple: u64, binding: &mut Binding) -> Option<u32> {
        let mut fresh: u32 = 0;
        for (place, &slot) in atom.args.iter().enumerate() {
            let o = self.packing().get(tuple, atom.args.len(), place);
            let matches = match (value(slot, binding), slot) {
                (None, Slot::Var(v)) => {
                    let free = !binding.contains(&Some(o)) && !self.clause.named.contains(&o);
                    if free {
                        binding[v.0 as usize] = Some(o);
                        fresh |= 1 << v.0;
                    }
                    free
                }
                (known, _) => known == Some(o),
            };
            if !matches {
                forget(fresh, binding);
                return None;
            }
        }
        Some(fresh)
    }

    /// Adds to the derivations of the head what a substitution of the whole body adds.
    fn count(&self, phi: &Binding, tally: &mut Tally) {
        let head = &self.clause.head;
        let bound = head.types.len() - usize::from(head.row);
        let mut key = self.keys.action(head.action);
        for (o, &t) in phi.iter().zip(&head.types[..bound]) {
            let Some(o) = *o else { return };
            if !self.keys.fits(o, t) {
                return;
            }
            key = self.packing().push(key, o);
        }
        if !head.row {
            return tally.add(key, self.adds);
        }
        let row = key;
        tally.add_row(row, self.adds);
        // The last argument is none of the objects that the rule speaks of already.
        let others = phi[bound..].iter().flatten().chain(&self.clause.named);
        for &o in others.filter(|&&o| self.keys.fits(o, head.types[bound])) {
            tally.add(self.packing().push(row, o), -self.adds);
        }
    }
}

fn value(slot: Slot, binding: &Binding) -> Option<Object> {
    match slot {
        Slot::Var(v) => binding[v.0 as usize],
        Slot::Object(o) => Some(o),
    }
}

fn forget(mut fresh: u32, binding: &mut Binding) {
    while fresh != 0 {
        binding[fresh.trailing_zeros() as usize] = None;
        fresh &= fresh - 1;
    }
}
