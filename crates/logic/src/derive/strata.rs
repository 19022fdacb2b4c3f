//! The order in which definitions can be evaluated: a predicate after what it is negated from.

use super::program::{Definition, How};
use crate::alphabet::Pred;

/// One predicate is defined by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub from: Pred,
    pub to: Pred,
    /// Whether all of `from` has to be known first: it is negated, or a closure or distance follows it.
    pub strict: bool,
    /// Which definition says so.
    pub definition: usize,
}

/// Derived predicates that are defined by way of each other.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Component {
    pub preds: Vec<Pred>,
    pub recursive: bool,
    /// Which definitions are theirs, in the order of the text.
    pub definitions: Vec<usize>,
}

/// The components of the derived predicates but comparisons, each after those that it depends on. An error is a cycle with a strict edge: that
/// edge comes first, and each edge starts where the one before it ends.
pub(crate) fn components(
    predicates: usize,
    definitions: &[Definition],
    edges: &[Edge],
) -> Result<Vec<Component>, Vec<Edge>> {
    let mut derived = vec![false; predicates];
    for d in definitions.iter().filter(|d| !matches!(d.how, How::Compare(_))) {
        derived[d.pred.0 as usize] = true;
    }
    // below[p]: the derived predicates that p is defined by.
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); predicates];
    for e in edges.iter().filter(|e| derived[e.from.0 as usize]) {
        below[e.to.0 as usize].push(e.from.0 as usize);
    }
    let order = strongly_connected(&below, &derived);
    let mut component_of = vec![usize::MAX; predicates];
    for (i, preds) in order.iter().enumerate() {
        for &p in preds {
            component_of[p] = i;
        }
    }
    let within = |e: &Edge| {
        derived[e.from.0 as usize] && component_of[e.from.0 as usize] == component_of[e.to.0 as usize]
    };
    if let Some(strict) = edges.iter().find(|e| e.strict && within(e)) {
        return Err(cycle(strict, edges));
    }
    let mut all: Vec<Component> = order
        .into_iter()
        .map(|mut preds| {
            preds.sort_unstable();
            let preds: Vec<Pred> = preds.into_iter().map(|p| Pred(p as u32)).collect();
            Component { preds, recursive: false, definitions: Vec::new() }
        })
        .collect();
    for e in edges.iter().filter(|e| within(e)) {
        all[component_of[e.to.0 as usize]].recursive = true;
    }
    for (i, d) in definitions.iter().enumerate().filter(|(_, d)| derived[d.pred.0 as usize]) {
        let component = &mut all[component_of[d.pred.0 as usize]];
        component.definitions.push(i);
        component.recursive |= matches!(d.how, How::Closure { .. });
    }
    Ok(all)
}

/// The shortest way from where an edge ends back to where it starts, after that edge.
fn cycle(first: &Edge, edges: &[Edge]) -> Vec<Edge> {
    let mut reached: Vec<(Pred, Vec<Edge>)> = vec![(first.to, vec![*first])];
    let mut at = 0;
    while let Some((pred, path)) = reached.get(at).cloned() {
        if pred == first.from {
            return path;
        }
        for e in edges.iter().filter(|e| e.from == pred) {
            if reached.iter().all(|(p, _)| *p != e.to) {
                reached.push((e.to, [path.as_slice(), &[*e]].concat()));
            }
        }
        at += 1;
    }
    vec![*first]
}

/// Tarjan's components of the marked nodes, each after those that its nodes lead to. It keeps a stack of its own, so that long
/// chains of definitions do not exhaust the thread's.
fn strongly_connected(leads_to: &[Vec<usize>], marked: &[bool]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let n = leads_to.len();
    let (mut number, mut low, mut open) = (vec![NEW; n], vec![0; n], vec![false; n]);
    let (mut next, mut stack, mut found) = (0, Vec::new(), Vec::new());
    for root in (0..n).filter(|&p| marked[p]) {
        if number[root] != NEW {
            continue;
        }
        let mut calls = vec![(root, 0)];
        while let Some(&mut (p, ref mut edge)) = calls.last_mut() {
            if *edge == 0 && number[p] == NEW {
                (number[p], low[p], open[p]) = (next, next, true);
                next += 1;
                stack.push(p);
            }
            if let Some(&q) = leads_to[p].get(*edge) {
                *edge += 1;
                if number[q] == NEW {
                    calls.push((q, 0));
                } else if open[q] {
                    low[p] = low[p].min(number[q]);
                }
                continue;
            }
            calls.pop();
            if let Some(&(above, _)) = calls.last() {
                low[above] = low[above].min(low[p]);
            }
            if low[p] == number[p] {
                let at =
                    stack.iter().rposition(|&q| q == p).expect("a node stays on the stack until it is done");
                let component = stack.split_off(at);
                for &q in &component {
                    open[q] = false;
                }
                found.push(component);
            }
        }
    }
    found
}
