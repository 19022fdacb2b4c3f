//! Choices of a rule: of the substitutions that satisfy its body, those with the most or least of something.

use crate::facts::Facts;
use crate::number::{Choice, Linear};
use crate::query::Binding;
use crate::rule::Arg;
use crate::syntax::Extreme;
use crate::universe::{Object, Universe};

/// The choices of a rule compiled for one universe, in their order.
#[derive(Clone, Debug)]
pub(crate) struct Preference {
    choices: Vec<Compiled>,
}

#[derive(Clone, Debug)]
struct Compiled {
    extreme: Extreme,
    of: Linear,
    args: Vec<Slot>,
}

#[derive(Clone, Copy, Debug)]
enum Slot {
    Var(usize),
    Object(Object),
}

impl Preference {
    /// `None` where a choice is about an object that the universe lacks: it has no value, so that nothing is chosen.
    pub fn new(choices: &[Choice], universe: &Universe) -> Option<Preference> {
        let slot = |arg: &Arg| match arg {
            Arg::Var(v) => Some(Slot::Var(usize::from(v.0))),
            Arg::Const(c) => universe.find(c).map(Slot::Object),
        };
        let compile = |choice: &Choice| {
            let args = choice.args.iter().map(slot).collect::<Option<_>>()?;
            Some(Compiled { extreme: choice.extreme, of: choice.of.clone(), args })
        };
        Some(Preference { choices: choices.iter().map(compile).collect::<Option<_>>()? })
    }

    /// Whether everything is chosen.
    pub fn is_empty(&self) -> bool {
        self.choices.is_empty()
    }

    /// The objects that choices name.
    pub fn named(&self) -> impl Iterator<Item = Object> + '_ {
        let slots = self.choices.iter().flat_map(|c| &c.args);
        slots.filter_map(|slot| if let Slot::Object(o) = slot { Some(*o) } else { None })
    }

    /// How good a substitution is, into `score`: the greater, the better, what is chosen by first comes first. `None` where a choice has
    /// no value, which is worse than any.
    fn score(&self, phi: &Binding, facts: &Facts, score: &mut Vec<Option<f64>>) {
        score.clear();
        let mut objects = Vec::new();
        for choice in &self.choices {
            objects.clear();
            let object = |slot: &Slot| match *slot {
                Slot::Object(o) => Some(o),
                Slot::Var(v) => phi[v],
            };
            objects.extend(choice.args.iter().filter_map(object));
            let value =
                (objects.len() == choice.args.len()).then(|| facts.value(&choice.of, &objects)).flatten();
            let value = value.filter(|value| !value.is_nan());
            score.push(value.map(|value| if choice.extreme == Extreme::Most { value } else { -value }));
        }
    }
}

/// What the best substitutions so far derive.
#[derive(Debug)]
pub(crate) struct Chosen<T> {
    best: Option<Vec<Option<f64>>>,
    score: Vec<Option<f64>>,
    found: Vec<T>,
}

impl<T> Chosen<T> {
    /// No substitution yet.
    pub fn new() -> Chosen<T> {
        Chosen { best: None, score: Vec::new(), found: Vec::new() }
    }

    /// Takes a substitution into account that derives what `derived` gives.
    pub fn offer(
        &mut self,
        preference: &Preference,
        phi: &Binding,
        facts: &Facts,
        derived: impl FnOnce() -> T,
    ) {
        preference.score(phi, facts, &mut self.score);
        let against = self.best.as_ref().and_then(|best| self.score.partial_cmp(best));
        match (&self.best, against) {
            (None, _) | (_, Some(std::cmp::Ordering::Greater)) => {
                self.found.clear();
                self.found.push(derived());
                self.best = Some(self.score.clone());
            }
            (_, Some(std::cmp::Ordering::Equal)) => self.found.push(derived()),
            _ => {}
        }
    }

    /// What the best substitutions derive: nothing where one of the choices was among substitutions without a value.
    pub fn all(self) -> Vec<T> {
        let valued = self.best.is_some_and(|best| best.iter().all(Option::is_some));
        if valued { self.found } else { Vec::new() }
    }
}
