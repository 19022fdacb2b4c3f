//! A world written in Python, as the engine sees it.

use derrl::engine::Scene;
use derrl::engine::scene::Image;
use derrl::{Actions, BoxError, Cost, Env, Facts, Outcome, Rng, Status};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::atoms::{Atoms, tuple};
use crate::failure::Raised;

/// A Python object with `reset` and `step`, and what it said last.
///
/// Environments that are made from one object share it: every reset begins anew, so one after the other may use it.
pub struct Player {
    object: Py<PyAny>,
    offers: Offers,
    facts: Atoms,
    background: Atoms,
    legal: Atoms,
    objects: Vec<(String, String)>,
    succeeded: Option<bool>,
    horizon: usize,
    dear: Option<usize>,
}

/// Which of the optional methods there are.
#[derive(Clone, Copy)]
struct Offers {
    legal: bool,
    succeeded: bool,
    background: bool,
    objects: bool,
    copy: bool,
    render: bool,
}

impl Player {
    /// The player of an object. An error if it has no `reset` or `step`.
    pub fn new(object: &Bound<'_, PyAny>) -> PyResult<Player> {
        let has = |name: &str| -> PyResult<bool> {
            Ok(object.getattr_opt(name)?.is_some_and(|method| method.is_callable()))
        };
        for name in ["reset", "step"] {
            if !has(name)? {
                let kind = object.get_type().name()?;
                return Err(PyTypeError::new_err(format!(
                    "a world has the methods reset(seed) and step(action): {kind} has no `{name}`"
                )));
            }
        }
        let number = |name: &str| -> PyResult<Option<usize>> {
            match object.getattr_opt(name)? {
                Some(value) if !value.is_none() => {
                    let number: usize = value.extract()?;
                    if number == 0 {
                        return Err(PyValueError::new_err(format!("`{name}` is a number from 1")));
                    }
                    Ok(Some(number))
                }
                _ => Ok(None),
            }
        };
        Ok(Player {
            offers: Offers {
                legal: has("legal")?,
                succeeded: has("succeeded")?,
                background: has("background")?,
                objects: has("objects")?,
                copy: has("copy")?,
                render: has("render")?,
            },
            facts: Atoms::default(),
            background: Atoms::default(),
            legal: Atoms::default(),
            objects: Vec::new(),
            succeeded: None,
            horizon: number("horizon")?.unwrap_or(1000),
            dear: number("score_episodes")?,
            object: object.clone().unbind(),
        })
    }

    fn begin(&mut self, py: Python<'_>, seed: u64) -> PyResult<()> {
        let object = self.object.bind(py);
        let facts = object.call_method1(pyo3::intern!(py, "reset"), (seed,))?;
        self.succeeded = None;
        self.background.clear();
        if self.offers.background {
            self.background.read(&object.call_method0("background")?, "a fact")?;
        }
        self.look(py, &facts)
    }

    /// Reads what the world says of the state it is in.
    fn look(&mut self, py: Python<'_>, facts: &Bound<'_, PyAny>) -> PyResult<()> {
        let object = self.object.bind(py);
        self.facts.clear();
        self.facts.read(facts, "a fact")?;
        if self.offers.legal {
            self.legal.clear();
            let legal = object.call_method0(pyo3::intern!(py, "legal"))?;
            self.legal.read(&legal, "an action")?;
        }
        if self.offers.objects {
            self.objects.clear();
            let objects = object.call_method0("objects")?;
            for (name, of_type) in objects.cast::<PyDict>()?.iter() {
                self.objects.push((name.str()?.to_string(), of_type.extract()?));
            }
        }
        Ok(())
    }

    fn act(&mut self, py: Python<'_>, name: &str, args: &[&str]) -> PyResult<Outcome> {
        let integers = self.facts.integers || self.background.integers || self.legal.integers;
        let action = tuple(py, name, args, integers)?;
        let came = self.object.bind(py).call_method1(pyo3::intern!(py, "step"), (action,))?;
        let parts = came.cast::<PyTuple>().ok().filter(|parts| (4..=5).contains(&parts.len()));
        let Some(parts) = parts else {
            return Err(PyTypeError::new_err(format!(
                "step(action) returns facts, reward, terminated, truncated; not {}",
                came.repr()?
            )));
        };
        self.look(py, &parts.get_item(0)?)?;
        let reward: f64 = parts.get_item(1)?.extract()?;
        let (terminated, truncated) = (parts.get_item(2)?.is_truthy()?, parts.get_item(3)?.is_truthy()?);
        let status = match (terminated, truncated) {
            (true, _) => Status::Terminated,
            (_, true) => Status::Truncated,
            _ => Status::Running,
        };
        if self.offers.succeeded && status != Status::Running {
            let said = self.object.bind(py).call_method0("succeeded")?;
            self.succeeded = Some(said.is_truthy()?);
        }
        Ok(Outcome { reward, status })
    }
}

impl Player {
    /// What `render()` returns: text, SVG or an array of pixels; the facts where it returns nothing.
    fn drawn(&self, py: Python<'_>) -> PyResult<Scene> {
        let rendered = self.object.bind(py).call_method0("render")?;
        let read = py.import("derrl.rendering")?.getattr("read")?.call1((rendered,))?;
        let read: Option<(String, u32, u32)> = read.extract()?;
        Ok(match read {
            None => Scene::Facts,
            Some((text, 0, 0)) => Scene::Text { text },
            Some((address, width, height)) => Scene::Image(Image { address, width, height }),
        })
    }
}

fn raised(error: PyErr) -> BoxError {
    Box::new(Raised(error))
}

impl Env for Player {
    fn reset(&mut self, rng: &mut Rng) -> Result<(), BoxError> {
        // 32 bits: as many as every random generator of Python takes.
        let seed = rng.bits() >> 32;
        Python::attach(|py| self.begin(py, seed)).map_err(raised)
    }

    fn facts(&self, facts: &mut Facts) {
        for (name, of_type) in &self.objects {
            facts.object(name, of_type);
        }
        self.background.each(|name, args| facts.say(name, args));
        self.facts.each(|name, args| facts.say(name, args));
    }

    fn step(&mut self, action: &str, args: &[&str], _: &mut Rng) -> Result<Outcome, BoxError> {
        Python::attach(|py| self.act(py, action, args)).map_err(raised)
    }

    fn legal(&self, actions: &mut Actions) -> bool {
        self.legal.each(|name, args| actions.allow(name, args));
        self.offers.legal
    }

    fn succeeded(&self) -> Option<bool> {
        self.succeeded
    }

    fn horizon(&self) -> usize {
        self.horizon
    }

    fn cost(&self) -> Cost {
        self.dear.map_or(Cost::Cheap, |episodes| Cost::Dear { episodes })
    }

    fn scene(&self) -> Scene {
        if !self.offers.render {
            return Scene::Facts;
        }
        Python::attach(|py| {
            self.drawn(py).unwrap_or_else(|error| {
                let text = format!("render() failed: {error}");
                error.write_unraisable(py, Some(self.object.bind(py)));
                Scene::Text { text }
            })
        })
    }

    fn copy(&self) -> Option<Box<dyn Env>> {
        if !self.offers.copy {
            return None;
        }
        let object =
            Python::attach(|py| self.object.bind(py).call_method0("copy").map(Bound::unbind)).ok()?;
        Some(Box::new(Player {
            object,
            offers: self.offers,
            facts: self.facts.clone(),
            background: self.background.clone(),
            legal: self.legal.clone(),
            objects: self.objects.clone(),
            succeeded: self.succeeded,
            horizon: self.horizon,
            dear: self.dear,
        }))
    }
}
