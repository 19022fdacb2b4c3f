//! Grounding a state: for every ground action the maximal sets of candidate atoms that hold together.
//!
//! For a substitution phi, the *mask* is the subset of K that is true under it. A body b derives the action
//! iff b is a subset of some mask. Masks depend on the state alone, not on what is learned, so a state is
//! grounded once and every later inference is a few bit operations.

use crate::alphabet::{Action, Alphabet};
use crate::candidates::candidates;
use crate::facts::Facts;
use crate::rule::{Arg, Literal};
use crate::universe::{GroundAction, Object, Universe};

/// Grounds states of one alphabet: K by action, with what is needed to find the masks.
#[derive(Clone, Debug)]
pub struct Grounder {
    atoms: Vec<Vec<Literal>>,
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

    /// The masks of a state. Time grows with n^|V| for n objects.
    pub fn ground(&self, actions: &[GroundAction], facts: &Facts, universe: &Universe) -> Grounding {
        let mut grounding = Grounding { words: self.words, first: vec![0], bits: Vec::new() };
        let mut tables: Vec<(usize, Tables)> = Vec::new();
        for (i, action) in actions.iter().enumerate() {
            let k = action.action.0 as usize;
            let same_atoms = |other: usize| self.atoms[other] == self.atoms[k];
            // Actions with the same arguments and the same K (say, all nullary ones) have the same masks.
            let twin = (0..i).rev().take(self.atoms.len()).find(|&j| {
                actions[j].args == action.args && same_atoms(actions[j].action.0 as usize)
            });
            if let Some(twin) = twin {
                let masks = grounding.flat(twin).to_vec();
                grounding.bits.extend(masks);
            } else {
                let known = tables.iter().position(|&(other, _)| same_atoms(other)).unwrap_or_else(|| {
                    tables.push((k, Tables::new(self, k, facts, universe)));
                    tables.len() - 1
                });
                let mut search = Search::new(&tables[known].1, facts);
                search.bind_head(&action.args);
                search.descend(action.args.len());
                search.maximal.append_to(&mut grounding.bits);
            }
            grounding.first.push((grounding.bits.len() / self.words) as u32);
        }
        grounding
    }
}

/// For one K and one state: which atoms hold, by what their variables stand for.
struct Tables<'a> {
    words: usize,
    variables: usize,
    objects: usize,
    /// The atoms without variables that hold.
    ground: Vec<u64>,
    /// `one[v]`: for each object, the atoms of variable v alone that hold if v stands for it. Empty if K has none.
    one: Vec<Vec<u64>>,
    /// `two[v * variables + u]`, u < v: for each object of u and each of v, the atoms of these two that hold.
    two: Vec<Vec<u64>>,
    /// `many[v]`: the atoms of three or more variables, v the last: looked up one by one.
    many: Vec<Vec<(usize, &'a Literal)>>,
    /// The objects that atoms of K mention by name, each with the set of those atoms.
    named: Vec<(Object, Vec<u64>)>,
    universe: &'a Universe,
}

/// Tables of more entries than this are not made (32 MiB a pair of variables); their atoms are looked up one by one.
const MOST_ENTRIES: usize = 1 << 22;

impl<'a> Tables<'a> {
    fn new(grounder: &'a Grounder, action: usize, facts: &Facts, universe: &'a Universe) -> Tables<'a> {
        let (words, variables, objects) = (grounder.words, grounder.variables, universe.len());
        let mut tables = Tables {
            words,
            variables,
            objects,
            ground: vec![0; words],
            one: vec![Vec::new(); variables],
            two: vec![Vec::new(); variables * variables],
            many: vec![Vec::new(); variables],
            named: Vec::new(),
            universe,
        };
        for (bit, literal) in grounder.atoms[action].iter().enumerate() {
            for arg in &literal.args {
                if let Arg::Const(c) = arg
                    && let Some(o) = universe.find(c)
                {
                    tables.name(o, bit);
                }
            }
            let mut vars: Vec<usize> = literal.vars().map(|v| v.0 as usize).collect();
            vars.sort_unstable();
            vars.dedup();
            let entries = u32::try_from(vars.len()).ok().and_then(|k| objects.checked_pow(k));
            if vars.len() > 2 || entries.is_none_or(|n| n.saturating_mul(words) > MOST_ENTRIES) {
                tables.many[vars[vars.len() - 1]].push((bit, literal));
            } else {
                tables.fill(bit, literal, &vars, facts);
            }
        }
        tables
    }

    fn name(&mut self, o: Object, bit: usize) {
        let at = self.named.iter().position(|(n, _)| *n == o).unwrap_or_else(|| {
            self.named.push((o, vec![0; self.words]));
            self.named.len() - 1
        });
        self.named[at].1[bit / 64] |= 1 << (bit % 64);
    }

    /// Enters an atom of at most two variables: a positive one where a fact says so, a negated one everywhere else.
    fn fill(&mut self, bit: usize, literal: &Literal, vars: &[usize], facts: &Facts) {
        let (words, objects) = (self.words, self.objects);
        let table = match *vars {
            [] => &mut self.ground,
            [v] => &mut self.one[v],
            [u, v, ..] => &mut self.two[v * self.variables + u],
        };
        let entries = objects.pow(vars.len() as u32);
        table.resize(entries * words, 0);
        let (word, flag) = (bit / 64, 1u64 << (bit % 64));
        if !literal.positive {
            (0..entries).for_each(|e| table[e * words + word] |= flag);
        }
        for tuple in facts.tuples(literal.pred) {
            let mut stands_for = [None; 2];
            let matches = literal.args.iter().zip(tuple).all(|(arg, &o)| match arg {
                Arg::Const(c) => self.universe.find(c) == Some(o),
                Arg::Var(v) => {
                    let place = &mut stands_for[usize::from(usize::from(v.0) != vars[0])];
                    *place.get_or_insert(o) == o
                }
            });
            if matches {
                let entry = stands_for.iter().flatten().fold(0, |at, o| at * objects + o.0 as usize);
                table[entry * words + word] ^= flag; // in for a positive atom, out for a negated one
            }
        }
    }
}

