//! A whole run: restarts in waves, then the best and simplest policy by its return on the training task.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use derrl_env::{Cost, Env};
use derrl_logic::{Action, Alphabet, Literal, Policy, Rule, Source};

use crate::act::score::{SOLVED, check_definitions};
use crate::error::Error;
use crate::experience::counted::Counted;
use crate::language::problem::Problem;
use crate::search::budget::{Budget, Plan, short_restarts};
use crate::search::checkpoint::{Checkpoint, Learned, Origin, Partial, RestartResult, best_of};
use crate::search::grow::{free_actions, grow};
use crate::search::improve::{Improver, Trial, WideningStep, starts};
use crate::search::observer::Observer;
use crate::search::prune::{length, prune, strongest_first};
use crate::search::refine::{Judge, Judged, advantage, refine};
use crate::settings::config::Config;
use crate::settings::streams::Purpose;
use crate::training::restart::Restart;

/// Makes environments of the training task, one per restart.
pub type MakeEnv<'a> = dyn Fn() -> Result<Box<dyn Env>, derrl_env::Error> + Sync + 'a;

/// Points of a training curve at the most: one per update, or one every few where a restart has more updates than this.
const CURVE_POINTS: usize = 200;
/// Grown rules fire rarely, so they are judged on this many times `selection_episodes`.
const EXTENSION: usize = 10;
/// A restart offers a checkpoint this often.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(1);

/// What improvement has made of a policy.
struct Finish {
    policy: Policy,
    /// The alphabet that it speaks.
    alphabet: Arc<Alphabet>,
    steps: u64,
    widenings: Vec<WideningStep>,
    success: f64,
}

/// Makes environments of training instances by size, the smallest first.
pub type MakeSizes<'a> = dyn Fn() -> Result<Sizes, derrl_env::Error> + Sync + 'a;

/// Episodes by which improvement compares policies, of each size.
const IMPROVEMENT_EPISODES: usize = 200;
/// Improvement is not worth beginning with fewer steps than this.
const LEAST_LEFT: u64 = 20_000;
/// An improved policy has to earn more by so many standard errors.
const CLEARLY: f64 = 2.0;

/// Restarts that agree on a smaller share of successes than this have failed alike: others are tried.
const FAILED: f64 = 0.9;
/// The share of the steps taken so far by which a policy on which short restarts agree is looked at once more.
const LAST_LOOK: u64 = 8;

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
    /// Environment steps of each run, selection included, where they are limited.
    steps: Option<u64>,
    /// Training instances by size, where the world has sizes.
    make_sizes: Option<&'a MakeSizes<'a>>,
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
struct Terms {
    /// Whether episodes cost so much that few of them have to do.
    costly: bool,
    /// Whether episodes succeed or fail: those of several agents are only scored.
    decided: bool,
    budget: Budget,
}

