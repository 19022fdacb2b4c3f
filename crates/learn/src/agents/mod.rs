//! Everything that acts, in one table: DERRL and the baselines of the paper, behind one small trait.
//!
//! All agents see the same worlds through the same facts and ground actions, train on the same budget of steps, selection included,
//! and are scored by the same code on the same instances. Adding one is a file and a row of [`AGENTS`].
//!
//! | file | holds |
//! |---|---|
//! | `derrl.rs` | ours: restarts of the rule generator, the best policy text |
//! | `nlrl/` | differentiable ILP over clause templates |
//! | `gcn.rs` | a graph convolution network over objects and relations |
//! | `mlp.rs` | two layers on the ground-atom vector, of fixed size |
//! | `random.rs` | a uniformly random ground action |
//! | `reinforce.rs`, `critic.rs` | the training loop that NLRL, GCN and MLP share |
//! | `perceptron.rs`, `training_atoms.rs`, `seen.rs`, `linear.rs` | what these are made of |

mod critic;
mod derrl;
mod gcn;
mod linear;
mod mlp;
mod nlrl;
mod perceptron;
mod random;
mod reinforce;
mod seen;
mod training_atoms;

use std::sync::Arc;

use derrl_env::{Env, Rng};
use derrl_logic::{Alphabet, GroundAction};
use serde::{Deserialize, Serialize};

use crate::act::score::{Score, score};
use crate::error::Error;
use crate::learner::MakeEnv;
use crate::learner::{Observer, Point};
use crate::settings::config::Config;

pub use reinforce::BaselineConfig;

/// Something that can be trained on a task and then acts.
///
/// The result of training depends on the seed and the budget alone, not on threads or time.
pub trait Agent: Send {
    /// Learns from scratch. `None` if the watcher stopped it.
    fn train(&mut self, training: &TrainingJob<'_>) -> Result<Option<TrainingResult>, Error>;

    /// The action taken in the current state of the world: the best one, ties broken uniformly.
    fn act(&mut self, env: &dyn Env, rng: &mut Rng) -> GroundAction;

    /// What was learned, to be kept.
    fn save(&self) -> Saved;

    /// Puts back what was saved by an agent of the same kind for the same domain.
    fn load(&mut self, saved: &Saved) -> Result<(), Error>;

    /// What was learned as text, where it can be read: the rules of DERRL and NLRL.
    fn rules(&self) -> Option<String>;
}

/// What an agent is made from.
#[derive(Clone, Copy)]
pub struct Setup<'a> {
    /// The alphabet of the domain.
    pub alphabet: &'a Arc<Alphabet>,
    /// Makes worlds of the training task: agents of a fixed size take it from there.
    pub make_env: &'a MakeEnv<'a>,
    /// The settings of DERRL.
    pub config: &'a Config,
    /// The settings of NLRL, GCN or MLP; `None` for the agent's own ([`AgentSpec::learning`]).
    pub learning: Option<&'a BaselineConfig>,
}

/// One training run.
#[derive(Clone, Copy)]
pub struct TrainingJob<'a> {
    /// Makes worlds of the training task.
    pub make_env: &'a MakeEnv<'a>,
    /// The seed of the run.
    pub seed: u64,
    /// The budget: environment steps in all, those of selection included, at the most but for the last episode of a
    /// restart. Counted in steps, since episodes differ in length between agents that learn sooner and later.
    pub decisions: u64,
    /// Threads to use, by agents that can.
    pub threads: usize,
    /// Told how it goes.
    pub watcher: &'a dyn Observer,
}

/// How training went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrainingResult {
    /// Reward over episodes; of the restart that was chosen, where there are several.
    pub curve: Vec<Point>,
    /// Episodes of training.
    pub episodes: u64,
    /// Environment steps in all, those of selection included.
    pub decisions: u64,
    /// How many of these were selection: not training, but comparing what was learned.
    #[serde(default)]
    pub selection_steps: u64,
    /// Atoms of the learned rules on which no decision depends in the states met in training (DERRL).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redundant_atoms: Option<usize>,
    /// How many restarts there were, 0 where an agent has none to speak of.
    #[serde(default)]
    pub restarts: usize,
    /// Which of them was chosen.
    #[serde(default)]
    pub restart: u64,
    /// The rules before simplification, where there is one (DERRL).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsimplified: Option<String>,
}

/// What an agent has learned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Saved {
    /// Nothing to learn.
    Nothing,
    /// The text of a policy.
    Policy(String),
    /// theta of every learner (one, but in worlds of several agents), with what the learner was trained on.
    Parameters(Vec<Parameters>),
}

/// The parameters of one learner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// theta.
    pub theta: Vec<f64>,
    /// How many ground actions it chose from in training (the last time).
    pub choices: usize,
}

/// A row of the table of agents.
pub struct AgentSpec {
    /// Its name on the command line and in results.
    pub name: &'static str,
    /// One line on what it is.
    pub summary: &'static str,
    /// Its settings, if it learns as NLRL, GCN and MLP do.
    pub learning: Option<fn() -> BaselineConfig>,
    /// Makes it, untrained.
    pub make: MakeAgent,
}

/// Makes an untrained agent.
pub type MakeAgent = fn(&Setup<'_>) -> Result<Box<dyn Agent>, Error>;

/// Every agent, in the order of the paper's table. Adding one is a file and a row.
pub static AGENTS: &[AgentSpec] = &[derrl::SPEC, nlrl::SPEC, gcn::SPEC, mlp::SPEC, random::SPEC];

/// The agent of that name, or an error that suggests the nearest one.
pub fn find_agent(name: &str) -> Result<&'static AgentSpec, Error> {
    AGENTS.iter().find(|a| a.name == name).ok_or_else(|| Error::Unknown {
        kind: "agent",
        name: name.to_string(),
        help: derrl_env::nearest(name, AGENTS.iter().map(|a| a.name)),
    })
}

/// The score of an agent over `episodes` seeded episodes: the same instances as [`evaluate`](crate::evaluate) gives a policy.
pub fn evaluate_agent(
    agent: &mut dyn Agent,
    env: &mut dyn Env,
    episodes: usize,
    seed: u64,
) -> Result<Score, Error> {
    score(&mut |env, rng| agent.act(env, rng), env, episodes, seed)
}

/// One of the places where `values` is highest, uniformly at random.
fn argmax(values: &[f64], rng: &mut Rng) -> usize {
    let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Values that differ by rounding alone tie: the order in which sums were taken is no reason to choose.
    let ties: Vec<usize> = (0..values.len()).filter(|&i| values[i] >= highest - 1e-9).collect();
    ties.get(rng.below(ties.len().max(1))).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests;
