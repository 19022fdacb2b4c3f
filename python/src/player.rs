//! A world written in Python, as the engine sees it.

use std::cell::RefCell;

use derrl::engine::Scene;
use derrl::engine::named;
use derrl::engine::scene::Image;
use derrl::{Actions, BoxError, Cost, Env, Facts, Outcome, Rng, Status};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString, PyTuple};
use rustc_hash::FxHashMap;

use crate::atoms::{AtomId, Atoms, Lexicon, Origin, Word, shown};
use crate::failure::Raised;
use crate::turns::Turn;

const RESET: Origin = Origin::facts("reset(seed) returns");
const STEP: Origin = Origin::facts("step(action) returns facts, reward, terminated, truncated; facts are");
const BACKGROUND: Origin = Origin::facts("background() returns");
const LEGAL: Origin = Origin::actions("legal() returns");

/// A Python object with `reset` and `step`, and what it said last.
///
/// Environments that are made from one object share it: every reset begins anew, so one after the other may use it.
pub struct Player {
    object: Py<PyAny>,
    methods: Methods,
    lexicon: Lexicon,
    /// The arguments of `step` for the actions taken so far, by their text.
    taken: FxHashMap<Box<[u8]>, Py<PyTuple>>,
    text: Vec<u8>,
    said: Said,
    /// What the engine knows facts and legal actions by.
    known: RefCell<(Known, Known)>,
    horizon: usize,
    dear: Option<usize>,
    has_goal: bool,
    turn: Turn,
}

/// What the world said of the state that it is in.
#[derive(Clone, Default)]
struct Said {
    facts: Atoms,
    background: Atoms,
    legal: Atoms,
    /// Objects with their types.
    objects: Vec<(Word, Word)>,
    succeeded: Option<bool>,
}

/// The methods of the object, those that are optional only where it has them.
struct Methods {
    reset: Py<PyAny>,
    step: Py<PyAny>,
    legal: Option<Py<PyAny>>,
    succeeded: Option<Py<PyAny>>,
    background: Option<Py<PyAny>>,
    objects: Option<Py<PyAny>>,
    copy: Option<Py<PyAny>>,
    render: Option<Py<PyAny>>,
}

impl Methods {
    /// The methods of an object. An error if it has no `reset` or `step`.
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Methods> {
        let kind = || object.get_type().name().map_or_else(|_| "it".to_string(), |kind| kind.to_string());
        let find = |name: &str| match object.getattr_opt(name)?.filter(|found| !found.is_none()) {
            Some(found) if !found.is_callable() => Err(PyTypeError::new_err(format!(
                "`{name}` of a world is a method: that of {} is {}; give it another name",
                kind(),
                shown(&found)
            ))),
            found => Ok(found.map(Bound::unbind)),
        };
        let need = |name: &str| {
            find(name)?.ok_or_else(|| {
                let kind = kind();
                PyTypeError::new_err(format!(
                    "a world has the methods reset(seed) and step(action): {kind} has no `{name}`"
                ))
            })
        };
        Ok(Methods {
            reset: need("reset")?,
            step: need("step")?,
            legal: find("legal")?,
            succeeded: find("succeeded")?,
            background: find("background")?,
            objects: find("objects")?,
            copy: find("copy")?,
            render: find("render")?,
        })
    }
}

/// What the engine knows atoms by, looked up once per era.
#[derive(Clone, Default)]
struct Known {
    era: Option<u64>,
    atoms: Vec<Option<Found>>,
    /// What numbers are about.
    about: Vec<Option<Found>>,
}

/// An atom, as the engine knows it.
#[derive(Clone, Copy)]
enum Found {
    Atom(named::Atom),
    /// What a number is about, and an integer that was said in its place.
    Number(named::Atom, f64),
}

impl Known {
    fn enter(&mut self, era: u64) {
        if self.era != Some(era) {
            *self = Known { era: Some(era), ..Known::default() };
        }
    }

    fn allow(&mut self, atoms: &Atoms, lexicon: &Lexicon, to: &mut named::Atoms) {
        self.enter(to.era());
        for AtomId(number) in atoms.iter() {
            let known = self.atoms.get(number as usize).copied().flatten();
            let known = known.or_else(|| {
                let mut texts = Vec::new();
                lexicon.texts(AtomId(number), &mut texts);
                let found = Found::Atom(to.find(texts[0], &texts[1..])?);
                Some(keep(&mut self.atoms, number, found))
            });
            if let Some(Found::Atom(atom)) = known {
                to.push(atom);
            }
        }
    }

    fn say(&mut self, atoms: &Atoms, lexicon: &Lexicon, to: &mut Facts) {
        self.enter(to.atoms().era());
        for AtomId(number) in atoms.iter() {
            let known = self.atoms.get(number as usize).copied().flatten();
            match known.or_else(|| self.find(AtomId(number), lexicon, to)) {
                Some(Found::Atom(atom)) => to.atoms().push(atom),
                Some(Found::Number(about, value)) => to.push_number(about, value),
                None => {}
            }
        }
        for (AtomId(number), value) in atoms.numbers() {
            let known = self.about.get(number as usize).copied().flatten();
            match known.filter(|_| value.is_finite()) {
                Some(Found::Number(about, _)) => to.push_number(about, value),
                _ => self.report(AtomId(number), value, lexicon, to),
            }
        }
    }

