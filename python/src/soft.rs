//! Policies over soft facts. Numbers cross the boundary as bytes of doubles: rows of probabilities in, rows of values out.

use derrl::learner::{Error as LearnerError, TNORMS};
use derrl::{Action, State};
use pyo3::prelude::*;

use crate::failure::{Error, raise};

/// A policy in one state, some facts of which are soft.
#[pyclass(frozen, module = "derrl._derrl")]
pub struct Soft {
    soft: derrl::Soft,
}

const DOUBLE: usize = size_of::<f64>();

/// Rows of doubles, each of this width; an error where they are not, or where one is no number.
fn rows(bytes: &[u8], width: usize) -> PyResult<Vec<f64>> {
    let (words, rest) = bytes.as_chunks::<DOUBLE>();
    let numbers: Vec<f64> = words.iter().map(|word| f64::from_le_bytes(*word)).collect();
    if !rest.is_empty() || width > 0 && !numbers.len().is_multiple_of(width) {
        return Err(Error::new_err(format!("a row has {width} numbers here")));
    }
    match numbers.iter().find(|x| !x.is_finite()) {
        Some(x) => Err(Error::new_err(format!("probabilities and gradients are numbers, not {x}"))),
        None => Ok(numbers),
    }
}

fn bytes(rows: impl Iterator<Item = Vec<f64>>) -> Vec<u8> {
    rows.flat_map(|row| row.into_iter().flat_map(f64::to_le_bytes).collect::<Vec<u8>>()).collect()
}

impl Soft {
    pub fn new(
        policy: &derrl::Policy,
        certain: &State,
        atoms: &[Vec<String>],
        tnorm: &str,
    ) -> PyResult<Soft> {
        let args: Vec<Vec<&str>> = atoms.iter().map(|a| a.iter().map(String::as_str).collect()).collect();
        let atoms: Vec<(&str, &[&str])> =
            args.iter().filter_map(|a| a.split_first()).map(|(name, args)| (*name, args)).collect();
        let tnorm = LearnerError::lookup("t-norm", tnorm, &TNORMS).map_err(raise)?;
        Ok(Soft { soft: policy.soft(certain, &atoms, tnorm).map_err(raise)? })
    }
}

#[pymethods]
impl Soft {
    /// The actions, in the order of the values: a name and its objects.
    #[getter]
    fn actions(&self) -> Vec<Vec<String>> {
        let list = |a: &Action| std::iter::once(a.name.clone()).chain(a.args.iter().cloned()).collect();
        self.soft.actions().iter().map(list).collect()
    }

    /// What the actions are worth, for each row of probabilities.
    fn values(&self, py: Python<'_>, probabilities: &[u8]) -> PyResult<Vec<u8>> {
        let width = self.soft.atoms();
        let rows = rows(probabilities, width)?;
        Ok(py.detach(|| bytes(rows.chunks_exact(width.max(1)).map(|v| self.soft.values(v)))))
    }

    /// The gradient to the probabilities, for each row of them and of gradients to the values.
    fn gradient(&self, py: Python<'_>, probabilities: &[u8], d_values: &[u8]) -> PyResult<Vec<u8>> {
        let (width, actions) = (self.soft.atoms(), self.soft.actions().len());
        let (v, d) = (rows(probabilities, width)?, rows(d_values, actions)?);
        if v.len() * actions != d.len() * width {
            return Err(Error::new_err("there is one row of gradients for each row of probabilities"));
        }
        let pairs = v.chunks_exact(width.max(1)).zip(d.chunks_exact(actions.max(1)));
        Ok(py.detach(|| bytes(pairs.map(|(v, d)| self.soft.gradient(v, d)))))
    }
}
