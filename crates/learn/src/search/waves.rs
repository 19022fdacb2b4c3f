//! A whole run: restarts in waves, then the best and simplest policy by its return on the training task.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use derrl_env::{Cost, Env, Rng};
use derrl_logic::{Action, Literal, Policy, Rule, Source};
use serde::{Deserialize, Serialize};

use crate::act::score::mean_stderr;
use crate::error::Error;
use crate::language::problem::Problem;
use crate::search::grow::{free_actions, grow};
use crate::search::refine::{Judge, Judged, advantage, refine};
use crate::search::simplify::{length, simplify};
use crate::settings::config::Config;
use crate::training::restart::{Snapshot, Trainer, UpdateStats};

/// A restart that is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Which restart.
    pub restart: u64,
    /// The rules by argmax, as learned.
    pub learned: String,
    /// The same without what changes no decision on the training task.
    pub simplified: String,
    /// The return of the simplified policy in each selection episode.
    pub returns: Vec<f64>,
    /// Rules and atoms of the simplified policy.
    pub length: usize,
    /// Updates done.
    pub updates: usize,
    /// Episodes run.
    pub episodes: u64,
    /// Environment steps taken.
    pub steps: u64,
    /// The training curve.
    pub curve: Vec<UpdateStats>,
}

/// A restart that is under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Partial {
    /// Which restart.
    pub restart: u64,
    /// Where it stands.
    pub snapshot: Snapshot,
    /// Its training curve so far.
    pub curve: Vec<UpdateStats>,
}

/// All that a run needs to be resumed: what is done and what is under way.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// Restarts that are done, in order.
    pub done: Vec<Outcome>,
    /// Restarts that are under way, in order.
    pub running: Vec<Partial>,
}

/// A finished run.
#[derive(Clone, Debug, PartialEq)]
pub struct Learned {
    /// The policy: simplified, variables renamed.
    pub policy: Policy,
    /// The same rules before simplification.
    pub unsimplified: Policy,
    /// Which restart it came from.
    pub restart: u64,
}

/// Told what happens while runs are under way; called from worker threads.
pub trait Observer: Sync {
    /// An update of a restart of the run with this seed is done.
    fn updated(&self, _seed: u64, _restart: u64, _stats: &UpdateStats) {}
    /// The run can be resumed from here. Called now and then, after each restart, and when interrupted.
    fn checkpoint(&self, _seed: u64, _checkpoint: &Checkpoint) {}
    /// Another wave of restarts begins.
    fn wave(&self, _seed: u64, _restarts: usize) {}
    /// The run is finished.
    fn finished(&self, _seed: u64, _checkpoint: &Checkpoint, _learned: &Learned) {}
    /// Whether to stop as soon as possible.
    fn interrupted(&self) -> bool {
        false
    }
}

/// An observer that does nothing.
#[derive(Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

/// Makes environments of the training task, one a restart.
pub type MakeEnv<'a> = dyn Fn() -> Result<Box<dyn Env>, derrl_env::Error> + Sync + 'a;

/// A point of the training curve is kept every so many updates.
const CURVE_EVERY: usize = 10;
/// The random stream of what follows the restarts, apart from theirs.
const GROWTH: u64 = 3 << 32;
/// Rules that act in few states earn little each: so many times the episodes of a selection tell.
const EXTENSION: usize = 10;
/// A restart offers a checkpoint every so many environment steps.
const CHECKPOINT_EVERY: u64 = 1 << 21;

/// Runs that share a pool of threads.
pub struct Search<'a> {
    problem: &'a Arc<Problem>,
    config: &'a Config,
    make_env: &'a MakeEnv<'a>,
    observer: &'a dyn Observer,
}

/// What a thread does next, for the run of that number.
enum Job {
    /// One restart.
    Restart(usize, u64),
    /// What follows the last restart, given the number of the chosen one among those done.
    Complete(usize, usize),
}

