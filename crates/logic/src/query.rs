//! Conjunctive queries under object identity: which substitutions make a body true.

use std::ops::ControlFlow;

use crate::alphabet::{Pred, Var};
use crate::facts::Facts;
use crate::rule::{Arg, Literal};
use crate::universe::{Object, Universe};
use crate::work;

/// What each variable stands for: `binding[v]` is the object of variable `v`.
pub type Binding = [Option<Object>];

/// A body compiled for one universe: constants resolved, literals in the order in which they are tried.
#[derive(Clone, Debug)]
pub struct Query {
    steps: Vec<Step>,
    /// Objects that the body mentions by name: no variable may stand for them.
    named: Vec<Object>,
    /// A positive literal names an object that this universe lacks: nothing matches.
    impossible: bool,
    /// From this step on it matters only whether there is a substitution, not which.
    settled: usize,
}

#[derive(Clone, Debug)]
struct Step {
    positive: bool,
    pred: Pred,
    args: Vec<Slot>,
}

#[derive(Clone, Copy, Debug)]
enum Slot {
    Var(Var),
    Object(Object),
    /// An object that this universe lacks: the atom is false, and so its negation true.
    Absent,
}

impl Query {
    /// Compiles `body`, with the variables in `bound` known beforehand.
    ///
    /// Literals are ordered greedily: negated ones as soon as their variables are known, then the positive
    /// one with the fewest unknown variables, of these the one with the most that are known, so that each scan
    /// is as narrow as the text allows.
    pub fn new(body: &[Literal], bound: &[Var], universe: &Universe) -> Query {
        Query::ordered(body, bound, universe, 0)
    }

    /// Compiles `body` for a head whose arguments are the first `arity` variables. Where the body binds all of them, [`Query::solve`] finds each
    /// of their substitutions once for each way to bind what is tried before the last of them, and leaves the variables after it unbound.
    pub fn of_head(body: &[Literal], arity: usize, universe: &Universe) -> Query {
        let mut query = Query::ordered(body, &[], universe, arity);
        let mut open: Vec<Var> = (0..arity as u8).map(Var).collect();
        for (at, step) in query.steps.iter().enumerate() {
            if open.is_empty() {
                query.settled = at;
                break;
            }
            if step.positive {
                open.retain(|v| !step.args.iter().any(|slot| matches!(slot, Slot::Var(w) if w == v)));
            }
        }
        query
    }

    /// No variable stands for this object either.
    pub(crate) fn keep_apart(&mut self, o: Object) {
        self.named.push(o);
    }

    /// Of literals that are as good, those that bind one of the first `arity` variables come first.
    fn ordered(body: &[Literal], bound: &[Var], universe: &Universe, arity: usize) -> Query {
        let mut query =
            Query { steps: Vec::new(), named: Vec::new(), impossible: false, settled: usize::MAX };
        let mut known: Vec<Var> = bound.to_vec();
        let mut left: Vec<&Literal> = body.iter().collect();
        while !left.is_empty() {
            let unknown = |l: &Literal| l.vars().filter(|v| !known.contains(v)).count();
            let of_head = |l: &Literal| l.vars().any(|v| usize::from(v.0) < arity && !known.contains(&v));
            let best = (0..left.len())
                .min_by_key(|&i| match (left[i].positive, unknown(left[i])) {
                    (false, 0) => (0, 0, false),
                    (true, n) => (1 + n, usize::MAX - left[i].args.len(), !of_head(left[i])),
                    (false, n) => (1000 + n, 0, false),
                })
                .expect("the list is not empty");
            let literal = left.remove(best);
            known.extend(literal.vars());
            query.add(literal, universe);
        }
        query
    }

    fn add(&mut self, literal: &Literal, universe: &Universe) {
        let slot = |arg: &Arg| match arg {
            Arg::Var(v) => Slot::Var(*v),
            Arg::Const(c) => universe.find(c).map_or(Slot::Absent, Slot::Object),
        };
        let args: Vec<Slot> = literal.args.iter().map(slot).collect();
        for slot in &args {
            match *slot {
                Slot::Var(_) => {}
                Slot::Object(o) => self.named.push(o),
                Slot::Absent => self.impossible |= literal.positive,
            }
        }
        self.steps.push(Step { positive: literal.positive, pred: literal.pred, args });
    }

    /// Calls `found` with every substitution that extends `binding` and makes the body true, until it breaks.
    /// Distinct terms stand for distinct objects. `binding` is as before when this returns.
    ///
    /// A variable of a negated literal that nothing else binds ranges over all objects of the universe.
    pub fn solve<F>(
        &self,
        facts: &Facts,
        universe: &Universe,
        binding: &mut Binding,
        found: &mut F,
    ) -> ControlFlow<()>
    where
        F: FnMut(&Binding) -> ControlFlow<()>,
    {
        let clash = binding.iter().flatten().any(|o| self.named.contains(o));
        if self.impossible || clash {
            return ControlFlow::Continue(());
        }
        self.enter(0, facts, universe, binding, found)
    }

