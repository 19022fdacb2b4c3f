//! Grounding a state: for every ground action the maximal sets of candidate atoms that hold together.
//!
//! For a substitution phi, the *mask* is the subset of K that is true under it. A body b derives the action
//! iff b is a subset of some mask. Masks depend on the state alone, not on what is learned, so a state is
//! grounded once and every later inference is a few bit operations.

use rustc_hash::FxHashSet;

use crate::alphabet::{Action, Alphabet, Pred, Var};
use crate::candidates::candidates;
use crate::facts::Facts;
use crate::rule::{Arg, Literal};
use crate::universe::{GroundAction, Object, Universe};

/// Grounds states of one alphabet: K by action, with what is needed to find the masks.
#[derive(Clone, Debug)]
pub struct Grounder {
    atoms: Vec<Vec<Literal>>,
    arities: Vec<usize>,
    variables: usize,
    words: usize,
}

/// The masks of one state, for each of its ground actions in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grounding {
    words: usize,
    /// The masks of action `a` are numbers `first[a]..first[a + 1]`.
    first: Vec<u32>,
    bits: Vec<u64>,
}

impl Grounding {
    /// How many ground actions the state has.
    pub fn actions(&self) -> usize {
        self.first.len() - 1
    }

    /// How many 64-bit words a mask takes.
    pub fn words(&self) -> usize {
        self.words
    }

    /// How many 64-bit words all masks take.
    pub fn len(&self) -> usize {
        self.bits.len()
    }

    /// Whether there are no masks: no ground actions.
    pub fn is_empty(&self) -> bool {
        self.bits.is_empty()
    }

    /// The maximal masks of the `a`-th ground action.
    pub fn masks(&self, a: usize) -> impl Iterator<Item = &[u64]> {
        let (from, to) = (self.first[a] as usize, self.first[a + 1] as usize);
        self.bits[from * self.words..to * self.words].chunks_exact(self.words)
    }

    /// The maximal masks of the `a`-th ground action, end to end.
    pub fn flat(&self, a: usize) -> &[u64] {
        &self.bits[self.first[a] as usize * self.words..self.first[a + 1] as usize * self.words]
    }

    /// Whether body `b` derives the `a`-th ground action: it is a subset of one of its masks.
    pub fn derives(&self, a: usize, b: &[u64]) -> bool {
        self.masks(a).any(|mask| subset(b, mask))
    }
}

/// Whether every bit of `b` is set in `mask`.
#[inline]
pub fn subset(b: &[u64], mask: &[u64]) -> bool {
    b.iter().zip(mask).all(|(b, m)| b & !m == 0)
}

impl Grounder {
    /// A grounder for the candidate atoms of each action of the alphabet.
    pub fn new(alphabet: &Alphabet) -> Grounder {
        let atoms: Vec<Vec<Literal>> =
            (0..alphabet.actions.len()).map(|a| candidates(alphabet, Action(a as u32))).collect();
        let widest = atoms.iter().map(Vec::len).max().unwrap_or(0);
        Grounder {
            arities: alphabet.actions.iter().map(|a| a.args.len()).collect(),
            atoms,
            variables: alphabet.variables,
            words: widest.div_ceil(64).max(1),
        }
    }

    /// K of an action.
    pub fn atoms(&self, action: Action) -> &[Literal] {
        &self.atoms[action.0 as usize]
    }

    /// How many 64-bit words a set of candidate atoms takes: the widest K decides.
    pub fn words(&self) -> usize {
        self.words
    }

