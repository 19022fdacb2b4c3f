//! Restarts that agree on less than success try wider languages: fixed seeds, by the gradient alone.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use derrl_env::{Options, find};
use derrl_learn::{Checkpoint, Config, Learned, Observer, Problem, Search, Widening};
use derrl_logic::Alphabet;

/// Restarts without which nothing is tried, and predicates of gridworld.
const PLAIN: usize = 2;
const PREDICATES: usize = 12;

/// Keeps the last checkpoint, and stops once so many restarts are done.
struct Recorder {
    most: usize,
    done: AtomicUsize,
    last: Mutex<Option<Checkpoint>>,
}

impl Observer for Recorder {
    fn checkpoint(&self, _: u64, checkpoint: &Checkpoint) {
        self.done.store(checkpoint.done.len(), Ordering::SeqCst);
        *self.last.lock().unwrap() = Some(checkpoint.clone());
    }
    fn interrupted(&self) -> bool {
        self.done.load(Ordering::SeqCst) >= self.most
    }
}

/// Gridworld, where only these predicates may be negated.
fn gridworld(negated: &[&str]) -> Arc<Alphabet> {
    let mut alphabet = (*find("gridworld").unwrap().alphabet()).clone();
    alphabet.predicates.iter_mut().for_each(|p| p.negatable = negated.contains(&p.name.as_str()));
    Arc::new(alphabet)
}

/// What a run with room for so many trials comes to, stopped after so many restarts; with its last checkpoint.
fn run(
    alphabet: &Arc<Alphabet>,
    trials: usize,
    from: Checkpoint,
    most: usize,
) -> (Option<Learned>, Checkpoint) {
    let config = Config {
        improve: false,
        grow: false,
        short_waves: 0,
        wave: PLAIN,
        batch: 256,
        restarts: PLAIN + trials + 2,
        ..Config::default()
    };
    let world = find("gridworld").unwrap();
    let problem = Arc::new(Problem::new(alphabet, 1).unwrap());
    let options = Options::default();
    let make_env = || world.make(alphabet, "train", &options);
    let recorder = Recorder { most, done: AtomicUsize::new(0), last: Mutex::default() };
    let learned =
        Search::new(&problem, &config, &make_env, &recorder).run(vec![(6, from)], 2).unwrap().remove(0);
    let last = recorder.last.into_inner().unwrap().unwrap();
    (learned, last)
}

#[test]
fn a_negation_is_found_where_the_file_gives_none_and_an_interrupted_run_finds_the_same() {
    let alphabet = gridworld(&[]);
    let (learned, whole) = run(&alphabet, PREDICATES, Checkpoint::default(), usize::MAX);
    let learned = learned.unwrap();
    let obstacle = Widening::NegationOf("obs/2".into());
    for (i, restart) in whole.done.iter().enumerate() {
        match i.checked_sub(PLAIN) {
            None => assert_eq!(restart.language, []),
            Some(trial) if trial < PREDICATES => assert_eq!(restart.language.len(), 1),
            Some(_) => {
                assert_eq!(
                    restart.language,
                    std::slice::from_ref(&obstacle),
                    "the best is spoken afterwards"
                );
            }
        }
    }
    let mut tried: Vec<String> = learned.widenings.iter().map(|w| w.to.to_string()).collect();
    tried.sort_unstable();
    tried.dedup();
    assert_eq!(tried.len(), PREDICATES, "each predicate once: {tried:?}");
    let kept: Vec<_> = learned.widenings.iter().filter(|w| w.kept).collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].to, obstacle);
    assert!(kept[0].after > kept[0].before + 0.02, "{kept:?}");
    let text = learned.policy.display(&learned.alphabet).to_string();
    assert!(text.contains("\\+ obs("), "{text}");
    assert!(!learned.advice(&alphabet).iter().any(|a| a.contains("obs/2")), "it brought something");

    let (none, part) = run(&alphabet, PREDICATES, Checkpoint::default(), 5);
    assert!(none.is_none() && part.done.len() < PLAIN + PREDICATES, "it was interrupted among the trials");
    let (resumed, again) = run(&alphabet, PREDICATES, part, usize::MAX);
    assert_eq!(resumed.unwrap(), learned);
    assert_eq!(again.done, whole.done);
}

#[test]
fn what_the_file_says_of_negation_stays() {
    let (learned, run) = run(&gridworld(&["target"]), PREDICATES, Checkpoint::default(), usize::MAX);
    assert!(run.done.iter().all(|d| d.language.is_empty()));
    assert!(learned.unwrap().widenings.is_empty());
}

#[test]
fn where_there_are_few_restarts_each_tries_several_negations() {
    let (learned, run) = run(&gridworld(&[]), PREDICATES / 3, Checkpoint::default(), usize::MAX);
    let tried: Vec<usize> = run.done.iter().map(|d| d.language.len()).collect();
    assert_eq!(tried[..PLAIN + 4], [0, 0, 3, 3, 3, 3]);
    let tried = learned.unwrap().widenings;
    assert_eq!(tried.len(), PREDICATES, "{tried:?}");
}
