//! Every state that can be reached, where there are few enough.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::plan::Plan;
use crate::simulator::{Actions, Simulator, State};
use crate::task::Task;

/// What a search over all states found out.
#[derive(Clone, Debug, PartialEq)]
pub enum Solvability {
    /// There is a plan; this one is a shortest.
    Solvable(Plan),
    /// All states that can be reached were looked at, and none is a goal.
    Unsolvable {
        /// How many there are.
        states: usize,
    },
    /// The search stopped before it was done.
    Unknown {
        /// How many states it had looked at.
        states: usize,
    },
}

/// The states of a problem that can be reached, as a graph. The initial state is the first.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The states.
    pub states: Vec<State>,
    /// Whether each is a goal. Nothing is done in a goal.
    pub goals: Vec<bool>,
    /// For each state, what can be done: schema, objects and the state that it leads to.
    pub edges: Vec<Vec<(u32, Vec<u32>, usize)>>,
}

/// Actions that a state may have, per state that is looked at: where one has more, the search would not end in time either.
const PER_STATE: usize = 4;

/// How a state was first reached: from which state, and by which action.
type Reached = (usize, u32, Vec<u32>);

/// Whether a problem can be solved, by breadth-first search over at most `most` states.
pub fn solvability(task: &Arc<Task>, most: usize) -> Solvability {
    let mut simulator = Simulator::new(task.clone());
    if simulator.reached() {
        return Solvability::Solvable(Plan::default());
    }
    let mut states: Vec<(State, Option<Reached>)> = vec![(simulator.state(), None)];
    let mut seen: FxHashSet<State> = FxHashSet::from_iter([simulator.state()]);
    let mut actions = Actions::new();
    let mut next = 0;
    while next < states.len() {
        let state = states[next].0.clone();
        simulator.set_state(&state);
        if !simulator.legal_up_to(PER_STATE * most, &mut actions) {
            return Solvability::Unknown { states: states.len() };
        }
        for (action, args) in actions.iter() {
            simulator.set_state(&state);
            simulator.apply(action, args);
            let reached = simulator.state();
            if seen.contains(&reached) {
                continue;
            }
            states.push((reached.clone(), Some((next, action, args.to_vec()))));
            if simulator.reached() {
                let mut steps = Vec::new();
                let mut at = states.len() - 1;
                while let Some((before, action, args)) = states[at].1.take() {
                    steps.push((action, args));
                    at = before;
                }
                steps.reverse();
                return Solvability::Solvable(Plan { steps });
            }
            if states.len() > most {
                return Solvability::Unknown { states: most };
            }
            seen.insert(reached);
        }
        next += 1;
    }
    Solvability::Unsolvable { states: states.len() }
}

/// All states that can be reached; `None` where there are more than `most`.
pub fn graph(task: &Arc<Task>, most: usize) -> Option<Graph> {
    let mut simulator = Simulator::new(task.clone());
    let first = simulator.state();
    let mut ids: FxHashMap<State, usize> = FxHashMap::from_iter([(first.clone(), 0)]);
    let mut graph = Graph { states: vec![first], goals: vec![simulator.reached()], edges: Vec::new() };
    let mut queue = VecDeque::from([0]);
    let mut actions = Actions::new();
    while let Some(at) = queue.pop_front() {
        let mut edges = Vec::new();
        if !graph.goals[at] {
            let state = graph.states[at].clone();
            simulator.set_state(&state);
            if !simulator.legal_up_to(PER_STATE * most, &mut actions) {
                return None;
            }
            for (action, args) in actions.iter() {
                simulator.set_state(&state);
                simulator.apply(action, args);
                let reached = simulator.state();
                let id = *ids.entry(reached).or_insert_with_key(|state| {
                    graph.states.push(state.clone());
                    graph.goals.push(simulator.reached());
                    queue.push_back(graph.states.len() - 1);
                    graph.states.len() - 1
                });
                if graph.states.len() > most {
                    return None;
                }
                edges.push((action, args.to_vec(), id));
            }
        }
        graph.edges.push(edges);
    }
    Some(graph)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;

    /// 292 sandwiches of as many pieces of bread and portions of content: 25 million actions, which nobody wants to see.
    #[test]
    fn what_is_too_much_is_not_listed() {
        let generator = Generator::find("childsnack").expect("a generator of that name");
        let domain = generator.domain().expect("it parses");
        let task = generator.task(&domain, 292, 0).expect("it parses");
        let mut actions = Actions::new();
        let simulator = Simulator::new(Arc::clone(&task));
        assert!(!simulator.legal_up_to(1_000, &mut actions));
        assert!(matches!(solvability(&task, 1_000), Solvability::Unknown { .. }));
        assert!(graph(&task, 1_000).is_none());
        let small = generator.task(&domain, 1, 0).expect("it parses");
        let simulator = Simulator::new(small);
        assert!(simulator.legal_up_to(1_000, &mut actions) && !actions.is_empty());
    }
}
