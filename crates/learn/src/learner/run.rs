//! A run: the loop over what the plan asks for, and races.

use std::sync::Arc;
use std::time::{Duration, Instant};

use derrl_env::{Env, Rng, observe_given};
use derrl_logic::{Alphabet, Facts, Policy};

use super::checkpoint::{Checkpoint, Origin, Partial};
use super::judge::{Lead, lead, spread, wins_tie};
use super::ledger::{From, Part};
use super::limits::{
    ELITES, FARTHEST, FIRST_RACE, HARD_FIRST, LONGEST_RACE, NOISE_KEPT, NOTED_EVERY, RACES_PER_INSTANCE,
};
use super::list::RuleList;
use super::moves::Move;
use super::observer::{Best, Observer};
use super::plan::{Terms, next};
use super::play::{Instance, Play, World};
use super::record::{Elite, Record};
use super::saved::Saved;
use super::seen::State;
use super::words::{Lexicon, Words};
use crate::act::actor::Actor;
use crate::error::Error;
use crate::fit::Groundings;
use crate::settings::config::Config;
use crate::settings::streams::Purpose;
use crate::table::Table;

/// A run of a seed.
pub struct Run<'a> {
    pub(super) lexicon: Lexicon,
    pub(super) config: &'a Config,
    pub(super) world: World<'a>,
    pub(super) record: Record,
    pub(super) terms: Terms,
    pub(super) rng: Rng,
    /// What was explored.
    pub(super) table: Table,
    /// Masks of the states explored, in the words that were used last.
    pub(super) masks: (Words, Groundings),
    /// The restart that was under way when the run was interrupted.
    pub(super) partial: Option<Partial>,
    pub(super) seed: u64,
    pub(super) observer: &'a dyn Observer,
    pub(super) stop: &'a dyn Fn() -> bool,
    /// How often a checkpoint is written.
    pub(super) every: Duration,
}

/// What a run is given.
pub struct Given<'a> {
    /// Rules in these words.
    pub lexicon: Lexicon,
    /// The settings.
    pub config: &'a Config,
    /// The world, the smallest size first.
    pub envs: Vec<Box<dyn Env>>,
    /// What the plan has to know.
    pub terms: Terms,
    /// Instances of the first races, by size.
    pub instances: Vec<Instance>,
    /// The seed.
    pub seed: u64,
}

/// An episode of a list.
#[derive(Clone, Copy, Debug)]
struct Tried {
    play: Play,
    around: f64,
}

/// A run offers a checkpoint this often.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(1);

impl<'a> Run<'a> {
    /// A run from the start.
    pub fn new(given: Given<'a>, observer: &'a dyn Observer, stop: &'a dyn Fn() -> bool) -> Run<'a> {
        Run {
            table: Table::new(&given.lexicon.given.alphabet),
            lexicon: given.lexicon,
            config: given.config,
            world: World::new(given.envs, given.seed, stop),
            record: Record::new(given.instances),
            terms: given.terms,
            rng: Purpose::Move(0).rng(given.seed),
            masks: (Words::default(), Groundings::default()),
            partial: None,
            seed: given.seed,
            observer,
            stop,
            every: CHECKPOINT_EVERY,
        }
    }

    /// Decisions taken so far.
    pub fn steps(&self) -> u64 {
        self.world.ledger.all()
    }

    /// Goes on where an interrupted run was: what was explored is explored again, which costs no steps.
    pub fn from(mut self, saved: &Saved, partial: Option<Partial>) -> Result<Run<'a>, Error> {
        self.record = saved.record(&self.lexicon);
        (self.world.ledger, self.rng, self.partial) = (saved.ledger, saved.rng.clone(), partial);
        for (number, exploration) in self.record.explored.clone().iter().enumerate() {
            self.explore_as(number, exploration)?;
        }
        Ok(self)
    }

    /// What is saved of it.
    pub(super) fn saved(&self) -> Saved {
        Saved::of(&self.record, self.world.ledger, &self.rng, &self.lexicon)
    }

    /// Searches until the plan says that it is enough.
    pub fn search(&mut self) -> Result<(), Error> {
        let mut pause = Pause::of(self.every);
        let mut before = None;
        loop {
            pause.run(|| {
                let restarts = self.record.restarts.clone();
                let racing = Some(Box::new(self.saved()));
                let running = self.partial.clone().into_iter().collect();
                let checkpoint = Checkpoint { done: restarts, running, racing, ending: None };
                self.observer.checkpoint(self.seed, &checkpoint);
            });
            self.observer.decided(self.seed, self.steps());
            let Some(what) = next(&self.record, &self.world.ledger, &self.terms, &mut self.rng) else {
                return Ok(());
            };
            if before.replace(what.phase()) != Some(what.phase()) {
                self.observer.phase(self.seed, what.phase());
            }
            self.make(what)?;
            if (self.stop)() {
                return Err(Error::Interrupted);
            }
        }
    }

