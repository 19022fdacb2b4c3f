//! Ctrl-C while Rust works on the calling thread.

use std::time::{Duration, Instant};

use derrl::learner::Monitor;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// How often signals are looked at: it takes the interpreter's lock.
const EVERY: Duration = Duration::from_millis(50);

/// Looks at signals now and then, and keeps the exception that one of them raised.
#[derive(Default)]
pub struct Signals {
    looked: Option<Instant>,
    raised: Option<PyErr>,
}

impl Signals {
    /// The exception that stopped the work.
    pub fn raised(self) -> PyErr {
        self.raised.unwrap_or_else(|| PyKeyboardInterrupt::new_err(()))
    }
}

impl Monitor for Signals {
    fn interrupted(&mut self) -> bool {
        if self.raised.is_none() && self.looked.is_none_or(|at| at.elapsed() >= EVERY) {
            self.looked = Some(Instant::now());
            self.raised = Python::attach(|py| py.check_signals()).err();
        }
        self.raised.is_some()
    }
}
