//! Policies beside each other on the same episodes of the training instances, small and larger ones.

use std::sync::Arc;

use derrl_env::Env;
use derrl_logic::{Alphabet, How, Policy};

use crate::act::actor::Actor;
use crate::act::score::{Act, EpisodeResult, SOLVED, run_episode, selection_streams};
use crate::error::Error;
use crate::experience::counted::Counted;
use crate::search::prune::length;
use crate::search::refine::advantage;

/// Returns that differ by no more than so many standard errors are the same.
const NEAR: f64 = 2.0;

/// How a policy did, size by size.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The policy.
    pub policy: Policy,
    /// The alphabet that it speaks: with the predicates that it defines for itself.
    pub alphabet: Arc<Alphabet>,
    /// Its episodes of each size.
    pub results: Vec<Vec<EpisodeResult>>,
}

impl Trial {
    /// A policy that was not tried yet.
    pub fn new(policy: Policy, alphabet: &Arc<Alphabet>) -> Trial {
        Trial { policy, alphabet: Arc::clone(alphabet), results: Vec::new() }
    }

    /// Whether it is about this policy: the same rules, by the same definitions.
    pub fn is_of(&self, policy: &Policy, alphabet: &Arc<Alphabet>) -> bool {
        self.policy == *policy
            && (Arc::ptr_eq(&self.alphabet, alphabet)
                || self.alphabet.definitions() == alphabet.definitions())
    }

    /// Runs the sizes that were not run yet. Returns the steps taken.
    pub fn extend(
        &mut self,
        sizes: &mut [Box<dyn Env>],
        episodes: usize,
        seed: u64,
        stop: &dyn Fn() -> bool,
    ) -> Result<u64, Error> {
        let mut steps = 0;
        for env in sizes.iter_mut().skip(self.results.len()) {
            let mut actor = Actor::new(&self.policy, &self.alphabet);
            let act: &mut Act<'_> = &mut |env, rng| actor.act(env, rng);
            let mut env = Counted::until(env.as_mut(), stop);
            let results: Vec<EpisodeResult> = (0..episodes as u64)
                .map(|i| run_episode(act, &mut env, selection_streams(seed, i)))
                .collect::<Result<_, _>>()?;
            steps += env.taken();
            self.results.push(results);
        }
        Ok(steps)
    }

    /// The returns of all its episodes.
    pub fn returns(&self) -> Vec<f64> {
        self.results.iter().flatten().map(|r| r.value).collect()
    }

    /// The share of episodes of a size that succeeded.
    pub fn success(&self, size: usize) -> f64 {
        let of = &self.results[size];
        of.iter().filter(|r| r.success).count() as f64 / of.len().max(1) as f64
    }

    /// How long it is to read: rules, atoms, and the literals of definitions of its own.
    fn length(&self) -> usize {
        let own = self.alphabet.definitions().iter().filter(|d| d.pred.0 as usize >= self.alphabet.of_domain);
        let literals = own.map(|d| if let How::Clause(clause) = &d.how { clause.body.len() } else { 1 });
        length(&self.policy) + literals.sum::<usize>()
    }

    /// Whether it does better than another one on the largest instances: it succeeds more often; or as often and earns more there, or is
    /// shorter and earns as much, by a paired comparison.
    pub fn leads(&self, other: &Trial) -> bool {
        let (Some(own), Some(others)) = (self.results.last(), other.results.last()) else { return false };
        let last = self.results.len() - 1;
        if other.results.len() != self.results.len() || self.success(last) != other.success(last) {
            return other.results.len() == self.results.len() && self.success(last) > other.success(last);
        }
        let returns = |results: &[EpisodeResult]| results.iter().map(|r| r.value).collect::<Vec<_>>();
        let (gap, noise) = advantage(&returns(own), &returns(others));
        gap > NEAR * noise + 1e-9 || gap >= -NEAR * noise - 1e-9 && self.length() < other.length()
    }

    /// Whether it fails in instances of some size that it was run on.
    pub fn falls_short(&self) -> bool {
        (0..self.results.len()).any(|size| self.success(size) < SOLVED)
    }

    /// Whether it earns more than another one beyond the noise of a paired comparison, or exactly the same and is shorter.
    pub fn beats(&self, other: &Trial) -> bool {
        let (gap, noise) = advantage(&self.returns(), &other.returns());
        let shorter = self.length() < other.length() && !other.policy.rules.is_empty();
        gap > noise + 1e-9 || gap.abs() <= 1e-9 && shorter
    }
}
