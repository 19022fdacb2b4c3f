//! A run as the page has it.

use std::collections::{BTreeMap, BTreeSet};

use derrl_learn::mean_stderr;
use derrl_logic::{Alphabet, Arg, How, Role};
use derrl_report::English;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::curves::{Drawn, curves, drawn, overlaid};
use crate::episodes::{self, Episodes};
use crate::error::Error;
use crate::extent::Extent;
use crate::record::{Record, Subject};
use crate::uses::{Use, uses};
use crate::verification::Verification;

/// All that a page shows of a run.
#[derive(Serialize)]
pub struct Run {
    /// Where it is below the folder of the page; empty for that folder itself.
    label: String,
    domain: String,
    /// The world that the domain describes.
    world: String,
    summary: String,
    seed: u64,
    version: String,
    rules: Vec<RuleText>,
    /// What the policy defines for itself, a clause each, as text and in English.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    definitions: Vec<(String, String)>,
    /// The predicates that never change during an episode.
    background: Vec<String>,
    scores: Vec<TaskScore>,
    /// What `train` counted: episodes, steps, restarts, seconds.
    counts: Map<String, Value>,
    /// The training curves, drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    chart: Option<Drawn>,
    verification: Verification,
    /// Whether it learned what it should, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    solved: Option<bool>,
    /// What to try where it did not.
    advice: Vec<String>,
    /// What is missing where it did not, if that was found.
    #[serde(skip_serializing_if = "Value::is_null")]
    diagnosis: Value,
    /// What it sees by, where states are pixels: what symbols bring and look like.
    #[serde(skip_serializing_if = "Option::is_none")]
    sight: Option<Sight>,
    /// The curve of the chosen restart.
    #[serde(skip)]
    chosen: Vec<(f64, f64)>,
    #[serde(flatten)]
    episodes: Episodes,
    /// What is missing or odd, and why.
    pub notes: Vec<String>,
}

/// What symbols bring, how well they are told apart, and what they look like.
#[derive(Serialize)]
struct Sight {
    perception: Value,
    symbols: Value,
}

/// A rule in parts, so that each can be set in type.
#[derive(Debug, Serialize)]
pub(crate) struct RuleText {
    weight: f64,
    text: String,
    /// The same without its value: what tells apart policies that look alike.
    #[serde(skip)]
    clause: String,
    /// The same in English.
    english: String,
    head: AtomText,
    body: Vec<AtomText>,
    /// What is lost without it, where that was measured.
    #[serde(rename = "use", skip_serializing_if = "Option::is_none")]
    of_use: Option<Use>,
}

/// An atom in parts. Variables begin with a capital letter, constants do not.
#[derive(Debug, Serialize)]
struct AtomText {
    name: String,
    args: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    negated: bool,
}

#[derive(Serialize)]
struct TaskScore {
    task: String,
    summary: String,
    /// As `train --json` gives it.
    score: Value,
}

/// What the runs of a domain have in common.
#[derive(Serialize)]
pub struct Summary {
    domain: String,
    /// The mean return over the runs, by task.
    means: BTreeMap<String, f64>,
    /// The best known return, by task.
    best_known: BTreeMap<String, f64>,
    /// How many different sets of rules they learned, whatever the values of the rules.
    rule_sets: usize,
    /// The curves of all runs, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    chart: Option<Drawn>,
}

/// What the runs of each domain have in common.
pub fn summarise(runs: &[Run]) -> Vec<Summary> {
    let domains: BTreeSet<&str> = runs.iter().map(|r| r.domain.as_str()).collect();
    let summary = |domain: &str| {
        let of_domain = || runs.iter().filter(|r| r.domain == domain);
        let means = |field: &str| -> BTreeMap<String, f64> {
            let mut values: BTreeMap<String, Vec<f64>> = BTreeMap::new();
            for score in of_domain().flat_map(|r| &r.scores) {
                values.entry(score.task.clone()).or_default().extend(score.score[field].as_f64());
            }
            values.retain(|_, of_task| !of_task.is_empty());
            values.into_iter().map(|(task, v)| (task, mean_stderr(&v).0)).collect()
        };
        let rules =
            |r: &Run| -> BTreeSet<String> { r.rules.iter().map(|rule| rule.clause.clone()).collect() };
        Summary {
            domain: domain.to_string(),
            means: means("mean"),
            best_known: means("best_known"),
            rule_sets: of_domain().map(rules).collect::<BTreeSet<_>>().len(),
            chart: overlaid(&of_domain().map(|r| r.chosen.as_slice()).collect::<Vec<_>>()),
        }
    };
    domains.into_iter().map(summary).collect()
}

