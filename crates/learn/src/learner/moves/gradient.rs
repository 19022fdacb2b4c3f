//! The paper's method: the rule generator is trained, and its rules are raced.

use derrl_logic::Policy;

use crate::error::Error;
use crate::experience::counted::Counted;
use crate::learner::checkpoint::{Checkpoint, Partial};
use crate::learner::limits::{CURVE_POINTS, FARTHER, PAIR, SHORT_GROUP, SHORT_RATE, SHORTEST};
use crate::learner::list::RuleList;
use crate::learner::origin::{Origin, RestartResult};
use crate::learner::run::{Pause, Run};
use crate::learner::words::Words;
use crate::settings::config::Config;
use crate::training::prune::{length, prune};
use crate::training::restart::{Restart, UpdateStats};

/// The settings of a restart: the first ones are short, in pairs, of which each is twice as long as the one before it.
fn settings(config: &Config, restart: usize) -> Config {
    let mut settings = config.clone();
    if config.doubling && restart < PAIR * SHORTEST.ilog2() as usize {
        settings.batch = (config.batch / (SHORTEST >> (restart / PAIR))).max(1);
        settings.learning_rate = config.learning_rate * SHORT_RATE;
        settings.group = (config.group / SHORT_GROUP).max(1);
    }
    // The second of each pair sees five times as far.
    if config.doubling && restart % PAIR == 1 {
        settings.gamma = 1.0 - (1.0 - config.gamma) / FARTHER;
    }
    settings
}

impl Run<'_> {
    /// Trains the rule generator once, and races what it learned.
    pub(in crate::learner) fn train(&mut self) -> Result<(), Error> {
        let restart = self.record.restarts.len() as u64;
        let settings = settings(self.config, restart as usize);
        let small = self.record.small.min(self.terms.given);
        // The smallest instances that still teach something.
        let size = (0..small).find(|&size| !self.record.succeeds(size + 1)).unwrap_or(0);
        let problem = self.lexicon.given.clone();
        let partial = self.partial.take().filter(|p| p.restart == restart);
        let resumed =
            partial.and_then(|p| Some((Restart::resume(&problem, &settings, &p.snapshot)?, p.curve)));
        let (trainer, mut curve) =
            resumed.unwrap_or_else(|| (Restart::new(&problem, &settings, self.seed, restart), Vec::new()));
        let left = self.terms.end().saturating_sub(self.steps()).max(1);
        let mut trainer = trainer.within(left);
        let every = settings.updates.div_ceil(CURVE_POINTS);
        let mut saved = self.saved();
        saved.rng.clone_from(&self.planned);
        let (done, stop) = (self.record.restarts.clone(), self.stop);
        let save = |trainer: &Restart, curve: &[UpdateStats]| {
            let partial = Partial { restart, snapshot: trainer.snapshot(), curve: curve.to_vec() };
            let racing = Some(Box::new(saved.clone()));
            let checkpoint = Checkpoint { done: done.clone(), running: vec![partial], racing, ending: None };
            self.observer.checkpoint(self.seed, &checkpoint);
        };
        let mut pause = Pause::of(self.every);
        let (observer, seed, before) = (self.observer, self.seed, self.world.ledger.all());
        let mut env = Counted::until(self.world.of_size(size), stop);
        while !trainer.finished() {
            pause.run(|| save(&trainer, &curve));
            match trainer.update(&mut env) {
                Ok(stats) => {
                    observer.updated(seed, restart, &stats);
                    observer.decided(seed, before + trainer.steps());
                    if stats.update % every == 0 || stats.update == 1 {
                        curve.push(stats);
                    }
                }
                Err(error) => {
                    // What is done so far can be resumed.
                    save(&trainer, &curve);
                    return Err(error);
                }
            }
        }
        self.world.ledger.spend(trainer.steps());
        self.race_trained(restart, &trainer, &curve)
    }

    /// Races the rules of each learner, without what decides nothing: as they are ordered, and all of one value.
    fn race_trained(&mut self, restart: u64, trainer: &Restart, curve: &[UpdateStats]) -> Result<(), Error> {
        let problem = self.lexicon.given.clone();
        let alphabet = &problem.alphabet;
        let (steps, version) = (self.steps(), self.record.version);
        let mut result: Option<RestartResult> = None;
        for learned in trainer.policies() {
            let pruned = prune(&learned, &problem, trainer.states().met());
            let atoms = |policy: &Policy| length(policy) - policy.rules.len();
            let list = RuleList::of(&pruned, alphabet, &Words::default(), &self.lexicon);
            let words = Words::of(&pruned);
            let list = RuleList { words, ..list };
            let tied = list.tied();
            self.challenge(list, Origin::Gradient)?;
            self.challenge(tied, Origin::Gradient)?;
            result.get_or_insert_with(|| RestartResult {
                restart,
                learned: learned.display(alphabet).to_string(),
                simplified: pruned.display(alphabet).to_string(),
                redundant_atoms: atoms(&learned) - atoms(&pruned),
                length: length(&pruned),
                updates: trainer.updates(),
                episodes: trainer.episodes(),
                steps: trainer.steps(),
                selection_steps: 0,
                led: false,
                curve: curve.to_vec(),
            });
        }
        self.record.agreed = if self.record.version == version { self.record.agreed + 1 } else { 0 };
        if let Some(mut result) = result {
            result.selection_steps = self.steps() - steps;
            result.led = self.record.version != version;
            self.record.restarts.push(result);
        }
        Ok(())
    }
}
