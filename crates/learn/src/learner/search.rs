//! Runs of several seeds side by side.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use derrl_env::{Cost, Env};
use derrl_logic::{Alphabet, Policy, Source};

use super::checkpoint::{Checkpoint, Ending, Learned};
use super::limits::{GRACE, MOST_STEPS};
use super::observer::Observer;
use super::origin::Origin;
use super::plan::Terms;
use super::run::{Given, Run, instances};
use super::words::Lexicon;
use crate::act::score::check_definitions;
use crate::error::Error;
use crate::language::problem::Problem;
use crate::parallel::in_chunks;
use crate::settings::config::Config;

/// Makes environments of the training task.
pub type MakeEnv<'a> = dyn Fn() -> Result<Box<dyn Env>, derrl_env::Error> + Sync + 'a;

/// Makes environments of training instances by size, the smallest first.
pub type MakeSizes<'a> = dyn Fn() -> Result<Sizes, derrl_env::Error> + Sync + 'a;

/// Training instances by size, the smallest first.
#[derive(Default)]
pub struct Sizes {
    /// Those that are given; none where the world has no sizes.
    pub given: Vec<Box<dyn Env>>,
    /// Larger ones that were made up: policies are told apart by them, but it is not known whether they can be solved.
    pub made_up: Vec<Box<dyn Env>>,
}

/// Runs that share a pool of threads.
pub struct Search<'a> {
    problem: &'a Arc<Problem>,
    config: &'a Config,
    make_env: &'a MakeEnv<'a>,
    observer: &'a dyn Observer,
    /// Environment steps of each run, where they are limited.
    steps: Option<u64>,
    /// Training instances by size, where the world has sizes.
    make_sizes: Option<&'a MakeSizes<'a>>,
}

