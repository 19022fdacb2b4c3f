//! Logs of decisions: `derrl eval --log` writes one, `derrl replay` plays the same episodes again and compares.
//!
//! A log is lines of JSON. One says which episodes of which task follow; each of the others is a decision.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, bail};
use derrl::domain::Domain;
use derrl::policies::load_policy_with;
use derrl::score::Exam;
use derrl_env::Options;
use derrl_files::bounded::read_text;
use derrl_files::sealed::fingerprint;
use derrl_learn::{Ask, ExplainedStep, Others, explain_episode};
use derrl_logic::{Policy, Scope};
use derrl_report::table::thousands;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::args::Replay;
use crate::failure::{Failure, Outcome};
use crate::output::{print, print_json};
use crate::progress::{catch_interrupts, interrupted};

/// The largest log that is read.
const MOST_BYTES: usize = 1 << 30;
/// Other actions that a decision is compared with, at the most.
const MOST_OTHERS: usize = 200;
/// An episode ends by itself; one that does not is left here.
const MOST_STEPS: usize = 1_000_000;

/// A line of a log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Line {
    /// The episodes that follow.
    Episodes {
        /// The world.
        world: String,
        task: String,
        seed: u64,
        episodes: u64,
        options: Options,
    },
    Decision(Decision),
}

/// A decision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Decision {
    /// From 1.
    episode: u64,
    /// From 1.
    step: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<usize>,
    /// A digest of what held.
    facts: String,
    action: String,
    /// The number of the rule that fired, from 1; none where no rule did.
    rule: Option<usize>,
    /// What its variables stood for.
    substitution: Vec<(String, String)>,
    /// The value of the action.
    value: f64,
    /// How much more that is than the value of the best action that is not as good; none where there are too many actions to ask.
    margin: Option<f64>,
    /// How many actions were as good, this one included.
    ties: usize,
    /// In what the state lies outside what the policy was learned on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    outside: Vec<String>,
}

impl Decision {
    fn new(episode: u64, step: ExplainedStep) -> Decision {
        let ExplainedStep { step, agent, explanation, .. } = step;
        let mut facts = explanation.facts;
        facts.sort();
        let value = explanation.value;
        let below = explanation.others.iter().map(|o| o.value).filter(|v| *v < value);
        // Weights have a few decimals: more would be the noise of subtraction.
        let rounded = |x: f64| (x * 1e9).round() / 1e9;
        let margin = (explanation.unexplained == 0).then(|| rounded(value - below.fold(0.0, f64::max)));
        let (rule, substitution) = match explanation.fired {
            Some(fired) => (Some(fired.rule), fired.substitution),
            None => (None, Vec::new()),
        };
        Decision {
            episode,
            step,
            agent,
            facts: fingerprint(facts.join("\n").bytes()),
            action: explanation.action,
            rule,
            substitution,
            value,
            margin,
            ties: explanation.ties.len(),
            outside: explanation.outside,
        }
    }

    fn place(&self) -> String {
        format!("step {} of episode {}", self.step, self.episode)
    }

    /// The first thing in which another decision differs: its name, here and there.
    fn difference(&self, other: &Decision) -> Option<(String, String, String)> {
        let fields = |d: &Decision| serde_json::to_value(d).unwrap_or_default();
        let (here, there) = (fields(self), fields(other));
        let names = [
            "episode",
            "step",
            "agent",
            "facts",
            "action",
            "rule",
            "substitution",
            "value",
            "margin",
            "ties",
        ];
        names
            .into_iter()
            .find(|name| here[name] != there[name])
            .map(|name| (name.to_string(), here[name].to_string(), there[name].to_string()))
    }
}

/// What came of decisions that were played.
#[derive(Default)]
pub struct Played {
    /// The log.
    pub text: String,
    /// How many decisions there were.
    pub decisions: u64,
    /// In how many of them no rule fired.
    pub silent: u64,
    /// The first of these.
    pub first: Option<String>,
    /// How many were taken outside what the policy was learned on.
    pub outside: u64,
    /// The first of these, and why.
    pub first_outside: Option<String>,
}

