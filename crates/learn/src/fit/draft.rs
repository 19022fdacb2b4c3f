//! Rules as the search edits them: places in K, on levels of priority.

use derrl_logic::{Action, Policy, Rule};

use crate::language::problem::Problem;
use crate::limits::{LEVEL_STEP, PERCENT};

/// A rule by the places of its atoms in K.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Draft {
    /// The action.
    pub action: u32,
    /// The atoms, ascending.
    pub atoms: Vec<usize>,
    /// Which of the choices of its action it ends with, if any.
    pub choice: Option<usize>,
}

/// A rule on a level, with whether it may be changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The rule.
    pub draft: Draft,
    /// The value that a frozen rule keeps.
    pub frozen: Option<f64>,
}

/// Levels of priority, the highest first. Rules of one level tie.
pub type Levels = Vec<Vec<Placed>>;

impl Draft {
    /// The rule with a value.
    pub fn rule(&self, problem: &Problem, weight: f64) -> Rule {
        let action = Action(self.action);
        let atoms = problem.grounder.atoms(action);
        let mut rule = Rule::new(weight, action, self.atoms.iter().map(|&j| atoms[j].clone()).collect());
        rule.choices = self.choice.iter().map(|&c| problem.choices(action)[c].clone()).collect();
        rule
    }

    /// How many atoms and choices it has.
    pub fn length(&self) -> usize {
        self.atoms.len() + usize::from(self.choice.is_some())
    }

    /// Whether every variable of its negated atoms is bound.
    pub fn is_safe(&self, problem: &Problem) -> bool {
        let rule = self.rule(problem, 1.0);
        rule.is_safe(problem.alphabet.action(rule.action).args.len())
    }
}

/// How long rules are to read: one for each rule and one for each atom.
pub fn length(levels: &Levels) -> usize {
    levels.iter().flatten().map(|p| 1 + p.draft.length()).sum()
}

/// The rules of a policy on levels; `None` where one has an atom that is not in K.
pub fn levels_of(policy: &Policy, problem: &Problem) -> Option<Levels> {
    let mut rules: Vec<&Rule> = policy.rules.iter().filter(|r| !r.abstains()).collect();
    rules.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let placed = |rule: &&Rule| {
        let mut atoms = problem.places(rule);
        atoms.sort_unstable();
        atoms.dedup();
        let frozen = problem.is_frozen(rule).then_some(rule.weight);
        let choices = problem.choices(rule.action);
        let choice = rule.choices.first().and_then(|choice| choices.iter().position(|c| c == choice));
        let draft = Draft { action: rule.action.0, atoms, choice };
        let whole =
            draft.atoms.len() == rule.body.len() && usize::from(choice.is_some()) == rule.choices.len();
        whole.then_some(Placed { draft, frozen })
    };
    rules.chunk_by(|a, b| a.weight == b.weight).map(|level| level.iter().map(placed).collect()).collect()
}

/// The values of levels, the highest first, to two decimals, where some are fixed; `None` where two decimals cannot tell levels apart or
/// the fixed ones are not in order.
pub fn values(fixed: &[Option<f64>]) -> Option<Vec<f64>> {
    let mut values = Vec::with_capacity(fixed.len());
    let (mut upper, mut at): (Option<f64>, usize) = (None, 0);
    let mut last = f64::INFINITY;
    while at < fixed.len() {
        // Levels up to the next fixed value share the room above it, in steps of a tenth at the most.
        let next = (at..fixed.len()).find(|&i| fixed[i].is_some()).unwrap_or(fixed.len());
        let lower = fixed.get(next).copied().flatten().unwrap_or(0.0);
        // The highest is 1, where no fixed value is above it.
        let gaps = (next - at + usize::from(upper.is_some())).max(1);
        let step = ((upper.unwrap_or(1.0) - lower) / gaps as f64).min(LEVEL_STEP);
        let first = upper.map_or(1.0, |upper| upper - step);
        for (i, given) in fixed.iter().enumerate().take(next + 1).skip(at) {
            let spaced = ((first - step * (i - at) as f64) * PERCENT).round() / PERCENT;
            let value = given.unwrap_or(spaced);
            if value >= last || value < 1.0 / PERCENT {
                return None;
            }
            last = value;
            values.push(value);
        }
        (upper, at) = (Some(lower), next + 1);
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_in_order_and_leave_frozen_ones_as_they_are() {
        assert_eq!(values(&[None, None, None]), Some(vec![1.0, 0.9, 0.8]));
        assert_eq!(values(&[None, Some(0.95), None]), Some(vec![1.0, 0.95, 0.85]));
        assert_eq!(values(&[Some(0.91)]), Some(vec![0.91]));
        let many = values(&[None; 40]).expect("there is room");
        assert!(many.is_sorted_by(|a, b| a > b) && many[39] > 0.0, "{many:?}");
        assert_eq!(values(&[Some(0.5), Some(0.6)]), None, "the fixed ones are not in order");
        assert_eq!(values(&[Some(0.5), None, Some(0.5)]), None, "there is no room between them");
        assert_eq!(values(&[Some(0.51), None, Some(0.5)]), None, "nor there");
    }
}
