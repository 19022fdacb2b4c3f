//! Restarts in wider languages.
//!
//! Whole restarts that agree on less than success have done what their language allows. The restarts that follow then try
//! wider languages, one each: the negation of a predicate, or of a few where there are many, and one more variable. Of the gradient's
//! candidates all but one predicate stay as they were, since a language that is wide everywhere is learned less well. The later
//! restarts, and what follows them, speak the language that earned clearly more, if one did.
//!
//! What a restart speaks depends on the results of those before its wave alone, so that a resumed run does what an uninterrupted
//! one does.

use std::sync::Arc;

use derrl_logic::Alphabet;

use crate::act::score::{SOLVED, mean_stderr};
use crate::language::problem::Problem;
use crate::search::budget::short_restarts;
use crate::search::checkpoint::{Checkpoint, RestartResult, best_of};
use crate::search::improve::{Widening, WideningStep};
use crate::search::refine::paired;
use crate::search::waves::{Search, Terms};

/// A language has to earn more by so many standard errors: of many one is ahead by chance.
const AHEAD_BY: f64 = 3.0;

/// A wider language in which restarts may be trained.
#[derive(Debug)]
pub(super) struct Dialect {
    /// What it adds.
    steps: Vec<Widening>,
    problem: Arc<Problem>,
}

/// What the restarts of a run speak.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tongues {
    /// The first restart that tries a wider language, and the one after the last.
    from: usize,
    to: usize,
    /// The number of the language that is spoken afterwards, if one earned clearly more.
    winner: Option<usize>,
    /// What is earned in the language of the domain file.
    plain: f64,
}

impl Tongues {
    /// How many restarts try a wider language.
    pub(super) fn trials(self) -> usize {
        self.to - self.from
    }

    /// Whether wider languages are to be tried, or the best of them to be spoken, once so many restarts are done.
    pub(super) fn are_due(self, done: usize) -> bool {
        done == self.from && self.trials() > 0 || done == self.to && self.winner.is_some()
    }

    /// Whether they are to be tried before the task is scouted again, once so many restarts are done: that may widen the
    /// language as well, and takes longer.
    pub(super) fn come_first(self, done: usize) -> bool {
        self.trials() > 0 && (done < self.to || self.winner.is_some())
    }

    /// Whether this restart tries a language that no other one does.
    pub(super) fn is_trial(self, restart: usize) -> bool {
        (self.from..self.to).contains(&restart)
    }

    /// The number of the language that a restart speaks; `None` for that of the domain file.
    fn of(self, restart: usize) -> Option<usize> {
        if self.is_trial(restart) {
            Some(restart - self.from)
        } else {
            self.winner.filter(|_| restart >= self.to)
        }
    }
}

impl Search<'_> {
    /// The languages that restarts of a run speak, by what is done.
    pub(super) fn languages(&self, run: &Checkpoint, instances: &[u64], terms: Terms) -> Tongues {
        let from = short_restarts(self.config) + self.config.wave;
        let none = Tongues::default();
        // By chance even the best policy may fail. What a scout finds later changes nothing.
        let settled = run.scout.as_ref().is_some_and(|s| s.success >= SOLVED || s.by_chance);
        let begun = run.done.iter().any(|d| !d.language.is_empty());
        let may = self.config.vary && terms.decided && !terms.costly && (begun || !settled);
        let plain = before(&run.done, from);
        if !may || plain.len() < from {
            return none;
        }
        let best = best_of(plain, instances);
        let Some(&first) = best.first() else { return none };
        let agree = 2 * best.len() >= self.config.wave && best.len() >= self.config.agree;
        let succeed = best.iter().any(|&i| plain[i].success >= SOLVED);
        if !agree || succeed {
            return none;
        }
        let to = from + self.dialects(terms, from).len();
        let tried = &before(&run.done, to)[from..];
        let mean = |d: &RestartResult| mean_stderr(&d.returns).0;
        let best =
            (0..tried.len()).max_by(|&i, &j| mean(&tried[i]).total_cmp(&mean(&tried[j])).then(j.cmp(&i)));
        let winner = best.filter(|&i| {
            let (gap, noise) = paired(&tried[i].returns, &plain[first].returns, instances);
            tried.len() == to - from && gap > AHEAD_BY * noise + 1e-9
        });
        Tongues { from, to, winner, plain: mean(&plain[first]) }
    }

    /// The wider languages, no more than leave restarts for one wave after them.
    fn dialects(&self, terms: Terms, from: usize) -> &[Dialect] {
        self.dialects.get_or_init(|| {
            let places = terms.budget.restarts.saturating_sub(from + self.config.wave);
            let steps = Widening::for_restarts(&self.problem.alphabet);
            let per_place = steps.len().div_ceil(places.max(1)).max(1);
            let groups = steps.chunks(per_place).take(places);
            groups
                .filter_map(|steps| {
                    let mut wider: Alphabet = (*self.problem.alphabet).clone();
                    for step in steps {
                        step.widen(&mut wider);
                    }
                    let problem = self.problem.in_language(&Arc::new(wider)).ok()?;
                    Some(Dialect { steps: steps.to_vec(), problem: Arc::new(problem) })
                })
                .collect()
        })
    }

    /// This search in the language of a restart, and what that adds to the language of the domain file.
    pub(super) fn in_language_of(&self, restart: usize, tongues: Tongues) -> (Search<'_>, &[Widening]) {
        let dialect = tongues.of(restart).and_then(|number| self.dialects.get()?.get(number));
        (self.over(dialect.map_or(self.problem, |d| &d.problem)), dialect.map_or(&[], |d| &d.steps))
    }
}

/// The steps to wider languages that restarts tried, with what they earned.
pub(super) fn tried(run: &Checkpoint, chosen: &RestartResult, tongues: Tongues) -> Vec<WideningStep> {
    let mean = |d: &RestartResult| mean_stderr(&d.returns).0;
    let trials = run.done.iter().filter(|d| tongues.is_trial(d.restart as usize));
    trials
        .flat_map(|d| {
            let kept = d.language == chosen.language;
            let (before, after) = (tongues.plain, mean(d));
            d.language.iter().map(move |to| WideningStep { to: to.clone(), before, after, kept })
        })
        .collect()
}

/// The restarts below a number, if all of them are done; otherwise those up to the first that is not.
fn before(done: &[RestartResult], number: usize) -> &[RestartResult] {
    let there = done.iter().enumerate().take_while(|(i, d)| *i < number && d.restart == *i as u64).count();
    &done[..there]
}
