//! `derrl-bench planning`: the domains of the planning competition, trained on small problems and tested up to its largest.
//!
//! Each seed is a process of its own with one thread, so that CPU time and memory are its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, bail};
use derrl::setup::Setup;
use derrl::{Planning, Policy, Problems};
use derrl_cli::{SeedRange, catch_interrupts, interrupted};
use derrl_env::{Options, nearest};
use derrl_learn::{Best, Checkpoint, Config, Learned, Observer};
use derrl_report::table::{WIDTH, columns, thousands, wrap};
use derrl_zoo::planning::{DOMAINS, Domain, find};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::Report;
use crate::args::Bench;
use crate::pddl::lama::Lama;

/// Seconds that LAMA may take per problem.
const PATIENCE: u32 = 60;

/// Trains each domain once per seed, one run after the other, and tests it.
pub fn run(args: &Bench) -> anyhow::Result<Report> {
    catch_interrupts();
    let domains = wanted(&args.domains)?;
    if args.alone {
        let [domain] = domains.as_slice() else { bail!("--alone is for one domain: name it by --domain") };
        if args.by_hand {
            return Ok(Report {
                text: String::new(),
                json: serde_json::to_value(ByHand::measured(domain)?)?,
            });
        }
        let run = alone(domain, args.seed, args.limit)?;
        return Ok(Report { text: run.policy.clone(), json: serde_json::to_value(&run)? });
    }
    if args.by_hand {
        return by_hand_alone(&domains);
    }
    let range = args.seeds.unwrap_or(SeedRange { first: 0, last: 4 });
    let lama = if args.lama { Lama::installed() } else { None };
    if args.lama && lama.is_none() {
        bail!("--lama: `pip install --no-deps up-fast-downward==1.0.0` brings LAMA");
    }
    let mut figures = Vec::new();
    for domain in domains {
        let by_hand = by_hand(domain)?;
        let lama = lama.as_ref().map(|l| by_lama(l, domain)).transpose()?;
        let mut runs = Vec::new();
        for seed in range.first..=range.last {
            let run = in_process(domain, seed, args.limit)?;
            say!("{}, seed {seed}: {}", domain.name, run.said());
            runs.push(run);
        }
        figures.push(Figures { domain, by_hand, lama, runs });
    }
    let about = format!(
        "one process and one thread per seed, default settings, at most {} CPU seconds; solved: test problems, of sizes \
         that grow until none of a size is solved; by hand, LAMA: steps beside those of the rules written by hand and of \
         LAMA ({PATIENCE} s per problem), over problems that both solve",
        args.limit
    );
    let mut text = wrap(&about, "", WIDTH);
    for (development, title) in
        [(true, "domains in view when the learner was designed"), (false, "other domains")]
    {
        let mut rows = vec![HEADS.map(String::from).to_vec()];
        rows.extend(figures.iter().filter(|f| f.domain.development == development).flat_map(Figures::rows));
        if rows.len() > 1 {
            text = format!("{text}\n{title}\n{}", columns(&rows, ""));
        }
    }
    let list: Vec<Value> = figures.iter().map(Figures::json).collect();
    Ok(Report { text, json: json!({ "planning": list }) })
}

fn wanted(names: &[String]) -> anyhow::Result<Vec<&'static Domain>> {
    if names.is_empty() {
        return Ok(DOMAINS.iter().collect());
    }
    let known = |name: &String| {
        find(name).with_context(|| {
            let help = nearest(name, DOMAINS.iter().map(|d| d.name));
            format!("--domain {name}: there is no such planning domain{help}")
        })
    };
    names.iter().map(known).collect()
}

/// What came of one seed.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Run {
    seed: u64,
    cpu_seconds: f64,
    /// The most memory that training used, in megabytes, where the system tells.
    peak_mb: Option<f64>,
    decisions: u64,
    rules: usize,
    /// Whether the time was up before the learner was done.
    stopped: bool,
    policy: String,
    problems: Vec<Played>,
}

/// What a policy did in a test problem.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Played {
    size: usize,
    seed: u64,
    solved: bool,
    steps: usize,
    seconds: f64,
}

impl Run {
    fn solved(&self) -> usize {
        self.problems.iter().filter(|p| p.solved).count()
    }

