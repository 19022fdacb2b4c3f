//! Grounding a state: for every ground action the maximal sets of candidate atoms that hold together.
//!
//! For a substitution phi, the *mask* is the subset of K that is true under it. A body b derives the action
//! iff b is a subset of some mask. Masks depend on the state alone, not on what is learned, so a state is
//! grounded once and every later inference is a few bit operations.
//!
//! The atoms of K are grouped by their variables: {X}, {Y}, {X, Y}, ... For each group a table says which of
//! its atoms are true for which objects, filled from the facts in one pass; the mask of phi is the union of
//! one row per table. The rows of the objects for the next variable lie side by side, so they are united for
//! all objects at once.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::alphabet::{Action, Alphabet, Pred};
use crate::antichain::{Antichain, subset, unite};
use crate::candidates::candidates;
use crate::facts::Facts;
use crate::rule::{Arg, Literal};
use crate::syntax::Constant;
use crate::universe::{GroundAction, Object, Universe};

/// Grounds states of one alphabet: K by action, with what is needed to find the masks.
#[derive(Clone, Debug)]
pub struct Grounder {
    kinds: Vec<Kind>,
    /// The kind of each action.
    kind_of: Vec<usize>,
    words: usize,
}

/// The masks of one state, for each of its ground actions in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grounding {
    words: usize,
    /// Where the masks of each action start and end in `bits`. Actions with the same masks share them.
    spans: Vec<(u32, u32)>,
    bits: Vec<u64>,
}

impl Grounding {
    /// How many ground actions the state has.
    pub fn actions(&self) -> usize {
        self.spans.len()
    }

    /// How many 64-bit words a mask takes.
    pub fn words(&self) -> usize {
        self.words
    }

    /// How many 64-bit words all masks take. Those that several actions share count once.
    pub fn len(&self) -> usize {
        self.bits.len()
    }

    /// Whether there are no masks: no ground actions.
    pub fn is_empty(&self) -> bool {
        self.bits.is_empty()
    }

    /// The maximal masks of the `a`-th ground action, the fullest first.
    pub fn masks(&self, a: usize) -> impl Iterator<Item = &[u64]> {
        self.flat(a).chunks_exact(self.words)
    }

    /// The maximal masks of the `a`-th ground action, end to end.
    pub fn flat(&self, a: usize) -> &[u64] {
        let (start, end) = self.spans[a];
        &self.bits[start as usize..end as usize]
    }

    /// Whether body `b` derives the `a`-th ground action: it is a subset of one of its masks.
    pub fn derives(&self, a: usize, b: &[u64]) -> bool {
        self.masks(a).any(|mask| subset(b, mask))
    }
}

/// Sees an action by its number, a mask, and the object of each variable by number.
pub type Visit<'v> = dyn FnMut(usize, &[u64], &[usize]) + 'v;

/// Ground actions between two questions whether to stop.
const STOP_EVERY: usize = 64;

impl Grounder {
    /// A grounder for the candidate atoms of each action of the alphabet.
    pub fn new(alphabet: &Alphabet) -> Grounder {
        let mut distinct: Vec<(usize, Vec<Literal>)> = Vec::new();
        let mut kind_of = Vec::new();
        for (a, decl) in alphabet.actions.iter().enumerate() {
            let kind = (decl.args.len(), candidates(alphabet, Action(a as u32)));
            let known = distinct.iter().position(|k| *k == kind);
            kind_of.push(known.unwrap_or(distinct.len()));
            if known.is_none() {
                distinct.push(kind);
            }
        }
        let widest = distinct.iter().map(|(_, atoms)| atoms.len()).max().unwrap_or(0);
        let words = widest.div_ceil(64).max(1);
        let kind = |(arity, atoms)| Kind::new(arity, atoms, alphabet.variables_for(arity), words);
        Grounder { kinds: distinct.into_iter().map(kind).collect(), kind_of, words }
    }

    /// K of an action.
    pub fn atoms(&self, action: Action) -> &[Literal] {
        &self.kinds[self.kind_of[action.0 as usize]].atoms
    }

