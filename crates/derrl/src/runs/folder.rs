//! The folder of a run: what it holds, written so that it is never half there.
//!
//! | file | holds |
//! |---|---|
//! | `config.toml` | what was asked for: domain, seed, options, settings |
//! | `domain.pl` | the domain file as it was |
//! | `checkpoint.json` | what is needed to resume |
//! | `metrics.jsonl` | the training curves, one point per line |
//! | `time.json` | how long it has taken so far |
//! | `best.jsonl` | each policy that was the best so far, one per line, with its return, steps and seconds |
//! | `best.pl` | the last of these, until the run has ended by itself |
//! | `policy.pl`, `policy.unsimplified.pl` | the result |
//! | `curve.svg`, `result.json` | the training curve, and all that `train --json` prints |
//! | `report.html` | a page to look at |
//! | `perception.json`, `symbols.json` | how the run sees, where states are pixels, and what its symbols look like |
//! | `verify.json` | what `derrl verify` found out about the policy |

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use derrl_env::{Task, World, find_in};
use derrl_files::bounded::read_text;
use derrl_files::lock::Lock;
use derrl_files::safe_file::{make_folder, sweep, write};
use derrl_files::sealed::{fingerprint, open, seal};
use derrl_learn::{Checkpoint, Given, UpdateStats};
use derrl_logic::{Alphabet, Source};
use serde::{Deserialize, Serialize};

use crate::asked::Asked;
use crate::domain::Domain;
use crate::pddl::Files;
use crate::runs::config::{MOST_CONFIG, RunConfig};
use crate::runs::manifest::Manifest;
use crate::runs::sight::{GALLERY, PERCEPTION, seen};
use crate::runs::so_far::{BEST, Now, SoFar};
use crate::shell::quoted;
use crate::worlds::worlds;

/// The file that says what a run under way is doing. It is written again and again, and gone when the run ends.
const NOW: &str = "now.json";
/// A run that has said nothing for so long has ended without a word.
const SILENCE: Duration = Duration::from_secs(10);

/// The file of all policies that were the best so far, in their order.
const BESTS: &str = "best.jsonl";

/// The name of the page in the folder of a run.
pub const PAGE: &str = "report.html";

/// The file of what was proved about the policy.
pub const PROOF: &str = "verify.json";

/// The files of a run; without the first, a folder is none.
const FILES: [&str; 16] = [
    "config.toml",
    "domain.pl",
    "checkpoint.json",
    "metrics.jsonl",
    "time.json",
    BEST,
    BESTS,
    NOW,
    "policy.pl",
    "policy.unsimplified.pl",
    "curve.svg",
    PERCEPTION,
    GALLERY,
    "result.json",
    PAGE,
    PROOF,
];

#[derive(Serialize, Deserialize)]
struct Saved {
    /// Tells checkpoints of other configurations apart.
    fingerprint: String,
    /// Without its curves, which are in `metrics.jsonl`: this file does not grow with them.
    checkpoint: Checkpoint,
    /// What belongs to it of the curves, by restart. There may be more: metrics are written first.
    curves: Vec<CurveMark>,
}

/// The points of a restart in `metrics.jsonl` that belong to a checkpoint.
#[derive(Serialize, Deserialize)]
struct CurveMark {
    restart: u64,
    points: usize,
    /// Of their lines.
    checksum: String,
}

/// What the last line of `config.toml` begins with: a sum of all lines before it and of `domain.pl`.
const SUM: &str = "# checksum: ";

fn sum(config: &str, domain: &str) -> String {
    fingerprint(config.bytes().chain([0]).chain(domain.bytes()))
}

/// The folder of one run.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// What was asked for.
    pub config: RunConfig,
    /// Its domain file.
    pub domain_text: String,
    /// The world, where it is a value of the program around; else it is found by its name.
    world: Option<World>,
    /// Whether its configuration and its domain file are those that were written.
    is_whole: bool,
}

impl RunFolder {
    /// The same folder of a run of this world, whatever its name stands for elsewhere. A PDDL domain is read from its files.
    #[must_use]
    pub fn of_world(self, world: &World) -> RunFolder {
        let world = self.config.pddl.is_none().then(|| world.clone());
        RunFolder { world, ..self }
    }

