//! `derrl-bench samples`: how many decisions does each agent need to solve the training task?

use std::time::Instant;

use anyhow::Context;
use derrl_env::{Options, World};
use derrl_learn::{
    AGENTS, AgentSpec, Config, Observer, Setup, TrainingJob, TrainingResult, cores, evaluate_agent,
};
use derrl_reproduce::solved::Solved;
use serde_json::json;

use crate::args::Bench;
use crate::{Report, median};
use derrl_cli::SeedRange;
use derrl_cli::{catch_interrupts, interrupted};
use derrl_report::table::{WIDTH, columns, thousands, wrap};

/// The smallest budget that is tried.
const FIRST: u64 = 2400;
/// The largest one. An agent that needs more counts as not solved.
const MOST: u64 = 153_600;

/// A budget that no run comes to: the run ends by itself.
const NONE: u64 = 1 << 40;

/// Stops on Ctrl-C.
struct Patient;

impl Observer for Patient {
    fn interrupted(&self) -> bool {
        interrupted()
    }
}

/// Trains each agent with budgets that double until the training task is solved, once per seed, and counts the decisions that
/// the run took: those of the budget that was enough, selection included. DERRL stops by itself, too: so it is also run
/// without a budget.
pub fn run(args: &Bench, specs: &[&World]) -> anyhow::Result<Report> {
    catch_interrupts();
    let heads =
        ["domain", "agent", "solved", "decisions median", "decisions worst", "of these selection", "time"];
    let mut rows = vec![heads.map(String::from).to_vec()];
    let mut list = Vec::new();
    for spec in specs {
        let range = args.seeds.unwrap_or(SeedRange { first: 0, last: 4 });
        for agent in AGENTS.iter().filter(|a| a.name != "random") {
            let by_itself = (agent.name == "derrl").then_some(true);
            for alone in std::iter::once(false).chain(by_itself) {
                let name = if alone { format!("{}, no budget", agent.name) } else { agent.name.to_string() };
                let figures = Figures::measure(spec, agent, range, alone)?;
                say!("{}: {name}: {} of {} solved", spec.name(), figures.solved().len(), figures.runs.len());
                rows.push(figures.row(spec.name(), &name));
                list.push(figures.json(spec.name(), &name));
            }
        }
    }
    let about = format!(
        "decisions to a policy that solves the training task, as experiments/solved.toml defines it: of the smallest budget \
         that is enough ({} to {}, doubled), selection included; and of a run of DERRL that ends by itself",
        thousands(FIRST),
        thousands(MOST),
    );
    let text = format!("{}\n{}", wrap(&about, "", WIDTH), columns(&rows, ""));
    Ok(Report { text, json: json!({ "first_budget": FIRST, "largest_budget": MOST, "samples": list }) })
}

/// The run of a seed with the smallest budget that was enough.
struct Enough {
    decisions: u64,
    selection_steps: u64,
    seconds: f64,
}

struct Figures {
    /// One per seed; `None` where no budget was enough.
    runs: Vec<Option<Enough>>,
}

impl Figures {
    fn measure(spec: &World, agent: &AgentSpec, range: SeedRange, alone: bool) -> anyhow::Result<Figures> {
        let mut runs = Vec::new();
        for seed in range.first..=range.last {
            let mut enough = None;
            let mut budget = if alone { NONE } else { FIRST };
            while enough.is_none() && (budget <= MOST || alone) {
                enough = attempt(spec, agent, seed, budget)?;
                if alone {
                    break;
                }
                budget *= 2;
            }
            runs.push(enough);
        }
        Ok(Figures { runs })
    }

    fn solved(&self) -> Vec<&Enough> {
        self.runs.iter().flatten().collect()
    }

    /// The median and the worst of a figure; `None` where half of the seeds, or any seed, is not solved.
    fn of(&self, value: impl Fn(&Enough) -> f64) -> (Option<f64>, Option<f64>) {
        let values: Vec<f64> = self.runs.iter().map(|r| r.as_ref().map_or(f64::INFINITY, &value)).collect();
        let worst = values.iter().copied().fold(0.0, f64::max);
        let finite = |x: f64| x.is_finite().then_some(x);
        (finite(median(values)), finite(worst))
    }

    fn row(&self, domain: &str, agent: &str) -> Vec<String> {
        let (decisions, most) = self.of(|e| e.decisions as f64);
        let (selection, _) = self.of(|e| e.selection_steps as f64);
        let (seconds, _) = self.of(|e| e.seconds);
        let count = |n: Option<f64>| n.map_or("more".to_string(), |n| thousands(n as u64));
        vec![
            domain.to_string(),
            agent.to_string(),
            format!("{} of {}", self.solved().len(), self.runs.len()),
            count(decisions),
            count(most),
            selection.map_or("-".to_string(), |n| thousands(n as u64)),
            seconds.map_or("-".to_string(), |s| format!("{s:.2} s")),
        ]
    }

    fn json(&self, domain: &str, agent: &str) -> serde_json::Value {
        let (decisions, most) = self.of(|e| e.decisions as f64);
        let (selection, _) = self.of(|e| e.selection_steps as f64);
        let (seconds, _) = self.of(|e| e.seconds);
        json!({
            "domain": domain,
            "agent": agent,
            "seeds": self.runs.len(),
            "solved": self.solved().len(),
            "decisions": {"median": decisions, "worst": most},
            "selection_median": selection,
            "seconds_median": seconds,
        })
    }
}

/// Trains an agent within a budget; `None` if that does not solve the training task.
fn attempt(spec: &World, agent: &AgentSpec, seed: u64, budget: u64) -> anyhow::Result<Option<Enough>> {
    let alphabet = spec.alphabet();
    let task = &spec.tasks()[0].name;
    let make_env = || spec.make(&alphabet, task, &Options::default());
    let config = Config::default();
    let setup = Setup { alphabet: &alphabet, make_env: &make_env, config: &config, learning: None };
    let start = Instant::now();
    let mut agent = (agent.make)(&setup)?;
    let training =
        TrainingJob { make_env: &make_env, seed, decisions: budget, threads: cores(), watcher: &Patient };
    let trained: TrainingResult = agent.train(&training)?.context("interrupted")?;
    let seconds = start.elapsed().as_secs_f64();
    let mut env = make_env()?;
    let episodes = env.cost().episodes();
    let score = evaluate_agent(agent.as_mut(), env.as_mut(), episodes, seed)?;
    let enough = Enough { decisions: trained.decisions, selection_steps: trained.selection_steps, seconds };
    Ok(Solved::read()?.solves(spec.name(), task, &score)?.then_some(enough))
}
