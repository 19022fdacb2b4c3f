//! Rounds of exploring and editing; a result is kept only if it earns more.

use derrl_env::{Env, Rng};
use derrl_logic::Policy;

use super::bodies::Reach;
use super::draft::{Levels, levels_of, policy_of};
use super::edit::edit;
use super::explore::{Extent, explore};
use super::regret::{Groundings, Regrets};
use super::table::Table;
use crate::act::actor::Actor;
use crate::error::Error;
use crate::language::problem::Problem;
use crate::search::refine::{Judge, Judged, advantage};
use crate::search::simplify::length;

/// The random stream of exploration, and what sets the judge's episodes apart from those of scores.
const STREAM: u64 = 4 << 32;
const SELECTION: u64 = 0x5e1e_c710_4a11_0000;
/// Discounts tried: near 1, a step of a loop costs almost nothing beside a crash; far from 1, a crash is not worth a detour.
const DISCOUNTS: [f64; 3] = [0.99, 0.95, 0.8];
/// Rounds, at the most.
const ROUNDS: usize = 8;
/// Instances explored in the first round; twice as many in each later one.
const INSTANCES: usize = 8;
/// Environment steps per instance.
const STEPS: u64 = 3000;

/// A policy found by editing rules.
#[derive(Clone, Debug)]
pub struct Improved {
    /// The policy.
    pub policy: Policy,
    /// Its returns in the judge's episodes.
    pub returns: Vec<f64>,
    /// Environment steps of exploration.
    pub steps: u64,
}

/// Improves policies on one training task.
pub struct Improver<'a> {
    problem: &'a Problem,
    env: Box<dyn Env>,
    seed: u64,
    episodes: usize,
    stop: &'a dyn Fn() -> bool,
    table: Table,
    groundings: Groundings,
    rng: Rng,
}

impl<'a> Improver<'a> {
    /// An improver that has seen nothing yet. Policies are compared over `episodes` episodes.
    pub fn new(
        problem: &'a Problem,
        env: Box<dyn Env>,
        seed: u64,
        episodes: usize,
        stop: &'a dyn Fn() -> bool,
    ) -> Improver<'a> {
        Improver {
            table: Table::new(&problem.alphabet),
            groundings: Groundings::default(),
            rng: Rng::new(seed, STREAM),
            problem,
            env,
            seed,
            episodes,
            stop,
        }
    }

    /// The best policy found, starting from one or from none. It is the given one where no other earns more.
    pub fn run(&mut self, start: Option<&Policy>) -> Result<Improved, Error> {
        let mut best = self.judge(start.cloned().unwrap_or_default())?;
        let mut instances = INSTANCES;
        let mut idle = 0;
        for round in 0..ROUNDS {
            if (self.stop)() || self.env.agents() > 1 {
                break;
            }
            let known = self.table.len();
            self.explore(&best.policy, instances)?;
            instances *= 2;
            let news = self.table.len() > known;
            let rival = self.candidates(&best.policy, round)?;
            if let Some(rival) = rival
                && better(&rival, &best)
            {
                best = rival;
                idle = 0;
            } else {
                idle += 1;
                if idle >= 2 || !news && idle > 0 && round > 0 {
                    break;
                }
            }
        }
        Ok(Improved { policy: best.policy, returns: best.returns, steps: self.table.steps })
    }

    fn explore(&mut self, policy: &Policy, instances: usize) -> Result<(), Error> {
        self.table.forget_visits();
        let mut actor = Actor::new(policy, &self.problem.alphabet);
        let followed = (!policy.rules.is_empty()).then_some(&mut actor);
        let extent = Extent { instances, steps: STEPS };
        explore(&mut self.table, self.env.as_mut(), followed, extent, &mut self.rng, self.stop)
    }

    /// The best of the policies that editing finds, at each discount, from these rules and from none.
    fn candidates(&mut self, from: &Policy, round: usize) -> Result<Option<Judged>, Error> {
        let reach = Reach { longest: 3, singles: 128, beam: 40 };
        let mut found: Vec<Policy> = Vec::new();
        for gamma in DISCOUNTS {
            let regrets = Regrets::new(self.problem, &self.table, &mut self.groundings, gamma, &mut self.rng);
            if regrets.is_empty() {
                continue;
            }
            let mut starts: Vec<Levels> = vec![Vec::new()];
            starts.extend(levels_of(from, self.problem).filter(|l| !l.is_empty()));
            for start in starts {
                let levels = edit(&regrets, start, reach, self.stop);
                if std::env::var("IMPROVE_DEBUG").is_ok() {
                    eprintln!("round {round} gamma {gamma} states {}/{} steps {} total {:.4} of {:.4}", regrets.weights.len(), self.table.len(), self.table.steps, regrets.total(&levels), regrets.total(&Vec::new()));
                    if let Some(p) = policy_of(&levels, self.problem) { eprintln!("{}", p.display(&self.problem.alphabet)); }
                }
                if let Some(policy) = policy_of(&levels, self.problem)
                    && !policy.rules.is_empty()
                    && policy != *from
                    && !found.contains(&policy)
                {
                    found.push(policy);
                }
            }
        }
        let mut best: Option<Judged> = None;
        for policy in found {
            let judged = self.judge(policy)?;
            if best.as_ref().is_none_or(|b| better(&judged, b)) {
                best = Some(judged);
            }
        }
        Ok(best)
    }

    fn judge(&mut self, policy: Policy) -> Result<Judged, Error> {
        let env = self.env.as_mut();
        Judge::new(&self.problem.alphabet, env, self.episodes, self.seed ^ SELECTION).judge(policy)
    }
}

/// Whether a policy earns more than another, beyond the noise, or the same and is shorter.
fn better(a: &Judged, b: &Judged) -> bool {
    let (gap, noise) = advantage(&a.returns, &b.returns);
    gap > noise + 1e-9 || gap.abs() <= 1e-9 && length(&a.policy) < length(&b.policy) && !b.policy.rules.is_empty()
}
