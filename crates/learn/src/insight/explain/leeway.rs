//! How far each number may be off before the decision changes.
//!
//! Between two neighbouring turning points ([`number.rs`](super::number)) the decision is the same. Walking outwards from the
//! present value to the first point at which it is another one finds the room exactly, for each number alone.

use derrl_logic::{Facts, GroundAction, MOST_WORK, Measure, Number, Object, Universe, bounded};
use serde::Serialize;

use super::Explainer;
use super::number::{Point, forms, turning_points};

/// How far a number may move, alone, while the decision stays as it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Leeway {
    /// Which number: `queue(p1)`.
    pub of: String,
    /// What it is.
    pub now: f64,
    /// The nearest value below at which, or just below which, the decision is another one; none where there is no such value.
    pub down: Option<f64>,
    /// The same above.
    pub up: Option<f64>,
}

impl Leeway {
    /// By how much the number may be off at the most, in both directions; infinite where it does not matter.
    pub fn room(&self) -> f64 {
        let side = |end: Option<f64>| end.map_or(f64::INFINITY, |end| (end - self.now).abs());
        side(self.down).min(side(self.up))
    }

    /// All this in words: `angle between -0.02 and 0.013 (it is 0.01)`.
    pub fn words(&self) -> String {
        let within = match (self.down.map(shortly), self.up.map(shortly)) {
            (Some(down), Some(up)) => format!("between {down} and {up}"),
            (Some(down), None) => format!("above {down}"),
            (None, Some(up)) => format!("below {up}"),
            (None, None) => "whatever it is".to_string(),
        };
        format!("{} {within} (it is {})", self.of, shortly(self.now))
    }
}

/// A number in at most three digits that count.
fn shortly(value: f64) -> Number {
    Number(format!("{value:.2e}").parse().unwrap_or(value))
}

/// Numbers looked at, at the most, and points tried on each side of one.
const MOST_NUMBERS: usize = 40;
const MOST_POINTS: usize = 200;

impl Explainer<'_> {
    /// For each number on which the decision in this state depends, how far it may be off: those with the least room first. None
    /// where it takes too much work to find out.
    pub fn leeway(&self, facts: &Facts, universe: &Universe) -> Vec<Leeway> {
        bounded(MOST_WORK, || self.all_leeway(facts, universe)).unwrap_or_default()
    }

    fn all_leeway(&self, facts: &Facts, universe: &Universe) -> Vec<Leeway> {
        let forms = forms(self.policy, self.alphabet);
        if forms.is_empty() {
            return Vec::new();
        }
        let decider = self.decider(universe);
        let best = |facts: &Facts| decider.decide_among(facts, self.alphabet, universe, self.legal).ties;
        let chosen = best(facts);
        let compared: Vec<Measure> = forms.iter().flat_map(|f| f.0.terms.iter().map(|t| t.measure)).collect();
        let numbers = facts.all_numbers().filter(|n| compared.contains(&n.0)).take(MOST_NUMBERS);
        let mut all: Vec<Leeway> = Vec::new();
        for (measure, args, now) in numbers {
            let points = turning_points(&forms, measure, facts);
            let number = (measure, args, now);
            let turns = |is_up: bool| first_turn(&points, number, is_up, (facts, universe), &chosen, &best);
            let (down, up) = (turns(false), turns(true));
            if down.is_some() || up.is_some() {
                let of = universe.show(&self.alphabet.measure(measure).name, args);
                all.push(Leeway { of, now, down, up });
            }
        }
        all.sort_by(|a, b| a.room().total_cmp(&b.room()));
        all
    }
}

/// The nearest turning point on one side at which, or just beyond which, the best actions are others.
fn first_turn(
    points: &[Point],
    (measure, args, now): (Measure, &[Object], f64),
    is_up: bool,
    (facts, universe): (&Facts, &Universe),
    chosen: &[GroundAction],
    best: &dyn Fn(&Facts) -> Vec<GroundAction>,
) -> Option<f64> {
    let mut points: Vec<&Point> =
        points.iter().filter(|p| if is_up { p.at >= now } else { p.at <= now }).collect();
    points.sort_by(|a, b| (a.at - now).abs().total_cmp(&(b.at - now).abs()));
    points.dedup_by(|a, b| a.at == b.at);
    let mut changed = facts.clone();
    points.into_iter().take(MOST_POINTS).find_map(|&Point { at, ulp }| {
        // Sums round: what is beyond a point may have to be so by more than the least number.
        let beyond = if is_up { [at.next_up(), at + ulp] } else { [at.next_down(), at - ulp] };
        let turns = [at].into_iter().chain(beyond).any(|to| {
            changed.change(measure, args, Some(to));
            changed.derive(universe);
            best(&changed) != chosen
        });
        turns.then_some(at)
    })
}
