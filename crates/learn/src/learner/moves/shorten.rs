//! Leaving out what the best list may do without, and confirming it.

use crate::act::actor::Actor;
use crate::error::Error;
use crate::learner::ledger::From;
use crate::learner::limits::CONFIRMED;
use crate::learner::origin::Origin;
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

    /// Plays new instances with the best list. Those in which it fails join the races.
    pub(in crate::learner) fn confirm(&mut self) -> Result<(), Error> {
        let best = self.record.elites[0].list.clone();
        let (policy, wider) = best.policy(&self.alphabet(&best));
        let mut actor = Actor::new(&policy, &wider);
        let mut played = Vec::new();
        for k in 0..CONFIRMED {
            if self.steps() >= self.terms.last_race() {
                return Ok(());
            }
            let instance = self.new_instance(k % self.terms.given.max(1));
            let play = self.episode(&mut actor, (From::Races, instance))?;
            played.push((instance, play));
        }
        let (failed, won): (Vec<_>, Vec<_>) = played.into_iter().partition(|(_, play)| !play.success);
        if !failed.is_empty() {
            // As many of both: only those in which it fails would speak for any other list.
            let (n, mut new) = (failed.len(), failed);
            new.extend(won.into_iter().take(n));
            self.add_played(new)?;
            // What it does there is to be explored.
            self.record.version += 1;
            self.record.changed_at = self.steps();
            (self.record.rounds, self.record.idle) = (0, 0);
            return Ok(());
        }
        self.record.is_confirmed = true;
        Ok(())
    }
}
