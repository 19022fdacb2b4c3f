//! Explained episodes, written briefly: what repeats from step to step is written once.

use std::collections::{BTreeSet, HashMap};

use derrl_env::{Env, Options};
use derrl_learn::{
    Ask, Bounds, Change, ExplainedStep, Explanation, Found, Match, Others, Reason, Standing, Trace, WhatIf,
    WhatIfs, WhyNot, explain_episode,
};
use derrl_logic::{Policy, Role};
use serde::Serialize;
use serde_json::{Map, Value};

use super::Extent;
use crate::domain::Domain;
use crate::run_folder::RunFolder;
use crate::shell::quoted;

/// All episodes of a run.
#[derive(Default, Serialize)]
pub struct Episodes {
    tasks: Vec<TaskEpisodes>,
    /// Situations and what is to be said about the actions not taken there. Policies that are lost come by the same ones again and
    /// again, so steps name them by number.
    situations: Vec<Situation>,
    #[serde(skip)]
    known: HashMap<Vec<String>, usize>,
    #[serde(skip)]
    explained: usize,
    /// Episodes left out because there was no time for them.
    #[serde(skip)]
    left_out: usize,
}

/// A state and an action taken there.
#[derive(Serialize)]
struct Situation {
    facts: Vec<String>,
    others: Vec<Other>,
    /// Other actions that are not explained, because there are too many.
    #[serde(skip_serializing_if = "is_zero")]
    unexplained: usize,
}

/// The episodes of a task.
#[derive(Serialize)]
pub struct TaskEpisodes {
    task: String,
    summary: String,
    episodes: Vec<Episode>,
}

/// An explained episode.
#[derive(Serialize)]
struct Episode {
    /// Which episode of the seed, from 1.
    number: usize,
    /// The command that explains it in a terminal.
    command: String,
    background: Vec<String>,
    steps: Vec<Step>,
    end: End,
    /// The best-known return from its start.
    #[serde(skip_serializing_if = "Option::is_none")]
    best: Option<f64>,
}

#[derive(Serialize)]
struct Step {
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<usize>,
    /// The number of its situation.
    at: usize,
    action: String,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    fired: Option<Fired>,
    /// The other actions of the same value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ties: Vec<String>,
    reward: f64,
    /// The return so far, before the reward.
    total: f64,
    /// What of the picture changed since the step before.
    scene: Map<String, Value>,
}

#[derive(Serialize)]
struct End {
    status: &'static str,
    success: bool,
    #[serde(rename = "return")]
    total: f64,
    facts: Vec<String>,
    scene: Map<String, Value>,
}

/// A rule by its place, from 0, and what its variables stand for, in the order of their names.
#[derive(Serialize)]
struct Fired {
    rule: usize,
    phi: Vec<String>,
}

#[derive(Serialize)]
struct Other {
    action: String,
    why: Reason,
    #[serde(skip_serializing_if = "is_none_or_zero")]
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest: Option<Fired>,
    /// The atoms of that rule that fail, by place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed: Vec<usize>,
    /// Disequalities that fail.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    clashes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<Answer>,
}

