//! PDDL problems as a world: episodes that end at the goal.

use std::sync::Arc;

use derrl_env::{Entered, Env, Journal, Outcome, Rng, Status};
use derrl_logic::alphabet::{distinct_of, places_of};
use derrl_logic::syntax::Constant;
use derrl_logic::{Action, Alphabet, Error, Facts, GroundAction, Object, Pred, Type, Types, Universe};
use rustc_hash::FxHashMap;

use crate::domain::Role;
use crate::simulator::{Actions, Simulator};
use crate::task::Task;
use crate::translate::{Translation, constant};
use crate::types::Kind;

/// How much of a step's price is the step itself where a problem asks for the least cost: steps that cost nothing are
/// still better left out.
const STEP_SHARE: f64 = 0.01;

/// How many steps an episode in a problem may take, where nothing else is asked for: 20 + 10 per object.
pub fn default_horizon(task: &Task) -> usize {
    20 + 10 * task.size()
}

/// Problems to draw from, bound to an alphabet. Shared by all environments that draw from them.
#[derive(Debug)]
pub struct Problems {
    tasks: Vec<Instance>,
    /// The problems whose goal does not hold at first and in which something can be done.
    drawn: Vec<usize>,
    binding: Binding,
}

#[derive(Debug)]
struct Instance {
    task: Arc<Task>,
    universe: Arc<Universe>,
    horizon: usize,
}

/// How the ids of an alphabet correspond to those of a domain.
#[derive(Debug)]
struct Binding {
    predicates: Vec<Option<Pred>>,
    goals: FxHashMap<(bool, u32), Pred>,
    guards: Vec<(Kind, Pred)>,
    /// The schema of each action, and the action of each schema.
    schemas: Vec<u32>,
    actions: Vec<Option<Action>>,
    /// The actions with equal arguments: the schema, and where the arguments stand.
    repeated: Vec<(u32, Vec<u8>, Action)>,
}

impl Binding {
    fn new(translation: &Translation, alphabet: &Alphabet) -> Result<Binding, Error> {
        let domain = &translation.domain;
        let arities = domain.schemas.iter().map(|s| s.arity);
        let mut repeated = Vec::new();
        let known: Vec<(&str, usize)> = translation.actions.iter().map(String::as_str).zip(arities).collect();
        let mut schemas = Vec::new();
        for (i, action) in alphabet.actions.iter().enumerate() {
            let at = known.iter().position(|&k| k == (action.name.as_str(), action.arity()));
            let Some(at) = at else {
                return Err(Error::new(format!(
                    "the PDDL domain `{}` has no action `{}/{}`",
                    domain.name,
                    action.name,
                    action.arity()
                )));
            };
            if action.repeats() {
                repeated.push((at as u32, action.places.clone(), Action(i as u32)));
            }
            schemas.push(at as u32);
        }
        let actions = known.iter().map(|&(name, arity)| alphabet.find_action(name, arity)).collect();
        let arity = |p: u32| domain.predicates[p as usize].args.len();
        // Derived predicates are not given: the text defines them.
        let predicates = (0..domain.predicates.len() as u32)
            .map(|p| {
                let given = domain.predicates[p as usize].role() != Role::Derived;
                alphabet.find_predicate(&translation.predicates[p as usize], arity(p)).filter(|_| given)
            })
            .collect();
        let goals = translation.goals.iter();
        let goals = goals.filter_map(|(&k, name)| Some((k, alphabet.find_predicate(name, arity(k.1))?)));
        let guards = translation.guards.iter();
        Ok(Binding {
            predicates,
            goals: goals.collect(),
            guards: guards.filter_map(|(&k, name)| Some((k, alphabet.find_predicate(name, 1)?))).collect(),
            schemas,
            actions,
            repeated,
        })
    }

    /// The action of a schema with these arguments, if the alphabet has it.
    fn action(&self, schema: u32, args: &[u32]) -> Option<Action> {
        if distinct(args) {
            return self.actions[schema as usize];
        }
        let mut of = self.repeated.iter().filter(|(of, ..)| *of == schema).peekable();
        of.peek()?;
        let places = places_of(args);
        of.find(|(_, known, _)| *known == places).map(|(.., action)| *action)
    }

    /// Its arguments as the schema has them.
    fn written(&self, action: Action, args: &[Object], all: &mut Vec<u32>) {
        all.clear();
        match self.repeated.iter().find(|(.., of)| *of == action) {
            Some((_, places, _)) => all.extend(places.iter().map(|&place| args[usize::from(place)].0)),
            None => all.extend(args.iter().map(|o| o.0)),
        }
    }
}