    /// The kind of an action, from 0: actions of one kind have the same K, and with the same arguments the same masks.
    pub fn kind(&self, action: Action) -> usize {
        self.kind_of[action.0 as usize]
    }

    /// How many kinds of actions there are.
    pub fn kinds(&self) -> usize {
        self.kinds.len()
    }

    /// How many 64-bit words a set of candidate atoms takes: the widest K decides.
    pub fn words(&self) -> usize {
        self.words
    }

    /// The masks of a state. Time grows with n^|V| for n objects, and so may the number of masks; the search
    /// takes memory in n to the power of the largest arity.
    pub fn ground(&self, actions: &[GroundAction], facts: &Facts, universe: &Universe) -> Grounding {
        let grounding = self.ground_unless(actions, facts, universe, &|| false);
        grounding.expect("it is never asked to stop")
    }

    /// The masks of a state; `None` as soon as `stop` says so, which is asked now and then.
    pub fn ground_unless(
        &self,
        actions: &[GroundAction],
        facts: &Facts,
        universe: &Universe,
        stop: &dyn Fn() -> bool,
    ) -> Option<Grounding> {
        let spans = Vec::with_capacity(actions.len());
        let mut grounding = Grounding { words: self.words, spans, bits: Vec::new() };
        let mut searches: Vec<Search<'_>> =
            self.kinds.iter().map(|kind| Search::new(kind, self.words, facts, universe)).collect();
        let mut masks = Antichain::new(self.words);
        // Actions of one kind with the same arguments (say, all nullary ones) have the same masks.
        let mut known: FxHashMap<(usize, &[Object]), (u32, u32)> = FxHashMap::default();
        for (i, action) in actions.iter().enumerate() {
            if i % STOP_EVERY == STOP_EVERY - 1 && stop() {
                return None;
            }
            let kind = self.kind_of[action.action.0 as usize];
            let span = known.entry((kind, &action.args)).or_insert_with(|| {
                let start = grounding.bits.len() as u32;
                searches[kind].collect(&action.args, &mut |mask, _| masks.insert(mask));
                masks.drain(&mut grounding.bits);
                (start, grounding.bits.len() as u32)
            });
            grounding.spans.push(*span);
        }
        Some(grounding)
    }

    /// Shows every substitution of every action, by its number, with its mask and the object of each variable, by number. A variable that
    /// stands for no object has the number of objects. What a choice is about is known only here: masks alone do not tell which
    /// objects they are about.
    pub fn each_substitution(
        &self,
        actions: &[GroundAction],
        facts: &Facts,
        universe: &Universe,
        visit: &mut Visit<'_>,
    ) {
        let mut searches: Vec<Search<'_>> =
            self.kinds.iter().map(|kind| Search::new(kind, self.words, facts, universe)).collect();
        for (i, action) in actions.iter().enumerate() {
            let kind = self.kind_of[action.action.0 as usize];
            searches[kind].collect(&action.args, &mut |mask, phi| visit(i, mask, phi));
        }
    }
}

/// What actions with the same K and the same number of arguments have in common.
#[derive(Clone, Debug)]
struct Kind {
    /// The number of head variables.
    arity: usize,
    /// K.
    atoms: Vec<Literal>,
    /// The atoms that are ground as soon as the head is.
    head: Vec<Group>,
    /// The other atoms, by the variable of V that makes them ground.
    by_variable: Vec<Vec<Group>>,
    /// Every constant in K, with the set of the atoms that mention it.
    named: Vec<(Constant, Vec<u64>)>,
}

/// The atoms of K with the same set of variables.
#[derive(Clone, Debug)]
struct Group {
    /// The variables, ascending.
    variables: Vec<usize>,
    atoms: Vec<Atom>,
}

/// An atom of K, ready to be matched with facts.
#[derive(Clone, Debug)]
struct Atom {
    /// Its number in K.
    bit: usize,
    positive: bool,
    pred: Pred,
    places: Vec<Place>,
}

/// What an argument of an atom asks of the argument of a fact.
#[derive(Clone, Debug)]
enum Place {
    /// A variable for the first time: any object. So many variables of the group come after it.
    First { after: u32 },
    /// A variable again: the object of that place.
    Again { place: usize },
    /// A constant: the object of that name.
    Named(Constant),
}

