//! Comparisons as derived predicates: their ids, and where they hold.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::engine::MOST_FACTS;
use super::program::{Definition, How, Program};
use crate::alphabet::{Alphabet, Measure, Pred, Predicate, Role};
use crate::diagnostic::Error;
use crate::facts::Facts;
use crate::number::{Comparison, Term};
use crate::universe::Object;

/// Comparisons by the predicates that they are, new ones after all of an alphabet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Interned {
    known: FxHashMap<String, Pred>,
    new: Vec<(String, Comparison)>,
    /// The id of the first new one.
    first: usize,
}

impl Interned {
    pub fn new(alphabet: &Alphabet) -> Interned {
        let named = alphabet.predicates.iter().enumerate().filter(|(_, p)| p.role == Role::Comparison);
        Interned {
            known: named.map(|(at, p)| (p.name.clone(), Pred(at as u32))).collect(),
            new: Vec::new(),
            first: alphabet.predicates.len(),
        }
    }

    /// The predicate that a comparison is, or will be in [`Interned::extend`].
    pub fn pred(&mut self, comparison: Comparison, alphabet: &Alphabet) -> Pred {
        let name = comparison.name(alphabet);
        if let Some(&known) = self.known.get(&name) {
            return known;
        }
        let pred = Pred((self.first + self.new.len()) as u32);
        self.known.insert(name.clone(), pred);
        self.new.push((name, comparison));
        pred
    }

    /// Whether there are comparisons that the alphabet lacks.
    pub fn has_new(&self) -> bool {
        !self.new.is_empty()
    }

    /// Adds the predicates to the alphabet, and returns what they mean.
    pub fn declare(self, alphabet: &mut Alphabet) -> Vec<Definition> {
        let mut definitions = Vec::with_capacity(self.new.len());
        for (name, comparison) in self.new {
            let args = comparison.left.types(alphabet);
            let pred = Pred(alphabet.predicates.len() as u32);
            alphabet.predicates.push(Predicate { name, args, role: Role::Comparison, negatable: false });
            definitions.push(Definition { pred, how: How::Compare(comparison) });
        }
        definitions
    }

    /// The alphabet with these comparisons.
    pub fn extend(self, alphabet: &Alphabet) -> Alphabet {
        let mut all = alphabet.clone();
        let new = self.declare(&mut all);
        let definitions = alphabet.definitions().iter().cloned().chain(new).collect();
        // Comparisons follow from no predicate, so no cycle can arise.
        all.program = Program::new(definitions, &all).ok().map(Arc::new);
        all
    }
}

impl Alphabet {
    /// This alphabet with these comparisons as predicates, after all others, and the predicate that each is. Comparisons that it has
    /// already stay what they are.
    ///
    /// ```
    /// use derrl_logic::{Alphabet, Comparison, Linear, Measure, Op, Source};
    /// let pole = Alphabet::parse(&Source::new("d.pl", ":- action(left). :- action(right). :- number(angle)."))?;
    /// let angle = pole.find_measure("angle", 0).expect("it is declared");
    /// let tilted = |by| Comparison::new(Linear::of(angle, 0), Op::Greater, by);
    /// let (wider, preds) = pole.with_comparisons(&[tilted(0.02), tilted(0.1), tilted(0.02)]);
    /// assert_eq!((preds[0], wider.predicates.len()), (preds[2], 2));
    /// assert_eq!(wider.comparison(preds[1]), Some(&tilted(0.1)));
    /// # Ok::<(), derrl_logic::Error>(())
    /// ```
    pub fn with_comparisons(&self, comparisons: &[Comparison]) -> (Alphabet, Vec<Pred>) {
        let mut interned = Interned::new(self);
        let preds = comparisons.iter().map(|c| interned.pred(c.clone(), self)).collect();
        if interned.has_new() { (interned.extend(self), preds) } else { (self.clone(), preds) }
    }

    /// The comparison that a predicate is, where it is one.
    pub fn comparison(&self, pred: Pred) -> Option<&Comparison> {
        if self.predicate(pred).role != Role::Comparison {
            return None;
        }
        self.program.as_ref()?.comparison(pred)
    }

    /// Whether one of two measures may be compared with the other, or subtracted from it: they are not of different units.
    pub fn comparable(&self, a: Measure, b: Measure) -> bool {
        let unit = |m: Measure| self.measure(m).unit.as_deref();
        unit(a) == unit(b) || unit(a).is_none() || unit(b).is_none()
    }
}

/// Finds out of which objects a comparison holds. An error where these are too many.
pub(super) fn evaluate(pred: Pred, comparison: &Comparison, facts: &mut Facts) -> Result<(), Error> {
    let Comparison { left, op, threshold } = comparison;
    let holds = |value: Option<f64>| value.is_some_and(|v| op.holds(v, *threshold));
    if left.terms.iter().all(|term| term.places.is_empty()) {
        facts.mark(pred, holds(facts.value(left, &[])));
        return Ok(());
    }
    let mut found = facts.take(pred);
    let arity = left.arity();
    let mut objects = vec![Object(0); arity];
    let mut set = vec![false; arity];
    // The measure with all places is gone through, if there is one; the other is looked up.
    let covers = |t: &Term| (0..arity as u8).all(|p| t.places.contains(&p));
    if let Some(all) = left.terms.iter().find(|t| covers(t)) {
        for (tuple, _) in facts.numbers(all.measure) {
            set.fill(false);
            if place(all, tuple, &mut objects, &mut set)
                && distinct(&objects)
                && holds(facts.value(left, &objects))
            {
                found.extend_from_slice(&objects);
            }
        }
    } else if let [first, second] = left.terms.as_slice() {
        for (tuple, a) in facts.numbers(first.measure) {
            set.fill(false);
            if !place(first, tuple, &mut objects, &mut set) {
                continue;
            }
            let known = set.clone();
            for (other, b) in facts.numbers(second.measure) {
                set.copy_from_slice(&known);
                let value = first.factor * a + second.factor * b;
                if op.holds(value, *threshold)
                    && place(second, other, &mut objects, &mut set)
                    && distinct(&objects)
                {
                    found.extend_from_slice(&objects);
                }
            }
            if found.len() / arity > MOST_FACTS {
                return Err(refusal(first.measure, second.measure, facts));
            }
        }
    }
    if !found.chunks_exact(arity).is_sorted_by(|a, b| a < b) {
        let mut tuples: Vec<&[Object]> = found.chunks_exact(arity).collect();
        tuples.sort_unstable();
        found = tuples.concat();
    }
    facts.put(pred, found.len() / arity, found);
    Ok(())
}

/// Puts the objects of a tuple at the places of a term. False where one place would be two objects.
fn place(term: &Term, tuple: &[Object], objects: &mut [Object], set: &mut [bool]) -> bool {
    term.places.iter().zip(tuple).all(|(&p, &o)| {
        let p = usize::from(p);
        let fits = !set[p] || objects[p] == o;
        (objects[p], set[p]) = (o, true);
        fits
    })
}

/// Whether no object stands at two places: distinct terms of a rule are distinct objects.
fn distinct(objects: &[Object]) -> bool {
    (1..objects.len()).all(|i| !objects[..i].contains(&objects[i]))
}

fn refusal(first: Measure, second: Measure, facts: &Facts) -> Error {
    let rows = |m: Measure| facts.numbers(m).count();
    let message = format!(
        "a comparison of {} numbers with {} others holds of more than {MOST_FACTS} pairs in one state",
        rows(first),
        rows(second)
    );
    Error::new(message)
        .with_help("compare measures of fewer objects, or choose with `most(...)` or `least(...)`")
}