    /// The largest size of which every problem is solved, as are those of all smaller sizes.
    fn reach(&self) -> usize {
        let mut sizes: BTreeMap<usize, bool> = BTreeMap::new();
        self.problems.iter().for_each(|p| *sizes.entry(p.size).or_insert(true) &= p.solved);
        sizes.into_iter().take_while(|(_, all)| *all).last().map_or(0, |(size, _)| size)
    }

    fn said(&self) -> String {
        let memory = self.peak_mb.map_or(String::new(), |mb| format!(", {mb:.0} MB"));
        let stopped = if self.stopped { ", stopped" } else { "" };
        format!("{} solved, {:.1} CPU seconds{memory}{stopped}", self.solved(), self.cpu_seconds)
    }
}

/// A run in a process of its own.
fn in_process(domain: &Domain, seed: u64, limit: f64) -> anyhow::Result<Run> {
    own_process(domain, &["--seed", &seed.to_string(), "--limit", &limit.to_string()])
        .with_context(|| format!("seed {seed}"))
}

/// What this program measures in another process, which has memory and CPU time of its own.
fn own_process<T: for<'d> Deserialize<'d>>(domain: &Domain, args: &[&str]) -> anyhow::Result<T> {
    let own = std::env::current_exe().context("cannot tell which program this is")?;
    let output = Command::new(own)
        .args(["planning", "--alone", "--json", "--domain", domain.name])
        .args(args)
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start a run")?;
    if interrupted() || !output.status.success() {
        bail!("{}: the run ended early ({})", domain.name, output.status);
    }
    serde_json::from_slice(&output.stdout).context("a run prints no figures")
}

/// What the rules written by hand did in all test problems of a domain.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct ByHand {
    cpu_seconds: f64,
    peak_mb: Option<f64>,
    problems: Vec<Played>,
}

impl ByHand {
    /// In this process.
    fn measured(domain: &Domain) -> anyhow::Result<ByHand> {
        let problems = by_hand(domain)?.unwrap_or_default();
        Ok(ByHand { cpu_seconds: cpu_seconds(), peak_mb: peak_mb(), problems })
    }

    fn row(&self, domain: &Domain) -> Vec<String> {
        let solved = self.problems.iter().filter(|p| p.solved).count();
        let largest = self.problems.iter().filter(|p| p.solved).max_by_key(|p| p.size);
        let of_largest = |show: &dyn Fn(&Played) -> String| largest.map_or_else(|| "–".to_string(), show);
        vec![
            domain.name.to_string(),
            format!("{solved} of {}", domain.testing().len()),
            of_largest(&|p| format!("{} {}", p.size, domain.unit())),
            of_largest(&|p| thousands(p.steps as u64)),
            of_largest(&|p| format!("{:.2}", p.seconds)),
            format!("{:.1}", self.cpu_seconds),
            self.peak_mb.map_or_else(|| "–".to_string(), |mb| format!("{mb:.0}")),
        ]
    }
}

/// Tests the rules written by hand, a process per domain.
fn by_hand_alone(domains: &[&Domain]) -> anyhow::Result<Report> {
    let heads = ["domain", "solved", "largest", "steps", "s", "CPU s", "MB"];
    let (mut rows, mut list) = (vec![heads.map(String::from).to_vec()], Vec::new());
    for domain in domains.iter().filter(|d| d.by_hand().is_some()) {
        let measured: ByHand = own_process(domain, &["--by-hand"])?;
        let row = measured.row(domain);
        say!("{}", row.join(", "));
        rows.push(row);
        list.push(json!({ "domain": domain.name, "by_hand": measured }));
    }
    let about = "rules written by hand in the test problems; steps and seconds are those of a largest problem that is solved, CPU \
                 seconds and memory those of the whole domain";
    let text = format!("{}\n{}", wrap(about, "", WIDTH), columns(&rows, ""));
    Ok(Report { text, json: json!({ "planning": list }) })
}