    /// An atom that is said for the first time in this era. Where the domain file declares a measure, the integer in its last place is a
    /// number.
    #[cold]
    fn find(&mut self, atom: AtomId, lexicon: &Lexicon, to: &mut Facts) -> Option<Found> {
        let mut texts = Vec::new();
        lexicon.texts(atom, &mut texts);
        let integer = texts[1..].last().and_then(|last| last.parse::<i64>().ok());
        let found = match integer {
            Some(value) if to.is_number(texts[0], texts.len() - 2) => {
                let about = to.find_number(texts[0], &texts[1..texts.len() - 1])?;
                Found::Number(about, value as f64)
            }
            _ => Found::Atom(to.atoms().find(texts[0], &texts[1..])?),
        };
        Some(keep(&mut self.atoms, atom.0, found))
    }

    /// A number that is about something new, or that is none.
    #[cold]
    fn report(&mut self, about: AtomId, value: f64, lexicon: &Lexicon, to: &mut Facts) {
        let mut texts = Vec::new();
        lexicon.texts(about, &mut texts);
        if !value.is_finite() {
            to.number(texts[0], &texts[1..], value);
        } else if let Some(found) = to.find_number(texts[0], &texts[1..]) {
            keep(&mut self.about, about.0, Found::Number(found, value));
            to.push_number(found, value);
        }
    }
}

fn keep(all: &mut Vec<Option<Found>>, number: u32, found: Found) -> Found {
    let at = number as usize;
    if at >= all.len() {
        all.resize(at + 1, None);
    }
    all[at] = Some(found);
    found
}

/// Names and atoms that are kept at the most: beyond, all are forgotten when the next episode begins.
const MOST_KEPT: usize = 1 << 20;

impl Player {
    /// The player of an object. An error if it has no `reset` or `step`.
    pub fn new(object: &Bound<'_, PyAny>) -> PyResult<Player> {
        let find = |name: &str| Ok::<_, PyErr>(object.getattr_opt(name)?.filter(|value| !value.is_none()));
        let number = |name: &str| -> PyResult<Option<usize>> {
            let Some(value) = find(name)? else { return Ok(None) };
            let whole = value.extract().ok().filter(|&n: &usize| n > 0 && !value.is_instance_of::<PyBool>());
            let wrong = || format!("`{name}` of a world is a whole number from 1, not {}", shown(&value));
            whole.map(Some).ok_or_else(|| PyTypeError::new_err(wrong()))
        };
        let has_goal = find("has_goal")?.map_or(Ok(true), |value| {
            let wrong = |_| format!("`has_goal` of a world is True or False, not {}", shown(&value));
            value.extract::<bool>().map_err(|error| PyTypeError::new_err(wrong(error)))
        })?;
        Ok(Player {
            methods: Methods::of(object)?,
            lexicon: Lexicon::default(),
            taken: FxHashMap::default(),
            text: Vec::new(),
            said: Said::default(),
            known: RefCell::default(),
            horizon: number("horizon")?.unwrap_or(1000),
            dear: number("score_episodes")?,
            has_goal,
            object: object.clone().unbind(),
            turn: Turn::of(object),
        })
    }

    fn begin(&mut self, py: Python<'_>, seed: u64) -> PyResult<()> {
        if self.lexicon.trim(MOST_KEPT) || self.taken.len() > MOST_KEPT {
            self.known = RefCell::default();
            self.taken.clear();
        }
        self.turn.take();
        let facts = self.methods.reset.bind(py).call1((seed,))?;
        self.turn.check()?;
        self.said.succeeded = None;
        self.said.background.clear();
        if let Some(background) = &self.methods.background {
            self.said.background.read(&mut self.lexicon, &background.bind(py).call0()?, BACKGROUND)?;
        }
        self.look(py, &facts, RESET)
    }

    /// Reads what the world says of the state it is in.
    fn look(&mut self, py: Python<'_>, facts: &Bound<'_, PyAny>, origin: Origin) -> PyResult<()> {
        let Player { said, lexicon, methods, .. } = self;
        said.facts.clear();
        said.facts.read(lexicon, facts, origin)?;
        if let Some(legal) = &methods.legal {
            said.legal.clear();
            said.legal.read(lexicon, &legal.bind(py).call0()?, LEGAL)?;
        }
        if let Some(objects) = &methods.objects {
            said.objects.clear();
            let objects = objects.bind(py).call0()?;
            let Ok(objects) = objects.cast::<PyDict>() else {
                return Err(PyTypeError::new_err(format!(
                    "objects() returns a dict of objects with their types, as in {{\"room1\": \"room\"}}, not {}",
                    shown(&objects)
                )));
            };
            for (object, of_type) in objects.iter() {
                said.objects.push((lexicon.name(&object)?, lexicon.name(&of_type)?));
            }
        }
        Ok(())
    }

