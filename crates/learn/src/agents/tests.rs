//! Laws over the table of agents, and that each learns what the paper's did.

use std::sync::Arc;
use std::sync::Mutex;

use derrl_env::{Env, Options, Outcome, Rng, Status, World, find, observe};
use derrl_logic::{Action, Alphabet, Constant, Facts, Object, Pred, Source, Universe};

use super::*;
use crate::experience::counted::Counted;
use crate::learner::{Move, Silent};
use crate::settings::config::Config;

/// Worlds that can be made here, with an environment of their training task.
fn worlds() -> impl Iterator<Item = (&'static World, Arc<Alphabet>)> {
    derrl_env::worlds().iter().filter_map(|spec| {
        let alphabet = spec.alphabet();
        spec.make(&alphabet, &spec.tasks()[0].name, &Options::default()).ok()?;
        // Simulated worlds are too slow for laws over all of them.
        // Agents that learn without rules see facts only.
        (spec.name() != "traffic" && alphabet.measures.is_empty()).then_some((spec, alphabet))
    })
}

/// An agent for a world, trained.
fn trained(
    agent: &str,
    domain: &str,
    decisions: u64,
    seed: u64,
    adjust: impl Fn(&mut BaselineConfig),
) -> (Box<dyn Agent>, TrainingResult) {
    let spec = find(domain).expect("the world exists");
    let alphabet = spec.alphabet();
    let make_env = || spec.make(&alphabet, &spec.tasks()[0].name, &Options::default());
    let row = find_agent(agent).expect("the agent exists");
    let mut learning = row.learning.map_or_else(BaselineConfig::default, |own| own());
    adjust(&mut learning);
    let config = Config::default();
    let setup =
        Setup { alphabet: &alphabet, make_env: &make_env, config: &config, learning: Some(&learning) };
    let mut agent = (row.make)(&setup).expect("the agent can be made");
    let training = TrainingJob { make_env: &make_env, seed, decisions, threads: 2, watcher: &Silent };
    let trained = agent.train(&training).expect("training works").expect("nobody interrupts");
    (agent, trained)
}

fn mean(agent: &mut dyn Agent, domain: &str, task: &str) -> f64 {
    let spec = find(domain).expect("the world exists");
    let mut env = spec.make(&spec.alphabet(), task, &Options::default()).expect("the task exists");
    evaluate_agent(agent, env.as_mut(), 50, 1000).expect("the world does not fail").mean
}

fn setup_of<'a>(alphabet: &'a Arc<Alphabet>, make_env: &'a MakeEnv<'a>, config: &'a Config) -> Setup<'a> {
    Setup { alphabet, make_env, config, learning: None }
}

#[test]
fn gradients_match_finite_differences() {
    let config = Config::default();
    for (spec, alphabet) in worlds() {
        let make_env = || spec.make(&alphabet, &spec.tasks()[0].name, &Options::default());
        let setup = setup_of(&alphabet, &make_env, &config);
        // The task trained on, and a larger one.
        for task in [&spec.tasks()[0].name, &spec.tasks()[spec.tasks().len().min(3) - 1].name] {
            let mut env = spec.make(&alphabet, task, &Options::default()).expect("the task exists");
            mlp::learner(&setup).expect("it can be made").check_gradient(env.as_mut(), 1);
            gcn::learner(&setup).expect("it can be made").check_gradient(env.as_mut(), 2);
            nlrl::learner(&setup).expect("it can be made").check_gradient(env.as_mut(), 3);
        }
    }
}

#[test]
fn every_agent_replays_from_its_seed_and_from_what_it_saved() {
    for row in AGENTS {
        let run = |seed| trained(row.name, "blocks", 3000, seed, |l| l.restarts = 2);
        let (first, first_trained) = run(7);
        let (second, second_trained) = run(7);
        assert_eq!(first.save(), second.save(), "{}", row.name);
        assert_eq!(first_trained, second_trained, "{}", row.name);
        let (mut other, _) = run(8);
        let mut first = first;
        let want = mean(first.as_mut(), "blocks", "dynamic-blocks");
        other.load(&first.save()).expect("what was saved can be loaded");
        assert_eq!(other.save(), first.save(), "{}", row.name);
        assert_eq!(mean(other.as_mut(), "blocks", "dynamic-blocks"), want, "{}", row.name);
        let wrong = Saved::Parameters(vec![Parameters { theta: vec![0.0; 3], choices: 1 }]);
        assert!(other.load(&wrong).is_err(), "{}", row.name);
    }
}

