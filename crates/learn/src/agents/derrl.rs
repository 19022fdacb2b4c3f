//! DERRL as an agent: restarts of the rule generator within the budget, then the text of the best policy.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use derrl_env::{Env, Rng};
use derrl_logic::{Alphabet, GroundAction, Policy, Source};

use crate::act::score::Actor;
use crate::agents::{Agent, AgentSpec, Saved, Setup, TrainingJob, TrainingResult};
use crate::error::Error;
use crate::language::problem::Problem;
use crate::learner::Search;
use crate::learner::{Checkpoint, Learned};
use crate::learner::{Observer, Point};
use crate::settings::config::Config;
use crate::training::restart::UpdateStats;

/// The row of the table of agents.
pub const SPEC: AgentSpec = AgentSpec {
    name: "derrl",
    summary: "learns rules: a generator of rule bodies trained by REINFORCE (this project)",
    learning: None,
    make: |setup| Ok(Box::new(Derrl::new(setup)?)),
};

struct Derrl {
    /// The alphabet of the domain.
    alphabet: Arc<Alphabet>,
    /// The one that the policy speaks: with what it defines for itself.
    spoken: Arc<Alphabet>,
    problem: Arc<Problem>,
    config: Config,
    actor: Actor<'static>,
}

impl Derrl {
    fn new(setup: &Setup<'_>) -> Result<Derrl, Error> {
        let alphabet = Arc::clone(setup.alphabet);
        let learners = (setup.make_env)()?.learners();
        Ok(Derrl {
            problem: Arc::new(Problem::new(&alphabet, learners)?),
            config: setup.config.clone(),
            actor: Actor::owned(Policy { rules: Vec::new() }, &alphabet),
            spoken: Arc::clone(&alphabet),
            alphabet,
        })
    }
}

impl Agent for Derrl {
    fn train(&mut self, training: &TrainingJob<'_>) -> Result<Option<TrainingResult>, Error> {
        let listener =
            Listener { watcher: training.watcher, curves: Mutex::default(), result: Mutex::default() };
        let search = Search::new(&self.problem, &self.config, training.make_env, &listener);
        let search = search.within(training.decisions);
        let learned =
            search.run(vec![(training.seed, Checkpoint::default())], training.threads)?.pop().flatten();
        let Some(learned) = learned else { return Ok(None) };
        self.actor = Actor::owned(learned.policy, &learned.alphabet);
        self.spoken = learned.alphabet;
        Ok(listener.result.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn act(&mut self, env: &dyn Env, rng: &mut Rng) -> GroundAction {
        self.actor.act(env, rng)
    }

    fn save(&self) -> Saved {
        Saved::Policy(self.actor.policy().display(&self.spoken).to_string())
    }

    fn load(&mut self, saved: &Saved) -> Result<(), Error> {
        let Saved::Policy(text) = saved else {
            return Err(Error::Policy("DERRL loads the text of a policy".to_string()));
        };
        let (policy, spoken) = Policy::read(&Source::new("saved policy", text.as_str()), &self.alphabet)
            .map_err(|e| Error::Policy(e.to_string()))?;
        self.actor = Actor::owned(policy, &spoken);
        self.spoken = spoken;
        Ok(())
    }

    fn rules(&self) -> Option<String> {
        Some(self.actor.policy().display(&self.spoken).to_string())
    }
}

/// Passes on what the search tells, and notes every update: a search keeps one in ten.
struct Listener<'a> {
    watcher: &'a dyn Observer,
    /// The curve of each restart.
    curves: Mutex<BTreeMap<u64, Vec<Point>>>,
    result: Mutex<Option<TrainingResult>>,
}

impl Observer for Listener<'_> {
    fn updated(&self, _seed: u64, restart: u64, stats: &UpdateStats) {
        let point =
            Point { episodes: stats.episodes, decisions: stats.steps, mean_return: stats.mean_return };
        self.watcher.point(&point);
        let mut curves = self.curves.lock().unwrap_or_else(PoisonError::into_inner);
        curves.entry(restart).or_default().push(point);
    }

    fn finished(&self, _seed: u64, checkpoint: &Checkpoint, learned: &Learned) {
        let chosen = checkpoint.done.iter().find(|o| o.restart == learned.restart);
        let mut curves = self.curves.lock().unwrap_or_else(PoisonError::into_inner);
        let trained = TrainingResult {
            curve: curves.remove(&learned.restart).unwrap_or_default(),
            episodes: checkpoint.done.iter().map(|o| o.episodes).sum(),
            decisions: learned.steps,
            selection_steps: learned.selection_steps,
            redundant_atoms: chosen.map(|o| o.redundant_atoms),
            restarts: checkpoint.done.len(),
            restart: learned.restart,
            unsimplified: chosen.map(|o| o.learned.clone()),
        };
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) = Some(trained);
    }

    fn interrupted(&self) -> bool {
        self.watcher.interrupted()
    }
}
