//! Worlds as Python objects, and episodes of any world, played from Python.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use derrl::engine::{self, observe};
use derrl::in_folder;
use derrl::logic::{Alphabet, Constant, GroundAction, Object, Universe};
use derrl::{Options, Planning, Problems, Rng, Status};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyInt, PyList, PyString, PyTuple};
use serde_json::json;

use crate::atoms::{Atoms, Lexicon, Origin};
use crate::failure::{Error, raise, raise_fault};
use crate::player::Player;

/// An action that is asked for.
pub const ACTION: Origin = Origin::actions("actions are");

/// A world: its alphabet and its tasks. Made by `derrl.world`, `derrl.pddl` or by training.
///
///     >>> world = derrl.world("blocks")
///     >>> world.actions()
///     [('move', 2)]
///     >>> print(world.domain)
#[pyclass(frozen, module = "derrl._derrl")]
#[derive(Clone)]
pub struct World {
    pub world: derrl::World,
    /// Whether it is written in Python: then one thread steps it.
    pub python: bool,
    /// The domain of PDDL that it is made of, if it is.
    pub planning: Option<Planning>,
    recipe: Arc<Recipe>,
}

/// How a world was made, so that another process can make it again.
enum Recipe {
    Find,
    Changed(String),
    Described,
    Python(Vec<(String, Py<PyAny>)>),
    Pddl(PathBuf, Problems),
}

impl World {
    fn of(world: derrl::World, recipe: Recipe) -> World {
        World { world, python: false, planning: None, recipe: Arc::new(recipe) }
    }
}

/// The names of the built-in worlds.
///
///     >>> derrl.builtin()
///     [...'blocks'...]
#[pyfunction]
pub fn builtin() -> Vec<String> {
    engine::worlds().iter().map(|w| w.name().to_string()).collect()
}

#[pymethods]
impl World {
    /// The built-in world of that name.
    #[staticmethod]
    fn find(name: &str) -> PyResult<World> {
        Ok(World::of(engine::find(name).map_err(raise)?.clone(), Recipe::Find))
    }

    /// A built-in world with a domain file of one's own, which says in `:- environment(...)` which world it describes.
    #[staticmethod]
    fn changed(file: String, domain: &str) -> PyResult<World> {
        let world = in_folder::world_of(&file, domain).map_err(raise)?;
        Ok(World::of(world, Recipe::Changed(file)))
    }

    /// A domain of PDDL with its problems: a file, or a folder that holds `domain.pddl`.
    #[staticmethod]
    #[pyo3(signature = (domain, train, test, horizon = None))]
    fn pddl(
        domain: PathBuf,
        train: Vec<PathBuf>,
        test: Vec<(String, PathBuf)>,
        horizon: Option<usize>,
    ) -> PyResult<World> {
        let problems = Problems { train, test, horizon };
        let planning = Planning::load(&domain, &problems).map_err(raise)?;
        let world = World::of(planning.world().clone(), Recipe::Pddl(domain, problems));
        Ok(World { planning: Some(planning), ..world })
    }

    /// A world from the text of its domain file and Python objects by task, the one to train on first. It has the name that the
    /// domain file says, or else the one given. The summary is one line for people, the words say how predicates read.
    #[staticmethod]
    #[pyo3(signature = (name, domain, tasks, summary = "", words = ""))]
    fn python(
        name: &str,
        domain: &str,
        tasks: Vec<(String, Py<PyAny>)>,
        summary: &str,
        words: &str,
    ) -> PyResult<World> {
        let said = environment(domain)?;
        let name = said.as_deref().unwrap_or(name);
        if engine::worlds().iter().any(|w| w.name() == name) {
            return Err(Error::new_err(format!(
                "`{name}` is the name of a built-in world: give yours another, as in `:- environment(my_{name}).`"
            )));
        }
        let mut world = derrl::World::new(name, domain).map_err(raise)?.about(summary).words(words);
        let kept = Python::attach(|py| tasks.iter().map(|(t, o)| (t.clone(), o.clone_ref(py))).collect());
        for (task, object) in tasks {
            Python::attach(|py| Player::new(object.bind(py)))?; // an error now rather than later
            world = world.named_task(task, move || {
                let player = Python::attach(|py| Player::new(object.bind(py)));
                let failed = |e| derrl::engine::Error::World(derrl::Fault::new(crate::failure::Raised(e)));
                Ok(Box::new(player.map_err(failed)?))
            });
        }
        Ok(World { python: true, ..World::of(world, Recipe::Python(kept)) })
    }

