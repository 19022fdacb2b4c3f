//! How fast problems load, step and list their legal actions: numbers for the benchmark, measured here and now.

use std::sync::Arc;
use std::time::Instant;

use derrl_env::{Env, Rng};
use derrl_logic::Error;

use crate::env::{PddlEnv, Problems};
use crate::generate::Generator;
use crate::problem::Problem;
use crate::simulator::{Actions, Simulator};
use crate::task::Task;
use crate::translate::Translation;

/// What was measured on a small problem of a domain, with random legal actions, on one thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Small {
    /// How many objects the problem has.
    pub objects: usize,
    /// Steps per second of the simulator, where the actions are known.
    pub steps: f64,
    /// Steps per second of the simulator, where every step lists what is legal and draws from it.
    pub legal_steps: f64,
    /// Steps per second of the environment, actions known: reward, journal and dead ends included.
    pub env_steps: f64,
}

/// What was measured on a large problem of a domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Large {
    /// How many objects the problem has.
    pub objects: usize,
    /// How many facts hold at first.
    pub facts: usize,
    /// Seconds to parse and compile the problem.
    pub load_seconds: f64,
    /// Microseconds per step of the environment, actions known.
    pub step_micros: f64,
    /// Microseconds to list what is legal.
    pub legal_micros: f64,
    /// How many actions are legal, on average.
    pub legal: f64,
}

/// A random walk with known actions: episodes of legal steps from the start of a problem.
fn walk(task: &Arc<Task>, length: usize, rng: &mut Rng) -> Vec<Vec<(u32, Vec<u32>)>> {
    let mut simulator = Simulator::new(task.clone());
    let mut actions = Actions::new();
    let mut episodes = Vec::new();
    for _ in 0..8 {
        simulator.reset();
        let mut steps = Vec::new();
        while steps.len() < length && !simulator.reached() {
            simulator.legal(&mut actions);
            if actions.is_empty() {
                break;
            }
            let (action, args) = actions.get(rng.below(actions.len()));
            // Actions of episodes are about distinct objects.
            if args.iter().enumerate().any(|(i, a)| args[..i].contains(a)) {
                continue;
            }
            simulator.apply(action, args);
            steps.push((action, args.to_vec()));
        }
        episodes.push(steps);
    }
    episodes
}

/// Repeats `round`, which returns a number of steps, for about `seconds`; the steps per second.
fn rate(seconds: f64, mut round: impl FnMut() -> usize) -> f64 {
    let start = Instant::now();
    let mut steps = 0;
    while start.elapsed().as_secs_f64() < seconds {
        steps += round();
    }
    steps as f64 / start.elapsed().as_secs_f64()
}

/// Steps per second of the environment on these episodes: reward, journal and dead ends included.
fn env_rate(
    generator: &Generator,
    task: &Arc<Task>,
    episodes: &[Vec<(u32, Vec<u32>)>],
    seconds: f64,
    rng: &mut Rng,
) -> Result<f64, Error> {
    let translation = Translation::new(&generator.domain()?, [task.as_ref()])?;
    let problems = Problems::new(&translation, &translation.alphabet()?, vec![task.clone()], Some(1 << 20))?;
    let mut env = PddlEnv::new(Arc::new(problems))?;
    let known: Vec<Vec<_>> =
        episodes.iter().map(|e| e.iter().map(|(a, args)| to_ground(&env, *a, args)).collect()).collect();
    Ok(rate(seconds, || {
        for episode in &known {
            env.restart();
            for (action, args) in episode {
                env.step(*action, args, rng);
            }
        }
        known.iter().map(Vec::len).sum()
    }))
}

fn to_ground(env: &PddlEnv, schema: u32, args: &[u32]) -> (derrl_logic::Action, Vec<derrl_logic::Object>) {
    let action = env.problems().action(schema, args).expect("the text has all actions of the domain");
    (action, args.iter().map(|&o| derrl_logic::Object(o)).collect())
}

/// The speed of a small problem of a domain: about 4 objects, `seconds` per number.
pub fn small(generator: &Generator, seconds: f64) -> Result<Small, Error> {
    let domain = generator.domain()?;
    let task = generator.task(&domain, 4, 0)?;
    let mut rng = Rng::new(0, 0);
    let episodes = walk(&task, 100, &mut rng);
    let mut simulator = Simulator::new(task.clone());
    let steps = rate(seconds, || {
        for episode in &episodes {
            simulator.reset();
            for (action, args) in episode {
                simulator.apply(*action, args);
            }
        }
        episodes.iter().map(Vec::len).sum()
    });
    let mut actions = Actions::new();
    let legal_steps = rate(seconds, || {
        simulator.reset();
        for step in 0..100 {
            simulator.legal(&mut actions);
            if actions.is_empty() || simulator.reached() {
                return step;
            }
            let (action, args) = actions.get(rng.below(actions.len()));
            simulator.apply(action, args);
        }
        100
    });
    let env_steps = env_rate(generator, &task, &episodes, seconds, &mut rng)?;
    Ok(Small { objects: task.size(), steps, legal_steps, env_steps })
}

/// The speed of a problem of that size, `seconds` per number.
pub fn large(generator: &Generator, size: usize, seconds: f64) -> Result<Large, Error> {
    let domain = generator.domain()?;
    let text = derrl_logic::Source::new("problem.pddl", generator.problem(size, 0));
    let start = Instant::now();
    let problem = Problem::parse(&text, &domain)?;
    let facts = problem.facts(&domain);
    let task = Arc::new(Task::new(&domain, problem)?);
    let simulator = Simulator::new(task.clone());
    let load_seconds = start.elapsed().as_secs_f64();
    let mut rng = Rng::new(0, 0);
    let episodes = walk(&task, 200, &mut rng);
    let env_steps = env_rate(generator, &task, &episodes, seconds, &mut rng)?;
    let (mut lists, mut listed) = (0, 0);
    let mut actions = Actions::new();
    let legal_rate = rate(seconds, || {
        simulator.legal(&mut actions);
        lists += 1;
        listed += actions.len();
        1
    });
    Ok(Large {
        objects: task.size(),
        facts,
        load_seconds,
        step_micros: 1e6 / env_steps,
        legal_micros: 1e6 / legal_rate,
        legal: listed as f64 / f64::from(lists.max(1)),
    })
}

/// Seconds to parse and compile a problem of about that many facts (miconic, which has most), and how many it has.
pub fn load(facts: usize) -> Result<(usize, f64), Error> {
    let miconic = Generator::find("miconic").expect("it is one of the generators");
    let domain = miconic.domain()?;
    // n floors have n^2 / 2 pairs, one above the other.
    let text = derrl_logic::Source::new("problem.pddl", miconic.problem((2 * facts).isqrt(), 0));
    let start = Instant::now();
    let problem = Problem::parse(&text, &domain)?;
    let count = problem.facts(&domain);
    let simulator = Simulator::new(Arc::new(Task::new(&domain, problem)?));
    let seconds = start.elapsed().as_secs_f64();
    // The simulator is part of what is measured.
    std::hint::black_box(simulator.code());
    Ok((count, seconds))
}
