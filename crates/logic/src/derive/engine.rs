//! Definitions compiled for one universe, and what follows from a set of facts by them.
//!
//! Components are evaluated in order. In one that is not recursive each clause is joined once. In a recursive one evaluation is
//! semi-naive, a fact at a time: each new fact is joined, through indexes, with every atom of the component that it can stand
//! for.

use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use super::compare;
use super::native::Native;
use super::program::{DefiningClause, How, Program};
use crate::alphabet::{Pred, Type, Var};
use crate::diagnostic::Error;
use crate::facts::Facts;
use crate::join::{Atom, Body, Identity, Join, Packing, Plan, Relation, Slot, atom, named};
use crate::query::Binding;
use crate::rule::Arg;
use crate::syntax::Indicator;
use crate::universe::{Object, Universe};
use crate::work;

/// The most facts that may be derived from one state. They take about 50 bytes each.
pub const MOST_FACTS: usize = 5_000_000;

/// The most substitutions, those of parts of a body included, that are looked at to derive the facts of one state: some seconds.
const MOST_SUBSTITUTIONS: usize = 50_000_000;

/// The most heads of one clause that are held before it is known which of them are the same: 160 MB.
const MOST_HELD: usize = 20_000_000;

/// How many substitutions are looked at before it is counted how many facts they are.
const FIRST_LOOK: usize = 1 << 20;

/// How much more may be found before it is too much.
struct Room {
    facts: usize,
    /// Whether it matters how often a fact is derived.
    counting: bool,
    /// When to count next.
    look: usize,
}

impl Room {
    /// Whether to go on after the last of these facts, some of which may be there several times.
    fn goes_on(&mut self, found: &mut Vec<u64>) -> ControlFlow<()> {
        if found.len() < self.look {
            return ControlFlow::Continue(());
        }
        found.sort_unstable();
        let mut facts = 1 + found.windows(2).filter(|pair| pair[0] != pair[1]).count();
        if !self.counting {
            found.dedup();
            facts = found.len();
        }
        self.look = 2 * found.len().max(FIRST_LOOK);
        if facts > self.facts || found.len() > MOST_HELD {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Definitions compiled for one universe, with the facts that they are about.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    pub(super) packing: Packing,
    pub(super) objects: usize,
    /// One for each predicate, then one for each type.
    pub(super) relations: Vec<Relation>,
    pub(super) arities: Vec<usize>,
    pub(super) clauses: Vec<Compiled>,
    pub(super) groups: Vec<Group>,
    /// For each relation, the atoms that it can make true: clause and place in its body.
    pub(super) uses: Vec<Vec<(usize, usize)>>,
    /// For each predicate, which group derives it, if any does.
    pub(super) group_of: Vec<Option<usize>>,
    /// Derivations of facts of predicates that are not recursive, by predicate.
    pub(super) counts: Vec<FxHashMap<u64, i32>>,
    /// Whether derivations are counted.
    pub(super) counting: bool,
    /// When each derived fact was found, where that is remembered.
    order: Option<FxHashMap<(usize, u64), u32>>,
    /// Facts that are derived now.
    derived: usize,
    /// Substitutions looked at for one state or one change.
    substitutions: usize,
    /// The most facts that may be derived.
    pub(super) most: usize,
    names: Vec<String>,
    /// By predicate: whether a definition says what holds, asked for or not.
    defined: Vec<bool>,
}

/// A component of the program.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub recursive: bool,
    pub preds: Vec<usize>,
    pub clauses: Vec<usize>,
    pub native: Option<Native>,
}

/// A clause in objects.
#[derive(Clone, Debug)]
pub(super) struct Compiled {
    pub relation: usize,
    pub head: Vec<Slot>,
    pub body: Body,
    pub group: usize,
    /// Which definition of the program it is.
    pub definition: usize,
    /// For each atom, the plan for a change of that atom; made when it is first needed.
    pub plans: Vec<Option<Plan>>,
    /// The plan where the head is known.
    pub backward: Option<Plan>,
}

impl Compiled {
    /// The fact that the head is under a substitution.
    pub fn fact(&self, phi: &Binding, packing: Packing) -> u64 {
        self.head.iter().fold(0, |key, slot| {
            let o = match slot {
                Slot::Var(v) => phi[v.0 as usize].expect("atoms or guards bind every variable of a head"),
                Slot::Object(o) => *o,
            };
            packing.push(key, o)
        })
    }

