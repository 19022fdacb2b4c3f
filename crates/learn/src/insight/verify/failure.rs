//! The states from which some way of breaking ties fails, as a graph: whether luck alone decides, and a shortest way to
//! fail.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// A run that does not lead to what is asked for: by its states, up to names that are not told apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// Its family.
    pub family: u64,
    /// The states that it goes through, in each of which an action is taken.
    pub states: Vec<u128>,
    /// The place of the state that the last action leads back to; `None` if it leads to a dead end.
    pub back_to: Option<usize>,
    /// Whether no shorter run fails: a search of a very large graph gives up at some point.
    pub is_shortest: bool,
}

impl Failure {
    /// How many actions it takes to fail.
    pub fn length(&self) -> usize {
        self.states.len()
    }
}

/// A bad state: some way of breaking ties fails from it.
pub(crate) struct Node {
    /// Its number among all states.
    pub id: u32,
    /// Whether a choice leads to a dead end at once.
    pub dead: bool,
    /// Whether a choice leads to what is asked for, or to a state from which all do.
    pub escapes: bool,
    /// Where its successors begin.
    pub first: usize,
}

/// The bad states and the choices that lead from one to another.
#[derive(Default)]
pub(crate) struct Graph {
    pub nodes: Vec<Node>,
    edges: Vec<u32>,
    /// Whether there were too many edges to keep.
    cut: bool,
}

/// What ties broken at random come to, for each node of a graph.
pub(crate) struct Chances {
    /// No choices lead from it to what is asked for.
    pub stuck: Vec<bool>,
    /// A dead end, or a stuck node, can be reached from it. Elsewhere chance finds the way in the end, with probability 1.
    pub unsure: Vec<bool>,
}

/// A failing run by its nodes.
pub(crate) struct Found {
    pub nodes: Vec<u32>,
    pub back_to: Option<usize>,
    pub is_shortest: bool,
}

/// Edges kept at the most: 400 MB of them.
const MOST_EDGES: usize = 100_000_000;
/// Steps of the search for a shortest loop, at the most.
const MOST_STEPS: usize = 50_000_000;
const NONE: u32 = u32::MAX;

impl Graph {
    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.edges.clear();
        self.cut = false;
    }

    /// Adds a bad state with its successors that are not good, by their numbers among all states.
    pub(crate) fn push(&mut self, mut node: Node, next: impl Iterator<Item = u32>) {
        node.first = self.edges.len();
        self.nodes.push(node);
        if self.edges.len() > MOST_EDGES {
            self.cut = true;
            // One edge keeps every state connected to some failure.
            self.edges.extend(next.take(1));
            return;
        }
        let from = self.edges.len();
        self.edges.extend(next);
        self.edges[from..].sort_unstable();
        let mut kept = from;
        for i in from..self.edges.len() {
            if i == from || self.edges[i] != self.edges[kept - 1] {
                self.edges[kept] = self.edges[i];
                kept += 1;
            }
        }
        self.edges.truncate(kept);
    }

    /// Turns the numbers of successors into places in this graph, now that all of them have one.
    pub(crate) fn close(&mut self, place: impl Fn(u32) -> u32) {
        for edge in &mut self.edges {
            *edge = place(*edge);
        }
    }

    fn next(&self, node: u32) -> &[u32] {
        let node = node as usize;
        let end = self.nodes.get(node + 1).map_or(self.edges.len(), |n| n.first);
        &self.edges[self.nodes[node].first..end]
    }

    /// What ties broken at random come to.
    pub(crate) fn chances(&self) -> Chances {
        if self.cut {
            let all = vec![true; self.nodes.len()];
            return Chances { stuck: all.clone(), unsure: all };
        }
        let before = self.reversed();
        let mut can_win: Vec<bool> = self.nodes.iter().map(|n| n.escapes).collect();
        before.spread(&mut can_win);
        let stuck: Vec<bool> = can_win.iter().map(|win| !win).collect();
        let mut unsure: Vec<bool> =
            self.nodes.iter().zip(&stuck).map(|(n, &stuck)| n.dead || stuck).collect();
        before.spread(&mut unsure);
        Chances { stuck, unsure }
    }

    fn reversed(&self) -> Reversed {
        let mut first = vec![0usize; self.nodes.len() + 1];
        for &to in &self.edges {
            first[to as usize + 1] += 1;
        }
        for i in 0..self.nodes.len() {
            first[i + 1] += first[i];
        }
        let mut place = first.clone();
        let mut edges = vec![0; self.edges.len()];
        for from in 0..self.nodes.len() as u32 {
            for &to in self.next(from) {
                edges[place[to as usize]] = from;
                place[to as usize] += 1;
            }
        }
        Reversed { first, edges }
    }

    /// A run of fewest actions from one of these nodes into a dead end or back to a state of its own, if it has fewer
    /// actions than `bound`. Loops count only if they go through a node of which `counts` holds.
    pub(crate) fn shortest_failure(
        &self,
        starts: &[u32],
        bound: usize,
        counts: impl Fn(u32) -> bool,
    ) -> Option<Found> {
        // How far each node is from a start, and from where.
        let mut depth = vec![NONE; self.nodes.len()];
        let mut parent = vec![NONE; self.nodes.len()];
        let mut order = Vec::new();
        for &s in starts {
            if depth[s as usize] == NONE {
                depth[s as usize] = 0;
                order.push(s);
            }
        }
        let mut at = 0;
        while let Some(&node) = order.get(at) {
            at += 1;
            for &next in self.next(node) {
                if depth[next as usize] == NONE {
                    depth[next as usize] = depth[node as usize] + 1;
                    parent[next as usize] = node;
                    order.push(next);
                }
            }
        }
        let path = |node: u32| {
            let mut path: Vec<u32> = std::iter::successors(Some(node), |&n| {
                (parent[n as usize] != NONE).then_some(parent[n as usize])
            })
            .collect();
            path.reverse();
            path
        };
        let mut best: Option<Found> = None;
        let mut length = bound;
        // Nodes come in order of depth, so the first dead end is the nearest.
        if let Some(&node) = order.iter().find(|&&n| self.nodes[n as usize].dead)
            && (depth[node as usize] as usize) + 1 < length
        {
            length = depth[node as usize] as usize + 1;
            best = Some(Found { nodes: path(node), back_to: None, is_shortest: true });
        }
        let mut cycles =
            Cycles { graph: self, seen: vec![NONE; self.nodes.len()], from: Vec::new(), steps: 0 };
        cycles.from.resize(self.nodes.len(), NONE);
        for &node in &order {
            let before = depth[node as usize] as usize;
            if before + 1 >= length {
                break;
            }
            if counts(node)
                && let Some(cycle) = cycles.shortest_through(node, length - before - 1)
            {
                let mut nodes = path(node);
                nodes.extend(&cycle);
                length = nodes.len();
                best = Some(Found { nodes, back_to: Some(before), is_shortest: true });
            }
            if cycles.steps > MOST_STEPS && best.is_some() {
                break;
            }
        }
        let gave_up = self.cut || cycles.steps > MOST_STEPS;
        best.map(|found| Found { is_shortest: !gave_up, ..found })
    }
}

