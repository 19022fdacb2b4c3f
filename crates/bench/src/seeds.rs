//! `derrl-bench seeds`: does it learn whatever the seed, and how soon?

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::Context;
use derrl_env::{Options, World};
use derrl_learn::{Checkpoint, Config, Learned, Observer, evaluate};
use derrl_logic::{Alphabet, Policy};
use serde_json::json;

use crate::args::Bench;
use crate::{Report, median};
use derrl::setup::Setup;
use derrl_cli::SeedRange;
use derrl_cli::{catch_interrupts, interrupted};
use derrl_report::table::{columns, thousands};
use derrl_reproduce::solved::Solved;

/// Trains each domain once per seed with default settings, one run after the other on all cores.
pub fn run(args: &Bench, specs: &[&World]) -> anyhow::Result<Report> {
    catch_interrupts();
    let heads = ["domain", "solved", "time median", "time worst", "steps median", "steps worst"];
    let mut rows = vec![heads.map(String::from).to_vec()];
    let mut list = Vec::new();
    let mut rules = String::new();
    for spec in specs {
        let last = if ["traffic", "signals"].contains(&spec.name()) { 4 } else { 19 };
        let range = args.seeds.unwrap_or(SeedRange { first: 0, last });
        let noises: &[Option<f64>] =
            if spec.options().contains(&"noise") { &[None, Some(0.1)] } else { &[None] };
        for &noise in noises {
            let name =
                noise.map_or_else(|| spec.name().to_string(), |p| format!("{} --noise {p}", spec.name()));
            let figures = measure(spec, &name, range, noise)?;
            rows.push(figures.row(&name));
            rules.push_str(&figures.rules(&name));
            list.push(figures.json(&name));
        }
    }
    let text = format!(
        "default settings, all cores\nsolved: every task is, as experiments/solved.toml defines it\n\n{}\nrules found\n{rules}",
        columns(&rows, "")
    );
    Ok(Report { text, json: json!({ "seeds": list }) })
}

struct SeedResult {
    seed: u64,
    solved: bool,
    worst: BTreeMap<String, f64>,
    seconds: f64,
    steps: u64,
    bodies: String,
}

struct Figures {
    runs: Vec<SeedResult>,
}

/// Counts steps, and stops on Ctrl-C.
#[derive(Default)]
pub(crate) struct Steps(pub(crate) std::sync::Mutex<u64>);

impl Observer for Steps {
    fn finished(&self, _seed: u64, _checkpoint: &Checkpoint, learned: &Learned) {
        if let Ok(mut steps) = self.0.lock() {
            *steps = learned.steps;
        }
    }

    fn interrupted(&self) -> bool {
        interrupted()
    }
}

fn measure(spec: &World, name: &str, range: SeedRange, noise: Option<f64>) -> anyhow::Result<Figures> {
    let solved = Solved::read()?;
    let alphabet = spec.alphabet();
    let options = Options { noise, ..Options::default() };
    let config = Config::default();
    let threads = derrl_learn::cores();
    let mut runs = Vec::new();
    for seed in range.first..=range.last {
        // A new problem each time: no run profits from states that another has grounded.
        let setup = Setup::of_world(spec, &options, &config)?;
        let steps = Steps::default();
        let start = Instant::now();
        let learned = setup.search(vec![(seed, Checkpoint::default())], &steps, threads)?;
        let seconds = start.elapsed().as_secs_f64();
        let learned = learned.into_iter().flatten().next().context("interrupted")?;
        let mut run = SeedResult {
            seed,
            solved: true,
            worst: BTreeMap::new(),
            seconds,
            steps: steps.0.into_inner().unwrap_or(0),
            bodies: bodies(&learned.policy, &learned.alphabet),
        };
        for task in spec.tasks().iter().filter(|t| t.scored) {
            let mut env = spec.make(&alphabet, &task.name, &Options::default())?;
            let episodes = env.cost().episodes();
            let score = evaluate(&learned.policy, &learned.alphabet, env.as_mut(), episodes, seed)?;
            run.solved &= solved.solves(spec.name(), &task.name, &score)?;
            run.worst.insert(task.name.clone(), score.mean);
        }
        say!("{name}, seed {seed}: {}, {seconds:.2} s", if run.solved { "solved" } else { "NOT solved" });
        runs.push(run);
    }
    Ok(Figures { runs })
}

/// The rules without their values, one per line, sorted: what tells policies apart.
pub(crate) fn bodies(policy: &Policy, alphabet: &Alphabet) -> String {
    policy.clauses(alphabet).join("\n")
}

impl Figures {
    fn solved(&self) -> usize {
        self.runs.iter().filter(|r| r.solved).count()
    }

    fn of(&self, value: impl Fn(&SeedResult) -> f64) -> (f64, f64) {
        let values: Vec<f64> = self.runs.iter().map(value).collect();
        let worst = values.iter().copied().fold(0.0, f64::max);
        (median(values), worst)
    }

    fn row(&self, name: &str) -> Vec<String> {
        let (time, slowest) = self.of(|r| r.seconds);
        let (steps, most) = self.of(|r| r.steps as f64);
        vec![
            name.to_string(),
            format!("{} of {}", self.solved(), self.runs.len()),
            format!("{time:.2} s"),
            format!("{slowest:.2} s"),
            thousands(steps as u64),
            thousands(most as u64),
        ]
    }

    /// Each set of rules found, the most frequent first.
    fn rules(&self, name: &str) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        self.runs.iter().for_each(|r| *counts.entry(&r.bodies).or_default() += 1);
        let mut sets: Vec<(&str, usize)> = counts.into_iter().collect();
        sets.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let mut text = format!("\n{name}\n");
        for (set, count) in sets.iter().take(5) {
            text = format!("{text}  {count} x\n    {}\n", set.replace('\n', "\n    "));
        }
        if sets.len() > 5 {
            text = format!("{text}  and {} others\n", sets.len() - 5);
        }
        text
    }

    fn json(&self, name: &str) -> serde_json::Value {
        let (time, slowest) = self.of(|r| r.seconds);
        let (steps, most) = self.of(|r| r.steps as f64);
        let mut worst: BTreeMap<&str, f64> = BTreeMap::new();
        for (task, mean) in self.runs.iter().flat_map(|r| &r.worst) {
            let least = worst.entry(task).or_insert(f64::INFINITY);
            *least = least.min(*mean);
        }
        let unsolved: Vec<u64> = self.runs.iter().filter(|r| !r.solved).map(|r| r.seed).collect();
        json!({
            "domain": name,
            "seeds": self.runs.len(),
            "solved": self.solved(),
            "unsolved_seeds": unsolved,
            "worst_return_by_task": worst,
            "seconds": {"median": time, "worst": slowest},
            "steps": {"median": steps, "worst": most},
            "rule_sets": self.runs.iter().map(|r| r.bodies.as_str()).collect::<std::collections::BTreeSet<_>>(),
        })
    }
}
