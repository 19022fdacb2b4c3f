//! The end of a run: the chosen policy is grown, improved by regret, or confirmed.

use std::rc::Rc;
use std::sync::Arc;

use derrl_logic::{Alphabet, Policy, Rule, Source};

use crate::act::score::SOLVED;
use crate::error::Error;
use crate::experience::counted::Counted;
use crate::search::attempt::Pace;
use crate::search::budget::short_restarts;
use crate::search::checkpoint::{Checkpoint, Ending, Learned, Origin};
use crate::search::dialects::{Tongues, tried};
use crate::search::diary::Questions;
use crate::search::grow::{free_actions, grow};
use crate::search::improve::{Improver, Trial, WideningStep, starts};
use crate::search::prune::{length, strongest_first};
use crate::search::refine::{Judge, Judged, advantage, refine};
use crate::search::waves::{Search, Sizes, Terms};
use crate::settings::streams::Purpose;

/// Grown rules fire rarely, so they are judged on this many times `selection_episodes`.
const EXTENSION: usize = 10;
/// Episodes by which improvement compares policies, of each size.
const IMPROVEMENT_EPISODES: usize = 200;
/// Improvement is not worth beginning with fewer steps than this.
const LEAST_LEFT: u64 = 20_000;
/// An improved policy has to earn more by so many standard errors.
const CLEARLY: f64 = 2.0;
/// The share of the steps taken so far by which a policy on which short restarts agree is looked at once more.
const LAST_LOOK: u64 = 8;

/// What improvement has made of a policy.
struct Finish {
    policy: Policy,
    /// The alphabet that it speaks.
    alphabet: Arc<Alphabet>,
    steps: u64,
    widenings: Vec<WideningStep>,
    success: f64,
    by_chance: bool,
}

/// What the look at the end of a run comes to.
pub(super) enum Look {
    /// The run has ended.
    Ended(Ending),
    /// A few episodes succeeded by luck: the run, with the share of successes in more of them, goes on.
    ByLuck(Checkpoint),
}

/// A policy on which short restarts agree, tried in more episodes.
struct Confirmed {
    finish: Finish,
    /// The share of successes of the policy that was looked at, and of the scout's if that was looked at as well.
    success: (f64, Option<f64>),
}

/// What every part of the end needs to know.
#[derive(Clone, Copy)]
struct Part<'q> {
    seed: u64,
    pace: Pace,
    questions: &'q Rc<Questions<'q>>,
}

