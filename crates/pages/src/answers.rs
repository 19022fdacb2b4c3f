//! Why other actions were not chosen, and what would have to change, briefly.

use std::collections::BTreeSet;

use derrl_learn::{Change, Found, Match, NumberChange, Reason, Standing, WhatIf, WhyNot};
use derrl_report::{Marks, Picture};
use serde::Serialize;

use crate::pictures::Pictures;

/// Numbers of which it is told what each alone would have to be.
const FEW_NUMBERS: usize = 3;

/// A rule by its place, from 0, and what its variables stand for, in the order of their names.
#[derive(Serialize)]
pub struct Fired {
    /// The rule.
    pub rule: usize,
    phi: Vec<String>,
}

/// Why another action was not chosen.
#[derive(Serialize)]
pub struct Other {
    pub action: String,
    why: Reason,
    #[serde(skip_serializing_if = "is_none_or_zero")]
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest: Option<Fired>,
    /// The rule that forbids it.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
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
#[derive(Default, Serialize)]
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
    /// The changed state, drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<usize>,
    /// What one number alone would have to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<String>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    none: Option<String>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for this signature")]
fn is_none_or_zero(n: &f64) -> bool {
    *n == 0.0
}

/// Writes answers about one state down.
pub struct Answers<'a> {
    /// Where pictures go.
    pub drawn: &'a mut Pictures,
}

/// A match by the place of its rule and what its variables stand for.
pub fn brief(m: Match) -> Fired {
    // Names of variables are unique, and their order is that of the rule's text.
    Fired { rule: m.rule - 1, phi: m.substitution.into_iter().map(|(_, object)| object).collect() }
}

impl Answers<'_> {
    /// Why another action was not chosen.
    pub fn other(&mut self, why: WhyNot) -> Other {
        let WhyNot { action, value, reason, nearest, failed, what_if } = why;
        // That is no rule of the policy.
        let (by, nearest) = match (reason, nearest) {
            (Reason::Forbidden, by) => (by.map(|m| m.text), None),
            (_, nearest) => (None, nearest),
        };
        let place = |text: &String| nearest.as_ref().and_then(|m| m.body.iter().position(|b| b == text));
        let places: BTreeSet<usize> = failed.iter().filter_map(place).collect();
        Other {
            action,
            why: reason,
            value,
            clashes: failed.iter().filter(|text| place(text).is_none()).cloned().collect(),
            failed: places.into_iter().collect(),
            nearest: nearest.map(brief),
            by,
            changes: what_if.map(|what_if| self.answers(what_if)).unwrap_or_default(),
        }
    }

    fn answers(&mut self, what_if: WhatIf) -> Vec<Answer> {
        let WhatIf { chosen, alone, silent, numbers, .. } = what_if;
        let same = chosen == alone;
        let mut answers = vec![self.answer("chosen", chosen)];
        if !same {
            answers.push(self.answer("alone", alone));
        }
        // One answer is enough where both have none.
        answers.dedup_by(|b, a| matches!((a, b), (Some(a), Some(b)) if a.none.is_some() && a.none == b.none));
        if let (Some(_), Some(Some(Answer { none: Some(none), .. }))) = (&silent, answers.first_mut()) {
            none.push_str("; only chance may, where none fires");
        }
        answers.push(silent.map(|change| self.found("silent", change)));
        let mut answers: Vec<Answer> = answers.into_iter().flatten().collect();
        let numbers: Vec<Answer> = numbers.iter().take(FEW_NUMBERS).map(number).collect();
        // A number does it where facts do not.
        if !numbers.is_empty() {
            answers.retain(|answer| answer.none.is_none());
        }
        answers.extend(numbers);
        answers
    }

    fn found(&mut self, for_: &'static str, change: Change) -> Answer {
        let Change { removed, added, standing, look, .. } = change;
        let picture =
            look.map(|look| self.drawn.still(&Picture::new(&look.scene, &look.facts, &Marks::default())));
        Answer { for_, removed, added, standing: Some(standing), picture, ..Answer::default() }
    }

    fn answer(&mut self, for_: &'static str, result: Found) -> Option<Answer> {
        let none = match result {
            Found::Already => return None,
            Found::Found(change) => return Some(self.found(for_, change)),
            Found::Unreachable => "in no state that can be reached here does a rule choose it".to_string(),
            Found::Impossible => "no change to a state that can be makes a rule choose it".to_string(),
            Found::GaveUp { changes: 0 } => "looking for a change takes too long".to_string(),
            Found::Beyond { changes } | Found::GaveUp { changes } => {
                format!("no change of up to {changes} facts to a state that can be makes a rule choose it")
            }
        };
        Some(Answer { for_, none: Some(none), ..Answer::default() })
    }
}

/// What one number alone would have to be.
fn number(change: &NumberChange) -> Answer {
    let text = format!("{} were {}", change.of, change.words);
    Answer { for_: "chosen", number: Some(text), ..Answer::default() }
}
