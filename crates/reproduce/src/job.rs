//! A job: one agent trained once on one domain, from a seed, then scored; or timed while it trains.
//!
//! A job depends on nothing but what it says, so its result is kept under a name made of all that, and jobs that several
//! experiments ask for are run once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use anyhow::Context;
use derrl_env::{Options, find};
use derrl_learn::{
    BaselineConfig, Config, Observer, Point, Score, Setup, TrainingJob, TrainingResult, evaluate_agent,
    find_agent,
};
use serde::{Deserialize, Serialize};

use derrl_files::provenance::{commit, today};
use derrl_files::safe_file::{make_folder, write};
use derrl_files::sealed::fingerprint;

/// Scores are taken on other instances than policies were chosen by.
const SCORE_SEED: u64 = 1000;

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Whether it is about scores or about time.
    pub purpose: Purpose,
    /// Who.
    pub agent: String,
    /// In which domain.
    pub domain: String,
    /// The task trained on.
    pub task: String,
    /// Options of the world trained in.
    pub options: Options,
    /// The seed.
    pub seed: u64,
    /// The budget.
    pub decisions: u64,
    /// Settings of DERRL.
    pub config: Option<Config>,
    /// Settings of NLRL, GCN and MLP.
    pub learning: Option<BaselineConfig>,
    /// Episodes per score.
    pub episodes: usize,
    /// What is scored: tasks with options of the world.
    pub tasks: Vec<(String, Options)>,
}

/// What a job is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// To train and score.
    Score,
    /// To measure the time of training, with nothing else going on.
    Time,
}

/// What came of a job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Finished {
    /// The job.
    pub job: Job,
    /// The score of each task, as [`Job::tasks`] lists them.
    pub scores: Vec<Score>,
    /// How training went.
    pub trained: TrainingResult,
    /// What was learned, where it can be read.
    pub rules: Option<String>,
    /// Seconds it took in all, scoring included.
    pub seconds: f64,
    /// Processor seconds of the whole training run: everything from the start to the policy that is scored.
    pub training_seconds: f64,
    /// Seconds per episode and per decision of training, if it was for that.
    pub time: Option<Time>,
    /// When it was run.
    pub date: String,
    /// By which code.
    pub commit: String,
}

/// Training time.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Time {
    /// Seconds per episode.
    pub episode: f64,
    /// Seconds per decision.
    pub decision: f64,
    /// Episodes measured.
    pub episodes: u64,
}

impl Job {
    /// A job of an agent with its own settings; DERRL's can be changed.
    pub fn new(agent: &str, domain: &str, config: &Config) -> anyhow::Result<Job> {
        let (row, spec) = (find_agent(agent)?, find(domain)?);
        Ok(Job {
            purpose: Purpose::Score,
            agent: agent.to_string(),
            domain: domain.to_string(),
            task: spec.tasks()[0].name.clone(),
            options: Options::default(),
            seed: 0,
            decisions: 0,
            // What an agent does not read is no part of its job.
            config: (agent == "derrl").then(|| config.clone()),
            learning: row.learning.map(|own| own()),
            episodes: 0,
            tasks: Vec::new(),
        })
    }

    /// What it is, in a few words.
    pub fn name(&self) -> String {
        let Options { noise, size, range, .. } = &self.options;
        let mut name = format!("{} on {}", self.agent, self.domain);
        for (option, given) in [
            ("noise", noise.map(|p| p.to_string())),
            ("size", size.map(|n| n.to_string())),
            ("range", range.map(|n| n.to_string())),
        ] {
            if let Some(value) = given {
                name = format!("{name}, {option} {value}");
            }
        }
        format!("{name}, seed {}", self.seed)
    }

    /// Whether it is of this agent, or of this agent and domain (`derrl:gridworld`).
    pub fn is(&self, which: &str) -> bool {
        match which.split_once(':') {
            Some((agent, domain)) => self.agent == agent && self.domain == domain,
            None => self.agent == which,
        }
    }

    /// The name under which its result is kept: other settings, other name.
    fn key(&self) -> anyhow::Result<String> {
        let says =
            [&serde_json::to_string(self)?, &self.reads_of_domain()?, env!("CARGO_PKG_VERSION")].concat();
        let hash = fingerprint(says.bytes());
        Ok(format!("{}-{}-{}-{}.json", self.domain, self.agent, self.seed, &hash[..12]))
    }

    /// What the agent reads of the domain file. Only DERRL reads all of it: a change of its bias (rules, variables,
    /// constraints) leaves the runs of the others as they are.
    fn reads_of_domain(&self) -> anyhow::Result<String> {
        let spec = find(&self.domain)?;
        if self.agent == "derrl" {
            return Ok(spec.domain().to_string());
        }
        let alphabet = spec.alphabet();
        let predicates: Vec<_> = alphabet.predicates.iter().map(|p| (&p.name, &p.args)).collect();
        let actions: Vec<_> = alphabet.actions.iter().map(|a| (&a.name, &a.args)).collect();
        let templates = (self.agent == "nlrl").then_some(&alphabet.templates);
        Ok(format!("{predicates:?} {actions:?} {:?} {templates:?}", alphabet.types))
    }