impl Run {
    /// The page's view of a finished run, with some of its episodes explained. `notes` of the result say what is missing.
    pub fn new(record: &Record<'_>, extent: Extent) -> Result<Run, Error> {
        let Record { subject, result, .. } = *record;
        let alphabet = subject.alphabet;
        let mut notes: Vec<String> =
            result["ended"]["why"].as_str().map(|why| format!("This run {why}.")).into_iter().collect();
        let trained = result["policy"].as_str().unwrap_or_default();
        if trained != subject.policy.display(alphabet).to_string() {
            notes.push(
                "policy.pl was changed after training: scores and curve are those of the policy as it was learned"
                    .to_string(),
            );
        }
        let episodes = episodes::of_tasks(&subject, &result["scores"], extent, &mut notes);
        let verification = Verification::of_run(record, &mut notes);
        let chosen = result["restart"].as_u64().unwrap_or(0);
        let mut texts = rules(&subject);
        for (text, of_use) in texts.iter_mut().zip(uses(&subject, extent)) {
            text.of_use = of_use;
        }
        let counts = ["episodes", "steps", "restarts", "seconds"];
        let curves = curves(record.metrics, chosen, extent.curves)?;
        Ok(Run {
            label: record.label.to_string(),
            domain: subject.domain.to_string(),
            world: subject.world.name().to_string(),
            summary: subject.world.summary().to_string(),
            seed: subject.seed,
            version: record.version.to_string(),
            rules: texts,
            definitions: definitions(&subject),
            background: background(alphabet),
            scores: scores(&result["scores"], subject.world),
            counts: counts.into_iter().map(|key| (key.to_string(), result[key].clone())).collect(),
            chart: drawn(&curves),
            verification,
            solved: result["solved"].as_bool(),
            advice: advice(record),
            diagnosis: result["diagnosis"].clone(),
            sight: record
                .symbols
                .map(|symbols| Sight { perception: result["perception"].clone(), symbols: symbols.clone() }),
            chosen: curves.into_iter().find(|c| c.chosen).map(|c| c.points).unwrap_or_default(),
            episodes,
            notes,
        })
    }
}

/// A policy that was not trained, as a page shows a run: its rules, its scores (as `eval --json` gives them) and episodes.
pub fn try_out(subject: &Subject<'_>, results: &Value, extent: Extent) -> Result<Value, Error> {
    let mut notes = Vec::new();
    let episodes = episodes::of_tasks(subject, results, extent, &mut notes);
    let alphabet = subject.alphabet;
    let mut told = serde_json::to_value(episodes)?;
    told["rules"] = serde_json::to_value(rules(subject))?;
    told["definitions"] = serde_json::to_value(definitions(subject))?;
    told["background"] = background(alphabet).into();
    told["scores"] = serde_json::to_value(scores(results, subject.world))?;
    told["notes"] = notes.into();
    told["advice"] = Value::Array(Vec::new());
    Ok(told)
}

fn background(alphabet: &Alphabet) -> Vec<String> {
    let fixed = alphabet.predicates.iter().filter(|p| p.role == Role::Background);
    fixed.map(|p| p.name.clone()).collect()
}

/// A run as a list of runs has it, finished (with its result) or not. Curves that cannot be read are left out: they may be
/// written at this moment.
pub fn glance(label: &str, domain: &str, seed: u64, result: Option<&Value>, metrics: &str) -> Value {
    let chosen = result.and_then(|r| r["restart"].as_u64()).unwrap_or(0);
    let mut curves = curves(metrics, chosen, 24).unwrap_or_default();
    if result.is_none() {
        // Nothing is chosen yet: the restart that was begun last is the one to watch.
        let last = curves.iter().map(|c| c.restart).max();
        for curve in &mut curves {
            curve.chosen = Some(curve.restart) == last;
        }
        curves.sort_by_key(|c| c.chosen);
    }
    serde_json::json!({
        "label": label,
        "domain": domain,
        "seed": seed,
        "finished": result.is_some(),
        // A playground is for worlds that answer at once.
        "playable": result.is_some_and(|r| r["simulator"].is_null()),
        "restarts": curves.len(),
        "scores": result.map(|r| r["scores"].clone()),
        "solved": result.and_then(|r| r["solved"].as_bool()),
        "policy": result.map(|r| r["policy"].clone()),
        "seconds": result.map(|r| r["seconds"].clone()),
        "steps": result.map(|r| r["steps"].clone()),
        "chart": drawn(&curves),
    })
}

