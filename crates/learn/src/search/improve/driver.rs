//! Rounds of exploring and editing; a result is kept only if it earns more.

use std::rc::Rc;
use std::sync::Arc;

use derrl_env::{Env, Rng};
use derrl_logic::{Alphabet, Policy, Source};
use serde::{Deserialize, Serialize};

use super::arrange::neighbours;
use super::draft::{Levels, are_of, levels_of, policy_of};
use super::edit::edit;
use super::explore::{Extent, Follow, PROBES, explore, follow};
use super::regret::{MOST_STATES, Regrets};
use super::table::Table;
use super::trial::{Trial, starts};
use super::widen::{Language, Widening};
use crate::act::actor::Actor;
use crate::act::score::{SOLVED, go_astray, mean_stderr, selection_streams};
use crate::error::Error;
use crate::experience::counted::Counted;
use crate::language::problem::Problem;
use crate::search::diary::Questions;
use crate::settings::streams::Purpose;

/// Discounts tried: near 1, a step of a loop costs almost nothing beside a crash; far from 1, a crash is not worth a detour.
pub(super) const DISCOUNTS: [f64; 3] = [0.99, 0.95, 0.8];
/// Rounds for each size, at the most.
const ROUNDS: usize = 6;
/// Instances explored in the first round; twice as many in each later one.
const INSTANCES: usize = 8;
/// From the size after this one on, rules are only repaired, in so many rounds.
const LATE: usize = 2;
const LATE_ROUNDS: usize = 2;
/// Environment steps per instance.
const STEPS: u64 = 3000;
/// Environment steps of a run, at the most and about. Where instances are made up four times as many: half of them are kept for these,
/// and a world with a few problems to learn from is worth the other half.
const MOST_STEPS: u64 = 1_000_000;
/// Two steps to a wider language at once, of which there are many, leave one in so many steps to the rest.
const PAIRS_LEAVE: u64 = 3;
/// Inventing predicates has one in so many steps more.
pub(super) const INVENTION_SHARE: u64 = 3;
/// Repairing what a second look found has one in so many steps more.
const REPAIR_SHARE: u64 = 16;
/// A policy that loses less than this share of what acting at random loses has nothing to gain by a wider language.
const RESIDUE: f64 = 0.002;
/// Rules that lose more than this share are not repaired only: others are looked for from nothing, in large instances too.
pub(super) const MUCH: f64 = 0.05;
/// Ways to put objects for the variables of a wider language, over all states that are looked at, at the most.
const MOST_SUBSTITUTIONS: f64 = 5e7;
/// Invented predicates of a policy, at the most.
pub(super) const INVENTIONS: usize = 2;
/// One that loses less than this share has nothing to gain at all.
const SETTLED: f64 = 1e-6;
/// Episodes of a size that fail when they start astray, of which others are explored in the same place, at the most.
const FAILURES: usize = 8;
/// Episodes by which orders of rules are told apart at first, and policies in instances that are made up: these take long.
const GLANCE: usize = 50;

/// A step to a wider language that was tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WideningStep {
    /// The step.
    pub to: Widening,
    /// The mean return before and after.
    pub before: f64,
    /// The mean return with the wider language.
    pub after: f64,
    /// Whether it was kept.
    pub kept: bool,
}

/// A policy found by editing rules.
#[derive(Clone, Debug)]
pub struct Improved {
    /// The policy.
    pub policy: Policy,
    /// The alphabet that it speaks: that of the problem, with the predicates that were invented.
    pub alphabet: Arc<Alphabet>,
    /// Its returns in the judge's episodes, smaller instances first.
    pub returns: Vec<f64>,
    /// The share of episodes that succeeded, by size.
    pub success: Vec<f64>,
    /// Environment steps of exploration and comparison.
    pub steps: u64,
    /// The steps to wider languages.
    pub widenings: Vec<WideningStep>,
    /// Whether an action in one state brought now this, now that.
    pub by_chance: bool,
    /// Whether it succeeds where the policy that it started from fails, and nowhere less often.
    pub safer: bool,
}