#[test]
fn every_agent_tells_how_it_goes_and_stops_when_asked() {
    struct Count(Mutex<Vec<Point>>);
    impl Observer for Count {
        fn point(&self, point: &Point) {
            self.0.lock().expect("no thread failed").push(*point);
        }
        fn interrupted(&self) -> bool {
            self.0.lock().expect("no thread failed").len() > 3
        }
    }
    let spec = find("countdown").expect("the world exists");
    let alphabet = spec.alphabet();
    let make_env = || spec.make(&alphabet, "train", &Options::default());
    // What is told is how training by the gradient goes.
    let without = vec![Move::Explore, Move::Draw, Move::Change, Move::Try];
    let config = Config { without, ..Config::default() };
    for row in AGENTS.iter().filter(|r| r.name != "random") {
        let mut agent = (row.make)(&setup_of(&alphabet, &make_env, &config)).expect("it can be made");
        let training =
            TrainingJob { make_env: &make_env, seed: 0, decisions: 5000, threads: 1, watcher: &Silent };
        let run = agent.train(&training).expect("training works").expect("nobody interrupts");
        assert!(run.curve.is_sorted_by_key(|p| p.episodes) && !run.curve.is_empty(), "{}", row.name);
        let watcher = Count(Mutex::default());
        let mut agent = (row.make)(&setup_of(&alphabet, &make_env, &config)).expect("it can be made");
        let training =
            TrainingJob { make_env: &make_env, seed: 0, decisions: 200_000, threads: 1, watcher: &watcher };
        assert_eq!(agent.train(&training), Ok(None), "{} stops when asked to", row.name);
    }
}

#[test]
fn baselines_learn_blocks() {
    for (agent, decisions) in [("mlp", 60_000), ("gcn", 40_000), ("nlrl", 80_000)] {
        let (mut agent_trained, _) = trained(agent, "blocks", decisions, 0, |l| l.restarts = 1);
        let score = mean(agent_trained.as_mut(), "blocks", "train");
        assert!(score > 0.96, "{agent} scores {score}");
    }
}

#[test]
fn baselines_learn_countdown() {
    for (agent, decisions) in [("mlp", 150_000), ("gcn", 60_000), ("nlrl", 60_000)] {
        let (mut agent_trained, _) = trained(agent, "countdown", decisions, 3, |l| l.restarts = 1);
        let score = mean(agent_trained.as_mut(), "countdown", "train");
        assert!(score > 0.95, "{agent} scores {score}");
    }
}

#[test]
fn nlrl_shows_its_rules() {
    let (agent, _) = trained("nlrl", "doorkey", 20_000, 0, |l| l.restarts = 1);
    let rules = agent.rules().expect("NLRL has rules");
    assert!(rules.contains("goto(X) :- unlocked, goal(X)."), "{rules}");
    assert_eq!(rules.lines().filter(|l| l.contains("::pick(X) :- ")).count(), 1, "{rules}");
}

#[test]
fn the_mlp_does_not_touch_objects_it_never_saw() {
    let (mut agent, _) = trained("mlp", "blocks", 2000, 0, |_| ());
    let spec = find("blocks").expect("the world exists");
    let mut env =
        spec.make(&spec.alphabet(), "dynamic-blocks", &Options::default()).expect("the task exists");
    let mut rng = Rng::new(0, 0);
    for _ in 0..50 {
        env.reset(&mut rng);
        let action = agent.act(env.as_ref(), &mut rng);
        for &o in &action.args {
            let name = env.universe().name(o).to_string();
            assert!(["a", "b", "c", "floor"].contains(&name.as_str()), "{name}");
        }
    }
}

#[test]
fn states_are_padded_and_truncated_by_name() {
    let spec = find("blocks").expect("the world exists");
    let alphabet = spec.alphabet();
    let mut small = spec.make(&alphabet, "train", &Options::default()).expect("the task exists");
    let atoms = training_atoms::TrainingAtoms::collect(&alphabet, &mut Counted::new(small.as_mut()));
    assert_eq!((atoms.len(), atoms.actions()), (4 + 16 + 16 + 4, 9));
    let mut large = spec
        .make(&alphabet, "large", &Options { size: Some(6), ..Options::default() })
        .expect("the task exists");
    let mut facts = Facts::new(&alphabet);
    let mut rng = Rng::new(0, 0);
    large.reset(&mut rng);
    observe(large.as_ref(), &mut facts);
    let universe = large.universe();
    let matched = atoms.matched(universe);
    let known = |args: &[derrl_logic::Object]| {
        args.iter().all(|&o| ["a", "b", "c", "floor"].contains(&universe.name(o).to_string().as_str()))
    };
    let expected = facts.iter().filter(|(_, args)| known(args)).count();
    assert_eq!(atoms.encode(&matched, &facts).len(), expected);
    let actions = universe.ground_actions(&alphabet);
    let outputs: Vec<u32> = actions.iter().filter_map(|a| atoms.action(&matched, a)).collect();
    assert_eq!(outputs, (0..9).collect::<Vec<u32>>(), "floor is last in both");
}

