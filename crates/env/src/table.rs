//! The table of worlds.

use std::sync::Arc;

use derrl_logic::{Alphabet, Source};

use crate::error::{Error, nearest};
use crate::space::Exhaustive;
use crate::world::{Env, Vocabulary};
use crate::{blocks, countdown, doorkey, gridworld, traffic};

/// A world: its name, alphabet, tasks and how to make it.
#[derive(Debug)]
pub struct Spec {
    /// Its name on the command line and in `:- environment(...)`.
    pub name: &'static str,
    /// One line on what it is about.
    pub summary: &'static str,
    /// The text of its domain file.
    pub domain: &'static str,
    /// What it calls its predicates and actions.
    pub vocabulary: Vocabulary,
    /// Its tasks; the first is the one trained on.
    pub tasks: &'static [Task],
    /// The options it takes.
    pub options: &'static [&'static str],
    /// Makes it for a task of the list.
    pub make: Make,
    /// All its instances up to a size, or why they cannot be listed.
    pub exhaustive: Exhaustive,
}

/// Makes a world for an alphabet, a task of its list, and options.
pub type Make = fn(&Arc<Alphabet>, &'static str, &Options) -> Result<Box<dyn Env>, Error>;

/// A distribution of instances.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// Its name.
    pub name: &'static str,
    /// One line on what it draws.
    pub summary: &'static str,
    /// Whether it is scored by default (tasks of a free size are scored on request).
    pub scored: bool,
}

impl Task {
    /// A task that is scored by default.
    pub const fn new(name: &'static str, summary: &'static str) -> Task {
        Task { name, summary, scored: true }
    }

    /// The same task, scored on request only.
    #[must_use]
    pub const fn on_request(mut self) -> Task {
        self.scored = false;
        self
    }
}

/// What can be asked of a world beyond its task. A world refuses what it does not take.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Options {
    /// The probability that a chosen action is replaced by doing nothing (`--noise`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub noise: Option<f64>,
    /// How many objects (or cells a side) an instance of a free-size task has (`--size`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<usize>,
    /// How many obstacles an instance of a free-size task has (`--obstacles`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub obstacles: Option<usize>,
    /// How many numbers there are in a free-size task (`--range`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<usize>,
    /// One learner for all agents of a kind, instead of one an agent (`--shared`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
}

impl Options {
    /// What of these options a task takes: one of fixed size takes no size.
    #[must_use]
    pub fn of(&self, task: &Task) -> Options {
        let all = self.clone();
        if task.scored { Options { size: None, obstacles: None, range: None, ..all } } else { all }
    }
}

/// Every world. Adding one is a file and a row.
pub static ENVS: &[Spec] = &[countdown::SPEC, blocks::SPEC, gridworld::SPEC, doorkey::SPEC, traffic::SPEC];

/// The world of that name, or an error that suggests the nearest one.
pub fn find(name: &str) -> Result<&'static Spec, Error> {
    ENVS.iter().find(|s| s.name == name).ok_or_else(|| Error::UnknownDomain {
        name: name.to_string(),
        help: nearest(name, ENVS.iter().map(|s| s.name)),
    })
}

/// A world for a task, with options checked.
pub fn make(
    spec: &'static Spec,
    alphabet: &Arc<Alphabet>,
    task: &str,
    options: &Options,
) -> Result<Box<dyn Env>, Error> {
    let task = spec.task(task)?;
    options.check(spec)?;
    (spec.make)(alphabet, task.name, options)
}

impl Spec {
    /// The task of that name, or an error that suggests the nearest one.
    pub fn task(&self, name: &str) -> Result<&'static Task, Error> {
        self.tasks.iter().find(|t| t.name == name).ok_or_else(|| Error::UnknownTask {
            domain: self.name,
            name: name.to_string(),
            help: nearest(name, self.tasks.iter().map(|t| t.name)),
        })
    }

    /// The domain file of this world, parsed.
    pub fn alphabet(&self) -> Arc<Alphabet> {
        let source = Source::new(format!("{}.pl", self.name), self.domain);
        Arc::new(Alphabet::parse(&source).expect("built-in domain files parse: a test reads each"))
    }
}

impl Options {
    fn check(&self, spec: &Spec) -> Result<(), Error> {
        let given = [
            ("noise", self.noise.is_some()),
            ("size", self.size.is_some()),
            ("obstacles", self.obstacles.is_some()),
            ("range", self.range.is_some()),
            ("shared", self.shared),
        ];
        for (name, is_given) in given {
            if is_given && !spec.options.contains(&name) {
                let takers: Vec<&str> =
                    ENVS.iter().filter(|s| s.options.contains(&name)).map(|s| s.name).collect();
                return Err(Error::Option(format!(
                    "domain `{}` takes no --{name}; it is for: {}",
                    spec.name,
                    takers.join(", ")
                )));
            }
        }
        match self.noise {
            Some(p) if !(0.0..=1.0).contains(&p) => {
                Err(Error::Option(format!("--noise is a probability from 0 to 1, not {p}")))
            }
            _ => Ok(()),
        }
    }
}
