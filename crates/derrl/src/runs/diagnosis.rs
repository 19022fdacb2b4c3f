//! What is missing where a run did not learn its task, for its folder and its page.

use std::sync::Arc;
use std::time::{Duration, Instant};

use derrl_env::{Cost, Env};
use derrl_learn::{Diagnosis, Learned, Missing, Move, Pair, Patient, diagnose};
use derrl_logic::Alphabet;
use derrl_report::{Document, Marks, Picture};
use serde_json::Value;

use crate::domain::Domain;
use crate::listener::Listener;
use crate::runs::folder::RunFolder;

/// A diagnosis takes this share of the time of the run, and so long at the least and at the most.
const SHARE: f64 = 0.5;
const LEAST: Duration = Duration::from_secs(1);
const MOST: Duration = Duration::from_secs(20);

/// A run that did not learn its task.
pub struct Unlearned<'a> {
    /// Its folder.
    pub folder: &'a RunFolder,
    /// The world.
    pub domain: &'a Domain,
    /// The language of the domain file.
    pub language: &'a Arc<Alphabet>,
    /// What was learned.
    pub learned: &'a Learned,
    /// The training curve: episodes so far, and the mean return.
    pub curve: &'a [(f64, f64)],
    /// Whether a budget ended it.
    pub was_cut: bool,
    /// Seconds that it took.
    pub seconds: f64,
}

impl Unlearned<'_> {
    /// What is missing. `None` where that takes too long, where an episode takes seconds, or where it was not found.
    pub fn diagnosis(&self, listener: &dyn Listener) -> Option<Diagnosis> {
        let config = &self.folder.config;
        let task = self.folder.task(self.domain).ok()?.name.clone();
        let world = &self.domain.world;
        let is_cheap = |env: Box<dyn Env>| env.cost() == Cost::Cheap && env.simulator().is_none();
        if !world.make(&self.learned.alphabet, &task, &config.options).is_ok_and(is_cheap) {
            return None;
        }
        let time = Duration::from_secs_f64(SHARE * self.seconds.clamp(0.0, 3600.0)).clamp(LEAST, MOST);
        let begun = Instant::now();
        let patient = Patient {
            world,
            language: self.language,
            policy: &self.learned.policy,
            alphabet: &self.learned.alphabet,
            task: &task,
            options: &config.options,
            seed: config.seed,
            curve: self.curve,
            widens: !config.settings.without.contains(&Move::Widen),
            was_cut: self.was_cut,
        };
        let found = diagnose(&patient, &|| listener.stopped() || begun.elapsed() > time);
        // A world that fails now has not failed the run.
        found.ok().flatten().filter(|found| found.missing != Missing::Unknown)
    }
}

/// A diagnosis in lines, the most important one first.
pub fn lines(found: &Diagnosis) -> Vec<String> {
    let mut lines = vec![found.summary.clone()];
    match &found.remedy {
        Some(line) if line.starts_with(":-") => lines.push(format!("write in the domain file: `{line}`")),
        Some(remedy) => lines.push(remedy.clone()),
        None => {}
    }
    lines.extend(found.evidence.iter().cloned());
    if let Some(pair) = &found.pair {
        lines.extend(in_words(pair));
    }
    if let Some(first) = &found.fails_first {
        let rule = match &first.rule {
            Some(rule) => format!("`{rule}` takes `{}`", first.action),
            None => format!("no rule fires, and `{}` is taken by chance", first.action),
        };
        lines.push(format!("it fails first in {}: at step {}, {rule}", first.instances, first.step));
    }
    if found.still_rises == Some(true) {
        lines.push("the return still rose when training ended".to_string());
    }
    lines
}

/// Two states that look alike, in words.
fn in_words(pair: &Pair) -> Vec<String> {
    let facts = |facts: &[String]| facts.join(", ");
    let (first, second) = (&pair.first, &pair.second);
    let apart = pair.told_apart_by.as_ref().map(|rule| format!("told apart by `{rule}`"));
    let words = [
        format!("two states look alike to {}:", pair.alike_to),
        format!("`{}` is right where {}", first.action, facts(&first.facts)),
        format!(
            "`{}` is wrong where {}: `{}` is right there",
            second.action,
            facts(&second.facts),
            second.right
        ),
    ];
    let differs = |text: &String| second.is_right && text.contains("is wrong where");
    words.into_iter().filter(|text| !differs(text)).chain(apart).collect()
}

/// A diagnosis as the folder and the page have it: with both states drawn.
pub fn document(found: &Diagnosis) -> anyhow::Result<Value> {
    let mut all = serde_json::to_value(found)?;
    if let Some(pair) = &found.pair {
        let drawn = |shown: &derrl_learn::Shown| -> Document {
            Picture::new(&shown.scene, &shown.facts, &Marks::default()).document()
        };
        all["pictures"] = serde_json::to_value([drawn(&pair.first), drawn(&pair.second)])?;
    }
    Ok(all)
}
