//! What holds: the ground atoms of a state and its background.

use std::borrow::Cow;
use std::sync::Arc;

use crate::alphabet::{Alphabet, Measure, MeasureDecl, Pred};
use crate::derive::Program;
use crate::diagnostic::Error;
use crate::ground_text::GroundFacts;
use crate::number::Linear;
use crate::syntax::{Constant, Number};
use crate::universe::{Object, Universe};

/// A set of ground atoms, kept as one flat list of tuples per predicate, and the numbers that measures have.
///
/// Filled by an environment ([`Facts::push`], [`Facts::set`]), then sealed ([`Facts::seal`]): sorted and without
/// duplicates, so that [`Facts::holds`] is a binary search. Where the alphabet defines derived predicates, [`Facts::derive`] adds
/// what follows.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    relations: Vec<Relation>,
    tables: Vec<Table>,
    /// What derived predicates mean, where there are any.
    program: Option<Arc<Program>>,
    /// Why derived facts are missing.
    fault: Option<Error>,
    /// The first number that is none.
    wrong: Option<(Measure, Vec<Object>, f64)>,
}

impl PartialEq for Facts {
    /// Whether the same atoms hold and the same numbers are reported.
    fn eq(&self, other: &Facts) -> bool {
        self.relations == other.relations && self.tables == other.tables
    }
}

impl Eq for Facts {} // numbers are finite

/// The tuples of one predicate.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Relation {
    arity: usize,
    /// A nullary predicate holds iff this is above zero; else how many tuples there are.
    count: usize,
    flat: Vec<Object>,
}

/// The numbers of one measure, in the order of their tuples.
#[derive(Clone, Debug, PartialEq)]
struct Table {
    /// What the measure is called, for messages.
    name: Arc<str>,
    arity: usize,
    flat: Vec<Object>,
    values: Vec<f64>,
}

impl Table {
    fn tuple(&self, row: usize) -> &[Object] {
        &self.flat[row * self.arity..(row + 1) * self.arity]
    }

    /// The row of a tuple, or where it would be.
    fn find(&self, args: &[Object]) -> Result<usize, usize> {
        let row = match *args {
            [] => 0,
            // A table about every object in turn is common.
            [o] if self.flat.get(o.0 as usize) == Some(&o) => o.0 as usize,
            _ => partition(self.values.len(), |row| self.tuple(row) < args),
        };
        if row < self.values.len() && self.tuple(row) == args { Ok(row) } else { Err(row) }
    }

    fn seal(&mut self) {
        let rows = self.values.len();
        if (1..rows).all(|row| self.tuple(row - 1) < self.tuple(row)) {
            return;
        }
        let mut order: Vec<usize> = (0..rows).collect();
        order.sort_by(|&a, &b| self.tuple(a).cmp(self.tuple(b)));
        let same = |a: usize, b: usize| self.tuple(a) == self.tuple(b);
        let last = |&i: &usize| i + 1 == rows || !same(order[i], order[i + 1]);
        let kept: Vec<usize> = (0..rows).filter(last).map(|i| order[i]).collect();
        let flat = kept.iter().flat_map(|&row| self.tuple(row).to_vec()).collect();
        self.values = kept.iter().map(|&row| self.values[row]).collect();
        self.flat = flat;
    }
}

impl Facts {
    /// No facts, for the predicates of this alphabet.
    pub fn new(alphabet: &Alphabet) -> Facts {
        let relations = alphabet
            .predicates
            .iter()
            .map(|p| Relation { arity: p.args.len(), count: 0, flat: Vec::new() })
            .collect();
        let table = |m: &MeasureDecl| Table {
            name: m.name.as_str().into(),
            arity: m.args.len(),
            flat: Vec::new(),
            values: Vec::new(),
        };
        let tables = alphabet.measures.iter().map(table).collect();
        Facts { relations, tables, program: alphabet.program.clone(), fault: None, wrong: None }
    }

