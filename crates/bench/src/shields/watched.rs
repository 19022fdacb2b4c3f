//! A world whose actions are watched from within: what a shield lets through is judged by other code than the shield's.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use derrl_env::{Cost, Env, Outcome, Rng, Status, choices, observe_given};
use derrl_logic::{Action, Alphabet, Facts, GroundAction, Object, Universe};

/// What holds in a state, by names.
pub struct Seen<'a> {
    facts: &'a Facts,
    alphabet: &'a Alphabet,
}

impl Seen<'_> {
    /// Whether some fact of a predicate has these objects; `None` stands for any.
    pub fn holds(&self, name: &str, wanted: &[Option<Object>]) -> bool {
        let pred = self.alphabet.find_predicate(name, wanted.len()).expect("a predicate of its domain");
        self.facts.tuples(pred).any(|args| args.iter().zip(wanted).all(|(o, w)| w.is_none_or(|w| w == *o)))
    }

    /// Whether this is so of the objects of some fact of two arguments.
    pub fn some(&self, name: &str, is_so: &dyn Fn(&[Object]) -> bool) -> bool {
        let pred = self.alphabet.find_predicate(name, 2).expect("a predicate of its domain");
        self.facts.tuples(pred).any(is_so)
    }

    /// The objects of the first fact of a predicate.
    pub fn first(&self, name: &str, arity: usize) -> Option<Vec<Object>> {
        let pred = self.alphabet.find_predicate(name, arity)?;
        self.facts.tuples(pred).next().map(<[Object]>::to_vec)
    }
}

/// Whether an action is forbidden in a state.
pub type Forbids = fn(&Seen<'_>, &str, &[Object]) -> bool;

/// How many actions were taken, and how many forbidden ones although others were not.
#[derive(Debug, Default)]
pub struct Counts {
    pub steps: AtomicU64,
    pub violations: AtomicU64,
    /// Actions taken where all are forbidden.
    pub forced: AtomicU64,
}

/// An environment, watched.
pub struct Watched {
    pub env: Box<dyn Env>,
    pub alphabet: Arc<Alphabet>,
    pub forbids: Forbids,
    pub counts: Arc<Counts>,
    pub facts: Facts,
}

impl Watched {
    fn is_forbidden(&self, action: Action, args: &[Object]) -> bool {
        let seen = Seen { facts: &self.facts, alphabet: &self.alphabet };
        (self.forbids)(&seen, &self.alphabet.action(action).name, args)
    }
}

impl Env for Watched {
    fn step(&mut self, action: Action, args: &[Object], rng: &mut Rng) -> Outcome {
        self.counts.steps.fetch_add(1, Ordering::Relaxed);
        observe_given(self.env.as_ref(), &mut self.facts);
        if self.is_forbidden(action, args) {
            let all = choices(self.env.as_ref(), &self.alphabet);
            let others = all.iter().any(|a| !self.is_forbidden(a.action, &a.args));
            let count = if others { &self.counts.violations } else { &self.counts.forced };
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.env.step(action, args, rng)
    }

    fn copy(&self) -> Option<Box<dyn Env>> {
        Some(Box::new(Watched {
            env: self.env.copy()?,
            alphabet: Arc::clone(&self.alphabet),
            forbids: self.forbids,
            counts: Arc::clone(&self.counts),
            facts: Facts::new(&self.alphabet),
        }))
    }

    fn reset(&mut self, rng: &mut Rng) {
        self.env.reset(rng);
    }

    fn restart(&mut self) {
        self.env.restart();
    }

    fn universe(&self) -> &Arc<Universe> {
        self.env.universe()
    }

    fn facts(&self, facts: &mut Facts) {
        self.env.facts(facts);
    }

    fn code(&self) -> Option<u128> {
        self.env.code()
    }

    fn legal(&self, actions: &mut Vec<GroundAction>) -> bool {
        self.env.legal(actions)
    }

    fn succeeded(&self) -> bool {
        self.env.succeeded()
    }

    fn has_goal(&self) -> bool {
        self.env.has_goal()
    }

    fn cost(&self) -> Cost {
        self.env.cost()
    }

    fn best_return(&self) -> Option<f64> {
        self.env.best_return()
    }
}

/// Takes so many steps at random, whatever is forbidden. Returns how many violations were counted: that the watch sees them.
pub fn unshielded(env: &mut Watched, steps: usize) -> u64 {
    let mut rng = Rng::new(0, 0);
    env.reset(&mut rng);
    for _ in 0..steps {
        let all = choices(env.env.as_ref(), &Arc::clone(&env.alphabet));
        let action = all[rng.below(all.len())].clone();
        if env.step(action.action, &action.args, &mut rng).status != Status::Running {
            env.reset(&mut rng);
        }
    }
    env.counts.violations.load(Ordering::Relaxed)
}
