//! `derrl eval`, and the scores of `derrl train`.

use derrl::Listener;
use derrl::policies::{load_policy_with, scope_of};
use derrl::score::{Exam, score, shield, simulator, to_json};
use derrl_env::ShieldTally;
use derrl_files::safe_file::write;
use derrl_learn::Score;
use derrl_report::table::{WIDTH, columns, fixed, thousands, wrap};
use serde_json::json;

use crate::args::Eval;
use crate::failure::{Failure, Outcome};
use crate::log;
use crate::output::{print, print_json};
use crate::progress::{Terminal, catch_interrupts};

/// Scores a policy on tasks.
pub fn run(args: &Eval) -> Outcome {
    let (policy, domain) =
        load_policy_with(&args.policy, args.domain.as_deref(), args.world.untyped, &args.problems.asked())?;
    let before = domain.world.shield_tally();
    let (options, episodes) = (args.world.options(), args.episodes.map(|n| n as usize));
    let exam = Exam { tasks: &args.tasks, options: &options, episodes, seed: args.seed };
    let terminal = Terminal::new();
    let scores = score(&policy, &domain.alphabet, &domain.world, &exam, &terminal);
    terminal.over();
    let scores = scores?;
    let Some(scores) = scores else { return Err(Failure::Interrupted("interrupted".to_string())) };
    let shielded = shield(&domain, &before);
    let played = match &args.log {
        None if !args.strict => None,
        _ => {
            catch_interrupts();
            Some(log::play(&policy, &domain, &exam, scope_of(&args.policy)?)?)
        }
    };
    if let (Some(path), Some(played)) = (&args.log, &played) {
        write(path, &played.text)?;
    }
    if args.json {
        print_json(&json!({
            "domain": domain.name,
            "seed": args.seed,
            "policy": policy.display(&domain.alphabet).to_string(),
            "simulator": simulator(&domain)?,
            "scores": to_json(&scores),
            "shield": shielded,
            "decisions": played.as_ref().map(|p| p.decisions),
            "without_a_rule": played.as_ref().map(|p| p.silent),
            "outside": played.as_ref().map(|p| p.outside),
        }))?;
    } else {
        print(&show(&scores, ""));
        if let Some(tally) = shielded {
            print(&show_shield(&tally, ""));
        }
        if let Some(played) = &played {
            let [decisions, silent] = [played.decisions, played.silent].map(thousands);
            let first = played.first.as_ref().map_or_else(String::new, |at| format!(", first in {at}"));
            let text = format!("no rule fired in {silent} of {decisions} decisions{first}");
            print(&wrap(&text, "", WIDTH));
            if let Some(first) = &played.first_outside {
                let outside = thousands(played.outside);
                let text =
                    format!("{outside} were taken outside what the policy was learned on, first {first}");
                print(&wrap(&text, "", WIDTH));
            }
        }
    }
    match played {
        Some(played) if args.strict && played.silent + played.outside > 0 => Err(Failure::No),
        _ => Ok(()),
    }
}

/// How often the shield took part, in words.
pub fn show_shield(tally: &ShieldTally, indent: &str) -> String {
    let ShieldTally { steps, restricted, forced, .. } = tally;
    let [steps, restricted, forced] = [steps, restricted, forced].map(|n| thousands(*n));
    let text = format!(
        "shield: of {steps} actions {restricted} were taken where something is forbidden; {forced} times everything was, and one \
         of the least bad was taken"
    );
    wrap(&text, indent, WIDTH)
}

/// Scores as a table. Where no task asks for anything that is reached or not, there is no column of successes.
pub fn show(scores: &[(String, Score)], indent: &str) -> String {
    let has_goals = scores.iter().any(|(_, s)| s.success_rate.is_some());
    let row = |[task, mean, error, success, best]: [String; 5]| {
        let success = has_goals.then_some(success);
        [task, mean, error].into_iter().chain(success).chain([best]).collect::<Vec<_>>()
    };
    let none = || "-".to_string();
    let mut rows = vec![row(["task", "return", "± stderr", "success", "best known"].map(String::from))];
    for (task, s) in scores {
        rows.push(row([
            task.clone(),
            fixed(s.mean, 3),
            // A single episode says nothing about how far its return may be off.
            if s.episodes > 1 { format!("{:.3}", s.stderr) } else { format!("n = {}", s.episodes) },
            s.success_rate.map_or_else(none, |share| format!("{}%", (100.0 * share).round())),
            s.best_known.map_or_else(none, |best| fixed(best, 3)),
        ]));
    }
    let mut text = columns(&rows, indent);
    for (task, s) in scores.iter().filter(|(_, s)| !s.references.is_empty()) {
        let others: Vec<String> =
            s.references.iter().map(|(name, mean)| format!("{name} {}", fixed(*mean, 3))).collect();
        let others = format!("{task}, other controllers on the same instances: {}", others.join(", "));
        text.push_str(&wrap(&others, indent, WIDTH));
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn score(success_rate: Option<f64>, episodes: usize) -> (String, Score) {
        let (references, problems) = (BTreeMap::new(), Vec::new());
        let (best_known, stderr) = (None, if episodes > 1 { 0.25 } else { 0.0 });
        (
            "train".into(),
            Score { mean: -0.5, stderr, success_rate, best_known, episodes, references, problems },
        )
    }

    #[test]
    fn a_single_episode_has_no_error_and_a_world_without_goals_no_success() {
        let many = show(&[score(Some(1.0), 20)], "");
        assert!(many.contains("success") && many.contains("100%") && many.contains("0.250"), "{many}");
        let single = show(&[score(None, 1)], "");
        assert!(single.contains("n = 1") && !single.contains("0.000"), "{single}");
        assert!(!single.contains("success") && !single.contains('%'), "{single}");
    }
}
