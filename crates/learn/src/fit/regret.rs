//! What actions lose in the states met, laid out so that bodies are scored with few operations.
//!
//! The regret of an action is what the best action of its state is worth less what it is worth itself. What a policy loses
//! is the sum of the regrets of its actions over the states that it comes to (the performance difference lemma).

use std::cell::{Cell, RefCell};
use std::collections::hash_map::Entry;
use std::rc::Rc;

use derrl_env::Rng;
use derrl_logic::{Action, GroundAction, Grounding};
use rustc_hash::FxHashMap;

use super::draft::{Draft, Levels, Placed, length};
use crate::language::body::Body;
use crate::language::problem::Problem;
use crate::limits::{
    COMPARED, COMPARED_SUBSTITUTIONS, ENOUGH_TRIED, LEAST_CHANCE, MILLION, NOTHING, PRICES, TRIED_SHARE,
};
use crate::table::values::{Values, worth};
use crate::table::{Place, Table};

/// Masks to a word.
const WORD: usize = u64::BITS as usize;

/// Ground actions of one state with the same masks.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The state.
    pub state: u32,
    /// Their masks.
    pub list: u32,
    /// The sum of their regrets.
    pub sum: f64,
    /// How many they are.
    pub count: f64,
    /// The least of their regrets.
    pub least: f64,
}

/// Where the masks of a list are in a column: these bits of each of some words.
#[derive(Clone, Copy, Debug)]
struct Span {
    from: u32,
    to: u32,
    bits: u64,
}

impl Span {
    /// The places of its masks in a column.
    fn places(self) -> impl Iterator<Item = usize> {
        let of_word = move |word: u32| {
            (0..WORD).filter(move |bit| self.bits >> bit & 1 == 1).map(move |bit| word as usize * WORD + bit)
        };
        (self.from..self.to).flat_map(of_word)
    }
}

/// The masks of a ground action in a state, end to end, and what each choice is worth under each: all choices of the first mask, then those of
/// the second.
#[derive(Clone, Copy, Debug)]
struct List<'s> {
    masks: &'s [u64],
    values: &'s [f64],
}

/// The rows of one action.
#[derive(Debug, Default)]
pub struct OfAction {
    /// By state.
    pub rows: Vec<Row>,
    spans: Vec<Span>,
    /// For each atom of K, in which masks it is.
    columns: Vec<Vec<u64>>,
    /// For each choice, what it is worth under each mask; not a number where it is worth nothing.
    values: Vec<Vec<f64>>,
    words: usize,
}

impl OfAction {
    /// How many lists of masks there are.
    pub fn lists(&self) -> usize {
        self.spans.len()
    }

    /// All masks: where the empty body holds.
    pub fn everywhere(&self) -> Vec<u64> {
        vec![u64::MAX; self.words]
    }

    /// The masks of `held` that have an atom too.
    pub fn narrow(&self, held: &[u64], atom: usize, out: &mut Vec<u64>) {
        out.clear();
        out.extend(held.iter().zip(&self.columns[atom]).map(|(h, c)| h & c));
    }

    /// Whether a list has one of these masks.
    #[inline]
    pub fn meets(&self, list: u32, held: &[u64]) -> bool {
        let Span { from, to, bits } = self.spans[list as usize];
        held[from as usize..to as usize].iter().any(|h| h & bits != 0)
    }

    /// Which lists have one of these masks: 1 for those, 0 for the others.
    pub fn cover(&self, held: &[u64], cover: &mut [u8]) {
        for (list, cover) in cover.iter_mut().enumerate() {
            *cover = u8::from(self.meets(list as u32, held));
        }
    }

    /// The masks that have all these atoms.
    pub fn having(&self, atoms: &[usize]) -> Vec<u64> {
        let mut held = self.everywhere();
        for &j in atoms {
            held.iter_mut().zip(&self.columns[j]).for_each(|(h, c)| *h &= c);
        }
        held
    }

    /// The masks that a rule holds under, its choice included.
    pub fn holding(&self, draft: &Draft) -> Vec<u64> {
        let held = self.having(&draft.atoms);
        match draft.choice {
            Some(choice) => self.choose(&held, choice),
            None => held,
        }
    }

