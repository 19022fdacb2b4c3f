//! The numbers that a rule compares: what they are, and what they should be.

use derrl_logic::{Arg, Choice, Facts, Number, Object, Op, Rule, Universe};
use serde::Serialize;

use super::{Explainer, name, objects};

/// A number that a condition of a rule compares.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reading {
    /// The condition, as it stands in the body of the match.
    pub condition: String,
    /// What is compared: `angle`, `queue(p1) - queue(p2)`.
    pub of: String,
    /// What it is; none where the state does not report it.
    pub value: Option<f64>,
    /// How it is compared: `>`, `>=`, `<` or `=<`. A negated condition is told by its opposite.
    pub op: String,
    /// With what.
    pub threshold: f64,
    /// Whether the condition holds.
    pub holds: bool,
    /// All this in words: `angle is 0.013, needs more than 0.02`.
    pub words: String,
}

impl Explainer<'_> {
    /// The numbers that the conditions of a rule compare.
    pub(super) fn readings(
        &self,
        rule: &Rule,
        phi: &[Option<Object>],
        facts: &Facts,
        universe: &Universe,
    ) -> Vec<Reading> {
        let mut all = Vec::new();
        for (j, literal) in rule.body.iter().enumerate() {
            let Some(comparison) = self.alphabet.comparison(literal.pred) else { continue };
            let args: Vec<String> = literal.args.iter().map(|a| shown(a, phi, universe)).collect();
            let of = comparison.left.display(&args, self.alphabet).to_string();
            let known = objects(&literal.args, phi, universe);
            let value = known.and_then(|args| facts.value(&comparison.left, &args));
            let op = if literal.positive { comparison.op } else { comparison.op.opposite() };
            let holds = value.map_or(!literal.positive, |value| op.holds(value, comparison.threshold));
            let threshold = comparison.threshold;
            let words = match value {
                None => format!("{of} is not reported"),
                Some(value) => {
                    let needs = if holds { "" } else { "needs " };
                    format!("{of} is {}, {needs}{} {}", Number(value), words(op), Number(threshold))
                }
            };
            let condition = self.show_literal(rule, j, phi, universe);
            all.push(Reading { condition, of, value, op: op.to_string(), threshold, holds, words });
        }
        all
    }

    pub(super) fn show_choice(&self, choice: &Choice, phi: &[Option<Object>], universe: &Universe) -> String {
        let args: Vec<String> = choice.args.iter().map(|a| shown(a, phi, universe)).collect();
        format!("{}({})", choice.extreme, choice.of.display(&args, self.alphabet))
    }
}

fn shown(arg: &Arg, phi: &[Option<Object>], universe: &Universe) -> String {
    match arg {
        Arg::Var(v) => name(phi[v.0 as usize], universe),
        Arg::Const(c) => c.to_string(),
    }
}

/// How a comparison is called.
pub(super) fn words(op: Op) -> &'static str {
    match op {
        Op::Greater => "more than",
        Op::AtLeast => "at least",
        Op::Less => "less than",
        Op::AtMost => "at most",
    }
}
