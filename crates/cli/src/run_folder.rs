//! The folder of a run: what it holds, written so that it is never half there.
//!
//! | file | holds |
//! |---|---|
//! | `config.toml` | what was asked for: domain, seed, options, settings |
//! | `domain.pl` | the domain file as it was |
//! | `checkpoint.json` | what is needed to go on |
//! | `metrics.jsonl` | the training curves, a point a line |
//! | `policy.pl`, `policy.unsimplified.pl` | the result |
//! | `curve.svg`, `result.json` | the training curve, and all that `train --json` prints |
//! | `verify.json` | what `derrl verify` found, where it was asked |
//! | `report.html` | a page to look at |
//! | `verify.json` | what `derrl verify` found out about the policy |

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use derrl_env::{Options, Task, World};
use derrl_learn::{Checkpoint, Config, Given};
use derrl_logic::{Alphabet, Policy, Source};
use serde::{Deserialize, Serialize};

use crate::args::ProblemArgs;
use crate::domain::Domain;
use crate::pddl::Files;

/// The files of a run; without the first, a folder is none.
const FILES: [&str; 10] = [
    "config.toml",
    "domain.pl",
    "checkpoint.json",
    "metrics.jsonl",
    "policy.pl",
    "policy.unsimplified.pl",
    "curve.svg",
    "result.json",
    "report.html",
    "verify.json",
];

/// What was asked for, in `config.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// The version that made the run.
    pub derrl: String,
    /// The domain as it was named.
    pub domain: String,
    /// The task trained on, if not the first of the domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The seed.
    pub seed: u64,
    /// Episodes a score, where it was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub episodes: Option<usize>,
    /// Whether types are ignored.
    pub untyped: bool,
    /// The rules it started from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Start>,
    /// Options of the environment.
    #[serde(default)]
    pub options: Options,
    /// The files of a PDDL domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pddl: Option<Files>,
    /// Settings of training.
    pub settings: Config,
}

/// Rules to start from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// The text of the policy.
    pub policy: String,
    /// The numbers of the rules that stay as they are, from 1.
    pub freeze: Vec<usize>,
}

impl Start {
    /// The rules, each with whether it stays as it is.
    pub fn rules(&self, alphabet: &Alphabet) -> anyhow::Result<Vec<Given>> {
        let rules = Policy::parse(&Source::new("--from", self.policy.as_str()), alphabet)?.rules;
        if let Some(n) = self.freeze.iter().find(|&&n| n == 0 || n > rules.len()) {
            bail!("--freeze {n}: the policy has the rules 1 to {}", rules.len());
        }
        let given = |(i, rule)| Given { rule, frozen: self.freeze.contains(&(i + 1)) };
        Ok(rules.into_iter().enumerate().map(given).collect())
    }
}

#[derive(Serialize, Deserialize)]
struct Saved {
    /// Tells checkpoints of other configurations apart.
    fingerprint: String,
    checkpoint: Checkpoint,
}

/// The folder of one run.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// What was asked for.
    pub config: RunConfig,
    domain_text: String,
    /// The world, where it is a value of the program around; else it is found by its name.
    world: Option<World>,
}

impl RunFolder {
    /// The same folder of a run of this world, whatever its name stands for elsewhere.
    #[must_use]
    pub fn of_world(self, world: &World) -> RunFolder {
        RunFolder { world: Some(world.clone()), ..self }
    }

    /// Makes the folder of a new run. A folder that holds a run already is left alone: an error.
    pub fn create(path: &Path, config: RunConfig, domain: &Domain) -> anyhow::Result<RunFolder> {
        let shown = path.display();
        if path.join("config.toml").exists() {
            bail!("{shown} holds a run already: go on with it by --resume {shown}, or choose another --out");
        }
        RunFolder::replace(path, config, domain)
    }

