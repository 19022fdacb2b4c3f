//! Rules in ids: what the engine evaluates and the learner produces.

use crate::alphabet::{Action, Pred, Var};
use crate::number::Choice;
use crate::syntax::Constant;

/// An argument of a literal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Arg {
    /// A variable.
    Var(Var),
    /// A constant by name; a world without such an object makes the atom false.
    Const(Constant),
}

/// A possibly negated atom over variables and constants.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Literal {
    /// `false` for `\+ p(X)`.
    pub positive: bool,
    /// The predicate.
    pub pred: Pred,
    /// Its arguments.
    pub args: Vec<Arg>,
}

impl Literal {
    /// The variables of the literal, in order, repetitions included.
    pub fn vars(&self) -> impl Iterator<Item = Var> + '_ {
        self.args.iter().filter_map(|a| match a {
            Arg::Var(v) => Some(*v),
            Arg::Const(_) => None,
        })
    }
}

/// A rule `weight :: action(V0, .., Vk) :- body`. The head's arguments are the first `arity` variables.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The value of the head when the body holds; 1 where the text gives none.
    pub weight: f64,
    /// The head's predicate.
    pub action: Action,
    /// The body. Where there is no choice either, an empty one means that the rule abstains.
    pub body: Vec<Literal>,
    /// Which of the substitutions that satisfy the body derive something, one choice after the other.
    pub choices: Vec<Choice>,
}

impl Rule {
    /// A rule without choices.
    pub fn new(weight: f64, action: Action, body: Vec<Literal>) -> Rule {
        Rule { weight, action, body, choices: Vec::new() }
    }

    /// Whether the rule never derives anything: it says nothing, or its weight is not above 0.
    pub fn abstains(&self) -> bool {
        self.weight.is_nan() || self.weight <= 0.0 || (self.body.is_empty() && self.choices.is_empty())
    }

    /// How many parts of the body share no variable with each other or with the head, which has that arity.
    pub fn parts_apart(&self, arity: usize) -> usize {
        // Sets of variables as bits; the head is the first.
        let bits = |literal: &Literal| literal.vars().fold(0_u32, |set, v| set | 1 << v.0);
        let head = 1_u32.checked_shl(arity as u32).unwrap_or(0).wrapping_sub(1);
        let mut parts = vec![head];
        for mut joined in self.body.iter().map(bits).filter(|&set| set != 0) {
            parts.retain(|&part| {
                let meets = part & joined != 0;
                joined |= if meets { part } else { 0 };
                !meets
            });
            parts.push(joined);
        }
        parts.iter().filter(|&&part| part != 0 && part & head == 0).count()
    }

    /// Whether every variable of a negated literal or of a choice also occurs in the head (of that arity) or in a positive literal.
    pub fn is_safe(&self, arity: usize) -> bool {
        let bound = |v: Var| {
            usize::from(v.0) < arity || self.body.iter().any(|l| l.positive && l.vars().any(|w| w == v))
        };
        self.body.iter().all(|l| l.positive || l.vars().all(bound))
            && self.choices.iter().all(|c| c.vars().all(bound))
    }
}
