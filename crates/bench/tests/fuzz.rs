//! Readers of files, fed with broken ones: none panics, hangs or takes damage for truth.
//!
//! As a part of the tests each target gets some hundreds of inputs. For more, give a number of inputs per target or a number of
//! seconds for all of them together; `DERRL_FUZZ_SEED` makes other inputs. A line of the record says how many there were:
//!
//! ```sh
//! DERRL_FUZZ_SECONDS=14400 DERRL_FUZZ_RECORD=$PWD/bench/fuzz.jsonl cargo test --release -p derrl-bench --test fuzz
//! ```

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use derrl::runs::{Manifest, RunConfig, RunFolder, page};
use derrl::settings::from_file as settings_from_file;
use derrl::setup::Setup;
use derrl_env::{Rng, World, worlds};
use derrl_files::provenance::{commit, machine, today};
use derrl_files::safe_file::append_line;
use derrl_learn::{Checkpoint, Config, Move, Observer, UpdateStats};
use derrl_logic::{Alphabet, FileKind, Policy, Source, parse_facts, parse_ground_action, parse_state};
use serde_json::json;

/// Inputs per target, where nothing else is said.
const FEW: usize = 300;
/// No input takes longer, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Something that reads, and what it reads when all is well.
struct Target {
    name: &'static str,
    seeds: fn() -> Vec<Vec<u8>>,
    /// Reads an input that was made from the seed of this number.
    read: fn(&[u8], usize, &Path),
}

/// One row per reader.
const TARGETS: [Target; 9] = [
    Target { name: "domain", seeds: texts, read: read_domain },
    Target { name: "policy", seeds: texts, read: read_policy },
    Target { name: "facts", seeds: states, read: read_facts },
    Target { name: "settings (TOML)", seeds: settings, read: read_settings },
    Target { name: "checkpoint", seeds: checkpoint_files, read: read_checkpoint },
    Target { name: "run folder", seeds: folder_files, read: read_folder },
    Target { name: "results (JSON)", seeds: result_files, read: read_results },
    Target { name: "PDDL", seeds: pddl_files, read: read_pddl },
    Target { name: "plan", seeds: plans, read: read_plan },
];

/// What inputs are stirred with.
const WORDS: &[&str] = &[
    "(",
    ")",
    ",",
    ".",
    ".\n",
    "\r",
    ":-",
    "::",
    "\\+",
    "%",
    "/*",
    "'",
    "\"",
    "_",
    "X",
    "0.5",
    "-1",
    "18446744073709551616",
    "1e999",
    "NaN",
    "null",
    "{",
    "}",
    "[",
    "]",
    "\0",
    "\u{feff}",
    "ä",
    "false",
    "action",
    "variables(32)",
    "constant(c)",
    "max_body(0)",
    "\\",
    "=",
];

/// A number from the environment.
fn asked(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().and_then(|n| n.parse().ok())
}

#[test]
fn fuzz() {
    let inputs = asked("DERRL_FUZZ").map_or(FEW, |n| n as usize);
    let seconds = asked("DERRL_FUZZ_SECONDS");
    let seed = asked("DERRL_FUZZ_SEED").unwrap_or(inputs as u64);
    let place = tempfile::tempdir().expect("a temporary folder");
    let begun = Instant::now();
    let mut rng = Rng::new(seed, 0);
    let seeds: Vec<Vec<Vec<u8>>> = TARGETS.iter().map(|target| (target.seeds)()).collect();
    let mut counts = [0; TARGETS.len()];
    let goes_on = |done: usize| match seconds {
        Some(seconds) => begun.elapsed() < Duration::from_secs(seconds),
        None => done < inputs,
    };
    while goes_on(counts[0]) {
        for ((target, seeds), count) in TARGETS.iter().zip(&seeds).zip(&mut counts) {
            // A target each for a tenth of a second, so that slow readers do not take all the time.
            let turn = Instant::now();
            loop {
                feed(target, seeds, &mut rng, place.path());
                *count += 1;
                if (seconds.is_none() && *count >= inputs)
                    || (seconds.is_some() && turn.elapsed() > Duration::from_millis(100))
                {
                    break;
                }
            }
        }
    }
    if let Some(record) = std::env::var_os("DERRL_FUZZ_RECORD") {
        let counts: serde_json::Map<String, serde_json::Value> = TARGETS
            .iter()
            .zip(counts)
            .map(|(target, count)| (target.name.to_string(), count.into()))
            .collect();
        let line = json!({
            "date": today(), "commit": commit(), "machine": machine(derrl_learn::cores()), "seed": seed,
            "seconds": begun.elapsed().as_secs(), "inputs": counts, "panics": 0, "hangs": 0,
        });
        append_line(Path::new(&record), &line.to_string()).expect("the record can be written");
    }
}

