//! A run: the loop over what the plan asks for, and races.

use std::sync::Arc;
use std::time::{Duration, Instant};

use derrl_env::{Env, Rng, choices, observe_given};
use derrl_logic::{Alphabet, Facts};

use super::draw::Drawer;
use super::fit;
use super::judge::{Lead, lead, spread, wins_tie};
use super::ledger::{From, Part};
use super::limits::{
    CONFIRMED, ELITES, FARTHEST, FEWEST_RANDOM, FROM_BEST, HARD_FIRST, KEPT_STATES, LONGEST_RACE, MOST_STEPS,
    NEXT_PARENT, NOISE_KEPT, NOTED_EVERY, RACES_PER_INSTANCE, RANDOM_EPISODES, RANDOM_STEPS,
};
use super::list::RuleList;
use super::plan::{Next, next};
use super::play::{Went, World};
use super::record::{Elite, Record};
use super::saved::Saved;
use super::seen::State;
use super::trying::labels;
use super::vocabulary::{Vocabulary, Width};
use crate::act::actor::Actor;
use crate::error::Error;
use crate::search::attempt::CHECKPOINT_EVERY;
use crate::search::checkpoint::Checkpoint;
use crate::search::observer::{Best, Observer};
use crate::settings::streams::Purpose;

/// A run of a seed.
pub struct Run<'a> {
    pub(super) alphabet: Arc<Alphabet>,
    pub(super) world: World<'a>,
    pub(super) record: Record,
    pub(super) rng: Rng,
    seed: u64,
    most: u64,
    observer: &'a dyn Observer,
    stop: &'a dyn Fn() -> bool,
    /// How often a checkpoint is written.
    every: Duration,
}

/// An episode of a list.
#[derive(Clone, Copy, Debug)]
struct Tried {
    went: Went,
    around: f64,
}

