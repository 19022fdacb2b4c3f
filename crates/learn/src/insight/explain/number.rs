//! The least change of one number that makes a policy choose an action.
//!
//! While all other facts stay, the decision changes only where a number crosses a *turning point*: a value at which some comparison
//! or choice of the policy turns. Between two neighbours of these it is the same, so that trying them, and the least number
//! beyond each, from the present value outwards, finds the least change exactly.

use derrl_logic::{
    Alphabet, Choice, Comparison, Decider, Facts, GroundAction, Linear, Literal, Measure, Number, Object,
    Policy, Universe,
};
use serde::Serialize;

use super::{Explainer, Match};

/// A number that makes a policy choose an action, if it alone changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NumberChange {
    /// Which number: `queue(p1)`.
    pub of: String,
    /// What it is.
    pub now: f64,
    /// The nearest number with which the action is chosen, alone or as a tie.
    pub to: f64,
    /// That in words: `more than 0.02`, or `8`.
    pub words: String,
    /// The rule that would derive the action.
    pub fired: Option<Match>,
}

/// Numbers looked at, at the most, and states tried for each.
const MOST_NUMBERS: usize = 200;
const MOST_STATES: usize = 2000;

impl Explainer<'_> {
    /// For each number that the policy compares, the least change that makes it choose an action: those that change least first.
    pub(super) fn number_changes(
        &self,
        action: &GroundAction,
        facts: &Facts,
        universe: &Universe,
    ) -> Vec<NumberChange> {
        let forms = forms(self.policy, self.alphabet);
        if forms.is_empty() {
            return Vec::new();
        }
        let decider = self.decider(universe);
        let mut all = Vec::new();
        let compared: Vec<Measure> = forms.iter().flat_map(|f| f.0.terms.iter().map(|t| t.measure)).collect();
        let numbers = facts.all_numbers().filter(|n| compared.contains(&n.0)).take(MOST_NUMBERS);
        for (measure, args, now) in numbers {
            let mut points = turning_points(&forms, measure, facts);
            points.sort_by(|a, b| (a.at - now).abs().total_cmp(&(b.at - now).abs()));
            points.dedup();
            let found =
                self.first_that_turns(&decider, &points, (measure, args, now), action, facts, universe);
            if let Some((to, words, changed)) = found {
                let of = universe.show(&self.alphabet.measure(measure).name, args);
                let fired = self.fired(action, &changed, universe);
                all.push(NumberChange { of, now, to, words, fired });
            }
        }
        all.sort_by(|a, b| (a.to - a.now).abs().total_cmp(&(b.to - b.now).abs()));
        all
    }

    /// The nearest number with which the action is chosen, what to call it, and the state then.
    fn first_that_turns(
        &self,
        decider: &Decider,
        points: &[Point],
        (measure, args, now): (Measure, &[Object], f64),
        action: &GroundAction,
        facts: &Facts,
        universe: &Universe,
    ) -> Option<(f64, String, Facts)> {
        let mut changed = facts.clone();
        for &Point { at: point, ulp } in points.iter().take(MOST_STATES / 5) {
            // Sums round: what is beyond a point may have to be so by more than the least number.
            let (up, down) = ([point.next_up(), point + ulp], [point.next_down(), point - ulp]);
            let beyond =
                up.into_iter().filter(|_| point >= now).chain(down.into_iter().filter(|_| point <= now));
            for to in std::iter::once(point).chain(beyond).filter(|&to| to != now) {
                changed.change(measure, args, Some(to));
                changed.derive(universe);
                let decision = decider.decide_among(&changed, self.alphabet, universe, self.legal);
                if decision.value > 0.0 && decision.ties.contains(action) {
                    let words = match to {
                        to if to == point => Number(point).to_string(),
                        to if to > point => format!("more than {}", Number(point)),
                        _ => format!("less than {}", Number(point)),
                    };
                    return Some((to, words, changed));
                }
            }
        }
        None
    }
}

/// A value at which something turns.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub at: f64,
    /// By how much a sum is off at the most there.
    pub ulp: f64,
}

/// What a policy and its definitions compare, with the threshold; a choice compares with nothing fixed.
pub(super) fn forms(policy: &Policy, alphabet: &Alphabet) -> Vec<(Linear, Option<f64>)> {
    let asked = policy.rules.iter().flat_map(|r| &r.body).map(|l: &Literal| l.pred);
    let legal = alphabet.actions.iter().filter_map(|a| a.legal);
    let needed = alphabet.program.as_ref().map_or_else(Vec::new, |p| p.needed(asked.chain(legal)));
    let compared = needed.iter().filter_map(|&p| alphabet.comparison(p));
    let compared = compared.map(|c: &Comparison| (c.left.clone(), Some(c.threshold)));
    let chosen = policy.rules.iter().flat_map(|r| &r.choices).map(|c: &Choice| (c.of.clone(), None));
    compared.chain(chosen).collect()
}

/// The values of one number at which a form turns, while all others stay.
pub(super) fn turning_points(forms: &[(Linear, Option<f64>)], measure: Measure, facts: &Facts) -> Vec<Point> {
    let mut points = Vec::new();
    for (form, threshold) in forms {
        for (at, term) in form.terms.iter().enumerate().filter(|(_, t)| t.measure == measure) {
            // What the rest of the sum may be.
            let rest: Vec<f64> = match form.terms.get(1 - at) {
                Some(other) => facts.numbers(other.measure).map(|(_, x)| other.factor * x).collect(),
                None => vec![0.0],
            };
            // What the whole is compared with.
            let against: Vec<f64> = match threshold {
                Some(threshold) => vec![*threshold],
                None => sums(form, facts),
            };
            for sum in against {
                points.extend(rest.iter().map(|rest| Point {
                    at: (sum - rest) / term.factor,
                    ulp: 4.0 * f64::EPSILON * sum.abs().max(rest.abs()) / term.factor.abs(),
                }));
            }
        }
    }
    points.retain(|p| p.at.is_finite() && p.ulp.is_finite());
    points
}

/// The values of a form for all objects, its measures taken one by one.
fn sums(form: &Linear, facts: &Facts) -> Vec<f64> {
    let mut all = vec![0.0];
    for term in &form.terms {
        let numbers: Vec<f64> = facts.numbers(term.measure).map(|(_, x)| term.factor * x).collect();
        all = all.iter().flat_map(|sum| numbers.iter().map(move |x| sum + x)).take(MOST_STATES).collect();
    }
    all
}
