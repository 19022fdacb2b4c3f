//! Learning on worlds of the zoo: trained small, tested large.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use derrl_env::Options;
use derrl_learn::{
    Checkpoint, Config, Learned, Observer, Problem, Search, Silent, Sizes, Widening, evaluate,
};
use derrl_logic::{Alphabet, Policy, Source};
use derrl_zoo::{Animal, zoo};

fn animal(name: &str) -> Animal {
    zoo().into_iter().find(|a| a.world.name() == name).expect("it is in the zoo")
}

/// What a run of a seed comes to, from its checkpoint; `None` where it was interrupted.
fn run(animal: &Animal, seed: u64, from: Checkpoint, observer: &dyn Observer) -> Option<Learned> {
    let world = &animal.world;
    let (alphabet, options) = (world.alphabet(), Options::default());
    let problem = Arc::new(Problem::new(&alphabet, 1).expect("every action has candidate atoms"));
    let make = || world.make(&alphabet, "train", &options);
    let sizes = || {
        let given = world.training_sizes(&alphabet, "train", &options)?;
        Ok(Sizes { given, made_up: world.made_up(&alphabet, &options)? })
    };
    let config = Config::default();
    let search = Search::new(&problem, &config, &make, observer).with_sizes(&sizes);
    search.run(vec![(seed, from)], 1).expect("no world fails").remove(0)
}

/// Learns from a seed, and holds the large test against rules written by hand.
fn is_learned(name: &str, seed: u64) -> Learned {
    let animal = animal(name);
    let learned = run(&animal, seed, Checkpoint::default(), &Silent).expect("nobody interrupts");
    let domain = animal.world.alphabet();
    let by_hand = Policy::read(&Source::new("by hand", animal.by_hand), &domain).expect("it parses");
    let score = |policy: &Policy, alphabet: &Arc<Alphabet>| {
        let mut env = animal.world.env("large").expect("the task exists");
        evaluate(policy, alphabet, env.as_mut(), 50, 1).expect("it runs")
    };
    let (own, hand) = (score(&learned.policy, &learned.alphabet), score(&by_hand.0, &by_hand.1));
    let rules = learned.policy.display_needed(&learned.alphabet).to_string();
    println!("{name} {seed}: {own:?}, by hand {hand:?}, {} steps\n{rules}", learned.steps);
    assert_eq!(own.solved(), Some(true), "{name}, seed {seed}: {:?}\n{rules}", own.success_rate);
    assert!(
        own.mean >= hand.mean - 0.05,
        "{name}, seed {seed}: {}, by hand {}\n{rules}",
        own.mean,
        hand.mean
    );
    learned
}

#[test]
fn gripper_is_learned_on_a_few_balls() {
    is_learned("gripper", 0);
}

#[test]
fn blocks_are_unstacked() {
    is_learned("unstack", 0);
}

#[test]
fn a_ferry_is_learned_on_a_few_cars() {
    is_learned("ferry", 0);
}

#[test]
fn lamps_and_locks_need_negation_and_get_it() {
    for name in ["lamps", "lock"] {
        let learned = is_learned(name, 0);
        let kept = learned.widenings.iter().any(|w| w.kept && w.to == Widening::Negation);
        assert!(kept, "{name}: {:?}", learned.widenings);
        let rules = learned.policy.display_needed(&learned.alphabet).to_string();
        assert!(rules.contains("\\+"), "{name}:\n{rules}");
    }
}

/// Keeps checkpoints as text and the end, and stops a run once it was asked so many times.
#[derive(Default)]
struct Stops {
    left: AtomicU64,
    asked: AtomicU64,
    last: Mutex<BTreeMap<u64, String>>,
}

impl Observer for Stops {
    fn checkpoint(&self, seed: u64, checkpoint: &Checkpoint) {
        let text = serde_json::to_string(checkpoint).expect("it is plain data");
        self.last.lock().expect("nobody panicked").insert(seed, text);
    }
    fn interrupted(&self) -> bool {
        self.asked.fetch_add(1, Ordering::SeqCst) >= self.left.load(Ordering::SeqCst)
    }
}

impl Stops {
    fn after(questions: u64) -> Stops {
        Stops { left: AtomicU64::new(questions), ..Stops::default() }
    }
}

#[test]
fn an_interrupted_run_ends_as_one_that_is_not() {
    let animal = animal("ferry");
    let whole = Stops::after(u64::MAX);
    let learned = run(&animal, 1, Checkpoint::default(), &whole).expect("nobody interrupts");
    for share in [2, 4] {
        let questions = whole.asked.load(Ordering::SeqCst) * (share - 1) / share;
        let (mut from, mut cuts, mut patience) = (Checkpoint::default(), 0, questions);
        let ended = loop {
            let stops = Stops::after(patience);
            if let Some(ended) = run(&animal, 1, from.clone(), &stops) {
                break ended;
            }
            cuts += 1;
            patience += questions / 2;
            if let Some(text) = stops.last.lock().expect("nobody panicked").get(&1) {
                from = serde_json::from_str(text).expect("what was written is read");
            }
        };
        assert!(cuts > 0);
        assert_eq!(ended, learned, "{cuts} cuts");
    }
}
