//! `derrl bench train`: steps a second of the environment alone, of acting and of training.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::bail;
use derrl_env::{Env, Options, Rng, Spec, Status, make};
use derrl_learn::{Config, Problem, Trainer};
use serde_json::{Value, json};

use super::{Report, median};
use crate::args::Bench;
use crate::table::{columns, thousands};

/// Measurements a figure: the median is reported.
const ROUNDS: usize = 5;

/// Measures on one core, for each domain: steps a second of the environment alone with random actions, of acting (rules
/// sampled and evaluated), and of full training (sampling, inference, gradient and update included).
pub fn run(args: &Bench, specs: &[&'static Spec]) -> anyhow::Result<Report> {
    if !(args.seconds.is_finite() && args.seconds > 0.0) {
        bail!("--seconds is a number above 0, not {}", args.seconds);
    }
    let heads =
        ["domain", "environment", "acting", "training", "acting/env", "training/env", "memory growth"];
    let mut rows = vec![heads.map(String::from).to_vec()];
    let mut list = Vec::new();
    for spec in specs {
        let figures = measure(spec, args.seed, Duration::from_secs_f64(args.seconds / ROUNDS as f64))?;
        rows.push(figures.row(spec.name));
        list.push(figures.json(spec.name));
    }
    let text = format!("steps per second, one core, median of {ROUNDS} rounds\n\n{}", columns(&rows, ""));
    Ok(Report { text, json: json!({ "unit": "steps per second, one core", "train": list }) })
}

struct Figures {
    environment: f64,
    acting: f64,
    training: f64,
    /// Resident memory after the first and the last round, in KiB.
    memory: Option<(u64, u64)>,
}

impl Figures {
    fn row(&self, name: &str) -> Vec<String> {
        let memory =
            self.memory.map_or("unknown".to_string(), |(a, b)| format!("{} KiB", b.saturating_sub(a)));
        vec![
            name.to_string(),
            thousands(self.environment as u64),
            thousands(self.acting as u64),
            thousands(self.training as u64),
            format!("{:.2}", self.acting / self.environment),
            format!("{:.2}", self.training / self.environment),
            memory,
        ]
    }

    fn json(&self, name: &str) -> Value {
        json!({
            "domain": name,
            "environment": self.environment,
            "acting": self.acting,
            "training": self.training,
            "acting_to_environment": self.acting / self.environment,
            "training_to_environment": self.training / self.environment,
            "memory_kib": self.memory.map(|(a, b)| json!({"first_round": a, "last_round": b})),
        })
    }
}

fn measure(spec: &'static Spec, seed: u64, time: Duration) -> anyhow::Result<Figures> {
    let alphabet = spec.alphabet();
    // Never finished: the bench decides when to stop.
    let config = Config { updates: 1_000_000_000, ..Config::default() };
    let mut env = make(spec, &alphabet, spec.tasks[0].name, &Options::default())?;
    let problem = Arc::new(Problem::new(&alphabet, env.learners())?);
    let mut trainer = Trainer::new(&problem, &config, seed, 0);
    let mut rng = Rng::new(seed, 1);
    let actions = {
        env.reset(&mut rng);
        env.universe().ground_actions(&alphabet)
    };
    if actions.is_empty() {
        bail!("{} has no actions", spec.name);
    }
    // Warm up: states grounded, buffers grown.
    let warm = Instant::now();
    while warm.elapsed() < time {
        trainer.update(env.as_mut())?;
    }
    let mut figures = [const { Vec::new() }; 3];
    let mut memory = Vec::new();
    // The three are measured in turn, so that a slow moment of the machine meets all of them.
    for _ in 0..ROUNDS {
        figures[0].push(rate(time, || random_steps(env.as_mut(), &alphabet, &mut rng)));
        figures[1].push(rate(time, || trainer.act(env.as_mut())));
        figures[2].push(rate(time, || {
            let before = trainer.steps();
            let _ = trainer.update(env.as_mut());
            trainer.steps() - before
        }));
        memory.extend(resident_kib());
    }
    let [environment, acting, training] = figures.map(median);
    let memory = memory.first().copied().zip(memory.last().copied());
    Ok(Figures { environment, acting, training, memory })
}

/// Steps a second of repeated work.
fn rate(time: Duration, mut work: impl FnMut() -> u64) -> f64 {
    let start = Instant::now();
    let mut steps = 0;
    while start.elapsed() < time {
        steps += work();
    }
    steps as f64 / start.elapsed().as_secs_f64()
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
