//! A run that is interrupted, at any moment and as often as may be, ends as one that is not: bit for bit.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use derrl_env::{Env, Options, Outcome, Rng, World, find};
use derrl_learn::{Checkpoint, Config, Error, Learned, Observer, Problem, Search, Sizes, UpdateStats};
use derrl_logic::{Action, Facts, Object, Universe};

/// Keeps what the runs tell, as text, and stops them when it has been asked so many times.
struct Recorder {
    left: AtomicU64,
    asked: AtomicU64,
    /// How often it was asked before the scout was done, and before the rules were improved.
    scouted: AtomicU64,
    improving: AtomicU64,
    checkpoints: Mutex<BTreeMap<u64, String>>,
    /// Every checkpoint, in order.
    history: Mutex<Vec<String>>,
    finished: Mutex<BTreeMap<u64, String>>,
}

impl Recorder {
    fn new(left: u64) -> Recorder {
        Recorder {
            left: AtomicU64::new(left),
            asked: AtomicU64::new(0),
            scouted: AtomicU64::new(0),
            improving: AtomicU64::new(0),
            checkpoints: Mutex::default(),
            history: Mutex::default(),
            finished: Mutex::default(),
        }
    }
}

impl Observer for Recorder {
    fn checkpoint(&self, seed: u64, checkpoint: &Checkpoint) {
        if checkpoint.scout.is_some() {
            let now = self.asked.load(Ordering::SeqCst);
            let _ = self.scouted.compare_exchange(0, now, Ordering::SeqCst, Ordering::SeqCst);
        }
        let text = serde_json::to_string(checkpoint).unwrap();
        self.history.lock().unwrap().push(text.clone());
        self.checkpoints.lock().unwrap().insert(seed, text);
    }
    fn improving(&self, _: u64) {
        self.improving.store(self.asked.load(Ordering::SeqCst), Ordering::SeqCst);
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

/// One process: a search from these checkpoints. Nothing but the checkpoints, as text, is handed on.
fn process(
    spec: &World,
    config: &Config,
    from: &BTreeMap<u64, String>,
    threads: usize,
    recorder: &Recorder,
) -> bool {
    counted(spec, config, from, threads, recorder, None).0
}

/// What a process has done in its worlds, counted from outside.
#[derive(Clone, Copy, Debug)]
struct Work {
    steps: u64,
    /// Episodes in instances drawn anew. Policies are compared by these; exploration starts again and again in the same one.
    drawn: u64,
}

/// The same with training instances of several sizes and a limit of steps, where that is given. Returns what was done, too.
fn counted(
    spec: &World,
    config: &Config,
    from: &BTreeMap<u64, String>,
    threads: usize,
    recorder: &Recorder,
    sized_within: Option<u64>,
) -> (bool, Work) {
    let alphabet = spec.alphabet();
    let problem = Arc::new(Problem::new(&alphabet, 1).unwrap());
    let options = Options::default();
    let (steps, drawn) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let counting = |env: Box<dyn Env>| -> Box<dyn Env> {
        let least = Duration::from_micros(if sized_within.is_some() { 5 } else { 0 });
        Box::new(Counting { env, steps: Arc::clone(&steps), drawn: Arc::clone(&drawn), least })
    };
    let make_env = || spec.make(&alphabet, "train", &options).map(counting);
    let make_sizes = || {
        let given = spec.training_sizes(&alphabet, "train", &options)?.into_iter().map(counting).collect();
        Ok(Sizes { given, made_up: Vec::new() })
    };
    let seeds = from.iter().map(|(seed, text)| (*seed, serde_json::from_str(text).unwrap())).collect();
    let search = Search::new(&problem, config, &make_env, recorder);
    let search = match sized_within {
        Some(steps) => search.with_sizes(&make_sizes).within(steps),
        None => search,
    };
    let runs = search.run(seeds, threads).unwrap();
    let [steps, drawn] = [&steps, &drawn].map(|n| n.load(Ordering::SeqCst));
    (runs.iter().all(Option::is_some), Work { steps, drawn })
}

/// A world that counts.
struct Counting {
    env: Box<dyn Env>,
    steps: Arc<AtomicU64>,
    drawn: Arc<AtomicU64>,
    /// How long a step takes at least. Only answers that took some time are kept, and processors differ.
    least: Duration,
}

impl Env for Counting {
    fn reset(&mut self, rng: &mut Rng) {
        self.drawn.fetch_add(1, Ordering::SeqCst);
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
        let begun = Instant::now();
        while begun.elapsed() < self.least {}
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
        let done = process(spec, config, &state, 1 + cuts % 2, &recorder);
        state.extend(recorder.checkpoints.into_inner().unwrap());
        finished.extend(recorder.finished.into_inner().unwrap());
        if done {
            return (finished, cuts);
        }
        cuts += 1;
    }
}

#[test]
fn interruptions_at_any_moment_change_nothing() {
    let mut rng = Rng::new(12, 0);
    for (domain, seeds, times) in
        [("blocks", 1, 4), ("doorkey", 1, 3), ("countdown", 1, 3), ("gridworld", 1, 1), ("blocks", 3, 1)]
    {
        let spec = find(domain).unwrap();
        let config = Config {
            updates: if domain == "gridworld" { 16 } else { 60 },
            batch: 256,
            restarts: if domain == "gridworld" { 2 } else { 4 },
            wave: 2,
            selection_episodes: if domain == "gridworld" { 10 } else { 40 },
            ..Config::default()
        };
        let recorder = Recorder::new(u64::MAX);
        let start = (0..seeds).map(|s| (s, serde_json::to_string(&Checkpoint::default()).unwrap())).collect();
        assert!(process(spec, &config, &start, 2, &recorder));
        let whole = recorder.finished.into_inner().unwrap();
        // What growth explores is explored again, which takes most of the time on gridworld.
        let moments = recorder.asked.load(Ordering::SeqCst) / if domain == "gridworld" { 1 } else { 3 };
        let mut cuts = 0;
        for time in 0..times {
            let (ended, n) = interrupted(spec, &config, seeds, moments, &mut rng);
            cuts += n;
            assert!(
                ended == whole,
                "{domain}, {seeds} seeds, time {time}, {n} interruptions:\n{ended:#?}\n{whole:#?}"
            );
        }
        assert!(cuts >= times, "{domain}: {cuts} interruptions in {times} runs");
    }
}

/// Settings with which most of a run is what follows its restarts.
fn few_updates() -> Config {
    Config {
        updates: 2,
        batch: 64,
        restarts: 1,
        wave: 1,
        agree: 1,
        short_waves: 0,
        selection_episodes: 100,
        ..Config::default()
    }
}

fn nothing() -> BTreeMap<u64, String> {
    [(0, serde_json::to_string(&Checkpoint::default()).unwrap())].into()
}

/// A run that is stopped while its rules are improved goes on from there: what policies earned is not worked out again.
#[test]
fn what_improvement_has_found_is_not_found_again() {
    let (spec, config) = (find("rearrange").unwrap(), few_updates());
    let run = |from: &_, recorder: &_| counted(spec, &config, from, 1, recorder, Some(60_000));
    let recorder = Recorder::new(u64::MAX);
    let (done, all) = run(&nothing(), &recorder);
    assert!(done);
    let whole = recorder.finished.into_inner().unwrap();
    let (from, to) = (recorder.improving.into_inner(), recorder.asked.into_inner());
    let (_, restarts) = run(&nothing(), &Recorder::new(from));
    for part in [2, 4, 5] {
        let recorder = Recorder::new(from + (to - from) * part / 6);
        let (done, before) = run(&nothing(), &recorder);
        assert!(!done, "part {part}");
        let stopped = recorder.checkpoints.into_inner().unwrap();
        let recorder = Recorder::new(u64::MAX);
        let (done, after) = run(&stopped, &recorder);
        let ended = recorder.finished.into_inner().unwrap();
        assert!(done && ended == whole, "part {part}:\n{ended:#?}\n{whole:#?}");
        // Of what was improved before, this was done twice: what was explored, and the question that was under way.
        let twice = |of: fn(&Work) -> u64| (of(&before) + of(&after) - of(&all), of(&before) - of(&restarts));
        for (again, before) in [twice(|w| w.drawn), twice(|w| w.steps)] {
            assert!(2 * again < before, "part {part}: {again} of {before} again");
        }
    }
}

/// A run that is stopped while it scouts ends as it would have.
#[test]
fn a_scout_that_is_stopped_changes_nothing() {
    let spec = find("rearrange").unwrap();
    let config = Config { updates: 20, batch: 8192, short_waves: 1, ..few_updates() };
    let run = |from: &_, recorder: &_| counted(spec, &config, from, 1, recorder, Some(60_000)).0;
    let recorder = Recorder::new(u64::MAX);
    assert!(run(&nothing(), &recorder));
    let whole = recorder.finished.into_inner().unwrap();
    let scouted = recorder.scouted.into_inner();
    for part in [1, 2] {
        let recorder = Recorder::new(scouted * part / 3);
        assert!(!run(&nothing(), &recorder));
        let stopped = recorder.checkpoints.into_inner().unwrap();
        assert!(stopped[&0].contains("diary") && !stopped[&0].contains("looks"), "it stopped in the scout");
        let recorder = Recorder::new(u64::MAX);
        assert!(run(&stopped, &recorder));
        let ended = recorder.finished.into_inner().unwrap();
        assert!(ended == whole, "part {part}:\n{ended:#?}\n{whole:#?}");
    }
}

/// A run that has ended does nothing again.
#[test]
fn what_a_run_ended_with_is_kept() {
    let (spec, config) = (find("blocks").unwrap(), few_updates());
    let run = |from: &_, recorder: &_| counted(spec, &config, from, 1, recorder, None);
    let recorder = Recorder::new(u64::MAX);
    assert!(run(&nothing(), &recorder).1.steps > 0);
    let whole = recorder.finished.into_inner().unwrap();
    let end = [(0, whole[&0].lines().next().unwrap().to_string())].into();
    let recorder = Recorder::new(u64::MAX);
    let (done, again) = run(&end, &recorder);
    assert!(done && again.steps == 0, "{again:?}");
    assert_eq!(recorder.finished.into_inner().unwrap(), whole);
}

/// The scout runs beside the first restart, and may end after it. A run that is stopped in between waits for the scout, and ends as it
/// would have.
#[test]
fn a_restart_done_before_the_scout_changes_nothing() {
    for (domain, seed) in [("blocks", 0), ("blocks", 3), ("doorkey", 0), ("countdown", 1)] {
        let spec = find(domain).unwrap();
        let config = Config { updates: 60, batch: 256, restarts: 4, wave: 2, ..Config::default() };
        let recorder = Recorder::new(u64::MAX);
        let start = [(seed, serde_json::to_string(&Checkpoint::default()).unwrap())].into();
        assert!(process(spec, &config, &start, 1, &recorder));
        let whole = recorder.finished.into_inner().unwrap();
        // With one thread the scout is first, so that the first restart is done in some checkpoint after it.
        let one_done = recorder.history.into_inner().unwrap().into_iter().find_map(|text| {
            let checkpoint: serde_json::Value = serde_json::from_str(&text).unwrap();
            (checkpoint["done"].as_array().unwrap().len() == 1).then_some(checkpoint)
        });
        let mut checkpoint = one_done.unwrap();
        assert!(checkpoint["scout"].is_object());
        checkpoint["scout"] = serde_json::Value::Null;
        for threads in [1, 2] {
            let recorder = Recorder::new(u64::MAX);
            assert!(process(spec, &config, &[(seed, checkpoint.to_string())].into(), threads, &recorder));
            let ended = recorder.finished.into_inner().unwrap();
            assert!(ended == whole, "{domain}, seed {seed}, {threads} threads:\n{ended:#?}\n{whole:#?}");
        }
    }
}

/// A checkpoint takes as much room at the end of a long restart as in its middle.
#[test]
fn checkpoints_do_not_grow_with_the_curve() {
    let spec = find("blocks").unwrap();
    let size = |updates: usize| {
        let config = Config {
            updates,
            batch: 8,
            group: 4,
            restarts: 1,
            wave: 1,
            agree: 1,
            selection_episodes: 10,
            ..Config::default()
        };
        let recorder = Recorder::new(u64::MAX);
        let start = [(0, serde_json::to_string(&Checkpoint::default()).unwrap())].into();
        assert!(process(spec, &config, &start, 1, &recorder));
        recorder.checkpoints.into_inner().unwrap()[&0].len()
    };
    let (long, longer) = (size(2000), size(8000));
    assert!(longer < long + long / 5, "{long} bytes after 2,000 updates, {longer} after 8,000");
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
    let config = Config { updates: 20, selection_episodes: 10, ..Config::default() };
    for threads in [1, 2, 5] {
        let seeds = (0..3).map(|s| (s, Checkpoint::default())).collect();
        let result = Search::new(&problem, &config, &make_env, &Broken).run(seeds, threads);
        assert_eq!(result, Err(Error::Worker("the output is gone".to_string())));
    }
}
