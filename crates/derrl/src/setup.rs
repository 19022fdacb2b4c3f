//! The search of a run, set up: the same for the terminal, for programs, for benches and for restarts done elsewhere.

use std::sync::Arc;

use derrl_env::{Options, World};
use derrl_learn::{Checkpoint, Config, Given, Learned, Observer, Problem, Search, Sizes};
use derrl_logic::Alphabet;

use crate::domain::Domain;
use crate::runs::folder::RunFolder;

/// A task to learn, with all that a search has to know.
pub struct Setup {
    world: World,
    alphabet: Arc<Alphabet>,
    task: String,
    options: Options,
    settings: Config,
    /// Environment steps of a run, where they are limited.
    budget: Option<u64>,
    problem: Arc<Problem>,
}

impl Setup {
    /// The task that a folder's run is trained on. Rules to start from may bring definitions, which the domain has from then on.
    pub fn of_run(folder: &RunFolder, domain: &mut Domain) -> anyhow::Result<Setup> {
        folder.check()?;
        let config = &folder.config;
        let given = folder.start(domain)?;
        let task = folder.task(domain)?.name.clone();
        let (world, alphabet) = (domain.world.clone(), Arc::clone(&domain.alphabet));
        let problem = problem(&world, &alphabet, &task, &config.options, &given)?;
        let (options, settings, budget) = (config.options.clone(), config.settings.clone(), config.budget);
        Ok(Setup { world, alphabet, task, options, settings, budget, problem })
    }

    /// The first task of a world, from nothing.
    pub fn of_world(
        world: &World,
        options: &Options,
        settings: &Config,
    ) -> Result<Setup, derrl_learn::Error> {
        let task = world.training_task()?.name.clone();
        let alphabet = world.alphabet();
        let problem = problem(world, &alphabet, &task, options, &[])?;
        let (world, options, settings) = (world.clone(), options.clone(), settings.clone());
        Ok(Setup { world, alphabet, task, options, settings, budget: None, problem })
    }

    /// The same, of so many environment steps per run.
    #[must_use]
    pub fn within(self, steps: u64) -> Setup {
        Setup { budget: Some(steps), ..self }
    }

    /// Learns once per seed, from the checkpoints given; `None` for runs that were interrupted.
    pub fn search(
        &self,
        seeds: Vec<(u64, Checkpoint)>,
        observer: &dyn Observer,
        threads: usize,
    ) -> Result<Vec<Option<Learned>>, derrl_learn::Error> {
        let (world, alphabet, options) = (&self.world, &self.alphabet, &self.options);
        let make_env = || world.make(alphabet, &self.task, options);
        let make_sizes = || {
            let given = world.training_sizes(alphabet, &self.task, options)?;
            let trains = world.training_task()?.name == self.task;
            let made_up = if trains { world.made_up(alphabet, options)? } else { Vec::new() };
            Ok(Sizes { given, made_up })
        };
        let search = Search::new(&self.problem, &self.settings, &make_env, observer).with_sizes(&make_sizes);
        match self.budget {
            Some(steps) => search.within(steps),
            None => search,
        }
        .run(seeds, threads)
    }
}

fn problem(
    world: &World,
    alphabet: &Arc<Alphabet>,
    task: &str,
    options: &Options,
    given: &[Given],
) -> Result<Arc<Problem>, derrl_learn::Error> {
    let learners = world.make(alphabet, task, options)?.learners();
    Ok(Arc::new(Problem::starting_from(alphabet, learners, given)?))
}
