//! `derrl-bench train`: steps per second of the environment alone, of acting and of training.

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use derrl_env::{Env, Options, Rng, Status, World};
use derrl_learn::{Actor, Checkpoint, Config, Counted, Learned, Problem, Restart, cores};
use serde_json::{Value, json};

use crate::args::Bench;
use crate::seeds::Steps;
use crate::{Report, median};
use derrl::setup::Setup;
use derrl_report::table::{columns, thousands};

/// Measurements per figure: the median is reported.
const ROUNDS: usize = 5;
/// Decisions per run where whole runs are measured.
const DECISIONS: u64 = 20_000;

/// Measures for each domain: steps per second of the environment alone with random actions, of acting (rules sampled and
/// evaluated), and of full training (whole restarts: sampling, inference, gradient and update included), each on one core; then of
/// full training on all cores, a restart each. Worlds that report numbers are learned otherwise: there acting is by the rules that were
/// learned, and training is whole runs of [`DECISIONS`] decisions.
pub fn run(args: &Bench, specs: &[&World]) -> anyhow::Result<Report> {
    if !(args.seconds.is_finite() && args.seconds > 0.0) {
        bail!("--seconds is a number above 0, not {}", args.seconds);
    }
    if let Some(updates) = args.updates {
        return only_train(specs, args.seed, updates);
    }
    let all = format!("{} cores", cores());
    let mut heads = vec![
        "domain",
        "environment",
        "acting",
        "training",
        "training/env",
        all.as_str(),
        "ratio",
        "memory growth",
    ];
    if args.instructions {
        heads.push("instructions per step");
    }
    let mut rows = vec![heads.into_iter().map(String::from).collect()];
    let mut list = Vec::new();
    for spec in specs {
        let time = Duration::from_secs_f64(args.seconds / ROUNDS as f64);
        let has_numbers = !spec.alphabet().measures.is_empty();
        let mut figures =
            if has_numbers { measure_runs(spec, args.seed, time) } else { measure(spec, args.seed, time) }?;
        if args.instructions && !has_numbers {
            figures.instructions = Some(instructions(spec.name(), args.seed)?);
        }
        rows.push(figures.row(spec.name()));
        list.push(figures.json(spec.name()));
    }
    let text = format!(
        "steps per second, one core unless said otherwise, median of {ROUNDS} rounds\n\n{}",
        columns(&rows, "")
    );
    Ok(Report { text, json: json!({ "unit": "steps per second", "cores": cores(), "train": list }) })
}

/// Runs so many updates of each domain and tells how many steps they took.
fn only_train(specs: &[&World], seed: u64, updates: usize) -> anyhow::Result<Report> {
    let mut steps = 0;
    for spec in specs {
        let mut bench = Bencher::new(spec, seed, Config::default())?;
        for _ in 0..updates {
            steps += bench.train()?;
        }
    }
    Ok(Report { text: format!("{steps}\n"), json: json!({ "steps": steps }) })
}

/// Instructions a step of full training, as valgrind counts them: those of three restarts less those of one, so that
/// starting up and grounding the first states do not count.
fn instructions(domain: &str, seed: u64) -> anyhow::Result<f64> {
    let count = |updates: usize| -> anyhow::Result<(f64, f64)> {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(std::env::current_exe()?)
            .args(["train", "--domain", domain])
            .args(["--updates", &updates.to_string(), "--seed", &seed.to_string()])
            .output()
            .context("--instructions needs valgrind, which cannot be started")?;
        let errors = String::from_utf8_lossy(&output.stderr);
        let collected = errors.lines().find_map(|l| l.split("Collected :").nth(1)?.trim().parse().ok());
        let steps = String::from_utf8_lossy(&output.stdout).trim().parse().ok();
        collected.zip(steps).with_context(|| format!("valgrind did not count: {errors}"))
    };
    let restart = Config::default().updates;
    let (few, many) = (count(restart)?, count(3 * restart)?);
    Ok((many.0 - few.0) / (many.1 - few.1))
}

