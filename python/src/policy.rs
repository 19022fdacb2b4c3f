//! Policies: acting, explaining, proving, exporting.

use std::sync::{Mutex, PoisonError};

use derrl::engine::Extent;
use derrl::learner::{Everywhere, NoMonitor, Progress, Subject, constants, cores};
use derrl::{Options, Rng, State};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use serde_json::{Value, json};

use crate::atoms::{Atoms, tuple};
use crate::failure::{Error, raise};
use crate::world::{World, read_options};

/// Rules that act.
#[pyclass(frozen, module = "derrl._derrl")]
pub struct Policy {
    policy: derrl::Policy,
    world: World,
    /// Breaks ties where no seed is given.
    rng: Mutex<Rng>,
}

/// A state from Python: its facts, and what is legal where that is said.
fn state(
    facts: &Bound<'_, PyAny>,
    legal: Option<&Bound<'_, PyAny>>,
    objects: Option<&Bound<'_, PyDict>>,
) -> PyResult<(State, bool)> {
    let mut state = State::new();
    let mut atoms = Atoms::default();
    atoms.read(facts, "a fact")?;
    atoms.each(|name, args| {
        state.say(name, args);
    });
    for (name, of_type) in objects.into_iter().flat_map(|objects| objects.iter()) {
        state.object(&name.str()?.to_string(), &of_type.extract::<String>()?);
    }
    let mut integers = atoms.integers;
    if let Some(legal) = legal {
        atoms.clear();
        atoms.read(legal, "an action")?;
        let mut any = false;
        atoms.each(|name, args| {
            state.allow(name, args);
            any = true;
        });
        if !any {
            return Err(Error::new_err("no action is legal in this state"));
        }
        integers |= atoms.integers;
    }
    Ok((state, integers))
}

fn show<'py>(py: Python<'py>, action: &derrl::Action, integers: bool) -> PyResult<Bound<'py, PyTuple>> {
    let args: Vec<&str> = action.args.iter().map(String::as_str).collect();
    tuple(py, &action.name, &args, integers)
}

