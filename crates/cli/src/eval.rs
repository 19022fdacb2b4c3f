//! `derrl eval`, and the scores of `derrl train`.

use std::path::Path;
use std::time::{Duration, Instant};

use derrl_env::{Options, ShieldTally};
use derrl_learn::{Score, evaluate_while};
use derrl_logic::Policy;
use indicatif::ProgressBar;
use serde_json::{Map, Value, json};

use crate::args::Eval;
use crate::cli::{Failure, Outcome, print, print_json};
use crate::domain::{Domain, load_policy_with};
use crate::log;
use crate::progress::{Control, TIMED, bar, catch_interrupts, interrupted};
use crate::safe_file::write;
use crate::say;
use crate::table::{WIDTH, columns, fixed, thousands, wrap};

/// Scores a policy on tasks.
pub fn run(args: &Eval) -> Outcome {
    let (policy, domain) =
        load_policy_with(&args.policy, args.domain.as_deref(), args.world.untyped, &args.problems)?;
    let before = domain.world.shield_tally();
    let scores = score(
        &policy,
        &domain,
        &args.tasks,
        &args.world.options(),
        args.episodes.map(|n| n as usize),
        args.seed,
        None,
    )?;
    let Some(scores) = scores else { return Err(Failure::Interrupted("interrupted".to_string())) };
    let shielded = shield(&domain, &before);
    let played = match &args.log {
        None if !args.strict => None,
        _ => {
            catch_interrupts();
            let episodes = args.episodes.map(|n| n as usize);
            Some(log::play(&policy, &domain, &args.tasks, &args.world.options(), episodes, args.seed)?)
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
        }
    }
    match played {
        Some(played) if args.strict && played.silent > 0 => Err(Failure::No),
        _ => Ok(()),
    }
}

/// How often the shield took part since an earlier count; none where nothing is forbidden.
pub fn shield(domain: &Domain, before: &ShieldTally) -> Option<ShieldTally> {
    (!domain.alphabet.shield.is_empty()).then(|| domain.world.shield_tally().since(before))
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

/// The score of a policy on each of these tasks, or on all of fixed size. With noise, each task is scored without it
/// and, as `task+noise`, with it. A program is told of progress, and stops it, by its control; a person by the terminal.
/// `None` if interrupted.
pub fn score(
    policy: &Policy,
    domain: &Domain,
    tasks: &[String],
    options: &Options,
    episodes: Option<usize>,
    seed: u64,
    control: Option<&Control>,
) -> anyhow::Result<Option<Vec<(String, Score)>>> {
    let names: Vec<&str> = if tasks.is_empty() {
        domain.world.tasks().iter().filter(|t| t.scored).map(|t| t.name.as_str()).collect()
    } else {
        tasks.iter().map(String::as_str).collect()
    };
    let mut scores = Vec::new();
    let mut meter = Scoring::new(control);
    let quiet = Options { noise: None, ..options.clone() };
    let noisy = options.noise.is_some().then(|| ("+noise".to_string(), options));
    let variants: Vec<(String, &Options)> = [(String::new(), &quiet)].into_iter().chain(noisy).collect();
    // Of several traffic scenarios each is scored by itself.
    let scenarios: Vec<Options> = match options.sumocfg.as_slice() {
        several @ [_, _, ..] => {
            several.iter().map(|one| Options { sumocfg: vec![one.clone()], ..options.clone() }).collect()
        }
        _ => Vec::new(),
    };
    let variants = if scenarios.is_empty() {
        variants
    } else {
        let name = |o: &Options| format!(":{}", scenario_name(&o.sumocfg[0]));
        scenarios.iter().map(|o| (name(o), o)).collect()
    };
    for (suffix, options) in &variants {
        for name in &names {
            if let Some(pddl) = &domain.pddl {
                domain.world.find_task(name)?;
                scores.push((format!("{name}{suffix}"), pddl.score(policy, &domain.alphabet, name, seed)?));
                continue;
            }
            let mut env = domain.world.make(&domain.alphabet, name, options)?;
            let episodes = episodes.unwrap_or_else(|| env.cost().episodes());
            let task = format!("{name}{suffix}");
            meter.begin(&task, episodes);
            let mut go_on = |done| meter.go_on(done);
            let score = evaluate_while(policy, &domain.alphabet, env.as_mut(), episodes, seed, &mut go_on)?;
            let Some(score) = score else { return Ok(None) };
            scores.push((task, score));
        }
    }
    Ok(Some(scores))
}

/// The name of a traffic scenario: that of its file, without its folder.
fn scenario_name(given: &str) -> String {
    Path::new(given).file_stem().map_or_else(|| given.to_string(), |name| name.to_string_lossy().into_owned())
}

/// Says how far the scores are: to a program that asked, else by a bar on a terminal, else by a line now and then, where it
/// takes long.
struct Scoring<'a> {
    control: Option<&'a Control>,
    bar: ProgressBar,
    on_terminal: bool,
    task: String,
    episodes: usize,
    /// Episodes of the tasks before.
    before: u64,
    /// When to say something next.
    next: Instant,
}

/// Seconds of silence at the most, but for an episode that takes longer.
const SILENCE: Duration = Duration::from_secs(5);

impl<'a> Scoring<'a> {
    fn new(control: Option<&'a Control>) -> Scoring<'a> {
        let (bar, on_terminal) = match control {
            Some(_) => (ProgressBar::hidden(), false),
            None => bar(0, TIMED),
        };
        let next = Instant::now() + SILENCE;
        Scoring { control, bar, on_terminal, task: String::new(), episodes: 0, before: 0, next }
    }

    fn begin(&mut self, task: &str, episodes: usize) {
        self.before += self.episodes as u64;
        self.episodes = episodes;
        self.task = task.to_string();
        self.bar.set_length(self.before + episodes as u64);
        self.bar.set_message(format!("scoring {task}"));
        self.say(0);
    }

    fn go_on(&mut self, done: usize) -> bool {
        self.bar.set_position(self.before + done as u64);
        self.say(done);
        !self.control.map_or_else(interrupted, Control::stopped)
    }

    fn say(&mut self, done: usize) {
        if let Some(control) = self.control {
            if done == 0 {
                control.say(format!("scoring {}", self.task));
            }
        } else if !self.on_terminal && Instant::now() >= self.next {
            say!("scoring {}: {done} of {} episodes", self.task, self.episodes);
            self.next = Instant::now() + SILENCE;
        }
    }
}

impl Drop for Scoring<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
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
