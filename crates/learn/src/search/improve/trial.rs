//! Policies beside each other on the same episodes of the training instances, small and larger ones.

use std::sync::Arc;

use derrl_env::Env;
use derrl_logic::{Alphabet, How, Policy};
use serde::{Deserialize, Serialize};

use super::table::Table;
use crate::act::actor::Actor;
use crate::act::score::{Act, EpisodeResult, SOLVED, run_astray, run_episode, selection_streams};
use crate::error::Error;
use crate::experience::counted::Counted;
use crate::search::diary::Questions;
use crate::search::prune::length;
use crate::search::refine::paired;
use crate::settings::streams::Purpose;

/// Returns that differ by no more than so many standard errors are the same.
const NEAR: f64 = 2.0;

/// Returns that differ by more than so many standard errors differ for a reason.
const FAR: f64 = 2.0;

/// A policy has far fewer words than another one if it has this share of them.
const SHORTER: f64 = 2.0 / 3.0;

/// How a policy did, size by size.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The policy.
    pub policy: Policy,
    /// The alphabet that it speaks: with the predicates that it defines for itself.
    pub alphabet: Arc<Alphabet>,
    /// Its episodes of each size.
    pub results: Vec<Vec<EpisodeResult>>,
    /// Episodes of each size that start astray, with nothing earned and nothing failed where going astray ended them. Training instances start in few
    /// states; these say how it does in all the others that it may come to in larger instances.
    strays: Vec<Vec<EpisodeResult>>,
    goes_astray: bool,
    /// Which instance each episode starts in, size by size; each in one of its own where that is not said.
    pub instances: Vec<Arc<[u32]>>,
}

/// The episodes of one size.
#[derive(Serialize, Deserialize)]
struct Run {
    results: Vec<EpisodeResult>,
    strays: Vec<EpisodeResult>,
    steps: u64,
}

impl Trial {
    /// A policy that was not tried yet.
    pub fn new(policy: Policy, alphabet: &Arc<Alphabet>) -> Trial {
        Trial {
            policy,
            alphabet: Arc::clone(alphabet),
            results: Vec::new(),
            strays: Vec::new(),
            goes_astray: false,
            instances: Vec::new(),
        }
    }

    /// The same, to be tried in episodes that start astray, too.
    #[must_use]
    pub fn going_astray(self) -> Trial {
        Trial { goes_astray: true, ..self }
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
        questions: &Questions<'_>,
    ) -> Result<u64, Error> {
        let mut steps = 0;
        for env in sizes.iter_mut().skip(self.results.len()) {
            let astray = if self.goes_astray { episodes } else { 0 };
            let fits = |run: &Run| run.results.len() == episodes && run.strays.len() == astray;
            let run = questions.ask("trial", fits, || {
                let stop = || questions.stopped();
                let mut env = Counted::until(env.as_mut(), &stop);
                let mut actor = Actor::new(&self.policy, &self.alphabet);
                let act: &mut Act<'_> = &mut |env, rng| actor.act(env, rng);
                let results = (0..episodes as u64)
                    .map(|i| run_episode(act, &mut env, selection_streams(seed, i)))
                    .collect::<Result<_, _>>()?;
                let strays = self.astray(&mut env, seed, 0..astray as u64)?;
                Ok(Run { results, strays, steps: env.taken() })
            })?;
            self.results.push(run.results);
            if self.goes_astray {
                self.strays.push(run.strays);
            }
            steps += run.steps;
        }
        Ok(steps)
    }

    /// Episodes of these numbers that start astray.
    pub fn astray(
        &self,
        env: &mut Counted<'_>,
        seed: u64,
        episodes: impl IntoIterator<Item = u64>,
    ) -> Result<Vec<EpisodeResult>, Error> {
        let mut actor = Actor::new(&self.policy, &self.alphabet);
        let act: &mut Act<'_> = &mut |env, rng| actor.act(env, rng);
        let run = |i: u64| {
            let (streams, stray) = (selection_streams(seed, i), Purpose::Stray(i).rng(seed));
            let result = run_astray(act, env, streams, stray, &self.alphabet)?;
            Ok(result.unwrap_or(EpisodeResult { value: 0.0, success: true, steps: 0 }))
        };
        episodes.into_iter().map(run).collect()
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
        let Some((gap, noise)) = self.lead(other) else { return false };
        let last = self.results.len() - 1;
        if self.success(last) != other.success(last) {
            return self.success(last) > other.success(last);
        }
        self.verdict(other, last, (gap, NEAR * noise)).unwrap_or_else(|| self.length() < other.length())
    }