    /// A world of which only the domain file is known: nothing can be played in it.
    #[staticmethod]
    fn described(domain: &str) -> PyResult<World> {
        let name = environment(domain)?.unwrap_or_else(|| "world".to_string());
        Ok(World::of(derrl::World::new(name, domain).map_err(raise)?, Recipe::Described))
    }

    /// How it is made again, for pickle: the objects of a world written in Python have to be such that they can be pickled.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let (name, domain) = (self.world.name(), self.world.domain());
        let (how, args) = match &*self.recipe {
            Recipe::Find => ("find", (name,).into_pyobject(py)?),
            Recipe::Changed(file) => ("changed", (file, domain).into_pyobject(py)?),
            Recipe::Described => ("described", (domain,).into_pyobject(py)?),
            Recipe::Python(tasks) => {
                let tasks: Vec<(&str, &Py<PyAny>)> = tasks.iter().map(|(t, o)| (t.as_str(), o)).collect();
                (
                    "python",
                    (name, domain, tasks, self.world.summary(), self.world.wording()).into_pyobject(py)?,
                )
            }
            Recipe::Pddl(domain, Problems { train, test, horizon }) => {
                ("pddl", (domain, train.clone(), test.clone(), *horizon).into_pyobject(py)?)
            }
        };
        Ok((py.get_type::<World>().getattr(how)?, args))
    }

    fn __repr__(&self) -> String {
        let kind = match &*self.recipe {
            Recipe::Find | Recipe::Changed(_) => "built in",
            Recipe::Described => "only its domain file is known",
            Recipe::Python(_) => "written in Python",
            Recipe::Pddl(..) => "PDDL",
        };
        let signature = |name: &str, arity: usize| format!("{name}/{arity}");
        let actions: Vec<String> =
            self.actions().iter().map(|(name, arity)| signature(name, *arity)).collect();
        let facts: Vec<String> =
            self.predicates().iter().map(|(name, arity)| signature(name, *arity)).collect();
        let tasks: Vec<String> = self.world.tasks().iter().map(|task| task.name.clone()).collect();
        let tasks = if tasks.is_empty() { String::new() } else { format!("; tasks: {}", tasks.join(", ")) };
        format!(
            "<World {}, {kind}; actions: {}; facts: {}{tasks}>",
            self.world.name(),
            actions.join(", "),
            facts.join(", ")
        )
    }

    #[getter]
    fn name(&self) -> &str {
        self.world.name()
    }

    #[getter]
    fn summary(&self) -> &str {
        self.world.summary()
    }

    #[getter]
    fn domain(&self) -> &str {
        self.world.domain()
    }

    #[getter]
    fn is_python(&self) -> bool {
        self.python
    }

    #[getter]
    fn is_pddl(&self) -> bool {
        self.planning.is_some()
    }

    /// Its tasks, as JSON.
    fn tasks_json(&self) -> String {
        let task = |t: &derrl::Task| json!({"name": t.name, "summary": t.summary, "scored": t.scored});
        json!(self.world.tasks().iter().map(task).collect::<Vec<_>>()).to_string()
    }

    /// Its actions: name and number of objects.
    fn actions(&self) -> Vec<(String, usize)> {
        let alphabet = self.world.alphabet();
        let whole = alphabet.actions.iter().filter(|a| !a.repeats());
        whole.map(|a| (a.name.clone(), a.arity())).collect()
    }

    /// Its predicates: name and number of objects, those that are derived left out.
    fn predicates(&self) -> Vec<(String, usize)> {
        let alphabet = self.world.alphabet();
        let given = alphabet.predicates.iter().filter(|p| p.role.is_given());
        given.map(|p| (p.name.clone(), p.args.len())).collect()
    }

    /// Episodes of a task.
    #[pyo3(signature = (task, options = "{}"))]
    fn episodes(&self, task: &str, options: &str) -> PyResult<Episodes> {
        let options = read_options(options)?;
        let env = self.world.make(&self.world.alphabet(), task, &options).map_err(raise)?;
        Ok(Episodes {
            world: self.world.clone(),
            state: Mutex::new(Playing { env, rng: Rng::new(0, 0), begun: false, over: true }),
        })
    }
}

