//! The end of a run: the best lists are compared on new instances.

use std::sync::Arc;

use derrl_logic::{Alphabet, Policy};

use super::judge::mean;
use super::ledger::From;
use super::limits::{FEWEST_LAST, FINALISTS, FIRST_LAST, LAST_EPISODES, LAST_SHARE};
use super::list::RuleList;
use super::origin::Origin;
use super::play::{Instance, Play};
use super::run::Run;
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
    plays: Vec<Play>,
    origin: Origin,
}

impl Finalist {
    fn mean(&self) -> f64 {
        mean(self.plays.iter().map(|play| play.earned))
    }
}

impl Run<'_> {
    /// Compares the best lists on instances that none of them has seen, and takes the one that is worth most.
    pub fn finish(&mut self) -> Result<Chosen, Error> {
        if self.record.is_confirmed {
            let best = &self.record.elites[0];
            let (policy, alphabet) = best.list.policy(&self.alphabet(&best.list));
            let origin = best.origin;
            return Ok(Chosen { policy, alphabet, mean_return: best.mean(), success: 1.0, origin });
        }
        let more = (self.steps() as f64 * LAST_SHARE / (1.0 - LAST_SHARE)) as u64;
        let most = (self.steps() + more).min(self.terms.most.max(self.steps()));
        let new = |list, origin| Finalist { list, plays: Vec::new(), origin };
        let elites = self.record.elites.iter().take(FINALISTS);
        let mut all: Vec<Finalist> = elites.map(|e| new(e.list.clone(), e.origin)).collect();
        let scale = self.record.scale();
        let net = |f: &Finalist| scale.net(&f.plays, f.list.length());
        let mut episodes = 0;
        while episodes < LAST_EPISODES && (episodes < 2 || self.steps() < most) {
            let more = episodes.max(FIRST_LAST).min(LAST_EPISODES - episodes);
            for finalist in &mut all {
                self.play(finalist, episodes + more)?;
            }
            episodes += more;
            let leader = all.iter().max_by(|a, b| net(a).total_cmp(&net(b))).cloned();
            all.retain(|f| {
                leader
                    .iter()
                    .all(|l| scale.keeps_up((&l.plays, l.list.length()), (&f.plays, f.list.length())))
            });
            if all.len() == 1 && episodes >= FEWEST_LAST {
                break;
            }
        }
        let best = all.into_iter().max_by(|a, b| net(a).total_cmp(&net(b)));
        let best = best.unwrap_or_else(|| new(RuleList::default(), Origin::Drawn));
        let (policy, alphabet) = best.list.policy(&self.alphabet(&best.list));
        let successes = best.plays.iter().filter(|play| play.success).count();
        let success = successes as f64 / best.plays.len().max(1) as f64;
        Ok(Chosen { policy, alphabet, mean_return: best.mean(), success, origin: best.origin })
    }

    /// Plays the instances up to that number that are still to be played.
    fn play(&mut self, finalist: &mut Finalist, to: usize) -> Result<(), Error> {
        let (policy, wider) = finalist.list.policy(&self.alphabet(&finalist.list));
        let mut actor = Actor::new(&policy, &wider);
        for number in finalist.plays.len()..to {
            let instance =
                Instance { size: number % self.terms.given.max(1), ..Instance::first(number as u64) };
            let play = self.episode(&mut actor, (From::Last, instance))?;
            finalist.plays.push(play);
        }
        Ok(())
    }
}