/// Trains in this process, then tests.
fn alone(domain: &Domain, seed: u64, limit: f64) -> anyhow::Result<Run> {
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let files = write(domain, folder.path())?;
    let planning =
        Planning::load(&files.domain, &Problems { train: vec![files.train], ..Problems::default() })?;
    let setup = Setup::of_world(planning.world(), &Options::default(), &Config::default())?;
    let clock = Clock { limit, ..Clock::default() };
    let learned = setup.search(vec![(seed, Checkpoint::default())], &clock, 1)?.into_iter().flatten().next();
    if interrupted() {
        bail!("interrupted");
    }
    let (cpu_seconds, peak_mb) = (cpu_seconds(), peak_mb());
    let stopped = learned.is_none();
    let (text, decisions) = if let Some(l) = &learned {
        (l.policy.display(&l.alphabet).to_string(), l.steps)
    } else {
        let best = clock.best.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (best.unwrap_or_default(), clock.decisions.load(Ordering::Relaxed))
    };
    let policy = Policy::parse(planning.world(), &text)?;
    Ok(Run {
        seed,
        cpu_seconds,
        peak_mb,
        decisions,
        rules: policy.rules().rules.len(),
        stopped,
        problems: test(domain, &text, seed, folder.path())?,
        policy: text,
    })
}

/// The rules written by hand in the test problems, where there are such rules.
fn by_hand(domain: &Domain) -> anyhow::Result<Option<Vec<Played>>> {
    let Some(text) = domain.by_hand() else { return Ok(None) };
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    write(domain, folder.path())?;
    test(domain, text, 0, folder.path()).map(Some)
}

/// Steps of LAMA's plans for the test problems, by size and seed.
fn by_lama(lama: &Lama, domain: &Domain) -> anyhow::Result<BTreeMap<(usize, u64), usize>> {
    let mut found = BTreeMap::new();
    let mut last = None;
    for (size, seed) in domain.testing() {
        // Where a size is too large for all of its problems, the next is, too.
        if last.is_some_and(|last| last < size) && !found.keys().any(|&(s, _)| Some(s) == last) {
            break;
        }
        last = Some(size);
        let planned = lama.plan(domain.text(), &domain.problem(size, seed), PATIENCE)?;
        found.extend(planned.steps.map(|steps| ((size, seed), steps)));
    }
    Ok(found)
}

/// Where the files of a domain are.
struct Files {
    domain: PathBuf,
    train: PathBuf,
}

fn write(domain: &Domain, folder: &Path) -> anyhow::Result<Files> {
    let files = Files { domain: folder.join("domain.pddl"), train: folder.join("train") };
    let mut all = vec![(files.domain.clone(), domain.text().to_string())];
    for (size, seed) in domain.training() {
        all.push((files.train.join(format!("p{size:04}-{seed}.pddl")), domain.problem(size, seed)));
    }
    for (size, seed) in domain.testing() {
        let of_size = folder.join("test").join(size.to_string());
        all.push((of_size.join(format!("p{seed}.pddl")), domain.problem(size, seed)));
    }
    for (path, text) in all {
        let shown = path.display();
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder of {shown}"))?;
        }
        std::fs::write(&path, text).with_context(|| format!("cannot write {shown}"))?;
    }
    Ok(files)
}

/// Plays the test problems, small ones first. A size of which none is solved ends it: what is larger counts as not solved.
fn test(domain: &Domain, policy: &str, seed: u64, folder: &Path) -> anyhow::Result<Vec<Played>> {
    let mut played = Vec::new();
    let mut sizes: Vec<usize> = domain.testing().into_iter().map(|(size, _)| size).collect();
    sizes.dedup();
    for size in sizes {
        let problems = Problems {
            train: vec![folder.join("train")],
            test: vec![(size.to_string(), folder.join("test").join(size.to_string()))],
            horizon: None,
        };
        let planning = Planning::load(&folder.join("domain.pddl"), &problems)?;
        let policy = Policy::parse(planning.world(), policy)?;
        let scores = planning.score(&policy, &size.to_string(), seed)?.problems;
        let of_size = domain.testing().into_iter().filter(|(s, _)| *s == size);
        let before = played.len();
        played.extend(of_size.zip(scores).map(|((size, seed), score)| Played {
            size,
            seed,
            solved: score.solved,
            steps: score.steps,
            seconds: score.seconds,
        }));
        if !played[before..].iter().any(|p| p.solved) {
            break;
        }
    }
    Ok(played)
}

const HEADS: [&str; 10] =
    ["domain", "seed", "CPU s", "MB", "decisions", "rules", "solved", "up to", "by hand", "LAMA"];