    /// The arguments of `step` for an action: a tuple that holds its tuple, made once.
    fn action<'py>(&mut self, py: Python<'py>, name: &str, args: &[&str]) -> PyResult<Bound<'py, PyTuple>> {
        self.text.clear();
        for word in std::iter::once(&name).chain(args) {
            self.text.extend((word.len() as u32).to_le_bytes());
            self.text.extend(word.as_bytes());
        }
        if let Some(made) = self.taken.get(&self.text[..]) {
            return Ok(made.bind(py).clone());
        }
        let made = PyTuple::new(py, [self.lexicon.tuple(py, name, args)?])?;
        self.taken.insert(self.text[..].into(), made.clone().unbind());
        Ok(made)
    }

    fn act(&mut self, py: Python<'_>, name: &str, args: &[&str]) -> PyResult<Outcome> {
        self.turn.check()?;
        let action = self.action(py, name, args)?;
        let came = self.methods.step.bind(py).call1(action)?;
        self.turn.check()?;
        let parts = came.cast::<PyTuple>().ok().filter(|parts| (4..=5).contains(&parts.len()));
        let Some(parts) = parts else {
            return Err(PyTypeError::new_err(format!(
                "step(action) returns facts, reward, terminated, truncated; not {}: {}",
                came.get_type().name()?,
                shown(&came)
            )));
        };
        let part = |i: usize| parts.get_borrowed_item(i);
        let facts = part(0)?;
        self.look(py, &facts, STEP)?;
        let reward = read_reward(&*part(1)?)?;
        let terminated = read_flag(&*part(2)?, "terminated")?;
        let truncated = read_flag(&*part(3)?, "truncated")?;
        let status = match (terminated, truncated) {
            (true, _) => Status::Terminated,
            (_, true) => Status::Truncated,
            _ => Status::Running,
        };
        if let Some(succeeded) = self.methods.succeeded.as_ref().filter(|_| status != Status::Running) {
            self.said.succeeded = Some(succeeded.bind(py).call0()?.is_truthy()?);
        }
        Ok(Outcome { reward, status })
    }
}

impl Player {
    /// What `render()` returns: text, SVG or an array of pixels; the facts where it returns nothing.
    fn drawn(&self, py: Python<'_>) -> PyResult<Scene> {
        let Some(render) = &self.methods.render else { return Ok(Scene::Facts) };
        let rendered = render.bind(py).call0()?;
        let read = py.import("derrl.rendering")?.getattr("read")?.call1((rendered,))?;
        let read: Option<(String, u32, u32)> = read.extract()?;
        Ok(match read {
            None => Scene::Facts,
            Some((text, 0, 0)) => Scene::Text { text },
            Some((address, width, height)) => Scene::Image(Image { address, width, height }),
        })
    }
}

/// The reward that a step returned.
fn read_reward(reward: &Bound<'_, PyAny>) -> PyResult<f64> {
    reward.extract().map_err(|_| {
        PyTypeError::new_err(format!("step(action) returns a number as reward, not {}", shown(reward)))
    })
}

/// Whether a step ended the episode. What has a truth value by accident only is refused.
fn read_flag(flag: &Bound<'_, PyAny>, name: &str) -> PyResult<bool> {
    if let Ok(flag) = flag.cast_exact::<PyBool>() {
        return Ok(flag.is_true());
    }
    if flag.is_none() || flag.is_instance_of::<PyString>() {
        let given = shown(flag);
        return Err(PyTypeError::new_err(format!(
            "step(action) returns `{name}` as True or False, not {given}"
        )));
    }
    flag.is_truthy()
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
        for &(object, of_type) in &self.said.objects {
            facts.object(self.lexicon.text(object), self.lexicon.text(of_type));
        }
        let known = &mut self.known.borrow_mut().0;
        known.say(&self.said.background, &self.lexicon, facts);
        known.say(&self.said.facts, &self.lexicon, facts);
    }

    fn step(&mut self, action: &str, args: &[&str], _: &mut Rng) -> Result<Outcome, BoxError> {
        Python::attach(|py| self.act(py, action, args)).map_err(raised)
    }

    fn legal(&self, actions: &mut Actions) -> bool {
        self.known.borrow_mut().1.allow(&self.said.legal, &self.lexicon, actions.atoms());
        self.methods.legal.is_some()
    }

    fn succeeded(&self) -> Option<bool> {
        self.said.succeeded
    }

    fn has_goal(&self) -> bool {
        self.has_goal
    }

    fn horizon(&self) -> usize {
        self.horizon
    }

    fn cost(&self) -> Cost {
        self.dear.map_or(Cost::Cheap, |episodes| Cost::Dear { episodes })
    }

    fn scene(&self) -> Scene {
        if self.methods.render.is_none() {
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
        let copied = |py: Python<'_>| -> PyResult<Option<Player>> {
            let Some(copy) = &self.methods.copy else { return Ok(None) };
            let copied = Player::new(&copy.bind(py).call0()?)?;
            copied.turn.take();
            Ok(Some(Player {
                lexicon: self.lexicon.clone_ref(py),
                said: self.said.clone(),
                known: self.known.clone(),
                ..copied
            }))
        };
        Some(Box::new(Python::attach(copied).ok()??))
    }
}