    /// Makes the folder of a run, in place of one that may be there.
    pub fn replace(path: &Path, config: RunConfig, domain: &Domain) -> anyhow::Result<RunFolder> {
        let shown = path.display();
        for old in FILES.map(|file| path.join(file)).iter().filter(|old| old.exists()) {
            fs::remove_file(old).with_context(|| format!("cannot remove {}", old.display()))?;
        }
        fs::create_dir_all(path).with_context(|| format!("cannot make the folder {shown}"))?;
        let folder = RunFolder { path: path.to_path_buf(), config, domain_text: domain.text.clone(), world: None };
        folder.write("domain.pl", &folder.domain_text)?;
        // Last, because a folder with a config.toml counts as a run.
        folder.write("config.toml", &toml::to_string(&folder.config)?)?;
        Ok(folder)
    }

    /// Opens the folder of a run.
    pub fn open(path: &Path) -> anyhow::Result<RunFolder> {
        let shown = path.display();
        if let Some(below) = first_run_below(path) {
            bail!("{shown} holds several runs: name one of them, such as {}", below.display());
        }
        let read = |file: &str| {
            fs::read_to_string(path.join(file)).with_context(|| {
                format!("{shown} is not the folder of a run, or is half-written: cannot read its {file}")
            })
        };
        let config = toml::from_str(&read("config.toml")?).with_context(|| {
            format!("{shown}/config.toml is not what a run writes; start again with another --out")
        })?;
        Ok(RunFolder { path: path.to_path_buf(), config, domain_text: read("domain.pl")?, world: None })
    }