struct Figures {
    domain: &'static Domain,
    by_hand: Option<Vec<Played>>,
    lama: Option<BTreeMap<(usize, u64), usize>>,
    runs: Vec<Run>,
}

impl Figures {
    /// Steps beside those of the rules written by hand.
    fn beside_hand(&self, run: &Run) -> Option<f64> {
        let solved = self.by_hand.as_ref()?.iter().filter(|p| p.solved);
        beside(run, &solved.map(|p| ((p.size, p.seed), p.steps)).collect())
    }

    fn beside_lama(&self, run: &Run) -> Option<f64> {
        beside(run, self.lama.as_ref()?)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let all = self.domain.testing().len();
        let or_none = |value: Option<f64>| value.map_or_else(|| "–".to_string(), |v| format!("{v:.2}"));
        let row = |run: &Run| {
            vec![
                self.domain.name.to_string(),
                run.seed.to_string(),
                format!("{:.1}{}", run.cpu_seconds, if run.stopped { " (stopped)" } else { "" }),
                run.peak_mb.map_or_else(|| "–".to_string(), |mb| format!("{mb:.0}")),
                thousands(run.decisions),
                run.rules.to_string(),
                format!("{} of {all}", run.solved()),
                run.reach().to_string(),
                or_none(self.beside_hand(run)),
                or_none(self.beside_lama(run)),
            ]
        };
        self.runs.iter().map(row).collect()
    }

    fn json(&self) -> Value {
        let runs: Vec<Value> = self
            .runs
            .iter()
            .map(|run| {
                json!({
                    "run": run, "solved": run.solved(), "reach": run.reach(),
                    "steps_beside_by_hand": self.beside_hand(run), "steps_beside_lama": self.beside_lama(run),
                })
            })
            .collect();
        let solved_by_hand = self.by_hand.as_ref().map(|all| all.iter().filter(|p| p.solved).count());
        json!({
            "domain": self.domain.name, "development": self.domain.development,
            "tests": self.domain.testing().len(), "solved_by_hand": solved_by_hand,
            "solved_by_lama": self.lama.as_ref().map(BTreeMap::len), "runs": runs,
        })
    }
}

/// The steps of a run as a share of others', over the problems that both solve.
fn beside(run: &Run, others: &BTreeMap<(usize, u64), usize>) -> Option<f64> {
    let both = run.problems.iter().filter(|p| p.solved);
    let both = both.filter_map(|p| Some((p.steps, *others.get(&(p.size, p.seed))?)));
    let (own, other) = both.fold((0, 0), |(a, b), (own, other)| (a + own, b + other));
    (other > 0).then(|| own as f64 / other as f64)
}

/// Stops a run when its CPU time is up, and keeps its best policy so far.
#[derive(Default)]
struct Clock {
    limit: f64,
    best: Mutex<Option<String>>,
    decisions: AtomicU64,
    asked: AtomicU32,
    is_over: AtomicBool,
}

/// Asking the clock takes a while: every so many questions do.
const PATIENT: u32 = 64;

impl Observer for Clock {
    fn decided(&self, _seed: u64, decisions: u64) {
        self.decisions.store(decisions, Ordering::Relaxed);
    }

    fn best(&self, _seed: u64, best: &Best<'_>) {
        *self.best.lock().unwrap_or_else(PoisonError::into_inner) = Some(best.policy.to_string());
        self.decisions.fetch_max(best.decisions, Ordering::Relaxed);
    }

    fn finished(&self, _seed: u64, _checkpoint: &Checkpoint, learned: &Learned) {
        self.decisions.store(learned.steps, Ordering::Relaxed);
    }

    fn interrupted(&self) -> bool {
        if self.asked.fetch_add(1, Ordering::Relaxed).is_multiple_of(PATIENT) && cpu_seconds() > self.limit {
            self.is_over.store(true, Ordering::Relaxed);
        }
        self.is_over.load(Ordering::Relaxed) || interrupted()
    }
}

/// Seconds that this process has run on a processor.
#[cfg(unix)]
pub fn cpu_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Seconds since the first call: CPU time is unavailable on this platform.
#[cfg(not(unix))]
pub fn cpu_seconds() -> f64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
}

/// The most memory that this process has used so far, in megabytes, where Linux tells.
fn peak_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok().map(|kb| kb / 1024.0)
}