    /// The substitution under which the head is this fact, where there is one.
    pub fn unify(&self, fact: u64, packing: Packing) -> Option<Vec<Option<Object>>> {
        let mut binding = vec![None; self.body.variables];
        for (place, slot) in self.head.iter().enumerate() {
            let o = packing.get(fact, self.head.len(), place);
            match *slot {
                Slot::Object(named) if named != o => return None,
                Slot::Object(_) => {}
                Slot::Var(v) => match binding[v.0 as usize] {
                    Some(known) if known != o => return None,
                    Some(_) => {}
                    None if !self.body.identity.allows(v, o, &binding) => return None,
                    None => binding[v.0 as usize] = Some(o),
                },
            }
        }
        Some(binding)
    }
}

impl Engine {
    /// Compiles what a program says of `needed` predicates, without facts yet. An error where facts of this many objects do not
    /// fit 64 bits.
    pub fn new(program: &Program, universe: &Universe, needed: &[Pred]) -> Result<Engine, Error> {
        let packing = Packing::new(universe.len());
        let predicates = program.signatures.len();
        let is_needed = |p: Pred| needed.contains(&p);
        let wide = needed.iter().find(|p| packing.width(program.signatures[p.0 as usize].len()) > 63);
        if let Some(p) = wide {
            let arity = program.signatures[p.0 as usize].len();
            let indicator = Indicator(&program.names[p.0 as usize], arity);
            let message =
                format!("facts of `{indicator}` about {} objects do not fit 64 bits", universe.len());
            return Err(Error::new(message).with_help("use fewer arguments, or smaller instances"));
        }
        let mut engine = Engine {
            packing,
            objects: universe.len(),
            relations: vec![Relation::default(); predicates + program.types.len()],
            arities: program.signatures.iter().map(Vec::len).collect(),
            clauses: Vec::new(),
            groups: Vec::new(),
            uses: vec![Vec::new(); predicates + program.types.len()],
            group_of: vec![None; predicates],
            counts: vec![FxHashMap::default(); predicates],
            counting: false,
            order: None,
            derived: 0,
            substitutions: 0,
            most: MOST_FACTS,
            names: program.names.clone(),
            defined: program.derived.clone(),
        };
        for component in program.components.iter().filter(|c| c.preds.iter().any(|&p| is_needed(p))) {
            let at = engine.groups.len();
            let mut group = Group {
                recursive: component.recursive,
                preds: component.preds.iter().map(|p| p.0 as usize).collect(),
                clauses: Vec::new(),
                native: None,
            };
            for &d in &component.definitions {
                let definition = &program.definitions()[d];
                let relation = definition.pred.0 as usize;
                match &definition.how {
                    How::Clause(clause) => engine.add(clause, d, at, program, universe, &mut group),
                    &How::Closure { of } if program.signatures[relation].len() == 2 => {
                        for clause in closure_clauses(definition.pred, of) {
                            engine.add(&clause, d, at, program, universe, &mut group);
                        }
                    }
                    &How::Closure { of } => group.native = Some(Native::closure(relation, of.0 as usize)),
                    &How::Distance { along, to } => {
                        let (along, to) = (along.0 as usize, to.map(|p| p.0 as usize));
                        group.native = Some(Native::distance(relation, along, to));
                    }
                    // Comparisons are no components: they are among the facts.
                    How::Compare(_) => {}
                }
            }
            group.preds.iter().for_each(|&p| engine.group_of[p] = Some(at));
            engine.groups.push(group);
        }
        for (c, clause) in engine.clauses.iter().enumerate() {
            for (a, atom) in clause.body.atoms.iter().enumerate() {
                engine.uses[atom.relation].push((c, a));
            }
        }
        for t in (0..program.types.len()).filter(|&t| !engine.uses[predicates + t].is_empty()) {
            let of = |o: &Object| program.types.is_subtype(universe.type_of(*o), Type(t as u32));
            let members = universe.objects().filter(of);
            members.for_each(|o| engine.relations[predicates + t].insert(u64::from(o.0)));
        }
        Ok(engine)
    }