impl Kind {
    fn new(arity: usize, atoms: Vec<Literal>, variables: usize, words: usize) -> Kind {
        let mut groups: BTreeMap<Vec<usize>, Vec<Atom>> = BTreeMap::new();
        let mut named: BTreeMap<Constant, Vec<u64>> = BTreeMap::new();
        for (bit, literal) in atoms.iter().enumerate() {
            let mut variables: Vec<usize> = literal.vars().map(|v| usize::from(v.0)).collect();
            variables.sort_unstable();
            variables.dedup();
            let place = |(i, arg): (usize, &Arg)| match arg {
                Arg::Const(c) => {
                    named.entry(c.clone()).or_insert_with(|| vec![0; words])[bit / 64] |= 1 << (bit % 64);
                    Place::Named(c.clone())
                }
                Arg::Var(v) => {
                    let after = variables.iter().filter(|&&w| w > usize::from(v.0)).count() as u32;
                    let earlier = literal.args[..i].iter().position(|earlier| earlier == arg);
                    earlier.map_or(Place::First { after }, |place| Place::Again { place })
                }
            };
            let places = literal.args.iter().enumerate().map(place).collect();
            let atom = Atom { bit, positive: literal.positive, pred: literal.pred, places };
            groups.entry(variables).or_default().push(atom);
        }
        let named = named.into_iter().collect();
        let by_variable = vec![Vec::new(); variables];
        let mut kind = Kind { arity, atoms, head: Vec::new(), by_variable, named };
        for (variables, atoms) in groups {
            let last = variables.last().copied().filter(|&v| v >= arity);
            let groups = last.map_or(&mut kind.head, |v| &mut kind.by_variable[v]);
            groups.push(Group { variables, atoms });
        }
        kind
    }
}

/// Which atoms of a group are true for which objects in one state.
///
/// A row is a set of atoms. There is one for every tuple of objects, the last variable changing fastest. The
/// objects are numbered from 0 to n - 1; n stands for no object, and no atom is true of it.
struct Table<'a> {
    variables: &'a [usize],
    rows: Vec<u64>,
}