struct Shared {
    queue: VecDeque<Job>,
    runs: Vec<Run>,
    error: Option<Error>,
    /// Whether episodes cost so much that few of them have to do.
    costly: bool,
}

struct Run {
    seed: u64,
    checkpoint: Checkpoint,
    started: u64,
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
        Search { problem, config, make_env, observer }
    }

    /// Learns once a seed on `threads` threads, going on from the checkpoints given. The result of a seed does not
    /// depend on the other seeds nor on the number of threads. `None` for runs that were interrupted.
    pub fn run(&self, seeds: Vec<(u64, Checkpoint)>, threads: usize) -> Result<Vec<Option<Learned>>, Error> {
        self.config.check()?;
        let env = (self.make_env)()?; // what cannot work fails before any thread starts
        let costly = matches!(env.cost(), Cost::Dear { .. });
        drop(env);
        let mut shared = Shared { queue: VecDeque::new(), runs: Vec::new(), error: None, costly };
        for (seed, checkpoint) in seeds {
            // Waves are counted by restarts done, so that a resumed run continues the wave it was in.
            let started = checkpoint.done.len() as u64;
            shared.runs.push(Run { seed, checkpoint, started, learned: None });
            let run = shared.runs.len() - 1;
            self.next_jobs(&mut shared, run);
        }
        let shared = Mutex::new(shared);
        let changed = Condvar::new();
        std::thread::scope(|scope| {
            for _ in 0..threads.max(1) {
                scope.spawn(|| self.work(&shared, &changed));
            }
        });
        let shared = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
        match shared.error {
            Some(error) => Err(error),
            None => Ok(shared.runs.into_iter().map(|r| r.learned).collect()),
        }
    }

    fn work(&self, shared: &Mutex<Shared>, changed: &Condvar) {
        let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
        let mut guard = lock();
        loop {
            if self.observer.interrupted() || guard.error.is_some() {
                break;
            }
            let Some(job) = guard.queue.pop_front() else {
                if guard.runs.iter().all(|r| r.learned.is_some()) {
                    break;
                }
                guard = changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let result = match job {
                Job::Restart(run, restart) => {
                    let state = &guard.runs[run];
                    let seed = state.seed;
                    let partial = state.checkpoint.running.iter().find(|p| p.restart == restart).cloned();
                    drop(guard);
                    let result = self.restart(seed, restart, partial, &|partial| {
                        let mut guard = lock();
                        guard.runs[run].note(partial);
                        self.observer.checkpoint(seed, &guard.runs[run].checkpoint);
                    });
                    guard = lock();
                    result.map(|outcome| {
                        if let Some(outcome) = outcome {
                            guard.runs[run].finish(outcome);
                            self.observer.checkpoint(seed, &guard.runs[run].checkpoint);
                            if guard.runs[run].checkpoint.done.len() as u64 == guard.runs[run].started {
                                self.next_jobs(&mut guard, run);
                            }
                        }
                    })
                }
                Job::Complete(run, chosen) => {
                    let (seed, chosen) =
                        (guard.runs[run].seed, guard.runs[run].checkpoint.done[chosen].clone());
                    let may_grow = !guard.costly;
                    drop(guard);
                    let result = self.complete(seed, &chosen, may_grow);
                    guard = lock();
                    result.map(|learned| {
                        self.observer.finished(seed, &guard.runs[run].checkpoint, &learned);
                        guard.runs[run].learned = Some(learned);
                    })
                }
            };
            if let Err(error) = result {
                guard.error = Some(error);
            }
            changed.notify_all();
        }
        changed.notify_all();
    }

    /// When all restarts begun are done: another wave of them, or what follows the last.
    fn next_jobs(&self, shared: &mut Shared, run: usize) {
        match self.chosen(shared, run) {
            Some(chosen) => shared.queue.push_back(Job::Complete(run, chosen)),
            None => self.next_wave(shared, run),
        }
    }

    /// Restarts before the next look at their results: fewer where episodes are costly.
    fn wave(&self, costly: bool) -> usize {
        if costly { self.config.wave.min(self.config.agree) } else { self.config.wave }
    }

    fn next_wave(&self, shared: &mut Shared, run: usize) {
        let state = &mut shared.runs[run];
        let wave = self.wave(shared.costly) as u64;
        // A wave ends at a multiple of its size, also when a resumed run begins in its middle.
        let end = ((state.started / wave + 1) * wave).min(self.config.restarts as u64);
        shared.queue.extend(
            (0..end)
                .filter(|r| state.checkpoint.done.iter().all(|d| d.restart != *r))
                .map(|r| Job::Restart(run, r)),
        );
        state.started = end;
        self.observer.wave(state.seed, end as usize);
    }

    /// After a wave: the restart to keep, if enough of them agree on the best return or none are left.
    fn chosen(&self, shared: &Shared, run: usize) -> Option<usize> {
        let done = &shared.runs[run].checkpoint.done;
        let wave_complete =
            done.len().is_multiple_of(self.wave(shared.costly)) || done.len() >= self.config.restarts;
        let best = best_of(done);
        let enough = best.len() >= self.config.agree || done.len() >= self.config.restarts;
        best.first().copied().filter(|_| wave_complete && enough)
    }

    /// The chosen policy, with rules more for states in which it says nothing where slots are left and they pay.
    fn complete(&self, seed: u64, chosen: &Outcome, may_grow: bool) -> Result<Learned, Error> {
        let alphabet = &self.problem.alphabet;
        let read = |text: &str| {
            Policy::parse(&Source::new("checkpoint", text), alphabet)
                .map_err(|e| Error::Policy(e.to_string()))
        };
        let mut policy = read(&chosen.simplified)?;
        if may_grow && !free_actions(&policy, self.problem).is_empty() {
            policy = self.extend(seed, &policy, (self.make_env)()?.as_mut())?;
        }
        Ok(Learned { policy, unsimplified: read(&chosen.learned)?, restart: chosen.restart })
    }

    /// The policy with rules more, as long as they earn more.
    fn extend(&self, seed: u64, policy: &Policy, env: &mut dyn Env) -> Result<Policy, Error> {
        let alphabet = &self.problem.alphabet;
        let episodes = EXTENSION * self.config.selection_episodes;
        let mut rng = Rng::new(seed, GROWTH);
        let frozen = |rule: &Rule| self.problem.is_frozen(rule);
        let mut best = refine(policy, &mut Judge::new(alphabet, env, episodes, seed), &frozen)?;
        while let Some(grown) = grow(&best.policy, self.problem, self.config, env, &mut rng) {
            let refined = refine(&grown, &mut Judge::new(alphabet, env, episodes, seed), &frozen)?;
            let (gain, noise) = advantage(&refined.returns, &best.returns);
            if gain <= noise {
                break;
            }
            best = refined;
        }
        // The strongest rule of an action first, as it is read.
        best.policy.rules.sort_by(|a, b| a.action.cmp(&b.action).then(b.weight.total_cmp(&a.weight)));
        Ok(best.policy)
    }

    /// One restart from its start or from where it was; `None` if interrupted.
    fn restart(
        &self,
        seed: u64,
        restart: u64,
        partial: Option<Partial>,
        save: &dyn Fn(Partial),
    ) -> Result<Option<Outcome>, Error> {
        let mut env = (self.make_env)()?;
        let resumed = partial.and_then(|p| {
            Trainer::resume(self.problem, self.config, &p.snapshot).map(|trainer| (trainer, p.curve))
        });
        let (mut trainer, mut curve) =
            resumed.unwrap_or_else(|| (Trainer::new(self.problem, self.config, seed, restart), Vec::new()));
        let mut saved = trainer.steps();
        while !trainer.finished() {
            let stop = self.observer.interrupted();
            if stop || trainer.steps() - saved >= CHECKPOINT_EVERY {
                saved = trainer.steps();
                save(Partial { restart, snapshot: trainer.snapshot(), curve: curve.clone() });
            }
            if stop {
                return Ok(None);
            }
            let before = trainer.snapshot();
            let stats = match trainer.update(env.as_mut()) {
                Ok(stats) => stats,
                Err(error) => {
                    // What is done so far can be resumed.
                    save(Partial { restart, snapshot: before, curve });
                    return Err(error);
                }
            };
            self.observer.updated(seed, restart, &stats);
            if stats.update % CURVE_EVERY == 0 || stats.update == 1 {
                curve.push(stats);
            }
        }
        let mut outcomes = Vec::new();
        let mut seen = Vec::new();
        for learned in trainer.policies() {
            // Learners of several agents often find the same rules in the same order: one of them is run.
            let shape = shape(&learned);
            if !seen.contains(&shape) {
                outcomes.push(self.judge(seed, restart, &learned, &trainer, env.as_mut())?);
                seen.push(shape);
            }
        }
        let best = best_of(&outcomes).first().copied().unwrap_or(0);
        Ok(Some(Outcome { curve, ..outcomes.swap_remove(best) }))
    }

    /// Simplifies the policy of a learner and runs it, for all agents, on the training task.
    fn judge(
        &self,
        seed: u64,
        restart: u64,
        learned: &Policy,
        trainer: &Trainer,
        env: &mut dyn Env,
    ) -> Result<Outcome, Error> {
        let alphabet = &self.problem.alphabet;
        let simple = |policy: &Policy| simplify(policy, self.problem, trainer.states());
        // A world with costly episodes says how few a score may take.
        let episodes = match env.cost() {
            Cost::Dear { episodes } => episodes,
            Cost::Cheap => self.config.selection_episodes,
        };
        let mut judge = Judge::new(alphabet, env, episodes, seed);
        let refined = refine(&simple(learned), &mut judge, &|rule| self.problem.is_frozen(rule))?;
        let Judged { policy: simplified, returns } = judge.judge(simple(&refined.policy))?;
        Ok(Outcome {
            restart,
            learned: learned.display(alphabet).to_string(),
            simplified: simplified.display(alphabet).to_string(),
            returns,
            length: length(&simplified),
            updates: trainer.updates(),
            episodes: trainer.episodes(),
            steps: trainer.steps(),
            curve: Vec::new(),
        })
    }
}