/// Gives a target one input.
fn feed(target: &Target, seeds: &[Vec<u8>], rng: &mut Rng, place: &Path) {
    let at = rng.below(seeds.len());
    let input = mutate(seeds, at, rng);
    let begun = Instant::now();
    // A panic fails the test; the input is then in its message.
    let read = std::panic::catch_unwind(|| (target.read)(&input, at, place));
    let shown = || String::from_utf8_lossy(&input).into_owned();
    assert!(read.is_ok(), "{}: {}", target.name, shown());
    assert!(begun.elapsed() < PATIENCE, "{} takes {:?}: {}", target.name, begun.elapsed(), shown());
}

/// A seed with a few changes.
fn mutate(seeds: &[Vec<u8>], at: usize, rng: &mut Rng) -> Vec<u8> {
    let mut bytes = seeds[at].clone();
    for _ in 0..=rng.below(4) {
        let (from, to) = (rng.below(bytes.len() + 1), rng.below(bytes.len() + 1));
        let (from, to) = (from.min(to), from.max(to).min(from.min(to) + 200));
        match rng.below(8) {
            0 | 1 if !bytes.is_empty() => {
                let at = rng.below(bytes.len());
                bytes[at] ^= 1 << rng.below(8);
            }
            2 => drop(bytes.drain(from..to)),
            3 => {
                let part = bytes[from..to].to_vec();
                let times = 1 + rng.below(50);
                bytes.splice(to..to, part.repeat(times));
            }
            4 => bytes.truncate(from),
            5 => {
                let other = &seeds[rng.below(seeds.len())];
                let start = rng.below(other.len() + 1);
                let end = (start + 300).min(other.len());
                bytes.splice(from..from, other[start..end].iter().copied());
            }
            _ => {
                let word = WORDS[rng.below(WORDS.len())];
                let times = if rng.below(50) == 0 { 2000 } else { 1 };
                bytes.splice(from..from, word.repeat(times).into_bytes());
            }
        }
    }
    bytes
}

/// The domain files, and policies.
fn texts() -> Vec<Vec<u8>> {
    let policies = [
        "% learned\n0.99::move(X, Y) :- top(X), on(X, Z), isFloor(Y).\nmove(A, B) ← \\+on(_, floor), goal_on(A, -3).\n",
        "up :- north, curr(X,Y), succ(Y,Z), \\+ obs(X,Z).\r\nmove(b, floor)\r",
    ];
    let domains = worlds().iter().map(World::domain);
    domains.chain(policies).map(|text| text.as_bytes().to_vec()).collect()
}

fn read_domain(input: &[u8], _seed: usize, _place: &Path) {
    let Ok(source) = Source::from_bytes("input", input.to_vec()) else { return };
    let _ = FileKind::detect(&source);
    if let Ok((domain, _)) = Alphabet::check(&source) {
        // What is read is written and read again.
        assert_eq!(Alphabet::parse(&Source::new("again", domain.to_string())), Ok(domain));
    }
}

fn read_policy(input: &[u8], _seed: usize, _place: &Path) {
    let Ok(source) = Source::from_bytes("input", input.to_vec()) else { return };
    let alphabet = world().alphabet();
    let Ok((policy, alphabet)) = Policy::read(&source, &alphabet) else { return };
    let text = policy.display(&alphabet).to_string();
    let again = Policy::read(&Source::new("again", text.as_str()), &alphabet).map(|(policy, _)| policy);
    let again = again.unwrap_or_else(|error| panic!("{error}\nin {text}"));
    assert_eq!(again.display(&alphabet).to_string(), text);
}

fn states() -> Vec<Vec<u8>> {
    let states = [
        "top(a). on(a, b).\non(b, floor). isFloor(floor). goal_on(b, a).",
        ":- object(c, any).\n:- object(floor).\non(c, floor). top(c).",
        "move(a, floor)",
    ];
    states.map(|text| text.as_bytes().to_vec()).to_vec()
}

