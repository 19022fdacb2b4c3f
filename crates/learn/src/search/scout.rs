//! A scout: rules from regret alone, on few steps, before anything else is known.
//!
//! It learns in another way than the gradient, so a restart that earns what the scout earns is confirmed by it: two that
//! agree are then enough, of which one is the scout. Where the scout solves the task and short restarts do not come close,
//! longer ones are not waited for: the policy that is chosen is improved by regret in any case. Where they settle nothing, a second
//! scout looks further: it may widen the language, and restarts cannot. It comes before the longer restarts, unless those seen so
//! far earned more the longer they were.

use std::rc::Rc;

use derrl_logic::Policy;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::search::diary::Questions;
use crate::search::improve::{Improver, WideningStep};
use crate::search::prune::length;
use crate::search::waves::Search;

/// Episodes by which a scout compares policies.
const EPISODES: usize = 50;

/// What came of a scout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scouted {
    /// Its policy.
    pub policy: String,
    /// The return in each episode of selection.
    pub returns: Vec<f64>,
    /// The share of these episodes that succeeded.
    pub success: f64,
    /// Rules and atoms of the policy.
    pub length: usize,
    /// Environment steps.
    pub steps: u64,
    /// How often the task was scouted.
    #[serde(default = "once")]
    pub looks: u8,
    /// The steps to a wider language that it tried.
    #[serde(default)]
    pub widenings: Vec<WideningStep>,
    /// Whether an action in one state brought now this, now that.
    #[serde(default)]
    pub by_chance: bool,
}

fn once() -> u8 {
    1
}

impl Search<'_> {
    /// Scouts the training task within about this many steps, for the first time or after others.
    pub(crate) fn scout(
        &self,
        seed: u64,
        steps: u64,
        before: Option<&Scouted>,
        questions: &Rc<Questions<'_>>,
    ) -> Result<Scouted, Error> {
        let stop = || self.observer().interrupted();
        let own = vec![self.make_env()?];
        let problem = self.problem();
        let scout = Improver::new(problem, own, seed, EPISODES, &stop)
            .within(steps)
            .at_first_sight()
            .asking(questions);
        let improved = scout.run(None)?;
        if stop() {
            return Err(Error::Interrupted);
        }
        let text = |policy: &Policy| policy.display(&problem.alphabet).to_string();
        Ok(Scouted {
            policy: text(&improved.policy),
            length: length(&improved.policy),
            success: improved.success.first().copied().unwrap_or(0.0),
            returns: improved.returns,
            widenings: improved.widenings,
            steps: improved.steps + before.map_or(0, |s| s.steps),
            looks: 1 + before.map_or(0, |s| s.looks),
            by_chance: improved.by_chance || before.is_some_and(|s| s.by_chance),
        })
    }
}
