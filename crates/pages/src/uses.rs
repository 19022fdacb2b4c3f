//! What each rule of a policy is for: what is lost without it.

use std::time::{Duration, Instant};

use derrl_learn::{Score, evaluate_while};
use derrl_logic::Policy;
use serde::Serialize;

use crate::extent::Extent;
use crate::record::Subject;

/// How a policy does without one of its rules, on the training task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Use {
    /// The share of episodes that succeed with it and without it, where there is a goal.
    success: Option<(f64, f64)>,
    /// The mean return with it and without it.
    mean: (f64, f64),
}

/// Episodes that are played, with the policy and without each of its rules.
const EPISODES: usize = 20;
/// How long this may take at the most.
const PATIENCE: Duration = Duration::from_millis(1500);

/// The use of each rule; `None` for those for which there was no time. Nothing where an episode takes a simulator.
pub fn uses(subject: &Subject<'_>, extent: Extent) -> Vec<Option<Use>> {
    let rules = &subject.policy.rules;
    let none = vec![None; rules.len()];
    let until = Instant::now() + PATIENCE;
    let until = extent.until.map_or(until, |end| end.min(until));
    let Ok(task) = subject.world.training_task() else { return none };
    let made = subject.world.make(subject.alphabet, &task.name, &subject.options.of(task));
    let Ok(mut env) = made else { return none };
    if extent.episodes == 0 || extent.curves == 0 || env.simulator().is_some() {
        return none;
    }
    let mut score = |policy: &Policy| -> Option<Score> {
        let mut go_on = |_: usize| Instant::now() < until;
        evaluate_while(policy, subject.alphabet, env.as_mut(), EPISODES, subject.seed, &mut go_on)
            .ok()
            .flatten()
    };
    let Some(with) = score(subject.policy) else { return none };
    let without = |i: usize| {
        let rules = rules.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, rule)| rule.clone()).collect();
        let without = score(&Policy { rules })?;
        Some(Use { success: with.success_rate.zip(without.success_rate), mean: (with.mean, without.mean) })
    };
    (0..rules.len()).map(without).collect()
}
