//! States that were seen: where thresholds come from.

use std::collections::VecDeque;
use std::sync::Arc;

use derrl_env::{Env, Rng, choices, observe_given};
use derrl_logic::{Alphabet, Facts, GroundAction, Linear, Object, Universe};

use super::limits::{SEEN, SPREAD_SAMPLE, TENTHS};

/// A state.
#[derive(Clone, Debug)]
pub struct State {
    /// Its objects.
    pub universe: Arc<Universe>,
    /// Its facts, as the world gives them.
    pub facts: Facts,
    /// What can be done in it.
    pub actions: Arc<[GroundAction]>,
}

impl State {
    /// The state that a world is in.
    pub fn of(env: &dyn Env, alphabet: &Alphabet) -> State {
        let mut facts = Facts::new(alphabet);
        observe_given(env, &mut facts);
        State { universe: Arc::clone(env.universe()), facts, actions: choices(env, alphabet).into() }
    }
}

/// The newest states that were noted.
#[derive(Clone, Debug, Default)]
pub struct Seen(VecDeque<State>);

impl Seen {
    /// Notes a state, in place of the oldest where there are enough.
    pub fn note(&mut self, state: State) {
        if self.0.len() >= SEEN {
            self.0.pop_front();
        }
        self.0.push_back(state);
    }

    /// The states, the oldest first.
    pub fn states(&self) -> impl Iterator<Item = &State> {
        self.0.iter()
    }

    /// The value of a sum for objects drawn at random in a state drawn at random; `None` where it has none.
    pub fn value(&self, of: &Linear, rng: &mut Rng) -> Option<f64> {
        let state = &self.0[rng.below(self.0.len().max(1)).min(self.0.len().checked_sub(1)?)];
        let mut args: Vec<Option<Object>> = vec![None; of.arity()];
        for term in &of.terms {
            let fits = |tuple: &[Object]| {
                term.places.iter().zip(tuple).all(|(&p, o)| {
                    let p = usize::from(p);
                    args[p].map_or(!args.contains(&Some(*o)), |known| known == *o)
                })
            };
            let count = state.facts.numbers(term.measure).filter(|(tuple, _)| fits(tuple)).count();
            let nth = rng.below(count.max(1));
            let (tuple, _) = state.facts.numbers(term.measure).filter(|(tuple, _)| fits(tuple)).nth(nth)?;
            let tuple = tuple.to_vec();
            for (&p, o) in term.places.iter().zip(tuple) {
                args[usize::from(p)] = Some(o);
            }
        }
        let args: Vec<Object> = args.into_iter().collect::<Option<_>>()?;
        state.facts.value(of, &args).filter(|v| v.is_finite())
    }

    /// Values of a sum in states drawn at random, ascending.
    pub fn values(&self, of: &Linear, rng: &mut Rng) -> Vec<f64> {
        let mut values: Vec<f64> = (0..SPREAD_SAMPLE).filter_map(|_| self.value(of, rng)).collect();
        values.sort_by(f64::total_cmp);
        values
    }
}

/// Between which values nearly all lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// A tenth is below this.
    pub low: f64,
    /// A tenth is above this.
    pub high: f64,
}

impl Spread {
    /// The spread of ascending values; `None` where there are none.
    pub fn of(values: &[f64]) -> Option<Spread> {
        let at = |tenth: usize| {
            values.get((values.len() * tenth / TENTHS).min(values.len().checked_sub(1)?)).copied()
        };
        Some(Spread { low: at(1)?, high: at(TENTHS - 1)? })
    }

    /// How wide it is.
    pub fn width(self) -> f64 {
        self.high - self.low
    }

    /// Whether 0 is well inside.
    pub fn has_zero(self) -> bool {
        self.low < 0.0 && self.high > 0.0
    }
}