/// What would have to change.
#[derive(Serialize)]
struct Answer {
    /// `chosen`, `alone` or `silent`.
    #[serde(rename = "for")]
    for_: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    removed: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    added: Vec<String>,
    /// `alone`, `tie` or `any-action`; none where there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    standing: Option<Standing>,
    /// Whether the state would break a constraint of the domain.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    odd: bool,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    none: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for this signature")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for this signature")]
fn is_none_or_zero(n: &f64) -> bool {
    *n == 0.0
}

/// Other actions that are explained at a step, at the most.
const MOST_OTHERS: usize = 64;
/// Actions of a whole page for which it says what would have to change, and actions that it explains at all.
const MOST_CHANGES: usize = 10_000;
const MOST_EXPLAINED: usize = 40_000;
/// How far a page looks for changes: far enough for the worlds at hand, and quick.
const BOUNDS: Bounds = Bounds { changes: 4, states: 2_000, background: false, inconsistent: true };

/// The first episodes of each task that was scored. What cannot be run is left out with a note: a page without episodes is better
/// than none.
pub fn of_tasks(
    folder: &RunFolder,
    domain: &Domain,
    policy: &Policy,
    scores: &Value,
    extent: Extent,
    notes: &mut Vec<String>,
) -> Episodes {
    let mut all = Episodes::default();
    if extent.episodes == 0 {
        return all;
    }
    let scored = |task: &str| scores.get(task).is_some();
    for task in domain.world.tasks() {
        let options = folder.config.options.of(task);
        for (suffix, options) in [("", quiet(&options)), ("+noise", options)] {
            let name = format!("{}{suffix}", task.name);
            if !scored(&name) {
                continue;
            }
            match of_task(folder, domain, policy, &task.name, &options, extent, &mut all) {
                Ok(episodes) => {
                    all.tasks.push(TaskEpisodes { task: name, summary: task.summary.clone(), episodes })
                }
                Err(problem) => {
                    notes.push(format!("no episodes of task `{name}`: {problem}"));
                    // What one task lacks, the next lacks too, and looking for it may take long.
                    return all;
                }
            }
        }
    }
    if extent.is_late() {
        let missing = match all.left_out {
            0 => "some explanations are".to_string(),
            n => format!("{n} episodes and some explanations are"),
        };
        let shown = quoted(folder.path());
        notes.push(format!("{missing} left out to save time: `derrl report {shown}` writes the whole page"));
    }
    all
}

fn quiet(options: &Options) -> Options {
    Options { noise: None, ..options.clone() }
}

fn of_task(
    folder: &RunFolder,
    domain: &Domain,
    policy: &Policy,
    task: &str,
    options: &Options,
    extent: Extent,
    all: &mut Episodes,
) -> anyhow::Result<Vec<Episode>> {
    let alphabet = &domain.alphabet;
    let mut env = domain.world.make(alphabet, task, options)?;
    // Where an episode takes a simulator, one is enough.
    let count = if env.simulator().is_some() { extent.episodes.min(1) } else { extent.episodes };
    let mut episodes = Vec::new();
    for number in 0..count {
        // What is seen at a glance is there in any case: the first episode of the first task.
        if extent.is_late() && !(all.tasks.is_empty() && number == 0) {
            all.left_out += count - number;
            break;
        }
        let id = (folder.config.seed, number as u64);
        let what_if = if all.explained < MOST_CHANGES { WhatIfs::Others } else { WhatIfs::None };
        let others =
            if all.explained < MOST_EXPLAINED { Others::First(MOST_OTHERS, None) } else { Others::None };
        let ask = Ask { others, what_if, bounds: BOUNDS, until: extent.until };
        let trace = explain_episode(policy, alphabet, env.as_mut(), id, extent.steps, &ask)?;
        let writer = Writer { domain, env: env.as_ref(), all, scene: Map::new(), total: 0.0 };
        let command = command(folder, task, options, number + 1);
        episodes.push(writer.episode(number + 1, command, trace));
    }
    Ok(episodes)
}

/// How to see the same episode in a terminal.
fn command(folder: &RunFolder, task: &str, options: &Options, number: usize) -> String {
    let noise = options.noise.map(|p| format!(" --noise {p}")).unwrap_or_default();
    let seed = folder.config.seed;
    format!("derrl explain {} --task {task} --seed {seed} --episode {number}{noise}", quoted(folder.path()))
}

struct Writer<'a> {
    domain: &'a Domain,
    env: &'a dyn Env,
    all: &'a mut Episodes,
    /// The picture of the step before.
    scene: Map<String, Value>,
    total: f64,
}

