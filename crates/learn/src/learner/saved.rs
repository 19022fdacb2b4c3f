//! A record as files hold it.

use std::sync::Arc;

use derrl_env::Rng;
use derrl_logic::{Action, Alphabet, Constant, Facts, GroundAction, Measure, Object, Pred, Type, Universe};
use serde::{Deserialize, Serialize};

use super::ledger::Ledger;
use super::list::RuleList;
use super::moves::Move;
use super::origin::Origin;
use super::play::{Instance, Play};
use super::record::{Elite, Exploration, Record, Stamp};
use super::seen::{Seen, State};
use super::trying::Label;
use super::words::{Lexicon, WideningStep, Words};

// Wide: it has what the record has.
/// All that a run needs to go on where it was, but for the restarts of the gradient that are done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each says something of its own")]
pub struct Saved {
    /// What was spent.
    pub ledger: Ledger,
    /// What moves draw from.
    pub rng: Rng,
    elites: Vec<SavedElite>,
    tried: Vec<u64>,
    instances: Vec<Instance>,
    new_instance: u64,
    races: u64,
    noise: f64,
    words: Words,
    universes: Vec<Vec<(Name, u32)>>,
    seen: Vec<SavedState>,
    labels: Vec<(SavedState, Vec<f64>, f64)>,
    can_try: bool,
    version: u64,
    changed_at: u64,
    shortened: Option<SavedList>,
    is_confirmed: bool,
    random: f64,
    ranges: Vec<f64>,
    sizes: usize,
    small: usize,
    explored: Vec<SavedExploration>,
    rounds: usize,
    idle: usize,
    news: bool,
    is_full: bool,
    by_chance: bool,
    fitted: Option<(usize, SavedList)>,
    residue: f64,
    gamma: f64,
    made: Vec<(Move, Stamp)>,
    widened: usize,
    widenings: Vec<WideningStep>,
    agreed: usize,
}

/// The name of an object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Name {
    Int(i64),
    Name(String),
}

/// A list: its rules as text, and the number of the action that is done elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SavedList {
    rules: String,
    otherwise: Option<u32>,
    words: Words,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SavedExploration {
    sizes: (usize, usize),
    instances: usize,
    most: u64,
    list: SavedList,
    failed: Vec<Instance>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SavedElite {
    list: SavedList,
    plays: Vec<Play>,
    around: f64,
    origin: Origin,
}

/// A state in numbers: facts, measures and actions, each with its objects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct SavedState {
    universe: usize,
    facts: Vec<(u32, Vec<u32>)>,
    numbers: Vec<(u32, Vec<u32>, f64)>,
    actions: Vec<(u32, Vec<u32>)>,
}

impl SavedList {
    fn of(list: &RuleList, lexicon: &Lexicon) -> SavedList {
        let rules = list.text(&lexicon.alphabet(&list.words));
        SavedList { rules, otherwise: list.otherwise.map(|a| a.0), words: list.words.clone() }
    }

    /// The list; an empty one where the text is not of this alphabet, which no file that was not tampered with has.
    fn list(&self, lexicon: &Lexicon) -> RuleList {
        RuleList::read(&self.rules, self.otherwise.map(Action), &self.words, lexicon).unwrap_or_default()
    }
}

/// Universes that states share, each once.
#[derive(Default)]
struct Universes(Vec<Arc<Universe>>);

impl Universes {
    fn number(&mut self, of: &Arc<Universe>) -> usize {
        let known = self.0.iter().rposition(|u| Arc::ptr_eq(u, of) || u == of);
        known.unwrap_or_else(|| {
            self.0.push(Arc::clone(of));
            self.0.len() - 1
        })
    }

    fn state(&mut self, state: &State) -> SavedState {
        let numbers = |args: &[Object]| args.iter().map(|o| o.0).collect::<Vec<u32>>();
        SavedState {
            universe: self.number(&state.universe),
            facts: state.facts.iter().map(|(p, args)| (p.0, numbers(args))).collect(),
            numbers: state.facts.all_numbers().map(|(m, args, v)| (m.0, numbers(args), v)).collect(),
            actions: state.actions.iter().map(|a| (a.action.0, numbers(&a.args))).collect(),
        }
    }

    fn restored(&self, state: &SavedState, alphabet: &Alphabet) -> Option<State> {
        let objects = |args: &[u32]| args.iter().map(|&o| Object(o)).collect::<Vec<Object>>();
        let mut facts = Facts::new(alphabet);
        for (pred, args) in &state.facts {
            facts.push(Pred(*pred), &objects(args));
        }
        for (measure, args, value) in &state.numbers {
            facts.set(Measure(*measure), &objects(args), *value);
        }
        facts.seal();
        let action =
            |(action, args): &(u32, Vec<u32>)| GroundAction { action: Action(*action), args: objects(args) };
        let actions = state.actions.iter().map(action).collect();
        Some(State { universe: Arc::clone(self.0.get(state.universe)?), facts, actions })
    }
}

