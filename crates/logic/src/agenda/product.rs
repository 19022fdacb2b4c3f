//! Bodies that fall into parts: what they derive is a product, and only its factors are listed.
//!
//! `make(S, B, C) :- bread(B), content(C), notexist(S)` derives as many actions as there are triples; where nothing relates S, B and C,
//! the k-th triple is found from the three lists.

use std::ops::{ControlFlow, Range};

use super::Keys;
use super::clause::Clause;
use crate::alphabet::Var;
use crate::join::{Body, Join, Plan, Relation, Slot};

/// A clause as parts that share no variable: those of the head in the order of its arguments, then those that only have to hold.
#[derive(Clone, Debug)]
pub(super) struct Factors {
    action: usize,
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
struct Part {
    /// The arguments of the head that it finds.
    places: Range<usize>,
    body: Body,
    plan: Plan,
}

/// The actions of a product, in order.
#[derive(Clone, Debug)]
pub(super) struct Product {
    /// The key of the action without arguments.
    action: u64,
    /// For each part of the head the tuples that it finds, in order, and the bits that one takes.
    parts: Vec<(Vec<u64>, u32)>,
}

impl Factors {
    /// `None` where the arguments of the head are not found by several parts, each of them arguments in a row, or where an object
    /// that one part finds may be ruled out by another.
    pub fn of(clause: &Clause, relations: &mut [Relation], keys: &Keys, objects: usize) -> Option<Factors> {
        let (arity, body) = (clause.head.types.len(), &clause.body);
        if clause.head.row || clause.adds != 1 || arity < 2 {
            return None;
        }
        let vars = |at: usize| {
            body.atoms[at].args.iter().fold(0_u32, |set, slot| match slot {
                Slot::Var(v) => set | 1 << v.0,
                Slot::Object(_) => set,
            })
        };
        // Atoms by the variables that they share, directly or through others.
        let mut groups: Vec<(u32, Vec<usize>)> = Vec::new();
        for at in 0..body.atoms.len() {
            let mut joined = (vars(at), vec![at]);
            groups.retain_mut(|group| {
                let meets = group.0 & joined.0 != 0;
                if meets {
                    joined.0 |= group.0;
                    joined.1.append(&mut group.1);
                }
                !meets
            });
            groups.push(joined);
        }
        let mut parts = Vec::new();
        for (set, mut atoms) in groups {
            let places: Vec<usize> = (0..arity).filter(|v| set >> v & 1 == 1).collect();
            let first = places.first().copied().unwrap_or(arity);
            if places.iter().enumerate().any(|(i, &place)| place != first + i) || !is_apart(set, clause, keys)
            {
                return None;
            }
            atoms.sort_unstable();
            let atoms = atoms.into_iter().map(|at| body.atoms[at].clone()).collect();
            let body = Body { atoms, identity: body.identity.clone(), variables: body.variables };
            let plan = body.plan(None, relations, keys.packing, objects);
            parts.push(Part { places: first..first + places.len(), body, plan });
        }
        parts.sort_by_key(|part| part.places.start);
        let found: usize = parts.iter().map(|part| part.places.len()).sum();
        let several = parts.iter().filter(|part| !part.places.is_empty()).count() > 1;
        (several && found == arity).then_some(Factors { action: clause.head.action, parts })
    }

    /// What the clause derives, and the work of finding it.
    pub fn derive(&self, clause: &Clause, relations: &[Relation], keys: &Keys) -> (Product, usize) {
        let mut product = Product { action: keys.action(self.action), parts: Vec::new() };
        let (mut work, mut holds) = (0, true);
        for part in &self.parts {
            let join = Join::new(relations, keys.packing, &part.body, &part.plan, 0);
            let mut tuples = Vec::new();
            let _ = join.all(&mut vec![None; part.body.variables], &mut |phi| {
                let mut places = part.places.clone();
                tuples.extend(places.try_fold(0, |tuple, place| {
                    let o = phi[place].filter(|&o| keys.fits(o, clause.head.types[place]))?;
                    Some(keys.packing.push(tuple, o))
                }));
                // What only has to hold is found once.
                if part.places.is_empty() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            work += join.work.get();
            holds &= !tuples.is_empty();
            if !part.places.is_empty() {
                tuples.sort_unstable();
                tuples.dedup();
                product.parts.push((tuples, keys.packing.width(part.places.len())));
            }
        }
        if !holds {
            product.parts.truncate(1);
            product.parts[0].0.clear();
        }
        (product, work)
    }
}

/// Whether no variable of a set has to differ from one outside of it that could stand for the same object: only arguments of the
/// head of types without a common object are known not to.
fn is_apart(set: u32, clause: &Clause, keys: &Keys) -> bool {
    let arity = clause.head.types.len();
    let members = |v: usize| &keys.members[clause.head.types[v].0 as usize];
    let vars = |set: u32| (0..clause.body.variables).filter(move |v| set >> v & 1 == 1);
    vars(set).all(|v| {
        vars(clause.body.identity.differing(Var(v as u8)) & !set)
            .all(|w| v < arity && w < arity && !members(v).iter().zip(members(w)).any(|(a, b)| *a && *b))
    })
}

impl Product {
    pub fn len(&self) -> usize {
        self.parts.iter().map(|(tuples, _)| tuples.len()).product()
    }

    /// The key with exactly `k` before it, for `k` below the length.
    pub fn nth(&self, k: usize) -> u64 {
        let (mut key, mut left, mut below) = (self.action, k, self.len());
        for (tuples, width) in &self.parts {
            below /= tuples.len();
            key = key << width | tuples[left / below];
            left %= below;
        }
        key
    }

    pub fn bytes(&self) -> usize {
        self.parts.iter().map(|(tuples, _)| tuples.capacity() * size_of::<u64>()).sum()
    }
}