struct Figures {
    environment: f64,
    acting: f64,
    training: f64,
    /// Training on all cores.
    parallel: f64,
    /// Of training, a step.
    instructions: Option<f64>,
    /// Resident memory after the first and the last round, in KiB.
    memory: Option<(u64, u64)>,
}

impl Figures {
    fn row(&self, name: &str) -> Vec<String> {
        let memory = self.memory.map_or("-".to_string(), |(a, b)| format!("{} KiB", b.saturating_sub(a)));
        let mut row = vec![
            name.to_string(),
            thousands(self.environment as u64),
            thousands(self.acting as u64),
            thousands(self.training as u64),
            format!("{:.2}", self.training / self.environment),
            thousands(self.parallel as u64),
            format!("{:.2}", self.parallel / self.training),
            memory,
        ];
        row.extend(self.instructions.map(|n| thousands(n as u64)));
        row
    }

    fn json(&self, name: &str) -> Value {
        json!({
            "domain": name,
            "environment": self.environment,
            "acting": self.acting,
            "training": self.training,
            "acting_to_environment": self.acting / self.environment,
            "training_to_environment": self.training / self.environment,
            "all_cores": self.parallel,
            "all_cores_to_one": self.parallel / self.training,
            "instructions_a_step": self.instructions,
            "memory_kib": self.memory.map(|(a, b)| json!({"first_round": a, "last_round": b})),
        })
    }
}

/// A world and what learns in it, restart after restart.
struct Bencher {
    env: Box<dyn Env>,
    problem: Arc<Problem>,
    config: Config,
    seed: u64,
    restart: u64,
    trainer: Restart,
}

impl Bencher {
    fn new(spec: &World, seed: u64, config: Config) -> anyhow::Result<Bencher> {
        let alphabet = spec.alphabet();
        let env = spec.make(&alphabet, &spec.tasks()[0].name, &Options::default())?;
        let problem = Arc::new(Problem::new(&alphabet, env.learners())?);
        let trainer = Restart::new(&problem, &config, seed, 0);
        Ok(Bencher { env, problem, config, seed, restart: 0, trainer })
    }

    /// One update, of the next restart if the last one is done. Returns its steps.
    fn train(&mut self) -> anyhow::Result<u64> {
        if self.trainer.finished() {
            self.restart += 1;
            self.trainer = Restart::new(&self.problem, &self.config, self.seed, self.restart);
        }
        let before = self.trainer.steps();
        self.trainer.update(&mut Counted::new(self.env.as_mut()))?;
        Ok(self.trainer.steps() - before)
    }
}

fn measure(spec: &World, seed: u64, time: Duration) -> anyhow::Result<Figures> {
    let alphabet = spec.alphabet();
    let training = || Bencher::new(spec, seed, Config::default());
    let mut others = (1..cores()).map(|_| training()).collect::<anyhow::Result<Vec<_>>>()?;
    let mut bench = training()?;
    // Rules as they are before they are certain: those take the most work.
    let mut acting = Bencher::new(spec, seed, Config { updates: usize::MAX, ..Config::default() })?;
    let mut rng = Rng::new(seed, 1);
    let actions = {
        bench.env.reset(&mut rng);
        bench.env.universe().ground_actions(&alphabet)
    };
    if actions.is_empty() {
        bail!("{} has no actions", spec.name());
    }
    // Warm up: states grounded, buffers grown.
    for each in others.iter_mut().chain([&mut bench, &mut acting]) {
        rate(time, || each.train())?;
    }
    let mut figures = [const { Vec::new() }; 4];
    let mut memory = Vec::new();
    // All are measured in turn, so that a slow moment of the machine meets all of them.
    for _ in 0..ROUNDS {
        figures[0].push(rate(time, || Ok(random_steps(bench.env.as_mut(), &alphabet, &mut rng)))?);
        figures[1].push(rate(time, || Ok(acting.trainer.act(&mut Counted::new(acting.env.as_mut()))))?);
        figures[2].push(rate(time, || bench.train())?);
        figures[3].push(std::thread::scope(|scope| -> anyhow::Result<f64> {
            let others: Vec<_> =
                others.iter_mut().map(|other| scope.spawn(move || rate(time, || other.train()))).collect();
            let mut all = rate(time, || bench.train())?;
            for other in others {
                all += other.join().map_err(|_| anyhow!("a thread of the bench failed"))??;
            }
            Ok(all)
        })?);
        memory.extend(resident_kib());
    }
    let [environment, acting, training, parallel] = figures.map(median);
    let memory = memory.first().copied().zip(memory.last().copied());
    Ok(Figures { environment, acting, training, parallel, instructions: None, memory })
}