impl<'a> Search<'a> {
    /// A search for policies of this problem.
    pub fn new(
        problem: &'a Arc<Problem>,
        config: &'a Config,
        make_env: &'a MakeEnv<'a>,
        observer: &'a dyn Observer,
    ) -> Search<'a> {
        Search { problem, config, make_env, observer, steps: None, make_sizes: None }
    }

    /// The same search with training instances by size, the smallest first: policies are improved and compared on these too.
    #[must_use]
    pub fn with_sizes(self, make_sizes: &'a MakeSizes<'a>) -> Search<'a> {
        Search { make_sizes: Some(make_sizes), ..self }
    }

    /// The same search, each run of which takes no more than about this many environment steps.
    #[must_use]
    pub fn within(self, steps: u64) -> Search<'a> {
        Search { steps: Some(steps), ..self }
    }

    /// Learns once per seed, each from its checkpoint, on so many threads; `None` for runs that were interrupted. What is learned does not
    /// depend on the number of threads.
    #[expect(clippy::needless_pass_by_value, reason = "who hands checkpoints over need not keep them")]
    pub fn run(&self, seeds: Vec<(u64, Checkpoint)>, threads: usize) -> Result<Vec<Option<Learned>>, Error> {
        self.config.check()?;
        check_definitions(&self.problem.alphabet, (self.make_env)()?.as_mut())?;
        let mut found: Vec<Option<Learned>> = vec![None; seeds.len()];
        let failed: RefCell<Option<Error>> = RefCell::default();
        let work = |(): &mut (), (seed, checkpoint): &(u64, Checkpoint), _: &AtomicBool| {
            let one = AssertUnwindSafe(|| self.one(*seed, checkpoint));
            Some(catch_unwind(one).unwrap_or_else(|panic| Err(panicked(panic.as_ref()))))
        };
        let mut done = |i: usize, result| match result {
            Ok(learned) => found[i] = learned,
            Err(error) => {
                failed.borrow_mut().get_or_insert(error);
            }
        };
        // Runs that are interrupted end by themselves.
        if threads.min(seeds.len()) <= 1 {
            // In this thread: it is attached to an interpreter once, where a world is written in Python.
            for (i, seed) in seeds.iter().enumerate() {
                if failed.borrow().is_some() {
                    break;
                }
                if let Some(result) = work(&mut (), seed, &AtomicBool::new(false)) {
                    done(i, result);
                }
            }
        } else {
            in_chunks(&seeds, threads, || (), work, done, || failed.borrow().is_some());
        }
        failed.into_inner().map_or(Ok(found), Err)
    }

    /// The run of a seed; `None` if it was interrupted.
    fn one(&self, seed: u64, checkpoint: &Checkpoint) -> Result<Option<Learned>, Error> {
        let mut checkpoint = checkpoint.clone();
        if checkpoint.ending.is_none() {
            self.observer.begins(seed);
            let asked = Cell::new(None);
            let stop = || self.cuts(&asked);
            checkpoint.ending = match self.ending(seed, &mut checkpoint, &stop) {
                Err(Error::Interrupted) => return Ok(None),
                other => Some(other?),
            };
            (checkpoint.racing, checkpoint.running) = (None, Vec::new());
        }
        let ending = checkpoint.ending.as_ref().ok_or(Error::Interrupted)?;
        let learned = self.learned(&checkpoint, ending)?;
        self.observer.finished(seed, &checkpoint, &learned);
        Ok(Some(learned))
    }

    /// Whether a move is to be cut short: it was asked to stop this long ago, and is not done yet.
    fn cuts(&self, asked: &Cell<Option<Instant>>) -> bool {
        if asked.get().is_none() && self.observer.interrupted() {
            asked.set(Some(Instant::now()));
        }
        asked.get().is_some_and(|asked| asked.elapsed() >= GRACE)
    }

    /// What a run comes to.
    fn ending(
        &self,
        seed: u64,
        checkpoint: &mut Checkpoint,
        stop: &dyn Fn() -> bool,
    ) -> Result<Ending, Error> {
        let given = self.given(seed)?;
        let mut run = Run::new(given, self.observer, stop);
        if let Some(saved) = &checkpoint.racing {
            run = run.from(saved, checkpoint)?;
        }
        run.search()?;
        let before = run
            .best()
            .map_or_else(String::new, |(policy, alphabet)| policy.display_needed(&alphabet).to_string());
        self.observer.phase(seed, "comparing the best rules");
        let chosen = run.finish()?;
        let policy = chosen.policy.display_needed(&chosen.alphabet).to_string();
        run.tell(&policy, chosen.mean_return, chosen.success);
        let frozen = |rule| self.problem.is_frozen(rule);
        let origin = |rule| if frozen(rule) { Origin::Given } else { chosen.origin };
        checkpoint.done.clone_from(&run.record.restarts);
        let trained = checkpoint.done.iter().map(|d| d.steps).sum::<u64>();
        Ok(Ending {
            origins: chosen.policy.rules.iter().map(origin).collect(),
            policy,
            unsimplified: before,
            steps: run.steps(),
            selection_steps: run.steps().saturating_sub(trained),
            widenings: run.record.widenings.clone(),
            success: chosen.success,
            by_chance: run.record.by_chance,
        })
    }

    /// What the run of a seed is given.
    pub(super) fn given(&self, seed: u64) -> Result<Given<'_>, Error> {
        let env = (self.make_env)()?;
        let numbers = !self.problem.alphabet.measures.is_empty();
        let (costly, alone, has_goal) = match env.cost() {
            Cost::Dear { episodes } => (Some(episodes), env.agents() == 1, env.has_goal()),
            Cost::Cheap => (None, env.agents() == 1, env.has_goal()),
        };
        let has_sizes = alone && costly.is_none() && !numbers;
        let sizes = self.make_sizes.filter(|_| has_sizes).map_or(Ok(Sizes::default()), |make| make())?;
        let mut envs = sizes.given;
        let made_up = if envs.is_empty() { Vec::new() } else { sizes.made_up };
        if envs.is_empty() {
            envs.push(env);
        }
        let of_world = envs.len();
        envs.extend(made_up);
        let terms = Terms {
            most: self.steps.unwrap_or(MOST_STEPS),
            sizes: envs.len(),
            given: of_world,
            tables: has_sizes,
            numbers,
            has_goal,
            restarts: if numbers { 0 } else { self.config.restarts },
            without: self.config.without.clone(),
        };
        let instances = instances(&terms, costly);
        let lexicon = Lexicon::new(self.problem);
        Ok(Given { lexicon, config: self.config, envs, terms, instances, seed })
    }

    /// A run that has come to its end.
    fn learned(&self, checkpoint: &Checkpoint, ending: &Ending) -> Result<Learned, Error> {
        let (policy, alphabet) = self.read(&ending.policy)?;
        let (unsimplified, unsimplified_alphabet) = self.read(&ending.unsimplified)?;
        Ok(Learned {
            policy,
            alphabet,
            unsimplified,
            unsimplified_alphabet,
            restart: checkpoint.done.iter().rev().find(|d| d.led).map_or(0, |d| d.restart),
            steps: ending.steps,
            selection_steps: ending.selection_steps,
            origins: ending.origins.clone(),
            widenings: ending.widenings.clone(),
            success: ending.success,
            by_chance: ending.by_chance,
        })
    }

    fn read(&self, text: &str) -> Result<(Policy, Arc<Alphabet>), Error> {
        let source = Source::new("learned rules", text);
        Policy::read(&source, &self.problem.alphabet).map_err(|e| Error::Policy(e.to_string()))
    }
}

/// What a panic says, as an error.
fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked");
    Error::Worker(text.to_string())
}
