//! What is asked of a run, as `config.toml` has it.

use std::sync::Arc;

use anyhow::bail;
use derrl_env::Options;
use derrl_learn::{Config, Given};
use derrl_logic::{Alphabet, Policy, Source};
use serde::{Deserialize, Serialize};

use crate::pddl::Files;

/// Bytes of a file that says what a run is, at the most. It may hold rules to start from.
pub const MOST_CONFIG: usize = 16 << 20;

/// What was asked for, in `config.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// The version that made the run.
    pub derrl: String,
    /// The domain as it was named.
    pub domain: String,
    /// The task trained on, if not the first of the domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The seed.
    pub seed: u64,
    /// Episodes per score, where it was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub episodes: Option<usize>,
    /// Whether types are ignored.
    pub untyped: bool,
    /// The rules it started from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Start>,
    /// Options of the environment.
    #[serde(default)]
    pub options: Options,
    /// The files of a PDDL domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pddl: Option<Files>,
    /// The most environment steps, selection included, where that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<u64>,
    /// The most seconds, where that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_seconds: Option<f64>,
    /// Settings of training.
    pub settings: Config,
}

impl RunConfig {
    /// A run of a domain from nothing, without limits.
    pub fn new(domain: &str, seed: u64, settings: Config) -> RunConfig {
        RunConfig {
            derrl: env!("CARGO_PKG_VERSION").to_string(),
            domain: domain.to_string(),
            task: None,
            seed,
            episodes: None,
            untyped: false,
            start: None,
            options: Options::default(),
            pddl: None,
            budget: None,
            max_seconds: None,
            settings,
        }
    }
}

/// Rules to start from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// The text of the policy.
    pub policy: String,
    /// The numbers of the rules that stay as they are, from 1.
    pub freeze: Vec<usize>,
}

impl Start {
    /// The rules, each with whether it stays as it is, and the alphabet that they speak: with what they define, which may be
    /// negated.
    pub fn rules(&self, alphabet: &Arc<Alphabet>) -> anyhow::Result<(Vec<Given>, Arc<Alphabet>)> {
        let (policy, spoken) = Policy::read(&Source::new("--from", self.policy.as_str()), alphabet)?;
        let (rules, mut spoken) = (policy.rules, (*spoken).clone());
        let own = spoken.of_domain;
        spoken.predicates[own..].iter_mut().for_each(|p| p.negatable = true);
        if let Some(n) = self.freeze.iter().find(|&&n| n == 0 || n > rules.len()) {
            bail!("--freeze {n}: the policy has the rules 1 to {}", rules.len());
        }
        let given = |(i, rule)| Given { rule, frozen: self.freeze.contains(&(i + 1)) };
        Ok((rules.into_iter().enumerate().map(given).collect(), Arc::new(spoken)))
    }
}
