//! Derived facts kept up to date as the facts of the world come and go.
//!
//! Changes go through the components in order, one fact at a time.
//!
//! - **Not recursive: counting.** A derived fact is kept with its number of derivations. A change is joined with each atom that it
//!   can stand for, and adds to or takes from the counts; a fact comes or goes when its count leaves or reaches 0.
//! - **Recursive: delete and rederive.** Counts would lie here, for facts can support each other in a circle. So whatever loses a
//!   derivation is taken out first, and all that followed from it; then what has another derivation is put back. In acyclic
//!   relations, such as towers, hardly anything is put back. In a dense graph much may be: backward search for other derivations
//!   before deleting would save that, at the price of keeping track of what was searched.
//! - **Distances, and closures over tuples: anew**, by the searches that found them, where a step or goal has changed.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use rustc_hash::{FxHashMap, FxHashSet};

use super::engine::Engine;
use super::program::Program;
use crate::alphabet::Pred;
use crate::diagnostic::Error;
use crate::facts::Facts;
use crate::join::Relation;
use crate::universe::{Object, Universe};

/// What follows from facts that change one by one.
///
/// Memory is linear in the given and derived facts that are asked for. A change takes time in what it derives.
#[derive(Clone, Debug)]
pub struct Maintained {
    engine: Engine,
    /// Changes to be looked at: those of given facts first, then those of each group.
    events: Vec<VecDeque<Event>>,
    /// For each recursive group, facts that lost a derivation and facts that gained one.
    pending: Vec<Pending>,
}

#[derive(Clone, Copy, Debug)]
struct Event {
    relation: usize,
    fact: u64,
    holds: bool,
}

#[derive(Clone, Debug, Default)]
struct Pending {
    lost: Vec<(usize, u64)>,
    gained: Vec<(usize, u64)>,
    /// Whether a closure or distance has to be found anew.
    stale: bool,
}

impl Maintained {
    /// Compiles what a program says of the predicates `asked` for and of those they depend on, without facts yet. An error where
    /// facts do not fit.
    pub fn new(
        program: &Program,
        universe: &Universe,
        asked: impl Iterator<Item = Pred>,
    ) -> Result<Maintained, Error> {
        let mut engine = Engine::new(program, universe, &program.needed(asked))?;
        engine.counting = true;
        let groups = engine.groups.len();
        Ok(Maintained {
            engine,
            events: vec![VecDeque::new(); groups + 1],
            pending: vec![Pending::default(); groups],
        })
    }

    /// Starts over from the given facts among these.
    pub fn load(&mut self, facts: &Facts) -> Result<(), Error> {
        self.events.iter_mut().for_each(VecDeque::clear);
        self.pending.fill(Pending::default());
        let loaded = self.engine.load(facts);
        self.engine.relations.iter_mut().for_each(Relation::make_room);
        loaded
    }

    /// Says that a given fact holds from now on, or that it no longer does. What follows is found by [`Maintained::settle`].
    pub fn change(&mut self, pred: Pred, args: &[Object], holds: bool) {
        let relation = pred.0 as usize;
        if self.engine.group_of[relation].is_none() && self.engine.reads(relation) {
            let fact = self.engine.packing.pack(args);
            self.events[0].push_back(Event { relation, fact, holds });
        }
    }

    /// Calls `each` with every derived fact of a predicate, in order.
    pub fn each(&self, pred: Pred, each: &mut dyn FnMut(&[Object])) {
        let (relation, packing) = (pred.0 as usize, self.engine.packing);
        let arity = self.engine.arities[relation];
        let mut args = Vec::with_capacity(arity);
        for fact in self.engine.sorted(relation) {
            args.clear();
            args.extend((0..arity).map(|place| packing.get(fact, arity, place)));
            each(&args);
        }
    }

    /// Whether a definition says what holds of a predicate.
    pub fn derives(&self, pred: Pred) -> bool {
        self.engine.derives(pred)
    }

    /// Calls `changed` with each derived fact that came or went since the last time.
    pub fn settle(&mut self, changed: &mut dyn FnMut(Pred, &[Object], bool)) -> Result<(), Error> {
        self.engine.forget_work();
        let mut args = Vec::new();
        for level in 0..self.events.len() {
            if let Some(group) = level.checked_sub(1) {
                self.settle_group(group)?;
            }
            while let Some(event) = self.events[level].pop_front() {
                if self.apply(event)? && level > 0 {
                    let arity = self.engine.arities[event.relation];
                    args.clear();
                    args.extend((0..arity).map(|place| self.engine.packing.get(event.fact, arity, place)));
                    changed(Pred(event.relation as u32), &args, event.holds);
                }
            }
        }
        Ok(())
    }

