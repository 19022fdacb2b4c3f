//! Readers of files, fed with broken ones: none panics, hangs or takes damage for truth.
//!
//! As a part of the tests each target gets some hundreds of inputs. For more, and a line in the record of how many there were:
//!
//! ```sh
//! DERRL_FUZZ=1000000 DERRL_FUZZ_RECORD=$PWD/bench/fuzz.jsonl cargo test --release -p derrl fuzz
//! ```

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use derrl_env::{Rng, World, worlds};
use derrl_learn::{Checkpoint, Config, RestartResult};
use derrl_logic::{Alphabet, FileKind, Policy, Source, parse_facts, parse_ground_action};
use serde_json::json;

use crate::manifest::Manifest;
use crate::provenance::{commit, machine, today};
use crate::run_folder::{RunConfig, RunFolder};
use crate::safe_file::append_line;

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
const TARGETS: [Target; 4] = [
    Target { name: "parser", seeds: texts, read: read_text },
    Target { name: "checkpoint", seeds: checkpoint_files, read: read_checkpoint },
    Target { name: "run folder", seeds: folder_files, read: read_folder },
    Target { name: "pddl", seeds: pddl_files, read: read_pddl },
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

#[test]
fn fuzz() {
    let inputs = std::env::var("DERRL_FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(FEW);
    let place = tempfile::tempdir().expect("a temporary folder");
    let mut rng = Rng::new(inputs as u64, 0);
    let mut counts = serde_json::Map::new();
    for target in &TARGETS {
        let seeds = (target.seeds)();
        for _ in 0..inputs {
            let at = rng.below(seeds.len());
            let input = mutate(&seeds, at, &mut rng);
            let begun = Instant::now();
            // A panic fails the test; the input is then in its message.
            let read = std::panic::catch_unwind(|| (target.read)(&input, at, place.path()));
            let shown = || String::from_utf8_lossy(&input).into_owned();
            assert!(read.is_ok(), "{}: {}", target.name, shown());
            assert!(begun.elapsed() < PATIENCE, "{} takes {:?}: {}", target.name, begun.elapsed(), shown());
        }
        counts.insert(target.name.to_string(), inputs.into());
    }
    if let Some(record) = std::env::var_os("DERRL_FUZZ_RECORD") {
        let line = json!({
            "date": today(), "commit": commit(), "machine": machine(derrl_learn::cores()), "inputs": counts, "panics": 0, "hangs": 0,
        });
        append_line(Path::new(&record), &line.to_string()).expect("the record can be written");
    }
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

fn read_text(input: &[u8], _seed: usize, _place: &Path) {
    let Ok(source) = Source::from_bytes("input", input.to_vec()) else { return };
    let alphabet = world().alphabet();
    let _ = FileKind::detect(&source);
    let _ = Policy::read(&source, &alphabet);
    let _ = parse_facts(&source, &alphabet);
    let _ = parse_ground_action(&source.text, &alphabet);
    if let Ok((domain, _)) = Alphabet::check(&source) {
        // What is read is written and read again.
        assert_eq!(Alphabet::parse(&Source::new("again", domain.to_string())), Ok(domain));
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

/// The world of all runs here.
fn world() -> &'static World {
    &worlds()[0]
}

fn config() -> RunConfig {
    RunConfig {
        pddl: None,
        budget: None,
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

fn checkpoint() -> Checkpoint {
    let result = |restart| RestartResult {
        restart,
        learned: "0.99::move(X, Y) :- top(X).\n".to_string(),
        simplified: "0.99::move(X, Y) :- top(X).\n".to_string(),
        redundant_atoms: 0,
        returns: vec![0.25, -1e-9],
        success: 0.5,
        length: 2,
        updates: 10,
        episodes: 100,
        steps: 1000,
        selection_steps: 10,
        language: Vec::new(),
        curve: Vec::new(),
    };
    Checkpoint { done: vec![result(0), result(1)], ..Checkpoint::default() }
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