/// What to try where a run did not learn what it should: what the learner said, else what helps most often.
fn advice(record: &Record<'_>) -> Vec<String> {
    let said = record.result["advice"].as_array().into_iter().flatten();
    let said: Vec<String> = said.filter_map(|text| text.as_str().map(str::to_string)).collect();
    if !said.is_empty() {
        return said;
    }
    let domain = record.subject.domain;
    let seed = record.subject.seed.wrapping_add(1);
    let restarts = 2 * record.restarts;
    let mut advice = vec![
        format!("Another seed: `derrl train {domain} --seed {seed}`"),
        format!("More restarts: `derrl train {domain} --set restarts={restarts}`"),
    ];
    if !record.subject.world.is_chosen() {
        // A domain is a name that `derrl` knows, or a file.
        let look = if record.subject.world.name() == domain { "domains" } else { "check" };
        advice.push(format!(
            "Whether the domain file offers the predicates and the rules per action that a solution needs: `derrl {look} {domain}`"
        ));
    }
    advice
}

/// What a policy defines for itself and its rules need, each with its meaning.
fn definitions(subject: &Subject<'_>) -> Vec<(String, String)> {
    let alphabet = subject.alphabet;
    let english = English::new(alphabet, subject.world.wording());
    let used = subject.policy.rules.iter().flat_map(|r| &r.body).map(|l| l.pred);
    let needed = alphabet.program.as_ref().map_or_else(Vec::new, |program| program.needed(used));
    let own = alphabet.definitions().iter().filter(|d| d.pred.0 as usize >= alphabet.of_domain);
    own.filter(|d| needed.contains(&d.pred) && !matches!(d.how, How::Compare(_)))
        .map(|d| (d.display(alphabet).to_string(), english.definition(d)))
        .collect()
}

fn rules(subject: &Subject<'_>) -> Vec<RuleText> {
    rule_texts(subject.policy, subject.alphabet, subject.world.wording())
}

/// The rules of a policy, in parts and in English.
pub(crate) fn rule_texts(policy: &derrl_logic::Policy, alphabet: &Alphabet, wording: &str) -> Vec<RuleText> {
    let english = English::new(alphabet, wording);
    let rule = |rule: &derrl_logic::Rule| {
        let action = alphabet.action(rule.action);
        let arg = |a: &Arg| a.to_string();
        let canonical = rule.canonical(action.args.len());
        let whole = |name: String, negated: bool| AtomText { name, args: Vec::new(), negated };
        let literals = canonical.body.iter().map(|l| match alphabet.comparison(l.pred) {
            Some(comparison) => whole(comparison.display(&l.args, alphabet).to_string(), !l.positive),
            None => AtomText {
                name: alphabet.predicate(l.pred).name.clone(),
                args: l.args.iter().map(arg).collect(),
                negated: !l.positive,
            },
        });
        let choices = canonical.choices.iter().map(|c| whole(c.display(alphabet).to_string(), false));
        let body = literals.chain(choices);
        RuleText {
            weight: rule.weight,
            text: rule.display(alphabet).to_string(),
            clause: rule.display_clause(alphabet).to_string(),
            english: english.rule(rule),
            head: AtomText {
                name: action.name.clone(),
                args: action.head().iter().map(ToString::to_string).collect(),
                negated: false,
            },
            body: body.collect(),
            of_use: None,
        }
    };
    policy.rules.iter().map(rule).collect()
}

/// The scores in the order of the world's tasks.
fn scores(scores: &Value, spec: &derrl_env::World) -> Vec<TaskScore> {
    let Some(scores) = scores.as_object() else { return Vec::new() };
    let place = |task: &str| {
        let (name, noise) = task.split_once('+').map_or((task, false), |(name, _)| (name, true));
        (noise, spec.tasks().iter().position(|t| t.name == name))
    };
    let mut all: Vec<_> = scores.iter().collect();
    all.sort_by_key(|(task, _)| place(task));
    all.into_iter()
        .map(|(task, score)| TaskScore {
            task: task.clone(),
            summary: place(task).1.map_or_else(String::new, |i| spec.tasks()[i].summary.clone()),
            score: score.clone(),
        })
        .collect()
}
