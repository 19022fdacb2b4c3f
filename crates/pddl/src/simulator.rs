//! What an action does: a state of a compiled problem, changed step by step.

use std::sync::Arc;

use crate::domain::Role;
use crate::query::{View, value};
use crate::relation::Relation;
use crate::task::{Goal, Task};

/// A state of a problem.
///
/// A step takes time in the number of facts that it changes; no state is copied. Problems with derived predicates
/// derive them anew after every step.
#[derive(Clone, Debug)]
pub struct Simulator {
    task: Arc<Task>,
    relations: Vec<Relation>,
    binding: Vec<u32>,
    /// The sum of the codes of all facts, static ones included.
    code: u128,
    initial_code: u128,
    /// What changed since the start, in order: predicate and whether the fact holds now, with its objects in `args`.
    changes: Vec<(u32, bool)>,
    args: Vec<u32>,
    reached: bool,
    /// A literal of the goal that does not hold, if one is known.
    watch: usize,
    adds: Batch,
    deletes: Batch,
}

/// Ground atoms, one after the other.
#[derive(Clone, Debug, Default)]
struct Batch {
    atoms: Vec<(u32, u32)>,
    args: Vec<u32>,
}

impl Batch {
    fn clear(&mut self) {
        self.atoms.clear();
        self.args.clear();
    }

    fn push(&mut self, predicate: u32, args: impl Iterator<Item = u32>) {
        self.atoms.push((predicate, self.args.len() as u32));
        self.args.extend(args);
    }

    fn get(&self, i: usize) -> (u32, &[u32]) {
        let (predicate, start) = self.atoms[i];
        let end = self.atoms.get(i + 1).map_or(self.args.len(), |a| a.1 as usize);
        (predicate, &self.args[start as usize..end])
    }
}

/// A list of ground actions.
#[derive(Clone, Debug, Default)]
pub struct Actions {
    batch: Batch,
}

impl Actions {
    /// An empty list.
    pub fn new() -> Actions {
        Actions::default()
    }

    /// How many actions there are.
    pub fn len(&self) -> usize {
        self.batch.atoms.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.batch.atoms.is_empty()
    }

    /// The `i`-th action: an index into [`crate::Domain::schemas`], and its objects.
    pub fn get(&self, i: usize) -> (u32, &[u32]) {
        self.batch.get(i)
    }

    /// All actions, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u32])> {
        (0..self.len()).map(|i| self.get(i))
    }
}

/// A state by itself: what holds of the predicates that effects change, in a canonical order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State(Box<[u32]>);

/// Spreads a number over 64 bits (the finaliser of SplitMix64).
#[inline]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A random-looking number of a fact. States are told apart by the sum of those of their facts.
#[inline]
pub(crate) fn fact_code(predicate: u32, args: &[u32]) -> u128 {
    let (mut a, mut b) = (mix(0x9e37_79b9_7f4a_7c15 ^ u64::from(predicate)), u64::from(predicate));
    for &o in args {
        a = mix(a.wrapping_add(0x9e37_79b9_7f4a_7c15) ^ u64::from(o));
        b = mix(b.wrapping_mul(0xd1b5_4a32_d192_ed03).wrapping_add(u64::from(o) + 1));
    }
    u128::from(a) << 64 | u128::from(mix(b))
}

impl Simulator {
    /// The initial state of a problem.
    pub fn new(task: Arc<Task>) -> Simulator {
        let n = task.problem.objects.len();
        let mut relations = Vec::new();
        let mut code = 0u128;
        for (i, p) in task.domain.predicates.iter().enumerate() {
            let (moves, arity) = (task.places[i].moves, p.args.len());
            let count = task.problem.init[i].len() / arity.max(1);
            relations.push(if moves { Relation::new(arity, n, count) } else { Relation::new(0, 0, 0) });
            for tuple in task.fixed[i].tuples().filter(|_| !moves) {
                code = code.wrapping_add(fact_code(i as u32, tuple));
            }
        }
        // The goal tells states apart too: it is among the facts that the learner sees.
        let predicates = task.domain.predicates.len() as u32;
        for (holds, predicate, args) in &task.goal_literals {
            code = code.wrapping_add(fact_code(predicate + predicates * (1 + u32::from(*holds)), args));
        }
        let mut simulator = Simulator {
            relations,
            binding: vec![0; task.slots],
            code,
            initial_code: code,
            changes: Vec::new(),
            args: Vec::new(),
            reached: false,
            watch: 0,
            adds: Batch::default(),
            deletes: Batch::default(),
            task,
        };
        simulator.load_initial();
        simulator.initial_code = simulator.code;
        simulator
    }

