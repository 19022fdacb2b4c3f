//! What a run has found so far.

use std::hash::{Hash, Hasher};

use derrl_logic::Action;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use serde::{Deserialize, Serialize};

use super::judge::{Merit, Scale, better_first, mean};
use super::limits::{DISCOUNTS, ELITES};
use super::list::RuleList;
use super::moves::Move;
use super::origin::{Origin, RestartResult};
use super::play::{Instance, Play};
use super::seen::Seen;
use super::trying::Label;
use super::words::{WideningStep, Words};
use crate::act::score::SOLVED;

/// One of the best lists.
#[derive(Clone, Debug)]
pub struct Elite {
    /// The rules.
    pub list: RuleList,
    /// How it went in each instance of the races.
    pub plays: Vec<Play>,
    /// How far its episodes got around.
    pub around: f64,
    /// Where it comes from.
    pub origin: Origin,
}

impl Elite {
    /// What it earns.
    pub fn mean(&self) -> f64 {
        mean(self.plays.iter().map(|play| play.earned))
    }

    /// In how many instances it succeeds.
    pub fn successes(&self) -> usize {
        self.plays.iter().filter(|play| play.success).count()
    }
}

/// What was known when a move was last made: it need not be made again while that holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// How many sizes were explored.
    pub sizes: usize,
    /// How many explorations there were.
    pub explored: usize,
    /// In which words.
    pub words: Words,
}

/// An exploration, so that it can be done again when a run is resumed.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// Sizes that were explored, and how many of them in all directions.
    pub sizes: (usize, usize),
    /// How many instances in all.
    pub instances: usize,
    /// Steps, about, at the most.
    pub most: u64,
    /// The list that was followed.
    pub list: RuleList,
    /// Instances in which it fails.
    pub failed: Vec<Instance>,
}

// Wide: what the plan asks of is flat, so that a condition of the plan reads as a sentence.
/// All that moves and the plan look at.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each says something of its own")]
pub struct Record {
    /// The best lists, the best first.
    pub elites: Vec<Elite>,
    /// What tells the lists apart that were raced.
    pub tried: FxHashSet<u64>,
    /// The instances of a race.
    pub instances: Vec<Instance>,
    /// The number of the next instance that nobody has played.
    pub new_instance: u64,
    /// Races so far.
    pub races: u64,
    /// How differences between lists usually spread on an instance.
    pub noise: f64,
    /// What may be said.
    pub words: Words,
    /// States seen.
    pub seen: Seen,
    /// States in which actions were tried, the oldest first.
    pub labels: Vec<Label>,
    /// Whether actions can be tried: the world can be copied or replayed.
    pub can_try: bool,
    /// How often the best list changed, or failed in an instance that is new.
    pub version: u64,
    /// The steps taken when the best list last changed.
    pub changed_at: u64,
    /// The list of which all that are a little shorter were raced last.
    pub shortened: Option<RuleList>,
    /// Whether the best list succeeded in as many new instances as are asked for.
    pub is_confirmed: bool,
    /// What acting at random earns.
    pub random: f64,
    /// How far each measure ranges in random play.
    pub ranges: Vec<f64>,
    /// How many sizes are explored.
    pub sizes: usize,
    /// How many of them are explored in all directions.
    pub small: usize,
    /// What was explored.
    pub explored: Vec<Exploration>,
    /// Rounds of exploration in these sizes and words.
    pub rounds: usize,
    /// Rounds since the best list changed by one.
    pub idle: usize,
    /// Whether the last exploration met states that were not known.
    pub news: bool,
    /// Whether no more states can be noted.
    pub is_full: bool,
    /// Whether an action in one state brought now this, now that.
    pub by_chance: bool,
    /// How much had been explored when lists were fitted to it last, and the best list since.
    pub fitted: Option<(usize, RuleList)>,
    /// What the best list loses on what was explored, as a share of what acting at random loses.
    pub residue: f64,
    /// The discount at which the best list loses least.
    pub gamma: f64,
    /// When moves were last made.
    pub made: FxHashMap<Move, Stamp>,
    /// Wider words that were tried since [`Move::Widen`] was made first with what is known now.
    pub widened: usize,
    /// The steps to wider words.
    pub widenings: Vec<WideningStep>,
    /// Restarts of the gradient that are done.
    pub restarts: Vec<RestartResult>,
    /// How many of the last of them came to nothing better.
    pub agreed: usize,
}

impl Record {
    /// Nothing found yet, with these instances for the first races.
    pub fn new(instances: Vec<Instance>) -> Record {
        Record {
            elites: Vec::new(),
            tried: FxHashSet::default(),
            new_instance: instances.len() as u64,
            instances,
            races: 0,
            noise: 0.0,
            words: Words::default(),
            seen: Seen::default(),
            labels: Vec::new(),
            can_try: true,
            version: 0,
            changed_at: 0,
            shortened: None,
            is_confirmed: false,
            random: 0.0,
            ranges: Vec::new(),
            sizes: 1,
            small: 1,
            explored: Vec::new(),
            rounds: 0,
            idle: 0,
            news: true,
            is_full: false,
            by_chance: false,
            fitted: None,
            residue: 1.0,
            gamma: DISCOUNTS[0],
            made: FxHashMap::default(),
            widened: 0,
            widenings: Vec::new(),
            restarts: Vec::new(),
            agreed: 0,
        }
    }