/// What tells how a policy decides: its rules, each with the rank of its value.
fn shape(policy: &Policy) -> Vec<(usize, Action, Vec<Literal>)> {
    let rank = |r: &Rule| policy.rules.iter().filter(|o| o.weight > r.weight).count();
    policy.rules.iter().map(|r| (rank(r), r.action, r.body.clone())).collect()
}

impl Run {
    fn note(&mut self, partial: Partial) {
        self.checkpoint.running.retain(|p| p.restart != partial.restart);
        self.checkpoint.running.push(partial);
        self.checkpoint.running.sort_by_key(|p| p.restart);
    }

    fn finish(&mut self, outcome: Outcome) {
        self.checkpoint.running.retain(|p| p.restart != outcome.restart);
        self.checkpoint.done.push(outcome);
        self.checkpoint.done.sort_by_key(|o| o.restart);
    }
}

/// The restarts whose return is within the noise of the best one (a paired comparison on the same instances), the
/// simplest first, then the best, then the earliest.
fn best_of(done: &[Outcome]) -> Vec<usize> {
    let mean = |i: usize| mean_stderr(&done[i].returns).0;
    let Some(best) = (0..done.len()).max_by(|&i, &j| mean(i).total_cmp(&mean(j)).then(j.cmp(&i))) else {
        return Vec::new();
    };
    let mut close: Vec<usize> = (0..done.len())
        .filter(|&i| {
            let (gap, stderr) = advantage(&done[best].returns, &done[i].returns);
            gap <= stderr + 1e-9
        })
        .collect();
    close.sort_by(|&i, &j| {
        done[i].length.cmp(&done[j].length).then(mean(j).total_cmp(&mean(i))).then(i.cmp(&j))
    });
    close
}
