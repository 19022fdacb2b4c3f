//! The candidate clauses of a template slot: every pair of body atoms that fits it.

use derrl_logic::{Alphabet, Pred, SlotBody, SlotHead, Templates, Type, Var};

use crate::error::Error;

/// A predicate that may stand in a body: of the domain, or invented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Symbol {
    /// Of the domain: its truth is a fact.
    Given(Pred),
    /// Invented, by its place in the templates: its truth is deduced.
    Invented(usize),
}

/// A body atom over the variables of a clause: the head's first, then the existential ones.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BodyAtom {
    /// Its predicate.
    pub symbol: Symbol,
    /// Its variables.
    pub vars: Vec<u8>,
}

/// A slot with its candidates.
#[derive(Clone, Debug)]
pub struct Slot {
    /// What its clause concludes.
    pub head: SlotHead,
    /// The types of the head's arguments.
    pub head_types: Vec<Type>,
    /// How many variables there are beyond those of the head.
    pub existential: usize,
    /// The atoms that occur in candidates.
    pub atoms: Vec<BodyAtom>,
    /// The candidates: two atoms each, the first before the second. Those without invented predicates come first.
    pub clauses: Vec<(u32, u32)>,
    /// How many candidates have no invented predicate.
    pub given: usize,
    /// Where the weights of this slot start in theta.
    pub at: usize,
}

/// The most candidates of all slots together, and atoms of one slot. Larger templates would train for days.
const MOST_CLAUSES: usize = 200_000;
const MOST_ATOMS: usize = 2_000;

/// Every slot of the templates with its candidate clauses.
///
/// A clause has two different body atoms, each variable of its head occurs in them, no variable needs two types that no
/// object has, and its head is not in its own body. Of clauses that differ in the order of the atoms or in the names of
/// the existential variables one is kept.
pub fn slots(alphabet: &Alphabet, templates: &Templates) -> Result<Vec<Slot>, Error> {
    let mut all = Vec::new();
    let mut at = 0;
    for slot in &templates.slots {
        let (name, head_types) = match slot.head {
            SlotHead::Action(a) => (&alphabet.action(a).name, alphabet.action(a).args.clone()),
            SlotHead::Invented(p) => (&templates.invented[p].name, templates.invented[p].args.clone()),
        };
        let draft = Draft { alphabet, templates, head_types: &head_types, existential: slot.existential };
        let too_many = || {
            let indicator = format!("{name}/{}", head_types.len());
            Error::Templates(format!(
                "the templates have too many candidate clauses: give `{indicator}` fewer existential variables"
            ))
        };
        let atoms = draft.atoms(slot.head, slot.body).ok_or_else(too_many)?;
        let mut clauses = draft.pairs(&atoms);
        if clauses.is_empty() {
            return Err(Error::Templates(format!(
                "no clause fits a template of `{name}/{}`: give it more existential variables or predicates",
                head_types.len()
            )));
        }
        if at + clauses.len() > MOST_CLAUSES {
            return Err(too_many());
        }
        let invents = |i: u32| matches!(atoms[i as usize].symbol, Symbol::Invented(_));
        clauses.sort_by_key(|&(i, j)| invents(i) || invents(j));
        let given = clauses.iter().filter(|&&(i, j)| !invents(i) && !invents(j)).count();
        let from = at;
        at += clauses.len();
        all.push(Slot {
            head: slot.head,
            existential: slot.existential,
            atoms,
            clauses,
            given,
            at: from,
            head_types,
        });
    }
    Ok(all)
}

struct Draft<'a> {
    alphabet: &'a Alphabet,
    templates: &'a Templates,
    head_types: &'a [Type],
    existential: usize,
}

