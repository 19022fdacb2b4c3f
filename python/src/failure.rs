//! Errors as exceptions, with the same text as on the command line.

use std::fmt;

use derrl::Fault;
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

create_exception!(
    derrl,
    Error,
    PyValueError,
    "Something is wrong with what derrl was given. The text says what, where, and what would be right."
);

/// An exception that a world written in Python raised.
#[derive(Debug)]
pub struct Raised(pub PyErr);

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Raised {}

/// The exception for an error.
pub fn raise(error: impl Into<anyhow::Error>) -> PyErr {
    let error = error.into();
    if let Some(fault) = error.chain().find_map(fault_in) {
        return raise_fault(fault);
    }
    Error::new_err(format!("{error:#}"))
}

fn fault_in<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a Fault> {
    if let Some(fault) = error.downcast_ref::<Fault>() {
        return Some(fault);
    }
    if let Some(derrl::learner::Error::World(fault)) = error.downcast_ref() {
        return Some(fault);
    }
    match error.downcast_ref() {
        Some(derrl::Error::Fault(fault)) => Some(fault),
        _ => None,
    }
}

/// The exception for a fault of a world: the one that it raised, with its traceback, if it is written in Python.
pub fn raise_fault(fault: &Fault) -> PyErr {
    match fault.error().downcast_ref::<Raised>() {
        Some(Raised(error)) => Python::attach(|py| error.clone_ref(py)),
        None => Error::new_err(fault.to_string()),
    }
}
