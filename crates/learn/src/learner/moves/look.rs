//! Playing at random, to see what values there are and what that earns.

use derrl_env::choices;

use crate::error::Error;
use crate::learner::ledger::From;
use crate::learner::limits::{FEWEST_RANDOM, NOTED_EVERY, RANDOM_EPISODES, RANDOM_STEPS};
use crate::learner::list::RuleList;
use crate::learner::origin::Origin;
use crate::learner::play::Instance;
use crate::learner::run::{Ranges, Run};
use crate::learner::seen::State;
use crate::learner::words::Words;

impl Run<'_> {
    /// Plays at random. Rules that are given are the first list.
    pub(in crate::learner) fn look(&mut self) -> Result<(), Error> {
        let alphabet = self.lexicon.given.alphabet.clone();
        let mut ranges = Ranges::new(&alphabet);
        let (mut earned, mut episodes) = (0.0, 0);
        while episodes < FEWEST_RANDOM || (episodes < RANDOM_EPISODES && self.steps() < RANDOM_STEPS) {
            let seen = &mut self.record.seen;
            let mut noted = NOTED_EVERY / 2;
            let numbers = self.terms.numbers;
            let which = (From::Random, Instance::first(episodes as u64));
            let play = self.world.episode(which, &alphabet, &mut |env, streams, _| {
                ranges.take(env);
                noted += 1;
                if numbers && noted >= NOTED_EVERY / 2 {
                    noted = 0;
                    seen.note(State::of(env, &alphabet));
                }
                let all = choices(env, &alphabet);
                all[streams.ties.below(all.len())].clone()
            })?;
            earned += play.earned;
            episodes += 1;
        }
        self.record.random = earned / episodes as f64;
        self.record.ranges = ranges.widths();
        let given = self.lexicon.given.given();
        if given.rules.is_empty() {
            return Ok(());
        }
        let words = Words { longest: Words::of(&given).longest, ..Words::default() };
        let list = RuleList::of(&given, &alphabet, &words, &self.lexicon);
        self.challenge(list, Origin::Given)
    }
}
