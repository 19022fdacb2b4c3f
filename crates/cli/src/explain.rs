//! `derrl explain`.

use derrl_env::make;
use derrl_learn::{ExplainedStep, Match, Reason, WhyNot, explain_episode, find_action};
use derrl_logic::parse_ground_action;
use serde_json::json;

use crate::args::Explain;
use crate::domain::load_policy;
use crate::{Outcome, print, print_json};

/// Explains an episode, step by step.
pub fn run(args: &Explain) -> Outcome {
    let (policy, domain) = load_policy(&args.policy, args.domain.as_deref(), args.world.untyped)?;
    let alphabet = &domain.alphabet;
    let asked = args.why_not.as_deref().map(|text| parse_ground_action(text, alphabet)).transpose()?;
    let mut env = make(domain.spec, alphabet, &args.task, &args.world.options())?;
    let steps = explain_episode(&policy, alphabet, env.as_mut(), args.seed, args.steps as usize)?;
    let asked = match asked {
        None => None,
        Some((action, names)) => {
            let universe = env.universe();
            let ground = find_action(alphabet, universe, action, &names)
                .map_err(|e| anyhow::anyhow!("--why-not: {e}"))?;
            Some(universe.show_action(alphabet, ground.action, &ground.args))
        }
    };
    if args.json {
        print_json(&json!({
            "domain": domain.name,
            "task": args.task,
            "seed": args.seed,
            "policy": policy.display(alphabet).to_string(),
            "steps": steps,
        }))?;
        return Ok(());
    }
    let background: Vec<&str> = alphabet
        .predicates
        .iter()
        .filter(|p| p.role == derrl_logic::Role::Background)
        .map(|p| p.name.as_str())
        .collect();
    let is_background = |fact: &&String| background.contains(&fact.split('(').next().unwrap_or(""));
    if let Some(first) = steps.first() {
        let fixed: Vec<&String> = first.explanation.facts.iter().filter(is_background).collect();
        print(&format!("background: {}\n", list(&fixed, 12)));
    }
    for step in &steps {
        let changing: Vec<&String> = step.explanation.facts.iter().filter(|f| !is_background(f)).collect();
        print(&format!("\nstep {}: {}\n", step.step, list(&changing, 40)));
        print(&show_step(step));
        if let Some(asked) = &asked {
            print(&show_asked(step, asked));
        }
    }
    let total: f64 = steps.iter().map(|s| s.reward).sum();
    let end = steps.last().map_or("nothing happened", |s| s.status);
    print(&format!("\n{end} after {} steps, return {total:.2}\n", steps.len()));
    Ok(())
}

fn list(items: &[&String], most: usize) -> String {
    let shown: Vec<&str> = items.iter().take(most).map(|s| s.as_str()).collect();
    let more = if items.len() > most { format!(", ... {} more", items.len() - most) } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

fn show_step(step: &ExplainedStep) -> String {
    let e = &step.explanation;
    let reward = if step.reward == 0.0 { String::new() } else { format!("   reward {:.2}", step.reward) };
    let why = match &e.fired {
        None => "no rule fires: any action will do\n".to_string(),
        Some(m) => format!("because {}{}\n", m.text, show_substitution(m)),
    };
    let ties = if e.fired.is_some() && e.ties.len() > 1 {
        let others: Vec<&str> = e.ties.iter().map(String::as_str).filter(|t| *t != e.action).collect();
        format!("  ties with {}\n", others.join(", "))
    } else {
        String::new()
    };
    format!("  {}{reward}\n  {why}{ties}", e.action)
}

/// What the variables of a rule stand for, on a line of its own.
pub fn show_substitution(m: &Match) -> String {
    let pairs: Vec<String> = m.substitution.iter().map(|(v, o)| format!("{v} = {o}")).collect();
    if pairs.is_empty() { String::new() } else { format!("\n          with {}", pairs.join(", ")) }
}

fn show_asked(step: &ExplainedStep, asked: &str) -> String {
    if step.explanation.action == asked {
        return format!("  {asked} is what was chosen\n");
    }
    let why = step.explanation.others.iter().find(|w| w.action == asked);
    why.map(show_why_not).unwrap_or_default()
}

/// Why an action was not chosen.
pub fn show_why_not(why: &WhyNot) -> String {
    let WhyNot { action, value, nearest, failed, .. } = why;
    let rule = nearest.as_ref().map(|m| format!("{}{}", m.text, show_substitution(m))).unwrap_or_default();
    match why.reason {
        Reason::Tie => format!("  not {action}: it ties, and chance chose another\n"),
        Reason::Weaker => format!("  not {action}: its value is only {value:.2}, by {rule}\n"),
        Reason::NoRule => format!("  not {action}: no rule is about it\n"),
        Reason::Failed => format!("  not {action}: false is {}\n          in {rule}\n", failed.join(", ")),
    }
}