    /// The masks of a state. Time and masks grow with n^|V| for n objects.
    pub fn ground(&self, actions: &[GroundAction], facts: &Facts, universe: &Universe) -> Grounding {
        let mut grounding = Grounding { words: self.words, first: vec![0], bits: Vec::new() };
        let plans: Vec<Plan> = (0..self.atoms.len()).map(|a| self.plan(a, universe)).collect();
        let truth = StateVector::new(facts, universe.len());
        let mut seen = FxHashSet::default();
        for (i, action) in actions.iter().enumerate() {
            // Actions with the same arguments and the same K (say, all nullary ones) have the same masks.
            let twin = (0..i).rev().take(self.atoms.len()).find(|&j| {
                actions[j].args == action.args
                    && self.atoms[actions[j].action.0 as usize] == self.atoms[action.action.0 as usize]
            });
            if let Some(twin) = twin {
                let masks = grounding.flat(twin).to_vec();
                grounding.bits.extend(masks);
                grounding.first.push((grounding.bits.len() / self.words) as u32);
                continue;
            }
            let plan = &plans[action.action.0 as usize];
            let mut search = Search {
                plan,
                truth: &truth,
                objects: universe.len() as u32,
                phi: vec![None; self.variables],
                scratch: Vec::new(),
                masks: Vec::new(),
            };
            for (v, &o) in action.args.iter().enumerate() {
                search.phi[v] = Some(o);
            }
            let mut mask = vec![0; self.words];
            search.extend(&plan.head, &mut mask);
            search.descend(action.args.len(), &mask);
            let masks = search.masks;
            keep_maximal(masks, self.words, &mut seen, &mut grounding.bits);
            grounding.first.push((grounding.bits.len() / self.words) as u32);
        }
        grounding
    }

    /// Which atoms of K become ground with which variable.
    fn plan(&self, action: usize, universe: &Universe) -> Plan {
        let arity = self.arities[action];
        let mut plan = Plan { head: Vec::new(), by_variable: Vec::new(), named: Vec::new() };
        plan.by_variable.resize_with(self.variables, Vec::new);
        for (bit, literal) in self.atoms[action].iter().enumerate() {
            let places: Option<Vec<Place>> = literal
                .args
                .iter()
                .map(|arg| match arg {
                    Arg::Var(v) => Some(Place::Var(*v)),
                    Arg::Const(c) => universe.find(c).map(Place::Object),
                })
                .collect();
            // A positive atom about an object that this universe lacks never holds.
            if places.is_none() && literal.positive {
                continue;
            }
            for arg in &literal.args {
                if let Arg::Const(c) = arg
                    && let Some(o) = universe.find(c)
                {
                    plan.name(o, bit, self.words);
                }
            }
            let atom = Timed {
                bit,
                positive: literal.positive,
                pred: literal.pred,
                variables: literal.vars().collect(),
                places,
            };
            match atom.variables.iter().map(|v| v.0 as usize).max() {
                Some(v) if v >= arity => plan.by_variable[v].push(atom),
                _ => plan.head.push(atom),
            }
        }
        plan
    }
}

/// v: one bit for every ground atom, so that looking one up takes constant time. Where G is too large for that, the
/// facts themselves are searched.
struct StateVector<'a> {
    facts: &'a Facts,
    objects: usize,
    /// For each predicate, where its ground atoms start; `None` where G is too large.
    offsets: Option<Vec<usize>>,
    bits: Vec<u64>,
}

/// The most ground atoms a state vector may have: 4 MiB of bits.
const MOST_GROUND_ATOMS: usize = 1 << 25;

impl StateVector<'_> {
    fn new(facts: &Facts, objects: usize) -> StateVector<'_> {
        let mut offsets = Vec::new();
        let mut total = 0usize;
        for arity in facts.arities() {
            offsets.push(total);
            let size = u32::try_from(arity).ok().and_then(|a| objects.checked_pow(a));
            total = size.and_then(|s| total.checked_add(s)).unwrap_or(usize::MAX);
        }
        if total > MOST_GROUND_ATOMS {
            return StateVector { facts, objects, offsets: None, bits: Vec::new() };
        }
        let mut vector =
            StateVector { facts, objects, offsets: Some(offsets), bits: vec![0; total.div_ceil(64)] };
        for (pred, args) in facts.iter() {
            if let Some(j) = vector.index(pred, args) {
                vector.bits[j / 64] |= 1 << (j % 64);
            }
        }
        vector
    }

    /// The index of a ground atom in G.
    fn index(&self, pred: Pred, args: &[Object]) -> Option<usize> {
        let offset = self.offsets.as_ref()?[pred.0 as usize];
        Some(offset + args.iter().fold(0, |at, o| at * self.objects + o.0 as usize))
    }

    fn holds(&self, pred: Pred, args: &[Object]) -> bool {
        match self.index(pred, args) {
            Some(j) => self.bits[j / 64] >> (j % 64) & 1 == 1,
            None => self.facts.holds(pred, args),
        }
    }
}

