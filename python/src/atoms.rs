//! Facts and actions between Python tuples and names.
//!
//! A world says the same few names at every step. Each is read once: the next time, the same Python object is known by its
//! address, and another one of the same text by its text.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyString, PyTuple};
use rustc_hash::FxHashMap;

/// A name, by its number in a [`Lexicon`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Word(pub u32);

/// The names that were said so far.
#[derive(Default)]
pub struct Lexicon {
    /// By the addresses of objects, which are kept alive: else another object could have the same one.
    by_address: FxHashMap<usize, Word>,
    alive: Vec<Py<PyAny>>,
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

/// Objects that are known by their address, at the most: a world may make new ones at every step.
const MOST_ADDRESSES: usize = 1 << 12;

impl Lexicon {
    /// The word that an object says: a text or an integer.
    fn word(&mut self, object: &Bound<'_, PyAny>) -> Result<Word, ()> {
        let address = object.as_ptr() as usize;
        if let Some(&word) = self.by_address.get(&address) {
            return Ok(word);
        }
        let word = if let Ok(text) = object.cast::<PyString>() {
            self.named(text.to_str().map_err(|_| ())?, object, true)
        } else if object.is_instance_of::<PyBool>() {
            return Err(());
        } else {
            // Whatever is an integer to Python, such as those of numpy: it comes back as Python's own.
            let number: i64 = object.extract().map_err(|_| ())?;
            let own = PyInt::new(object.py(), number).into_any();
            self.named(&number.to_string(), &own, false)
        };
        if self.alive.len() < MOST_ADDRESSES {
            self.alive.push(object.clone().unbind());
            self.by_address.insert(address, word);
        }
        Ok(word)
    }

    /// The word of an object or of its type; an error where it is neither a text nor an integer.
    pub fn name(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Word> {
        let wrong = |()| match object.repr() {
            Ok(text) => PyTypeError::new_err(format!("a name is a text or an integer, not {text}")),
            Err(error) => error,
        };
        self.word(object).map_err(wrong)
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

    /// The text of a word.
    pub fn text(&self, word: Word) -> &str {
        &self.words[word.0 as usize].text
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
                PyTuple::new(py, std::iter::once(&name).chain(args).map(|n| object(n)).collect::<Vec<_>>())
            }
        }
    }

    /// The same names.
    pub fn clone_ref(&self, py: Python<'_>) -> Lexicon {
        let entry = |e: &Entry| Entry { text: e.text.clone(), object: e.object.clone_ref(py), is_text: e.is_text };
        Lexicon {
            by_address: self.by_address.clone(),
            alive: self.alive.iter().map(|object| object.clone_ref(py)).collect(),
            by_text: self.by_text.clone(),
            words: self.words.iter().map(entry).collect(),
        }
    }

    /// Forgets all, where there is too much of it. Words are void afterwards.
    pub fn trim(&mut self, most: usize) -> bool {
        let full = self.words.len() > most;
        if full {
            *self = Lexicon::default();
        }
        full
    }
}

/// Ground atoms, as words.
#[derive(Clone, Debug, Default)]
pub struct Atoms {
    words: Vec<Word>,
    /// Where each atom ends in `words`.
    ends: Vec<u32>,
}

impl Atoms {
    pub fn clear(&mut self) {
        self.words.clear();
        self.ends.clear();
    }

    /// Adds atoms from an iterable of tuples `("on", "a", "b")`; `what` names them in errors.
    pub fn read(&mut self, lexicon: &mut Lexicon, atoms: &Bound<'_, PyAny>, what: &str) -> PyResult<()> {
        for atom in atoms.try_iter()? {
            self.read_one(lexicon, &atom?, what)?;
        }
        Ok(())
    }

    /// Adds one atom from a tuple; a text by itself is an atom without arguments.
    pub fn read_one(&mut self, lexicon: &mut Lexicon, atom: &Bound<'_, PyAny>, what: &str) -> PyResult<()> {
        let before = self.words.len();
        let read = if let Ok(tuple) = atom.cast::<PyTuple>() {
            tuple.iter_borrowed().try_for_each(|name| lexicon.word(&name).map(|word| self.words.push(word)))
        } else if atom.is_instance_of::<PyString>() {
            lexicon.word(atom).map(|word| self.words.push(word))
        } else if let Ok(names) = atom.try_iter() {
            let mut read = Ok(());
            for name in names {
                read = read.and(lexicon.word(&name?).map(|word| self.words.push(word)));
            }
            read
        } else {
            Err(())
        };
        let begins = self.words.get(before).is_some_and(|word| lexicon.words[word.0 as usize].is_text);
        if read.is_err() || !begins {
            return Err(PyTypeError::new_err(format!(
                "{what} is a tuple of a name and its objects, such as (\"on\", \"a\", \"b\"), not {}",
                atom.repr().map_or_else(|_| "this".to_string(), |text| text.to_string())
            )));
        }
        self.ends.push(self.words.len() as u32);
        Ok(())
    }

    /// Each atom: its name, and those of its objects.
    pub fn iter(&self) -> impl Iterator<Item = (Word, &[Word])> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let (name, args) = (self.words[start], &self.words[start + 1..end as usize]);
            start = end as usize;
            (name, args)
        })
    }

    /// Gives each atom as its name and those of its objects, as text.
    pub fn each(&self, lexicon: &Lexicon, mut take: impl FnMut(&str, &[&str])) {
        let mut names: Vec<&str> = Vec::new();
        for (name, args) in self.iter() {
            names.clear();
            names.extend(args.iter().map(|&word| lexicon.text(word)));
            take(lexicon.text(name), &names);
        }
    }
}