/// Plays the episodes that `eval` scores, and logs every decision.
pub fn play(
    policy: &Policy,
    domain: &Domain,
    exam: &Exam<'_>,
    scope: Option<Scope>,
) -> Result<Played, Failure> {
    let Exam { tasks, options, episodes, seed } = *exam;
    if domain.world.is_chosen() {
        let error = anyhow::anyhow!(
            "--log and --strict follow episodes, and PDDL has problems: `derrl plan` writes what a policy does in one"
        );
        return Err(error.into());
    }
    let all = domain.world.tasks().iter().filter(|t| t.scored).map(|t| t.name.clone()).collect();
    let tasks: Vec<String> = if tasks.is_empty() { all } else { tasks.to_vec() };
    let mut played = Played::default();
    let ask = asking(scope);
    for task in tasks {
        let env = domain.world.make(&domain.alphabet, &task, options)?;
        let episodes = episodes.unwrap_or_else(|| env.cost().episodes()) as u64;
        let world = domain.world.name().to_string();
        let head = Line::Episodes { world, task: task.clone(), seed, episodes, options: options.clone() };
        let _ = writeln!(played.text, "{}", serde_json::to_string(&head).context("a log")?);
        each_decision((policy, domain, &ask), &task, options, (seed, episodes), &mut |decision| {
            played.decisions += 1;
            if decision.rule.is_none() {
                played.silent += 1;
                played.first.get_or_insert_with(|| format!("{} of task {task}", decision.place()));
            }
            if let Some(why) = decision.outside.first() {
                played.outside += 1;
                played
                    .first_outside
                    .get_or_insert_with(|| format!("{} of task {task}: {why}", decision.place()));
            }
            let line = serde_json::to_string(&Line::Decision(decision)).context("a log")?;
            let _ = writeln!(played.text, "{line}");
            Ok(true)
        })?;
    }
    Ok(played)
}

/// What a decision is logged with.
fn asking(scope: Option<Scope>) -> Ask {
    Ask { others: Others::First(MOST_OTHERS, None), scope, ..Ask::default() }
}

/// Calls `each` with the decisions of some episodes, until it says that this is enough.
fn each_decision(
    (policy, domain, ask): (&Policy, &Domain, &Ask),
    task: &str,
    options: &Options,
    (seed, episodes): (u64, u64),
    each: &mut dyn FnMut(Decision) -> Result<bool, Failure>,
) -> Outcome {
    let mut env = domain.world.make(&domain.alphabet, task, options)?;
    for episode in 0..episodes {
        if interrupted() {
            return Err(Failure::Interrupted("interrupted".to_string()));
        }
        let trace =
            explain_episode(policy, &domain.alphabet, env.as_mut(), (seed, episode), MOST_STEPS, ask)?;
        for step in trace.steps {
            if !each(Decision::new(episode + 1, step))? {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// `derrl replay`: plays the episodes of a log again, and says whether every decision is the one that was logged.
pub fn replay(args: &Replay) -> Outcome {
    let (policy, domain) =
        load_policy_with(&args.policy, args.domain.as_deref(), args.untyped, &args.problems.asked())?;
    let parts = read(&args.log)?;
    catch_interrupts();
    let (mut decisions, mut wrong) = (0, None);
    for Part { world, task, seed, episodes, options, logged } in parts {
        if world != domain.world.name() {
            let name = domain.world.name();
            return Err(anyhow::anyhow!("{}: a log of `{world}`, not of `{name}`", args.log.display()).into());
        }
        let mut logged = logged.into_iter();
        each_decision((&policy, &domain, &asking(None)), &task, &options, (seed, episodes), &mut |here| {
            let place = format!("{} of task {task}", here.place());
            match logged.next() {
                None => wrong = Some(format!("{place}: the log ends before it")),
                Some((line, there)) => {
                    if let Some((what, here, there)) = here.difference(&there) {
                        wrong =
                            Some(format!("{place}: {what} is {here}, and in line {line} of the log {there}"));
                    }
                }
            }
            decisions += u64::from(wrong.is_none());
            Ok(wrong.is_none())
        })?;
        if wrong.is_none()
            && let Some((line, more)) = logged.next()
        {
            wrong = Some(format!("line {line} of the log: there is no {} of task {task}", more.place()));
        }
        if wrong.is_some() {
            break;
        }
    }
    if args.json {
        print_json(&json!({ "agrees": wrong.is_none(), "decisions": decisions, "difference": wrong }))?;
    } else if let Some(wrong) = &wrong {
        print(&format!("differs after {} decisions: {wrong}\n", thousands(decisions)));
    } else {
        print(&format!("all {} decisions are as logged\n", thousands(decisions)));
    }
    if wrong.is_some() { Err(Failure::No) } else { Ok(()) }
}

/// The episodes of one task in a log, with the number of each line.
struct Part {
    world: String,
    task: String,
    seed: u64,
    episodes: u64,
    options: Options,
    logged: Vec<(usize, Decision)>,
}

/// Reads a log.
fn read(path: &Path) -> anyhow::Result<Vec<Part>> {
    let name = path.display();
    let text = read_text(path, MOST_BYTES).with_context(|| format!("{name} cannot be read"))?;
    let mut parts: Vec<Part> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line: Line = serde_json::from_str(line).with_context(|| {
            format!("{name}:{}: not a line of a log that `derrl eval --log` wrote", at + 1)
        })?;
        match (line, parts.last_mut()) {
            (Line::Episodes { world, task, seed, episodes, options }, _) => {
                parts.push(Part { world, task, seed, episodes, options, logged: Vec::new() });
            }
            (Line::Decision(decision), Some(part)) => part.logged.push((at + 1, decision)),
            (Line::Decision(_), None) => bail!("{name}: a log begins with the episodes that follow"),
        }
    }
    if parts.is_empty() {
        bail!("{name}: an empty log");
    }
    Ok(parts)
}
