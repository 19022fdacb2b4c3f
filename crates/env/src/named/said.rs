//! What a world says in names, as it is said: facts and legal actions.

use std::sync::Arc;

use derrl_logic::{Alphabet, Constant, Type};
use rustc_hash::FxHashMap;

use crate::error::nearest;

/// A ground atom that was said before, by its number. It is known for as long as [`Atoms::era`] stays the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atom(u32);

/// Names met so far, each with a number.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    numbers: FxHashMap<Arc<str>, u32>,
    texts: Vec<Arc<str>>,
    constants: Vec<Constant>,
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let (number, text) = (self.texts.len() as u32, Arc::<str>::from(name));
        self.constants.push(match text.parse::<i64>() {
            Ok(n) if n.to_string() == *text => Constant::Int(n),
            _ => Constant::Name(Arc::clone(&text)),
        });
        self.texts.push(Arc::clone(&text));
        self.numbers.insert(text, number);
        number
    }

    /// The name of a number, as the world says it.
    pub fn text(&self, number: u32) -> &Arc<str> {
        &self.texts[number as usize]
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// The constant of a number: an integer where the name is one.
    pub fn constant(&self, number: u32) -> &Constant {
        &self.constants[number as usize]
    }
}

/// Predicates, or actions, by name and arity.
#[derive(Clone, Debug)]
struct Signatures {
    kind: &'static str,
    by_name: FxHashMap<String, Vec<(usize, u32)>>,
}

impl Signatures {
    fn new<'a>(kind: &'static str, all: impl Iterator<Item = (&'a str, usize)>) -> Signatures {
        let mut by_name: FxHashMap<String, Vec<(usize, u32)>> = FxHashMap::default();
        for ((name, arity), id) in all.zip(0..) {
            by_name.entry(name.to_string()).or_default().push((arity, id));
        }
        Signatures { kind, by_name }
    }

    fn find(&self, name: &str, args: &[&str]) -> Result<u32, String> {
        let arity = args.len();
        let known = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
        if let Some(&(_, id)) = known.iter().find(|(a, _)| *a == arity) {
            return Ok(id);
        }
        let mut all: Vec<String> =
            self.by_name.iter().flat_map(|(n, of)| of.iter().map(move |(a, _)| format!("{n}/{a}"))).collect();
        all.sort();
        let help = nearest(&format!("{name}/{arity}"), all.iter().map(String::as_str));
        let sample =
            if args.is_empty() { String::new() } else { format!(", as in `{name}({})`", args.join(", ")) };
        Err(format!(
            "the world spoke of {} `{name}/{arity}`{sample}, which its domain file does not declare{help}",
            self.kind
        ))
    }
}

/// Ground atoms, as a world says them.
///
/// [`Facts::say`] and [`Actions::allow`] look every name up. A world that says the same atoms again and again may look each up
/// once, by [`Atoms::find`], and say it by [`Atoms::push`].
#[derive(Clone, Debug)]
pub struct Atoms {
    signatures: Signatures,
    /// Facts and actions number names alike: who says something has these.
    pub(super) names: Names,
    /// The atoms met so far, by their predicate or action and the numbers of their names.
    numbers: FxHashMap<Box<[u32]>, u32>,
    met: Vec<MetAtom>,
    era: u64,
    /// What is said now, by the numbers of atoms.
    pub(super) now: Vec<u32>,
    /// The first thing that was wrong.
    pub(super) wrong: Option<String>,
    key: Vec<u32>,
}

/// An atom that was met.
#[derive(Clone, Debug)]
pub(super) struct MetAtom {
    /// Its predicate or action, by its place in the world's own alphabet.
    pub of: u32,
    /// The numbers of its names.
    pub args: Box<[u32]>,
    /// A number for it that depends on its text alone.
    pub hash: u128,
    /// Whether no object is named twice.
    pub distinct: bool,
}

