//! Facts and actions between Python tuples and names.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString, PyTuple};

/// Ground atoms in names, in one piece of text.
#[derive(Clone, Debug, Default)]
pub struct Atoms {
    text: String,
    /// Where each name ends in the text.
    ends: Vec<usize>,
    /// How many names each atom has, its predicate or action included.
    lengths: Vec<usize>,
    /// Whether any object was given as an integer.
    pub integers: bool,
}

impl Atoms {
    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.lengths.clear();
    }

    /// Adds atoms from an iterable of tuples `("on", "a", "b")`; `what` names them in errors.
    pub fn read(&mut self, atoms: &Bound<'_, PyAny>, what: &str) -> PyResult<()> {
        for atom in atoms.try_iter()? {
            self.read_one(&atom?, what)?;
        }
        Ok(())
    }

    /// Adds one atom from a tuple; a text by itself is an atom without arguments.
    pub fn read_one(&mut self, atom: &Bound<'_, PyAny>, what: &str) -> PyResult<()> {
        if let Ok(name) = atom.cast::<PyString>() {
            self.name(name.to_str()?);
            self.lengths.push(1);
            return Ok(());
        }
        let wrong = |atom: &Bound<'_, PyAny>| {
            PyTypeError::new_err(format!(
                "{what} is a tuple of a name and its objects, such as (\"on\", \"a\", \"b\"), not {}",
                atom.repr().map_or_else(|_| "this".to_string(), |text| text.to_string())
            ))
        };
        let before = self.ends.len();
        if let Ok(tuple) = atom.cast::<PyTuple>() {
            for name in tuple.iter_borrowed() {
                self.object(&name, self.ends.len() == before).map_err(|()| wrong(atom))?;
            }
        } else {
            for name in atom.try_iter().map_err(|_| wrong(atom))? {
                self.object(&name?, self.ends.len() == before).map_err(|()| wrong(atom))?;
            }
        }
        if self.ends.len() == before {
            return Err(wrong(atom));
        }
        self.lengths.push(self.ends.len() - before);
        Ok(())
    }

    fn object(&mut self, name: &Bound<'_, PyAny>, first: bool) -> Result<(), ()> {
        if let Ok(name) = name.cast::<PyString>() {
            self.name(name.to_str().map_err(|_| ())?);
            return Ok(());
        }
        if first || name.is_instance_of::<pyo3::types::PyBool>() {
            return Err(());
        }
        // Whatever is an integer to Python, such as those of numpy.
        let number: i64 = name.extract().map_err(|_| ())?;
        self.integers = true;
        self.name(&number.to_string());
        Ok(())
    }

    fn name(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(self.text.len());
    }

    /// Gives each atom as its name and those of its objects.
    pub fn each(&self, mut take: impl FnMut(&str, &[&str])) {
        let mut names: Vec<&str> = Vec::with_capacity(8);
        let (mut start, mut at) = (0, 0);
        for &length in &self.lengths {
            names.clear();
            for &end in &self.ends[at..at + length] {
                names.push(&self.text[start..end]);
                start = end;
            }
            at += length;
            take(names[0], &names[1..]);
        }
    }
}

/// The tuple of an action or fact. Objects that are written as integers are integers if `integers` says so.
pub fn tuple<'py>(
    py: Python<'py>,
    name: &str,
    args: &[&str],
    integers: bool,
) -> PyResult<Bound<'py, PyTuple>> {
    let object = |text: &&str| -> Bound<'py, PyAny> {
        if integers && let Ok(number) = text.parse::<i64>() {
            return PyInt::new(py, number).into_any();
        }
        PyString::intern(py, text).into_any()
    };
    let mut all = vec![PyString::intern(py, name).into_any()];
    all.extend(args.iter().map(object));
    PyTuple::new(py, all)
}