/// Improves policies on the instances of one training task.
pub struct Improver<'a> {
    /// The problem as it was given.
    pub(super) given: Arc<Problem>,
    pub(super) language: Language,
    /// Instances to train on, the smallest first.
    pub(super) sizes: Vec<Box<dyn Env>>,
    /// How many of them are given; those after them were made up, and it is not known whether they can be solved.
    pub(super) of_world: usize,
    /// Those that were made up, while others are not solved and all steps are for these.
    set_aside: Vec<Box<dyn Env>>,
    /// How many of the sizes are explored; policies are compared on one more.
    pub(super) trained: usize,
    seed: u64,
    episodes: usize,
    pub(super) stop: &'a dyn Fn() -> bool,
    pub(super) questions: Rc<Questions<'a>>,
    /// Environment steps after which nothing more is explored.
    pub(super) limit: u64,
    /// How many of them are kept for inventing predicates.
    pub(super) kept: u64,
    /// Predicates that it may invent.
    pub(super) inventions: usize,
    /// Second looks that may still be taken.
    pub(super) looks: usize,
    /// Whether the language is a new one, so that nothing is settled.
    pub(super) anew: bool,
    /// Whether policies are compared in episodes that start astray, too.
    strays: bool,
    pub(super) table: Table,
    pub(super) rng: Rng,
    steps: u64,
    /// The discount that did best so far.
    pub(super) gamma: Option<f64>,
    pub(super) widenings: Vec<WideningStep>,
    /// Policies that were tried, on as many sizes as there were, and the languages in which they were found.
    tried: Vec<(Trial, Language)>,
    /// Which instance each episode starts in by which they are compared, size by size.
    instances: Vec<Arc<[u32]>>,
    /// Whether all policies tried were compared on the largest instances.
    reconsidered: bool,
}

