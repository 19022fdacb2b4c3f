//! Lists that fit what was explored, in the words of now and in wider ones.

use std::rc::Rc;
use std::sync::Arc;

use crate::error::Error;
use crate::fit::{Edited, Groundings, Levels, Reach, Regrets, edit, levels_of};
use crate::language::problem::Problem;
use crate::learner::labelled::list_of;
use crate::learner::limits::{DISCOUNTS, MOST_SUBSTITUTIONS, MUCH, PRICES, TABLE_BEAM, TABLE_SINGLES};
use crate::learner::list::RuleList;
use crate::learner::moves::Move;
use crate::learner::origin::Origin;
use crate::learner::record::Elite;
use crate::learner::run::Run;
use crate::learner::words::{WideningStep, Words};
use crate::table::values::Values;

/// A list that fits, with what it loses as a share of what acting at random loses, its price included.
pub(super) struct Fitted {
    pub list: RuleList,
    pub loses: f64,
}

impl Run<'_> {
    /// Races lists that fit what was explored, and says what the best one loses there.
    pub(in crate::learner) fn fit(&mut self) -> Result<(), Error> {
        let anew = !self.record.knows_all();
        let words = self.record.words.clone();
        let before = self.record.version;
        // Which discount serves is known after the first round.
        let known = [self.record.gamma];
        let discounts: &[f64] = if self.record.rounds > 1 || !anew { &known } else { &DISCOUNTS };
        let from = self.record.elites.first().map(|e| e.list.clone()).unwrap_or_default();
        for fitted in self.fits(&words, discounts, &PRICES, anew)? {
            self.challenge(fitted.list.tied(), Origin::Improvement)?;
            self.challenge(fitted.list, Origin::Improvement)?;
        }
        self.record.fitted = Some((self.record.explored.len(), from));
        if anew {
            self.record.idle = if self.record.version == before { self.record.idle + 1 } else { 0 };
        }
        // Before the sizes of now are explored, it is not known what is lost there.
        if self.record.rounds > 0 {
            self.record.residue = self.residue()?;
        }
        Ok(())
    }

    /// Races lists in the next of the wider words, where these lose less on what was explored.
    pub(in crate::learner) fn widen(&mut self) -> Result<(), Error> {
        if !self.record.is_made(Move::Widen) {
            self.record.widened = 0;
        }
        self.record.note(Move::Widen);
        let narrow = self.record.words.clone();
        let Some(wider) = narrow.wider().get(self.record.widened).cloned() else { return Ok(()) };
        self.record.widened += 1;
        self.race_in(&wider)
    }

    /// Races the lists of these words that lose less than the best list does.
    pub(super) fn race_in(&mut self, words: &Words) -> Result<(), Error> {
        let loses = self.residue()?;
        let mean = |run: &Run<'_>| run.record.elites.first().map_or(run.record.random, Elite::mean);
        let (before, version) = (mean(self), self.record.version);
        let from = self.record.words.clone();
        let gamma = self.record.gamma;
        let mut fitted = self.fits(words, &[gamma], &PRICES, true)?;
        // Where the best list fails, what it loses on what was explored does not tell the whole.
        let fails = !self.record.succeeds(self.terms.compared(&self.record).min(self.terms.given));
        fitted.retain(|f| fails || f.loses < loses);
        let tried = !fitted.is_empty();
        for one in fitted {
            self.challenge(one.list.tied(), Origin::Improvement)?;
            self.challenge(one.list, Origin::Improvement)?;
        }
        let kept = self.record.version != version && self.record.words == *words;
        if kept {
            (self.record.rounds, self.record.idle) = (0, 0);
            self.record.residue = self.residue()?;
        }
        if tried {
            let after = mean(self);
            let steps = words.beyond(&from, &self.lexicon.given.alphabet);
            let note = |to| WideningStep { to, before, after, kept };
            self.record.widenings.extend(steps.into_iter().map(note));
        }
        Ok(())
    }

    /// What the best list loses on what was explored, as a share of what acting at random loses: at the discount at which it loses least.
    pub(super) fn residue(&mut self) -> Result<f64, Error> {
        let Some(best) = self.record.elites.first().map(|e| e.list.clone()) else { return Ok(1.0) };
        let Some(problem) = self.lexicon.problem(&best.words)? else { return Ok(1.0) };
        let Some(levels) = self.levels(&best, &problem) else { return Ok(1.0) };
        let mut least = 1.0f64;
        for gamma in DISCOUNTS {
            let v = self.table.values(gamma);
            let regrets = self.regrets(&best.words, &problem, &v);
            let lost =
                if regrets.is_empty() { 0.0 } else { regrets.lost(&levels) / regrets.lost(&Vec::new()) };
            if lost < least {
                (least, self.record.gamma) = (lost, gamma);
            }
        }
        Ok(least)
    }

    /// What states are worth where the best list is followed: what is best for who knows all is not best for rules that do not see it.
    fn own_values(&self) -> Option<Rc<Values>> {
        let best = &self.record.elites.first()?.list;
        let (policy, wider) = best.policy(&self.alphabet(best));
        let taken = self.table.taken(&policy, &wider);
        Some(Rc::new(Values::of_policy(&self.table, self.record.gamma, &taken)))
    }

    fn levels(&self, list: &RuleList, problem: &Problem) -> Option<Levels> {
        let (policy, _) = list.policy(&self.alphabet(list));
        levels_of(&policy, problem)
    }

    /// The regrets of what was explored, over the candidate atoms of these words.
    pub(super) fn regrets<'p>(
        &mut self,
        words: &Words,
        problem: &'p Arc<Problem>,
        v: &Values,
    ) -> Regrets<'p> {
        let key = Words { longest: 0, ..words.clone() };
        if self.masks.0 != key {
            self.masks = (key, Groundings::default());
        }
        Regrets::new(problem, &self.table, &mut self.masks.1, v, &mut self.rng)
    }

    /// Lists in these words that lose little on what was explored: the best one edited, and new ones
    /// where these are asked for, at several discounts.
    pub(super) fn fits(
        &mut self,
        words: &Words,
        discounts: &[f64],
        prices: &[f64],
        anew: bool,
    ) -> Result<Vec<Fitted>, Error> {
        let mut found: Vec<Fitted> = Vec::new();
        let Some(problem) = self.lexicon.problem(words)? else { return Ok(found) };
        if self.table.substitutions_in_sample(&problem.alphabet) > MOST_SUBSTITUTIONS {
            return Ok(found);
        }
        let best = self.record.elites.first().map(|e| e.list.clone());
        let from_best = best.filter(|list| list.words.invented == words.invented);
        let from_best = from_best.and_then(|list| self.levels(&list, &problem)).filter(|l| !l.is_empty());
        let reach = Reach { longest: words.longest, singles: TABLE_SINGLES, beam: TABLE_BEAM };
        let frozen = levels_of(&self.lexicon.given.frozen(), &problem).unwrap_or_default();
        let mut values: Vec<Rc<Values>> = discounts.iter().map(|&gamma| self.table.values(gamma)).collect();
        values.extend(self.own_values());
        for v in values {
            let mut regrets = self.regrets(words, &problem, &v);
            if regrets.is_empty() {
                continue;
            }
            let at_random = regrets.lost(&Vec::new());
            let mut starts: Vec<(Levels, f64)> = from_best.iter().map(|l| (l.clone(), prices[0])).collect();
            let much = starts.first().is_none_or(|(levels, _)| regrets.lost(levels) > MUCH * at_random);
            if anew && (self.record.sizes <= self.record.small || much) {
                starts.extend(prices.iter().map(|&price| (frozen.clone(), price)));
            }
            for (start, price) in starts {
                regrets.price = price * at_random;
                let Edited { first, all } = edit(&regrets, start, reach, self.stop);
                if (self.stop)() {
                    return Err(Error::Interrupted);
                }
                self.world.ledger.think(regrets.looked.take());
                for levels in [first, all] {
                    let list = RuleList { words: words.clone(), ..list_of(&levels, &problem) };
                    if list.rules() > 0 && found.iter().all(|f| f.list != list) {
                        found.push(Fitted { list, loses: regrets.total(&levels) / at_random });
                    }
                }
            }
        }
        Ok(found)
    }
}
