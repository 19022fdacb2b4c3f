//! What holds: the ground atoms of a state and its background.

use std::borrow::Cow;
use std::sync::Arc;

use crate::alphabet::{Alphabet, Pred, Role};
use crate::derive::Program;
use crate::diagnostic::Error;
use crate::syntax::Constant;
use crate::universe::{Object, Universe};

/// A set of ground atoms, kept as one flat list of tuples a predicate.
///
/// Filled by an environment ([`Facts::push`]), then sealed ([`Facts::seal`]): sorted and without
/// duplicates, so that [`Facts::holds`] is a binary search. Where the alphabet defines derived predicates, [`Facts::derive`] adds
/// what follows.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    relations: Vec<Relation>,
    /// What derived predicates mean, where there are any.
    program: Option<Arc<Program>>,
    /// Why derived facts are missing.
    fault: Option<Error>,
}

impl PartialEq for Facts {
    /// Whether the same atoms hold.
    fn eq(&self, other: &Facts) -> bool {
        self.relations == other.relations
    }
}

impl Eq for Facts {}

/// The tuples of one predicate.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Relation {
    arity: usize,
    /// A nullary predicate holds iff this is above zero; else how many tuples there are.
    count: usize,
    flat: Vec<Object>,
}

impl Facts {
    /// No facts, for the predicates of this alphabet.
    pub fn new(alphabet: &Alphabet) -> Facts {
        let relations = alphabet
            .predicates
            .iter()
            .map(|p| Relation { arity: p.args.len(), count: 0, flat: Vec::new() })
            .collect();
        Facts { relations, program: alphabet.program.clone(), fault: None }
    }

    /// These ground atoms, sealed, and what follows from them; `None` where one is about an object that the universe lacks.
    ///
    /// ```
    /// use derrl_logic::{Alphabet, Constant, Facts, Source, Types, Universe, parse_facts};
    /// let grid = Alphabet::parse(&Source::new("d.pl", ":- action(up). :- state(at/2). :- state(north)."))?;
    /// let universe = Universe::new((0..3).map(|i| (Constant::Int(i), Types::ANY)).collect());
    /// let state = parse_facts(&Source::new("state.pl", "north. at(2, 1)."), &grid)?;
    /// let facts = Facts::of(&state, &grid, &universe).expect("0, 1 and 2 are objects");
    /// assert_eq!(facts.show(&grid, &universe), ["at(2, 1)", "north"]);
    /// # Ok::<(), derrl_logic::Error>(())
    /// ```
    pub fn of(atoms: &[(Pred, Vec<Constant>)], alphabet: &Alphabet, universe: &Universe) -> Option<Facts> {
        let mut facts = Facts::new(alphabet);
        for (pred, args) in atoms {
            let args: Vec<Object> = args.iter().map(|c| universe.find(c)).collect::<Option<_>>()?;
            facts.push(*pred, &args);
        }
        facts.seal();
        facts.derive(universe);
        Some(facts)
    }

    /// Forgets all facts and keeps the memory.
    pub fn clear(&mut self) {
        for r in &mut self.relations {
            r.count = 0;
            r.flat.clear();
        }
    }

    /// Adds a fact.
    pub fn push(&mut self, pred: Pred, args: &[Object]) {
        let r = &mut self.relations[pred.0 as usize];
        debug_assert_eq!(r.arity, args.len(), "a fact has its predicate's arity");
        r.count += 1;
        r.flat.extend_from_slice(args);
    }

    /// Sorts the facts and drops duplicates. Call once after the last [`Facts::push`].
    pub fn seal(&mut self) {
        for r in &mut self.relations {
            if r.arity == 0 {
                r.count = r.count.min(1);
                continue;
            }
            if !r.flat.chunks_exact(r.arity).is_sorted_by(|a, b| a < b) {
                let mut tuples: Vec<&[Object]> = r.flat.chunks_exact(r.arity).collect();
                tuples.sort_unstable();
                tuples.dedup();
                (r.count, r.flat) = (tuples.len(), tuples.concat());
            }
        }
    }

    /// Adds to the sealed facts of the world all that follow from them by definition, in place of derived facts that were there.
    /// Does nothing where nothing is derived. Where too much follows, derived facts are left out and [`Facts::fault`] says why.
    pub fn derive(&mut self, universe: &Universe) {
        let Some(program) = self.program.clone() else { return };
        self.fault = program.evaluate(self, universe).err();
    }

