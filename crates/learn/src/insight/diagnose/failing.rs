//! Which instances fail first as they grow, and the rule that is to blame.

use std::collections::BTreeMap;

use derrl_env::Env;
use serde::Serialize;

use super::Patient;
use crate::act::actor::Actor;
use crate::act::score::{SOLVED, episode_streams, run_episode};
use crate::error::Error;
use crate::experience::counted::Counted;
use crate::insight::explain::{Ask, ExplainedStep, explain_episode};

/// The smallest instances in which a policy fails.
#[derive(Clone, Debug, Serialize)]
pub struct FirstFailure {
    /// What they are called.
    pub instances: String,
    /// The share of episodes that reach the goal.
    pub success: f64,
    /// The step of a failing episode at which the rule in question acts.
    pub step: usize,
    /// What it does there.
    pub action: String,
    /// The rule; none where no rule fires.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What holds there.
    pub facts: Vec<String>,
}

/// Episodes of each size.
const EPISODES: u64 = 30;
/// Sizes that are looked at.
const SIZES: usize = 8;
/// Steps of an episode that are explained.
const STEPS: usize = 400;

/// The smallest instances in which the policy fails: of the sizes that the world makes, then of its tasks.
pub(super) fn find(patient: &Patient<'_>, stop: &dyn Fn() -> bool) -> Result<Option<FirstFailure>, Error> {
    let Patient { world, alphabet, options, .. } = *patient;
    let mut envs: Vec<(String, Box<dyn Env>)> = Vec::new();
    for &size in world.sized().iter().take(SIZES) {
        if let Some(made) = world.make_sized(alphabet, size, options) {
            envs.push((format!("instances of size {size}"), made?));
        }
    }
    envs.push((format!("the task {}", patient.task), world.make(alphabet, patient.task, options)?));
    for (instances, mut env) in envs {
        if stop() {
            return Ok(None);
        }
        let mut actor = Actor::new(patient.policy, alphabet);
        let mut results = Vec::new();
        let mut counted = Counted::new(env.as_mut());
        for i in 0..EPISODES {
            let streams = episode_streams(patient.seed, i);
            results.push(run_episode(&mut |env, rng| actor.act(env, rng), &mut counted, streams)?.success);
        }
        let success = results.iter().filter(|s| **s).count() as f64 / EPISODES as f64;
        let Some(failing) = results.iter().position(|s| !s).filter(|_| success < SOLVED) else { continue };
        let at = (patient.seed, failing as u64);
        let trace = explain_episode(patient.policy, alphabet, env.as_mut(), at, STEPS, &Ask::default())?;
        return Ok(blamed(&trace.steps).map(|step| FirstFailure {
            instances,
            success,
            step: step.step,
            action: step.explanation.action.clone(),
            rule: step.explanation.fired.as_ref().map(|m| m.text.clone()),
            facts: step.explanation.facts.clone(),
        }));
    }
    Ok(None)
}

/// The step to blame: where states come again, the first of the rule that acts most often between; else the last one.
fn blamed(steps: &[ExplainedStep]) -> Option<&ExplainedStep> {
    let mut first: BTreeMap<&[String], usize> = BTreeMap::new();
    for (i, step) in steps.iter().enumerate() {
        let Some(&from) = first.get(step.explanation.facts.as_slice()) else {
            first.insert(&step.explanation.facts, i);
            continue;
        };
        let rule = |s: &ExplainedStep| s.explanation.fired.as_ref().map(|m| m.rule);
        let mut counts: BTreeMap<Option<usize>, usize> = BTreeMap::new();
        steps[from..i].iter().for_each(|s| *counts.entry(rule(s)).or_default() += 1);
        let most = counts.iter().max_by_key(|(_, n)| **n).map(|(rule, _)| *rule)?;
        return steps[from..i].iter().find(|s| rule(s) == most);
    }
    steps.last()
}