/// The same in a world that reports numbers.
fn measure_runs(spec: &World, seed: u64, time: Duration) -> anyhow::Result<Figures> {
    let alphabet = spec.alphabet();
    let setup = Setup::of_world(spec, &Options::default(), &Config::default())?.within(DECISIONS);
    let learn = |seeds: std::ops::Range<u64>| -> anyhow::Result<Vec<Learned>> {
        let threads = (seeds.end - seeds.start) as usize;
        let seeds = seeds.map(|seed| (seed, Checkpoint::default())).collect();
        let learned = setup.search(seeds, &Steps::default(), threads)?;
        learned.into_iter().map(|one| one.context("interrupted")).collect()
    };
    let steps = |learned: Vec<Learned>| learned.iter().map(|one| one.steps).sum();
    let rules = learn(seed..seed + 1)?.remove(0);
    let mut actor = Actor::new(&rules.policy, &rules.alphabet);
    // The policy may speak of more than the world's own alphabet.
    let mut env = spec.make(&rules.alphabet, &spec.tasks()[0].name, &Options::default())?;
    let mut rng = Rng::new(seed, 1);
    let mut figures = [const { Vec::new() }; 4];
    for round in 0..ROUNDS as u64 {
        let first = seed + round * cores() as u64;
        figures[0].push(rate(time, || Ok(random_steps(env.as_mut(), &alphabet, &mut rng)))?);
        figures[1].push(rate(time, || Ok(episode(&mut actor, env.as_mut(), &mut rng)))?);
        figures[2].push(rate(time, || Ok(steps(learn(first..first + 1)?)))?);
        figures[3].push(rate(time, || Ok(steps(learn(first..first + cores() as u64)?)))?);
    }
    let [environment, acting, training, parallel] = figures.map(median);
    Ok(Figures { environment, acting, training, parallel, instructions: None, memory: None })
}

/// An episode of a policy. Returns the steps taken.
fn episode(actor: &mut Actor<'_>, env: &mut dyn Env, rng: &mut Rng) -> u64 {
    env.reset(rng);
    let mut steps = 0;
    loop {
        let action = actor.act(env, rng);
        steps += 1;
        if env.step(action.action, &action.args, rng).status != Status::Running {
            return steps;
        }
    }
}

/// Steps per second of repeated work.
fn rate(time: Duration, mut work: impl FnMut() -> anyhow::Result<u64>) -> anyhow::Result<f64> {
    let start = Instant::now();
    let mut steps = 0;
    while start.elapsed() < time {
        steps += work()?;
    }
    Ok(steps as f64 / start.elapsed().as_secs_f64())
}

/// Some hundred episodes of random actions, nothing but the environment. Returns the steps taken.
fn random_steps(env: &mut dyn Env, alphabet: &derrl_logic::Alphabet, rng: &mut Rng) -> u64 {
    let mut steps = 0;
    let mut known = Arc::clone(env.universe());
    let mut actions = known.ground_actions(alphabet);
    for _ in 0..512 {
        env.reset(rng);
        if !Arc::ptr_eq(&known, env.universe()) {
            known = Arc::clone(env.universe());
            actions = known.ground_actions(alphabet);
        }
        loop {
            let action = &actions[rng.below(actions.len())];
            steps += 1;
            if env.step(action.action, &action.args, rng).status != Status::Running {
                break;
            }
        }
    }
    steps
}

/// The memory this process holds, where the system tells.
fn resident_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
