//! Budgets and random streams, checked from outside: by worlds that count their steps and note their instances.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use derrl_env::{Env, Error, Options, Outcome, Rng, Status, World, find};
use derrl_learn::{
    AGENTS, Checkpoint, Config, Move, Problem, Saved, Search, Setup, Silent, Sizes, TrainingJob,
    TrainingResult, evaluate, evaluate_agent,
};
use derrl_logic::{Action, Facts, Object, Universe};

/// Without these, rules come from the gradient alone.
const GRADIENT_ALONE: [Move; 4] = [Move::Explore, Move::Draw, Move::Change, Move::Try];

/// What the worlds of a test have seen.
#[derive(Default)]
struct Log {
    steps: AtomicU64,
    /// The longest episode.
    longest: AtomicU64,
    /// The state of the generator at each reset.
    resets: Mutex<BTreeSet<String>>,
}

/// A world that writes into a log.
struct Watched {
    env: Box<dyn Env>,
    log: Arc<Log>,
    length: u64,
}

impl Env for Watched {
    fn reset(&mut self, rng: &mut Rng) {
        self.log.resets.lock().unwrap().insert(format!("{rng:?}"));
        self.length = 0;
        self.env.reset(rng);
    }
    fn restart(&mut self) {
        self.length = 0;
        self.env.restart();
    }
    fn universe(&self) -> &Arc<Universe> {
        self.env.universe()
    }
    fn facts(&self, facts: &mut Facts) {
        self.env.facts(facts);
    }
    fn copy(&self) -> Option<Box<dyn Env>> {
        let copy = Watched { env: self.env.copy()?, log: Arc::clone(&self.log), length: self.length };
        Some(Box::new(copy))
    }
    fn code(&self) -> Option<u128> {
        self.env.code()
    }
    fn step(&mut self, action: Action, args: &[Object], rng: &mut Rng) -> Outcome {
        self.log.steps.fetch_add(1, Ordering::SeqCst);
        self.length += 1;
        let outcome = self.env.step(action, args, rng);
        if outcome.status != Status::Running {
            self.log.longest.fetch_max(self.length, Ordering::SeqCst);
        }
        outcome
    }
    fn succeeded(&self) -> bool {
        self.env.succeeded()
    }
    fn best_return(&self) -> Option<f64> {
        self.env.best_return()
    }
}

/// Makes worlds of the training task that write into a log.
fn watched(spec: &'static World, log: &Arc<Log>) -> impl Fn() -> Result<Box<dyn Env>, Error> + Sync {
    let (alphabet, log) = (spec.alphabet(), Arc::clone(log));
    move || {
        let env = spec.make(&alphabet, "train", &Options::default())?;
        Ok(Box::new(Watched { env, log: Arc::clone(&log), length: 0 }) as Box<dyn Env>)
    }
}

/// Trains an agent; the log has seen all of it, making the agent included.
fn train(agent: usize, spec: &'static World, decisions: u64, log: &Arc<Log>) -> (TrainingResult, Saved) {
    let make_env = watched(spec, log);
    let alphabet = spec.alphabet();
    let config = Config::default();
    let setup = Setup { alphabet: &alphabet, make_env: &make_env, config: &config, learning: None };
    let mut agent = (AGENTS[agent].make)(&setup).unwrap();
    let training = TrainingJob { make_env: &make_env, seed: 3, decisions, threads: 2, watcher: &Silent };
    (agent.train(&training).unwrap().unwrap(), agent.save())
}

#[test]
fn every_agent_keeps_to_its_budget_selection_included() {
    for (domain, budget) in
        [("countdown", 5000), ("blocks", 60_000), ("blocks", 400_000), ("gridworld", 20_000)]
    {
        for (i, row) in AGENTS.iter().enumerate() {
            let slow = row.name == "nlrl" && (domain == "gridworld" || budget > 100_000);
            if slow || (row.name != "derrl" && budget > 100_000) {
                continue;
            }
            let log = Arc::new(Log::default());
            let (trained, _) = train(i, find(domain).unwrap(), budget, &log);
            let steps = log.steps.load(Ordering::SeqCst);
            let what = format!("{} on {domain}", row.name);
            assert_eq!(trained.decisions, steps, "{what} reports what it takes");
            if row.name == "random" {
                assert_eq!(steps, 0);
                continue;
            }
            // Episodes are run to their end: the last one of training and of a race, and a few of the last comparison.
            let slack = budget / 20 + 16 * log.longest.load(Ordering::SeqCst);
            assert!(steps <= budget + slack, "{what}: {steps} steps of {budget}");
            // DERRL ends as soon as it is sure.
            let least = if row.name == "derrl" { 1000 } else { budget / 3 };
            assert!(steps >= least, "{what}: {steps} steps of {budget}: it makes use of what it has");
            let most = if row.name == "derrl" { steps } else { steps / 2 };
            assert!(trained.selection_steps <= most, "{what}: {} of selection", trained.selection_steps);
        }
    }
}