    /// Of these masks those under which the choice is worth most in their state.
    pub fn choose(&self, held: &[u64], choice: usize) -> Vec<u64> {
        let values = &self.values[choice];
        let mut kept = vec![0; held.len()];
        for of_state in self.rows.chunk_by(|a, b| a.state == b.state) {
            let places = || {
                let all = of_state.iter().flat_map(|row| self.spans[row.list as usize].places());
                all.filter(|place| held[place / WORD] >> (place % WORD) & 1 == 1)
            };
            let most = places().map(|place| values[place]).fold(f64::NEG_INFINITY, f64::max);
            for place in places().filter(|&place| values[place] == most) {
                kept[place / WORD] |= 1 << (place % WORD);
            }
        }
        kept
    }

    /// Lays the masks of lists out in columns, and the values of choices beside them.
    fn lay_out(&mut self, lists: &[List<'_>], words: usize, (atoms, choices): (usize, usize)) {
        let (mut word, mut bit) = (0, 0);
        let mut starts = Vec::with_capacity(lists.len());
        for List { masks, .. } in lists {
            let n = masks.len() / words;
            if bit > 0 && bit + n > WORD {
                (word, bit) = (word + 1, 0);
            }
            starts.push(word * WORD + bit);
            let bits = if n < WORD { ((1 << n) - 1) << bit } else { u64::MAX };
            let to = word + n.div_ceil(WORD);
            self.spans.push(Span { from: word as u32, to: to as u32, bits });
            if n > WORD {
                word = to;
            } else {
                bit += n;
            }
        }
        self.words = word + 1;
        self.columns = vec![vec![0; self.words]; atoms];
        self.values = vec![vec![f64::NAN; self.words * WORD]; choices];
        for (List { masks, values }, start) in lists.iter().zip(starts) {
            for (m, mask) in masks.chunks_exact(words).enumerate() {
                let at = start + m;
                Body(mask).atoms().for_each(|j| self.columns[j][at / WORD] |= 1 << (at % WORD));
            }
            for (i, &value) in values.iter().enumerate() {
                self.values[i % choices][start + i / choices] = value;
            }
        }
    }
}

/// Where a level fires: states with the mean regret of the actions that it derives.
type Fires = Rc<Vec<(u32, f64)>>;

/// For each atom of an action, whether it may stand in a body with a certain one.
type Fitting = Rc<[bool]>;

/// A state whose actions are compared.
#[derive(Clone, Debug)]
pub struct Sample<'s> {
    /// How much it counts.
    pub weight: f64,
    /// The regret of each action.
    pub regrets: &'s [f64],
    /// What any action loses on average.
    pub mean: f64,
    /// The actions.
    pub actions: &'s [GroundAction],
    /// The masks of each action, end to end.
    pub masks: Vec<&'s [u64]>,
    /// What the choices of each action are worth under each of its masks; none where nothing is chosen.
    pub values: Vec<&'s [f64]>,
}

/// The regrets of all actions in the states that count.
pub struct Regrets<'a> {
    /// The language.
    pub problem: &'a Problem,
    /// By action.
    pub actions: Vec<OfAction>,
    /// How much each state counts.
    pub weights: Vec<f64>,
    /// What any action loses on average, by state.
    silent: Vec<f64>,
    /// What a rule and an atom have to save.
    pub price: f64,
    /// Rows of states that were looked at.
    pub looked: Cell<u64>,
    known: RefCell<FxHashMap<Vec<Draft>, Fires>>,
    /// By action and atom.
    fitting: RefCell<FxHashMap<(u32, usize), Fitting>>,
}

/// Masks of the states of a table in one language, found when first asked for.
#[derive(Clone, Debug, Default)]
pub struct Groundings(FxHashMap<Place, Rc<Grounding>>);

impl Groundings {
    fn get(&mut self, table: &Table, at: Place, problem: &Problem) -> Rc<Grounding> {
        Rc::clone(
            self.0
                .entry(at)
                .or_insert_with(|| Rc::new(table.ground(at, &problem.grounder, &problem.alphabet))),
        )
    }
}