    /// Makes a move.
    fn make(&mut self, what: Move) -> Result<(), Error> {
        match what {
            Move::Look => self.look(),
            Move::Explore => self.explore(),
            Move::Fit => self.fit(),
            Move::Widen => self.widen(),
            Move::Invent => self.invent(),
            Move::Raise => self.raise(),
            Move::Gradient => self.train(),
            Move::Draw => self.draw_list(),
            Move::Change => self.change_list(),
            Move::Try => self.try_actions(),
            Move::Sums => {
                self.record.words.sums = true;
                self.record.changed_at = self.steps();
                Ok(())
            }
            Move::Shorten => self.race_shorter(),
            Move::Confirm => self.confirm(),
        }
    }

    /// The alphabet in which a list is written.
    pub(super) fn alphabet(&self, list: &RuleList) -> Arc<Alphabet> {
        self.lexicon.alphabet(&list.words)
    }

    /// Plays an instance.
    pub(super) fn episode(
        &mut self,
        actor: &mut Actor<'_>,
        which: (From, Instance),
        part: Part,
    ) -> Result<Play, Error> {
        Ok(self.watched(actor, which, part)?.play)
    }

    fn watched(
        &mut self,
        actor: &mut Actor<'_>,
        which: (From, Instance),
        part: Part,
    ) -> Result<Tried, Error> {
        let alphabet = &self.lexicon.given.alphabet;
        let mut ranges = Ranges::new(alphabet);
        let watched = self.terms.numbers && self.record.is_flat() && part == Part::Racing;
        let phase = if self.terms.numbers { self.rng.below(NOTED_EVERY) } else { NOTED_EVERY };
        let seen = &mut self.record.seen;
        let play = self.world.episode(which, part, alphabet, &mut |env, streams, step| {
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
        Ok(Tried { play, around: around.sum() })
    }

    /// Races a list against the weakest of the best ones, on the same instances. It is dropped once it is behind.
    pub(super) fn challenge(&mut self, mut list: RuleList, origin: Origin) -> Result<(), Error> {
        let alphabet = self.alphabet(&list);
        list.tidy(&alphabet);
        let text = list.text(&alphabet);
        if !self.keeps_frozen(&list) || !self.record.is_new(&list, &text) {
            return Ok(());
        }
        // What is raced is what can be written: a run that was interrupted reads its lists back.
        let Some(list) = RuleList::read(&text, list.otherwise, &list.words, &self.lexicon) else {
            return Ok(());
        };
        if self.record.elites.len() < ELITES {
            let all: Vec<usize> = (0..self.record.instances.len()).collect();
            return self.race(list, origin, &all, None);
        }
        self.record.races += 1;
        self.add_instance_at_times()?;
        let weakest = self.record.elites[self.record.elites.len() - 1].clone();
        let mut order: Vec<usize> = (0..self.record.instances.len()).collect();
        self.rng.shuffle(&mut order);
        if self.rng.unit() < HARD_FIRST {
            order.sort_by(|&a, &b| weakest.plays[a].earned.total_cmp(&weakest.plays[b].earned));
        }
        self.race(list, origin, &order, Some(&weakest))
    }

    /// Whether a list has all rules that are frozen.
    fn keeps_frozen(&self, list: &RuleList) -> bool {
        let frozen = self.lexicon.given.frozen();
        let kept = list.levels.iter().flatten().filter(|line| line.frozen.is_some()).count();
        frozen.rules.len() == kept
    }

    /// Runs a list on instances in that order. It enters if it is not behind in the end.
    fn race(
        &mut self,
        list: RuleList,
        origin: Origin,
        order: &[usize],
        to_beat: Option<&Elite>,
    ) -> Result<(), Error> {
        let flat = self.record.is_flat();
        let (policy, wider) = list.policy(&self.alphabet(&list));
        let mut actor = Actor::new(&policy, &wider);
        let none = Play { earned: 0.0, success: false };
        let mut elite = Elite { list, plays: vec![none; order.len()], around: 0.0, origin };
        let mut plays = Vec::new();
        for (k, &i) in order.iter().enumerate() {
            let instance = self.record.instances[i];
            let tried = self.watched(&mut actor, (From::Races, instance), Part::Racing)?;
            elite.plays[i] = tried.play;
            elite.around += (tried.around - elite.around) / (k + 1) as f64;
            let Some(weakest) = to_beat else { continue };
            plays.push((tried.play, weakest.plays[i]));
            let done = k + 1;
            let at_the_end = done == order.len();
            if !at_the_end && !done.is_power_of_two() {
                continue;
            }
            let ties = (elite.around, elite.list.length());
            let wins = wins_tie(ties, (weakest.around, weakest.list.length()), flat);
            match lead(&plays, self.record.noise, at_the_end) {
                Lead::Behind => return Ok(()),
                Lead::Level if !wins && (at_the_end || flat || done >= 2) => return Ok(()),
                _ => {}
            }
        }
        if plays.len() > 1 {
            let noise = spread(&plays);
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
        let instance = self.new_instance(self.record.races as usize % self.terms.given.max(1));
        self.add_instances(vec![instance])
    }

    /// An instance that nobody has played, of one of the sizes that are compared.
    pub(super) fn new_instance(&mut self, size: usize) -> Instance {
        let number = self.record.new_instance;
        self.record.new_instance += 1;
        let size = size.min(self.terms.compared(&self.record).max(1) - 1);
        Instance { size, number, astray: false }
    }

    /// Adds instances to races.
    pub(super) fn add_instances(&mut self, instances: Vec<Instance>) -> Result<(), Error> {
        self.play_new(0, &instances)?;
        self.record.instances.extend(instances);
        let steps = self.steps();
        self.record.sort(steps);
        Ok(())
    }

    /// Adds instances to races that the best list has played.
    pub(super) fn add_played(&mut self, played: Vec<(Instance, Play)>) -> Result<(), Error> {
        let (instances, plays): (Vec<Instance>, Vec<Play>) = played.into_iter().unzip();
        self.record.elites[0].plays.extend(plays);
        self.play_new(1, &instances)?;
        self.record.instances.extend(instances);
        let steps = self.steps();
        self.record.sort(steps);
        Ok(())
    }

    /// Plays new instances with all of the best lists from that one on.
    fn play_new(&mut self, first: usize, instances: &[Instance]) -> Result<(), Error> {
        for e in first..self.record.elites.len() {
            let list = self.record.elites[e].list.clone();
            let (policy, wider) = list.policy(&self.alphabet(&list));
            let mut actor = Actor::new(&policy, &wider);
            for &instance in instances {
                let play = self.episode(&mut actor, (From::Races, instance), Part::Racing)?;
                self.record.elites[e].plays.push(play);
            }
        }
        Ok(())
    }

    /// The best policy so far.
    pub fn best(&self) -> Option<(Policy, Arc<Alphabet>)> {
        self.record.elites.first().map(|e| e.list.policy(&self.alphabet(&e.list)))
    }

    fn enter(&mut self, elite: Elite) {
        let (steps, before) = (self.steps(), self.record.version);
        self.record.enter(elite, steps);
        if self.record.version != before {
            let best = &self.record.elites[0];
            let (policy, wider) = best.list.policy(&self.alphabet(&best.list));
            let (mean, success) = (best.mean(), best.successes() as f64 / best.plays.len() as f64);
            self.tell(&policy.display_needed(&wider).to_string(), mean, success);
        }
    }

    /// Tells the observer of the best policy so far.
    pub fn tell(&self, policy: &str, mean_return: f64, success: f64) {
        let success = self.terms.has_goal.then_some(success);
        self.observer.best(self.seed, &Best { policy, mean_return, success, decisions: self.steps() });
    }
}

/// How many instances of each size there are in the first races, and whether every second one starts astray.
pub fn instances(terms: &Terms, costly: Option<usize>) -> Vec<Instance> {
    let first = |number| Instance::first(number as u64);
    if let Some(episodes) = costly.filter(|_| !terms.numbers) {
        return (0..episodes).map(first).collect();
    }
    if !terms.tables {
        return (0..FIRST_RACE as usize).map(first).collect();
    }
    let of_size = |size: usize| {
        (0..per_size(terms)).map(move |k| Instance {
            size,
            number: (size * per_size(terms) + k) as u64,
            astray: k % 2 == 1,
        })
    };
    (0..terms.sizes.min(2)).flat_map(of_size).collect()
}

/// Instances of each size in races.
pub fn per_size(terms: &Terms) -> usize {
    (LONGEST_RACE / terms.sizes.max(1)).max(LONGEST_RACE / 4)
}

/// Sees to it that something is done every so often, and takes a small share of the time.
pub struct Pause {
    since: Instant,
    every: Duration,
    long: Duration,
}

/// What is done every so often takes one in so many seconds at the most.
const SHARE: u32 = 20;

impl Pause {
    /// A pause that is over after this time.
    pub fn of(every: Duration) -> Pause {
        Pause { since: Instant::now(), every, long: every }
    }

    /// Does it where it is due.
    pub fn run(&mut self, work: impl FnOnce()) {
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
pub struct Ranges {
    facts: Facts,
    of: Vec<(f64, f64)>,
}

impl Ranges {
    /// Nothing measured yet.
    pub fn new(alphabet: &Alphabet) -> Ranges {
        let of = vec![(f64::INFINITY, f64::NEG_INFINITY); alphabet.measures.len()];
        Ranges { facts: Facts::new(alphabet), of }
    }

    /// Takes down what is measured now.
    pub fn take(&mut self, env: &dyn Env) {
        if self.of.is_empty() {
            return;
        }
        observe_given(env, &mut self.facts);
        for (measure, _, value) in self.facts.all_numbers() {
            let (low, high) = &mut self.of[measure.0 as usize];
            (*low, *high) = (low.min(value), high.max(value));
        }
    }

    /// How wide each range is.
    pub fn widths(&self) -> Vec<f64> {
        self.of.iter().map(|(low, high)| (high - low).max(0.0)).collect()
    }
}
