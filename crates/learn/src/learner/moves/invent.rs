//! Predicates of the learner's own.

use std::sync::Arc;

use crate::error::Error;
use crate::fit::{Groundings, Reach, Regrets, edit};
use crate::invent::{Invention, distances, graphs, pool};
use crate::learner::limits::{
    DISCOUNTS, FINALISTS_INVENTED, SCREENED, SCREENING_STATES, SHORT, TABLE_BEAM, TABLE_SINGLES,
};
use crate::learner::moves::Move;
use crate::learner::run::Run;
use crate::learner::words::Words;

impl Run<'_> {
    /// Races lists with a predicate of their own. Each of a pool is offered by itself to the search for rules on some of what was explored;
    /// those with which rules lose least, their price included, compete.
    pub(in crate::learner) fn invent(&mut self) -> Result<(), Error> {
        self.record.note(Move::Invent);
        let given = self.record.words.invented.clone();
        // From the words of the domain file, so that one predicate may say what wider words say.
        let plain = Words { invented: given, ..Words::default() };
        for invention in self.inventions(&plain)? {
            let mut words = plain.clone();
            words.invented.push(invention);
            self.race_in(&words)?;
            if (self.stop)() {
                return Err(Error::Interrupted);
            }
        }
        Ok(())
    }

    /// The predicates with which rules lose least on a sample of what was explored, the best first.
    fn inventions(&mut self, plain: &Words) -> Result<Vec<Invention>, Error> {
        let alphabet = self.lexicon.alphabet(plain);
        let mut all = pool(&alphabet, &self.table, self.stop)?;
        let graphs = graphs(&alphabet, &self.table);
        if !graphs.is_empty() {
            let distances = distances(&alphabet, &self.table, &graphs, &all, self.stop)?;
            all.truncate(SCREENED / 2);
            all.extend(distances.into_iter().take(SCREENED - SCREENED / 2));
        }
        let Some(bar) = self.screened(plain, 0)? else { return Ok(Vec::new()) };
        let mut ranked: Vec<(f64, Invention)> = Vec::new();
        for invention in all.into_iter().take(SCREENED) {
            if (self.stop)() {
                return Err(Error::Interrupted);
            }
            let mut words = plain.clone();
            words.invented.push(invention.clone());
            if let Some(worth) = self.screened(&words, invention.size)?.filter(|worth| *worth < bar) {
                ranked.push((worth, invention));
            }
        }
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        ranked.truncate(FINALISTS_INVENTED);
        Ok(ranked.into_iter().map(|(_, invention)| invention).collect())
    }

    /// What rules in these words lose on a sample of what was explored, with their price and that of so many literals, as a share of what
    /// acting at random loses; `None` where these words are too many.
    fn screened(&mut self, words: &Words, size: usize) -> Result<Option<f64>, Error> {
        let Some(problem) = self.lexicon.problem(words)? else { return Ok(None) };
        let problem = Arc::clone(&problem);
        let mut masks = Groundings::default();
        // The same sample for all.
        let mut rng = self.rng.clone();
        let v = self.table.values(DISCOUNTS[0]);
        let regrets = Regrets::among(SCREENING_STATES, &problem, &self.table, &mut masks, &v, &mut rng);
        if regrets.is_empty() {
            return Ok(Some(0.0));
        }
        let reach = Reach { longest: SHORT, singles: TABLE_SINGLES, beam: TABLE_BEAM };
        let levels = edit(&regrets, Vec::new(), reach, self.stop).all;
        self.world.ledger.think(regrets.looked.take());
        let worth = regrets.total(&levels) + regrets.price * size as f64;
        Ok(Some(worth / regrets.lost(&Vec::new())))
    }
}
