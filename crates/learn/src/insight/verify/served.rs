//! Whether anything is starved: every object that waits has to be named by an action once in so many actions in a row.

use std::sync::Arc;

use derrl_env::{Next, Space};
use derrl_logic::{Alphabet, GroundAction, Object, Pred, Universe};
use rustc_hash::FxHashMap;

use super::walk::Walker;
use crate::error::Error;

/// States of a family that are followed at the most, all names told apart: beyond, they take gigabytes.
const MOST_STATES: usize = 1_000_000;

/// The states of a family that a policy can reach, with all names.
pub(super) struct Followed {
    /// The nearest to a start first.
    codes: Vec<u128>,
    /// For each state, where it was first reached from; itself for a start.
    from: Vec<u32>,
    /// For each state: the states that may follow, each with the action that leads there.
    after: Vec<Vec<(u32, GroundAction)>>,
    /// For each state, the objects that wait in it.
    waiting: Vec<Vec<Object>>,
}

/// States with the actions taken there; none in the last one.
pub(super) type Run = Vec<(u128, Option<GroundAction>)>;

/// A run that starves an object.
pub(super) struct Starved {
    /// The run.
    pub run: Run,
    /// The object.
    pub object: Object,
}

impl Followed {
    /// Walks a family. Those wait of which one of these predicates holds; where there are none, all that actions can name.
    pub fn new(
        walker: &mut Walker<'_>,
        alphabet: &Alphabet,
        space: &dyn Space,
        (size, i): (usize, u64),
        waits: &[Pred],
    ) -> Result<Followed, Error> {
        let family = space.family(size, i);
        let served = nameable(alphabet, family.universe());
        let mut index: FxHashMap<u128, u32> = FxHashMap::default();
        let (mut codes, mut from): (Vec<u128>, Vec<u32>) = (Vec::new(), Vec::new());
        let mut number = |code: u128, before: Option<u32>, codes: &mut Vec<u128>| {
            *index.entry(code).or_insert_with(|| {
                let new = codes.len() as u32;
                codes.push(code);
                from.push(before.unwrap_or(new));
                new
            })
        };
        family.starts(&mut |code, _| {
            number(code, None, &mut codes);
        });
        let (mut after, mut waiting) = (Vec::new(), Vec::new());
        while let Some(&code) = codes.get(after.len()) {
            if codes.len() > MOST_STATES {
                let title = family.title();
                let error = derrl_logic::Error::new(format!(
                    "{title}: more than {MOST_STATES} states, all names told apart"
                ));
                return Err(Error::Definition(
                    error.with_help("look at smaller instances, or ask nothing about single objects"),
                ));
            }
            let (ties, all) = walker.decide(family.as_ref(), code);
            let mut waits: Vec<Object> = match waits {
                [] => served.clone(),
                waits => waits.iter().flat_map(|p| walker.facts().tuples(*p).map(|args| args[0])).collect(),
            };
            waits.sort_unstable();
            waits.dedup();
            waiting.push(waits);
            let at = after.len() as u32;
            let mut next = Vec::new();
            for choice in if ties.is_empty() { all.as_ref() } else { ties.as_slice() } {
                // A run that has come to its end starves nobody.
                if let Next::State(state) = family.exact_step(code, choice.action, &choice.args) {
                    next.push((number(state, Some(at), &mut codes), choice.clone()));
                }
            }
            after.push(next);
        }
        Ok(Followed { codes, from, after, waiting })
    }

    /// How many states there are.
    pub fn states(&self) -> u64 {
        self.codes.len() as u64
    }

    /// A shortest run in which an object waits and is named by none of so many actions in a row.
    pub fn starved(&self, within: u32) -> Option<Starved> {
        let mut all: Vec<Object> = self.waiting.concat();
        all.sort_unstable();
        all.dedup();
        // States that come first are nearer to a start.
        let found = all.into_iter().filter_map(|o| {
            let ranks = self.ranks(o, within);
            Some((ranks.iter().position(|rank| *rank == within)?, o, ranks))
        });
        let (first, object, ranks) = found.min_by_key(|(first, o, _)| (*first, *o))?;
        let mut run: Run = self.way_to(first as u32);
        let mut at = first;
        for left in (0..within).rev() {
            let (next, action) =
                self.leaving_out(at, object).find(|(next, _)| ranks[*next as usize] >= left)?;
            run.push((self.codes[at], Some(action.clone())));
            at = *next as usize;
        }
        run.push((self.codes[at], None));
        Some(Starved { run, object })
    }

    /// The ways to go on from a state by an action that does not name an object.
    fn leaving_out(&self, state: usize, object: Object) -> impl Iterator<Item = &(u32, GroundAction)> {
        self.after[state].iter().filter(move |(_, action)| !action.args.contains(&object))
    }

    /// For each state: how many actions in a row may leave out an object that waits, from there on; this many at the most.
    fn ranks(&self, object: Object, most: u32) -> Vec<u32> {
        let mut ranks = vec![0; self.codes.len()];
        let mut last: Vec<usize> =
            (0..ranks.len()).filter(|s| self.waiting[*s].binary_search(&object).is_ok()).collect();
        for rank in 1..=most {
            let goes_on =
                |s: &usize| self.leaving_out(*s, object).any(|(next, _)| ranks[*next as usize] + 1 >= rank);
            let now: Vec<usize> = last.iter().copied().filter(goes_on).collect();
            // What can be left out once more from everywhere can be left out for ever.
            let rank = if now.len() == last.len() && rank > 1 { most } else { rank };
            for state in &now {
                ranks[*state] = rank;
            }
            if rank == most {
                break;
            }
            last = now;
        }
        ranks
    }

    /// A shortest run from a start to a state, without this one.
    fn way_to(&self, state: u32) -> Run {
        let mut way = Vec::new();
        let mut at = state;
        while self.from[at as usize] != at {
            let before = self.from[at as usize];
            let action = self.after[before as usize].iter().find(|(next, _)| *next == at);
            way.push((self.codes[before as usize], action.map(|(_, action)| action.clone())));
            at = before;
        }
        way.reverse();
        way
    }
}

/// The objects that some action can name, in order.
fn nameable(alphabet: &Alphabet, universe: &Arc<Universe>) -> Vec<Object> {
    let fits = |o: &Object| {
        let mut types = alphabet.actions.iter().flat_map(|a| &a.args);
        types.any(|t| alphabet.types.is_subtype(universe.type_of(*o), *t))
    };
    universe.objects().filter(fits).collect()
}
