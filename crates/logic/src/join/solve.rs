//! Joins: the substitutions that make a body true, through indexes.

use std::cell::Cell;
use std::ops::ControlFlow;

use super::body::{Access, Atom, Body, Plan, Slot};
use super::store::{Packing, Relation};
use crate::query::Binding;
use crate::universe::Object;

/// One body being joined by one plan.
pub(crate) struct Join<'a> {
    pub relations: &'a [Relation],
    pub packing: Packing,
    pub body: &'a Body,
    pub plan: &'a Plan,
    /// The changed fact that blind steps do not see.
    pub changed: u64,
    /// How many partial substitutions were looked at so far.
    pub work: Cell<usize>,
    /// How many are looked at before the join breaks.
    pub most: usize,
}

impl<'a> Join<'a> {
    /// A body with a plan for it, in these relations.
    pub fn new(
        relations: &'a [Relation],
        packing: Packing,
        body: &'a Body,
        plan: &'a Plan,
        changed: u64,
    ) -> Join<'a> {
        Join { relations, packing, body, plan, changed, work: Cell::new(0), most: usize::MAX }
    }

    /// The same, and it breaks where more partial substitutions are looked at.
    pub fn within(self, most: usize) -> Join<'a> {
        Join { most, ..self }
    }

    /// Calls `found` with every substitution of the whole body that extends `binding`, until it breaks. `binding` is as before
    /// when this returns.
    pub fn all<F>(&self, binding: &mut Binding, found: &mut F) -> ControlFlow<()>
    where
        F: FnMut(&Binding) -> ControlFlow<()>,
    {
        self.descend(0, binding, found)
    }

    /// Calls `found` with the substitutions in which an atom of the body, which the plan leaves out, stands for the changed fact.
    pub fn through<F>(&self, atom: usize, binding: &mut Binding, found: &mut F) -> ControlFlow<()>
    where
        F: FnMut(&Binding) -> ControlFlow<()>,
    {
        let Some(fresh) = self.bind(&self.body.atoms[atom], self.changed, binding) else {
            return ControlFlow::Continue(());
        };
        let flow = self.descend(0, binding, found);
        forget(fresh, binding);
        flow
    }

    fn descend<F>(&self, at: usize, binding: &mut Binding, found: &mut F) -> ControlFlow<()>
    where
        F: FnMut(&Binding) -> ControlFlow<()>,
    {
        self.work.set(self.work.get() + 1);
        if self.work.get() > self.most {
            return ControlFlow::Break(());
        }
        let Some(step) = self.plan.steps.get(at) else {
            return found(binding);
        };
        let atom = &self.body.atoms[step.atom];
        let relation = &self.relations[atom.relation];
        // Places that are not known stay 0, as in the masked keys of the index.
        let key = atom
            .args
            .iter()
            .fold(0, |key, &slot| self.packing.push(key, value(slot, binding).unwrap_or(Object(0))));
        match step.access {
            Access::Lookup => {
                let holds = relation.contains(key) && !(step.blind && key == self.changed);
                if holds == atom.positive {
                    self.descend(at + 1, binding, found)?;
                }
            }
            Access::Scan { index } => {
                for tuple in relation.matching(index, key) {
                    if step.blind && tuple == self.changed {
                        continue;
                    }
                    if let Some(fresh) = self.bind(atom, tuple, binding) {
                        let flow = self.descend(at + 1, binding, found);
                        forget(fresh, binding);
                        flow?;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Lets the open variables of an atom stand for the objects of a tuple, distinct terms for distinct objects. Returns
    /// which variables these are, as a bit set; `None`, and nothing is bound, where the tuple does not match.
    fn bind(&self, atom: &Atom, tuple: u64, binding: &mut Binding) -> Option<u32> {
        let mut fresh: u32 = 0;
        for (place, &slot) in atom.args.iter().enumerate() {
            let o = self.packing.get(tuple, atom.args.len(), place);
            let matches = match (value(slot, binding), slot) {
                (None, Slot::Var(v)) => {
                    let free = self.body.identity.allows(v, o, binding);
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
