//! What a world says in names, as it is said: facts and legal actions.

use std::sync::Arc;

use derrl_logic::{Alphabet, Constant};
use rustc_hash::FxHashMap;

use crate::error::nearest;

/// The name of an object, by its number. It is known for as long as [`Atoms::era`] stays the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name(u32);

/// A predicate or an action of the domain file, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature(u32);

/// Names met so far, each with a number.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    numbers: FxHashMap<Arc<str>, u32>,
    texts: Vec<Arc<str>>,
    era: u64,
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let (number, text) = (self.texts.len() as u32, Arc::<str>::from(name));
        self.texts.push(Arc::clone(&text));
        self.numbers.insert(text, number);
        number
    }

    /// Forgets all: another era begins.
    pub fn forget(&mut self) {
        *self = Names { era: self.era + 1, ..Names::default() };
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
    pub fn constant(&self, number: u32) -> Constant {
        let text = self.text(number);
        match text.parse::<i64>() {
            Ok(n) if n.to_string() == **text => Constant::Int(n),
            _ => Constant::Name(Arc::clone(text)),
        }
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

    fn find(&self, name: &str, arity: usize) -> Result<u32, String> {
        let known = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
        if let Some(&(_, id)) = known.iter().find(|(a, _)| *a == arity) {
            return Ok(id);
        }
        let mut all: Vec<String> =
            self.by_name.iter().flat_map(|(n, of)| of.iter().map(move |(a, _)| format!("{n}/{a}"))).collect();
        all.sort();
        let help = nearest(&format!("{name}/{arity}"), all.iter().map(String::as_str));
        Err(format!(
            "the world spoke of {} `{name}/{arity}`, which its domain file does not declare{help}",
            self.kind
        ))
    }
}

/// Ground atoms, as a world says them.
///
/// [`Facts::say`] and [`Actions::allow`] look every name up. A world that says the same names at every step may look each up
/// once, by [`Atoms::name`] and [`Atoms::signature`], and say its atoms by [`Atoms::push_known`].
#[derive(Clone, Debug)]
pub struct Atoms {
    signatures: Signatures,
    pub(super) names: Names,
    /// Each atom by its predicate or action, and where its arguments end in `args`.
    heads: Vec<(u32, u32)>,
    args: Vec<u32>,
    /// The first thing that was wrong.
    pub(super) wrong: Option<String>,
}

impl Atoms {
    fn new(signatures: Signatures) -> Atoms {
        Atoms { signatures, names: Names::default(), heads: Vec::new(), args: Vec::new(), wrong: None }
    }

    pub(super) fn clear(&mut self) {
        self.heads.clear();
        self.args.clear();
        self.wrong = None;
    }

    /// In which era names are known: in another one they have to be looked up again.
    pub fn era(&self) -> u64 {
        self.names.era
    }

    /// The name of an object.
    pub fn name(&mut self, text: &str) -> Name {
        Name(self.names.number(text))
    }

    /// The predicate or action of a name and arity; none where the domain file does not declare it.
    pub fn signature(&self, name: &str, arity: usize) -> Option<Signature> {
        self.signatures.find(name, arity).ok().map(Signature)
    }

    /// Says an atom, in names of this era. Their number has to be that of its signature.
    pub fn push_known(&mut self, of: Signature, names: impl IntoIterator<Item = Name>) {
        self.args.extend(names.into_iter().map(|name| name.0));
        self.heads.push((of.0, self.args.len() as u32));
    }

    /// Says an atom in names.
    pub fn push(&mut self, name: &str, args: &[&str]) {
        match self.signatures.find(name, args.len()) {
            Ok(id) => {
                for arg in args {
                    let number = self.names.number(arg);
                    self.args.push(number);
                }
                self.heads.push((id, self.args.len() as u32));
            }
            Err(wrong) => {
                self.wrong.get_or_insert(wrong);
            }
        }
    }

    /// Each atom by its predicate or action, and the numbers of its names.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &[u32])> {
        let mut start = 0;
        self.heads.iter().map(move |&(id, end)| {
            let args = &self.args[start..end as usize];
            start = end as usize;
            (id, args)
        })
    }
}

/// Receives what holds, in names.
#[derive(Clone, Debug)]
pub struct Facts {
    pub(super) atoms: Atoms,
    /// Objects by the numbers of their names and of those of their types.
    pub(super) objects: Vec<(u32, u32)>,
    /// The names of types, in numbers.
    pub(super) types: Names,
}

impl Facts {
    /// Nothing said yet, about the predicates of this alphabet.
    pub fn new(alphabet: &Alphabet) -> Facts {
        let predicates = alphabet.predicates.iter().map(|p| (p.name.as_str(), p.args.len()));
        let atoms = Atoms::new(Signatures::new("predicate", predicates));
        Facts { atoms, objects: Vec::new(), types: Names::default() }
    }

    /// Says that a fact holds: `say("at", &["ball1", "room2"])`. Names that are written as integers are integers of the
    /// language. The predicate has to be declared in the domain file.
    pub fn say(&mut self, predicate: &str, args: &[&str]) {
        self.atoms.push(predicate, args);
    }

    /// Says that there is an object of a type, which need not be in any fact. An object that is in facts has the most specific
    /// type of the places where it stands.
    pub fn object(&mut self, name: &str, of_type: &str) {
        self.objects.push((self.atoms.names.number(name), self.types.number(of_type)));
    }

    /// The same, for names that are looked up once.
    pub fn atoms(&mut self) -> &mut Atoms {
        &mut self.atoms
    }

    pub(super) fn clear(&mut self) {
        self.atoms.clear();
        self.objects.clear();
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
        let actions = alphabet.actions.iter().map(|a| (a.name.as_str(), a.args.len()));
        Actions { atoms: Atoms::new(Signatures::new("action", actions)) }
    }

    /// Says that an action is legal: `allow("pick", &["ball1"])`. The action has to be declared in the domain file. One that
    /// names an object twice is left out: rules give different objects to different variables.
    pub fn allow(&mut self, action: &str, args: &[&str]) {
        self.atoms.push(action, args);
    }

    /// The same, for names that are looked up once.
    pub fn atoms(&mut self) -> &mut Atoms {
        &mut self.atoms
    }
}
