//! Rules of one value: what they derive, kept up to date while that pays.
//!
//! Most changes alter little of what a level derives, and following them takes no time. Some alter nearly all of it: a ferry that
//! sails gives every action `sail(from, to)` another `from`. Then it is cheaper to derive the actions anew, and only when a decision
//! comes down to this level. So a level counts the work of keeping up since it was last asked for. Once that exceeds the work of
//! deriving all anew it is given up; if it was right to, the level is derived for one decision only from then on, for a number of
//! decisions that doubles each time, unless deriving it becomes much more work. So the work is at most a few times that of the
//! better way.

use std::ops::ControlFlow;

use super::Keys;
use super::clause::Clause;
use super::product::{Factors, Product};
use super::tally::Tally;
use crate::alphabet::Type;
use crate::join::{Join, Plan, Relation};

/// The rules of one value, or what says that an action is legal.
#[derive(Clone, Debug)]
pub(super) struct Level {
    pub value: f64,
    pub clauses: Vec<Clause>,
    /// Made when it is first derived from some facts.
    plans: Option<Plans>,
    derived: Option<Derived>,
    /// Whether `derived` is kept up to date; else it is forgotten at the next change.
    follows: bool,
    /// The work of deriving it last.
    anew: usize,
    /// The work of keeping up since it was last asked for.
    spent: usize,
    /// How often keeping up did not pay, since it last did.
    given_up: u32,
    /// For how many decisions keeping up is not tried.
    rests: u32,
    /// The work of keeping up between two decisions, at least, when it was given up last.
    too_much: usize,
}

/// How the clauses are joined.
#[derive(Clone, Debug)]
struct Plans {
    /// For each clause, the plan for all facts.
    whole: Vec<Plan>,
    /// For each clause and each atom of it, the plan for a change of that atom.
    changes: Vec<Vec<Plan>>,
    /// The parts of the only clause, where it falls into some.
    factors: Option<Factors>,
}

/// The actions that a level derives, by their keys.
#[derive(Clone, Debug)]
pub(super) enum Derived {
    /// With the number of derivations of each.
    Counted(Box<Tally>),
    /// In order.
    Listed(Vec<u64>),
    /// As parts whose combinations they are.
    Product(Product),
}

impl Derived {
    pub fn len(&self) -> usize {
        match self {
            Derived::Counted(tally) => tally.len(),
            Derived::Listed(keys) => keys.len(),
            Derived::Product(product) => product.len(),
        }
    }

    /// The key with exactly `k` before it, for `k` below the length.
    pub fn nth(&self, k: usize) -> u64 {
        match self {
            Derived::Counted(tally) => tally.nth(k),
            Derived::Listed(keys) => keys[k],
            Derived::Product(product) => product.nth(k),
        }
    }
}

/// Actions of a product, at the most, that are listed.
const MANY: usize = 4096;
/// Work that is never worth avoiding.
const LITTLE: usize = 64;
/// Keeping up is tried again after this many decisions at the latest, as a power of 2.
const LONGEST_REST: u32 = 8;
/// Keeping up is tried again where deriving all anew takes so many times the work at which it was given up.
const MUCH_MORE: usize = 4;

impl Level {
    pub fn new(value: f64, clauses: Vec<Clause>) -> Level {
        Level {
            value,
            clauses,
            plans: None,
            derived: None,
            follows: false,
            anew: 0,
            spent: 0,
            given_up: 0,
            rests: 0,
            too_much: 0,
        }
    }

    /// Forgets all facts.
    pub fn forget(&mut self) {
        (self.plans, self.derived, self.spent) = (None, None, 0);
    }

    /// What it derives, where that is known.
    pub fn known(&self) -> Option<&Derived> {
        self.derived.as_ref()
    }