    /// Makes the folder of a new run. A folder that holds a run already is left alone: an error.
    pub fn create(path: &Path, config: RunConfig, domain_text: &str) -> anyhow::Result<RunFolder> {
        refuse_if_taken(path)?;
        RunFolder::replace(path, config, domain_text)
    }

    /// Makes the folder of a run, in place of one that may be there.
    pub fn replace(path: &Path, config: RunConfig, domain_text: &str) -> anyhow::Result<RunFolder> {
        for old in FILES.map(|file| path.join(file)).iter().filter(|old| old.symlink_metadata().is_ok()) {
            fs::remove_file(old).with_context(|| format!("cannot remove {}", old.display()))?;
        }
        make_folder(path)?;
        let folder = RunFolder {
            path: path.to_path_buf(),
            config,
            domain_text: domain_text.to_string(),
            world: None,
            is_whole: true,
        };
        folder.write("domain.pl", &folder.domain_text)?;
        // Last, because a folder with a config.toml counts as a run.
        let config = toml::to_string(&folder.config)?;
        folder.write("config.toml", &format!("{config}{SUM}{}\n", sum(&config, &folder.domain_text)))?;
        Ok(folder)
    }

    /// Opens the folder of a run.
    pub fn open(path: &Path) -> anyhow::Result<RunFolder> {
        let shown = path.display();
        if let Some(below) = first_run_below(path) {
            bail!("{shown} holds several runs: name one of them, such as {}", below.display());
        }
        let read = |file: &str| {
            read_text(&path.join(file), MOST_CONFIG).with_context(|| {
                format!("{shown} is not the folder of a run, or is half-written: cannot read its {file}")
            })
        };
        let text = read("config.toml")?;
        let config = toml::from_str(&text).with_context(|| {
            format!("{shown}/config.toml is not what a run writes; start again with another --out")
        })?;
        let domain_text = read("domain.pl")?;
        let split = text.rsplit_once(SUM).map(|(config, end)| (sum(config, &domain_text), end));
        let is_whole = split.is_some_and(|(sum, end)| end.strip_suffix('\n') == Some(&sum));
        Ok(RunFolder { path: path.to_path_buf(), config, domain_text, world: None, is_whole })
    }

    /// An error where the run cannot go on as it began: its configuration, its domain file or its PDDL files have changed.
    pub fn check(&self) -> anyhow::Result<()> {
        if !self.is_whole {
            bail!(
                "{0}/config.toml or {0}/domain.pl is not what this run began with: restore both, or start a new run by another \
                 --out",
                self.path.display()
            );
        }
        self.config.pddl.as_ref().map_or(Ok(()), Files::check)
    }

    /// Makes the folders of new runs, one per seed, in a folder that holds nothing yet. The list of them is written first.
    pub fn create_all(top: &Path, manifest: &Manifest) -> anyhow::Result<Vec<RunFolder>> {
        refuse_if_taken(top)?;
        if let Some(below) = first_run_below(top) {
            refuse_if_taken(&below)?;
        }
        manifest.write(top)?;
        manifest.runs(top).map(|(path, config)| RunFolder::create(&path, config, &manifest.domain)).collect()
    }

    /// The folders of the runs at or directly below a path, in order of their seeds, to be resumed by whoever holds the lock. Runs
    /// that were asked for and have no folder yet get one; what a killed process left half-written goes.
    pub fn open_all(path: &Path) -> anyhow::Result<Vec<RunFolder>> {
        if path.join("config.toml").exists() {
            return Ok(vec![RunFolder::open(path)?]);
        }
        let shown = path.display();
        let mut below = runs_below(path).with_context(|| format!("cannot read the folder {shown}"))?;
        let mut folders = Vec::new();
        if let Some(manifest) = Manifest::read(path)? {
            for (path, config) in manifest.runs(path) {
                sweep(&path);
                if !below.contains(&path) {
                    folders.push(RunFolder::replace(&path, config, &manifest.domain)?);
                }
            }
        }
        for path in below.drain(..) {
            folders.push(RunFolder::open(&path)?);
        }
        if folders.is_empty() {
            bail!("{shown} holds no run: --resume takes the folder that `train` named when it started");
        }
        folders.sort_by(|a, b| a.config.seed.cmp(&b.config.seed).then(a.path.cmp(&b.path)));
        Ok(folders)
    }