    /// The problem.
    pub fn task(&self) -> &Arc<Task> {
        &self.task
    }

    /// Puts the initial facts into empty relations.
    fn load_initial(&mut self) {
        let task = self.task.clone();
        for (i, p) in task.domain.predicates.iter().enumerate() {
            if p.role() != Role::Fluent {
                continue;
            }
            if task.problem.nullary[i] {
                self.set(i as u32, &[], true);
            }
            let arity = p.args.len();
            if arity > 0 {
                for tuple in task.problem.init[i].chunks_exact(arity) {
                    self.set(i as u32, tuple, true);
                }
            }
        }
        self.settle();
    }

    /// Goes back to the initial state.
    pub fn reset(&mut self) {
        let (changes, args) = (std::mem::take(&mut self.changes), std::mem::take(&mut self.args));
        let mut end = args.len();
        for &(predicate, holds) in changes.iter().rev() {
            let start = end - self.task.domain.predicates[predicate as usize].args.len();
            self.set(predicate, &args[start..end], !holds);
            end = start;
        }
        (self.changes, self.args) = (changes, args);
        self.changes.clear();
        self.args.clear();
        debug_assert_eq!(self.code, self.initial_code);
        self.settle();
    }

    /// Makes a fact hold or not; whether that changed anything.
    #[inline]
    fn set(&mut self, predicate: u32, args: &[u32], holds: bool) -> bool {
        let relation = &mut self.relations[predicate as usize];
        let changed = if holds { relation.insert(args) } else { relation.remove(args) };
        if changed {
            let code = fact_code(predicate, args);
            self.code = if holds { self.code.wrapping_add(code) } else { self.code.wrapping_sub(code) };
        }
        changed
    }