/// The universe of a problem: its objects under derrl's names. Two that would have the same name are an error.
fn universe(
    task: &Task,
    translation: &Translation,
    alphabet: &Alphabet,
) -> Result<Vec<(Constant, Type)>, Error> {
    let mut seen: FxHashMap<Constant, &str> = FxHashMap::default();
    let mut objects = Vec::new();
    for object in &task.problem.objects {
        let name = constant(&object.name);
        if let Some(other) = seen.insert(name.clone(), &object.name) {
            return Err(Error::new(format!(
                "objects `{other}` and `{}` of `{}` would both be called `{name}`",
                object.name, task.problem.file
            ))
            .with_help("rename one of them in the PDDL file"));
        }
        objects.push((name, object_type(task, translation, alphabet, &object.types)));
    }
    Ok(objects)
}

/// The alphabet's type of an object: its own, or the nearest above it that the alphabet names.
fn object_type(task: &Task, translation: &Translation, alphabet: &Alphabet, types: &[u16]) -> Type {
    let all = &task.domain.types;
    let named = |t: u16| {
        let kind = all.kinds().find(|(_, members)| *members == [t]).map(|(kind, _)| kind);
        let name = kind
            .map_or_else(|| crate::translate::plain(all.name(t)), |k| translation.kind_name(k).to_string());
        alphabet.types.find(&name)
    };
    // Of an object of several types, what all of them are.
    let mut candidates: Vec<u16> = (1..all.len() as u16)
        .filter(|&above| types.iter().all(|&t| all.is_subtype(t, above)) && named(above).is_some())
        .collect();
    candidates
        .sort_by_key(|&t| std::cmp::Reverse((0..all.len() as u16).filter(|&a| all.is_subtype(t, a)).count()));
    candidates.first().and_then(|&t| named(t)).unwrap_or(Types::ANY)
}

impl Problems {
    /// These problems for this alphabet: that of the translation's text, or an edited one. `horizon` takes the place
    /// of [`default_horizon`].
    ///
    /// Problems with the same objects share one universe.
    pub fn new(
        translation: &Translation,
        alphabet: &Alphabet,
        tasks: Vec<Arc<Task>>,
        horizon: Option<usize>,
    ) -> Result<Problems, Error> {
        let binding = Binding::new(translation, alphabet)?;
        let mut universes: FxHashMap<Vec<(Constant, Type)>, Arc<Universe>> = FxHashMap::default();
        let mut instances = Vec::new();
        for task in tasks {
            if !Arc::ptr_eq(&task.domain, &translation.domain) && task.domain.name != translation.domain.name
            {
                return Err(Error::new(format!(
                    "`{}` is a problem of domain `{}`, not of `{}`",
                    task.problem.file, task.domain.name, translation.domain.name
                )));
            }
            let objects = universe(&task, translation, alphabet)?;
            let universe =
                universes.entry(objects.clone()).or_insert_with(|| Arc::new(Universe::new(objects))).clone();
            let horizon = horizon.unwrap_or_else(|| default_horizon(&task)).max(1);
            instances.push(Instance { task, universe, horizon });
        }
        let mut problems = Problems { tasks: instances, drawn: Vec::new(), binding };
        for i in 0..problems.tasks.len() {
            let simulator = Simulator::new(problems.tasks[i].task.clone());
            if !simulator.reached() && problems.can_act(&simulator) {
                problems.drawn.push(i);
            }
        }
        Ok(problems)
    }

    /// How many problems there are.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// The `i`-th problem.
    pub fn task(&self, i: usize) -> &Arc<Task> {
        &self.tasks[i].task
    }

    /// The objects of the `i`-th problem.
    pub fn universe(&self, i: usize) -> &Arc<Universe> {
        &self.tasks[i].universe
    }

    /// How many steps an episode in the `i`-th problem may take.
    pub fn horizon(&self, i: usize) -> usize {
        self.tasks[i].horizon
    }

    /// The problems that [`Env::reset`] draws: not those whose goal holds at first, nor those in which nothing can be
    /// done.
    pub fn drawn(&self) -> &[usize] {
        &self.drawn
    }

    /// The schema and objects of an action in the numbers of the domain.
    pub fn ground(&self, action: Action, args: &[Object]) -> (u32, Vec<u32>) {
        let mut all = Vec::with_capacity(args.len());
        self.binding.written(action, args, &mut all);
        (self.binding.schemas[action.0 as usize], all)
    }