struct Search<'a> {
    tables: &'a Tables<'a>,
    facts: &'a Facts,
    phi: Vec<Option<Object>>,
    /// The mask of each number of variables bound, end to end.
    masks: Vec<u64>,
    scratch: Vec<Object>,
    maximal: Maximal,
}

impl<'a> Search<'a> {
    fn new(tables: &'a Tables<'a>, facts: &'a Facts) -> Search<'a> {
        let mut masks = vec![0; (tables.variables + 1) * tables.words];
        masks[..tables.words].copy_from_slice(&tables.ground);
        Search {
            tables,
            facts,
            phi: vec![None; tables.variables],
            masks,
            scratch: Vec::new(),
            maximal: Maximal::new(tables.words),
        }
    }

    fn bind_head(&mut self, args: &[Object]) {
        for (v, &o) in args.iter().enumerate() {
            self.phi[v] = Some(o);
            self.extend(v);
        }
    }

    /// The mask with variables 0..=v bound, from that of 0..v: adds the atoms whose last variable is v.
    #[inline]
    fn extend(&mut self, v: usize) {
        let tables = self.tables;
        let words = tables.words;
        let (from, to) = (v * words, (v + 1) * words);
        self.masks.copy_within(from..to, to);
        let Some(o) = self.phi[v] else { return };
        let add = |mask: &mut [u64], table: &[u64], entry: usize| {
            if !table.is_empty() {
                mask.iter_mut().zip(&table[entry * words..(entry + 1) * words]).for_each(|(m, t)| *m |= t);
            }
        };
        let mask = &mut self.masks[to..to + words];
        add(mask, &tables.one[v], o.0 as usize);
        for u in 0..v {
            if let Some(p) = self.phi[u] {
                let entry = p.0 as usize * tables.objects + o.0 as usize;
                add(mask, &tables.two[v * tables.variables + u], entry);
            }
        }
        for &(bit, literal) in &tables.many[v] {
            if literal.vars().any(|u| self.phi[u.0 as usize].is_none()) {
                continue;
            }
            self.scratch.clear();
            self.scratch.extend(literal.args.iter().filter_map(|arg| match arg {
                Arg::Var(u) => self.phi[u.0 as usize],
                Arg::Const(c) => tables.universe.find(c),
            }));
            // An atom about an object that this universe lacks never holds, its negation does.
            let known = self.scratch.len() == literal.args.len();
            if (known && self.facts.holds(literal.pred, &self.scratch)) == literal.positive {
                mask[bit / 64] |= 1 << (bit % 64);
            }
        }
    }

    fn descend(&mut self, v: usize) {
        let tables = self.tables;
        if v == self.phi.len() {
            let from = v * tables.words;
            // Object identity: what a variable stands for is no object that a body mentions by name.
            for (o, atoms) in &tables.named {
                if self.phi.contains(&Some(*o)) {
                    self.masks[from..].iter_mut().zip(atoms).for_each(|(m, a)| *m &= !a);
                }
            }
            return self.maximal.add(&self.masks[from..]);
        }
        let mut any = false;
        for o in (0..tables.objects as u32).map(Object) {
            if self.phi[..v].contains(&Some(o)) {
                continue;
            }
            any = true;
            self.phi[v] = Some(o);
            self.extend(v);
            self.descend(v + 1);
        }
        self.phi[v] = None;
        // With no object left for a variable, rules that do not use it can still fire.
        if !any || !tables.named.is_empty() {
            self.extend(v);
            self.descend(v + 1);
        }
    }
}

/// The masks seen so far that are no subset of another one, each once.
struct Maximal {
    words: usize,
    masks: Vec<u64>,
    /// Where the last mask was found to be a subset: neighbouring substitutions often are, of the same one.
    last: usize,
}

impl Maximal {
    fn new(words: usize) -> Maximal {
        Maximal { words, masks: Vec::new(), last: 0 }
    }

    #[inline]
    fn add(&mut self, mask: &[u64]) {
        let kept = |i: usize, masks: &[u64]| subset(mask, &masks[i * self.words..(i + 1) * self.words]);
        let n = self.masks.len() / self.words;
        if self.last < n && kept(self.last, &self.masks) {
            return;
        }
        if let Some(i) = (0..n).find(|&i| kept(i, &self.masks)) {
            self.last = i;
            return;
        }
        let mut to = 0;
        for i in 0..n {
            let (from, end) = (i * self.words, (i + 1) * self.words);
            if !subset(&self.masks[from..end], mask) {
                self.masks.copy_within(from..end, to);
                to += self.words;
            }
        }
        self.masks.truncate(to);
        self.masks.extend_from_slice(mask);
        self.last = to / self.words;
    }

    /// Appends the masks to `out`, the fullest first.
    fn append_to(&self, out: &mut Vec<u64>) {
        let mut masks: Vec<&[u64]> = self.masks.chunks_exact(self.words).collect();
        masks.sort_by_key(|m| std::cmp::Reverse(m.iter().map(|w| w.count_ones()).sum::<u32>()));
        masks.into_iter().for_each(|m| out.extend_from_slice(m));
    }
}