    /// Compiles one clause; nothing where it can never fire in this universe.
    fn add(
        &mut self,
        clause: &DefiningClause,
        definition: usize,
        group: usize,
        program: &Program,
        universe: &Universe,
        into: &mut Group,
    ) {
        let relation = program.definitions()[definition].pred.0 as usize;
        let compiled: Vec<Option<Atom>> = clause.body.iter().map(|l| atom(l, universe)).collect();
        let impossible = clause.body.iter().zip(&compiled).any(|(l, a)| l.positive && a.is_none());
        let places = &program.signatures[relation];
        let slot = |(arg, &t): (&Arg, &Type)| match arg {
            Arg::Var(v) => Some(Slot::Var(*v)),
            Arg::Const(c) => {
                let o = universe.find(c)?;
                program.types.is_subtype(universe.type_of(o), t).then_some(Slot::Object(o))
            }
        };
        let Some(head) = clause.head.iter().zip(places).map(slot).collect::<Option<Vec<Slot>>>() else {
            return;
        };
        if impossible {
            return;
        }
        // A negated literal about an object that this universe lacks is true.
        let mut atoms: Vec<Atom> = compiled.into_iter().flatten().collect();
        let signature = |p: Pred| program.signatures[p.0 as usize].as_slice();
        let guards = clause.guards_by(&program.types, places, &signature);
        atoms.extend(guards.into_iter().map(|(v, t)| Atom {
            positive: true,
            relation: program.signatures.len() + t.0 as usize,
            args: vec![Slot::Var(v)],
        }));
        let mut named = named(clause.body.iter(), universe);
        named.extend(head.iter().filter_map(|s| if let Slot::Object(o) = s { Some(*o) } else { None }));
        let plans = vec![None; atoms.len()];
        let identity = Identity::clause(clause.variables, named);
        let body = Body { atoms, identity, variables: clause.variables };
        into.clauses.push(self.clauses.len());
        self.clauses.push(Compiled { relation, head, body, group, definition, plans, backward: None });
    }

    /// Whether a definition says what holds of a predicate.
    pub fn derives(&self, pred: Pred) -> bool {
        self.defined[pred.0 as usize]
    }

    /// Whether facts of a relation matter.
    pub fn reads(&self, relation: usize) -> bool {
        let native = |g: &Group| g.native.as_ref().is_some_and(|n| n.reads(relation));
        !self.uses[relation].is_empty() || self.groups.iter().any(native)
    }

    /// Starts over from the given facts among these, and derives what follows.
    pub fn load(&mut self, facts: &Facts) -> Result<(), Error> {
        let predicates = self.group_of.len();
        self.relations[..predicates].iter_mut().for_each(Relation::clear);
        self.counts.iter_mut().for_each(FxHashMap::clear);
        (self.derived, self.substitutions) = (0, 0);
        for relation in (0..predicates).filter(|&r| self.group_of[r].is_none()) {
            if self.reads(relation) {
                for tuple in facts.tuples(Pred(relation as u32)) {
                    self.relations[relation].insert(self.packing.pack(tuple));
                }
            }
        }
        (0..self.groups.len()).try_for_each(|group| self.derive(group))
    }

    /// Derives the facts of a group from those it depends on.
    fn derive(&mut self, group: usize) -> Result<(), Error> {
        if let Some(native) = self.groups[group].native.clone() {
            let facts = self.search(&native)?;
            let relation = native.relation;
            self.derived += facts.len();
            if let Some(order) = &mut self.order {
                order.extend(facts.iter().map(|&fact| ((relation, fact), self.derived as u32)));
            }
            for fact in facts {
                self.relations[relation].insert(fact);
            }
            return Ok(());
        }
        let mut new = Vec::new();
        let mut found = Vec::new();
        for c in self.groups[group].clauses.clone() {
            let clause = &self.clauses[c];
            let plan = clause.body.plan(None, &mut self.relations, self.packing, self.objects);
            let join = self.join(clause, &plan, 0).within(self.left());
            let mut room = self.room();
            let flow = join.all(&mut vec![None; clause.body.variables], &mut |phi| {
                found.push(clause.fact(phi, self.packing));
                room.goes_on(&mut found)
            });
            let (relation, work) = (clause.relation, join.work.get());
            self.look_at(relation, work, flow)?;
            self.absorb(relation, &mut found, &mut new)?;
        }
        if !self.groups[group].recursive {
            return Ok(());
        }
        self.spread(group, &mut new)
    }