    fn view(&self) -> View<'_> {
        View { fixed: &self.task.fixed, moving: &self.relations, kinds: &self.task.kinds }
    }

    /// Derives what is derived and looks whether the goal is reached.
    fn settle(&mut self) {
        if !self.task.axioms.is_empty() {
            self.derive();
        }
        self.reached = match &self.task.goal {
            Goal::Literals => {
                let goals = &self.task.goal_literals;
                let unmet = (0..goals.len()).map(|i| (self.watch + i) % goals.len()).find(|&i| {
                    let (holds, predicate, args) = &goals[i];
                    self.holds(*predicate, args) != *holds
                });
                self.watch = unmet.unwrap_or(0);
                unmet.is_none()
            }
            Goal::Condition(query, slots) => self.view().holds(query, &mut vec![0; *slots]),
        };
    }

    /// Derives anew, stratum by stratum, each to its least fixed point.
    fn derive(&mut self) {
        let task = self.task.clone();
        for (i, p) in task.domain.predicates.iter().enumerate() {
            if p.derived {
                self.relations[i].clear();
            }
        }
        let mut binding = std::mem::take(&mut self.binding);
        for stratum in &task.axioms {
            loop {
                let mut new = Batch::default();
                for axiom in stratum {
                    let relation = &self.relations[axiom.predicate as usize];
                    self.view().each(&axiom.query, &mut binding, &mut |b| {
                        if !relation.contains(&b[..axiom.arity]) {
                            new.push(axiom.predicate, b[..axiom.arity].iter().copied());
                        }
                        true
                    });
                }
                if new.atoms.is_empty() {
                    break;
                }
                for i in 0..new.atoms.len() {
                    let (predicate, args) = new.get(i);
                    self.relations[predicate as usize].insert(args);
                }
            }
        }
        self.binding = binding;
    }

    /// Whether a fact holds.
    pub fn holds(&self, predicate: u32, args: &[u32]) -> bool {
        let all = if self.task.places[predicate as usize].moves { &self.relations } else { &self.task.fixed };
        all[predicate as usize].contains(args)
    }

    /// Calls `visit` with every fact, static and derived ones included, in no particular order.
    pub fn facts(&self, visit: &mut dyn FnMut(u32, &[u32])) {
        for (i, place) in self.task.places.iter().enumerate() {
            let all = if place.moves { &self.relations } else { &self.task.fixed };
            all[i].tuples().for_each(|t| visit(i as u32, t));
        }
    }

    /// Whether the goal is reached.
    pub fn reached(&self) -> bool {
        self.reached
    }

    /// A number that tells states of this problem apart, and from those of other problems with the same objects that
    /// differ in what is static or asked for. It is hashed from what holds: 128 bits, so that two states with the same
    /// number are not met in practice.
    pub fn code(&self) -> u128 {
        self.code
    }

    /// What changed since the initial state from change number `from` on: predicate, objects, whether the fact holds now.
    /// Derived facts are not among them.
    pub fn changes(&self, from: usize) -> impl Iterator<Item = (u32, &[u32], bool)> {
        let arity = |p: u32| self.task.domain.predicates[p as usize].args.len();
        let tail = self.changes.get(from..).unwrap_or_default();
        let mut start = self.args.len() - tail.iter().map(|c| arity(c.0)).sum::<usize>();
        tail.iter().map(move |&(predicate, holds)| {
            let end = start + arity(predicate);
            let args = &self.args[start..end];
            start = end;
            (predicate, args, holds)
        })
    }

    /// How many changes there were since the initial state.
    pub fn change_count(&self) -> usize {
        self.changes.len()
    }

    /// Whether an action can be taken: its objects are of the right types, its precondition holds, and its cost is known.
    pub fn applicable(&self, action: u32, args: &[u32]) -> bool {
        let mut binding = vec![0; self.task.slots];
        self.is_applicable(action, args, &mut binding)
    }

    fn is_applicable(&self, action: u32, args: &[u32], binding: &mut [u32]) -> bool {
        let Some(schema) = self.task.schemas.get(action as usize) else { return false };
        if args.len() != schema.arity {
            return false;
        }
        let objects = self.task.problem.objects.len() as u32;
        let fits = |(&o, kind): (&u32, &crate::types::Kind)| {
            o < objects && self.task.kinds[usize::from(kind.0)].contains(o)
        };
        if !args.iter().zip(&schema.params).all(fits) {
            return false;
        }
        binding[..args.len()].copy_from_slice(args);
        self.view().holds(&schema.applicable, binding) && self.has_costs(action, binding)
    }

    /// Whether the problem gives a value to every function that an action's unconditional cost refers to.
    fn has_costs(&self, action: u32, binding: &[u32]) -> bool {
        let effects = &self.task.schemas[action as usize].effects;
        let costs = effects.iter().filter(|e| e.query.is_none()).flat_map(|e| &e.costs);
        costs.into_iter().all(|c| self.task.cost(c, binding).is_some())
    }

    /// Takes an action and returns its cost; `None`, with nothing changed, where it is not applicable.
    pub fn apply(&mut self, action: u32, args: &[u32]) -> Option<f64> {
        let mut binding = std::mem::take(&mut self.binding);
        let applicable = self.is_applicable(action, args, &mut binding);
        self.binding = binding;
        applicable.then(|| self.execute(action, args))
    }

    /// Takes an action that is applicable.
    fn execute(&mut self, action: u32, args: &[u32]) -> f64 {
        let task = self.task.clone();
        let mut binding = std::mem::take(&mut self.binding);
        let (mut adds, mut deletes) = (std::mem::take(&mut self.adds), std::mem::take(&mut self.deletes));
        adds.clear();
        deletes.clear();
        binding[..args.len()].copy_from_slice(args);
        let mut cost = 0.0;
        for effect in &task.schemas[action as usize].effects {
            let mut happen = |b: &mut [u32]| {
                for atom in &effect.adds {
                    adds.push(atom.predicate, atom.args.iter().map(|&t| value(t, b)));
                }
                for atom in &effect.deletes {
                    deletes.push(atom.predicate, atom.args.iter().map(|&t| value(t, b)));
                }
                cost += effect.costs.iter().filter_map(|c| task.cost(c, b)).sum::<f64>();
                true
            };
            match &effect.query {
                None => {
                    happen(&mut binding);
                }
                Some(query) => self.view().each(query, &mut binding, &mut happen),
            }
        }
        // What is deleted and added stays. Comparing all pairs is left out where there are many: then it is deleted and
        // added again, which comes to the same.
        let compare = adds.atoms.len() * deletes.atoms.len() <= 10_000;
        for i in 0..deletes.atoms.len() {
            let atom = deletes.get(i);
            if compare && (0..adds.atoms.len()).any(|j| adds.get(j) == atom) {
                continue;
            }
            self.change(atom.0, atom.1, false);
        }
        for i in 0..adds.atoms.len() {
            let atom = adds.get(i);
            self.change(atom.0, atom.1, true);
        }
        (self.binding, self.adds, self.deletes) = (binding, adds, deletes);
        self.settle();
        if task.problem.minimizes_cost { cost } else { 1.0 }
    }

    fn change(&mut self, predicate: u32, args: &[u32], holds: bool) {
        if self.set(predicate, args, holds) {
            self.changes.push((predicate, holds));
            self.args.extend_from_slice(args);
        }
    }

    /// Writes the applicable actions into `actions`, in the order of schemas and then of objects. Found by joins over
    /// what holds, so it takes time in the tuples met, not in all ground actions.
    pub fn legal(&self, actions: &mut Actions) {
        self.legal_up_to(usize::MAX, actions);
    }

    /// The same where there are at most so many; else false, and some of them in no order.
    pub fn legal_up_to(&self, most: usize, actions: &mut Actions) -> bool {
        let batch = &mut actions.batch;
        batch.clear();
        let mut short = [0; 64];
        let mut long = Vec::new();
        let binding = if self.task.slots <= short.len() {
            &mut short[..]
        } else {
            long.resize(self.task.slots, 0);
            &mut long[..]
        };
        for (i, schema) in self.task.schemas.iter().enumerate() {
            let (action, arity) = (i as u32, schema.arity);
            let first = batch.args.len();
            let mut count = 0;
            let priced = schema.effects.iter().any(|e| e.query.is_none() && !e.costs.is_empty());
            self.view().each(&schema.enumerate, binding, &mut |b| {
                if !priced || self.has_costs(action, b) {
                    batch.args.extend_from_slice(&b[..arity]);
                    count += 1;
                }
                batch.atoms.len() + count <= most
            });
            if batch.atoms.len() + count > most {
                return false;
            }
            if arity > 0 {
                sort_tuples(&mut batch.args[first..], arity);
            }
            batch.atoms.extend((0..count).map(|k| (action, (first + k * arity) as u32)));
        }
        true
    }

    /// Whether some applicable action is one that `wanted` accepts. Stops at the first.
    pub fn some_action(&self, wanted: &mut dyn FnMut(u32, &[u32]) -> bool) -> bool {
        let mut binding = vec![0; self.task.slots];
        self.task.schemas.iter().enumerate().any(|(i, schema)| {
            let mut found = false;
            self.view().each(&schema.enumerate, &mut binding, &mut |b| {
                found = self.has_costs(i as u32, b) && wanted(i as u32, &b[..schema.arity]);
                !found
            });
            found
        })
    }

    /// The current state by itself.
    pub fn state(&self) -> State {
        let mut all = Vec::new();
        let mut tuples: Vec<&[u32]> = Vec::new();
        for (i, p) in self.task.domain.predicates.iter().enumerate() {
            if p.role() == Role::Fluent {
                tuples.clear();
                tuples.extend(self.relations[i].tuples());
                tuples.sort_unstable();
                all.push(tuples.len() as u32);
                all.extend(tuples.iter().copied().flatten());
            }
        }
        State(all.into_boxed_slice())
    }

    /// Goes to a state of this problem. The changes since the initial state are those from that state to this one, so
    /// that [`Simulator::reset`] works as always.
    pub fn set_state(&mut self, state: &State) {
        self.reset();
        let task = self.task.clone();
        let mut at = 0;
        for (i, p) in task.domain.predicates.iter().enumerate() {
            if p.role() != Role::Fluent {
                continue;
            }
            let (count, arity) = (state.0[at] as usize, p.args.len());
            let wanted = &state.0[at + 1..at + 1 + count * arity];
            at += 1 + count * arity;
            if arity == 0 {
                self.change(i as u32, &[], count > 0);
                continue;
            }
            let wanted: Vec<&[u32]> = wanted.chunks_exact(arity).collect();
            let there: Vec<Vec<u32>> = self.relations[i].tuples().map(<[u32]>::to_vec).collect();
            for tuple in there {
                if wanted.binary_search(&tuple.as_slice()).is_err() {
                    self.change(i as u32, &tuple, false);
                }
            }
            for tuple in wanted {
                self.change(i as u32, tuple, true);
            }
        }
        self.settle();
    }
}

/// Sorts tuples that stand one after the other.
fn sort_tuples(flat: &mut [u32], arity: usize) {
    if flat.chunks_exact(arity).is_sorted() {
        return;
    }
    match arity {
        1 => flat.sort_unstable(),
        2 => {
            let (pairs, _) = flat.as_chunks_mut::<2>();
            pairs.sort_unstable();
        }
        3 => {
            let (triples, _) = flat.as_chunks_mut::<3>();
            triples.sort_unstable();
        }
        _ => {
            let mut tuples: Vec<&[u32]> = flat.chunks_exact(arity).collect();
            tuples.sort_unstable();
            let sorted = tuples.concat();
            flat.copy_from_slice(&sorted);
        }
    }
}
