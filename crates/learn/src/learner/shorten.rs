//! The end of a run: the best lists are compared on new instances, and the best one is shortened.

use std::sync::Arc;

use derrl_logic::{Alphabet, Policy};

use super::checkpoint::Origin;
use super::draw::Drawer;
use super::judge::{allowance, keeps_up, mean};
use super::ledger::{From, Part};
use super::limits::{FINALISTS, LAST_EPISODES, LAST_SHARE};
use super::list::RuleList;
use super::play::Instance;
use super::run::Run;
use super::vocabulary::Vocabulary;
use crate::act::actor::Actor;
use crate::error::Error;

/// What a run has come to.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The policy.
    pub policy: Policy,
    /// The alphabet that has its comparisons.
    pub alphabet: Arc<Alphabet>,
    /// What it earns on average, where it was compared.
    pub mean_return: f64,
    /// The share of these episodes that succeeded.
    pub success: f64,
    /// Where it comes from.
    pub origin: Origin,
}

/// A list with how it went in the instances of the last comparison, from the first on.
#[derive(Clone, Debug)]
struct Finalist {
    list: RuleList,
    returns: Vec<f64>,
    successes: usize,
    origin: Origin,
}

impl Finalist {
    fn mean(&self) -> f64 {
        mean(self.returns.iter().copied())
    }
}

impl Run<'_> {
    /// Compares the best lists on instances that none of them has seen, and shortens the one that earns most.
    pub fn finish(&mut self) -> Result<Chosen, Error> {
        if self.record.is_confirmed {
            let best = &self.record.elites[0];
            let (policy, alphabet) = best.list.policy(&self.alphabet(&best.list));
            let origin = best.origin;
            return Ok(Chosen { policy, alphabet, mean_return: best.mean(), success: 1.0, origin });
        }
        let most = self.steps() + (self.steps() as f64 * LAST_SHARE / (1.0 - LAST_SHARE)) as u64;
        let new = |list, origin| Finalist { list, returns: Vec::new(), successes: 0, origin };
        let elites = self.record.elites.iter().take(FINALISTS);
        let mut all: Vec<Finalist> = elites.map(|e| new(e.list.clone(), e.origin)).collect();
        // Half of the steps are for the shortening.
        let half = self.steps() + (most - self.steps()) / 2;
        let mut episodes = 0;
        while episodes < LAST_EPISODES && (episodes < 2 || self.steps() < half) {
            let more = (episodes.max(4)).min(LAST_EPISODES - episodes);
            for finalist in &mut all {
                self.play(finalist, episodes + more)?;
            }
            episodes += more;
            let best = all.iter().map(Finalist::mean).fold(f64::NEG_INFINITY, f64::max);
            let leader = all.iter().find(|f| f.mean() == best).map(|f| f.returns.clone()).unwrap_or_default();
            all.retain(|f| keeps_up(&leader, &f.returns));
            if all.len() == 1 && episodes >= 16 {
                break;
            }
        }
        // All that are left earn the same within noise: where some list has to be called the best, it is a short one.
        let key = |f: &Finalist| (f.successes, -(f.list.length() as f64), f.mean());
        let best = all.into_iter().max_by(|a, b| {
            let (a, b) = (key(a), key(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2))
        });
        let best = best.unwrap_or_else(|| new(RuleList::default(), Origin::Drawn));
        let best = self.shortened(best, most)?;
        let (policy, alphabet) = best.list.policy(&self.alphabet(&best.list));
        let success = best.successes as f64 / best.returns.len().max(1) as f64;
        Ok(Chosen { policy, alphabet, mean_return: best.mean(), success, origin: best.origin })
    }

    /// Plays the instances up to that number that are still to be played.
    fn play(&mut self, finalist: &mut Finalist, to: usize) -> Result<(), Error> {
        let (policy, wider) = finalist.list.policy(&self.alphabet(&finalist.list));
        let mut actor = Actor::new(&policy, &wider);
        for number in finalist.returns.len()..to {
            let instance =
                Instance { size: number % self.terms.given.max(1), ..Instance::first(number as u64) };
            let play = self.episode(&mut actor, (From::Last, instance), Part::Last)?;
            finalist.returns.push(play.earned);
            finalist.successes += usize::from(play.success);
        }
        Ok(())
    }

    /// The list as short as it can be without losing what matters: pieces go one after the other.
    fn shortened(&mut self, best: Finalist, most: u64) -> Result<Finalist, Error> {
        let floor = best.mean() - allowance(&best.returns, self.record.random);
        let mut best = best;
        let mut found = true;
        while found {
            found = false;
            let alphabet = self.alphabet(&best.list);
            let vocabulary = Vocabulary::new(&alphabet, &best.list.words, &self.record.seen);
            let mut shorter = Drawer { vocabulary, lists: &[] }.shorter(&best.list);
            shorter.retain(|list| list.length() < best.list.length() || !list.is_reordered(&best.list));
            for list in shorter {
                if self.steps() >= most {
                    return Ok(best);
                }
                let mut other = Finalist { list, returns: Vec::new(), successes: 0, origin: best.origin };
                let n = best.returns.len();
                let mut to = 4.min(n);
                loop {
                    self.play(&mut other, to)?;
                    let reference = mean(best.returns[..to].iter().copied()) - best.mean() + floor;
                    if other.mean() < reference || to == n {
                        break;
                    }
                    to = (2 * to).min(n);
                }
                if other.returns.len() == n && other.mean() >= floor && other.successes >= best.successes {
                    best = other;
                    found = true;
                    break;
                }
            }
        }
        Ok(best)
    }
}