    /// All facts of a closure or distance.
    pub(super) fn search(&mut self, native: &Native) -> Result<Vec<u64>, Error> {
        let mut facts = Vec::new();
        // What it says so far is about to be replaced.
        let room = (self.most + self.relations[native.relation].len()).saturating_sub(self.derived);
        let (flow, work) =
            native.derive(&self.relations, &self.arities, self.packing, (room, self.left()), &mut facts);
        self.look_at(native.relation, work, flow)?;
        Ok(facts)
    }

    /// Forgets how much was looked at so far: that limit is for one state or one change.
    pub(super) fn forget_work(&mut self) {
        self.substitutions = 0;
    }

    /// How much more may be found.
    fn room(&self) -> Room {
        Room { facts: self.most.saturating_sub(self.derived), counting: self.counting, look: FIRST_LOOK }
    }

    /// How many more substitutions may be looked at.
    fn left(&self) -> usize {
        MOST_SUBSTITUTIONS.saturating_sub(self.substitutions).min(work::left())
    }

    /// Lets a fact hold. An error where that is one derived fact too many.
    pub(super) fn put(&mut self, relation: usize, fact: u64) -> Result<(), Error> {
        self.relations[relation].insert(fact);
        if self.group_of[relation].is_some() {
            self.derived += 1;
            if self.derived > self.most {
                return Err(self.refusal(relation));
            }
        }
        Ok(())
    }

    /// Lets a fact hold no longer.
    pub(super) fn take(&mut self, relation: usize, fact: u64) {
        self.relations[relation].remove(fact);
        if self.group_of[relation].is_some() {
            self.derived -= 1;
        }
    }

    /// Derives what follows from new facts within a recursive group, and adds it to them.
    pub(super) fn spread(&mut self, group: usize, new: &mut Vec<(usize, u64)>) -> Result<(), Error> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(&(relation, fact)) = new.get(at) {
            at += 1;
            for u in 0..self.uses[relation].len() {
                let (c, a) = self.uses[relation][u];
                if self.clauses[c].group != group {
                    continue;
                }
                self.through(c, a, fact, &mut found)?;
                self.absorb(self.clauses[c].relation, &mut found, new)?;
            }
        }
        Ok(())
    }

    /// The facts that a clause derives where one of its atoms stands for `fact`.
    pub(super) fn through(
        &mut self,
        clause: usize,
        atom: usize,
        fact: u64,
        found: &mut Vec<u64>,
    ) -> Result<(), Error> {
        if self.clauses[clause].plans[atom].is_none() {
            let body = &self.clauses[clause].body;
            let plan = body.plan(Some(atom), &mut self.relations, self.packing, self.objects);
            self.clauses[clause].plans[atom] = Some(plan);
        }
        let clause = &self.clauses[clause];
        let Some(plan) = &clause.plans[atom] else { return Ok(()) };
        let mut room = self.room();
        let join = self.join(clause, plan, fact).within(self.left());
        let flow = join.through(atom, &mut vec![None; clause.body.variables], &mut |phi| {
            found.push(clause.fact(phi, self.packing));
            room.goes_on(found)
        });
        let (relation, work) = (clause.relation, join.work.get());
        self.look_at(relation, work, flow)
    }

    /// Counts substitutions of a clause for a relation. An error where there are too many, or where it is said to have broken off.
    fn look_at(&mut self, relation: usize, substitutions: usize, flow: ControlFlow<()>) -> Result<(), Error> {
        self.substitutions += substitutions;
        let spent = work::spend(substitutions as u64);
        if flow.is_break() || spent.is_break() { Err(self.refusal(relation)) } else { Ok(()) }
    }

