//! A run: the loop over what the plan asks for, and races.

use std::sync::Arc;
use std::time::{Duration, Instant};

use derrl_env::{Env, Rng, observe_given};
use derrl_logic::{Alphabet, Facts, Policy};

use super::checkpoint::{Checkpoint, Partial};
use super::judge::{Lead, spread, tells, wins_tie};
use super::ledger::From;
use super::limits::{
    CHECKPOINT_EVERY, ELITES, FARTHEST, FEWEST_SHARE, FIRST_RACE, GROWTH, HARD_FIRST, LONGEST_RACE,
    NOISE_KEPT, NOTED_EVERY, NOTHING, PAUSE_SHARE, RACE_SHARE,
};
use super::list::RuleList;
use super::moves::Move;
use super::observer::{Best, Observer};
use super::origin::Origin;
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
    /// What the plan drew from when it chose the move that is under way: who goes on in the middle of it chooses it again.
    pub(super) planned: Rng,
    /// What was explored.
    pub(super) table: Table,
    /// Masks of the states explored, in the words that were used last.
    pub(super) masks: (Words, Groundings),
    /// The restart that was under way when the run was interrupted.
    pub(super) partial: Option<Partial>,
    pub(super) seed: u64,
    pub(super) observer: &'a dyn Observer,
    /// Whether a move is to be cut short. Once it is, it stays so.
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

