//! Invention and wider words: what the learner comes to where rules over what the world reports do not suffice.

use std::sync::Arc;

use derrl_env::{Env, Options, Outcome, Rng, Status, find};
use derrl_learn::{Checkpoint, Config, Learned, Move, Problem, Search, Silent, Sizes, Widening, evaluate};
use derrl_logic::{Action, Alphabet, Constant, Facts, Object, Policy, Source, Types, Universe};

/// What is learned of moving blocks to where they belong, from reward on a few of them.
fn rearranged(without: Vec<Move>) -> Learned {
    let world = find("rearrange").expect("the world exists");
    let alphabet = world.alphabet();
    let problem = Arc::new(Problem::new(&alphabet, 1).expect("every action has candidate atoms"));
    let options = Options::default();
    let make = || world.make(&alphabet, "train", &options);
    let sized = |n| world.make_sized(&alphabet, n, &options).expect("the size exists");
    let sizes = || {
        let given: Result<Vec<Box<dyn Env>>, _> = (3..=5).map(sized).collect();
        Ok(Sizes { given: given?, made_up: Vec::new() })
    };
    let config = Config { without, ..Config::default() };
    let search = Search::new(&problem, &config, &make, &Silent).with_sizes(&sizes);
    search
        .run(vec![(0, Checkpoint::default())], 1)
        .expect("the world does not fail")
        .remove(0)
        .expect("it ends")
}

/// Holds what was learned against the simple strategy, on as many blocks and on more. Returns its text.
fn is_good(learned: &Learned) -> String {
    let world = find("rearrange").expect("the world exists");
    let text = learned.policy.display_needed(&learned.alphabet).to_string();
    for task in ["train", "10-blocks", "50-blocks"] {
        let mut env = world.make(&learned.alphabet, task, &Options::default()).expect("the task exists");
        let score = evaluate(&learned.policy, &learned.alphabet, env.as_mut(), 20, 1).expect("it runs");
        assert_eq!(score.success_rate, Some(1.0), "{task}:\n{text}");
        // At most 1.1 times the moves of the simple strategy; a return is 1 less what the moves cost.
        let simple = 1.0 - score.references["table first"];
        assert!(1.0 - score.mean <= 1.1 * simple, "{task}: {} and {simple}\n{text}", 1.0 - score.mean);
    }
    // The text is the policy: whoever reads it with the domain alone has all of it.
    let (again, alphabet) =
        Policy::read(&Source::new("again", text.as_str()), &world.alphabet()).expect("it reads");
    assert_eq!(again.display_needed(&alphabet).to_string(), text);
    text
}

/// From reward on 3 to 5 blocks, with nothing given, to rules that hold for 50.
#[test]
#[ignore = "negation and longer bodies win on few blocks, and do not hold for 50"]
fn rearranging_a_few_blocks_is_rearranging_many() {
    is_good(&rearranged(vec![Move::Gradient]));
}

/// The same in the words of the domain file, which do not suffice: to a definition of the learner's own.
#[test]
fn where_words_may_not_be_wider_a_predicate_is_invented() {
    let learned = rearranged(vec![Move::Gradient, Move::Widen]);
    let kept = learned.widenings.iter().filter(|w| w.kept && matches!(w.to, Widening::Invented(_)));
    assert!(kept.count() >= 1, "what was invented is said: {:?}", learned.widenings);
    is_good(&learned);
    let without =
        rearranged(vec![Move::Gradient, Move::Widen, Move::Invent, Move::Draw, Move::Change, Move::Try]);
    assert!(!without.solved(), "it is needed: {}", without.policy.display_needed(&without.alphabet));
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

/// The alphabet of a clock, and a clock at its start.
fn clock() -> (Arc<Alphabet>, Clock) {
    let text = ":- action(wait). :- action(work). :- state(bit/1). :- variables(2).";
    let alphabet = Arc::new(Alphabet::parse(&Source::new("clock.pl", text)).expect("the domain parses"));
    let universe = Arc::new(Universe::new((0..20).map(|i| (Constant::Int(i), Types::ANY)).collect()));
    let env = Clock { alphabet: Arc::clone(&alphabet), universe, time: 0, began: 0 };
    (alphabet, env)
}

#[test]
fn where_states_never_come_again_it_is_learned_what_to_do_all_the_same() {
    let (alphabet, _) = clock();
    let problem = Arc::new(Problem::new(&alphabet, 1).expect("every action has candidate atoms"));
    let make = || Ok(Box::new(clock().1) as Box<dyn Env>);
    let config = Config { updates: 20, ..Config::default() };
    let search = Search::new(&problem, &config, &make, &Silent).within(20_000);
    let runs = search.run(vec![(0, Checkpoint::default())], 1).expect("the world does not fail");
    let learned = runs.into_iter().flatten().next().expect("it ends");
    let mut env = clock().1;
    let score = evaluate(&learned.policy, &learned.alphabet, &mut env, 20, 1).expect("it runs");
    let text = learned.policy.display_needed(&learned.alphabet).to_string();
    assert!(score.mean >= 9.5, "{} of 10\n{text}", score.mean);
}
