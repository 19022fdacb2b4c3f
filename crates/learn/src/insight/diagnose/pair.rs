//! Two states that look alike and need different actions.

use derrl_env::Scene;
use derrl_logic::Policy;
use serde::Serialize;

use super::language::Wider;
use super::lists::looks_alike;
use super::{Doctor, Tried};

/// Two states, of which the action of the first is right there, and the same kind of action is wrong in the second.
#[derive(Clone, Debug, Serialize)]
pub struct Pair {
    /// To what they look alike: every candidate atom, the rules, or all that the world reports.
    pub alike_to: String,
    /// The state in which the action is right.
    pub first: Shown,
    /// The state in which it is wrong, or in which another one is right.
    pub second: Shown,
    /// A rule of the wider language that is right in the first state and derives nothing wrong in the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub told_apart_by: Option<String>,
}

/// A state of a pair.
#[derive(Clone, Debug, Serialize)]
pub struct Shown {
    /// What holds.
    pub facts: Vec<String>,
    /// The action in question.
    pub action: String,
    /// Whether it is right here.
    pub is_right: bool,
    /// An action that is right here.
    pub right: String,
    /// What the policy chooses among here.
    pub policy: Vec<String>,
    /// What it looks like.
    #[serde(skip)]
    pub scene: Scene,
}

/// How large two states are, the states with their actions, and the rule that tells them apart.
type Found = ((usize, usize), [(usize, usize); 2], String);

/// Actions of the policy that are shown.
const MOST_SHOWN: usize = 4;

impl Doctor<'_> {
    /// Two states that the language cannot tell apart, and the wider one can.
    pub(super) fn pair(&self, base: &Tried, tried: &Tried, states: &[usize], step: &Wider) -> Option<Pair> {
        let mut best: Option<Found> = None;
        let size = |s: usize| self.survey.states[s].facts.iter().count();
        for rule in &tried.list.rules {
            let alone = Policy { rules: vec![rule.clone()] };
            let text = rule.display(&step.alphabet).to_string();
            for (i, first) in base.sighted.iter().enumerate() {
                for (a, right) in first.actions.iter().enumerate().filter(|(_, x)| x.1 && x.0 == rule.action)
                {
                    if !self.fires(&alone, step, states[i], a) {
                        continue;
                    }
                    for (j, second) in base.sighted.iter().enumerate() {
                        let measure = (size(states[i]) + size(states[j]), states[i].abs_diff(states[j]));
                        if best.as_ref().is_some_and(|(least, ..)| *least <= measure) {
                            continue;
                        }
                        let wrong = second.actions.iter().enumerate().filter(|(_, x)| !x.1);
                        let mut alike = wrong.filter(|(_, x)| looks_alike(right, x));
                        if let Some((b, _)) = alike.find(|(b, _)| !self.fires(&alone, step, states[j], *b)) {
                            best = Some((measure, [(states[i], a), (states[j], b)], text.clone()));
                        }
                    }
                }
            }
            if best.is_some() {
                break;
            }
        }
        if let Some((_, [(i, a), (j, b)], text)) = best {
            return Some(self.pair_of(i, a, j, b, "every candidate atom", Some(text)));
        }
        self.pair_of_rules(states)
    }

    /// Two states in which the policy takes actions of the same kind, right in one of them and wrong in the other.
    pub(super) fn pair_of_rules(&self, states: &[usize]) -> Option<Pair> {
        let chosen = |s: usize, is_right: bool| {
            let right = &self.worth.right[s];
            self.ties[s].iter().copied().find(|&a| right[a] == is_right)
        };
        let kind = |s: usize, a: usize| self.survey.states[s].actions[a].action;
        states.iter().find_map(|&j| {
            let b = chosen(j, false)?;
            let mut others = states.iter().filter_map(|&i| Some((i, chosen(i, true)?)));
            let (i, a) = others.find(|&(i, a)| i != j && kind(i, a) == kind(j, b))?;
            Some(self.pair_of(i, a, j, b, "the rules", None))
        })
    }

    pub(super) fn pair_of(
        &self,
        i: usize,
        a: usize,
        j: usize,
        b: usize,
        alike_to: &str,
        told_apart_by: Option<String>,
    ) -> Pair {
        Pair {
            alike_to: alike_to.to_string(),
            first: self.shown(i, a),
            second: self.shown(j, b),
            told_apart_by,
        }
    }

    fn shown(&self, s: usize, action: usize) -> Shown {
        let state = &self.survey.states[s];
        Shown {
            facts: state.facts.show(self.full, &state.universe),
            action: self.show_action(state, action),
            is_right: self.worth.right[s][action],
            right: self.show_action(state, self.first_right(s)),
            policy: self.ties[s].iter().take(MOST_SHOWN).map(|&a| self.show_action(state, a)).collect(),
            scene: state.scene.clone(),
        }
    }

    /// Whether a rule of a wider language derives an action.
    fn fires(&self, rule: &Policy, step: &Wider, s: usize, action: usize) -> bool {
        let state = &self.survey.states[s];
        let mut projection = super::language::Projection::new(self.full, &step.alphabet);
        let universe = projection.universe(&state.universe);
        let facts = projection.facts(&state.facts, &state.universe);
        let decider = derrl_logic::Decider::new(rule, &step.alphabet, &universe);
        let decision = decider.decide_among(&facts, &step.alphabet, &universe, Some(&state.actions));
        decision.value > 0.0 && decision.ties.contains(&state.actions[action])
    }
}
