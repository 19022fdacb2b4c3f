//! A page on which an hour of traffic can be watched: the streets, the vehicles, the lights, and what rules decided at each.
//!
//! Whoever records the hour fills in [`Hour`]; numbers are whole, in half metres and seconds, to keep the page small.

use std::collections::HashMap;

use derrl_learn::{Explainer, Explanation, Reason, WhyNot};
use derrl_logic::{Alphabet, Facts, GroundAction, Policy, Universe};
use serde::Serialize;

use crate::run::{RuleText, rule_texts};

/// An hour of traffic under one controller.
#[derive(Debug, Serialize)]
pub struct Hour {
    /// The scenario, and the seed of its traffic.
    pub scenario: String,
    /// The seed of its traffic.
    pub seed: u64,
    /// Who operated the lights.
    pub controller: String,
    /// The simulator.
    pub simulator: String,
    /// The first and the last second.
    pub seconds: (u64, u64),
    /// Figures, each with its name.
    pub figures: Vec<(String, String)>,
    /// Lanes: whether they lie inside a junction, then x, y, and steps from there.
    pub roads: Vec<(u8, Vec<i64>)>,
    /// The lights.
    pub lights: Vec<Light>,
    /// Ways of vehicles: second, x, y, and steps of these from there.
    pub ways: Vec<Vec<i64>>,
    /// The rules, if rules operated the lights.
    pub rules: Told,
}

/// A traffic light.
#[derive(Debug, Default, Serialize)]
pub struct Light {
    /// Its name.
    pub id: String,
    /// Where it is.
    pub at: (i64, i64),
    /// The states of its green phases; a light with fewer than two decides nothing.
    pub phases: Vec<String>,
    /// Its stop lines.
    pub stops: Vec<Stop>,
    /// What it shows from which second on.
    pub shown: Vec<(u64, String)>,
}

/// A stop line.
#[derive(Debug, Serialize)]
pub struct Stop {
    /// Where it is.
    pub at: (i64, i64),
    /// Where vehicles go that cross it, in degrees clockwise from east.
    pub way: i64,
    /// The letters of a state that are about it, from left to right.
    pub links: Vec<usize>,
}

/// What rules decided in an hour, and why.
#[derive(Debug, Default, Serialize)]
pub struct Told {
    /// The rules.
    rules: Vec<RuleText>,
    /// How often each acted.
    acted: Vec<u64>,
    /// Texts that repeat.
    texts: Vec<String>,
    #[serde(skip)]
    known: HashMap<String, usize>,
    /// Each rule as a policy of its own.
    #[serde(skip)]
    alone: Vec<Policy>,
    /// For each light: the second, the action, the rule, what its variables stand for, and the other actions with why they
    /// were not chosen: texts by their numbers.
    decisions: Vec<Vec<Decision>>,
}

/// The second, the action, the rule that fired (from 0; -1 for none), what its variables stand for, and the others.
#[derive(Debug, Serialize)]
struct Decision(u64, usize, i64, Vec<usize>, Vec<Other>);

/// An action, and for each rule about it (from 0) why it did not make the light do it.
#[derive(Debug, Serialize)]
struct Other(usize, Vec<(usize, Vec<usize>)>);

/// What a light sees.
#[derive(Debug)]
pub struct Situation<'a> {
    /// What is declared.
    pub alphabet: &'a Alphabet,
    /// What holds.
    pub facts: &'a Facts,
    /// The light's objects.
    pub universe: &'a Universe,
    /// What it may do.
    pub legal: &'a [GroundAction],
}

/// Why a rule alone does not derive an action.
fn lacks(why: &WhyNot) -> Vec<String> {
    match (why.reason, &why.nearest) {
        (Reason::Tie, _) => vec!["as good: chance decided".to_string()],
        (Reason::Weaker, _) => vec!["applies, but comes later".to_string()],
        (_, Some(near)) => {
            // Where a body holds, the first of its choices that falls on others is what matters.
            let chosen = |failed: &String| {
                let (end, of) = failed.split_once('(')?;
                let end = [("most", "greatest"), ("least", "least")].iter().find(|(word, _)| *word == end)?.1;
                Some(format!("{} is not the {end}, or others are as good", of.strip_suffix(')')?))
            };
            if let Some(text) = why.failed.first().and_then(chosen) {
                return vec![text];
            }
            let number = |failed: &String| near.readings.iter().find(|r| r.condition == *failed);
            let says = |failed: &String| number(failed).map_or(failed.clone(), |r| r.words.clone());
            why.failed.iter().map(says).collect()
        }
        (_, None) => Vec::new(),
    }
}

impl Told {
    /// What the rules of a policy decide for so many lights.
    pub fn new(policy: &Policy, alphabet: &Alphabet, wording: &str, lights: usize) -> Told {
        Told {
            rules: rule_texts(policy, alphabet, wording),
            acted: vec![0; policy.rules.len()],
            alone: policy.rules.iter().map(|rule| Policy { rules: vec![rule.clone()] }).collect(),
            decisions: (0..lights).map(|_| Vec::new()).collect(),
            ..Told::default()
        }
    }

    /// Nothing: no rules operate these lights.
    pub fn silent(lights: usize) -> Told {
        Told { decisions: (0..lights).map(|_| Vec::new()).collect(), ..Told::default() }
    }

    /// Writes a decision down, with why no other of the legal actions was taken: for each, what each rule about it lacks.
    pub fn note(&mut self, (light, second): (usize, u64), at: &Situation<'_>, why: &Explanation) {
        let fired = why.fired.as_ref().map(|fired| fired.rule - 1);
        if let Some(acted) = fired.and_then(|rule| self.acted.get_mut(rule)) {
            *acted += 1;
        }
        let names = why.fired.iter().flat_map(|fired| &fired.substitution);
        let names: Vec<usize> = names.map(|(_, object)| self.text(object)).collect();
        let mut others = Vec::new();
        for action in at.legal {
            let shown = at.universe.show_action(at.alphabet, action.action, &action.args);
            if shown == why.action {
                continue;
            }
            let mut rules = Vec::new();
            for rule in 0..self.alone.len() {
                if self.alone[rule].rules[0].action != action.action {
                    continue;
                }
                let alone = Explainer::new(&self.alone[rule], at.alphabet).among(Some(at.legal));
                let lacks = lacks(&alone.why_not(action, why.value, at.facts, at.universe));
                rules.push((rule, lacks.iter().map(|text| self.text(text)).collect()));
            }
            others.push(Other(self.text(&shown), rules));
        }
        let action = self.text(&why.action);
        let rule = fired.map_or(-1, |rule| rule as i64);
        if let Some(decisions) = self.decisions.get_mut(light) {
            decisions.push(Decision(second, action, rule, names, others));
        }
    }

    /// How often each rule acted.
    pub fn acted(&self) -> &[u64] {
        &self.acted
    }

    fn text(&mut self, text: &str) -> usize {
        if let Some(&known) = self.known.get(text) {
            return known;
        }
        self.texts.push(text.to_string());
        self.known.insert(text.to_string(), self.texts.len() - 1);
        self.texts.len() - 1
    }
}
