//! What a world says in names, as it is said: facts and legal actions.

use std::sync::Arc;

use derrl_logic::{Alphabet, Constant};
use rustc_hash::FxHashMap;

use crate::error::nearest;

/// Names met so far, each with a number.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    numbers: FxHashMap<Arc<str>, u32>,
    texts: Vec<Arc<str>>,
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

/// Ground atoms in names.
#[derive(Clone, Debug)]
pub(super) struct Atoms {
    signatures: Signatures,
    pub names: Names,
    /// Each atom by its predicate or action, and where its arguments end in `args`.
    heads: Vec<(u32, u32)>,
    args: Vec<u32>,
    /// The first thing that was wrong.
    pub wrong: Option<String>,
}

impl Atoms {
    fn new(signatures: Signatures) -> Atoms {
        Atoms { signatures, names: Names::default(), heads: Vec::new(), args: Vec::new(), wrong: None }
    }

    pub fn clear(&mut self) {
        self.heads.clear();
        self.args.clear();
        self.wrong = None;
    }

    fn push(&mut self, name: &str, args: &[&str]) {
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
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[u32])> {
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
    /// Objects by their names and the names of their types.
    pub(super) objects: Vec<(u32, String)>,
}

impl Facts {
    /// Nothing said yet, about the predicates of this alphabet.
    pub fn new(alphabet: &Alphabet) -> Facts {
        let predicates = alphabet.predicates.iter().map(|p| (p.name.as_str(), p.args.len()));
        Facts { atoms: Atoms::new(Signatures::new("predicate", predicates)), objects: Vec::new() }
    }

    /// Says that a fact holds: `say("at", &["ball1", "room2"])`. Names that are written as integers are integers of the
    /// language. The predicate has to be declared in the domain file.
    pub fn say(&mut self, predicate: &str, args: &[&str]) {
        self.atoms.push(predicate, args);
    }

    /// Says that there is an object of a type, which need not be in any fact. An object that is in facts has the most specific
    /// type of the places where it stands.
    pub fn object(&mut self, name: &str, of_type: &str) {
        let number = self.atoms.names.number(name);
        self.objects.push((number, of_type.to_string()));
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
}