    /// Follows the change of a fact that an atom of a clause can stand for. A fact that comes is among the relations already, one
    /// that goes is there still.
    pub fn change(
        &mut self,
        clause: usize,
        atom: usize,
        fact: u64,
        holds: bool,
        relations: &[Relation],
        keys: &Keys,
    ) {
        let (Some(Derived::Counted(tally)), Some(plans), true) =
            (&mut self.derived, &self.plans, self.follows)
        else {
            self.derived = None;
            return;
        };
        let plan = &plans.changes[clause][atom];
        let clause = &self.clauses[clause];
        let more = holds == clause.body.atoms[atom].positive;
        let adds = if more { clause.adds } else { -clause.adds };
        let join = Join::new(relations, keys.packing, &clause.body, plan, fact);
        let room = self.anew + LITTLE;
        let flow = join.through(atom, &mut vec![None; clause.body.variables], &mut |phi| {
            clause.count(phi, adds, keys, tally);
            if self.spent + join.work.get() > room {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        self.spent += join.work.get();
        if flow.is_break() || self.spent > room {
            self.derived = None;
        }
    }

    /// What it derives from these facts.
    pub fn derived(&mut self, relations: &mut [Relation], keys: &Keys, objects: usize) -> &Derived {
        if self.derived.is_none() {
            let was_followed = std::mem::replace(&mut self.follows, self.rests == 0);
            let derived = self.derive(relations, keys, objects);
            self.derived = Some(derived);
            self.rests = self.rests.saturating_sub(1);
            // Facts may have grown since the work was measured last: then it would have paid to keep up.
            if was_followed && self.spent > self.anew {
                self.given_up = (self.given_up + 1).min(LONGEST_REST);
                (self.rests, self.too_much) = (1 << self.given_up, self.spent);
                self.follows = false;
            } else if self.anew > MUCH_MORE * self.too_much {
                self.rests = 0;
            }
        } else if self.spent > 0 {
            self.given_up = 0;
        }
        self.spent = 0;
        self.derived.as_ref().expect("it was derived just now")
    }

    /// Derives all from these facts.
    fn derive(&mut self, relations: &mut [Relation], keys: &Keys, objects: usize) -> Derived {
        if self.plans.is_none() {
            self.plans = Some(self.plan(relations, keys, objects));
        }
        let plans = self.plans.as_ref().expect("they were made just now");
        self.anew = 0;
        if let Some(factors) = &plans.factors {
            let (product, work) = factors.derive(&self.clauses[0], relations, keys);
            // Few are kept up to date one by one: then a change takes no time.
            if product.len() > MANY {
                self.anew = work;
                return Derived::Product(product);
            }
        }
        let mut rows: Vec<(usize, Type)> = Vec::new();
        for head in self.clauses.iter().map(|c| &c.head).filter(|h| h.row) {
            rows.extend(head.types.last().map(|&last| (head.action, last)));
        }
        rows.sort_unstable();
        rows.dedup();
        let listed = !self.follows && rows.is_empty();
        let rows = rows.into_iter().map(|(action, last)| keys.rows(action, last)).collect();
        let mut tally = Tally::new(keys.packing, rows);
        let mut list = Vec::new();
        for (clause, plan) in self.clauses.iter().zip(&plans.whole) {
            let join = Join::new(relations, keys.packing, &clause.body, plan, 0);
            let _ = join.all(&mut vec![None; clause.body.variables], &mut |phi| {
                if listed {
                    list.extend(clause.head.key(phi, keys));
                } else {
                    clause.count(phi, clause.adds, keys, &mut tally);
                }
                ControlFlow::Continue(())
            });
            self.anew += join.work.get();
        }
        if listed {
            list.sort_unstable();
            list.dedup();
            return Derived::Listed(list);
        }
        tally.rank();
        Derived::Counted(Box::new(tally))
    }

    fn plan(&self, relations: &mut [Relation], keys: &Keys, objects: usize) -> Plans {
        let factors = match self.clauses.as_slice() {
            [clause] => Factors::of(clause, relations, keys, objects),
            _ => None,
        };
        let mut plans = Plans { whole: Vec::new(), changes: Vec::new(), factors };
        for body in self.clauses.iter().map(|c| &c.body) {
            let mut plan = |changed| body.plan(changed, relations, keys.packing, objects);
            plans.whole.push(plan(None));
            plans.changes.push((0..body.atoms.len()).map(|atom| plan(Some(atom))).collect());
        }
        relations.iter_mut().for_each(Relation::make_room);
        plans
    }

    /// The bytes that what it derives takes on the heap.
    pub fn bytes(&self) -> usize {
        match &self.derived {
            Some(Derived::Counted(tally)) => tally.bytes(),
            Some(Derived::Listed(keys)) => keys.capacity() * size_of::<u64>(),
            Some(Derived::Product(product)) => product.bytes(),
            None => 0,
        }
    }
}