impl Draft<'_> {
    fn signature(&self, symbol: Symbol) -> &[Type] {
        match symbol {
            Symbol::Given(p) => &self.alphabet.predicate(p).args,
            Symbol::Invented(p) => &self.templates.invented[p].args,
        }
    }

    /// Every atom that may stand in a body by itself; `None` if they are too many.
    fn atoms(&self, head: SlotHead, body: SlotBody) -> Option<Vec<BodyAtom>> {
        let given = (0..self.alphabet.predicates.len()).map(|p| Symbol::Given(Pred(p as u32)));
        let invented = match body {
            SlotBody::Given => 0,
            SlotBody::Invented => self.templates.invented.len(),
        };
        let forbidden: &[Pred] = match head {
            SlotHead::Action(a) => &self.alphabet.action(a).forbidden,
            SlotHead::Invented(_) => &[],
        };
        let arity = self.head_types.len();
        let variables = arity + self.existential;
        let mut atoms = Vec::new();
        for symbol in given.chain((0..invented).map(Symbol::Invented)) {
            if matches!(symbol, Symbol::Given(p) if forbidden.contains(&p)) {
                continue;
            }
            let places = self.signature(symbol).len();
            let tuples = variables.checked_pow(places as u32).filter(|t| t + atoms.len() <= MOST_ATOMS)?;
            for code in 0..tuples {
                // The digits of the code in base `variables`, the last place changing fastest.
                let digit =
                    |place: usize| (code / variables.pow((places - 1 - place) as u32) % variables) as u8;
                let atom = BodyAtom { symbol, vars: (0..places).map(digit).collect() };
                let is_head = match (head, symbol) {
                    (SlotHead::Invented(h), Symbol::Invented(s)) => {
                        h == s && atom.vars.iter().enumerate().all(|(i, &v)| i == usize::from(v))
                    }
                    _ => false,
                };
                if !is_head && self.well_typed(&[&atom]) {
                    atoms.push(atom);
                }
            }
        }
        Some(atoms)
    }

    /// Whether each variable can have all the types that its places and the head ask of it.
    fn well_typed(&self, atoms: &[&BodyAtom]) -> bool {
        let mut asked: Vec<(u8, Type)> = self.head_types.iter().zip(0..).map(|(&t, v)| (v, t)).collect();
        for atom in atoms {
            for (&v, &place) in atom.vars.iter().zip(self.signature(atom.symbol)) {
                if asked.iter().any(|&(w, t)| w == v && !self.alphabet.types.overlap(t, place)) {
                    return false;
                }
                asked.push((v, place));
            }
        }
        true
    }

    fn pairs(&self, atoms: &[BodyAtom]) -> Vec<(u32, u32)> {
        let renamings = permutations(self.existential);
        let mut clauses = Vec::new();
        for (i, first) in atoms.iter().enumerate() {
            for (j, second) in atoms.iter().enumerate().skip(i + 1) {
                let safe = (0..self.head_types.len() as u8)
                    .all(|v| first.vars.contains(&v) || second.vars.contains(&v));
                if safe && self.well_typed(&[first, second]) && self.is_canonical(first, second, &renamings) {
                    clauses.push((i as u32, j as u32));
                }
            }
        }
        clauses
    }

    /// Whether no renaming of the existential variables gives a clause that comes before this one.
    fn is_canonical(&self, first: &BodyAtom, second: &BodyAtom, renamings: &[Vec<u8>]) -> bool {
        let arity = self.head_types.len();
        let rename = |atom: &BodyAtom, by: &[u8]| {
            let var = |&v: &u8| match usize::from(v).checked_sub(arity) {
                None => v,
                Some(e) => arity as u8 + by[e],
            };
            BodyAtom { symbol: atom.symbol, vars: atom.vars.iter().map(var).collect() }
        };
        renamings.iter().all(|by| {
            let (a, b) = (rename(first, by), rename(second, by));
            let (a, b) = if a <= b { (a, b) } else { (b, a) };
            (first, second) <= (&a, &b)
        })
    }
}

/// All permutations of 0..n.
fn permutations(n: usize) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = vec![Vec::new()];
    for k in 0..n as u8 {
        all = all
            .into_iter()
            .flat_map(|p| {
                (0..=p.len()).map(move |at| {
                    let mut longer = p.clone();
                    longer.insert(at, k);
                    longer
                })
            })
            .collect();
    }
    all
}

impl Slot {
    /// A candidate as text, `move(X, Y) :- top(X), pred(X, Y).`
    pub fn show(&self, clause: usize, alphabet: &Alphabet, templates: &Templates) -> String {
        let apply = |name: &str, vars: &[u8]| {
            let vars: Vec<String> = vars.iter().map(|&v| Var(v).to_string()).collect();
            let name = derrl_logic::syntax::Quoted(name);
            if vars.is_empty() { name.to_string() } else { format!("{name}({})", vars.join(", ")) }
        };
        let head = match self.head {
            SlotHead::Action(a) => &alphabet.action(a).name,
            SlotHead::Invented(p) => &templates.invented[p].name,
        };
        let vars: Vec<u8> = (0..self.head_types.len() as u8).collect();
        let body = |i: u32| {
            let atom = &self.atoms[i as usize];
            match atom.symbol {
                Symbol::Given(p) => apply(&alphabet.predicate(p).name, &atom.vars),
                Symbol::Invented(p) => apply(&templates.invented[p].name, &atom.vars),
            }
        };
        let (i, j) = self.clauses[clause];
        format!("{} :- {}, {}.", apply(head, &vars), body(i), body(j))
    }
}
