//! `derrl eval`, and the scores of `derrl train`.

use derrl_env::Options;
use derrl_learn::{Score, evaluate};
use derrl_logic::Policy;
use serde_json::{Map, Value, json};

use crate::args::Eval;
use crate::cli::{Outcome, print, print_json};
use crate::domain::{Domain, load_policy_with};
use crate::table::columns;

/// Scores a policy on tasks.
pub fn run(args: &Eval) -> Outcome {
    let (policy, domain) =
        load_policy_with(&args.policy, args.domain.as_deref(), args.world.untyped, &args.problems)?;
    let scores = score(
        &policy,
        &domain,
        &args.tasks,
        &args.world.options(),
        args.episodes.map(|n| n as usize),
        args.seed,
    )?;
    if args.json {
        print_json(&json!({
            "domain": domain.name,
            "seed": args.seed,
            "policy": policy.display(&domain.alphabet).to_string(),
            "simulator": simulator(&domain)?,
            "scores": to_json(&scores),
        }))?;
    } else {
        print(&show(&scores, ""));
    }
    Ok(())
}

/// The score of a policy on each of these tasks, or on all of fixed size. With noise, each task is scored without it
/// and, as `task+noise`, with it.
pub fn score(
    policy: &Policy,
    domain: &Domain,
    tasks: &[String],
    options: &Options,
    episodes: Option<usize>,
    seed: u64,
) -> anyhow::Result<Vec<(String, Score)>> {
    let names: Vec<&str> = if tasks.is_empty() {
        domain.world.tasks().iter().filter(|t| t.scored).map(|t| t.name.as_str()).collect()
    } else {
        tasks.iter().map(String::as_str).collect()
    };
    let mut scores = Vec::new();
    let quiet = Options { noise: None, ..options.clone() };
    let variants =
        if options.noise.is_some() { vec![("", &quiet), ("+noise", options)] } else { vec![("", options)] };
    for (suffix, options) in variants {
        for name in &names {
            if let Some(pddl) = &domain.pddl {
                domain.world.find_task(name)?;
                scores.push((format!("{name}{suffix}"), pddl.score(policy, &domain.alphabet, name, seed)?));
                continue;
            }
            let mut env = domain.world.make(&domain.alphabet, name, options)?;
            let episodes = episodes.unwrap_or_else(|| env.cost().episodes());
            let score = evaluate(policy, &domain.alphabet, env.as_mut(), episodes, seed)?;
            scores.push((format!("{name}{suffix}"), score));
        }
    }
    Ok(scores)
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

/// Scores as a table.
pub fn show(scores: &[(String, Score)], indent: &str) -> String {
    let heads = ["task", "return", "± stderr", "success", "best known"];
    let mut rows = vec![heads.map(String::from).to_vec()];
    for (task, s) in scores {
        rows.push(vec![
            task.clone(),
            format!("{:.3}", s.mean),
            format!("{:.3}", s.stderr),
            format!("{:.0}%", 100.0 * s.success_rate),
            s.best_known.map_or_else(|| "-".to_string(), |best| format!("{best:.3}")),
        ]);
    }
    let mut text = columns(&rows, indent);
    for (task, s) in scores.iter().filter(|(_, s)| !s.references.is_empty()) {
        let others: Vec<String> =
            s.references.iter().map(|(name, mean)| format!("{name} {mean:.3}")).collect();
        text =
            format!("{text}{indent}{task}, other controllers on the same instances: {}\n", others.join(", "));
    }
    text
}