    /// These ground facts, sealed, and what follows from them; `None` where one is about an object that the universe lacks.
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
    pub fn of(ground: &GroundFacts, alphabet: &Alphabet, universe: &Universe) -> Option<Facts> {
        let mut facts = Facts::new(alphabet);
        let objects = |args: &[Constant]| args.iter().map(|c| universe.find(c)).collect::<Option<Vec<_>>>();
        for (pred, args) in &ground.atoms {
            facts.push(*pred, &objects(args)?);
        }
        for (measure, args, value) in &ground.numbers {
            facts.set(*measure, &objects(args)?, *value);
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
        for t in &mut self.tables {
            t.flat.clear();
            t.values.clear();
        }
        self.wrong = None;
    }

    /// Says what a measure is. Of several numbers for the same objects the last one counts. One that is not finite is none: it is left
    /// out, and after [`Facts::derive`] it is the [`Facts::fault`].
    pub fn set(&mut self, measure: Measure, args: &[Object], value: f64) {
        let t = &mut self.tables[measure.0 as usize];
        debug_assert_eq!(t.arity, args.len(), "a number has its measure's arity");
        if !value.is_finite() {
            self.wrong.get_or_insert_with(|| (measure, args.to_vec(), value));
            return;
        }
        t.flat.extend_from_slice(args);
        // There is one zero.
        t.values.push(value + 0.0);
    }

    /// What a measure is for these objects, where the state reports it.
    #[inline]
    pub fn get(&self, measure: Measure, args: &[Object]) -> Option<f64> {
        let t = &self.tables[measure.0 as usize];
        if t.arity == 0 {
            return t.values.first().copied();
        }
        t.find(args).ok().map(|row| t.values[row])
    }

    /// Says what a measure of sealed facts is from now on; `None`: nothing is reported any more. What follows is derived anew by
    /// [`Facts::derive`].
    pub fn change(&mut self, measure: Measure, args: &[Object], value: Option<f64>) {
        let t = &mut self.tables[measure.0 as usize];
        match (t.find(args), value.filter(|x| x.is_finite())) {
            (Ok(row), Some(value)) => t.values[row] = value + 0.0,
            (Ok(row), None) => {
                t.values.remove(row);
                t.flat.drain(row * t.arity..(row + 1) * t.arity);
            }
            (Err(row), Some(value)) => {
                t.values.insert(row, value + 0.0);
                t.flat.splice(row * t.arity..row * t.arity, args.iter().copied());
            }
            (Err(_), None) => {}
        }
    }

    /// The numbers of a measure with the objects that they are about, in order.
    pub fn numbers(&self, measure: Measure) -> impl Iterator<Item = (&[Object], f64)> {
        let t = &self.tables[measure.0 as usize];
        t.values.iter().enumerate().map(|(row, &value)| (t.tuple(row), value))
    }

    /// All numbers, in the order of the alphabet.
    pub fn all_numbers(&self) -> impl Iterator<Item = (Measure, &[Object], f64)> {
        let measures = (0..self.tables.len() as u32).map(Measure);
        measures.flat_map(|m| self.numbers(m).map(move |(args, value)| (m, args, value)))
    }

    /// How many measures there are.
    pub fn measures(&self) -> usize {
        self.tables.len()
    }

    /// The value of a sum for these objects, by place; `None` where one of its measures is not reported.
    #[inline]
    pub fn value(&self, of: &Linear, args: &[Object]) -> Option<f64> {
        let mut sum = 0.0;
        for (i, term) in of.terms.iter().enumerate() {
            let value = match *term.places {
                [] => self.get(term.measure, &[])?,
                [place] => self.get(term.measure, &[args[usize::from(place)]])?,
                ref places => {
                    let objects: Vec<Object> = places.iter().map(|&p| args[usize::from(p)]).collect();
                    self.get(term.measure, &objects)?
                }
            };
            sum = if i == 0 { term.factor * value } else { sum + term.factor * value };
        }
        Some(sum)
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
        self.tables.iter_mut().filter(|t| t.arity > 0 || t.values.len() > 1).for_each(Table::seal);
    }

    /// Adds to the sealed facts of the world all that follow from them by definition, in place of derived facts that were there.
    /// Where too much follows, derived facts are left out and [`Facts::fault`] says why.
    pub fn derive(&mut self, universe: &Universe) {
        self.fault = None;
        if let Some(program) = self.program.take() {
            self.fault = program.evaluate(self, universe).err();
            self.program = Some(program);
        }
        if let Some((measure, args, value)) = &self.wrong {
            let name = universe.show(&self.tables[measure.0 as usize].name, args);
            let what = if value.is_nan() { "not a number" } else { "infinite" };
            let error = Error::new(format!("the world reports that `{name}` is {what}"));
            self.fault = Some(error.with_help("report finite numbers, and leave out what is not known"));
        }
    }

    /// Why derived facts or numbers are missing, where they are.
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
        all.tables.clone_from(&self.tables);
        all.wrong.clone_from(&self.wrong);
        all.derive(universe);
        Cow::Owned(all)
    }

    /// Says whether a nullary predicate holds.
    #[inline]
    pub(crate) fn mark(&mut self, pred: Pred, holds: bool) {
        self.relations[pred.0 as usize].count = usize::from(holds);
    }

    /// Takes the facts of a predicate out, and gives the emptied list of their objects for other ones.
    pub(crate) fn take(&mut self, pred: Pred) -> Vec<Object> {
        self.forget(pred);
        std::mem::take(&mut self.relations[pred.0 as usize].flat)
    }

    /// Makes these the facts of a predicate, in order and each once: how many, and all their objects.
    pub(crate) fn put(&mut self, pred: Pred, count: usize, flat: Vec<Object>) {
        let r = &mut self.relations[pred.0 as usize];
        (r.count, r.flat) = (count, flat);
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

    /// The facts as text, `top(c)`, in the order of the alphabet, then the numbers, `queue(p1) = 7`. Which actions are legal and which
    /// comparisons hold is left out.
    pub fn show(&self, alphabet: &Alphabet, universe: &Universe) -> Vec<String> {
        let shown = self.iter().filter(|(p, _)| alphabet.predicate(*p).role.is_named());
        let facts = shown.map(|(p, t)| universe.show(&alphabet.predicate(p).name, t));
        let number = |(m, args, value): (Measure, &[Object], f64)| {
            format!("{} = {}", universe.show(&alphabet.measure(m).name, args), Number(value))
        };
        facts.chain(self.all_numbers().map(number)).collect()
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