/// The name of the world that the text of a domain file says, if it does.
fn environment(domain: &str) -> PyResult<Option<String>> {
    let source = derrl::logic::Source::new("domain.pl", domain);
    Ok(derrl::logic::Alphabet::parse(&source).map_err(raise)?.environment)
}

/// Options of a world from JSON.
pub fn read_options(options: &str) -> PyResult<Options> {
    serde_json::from_str(options).map_err(|e| Error::new_err(format!("options of the world: {e}")))
}

struct Playing {
    env: Box<dyn engine::Env>,
    rng: Rng,
    begun: bool,
    over: bool,
}

/// Episodes of a task, one after the other.
#[pyclass(frozen, module = "derrl._derrl")]
pub struct Episodes {
    world: derrl::World,
    state: Mutex<Playing>,
}

fn no_episode() -> PyErr {
    Error::new_err("there is no episode: call reset first")
}

/// A constant as Python has it: a text or an integer.
fn object<'py>(py: Python<'py>, constant: &Constant) -> Bound<'py, PyAny> {
    match constant {
        Constant::Int(n) => PyInt::new(py, *n).into_any(),
        Constant::Name(name) => PyString::intern(py, name).into_any(),
    }
}

impl Episodes {
    /// The episode, where there is one. Others may run while this waits: whoever plays now may need the interpreter.
    fn lock(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, Playing>> {
        let playing = self.lock_any(py);
        if playing.begun {
            return Ok(playing);
        }
        Err(no_episode())
    }

    fn lock_any(&self, py: Python<'_>) -> MutexGuard<'_, Playing> {
        self.state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
    }

    /// An action as a tuple.
    fn shown<'py>(
        py: Python<'py>,
        universe: &Universe,
        alphabet: &Alphabet,
        action: &GroundAction,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let decl = alphabet.action(action.action);
        Episodes::tuple(py, universe, &decl.name, &decl.written(&action.args))
    }

    fn tuple<'py>(
        py: Python<'py>,
        universe: &Universe,
        name: &str,
        args: &[Object],
    ) -> PyResult<Bound<'py, PyTuple>> {
        let name = PyString::intern(py, name).into_any();
        let objects = args.iter().map(|&o| object(py, universe.name(o)));
        PyTuple::new(py, std::iter::once(name).chain(objects).collect::<Vec<_>>())
    }
}

#[pymethods]
impl Episodes {
    /// Draws an instance and starts an episode in it.
    fn reset(&self, py: Python<'_>, seed: u64) -> PyResult<()> {
        let mut playing = self.lock_any(py);
        let Playing { env, rng, begun, over } = &mut *playing;
        *rng = Rng::new(seed, 0);
        py.detach(|| env.reset(rng));
        let failed = env.fault().map(raise_fault);
        (*begun, *over) = (failed.is_none(), failed.is_some());
        failed.map_or(Ok(()), Err)
    }

