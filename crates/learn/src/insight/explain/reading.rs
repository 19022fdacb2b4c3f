//! The numbers that a rule compares: what they are, and what they should be.

use derrl_logic::{Arg, Choice, Comparison, Facts, Linear, Number, Object, Op, Rule, Term, Universe};
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
            let needs = if holds { "" } else { "needs " };
            let sides = known_sides(comparison, &literal.args, |args| objects(args, phi, universe), facts);
            let words = match (value, sides) {
                (None, _) => format!("{of} is not reported"),
                (Some(_), Some((left, right))) => {
                    // Two numbers that are compared with each other: what each is says more than their difference.
                    let alone = |term: &Term| {
                        Linear { terms: vec![term.clone()] }.display(&args, self.alphabet).to_string()
                    };
                    let [first, second] = [&comparison.left.terms[0], &comparison.left.terms[1]];
                    let opposite = Term { factor: -second.factor, ..second.clone() };
                    let plus = match threshold {
                        0.0 => String::new(),
                        t if t < 0.0 => format!(" - {}", Number(-t)),
                        t => format!(" + {}", Number(t)),
                    };
                    format!(
                        "{} is {}, {needs}{} {}{plus} = {}",
                        alone(first),
                        Number(left),
                        words(op),
                        alone(&opposite),
                        Number(right)
                    )
                }
                (Some(value), None) => {
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

/// Both sides of a comparison of two numbers with each other: `near(p2)` and `1.2*near(p1) + 0.5`.
fn known_sides(
    comparison: &Comparison,
    args: &[Arg],
    objects: impl Fn(&[Arg]) -> Option<Vec<Object>>,
    facts: &Facts,
) -> Option<(f64, f64)> {
    let [first, second] = comparison.left.terms.as_slice() else { return None };
    if first.factor != 1.0 || second.factor >= 0.0 {
        return None;
    }
    let objects = objects(args)?;
    let value = |term: &Term| facts.value(&Linear { terms: vec![term.clone()] }, &objects);
    let right = comparison.threshold - value(second)?;
    Some((value(first)?, (right * 1e6).round() / 1e6))
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
