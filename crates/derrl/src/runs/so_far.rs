//! The best policy of a run so far, and what ends a run with it before it would end by itself.

use std::fmt;
use std::sync::Arc;

use derrl_learn::{Best, Learned};
use derrl_logic::{Alphabet, Policy, Source};
use derrl_report::table::{fixed, thousands};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The file of the best policy so far.
pub const BEST: &str = "best.pl";

/// The best policy of a run that is under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SoFar {
    /// Its text.
    pub policy: String,
    /// Its mean return, as far as it was tried.
    pub mean_return: f64,
    /// The share of the episodes tried that succeeded, where there is a goal.
    pub success: Option<f64>,
    /// Decisions that the run had taken when it was found.
    pub decisions: u64,
    /// Seconds that the run had taken.
    #[serde(default)]
    pub seconds: f64,
}

impl SoFar {
    /// How good it is, in a few words.
    pub fn how(&self) -> String {
        let share = self.success.map_or_else(String::new, |s| format!(", {:.0}% succeed", 100.0 * s));
        format!("{} decisions, return {}{share}", thousands(self.decisions), fixed(self.mean_return, 3))
    }

    /// What a run has learned that ends with it, or with nothing.
    pub fn learned(of: Option<&SoFar>, alphabet: &Arc<Alphabet>, steps: u64) -> anyhow::Result<Learned> {
        let text = of.map_or("", |best| best.policy.as_str());
        let (policy, alphabet) = Policy::read(&Source::new(BEST, text), alphabet)?;
        Ok(Learned {
            unsimplified: policy.clone(),
            unsimplified_alphabet: Arc::clone(&alphabet),
            policy,
            alphabet,
            restart: 0,
            steps,
            selection_steps: 0,
            origins: Vec::new(),
            widenings: Vec::new(),
            success: of.and_then(|best| best.success).unwrap_or(0.0),
            by_chance: false,
        })
    }
}

/// A run under way.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Now {
    /// Its seed.
    pub seed: u64,
    /// What is under way.
    pub phase: String,
    /// Seconds since this process began with it.
    pub seconds: f64,
    /// Decisions so far.
    pub decisions: u64,
    /// Decisions per second, where they were counted.
    pub speed: Option<f64>,
    /// Its best policy so far. Folders have a file of their own for it.
    #[serde(skip)]
    pub best: Option<SoFar>,
}

impl From<&Best<'_>> for SoFar {
    fn from(best: &Best<'_>) -> SoFar {
        let Best { policy, mean_return, success, decisions } = *best;
        SoFar { policy: policy.to_string(), mean_return, success, decisions, seconds: 0.0 }
    }
}

/// What ended a run before it would have ended by itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cut {
    /// It took so many seconds, as asked.
    Seconds(f64),
    /// It took so many steps, as asked.
    Steps(u64),
    /// Whoever watched it said that its best policy is good enough.
    Enough,
}

impl Cut {
    /// As `result.json` has it.
    pub fn to_json(self) -> Value {
        let by = match self {
            Cut::Seconds(_) => "max_seconds",
            Cut::Steps(_) => "max_steps",
            Cut::Enough => "enough",
        };
        json!({ "by": by, "why": self.to_string() })
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cut::Seconds(s) => write!(f, "ended after {s} s, as asked: the best rules so far"),
            Cut::Steps(n) => {
                write!(f, "ended within {} steps, as asked: more steps may find better rules", thousands(*n))
            }
            Cut::Enough => f.write_str("ended early, because its rules were good enough"),
        }
    }
}