    /// The action of a schema with these arguments, if the alphabet has it.
    pub fn action(&self, schema: u32, args: &[u32]) -> Option<Action> {
        self.binding.action(schema, args)
    }

    /// Whether some action that the alphabet has is applicable.
    fn can_act(&self, simulator: &Simulator) -> bool {
        simulator.some_action(&mut |schema, args| self.action(schema, args).is_some())
    }
}

fn distinct<T: PartialEq>(args: &[T]) -> bool {
    args.iter().enumerate().all(|(i, a)| !args[..i].contains(a))
}

/// Episodes in problems of one domain.
///
/// With horizon H, cost c of a step and cost C of the dearest step (both 1 where a problem asks for no least cost), a
/// step has the price p = 0.01 + 0.99 c / C, or 1 without costs. Its reward is -p / 2H, plus 1 if it reaches the goal. A
/// step after which nothing can be done ends the episode and is charged for all steps that are left. So every
/// success returns more than 1/2 and every failure at most 0, and of two successes the cheaper or shorter one returns
/// more.
pub struct PddlEnv {
    problems: Arc<Problems>,
    current: usize,
    simulators: FxHashMap<usize, Simulator>,
    journal: Journal,
    steps: usize,
    cost: f64,
    /// The arguments of the last action.
    objects: Vec<u32>,
}

/// The most simulators that an environment keeps for problems it has drawn.
const KEPT: usize = 256;

impl PddlEnv {
    /// An environment in the first problem that can be drawn. An error if there is none.
    pub fn new(problems: Arc<Problems>) -> Result<PddlEnv, Error> {
        if problems.drawn.is_empty() {
            return Err(Error::new(if problems.is_empty() {
                "there are no problems".to_string()
            } else {
                format!(
                    "in all {} problems the goal holds at first, or nothing can be done",
                    problems.tasks.len()
                )
            })
            .with_help("give problems in which something has to be done"));
        }
        PddlEnv::of_any(problems)
    }

    /// The same for problems that are played one by one: something need not be left to do in any of them. An error if there are none.
    pub fn of_any(problems: Arc<Problems>) -> Result<PddlEnv, Error> {
        if problems.is_empty() {
            return Err(Error::new("there are no problems"));
        }
        let first = problems.drawn.first().copied().unwrap_or(0);
        let mut env = PddlEnv {
            problems,
            current: first,
            simulators: FxHashMap::default(),
            journal: Journal::new(),
            steps: 0,
            cost: 0.0,
            objects: Vec::new(),
        };
        env.start(first);
        Ok(env)
    }

    /// Starts an episode in the `i`-th problem, whether or not it would be drawn.
    pub fn start(&mut self, i: usize) {
        self.current = i;
        self.steps = 0;
        self.cost = 0.0;
        if self.simulators.len() >= KEPT && !self.simulators.contains_key(&i) {
            self.simulators.clear();
        }
        let task = &self.problems.tasks[i].task;
        self.simulators.entry(i).and_modify(Simulator::reset).or_insert_with(|| Simulator::new(task.clone()));
        self.journal.begin();
    }

    /// Starts an episode in the `i`-th problem, in this state of it. There is no journal of how it came there.
    pub fn look_at(&mut self, i: usize, state: &crate::simulator::State) {
        self.start(i);
        if let Some(simulator) = self.simulators.get_mut(&i) {
            simulator.set_state(state);
        }
    }

    /// The problem that the episode is in, by its number.
    pub fn current(&self) -> usize {
        self.current
    }

    /// The problems.
    pub fn problems(&self) -> &Arc<Problems> {
        &self.problems
    }

    /// The state of the episode.
    pub fn state(&self) -> &Simulator {
        &self.simulators[&self.current]
    }

    /// How many steps the episode has taken.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// What they cost together: their total cost, or their number.
    pub fn cost(&self) -> f64 {
        self.cost
    }

    fn instance(&self) -> &Instance {
        &self.problems.tasks[self.current]
    }
}

impl Env for PddlEnv {
    fn reset(&mut self, rng: &mut Rng) {
        let drawn = &self.problems.drawn;
        // Where nothing is left to do in any problem, the first will do.
        let i = if drawn.is_empty() { 0 } else { drawn[rng.below(drawn.len())] };
        self.start(i);
    }

    fn restart(&mut self) {
        self.start(self.current);
    }

    fn universe(&self) -> &Arc<Universe> {
        &self.instance().universe
    }

