//! What a run left: the input of its page.

use std::sync::Arc;

use derrl_env::{Options, World};
use derrl_logic::{Alphabet, Policy};
use serde_json::Value;

/// A policy in a world: what can be played, explained and verified.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The domain as it was asked for.
    pub domain: &'a str,
    /// The world.
    pub world: &'a World,
    /// What the domain file declares, with what the policy defines.
    pub alphabet: &'a Arc<Alphabet>,
    /// The policy.
    pub policy: &'a Policy,
    /// The seed of its episodes.
    pub seed: u64,
    /// What was asked of the world.
    pub options: &'a Options,
    /// What commands call it: the folder of the run, as a shell takes it.
    pub place: &'a str,
}

/// A finished run.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// What it learned.
    pub subject: Subject<'a>,
    /// Where it is below the folder of the page; empty for that folder itself.
    pub label: &'a str,
    /// The version that trained it.
    pub version: &'a str,
    /// Restarts that it may make at the most.
    pub restarts: usize,
    /// What `train --json` printed.
    pub result: &'a Value,
    /// Its training curves: a JSON object per line.
    pub metrics: &'a str,
    /// What its symbols look like, where states are pixels.
    pub symbols: Option<&'a Value>,
    /// What `verify --json` printed, if it was asked; or why that cannot be read.
    pub verified: Option<Result<&'a Value, &'a str>>,
}