fn read_facts(input: &[u8], _seed: usize, _place: &Path) {
    let Ok(source) = Source::from_bytes("input", input.to_vec()) else { return };
    let alphabet = worlds().iter().find(|w| w.name() == "blocks").expect("it is built in").alphabet();
    let _ = parse_facts(&source, &alphabet);
    let _ = parse_state(&source, &alphabet);
    let _ = parse_ground_action(&source.text, &alphabet);
}

fn settings() -> Vec<Vec<u8>> {
    let of_run = toml::to_string(&config()).expect("a config is TOML");
    let alone = toml::to_string(&Config::default()).expect("settings are TOML");
    vec![of_run.into_bytes(), alone.into_bytes()]
}

fn read_settings(input: &[u8], _seed: usize, place: &Path) {
    let path = place.join("settings.toml");
    fs::write(&path, input).expect("a file can be written");
    if let Ok(config) = settings_from_file(&path) {
        assert!(config.check().is_ok());
    }
}

const FERRY: &str = include_str!("../../pddl/worlds/ferry/domain.pddl");
const FERRY_PROBLEM: &str = "(define (problem two) (:domain ferry) (:objects a b - location c - car)
  (:init (at-ferry a) (empty-ferry) (at c b)) (:goal (and (at c a))))";

fn pddl_files() -> Vec<Vec<u8>> {
    let spanner = include_str!("../../pddl/worlds/spanner/domain.pddl");
    [FERRY, spanner, FERRY_PROBLEM].iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn read_pddl(input: &[u8], _seed: usize, _place: &Path) {
    let Ok(source) = Source::from_bytes("input", input.to_vec()) else { return };
    let _ = derrl_pddl::Domain::parse(&source);
    if let Ok(domain) = derrl_pddl::Domain::parse(&Source::new("ferry.pddl", FERRY)) {
        let _ = derrl_pddl::Problem::parse(&source, &domain);
    }
}

const FERRY_PLAN: &str =
    "; a plan\n(board c b)\n(sail a b)\n(debark c a)\n; cost = 3 (unit cost)\n(sail b a)\n";

static TASK: LazyLock<Arc<derrl_pddl::Task>> = LazyLock::new(|| {
    let domain = derrl_pddl::Domain::parse(&Source::new("ferry.pddl", FERRY)).expect("it can be read");
    let problem = Source::new("two.pddl", FERRY_PROBLEM);
    Arc::new(derrl_pddl::Task::parse(&problem, &Arc::new(domain)).expect("it can be read"))
});

fn plans() -> Vec<Vec<u8>> {
    vec![FERRY_PLAN.as_bytes().to_vec()]
}

fn read_plan(input: &[u8], _seed: usize, _place: &Path) {
    let Ok(source) = Source::from_bytes("input", input.to_vec()) else { return };
    if let Ok(plan) = derrl_pddl::Plan::parse(&source, &TASK) {
        let _ = plan.check(&TASK);
        let again = Source::new("again", plan.show(&TASK, 0.0));
        assert_eq!(derrl_pddl::Plan::parse(&again, &TASK).expect("it was written here").steps, plan.steps);
    }
}

/// The world of all runs here.
fn world() -> &'static World {
    &worlds()[0]
}

fn config() -> RunConfig {
    RunConfig {
        pddl: None,
        budget: None,
        max_seconds: None,
        derrl: "0.0.0".to_string(),
        domain: world().name().to_string(),
        task: None,
        seed: 0,
        episodes: None,
        untyped: false,
        start: None,
        options: derrl_env::Options::default(),
        settings: Config::default(),
    }
}

/// Stops a run in the middle of a restart, and keeps what it saves then.
#[derive(Default)]
struct Stopping {
    updates: AtomicUsize,
    saved: Mutex<Checkpoint>,
}

impl Observer for Stopping {
    fn updated(&self, _seed: u64, _restart: u64, _stats: &UpdateStats) {
        self.updates.fetch_add(1, Ordering::Relaxed);
    }

    fn checkpoint(&self, _seed: u64, checkpoint: &Checkpoint) {
        self.saved.lock().expect("nothing panics").clone_from(checkpoint);
    }

    fn interrupted(&self) -> bool {
        self.updates.load(Ordering::Relaxed) >= 6
    }
}

/// What a run by the gradient alone leaves that is stopped after some updates.
fn stopped(updates: usize) -> Checkpoint {
    let without = vec![Move::Explore, Move::Draw, Move::Change, Move::Try];
    let settings = Config { updates, batch: 64, without, ..Config::default() };
    let setup = Setup::of_world(world(), &derrl_env::Options::default(), &settings).expect("a search");
    let setup = setup.within(u64::MAX / 2);
    let stopping = Stopping::default();
    let ended = setup.search(vec![(0, Checkpoint::default())], &stopping, 1).expect("it is stopped");
    assert_eq!(ended, [None]);
    stopping.saved.into_inner().expect("nothing panics")
}

