//! Rule slots, and what the generator says of each.

use derrl_logic::{Action, Rule};

/// A place for one rule of an action.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// The head's predicate.
    pub action: Action,
    /// m, the number of candidate atoms.
    pub atoms: usize,
    /// The rule given for it, if any.
    pub given: Option<Given>,
}

/// A rule to start from.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The rule.
    pub rule: Rule,
    /// Whether it stays as it is.
    pub frozen: bool,
}

impl Slot {
    /// The rule that stays in this slot as it is, if any.
    pub fn frozen(&self) -> Option<&Rule> {
        self.given.as_ref().filter(|g| g.frozen).map(|g| &g.rule)
    }
}

/// What R_theta says of one slot.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleDistribution {
    /// P_j: the probability that atom j is in the body.
    pub p: Vec<f64>,
    /// The confidence that multiplies the rule's value.
    pub confidence: f64,
}
