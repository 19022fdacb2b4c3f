//! A run that is interrupted, at any moment and as often as may be, ends as one that is not: bit for bit.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use derrl_env::{Env, Options, Outcome, Rng, World, find};
use derrl_learn::{Checkpoint, Config, Error, Learned, Move, Observer, Problem, Search, Sizes, UpdateStats};
use derrl_logic::{Action, Facts, Object, Universe};

/// Without these, rules come from the gradient alone.
const GRADIENT_ALONE: [Move; 4] = [Move::Explore, Move::Draw, Move::Change, Move::Try];

/// Keeps what the runs tell, as text, and stops them when it has been asked so many times.
struct Recorder {
    left: AtomicU64,
    asked: AtomicU64,
    checkpoints: Mutex<BTreeMap<u64, String>>,
    finished: Mutex<BTreeMap<u64, String>>,
}

impl Recorder {
    fn new(left: u64) -> Recorder {
        Recorder {
            left: AtomicU64::new(left),
            asked: AtomicU64::new(0),
            checkpoints: Mutex::default(),
            finished: Mutex::default(),
        }
    }
}

impl Observer for Recorder {
    fn checkpoint(&self, seed: u64, checkpoint: &Checkpoint) {
        let text = serde_json::to_string(checkpoint).unwrap();
        self.checkpoints.lock().unwrap().insert(seed, text);
    }
    fn finished(&self, seed: u64, checkpoint: &Checkpoint, learned: &Learned) {
        let text = format!("{}\n{learned:?}", serde_json::to_string(checkpoint).unwrap());
        self.finished.lock().unwrap().insert(seed, text);
    }
    fn interrupted(&self) -> bool {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1)).is_err()
    }
}

/// One process: a search from these checkpoints, in training instances of several sizes where the world has them. Nothing but the checkpoints,
/// as text, is handed on. Says whether all runs came to their end, and how many steps were taken in its worlds, counted from outside.
fn process(
    spec: &World,
    config: &Config,
    from: &BTreeMap<u64, String>,
    threads: usize,
    recorder: &Recorder,
) -> (bool, u64) {
    let alphabet = spec.alphabet();
    let problem = Arc::new(Problem::new(&alphabet, 1).unwrap());
    let options = Options::default();
    let steps = Arc::new(AtomicU64::new(0));
    let counting =
        |env: Box<dyn Env>| -> Box<dyn Env> { Box::new(Counting { env, steps: Arc::clone(&steps) }) };
    let make_env = || spec.make(&alphabet, "train", &options).map(counting);
    let make_sizes = || {
        let given = spec.training_sizes(&alphabet, "train", &options)?.into_iter().map(counting).collect();
        Ok(Sizes { given, made_up: Vec::new() })
    };
    let seeds = from.iter().map(|(seed, text)| (*seed, serde_json::from_str(text).unwrap())).collect();
    let search = Search::new(&problem, config, &make_env, recorder).with_sizes(&make_sizes).within(40_000);
    let runs = search.run(seeds, threads).unwrap();
    (runs.iter().all(Option::is_some), steps.load(Ordering::SeqCst))
}

/// A world that counts.
struct Counting {
    env: Box<dyn Env>,
    steps: Arc<AtomicU64>,
}

impl Env for Counting {
    fn reset(&mut self, rng: &mut Rng) {
        self.env.reset(rng);
    }
    fn restart(&mut self) {
        self.env.restart();
    }
    fn universe(&self) -> &Arc<Universe> {
        self.env.universe()
    }
    fn facts(&self, facts: &mut Facts) {
        self.env.facts(facts);
    }
    fn code(&self) -> Option<u128> {
        self.env.code()
    }
    fn step(&mut self, action: Action, args: &[Object], rng: &mut Rng) -> Outcome {
        self.steps.fetch_add(1, Ordering::SeqCst);
        self.env.step(action, args, rng)
    }
    fn succeeded(&self) -> bool {
        self.env.succeeded()
    }
}

/// Runs of these seeds with interruptions at random moments. Returns what they ended with and the number of interruptions.
fn interrupted(
    spec: &World,
    config: &Config,
    seeds: u64,
    whole: u64,
    rng: &mut Rng,
) -> (BTreeMap<u64, String>, usize) {
    let mut state: BTreeMap<u64, String> =
        (0..seeds).map(|s| (s, serde_json::to_string(&Checkpoint::default()).unwrap())).collect();
    let mut finished = BTreeMap::new();
    let mut cuts = 0;
    loop {
        // The more often, the longer it may last: it has to come to an end.
        let moment = 1 + rng.below(whole as usize) as u64 * (1 + cuts as u64 / 8);
        let recorder = Recorder::new(moment);
        let (done, _) = process(spec, config, &state, 1 + cuts % 2, &recorder);
        state.extend(recorder.checkpoints.into_inner().unwrap());
        finished.extend(recorder.finished.into_inner().unwrap());
        if done {
            return (finished, cuts);
        }
        cuts += 1;
    }
}

/// Runs from the start.
fn nothing(seeds: u64) -> BTreeMap<u64, String> {
    (0..seeds).map(|s| (s, serde_json::to_string(&Checkpoint::default()).unwrap())).collect()
}

