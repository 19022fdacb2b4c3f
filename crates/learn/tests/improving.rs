//! Improvement by regret: what it finds, what it keeps, and what it does where states never come again.

use std::sync::Arc;

use derrl_env::{Env, Options, Outcome, Rng, Status, find};
use derrl_learn::{Improved, Improver, Problem, evaluate};
use derrl_logic::{Action, Alphabet, Constant, Facts, Object, Policy, Source, Types, Universe};

fn improve(world: &str, seed: u64, start: Option<&str>) -> (Arc<Alphabet>, Improved) {
    let world = find(world).expect("the world exists");
    let alphabet = world.alphabet();
    let problem = Arc::new(Problem::new(&alphabet, 1).expect("every action has candidate atoms"));
    let env = world.make(&alphabet, "train", &Options::default()).expect("the task exists");
    let start =
        start.map(|text| Policy::parse(&Source::new("start", text), &alphabet).expect("the rules parse"));
    let improver = Improver::new(&problem, vec![env], seed, 100, &|| false);
    (alphabet, improver.run(start.as_ref()).expect("the world does not fail"))
}

#[test]
fn the_papers_small_worlds_are_solved_from_nothing() {
    for (name, least) in [("blocks", 0.96), ("countdown", 0.99), ("doorkey", 0.99)] {
        let (alphabet, improved) = improve(name, 0, None);
        let world = find(name).expect("the world exists");
        let mut env = world.make(&alphabet, "train", &Options::default()).expect("the task exists");
        let score = evaluate(&improved.policy, &alphabet, env.as_mut(), 200, 1).expect("it runs");
        assert!(score.mean >= least, "{name}: {}\n{}", score.mean, improved.policy.display(&alphabet));
        assert!(improved.steps < 20_000, "{name} took {} steps", improved.steps);
    }
}

#[test]
fn the_same_seed_gives_the_same_rules() {
    let text = |seed| {
        let (alphabet, improved) = improve("blocks", seed, None);
        (improved.policy.display(&alphabet).to_string(), improved.steps)
    };
    assert_eq!(text(3), text(3));
}

#[test]
fn a_wrong_policy_is_repaired_and_a_right_one_is_kept() {
    let (_, repaired) = improve("blocks", 0, Some("move(X, Y) :- top(X), isFloor(Y)."));
    assert_eq!(repaired.success, [1.0]);
    let (alphabet, right) = improve("blocks", 0, None);
    let text = right.policy.display(&alphabet).to_string();
    let (_, again) = improve("blocks", 1, Some(&text));
    assert_eq!(again.policy.display(&alphabet).to_string(), text, "the incumbent wins ties");
}

/// A world in which every state is new: the clock is a fact.
struct Clock {
    alphabet: Arc<Alphabet>,
    universe: Arc<Universe>,
    time: u32,
    began: u32,
}

impl Env for Clock {
    fn reset(&mut self, _: &mut Rng) {
        self.restart();
    }
    fn restart(&mut self) {
        self.time += 1000;
        self.began = self.time;
    }
    fn universe(&self) -> &Arc<Universe> {
        &self.universe
    }
    fn facts(&self, facts: &mut Facts) {
        let at = self.alphabet.find_predicate("bit", 1).expect("declared");
        (0..20).filter(|i| self.time >> i & 1 == 1).for_each(|i| facts.push(at, &[Object(i)]));
    }
    fn code(&self) -> Option<u128> {
        None
    }
    fn step(&mut self, action: Action, _: &[Object], _: &mut Rng) -> Outcome {
        self.time += 1;
        let over = self.time - self.began >= 10;
        let status = if over { Status::Truncated } else { Status::Running };
        Outcome { reward: f64::from(action.0), status }
    }
    fn succeeded(&self) -> bool {
        false
    }
}

#[test]
fn states_that_never_come_again_leave_the_policy_as_it_is() {
    let text = ":- action(wait). :- action(work). :- state(bit/1). :- variables(2).";
    let alphabet = Arc::new(Alphabet::parse(&Source::new("clock.pl", text)).expect("the domain parses"));
    let universe = Arc::new(Universe::new((0..20).map(|i| (Constant::Int(i), Types::ANY)).collect()));
    let env = Clock { alphabet: Arc::clone(&alphabet), universe, time: 0, began: 0 };
    let problem = Arc::new(Problem::new(&alphabet, 1).expect("every action has candidate atoms"));
    let start = Policy::parse(&Source::new("start", "wait :- bit(X)."), &alphabet).expect("the rule parses");
    let improver = Improver::new(&problem, vec![Box::new(env)], 0, 20, &|| false).within(50_000);
    let improved = improver.run(Some(&start)).expect("the world does not fail");
    assert_eq!(improved.policy, start);
}
