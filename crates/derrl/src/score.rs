//! The scores of a policy on the tasks of a domain.

use std::path::Path;
use std::sync::Arc;

use derrl_env::{Options, ShieldTally, World};
use derrl_learn::{Score, evaluate_noting, evaluate_while};
use derrl_logic::{Alphabet, Policy, Scope};
use serde_json::{Map, Value, json};

use crate::domain::Domain;
use crate::listener::Listener;

/// What a policy is scored on.
#[derive(Clone, Copy, Debug)]
pub struct Exam<'a> {
    /// The tasks; where there are none, all that are scored by default.
    pub tasks: &'a [String],
    /// Options of the world. With noise, each task is scored without it and, as `task+noise`, with it.
    pub options: &'a Options,
    /// Episodes per task, if not as many as the world asks for.
    pub episodes: Option<usize>,
    /// The seed of the instances.
    pub seed: u64,
}

/// The score of a policy on each task; `None` if the listener stopped it.
pub fn score(
    policy: &Policy,
    alphabet: &Arc<Alphabet>,
    world: &World,
    exam: &Exam<'_>,
    listener: &dyn Listener,
) -> Result<Option<Vec<(String, Score)>>, derrl_learn::Error> {
    score_noting(policy, alphabet, world, exam, &mut None, listener)
}

/// The same, and `scope` takes in every state of the first task in which the policy acts.
pub fn score_noting(
    policy: &Policy,
    alphabet: &Arc<Alphabet>,
    world: &World,
    exam: &Exam<'_>,
    scope: &mut Option<Scope>,
    listener: &dyn Listener,
) -> Result<Option<Vec<(String, Score)>>, derrl_learn::Error> {
    let Exam { tasks, options, episodes, seed } = *exam;
    let names: Vec<&str> = if tasks.is_empty() {
        world.tasks().iter().filter(|t| t.scored).map(|t| t.name.as_str()).collect()
    } else {
        tasks.iter().map(String::as_str).collect()
    };
    let mut scores = Vec::new();
    for (suffix, options) in variants(options) {
        for name in &names {
            let task = format!("{name}{suffix}");
            let mut env = world.make(alphabet, name, &options)?;
            let asked = episodes.unwrap_or_else(|| env.cost().episodes());
            // Of instances that somebody chose each is played once.
            let episodes = if env.instances() > 0 { env.instances() } else { asked };
            listener.scoring(&task, 0, episodes);
            let mut go_on = |done| {
                listener.scoring(&task, done, episodes);
                !listener.stopped()
            };
            let score = match scope {
                Some(scope) if scores.is_empty() => {
                    evaluate_noting(policy, alphabet, env.as_mut(), (episodes, seed), scope, &mut go_on)?
                }
                _ => evaluate_while(policy, alphabet, env.as_mut(), episodes, seed, &mut go_on)?,
            };
            let Some(score) = score else { return Ok(None) };
            scores.push((task, score));
        }
    }
    Ok(Some(scores))
}

/// The options under which each task is scored, with what its name ends with.
fn variants(options: &Options) -> Vec<(String, Options)> {
    // Of several traffic scenarios each is scored by itself.
    if let several @ [_, _, ..] = options.sumocfg.as_slice() {
        let alone = |one: &String| {
            (format!(":{}", scenario_name(one)), Options { sumocfg: vec![one.clone()], ..options.clone() })
        };
        return several.iter().map(alone).collect();
    }
    let quiet = (String::new(), Options { noise: None, ..options.clone() });
    let noisy = options.noise.is_some().then(|| ("+noise".to_string(), options.clone()));
    [quiet].into_iter().chain(noisy).collect()
}

/// The name of a traffic scenario: that of its file, without its folder.
fn scenario_name(given: &str) -> String {
    Path::new(given).file_stem().map_or_else(|| given.to_string(), |name| name.to_string_lossy().into_owned())
}

/// How often the shield took part since an earlier count; none where nothing is forbidden.
pub fn shield(domain: &Domain, before: &ShieldTally) -> Option<ShieldTally> {
    (!domain.alphabet.shield.is_empty()).then(|| domain.world.shield_tally().since(before))
}

/// The program behind a world, with its version, where there is one.
pub fn simulator(domain: &Domain) -> anyhow::Result<Option<String>> {
    let env = domain.world.make(&domain.alphabet, &domain.world.tasks()[0].name, &Options::default())?;
    Ok(env.simulator())
}

/// Scores by task.
pub fn to_json(scores: &[(String, Score)]) -> Value {
    Value::Object(scores.iter().map(|(t, s)| (t.clone(), json!(s))).collect::<Map<_, _>>())
}
