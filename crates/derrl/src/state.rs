//! A state in names, to ask a policy about.

use std::sync::Arc;

use derrl_env::named::{Actions, Env, Facts, Named};
use derrl_env::{BoxError, Env as _, Outcome, Rng};
use derrl_logic::Alphabet;

use crate::error::Error;

/// A state in names: what holds, and, where that matters, what is legal.
///
/// ```
/// let mut state = derrl::State::new();
/// state.say("on", &["a", "b"]).say("top", &["a"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    numbers: Vec<(String, Vec<String>, f64)>,
    facts: Vec<(String, Vec<String>)>,
    objects: Vec<(String, String)>,
    legal: Option<Vec<(String, Vec<String>)>>,
}

fn atom(name: &str, args: &[&str]) -> (String, Vec<String>) {
    (name.to_string(), args.iter().map(ToString::to_string).collect())
}

impl State {
    /// A state in which nothing holds.
    pub fn new() -> State {
        State::default()
    }

    /// Says that a fact holds: `say("at", &["ball1", "room2"])`; or what a measure is, where the domain file declares one and the last name is an
    /// integer: `say("queue", &["p1", "7"])`.
    pub fn say(&mut self, predicate: &str, args: &[&str]) -> &mut State {
        self.facts.push(atom(predicate, args));
        self
    }

    /// Says what a measure is: `number("queue", &["p1"], 7.0)`.
    pub fn number(&mut self, measure: &str, args: &[&str], value: f64) -> &mut State {
        let (name, args) = atom(measure, args);
        self.numbers.push((name, args, value));
        self
    }

    /// Says that there is an object of a type, which need not be in any fact.
    pub fn object(&mut self, name: &str, of_type: &str) -> &mut State {
        self.objects.push((name.to_string(), of_type.to_string()));
        self
    }

    /// Says that an action is legal. Once one is, only those that were said to be are.
    pub fn allow(&mut self, action: &str, args: &[&str]) -> &mut State {
        self.legal.get_or_insert_default().push(atom(action, args));
        self
    }

    /// An environment that is in this state.
    pub(crate) fn env(&self, alphabet: &Arc<Alphabet>) -> Result<Named, Error> {
        let mut env = Named::new(Box::new(Still(self.clone())), alphabet, alphabet);
        env.reset(&mut Rng::new(0, 0));
        match env.fault() {
            Some(fault) => Err(fault.clone().into()),
            None => Ok(env),
        }
    }
}

/// A world that stays in one state.
struct Still(State);

impl Env for Still {
    fn reset(&mut self, _: &mut Rng) -> Result<(), BoxError> {
        Ok(())
    }

    fn facts(&self, facts: &mut Facts) {
        for (name, of_type) in &self.0.objects {
            facts.object(name, of_type);
        }
        for (name, args) in &self.0.facts {
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            match args.split_last().and_then(|(last, of)| Some((last.parse::<i64>().ok()?, of))) {
                Some((value, of)) if facts.is_number(name, of.len()) => facts.number(name, of, value as f64),
                _ => facts.say(name, &args),
            }
        }
        for (name, args, value) in &self.0.numbers {
            facts.number(name, &args.iter().map(String::as_str).collect::<Vec<_>>(), *value);
        }
    }

    fn step(&mut self, _: &str, _: &[&str], _: &mut Rng) -> Result<Outcome, BoxError> {
        Err("this is a state to look at, not to act in".into())
    }

    fn legal(&self, actions: &mut Actions) -> bool {
        for (name, args) in self.0.legal.iter().flatten() {
            actions.allow(name, &args.iter().map(String::as_str).collect::<Vec<_>>());
        }
        self.0.legal.is_some()
    }
}