impl<'a> Run<'a> {
    /// A run in this world, of so many steps at the most.
    pub fn new(
        alphabet: &Arc<Alphabet>,
        env: Box<dyn Env>,
        seed: u64,
        most: Option<u64>,
        (observer, stop): (&'a dyn Observer, &'a dyn Fn() -> bool),
    ) -> Run<'a> {
        Run {
            alphabet: Arc::clone(alphabet),
            world: World::new(env, seed, stop),
            record: Record::default(),
            rng: Purpose::Move(0).rng(seed),
            seed,
            most: most.unwrap_or(MOST_STEPS),
            observer,
            stop,
            every: CHECKPOINT_EVERY,
        }
    }

    /// Decisions taken so far.
    pub fn steps(&self) -> u64 {
        self.world.ledger.all()
    }

    /// Goes on where an interrupted run was.
    #[must_use]
    pub fn from(mut self, saved: &Saved) -> Run<'a> {
        self.record = saved.record(&self.alphabet);
        (self.world.ledger, self.rng) = (saved.ledger, saved.rng.clone());
        self
    }

    /// Searches until the plan says that it is enough.
    pub fn search(&mut self) -> Result<(), Error> {
        if self.steps() == 0 {
            self.play_at_random()?;
        }
        let mut pause = Pause { since: Instant::now(), every: self.every, long: self.every };
        loop {
            pause.run(|| {
                let saved = Saved::of(&self.record, self.world.ledger, &self.rng, &self.alphabet);
                let racing = Some(Box::new(saved));
                self.observer.checkpoint(self.seed, &Checkpoint { racing, ..Checkpoint::default() });
            });
            self.observer.decided(self.seed, self.steps());
            match next(&self.record, &self.world.ledger, self.most, &mut self.rng) {
                next @ (Next::Draw | Next::Change) => {
                    let parent = (next == Next::Change).then(|| self.parent());
                    let list = self.draw(|drawer, rng| match &parent {
                        Some(parent) => drawer.changed(parent, rng),
                        None => drawer.list(rng),
                    });
                    self.challenge(list)?;
                }
                Next::Try => self.try_actions()?,
                Next::Widen => {
                    self.observer.phase(self.seed, "comparing sums of two numbers");
                    self.record.width = Width::Sums;
                    self.record.changed_at = self.steps();
                }
                Next::Shorten => self.race_shorter()?,
                Next::Confirm => self.confirm()?,
                Next::End => return Ok(()),
            }
        }
    }

    /// Plays at random, to see what values there are.
    fn play_at_random(&mut self) -> Result<(), Error> {
        let mut ranges = Ranges::new(&self.alphabet);
        let (mut earned, mut episodes) = (0.0, 0);
        while episodes < FEWEST_RANDOM || (episodes < RANDOM_EPISODES && self.steps() < RANDOM_STEPS) {
            let (alphabet, seen) = (&self.alphabet, &mut self.record.seen);
            let mut noted = NOTED_EVERY / 2;
            let went = self.world.episode(
                (From::Random, episodes as u64),
                Part::Random,
                &mut |env, streams, _| {
                    ranges.take(env);
                    noted += 1;
                    if noted >= NOTED_EVERY / 2 {
                        noted = 0;
                        seen.note(State::of(env, alphabet));
                    }
                    let all = choices(env, alphabet);
                    all[streams.ties.below(all.len())].clone()
                },
            )?;
            earned += went.earned;
            episodes += 1;
        }
        self.record.random = earned / episodes as f64;
        self.record.ranges = ranges.widths();
        Ok(())
    }

    /// Lists made of what is known.
    fn draw<T>(&mut self, make: impl Fn(&Drawer<'_>, &mut Rng) -> T) -> T {
        let vocabulary = Vocabulary::new(&self.alphabet, self.record.width, &self.record.seen);
        let drawer = Drawer { vocabulary, elites: &self.record.elites };
        make(&drawer, &mut self.rng)
    }

    /// One of the best lists, the best ones more often.
    fn parent(&mut self) -> RuleList {
        let mut at = 0;
        while at + 1 < self.record.elites.len() && self.rng.unit() < NEXT_PARENT {
            at += 1;
        }
        self.record.elites.get(at).map(|e| e.list.clone()).unwrap_or_default()
    }

    /// Tries actions in states that one of the best lists comes to, and races lists that fit what came of it.
    fn try_actions(&mut self) -> Result<(), Error> {
        let parent =
            if self.rng.unit() < FROM_BEST { self.record.elites[0].list.clone() } else { self.parent() };
        let Some(new) = labels(&mut self.world, &parent, &self.alphabet, &mut self.rng)? else {
            self.record.can_try = false;
            return Ok(());
        };
        self.record.labels.extend(new);
        let extra = self.record.labels.len().saturating_sub(KEPT_STATES);
        self.record.labels.drain(..extra);
        for list in fit::lists(&self.record, &parent, &self.alphabet, &mut self.rng, self.stop) {
            self.challenge(list)?;
        }
        Ok(())
    }

    /// Plays the episode of that number.
    fn episode(&mut self, actor: &mut Actor<'_>, which: (From, u64), part: Part) -> Result<Tried, Error> {
        let mut ranges = Ranges::new(&self.alphabet);
        let watched = self.record.is_flat() && part == Part::Racing;
        let phase = self.rng.below(NOTED_EVERY);
        let (alphabet, seen) = (&self.alphabet, &mut self.record.seen);
        let went = self.world.episode(which, part, &mut |env, streams, step| {
            if watched {
                ranges.take(env);
            }
            if part == Part::Racing && step % NOTED_EVERY == phase {
                seen.note(State::of(env, alphabet));
            }
            actor.act(env, &mut streams.ties)
        })?;
        let widths = ranges.widths();
        let around = widths.iter().zip(&self.record.ranges).map(|(w, r)| (w / r.max(1e-9)).min(FARTHEST));
        Ok(Tried { went, around: around.sum() })
    }

    /// How the episode of that number of the last comparison goes.
    pub(super) fn last(&mut self, actor: &mut Actor<'_>, number: u64) -> Result<Went, Error> {
        Ok(self.episode(actor, (From::Last, number), Part::Last)?.went)
    }

    /// Races a list against the weakest of the best ones, on the same instances. It is dropped once it is behind.
    fn challenge(&mut self, mut list: RuleList) -> Result<(), Error> {
        list.tidy(&self.alphabet);
        let text = list.text(&self.alphabet);
        if !self.record.is_new(&text, list.otherwise) {
            return Ok(());
        }
        // What is raced is what can be written: a run that was interrupted reads its lists back.
        let Some(list) = RuleList::read(&text, list.otherwise, &self.alphabet) else { return Ok(()) };
        if self.record.elites.len() < ELITES {
            let all: Vec<usize> = (0..self.record.instances.len()).collect();
            return self.race(list, &all, None);
        }
        self.record.races += 1;
        self.add_instance_at_times()?;
        let weakest = &self.record.elites[self.record.elites.len() - 1];
        let mut order: Vec<usize> = (0..self.record.instances.len()).collect();
        self.rng.shuffle(&mut order);
        if self.rng.unit() < HARD_FIRST {
            order.sort_by(|&a, &b| weakest.returns[a].total_cmp(&weakest.returns[b]));
        }
        let weakest = weakest.clone();
        self.race(list, &order, Some(&weakest))
    }

    /// Runs a list on instances in that order. It enters if it is not behind in the end.
    fn race(&mut self, list: RuleList, order: &[usize], to_beat: Option<&Elite>) -> Result<(), Error> {
        let flat = self.record.is_flat();
        let (policy, wider) = list.policy(&self.alphabet);
        let mut actor = Actor::new(&policy, &wider);
        let mut elite = Elite { list, returns: vec![0.0; order.len()], successes: 0, around: 0.0 };
        let mut gaps = Vec::new();
        for (k, &i) in order.iter().enumerate() {
            let number = self.record.instances[i];
            let tried = self.episode(&mut actor, (From::Races, number), Part::Racing)?;
            elite.returns[i] = tried.went.earned;
            elite.successes += usize::from(tried.went.success);
            elite.around += (tried.around - elite.around) / (k + 1) as f64;
            let Some(weakest) = to_beat else { continue };
            gaps.push(tried.went.earned - weakest.returns[i]);
            let done = k + 1;
            let at_the_end = done == order.len();
            if !at_the_end && !done.is_power_of_two() {
                continue;
            }
            let ties = (elite.around, elite.list.length());
            let wins = wins_tie(ties, (weakest.around, weakest.list.length()), flat);
            match lead(&gaps, self.record.noise, at_the_end) {
                Lead::Behind => return Ok(()),
                Lead::Level if !wins && (at_the_end || flat || done >= 2) => return Ok(()),
                _ => {}
            }
        }
        if gaps.len() > 1 {
            let noise = spread(&gaps);
            let known = self.record.noise;
            self.record.noise =
                if known == 0.0 { noise } else { NOISE_KEPT * known + (1.0 - NOISE_KEPT) * noise };
        }
        self.enter(elite);
        Ok(())
    }

    /// Adds an instance to races, now and then.
    fn add_instance_at_times(&mut self) -> Result<(), Error> {
        let due = self.record.races.is_multiple_of(RACES_PER_INSTANCE);
        if !due || self.record.is_flat() || self.record.instances.len() >= LONGEST_RACE {
            return Ok(());
        }
        self.add_instance()
    }

    /// Adds the next new instance to races.
    fn add_instance(&mut self) -> Result<(), Error> {
        let number = self.record.new_instance;
        for e in 0..self.record.elites.len() {
            let (policy, wider) = self.record.elites[e].list.policy(&self.alphabet);
            let mut actor = Actor::new(&policy, &wider);
            let tried = self.episode(&mut actor, (From::Races, number), Part::Racing)?;
            self.record.elites[e].returns.push(tried.went.earned);
            self.record.elites[e].successes += usize::from(tried.went.success);
        }
        self.record.instances.push(number);
        self.record.new_instance += 1;
        self.record.sort();
        Ok(())
    }

    /// Races all lists that are a little shorter than the best one.
    fn race_shorter(&mut self) -> Result<(), Error> {
        let best = self.record.elites[0].list.clone();
        for list in self.draw(|drawer, _| drawer.shorter(&best)) {
            self.challenge(list)?;
        }
        self.record.shortened = Some(best);
        Ok(())
    }

    /// Plays new instances with the best list, and adds the first in which it fails to races.
    fn confirm(&mut self) -> Result<(), Error> {
        let (policy, wider) = self.record.elites[0].list.policy(&self.alphabet);
        let mut actor = Actor::new(&policy, &wider);
        for _ in 0..CONFIRMED {
            let which = (From::Races, self.record.new_instance);
            if !self.episode(&mut actor, which, Part::Racing)?.went.success {
                return self.add_instance();
            }
            self.record.new_instance += 1;
        }
        self.record.is_confirmed = true;
        Ok(())
    }

    fn enter(&mut self, elite: Elite) {
        let steps = self.steps();
        self.record.enter(elite, steps);
        if self.record.changed_at == steps {
            let best = &self.record.elites[0];
            let (policy, wider) = best.list.policy(&self.alphabet);
            let (mean, success) = (best.mean(), best.successes as f64 / best.returns.len() as f64);
            self.tell(&policy.display(&wider).to_string(), mean, success);
        }
    }

    /// Tells the observer of the best policy so far.
    pub fn tell(&self, policy: &str, mean_return: f64, success: f64) {
        let success = self.world.env().has_goal().then_some(success);
        self.observer.best(self.seed, &Best { policy, mean_return, success, decisions: self.steps() });
    }
}

