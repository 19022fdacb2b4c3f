//! Policies: acting, explaining, proving, exporting.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use derrl::engine::Extent;
use derrl::learner::{Everywhere, Monitor, Progress, Subject, cores, evaluate_while};
use derrl::{Options, Rng, State};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use serde_json::json;

use crate::atoms::{Atoms, Lexicon, Origin};
use crate::failure::{Error, raise};
use crate::signals::Signals;
use crate::soft::Soft;
use crate::world::{ACTION, World, read_options};

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
) -> PyResult<(State, Lexicon)> {
    let (mut state, mut lexicon, mut atoms) = (State::new(), Lexicon::default(), Atoms::default());
    atoms.read(&mut lexicon, facts, Origin::facts("facts are"))?;
    atoms.each(&lexicon, |name, args| {
        state.say(name, args);
    });
    atoms.each_number(&lexicon, |name, args, value| {
        state.number(name, args, value);
    });
    for (name, of_type) in objects.into_iter().flat_map(|objects| objects.iter()) {
        let (name, of_type) = (lexicon.name(&name)?, lexicon.name(&of_type)?);
        state.object(lexicon.text(name), lexicon.text(of_type));
    }
    if let Some(legal) = legal {
        atoms.clear();
        atoms.read(&mut lexicon, legal, Origin::actions("the legal actions are"))?;
        if atoms.is_empty() {
            return Err(Error::new_err("no action is legal in this state"));
        }
        atoms.each(&lexicon, |name, args| {
            state.allow(name, args);
        });
    }
    Ok((state, lexicon))
}

/// The tuple of an action, in names as they were said.
fn show<'py>(py: Python<'py>, action: &derrl::Action, lexicon: &Lexicon) -> PyResult<Bound<'py, PyTuple>> {
    let args: Vec<&str> = action.args.iter().map(String::as_str).collect();
    lexicon.tuple(py, &action.name, &args)
}