impl Writer<'_> {
    fn episode(mut self, number: usize, command: String, trace: Trace) -> Episode {
        let background = match trace.steps.first() {
            // Agents see different parts of a world.
            Some(first) if first.agent.is_none() => self.split(first.explanation.facts.clone()).1,
            _ => Vec::new(),
        };
        let steps = trace.steps.into_iter().map(|step| self.step(step)).collect();
        let end = trace.end;
        Episode {
            number,
            command,
            background,
            steps,
            end: End {
                status: end.status,
                success: end.success,
                total: rounded(end.total),
                facts: self.visible(end.facts, self.env.agents() > 1),
                scene: self.changed(&end.scene),
            },
            // In a world of several agents the best known takes simulations of its own.
            best: (self.env.agents() == 1).then(|| self.env.best_return()).flatten(),
        }
    }

    fn step(&mut self, step: ExplainedStep) -> Step {
        let scene = self.changed(&step.scene);
        let Explanation { facts, action, value, fired, ties, others, .. } = step.explanation;
        let total = self.total;
        self.total += step.reward;
        Step {
            agent: step.agent,
            at: self.situation(facts, &action, others, step.agent.is_some()),
            // Where no rule fires all actions tie, and saying so once is enough.
            ties: if fired.is_some() {
                ties.into_iter().filter(|t| *t != action).collect()
            } else {
                Vec::new()
            },
            fired: fired.map(brief),
            value,
            reward: step.reward,
            total: rounded(total),
            action,
            scene,
        }
    }

    /// The number of a situation, which is written down where it is new.
    fn situation(
        &mut self,
        facts: Vec<String>,
        action: &str,
        others: Vec<WhyNot>,
        with_background: bool,
    ) -> usize {
        // The same facts of another universe offer other actions.
        let actions = others.iter().map(|o| o.action.clone());
        let key: Vec<String> = facts.iter().cloned().chain([action.to_string()]).chain(actions).collect();
        if let Some(&known) = self.all.known.get(&key) {
            return known;
        }
        let count = self.env.universe().ground_actions(&self.domain.alphabet).len();
        // Agents have universes of their own; theirs are small.
        let unexplained = if with_background { 0 } else { count.saturating_sub(others.len() + 1) };
        let number = self.all.situations.len();
        self.all.known.insert(key, number);
        self.all.explained += others.len();
        let facts = self.visible(facts, with_background);
        let others = others.into_iter().map(other).collect();
        self.all.situations.push(Situation { facts, others, unexplained });
        number
    }

    /// The facts to write with a step: the background is written once, but where agents differ in it, with each step.
    fn visible(&self, facts: Vec<String>, with_background: bool) -> Vec<String> {
        if with_background { facts } else { self.split(facts).0 }
    }

    /// State facts and background facts.
    fn split(&self, facts: Vec<String>) -> (Vec<String>, Vec<String>) {
        let predicates = &self.domain.alphabet.predicates;
        let background: Vec<&str> =
            predicates.iter().filter(|p| p.role == Role::Background).map(|p| p.name.as_str()).collect();
        facts.into_iter().partition(|fact| {
            let name = fact.split('(').next().unwrap_or_default();
            !background.contains(&name.trim_matches('\''))
        })
    }

    /// The parts of a picture that differ from those of the step before.
    fn changed(&mut self, scene: &derrl_env::Scene) -> Map<String, Value> {
        let Ok(Value::Object(now)) = serde_json::to_value(scene) else { return Map::new() };
        let new = |(key, value): &(&String, &Value)| self.scene.get(*key) != Some(*value);
        let changed = now.iter().filter(new).map(|(key, value)| (key.clone(), value.clone())).collect();
        self.scene = now;
        changed
    }
}

/// Without the noise of adding up, which would only make the page longer.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

fn brief(m: Match) -> Fired {
    // Names of variables are unique, and their order is that of the rule's text.
    Fired { rule: m.rule - 1, phi: m.substitution.into_iter().map(|(_, object)| object).collect() }
}

fn other(why: WhyNot) -> Other {
    let WhyNot { action, value, reason, nearest, failed, what_if } = why;
    let place = |text: &String| nearest.as_ref().and_then(|m| m.body.iter().position(|b| b == text));
    let places: BTreeSet<usize> = failed.iter().filter_map(place).collect();
    Other {
        action,
        why: reason,
        value,
        clashes: failed.iter().filter(|text| place(text).is_none()).cloned().collect(),
        failed: places.into_iter().collect(),
        nearest: nearest.map(brief),
        changes: what_if.map(answers).unwrap_or_default(),
    }
}

fn answers(what_if: WhatIf) -> Vec<Answer> {
    let WhatIf { chosen, alone, silent, .. } = what_if;
    let same = chosen == alone;
    let mut answers = vec![answer("chosen", chosen)];
    if !same {
        answers.push(answer("alone", alone));
    }
    answers.push(silent.map(|change| found("silent", change)));
    answers.into_iter().flatten().collect()
}

fn found(for_: &'static str, change: Change) -> Answer {
    let Change { removed, added, standing, breaks, .. } = change;
    Answer { for_, removed, added, standing: Some(standing), odd: !breaks.is_empty(), none: None }
}

fn answer(for_: &'static str, result: Found) -> Option<Answer> {
    let none = match result {
        Found::Already => return None,
        Found::Found(change) => return Some(found(for_, change)),
        Found::Impossible => "no change of state facts makes a rule choose it".to_string(),
        Found::Beyond { changes } | Found::GaveUp { changes } => {
            format!("no change of up to {changes} facts makes a rule choose it")
        }
    };
    let none = Some(none);
    Some(Answer { for_, removed: Vec::new(), added: Vec::new(), standing: None, odd: false, none })
}