struct Plan {
    head: Vec<Timed>,
    by_variable: Vec<Vec<Timed>>,
    /// The objects that atoms of K mention by name, each with the set of those atoms.
    named: Vec<(Object, Vec<u64>)>,
}

impl Plan {
    fn name(&mut self, o: Object, bit: usize, words: usize) {
        let at = self.named.iter().position(|(n, _)| *n == o).unwrap_or_else(|| {
            self.named.push((o, vec![0; words]));
            self.named.len() - 1
        });
        self.named[at].1[bit / 64] |= 1 << (bit % 64);
    }
}

struct Timed {
    bit: usize,
    positive: bool,
    pred: Pred,
    variables: Vec<Var>,
    /// `None`: a negated atom about an absent object; it holds once its variables stand for something.
    places: Option<Vec<Place>>,
}

#[derive(Clone, Copy)]
enum Place {
    Var(Var),
    Object(Object),
}

struct Search<'a> {
    plan: &'a Plan,
    truth: &'a StateVector<'a>,
    objects: u32,
    phi: Vec<Option<Object>>,
    scratch: Vec<Object>,
    masks: Vec<u64>,
}

impl Search<'_> {
    /// Sets the bits of those `atoms` that are true under phi.
    fn extend(&mut self, atoms: &[Timed], mask: &mut [u64]) {
        for atom in atoms {
            if atom.variables.iter().any(|v| self.phi[v.0 as usize].is_none()) {
                continue;
            }
            let truth = atom.places.as_ref().is_none_or(|places| {
                self.scratch.clear();
                self.scratch.extend(places.iter().filter_map(|&place| match place {
                    Place::Var(v) => self.phi[v.0 as usize],
                    Place::Object(o) => Some(o),
                }));
                self.truth.holds(atom.pred, &self.scratch) == atom.positive
            });
            if truth {
                mask[atom.bit / 64] |= 1 << (atom.bit % 64);
            }
        }
    }

    fn descend(&mut self, v: usize, mask: &[u64]) {
        if v == self.phi.len() {
            let from = self.masks.len();
            self.masks.extend_from_slice(mask);
            // Object identity: what a variable stands for is no object that a body mentions by name.
            for (o, atoms) in &self.plan.named {
                if self.phi.contains(&Some(*o)) {
                    self.masks[from..].iter_mut().zip(atoms).for_each(|(m, a)| *m &= !a);
                }
            }
            return;
        }
        let plan = self.plan;
        for o in (0..self.objects).map(Object) {
            if self.phi.contains(&Some(o)) {
                continue;
            }
            self.phi[v] = Some(o);
            let mut longer = mask.to_vec();
            self.extend(&plan.by_variable[v], &mut longer);
            self.descend(v + 1, &longer);
        }
        self.phi[v] = None;
        // Where there are too few objects for all variables, rules that do not use this one can still fire.
        if (self.objects as usize) < self.phi.len() + plan.named.len() {
            self.descend(v + 1, mask);
        }
    }
}

/// Appends to `out` the masks that are no subset of another one, each once, the fullest first.
fn keep_maximal(masks: Vec<u64>, words: usize, seen: &mut FxHashSet<Vec<u64>>, out: &mut Vec<u64>) {
    seen.clear();
    let mut distinct: Vec<&[u64]> = Vec::new();
    for mask in masks.chunks_exact(words) {
        if seen.insert(mask.to_vec()) {
            distinct.push(mask);
        }
    }
    let size = |m: &[u64]| m.iter().map(|w| w.count_ones()).sum::<u32>();
    distinct.sort_by_key(|m| std::cmp::Reverse(size(m)));
    let from = out.len();
    for mask in distinct {
        if !out[from..].chunks_exact(words).any(|kept| subset(mask, kept)) {
            out.extend_from_slice(mask);
        }
    }
}