impl Policy {
    fn with_rng<T>(&self, seed: Option<u64>, act: impl FnOnce(&mut Rng) -> T) -> T {
        match seed {
            Some(seed) => act(&mut Rng::new(seed, 0)),
            None => act(&mut self.rng.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    fn extent(&self, max_objects: usize, others: &[&Policy]) -> Extent {
        let all = std::iter::once(self).chain(others.iter().copied()).map(|p| p.policy.rules());
        Extent { largest: max_objects, named: constants(all), ..Extent::default() }
    }
}

#[pymethods]
impl Policy {
    /// The policy that a text describes.
    #[staticmethod]
    fn parse(text: &str, world: &Bound<'_, World>) -> PyResult<Policy> {
        let world = world.get().clone();
        let policy = derrl::Policy::parse(&world.world, text).map_err(raise)?;
        Ok(Policy { policy, world, rng: Mutex::new(Rng::new(0, 0)) })
    }

    #[getter]
    fn text(&self) -> String {
        self.policy.to_string()
    }

    #[getter]
    fn world(&self) -> World {
        self.world.clone()
    }

    /// The action taken in a state; of several as good, one by chance.
    #[pyo3(signature = (facts, legal = None, seed = None, objects = None))]
    fn act<'py>(
        &self,
        py: Python<'py>,
        facts: &Bound<'py, PyAny>,
        legal: Option<&Bound<'py, PyAny>>,
        seed: Option<u64>,
        objects: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let (state, integers) = state(facts, legal, objects)?;
        let action = self.with_rng(seed, |rng| self.policy.act(&state, rng)).map_err(raise)?;
        show(py, &action, integers)
    }

    /// All actions that are as good as the one taken, in order.
    #[pyo3(signature = (facts, legal = None, objects = None))]
    fn best<'py>(
        &self,
        py: Python<'py>,
        facts: &Bound<'py, PyAny>,
        legal: Option<&Bound<'py, PyAny>>,
        objects: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let (state, integers) = state(facts, legal, objects)?;
        let all = self.policy.best(&state).map_err(raise)?;
        PyList::new(py, all.iter().map(|a| show(py, a, integers)).collect::<PyResult<Vec<_>>>()?)
    }

    /// Why it acts as it does in a state, as JSON.
    #[pyo3(signature = (facts, legal = None, seed = None, objects = None))]
    fn explain_json(
        &self,
        facts: &Bound<'_, PyAny>,
        legal: Option<&Bound<'_, PyAny>>,
        seed: Option<u64>,
        objects: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<String> {
        let (state, _) = state(facts, legal, objects)?;
        let explained = self.with_rng(seed, |rng| self.policy.explain(&state, rng)).map_err(raise)?;
        serde_json::to_string(&explained).map_err(raise)
    }

    /// Why it does not take an action in a state, as JSON.
    #[pyo3(signature = (facts, action, legal = None, objects = None))]
    fn why_not_json(
        &self,
        facts: &Bound<'_, PyAny>,
        action: &Bound<'_, PyAny>,
        legal: Option<&Bound<'_, PyAny>>,
        objects: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<String> {
        let (state, _) = state(facts, legal, objects)?;
        let mut asked = Atoms::default();
        asked.read_one(action, "an action")?;
        let mut why = None;
        asked.each(|name, args| why = Some(self.policy.why_not(&state, name, args)));
        let why = why.ok_or_else(|| Error::new_err("no action is given"))?.map_err(raise)?;
        serde_json::to_string(&why).map_err(raise)
    }

    /// Its score on a task, over seeded episodes, as JSON.
    #[pyo3(signature = (world, task, episodes = None, seed = 0, options = "{}"))]
    fn evaluate_json(
        &self,
        py: Python<'_>,
        world: &Bound<'_, World>,
        task: &str,
        episodes: Option<usize>,
        seed: u64,
        options: &str,
    ) -> PyResult<String> {
        let options: Options = read_options(options)?;
        let world = world.get().world.clone();
        let score = py.detach(|| -> Result<_, derrl::Error> {
            let mut env = world.make(self.policy.alphabet(), task, &options)?;
            let episodes = episodes.unwrap_or_else(|| env.cost().episodes());
            let rules = self.policy.rules();
            Ok(derrl::learner::evaluate(rules, self.policy.alphabet(), env.as_mut(), episodes, seed)?)
        });
        serde_json::to_string(&score.map_err(raise)?).map_err(raise)
    }

    /// Whether it gets there from every instance up to a size, as JSON.
    #[pyo3(signature = (world, max_objects, threads = None))]
    fn verify_json(
        &self,
        py: Python<'_>,
        world: &Bound<'_, World>,
        max_objects: usize,
        threads: Option<usize>,
    ) -> PyResult<String> {
        let extent = self.extent(max_objects, &[]);
        let world = world.get().world.clone();
        let report = py.detach(|| {
            let (policy, alphabet) = (self.policy.rules(), self.policy.alphabet());
            let subject = Subject { policy, alphabet, world: &world, extent };
            derrl::learner::verify(
                &subject,
                threads.unwrap_or_else(cores),
                Progress::default(),
                &mut NoMonitor,
            )
        });
        serde_json::to_string(&report.map_err(|e| raise(derrl::Error::from(e)))?).map_err(raise)
    }

    /// Where another policy decides otherwise, in all states up to a size, as JSON.
    fn diff_json(
        &self,
        py: Python<'_>,
        other: &Bound<'_, Policy>,
        world: &Bound<'_, World>,
        max_objects: usize,
    ) -> PyResult<String> {
        let other = other.get();
        let extent = self.extent(max_objects, &[other]);
        let world = world.get().world.clone();
        let compared = py.detach(|| -> Result<Value, derrl::Error> {
            let everywhere = Everywhere::new(self.policy.alphabet(), &world, &extent, cores())?;
            let compared = everywhere.compare(self.policy.rules(), other.policy.rules(), &mut NoMonitor);
            let compared = compared.ok_or(derrl::Error::Interrupted)?;
            Ok(json!({
                "equivalent": compared.difference.is_none(),
                "states": compared.states,
                "difference": compared.difference,
            }))
        });
        Ok(compared.map_err(raise)?.to_string())
    }

    /// The policy as a program of another language.
    fn export(&self, language: &str) -> PyResult<String> {
        self.policy.export(language).map_err(raise)
    }
}
