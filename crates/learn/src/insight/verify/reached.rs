//! The states of a family that a policy can reach, as a graph, and how far they are from the goal.

use std::collections::VecDeque;

use derrl_env::{Family, Next, Space};
use derrl_logic::Facts;
use rustc_hash::FxHashMap;

use super::walk::Walker;

/// What can be reached in a family, with every way of breaking ties.
pub(super) struct Reached {
    pub family: Box<dyn Family>,
    /// States that instances start in, and how many.
    pub starts: Vec<(u32, u128)>,
    /// The codes of the states, in the order in which they are reached: the nearest to a start first.
    pub codes: Vec<u128>,
    /// For each state: the states that may follow.
    pub after: Vec<Vec<u32>>,
    /// Whether the goal may follow.
    pub reaches: Vec<bool>,
    /// Whether an end may follow that is not the goal, or nothing can be done.
    pub loses: Vec<bool>,
    /// Whether it is one that was looked for.
    pub marked: Vec<bool>,
}

impl Reached {
    /// Walks a family; `mark` says of the facts of each state whether it is one that is looked for.
    pub fn new(
        walker: &mut Walker<'_>,
        space: &dyn Space,
        size: usize,
        i: u64,
        mark: &mut dyn FnMut(&Facts) -> bool,
    ) -> Reached {
        let family = space.family(size, i);
        let mut codes: Vec<u128> = Vec::new();
        let mut index: FxHashMap<u128, u32> = FxHashMap::default();
        let mut number = |code: u128, codes: &mut Vec<u128>| {
            *index.entry(code).or_insert_with(|| {
                codes.push(code);
                (codes.len() - 1) as u32
            })
        };
        let mut starts = Vec::new();
        family.starts(&mut |code, count| starts.push((number(code, &mut codes), count)));
        let (mut after, mut reaches, mut loses, mut marked) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        while let Some(&code) = codes.get(after.len()) {
            let (ties, all) = walker.decide(family.as_ref(), code);
            marked.push(mark(walker.facts()));
            let choices = if ties.is_empty() { all.as_ref() } else { ties.as_slice() };
            let (mut next, mut goal, mut lost) = (Vec::new(), false, choices.is_empty());
            for choice in choices {
                match family.step(code, choice.action, &choice.args) {
                    Next::Reached => goal = true,
                    Next::Lost => lost = true,
                    Next::State(state) => next.push(number(state, &mut codes)),
                }
            }
            next.sort_unstable();
            next.dedup();
            after.push(next);
            reaches.push(goal);
            loses.push(lost);
        }
        Reached { family, starts, codes, after, reaches, loses, marked }
    }

    /// For each state those that it may follow.
    fn before(&self) -> Vec<Vec<u32>> {
        let mut before = vec![Vec::new(); self.after.len()];
        for (from, next) in self.after.iter().enumerate() {
            for &to in next {
                before[to as usize].push(from as u32);
            }
        }
        before
    }

    /// The most actions from each state to the goal; `None` where some way of breaking ties does not lead there.
    pub fn longest(&self) -> Vec<Option<u32>> {
        let before = self.before();
        let mut left: Vec<usize> = self.after.iter().map(Vec::len).collect();
        let mut rank = vec![None; left.len()];
        let is_done = |s: &usize| left[*s] == 0 && !self.loses[*s];
        let mut todo: Vec<usize> = (0..left.len()).filter(is_done).collect();
        while let Some(state) = todo.pop() {
            let most = self.after[state].iter().filter_map(|&s| rank[s as usize]).max();
            rank[state] = Some(1 + most.unwrap_or(0));
            for &from in &before[state] {
                let from = from as usize;
                left[from] -= 1;
                if left[from] == 0 && !self.loses[from] {
                    todo.push(from);
                }
            }
        }
        rank
    }

    /// The fewest actions of the policy from each state to the goal; `None` where no luck leads there.
    pub fn nearest(&self) -> Vec<Option<u32>> {
        let before = self.before();
        let mut rank: Vec<Option<u32>> = self.reaches.iter().map(|reaches| reaches.then_some(1)).collect();
        let mut queue: VecDeque<usize> = (0..rank.len()).filter(|&s| self.reaches[s]).collect();
        while let Some(state) = queue.pop_front() {
            for &from in &before[state] {
                if rank[from as usize].is_none() {
                    rank[from as usize] = rank[state].map(|r| r + 1);
                    queue.push_back(from as usize);
                }
            }
        }
        rank
    }
}