impl<'a> Improver<'a> {
    /// An improver that has seen nothing yet, for training instances by size, the smallest first. Policies are compared over
    /// `episodes` episodes of each size.
    pub fn new(
        problem: &Arc<Problem>,
        sizes: Vec<Box<dyn Env>>,
        seed: u64,
        episodes: usize,
        stop: &'a dyn Fn() -> bool,
    ) -> Improver<'a> {
        Improver {
            table: Table::new(&problem.alphabet),
            rng: Purpose::Improvement.rng(seed),
            given: Arc::clone(problem),
            language: Language::start(problem),
            of_world: sizes.len(),
            set_aside: Vec::new(),
            sizes,
            trained: 1,
            seed,
            episodes,
            stop,
            questions: Rc::new(Questions::until(stop)),
            limit: MOST_STEPS + MOST_STEPS / INVENTION_SHARE,
            kept: MOST_STEPS / INVENTION_SHARE,
            inventions: INVENTIONS,
            looks: 1,
            anew: false,
            strays: true,
            steps: 0,
            gamma: None,
            widenings: Vec::new(),
            tried: Vec::new(),
            instances: Vec::new(),
            reconsidered: false,
        }
    }

    /// The same, with questions whose answers are kept.
    #[must_use]
    pub(crate) fn asking(mut self, questions: &Rc<Questions<'a>>) -> Improver<'a> {
        self.questions = Rc::clone(questions);
        self
    }

    /// The same for a first look: it invents no predicates, looks no second time, and compares policies only where instances start.
    #[must_use]
    pub fn at_first_sight(mut self) -> Improver<'a> {
        (self.inventions, self.looks, self.kept) = (0, 0, 0);
        self.strays = false;
        self
    }

    /// The same, with larger instances that were made up.
    #[must_use]
    pub fn and_larger(mut self, sizes: Vec<Box<dyn Env>>) -> Improver<'a> {
        self.sizes.extend(sizes);
        if self.sizes.len() > self.of_world {
            (self.limit, self.kept) = (4 * self.limit, 4 * self.kept);
        }
        self
    }

    /// The same, to take no more than about this many environment steps.
    #[must_use]
    pub fn within(mut self, steps: u64) -> Improver<'a> {
        self.limit = self.limit.min(steps);
        self.kept = self.kept.min(self.limit / (1 + INVENTION_SHARE));
        self
    }

    /// The best policy found, starting from one or from none. It is the given one where no other earns more.
    pub fn run(mut self, start: Option<&Policy>) -> Result<Improved, Error> {
        let mut first = self.tried(start.cloned().unwrap_or_default())?;
        let mut best = first.clone();
        if self.sizes.iter().all(|env| env.agents() == 1) {
            loop {
                // Another order is the simplest repair.
                if self.is_late() && best.fails_anywhere() {
                    best = self.arrange(best)?;
                }
                best = self.rounds(best)?;
                if !self.language.speaks(&best.policy) {
                    best = self.rounds_in_its_language(best)?;
                }
                if !self.is_late() || self.falls_short(&best) {
                    best = self.widen(best)?;
                }
                if self.trained == self.of_world || self.is_exhausted() {
                    best = self.find_ways(best)?;
                }
                if self.trained >= LATE.min(self.sizes.len()) {
                    best = self.invent(best)?;
                }
                if self.is_exhausted() && self.keeps_half() {
                    if self.falls_short(&best) {
                        // What was kept is needed where the world itself is not solved.
                        self.set_aside = self.sizes.split_off(self.of_world);
                        continue;
                    }
                    // Those that are made up come next, with what was kept for them.
                    self.trained = self.of_world;
                } else if self.trained == self.sizes.len() || self.is_exhausted() {
                    // Larger instances may need what smaller ones did not.
                    if self.is_late() && !self.falls_short(&best) {
                        best = self.widen(best)?;
                    }
                    best = self.arrange(best)?;
                    break;
                }
                self.trained += 1;
                self.extend(&mut best)?;
                if best.results.len() == self.sizes.len() && !self.reconsidered {
                    self.reconsidered = true;
                    best = self.reconsider(best)?;
                }
            }
            if let Some((better, language)) = self.look_again(&best)? {
                self.language = language;
                best = self.repair(better)?;
            }
        }
        let success: Vec<f64> = (0..best.results.len()).map(|size| best.success(size)).collect();
        let mut safer = false;
        if best.policy != first.policy {
            self.extend(&mut first)?;
            safer = best.is_safer(&first, self.of_world);
        }
        let text = best.policy.display_needed(&best.alphabet).to_string();
        let (policy, alphabet) = Policy::read(&Source::new("learned rules", text), &self.given.alphabet)
            .map_err(|e| Error::Policy(e.to_string()))?;
        Ok(Improved {
            returns: best.returns(),
            success,
            policy,
            alphabet,
            steps: self.spent(),
            widenings: self.widenings,
            by_chance: self.table.by_chance,
            safer,
        })
    }

    /// What a second look found is what small instances say: larger ones may still repair it.
    fn repair(&mut self, mut best: Trial) -> Result<Trial, Error> {
        self.limit = self.limit.max(self.spent() + self.kept) + self.limit / REPAIR_SHARE;
        if !self.falls_short(&best) {
            self.sizes.append(&mut self.set_aside);
        }
        self.trained = self.sizes.len();
        self.extend(&mut best)?;
        if !self.reconsidered {
            best = self.reconsider(best)?;
        }
        best = self.rounds(best)?;
        self.arrange(best)
    }

    /// Whether the language was settled on smaller instances, so that larger ones only repair the rules.
    pub(super) fn is_late(&self) -> bool {
        self.trained > LATE && !self.anew
    }

    /// Whether a policy fails in instances of some size that is given.
    fn falls_short(&self, of: &Trial) -> bool {
        (0..of.results.len().min(self.of_world)).any(|size| of.success(size) < SOLVED)
    }

    pub(super) fn is_exhausted(&self) -> bool {
        self.left() == 0 || (self.stop)()
    }

    /// Whether half of the steps are kept for instances that are made up.
    fn keeps_half(&self) -> bool {
        self.trained <= self.of_world && self.of_world < self.sizes.len() && !(self.stop)()
    }

    /// Counts environment steps that were taken apart from the table.
    pub(super) fn take(&mut self, steps: u64) {
        self.steps += steps;
    }

    /// All environment steps taken so far.
    pub(super) fn spent(&self) -> u64 {
        self.steps + self.table.steps
    }

    /// The environment steps that may be taken with the sizes of now.
    pub(super) fn left(&self) -> u64 {
        let limit = self.limit - self.kept;
        let limit = if self.keeps_half() { limit / 2 } else { limit };
        limit.saturating_sub(self.spent())
    }

    /// Explores and edits until that helps no more.
    pub(super) fn rounds(&mut self, mut best: Trial) -> Result<Trial, Error> {
        let mut instances = INSTANCES;
        let mut idle = 0;
        for round in 0..if self.is_late() { LATE_ROUNDS } else { ROUNDS } {
            if self.is_exhausted() {
                break;
            }
            let known = self.table.len();
            self.explore(&best, instances)?;
            instances *= 2;
            let news = self.table.len() > known;
            if self.is_settled(&best)? {
                break;
            }
            match self.candidate(&best.policy)? {
                Some((rival, gamma)) if rival.beats(&best) => {
                    (best, idle, self.gamma) = (rival, 0, Some(gamma));
                }
                _ => {
                    idle += 1;
                    self.gamma = self.gamma.filter(|_| self.is_late());
                }
            }
            if idle >= 2 || !news && idle > 0 && round > 0 {
                break;
            }
        }
        Ok(best)
    }

    /// The same in a language that has the atoms of a policy. It may have come from elsewhere, with a language of its own.
    fn rounds_in_its_language(&mut self, best: Trial) -> Result<Trial, Error> {
        let Some(language) = Language::of(&self.given, &best.policy)?.filter(|l| self.is_bearable(l)) else {
            return Ok(best);
        };
        self.language = language;
        self.rounds(best)
    }

    /// Whether a policy succeeds in all instances that are explored and loses nothing on what was seen.
    fn is_settled(&mut self, best: &Trial) -> Result<bool, Error> {
        Ok((0..self.trained).all(|size| best.success(size) == 1.0)
            && !best.policy.rules.is_empty()
            && self.residue(&best.policy, self.gamma.unwrap_or(DISCOUNTS[0]))? < SETTLED)
    }

    /// Widens the language for as long as the policy then earns more.
    fn widen(&mut self, mut best: Trial) -> Result<Trial, Error> {
        loop {
            let steps = self.ways_to_widen(&best)?;
            let before = mean_stderr(&best.returns()).0;
            let mut kept = false;
            for step in steps {
                let gamma = self.gamma.unwrap_or(DISCOUNTS[0]);
                let pairs_end = step.len() > 1 && self.left() < self.limit / PAIRS_LEAVE;
                if self.is_exhausted() || pairs_end || self.residue(&best.policy, gamma)? < RESIDUE {
                    return Ok(best);
                }
                let Some(wider) = self.wider(&step)? else { continue };
                let narrow = std::mem::replace(&mut self.language, wider);
                let rival = self.candidate(&best.policy)?;
                let after = rival.as_ref().map_or(before, |(r, _)| mean_stderr(&r.returns()).0);
                // Of many wider languages one is ahead by chance.
                let tempting = step.len() > 1 && !self.falls_short(&best);
                let better = rival.filter(|(r, _)| r.is_ahead(&best) && (!tempting || r.is_far_ahead(&best)));
                let kept_now = better.is_some();
                let note = |to| WideningStep { to, before, after, kept: kept_now };
                self.widenings.extend(step.into_iter().map(note));
                match better {
                    Some((rival, gamma)) => {
                        (best, self.gamma) = (rival, Some(gamma));
                        kept = true;
                        break;
                    }
                    None => self.language = narrow,
                }
            }
            if !kept {
                return Ok(best);
            }
            best = self.rounds(best)?;
        }
    }

    /// The steps to try, alone; and two at once where the policy fails in larger instances or loses much there, since one may be of
    /// no use without the other.
    fn ways_to_widen(&mut self, best: &Trial) -> Result<Vec<Vec<Widening>>, Error> {
        let single = self.language.steps();
        let mut ways: Vec<Vec<Widening>> = single.iter().map(|step| vec![step.clone()]).collect();
        if self.sizes.len() < 2 {
            return Ok(ways);
        }
        let gamma = self.gamma.unwrap_or(DISCOUNTS[0]);
        if self.falls_short(best) || self.is_late() && self.residue(&best.policy, gamma)? > MUCH {
            for (i, first) in single.iter().enumerate() {
                let Some(wider) = self.language.wider(first)? else { continue };
                let second = wider.steps().into_iter().filter(|step| !single[..i].contains(step));
                ways.extend(second.map(|second| vec![first.clone(), second]));
            }
        }
        Ok(ways)
    }

    /// The language after all these steps; `None` where the domain file rules one out or it would be too wide to search.
    fn wider(&self, steps: &[Widening]) -> Result<Option<Language>, Error> {
        let mut wider = None;
        for step in steps {
            let Some(next) = wider.as_ref().unwrap_or(&self.language).wider(step)? else { return Ok(None) };
            wider = Some(next);
        }
        let adds = |step: &Widening| matches!(step, Widening::Variables(_));
        Ok(wider.filter(|l| !steps.iter().any(adds) || self.is_bearable(l)))
    }

    /// Whether the variables of a language can be put in as many states as are compared.
    pub(super) fn is_bearable(&self, language: &Language) -> bool {
        // States beyond a number are sampled.
        let share = (MOST_STATES as f64 / self.table.len().max(1) as f64).min(1.0);
        share * self.table.substitutions(&language.problem.alphabet) <= MOST_SUBSTITUTIONS
    }

    /// The best order of the rules by what they earn on the largest instances. Small ones hardly tell orders apart.
    fn arrange(&mut self, mut best: Trial) -> Result<Trial, Error> {
        if self.sizes.len() < 2 {
            return Ok(best);
        }
        let problem = Arc::clone(&self.language.problem);
        let mut seen: Vec<Policy> = vec![best.policy.clone()];
        while let Some(levels) = levels_of(&best.policy, &problem) {
            let mut moved = false;
            for policy in neighbours(&levels).iter().filter_map(|l| policy_of(l, &problem)) {
                if self.is_exhausted() {
                    return Ok(best);
                }
                if seen.contains(&policy) {
                    continue;
                }
                seen.push(policy.clone());
                if self.looks_better(&policy, &best)? {
                    let rival = self.tried(policy)?;
                    if rival.beats(&best) {
                        (best, moved) = (rival, true);
                        break;
                    }
                }
            }
            if !moved {
                break;
            }
        }
        Ok(best)
    }

    /// The best of all policies tried that solve smaller instances, on the largest ones: the others hardly told them apart.
    fn reconsider(&mut self, mut best: Trial) -> Result<Trial, Error> {
        let larger = self.sizes.len() - 1;
        let solves = |t: &Trial| (0..t.results.len().min(larger)).all(|size| t.success(size) >= SOLVED);
        let rivals: Vec<(Trial, Language)> = self
            .tried
            .iter()
            .filter(|(t, _)| solves(t) && !t.is_of(&best.policy, &best.alphabet))
            .map(|(t, language)| (t.clone(), language.afresh()))
            .collect();
        for (rival, language) in rivals {
            if self.is_exhausted() {
                break;
            }
            let mut glance = Trial::new(rival.policy.clone(), &rival.alphabet).going_astray();
            let episodes = GLANCE.min(self.episodes);
            let sizes = &mut self.sizes[larger..=larger];
            self.steps += glance.extend(sizes, episodes, self.seed, &self.questions)?;
            if !glance.is_ahead(&best.part(larger, episodes)) {
                continue;
            }
            let held = std::mem::replace(&mut self.language, language);
            let rival = self.tried(rival.policy)?;
            if rival.beats(&best) {
                best = rival;
            } else {
                self.language = held;
            }
        }
        Ok(best)
    }

    /// Whether a policy does better than the best so far at first sight: where that fails when it starts astray, or else in the first
    /// episodes of the largest size.
    fn looks_better(&mut self, policy: &Policy, best: &Trial) -> Result<bool, Error> {
        let questions = Rc::clone(&self.questions);
        let (better, steps) = questions.ask("look", |_| true, || self.look(policy, best))?;
        self.steps += steps;
        Ok(better)
    }

    /// The same, with the steps that it takes.
    fn look(&mut self, policy: &Policy, best: &Trial) -> Result<(bool, u64), Error> {
        let sizes = best.results.len();
        let lost = |size: usize| best.lost_astray(size).take(FAILURES).map(move |i| (size, i));
        let lost: Vec<(usize, u64)> = (0..sizes).flat_map(lost).collect();
        let mut trial = self.trial(policy.clone());
        if lost.is_empty() {
            let episodes = GLANCE.min(self.episodes);
            let steps =
                trial.extend(&mut self.sizes[sizes - 1..sizes], episodes, self.seed, &self.questions)?;
            return Ok((trial.is_ahead(&best.part(sizes - 1, episodes)), steps));
        }
        let (mut won, mut steps) = (0, 0);
        for &(size, i) in &lost {
            let mut env = Counted::until(self.sizes[size].as_mut(), self.stop);
            won += trial.astray(&mut env, self.seed, [i])?.iter().filter(|r| r.success).count();
            steps += env.taken();
        }
        Ok((2 * won > lost.len(), steps))
    }

    /// What a policy loses on what was seen, as a share of what acting at random loses.
    pub(super) fn residue(&mut self, policy: &Policy, gamma: f64) -> Result<f64, Error> {
        let questions = Rc::clone(&self.questions);
        let (share, rng) = questions.ask(
            "residue",
            |_| true,
            || {
                let problem = Arc::clone(&self.language.problem);
                let regrets =
                    Regrets::new(&problem, &self.table, &mut self.language.groundings, gamma, &mut self.rng);
                // Of rules in another language it is not known what they lose.
                let lost = |levels| regrets.lost(&levels) / regrets.lost(&Vec::new());
                let share =
                    if regrets.is_empty() { 0.0 } else { levels_of(policy, &problem).map_or(1.0, lost) };
                Ok((share, self.rng.clone()))
            },
        )?;
        self.rng = rng;
        Ok(share)
    }

    fn explore(&mut self, best: &Trial, instances: usize) -> Result<(), Error> {
        let policy = &best.policy;
        self.table.forget_visits();
        let alphabet = Arc::clone(&self.language.problem.alphabet);
        let mut actor = Actor::new(policy, &alphabet);
        let (left, before) = (self.left(), self.table.steps);
        for (size, env) in self.sizes[..self.trained].iter_mut().enumerate() {
            let followed = (!policy.rules.is_empty()).then_some(&mut actor);
            let left = left.saturating_sub(self.table.steps - before);
            let instances = instances.div_ceil(self.trained);
            // Half of what is left is kept for comparing what is found.
            let steps = STEPS.min(left / (2 * instances as u64));
            // In large instances what walks come to leads nowhere that is known.
            let walks = if size < LATE || policy.rules.is_empty() { steps } else { 0 };
            let extent = Extent { instances, steps, walks };
            explore(&mut self.table, env.as_mut(), followed, extent, &mut self.rng, self.stop)?;
        }
        // Where it fails is where most is to be learned.
        for (size, env) in self.sizes[..self.trained].iter_mut().enumerate() {
            for lost in best.lost_astray(size).take(FAILURES) {
                for probe in std::iter::once(false).chain([true; PROBES]) {
                    if self.table.is_full() || (self.stop)() {
                        return Ok(());
                    }
                    let mut world = selection_streams(self.seed, lost).0;
                    let stray = Purpose::Stray(lost).rng(self.seed);
                    let mut counted = Counted::until(env.as_mut(), self.stop);
                    let goes_on = go_astray(&mut counted, &mut world, stray, &alphabet);
                    self.steps += counted.taken();
                    if goes_on {
                        follow(
                            &mut self.table,
                            env.as_mut(),
                            &mut actor,
                            Follow { probe, stray: 0 },
                            &mut self.rng,
                        )?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The best of the policies that editing finds, from these rules and from none, with its discount.
    fn candidate(&mut self, from: &Policy) -> Result<Option<(Trial, f64)>, Error> {
        let problem = Arc::clone(&self.language.problem);
        let mut found: Vec<(Policy, f64)> = Vec::new();
        let gamma = self.gamma.or(self.is_late().then_some(DISCOUNTS[0]));
        let discounts = gamma.map_or(DISCOUNTS.to_vec(), |gamma| vec![gamma]);
        for gamma in discounts {
            for levels in self.edits(from, gamma)? {
                if let Some(policy) = policy_of(&levels, &problem)
                    && !policy.rules.is_empty()
                    && policy != *from
                    && !found.iter().any(|f| f.0 == policy)
                {
                    found.push((policy, gamma));
                }
            }
        }
        let mut best: Option<(Trial, f64)> = None;
        for (policy, gamma) in found {
            if best.is_some() && self.is_exhausted() {
                break;
            }
            let trial = self.tried(policy)?;
            if best.as_ref().is_none_or(|(b, _)| trial.beats(b)) {
                best = Some((trial, gamma));
            }
        }
        Ok(best)
    }

    /// What editing finds at this discount, from these rules and from none; only from these where the language is settled and
    /// they lose little.
    fn edits(&mut self, from: &Policy, gamma: f64) -> Result<Vec<Levels>, Error> {
        let problem = Arc::clone(&self.language.problem);
        let questions = Rc::clone(&self.questions);
        let fits = |levels: &Levels| are_of(levels, &problem);
        let fit = |(all, _): &(Vec<Levels>, Rng)| all.iter().all(fits);
        let (found, rng) = questions.ask("edits", fit, || {
            let regrets =
                Regrets::new(&problem, &self.table, &mut self.language.groundings, gamma, &mut self.rng);
            let mut found = Vec::new();
            if !regrets.is_empty() {
                let mut starts: Vec<Levels> = Vec::new();
                starts.extend(levels_of(from, &problem).filter(|l| !l.is_empty()));
                let lost = starts.first().map_or(1.0, |l| regrets.lost(l) / regrets.lost(&Vec::new()));
                if !self.is_late() || lost > MUCH {
                    starts.push(Vec::new());
                }
                let (reach, stop) = (self.language.reach, self.stop);
                let edited = |start| questions.ask("edit", fits, || Ok(edit(&regrets, start, reach, stop)));
                found = starts.into_iter().map(edited).collect::<Result<_, _>>()?;
            }
            Ok((found, self.rng.clone()))
        })?;
        self.rng = rng;
        Ok(found)
    }

    /// A policy that was not tried yet.
    fn trial(&self, policy: Policy) -> Trial {
        let trial = Trial::new(policy, &self.language.problem.alphabet);
        if self.strays { trial.going_astray() } else { trial }
    }

    pub(super) fn tried(&mut self, policy: Policy) -> Result<Trial, Error> {
        let alphabet = Arc::clone(&self.language.problem.alphabet);
        if let Some((known, _)) = self.tried.iter().find(|(t, _)| t.is_of(&policy, &alphabet)) {
            let mut known = known.clone();
            self.extend(&mut known)?;
            return Ok(known);
        }
        let mut trial = self.trial(policy);
        self.extend(&mut trial)?;
        self.tried.push((trial.clone(), self.language.afresh()));
        Ok(trial)
    }

    /// Runs a policy on the sizes that are explored and one more.
    fn extend(&mut self, trial: &mut Trial) -> Result<(), Error> {
        let sizes = (self.trained + 1).min(self.sizes.len());
        let of_world = sizes.min(self.of_world);
        let few = GLANCE.min(self.episodes);
        let (seed, questions) = (self.seed, &self.questions);
        self.steps += trial.extend(&mut self.sizes[..of_world], self.episodes, seed, questions)?;
        self.steps += trial.extend(&mut self.sizes[..sizes], few, seed, questions)?;
        while self.instances.len() < sizes {
            let size = self.instances.len();
            let episodes = if size < self.of_world { self.episodes } else { few };
            let env = self.sizes[size].as_mut();
            self.instances.push(starts(env, &self.given.alphabet, episodes, self.seed));
        }
        trial.instances = self.instances[..sizes].to_vec();
        Ok(())
    }
}