    /// Whether it succeeds no less often in any size, and leads another one, earns more, or no less in far fewer words.
    pub fn says_better(&self, other: &Trial) -> bool {
        let sizes = self.results.len();
        let as_safe = sizes == other.results.len() && self.is_as_safe(other, sizes);
        let (gap, noise) = self.advantage(other);
        let shorter = self.length() as f64 <= SHORTER * other.length() as f64;
        let as_good = shorter && gap >= -NEAR * noise - 1e-9;
        as_safe && (as_good || self.is_ahead(other) || self.leads(other))
    }

    /// Whether it succeeds no less often in any of the first so many sizes, and solves one that another policy does not.
    pub fn is_safer(&self, other: &Trial, sizes: usize) -> bool {
        let sizes = sizes.min(self.results.len()).min(other.results.len());
        let solves = |i: usize| self.success(i) >= SOLVED && other.success(i) < SOLVED;
        self.is_as_safe(other, sizes) && (0..sizes).any(solves)
    }

    /// Whether it succeeds no less often than another one in any of the first so many sizes.
    fn is_as_safe(&self, other: &Trial, sizes: usize) -> bool {
        (0..sizes).all(|i| self.success(i) >= other.success(i))
    }

    /// What tells the instances of all episodes apart, from this size on.
    fn groups(&self, first: usize) -> Vec<u64> {
        let of = |(size, ids): (usize, &Arc<[u32]>)| {
            let in_size = (size as u64) << 32;
            ids.iter().map(move |&id| in_size | u64::from(id)).collect::<Vec<_>>()
        };
        self.instances.iter().enumerate().skip(first).flat_map(of).collect()
    }

    /// Whether it does better than another one, of which these are the advantage in returns and its noise; `None` where they are
    /// level. One that fails less often when it starts astray is better; else one that earns more, if it earns no less when it starts
    /// astray; or as much, and clearly more when it starts astray. Only sizes from `first` on count for that.
    fn verdict(&self, other: &Trial, first: usize, (gap, noise): (f64, f64)) -> Option<bool> {
        let beyond = |gap: f64, noise: f64| (gap.abs() > noise + 1e-9).then_some(gap > 0.0);
        let strays = |trial: &Trial| trial.strays.iter().skip(first).flatten().copied().collect::<Vec<_>>();
        let (own, others) = (strays(self), strays(other));
        let wins = |a: &[EpisodeResult], b: &[EpisodeResult]| {
            a.iter().zip(b).filter(|(a, b)| a.success && !b.success).count() as f64
        };
        let (won, lost) = (wins(&own, &others), wins(&others, &own));
        let instances = if self.instances.is_empty() { other } else { self };
        let astray = paired(&values(&own), &values(&others), &instances.groups(first));
        beyond(won - lost, (won + lost).sqrt()).or_else(|| match beyond(gap, noise) {
            Some(better) => (beyond(astray.0, astray.1) != Some(!better)).then_some(better),
            None => beyond(astray.0, NEAR * astray.1),
        })
    }

    /// The same, with what it did in the first episodes of one size alone.
    #[must_use]
    pub fn part(&self, size: usize, episodes: usize) -> Trial {
        fn first<T: Clone>(of: Option<&[T]>, n: usize) -> Option<Vec<T>> {
            of.map(|of| of[..n.min(of.len())].to_vec())
        }
        let results = |of: &Vec<Vec<EpisodeResult>>| first(of.get(size).map(Vec::as_slice), episodes);
        let ids = first(self.instances.get(size).map(|ids| &**ids), episodes);
        Trial {
            policy: self.policy.clone(),
            alphabet: Arc::clone(&self.alphabet),
            results: results(&self.results).into_iter().collect(),
            strays: results(&self.strays).into_iter().collect(),
            goes_astray: self.goes_astray,
            instances: ids.into_iter().map(Arc::from).collect(),
        }
    }

