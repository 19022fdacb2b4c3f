//! `derrl-bench zoo`: worlds of different nature, learned with default settings and tested on larger instances.

use std::collections::BTreeMap;
use std::time::Instant;

use anyhow::{Context, bail};
use derrl_env::{Options, nearest};
use derrl_learn::{Checkpoint, Config, SOLVED, Score, evaluate};
use derrl_logic::{Alphabet, Policy, Source};
use derrl_zoo::{Animal, numbers, zoo};
use serde_json::{Value, json};

use crate::args::Bench;
use crate::seeds::{Steps, bodies};
use crate::{Report, median};
use derrl::setup::Setup;
use derrl_cli::SeedRange;
use derrl_cli::catch_interrupts;
use derrl_report::table::{WIDTH, columns, thousands, wrap};

/// Episodes per score; in instances of hundreds of objects, this many.
const EPISODES: usize = 100;
const HUGE_EPISODES: usize = 4;

/// Trains each world once per seed, one run after the other on all cores.
pub fn run(args: &Bench) -> anyhow::Result<Report> {
    catch_interrupts();
    let animals = wanted(&args.worlds)?;
    let range = args.seeds.unwrap_or(SeedRange { first: 0, last: 19 });
    let mut figures = Vec::new();
    for animal in &animals {
        figures.push(measure(animal, range)?);
    }
    let about = format!(
        "default settings, all cores; solved: {:.0} % of {EPISODES} episodes succeed; return: on large, or on train \
         where there is one task, beside that of rules written by hand",
        SOLVED * 100.0
    );
    let mut text = wrap(&about, "", WIDTH);
    let groups = [
        (Group::Tuned, "worlds in view when defaults were chosen"),
        (Group::Other, "other worlds"),
        (Group::Numbers, "worlds that report numbers"),
    ];
    for (group, title) in groups {
        let heads =
            ["world", "train", "large", "huge", "return", "by hand", "steps", "seconds", "worst", "rules"];
        let mut rows = vec![heads.map(String::from).to_vec()];
        rows.extend(figures.iter().filter(|f| f.group == group).map(Figures::row));
        if rows.len() > 1 {
            text = format!("{text}\n{title}\n{}", columns(&rows, ""));
        }
    }
    text.push_str("\nrules found\n");
    for f in &figures {
        text.push_str(&f.rules());
    }
    let list: Vec<Value> = figures.iter().map(Figures::json).collect();
    Ok(Report { text, json: json!({ "zoo": list }) })
}

fn wanted(names: &[String]) -> anyhow::Result<Vec<Animal>> {
    let mut all = zoo();
    all.extend(numbers());
    for name in names {
        if all.iter().all(|a| a.world.name() != name) {
            let help = nearest(name, all.iter().map(|a| a.world.name()));
            bail!("--world {name}: there is no such world in the zoo{help}");
        }
    }
    let is_wanted = |a: &Animal| names.is_empty() || names.iter().any(|n| n == a.world.name());
    Ok(all.into_iter().filter(is_wanted).collect())
}

/// What came of one seed.
struct SeedResult {
    seed: u64,
    /// The scores by task.
    scores: BTreeMap<String, Score>,
    seconds: f64,
    steps: u64,
    rules: usize,
    bodies: String,
}

/// A part of the table.
#[derive(Clone, Copy, PartialEq)]
enum Group {
    Tuned,
    Other,
    Numbers,
}

impl Group {
    fn of(animal: &Animal) -> Group {
        if !animal.world.alphabet().measures.is_empty() {
            Group::Numbers
        } else if animal.tuned {
            Group::Tuned
        } else {
            Group::Other
        }
    }
}

struct Figures {
    world: String,
    group: Group,
    /// The scores of the rules written by hand, by task.
    by_hand: BTreeMap<String, Score>,
    runs: Vec<SeedResult>,
}

