//! A policy over soft facts: what its actions are worth where facts hold with a probability, and the gradient to these.

use std::sync::Arc;

use derrl_env::{Env as _, observe_given};
use derrl_learn::{SoftPolicy, TNorm};
use derrl_logic::{Facts, Object, Pred};

use crate::error::Error;
use crate::policy::{Action, Policy, constant};
use crate::state::State;

/// A policy in one state, some facts of which are soft. Made by [`Policy::soft`].
#[derive(Clone, Debug)]
pub struct Soft {
    policy: SoftPolicy,
    actions: Vec<Action>,
}

impl Policy {
    /// The policy where `certain` holds, and each of these atoms with a probability that is given later.
    ///
    /// ```
    /// use derrl::learner::TNorm;
    /// use derrl::{Policy, State};
    ///
    /// let world = derrl::worlds::worlds().iter().find(|w| w.name() == "blocks").expect("it is built in");
    /// let policy = Policy::parse(world, "0.9::move(X, Y) :- top(X), isFloor(Y).")?;
    /// let mut certain = State::new();
    /// certain.say("isFloor", &["floor"]);
    /// let soft = policy.soft(&certain, &[("top", &["a"]), ("top", &["b"])], TNorm::Product)?;
    /// let values = soft.values(&[0.5, 1.0]);
    /// let at = soft.actions().iter().position(|a| a.to_string() == "move(a, floor)").expect("it is one");
    /// assert!((values[at] - 0.45).abs() < 1e-12);
    /// # Ok::<(), derrl::Error>(())
    /// ```
    pub fn soft(&self, certain: &State, soft: &[(&str, &[&str])], tnorm: TNorm) -> Result<Soft, Error> {
        // All of them say which objects there are.
        let mut state = certain.clone();
        for (name, args) in soft {
            state.say(name, args);
        }
        let alphabet = self.alphabet();
        let env = state.env(alphabet)?;
        let universe = Arc::clone(env.universe());
        let mut all = Facts::new(alphabet);
        observe_given(&env, &mut all);
        let mut atoms: Vec<(Pred, Vec<Object>)> = Vec::with_capacity(soft.len());
        for (name, args) in soft {
            let pred = alphabet.find_predicate(name, args.len());
            let objects: Option<Vec<Object>> = args.iter().map(|arg| universe.find(&constant(arg))).collect();
            let atom = pred.zip(objects).filter(|(p, objects)| all.holds(*p, objects));
            let shown = format!("{name}({})", args.join(", "));
            let Some(atom) = atom else {
                return Err(Error::Action(format!(
                    "{shown} cannot be soft: it is no fact that the world gives"
                )));
            };
            if atoms.contains(&atom) {
                return Err(Error::Action(format!("{shown} is among the soft facts twice")));
            }
            atoms.push(atom);
        }
        let mut facts = Facts::new(alphabet);
        for (pred, args) in all.iter() {
            if !atoms.iter().any(|(p, objects)| *p == pred && objects == args) {
                facts.push(pred, args);
            }
        }
        facts.seal();
        facts.derive(&universe);
        let policy = SoftPolicy::new(self.rules(), (alphabet, &universe), &facts, &atoms, tnorm)?;
        let actions = policy.actions().iter().map(|a| self.show(a, &universe)).collect();
        Ok(Soft { policy, actions })
    }
}

impl Soft {
    /// The actions, in the order of the values.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// How many soft facts there are.
    pub fn atoms(&self) -> usize {
        self.policy.soft()
    }

    /// What each action is worth, given the probabilities of the soft facts in the order in which they were named.
    pub fn values(&self, probabilities: &[f64]) -> Vec<f64> {
        self.policy.values(probabilities)
    }

    /// The gradient to the probabilities, given that to the values.
    pub fn gradient(&self, probabilities: &[f64], d_values: &[f64]) -> Vec<f64> {
        self.policy.gradient(probabilities, d_values)
    }
}
