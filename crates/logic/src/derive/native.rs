//! Closures and distances over nodes that are tuples, by breadth-first search.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use rustc_hash::FxHashMap;

use crate::join::{Packing, Relation};

/// A closure or distance.
#[derive(Clone, Debug)]
pub(super) struct Native {
    pub relation: usize,
    along: usize,
    to: Option<usize>,
    closure: bool,
}

/// The steps as a graph. Nodes are numbered by their packed tuples, in order.
pub(super) struct Graph {
    nodes: Vec<u64>,
    /// Steps as pairs of nodes, sorted.
    steps: Vec<(u32, u32)>,
    /// For each node, where its steps start in `ends`.
    starts: Vec<u32>,
    /// The other ends of the steps, by node.
    ends: Vec<u32>,
}

const FAR: u32 = u32::MAX;

impl Graph {
    /// The graph of the steps of a relation with nodes of `k` objects; with `back` searches go against the steps.
    pub fn new(relation: &Relation, k: usize, packing: Packing, goals: &[u64], back: bool) -> Graph {
        let shift = packing.width(k);
        let halves = |step: u64| (step >> shift, step & ((1 << shift) - 1));
        let mut nodes: Vec<u64> = relation.iter().flat_map(|s| <[u64; 2]>::from(halves(s))).collect();
        nodes.extend_from_slice(goals);
        nodes.sort_unstable();
        nodes.dedup();
        let number: FxHashMap<u64, u32> = nodes.iter().enumerate().map(|(i, &n)| (n, i as u32)).collect();
        let mut steps: Vec<(u32, u32)> =
            relation.iter().map(halves).map(|(a, b)| (number[&a], number[&b])).collect();
        steps.sort_unstable();
        let mut starts = vec![0; nodes.len() + 1];
        for &(a, b) in &steps {
            starts[if back { b } else { a } as usize + 1] += 1;
        }
        for i in 0..nodes.len() {
            starts[i + 1] += starts[i];
        }
        let mut ends = vec![0; steps.len()];
        let mut next = starts.clone();
        for &(a, b) in &steps {
            let (from, to) = if back { (b, a) } else { (a, b) };
            ends[next[from as usize] as usize] = to;
            next[from as usize] += 1;
        }
        Graph { nodes, steps, starts, ends }
    }

    /// The number of steps from any of `sources` to each node, into `distance`. Returns how many steps were looked at.
    pub fn search(&self, sources: impl Iterator<Item = u32>, distance: &mut Vec<u32>) -> usize {
        distance.clear();
        distance.resize(self.nodes.len(), FAR);
        let mut queue: VecDeque<u32> = VecDeque::new();
        for s in sources {
            distance[s as usize] = 0;
            queue.push_back(s);
        }
        let mut looked_at = 0;
        while let Some(n) = queue.pop_front() {
            let n = n as usize;
            let ends = &self.ends[self.starts[n] as usize..self.starts[n + 1] as usize];
            looked_at += 1 + ends.len();
            for &m in ends {
                if distance[m as usize] == FAR {
                    distance[m as usize] = distance[n] + 1;
                    queue.push_back(m);
                }
            }
        }
        looked_at
    }

    /// Where a step leads from a node that is nearer to where a search against the steps began.
    pub fn nearer_step(&self, from: u32, distance: &[u32]) -> Option<u32> {
        let first = self.steps.partition_point(|s| s.0 < from);
        let steps = self.steps[first..].iter().take_while(|s| s.0 == from);
        let mut nearer = steps.filter(|s| {
            let (here, there) = (distance[from as usize], distance[s.1 as usize]);
            there != FAR && here == there + 1
        });
        nearer.next().map(|s| s.1)
    }

    /// The tuple of a node.
    pub fn node(&self, number: u32) -> u64 {
        self.nodes[number as usize]
    }

    /// The number of a node, if it is one.
    pub fn number(&self, node: u64) -> Option<u32> {
        self.nodes.binary_search(&node).ok().map(|i| i as u32)
    }

    /// The nodes that a search reaches, the first after its sources first.
    fn reached(distance: &[u32]) -> impl Iterator<Item = u32> {
        (0..distance.len() as u32).filter(|&n| distance[n as usize] != FAR)
    }
}

impl Native {
    pub fn closure(relation: usize, of: usize) -> Native {
        Native { relation, along: of, to: None, closure: true }
    }

    pub fn distance(relation: usize, along: usize, to: Option<usize>) -> Native {
        Native { relation, along, to, closure: false }
    }

    /// Whether it depends on this relation.
    pub fn reads(&self, relation: usize) -> bool {
        self.along == relation || self.to == Some(relation)
    }

    /// All facts that follow, and how many steps were looked at. It breaks off where there are more facts or steps than these.
    pub fn derive(
        &self,
        relations: &[Relation],
        arities: &[usize],
        packing: Packing,
        (most_facts, most_work): (usize, usize),
        facts: &mut Vec<u64>,
    ) -> (ControlFlow<()>, usize) {
        let k = arities[self.along] / 2;
        let shift = packing.width(k);
        let mut distance = Vec::new();
        let mut work = 0;
        let mut is_too_much = |facts: &[u64], looked_at: usize| {
            work += looked_at;
            facts.len() > most_facts || work > most_work
        };
        let goals: Vec<u64> = self.to.map_or_else(Vec::new, |to| relations[to].iter().collect());
        let graph = Graph::new(&relations[self.along], k, packing, &goals, !self.closure);
        let nodes = 0..graph.nodes.len() as u32;
        // d(X) <= d(Y) + 1 along a step from X to Y: it brings one nearer iff these are equal.
        let nearer =
            |d: &[u32], (x, y): (u32, u32)| d[y as usize] != FAR && d[x as usize] == d[y as usize] + 1;
        let step = |(x, y): (u32, u32)| graph.nodes[x as usize] << shift | graph.nodes[y as usize];
        let broke = if self.closure {
            nodes.into_iter().any(|start| {
                let looked_at = graph.search(std::iter::once(start), &mut distance);
                let ends = Graph::reached(&distance).filter(|&end| end != start);
                facts.extend(ends.map(|end| step((start, end))));
                is_too_much(facts, looked_at)
            })
        } else if self.to.is_some() {
            let looked_at = graph.search(goals.iter().filter_map(|&g| graph.number(g)), &mut distance);
            facts.extend(graph.steps.iter().filter(|&&s| nearer(&distance, s)).map(|&s| step(s)));
            is_too_much(facts, looked_at)
        } else {
            nodes.into_iter().any(|goal| {
                let looked_at = graph.search(std::iter::once(goal), &mut distance);
                let found = graph.steps.iter().filter(|&&s| nearer(&distance, s));
                facts.extend(found.map(|&s| step(s) << shift | graph.nodes[goal as usize]));
                is_too_much(facts, looked_at + graph.steps.len())
            })
        };
        (if broke { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }, work)
    }
}