/// Sees to it that something is done every so often, and takes a small share of the time.
struct Pause {
    since: Instant,
    every: Duration,
    long: Duration,
}

/// What is done every so often takes one in so many seconds at the most.
const SHARE: u32 = 20;

impl Pause {
    /// Does it where it is due.
    fn run(&mut self, work: impl FnOnce()) {
        if self.since.elapsed() < self.long {
            return;
        }
        let started = Instant::now();
        work();
        self.since = Instant::now();
        self.long =
            if self.every.is_zero() { self.every } else { (SHARE * started.elapsed()).max(self.every) };
    }
}

/// How far measures range.
struct Ranges {
    facts: Facts,
    of: Vec<(f64, f64)>,
}

impl Ranges {
    fn new(alphabet: &Alphabet) -> Ranges {
        let of = vec![(f64::INFINITY, f64::NEG_INFINITY); alphabet.measures.len()];
        Ranges { facts: Facts::new(alphabet), of }
    }

    fn take(&mut self, env: &dyn Env) {
        observe_given(env, &mut self.facts);
        for (measure, _, value) in self.facts.all_numbers() {
            let (low, high) = &mut self.of[measure.0 as usize];
            (*low, *high) = (low.min(value), high.max(value));
        }
    }

    fn widths(&self) -> Vec<f64> {
        self.of.iter().map(|(low, high)| (high - low).max(0.0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::Mutex;

    use derrl_env::{Options, find};

    use super::*;
    use crate::search::observer::Observer;

    /// Keeps the last checkpoint.
    #[derive(Default)]
    struct Keeps(Mutex<Option<Box<Saved>>>);

    impl Observer for Keeps {
        fn checkpoint(&self, _seed: u64, checkpoint: &Checkpoint) {
            // Through text, as files have it.
            let text = serde_json::to_string(&checkpoint.racing).expect("it is plain data");
            *self.0.lock().expect("nobody panicked") =
                serde_json::from_str(&text).expect("what was written is read");
        }
    }

    /// The rules and steps of a run of CartPole, stopped each time that so many questions were asked, and gone on with.
    fn learned(questions: usize) -> (String, u64) {
        let cartpole = find("cartpole").expect("it is built in");
        let alphabet = cartpole.alphabet();
        let mut saved: Option<Box<Saved>> = None;
        let mut patience = questions;
        loop {
            let env = cartpole.make(&alphabet, "train", &Options::default()).expect("it is made");
            let (keeps, asked) = (Keeps::default(), Cell::new(0));
            let stop = || {
                asked.set(asked.get() + 1);
                asked.get() > patience
            };
            let mut run = Run::new(&alphabet, env, 1, Some(60_000), (&keeps, &stop));
            run.every = Duration::ZERO;
            if let Some(saved) = &saved {
                run = run.from(saved);
            }
            if let Ok(chosen) = run.search().and_then(|()| run.finish()) {
                return (chosen.policy.display(&chosen.alphabet).to_string(), run.steps());
            }
            let before = saved.as_ref().map(|s| s.ledger);
            saved = keeps.0.into_inner().expect("nobody panicked").or(saved);
            // What is longer than the patience has to be had in one go.
            patience += if saved.as_ref().map(|s| s.ledger) == before { questions } else { 0 };
        }
    }

    #[test]
    fn an_interrupted_run_ends_with_the_same_rules_after_the_same_steps() {
        let (rules, steps) = learned(usize::MAX);
        assert!(steps >= 50_000 && rules.lines().count() >= 2, "{steps} steps: {rules}");
        for questions in [300, 1000] {
            assert_eq!(learned(questions), (rules.clone(), steps));
        }
    }
}