    /// Whether it fails in some instance, where that starts or astray.
    pub fn fails_anywhere(&self) -> bool {
        self.results.iter().chain(&self.strays).flatten().any(|r| !r.success)
    }

    /// What it earns more than another one, per episode, with the noise of that.
    pub fn advantage(&self, other: &Trial) -> (f64, f64) {
        let instances = if self.instances.is_empty() { other } else { self };
        paired(&self.returns(), &other.returns(), &instances.groups(0))
    }

    /// Whether it does better than another one in the episodes that both were run on.
    pub fn is_ahead(&self, other: &Trial) -> bool {
        self.verdict(other, 0, self.advantage(other)) == Some(true)
    }

    /// Whether it earns more than another one on the largest instances, far beyond the noise.
    pub fn is_far_ahead(&self, other: &Trial) -> bool {
        self.lead(other).is_some_and(|(gap, noise)| gap > FAR * noise + 1e-9)
    }

    /// What it earns more than another one on the largest instances, per episode, with the noise of that; `None` where the two were
    /// not run on as many sizes.
    fn lead(&self, other: &Trial) -> Option<(f64, f64)> {
        let (own, others) = (self.results.last()?, other.results.last()?);
        let alike = self.results.len() == other.results.len();
        alike.then(|| paired(&values(own), &values(others), &self.groups(self.results.len() - 1)))
    }

    /// The episodes of a size that it fails in when they start astray.
    pub fn lost_astray(&self, size: usize) -> impl Iterator<Item = u64> {
        let of = self.strays.get(size).into_iter().flatten().enumerate();
        of.filter(|(_, r)| !r.success).map(|(i, _)| i as u64)
    }

    /// Whether it earns more than another one beyond the noise of a paired comparison; or as much, and more in episodes that start
    /// astray; or exactly the same and is shorter.
    pub fn beats(&self, other: &Trial) -> bool {
        let (gap, noise) = self.advantage(other);
        let shorter = self.length() < other.length() && !other.policy.rules.is_empty();
        self.verdict(other, 0, (gap, noise)).unwrap_or(gap.abs() <= 1e-9 && shorter)
    }
}

/// Which instance each of these episodes starts in, numbered in the order in which they come. A world that fails is left alone: who
/// plays in it says why.
pub fn starts(env: &mut dyn Env, alphabet: &Arc<Alphabet>, episodes: usize, seed: u64) -> Arc<[u32]> {
    let mut table = Table::new(alphabet);
    let mut failed = false;
    let start = |i: u64| {
        if !failed {
            env.reset(&mut selection_streams(seed, i).0);
            failed = env.fault().is_some();
        }
        if failed { 0 } else { table.at(env).0 }
    };
    (0..episodes as u64).map(start).collect()
}

fn values(results: &[EpisodeResult]) -> Vec<f64> {
    results.iter().map(|r| r.value).collect()
}

#[cfg(test)]
mod tests {
    use derrl_logic::Source;

    use super::*;

    /// A trial with these shares of successes, out of a hundred, by size.
    fn succeeding(shares: &[usize]) -> Trial {
        let alphabet = Alphabet::parse(&Source::new("domain.pl", ":- action(wait). :- state(lit/1)."));
        let mut trial = Trial::new(Policy::default(), &Arc::new(alphabet.expect("the domain parses")));
        let episode = |success| EpisodeResult { value: 0.0, success, steps: 1 };
        trial.results = shares.iter().map(|&n| (0..100).map(|i| episode(i < n)).collect()).collect();
        trial
    }

    #[test]
    fn a_safer_policy_solves_a_size_more_and_fails_nowhere_more_often() {
        let first = succeeding(&[96, 68, 100, 60]);
        assert!(succeeding(&[96, 100, 100, 60]).is_safer(&first, 4));
        assert!(!succeeding(&[95, 100, 100, 60]).is_safer(&first, 4), "fails more often in the first size");
        assert!(
            !succeeding(&[96, 90, 100, 60]).is_safer(&first, 4),
            "solves no size that the other does not"
        );
        assert!(succeeding(&[100, 100, 100, 20]).is_safer(&first, 3), "the last size was made up");
    }
}