fn measure(animal: &Animal, range: SeedRange) -> anyhow::Result<Figures> {
    let (world, name) = (&animal.world, animal.world.name());
    let alphabet = world.alphabet();
    let scores = |policy: &Policy, alphabet: &Alphabet| -> anyhow::Result<BTreeMap<String, Score>> {
        let score = |task: &derrl_env::Task| {
            let episodes = if task.scored { EPISODES } else { HUGE_EPISODES };
            let mut env = world.env(&task.name)?;
            Ok((task.name.clone(), evaluate(policy, alphabet, env.as_mut(), episodes, range.first)?))
        };
        world.tasks().iter().map(score).collect()
    };
    let (by_hand, of_hand) =
        Policy::read(&Source::new(format!("{name}-by-hand.pl"), animal.by_hand), &alphabet)?;
    let by_hand = scores(&by_hand, &of_hand)?;
    let mut runs = Vec::new();
    for seed in range.first..=range.last {
        let setup = Setup::of_world(world, &Options::default(), &Config::default())?;
        let steps = Steps::default();
        let start = Instant::now();
        let learned = setup.search(vec![(seed, Checkpoint::default())], &steps, derrl_learn::cores())?;
        let seconds = start.elapsed().as_secs_f64();
        let learned = learned.into_iter().flatten().next().context("interrupted")?;
        let run = SeedResult {
            seed,
            scores: scores(&learned.policy, &learned.alphabet)?,
            seconds,
            steps: steps.0.into_inner().unwrap_or(0),
            rules: learned.policy.rules.len(),
            bodies: bodies(&learned.policy, &learned.alphabet),
        };
        let shares: Vec<String> = run
            .scores
            .iter()
            .map(|(task, s)| match s.success_rate {
                Some(share) => format!("{task} {share:.2}"),
                None => format!("{task} {:.2}", s.mean),
            })
            .collect();
        say!("{name}, seed {seed}: {}, {seconds:.2} s", shares.join(", "));
        runs.push(run);
    }
    Ok(Figures { world: name.to_string(), group: Group::of(animal), by_hand, runs })
}

impl Figures {
    /// The seeds that solve a task; `None` where the world has no such task, or no goal.
    fn solved(&self, task: &str) -> Option<usize> {
        self.by_hand.get(task)?.success_rate?;
        let solves = |r: &&SeedResult| r.scores.get(task).is_some_and(|s| s.solved() == Some(true));
        Some(self.runs.iter().filter(solves).count())
    }

    fn of(&self, value: impl Fn(&SeedResult) -> f64) -> (f64, f64) {
        let values: Vec<f64> = self.runs.iter().map(value).collect();
        let worst = values.iter().copied().fold(0.0, f64::max);
        (median(values), worst)
    }

    /// The mean over seeds of the mean return on a task.
    fn mean(&self, task: &str) -> f64 {
        let all = self.runs.iter().filter_map(|r| r.scores.get(task)).map(|s| s.mean);
        all.sum::<f64>() / self.runs.len().max(1) as f64
    }

    /// The task whose returns are shown.
    fn largest(&self) -> &'static str {
        if self.by_hand.contains_key("large") { "large" } else { "train" }
    }

    fn row(&self) -> Vec<String> {
        let (seconds, slowest) = self.of(|r| r.seconds);
        let solved =
            |task: &str| self.solved(task).map_or(String::new(), |n| format!("{n} of {}", self.runs.len()));
        vec![
            self.world.clone(),
            solved("train"),
            solved("large"),
            solved("huge"),
            format!("{:.3}", self.mean(self.largest())),
            self.by_hand.get(self.largest()).map_or(String::new(), |s| format!("{:.3}", s.mean)),
            thousands(self.of(|r| r.steps as f64).0 as u64),
            format!("{seconds:.2}"),
            format!("{slowest:.2}"),
            format!("{:.0}", self.of(|r| r.rules as f64).0),
        ]
    }

    /// The rules found most often.
    fn rules(&self) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        self.runs.iter().for_each(|r| *counts.entry(&r.bodies).or_default() += 1);
        let most = counts.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(a.0)));
        most.map_or(String::new(), |(set, count)| {
            format!(
                "\n{} ({count} of {} seeds)\n  {}\n",
                self.world,
                self.runs.len(),
                set.replace('\n', "\n  ")
            )
        })
    }

    fn json(&self) -> Value {
        let tasks: BTreeMap<&str, Value> = self
            .by_hand
            .iter()
            .map(|(task, by_hand)| {
                let runs = self.runs.iter().filter_map(|r| r.scores.get(task));
                let shares: Vec<f64> = runs.filter_map(|s| s.success_rate).collect();
                let worst = shares.iter().copied().reduce(f64::min);
                let mean = worst.map(|_| shares.iter().sum::<f64>() / shares.len() as f64);
                let figures = json!({
                    "solved": self.solved(task),
                    "mean_success": mean,
                    "worst_success": worst,
                    "mean_return": self.mean(task),
                    "by_hand_return": by_hand.mean,
                    "by_hand_success": by_hand.success_rate,
                });
                (task.as_str(), figures)
            })
            .collect();
        let (seconds, slowest) = self.of(|r| r.seconds);
        let (steps, most) = self.of(|r| r.steps as f64);
        let failed = |r: &&SeedResult| r.scores.values().any(|s| s.solved() == Some(false));
        json!({
            "world": self.world,
            "tuned": self.group == Group::Tuned,
            "seeds": self.runs.len(),
            "tasks": tasks,
            "unsolved_seeds": self.runs.iter().filter(failed).map(|r| r.seed).collect::<Vec<_>>(),
            "seconds": {"median": seconds, "worst": slowest},
            "steps": {"median": steps, "worst": most},
            "rules": self.of(|r| r.rules as f64).0,
        })
    }
}