    /// Lets a fact come or go, and counts what follows. Returns whether it was news.
    fn apply(&mut self, event: Event) -> Result<bool, Error> {
        let Event { relation, fact, holds } = event;
        let engine = &mut self.engine;
        let own = engine.group_of[relation];
        let counted = own.is_some() && !engine.is_kept_whole(relation);
        let out_of_date = counted && engine.counts[relation].contains_key(&fact) != holds;
        if engine.relations[relation].contains(fact) == holds || out_of_date {
            return Ok(false);
        }
        if holds {
            engine.put(relation, fact)?;
        }
        let mut found = Vec::new();
        for at in 0..engine.uses[relation].len() {
            let (c, a) = engine.uses[relation][at];
            let group = engine.clauses[c].group;
            if own == Some(group) {
                continue;
            }
            engine.through(c, a, fact, &mut found)?;
            let head = engine.clauses[c].relation;
            let more = engine.clauses[c].body.atoms[a].positive == holds;
            if engine.groups[group].recursive {
                let pending = &mut self.pending[group];
                let list = if more { &mut pending.gained } else { &mut pending.lost };
                list.extend(found.drain(..).map(|fact| (head, fact)));
                continue;
            }
            for fact in found.drain(..) {
                if let Some(holds) = count(&mut engine.counts[head], fact, if more { 1 } else { -1 }) {
                    self.events[group + 1].push_back(Event { relation: head, fact, holds });
                }
            }
            if engine.counts[head].len() > engine.most {
                return Err(engine.refusal(head));
            }
        }
        for (group, pending) in engine.groups.iter().zip(&mut self.pending) {
            pending.stale |= group.native.as_ref().is_some_and(|n| n.reads(relation));
        }
        if !holds {
            engine.take(relation, fact);
        }
        Ok(true)
    }

    /// Finds out what changes in a recursive group, or in a closure or distance, once all it depends on is up to date.
    fn settle_group(&mut self, group: usize) -> Result<(), Error> {
        let Pending { lost, gained, stale } = std::mem::take(&mut self.pending[group]);
        let (removed, added) = if stale {
            self.engine.search_again(group)?
        } else if lost.is_empty() && gained.is_empty() {
            return Ok(());
        } else {
            self.engine.delete_and_rederive(group, lost, &gained)?
        };
        let events = &mut self.events[group + 1];
        let event = |holds| move |(relation, fact)| Event { relation, fact, holds };
        events.extend(removed.into_iter().map(event(false)));
        events.extend(added.into_iter().map(event(true)));
        Ok(())
    }

    /// How many facts it holds, given and derived.
    pub fn facts(&self) -> usize {
        self.engine.relations[..self.engine.group_of.len()].iter().map(Relation::len).sum()
    }

    /// The bytes that facts, indexes and counts take on the heap; hash tables are estimated from their capacity.
    pub fn bytes(&self) -> usize {
        let counts = self.engine.counts.iter().map(|c| c.capacity() * size_of::<(u64, i32, u8)>());
        self.engine.relations.iter().map(Relation::bytes).sum::<usize>() + counts.sum::<usize>()
    }
}

/// Changes a count. Returns whether its fact holds now, where that has changed.
fn count(counts: &mut FxHashMap<u64, i32>, fact: u64, by: i32) -> Option<bool> {
    let count = counts.entry(fact).or_insert(0);
    let before = *count;
    *count += by;
    let after = *count;
    if after == 0 {
        counts.remove(&fact);
    }
    ((before > 0) != (after > 0)).then_some(after > 0)
}

/// Facts of several relations.
type Mixed = Vec<(usize, u64)>;

impl Engine {
    /// Whether facts of a relation have no counts: they are recursive, or found by searching.
    fn is_kept_whole(&self, relation: usize) -> bool {
        let of = |g: usize| self.groups[g].recursive || self.groups[g].native.is_some();
        self.group_of[relation].is_some_and(of)
    }

    /// What a closure or distance says no longer, and what it says now.
    fn search_again(&mut self, group: usize) -> Result<(Mixed, Mixed), Error> {
        let Some(native) = self.groups[group].native.clone() else { return Ok((Vec::new(), Vec::new())) };
        let relation = native.relation;
        let mut now = self.search(&native)?;
        now.sort_unstable();
        let before = self.sorted(relation);
        let less = |a: &[u64], b: &[u64]| {
            let gone = a.iter().filter(|f| b.binary_search(f).is_err());
            gone.map(|&fact| (relation, fact)).collect()
        };
        Ok((less(&before, &now), less(&now, &before)))
    }

