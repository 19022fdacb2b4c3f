//! Exploring small instances, and taking in larger ones.

use crate::act::actor::Actor;
use crate::error::Error;
use crate::learner::ledger::From;
use crate::learner::limits::{EXPLORED, EXPLORED_STEPS, FAILURES, PROBES, SMALL};
use crate::learner::moves::Move;
use crate::learner::play::Instance;
use crate::learner::record::Exploration;
use crate::learner::run::{Run, per_size};
use crate::settings::streams::Purpose;
use crate::table::explore::{Extent, Follow, explore, follow};

impl Run<'_> {
    /// Explores the sizes of now, along the best list and where it fails.
    pub(in crate::learner) fn explore(&mut self) -> Result<(), Error> {
        let best = self.record.elites.first();
        let fails = best.into_iter().flat_map(|best| {
            let plays = self.record.instances.iter().zip(&best.plays);
            plays.filter(|(i, play)| !play.success && i.size < self.record.sizes).map(|(i, _)| *i)
        });
        let exploration = Exploration {
            sizes: (self.record.sizes, self.record.small),
            instances: EXPLORED << self.record.rounds,
            list: best.map(|e| e.list.clone()).unwrap_or_default(),
            failed: fails.take(FAILURES).collect(),
            // What is explored has to be put to use, too.
            most: self.terms.end().saturating_sub(self.steps()) / 2,
        };
        let number = self.record.explored.len();
        let (known, before) = (self.table.len(), self.table.steps);
        self.explore_as(number, &exploration)?;
        self.world.ledger.spend(self.table.steps - before);
        let record = &mut self.record;
        record.explored.push(exploration);
        record.rounds += 1;
        record.news = self.table.len() > known;
        record.is_full = self.table.is_full();
        record.by_chance = self.table.by_chance;
        Ok(())
    }

    /// Explores for the table, as this says.
    pub(in crate::learner) fn explore_as(&mut self, number: usize, how: &Exploration) -> Result<(), Error> {
        let mut rng = Purpose::Explore(number as u64).rng(self.seed);
        let alphabet = self.alphabet(&how.list);
        let (policy, wider) = how.list.policy(&alphabet);
        let mut actor = Actor::new(&policy, &wider);
        let has_rules = !policy.rules.is_empty();
        self.table.forget_visits();
        let instances = how.instances.div_ceil(how.sizes.0);
        let until = self.table.steps + how.most;
        for size in 0..how.sizes.0 {
            let steps = EXPLORED_STEPS.min(how.most / how.instances as u64);
            // In large instances what walks come to leads nowhere that is known.
            let walks = if size < how.sizes.1 || !has_rules { steps } else { 0 };
            let extent = Extent { instances, steps, walks, until };
            let followed = has_rules.then_some(&mut actor);
            let env = self.world.of_size(size);
            explore(&mut self.table, env, followed, extent, &mut rng, self.stop)?;
        }
        for &failed in &how.failed {
            for probe in std::iter::once(false).chain([true; PROBES]) {
                if self.table.is_full() || self.table.steps >= until || (self.stop)() {
                    return Ok(());
                }
                let goes_on = self.world.begin((From::Races, failed), &alphabet)?.is_some();
                if goes_on {
                    let env = self.world.of_size(failed.size);
                    follow(&mut self.table, env, &mut actor, Follow { probe, stray: 0 }, &mut rng)?;
                }
            }
        }
        Ok(())
    }

    /// Takes in the next size: all of the best lists play it, and rules are fitted to what is found there.
    pub(in crate::learner) fn raise(&mut self) -> Result<(), Error> {
        if self.record.small == self.record.sizes && self.table.len() < SMALL {
            self.record.small += 1;
        }
        self.record.sizes += 1;
        (self.record.rounds, self.record.idle, self.record.news) = (0, 0, true);
        // What the best list loses there is not known.
        self.record.residue = 1.0;
        // A rule that is worth little in small instances may be worth much in larger ones: lists are fitted and raced again.
        self.record.fitted = None;
        self.record.note(Move::Raise);
        let size = self.record.sizes;
        if size >= self.terms.sizes {
            return Ok(());
        }
        let new: Vec<Instance> = (0..per_size(&self.terms))
            .map(|k| {
                let number = self.record.new_instance + k as u64;
                Instance { size, number, astray: k % 2 == 1 }
            })
            .collect();
        self.record.new_instance += new.len() as u64;
        self.add_instances(new)
    }
}