    /// What lists are compared by.
    pub fn scale(&self) -> Scale {
        let best = self.elites.iter().map(Elite::mean).fold(f64::NEG_INFINITY, f64::max);
        let span = if best.is_finite() { (best - self.random).abs() } else { 0.0 };
        let plays: Vec<&[Play]> = self.elites.iter().map(|e| e.plays.as_slice()).collect();
        Scale::of(span, self.noise, &plays)
    }

    /// What is known now.
    pub fn stamp(&self) -> Stamp {
        Stamp { sizes: self.sizes, explored: self.explored.len(), words: self.words.clone() }
    }

    /// Whether a move was made since anything changed that it depends on.
    pub fn is_made(&self, what: Move) -> bool {
        self.made.get(&what) == Some(&self.stamp())
    }

    /// Whether lists were fitted to all that was explored, from the list that is best now, too.
    pub fn is_fitted(&self) -> bool {
        let best = self.elites.first().map(|e| &e.list);
        self.knows_all() && (best.is_none() || self.fitted.as_ref().map(|(_, list)| list) == best)
    }

    /// Whether lists were fitted to all that was explored.
    pub fn knows_all(&self) -> bool {
        self.fitted.as_ref().map_or(0, |(explored, _)| *explored) == self.explored.len()
    }

    /// How many wider words were tried with what is known now.
    pub fn widened(&self) -> usize {
        if self.is_made(Move::Widen) { self.widened } else { 0 }
    }

    /// Notes that a move was made.
    pub fn note(&mut self, what: Move) {
        self.made.insert(what, self.stamp());
    }

    /// Whether all lists earned the same everywhere.
    fn is_level(&self) -> bool {
        let mut all = self.elites.iter().flat_map(|e| &e.plays).map(|play| play.earned);
        let first = all.next();
        all.all(|r| Some(r) == first)
    }

    /// Whether nothing says yet what is good: all lists earn the same, and none succeeds.
    pub fn is_flat(&self) -> bool {
        self.is_level() && !self.all_succeed()
    }

    /// Whether nothing is left to gain in races: all lists earn the same, and succeed.
    pub fn is_saturated(&self) -> bool {
        self.elites.len() >= ELITES && self.is_level() && self.all_succeed()
    }

    /// Whether all lists a little shorter than the best one were raced.
    pub fn is_shortened(&self) -> bool {
        self.shortened.is_some() && self.shortened.as_ref() == self.elites.first().map(|e| &e.list)
    }

    fn all_succeed(&self) -> bool {
        !self.elites.is_empty() && self.elites.iter().all(|e| e.successes() == e.plays.len())
    }

    /// Whether the best list succeeds in nearly all instances of the first so many sizes. Of those that start astray only the ones count in
    /// which another list succeeds: nobody knows whether the others can be solved.
    pub fn succeeds(&self, sizes: usize) -> bool {
        let Some(best) = self.elites.first() else { return false };
        (0..sizes).all(|size| {
            let all = self.instances.iter().enumerate().filter(|(_, instance)| instance.size == size);
            let counts = all.filter(|&(i, instance)| !instance.astray || self.can_be_solved(i));
            let plays: Vec<bool> = counts.map(|(i, _)| best.plays[i].success).collect();
            plays.iter().filter(|&&won| won).count() as f64 >= SOLVED * plays.len() as f64
        })
    }

    /// The share of all instances in which the best list succeeds.
    pub fn success(&self) -> f64 {
        self.elites.first().map_or(0.0, |e| e.successes() as f64 / e.plays.len() as f64)
    }

    /// Whether one of the best lists succeeds in an instance.
    fn can_be_solved(&self, instance: usize) -> bool {
        self.elites.iter().any(|e| e.plays[instance].success)
    }

    /// Notes that a list is raced, by its text and what is done elsewhere. Says whether it is the first time.
    pub fn is_new(&mut self, list: &RuleList, text: &str) -> bool {
        let mut hash = FxHasher::default();
        let otherwise: Option<Action> = list.otherwise;
        // Larger instances may say otherwise, and so may longer races.
        let races = self.instances.len().checked_ilog2();
        (text, otherwise, &list.words.invented, self.sizes, races).hash(&mut hash);
        self.tried.insert(hash.finish())
    }

    /// Takes a list in among the best, the last of which goes where there are too many.
    pub fn enter(&mut self, elite: Elite, steps: u64) {
        if self.elites.iter().any(|known| known.list == elite.list) {
            return;
        }
        self.elites.push(elite);
        self.sort(steps);
        self.elites.truncate(ELITES);
    }

    /// Puts the best first.
    pub fn sort(&mut self, steps: u64) {
        let best = self.elites.first().map(|e| e.list.clone());
        let (flat, scale) = (self.is_flat(), self.scale());
        let merit = |e: &Elite| {
            let length = e.list.length();
            Merit { net: scale.net(&e.plays, length), around: e.around, length }
        };
        self.elites.sort_by(|a, b| better_first(merit(a), merit(b), flat));
        let now = self.elites.first().map(|e| &e.list);
        // The one that entered first came first.
        if now != best.as_ref() || self.elites.len() == 1 {
            self.changed_at = steps;
            self.version += 1;
            self.is_confirmed = false;
            self.agreed = 0;
            // Sums stay once they are compared.
            let words = now.map(|list| Words { sums: self.words.sums, ..list.words.clone() });
            if let Some(words) = words.filter(|words| *words != self.words) {
                (self.words, self.rounds) = (words, 0);
            }
        }
    }
}

#[cfg(test)]
mod tests;
