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
    r#"Something is wrong with what derrl was given. The text says what, where, and what would be right.

    >>> derrl.train("bloks")
    Traceback (most recent call last):
    derrl.Error: unknown domain `bloks`; did you mean `blocks`?"#
);

create_exception!(
    derrl,
    Outside,
    Error,
    r#"A policy does not know a state: no rule fires in it, or it lies outside what the policy was learned on. ``reasons`` says why,
as a list of texts.

    >>> nothing_free = [("on", "a", "b"), ("on", "b", "c"), ("on", "c", "floor"), ("isFloor", "floor")]
    >>> run.policy.act(nothing_free, strict=True)
    Traceback (most recent call last):
    derrl.Outside: the policy does not know this state: no rule fires"#
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
    let text = in_python(&format!("{error:#}"));
    match error.downcast_ref() {
        Some(derrl::Error::Outside(reasons)) => outside(text, reasons),
        _ => Error::new_err(text),
    }
}

fn outside(text: String, reasons: &[String]) -> PyErr {
    let raised = Outside::new_err(text);
    Python::attach(|py| match raised.value(py).setattr("reasons", reasons.to_vec()) {
        Ok(()) => raised,
        Err(error) => error,
    })
}

/// A text that speaks of options of the command, in the words of Python: `--max-objects` is the argument `max_objects`.
fn in_python(text: &str) -> String {
    let text = text
        .replace("derrl train --resume ", "derrl.resume(world, folder), for the folder ")
        .replace("--resume ", "derrl.resume(world, folder), for the folder ")
        .replace("--set ", "")
        .replace("write KEY=VALUE, as in updates=800", "a keyword argument such as updates=800")
        .replace("with --task", "with task=");
    let mut told = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find("--") {
        let (before, option) = rest.split_at(at);
        let name = &option[2..];
        let end = name.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(name.len());
        let begins = before.chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '-');
        told.push_str(before);
        if begins && end > 1 && name.starts_with(|c: char| c.is_ascii_lowercase()) {
            told.push_str(&name[..end].replace('-', "_"));
        } else {
            told.push_str(&option[..2 + end]);
        }
        rest = &name[end..];
    }
    told + rest
}

#[cfg(test)]
mod tests {
    use super::in_python;

    #[test]
    fn options_become_arguments() {
        for (told, wanted) in [
            (
                "choose a smaller --max-objects, or another --out",
                "choose a smaller max_objects, or another out",
            ),
            ("--set updats=3: there is no setting `updats`", "updats=3: there is no setting `updats`"),
            ("`--set restarts=N`, `--set updates=N`", "`restarts=N`, `updates=N`"),
            ("a -- b --> c ---d", "a -- b --> c ---d"),
        ] {
            assert_eq!(in_python(told), wanted);
        }
    }
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