impl Search<'_> {
    /// The chosen policy, with rules added for uncovered states if slots remain and the return improves. A policy on which short
    /// restarts agree by luck is left to longer ones.
    pub(super) fn complete(
        &self,
        seed: u64,
        run: &Checkpoint,
        number: usize,
        (terms, tongues): (Terms, Tongues),
        questions: &Rc<Questions<'_>>,
    ) -> Result<Look, Error> {
        let chosen = &run.done[number];
        let tried = tried(run, chosen, tongues);
        let search = self.in_language_of(chosen.restart as usize, tongues).0;
        Ok(match search.end(seed, run, number, terms, questions)? {
            Look::Ended(ending) => {
                let widenings = tried.into_iter().chain(ending.widenings).collect();
                Look::Ended(Ending { widenings, ..ending })
            }
            by_luck @ Look::ByLuck(_) => by_luck,
        })
    }

    /// The same, in the language of this search.
    fn end(
        &self,
        seed: u64,
        run: &Checkpoint,
        number: usize,
        terms: Terms,
        questions: &Rc<Questions<'_>>,
    ) -> Result<Look, Error> {
        let chosen = &run.done[number];
        let by_gradient = self.read(&chosen.simplified)?.0;
        let scouted = self.scouted(run);
        let ahead = run.scout.as_ref().is_some_and(|s| {
            let (gap, noise) = advantage(&s.returns, &chosen.returns);
            gap > noise + 1e-9
        });
        let mut policy = scouted.clone().filter(|_| ahead).unwrap_or_else(|| by_gradient.clone());
        let pace = Pace { steps: chosen.steps - chosen.selection_steps, episodes: chosen.episodes };
        let part = Part { seed, pace, questions };
        let mut grown = 0;
        // What short restarts and the scout agree on is solved: nothing is left to grow.
        let success = run.scout.as_ref().filter(|_| ahead).map_or(chosen.success, |s| s.success);
        let mut early = terms.decided && run.done.len() <= short_restarts(self.config) && success >= SOLVED;
        let sizes = match self.make_sizes.filter(|_| self.config.improve && !terms.costly) {
            Some(make) => make()?,
            None => Sizes::default(),
        };
        let confirmed = if early && sizes.given.is_empty() {
            Some(self.confirm(policy.clone(), run, part)?)
        } else {
            None
        };
        // A few episodes that all succeed may do so by luck.
        early &= confirmed.as_ref().is_none_or(|c| c.finish.success >= SOLVED);
        let mut looked = 0;
        if let Some(confirmed) = confirmed.as_ref().filter(|_| !early) {
            if run.done.len() < terms.budget.restarts {
                return Ok(Look::ByLuck(by_luck(run, number, ahead, confirmed)));
            }
            looked = confirmed.finish.steps;
            policy = confirmed.finish.policy.clone();
        }
        if self.config.grow && !early && !terms.costly && !free_actions(&policy, self.problem).is_empty() {
            let mut env = (self.make_env)()?;
            let stop = || self.observer.interrupted();
            let mut env = Counted::until(env.as_mut(), &stop);
            env.limit(terms.budget.total.saturating_sub(run.steps() + looked));
            policy = self.extend(&policy, &mut env, part)?;
            grown = env.taken();
        }
        grown += looked;
        let by_growth = policy.clone();
        let left = terms.budget.total.saturating_sub(run.steps() + grown);
        let finish = match confirmed.filter(|_| early) {
            Some(confirmed) => confirmed.finish,
            None => self.improve(policy, sizes, terms, left, part)?,
        };
        let mut widenings = finish.widenings;
        if let Some(scout) = run.scout.as_ref().filter(|_| ahead) {
            widenings.splice(0..0, scout.widenings.iter().cloned());
        }
        let has = |policy: &Policy, rule: &Rule| {
            policy.rules.iter().any(|r| r.action == rule.action && r.body == rule.body)
        };
        let origin = |rule: &Rule| match () {
            () if self.problem.is_frozen(rule) => Origin::Given,
            () if has(&by_gradient, rule) => Origin::Gradient,
            () if scouted.as_ref().is_some_and(|s| has(s, rule)) => Origin::Improvement,
            () if has(&by_growth, rule) => Origin::Growth,
            () => Origin::Improvement,
        };
        Ok(Look::Ended(Ending {
            origins: finish.policy.rules.iter().map(origin).collect(),
            policy: finish.policy.display(&finish.alphabet).to_string(),
            restart: chosen.restart,
            steps: grown + finish.steps,
            widenings,
            success: finish.success,
            by_chance: finish.by_chance || run.scout.as_ref().is_some_and(|s| s.by_chance),
        }))
    }

    /// What a run has learned, by its end.
    pub(super) fn learned(&self, run: &Checkpoint, ending: &Ending) -> Result<Learned, Error> {
        let (policy, alphabet) = self.read(&ending.policy)?;
        // Rules about numbers come from no restart.
        let unsimplified = match run.done.iter().find(|d| d.restart == ending.restart) {
            Some(chosen) => self.read(&chosen.learned)?.0,
            None => policy.clone(),
        };
        Ok(Learned {
            policy,
            alphabet,
            unsimplified,
            restart: ending.restart,
            steps: run.steps() + ending.steps,
            selection_steps: run.selection_steps() + ending.steps,
            origins: ending.origins.clone(),
            widenings: ending.widenings.clone(),
            success: ending.success,
            by_chance: ending.by_chance,
        })
    }

    fn read(&self, text: &str) -> Result<(Policy, Arc<Alphabet>), Error> {
        Policy::read(&Source::new("checkpoint", text), &self.problem.alphabet)
            .map_err(|e| Error::Policy(e.to_string()))
    }

    /// The policy after its rules were edited by regret, if it then earns more; with its share of successes.
    fn improve(
        &self,
        policy: Policy,
        sizes: Sizes,
        terms: Terms,
        left: u64,
        Part { seed, pace, questions }: Part<'_>,
    ) -> Result<Finish, Error> {
        let stop = || self.observer.interrupted();
        let env = (self.make_env)()?;
        let episodes = if terms.costly { env.cost().episodes() } else { self.config.selection_episodes };
        // An eighth of the steps left for each of two policies, and half for improvement.
        let episodes = usize::try_from(left / (8 * pace.length())).unwrap_or(usize::MAX).min(episodes);
        let mut own = vec![env];
        let alphabet = &self.problem.alphabet;
        let mut best = Trial::new(policy, alphabet);
        let mut finish = Finish {
            policy: Policy::default(),
            alphabet: Arc::clone(alphabet),
            steps: 0,
            widenings: Vec::new(),
            success: 0.0,
            by_chance: false,
        };
        if episodes == 0 || own[0].agents() > 1 || terms.costly {
            finish.policy = best.policy;
            return Ok(finish);
        }
        finish.steps += best.extend(&mut own, episodes, seed, questions)?;
        if !self.config.improve || left < LEAST_LEFT {
            (finish.success, finish.policy) = (best.success(0), best.policy);
            return Ok(finish);
        }
        let given = if sizes.given.is_empty() { vec![(self.make_env)()?] } else { sizes.given };
        self.observer.improving(seed);
        let limit = left / 2;
        let improver = Improver::new(self.problem, given, seed, IMPROVEMENT_EPISODES.min(episodes), &stop);
        let improver = improver.and_larger(sizes.made_up).within(limit).asking(questions);
        let improved = improver.run(Some(&best.policy))?;
        if stop() {
            return Err(Error::Interrupted);
        }
        finish.steps += improved.steps;
        finish.widenings = improved.widenings;
        finish.by_chance = improved.by_chance;
        if improved.policy != best.policy {
            let mut rival = Trial::new(improved.policy, &improved.alphabet);
            finish.steps += rival.extend(&mut own, episodes, seed, questions)?;
            // It was chosen among several that were close: it has to win clearly, or be better on larger instances.
            rival.instances = vec![starts(own[0].as_mut(), alphabet, episodes, seed)];
            let (gap, noise) = rival.advantage(&best);
            let larger = improved.success.len() > 1;
            let as_good = gap >= -CLEARLY * noise - 1e-9 && larger;
            // Predicates are invented where larger instances need them, and rules that fit only these may earn more in them; so may
            // rules that fail in others like them.
            let invents = rival.alphabet.predicates.len() > alphabet.predicates.len();
            let general = (invents || improved.safer) && rival.success(0) >= best.success(0);
            if gap > CLEARLY * noise + 1e-9 || as_good || general {
                best = rival;
            }
        }
        finish.success = best.success(0);
        (finish.policy, finish.alphabet) = (best.policy, best.alphabet);
        strongest_first(&mut finish.policy);
        Ok(finish)
    }

    /// The policy of the scout, where there is one.
    fn scouted(&self, run: &Checkpoint) -> Option<Policy> {
        let text = &run.scout.as_ref()?.policy;
        let policy = Policy::parse(&Source::new("scout", text.as_str()), &self.problem.alphabet).ok()?;
        (!policy.rules.is_empty()).then_some(policy)
    }

    /// The policy as it is, or the scout's if that is shorter and earns as much; with its share of successes.
    fn confirm(
        &self,
        policy: Policy,
        run: &Checkpoint,
        Part { seed, pace, questions }: Part<'_>,
    ) -> Result<Confirmed, Error> {
        let alphabet = &self.problem.alphabet;
        let steps = run.steps() / LAST_LOOK;
        let solves = run.scout.as_ref().is_some_and(|s| s.success >= SOLVED && s.length < length(&policy));
        let scouted = self.scouted(run).filter(|_| solves);
        let candidates = 1 + u64::from(scouted.is_some());
        let episodes = usize::try_from(steps / (candidates * pace.length())).unwrap_or(usize::MAX);
        let episodes = episodes.clamp(1, self.config.selection_episodes);
        let mut own = vec![(self.make_env)()?];
        let mut best = Trial::new(policy, alphabet);
        let mut steps = best.extend(&mut own, episodes, seed, questions)?;
        let mut success = (best.success(0), None);
        if let Some(scouted) = scouted {
            let mut rival = Trial::new(scouted, alphabet);
            steps += rival.extend(&mut own, episodes, seed, questions)?;
            success.1 = Some(rival.success(0));
            let (gap, noise) = advantage(&rival.returns(), &best.returns());
            if gap >= -noise - 1e-9 {
                best = rival;
            }
        }
        let finish = Finish {
            steps,
            widenings: Vec::new(),
            success: best.success(0),
            by_chance: false,
            policy: best.policy,
            alphabet: best.alphabet,
        };
        Ok(Confirmed { finish, success })
    }

    /// The policy with more rules, as long as they earn more.
    fn extend(
        &self,
        policy: &Policy,
        env: &mut Counted<'_>,
        Part { seed, pace, questions }: Part<'_>,
    ) -> Result<Policy, Error> {
        let alphabet = &self.problem.alphabet;
        let most = EXTENSION * self.config.selection_episodes;
        let mut rng = Purpose::Growth.rng(seed);
        // Half of the steps left, if they are limited, are for what may be grown.
        let half = |env: &Counted<'_>| env.left() / 2;
        if env.left() == 0 {
            return Ok(policy.clone());
        }
        let episodes = pace.episodes_within(half(env), policy, most);
        let mut best =
            self.refine(policy, &mut Judge::new(alphabet, env, episodes, seed).asking(questions))?;
        while let Some(grown) = grow(&best.policy, self.problem, self.config, env, &mut rng)? {
            if env.left() == 0 {
                break;
            }
            // Both are judged on as many episodes.
            let episodes = pace.episodes_within(env.left(), &grown, best.returns.len());
            let mut judge = Judge::new(alphabet, env, episodes, seed).asking(questions);
            let refined = self.refine(&grown, &mut judge)?;
            let (gain, noise) = advantage(&refined.returns, &best.returns);
            if gain <= noise {
                break;
            }
            best = refined;
        }
        strongest_first(&mut best.policy);
        Ok(best.policy)
    }

    /// The policy refined, if that is asked for, and judged.
    pub(super) fn refine(&self, policy: &Policy, judge: &mut Judge<'_, '_>) -> Result<Judged, Error> {
        if self.config.refine {
            refine(policy, judge, &|rule| self.problem.is_frozen(rule))
        } else {
            judge.judge(policy.clone())
        }
    }
}

/// The run, with the share of successes in more episodes for the restart of this number, or for the scout if that is ahead.
fn by_luck(run: &Checkpoint, number: usize, ahead: bool, confirmed: &Confirmed) -> Checkpoint {
    let mut run = Checkpoint { diary: None, ..run.clone() };
    let (policy, scouted) = confirmed.success;
    let chosen = &mut run.done[number];
    chosen.steps += confirmed.finish.steps;
    chosen.selection_steps += confirmed.finish.steps;
    if !ahead {
        chosen.success = policy;
    }
    if let Some((scout, success)) = run.scout.as_mut().zip(if ahead { Some(policy) } else { scouted }) {
        scout.success = success;
    }
    run
}