impl<'a> Regrets<'a> {
    /// The regrets of what was seen, where states are worth this.
    pub fn new(
        problem: &'a Problem,
        table: &Table,
        groundings: &mut Groundings,
        v: &Values,
        rng: &mut Rng,
    ) -> Regrets<'a> {
        Regrets::among(COMPARED, problem, table, groundings, v, rng)
    }

    /// The same, of so many of these states at the most.
    pub fn among(
        most: usize,
        problem: &'a Problem,
        table: &Table,
        groundings: &mut Groundings,
        v: &Values,
        rng: &mut Rng,
    ) -> Regrets<'a> {
        let per_state = table.substitutions(&problem.alphabet) / table.len().max(1) as f64;
        let most = most.min((COMPARED_SUBSTITUTIONS / per_state) as usize).max(1);
        let order = chosen(table, most, rng);
        let sampled: Vec<(f64, Place, Vec<f64>, f64)> = order
            .into_iter()
            .filter_map(|(weight, place)| {
                let (regrets, mean) = regrets_of(table, place, v)?;
                Some((weight, place, regrets, mean))
            })
            .collect();
        let grounded: Vec<Rc<Grounding>> =
            sampled.iter().map(|s| groundings.get(table, s.1, problem)).collect();
        let samples: Vec<Sample<'_>> = sampled
            .iter()
            .zip(&grounded)
            .map(|((weight, place, regrets, mean), grounding)| {
                let actions = table.state(*place).actions.as_ref();
                let masks = (0..actions.len()).map(|a| grounding.flat(a)).collect();
                Sample { weight: *weight, regrets, mean: *mean, actions, masks, values: Vec::new() }
            })
            .collect();
        Regrets::of(problem, &samples, PRICES[0])
    }

    /// The regrets of these states, where a rule or an atom has to save this share of what acting at random loses.
    pub fn of(problem: &'a Problem, samples: &[Sample<'_>], price: f64) -> Regrets<'a> {
        let actions = problem.alphabet.actions.len();
        let mut of_action: Vec<OfAction> = (0..actions).map(|_| OfAction::default()).collect();
        let mut lists: Vec<Vec<List<'_>>> = vec![Vec::new(); actions];
        let mut ids: FxHashMap<(u32, &[u64]), u32> = FxHashMap::default();
        // States with the same masks and regrets (the same but for names) are one state that counts more.
        let mut known: FxHashMap<Vec<Like>, usize> = FxHashMap::default();
        let (mut weights, mut silent): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        for sample in samples {
            let mut rows: Vec<(u32, Row)> = Vec::new();
            for (a, (ground, &regret)) in sample.actions.iter().zip(sample.regrets).enumerate() {
                let masks = sample.masks[a];
                if masks.is_empty() {
                    continue;
                }
                let action = ground.action.0;
                let mut add_list = |values| {
                    lists[action as usize].push(List { masks, values });
                    lists[action as usize].len() as u32 - 1
                };
                // What a choice is worth is known for this state alone.
                let list = match sample.values.get(a) {
                    Some(values) => add_list(values),
                    None => *ids.entry((action, masks)).or_insert_with(|| add_list(&[])),
                };
                add(&mut rows, action, weights.len() as u32, list, regret);
            }
            rows.sort_by_key(|(action, row)| (*action, row.list));
            match known.entry(rows.iter().map(like).collect()) {
                Entry::Occupied(same) => weights[*same.get()] += sample.weight,
                Entry::Vacant(new) => {
                    new.insert(weights.len());
                    weights.push(sample.weight);
                    silent.push(sample.mean);
                    for (action, row) in rows {
                        of_action[action as usize].rows.push(row);
                    }
                }
            }
        }
        for (a, (of, lists)) in of_action.iter_mut().zip(&lists).enumerate() {
            let action = Action(a as u32);
            let sizes = (problem.grounder.atoms(action).len(), problem.choices(action).len());
            of.lay_out(lists, problem.grounder.words(), sizes);
        }
        let total: f64 = weights.iter().zip(&silent).map(|(w, s)| w * s).sum();
        Regrets {
            problem,
            actions: of_action,
            weights,
            silent,
            price: price * total,
            looked: Cell::new(0),
            known: RefCell::default(),
            fitting: RefCell::default(),
        }
    }

    /// Whether no state tells actions apart.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Which atoms of an action may stand in a body with this one.
    pub fn fitting(&self, action: u32, atom: usize) -> Fitting {
        let mut known = self.fitting.borrow_mut();
        let fits = known.entry((action, atom)).or_insert_with(|| {
            let atoms = self.problem.grounder.atoms(Action(action));
            let fits = |(i, other)| i != atom && self.problem.alphabet.fit(&atoms[atom], other);
            atoms.iter().enumerate().map(fits).collect()
        });
        Rc::clone(fits)
    }

    /// Where a level fires and what it loses there.
    fn fires(&self, level: &[Placed]) -> Fires {
        let mut key: Vec<Draft> = level.iter().map(|p| p.draft.clone()).collect();
        key.sort_unstable();
        if let Some(known) = self.known.borrow().get(&key) {
            return Rc::clone(known);
        }
        let mut sums: Vec<(f64, f64)> = vec![(0.0, 0.0); self.weights.len()];
        for of_one in key.chunk_by(|a, b| a.action == b.action) {
            let of = &self.actions[of_one[0].action as usize];
            let mut cover = vec![0; of.lists()];
            let mut either = vec![0; of.lists()];
            for draft in of_one {
                of.cover(&of.holding(draft), &mut cover);
                either.iter_mut().zip(&cover).for_each(|(e, c)| *e |= c);
            }
            for row in of.rows.iter().filter(|r| either[r.list as usize] != 0) {
                let (sum, count) = &mut sums[row.state as usize];
                *sum += row.sum;
                *count += row.count;
            }
        }
        let fired = sums.iter().enumerate().filter(|(_, (_, n))| *n > 0.0);
        let fires: Fires = Rc::new(fired.map(|(s, (sum, n))| (s as u32, sum / n)).collect());
        self.known.borrow_mut().insert(key, Rc::clone(&fires));
        fires
    }

    /// The level that decides in each state (their number where none does), and what is lost there.
    pub fn decided(&self, levels: &Levels) -> (Vec<u32>, Vec<f64>) {
        let none = levels.len() as u32;
        let mut by = vec![none; self.weights.len()];
        let mut cost = self.silent.clone();
        for (i, level) in levels.iter().enumerate() {
            for &(s, c) in self.fires(level).iter() {
                if by[s as usize] == none {
                    (by[s as usize], cost[s as usize]) = (i as u32, c);
                }
            }
        }
        (by, cost)
    }

    /// What the rules lose, with their price.
    pub fn total(&self, levels: &Levels) -> f64 {
        self.lost(levels) + self.price * length(levels) as f64
    }

    /// What the rules lose.
    pub fn lost(&self, levels: &Levels) -> f64 {
        let (_, cost) = self.decided(levels);
        cost.iter().zip(&self.weights).map(|(c, w)| c * w).sum()
    }
}