    /// What holds now, as tuples.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let playing = self.lock(py)?;
        let alphabet = self.world.alphabet();
        let mut facts = derrl::logic::Facts::new(&alphabet);
        observe(playing.env.as_ref(), &mut facts);
        let universe = playing.env.universe();
        let all = facts
            .iter()
            .filter(|(p, _)| alphabet.predicate(*p).role.is_given())
            .map(|(p, args)| Episodes::tuple(py, universe, &alphabet.predicate(p).name, args));
        PyList::new(py, all.collect::<PyResult<Vec<_>>>()?)
    }

    /// The objects of the instance, in order.
    fn objects<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let playing = self.lock(py)?;
        let universe = playing.env.universe();
        Ok(universe.objects().map(|o| object(py, universe.name(o))).collect())
    }

    /// All actions of the instance, in order, as tuples.
    fn actions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let playing = self.lock(py)?;
        let alphabet = self.world.alphabet();
        let universe = playing.env.universe();
        let all = universe.ground_actions(&alphabet);
        let all = all.iter().map(|a| Episodes::shown(py, universe, &alphabet, a));
        PyList::new(py, all.collect::<PyResult<Vec<_>>>()?)
    }

    /// The legal actions, as tuples; none where any may be tried.
    fn legal<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyList>>> {
        let playing = self.lock(py)?;
        let alphabet = self.world.alphabet();
        let mut facts = derrl::logic::Facts::new(&alphabet);
        observe(playing.env.as_ref(), &mut facts);
        let mut legal: Vec<GroundAction> = Vec::new();
        if !engine::list_legal(playing.env.as_ref(), &alphabet, &facts, &mut legal) {
            return Ok(None);
        }
        let universe = playing.env.universe();
        let all = legal.iter().map(|a| Episodes::shown(py, universe, &alphabet, a));
        Ok(Some(PyList::new(py, all.collect::<PyResult<Vec<_>>>()?)?))
    }

    /// Acts, and returns the reward, whether the episode has ended by itself and whether it was cut off.
    fn step(&self, py: Python<'_>, action: &Bound<'_, PyAny>) -> PyResult<(f64, bool, bool)> {
        let (mut atoms, mut lexicon) = (Atoms::default(), Lexicon::default());
        atoms.read_one(&mut lexicon, action, ACTION)?;
        let mut said = (String::new(), Vec::new());
        atoms.each(&lexicon, |name, args| {
            said = (name.to_string(), args.iter().map(ToString::to_string).collect())
        });
        let (name, args) = said;
        let mut playing = self.lock(py)?;
        let Playing { env, rng, over, .. } = &mut *playing;
        if *over {
            return Err(Error::new_err("the episode is over: call reset first"));
        }
        let alphabet = self.world.alphabet();
        let names: Vec<Constant> = args.iter().map(|name| constant(name)).collect();
        let Some((id, names)) = alphabet.find_ground(&name, &names) else {
            let whole = alphabet.actions.iter().filter(|a| !a.repeats());
            let known: Vec<String> = whole.map(|a| format!("{}/{}", a.name, a.arity())).collect();
            let wanted = format!("{name}/{}", args.len());
            let help = engine::nearest(&wanted, known.iter().map(String::as_str));
            return Err(Error::new_err(format!("there is no action `{wanted}`{help}")));
        };
        let found = derrl::learner::find_action(&alphabet, env.universe(), id, &names);
        let action = found.map_err(Error::new_err)?;
        let mut legal = Vec::new();
        if env.legal(&mut legal) && !legal.contains(&action) {
            return Err(Error::new_err(format!(
                "{name}({}) is not legal here: see legal()",
                args.join(", ")
            )));
        }
        let outcome = py.detach(|| env.step(action.action, &action.args, rng));
        *over = outcome.status != Status::Running;
        if let Some(fault) = env.fault() {
            return Err(raise_fault(fault));
        }
        let status = outcome.status;
        Ok((outcome.reward, status == Status::Terminated, status == Status::Truncated))
    }

    /// Whether the episode has reached what the task asks for.
    fn succeeded(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.lock(py)?.env.succeeded())
    }

    /// The agent whose turn it is, and how many there are.
    fn turn(&self, py: Python<'_>) -> PyResult<(usize, usize)> {
        let playing = self.lock(py)?;
        Ok((playing.env.turn(), playing.env.agents()))
    }

    /// What each agent earned in the round that the last step completed; empty within a round.
    fn round_rewards(&self, py: Python<'_>) -> PyResult<Vec<f64>> {
        Ok(self.lock(py)?.env.round_rewards().to_vec())
    }

    /// The best-known return from the start of the instance, where it is known.
    fn best_return(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        Ok(self.lock(py)?.env.best_return())
    }

    /// What the state looks like, as JSON. Of several agents, the place where they are is known before the first episode.
    fn scene_json(&self, py: Python<'_>) -> PyResult<String> {
        let playing = self.lock_any(py);
        if !playing.begun && playing.env.agents() == 1 {
            return Err(no_episode());
        }
        serde_json::to_string(&playing.env.scene()).map_err(raise)
    }
}

/// A name as the language has it: an integer where it is written as one.
pub fn constant(name: &str) -> Constant {
    match name.parse::<i64>() {
        Ok(n) if n.to_string() == name => Constant::Int(n),
        _ => Constant::name(name),
    }
}