    /// Does it. `None` if interrupted.
    pub fn run(&self, watcher: &dyn Observer) -> anyhow::Result<Option<Finished>> {
        let start = Instant::now();
        let (row, spec) = (find_agent(&self.agent)?, find(&self.domain)?);
        let alphabet = spec.alphabet();
        let make_env = || spec.make(&alphabet, &self.task, &self.options);
        let config = self.config.clone().unwrap_or_default();
        let setup = Setup {
            alphabet: &alphabet,
            make_env: &make_env,
            config: &config,
            learning: self.learning.as_ref(),
        };
        let mut agent = (row.make)(&setup)?;
        let training = TrainingJob {
            make_env: &make_env,
            seed: self.seed,
            decisions: self.decisions,
            threads: 1,
            watcher,
        };
        // On one thread, training runs in this one.
        let before = thread_seconds();
        let Some(trained) = agent.train(&training)? else { return Ok(None) };
        let training_seconds = thread_seconds() - before;
        let mut scores = Vec::new();
        for (task, options) in &self.tasks {
            if watcher.interrupted() {
                return Ok(None);
            }
            let mut env = spec.make(&alphabet, task, options)?;
            scores.push(evaluate_agent(agent.as_mut(), env.as_mut(), self.episodes, SCORE_SEED + self.seed)?);
        }
        Ok(Some(Finished {
            job: self.clone(),
            scores,
            trained,
            rules: agent.rules(),
            seconds: start.elapsed().as_secs_f64(),
            training_seconds,
            time: None,
            date: today(),
            commit: commit(),
        }))
    }

    /// Trains while the clock runs. `None` if interrupted.
    pub fn time(&self, watcher: &dyn Observer) -> anyhow::Result<Option<Finished>> {
        let clock = Clock { watcher, last: Mutex::default() };
        // A thread of its own, so that its processor time is that of the training alone.
        let finished = std::thread::scope(|scope| scope.spawn(|| self.run(&clock)).join());
        let Ok(finished) = finished else { anyhow::bail!("{}: training failed", self.name()) };
        let Some(finished) = finished? else { return Ok(None) };
        let last = clock.last.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (seconds, point) = last.with_context(|| format!("{}: nothing was measured", self.name()))?;
        let time = Time {
            episode: seconds / point.episodes.max(1) as f64,
            decision: seconds / point.decisions.max(1) as f64,
            episodes: point.episodes,
        };
        Ok(Some(Finished { time: Some(time), ..finished }))
    }
}

/// Notes how much processor time training has taken by each point of its curve.
struct Clock<'a> {
    watcher: &'a dyn Observer,
    last: Mutex<Option<(f64, Point)>>,
}

impl Observer for Clock<'_> {
    fn point(&self, point: &Point) {
        // Called by the thread that trains.
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some((thread_seconds(), *point));
        self.watcher.point(point);
    }

    fn interrupted(&self) -> bool {
        self.watcher.interrupted()
    }
}

/// Seconds that this thread has run on a processor, which other programs do not disturb.
#[cfg(unix)]
fn thread_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Seconds since the first call in this thread: CPU time is unavailable on this platform.
#[cfg(not(unix))]
fn thread_seconds() -> f64 {
    thread_local!(static START: Instant = Instant::now());
    START.with(|start| start.elapsed().as_secs_f64())
}

/// The folder of finished jobs.
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// The store in a folder, made where it is missing.
    pub fn open(folder: &Path) -> anyhow::Result<Store> {
        let folder = folder.join("jobs");
        make_folder(&folder)?;
        Ok(Store { folder })
    }

    /// The result of a job, if it is there. One that cannot be read counts as missing.
    pub fn find(&self, job: &Job) -> anyhow::Result<Option<Finished>> {
        let Ok(text) = std::fs::read_to_string(self.folder.join(job.key()?)) else { return Ok(None) };
        Ok(serde_json::from_str::<Finished>(&text).ok().filter(|f| f.job == *job))
    }

    /// Forgets the results of these jobs, so that they are run again.
    pub fn forget<'j>(&self, jobs: impl Iterator<Item = &'j Job>) -> anyhow::Result<()> {
        for job in jobs {
            let path = self.folder.join(job.key()?);
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(error).with_context(|| format!("cannot remove {}", path.display()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Keeps a result.
    pub fn keep(&self, finished: &Finished) -> anyhow::Result<()> {
        write(&self.folder.join(finished.job.key()?), &serde_json::to_string(finished)?)
    }
}

/// The results of jobs, found by what was asked for.
#[derive(Debug, Default)]
pub struct Results {
    by_key: BTreeMap<String, Finished>,
}

impl Results {
    /// Adds a result.
    pub fn add(&mut self, finished: Finished) -> anyhow::Result<()> {
        self.by_key.insert(finished.job.key()?, finished);
        Ok(())
    }

    /// The result of a job, if it was run.
    pub fn of(&self, job: &Job) -> Option<&Finished> {
        self.by_key.get(&job.key().ok()?)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Finished> {
        self.by_key.values()
    }

    /// The results of those of these jobs that were run, in order.
    pub fn all(&self, jobs: &[Job]) -> Vec<&Finished> {
        jobs.iter().filter_map(|job| self.of(job)).collect()
    }
}