impl Policy {
    fn with_rng<T>(&self, seed: Option<u64>, act: impl FnOnce(&mut Rng) -> T) -> T {
        match seed {
            Some(seed) => act(&mut Rng::new(seed, 0)),
            None => act(&mut self.rng.lock().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    /// The instances to look at: all problems of a domain of PDDL.
    fn extent(&self, world: &World, max_objects: Option<usize>, others: &[&Policy]) -> PyResult<Extent> {
        let others: Vec<&derrl::Policy> = others.iter().map(|p| &p.policy).collect();
        if world.world.is_chosen() && max_objects.is_some() {
            return Err(Error::new_err("max_objects is not for PDDL: the problems of its tests are looked at"));
        }
        self.policy.extent(&world.world, max_objects, &others).map_err(raise)
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

    /// How it is made again, for pickle: with its world, which has to be such that it can be pickled.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String, World))> {
        Ok((py.get_type::<Policy>().getattr("parse")?, (self.file(), self.world())))
    }

    #[getter]
    fn text(&self) -> String {
        self.policy.to_string()
    }

    /// The text of its file: what it was learned on, and its rules.
    #[getter]
    fn file(&self) -> String {
        self.policy.file()
    }

    /// What it was learned on, as the first lines of its file say; none where that is not known.
    #[getter]
    fn learned_on(&self) -> Option<String> {
        self.policy.scope().map(ToString::to_string)
    }

    #[getter]
    fn world(&self) -> World {
        self.world.clone()
    }

    /// The action taken in a state; of several as good, one by chance.
    #[pyo3(signature = (facts, legal = None, seed = None, objects = None, strict = false))]
    // Wide: these are the arguments that Python knows by name.
    fn act<'py>(
        &self,
        py: Python<'py>,
        facts: &Bound<'py, PyAny>,
        legal: Option<&Bound<'py, PyAny>>,
        seed: Option<u64>,
        objects: Option<&Bound<'py, PyDict>>,
        strict: bool,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let (state, lexicon) = state(facts, legal, objects)?;
        let act = if strict { derrl::Policy::act_strictly } else { derrl::Policy::act };
        let action = self.with_rng(seed, |rng| act(&self.policy, &state, rng)).map_err(raise)?;
        show(py, &action, &lexicon)
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
        let (state, lexicon) = state(facts, legal, objects)?;
        let all = self.policy.best(&state).map_err(raise)?;
        PyList::new(py, all.iter().map(|a| show(py, a, &lexicon)).collect::<PyResult<Vec<_>>>()?)
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
        let (mut asked, mut lexicon) = (Atoms::default(), Lexicon::default());
        asked.read_one(&mut lexicon, action, ACTION)?;
        let mut why = None;
        asked.each(&lexicon, |name, args| why = Some(self.policy.why_not(&state, name, args)));
        let why = why.ok_or_else(|| Error::new_err("no action is given"))?.map_err(raise)?;
        serde_json::to_string(&why).map_err(raise)
    }

    /// The policy where these facts are certain, and these atoms soft.
    #[pyo3(signature = (facts, atoms, tnorm, objects = None))]
    fn soft(
        &self,
        facts: &Bound<'_, PyAny>,
        atoms: &Bound<'_, PyAny>,
        tnorm: &str,
        objects: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Soft> {
        let (certain, mut lexicon) = state(facts, None, objects)?;
        let (mut read, mut named) = (Atoms::default(), Vec::new());
        for atom in atoms.try_iter()? {
            read.read_one(&mut lexicon, &atom?, Origin::facts("soft facts are"))?;
            read.each(&lexicon, |name, args| {
                named.push(std::iter::once(name).chain(args.iter().copied()).map(String::from).collect());
            });
            read.clear();
        }
        Soft::new(&self.policy, &certain, &named, tnorm)
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
        let World { world, .. } = world.get();
        let mut signals = Signals::default();
        let score = py.detach(|| -> anyhow::Result<_> {
            let (rules, alphabet) = (self.policy.rules(), self.policy.alphabet());
            let mut env = world.make(alphabet, task, &options)?;
            let episodes = episodes.unwrap_or_else(|| env.cost().episodes());
            let mut go_on = |_| !signals.interrupted();
            Ok(evaluate_while(rules, alphabet, env.as_mut(), episodes, seed, &mut go_on)?)
        });
        let score = score.map_err(raise)?.ok_or_else(|| signals.raised())?;
        serde_json::to_string(&score).map_err(raise)
    }

    /// Whether it gets there from every instance up to a size, as JSON.
    #[pyo3(signature = (world, max_objects = None, threads = None))]
    fn verify_json(
        &self,
        py: Python<'_>,
        world: &Bound<'_, World>,
        max_objects: Option<usize>,
        threads: Option<usize>,
    ) -> PyResult<String> {
        let world = world.get();
        let mut signals = Signals::default();
        let report = py.detach(|| -> PyResult<_> {
            let extent = self.extent(world, max_objects, &[])?;
            let (policy, alphabet) = (self.policy.rules(), self.policy.alphabet());
            let subject = Subject { policy, alphabet, world: &world.world, extent };
            let threads = threads.unwrap_or_else(cores);
            derrl::learner::verify(&subject, threads, Progress::default(), &mut signals)
                .map_err(|e| raise(derrl::Error::from(e)))
        });
        let report = report?.ok_or_else(|| signals.raised())?;
        serde_json::to_string(&report).map_err(raise)
    }

    /// Where another policy decides otherwise, in all states up to a size, as JSON.
    #[pyo3(signature = (other, world, max_objects = None))]
    fn diff_json(
        &self,
        py: Python<'_>,
        other: &Bound<'_, Policy>,
        world: &Bound<'_, World>,
        max_objects: Option<usize>,
    ) -> PyResult<String> {
        let (other, world) = (other.get(), world.get());
        let mut signals = Signals::default();
        let compared = py.detach(|| -> PyResult<_> {
            let extent = self.extent(world, max_objects, &[other])?;
            let everywhere = Everywhere::new(self.policy.alphabet(), &world.world, &extent, cores());
            let everywhere = everywhere.map_err(|e| raise(derrl::Error::from(e)))?;
            Ok(everywhere.compare(self.policy.rules(), other.policy.rules(), &mut signals))
        });
        let compared = compared?.ok_or_else(|| signals.raised())?;
        let told = json!({
            "equivalent": compared.difference.is_none(),
            "states": compared.states,
            "difference": compared.difference,
        });
        Ok(told.to_string())
    }

    /// The same decisions in all states up to a size by fewer rules and atoms, what went, and in how many states that was looked at.
    #[pyo3(signature = (world, max_objects = None))]
    fn simplified(
        &self,
        py: Python<'_>,
        world: &Bound<'_, World>,
        max_objects: Option<usize>,
    ) -> PyResult<(Policy, Vec<String>, u64)> {
        let world = world.get();
        let mut signals = Signals::default();
        let pruned = py.detach(|| -> PyResult<_> {
            let extent = self.extent(world, max_objects, &[])?;
            let everywhere = Everywhere::new(self.policy.alphabet(), &world.world, &extent, cores());
            let everywhere = everywhere.map_err(|e| raise(derrl::Error::from(e)))?;
            Ok(everywhere.prune(self.policy.rules(), &mut signals))
        });
        let pruned = pruned?.ok_or_else(|| signals.raised())?;
        let policy = derrl::Policy::new(pruned.policy, self.policy.alphabet());
        let simpler = Policy { policy, world: self.world.clone(), rng: Mutex::new(Rng::new(0, 0)) };
        Ok((simpler, pruned.removed, pruned.states))
    }

    /// What it does in a problem of PDDL: whether it reached the goal, the steps, and their cost.
    #[pyo3(signature = (world, problem, horizon = None, seed = 0))]
    fn solve(
        &self,
        py: Python<'_>,
        world: &Bound<'_, World>,
        problem: PathBuf,
        horizon: Option<usize>,
        seed: u64,
    ) -> PyResult<(bool, Vec<Vec<String>>, f64)> {
        let Some(planning) = &world.get().planning else {
            return Err(Error::new_err("a plan is for PDDL: derrl.pddl(domain, ...) gives such a world"));
        };
        let solved = py.detach(|| planning.solve(&self.policy, &problem, horizon, seed)).map_err(raise)?;
        Ok((solved.solved, solved.steps, solved.cost))
    }

    /// Each of its rules as an English sentence.
    fn in_english(&self) -> Vec<String> {
        self.policy.in_english(self.world.world.wording())
    }

    /// The policy as a program of another language.
    fn export(&self, language: &str) -> PyResult<String> {
        self.policy.export(language).map_err(raise)
    }
}