/// A run in its second restart, with rules in its record.
static CHECKPOINT: LazyLock<Checkpoint> = LazyLock::new(|| {
    let (between, within) = (stopped(4), stopped(1_000_000));
    assert!(between.racing.is_some() && !between.done.is_empty() && !within.running.is_empty());
    Checkpoint { running: within.running, ..between }
});

fn checkpoint() -> Checkpoint {
    CHECKPOINT.clone()
}

/// A run folder in a place, with a checkpoint.
fn folder(place: &Path) -> RunFolder {
    let folder = RunFolder::replace(&place.join("run"), config(), world().domain()).expect("a run folder");
    folder.save(&checkpoint()).expect("a checkpoint");
    folder
}

fn checkpoint_files() -> Vec<Vec<u8>> {
    let place = tempfile::tempdir().expect("a temporary folder");
    vec![fs::read(folder(place.path()).path().join("checkpoint.json")).expect("the checkpoint")]
}

/// A checkpoint is the one that was written, or an error.
fn read_checkpoint(input: &[u8], _seed: usize, place: &Path) {
    let path = place.join("run");
    let folder = RunFolder::open(&path).unwrap_or_else(|_| folder(place));
    fs::write(path.join("checkpoint.json"), input).expect("a file can be written");
    if let Ok(read) = folder.checkpoint() {
        assert_eq!(read, checkpoint());
    }
}

/// What pages are made of.
fn result_files() -> Vec<Vec<u8>> {
    let result = json!({
        "seed": 0, "steps": 10, "restarts": 1, "seconds": 0.5, "policy": "0.99::move(X, Y) :- top(X).\n",
        "scores": { "train": { "mean": 0.5, "stderr": 0.1, "success_rate": 1.0, "episodes": 20 } },
    });
    let point = json!({ "restart": 0, "update": 1, "episodes": 10, "mean_return": 0.5, "semantic_loss": 0.0, "body_size": 2.0 });
    vec![result.to_string().into_bytes(), format!("{point}\n{point}\n").into_bytes()]
}

fn read_results(input: &[u8], seed: usize, place: &Path) {
    let place = place.join("finished");
    if !place.join("run/policy.pl").exists() {
        let run = folder(&place);
        run.write("policy.pl", "0.99::move(X, Y) :- top(X).\n").expect("a file can be written");
    }
    let run = RunFolder::open(&place.join("run")).expect("it is there");
    run.write(["result.json", "metrics.jsonl"][seed], &String::from_utf8_lossy(input))
        .expect("a file can be written");
    let _ = run.result();
    let _ = page::glance(&run, "run");
}

/// The files that a folder is read from, in an order that [`read_folder`] knows.
const FOLDER_FILES: [&str; 4] = ["run/config.toml", "run/domain.pl", "seeds.json", "run/time.json"];

fn folder_files() -> Vec<Vec<u8>> {
    let place = tempfile::tempdir().expect("a temporary folder");
    let folder = folder(place.path());
    folder.save_seconds(1.5).expect("a time");
    let manifest = Manifest { first: 0, last: 1, config: config(), domain: world().domain().to_string() };
    manifest.write(place.path()).expect("a manifest");
    FOLDER_FILES.iter().map(|file| fs::read(place.path().join(file)).expect("a file")).collect()
}

/// A folder is read, or it is an error: nothing that it says makes a reader panic.
fn read_folder(input: &[u8], seed: usize, place: &Path) {
    let place = place.join("top");
    if !place.join("run/checkpoint.json").exists() {
        folder(&place);
    }
    let path = place.join(FOLDER_FILES[seed]);
    let whole = fs::read(&path).ok();
    fs::write(&path, input).expect("a file can be written");
    if let Ok(folders) = RunFolder::open_all(&place) {
        for folder in folders {
            let _ = folder.seconds();
            let _ = folder.checkpoint();
            let _ = folder.domain().map(|domain| folder.task(&domain).is_ok());
        }
    }
    match whole {
        Some(whole) => fs::write(&path, whole).expect("a file can be written"),
        None => fs::remove_file(&path).expect("a file can be removed"),
    }
}
