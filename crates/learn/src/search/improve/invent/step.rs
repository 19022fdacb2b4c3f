//! The step of the improver that invents predicates.

use std::rc::Rc;
use std::sync::Arc;

use super::Invention;
use super::pool::pool;
use crate::act::score::{SOLVED, mean_stderr};
use crate::error::Error;
use crate::language::problem::Problem;
use crate::search::improve::draft::{are_of, policy_of};
use crate::search::improve::driver::{DISCOUNTS, INVENTION_SHARE, INVENTIONS, Improver, WideningStep};
use crate::search::improve::edit::edit;
use crate::search::improve::regret::{Regrets, Which};
use crate::search::improve::trial::Trial;
use crate::search::improve::widen::{Language, Widening};

/// Where there are no larger instances to judge by, a policy that succeeds more often than this lacks no predicate.
const NEARLY: f64 = 0.9;
/// Predicates of the pool that are tried on what was seen, at the most; those of them that are tried in the world; and the states
/// that tell which these are.
const SCREENED: usize = 200;
const FINALISTS: usize = 8;
const SCREENING_STATES: usize = 400;

impl Improver<'_> {
    /// Invents predicates where the instances that were explored are not solved without, nor larger ones once the language is settled;
    /// and in the end, where they are solved in a wider language only: one predicate may say what many rules say.
    pub(crate) fn invent(&mut self, mut best: Trial) -> Result<Trial, Error> {
        while self.inventions > 0 {
            let bar = if self.sizes.len() > 1 { SOLVED } else { NEARLY };
            let to_the_end = self.is_late() || self.is_exhausted();
            let sizes = if to_the_end { best.results.len() } else { self.trained };
            let failing = (0..sizes.min(self.of_world)).any(|size| best.success(size) < bar);
            let in_the_end = self.sizes.len() > 1 && self.trained == self.sizes.len();
            let widened =
                in_the_end && self.inventions == INVENTIONS && self.widenings.iter().any(|w| w.kept);
            if !failing && !widened {
                break;
            }
            self.kept = 0;
            if self.is_exhausted() {
                break;
            }
            self.inventions -= 1;
            let gamma = self.gamma.unwrap_or(DISCOUNTS[0]);
            let Some(rival) = self.invention(&best, gamma)? else { break };
            best = self.rounds(rival)?;
        }
        Ok(best)
    }

    /// A policy with one more predicate of its own that does better, if there is one. Each predicate of a pool is tried by itself on
    /// what was seen; those with which rules lose least, their price included, are then tried in the world.
    fn invention(&mut self, best: &Trial, gamma: f64) -> Result<Option<Trial>, Error> {
        // What was given is the start, with what was invented so far.
        let alphabet = &self.language.problem.alphabet;
        let is_first = alphabet.predicates.len() == self.given.alphabet.predicates.len();
        let start = Arc::clone(if is_first { &self.given } else { &self.language.problem });
        let ranked = self.questions.ask("finalists", |_| true, || self.finalists(&start, gamma))?;
        let before = mean_stderr(&best.returns()).0;
        let first = self.widenings.len();
        let mut winner: Option<(Trial, Language)> = None;
        let mut second: Option<(Trial, Language, usize)> = None;
        for invention in ranked {
            // Half of what was kept is for rounds in the most promising language.
            if second.is_some() && self.left() < self.limit / (2 * (1 + INVENTION_SHARE)) {
                break;
            }
            let Some(wider) = Language::start(&start).with(&invention)? else { continue };
            let narrow = std::mem::replace(&mut self.language, wider);
            let rival = self.edited_anew(gamma)?;
            let wider = std::mem::replace(&mut self.language, narrow);
            let Some(rival) = rival else { continue };
            let kept = rival.leads(winner.as_ref().map_or(best, |(w, _)| w));
            let after = mean_stderr(&rival.returns()).0;
            if kept {
                self.widenings[first..].iter_mut().for_each(|w| w.kept = false);
            }
            self.widenings.push(WideningStep { to: Widening::Invented(invention.name), before, after, kept });
            if kept {
                winner = Some((rival, wider));
            } else if second.as_ref().is_none_or(|(s, ..)| rival.leads(s)) {
                second = Some((rival, wider, self.widenings.len() - 1));
            }
        }
        if let Some((draft, wider, step)) = second.filter(|_| winner.is_none()) {
            winner = self.grown_up(draft, wider, best)?;
            if let Some((rival, _)) = &winner {
                (self.widenings[step].after, self.widenings[step].kept) =
                    (mean_stderr(&rival.returns()).0, true);
            }
        }
        Ok(winner.map(|(trial, language)| {
            self.language = language;
            trial
        }))
    }

    /// What rounds of its own make of a first draft in another language, if that does better: a language is worth what can be
    /// learned in it.
    fn grown_up(
        &mut self,
        draft: Trial,
        wider: Language,
        best: &Trial,
    ) -> Result<Option<(Trial, Language)>, Error> {
        let held = (self.gamma, std::mem::replace(&mut self.language, wider));
        self.anew = true;
        let rival = self.rounds(draft);
        self.anew = false;
        let rival = rival?;
        let wider = std::mem::replace(&mut self.language, held.1);
        if rival.leads(best) {
            return Ok(Some((rival, wider)));
        }
        self.gamma = held.0;
        Ok(None)
    }

    /// The predicates with which rules lose least on what was seen, the best first.
    fn finalists(&self, start: &Arc<Problem>, gamma: f64) -> Result<Vec<Invention>, Error> {
        let pool = pool(&start.alphabet, &self.table, self.stop)?;
        let bar = self.screened(&mut Language::start(start), gamma, 0);
        let mut ranked: Vec<(f64, Invention)> = Vec::new();
        for invention in pool.into_iter().take(SCREENED) {
            let worth = self.questions.ask(
                "screened",
                |_| true,
                || {
                    let wider = Language::start(start).with(&invention)?;
                    Ok(wider.map(|mut wider| self.screened(&mut wider, gamma, invention.size)))
                },
            )?;
            if let Some(worth) = worth.filter(|worth| *worth < bar) {
                ranked.push((worth, invention));
            }
        }
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
        ranked.truncate(FINALISTS);
        Ok(ranked.into_iter().map(|(_, invention)| invention).collect())
    }

    /// What rules of a language lose on a sample of what was seen, with their price and that of so many literals, as a share of what
    /// acting at random loses.
    fn screened(&self, language: &mut Language, gamma: f64, size: usize) -> f64 {
        let problem = Arc::clone(&language.problem);
        // The same sample for all.
        let mut rng = self.rng.clone();
        let (most, masks) = (SCREENING_STATES, &mut language.groundings);
        let regrets = Regrets::among(most, Which::Met, &problem, &self.table, masks, gamma, &mut rng);
        if regrets.is_empty() {
            return 0.0;
        }
        let levels = edit(&regrets, Vec::new(), language.reach, self.stop);
        let worth = regrets.total(&levels) + regrets.price * size as f64;
        worth / regrets.lost(&Vec::new())
    }

    /// The policy that editing finds from no rules at all.
    fn edited_anew(&mut self, gamma: f64) -> Result<Option<Trial>, Error> {
        let problem = Arc::clone(&self.language.problem);
        let questions = Rc::clone(&self.questions);
        let levels = questions.ask(
            "edited",
            |levels| are_of(levels, &problem),
            || {
                let mut rng = self.rng.clone();
                let regrets =
                    Regrets::new(&problem, &self.table, &mut self.language.groundings, gamma, &mut rng);
                Ok(edit(&regrets, Vec::new(), self.language.reach, self.stop))
            },
        )?;
        match policy_of(&levels, &problem).filter(|p| !p.rules.is_empty()) {
            Some(policy) => Ok(Some(self.tried(policy)?)),
            None => Ok(None),
        }
    }
}