    /// Why derived facts are missing, where they are.
    pub fn fault(&self) -> Option<&Error> {
        self.fault.as_ref()
    }

    /// The same facts with what follows by the definitions of a wider alphabet: one with the same predicates, and perhaps more
    /// derived ones after them.
    pub fn in_alphabet<'a>(&'a self, alphabet: &Alphabet, universe: &Universe) -> Cow<'a, Facts> {
        if alphabet.predicates.len() == self.relations.len() {
            return Cow::Borrowed(self);
        }
        let mut all = Facts::new(alphabet);
        all.relations[..self.relations.len()].clone_from_slice(&self.relations);
        all.derive(universe);
        Cow::Owned(all)
    }

    /// Takes out all facts of a predicate.
    pub(crate) fn forget(&mut self, pred: Pred) {
        let r = &mut self.relations[pred.0 as usize];
        r.count = 0;
        r.flat.clear();
    }

    /// Whether the ground atom is among the facts.
    pub fn holds(&self, pred: Pred, args: &[Object]) -> bool {
        let r = &self.relations[pred.0 as usize];
        if r.arity == 0 {
            return r.count > 0;
        }
        let (mut low, mut high) = (0, r.count);
        while low < high {
            let mid = usize::midpoint(low, high);
            match r.flat[mid * r.arity..(mid + 1) * r.arity].cmp(args) {
                std::cmp::Ordering::Equal => return true,
                std::cmp::Ordering::Less => low = mid + 1,
                std::cmp::Ordering::Greater => high = mid,
            }
        }
        false
    }

    /// Adds a sealed set's missing fact, or takes out one that it has. Returns whether the fact holds now.
    ///
    /// Takes time in the number of tuples of the predicate.
    pub fn flip(&mut self, pred: Pred, args: &[Object]) -> bool {
        let holds = self.holds(pred, args);
        let r = &mut self.relations[pred.0 as usize];
        if r.arity == 0 {
            r.count = usize::from(!holds);
            return !holds;
        }
        let at = r.arity * partition(r.count, |i| r.flat[i * r.arity..(i + 1) * r.arity] < *args);
        if holds {
            r.flat.drain(at..at + r.arity);
            r.count -= 1;
        } else {
            r.flat.splice(at..at, args.iter().copied());
            r.count += 1;
        }
        !holds
    }

    /// The tuples of a predicate, in order. A nullary predicate that holds has one empty tuple.
    pub fn tuples(&self, pred: Pred) -> impl Iterator<Item = &[Object]> {
        let r = &self.relations[pred.0 as usize];
        let nullary = if r.arity == 0 { r.count } else { 0 };
        std::iter::repeat_n(&[] as &[Object], nullary).chain(r.flat.chunks_exact(r.arity.max(1)))
    }

    /// The tuples of a predicate whose first argument is `first`, found by binary search. None for a nullary
    /// predicate.
    pub fn tuples_from(&self, pred: Pred, first: Object) -> impl Iterator<Item = &[Object]> {
        let r = &self.relations[pred.0 as usize];
        let arity = r.arity.max(1);
        let rows = r.flat.len() / arity;
        let at = |i: usize| r.flat[i * arity];
        let start = partition(rows, |i| at(i) < first);
        let end = start + partition(rows - start, |i| at(start + i) == first);
        r.flat[start * arity..end * arity].chunks_exact(arity)
    }

    /// How many tuples a predicate has.
    pub fn count(&self, pred: Pred) -> usize {
        self.relations[pred.0 as usize].count
    }

    /// All facts in the order of the alphabet.
    pub fn iter(&self) -> impl Iterator<Item = (Pred, &[Object])> {
        (0..self.relations.len() as u32).flat_map(|p| self.tuples(Pred(p)).map(move |t| (Pred(p), t)))
    }

    /// The facts as text, `top(c)`, in the order of the alphabet. Which actions are legal is left out.
    pub fn show(&self, alphabet: &Alphabet, universe: &Universe) -> Vec<String> {
        let shown = self.iter().filter(|(p, _)| alphabet.predicate(*p).role != Role::Legal);
        shown.map(|(p, t)| universe.show(&alphabet.predicate(p).name, t)).collect()
    }
}

/// The number of leading indices below `n` for which `pred` holds, where it holds for a prefix.
fn partition(n: usize, pred: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, n);
    while low < high {
        let mid = usize::midpoint(low, high);
        if pred(mid) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    low
}