impl Atoms {
    fn new(signatures: Signatures) -> Atoms {
        Atoms {
            signatures,
            names: Names::default(),
            numbers: FxHashMap::default(),
            met: Vec::new(),
            era: 0,
            now: Vec::new(),
            wrong: None,
            key: Vec::new(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.now.clear();
        self.wrong = None;
    }

    /// Forgets all names and atoms: another era begins.
    pub(super) fn forget(&mut self) {
        self.names = Names::default();
        self.numbers.clear();
        self.met.clear();
        self.now.clear();
        self.era += 1;
    }

    /// How many names and atoms are kept.
    pub(super) fn kept(&self) -> usize {
        self.names.len() + self.met.len()
    }

    /// How many atoms were met.
    pub(super) fn known(&self) -> usize {
        self.met.len()
    }

    /// An atom by its number.
    pub(super) fn met(&self, number: u32) -> &MetAtom {
        &self.met[number as usize]
    }

    /// What is said now.
    pub(super) fn iter(&self) -> impl Iterator<Item = &MetAtom> {
        self.now.iter().map(|&number| self.met(number))
    }

    /// In which era atoms are known: in another one they have to be looked up again.
    pub fn era(&self) -> u64 {
        self.era
    }

    /// An atom by its predicate or action and the names of its objects. Where the domain file does not declare it, nothing, and
    /// the episode ends with an error that says so.
    pub fn find(&mut self, name: &str, args: &[&str]) -> Option<Atom> {
        let of = match self.signatures.find(name, args) {
            Ok(id) => id,
            Err(wrong) => {
                self.wrong.get_or_insert(wrong);
                return None;
            }
        };
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        key.push(of);
        key.extend(args.iter().map(|arg| self.names.number(arg)));
        let number = if let Some(&number) = self.numbers.get(&key[..]) {
            number
        } else {
            let number = self.met.len() as u32;
            let args_of = key[1..].into();
            let distinct = (1..args.len()).all(|i| !args[..i].contains(&args[i]));
            let hash = hash(self.signatures.kind, of, args);
            self.met.push(MetAtom { of, args: args_of, hash, distinct });
            self.numbers.insert(key[..].into(), number);
            number
        };
        self.key = key;
        Some(Atom(number))
    }

    /// Says an atom that was found in this era.
    #[inline]
    pub fn push(&mut self, atom: Atom) {
        self.now.push(atom.0);
    }
}

/// A number for what a number is about and the number itself.
pub(super) fn hash_number(of: u128, value: f64) -> u128 {
    // There is one zero.
    let hash =
        (of ^ u128::from((value + 0.0).to_bits())).wrapping_mul(0xda94_2042_e4dd_58b5_94d0_49bb_1331_11eb);
    (hash ^ hash >> 67).wrapping_mul(0xda94_2042_e4dd_58b5_94d0_49bb_1331_11eb)
}

/// A number for a fact or an action: 128 bits, which depend on its text alone.
fn hash(kind: &str, of: u32, args: &[&str]) -> u128 {
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    let mut mix = |word: u64| {
        hash = (hash ^ u128::from(word)).wrapping_mul(0xda94_2042_e4dd_58b5_94d0_49bb_1331_11eb);
        hash ^= hash >> 67;
    };
    mix((kind.len() as u64) << 32 | u64::from(of));
    for arg in args {
        mix(1 << 32 | arg.len() as u64);
        arg.bytes().for_each(|byte| mix(u64::from(byte)));
    }
    hash
}

/// Receives what holds, in names.
#[derive(Clone, Debug)]
pub struct Facts {
    pub(super) atoms: Atoms,
    /// What numbers are about.
    pub(super) numbers: Atoms,
    /// The numbers, one for each of those said now.
    pub(super) values: Vec<f64>,
    /// Objects by the numbers of their names and of those of their types.
    pub(super) objects: Vec<(u32, u32)>,
    /// The names of types, in numbers: first those of the world's own alphabet.
    pub(super) types: Names,
    declared: usize,
}

impl Facts {
    /// Nothing said yet, about the predicates of this alphabet.
    pub fn new(alphabet: &Alphabet) -> Facts {
        let predicates = alphabet.predicates.iter().map(|p| (p.name.as_str(), p.args.len()));
        let atoms = Atoms::new(Signatures::new("predicate", predicates));
        let measures = alphabet.measures.iter().map(|m| (m.name.as_str(), m.args.len()));
        let numbers = Atoms::new(Signatures::new("number", measures));
        let mut types = Names::default();
        for of_type in 0..alphabet.types.len() as u32 {
            types.number(alphabet.types.name(Type(of_type)));
        }
        let declared = types.len();
        Facts { atoms, numbers, values: Vec::new(), objects: Vec::new(), types, declared }
    }

    /// Says that a fact holds: `say("at", &["ball1", "room2"])`. Names that are written as integers are integers of the
    /// language. The predicate has to be declared in the domain file.
    pub fn say(&mut self, predicate: &str, args: &[&str]) {
        if let Some(atom) = self.atoms.find(predicate, args) {
            self.atoms.push(atom);
        }
    }

    /// Says what a measure is: `number("queue", &["p1"], 7.0)`. It has to be declared in the domain file, and the number finite: what is not
    /// known is left out.
    pub fn number(&mut self, measure: &str, args: &[&str], value: f64) {
        if let Some(atom) = self.find_number(measure, args) {
            if !value.is_finite() {
                let of = if args.is_empty() { String::new() } else { format!("({})", args.join(", ")) };
                let what = if value.is_nan() { "not a number" } else { "infinite" };
                let wrong = format!(
                    "the world reports that `{measure}{of}` is {what}; report finite numbers, and leave out what is not known"
                );
                self.atoms.wrong.get_or_insert(wrong);
            }
            self.push_number(atom, value);
        }
    }

    /// What a number is about, for worlds that look each up once: a measure and the names of its objects. See [`Atoms::find`].
    pub fn find_number(&mut self, measure: &str, args: &[&str]) -> Option<Atom> {
        // Facts and numbers number names alike.
        std::mem::swap(&mut self.numbers.names, &mut self.atoms.names);
        let found = self.numbers.find(measure, args);
        std::mem::swap(&mut self.numbers.names, &mut self.atoms.names);
        if let Some(wrong) = self.numbers.wrong.take() {
            self.atoms.wrong.get_or_insert(wrong);
        }
        found
    }

    /// Whether the domain file declares a measure of that name and arity, and no predicate with a place more: then the last name of such an
    /// atom is a number.
    pub fn is_number(&self, name: &str, arity: usize) -> bool {
        let declares = |atoms: &Atoms, arity| {
            let known = atoms.signatures.by_name.get(name);
            known.is_some_and(|known| known.iter().any(|(a, _)| *a == arity))
        };
        declares(&self.numbers, arity) && !declares(&self.atoms, arity + 1)
    }

    /// Says a finite number of what was found in this era.
    #[inline]
    pub fn push_number(&mut self, of: Atom, value: f64) {
        self.numbers.push(of);
        self.values.push(value);
    }

    /// Says that there is an object of a type, which need not be in any fact. An object that is in facts has the most specific
    /// type of the places where it stands. The type has to be in the domain file, if that has types.
    pub fn object(&mut self, name: &str, of_type: &str) {
        let number = self.types.number(of_type);
        // Without types in the domain file there is one, that of anything.
        if number as usize >= self.declared && self.declared > 1 {
            let known = self.types.texts[..self.declared].iter().map(|text| &**text);
            let help = nearest(of_type, known);
            let wrong = format!(
                "object `{name}` is said to be a `{of_type}`, a type that its domain file does not name{help}"
            );
            self.atoms.wrong.get_or_insert(wrong);
        }
        self.objects.push((self.atoms.names.number(name), number));
    }

    /// The facts as atoms, for worlds that look each up once.
    pub fn atoms(&mut self) -> &mut Atoms {
        &mut self.atoms
    }

    pub(super) fn clear(&mut self) {
        self.atoms.clear();
        self.numbers.clear();
        self.values.clear();
        self.objects.clear();
    }

    /// Forgets all names: another era begins.
    pub(super) fn forget(&mut self) {
        self.atoms.forget();
        self.numbers.forget();
        self.values.clear();
    }

    /// How many names and atoms are kept.
    pub(super) fn kept(&self) -> usize {
        self.atoms.kept() + self.numbers.known()
    }
}

/// Receives the legal actions, in names.
#[derive(Clone, Debug)]
pub struct Actions {
    pub(super) atoms: Atoms,
}

impl Actions {
    /// No action yet, of those of this alphabet.
    pub fn new(alphabet: &Alphabet) -> Actions {
        // Those with equal arguments come last, and a world says them like all others.
        let whole = alphabet.actions.iter().filter(|a| !a.repeats());
        let actions = whole.map(|a| (a.name.as_str(), a.arity()));
        Actions { atoms: Atoms::new(Signatures::new("action", actions)) }
    }

    /// Says that an action is legal: `allow("pick", &["ball1"])`. The action has to be declared in the domain file. One that
    /// names an object twice is left out, unless it is declared with equal arguments (`:- action(send(X, Y, X)).`): rules give
    /// different objects to different variables.
    pub fn allow(&mut self, action: &str, args: &[&str]) {
        if let Some(atom) = self.atoms.find(action, args) {
            self.atoms.push(atom);
        }
    }

    /// The actions as atoms, for worlds that look each up once.
    pub fn atoms(&mut self) -> &mut Atoms {
        &mut self.atoms
    }
}