/// Junctions of 3, 4, 5, .. lanes that earn 1 in each of 5 rounds in which they choose the lane that is marked.
struct Junctions {
    universes: Vec<Arc<Universe>>,
    marked: Vec<u32>,
    turn: usize,
    round: usize,
    earned: Vec<f64>,
    paid: bool,
}

const JUNCTIONS: &str = ":- action(green(lane)). :- state(highest(lane)). :- background(open(lane)).
    :- nlrl(slot(green/1, 0, given)).";

impl Junctions {
    fn new(alphabet: &Alphabet, agents: usize) -> Junctions {
        let lane = alphabet.types.find("lane").expect("it is declared");
        // Every junction has lanes of its own.
        let name = |agent: usize, i: usize| Constant::name(&format!("l{agent}{i}"));
        let universe = |agent: usize| {
            Arc::new(Universe::new((0..3 + agent % 2).map(|i| (name(agent, i), lane)).collect()))
        };
        Junctions {
            universes: (0..agents).map(universe).collect(),
            marked: vec![0; agents],
            turn: 0,
            round: 0,
            earned: vec![0.0; agents],
            paid: false,
        }
    }
}

impl Env for Junctions {
    fn reset(&mut self, rng: &mut Rng) {
        for (m, u) in self.marked.iter_mut().zip(&self.universes) {
            *m = rng.below(u.len()) as u32;
        }
        (self.turn, self.round, self.paid) = (0, 0, false);
    }
    fn restart(&mut self) {
        (self.turn, self.round, self.paid) = (0, 0, false);
    }
    fn universe(&self) -> &Arc<Universe> {
        &self.universes[self.turn]
    }
    fn facts(&self, facts: &mut Facts) {
        facts.push(Pred(0), &[Object(self.marked[self.turn])]);
        self.universe().objects().for_each(|o| facts.push(Pred(1), &[o]));
    }
    fn code(&self) -> Option<u128> {
        Some(u128::from(self.marked[self.turn]))
    }
    fn step(&mut self, _: Action, args: &[Object], _: &mut Rng) -> Outcome {
        let agents = self.universes.len();
        self.earned[self.turn] = f64::from(u8::from(args[0].0 == self.marked[self.turn]));
        self.turn = (self.turn + 1) % agents;
        self.paid = self.turn == 0;
        self.round += usize::from(self.paid);
        let reward = if self.paid { self.earned.iter().sum::<f64>() / agents as f64 } else { 0.0 };
        let status = if self.round == 5 { Status::Truncated } else { Status::Running };
        Outcome { reward, status }
    }
    fn succeeded(&self) -> bool {
        true
    }
    fn agents(&self) -> usize {
        self.universes.len()
    }
    fn turn(&self) -> usize {
        self.turn
    }
    fn learners(&self) -> usize {
        self.universes.len()
    }
    fn learner(&self, agent: usize) -> usize {
        agent
    }
    fn round_rewards(&self) -> &[f64] {
        if self.paid { &self.earned } else { &[] }
    }
    fn best_return(&self) -> Option<f64> {
        Some(5.0)
    }
}

#[test]
fn several_agents_learn_each_for_themselves_and_for_others_like_them() {
    let alphabet = Alphabet::parse(&Source::new("junctions.pl", JUNCTIONS)).expect("it is well-formed");
    let alphabet = Arc::new(alphabet);
    let make_env = || Ok(Box::new(Junctions::new(&alphabet, 2)) as Box<dyn Env>);
    let config = Config::default();
    for row in AGENTS.iter().filter(|r| r.name != "random") {
        let mut agent = (row.make)(&setup_of(&alphabet, &make_env, &config)).expect("it can be made");
        let training =
            TrainingJob { make_env: &make_env, seed: 0, decisions: 20_000, threads: 1, watcher: &Silent };
        agent.train(&training).expect("training works");
        let mut score = |agents| {
            let mut env = Junctions::new(&alphabet, agents);
            evaluate_agent(agent.as_mut(), &mut env, 50, 0).expect("nothing fails").mean
        };
        assert_eq!(score(2), 5.0, "{}", row.name);
        if row.name != "mlp" {
            assert_eq!(score(5), 5.0, "{} knows lanes by what holds of them", row.name);
        }
    }
}

#[test]
fn a_domain_without_templates_says_so() {
    let spec = find("blocks").expect("the world exists");
    let mut alphabet = spec.alphabet().as_ref().clone();
    alphabet.templates = None;
    let alphabet = Arc::new(alphabet);
    let make_env = || spec.make(&alphabet, "train", &Options::default());
    let config = Config::default();
    let error =
        nlrl::learner(&setup_of(&alphabet, &make_env, &config)).err().expect("there is nothing to learn");
    assert!(error.to_string().contains(":- nlrl("), "{error}");
    assert!(find_agent("nlr").err().expect("there is none").to_string().contains("`nlrl`"));
}
