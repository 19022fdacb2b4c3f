//! A whole run: restarts in waves, until enough of them agree; then the end (`finish.rs`).

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use derrl_env::{Cost, Env};

use crate::act::score::{SOLVED, check_definitions, mean_stderr};
use crate::error::Error;
use crate::language::problem::Problem;
use crate::search::budget::{Budget, PAIR, short_restarts};
use crate::search::checkpoint::{Checkpoint, Learned, RestartResult, best_of};
use crate::search::dialects::{Dialect, Tongues};
use crate::search::diary::{Diary, Questions, Stage};
use crate::search::finish::Look;
use crate::search::improve::starts;
use crate::search::observer::Observer;
use crate::search::refine::advantage;
use crate::settings::config::Config;

/// Makes environments of the training task, one per restart.
pub type MakeEnv<'a> = dyn Fn() -> Result<Box<dyn Env>, derrl_env::Error> + Sync + 'a;

/// Makes environments of training instances by size, the smallest first.
pub type MakeSizes<'a> = dyn Fn() -> Result<Sizes, derrl_env::Error> + Sync + 'a;

/// Restarts that agree on a smaller share of successes than this have failed alike: others are tried.
const FAILED: f64 = 0.9;
/// The same where outcomes depend on chance, if the restarts found the same rules.
const FAILED_BY_CHANCE: f64 = 0.5;

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
    pub(super) problem: &'a Arc<Problem>,
    pub(super) config: &'a Config,
    pub(super) make_env: &'a MakeEnv<'a>,
    pub(super) observer: &'a dyn Observer,
    /// Environment steps of each run, selection included, where they are limited.
    steps: Option<u64>,
    /// Training instances by size, where the world has sizes.
    pub(super) make_sizes: Option<&'a MakeSizes<'a>>,
    /// Wider languages for restarts, once they are asked for.
    pub(super) dialects: OnceLock<Vec<Dialect>>,
}

/// What a thread does next, for the run of that number.
#[derive(Clone, Copy)]
enum Job {
    /// The scout.
    Scout(usize),
    /// One restart.
    Restart(usize, u64),
    /// What follows the last restart, given the number of the chosen one among those done.
    Complete(usize, usize),
}

struct Shared {
    queue: VecDeque<Job>,
    runs: Vec<SeedRun>,
    error: Option<Error>,
    terms: Terms,
}

/// What holds for all runs of a search.
#[derive(Clone, Copy)]
pub(super) struct Terms {
    /// Whether episodes cost so much that few of them have to do.
    pub(super) costly: bool,
    /// Whether episodes succeed or fail: those of several agents, or without a goal, are only scored.
    pub(super) decided: bool,
    pub(super) budget: Budget,
}

/// The run of one seed.
struct SeedRun {
    seed: u64,
    /// Which training instance each episode starts in by which restarts were judged: some worlds have a handful of instances.
    instances: Vec<u64>,
    checkpoint: Checkpoint,
    started: u64,
    /// Whether the scout is still under way.
    scouting: bool,
    learned: Option<Learned>,
}