impl Saved {
    /// What is saved of a run.
    pub fn of(record: &Record, ledger: Ledger, rng: &Rng, lexicon: &Lexicon) -> Saved {
        let mut universes = Universes::default();
        let elite = |e: &Elite| SavedElite {
            list: SavedList::of(&e.list, lexicon),
            plays: e.plays.clone(),
            around: e.around,
            origin: e.origin,
        };
        let exploration = |e: &Exploration| SavedExploration {
            sizes: e.sizes,
            instances: e.instances,
            most: e.most,
            list: SavedList::of(&e.list, lexicon),
            failed: e.failed.clone(),
        };
        let mut tried: Vec<u64> = record.tried.iter().copied().collect();
        tried.sort_unstable();
        let mut made: Vec<(Move, Stamp)> = record.made.iter().map(|(&m, s)| (m, s.clone())).collect();
        made.sort_unstable_by_key(|m| m.0);
        let seen = record.seen.states().map(|state| universes.state(state)).collect();
        let label = |l: &Label| (universes.state(&l.state), l.regrets.clone(), l.mean);
        let labels = record.labels.iter().map(label).collect();
        let name = |c: &Constant| match c {
            Constant::Int(n) => Name::Int(*n),
            Constant::Name(name) => Name::Name(name.to_string()),
        };
        let objects = |u: &Arc<Universe>| u.objects().map(|o| (name(u.name(o)), u.type_of(o).0)).collect();
        Saved {
            ledger,
            rng: rng.clone(),
            elites: record.elites.iter().map(elite).collect(),
            tried,
            instances: record.instances.clone(),
            new_instance: record.new_instance,
            races: record.races,
            noise: record.noise,
            words: record.words.clone(),
            seen,
            labels,
            universes: universes.0.iter().map(objects).collect(),
            can_try: record.can_try,
            version: record.version,
            changed_at: record.changed_at,
            shortened: record.shortened.as_ref().map(|list| SavedList::of(list, lexicon)),
            is_confirmed: record.is_confirmed,
            random: record.random,
            ranges: record.ranges.clone(),
            sizes: record.sizes,
            small: record.small,
            explored: record.explored.iter().map(exploration).collect(),
            rounds: record.rounds,
            idle: record.idle,
            news: record.news,
            is_full: record.is_full,
            by_chance: record.by_chance,
            fitted: record.fitted.as_ref().map(|(n, list)| (*n, SavedList::of(list, lexicon))),
            residue: record.residue,
            gamma: record.gamma,
            made,
            widened: record.widened,
            widenings: record.widenings.clone(),
            agreed: record.agreed,
        }
    }

    /// The record.
    pub fn record(&self, lexicon: &Lexicon) -> Record {
        let alphabet = &lexicon.given.alphabet;
        let constant = |name: &Name| match name {
            Name::Int(n) => Constant::Int(*n),
            Name::Name(name) => Constant::name(name),
        };
        let universe = |objects: &Vec<(Name, u32)>| {
            Arc::new(Universe::new(objects.iter().map(|(n, t)| (constant(n), Type(*t))).collect()))
        };
        let universes = Universes(self.universes.iter().map(universe).collect());
        let mut seen = Seen::default();
        self.seen.iter().filter_map(|s| universes.restored(s, alphabet)).for_each(|s| seen.note(s));
        let elite = |e: &SavedElite| Elite {
            list: e.list.list(lexicon),
            plays: e.plays.clone(),
            around: e.around,
            origin: e.origin,
        };
        let exploration = |e: &SavedExploration| Exploration {
            sizes: e.sizes,
            instances: e.instances,
            most: e.most,
            list: e.list.list(lexicon),
            failed: e.failed.clone(),
        };
        let label = |(state, regrets, mean): &(SavedState, Vec<f64>, f64)| {
            let state = universes.restored(state, alphabet)?;
            Some(Label { state, regrets: regrets.clone(), mean: *mean })
        };
        Record {
            elites: self.elites.iter().map(elite).collect(),
            tried: self.tried.iter().copied().collect(),
            instances: self.instances.clone(),
            new_instance: self.new_instance,
            races: self.races,
            noise: self.noise,
            words: self.words.clone(),
            seen,
            labels: self.labels.iter().filter_map(label).collect(),
            can_try: self.can_try,
            version: self.version,
            changed_at: self.changed_at,
            shortened: self.shortened.as_ref().map(|list| list.list(lexicon)),
            is_confirmed: self.is_confirmed,
            random: self.random,
            ranges: self.ranges.clone(),
            sizes: self.sizes,
            small: self.small,
            explored: self.explored.iter().map(exploration).collect(),
            rounds: self.rounds,
            idle: self.idle,
            news: self.news,
            is_full: self.is_full,
            by_chance: self.by_chance,
            fitted: self.fitted.as_ref().map(|(n, list)| (*n, list.list(lexicon))),
            residue: self.residue,
            gamma: self.gamma,
            made: self.made.iter().cloned().collect(),
            widened: self.widened,
            widenings: self.widenings.clone(),
            // A checkpoint has them beside this.
            restarts: Vec::new(),
            agreed: self.agreed,
        }
    }
}
