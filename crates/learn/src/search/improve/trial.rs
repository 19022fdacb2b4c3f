//! Policies beside each other on the same episodes of the training instances, small and larger ones.

use derrl_env::Env;
use derrl_logic::{Alphabet, Policy};

use crate::act::actor::Actor;
use crate::act::score::{Act, EpisodeResult, run_episode, selection_streams};
use crate::error::Error;
use crate::experience::counted::Counted;
use crate::search::prune::length;
use crate::search::refine::advantage;

/// A policy that succeeds in a smaller share of episodes falls short.
const SOLVED: f64 = 0.99;

/// How a policy did, size by size.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The policy.
    pub policy: Policy,
    /// Its episodes of each size.
    pub results: Vec<Vec<EpisodeResult>>,
}

impl Trial {
    /// A policy that was not tried yet.
    pub fn new(policy: Policy) -> Trial {
        Trial { policy, results: Vec::new() }
    }

    /// Runs the sizes that were not run yet. Returns the steps taken.
    pub fn extend(
        &mut self,
        alphabet: &Alphabet,
        sizes: &mut [Box<dyn Env>],
        episodes: usize,
        seed: u64,
        stop: &dyn Fn() -> bool,
    ) -> Result<u64, Error> {
        let mut steps = 0;
        for env in sizes.iter_mut().skip(self.results.len()) {
            let mut actor = Actor::new(&self.policy, alphabet);
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

    /// Whether it fails in instances of some size that it was run on.
    pub fn falls_short(&self) -> bool {
        (0..self.results.len()).any(|size| self.success(size) < SOLVED)
    }

    /// Whether it earns more than another one beyond the noise of a paired comparison, or exactly the same and is shorter.
    pub fn beats(&self, other: &Trial) -> bool {
        let (gap, noise) = advantage(&self.returns(), &other.returns());
        let shorter = length(&self.policy) < length(&other.policy) && !other.policy.rules.is_empty();
        gap > noise + 1e-9 || gap.abs() <= 1e-9 && shorter
    }
}
