//! Facts and actions between Python tuples and names.
//!
//! A world says the same names, in the same few combinations, at every step. Each atom is read once: the next time, a tuple of
//! the same Python objects is known by their addresses, and another one of the same text by its text.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use rustc_hash::FxHashMap;

/// A name, by its number in a [`Lexicon`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Word(u32);

/// A ground atom, by its number in a [`Lexicon`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtomId(pub u32);

/// What one of the atoms of a state is called.
const FACT: &str = "a fact";

/// Who says atoms, and what they are called: for errors.
#[derive(Clone, Copy)]
pub struct Origin {
    /// How a sentence about all of them begins.
    all: &'static str,
    /// One of them.
    one: &'static str,
    /// Several.
    many: &'static str,
    /// What one looks like.
    example: &'static str,
}

impl Origin {
    /// Facts, where the sentence begins like this.
    pub const fn facts(all: &'static str) -> Origin {
        Origin { all, one: FACT, many: "facts", example: r#"("on", "a", "b")"# }
    }

    /// Actions, where the sentence begins like this.
    pub const fn actions(all: &'static str) -> Origin {
        Origin { all, one: "an action", many: "actions", example: r#"("move", "a", "b")"# }
    }

    fn not_these(self, given: &Bound<'_, PyAny>) -> PyErr {
        let Origin { all, many, example, .. } = self;
        PyTypeError::new_err(format!("{all} a list of {many}, such as [{example}], not {}", shown(given)))
    }

    fn not_one(self, given: &Bound<'_, PyAny>) -> PyErr {
        let Origin { one, example, .. } = self;
        let given = shown(given);
        PyTypeError::new_err(format!(
            "{one} is a tuple of a name and its objects, such as {example}, not {given}"
        ))
    }
}

/// An object as Python writes it, for errors: only the beginning where that is long.
pub fn shown(object: &Bound<'_, PyAny>) -> String {
    const MOST: usize = 200;
    let Ok(text) = object.repr().map(|text| text.to_string_lossy().into_owned()) else {
        return object.get_type().name().map_or_else(|_| "this".to_string(), |kind| format!("this {kind}"));
    };
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// The names and atoms that were said so far.
#[derive(Default)]
pub struct Lexicon {
    /// The atoms looked up last, each in the place that its addresses stand for: most are found here.
    recent: Vec<(Addresses, AtomId)>,
    /// Atoms by the addresses of the objects in their tuples, which are kept alive: else others could have the same ones.
    by_address: FxHashMap<Addresses, AtomId>,
    alive: Vec<Py<PyAny>>,
    by_words: FxHashMap<Box<[Word]>, AtomId>,
    atoms: Vec<Box<[Word]>>,
    by_text: FxHashMap<Box<str>, Word>,
    words: Vec<Entry>,
}

struct Entry {
    text: Box<str>,
    /// What it was said by first: what comes back to the world.
    object: Py<PyAny>,
    /// Whether that is a text, not a number.
    is_text: bool,
}

/// The longest tuples that are known by addresses.
const WIDEST: usize = 4;
/// The addresses of the objects in a tuple; 0 beyond its end.
type Addresses = [usize; WIDEST];
/// Places for atoms looked up recently: a power of two.
const RECENT: usize = 1 << 12;
/// Atoms that are known by addresses, at the most: a world may make new objects at every step.
const MOST_ADDRESSES: usize = 1 << 13;
/// Atoms of one state, at the most, where they are not in a list: something that never ends may give them.
const MOST_SAID: usize = 1 << 20;

impl Lexicon {
    /// The word that an object says: a text or an integer.
    fn word(&mut self, object: &Bound<'_, PyAny>) -> Result<Word, ()> {
        if let Ok(text) = object.cast::<PyString>() {
            Ok(self.named(text.to_str().map_err(|_| ())?, object, true))
        } else if object.is_instance_of::<PyBool>() {
            Err(())
        } else {
            // Whatever is an integer to Python, such as those of numpy: it comes back as Python's own.
            let number: i64 = object.extract().map_err(|_| ())?;
            let own = PyInt::new(object.py(), number).into_any();
            Ok(self.named(&number.to_string(), &own, false))
        }
    }

    fn named(&mut self, text: &str, object: &Bound<'_, PyAny>, is_text: bool) -> Word {
        if let Some(&word) = self.by_text.get(text) {
            return word;
        }
        let word = Word(self.words.len() as u32);
        self.words.push(Entry { text: text.into(), object: object.clone().unbind(), is_text });
        self.by_text.insert(text.into(), word);
        word
    }

    /// The word of an object or of its type; an error where it is neither a text nor an integer.
    pub fn name(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Word> {
        let wrong =
            |()| PyTypeError::new_err(format!("a name is a text or an integer, not {}", shown(object)));
        self.word(object).map_err(wrong)
    }

    /// The text of a word.
    pub fn text(&self, word: Word) -> &str {
        &self.words[word.0 as usize].text
    }

    /// The texts of an atom: its name, and those of its objects.
    pub fn texts<'a>(&'a self, atom: AtomId, into: &mut Vec<&'a str>) {
        into.clear();
        into.extend(self.atoms[atom.0 as usize].iter().map(|&word| self.text(word)));
    }

    /// The atom that a tuple says; a text by itself is an atom without arguments.
    #[inline]
    fn atom(&mut self, atom: &Bound<'_, PyAny>, origin: Origin) -> PyResult<AtomId> {
        let Ok(tuple) = atom.cast_exact::<PyTuple>() else { return self.read(atom, None, origin) };
        let length = tuple.len();
        if length > WIDEST || length == 0 {
            return self.read(atom, None, origin);
        }
        let mut addresses = [0; WIDEST];
        for (at, address) in addresses.iter_mut().enumerate().take(length) {
            *address = tuple.get_borrowed_item(at)?.as_ptr() as usize;
        }
        let place = place(&addresses);
        match self.recent.get(place) {
            Some((of, known)) if *of == addresses => Ok(*known),
            _ => self.look_up(atom, addresses, place, origin),
        }
    }

    /// What a tuple says: an atom, or where its last place holds a float what that number is about, and the number.
    #[inline]
    fn said(&mut self, atom: &Bound<'_, PyAny>, origin: Origin) -> PyResult<(AtomId, Option<f64>)> {
        let Ok(tuple) = atom.cast::<PyTuple>() else { return Ok((self.atom(atom, origin)?, None)) };
        let about = match tuple.len() {
            0 | 1 => return Ok((self.atom(atom, origin)?, None)),
            length => length - 1,
        };
        let Some(value) = float(&*tuple.get_borrowed_item(about)?) else {
            return Ok((self.atom(atom, origin)?, None));
        };
        if origin.one != FACT {
            return Err(origin.not_one(atom));
        }
        let found = self.atom(tuple.get_slice(0, about).as_any(), origin);
        Ok((found.map_err(|_| origin.not_one(atom))?, Some(value)))
    }

    /// An atom that was not looked up recently.
    #[cold]
    fn look_up(
        &mut self,
        atom: &Bound<'_, PyAny>,
        addresses: Addresses,
        place: usize,
        origin: Origin,
    ) -> PyResult<AtomId> {
        let Some(&known) = self.by_address.get(&addresses) else {
            return self.read(atom, Some(addresses), origin);
        };
        self.recent.resize(RECENT, ([0; WIDEST], AtomId(0)));
        self.recent[place] = (addresses, known);
        Ok(known)
    }

    #[cold]
    fn read(
        &mut self,
        atom: &Bound<'_, PyAny>,
        addresses: Option<Addresses>,
        origin: Origin,
    ) -> PyResult<AtomId> {
        let mut words = Vec::new();
        let read = if let Ok(text) = atom.cast::<PyString>() {
            // `"red(o0)"` is meant as a tuple, and would be taken for a proposition of that name.
            let plain = text.to_str().is_ok_and(|text| !text.contains('('));
            if plain { self.word(atom).map(|word| words.push(word)) } else { Err(()) }
        } else if atom.is_instance_of::<PyTuple>() || atom.is_instance_of::<PyList>() {
            let mut read = Ok(());
            for name in atom.try_iter()? {
                read = read.and(self.word(&name?).map(|word| words.push(word)));
            }
            read
        } else {
            Err(()) // a set, say, whose order means nothing
        };
        if read.is_err() || !words.first().is_some_and(|word| self.words[word.0 as usize].is_text) {
            return Err(origin.not_one(atom));
        }
        let known = if let Some(&known) = self.by_words.get(&words[..]) {
            known
        } else {
            let known = AtomId(self.atoms.len() as u32);
            self.atoms.push(words[..].into());
            self.by_words.insert(words.into(), known);
            known
        };
        if let Some(addresses) = addresses.filter(|_| self.by_address.len() < MOST_ADDRESSES) {
            for object in atom.try_iter()? {
                self.alive.push(object?.unbind());
            }
            self.by_address.insert(addresses, known);
        }
        Ok(known)
    }

    /// The tuple of an action: each name as the world said it, or else as text.
    pub fn tuple<'py>(&self, py: Python<'py>, name: &str, args: &[&str]) -> PyResult<Bound<'py, PyTuple>> {
        let object = |text: &str| match self.by_text.get(text) {
            Some(&word) => self.words[word.0 as usize].object.bind(py).clone(),
            None => PyString::intern(py, text).into_any(),
        };
        match args {
            [] => PyTuple::new(py, [object(name)]),
            [one] => PyTuple::new(py, [object(name), object(one)]),
            [one, two] => PyTuple::new(py, [object(name), object(one), object(two)]),
            _ => {
                let all = std::iter::once(&name).chain(args).map(|name| object(name));
                PyTuple::new(py, all.collect::<Vec<_>>())
            }
        }
    }

    /// The same names and atoms.
    pub fn clone_ref(&self, py: Python<'_>) -> Lexicon {
        let entry =
            |e: &Entry| Entry { text: e.text.clone(), object: e.object.clone_ref(py), is_text: e.is_text };
        Lexicon {
            recent: Vec::new(),
            by_address: self.by_address.clone(),
            alive: self.alive.iter().map(|object| object.clone_ref(py)).collect(),
            by_words: self.by_words.clone(),
            atoms: self.atoms.clone(),
            by_text: self.by_text.clone(),
            words: self.words.iter().map(entry).collect(),
        }
    }

    /// Forgets all, where there is too much of it, and says whether it did. What it gave is void afterwards.
    pub fn trim(&mut self, most: usize) -> bool {
        let full = self.words.len() + self.atoms.len() > most;
        if full {
            *self = Lexicon::default();
        }
        full
    }
}

/// The number that an object is where it is a float, of Python or numpy; names are texts and integers.
#[inline]
fn float(object: &Bound<'_, PyAny>) -> Option<f64> {
    if let Ok(float) = object.cast::<PyFloat>() {
        return Some(float.value());
    }
    if object.is_instance_of::<PyString>() || object.is_instance_of::<PyInt>() {
        return None;
    }
    // What has an index is an integer to Python.
    if object.hasattr("__index__").unwrap_or(true) && object.extract::<i64>().is_ok() {
        return None;
    }
    object.extract().ok()
}

/// The place of some addresses among those looked up recently.
#[inline]
fn place(addresses: &Addresses) -> usize {
    let mix = |hash: u64, &address: &usize| {
        (hash.rotate_left(5) ^ address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    };
    (addresses.iter().fold(0, mix) >> 52) as usize % RECENT
}

/// Ground atoms that were said, in order.
#[derive(Clone, Debug, Default)]
pub struct Atoms {
    atoms: Vec<AtomId>,
    /// Numbers, with what they are about.
    numbers: Vec<(AtomId, f64)>,
}

impl Atoms {
    pub fn clear(&mut self) {
        self.atoms.clear();
        self.numbers.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.atoms.is_empty() && self.numbers.is_empty()
    }

    #[inline]
    fn push(&mut self, (atom, value): (AtomId, Option<f64>)) {
        match value {
            None => self.atoms.push(atom),
            Some(value) => self.numbers.push((atom, value)),
        }
    }

    /// Adds atoms from an iterable of tuples `("on", "a", "b")`, and numbers `("queue", "p1", 7.0)`.
    pub fn read(&mut self, lexicon: &mut Lexicon, atoms: &Bound<'_, PyAny>, origin: Origin) -> PyResult<()> {
        if let Ok(list) = atoms.cast_exact::<PyList>() {
            for atom in list.iter() {
                self.push(lexicon.said(&atom, origin)?);
            }
            return Ok(());
        }
        // A text and a dict can be iterated, too, but not as what they mean.
        if atoms.is_instance_of::<PyString>() || atoms.is_instance_of::<PyDict>() {
            return Err(origin.not_these(atoms));
        }
        for (said, atom) in atoms.try_iter().map_err(|_| origin.not_these(atoms))?.enumerate() {
            if said == MOST_SAID {
                return Err(PyTypeError::new_err(format!(
                    "{} a list of {}: here are more than {MOST_SAID}, from {}",
                    origin.all,
                    origin.many,
                    shown(atoms)
                )));
            }
            self.push(lexicon.said(&atom?, origin)?);
        }
        Ok(())
    }

    /// Adds one atom.
    pub fn read_one(
        &mut self,
        lexicon: &mut Lexicon,
        atom: &Bound<'_, PyAny>,
        origin: Origin,
    ) -> PyResult<()> {
        self.push(lexicon.said(atom, origin)?);
        Ok(())
    }

    /// The atoms.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = AtomId> {
        self.atoms.iter().copied()
    }

    /// The numbers, with what they are about.
    #[inline]
    pub fn numbers(&self) -> impl Iterator<Item = (AtomId, f64)> {
        self.numbers.iter().copied()
    }

    /// Gives each number as the name of its measure and those of its objects, as text.
    pub fn each_number(&self, lexicon: &Lexicon, mut take: impl FnMut(&str, &[&str], f64)) {
        let mut texts = Vec::new();
        for (atom, value) in self.numbers() {
            lexicon.texts(atom, &mut texts);
            take(texts[0], &texts[1..], value);
        }
    }

    /// Gives each atom as its name and those of its objects, as text.
    pub fn each(&self, lexicon: &Lexicon, mut take: impl FnMut(&str, &[&str])) {
        let mut texts = Vec::new();
        for atom in self.iter() {
            lexicon.texts(atom, &mut texts);
            take(texts[0], &texts[1..]);
        }
    }
}