    /// Whether some substitution that extends `binding` makes the body true.
    pub fn holds(&self, facts: &Facts, universe: &Universe, binding: &mut Binding) -> bool {
        self.solve(facts, universe, binding, &mut |_| ControlFlow::Break(())).is_break()
    }

    /// Goes on with the step of that number; where it is the one from which on nothing but existence matters, `found` is called once at most.
    fn enter<F>(
        &self,
        at: usize,
        facts: &Facts,
        universe: &Universe,
        binding: &mut Binding,
        found: &mut F,
    ) -> ControlFlow<()>
    where
        F: FnMut(&Binding) -> ControlFlow<()>,
    {
        if at != self.settled {
            return self.descend(at, facts, universe, binding, found);
        }
        let mut stop: fn(&Binding) -> ControlFlow<()> = |_| ControlFlow::Break(());
        match self.descend(at, facts, universe, binding, &mut stop) {
            ControlFlow::Break(()) => found(binding),
            ControlFlow::Continue(()) => ControlFlow::Continue(()),
        }
    }

    fn descend<F>(
        &self,
        at: usize,
        facts: &Facts,
        universe: &Universe,
        binding: &mut Binding,
        found: &mut F,
    ) -> ControlFlow<()>
    where
        F: FnMut(&Binding) -> ControlFlow<()>,
    {
        let Some(step) = self.steps.get(at) else {
            return found(binding);
        };
        if step.positive {
            let first = step.args.first().and_then(|&s| value(s, binding));
            let mut tried = 0;
            let mut attempt = |tuple: &[Object]| {
                tried += 1;
                self.try_tuple(at, tuple, facts, universe, binding, found)
            };
            let flow = match first {
                Some(first) => facts.tuples_from(step.pred, first).try_for_each(&mut attempt),
                None => facts.tuples(step.pred).try_for_each(&mut attempt),
            };
            work::spend(tried)?;
            return flow;
        }
        let unbound = step.args.iter().find_map(|&s| match s {
            Slot::Var(v) if binding[v.0 as usize].is_none() => Some(v),
            _ => None,
        });
        if let Some(v) = unbound {
            for o in universe.objects() {
                work::spend(1)?;
                if self.free(o, binding) {
                    binding[v.0 as usize] = Some(o);
                    let flow = self.descend(at, facts, universe, binding, found);
                    binding[v.0 as usize] = None;
                    flow?;
                }
            }
            return ControlFlow::Continue(());
        }
        let tuple: Option<Vec<Object>> = step.args.iter().map(|&s| value(s, binding)).collect();
        if tuple.is_some_and(|tuple| facts.holds(step.pred, &tuple)) {
            return ControlFlow::Continue(());
        }
        self.enter(at + 1, facts, universe, binding, found)
    }

    fn try_tuple<F>(
        &self,
        at: usize,
        tuple: &[Object],
        facts: &Facts,
        universe: &Universe,
        binding: &mut Binding,
        found: &mut F,
    ) -> ControlFlow<()>
    where
        F: FnMut(&Binding) -> ControlFlow<()>,
    {
        let mut fresh: u32 = 0; // the variables this tuple binds, as a bit set
        let mut matches = true;
        for (&slot, &o) in self.steps[at].args.iter().zip(tuple) {
            match (value(slot, binding), slot) {
                (Some(known), _) => matches = known == o,
                (None, Slot::Var(v)) if self.free(o, binding) => {
                    binding[v.0 as usize] = Some(o);
                    fresh |= 1 << v.0;
                }
                _ => matches = false,
            }
            if !matches {
                break;
            }
        }
        let flow = if matches {
            self.enter(at + 1, facts, universe, binding, found)
        } else {
            ControlFlow::Continue(())
        };
        while fresh != 0 {
            binding[fresh.trailing_zeros() as usize] = None;
            fresh &= fresh - 1;
        }
        flow
    }

    /// Whether no other term stands for `o` yet.
    pub(crate) fn free(&self, o: Object, binding: &Binding) -> bool {
        !binding.contains(&Some(o)) && !self.named.contains(&o)
    }
}

fn value(slot: Slot, binding: &Binding) -> Option<Object> {
    match slot {
        Slot::Var(v) => binding[v.0 as usize],
        Slot::Object(o) => Some(o),
        Slot::Absent => None,
    }
}