/// The gradient alone, with as many updates of 64 decisions.
fn gradient(updates: usize, restarts: usize) -> Config {
    let without = GRADIENT_ALONE.to_vec();
    Config { updates, batch: 64, restarts, doubling: false, without, ..Config::default() }
}

#[test]
fn interruptions_at_any_moment_change_nothing() {
    let mut rng = Rng::new(12, 0);
    let few = Config { updates: 16, restarts: 2, ..Config::default() };
    let plain = Config { without: vec![Move::Invent], ..few.clone() };
    for (domain, config, seeds, times) in [
        ("blocks", &few, 1, 3),
        ("doorkey", &few, 1, 2),
        ("countdown", &few, 3, 2),
        ("rearrange", &plain, 1, 1),
        ("blocks", &gradient(60, 3), 1, 3),
        ("blocks", &gradient(30, 2), 3, 1),
    ] {
        let spec = find(domain).unwrap();
        let recorder = Recorder::new(u64::MAX);
        assert!(process(spec, config, &nothing(seeds), 2, &recorder).0);
        let whole = recorder.finished.into_inner().unwrap();
        let moments = recorder.asked.load(Ordering::SeqCst) / 2;
        let mut cuts = 0;
        for time in 0..times {
            let (ended, n) = interrupted(spec, config, seeds, moments, &mut rng);
            cuts += n;
            assert!(
                ended == whole,
                "{domain}, {seeds} seeds, time {time}, {n} interruptions:\n{ended:#?}\n{whole:#?}"
            );
        }
        assert!(cuts >= times, "{domain}: {cuts} interruptions in {times} runs");
    }
}

/// A run that is stopped while it trains goes on from there: no more than an update is done again.
#[test]
fn what_training_has_done_is_not_done_again() {
    let (spec, config) = (find("blocks").unwrap(), gradient(200, 1));
    let run = |from: &_, recorder: &_| process(spec, &config, from, 1, recorder);
    let recorder = Recorder::new(u64::MAX);
    let (done, all) = run(&nothing(1), &recorder);
    assert!(done);
    let whole = recorder.finished.into_inner().unwrap();
    for part in [1, 2] {
        let recorder = Recorder::new(recorder.asked.load(Ordering::SeqCst) * part / 3);
        let (done, before) = run(&nothing(1), &recorder);
        assert!(!done, "part {part}");
        let stopped = recorder.checkpoints.into_inner().unwrap();
        let recorder = Recorder::new(u64::MAX);
        let (done, after) = run(&stopped, &recorder);
        let ended = recorder.finished.into_inner().unwrap();
        assert!(done && ended == whole, "part {part}:\n{ended:#?}\n{whole:#?}");
        let again = before + after - all;
        assert!(5 * again < before, "part {part}: {again} of {before} again");
    }
}

/// A run that has ended does nothing again.
#[test]
fn what_a_run_ended_with_is_kept() {
    let (spec, config) = (find("blocks").unwrap(), Config::default());
    let run = |from: &_, recorder: &_| process(spec, &config, from, 1, recorder);
    let recorder = Recorder::new(u64::MAX);
    assert!(run(&nothing(1), &recorder).1 > 0);
    let whole = recorder.finished.into_inner().unwrap();
    let end = [(0, whole[&0].lines().next().unwrap().to_string())].into();
    let recorder = Recorder::new(u64::MAX);
    assert_eq!(run(&end, &recorder), (true, 0));
    assert_eq!(recorder.finished.into_inner().unwrap(), whole);
}

/// A checkpoint takes as much room at the end of a long restart as in its middle.
#[test]
fn checkpoints_do_not_grow_with_the_curve() {
    let spec = find("blocks").unwrap();
    let size = |updates: usize| {
        let config = Config { batch: 4, group: 2, ..gradient(updates, 1) };
        let recorder = Recorder::new(u64::MAX);
        assert!(process(spec, &config, &nothing(1), 1, &recorder).0);
        recorder.finished.into_inner().unwrap()[&0].len()
    };
    let (long, longer) = (size(1000), size(4000));
    assert!(longer < long + long / 5, "{long} bytes after 1,000 updates, {longer} after 4,000");
}

/// An observer that panics, as one may whose output is gone.
struct Broken;

impl Observer for Broken {
    fn updated(&self, _: u64, restart: u64, stats: &UpdateStats) {
        assert!(restart != 1 || stats.update < 3, "the output is gone");
    }
}

#[test]
fn a_worker_that_panics_ends_the_search_with_an_error() {
    let spec = find("blocks").unwrap();
    let alphabet = spec.alphabet();
    let problem = Arc::new(Problem::new(&alphabet, 1).unwrap());
    let make_env = || spec.make(&alphabet, "train", &Options::default());
    let config = gradient(20, 3);
    for threads in [1, 2, 5] {
        let seeds = (0..3).map(|s| (s, Checkpoint::default())).collect();
        let result = Search::new(&problem, &config, &make_env, &Broken).run(seeds, threads);
        assert_eq!(result, Err(Error::Worker("the output is gone".to_string())));
    }
}