/// The run of one seed.
struct SeedRun {
    seed: u64,
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
        Search { problem, config, make_env, observer, steps: None, make_sizes: None }
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
        let decided = env.agents() == 1;
        let may_grow = !costly && decided;
        drop(env);
        let unlimited = Budget::unlimited(self.config);
        let budget = self.steps.map_or(unlimited, |steps| Budget::within(self.config, steps, may_grow));
        let terms = Terms { costly, decided, budget };
        let mut shared = Shared { queue: VecDeque::new(), runs: Vec::new(), error: None, terms };
        for (seed, checkpoint) in seeds {
            // Waves are counted by restarts done, so that a resumed run continues the wave it was in.
            let started = checkpoint.done.len() as u64;
            shared.runs.push(SeedRun { seed, checkpoint, started, scouting: false, learned: None });
            let run = shared.runs.len() - 1;
            let state = &shared.runs[run].checkpoint;
            // The scout starts from nothing, so that it would lose what has to stay.
            let free = self.problem.slots.iter().all(|slot| slot.frozen().is_none());
            let scouts = free && self.config.improve && short_restarts(self.config) > 0;
            if may_grow && scouts && state.scout.is_none() {
                self.next_scout(&mut shared, run);
                // A resumed run may wait for the scout alone: what it finds decides whether there is another wave.
                let done = shared.runs[run].started as usize;
                if done == 0 || self.next_look(shared.terms, done - 1) != done {
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

    /// Takes jobs until there are none, somebody asks to stop, or a job fails. A panic, in a job or in the observer,
    /// fails the search: the other threads see it and stop.
    fn work(&self, shared: &Mutex<Shared>, changed: &Condvar) {
        loop {
            let turn = catch_unwind(AssertUnwindSafe(|| {
                let Some(job) = self.next_job(shared, changed) else { return Ok(false) };
                self.do_job(job, shared).map(|()| true)
            }));
            let result = turn.unwrap_or_else(|panic| {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it panicked");
                Err(Error::Worker(text.to_string()))
            });
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

    fn do_job(&self, job: Job, shared: &Mutex<Shared>) -> Result<(), Error> {
        match job {
            Job::Scout(run) => {
                let guard = lock(shared);
                let (seed, before) = (guard.runs[run].seed, guard.runs[run].checkpoint.scout.clone());
                let budget = guard.terms.budget;
                drop(guard);
                self.observer.begins(seed);
                let again = before.as_ref().and_then(|_| budget.second_scout(self.config));
                let steps = again.unwrap_or_else(|| budget.scout(self.config));
                let Some(scouted) = self.scout(seed, steps, before.as_ref())? else { return Ok(()) };
                let mut guard = lock(shared);
                guard.runs[run].checkpoint.scout = Some(scouted);
                guard.runs[run].scouting = false;
                self.look(&mut guard, run);
            }
            Job::Restart(run, restart) => {
                let guard = lock(shared);
                let seed = guard.runs[run].seed;
                let partial =
                    guard.runs[run].checkpoint.running.iter().find(|p| p.restart == restart).cloned();
                let terms = guard.terms;
                drop(guard);
                self.observer.begins(seed);
                let result = self.restart(seed, restart, partial, terms, &|partial| {
                    let mut guard = lock(shared);
                    guard.runs[run].checkpoint.note(partial);
                    self.observer.checkpoint(seed, &guard.runs[run].checkpoint);
                })?;
                let Some(result) = result else { return Ok(()) };
                let mut guard = lock(shared);
                guard.runs[run].checkpoint.finish(result);
                self.look(&mut guard, run);
            }
            Job::Complete(run, chosen) => {
                let guard = lock(shared);
                let (seed, checkpoint) = (guard.runs[run].seed, guard.runs[run].checkpoint.clone());
                let terms = guard.terms;
                drop(guard);
                self.observer.begins(seed);
                match self.complete(seed, &checkpoint, chosen, terms) {
                    Err(Error::Interrupted) => return Ok(()),
                    Err(error) => return Err(error),
                    Ok(learned) => {
                        let mut guard = lock(shared);
                        self.observer.finished(seed, &checkpoint, &learned);
                        guard.runs[run].learned = Some(learned);
                    }
                }
            }
        }
        Ok(())
    }

    /// Tells how far a run is, and goes on once all that was begun is done.
    fn look(&self, shared: &mut Shared, run: usize) {
        let state = &shared.runs[run];
        self.observer.checkpoint(state.seed, &state.checkpoint);
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

    /// Whether the short restarts are done and do not agree, and the first scout did not solve the task.
    fn is_scouted_again(&self, shared: &Shared, run: usize) -> bool {
        let checkpoint = &shared.runs[run].checkpoint;
        let failed = checkpoint.scout.as_ref().is_some_and(|s| s.looks == 1 && s.success < SOLVED);
        let short = short_restarts(self.config);
        let may = shared.terms.budget.second_scout(self.config).is_some();
        failed && may && checkpoint.done.len() == short
    }

    fn next_scout(&self, shared: &mut Shared, run: usize) {
        shared.queue.push_back(Job::Scout(run));
        shared.runs[run].scouting = true;
        self.observer.scouting(shared.runs[run].seed);
    }

    /// The number of restarts begun at the next look at their results: waves are smaller where episodes are costly.
    fn next_look(&self, terms: Terms, done: usize) -> usize {
        let wave = if terms.costly { self.config.wave.min(self.config.agree) } else { self.config.wave };
        terms.budget.next_look(self.config, done, wave)
    }

    fn next_wave(&self, shared: &mut Shared, run: usize) {
        let state = &mut shared.runs[run];
        // A resumed run may begin in the middle of a wave.
        let end = self.next_look(shared.terms, state.started as usize) as u64;
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
        let best = best_of(done);
        // On few episodes, a policy that fails once may be within the noise of one that does not.
        let chosen = *best.iter().find(|&&i| done[i].success >= SOLVED).or(best.first())?;
        if done.len() >= terms.budget.restarts {
            return Some(chosen);
        }
        if self.next_look(terms, done.len() - 1) != done.len() {
            return None; // in the middle of a wave
        }
        let short = done.len() <= short_restarts(self.config);
        let agree = if terms.decided {
            let bar = if short { SOLVED } else { FAILED };
            best.iter().filter(|&&i| done[i].success >= bar).count()
        } else if short {
            // Nothing says whether these succeed: the same rules, found twice, are no accident.
            best.iter().filter(|&&i| same_rules(&done[i].simplified, &done[chosen].simplified)).count()
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

    /// The chosen policy, with rules added for uncovered states if slots remain and the return improves.
    fn complete(&self, seed: u64, run: &Checkpoint, chosen: usize, terms: Terms) -> Result<Learned, Error> {
        let chosen = &run.done[chosen];
        let alphabet = &self.problem.alphabet;
        let read = |text: &str| {
            Policy::read(&Source::new("checkpoint", text), alphabet)
                .map(|(policy, _)| policy)
                .map_err(|e| Error::Policy(e.to_string()))
        };
        let by_gradient = read(&chosen.simplified)?;
        let scouted = self.scouted(run);
        let ahead = run.scout.as_ref().is_some_and(|s| {
            let (gap, noise) = advantage(&s.returns, &chosen.returns);
            gap > noise + 1e-9
        });
        let mut policy = scouted.clone().filter(|_| ahead).unwrap_or_else(|| by_gradient.clone());
        let mut grown = 0;
        // What short restarts and the scout agree on is solved: nothing is left to grow.
        let success = run.scout.as_ref().filter(|_| ahead).map_or(chosen.success, |s| s.success);
        let early = terms.decided && run.done.len() <= short_restarts(self.config) && success >= SOLVED;
        if self.config.grow && !early && !terms.costly && !free_actions(&policy, self.problem).is_empty() {
            let mut env = (self.make_env)()?;
            let stop = || self.observer.interrupted();
            let mut env = Counted::until(env.as_mut(), &stop);
            env.limit(terms.budget.total.saturating_sub(run.steps()));
            let pace = Pace { steps: chosen.steps - chosen.selection_steps, episodes: chosen.episodes };
            policy = self.extend(seed, &policy, &mut env, pace)?;
            grown = env.taken();
        }
        let by_growth = policy.clone();
        let left = terms.budget.total.saturating_sub(run.steps() + grown);
        let pace = Pace { steps: chosen.steps - chosen.selection_steps, episodes: chosen.episodes };
        let sizes = match self.make_sizes.filter(|_| self.config.improve && !terms.costly) {
            Some(make) => make()?,
            None => Sizes::default(),
        };
        let finish = if early && sizes.given.is_empty() {
            self.confirm(seed, policy, run, pace)?
        } else {
            self.improve(seed, policy, sizes, terms, left, pace)?
        };
        let has = |policy: &Policy, rule: &Rule| {
            policy.rules.iter().any(|r| r.action == rule.action && r.body == rule.body)
        };
        let origin = |rule: &Rule| match () {
            () if self.problem.is_frozen(rule) => Origin::Given,
            () if has(&by_gradient, rule) => Origin::Gradient,
            () if scouted.as_ref().is_some_and(|s| has(s, rule)) => Origin::Improvement,
            () if has(&by_growth, rule) => Origin::Growth,
            () => Origin::Improvement,
        };
        Ok(Learned {
            origins: finish.policy.rules.iter().map(origin).collect(),
            policy: finish.policy,
            alphabet: finish.alphabet,
            unsimplified: read(&chosen.learned)?,
            restart: chosen.restart,
            steps: run.steps() + grown + finish.steps,
            selection_steps: run.selection_steps() + grown + finish.steps,
            widenings: finish.widenings,
            success: finish.success,
        })
    }

    /// The policy after its rules were edited by regret, if it then earns more; with its share of successes.
    fn improve(
        &self,
        seed: u64,
        policy: Policy,
        sizes: Sizes,
        terms: Terms,
        left: u64,
        pace: Pace,
    ) -> Result<Finish, Error> {
        let stop = || self.observer.interrupted();
        let env = (self.make_env)()?;
        let episodes = if terms.costly { env.cost().episodes() } else { self.config.selection_episodes };
        // An eighth of the steps left for each of two policies, and half for improvement.
        let episodes = usize::try_from(left / (8 * pace.length())).unwrap_or(usize::MAX).min(episodes);
        let mut own = vec![env];
        let alphabet = &self.problem.alphabet;
        let mut best = Trial::new(policy, alphabet);
        let mut finish = Finish {
            policy: Policy::default(),
            alphabet: Arc::clone(alphabet),
            steps: 0,
            widenings: Vec::new(),
            success: 0.0,
        };
        if episodes == 0 || own[0].agents() > 1 || terms.costly {
            finish.policy = best.policy;
            return Ok(finish);
        }
        finish.steps += best.extend(&mut own, episodes, seed, &stop)?;
        if !self.config.improve || left < LEAST_LEFT {
            (finish.success, finish.policy) = (best.success(0), best.policy);
            return Ok(finish);
        }
        let given = if sizes.given.is_empty() { vec![(self.make_env)()?] } else { sizes.given };
        self.observer.improving(seed);
        let limit = left / 2;
        let improver = Improver::new(self.problem, given, seed, IMPROVEMENT_EPISODES.min(episodes), &stop);
        let improver = improver.and_larger(sizes.made_up).within(limit);
        let improved = improver.run(Some(&best.policy))?;
        if stop() {
            return Err(Error::Interrupted);
        }
        finish.steps += improved.steps;
        finish.widenings = improved.widenings;
        if improved.policy != best.policy {
            let mut rival = Trial::new(improved.policy, &improved.alphabet);
            finish.steps += rival.extend(&mut own, episodes, seed, &stop)?;
            // It was chosen among several that were close: it has to win clearly, or be better on larger instances.
            rival.instances = vec![starts(own[0].as_mut(), alphabet, episodes, seed)];
            let (gap, noise) = rival.advantage(&best);
            let larger = improved.success.len() > 1;
            let as_good = gap >= -CLEARLY * noise - 1e-9 && larger;
            // Predicates are invented where larger instances need them, and rules that fit only small ones may earn more there.
            let invents = rival.alphabet.predicates.len() > alphabet.predicates.len();
            let general = invents && rival.success(0) >= best.success(0);
            if gap > CLEARLY * noise + 1e-9 || as_good || general {
                best = rival;
            }
        }
        finish.success = best.success(0);
        (finish.policy, finish.alphabet) = (best.policy, best.alphabet);
        strongest_first(&mut finish.policy);
        Ok(finish)
    }

    /// The policy of the scout, where there is one.
    fn scouted(&self, run: &Checkpoint) -> Option<Policy> {
        let text = &run.scout.as_ref()?.policy;
        let policy = Policy::parse(&Source::new("scout", text.as_str()), &self.problem.alphabet).ok()?;
        (!policy.rules.is_empty()).then_some(policy)
    }

    /// The policy as it is, or the scout's if that is shorter and earns as much; with its share of successes.
    fn confirm(&self, seed: u64, policy: Policy, run: &Checkpoint, pace: Pace) -> Result<Finish, Error> {
        let alphabet = &self.problem.alphabet;
        let stop = || self.observer.interrupted();
        let steps = run.steps() / LAST_LOOK;
        let solves = run.scout.as_ref().is_some_and(|s| s.success >= SOLVED && s.length < length(&policy));
        let scouted = self.scouted(run).filter(|_| solves);
        let candidates = 1 + u64::from(scouted.is_some());
        let episodes = usize::try_from(steps / (candidates * pace.length())).unwrap_or(usize::MAX);
        let episodes = episodes.clamp(1, self.config.selection_episodes);
        let mut own = vec![(self.make_env)()?];
        let mut best = Trial::new(policy, alphabet);
        let mut steps = best.extend(&mut own, episodes, seed, &stop)?;
        if let Some(scouted) = scouted {
            let mut rival = Trial::new(scouted, alphabet);
            steps += rival.extend(&mut own, episodes, seed, &stop)?;
            let (gap, noise) = advantage(&rival.returns(), &best.returns());
            if gap >= -noise - 1e-9 {
                best = rival;
            }
        }
        let (widenings, success) = (Vec::new(), best.success(0));
        Ok(Finish { steps, widenings, success, policy: best.policy, alphabet: best.alphabet })
    }

    /// The policy with more rules, as long as they earn more.
    fn extend(&self, seed: u64, policy: &Policy, env: &mut Counted<'_>, pace: Pace) -> Result<Policy, Error> {
        let alphabet = &self.problem.alphabet;
        let most = EXTENSION * self.config.selection_episodes;
        let mut rng = Purpose::Growth.rng(seed);
        // Half of the steps left, if they are limited, are for what may be grown.
        let half = |env: &Counted<'_>| env.left() / 2;
        if env.left() == 0 {
            return Ok(policy.clone());
        }
        let episodes = pace.episodes_within(half(env), policy, most);
        let mut best = self.refine(policy, &mut Judge::new(alphabet, env, episodes, seed))?;
        while let Some(grown) = grow(&best.policy, self.problem, self.config, env, &mut rng)? {
            if env.left() == 0 {
                break;
            }
            // Both are judged on as many episodes.
            let episodes = pace.episodes_within(env.left(), &grown, best.returns.len());
            let refined = self.refine(&grown, &mut Judge::new(alphabet, env, episodes, seed))?;
            let (gain, noise) = advantage(&refined.returns, &best.returns);
            if gain <= noise {
                break;
            }
            best = refined;
        }
        strongest_first(&mut best.policy);
        Ok(best.policy)
    }

    /// The policy refined, if that is asked for, and judged.
    fn refine(&self, policy: &Policy, judge: &mut Judge<'_, '_>) -> Result<Judged, Error> {
        if self.config.refine {
            refine(policy, judge, &|rule| self.problem.is_frozen(rule))
        } else {
            judge.judge(policy.clone())
        }
    }

    /// One restart from its start or from where it was; `None` if interrupted.
    fn restart(
        &self,
        seed: u64,
        restart: u64,
        partial: Option<Partial>,
        terms: Terms,
        save: &dyn Fn(Partial),
    ) -> Result<Option<RestartResult>, Error> {
        let mut env = (self.make_env)()?;
        let stop = || self.observer.interrupted();
        let mut env = Counted::until(env.as_mut(), &stop);
        let plan = terms.budget.plan(self.config, restart);
        let resumed = partial.and_then(|p| {
            Restart::resume(self.problem, &plan.config, &p.snapshot).map(|trainer| (trainer, p.curve))
        });
        let (trainer, mut curve) =
            resumed.unwrap_or_else(|| (Restart::new(self.problem, &plan.config, seed, restart), Vec::new()));
        let mut trainer = trainer.within(plan.training);
        let every = plan.config.updates.div_ceil(CURVE_POINTS);
        let mut saved = Instant::now();
        while !trainer.finished() {
            if saved.elapsed() >= CHECKPOINT_EVERY {
                save(Partial { restart, snapshot: trainer.snapshot(), curve: curve.clone() });
                saved = Instant::now();
            }
            match trainer.update(&mut env) {
                Ok(stats) => {
                    self.observer.updated(seed, restart, &stats);
                    if stats.update % every == 0 || stats.update == 1 {
                        curve.push(stats);
                    }
                }
                Err(error) => {
                    // What is done so far can be resumed.
                    save(Partial { restart, snapshot: trainer.snapshot(), curve });
                    return if error == Error::Interrupted { Ok(None) } else { Err(error) };
                }
            }
        }
        if saved.elapsed() >= CHECKPOINT_EVERY {
            save(Partial { restart, snapshot: trainer.snapshot(), curve: curve.clone() });
        }
        match self.select(seed, restart, &trainer, &plan, &mut env) {
            Ok(result) => Ok(Some(RestartResult { curve, ..result })),
            Err(Error::Interrupted) => {
                save(Partial { restart, snapshot: trainer.snapshot(), curve });
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The best policy of a restart's learners, simplified and run on the training task.
    fn select(
        &self,
        seed: u64,
        restart: u64,
        trainer: &Restart,
        plan: &Plan,
        env: &mut Counted<'_>,
    ) -> Result<RestartResult, Error> {
        // Steps of training that were taken before an interruption count too.
        let before = env.taken();
        env.limit(before.saturating_add(plan.steps.saturating_sub(trainer.steps())));
        let mut results = Vec::new();
        let mut seen = Vec::new();
        let mut selection_steps = 0;
        for learned in trainer.policies() {
            // Learners of several agents often find the same rules in the same order: one of them is run.
            let shape = shape(&learned);
            if !seen.contains(&shape) {
                results.push(self.judge(seed, restart, &learned, trainer, env)?);
                selection_steps = env.taken() - before;
                seen.push(shape);
            }
        }
        let best = best_of(&results).first().copied().unwrap_or(0);
        let steps = trainer.steps() + selection_steps;
        Ok(RestartResult { steps, selection_steps, ..results.swap_remove(best) })
    }

    /// Simplifies the policy of a learner and runs it, for all agents, on the training task.
    fn judge(
        &self,
        seed: u64,
        restart: u64,
        learned: &Policy,
        trainer: &Restart,
        env: &mut Counted<'_>,
    ) -> Result<RestartResult, Error> {
        let alphabet = &self.problem.alphabet;
        let simple = |policy: &Policy| prune(policy, self.problem, trainer.states().met());
        // A world with costly episodes says how few a score may take.
        let most = match env.world().cost() {
            Cost::Dear { episodes } => episodes,
            Cost::Cheap => self.config.selection_episodes,
        };
        let pace = Pace { steps: trainer.steps(), episodes: trainer.episodes() };
        let pruned = simple(learned);
        let episodes = pace.episodes_within(env.left(), &pruned, most);
        let mut judge = Judge::new(alphabet, env, episodes, seed);
        let refined = self.refine(&pruned, &mut judge)?;
        let again = simple(&refined.policy);
        // The same rules earn the same in the same episodes.
        let known = again == refined.policy;
        let Judged { policy: simplified, returns, success } =
            if known { refined } else { judge.judge(again)? };
        let atoms = |policy: &Policy| length(policy) - policy.rules.len();
        Ok(RestartResult {
            restart,
            learned: learned.display(alphabet).to_string(),
            simplified: simplified.display(alphabet).to_string(),
            redundant_atoms: atoms(learned) - atoms(&pruned),
            returns,
            success,
            length: length(&simplified),
            updates: trainer.updates(),
            episodes: trainer.episodes(),
            steps: 0,
            selection_steps: 0,
            curve: Vec::new(),
        })
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How long episodes were while training.
#[derive(Clone, Copy)]
struct Pace {
    steps: u64,
    episodes: u64,
}

impl Pace {
    /// Steps per episode, at least 1.
    fn length(self) -> u64 {
        self.steps.div_ceil(self.episodes.max(1)).max(1)
    }

    /// How many episodes per candidate fit into these steps when a policy is refined, `most` at the most: a candidate for
    /// each level of value and each rule, and one in the end.
    fn episodes_within(self, steps: u64, policy: &Policy, most: usize) -> usize {
        let candidates = 2 * policy.rules.len() as u64 + 1;
        usize::try_from(steps / (self.length() * candidates)).unwrap_or(usize::MAX).clamp(1, most)
    }
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

/// What tells how a policy decides: its rules, each with the rank of its value.
fn shape(policy: &Policy) -> Vec<(usize, Action, Vec<Literal>)> {
    let rank = |r: &Rule| policy.rules.iter().filter(|o| o.weight > r.weight).count();
    policy.rules.iter().map(|r| (rank(r), r.action, r.body.clone())).collect()
}
