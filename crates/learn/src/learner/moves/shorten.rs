//! Leaving out what the best list may do without, and confirming it.

use crate::act::actor::Actor;
use crate::error::Error;
use crate::learner::checkpoint::Origin;
use crate::learner::ledger::{From, Part};
use crate::learner::limits::{CONFIRMED, FAILURES};
use crate::learner::run::Run;

impl Run<'_> {
    /// Races all lists that are a little shorter than the best one, or in another order.
    pub(in crate::learner) fn race_shorter(&mut self) -> Result<(), Error> {
        let best = self.record.elites[0].list.clone();
        for list in self.draw(&best.words.clone(), |drawer, _| drawer.shorter(&best)) {
            self.challenge(list, Origin::Improvement)?;
        }
        self.record.shortened = Some(best);
        Ok(())
    }

    /// Plays new instances with the best list, and adds those in which it fails to races.
    pub(in crate::learner) fn confirm(&mut self) -> Result<(), Error> {
        let best = self.record.elites[0].list.clone();
        let (policy, wider) = best.policy(&self.alphabet(&best));
        let mut actor = Actor::new(&policy, &wider);
        let mut failed = Vec::new();
        for k in 0..CONFIRMED {
            let instance = self.new_instance(k % self.terms.given.max(1));
            if !self.episode(&mut actor, (From::Races, instance), Part::Racing)?.success {
                failed.push(instance);
            }
        }
        if !failed.is_empty() {
            failed.truncate(FAILURES);
            self.add_instances(failed)?;
            // What it does there is to be explored.
            self.record.version += 1;
            (self.record.rounds, self.record.idle) = (0, 0);
            return Ok(());
        }
        self.record.is_confirmed = true;
        Ok(())
    }
}