impl<'a> Run<'a> {
    /// A run from the start.
    pub fn new(given: Given<'a>, observer: &'a dyn Observer, stop: &'a dyn Fn() -> bool) -> Run<'a> {
        let mut world = World::new(given.envs, given.seed, stop);
        world.until = given.terms.end();
        Run {
            table: Table::new(&given.lexicon.given.alphabet),
            lexicon: given.lexicon,
            config: given.config,
            world,
            record: Record::new(given.instances),
            terms: given.terms,
            rng: Purpose::Move(0).rng(given.seed),
            planned: Purpose::Move(0).rng(given.seed),
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
    pub fn from(mut self, saved: &Saved, checkpoint: &Checkpoint) -> Result<Run<'a>, Error> {
        self.record = saved.record(&self.lexicon);
        self.record.restarts.clone_from(&checkpoint.done);
        self.rng = saved.rng.clone();
        self.partial = checkpoint.running.first().cloned();
        for (number, exploration) in self.record.explored.clone().iter().enumerate() {
            self.explore_as(number, exploration)?;
        }
        self.world.ledger = saved.ledger;
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
            if self.observer.interrupted() {
                self.save();
                return Err(Error::Interrupted);
            }
            pause.run(|| self.save());
            self.observer.decided(self.seed, self.steps());
            self.planned.clone_from(&self.rng);
            let Some(what) = next(&self.record, &self.world.ledger, &self.terms, &mut self.rng) else {
                return Ok(());
            };
            if before.replace(what.phase()) != Some(what.phase()) {
                self.observer.phase(self.seed, what.phase());
            }
            // A move that was cut short is not to be seen in the record: it is made again. Races are short, and restarts save themselves.
            let is_long = !matches!(what, Move::Draw | Move::Change | Move::Gradient);
            let before = is_long.then(|| self.checkpoint());
            let made = self.make(what);
            if made.is_err() || (self.stop)() {
                if let Some(before) = before {
                    self.observer.checkpoint(self.seed, &before);
                }
                return made.and(Err(Error::Interrupted));
            }
        }
    }

    /// Offers a checkpoint.
    fn save(&mut self) {
        self.planned.clone_from(&self.rng);
        self.observer.checkpoint(self.seed, &self.checkpoint());
    }

    /// What a run needs to choose the move that is under way once more, and to make it.
    fn checkpoint(&self) -> Checkpoint {
        let mut saved = self.saved();
        saved.rng.clone_from(&self.planned);
        let running = self.partial.clone().into_iter().collect();
        Checkpoint {
            done: self.record.restarts.clone(),
            running,
            racing: Some(Box::new(saved)),
            ending: None,
        }
    }

    /// Makes a move.
    fn make(&mut self, what: Move) -> Result<(), Error> {
        self.world.ledger.begin(what.source());
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
    pub(super) fn episode(&mut self, actor: &mut Actor<'_>, which: (From, Instance)) -> Result<Play, Error> {
        Ok(self.watched(actor, which)?.play)
    }

    fn watched(&mut self, actor: &mut Actor<'_>, which: (From, Instance)) -> Result<Tried, Error> {
        let alphabet = &self.lexicon.given.alphabet;
        let mut ranges = Ranges::new(alphabet);
        let watched = self.terms.numbers && self.record.is_flat() && which.0 == From::Races;
        let phase = if self.terms.numbers { self.rng.below(NOTED_EVERY) } else { NOTED_EVERY };
        let seen = &mut self.record.seen;
        let from = which.0;
        let play = self.world.episode(which, alphabet, &mut |env, streams, step| {
            if watched {
                ranges.take(env);
            }
            if from == From::Races && step % NOTED_EVERY == phase {
                seen.note(State::of(env, alphabet));
            }
            actor.act(env, &mut streams.ties)
        })?;
        let widths = ranges.widths();
        let around = widths.iter().zip(&self.record.ranges).map(|(w, r)| (w / r.max(NOTHING)).min(FARTHEST));
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
        self.add_instances_at_times()?;
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
        let (flat, scale) = (self.record.is_flat(), self.record.scale());
        let (policy, wider) = list.policy(&self.alphabet(&list));
        let mut actor = Actor::new(&policy, &wider);
        let none = Play { earned: 0.0, success: false, steps: 0 };
        let mut elite = Elite { list, plays: vec![none; order.len()], around: 0.0, origin };
        let mut plays = Vec::new();
        for (k, &i) in order.iter().enumerate() {
            let instance = self.record.instances[i];
            // The first list is played to the end whatever it takes: there has to be one.
            if !self.record.elites.is_empty() && self.steps() >= self.terms.last_race() {
                return Ok(());
            }
            let tried = self.watched(&mut actor, (From::Races, instance))?;
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
            match scale.lead(&plays, (elite.list.length(), weakest.list.length()), order.len()) {
                Lead::Behind => return Ok(()),
                Lead::Level if !wins && (flat || tells(done, order.len())) => return Ok(()),
                _ => {}
            }
        }
        if plays.len() > 1 {
            let noise = spread(&plays);
            let known = self.record.noise;
            self.record.noise =
                if known == 0.0 { noise } else { NOISE_KEPT * known + (1.0 - NOISE_KEPT) * noise };
        }
        elite.list.keep(actor.decided());
        self.enter(elite);
        Ok(())
    }

    /// Adds instances to races until a race to the end takes its share of all steps: differences get finer as lists get better, and
    /// what fits few instances by chance does not fit many.
    fn add_instances_at_times(&mut self) -> Result<(), Error> {
        let weakest = self.record.elites.last();
        let race: u64 = weakest.map_or(0, |e| e.plays.iter().map(|play| u64::from(play.steps)).sum());
        let most = (RACE_SHARE * self.steps() as f64) as u64;
        if race >= most || self.record.is_flat() {
            return Ok(());
        }
        let known = self.record.instances.len();
        let more = (known as u64 * (most - race) / race.max(1)).clamp(1, 1 + known as u64 / GROWTH);
        // Small instances are easy: the two largest sizes tell lists apart.
        let largest = self.terms.compared(&self.record).max(1) - 1;
        let new =
            (0..more).map(|k| self.new_instance(largest.saturating_sub((known + k as usize) % 2))).collect();
        self.add_instances(new)
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
                let play = self.episode(&mut actor, (From::Races, instance))?;
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
            self.world.ledger.succeed();
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
    (LONGEST_RACE / terms.sizes.max(1)).max(LONGEST_RACE / FEWEST_SHARE)
}

/// Sees to it that something is done every so often, and takes a small share of the time.
pub struct Pause {
    since: Instant,
    every: Duration,
    long: Duration,
}

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
            if self.every.is_zero() { self.every } else { (PAUSE_SHARE * started.elapsed()).max(self.every) };
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

#[cfg(test)]
mod tests;
