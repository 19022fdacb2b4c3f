//! What a run has found so far.

use std::hash::{Hash, Hasher};

use derrl_logic::Action;
use rustc_hash::{FxHashSet, FxHasher};

use super::judge::{better_first, mean};
use super::limits::{ELITES, FIRST_RACE};
use super::list::RuleList;
use super::seen::Seen;
use super::trying::Label;
use super::vocabulary::Width;

/// One of the best lists.
#[derive(Clone, Debug)]
pub struct Elite {
    /// The rules.
    pub list: RuleList,
    /// What it earned in each instance of the races.
    pub returns: Vec<f64>,
    /// In how many of these it succeeded.
    pub successes: usize,
    /// How far its episodes got around.
    pub around: f64,
}

impl Elite {
    /// What it earns.
    pub fn mean(&self) -> f64 {
        mean(&self.returns)
    }
}

/// All that moves and the plan look at.
#[derive(Clone, Debug)]
pub struct Record {
    /// The best lists, the best first.
    pub elites: Vec<Elite>,
    /// What tells the lists apart that were raced.
    pub tried: FxHashSet<u64>,
    /// The numbers of the instances of a race.
    pub instances: Vec<u64>,
    /// The number of the next instance that nobody has played.
    pub new_instance: u64,
    /// Races so far.
    pub races: u64,
    /// How differences between lists usually spread on an instance.
    pub noise: f64,
    /// What may be said.
    pub width: Width,
    /// States seen.
    pub seen: Seen,
    /// States in which actions were tried, the oldest first.
    pub labels: Vec<Label>,
    /// Whether actions can be tried: the world can be copied or replayed.
    pub can_try: bool,
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
}

impl Default for Record {
    fn default() -> Record {
        Record {
            elites: Vec::new(),
            tried: FxHashSet::default(),
            instances: (0..FIRST_RACE).collect(),
            new_instance: FIRST_RACE,
            races: 0,
            noise: 0.0,
            width: Width::Plain,
            seen: Seen::default(),
            labels: Vec::new(),
            can_try: true,
            changed_at: 0,
            shortened: None,
            is_confirmed: false,
            random: 0.0,
            ranges: Vec::new(),
        }
    }
}

impl Record {
    /// Whether all lists earned the same everywhere.
    fn is_level(&self) -> bool {
        let mut all = self.elites.iter().flat_map(|e| &e.returns);
        let first = all.next();
        all.all(|r| Some(r) == first)
    }

    /// Whether nothing says yet what is good: all lists earn the same, and none succeeds.
    pub fn is_flat(&self) -> bool {
        self.is_level() && !self.is_solved()
    }

    /// Whether nothing is left to gain in races: all lists earn the same, and succeed.
    pub fn is_saturated(&self) -> bool {
        self.elites.len() >= ELITES && self.is_level() && self.is_solved()
    }

    /// Whether all lists a little shorter than the best one were raced.
    pub fn is_shortened(&self) -> bool {
        self.shortened.is_some() && self.shortened.as_ref() == self.elites.first().map(|e| &e.list)
    }

    fn is_solved(&self) -> bool {
        !self.elites.is_empty() && self.elites.iter().all(|e| e.successes == e.returns.len())
    }

    /// Notes that a list is raced, by its text and what is done elsewhere. Says whether it is the first time.
    pub fn is_new(&mut self, text: &str, otherwise: Option<Action>) -> bool {
        let mut hash = FxHasher::default();
        (text, otherwise).hash(&mut hash);
        self.tried.insert(hash.finish())
    }

    /// Takes a list in among the best, the last of which goes where there are too many.
    pub fn enter(&mut self, elite: Elite, steps: u64) {
        let best = self.elites.first().map(|e| e.list.clone());
        self.elites.push(elite);
        self.sort();
        self.elites.truncate(ELITES);
        if self.elites.first().map(|e| &e.list) != best.as_ref() {
            self.changed_at = steps;
        }
    }

    /// Puts the best first.
    pub fn sort(&mut self) {
        let flat = self.is_flat();
        self.elites.sort_by(|a, b| better_first(a, b, flat));
    }
}