impl<'a> Search<'a> {
    /// A search for policies of this problem.
    pub fn new(
        problem: &'a Arc<Problem>,
        config: &'a Config,
        make_env: &'a MakeEnv<'a>,
        observer: &'a dyn Observer,
    ) -> Search<'a> {
        let dialects = OnceLock::new();
        Search { problem, config, make_env, observer, steps: None, make_sizes: None, dialects }
    }

    /// The same search with training instances by size, the smallest first: policies are improved and compared on these too.
    #[must_use]
    pub fn with_sizes(self, make_sizes: &'a MakeSizes<'a>) -> Search<'a> {
        Search { make_sizes: Some(make_sizes), ..self }
    }

    /// The same search, each run of which takes no more than this many environment steps, those of selection included,
    /// but for the ends of episodes.
    #[must_use]
    pub fn within(self, steps: u64) -> Search<'a> {
        Search { steps: Some(steps), ..self }
    }

    /// The same search in another language.
    pub(super) fn over<'b>(&'b self, problem: &'b Arc<Problem>) -> Search<'b> {
        let Search { config, make_env, observer, steps, make_sizes, .. } = *self;
        Search { problem, config, make_env, observer, steps, make_sizes, dialects: OnceLock::new() }
    }

    /// The problem.
    pub(crate) fn problem(&self) -> &Arc<Problem> {
        self.problem
    }

    /// Told how it goes.
    pub(crate) fn observer(&self) -> &dyn Observer {
        self.observer
    }

    /// An environment of the training task.
    pub(crate) fn make_env(&self) -> Result<Box<dyn Env>, Error> {
        Ok((self.make_env)()?)
    }

    /// Learns once per seed on `threads` threads, from the checkpoints given. The result of a seed does not depend on
    /// the other seeds, on the number of threads, or on when it was interrupted. `None` for runs that were interrupted.
    pub fn run(&self, seeds: Vec<(u64, Checkpoint)>, threads: usize) -> Result<Vec<Option<Learned>>, Error> {
        self.config.check()?;
        let mut env = (self.make_env)()?; // what cannot work fails before any thread starts
        check_definitions(&self.problem.alphabet, env.as_mut())?;
        let costly = matches!(env.cost(), Cost::Dear { .. });
        let alone = env.agents() == 1;
        let decided = alone && env.has_goal();
        let may_grow = !costly && alone;
        drop(env);
        // States with numbers never come again, so that what the rest of this search is about is not there.
        if !self.problem.alphabet.measures.is_empty() {
            return self.run_on_numbers(&seeds, threads, self.steps);
        }
        let unlimited = Budget::unlimited(self.config);
        let budget = self.steps.map_or(unlimited, |steps| Budget::within(self.config, steps, may_grow));
        let terms = Terms { costly, decided, budget };
        let mut shared = Shared { queue: VecDeque::new(), runs: Vec::new(), error: None, terms };
        for (seed, checkpoint) in seeds {
            // Waves are counted by restarts done, so that a resumed run continues the wave it was in.
            let started = checkpoint.done.len() as u64;
            let judged = checkpoint.done.iter().map(|d| d.returns.len()).max().unwrap_or(0);
            let instances = self.instances(judged, seed, terms)?;
            shared.runs.push(SeedRun {
                seed,
                instances,
                checkpoint,
                started,
                scouting: false,
                learned: None,
            });
            let run = shared.runs.len() - 1;
            let state = &shared.runs[run].checkpoint;
            // The scout starts from nothing, so that it would lose what has to stay.
            let scouts = self.problem.is_free() && self.config.improve && short_restarts(self.config) > 0;
            if may_grow && scouts && state.scout.is_none() {
                self.next_scout(&mut shared, run);
                // A resumed run may wait for the scout alone: what it finds decides whether there is another wave.
                let done = shared.runs[run].started as usize;
                if done == 0 || self.next_look(&shared, run, done - 1) != done {
                    self.next_wave(&mut shared, run);
                }
            } else {
                self.next_jobs(&mut shared, run);
            }
        }
        let shared = Mutex::new(shared);
        let changed = Condvar::new();
        std::thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|| self.work(&shared, &changed));
            }
            self.work(&shared, &changed);
        });
        let shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        match shared.error {
            Some(error) => Err(error),
            None => Ok(shared.runs.into_iter().map(|r| r.learned).collect()),
        }
    }

    /// Which instance each of the first so many episodes of selection starts in. Where episodes are costly it is not asked.
    fn instances(&self, episodes: usize, seed: u64, terms: Terms) -> Result<Vec<u64>, Error> {
        if self.make_sizes.is_none() || terms.costly || episodes == 0 {
            return Ok(Vec::new());
        }
        let starts = starts((self.make_env)()?.as_mut(), &self.problem.alphabet, episodes, seed);
        Ok(starts.iter().map(|&instance| u64::from(instance)).collect())
    }

    /// Takes jobs until there are none, somebody asks to stop, or a job fails. A panic, in a job or in the observer,
    /// fails the search: the other threads see it and stop.
    fn work(&self, shared: &Mutex<Shared>, changed: &Condvar) {
        loop {
            let turn = catch_unwind(AssertUnwindSafe(|| {
                let Some(job) = self.next_job(shared, changed) else { return Ok(false) };
                self.do_job(job, shared).map(|()| true)
            }));
            let result = turn.unwrap_or_else(|panic| Err(panicked(panic.as_ref())));
            if let Err(error) = &result {
                lock(shared).error.get_or_insert_with(|| error.clone());
            }
            changed.notify_all();
            if result != Ok(true) {
                return;
            }
        }
    }

    /// The next job, once there is one; `None` if there is nothing more to do.
    fn next_job(&self, shared: &Mutex<Shared>, changed: &Condvar) -> Option<Job> {
        let mut guard = lock(shared);
        loop {
            if self.observer.interrupted() || guard.error.is_some() {
                return None;
            }
            if let Some(job) = guard.queue.pop_front() {
                return Some(job);
            }
            if guard.runs.iter().all(|r| r.learned.is_some()) {
                return None;
            }
            guard = changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// What a part of a run comes to, with dear questions answered from the diary of the run and kept in it; `None` if interrupted.
    fn asking<T>(
        &self,
        run: usize,
        stage: Stage,
        shared: &Mutex<Shared>,
        work: impl FnOnce(&Rc<Questions<'_>>) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        let guard = lock(shared);
        let (seed, diary) = (guard.runs[run].seed, guard.runs[run].checkpoint.diary.clone());
        drop(guard);
        self.observer.begins(seed);
        let stop = || self.observer.interrupted();
        let save = |diary: Diary| {
            let mut guard = lock(shared);
            guard.runs[run].checkpoint.diary = Some(diary);
            self.observer.checkpoint(seed, &guard.runs[run].checkpoint);
        };
        let questions = Rc::new(Questions::until(&stop).kept(stage, diary, &save));
        let found = work(&questions);
        if found.is_err() {
            questions.save();
        }
        match found {
            Err(Error::Interrupted) => Ok(None),
            other => other.map(Some),
        }
    }

    fn do_job(&self, job: Job, shared: &Mutex<Shared>) -> Result<(), Error> {
        match job {
            Job::Scout(run) => {
                let guard = lock(shared);
                let (seed, before) = (guard.runs[run].seed, guard.runs[run].checkpoint.scout.clone());
                let budget = guard.terms.budget;
                drop(guard);
                let again = before.as_ref().and_then(|_| budget.second_scout(self.config));
                let steps = again.unwrap_or_else(|| budget.scout(self.config));
                let stage = Stage::Scout(before.as_ref().map_or(0, |s| s.looks));
                let scouted = self.asking(run, stage, shared, |questions| {
                    self.scout(seed, steps, before.as_ref(), questions)
                })?;
                let Some(scouted) = scouted else { return Ok(()) };
                let mut guard = lock(shared);
                let state = &mut guard.runs[run];
                (state.checkpoint.scout, state.checkpoint.diary) = (Some(scouted), None);
                state.scouting = false;
                self.look(&mut guard, run);
            }
            Job::Restart(run, restart) => {
                let guard = lock(shared);
                let seed = guard.runs[run].seed;
                let partial =
                    guard.runs[run].checkpoint.running.iter().find(|p| p.restart == restart).cloned();
                let (terms, tongues) = (guard.terms, self.tongues(&guard, run));
                drop(guard);
                self.observer.begins(seed);
                let begun = (restart, partial);
                let result = self.restart(seed, begun, terms, tongues, &|partial| {
                    let mut guard = lock(shared);
                    guard.runs[run].checkpoint.note(partial);
                    self.observer.checkpoint(seed, &guard.runs[run].checkpoint);
                })?;
                let Some(result) = result else { return Ok(()) };
                let judged = result.returns.len();
                let known = lock(shared).runs[run].instances.len();
                let instances =
                    if judged > known { self.instances(judged, seed, terms)? } else { Vec::new() };
                let mut guard = lock(shared);
                if instances.len() > guard.runs[run].instances.len() {
                    guard.runs[run].instances = instances;
                }
                guard.runs[run].checkpoint.finish(result);
                self.look(&mut guard, run);
            }
            Job::Complete(run, chosen) => {
                let guard = lock(shared);
                let (seed, before) = (guard.runs[run].seed, guard.runs[run].checkpoint.clone());
                let (terms, tongues) = (guard.terms, self.tongues(&guard, run));
                drop(guard);
                let look = match before.ending {
                    Some(ending) => Some(Look::Ended(ending)),
                    None => self.asking(run, Stage::End, shared, |questions| {
                        self.complete(seed, &before, chosen, (terms, tongues), questions)
                    })?,
                };
                let Some(look) = look else { return Ok(()) };
                let mut guard = lock(shared);
                let state = &mut guard.runs[run];
                let ending = match look {
                    Look::Ended(ending) => ending,
                    Look::ByLuck(checkpoint) => {
                        state.checkpoint = checkpoint;
                        self.look(&mut guard, run);
                        return Ok(());
                    }
                };
                let learned = self.learned(&state.checkpoint, &ending)?;
                (state.checkpoint.ending, state.checkpoint.diary) = (Some(ending), None);
                self.observer.finished(seed, &state.checkpoint, &learned);
                state.learned = Some(learned);
            }
        }
        Ok(())
    }

    /// Tells how far a run is, and goes on once all that was begun is done.
    fn look(&self, shared: &mut Shared, run: usize) {
        let state = &shared.runs[run];
        self.observer.checkpoint(state.seed, &state.checkpoint);
        if let Some(best) = state.checkpoint.best(shared.terms.decided) {
            self.observer.best(state.seed, &best);
        }
        if !state.scouting && state.checkpoint.done.len() as u64 == state.started {
            self.next_jobs(shared, run);
        }
    }

    /// When all restarts begun are done: another wave of them, or what follows the last.
    fn next_jobs(&self, shared: &mut Shared, run: usize) {
        match self.chosen(shared, run) {
            Some(chosen) => shared.queue.push_back(Job::Complete(run, chosen)),
            None if self.is_scouted_again(shared, run) => self.next_scout(shared, run),
            None => self.next_wave(shared, run),
        }
    }

    /// Whether the first scout did not solve the task and neither did the short restarts, nor the first whole ones where these
    /// are worth waiting for.
    fn is_scouted_again(&self, shared: &Shared, run: usize) -> bool {
        let checkpoint = &shared.runs[run].checkpoint;
        let failed = checkpoint.scout.as_ref().is_some_and(|s| s.looks == 1 && s.success < SOLVED);
        let may = shared.terms.budget.second_scout(self.config).is_some();
        let short = short_restarts(self.config);
        let done = &checkpoint.done;
        let in_a_wave = done.is_empty() || self.next_look(shared, run, done.len() - 1) != done.len();
        // Longer restarts come first where short ones nearly succeed, or earned more the longer they were.
        let nearly = done.iter().any(|d| d.success >= FAILED);
        let due = done.len() > short || done.len() == short && !nearly && !gains_by_length(done);
        failed && may && due && !in_a_wave && !self.tongues(shared, run).come_first(done.len())
    }

    fn next_scout(&self, shared: &mut Shared, run: usize) {
        shared.queue.push_back(Job::Scout(run));
        shared.runs[run].scouting = true;
        self.observer.scouting(shared.runs[run].seed);
    }

    /// The number of restarts begun at the next look at their results: waves are smaller where episodes are costly.
    fn next_look(&self, shared: &Shared, run: usize, done: usize) -> usize {
        let Terms { costly, budget, .. } = shared.terms;
        let wave = if costly { self.config.wave.min(self.config.agree) } else { self.config.wave };
        budget.next_look(self.config, done, wave, self.tongues(shared, run).trials())
    }

    /// The languages that the restarts of a run speak.
    fn tongues(&self, shared: &Shared, run: usize) -> Tongues {
        let SeedRun { checkpoint, instances, .. } = &shared.runs[run];
        self.languages(checkpoint, instances, shared.terms)
    }

    fn next_wave(&self, shared: &mut Shared, run: usize) {
        // A resumed run may begin in the middle of a wave.
        let end = self.next_look(shared, run, shared.runs[run].started as usize) as u64;
        let state = &mut shared.runs[run];
        shared.queue.extend(
            (0..end)
                .filter(|r| state.checkpoint.done.iter().all(|d| d.restart != *r))
                .map(|r| Job::Restart(run, r)),
        );
        state.started = end;
        self.observer.wave(state.seed, end as usize);
    }

    /// After a wave: the restart to keep, if enough of them agree on a success or none are left.
    fn chosen(&self, shared: &Shared, run: usize) -> Option<usize> {
        let (terms, checkpoint) = (shared.terms, &shared.runs[run].checkpoint);
        let done = &checkpoint.done;
        let best = best_of(done, &shared.runs[run].instances);
        // On few episodes, a policy that fails once may be within the noise of one that does not.
        let chosen = *best.iter().find(|&&i| done[i].success >= SOLVED).or(best.first())?;
        if done.len() >= terms.budget.restarts {
            return Some(chosen);
        }
        if self.next_look(shared, run, done.len() - 1) != done.len() {
            return None; // in the middle of a wave
        }
        if self.tongues(shared, run).are_due(done.len()) {
            return None;
        }
        let short = done.len() <= short_restarts(self.config);
        let same =
            best.iter().filter(|&&i| same_rules(&done[i].simplified, &done[chosen].simplified)).count();
        let agree = if terms.decided {
            let bar = if short { SOLVED } else { FAILED };
            let agree = best.iter().filter(|&&i| done[i].success >= bar).count();
            // By chance even the best policy may fail at times: the same rules, found thrice, are no accident.
            let by_chance = checkpoint.scout.as_ref().is_some_and(|s| s.by_chance);
            let alike = if by_chance && done[chosen].success >= FAILED_BY_CHANCE {
                same.saturating_sub(1)
            } else {
                0
            };
            agree.max(alike)
        } else if short {
            // Nothing says whether these succeed: the same rules, found twice, are no accident.
            same
        } else {
            best.len()
        };
        let scout = checkpoint.scout.as_ref().filter(|s| s.success >= SOLVED);
        let lead = scout.map(|s| advantage(&s.returns, &done[chosen].returns));
        let enough = match lead {
            // Longer restarts are not waited for: the chosen policy is improved by regret, too.
            Some((gap, noise)) if gap > noise + 1e-9 => {
                done.len() >= short_restarts(self.config) || agree >= self.config.agree && !short
            }
            Some((gap, noise)) if gap >= -noise - 1e-9 => agree > 0 && agree + 1 >= self.config.agree,
            _ => agree >= self.config.agree,
        };
        enough.then_some(chosen)
    }
}

/// What a panic says, as an error.
pub(super) fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked");
    Error::Worker(text.to_string())
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the last pair of restarts earned more than the first, beyond the noise of both.
fn gains_by_length(done: &[RestartResult]) -> bool {
    let best = |of: &[RestartResult]| {
        of.iter().map(|d| mean_stderr(&d.returns)).max_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default()
    };
    let first = done.chunks(PAIR).next().map_or((0.0, 0.0), best);
    let last = done.rchunks(PAIR).next().map_or((0.0, 0.0), best);
    last.0 - first.0 > first.1.hypot(last.1) + 1e-9
}

/// Whether two policies have the same rules, whatever their values, and any at all.
fn same_rules(a: &str, b: &str) -> bool {
    let rules = |text: &str| {
        let mut rules: Vec<String> =
            text.lines().filter_map(|l| Some(l.split_once("::")?.1.to_string())).collect();
        rules.sort_unstable();
        rules
    };
    let (a, b) = (rules(a), rules(b));
    a == b && !a.is_empty()
}
