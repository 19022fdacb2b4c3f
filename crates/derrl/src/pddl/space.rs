//! Every state of given problems that can be reached, for `verify`, `diff` and `simplify`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use derrl_env::{Env, Error, Extent, Family, Next, Objects, Scene, Size, Space};
use derrl_logic::{Action, Alphabet, Facts, GroundAction, Object, Universe};
use derrl_pddl::{Graph, PddlEnv, Problems};

use super::Pddl;

/// The most states of all problems together.
const MOST: usize = 500_000;

struct Walkable {
    sizes: Vec<Size>,
    problems: Vec<Vec<Arc<Walked>>>,
}

/// A problem with all its states.
struct Walked {
    problems: Arc<Problems>,
    place: usize,
    graph: Graph,
    /// The fewest steps from each state to the goal.
    shortest: Vec<Option<u32>>,
}

/// The states of the tasks that are tests, or else of the one that is trained on.
pub fn space(pddl: &Arc<Pddl>, alphabet: &Arc<Alphabet>, extent: &Extent) -> Result<Box<dyn Space>, Error> {
    let tests: Vec<&str> = pddl.task_names().filter(|name| *name != "train").collect();
    let names = if tests.is_empty() { vec!["train"] } else { tests };
    let (mut sizes, mut all, mut left) = (Vec::new(), Vec::new(), MOST);
    for (i, name) in names.into_iter().take(extent.largest).enumerate() {
        let problems = pddl.problems(name, alphabet)?;
        let mut walked = Vec::new();
        for &place in problems.drawn() {
            let task = problems.task(place);
            let Some(graph) = derrl_pddl::graph(task, left) else {
                return Err(Error::Option(format!(
                    "{}: more than {left} states can be reached, too many to look at each; `derrl eval` plays it",
                    task.problem.file
                )));
            };
            left -= graph.states.len();
            walked.push(Arc::new(Walked {
                problems: Arc::clone(&problems),
                place,
                shortest: distances(&graph, &problems),
                graph,
            }));
        }
        if let Some(bad) = walked.iter().find(|w| w.shortest[0].is_none()) {
            return Err(Error::Option(format!(
                "{} cannot be solved: none of the {} states that can be reached is a goal",
                problems.task(bad.place).problem.file,
                bad.graph.states.len()
            )));
        }
        let states = walked.iter().map(|w| w.graph.states.len());
        sizes.push(Size {
            size: i + 1,
            title: name.to_string(),
            families: walked.len() as u64,
            states: states.clone().sum::<usize>() as f64,
            widest: states.max().unwrap_or(0) as f64,
        });
        all.push(walked);
    }
    Ok(Box::new(Walkable { sizes, problems: all }))
}

/// The fewest steps from each state to a goal, backwards from the goals.
fn distances(graph: &Graph, problems: &Problems) -> Vec<Option<u32>> {
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); graph.states.len()];
    for (from, edges) in graph.edges.iter().enumerate() {
        // What the alphabet does not have, as with equal arguments, is none of a policy's.
        let known = edges.iter().filter(|e| problems.action(e.0, &e.1).is_some());
        known.for_each(|e| before[e.2].push(from));
    }
    let mut shortest = vec![None; graph.states.len()];
    let mut queue: VecDeque<usize> = (0..graph.states.len()).filter(|&s| graph.goals[s]).collect();
    for &s in &queue {
        shortest[s] = Some(0);
    }
    while let Some(state) = queue.pop_front() {
        for &from in &before[state] {
            if shortest[from].is_none() {
                shortest[from] = shortest[state].map(|n: u32| n + 1);
                queue.push_back(from);
            }
        }
    }
    shortest
}

impl Space for Walkable {
    fn sizes(&self) -> &[Size] {
        &self.sizes
    }

    fn family(&self, size: usize, i: u64) -> Box<dyn Family> {
        let walked = Arc::clone(&self.problems[size][i as usize]);
        let env = PddlEnv::new(Arc::clone(&walked.problems))
            .expect("only problems with something to do are walked");
        Box::new(Instance { walked, env: Mutex::new(env) })
    }
}

/// One problem. A state is its number in the graph.
struct Instance {
    walked: Arc<Walked>,
    env: Mutex<PddlEnv>,
}

impl Instance {
    fn at<T>(&self, state: u128, look: impl FnOnce(&PddlEnv) -> T) -> T {
        let mut env = self.env.lock().unwrap_or_else(PoisonError::into_inner);
        env.look_at(self.walked.place, &self.walked.graph.states[state as usize]);
        look(&env)
    }
}

impl Family for Instance {
    fn universe(&self) -> &Arc<Universe> {
        self.walked.problems.universe(self.walked.place)
    }

    fn title(&self) -> String {
        self.walked.problems.task(self.walked.place).problem.file.clone()
    }

    fn starts(&self, visit: &mut dyn FnMut(u128, u128)) {
        visit(0, 1);
    }

    fn is_closed(&self) -> bool {
        false
    }

    fn facts(&self, state: u128, facts: &mut Facts) {
        self.at(state, |env| env.facts(facts));
    }

    fn legal(&self, state: u128, actions: &mut Vec<GroundAction>) -> bool {
        self.at(state, |env| env.legal(actions))
    }

    fn step(&self, state: u128, action: Action, args: &[Object]) -> Next {
        let graph = &self.walked.graph;
        let (schema, objects) = self.walked.problems.ground(action, args);
        let edges = &graph.edges[state as usize];
        match edges.iter().find(|(s, o, _)| *s == schema && *o == objects) {
            Some(&(_, _, next)) if graph.goals[next] => Next::Reached,
            Some(&(_, _, next)) => Next::State(next as u128),
            None => Next::State(state), // what is not applicable changes nothing
        }
    }

    fn shortest(&self, state: u128) -> Option<u32> {
        self.walked.shortest[state as usize]
    }

    fn scene(&self, _state: u128) -> Scene {
        Scene::Objects(Objects::of(self.universe()))
    }
}