    /// The lock of a run or of several, for as long as they are written.
    pub fn lock(path: &Path) -> anyhow::Result<Lock> {
        match path.parent().filter(|upper| Manifest::is_in(upper)) {
            Some(upper) => Lock::below(upper, path),
            None => Lock::of(path),
        }
    }

    /// Whether two runs differ in nothing but the seed, so that they can share what is known about states.
    pub fn is_like(&self, other: &RunFolder) -> bool {
        let same_seed = RunConfig { seed: self.config.seed, ..other.config.clone() };
        self.config == same_seed && self.domain_text == other.domain_text
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the policy is.
    pub fn policy_path(&self) -> PathBuf {
        self.path.join("policy.pl")
    }

    /// Where the page of the run is.
    pub fn page_path(&self) -> PathBuf {
        self.path.join(PAGE)
    }

    /// Whether the run has its results.
    pub fn is_finished(&self) -> bool {
        self.policy_path().is_file() && self.path.join("result.json").is_file()
    }

    /// What came of the run, once it is finished.
    pub fn result(&self) -> Option<serde_json::Value> {
        serde_json::from_str(&fs::read_to_string(self.path.join("result.json")).ok()?).ok()
    }

    /// The domain as it was when the run was made.
    pub fn domain(&self) -> anyhow::Result<Domain> {
        let file = self.path.join("domain.pl").display().to_string();
        let domain = if let Some(world) = &self.world {
            let text = self.domain_text.clone();
            Domain::of_world(&self.config.domain, &file, text, self.config.untyped, world)?
        } else {
            self.domain_with(&file, self.config.pddl.as_ref())?
        };
        seen(&self.path, domain, &self.config.options)
    }

    /// The same with other problems of a PDDL domain to test on.
    pub fn domain_testing(&self, asked: &Asked) -> anyhow::Result<Domain> {
        let file = self.path.join("domain.pl").display().to_string();
        let Some(files) = &self.config.pddl else {
            bail!("{} is no run of a PDDL domain: --train and --test are for PDDL", self.path.display());
        };
        let new = Files::find(&files.domain, &files.domain, asked)?;
        let files = Files { test: new.test, horizon: asked.horizon.or(files.horizon), ..files.clone() };
        self.domain_with(&file, Some(&files))
    }

    fn domain_with(&self, file: &str, files: Option<&Files>) -> anyhow::Result<Domain> {
        let (name, untyped) = (&self.config.domain, self.config.untyped);
        match files {
            Some(files) => Domain::of_pddl(name, files, Some((file, &self.domain_text)), untyped),
            None if self.is_elsewhere() => {
                Domain::elsewhere(name, file, self.domain_text.clone(), untyped, &self.tasks())
            }
            None => Domain::parse(name, file, self.domain_text.clone(), untyped),
        }
    }

    /// Whether its world is not among those of this command. That a domain file says so by mistake was refused when the run began.
    fn is_elsewhere(&self) -> bool {
        let said = Alphabet::parse(&Source::new("domain.pl", self.domain_text.clone()));
        let Ok(alphabet) = said else { return false };
        let world = alphabet.environment.as_deref().unwrap_or(&self.config.domain);
        find_in(worlds(), world).is_err()
    }

    /// The tasks that the run was trained and scored on.
    fn tasks(&self) -> Vec<String> {
        let trained = self.config.task.clone().unwrap_or_else(|| "train".to_string());
        let result = self.result();
        let scores = result.as_ref().and_then(|r| r["scores"].as_object());
        let scored = scores.into_iter().flat_map(|s| s.keys().cloned());
        std::iter::once(trained.clone()).chain(scored.filter(|task| *task != trained)).collect()
    }

    /// The task it is trained on.
    pub fn task<'a>(&self, domain: &'a Domain) -> anyhow::Result<&'a Task> {
        let first = domain.world.training_task()?.name.as_str();
        Ok(domain.world.find_task(self.config.task.as_deref().unwrap_or(first))?)
    }

    /// The rules the run started from; what they define joins the alphabet of the domain.
    pub fn start(&self, domain: &mut Domain) -> anyhow::Result<Vec<Given>> {
        let Some(start) = &self.config.start else { return Ok(Vec::new()) };
        let (given, alphabet) = start.rules(&domain.alphabet)?;
        domain.alphabet = alphabet;
        Ok(given)
    }

    /// Everything that decides what a run computes; results of different fingerprints do not mix.
    fn fingerprint(&self) -> anyhow::Result<String> {
        // A run may be given more time.
        let config = toml::to_string(&RunConfig { max_seconds: None, ..self.config.clone() })?;
        Ok(fingerprint(config.bytes().chain(self.domain_text.bytes())))
    }

    /// The checkpoint, or an empty one where none was written yet.
    pub fn checkpoint(&self) -> anyhow::Result<Checkpoint> {
        let path = self.path.join("checkpoint.json");
        let shown = path.display();
        let remedy = || format!("remove it to start the run again, or restore it: rm {}", quoted(&path));
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Checkpoint::default()),
            Err(error) if error.kind() == std::io::ErrorKind::InvalidData => {
                bail!("{shown} is damaged (it is not text): {}", remedy())
            }
            read => read.with_context(|| format!("cannot read {shown}"))?,
        };
        let saved: Saved = match open(&text) {
            Ok(saved) => saved,
            Err(problem) => bail!("{shown} is damaged ({problem:#}): {}", remedy()),
        };
        if saved.fingerprint != self.fingerprint()? {
            bail!(
                "{shown} belongs to another configuration than config.toml and domain.pl: restore those, or {}",
                remedy()
            );
        }
        self.with_curves(saved)
    }

    /// The checkpoint with its curves, from `metrics.jsonl`.
    fn with_curves(&self, saved: Saved) -> anyhow::Result<Checkpoint> {
        let path = self.path.join("metrics.jsonl");
        let mut checkpoint = saved.checkpoint;
        let lines = if saved.curves.iter().any(|mark| mark.points > 0) {
            fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?
        } else {
            Vec::new()
        };
        let lines = String::from_utf8_lossy(&lines);
        let mut of_restart: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
        for line in lines.lines() {
            if let Ok(point) = serde_json::from_str::<PlacedPoint>(line) {
                of_restart.entry(point.restart).or_default().push(line);
            }
        }
        for mark in &saved.curves {
            let lines = of_restart.get(&mark.restart).map_or(&[][..], Vec::as_slice);
            let lines = lines.get(..mark.points).filter(|lines| checksum(lines) == mark.checksum);
            let Some(lines) = lines else {
                bail!(
                    "{} is damaged (points of restart {} do not match checkpoint.json): restore both, or start the run \
                     again: rm {}",
                    path.display(),
                    mark.restart,
                    quoted(&self.path.join("checkpoint.json"))
                );
            };
            let curve =
                lines.iter().map(|l| serde_json::from_str(l)).collect::<Result<Vec<UpdateStats>, _>>()?;
            let done = checkpoint.done.iter_mut().filter(|o| o.restart == mark.restart).map(|o| &mut o.curve);
            let running =
                checkpoint.running.iter_mut().filter(|p| p.restart == mark.restart).map(|p| &mut p.curve);
            if let Some(place) = done.chain(running).next() {
                *place = curve;
            }
        }
        Ok(checkpoint)
    }

    /// Saves the curves so far and the checkpoint, in this order, so that a kill in between leaves curves that go further than needed.
    pub fn save(&self, checkpoint: &Checkpoint) -> anyhow::Result<()> {
        let mut checkpoint = checkpoint.clone();
        let done = checkpoint.done.iter_mut().map(|o| (o.restart, std::mem::take(&mut o.curve)));
        let running = checkpoint.running.iter_mut().map(|p| (p.restart, std::mem::take(&mut p.curve)));
        let mut text = String::new();
        let mut curves = Vec::new();
        for (restart, curve) in done.chain(running) {
            let lines = curve
                .into_iter()
                .map(|point| serde_json::to_string(&PlacedPoint { point, restart }))
                .collect::<Result<Vec<String>, _>>()?;
            curves.push(CurveMark { restart, points: lines.len(), checksum: checksum(&lines) });
            for line in &lines {
                text.extend([line, "\n"]);
            }
        }
        self.write("metrics.jsonl", &text)?;
        self.write("checkpoint.json", &seal(&Saved { fingerprint: self.fingerprint()?, checkpoint, curves })?)
    }

    /// Seconds that the run has taken so far, before this process.
    pub fn seconds(&self) -> f64 {
        let text = read_text(&self.path.join("time.json"), MOST_CONFIG).ok();
        let time = text.and_then(|t| serde_json::from_str::<serde_json::Value>(&t).ok());
        time.and_then(|t| t["seconds"].as_f64()).filter(|s| s.is_finite() && *s >= 0.0).unwrap_or(0.0)
    }

    /// Saves how long the run has taken so far.
    pub fn save_seconds(&self, seconds: f64) -> anyhow::Result<()> {
        self.write("time.json", &format!("{{\"seconds\":{seconds}}}\n"))
    }

    /// Each policy that was the best so far, the last one last.
    pub fn bests(&self) -> Vec<SoFar> {
        let text = read_text(&self.path.join(BESTS), MOST_CONFIG).unwrap_or_default();
        text.lines().map_while(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Saves the policies that were the best so far: for people, and for a run that goes on.
    pub fn save_bests(&self, bests: &[SoFar]) -> anyhow::Result<()> {
        let Some(best) = bests.last() else { return Ok(()) };
        let lines = bests.iter().map(serde_json::to_string).collect::<Result<Vec<String>, _>>()?;
        self.write(BESTS, &format!("{}\n", lines.join("\n")))?;
        self.write(BEST, &format!("% The best so far, after {} in training.\n{}", best.how(), best.policy))
    }

    /// Says what the run is doing. What cannot be written is not seen, and does no harm.
    pub fn save_now(&self, now: &Now) {
        if let Ok(text) = serde_json::to_string(now) {
            let _ = fs::write(self.path.join(NOW), text);
        }
    }

    /// Takes that back: nothing is under way any more.
    pub fn forget_now(&self) {
        let _ = fs::remove_file(self.path.join(NOW));
    }

    /// What the run is doing, where a process said so just now.
    pub fn now(&self) -> Option<Now> {
        let path = self.path.join(NOW);
        let age = fs::metadata(&path).and_then(|m| m.modified()).ok()?.elapsed().unwrap_or_default();
        let text = read_text(&path, MOST_CONFIG).ok().filter(|_| age < SILENCE)?;
        serde_json::from_str(&text).ok()
    }

    /// Takes out the best policy so far: the result is there.
    pub fn forget_best(&self) {
        // What cannot be taken out does no harm.
        let _ = fs::remove_file(self.path.join(BEST));
    }

    /// Seconds that the run may still take, where they are limited.
    pub fn seconds_left(&self) -> Option<f64> {
        self.config.max_seconds.map(|most| most - self.seconds())
    }

    /// Writes a file of the run: it is there as a whole or not at all.
    pub fn write(&self, file: &str, text: &str) -> anyhow::Result<()> {
        write(&self.path.join(file), text)
    }
}

/// A point of a training curve with the restart it belongs to.
#[derive(Serialize, Deserialize)]
struct PlacedPoint {
    #[serde(flatten)]
    point: UpdateStats,
    restart: u64,
}

fn checksum(lines: &[impl AsRef<str>]) -> String {
    fingerprint(lines.iter().flat_map(|l| l.as_ref().bytes().chain([b'\n'])))
}

/// An error where a folder holds a run or several.
fn refuse_if_taken(path: &Path) -> anyhow::Result<()> {
    if path.join("config.toml").exists() || Manifest::is_in(path) {
        let shown = path.display();
        bail!(
            "{shown} holds a run already: resume it with --resume {}, or choose another --out",
            quoted(path)
        );
    }
    Ok(())
}

/// The runs directly below a folder, by path.
fn runs_below(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut below = Vec::new();
    for entry in fs::read_dir(path)? {
        let path = entry?.path();
        if path.join("config.toml").exists() {
            below.push(path);
        }
    }
    below.sort();
    Ok(below)
}

/// The first run directly below a folder that is none itself.
fn first_run_below(path: &Path) -> Option<PathBuf> {
    if path.join("config.toml").exists() {
        return None;
    }
    runs_below(path).ok()?.into_iter().next()
}

/// Makes the first of `runs/NAME-1`, `runs/NAME-2`, ... that does not exist: nobody else gets the same one.
pub fn make_next_free(name: &str) -> anyhow::Result<PathBuf> {
    let stem = Path::new(name).file_stem().map_or_else(|| "run".into(), |s| s.to_string_lossy().into_owned());
    let runs = Path::new("runs");
    make_folder(runs)?;
    let mut n = 1_u64;
    loop {
        let path = runs.join(format!("{stem}-{n}"));
        match fs::create_dir(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => n += 1,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot make the folder {}", path.display()));
            }
        }
    }
}
