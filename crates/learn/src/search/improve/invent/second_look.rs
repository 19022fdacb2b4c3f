//! A second look, where rules lose much, fail in larger instances or are many: the shortest rules that explain small instances exactly.
//!
//! What is worth having shows where values are exact. Small instances are therefore surveyed once more, each until nothing is left
//! to try, and rules are found from none on the states from which all that can be reached was tried. Words cost more than they do
//! elsewhere, so that rules say why and not what happens to hold; the price falls until they do. Predicates of their own, and
//! distances where the world has a graph, are chosen in the same way, several together: an errand to one place and then to
//! another takes two distances, and one of them alone may be worse than none.

use std::rc::Rc;
use std::sync::Arc;

use super::Invention;
use super::pool::{distances, graphs, pool};
use crate::act::score::{SOLVED, mean_stderr};
use crate::error::Error;
use crate::search::improve::draft::{Levels, are_of, policy_of};
use crate::search::improve::driver::{DISCOUNTS, Improver, MUCH, WideningStep};
use crate::search::improve::edit::edit;
use crate::search::improve::explore::{Extent, explore};
use crate::search::improve::regret::{MOST_STATES, Regrets, Which};
use crate::search::improve::table::Table;
use crate::search::improve::trial::Trial;
use crate::search::improve::widen::{Language, Widening};

/// Instances of each size that are surveyed, at the most, and environment steps in each.
const INSTANCES: usize = 8;
const STEPS: u64 = 20_000;
/// The share of all steps that a survey takes, at the most.
const SHARE: u64 = 16;
/// The share that trials in the world take, at the most and about.
const TRIALS_SHARE: u64 = 4;
/// States that are enough to tell what words are worth.
const ENOUGH: usize = 6_000;
/// How many times the usual price words cost, in turn.
const PRICES: [f64; 3] = [16.0, 6.0, 2.0];
/// Predicates and distances that are tried by themselves on these states, each; those of them that are tried again at lower prices;
/// those that may join others; how many do, at the most; and those with which this begins.
const SCREENED: usize = 600;
const SCREENED_AGAIN: usize = 150;
const COMPANIONS: usize = 30;
const TOGETHER: usize = 3;
const BEGINNINGS: usize = 2;
/// Rules per action, and beside these, above which there may be a shorter way to say it.
const RULES: usize = 2;
const MORE_RULES: usize = 4;
/// States that tell which.
const SCREENING_STATES: usize = 400;

/// Inventions by their places in a list, and what rules lose that may use them, with the price of all words.
#[derive(Clone, Debug)]
struct Choice {
    worth: f64,
    of: Vec<usize>,
}

/// What small instances are, and what could be said of them.
struct Survey {
    table: Table,
    language: Language,
    inventions: Vec<Invention>,
    gamma: f64,
    /// How many times the usual price words cost.
    dear: f64,
}

impl Survey {
    /// The inventions of a choice together; `None` where it is empty.
    fn joined(&self, choice: &[usize]) -> Option<Invention> {
        choice.iter().map(|&i| self.inventions[i].clone()).reduce(|all, one| all.and(&one))
    }

    /// The language with the inventions of a choice.
    fn with(&self, choice: &[usize]) -> Result<Option<Language>, Error> {
        self.joined(choice).map_or(Ok(Some(self.language.afresh())), |all| self.language.with(&all))
    }
}