/// Adds a ground action to the rows of its state.
fn add(rows: &mut Vec<(u32, Row)>, action: u32, state: u32, list: u32, regret: f64) {
    match rows.iter_mut().find(|(a, r)| *a == action && r.list == list) {
        Some((_, row)) => {
            row.sum += regret;
            row.count += 1.0;
            row.least = row.least.min(regret);
        }
        None => rows.push((action, Row { state, list, sum: regret, count: 1.0, least: regret })),
    }
}

/// What a row has in common with those of states like its own: action, masks, count, and regrets in millionths.
type Like = (u32, u32, u32, i64, i64);

fn like((action, row): &(u32, Row)) -> Like {
    let millionths = |regret: f64| (regret * MILLION).round() as i64;
    (*action, row.list, row.count as u32, millionths(row.sum), millionths(row.least))
}

/// The states to look at, with how much each counts: those that the policy comes to more.
fn chosen(table: &Table, most: usize, rng: &mut Rng) -> Vec<(f64, Place)> {
    let tried: Vec<Place> = table.places().filter(|&p| table.state(p).tried() > 0).collect();
    let visits: f64 = tried.iter().map(|&p| table.state(p).visits).sum::<f64>().max(1.0);
    let n = tried.len() as f64;
    let weight = |p: Place| 0.5 + 0.5 * n * table.state(p).visits / visits;
    if tried.len() <= most {
        return tried.into_iter().map(|p| (weight(p), p)).collect();
    }
    // Those that count more come in more often; then all count the same.
    let key = |p: &Place| -rng.unit().max(LEAST_CHANCE).ln() / weight(*p);
    let mut keyed: Vec<(f64, Place)> = tried.iter().map(key).zip(tried.iter().copied()).collect();
    keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
    keyed.truncate(most);
    keyed.sort_by_key(|k| k.1);
    keyed.into_iter().map(|(_, p)| (1.0, p)).collect()
}

/// The regret of each action of a state and their mean; `None` where all are the same or little is known. An action that was
/// not tried, or of which it is not known where it leads, loses what actions lose on average.
fn regrets_of(table: &Table, place: Place, v: &Values) -> Option<(Vec<f64>, f64)> {
    let state = table.state(place);
    let worths: Vec<Option<f64>> =
        state.seen.iter().map(|s| v.tells(s).then(|| worth(s, &v.of, v.gamma))).collect();
    let tried = worths.iter().flatten().count();
    if tried == 0 || (tried as f64) < TRIED_SHARE * state.actions.len() as f64 && tried < ENOUGH_TRIED {
        return None;
    }
    let best = worths.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
    let mean = worths.iter().flatten().map(|w| best - w).sum::<f64>() / tried as f64;
    (mean > NOTHING).then(|| (worths.into_iter().map(|w| w.map_or(mean, |w| best - w)).collect(), mean))
}