    fn facts(&self, facts: &mut Facts) {
        let binding = &self.problems.binding;
        let mut args: Vec<Object> = Vec::new();
        let mut say = |facts: &mut Facts, pred: Pred, tuple: &[u32]| {
            args.clear();
            args.extend(tuple.iter().map(|&o| Object(o)));
            facts.push(pred, &args);
        };
        self.state().facts(&mut |p, tuple| {
            if let Some(pred) = binding.predicates[p as usize] {
                say(facts, pred, tuple);
            }
        });
        let task = &self.instance().task;
        for (holds, p, tuple) in task.goal_literals() {
            if let Some(&pred) = binding.goals.get(&(*holds, *p)) {
                say(facts, pred, tuple);
            }
        }
        for &(kind, pred) in &binding.guards {
            for &o in &task.kinds[usize::from(kind.0)].list {
                say(facts, pred, &[o]);
            }
        }
    }

    fn code(&self) -> Option<u128> {
        Some(self.state().code())
    }

    fn legal(&self, actions: &mut Vec<GroundAction>) -> bool {
        let mut all = Actions::new();
        self.state().legal(&mut all);
        let first = actions.len();
        for (schema, args) in all.iter() {
            if let Some(action) = self.problems.action(schema, args) {
                let args: Vec<Object> = args.iter().map(|&o| Object(o)).collect();
                let args = if distinct(&args) { args } else { distinct_of(&args) };
                actions.push(GroundAction { action, args });
            }
        }
        // An edited alphabet may order actions differently; those with equal arguments come last.
        if !actions[first..].is_sorted() {
            actions[first..].sort_unstable();
        }
        true
    }

    fn journal(&self) -> Option<&Journal> {
        Some(&self.journal)
    }

    fn step(&mut self, action: Action, args: &[Object], _rng: &mut Rng) -> Outcome {
        let instance = &self.problems.tasks[self.current];
        let binding = &self.problems.binding;
        let Some(simulator) = self.simulators.get_mut(&self.current) else {
            unreachable!("an episode has a simulator")
        };
        let schema = binding.schemas[action.0 as usize];
        let objects = &mut self.objects;
        binding.written(action, args, objects);
        let task = &instance.task;
        let before = simulator.change_count();
        // What is not applicable changes nothing and costs as much as anything.
        let cost = simulator.apply(schema, objects).unwrap_or(task.dearest());
        let mut tuple: Vec<Object> = Vec::new();
        for (p, args, holds) in simulator.changes(before) {
            if let Some(pred) = binding.predicates[p as usize] {
                tuple.clear();
                tuple.extend(args.iter().map(|&o| Object(o)));
                self.journal.note(pred, &tuple, holds);
            }
        }
        self.steps += 1;
        self.cost += cost;
        let price = if task.minimizes_cost() {
            STEP_SHARE + (1.0 - STEP_SHARE) * (cost / task.dearest()).min(1.0)
        } else {
            1.0
        };
        let whole = 2.0 * instance.horizon as f64;
        let mut reward = -price / whole;
        let status = if simulator.reached() {
            reward += 1.0;
            Status::Terminated
        } else if self.steps >= instance.horizon {
            Status::Truncated
        } else if !self.problems.can_act(simulator) {
            reward -= (instance.horizon - self.steps) as f64 / whole;
            Status::Terminated
        } else {
            Status::Running
        };
        Outcome { reward, status }
    }

    fn succeeded(&self) -> bool {
        self.state().reached()
    }

    fn instances(&self) -> usize {
        self.problems.len()
    }

    fn enter(&mut self, i: usize) -> Entered {
        self.start(i);
        if self.state().reached() {
            Entered::Reached
        } else if self.problems.can_act(self.state()) {
            Entered::Begun
        } else {
            Entered::Stuck
        }
    }

    fn title(&self) -> Option<&str> {
        Some(&self.instance().task.problem.file)
    }

    fn spent(&self) -> Option<f64> {
        Some(self.cost)
    }

    fn copy(&self) -> Option<Box<dyn Env>> {
        let simulators = FxHashMap::from_iter([(self.current, self.state().clone())]);
        let (problems, current) = (self.problems.clone(), self.current);
        // A journal of its own, so that nobody takes one for the other, with what has changed so far.
        let mut journal = Journal::new();
        for (pred, args, holds) in self.journal.since(0) {
            journal.note(pred, args, holds);
        }
        let (steps, cost, objects) = (self.steps, self.cost, Vec::new());
        Some(Box::new(PddlEnv { problems, current, simulators, journal, steps, cost, objects }))
    }
}