    /// What a recursive group derives no longer, and what it derives now. Its relations are left as they were.
    fn delete_and_rederive(
        &mut self,
        group: usize,
        mut lost: Mixed,
        gained: &[(usize, u64)],
    ) -> Result<(Mixed, Mixed), Error> {
        let mut deleted: Mixed = Vec::new();
        let mut found = Vec::new();
        while let Some((relation, fact)) = lost.pop() {
            if !self.relations[relation].contains(fact) {
                continue;
            }
            for at in 0..self.uses[relation].len() {
                let (c, a) = self.uses[relation][at];
                if self.clauses[c].group == group {
                    self.through(c, a, fact, &mut found)?;
                    let head = self.clauses[c].relation;
                    lost.extend(found.drain(..).map(|fact| (head, fact)));
                }
            }
            self.take(relation, fact);
            deleted.push((relation, fact));
        }
        let mut new = Vec::new();
        for &(relation, fact) in deleted.iter().chain(gained) {
            if !self.relations[relation].contains(fact) && self.is_derivable(relation, fact) {
                self.put(relation, fact)?;
                new.push((relation, fact));
            }
        }
        self.spread(group, &mut new)?;
        let was: FxHashSet<(usize, u64)> = deleted.iter().copied().collect();
        let removed: Mixed = deleted
            .into_iter()
            .filter(|&(relation, fact)| !self.relations[relation].contains(fact))
            .collect();
        new.retain(|f| !was.contains(f));
        // Whoever depends on them sees these changes one by one.
        for &(relation, fact) in &new {
            self.take(relation, fact);
        }
        for &(relation, fact) in &removed {
            self.put(relation, fact)?;
        }
        Ok((removed, new))
    }

    /// Whether some clause derives a fact from the present ones.
    fn is_derivable(&mut self, relation: usize, fact: u64) -> bool {
        let Some(group) = self.group_of[relation] else { return false };
        for at in 0..self.groups[group].clauses.len() {
            let c = self.groups[group].clauses[at];
            if self.clauses[c].relation != relation {
                continue;
            }
            let Some(mut binding) = self.clauses[c].unify(fact, self.packing) else { continue };
            self.plan_backward(c);
            let clause = &self.clauses[c];
            let Some(plan) = &clause.backward else { continue };
            if self.join(clause, plan, 0).all(&mut binding, &mut |_| ControlFlow::Break(())).is_break() {
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alphabet::{Alphabet, Type};
    use crate::diagnostic::Source;
    use crate::syntax::Constant;

    const MOST: usize = 1000;

    /// What follows from `p` of the first few of 30 objects, with room for [`MOST`] derived facts.
    fn maintained(clauses: &str, given: u32) -> (Alphabet, Maintained) {
        let text = format!(":- action(go). :- state(p/1). :- state(on/0). {clauses}");
        let alphabet = Alphabet::parse(&Source::new("d.pl", text)).expect("it can be read");
        let objects = (0..30).map(|i| (Constant::Int(i), Type(0))).collect();
        let universe = Universe::new(objects);
        let mut facts = Facts::new(&alphabet);
        let p = alphabet.find_predicate("p", 1).expect("it is declared");
        (0..given).for_each(|o| facts.push(p, &[Object(o)]));
        facts.seal();
        let program = alphabet.program.clone().expect("there are definitions");
        let all = (0..alphabet.predicates.len() as u32).map(Pred);
        let mut maintained = Maintained::new(&program, &universe, all).expect("facts fit");
        maintained.engine.most = MOST;
        maintained.load(&facts).expect("few facts follow");
        (alphabet, maintained)
    }

    #[test]
    fn one_change_that_derives_too_much_is_refused() {
        for clauses in [
            ":- derived(q(any, any, any)). q(X, Y, Z) :- on, p(X), p(Y), p(Z).",
            ":- derived(q(any, any, any)). q(X, Y, Z) :- on, p(X), p(Y), p(Z). q(X, Y, Z) :- q(Y, X, Z).",
        ] {
            let (alphabet, mut maintained) = maintained(clauses, 30);
            maintained.change(alphabet.find_predicate("on", 0).expect("it is declared"), &[], true);
            let error = maintained.settle(&mut |_, _, _| ()).expect_err("24,360 facts are too many");
            assert!(error.message.contains("`q/3` explodes"), "{}", error.message);
        }
    }

    #[test]
    fn changes_that_derive_too_much_together_are_refused() {
        for clauses in [
            ":- derived(q(any, any, any)). q(X, Y, Z) :- p(X), p(Y), p(Z).",
            ":- derived(q(any, any, any)). q(X, Y, Z) :- p(X), p(Y), p(Z). q(X, Y, Z) :- q(Y, X, Z).",
        ] {
            let (alphabet, mut maintained) = maintained(clauses, 0);
            let p = alphabet.find_predicate("p", 1).expect("it is declared");
            let mut step = |o: u32, holds| {
                maintained.change(p, &[Object(o)], holds);
                maintained.settle(&mut |_, _, _| ())
            };
            // 11 * 10 * 9 do, 12 * 11 * 10 do not.
            for _ in 0..3 {
                (0..11).for_each(|o| step(o, true).expect("there is room"));
                (0..11).for_each(|o| step(o, false).expect("less follows"));
            }
            (0..11).for_each(|o| step(o, true).expect("there is room"));
            assert!(step(11, true).is_err());
        }
    }
}