    pub(super) fn join<'a>(&'a self, clause: &'a Compiled, plan: &'a Plan, changed: u64) -> Join<'a> {
        Join::new(&self.relations, self.packing, &clause.body, plan, changed)
    }

    /// Takes in derived facts, and notes which are new.
    fn absorb(
        &mut self,
        relation: usize,
        found: &mut Vec<u64>,
        new: &mut Vec<(usize, u64)>,
    ) -> Result<(), Error> {
        let counted = self.counting && !self.is_recursive(relation);
        for fact in found.drain(..) {
            if counted {
                *self.counts[relation].entry(fact).or_insert(0) += 1;
            }
            if !self.relations[relation].contains(fact) {
                self.put(relation, fact)?;
                if let Some(order) = &mut self.order {
                    order.insert((relation, fact), self.derived as u32);
                }
                new.push((relation, fact));
            }
        }
        Ok(())
    }

    /// From the next load on, remembers when each derived fact was found.
    pub fn remember_order(&mut self) {
        self.order = Some(FxHashMap::default());
    }

    /// When a fact was found: 0 for given facts, and where that is not remembered.
    pub(super) fn order_of(&self, relation: usize, fact: u64) -> u32 {
        self.order.as_ref().and_then(|order| order.get(&(relation, fact))).copied().unwrap_or(0)
    }

    /// Makes the plan of a clause whose head is known.
    pub(super) fn plan_backward(&mut self, clause: usize) {
        let Compiled { head, body, backward, .. } = &mut self.clauses[clause];
        if backward.is_none() {
            let known: Vec<Var> =
                head.iter().filter_map(|s| if let Slot::Var(v) = s { Some(*v) } else { None }).collect();
            *backward = Some(body.plan_from(&known, None, &mut self.relations, self.packing, self.objects));
        }
    }

    pub(super) fn is_recursive(&self, relation: usize) -> bool {
        self.group_of[relation].is_some_and(|g| self.groups[g].recursive)
    }

    /// What to say where there are too many derived facts.
    pub(super) fn refusal(&self, relation: usize) -> Error {
        let (n, k) = (self.objects, self.arities[relation]);
        let indicator = Indicator(&self.names[relation], k);
        let possible = (n as f64).powi(k as i32);
        let message = format!(
            "the definition of `{indicator}` explodes: {} derived facts and {} substitutions in one state of {n} objects \
             ({n}^{k} = {possible:.1e} facts are possible)",
            self.derived, self.substitutions
        );
        let help = format!(
            "at most {} facts and {MOST_SUBSTITUTIONS} substitutions are allowed: give it fewer arguments, more literals that \
             bind its variables, or smaller instances",
            self.most
        );
        Error::new(message).with_help(help)
    }

    /// The facts of a derived predicate, sorted.
    pub fn sorted(&self, relation: usize) -> Vec<u64> {
        let mut all: Vec<u64> = self.relations[relation].iter().collect();
        all.sort_unstable();
        all
    }
}

/// The closure of a binary predicate as clauses. Under object identity they derive exactly the pairs of distinct objects with a
/// way from the first to the second, for the shortest way visits nothing twice.
pub fn closure_clauses(pred: Pred, of: Pred) -> [DefiningClause; 2] {
    let [x, y, z] = [0, 1, 2].map(|v| Arg::Var(Var(v)));
    let literal = |pred, a: &Arg, b: &Arg| crate::rule::Literal {
        positive: true,
        pred,
        args: vec![a.clone(), b.clone()],
    };
    let head = vec![x.clone(), y.clone()];
    let step = DefiningClause { head: head.clone(), body: vec![literal(of, &x, &y)], variables: 2 };
    let way = vec![literal(of, &x, &z), literal(pred, &z, &y)];
    [step, DefiningClause { head, body: way, variables: 3 }]
}

impl Program {
    /// Adds to the given facts all that follow from them, in place of derived facts that were there. Takes time in what is derived
    /// and in the substitutions of bodies. An error where there are too many of them.
    pub fn evaluate(&self, facts: &mut Facts, universe: &Universe) -> Result<(), Error> {
        for &at in &self.comparisons {
            let definition = &self.definitions()[at];
            if let How::Compare(comparison) = &definition.how {
                compare::evaluate(definition.pred, comparison, facts)?;
            }
        }
        if self.components.is_empty() {
            return Ok(());
        }
        let all: Vec<Pred> = (0..self.signatures.len() as u32).map(Pred).collect();
        let derived = all.iter().filter(|p| self.defines(**p) && self.comparison(**p).is_none());
        derived.clone().for_each(|&p| facts.forget(p));
        let mut engine = Engine::new(self, universe, &all)?;
        engine.load(facts)?;
        let mut tuple = Vec::new();
        for &p in derived {
            let arity = self.signatures[p.0 as usize].len();
            for fact in engine.sorted(p.0 as usize) {
                tuple.clear();
                tuple.extend((0..arity).map(|place| engine.packing.get(fact, arity, place)));
                facts.push(p, &tuple);
            }
        }
        Ok(())
    }
}