    /// The folders of the runs at or directly below a path, in order of their seeds.
    pub fn open_all(path: &Path) -> anyhow::Result<Vec<RunFolder>> {
        if path.join("config.toml").exists() {
            return Ok(vec![RunFolder::open(path)?]);
        }
        let shown = path.display();
        let entries = fs::read_dir(path).with_context(|| format!("cannot read the folder {shown}"))?;
        let mut folders = Vec::new();
        for entry in entries {
            let below = entry.with_context(|| format!("cannot read the folder {shown}"))?.path();
            if below.join("config.toml").exists() {
                folders.push(RunFolder::open(&below)?);
            }
        }
        if folders.is_empty() {
            bail!("{shown} holds no run: --resume takes the folder that `train` named when it started");
        }
        folders.sort_by_key(|f| f.config.seed);
        Ok(folders)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the policy is.
    pub fn policy_path(&self) -> PathBuf {
        self.path.join("policy.pl")
    }

    /// What came of the run, once it is finished.
    pub fn result(&self) -> Option<serde_json::Value> {
        serde_json::from_str(&fs::read_to_string(self.path.join("result.json")).ok()?).ok()
    }

    /// The domain as it was when the run was made.
    pub fn domain(&self) -> anyhow::Result<Domain> {
        let file = self.path.join("domain.pl").display().to_string();
        if let Some(world) = &self.world {
            let text = self.domain_text.clone();
            return Domain::of_world(&self.config.domain, &file, text, self.config.untyped, world);
        }
        self.domain_with(&file, self.config.pddl.as_ref())
    }

    /// The same with other problems of a PDDL domain to test on.
    pub fn domain_testing(&self, asked: &ProblemArgs) -> anyhow::Result<Domain> {
        let file = self.path.join("domain.pl").display().to_string();
        let Some(files) = &self.config.pddl else {
            bail!("{} is no run of a PDDL domain: --train and --test are for PDDL", self.path.display());
        };
        let new = Files::find(&files.domain, &files.domain, asked)?;
        let files = Files { test: new.test, max_steps: asked.max_steps.or(files.max_steps), ..files.clone() };
        self.domain_with(&file, Some(&files))
    }

    fn domain_with(&self, file: &str, files: Option<&Files>) -> anyhow::Result<Domain> {
        let (name, untyped) = (&self.config.domain, self.config.untyped);
        match files {
            Some(files) => Domain::of_pddl(name, files, Some((file, &self.domain_text)), untyped),
            None => Domain::parse(name, file, self.domain_text.clone(), untyped),
        }
    }

    /// The task it is trained on.
    pub fn task<'a>(&self, domain: &'a Domain) -> anyhow::Result<&'a Task> {
        let first = domain.world.training_task()?.name.as_str();
        Ok(domain.world.find_task(self.config.task.as_deref().unwrap_or(first))?)
    }

    /// The rules the run started from.
    pub fn start(&self, alphabet: &Alphabet) -> anyhow::Result<Vec<Given>> {
        self.config.start.as_ref().map_or(Ok(Vec::new()), |start| start.rules(alphabet))
    }

    /// Everything that decides what a run computes; results of different fingerprints do not mix.
    fn fingerprint(&self) -> anyhow::Result<String> {
        let config = toml::to_string(&self.config)?;
        Ok(fingerprint(config.bytes().chain(self.domain_text.bytes())))
    }

    /// The checkpoint, or an empty one where none was written yet.
    pub fn checkpoint(&self) -> anyhow::Result<Checkpoint> {
        let path = self.path.join("checkpoint.json");
        let shown = path.display();
        if !path.exists() {
            return Ok(Checkpoint::default());
        }
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {shown}"))?;
        let saved: Saved = serde_json::from_str(&text)
            .with_context(|| format!("{shown} is damaged: remove it to start the run again"))?;
        if saved.fingerprint != self.fingerprint()? {
            bail!(
                "{shown} belongs to another configuration than config.toml and domain.pl: restore those, or remove it to start the run again"
            );
        }
        Ok(saved.checkpoint)
    }

    /// Saves the checkpoint and the curves so far.
    pub fn save(&self, checkpoint: &Checkpoint) -> anyhow::Result<()> {
        let saved = Saved { fingerprint: self.fingerprint()?, checkpoint: checkpoint.clone() };
        self.write("checkpoint.json", &serde_json::to_string(&saved)?)?;
        let mut lines = String::new();
        let done = checkpoint.done.iter().map(|o| (o.restart, &o.curve));
        for (restart, curve) in done.chain(checkpoint.running.iter().map(|p| (p.restart, &p.curve))) {
            for point in curve {
                let mut value = serde_json::to_value(point)?;
                value["restart"] = restart.into();
                lines.push_str(&value.to_string());
                lines.push('\n');
            }
        }
        self.write("metrics.jsonl", &lines)
    }

    /// Writes a file of the run: it is there as a whole or not at all.
    pub fn write(&self, file: &str, text: &str) -> anyhow::Result<()> {
        write_whole(&self.path.join(file), text)
    }
}

/// The first run directly below a folder that is none itself.
fn first_run_below(path: &Path) -> Option<PathBuf> {
    if path.join("config.toml").exists() {
        return None;
    }
    let mut below: Vec<PathBuf> = fs::read_dir(path).ok()?.flatten().map(|entry| entry.path()).collect();
    below.sort();
    below.into_iter().find(|path| path.join("config.toml").exists())
}

/// Writes a file that is there as a whole or not at all.
pub fn write_whole(path: &Path, text: &str) -> anyhow::Result<()> {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".partial");
    let partial = path.with_file_name(name);
    let written = fs::write(&partial, text).and_then(|()| fs::rename(&partial, path));
    if written.is_err() {
        let _ = fs::remove_file(&partial); // it may not even be there
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// A short name for what these bytes say (FNV-1a).
pub fn fingerprint(bytes: impl Iterator<Item = u8>) -> String {
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// The first of `runs/NAME-1`, `runs/NAME-2`, ... that does not exist.
pub fn next_free(name: &str) -> PathBuf {
    let stem = Path::new(name).file_stem().map_or_else(|| "run".into(), |s| s.to_string_lossy().into_owned());
    let mut n = 1;
    loop {
        let path = Path::new("runs").join(format!("{stem}-{n}"));
        if !path.exists() {
            return path;
        }
        n += 1;
    }
}
