//! Random: a uniformly random ground action, the lower limit on performance.

use std::sync::Arc;

use derrl_env::{Env, Fault, Rng, list_legal, observe};
use derrl_logic::{Alphabet, Facts, GroundAction, Universe};

use crate::agents::{Agent, AgentSpec, Saved, TrainingJob, TrainingResult};
use crate::error::Error;
use crate::settings::streams::Purpose;

/// The row of the table of agents.
pub const SPEC: AgentSpec = AgentSpec {
    name: "random",
    summary: "takes a uniformly random ground action",
    learning: None,
    make: |setup| {
        let mut env = (setup.make_env)()?;
        env.reset(&mut Purpose::Objects.rng(0));
        if let Some(fault) = env.fault() {
            return Err(Error::World(fault.clone()));
        }
        if !env.universe().can_act(setup.alphabet) {
            return Err(Error::World(Fault::new("the training task has no ground action")));
        }
        Ok(Box::new(Random {
            alphabet: Arc::clone(setup.alphabet),
            known: None,
            facts: Facts::new(setup.alphabet),
            legal: Vec::new(),
        }))
    },
};

struct Random {
    alphabet: Arc<Alphabet>,
    /// The ground actions of the last universe.
    known: Option<(Arc<Universe>, Vec<GroundAction>)>,
    facts: Facts,
    /// The legal actions of the current state, where there is such a list.
    legal: Vec<GroundAction>,
}

impl Agent for Random {
    fn train(&mut self, _: &TrainingJob<'_>) -> Result<Option<TrainingResult>, Error> {
        Ok(Some(TrainingResult::default()))
    }

    fn act(&mut self, env: &dyn Env, rng: &mut Rng) -> GroundAction {
        if self.alphabet.has_legality() {
            observe(env, &mut self.facts);
        }
        if list_legal(env, &self.alphabet, &self.facts, &mut self.legal) {
            return self.legal[rng.below(self.legal.len())].clone();
        }
        let universe = env.universe();
        if !self.known.as_ref().is_some_and(|(known, _)| Arc::ptr_eq(known, universe)) {
            self.known = None;
        }
        let (_, actions) =
            self.known.get_or_insert_with(|| (Arc::clone(universe), universe.ground_actions(&self.alphabet)));
        actions[rng.below(actions.len())].clone()
    }

    fn save(&self) -> Saved {
        Saved::Nothing
    }

    fn load(&mut self, saved: &Saved) -> Result<(), Error> {
        match saved {
            Saved::Nothing => Ok(()),
            _ => Err(Error::Policy("the random agent has nothing to load".to_string())),
        }
    }

    fn rules(&self) -> Option<String> {
        None
    }
}
