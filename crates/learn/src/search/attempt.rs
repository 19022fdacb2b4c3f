//! One restart: trained, simplified and judged.

use std::time::{Duration, Instant};

use derrl_env::Cost;
use derrl_logic::{Action, Literal, Policy, Rule};

use crate::error::Error;
use crate::experience::counted::Counted;
use crate::search::budget::Plan;
use crate::search::checkpoint::{Partial, RestartResult, best_of};
use crate::search::dialects::Tongues;
use crate::search::prune::{length, prune};
use crate::search::refine::{Judge, Judged};
use crate::search::waves::{Search, Terms};
use crate::training::restart::Restart;

/// Points of a training curve at the most: one per update, or one every few where a restart has more updates than this.
const CURVE_POINTS: usize = 200;
/// A restart offers a checkpoint this often.
pub const CHECKPOINT_EVERY: Duration = Duration::from_secs(1);

impl Search<'_> {
    /// One restart from its start or from where it was; `None` if interrupted.
    pub(super) fn restart(
        &self,
        seed: u64,
        (restart, partial): (u64, Option<Partial>),
        terms: Terms,
        tongues: Tongues,
        save: &dyn Fn(Partial),
    ) -> Result<Option<RestartResult>, Error> {
        let number = restart as usize;
        let trial = tongues.is_trial(number).then(|| terms.budget.trial(self.config));
        let plan = trial.unwrap_or_else(|| terms.budget.plan(self.config, restart));
        let (search, language) = self.in_language_of(number, tongues);
        let result = search.train(seed, (restart, partial), &plan, save)?;
        if tongues.is_trial(number) {
            // Most of these languages are not spoken again, and each would keep as many states as the first.
            search.problem.cache.clear();
        }
        Ok(result.map(|result| RestartResult { language: language.to_vec(), ..result }))
    }

    /// The same, in the language of this search.
    fn train(
        &self,
        seed: u64,
        (restart, partial): (u64, Option<Partial>),
        plan: &Plan,
        save: &dyn Fn(Partial),
    ) -> Result<Option<RestartResult>, Error> {
        let mut env = (self.make_env)()?;
        let stop = || self.observer.interrupted();
        let mut env = Counted::until(env.as_mut(), &stop);
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
        match self.select(seed, restart, &trainer, plan, &mut env) {
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
            let pruned = prune(&learned, self.problem, trainer.states().met());
            let shape = shape(&pruned);
            if !seen.contains(&shape) {
                results.push(self.judge(seed, restart, (&learned, pruned), trainer, env)?);
                selection_steps = env.taken() - before;
                seen.push(shape);
            }
        }
        let best = best_of(&results, &[]).first().copied().unwrap_or(0);
        let steps = trainer.steps() + selection_steps;
        Ok(RestartResult { steps, selection_steps, ..results.swap_remove(best) })
    }

    /// Simplifies the policy of a learner and runs it, for all agents, on the training task.
    fn judge(
        &self,
        seed: u64,
        restart: u64,
        (learned, pruned): (&Policy, Policy),
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
            language: Vec::new(),
            curve: Vec::new(),
        })
    }
}

/// How long episodes were while training.
#[derive(Clone, Copy)]
pub(super) struct Pace {
    pub(super) steps: u64,
    pub(super) episodes: u64,
}

impl Pace {
    /// Steps per episode, at least 1.
    pub(super) fn length(self) -> u64 {
        self.steps.div_ceil(self.episodes.max(1)).max(1)
    }

    /// How many episodes per candidate fit into these steps when a policy is refined, `most` at the most: a candidate for
    /// each level of value and each rule, and one in the end.
    pub(super) fn episodes_within(self, steps: u64, policy: &Policy, most: usize) -> usize {
        let candidates = 2 * policy.rules.len() as u64 + 1;
        usize::try_from(steps / (self.length() * candidates)).unwrap_or(usize::MAX).clamp(1, most)
    }
}

/// What tells how a policy decides: its rules, each with the rank of its value.
fn shape(policy: &Policy) -> Vec<(usize, Action, Vec<Literal>)> {
    let rank = |r: &Rule| policy.rules.iter().filter(|o| o.weight > r.weight).count();
    policy.rules.iter().map(|r| (rank(r), r.action, r.body.clone())).collect()
}