impl Improver<'_> {
    /// A policy that knows the way, where the world has a graph and rules lose much without: found before larger instances are
    /// explored, since walks there without a way to go tell little.
    pub(crate) fn find_ways(&mut self, best: Trial) -> Result<Trial, Error> {
        if self.looks == 0 || graphs(&self.given.alphabet, &self.table).is_empty() {
            return Ok(best);
        }
        let Some((better, language)) = self.look_again(&best)? else { return Ok(best) };
        self.language = language;
        self.inventions = self.inventions.saturating_sub(1);
        self.rounds(better)
    }

    /// A policy that says better what to do, where there is one, with its language.
    pub(crate) fn look_again(&mut self, best: &Trial) -> Result<Option<(Trial, Language)>, Error> {
        // Rules are found from none here, so that those that have to stay would be lost.
        if self.looks == 0 || !self.given.is_free() || (self.stop)() {
            return Ok(None);
        }
        self.looks -= 1;
        let gamma = self.gamma.unwrap_or(DISCOUNTS[0]);
        let graphs = graphs(&self.given.alphabet, &self.table);
        if self.sizes.len() < 2 && graphs.is_empty() {
            return Ok(None);
        }
        let fails = (0..best.results.len()).any(|size| best.success(size) < SOLVED);
        let many = best.policy.rules.len() > RULES * self.given.alphabet.actions.len() + MORE_RULES;
        if !fails && !many && self.residue(&best.policy, gamma)? <= MUCH {
            return Ok(None);
        }
        let table = self.survey()?;
        let most = self.spent() + self.limit / TRIALS_SHARE;
        let invented = self.language.problem.alphabet.predicates.len() > self.given.alphabet.predicates.len();
        let language = if invented { Language::start(&self.given) } else { self.language.afresh() };
        let alphabet = Arc::clone(&language.problem.alphabet);
        let pool = pool(&alphabet, &table, self.stop)?;
        let mut inventions = distances(&alphabet, &table, &graphs, &pool, self.stop)?;
        inventions.truncate(SCREENED);
        inventions.extend(pool.into_iter().take(SCREENED));
        // One more variable or atom, and negation, may be what it takes to say it.
        let mut ways = vec![language.afresh()];
        let more = language.problem.alphabet.variables > self.given.alphabet.variables;
        for step in language.steps() {
            if !(more && matches!(step, Widening::Variables(_))) {
                ways.extend(language.wider(&step)?.filter(|wider| self.is_bearable(wider)));
            }
        }
        let mut order: Vec<usize> = (0..inventions.len()).collect();
        let mut survey = Survey { table, language, inventions, gamma, dear: 1.0 };
        let before = mean_stderr(&best.returns()).0;
        let mut winner: Option<(Trial, Language)> = None;
        for dear in PRICES {
            survey.dear = dear;
            survey.language = self.spoken(&survey, &ways)?;
            let words = self.questions.ask("words", |_| true, || self.words(&survey, &order))?;
            let (chosen, ranking) = words;
            order = ranking;
            order.truncate(SCREENED_AGAIN);
            for choice in chosen {
                if self.spent() > most {
                    break;
                }
                let Some(mut wider) = survey.with(&choice)? else { continue };
                let Some(rival) = self.drafted(&survey, &mut wider)? else { continue };
                let kept = rival.says_better(winner.as_ref().map_or(best, |(w, _)| w));
                if kept {
                    // Rules from none use none of what was invented before.
                    let invented = |w: &&mut WideningStep| matches!(w.to, Widening::Invented(_));
                    self.widenings.iter_mut().filter(invented).for_each(|w| w.kept = false);
                }
                if let Some(invention) = survey.joined(&choice) {
                    let after = mean_stderr(&rival.returns()).0;
                    let to = Widening::Invented(invention.name);
                    self.widenings.push(WideningStep { to, before, after, kept });
                }
                if kept {
                    winner = Some((rival, wider.afresh()));
                }
            }
            if winner.as_ref().is_some_and(|(w, _)| !w.fails_anywhere()) {
                break;
            }
        }
        Ok(winner)
    }

    /// What was seen where the given instances were explored until nothing was left to try, the smallest first.
    fn survey(&mut self) -> Result<Table, Error> {
        let mut survey = Table::new(&self.given.alphabet);
        let most = self.limit / SHARE;
        // Where nothing comes of it, all else goes on as if it had not been.
        let mut rng = self.rng.clone();
        for size in 0..self.of_world {
            if survey.len() > ENOUGH || survey.steps >= most {
                break;
            }
            let steps = STEPS.min((most - survey.steps) / INSTANCES as u64);
            let extent = Extent { instances: INSTANCES, steps, walks: steps };
            explore(&mut survey, self.sizes[size].as_mut(), None, extent, &mut rng, self.stop)?;
        }
        self.take(survey.steps);
        Ok(survey)
    }

    /// The policy that editing finds from no rules at all in a language, tried.
    fn drafted(&mut self, survey: &Survey, language: &mut Language) -> Result<Option<Trial>, Error> {
        let problem = Arc::clone(&language.problem);
        let questions = Rc::clone(&self.questions);
        let fits = |levels: &Levels| are_of(levels, &problem);
        let levels = questions.ask("draft", fits, || {
            let edited = self.edited_on(survey, MOST_STATES, language);
            Ok(edited.map_or(Levels::new(), |(levels, ..)| levels))
        })?;
        let Some(policy) = policy_of(&levels, &problem).filter(|p| !p.rules.is_empty()) else {
            return Ok(None);
        };
        let held = std::mem::replace(&mut self.language, language.afresh());
        let rival = self.tried(policy);
        self.language = held;
        rival.map(Some)
    }

    /// The one of these languages in which rules lose least without inventions.
    fn spoken(&self, survey: &Survey, ways: &[Language]) -> Result<Language, Error> {
        let questions = &self.questions;
        let mut best: Option<(f64, &Language)> = None;
        for way in ways {
            let worth = questions.ask(
                "spoken",
                |_| true,
                || Ok(self.edited_on(survey, SCREENING_STATES, &mut way.afresh()).map(|(_, lost, _)| lost)),
            )?;
            if let Some(worth) = worth.filter(|w| best.as_ref().is_none_or(|(b, _)| *w < *b)) {
                best = Some((worth, way));
            }
        }
        Ok(best.map_or(&survey.language, |(_, way)| way).afresh())
    }

    /// Choices of inventions, the best first.
    fn ranked(&self, survey: &Survey, choices: Vec<Vec<usize>>) -> Result<Vec<Choice>, Error> {
        let mut ranked = Vec::new();
        for of in choices {
            let worth = self.questions.ask("screened", |_| true, || self.worth(survey, &of))?;
            ranked.extend(worth.map(|worth| Choice { worth, of }));
        }
        ranked.sort_by(|a, b| a.worth.total_cmp(&b.worth));
        Ok(ranked)
    }

    /// The inventions with which rules lose least, several together, one or none, the best first; and all of those in `order` by
    /// themselves, the best first.
    fn words(&self, survey: &Survey, order: &[usize]) -> Result<(Vec<Vec<usize>>, Vec<usize>), Error> {
        let none = self.ranked(survey, vec![Vec::new()])?;
        let single = self.ranked(survey, order.iter().map(|&i| vec![i]).collect())?;
        let order: Vec<usize> = single.iter().map(|c| c.of[0]).collect();
        let companions = &order[..order.len().min(COMPANIONS)];
        let mut found: Vec<Choice> = none.into_iter().chain(single.first().cloned()).collect();
        for first in single.into_iter().take(BEGINNINGS) {
            let mut last = first;
            while last.of.len() < TOGETHER {
                let more = companions.iter().filter(|i| !last.of.contains(i));
                let longer = more.map(|&i| [last.of.as_slice(), &[i]].concat()).collect();
                let best = self.ranked(survey, longer)?.into_iter().next();
                let Some(better) = best.filter(|b| b.worth < last.worth) else { break };
                last = better;
                // Of what was chosen before, some may be of no use now.
                let without = |i: usize| [&last.of[..i], &last.of[i + 1..]].concat();
                let shorter = (0..last.of.len() - 1).map(without).collect();
                let best = self.ranked(survey, shorter)?.into_iter().next();
                if let Some(better) = best.filter(|b| b.worth < last.worth) {
                    last = better;
                    break;
                }
            }
            last.of.sort_unstable();
            found.push(last);
        }
        found.sort_by(|a, b| a.worth.total_cmp(&b.worth));
        found.dedup_by(|a, b| a.of == b.of);
        Ok((found.into_iter().map(|c| c.of).collect(), order))
    }

    /// What rules lose that may use these inventions, with the price of all words, as a share of what acting at random loses. `None`
    /// where nothing is known exactly.
    fn worth(&self, survey: &Survey, choice: &[usize]) -> Result<Option<f64>, Error> {
        let Some(mut wider) = survey.with(choice)? else { return Ok(None) };
        let words: usize = choice.iter().map(|&i| survey.inventions[i].size).sum();
        let edited = self.edited_on(survey, SCREENING_STATES, &mut wider);
        Ok(edited.map(|(_, lost, price)| lost + price * words as f64))
    }

    /// The rules that editing finds from none on what was surveyed; what they lose with their price, and the price of a word, as
    /// shares of what acting at random loses. `None` where nothing is known exactly.
    fn edited_on(&self, survey: &Survey, most: usize, language: &mut Language) -> Option<(Levels, f64, f64)> {
        let problem = Arc::clone(&language.problem);
        // The same sample for all.
        let mut rng = self.rng.clone();
        let (table, masks) = (&survey.table, &mut language.groundings);
        let mut regrets =
            Regrets::among(most, Which::Settled, &problem, table, masks, survey.gamma, &mut rng);
        if regrets.is_empty() {
            return None;
        }
        regrets.price *= survey.dear;
        let levels = edit(&regrets, Vec::new(), language.reach, self.stop);
        let random = regrets.lost(&Vec::new());
        let lost = regrets.total(&levels) / random;
        Some((levels, lost, regrets.price / random))
    }
}