struct Reversed {
    first: Vec<usize>,
    edges: Vec<u32>,
}

impl Reversed {
    /// Marks everything from which something marked can be reached.
    fn spread(&self, marked: &mut [bool]) {
        let mut queue: Vec<u32> = (0..marked.len() as u32).filter(|&n| marked[n as usize]).collect();
        while let Some(node) = queue.pop() {
            for &before in &self.edges[self.first[node as usize]..self.first[node as usize + 1]] {
                if !std::mem::replace(&mut marked[before as usize], true) {
                    queue.push(before);
                }
            }
        }
    }
}

/// Searches for short cycles, one node after another.
struct Cycles<'g> {
    graph: &'g Graph,
    /// The node whose search saw this one last.
    seen: Vec<u32>,
    from: Vec<u32>,
    steps: usize,
}

impl Cycles<'_> {
    /// The nodes after `node` on a shortest cycle through it with at most `most` actions.
    fn shortest_through(&mut self, node: u32, most: usize) -> Option<Vec<u32>> {
        let mut queue = VecDeque::from([(node, 1)]);
        while let Some((at, actions)) = queue.pop_front() {
            if actions > most {
                return None;
            }
            for &next in self.graph.next(at) {
                self.steps += 1;
                if next == node {
                    let mut cycle = Vec::new();
                    let mut back = at;
                    while back != node {
                        cycle.push(back);
                        back = self.from[back as usize];
                    }
                    cycle.reverse();
                    return Some(cycle);
                }
                if self.seen[next as usize] != node {
                    self.seen[next as usize] = node;
                    self.from[next as usize] = at;
                    queue.push_back((next, actions + 1));
                }
            }
            if self.steps > 2 * MOST_STEPS {
                return None;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A graph of nodes with (dead, escapes, successors).
    fn graph(nodes: &[(bool, bool, &[u32])]) -> Graph {
        let mut graph = Graph::default();
        for (i, (dead, escapes, next)) in nodes.iter().enumerate() {
            graph.push(Node { id: i as u32, dead: *dead, escapes: *escapes, first: 0 }, next.iter().copied());
        }
        graph
    }

    #[test]
    fn a_shortest_loop_or_dead_end() {
        let find = |nodes: &[(bool, bool, &[u32])], starts: &[u32]| {
            graph(nodes).shortest_failure(starts, usize::MAX, |_| true).map(|f| (f.nodes, f.back_to))
        };
        // 0 -> 1 -> 2 -> 0, and 2 -> 2.
        let lasso: &[(bool, bool, &[u32])] =
            &[(false, false, &[1]), (false, false, &[2]), (false, false, &[0, 2])];
        assert_eq!(find(lasso, &[0]), Some((vec![0, 1, 2], Some(0))));
        assert_eq!(find(lasso, &[1]), Some((vec![1, 2], Some(1))));
        assert_eq!(find(lasso, &[0, 1, 2]), Some((vec![2], Some(0))));
        // A dead end two actions away beats a loop of three.
        let dead: &[(bool, bool, &[u32])] =
            &[(false, false, &[1]), (true, false, &[2]), (false, false, &[0])];
        assert_eq!(find(dead, &[0]), Some((vec![0, 1], None)));
        assert!(graph(dead).shortest_failure(&[0], 2, |_| true).is_none(), "nothing shorter than the bound");
    }

    #[test]
    fn luck_decides_where_a_way_out_stays_open() {
        // 0 <-> 1, 1 escapes; 2 -> 2 has no way out; 3 -> 1, 2.
        let nodes: &[(bool, bool, &[u32])] =
            &[(false, false, &[1]), (false, true, &[0]), (false, false, &[2]), (false, true, &[1, 2])];
        let graph = graph(nodes);
        let chances = graph.chances();
        assert_eq!(chances.stuck, [false, false, true, false]);
        assert_eq!(chances.unsure, [false, false, true, true]);
        // The loop between 0 and 1 is no failure if chance ends it.
        let found = graph.shortest_failure(&[3], usize::MAX, |n| chances.stuck[n as usize]);
        assert_eq!(found.map(|f| (f.nodes, f.back_to)), Some((vec![3, 2], Some(1))));
    }
}