impl<'a> Table<'a> {
    fn new(group: &'a Group, words: usize, facts: &Facts, universe: &Universe) -> Table<'a> {
        let n = universe.len();
        let count = (n + 1).pow(group.variables.len() as u32);
        let mut rows = vec![0; count * words];
        for atom in &group.atoms {
            let (word, bit) = (atom.bit / 64, 1 << (atom.bit % 64));
            if !atom.positive {
                for row in (0..count).filter(|&row| group.has_objects(row, n)) {
                    rows[row * words + word] |= bit;
                }
            }
            // Each fact that matches makes the atom true, or its negation false.
            for tuple in facts.tuples(atom.pred) {
                if let Some(row) = atom.row(tuple, universe) {
                    rows[row * words + word] ^= bit;
                }
            }
        }
        Table { variables: &group.variables, rows }
    }
}

impl Group {
    /// Whether in that row every variable stands for one of the `n` objects.
    fn has_objects(&self, mut row: usize, n: usize) -> bool {
        self.variables.iter().all(|_| {
            let o = row % (n + 1);
            row /= n + 1;
            o < n
        })
    }
}

impl Atom {
    /// The row in which the atom has these arguments, if it can have them.
    fn row(&self, tuple: &[Object], universe: &Universe) -> Option<usize> {
        let mut row = 0;
        for (place, &o) in self.places.iter().zip(tuple) {
            match place {
                Place::First { after } => row += o.0 as usize * (universe.len() + 1).pow(*after),
                Place::Again { place } if tuple[*place] == o => {}
                Place::Named(name) if universe.name(o) == name => {}
                Place::Again { .. } | Place::Named(_) => return None,
            }
        }
        Some(row)
    }
}

/// The search through all substitutions for the actions of one kind in one state.
struct Search<'a> {
    arity: usize,
    words: usize,
    head: Vec<Table<'a>>,
    by_variable: Vec<Vec<Table<'a>>>,
    /// The objects that K mentions by name, each with the set of the atoms that do.
    named: Vec<(usize, &'a [u64])>,
    /// n.
    objects: usize,
    /// The number of choices for a variable: n, and one more where it may stand for no object.
    choices: usize,
    /// The object of each variable, or n.
    phi: Vec<usize>,
    /// Room for one row per choice, for each variable that is not in the head.
    room: Vec<u64>,
}

impl<'a> Search<'a> {
    fn new(kind: &'a Kind, words: usize, facts: &Facts, universe: &Universe) -> Search<'a> {
        let n = universe.len();
        let variables = kind.by_variable.len();
        let tables = |groups: &'a Vec<Group>| -> Vec<Table<'a>> {
            groups.iter().map(|group| Table::new(group, words, facts, universe)).collect()
        };
        let named: Vec<(usize, &[u64])> = kind
            .named
            .iter()
            .filter_map(|(c, atoms)| Some((universe.find(c)?.0 as usize, &atoms[..])))
            .collect();
        // A body need not use all variables. Where there are enough objects, this does not matter: the others
        // can stand for objects that no term stands for, and the mask is only fuller.
        let enough = n >= variables + named.len();
        Search {
            arity: kind.arity,
            words,
            head: tables(&kind.head),
            by_variable: kind.by_variable.iter().map(tables).collect(),
            named,
            objects: n,
            choices: if enough { n } else { n + 1 },
            phi: vec![n; variables],
            room: vec![0; words * (n + 1) * (variables - kind.arity)],
        }
    }

    /// Shows every substitution in which the head has these arguments: its mask, and the object of each variable.
    fn collect(&mut self, args: &[Object], visit: &mut dyn FnMut(&[u64], &[usize])) {
        for (p, o) in self.phi.iter_mut().zip(args) {
            *p = o.0 as usize;
        }
        let mut mask = vec![0; self.words];
        for table in &self.head {
            let row = self.row(table.variables) * self.words;
            unite(&mut mask, &table.rows[row..row + self.words]);
        }
        let mut room = std::mem::take(&mut self.room);
        self.descend(self.arity, &mut mask, &mut room, visit);
        self.room = room;
    }

    /// Tries every object for variable `v` and those after it, where `mask` is what is true of those before.
    fn descend(
        &mut self,
        v: usize,
        mask: &mut [u64],
        room: &mut [u64],
        visit: &mut dyn FnMut(&[u64], &[usize]),
    ) {
        if v == self.phi.len() {
            // Object identity: what a variable stands for is no object that the body mentions by name.
            for (_, atoms) in self.named.iter().filter(|(o, _)| self.phi.contains(o)) {
                mask.iter_mut().zip(*atoms).for_each(|(m, a)| *m &= !a);
            }
            return visit(mask, &self.phi);
        }
        let width = self.words * (self.objects + 1);
        let (rows, room) = room.split_at_mut(width);
        match self.by_variable[v].split_first() {
            Some((first, others)) => {
                rows.copy_from_slice(self.rows(first, width));
                for table in others {
                    unite(rows, self.rows(table, width));
                }
            }
            None => rows.fill(0),
        }
        for (o, row) in rows.chunks_exact_mut(self.words).enumerate().take(self.choices) {
            // Object identity: distinct variables stand for distinct objects.
            if o == self.objects || !self.phi[..v].contains(&o) {
                self.phi[v] = o;
                unite(row, mask);
                self.descend(v + 1, row, room, visit);
            }
        }
    }

    /// The rows of a table for all objects of its last variable and what those before it stand for.
    fn rows<'t>(&self, table: &'t Table<'_>, width: usize) -> &'t [u64] {
        let before = &table.variables[..table.variables.len() - 1];
        let start = self.row(before) * width;
        &table.rows[start..start + width]
    }

    /// The row of a table for what these variables stand for.
    fn row(&self, variables: &[usize]) -> usize {
        variables.iter().fold(0, |row, &v| row * (self.objects + 1) + self.phi[v])
    }
}