#[test]
fn a_search_without_budget_reports_all_its_steps() {
    let alone = Config { updates: 30, restarts: 2, without: GRADIENT_ALONE.to_vec(), ..Config::default() };
    let few = Config { updates: 30, restarts: 2, ..Config::default() };
    for (domain, config) in [("blocks", &few), ("doorkey", &few), ("countdown", &few), ("blocks", &alone)] {
        let spec = find(domain).unwrap();
        let log = Arc::new(Log::default());
        let make_env = watched(spec, &log);
        let problem = Arc::new(Problem::new(&spec.alphabet(), 1).unwrap());
        let runs = Search::new(&problem, config, &make_env, &Silent).run(vec![(0, Checkpoint::default())], 2);
        let learned = runs.unwrap().remove(0).unwrap();
        assert_eq!(learned.steps, log.steps.load(Ordering::SeqCst), "{domain}");
        assert!(0 < learned.selection_steps && learned.selection_steps <= learned.steps, "{domain}");
        let trained = learned.selection_steps < learned.steps;
        assert!(
            trained || !config.without.contains(&Move::Explore),
            "{domain}: the gradient takes steps, too"
        );
    }
}

/// A run in a world with sizes or numbers, within a budget.
fn is_counted(domain: &str, budget: u64) {
    let spec = find(domain).unwrap();
    let log = Arc::new(Log::default());
    let make_env = watched(spec, &log);
    let (alphabet, options) = (spec.alphabet(), Options::default());
    let sizes = || {
        let given = spec.training_sizes(&alphabet, "train", &options)?;
        let watched = |env| Box::new(Watched { env, log: Arc::clone(&log), length: 0 }) as Box<dyn Env>;
        Ok(Sizes { given: given.into_iter().map(watched).collect(), ..Sizes::default() })
    };
    let problem = Arc::new(Problem::new(&alphabet, 1).unwrap());
    let config = Config { updates: 20, ..Config::default() };
    let search = Search::new(&problem, &config, &make_env, &Silent).with_sizes(&sizes).within(budget);
    let learned = search.run(vec![(0, Checkpoint::default())], 1).unwrap().remove(0).unwrap();
    let steps = log.steps.load(Ordering::SeqCst);
    assert_eq!(learned.steps, steps, "{domain}");
    let slack = budget / 20 + 16 * log.longest.load(Ordering::SeqCst);
    assert!(steps <= budget + slack, "{domain}: {steps} steps of {budget}");
}

#[test]
fn worlds_with_sizes_and_with_numbers_are_counted_too() {
    is_counted("rearrange", 20_000);
    is_counted("cartpole", 60_000);
}

/// The instances of scores are drawn from streams that neither training nor selection has drawn from.
#[test]
fn scores_are_out_of_sample() {
    let spec = find("blocks").unwrap();
    let alphabet = spec.alphabet();
    for (i, row) in AGENTS.iter().enumerate() {
        let log = Arc::new(Log::default());
        let (_, saved) = train(i, spec, 30_000, &log);
        let trained = std::mem::take(&mut *log.resets.lock().unwrap());
        let make_env = watched(spec, &log);
        let config = Config::default();
        let setup = Setup { alphabet: &alphabet, make_env: &make_env, config: &config, learning: None };
        let mut agent = (row.make)(&setup).unwrap();
        agent.load(&saved).unwrap();
        log.resets.lock().unwrap().clear();
        // The seed of the run, as `train` scores, and others, as `eval` may.
        for seed in 0..5 {
            evaluate_agent(agent.as_mut(), make_env().unwrap().as_mut(), 200, seed).unwrap();
            if let Saved::Policy(text) = &saved {
                let policy =
                    derrl_logic::Policy::parse(&derrl_logic::Source::new("saved", text.as_str()), &alphabet);
                evaluate(&policy.unwrap(), &alphabet, make_env().unwrap().as_mut(), 200, seed).unwrap();
            }
        }
        let scored = log.resets.lock().unwrap().clone();
        assert_eq!(scored.len(), 1000, "{}: the same instances for all that is scored", row.name);
        assert!(
            trained.len() > 100 || row.name == "random",
            "{}: {} resets in training",
            row.name,
            trained.len()
        );
        assert!(trained.is_disjoint(&scored), "{}", row.name);
    }
}
