use std::cell::Cell;
use std::sync::{Arc, Mutex};

use derrl_env::{Options, find};

use super::*;
use crate::language::problem::Problem;
use crate::learner::observer::Silent;
use crate::learner::search::{Search, Sizes};

/// Keeps the last checkpoint.
#[derive(Default)]
struct Keeps(Mutex<Option<Checkpoint>>);

impl Observer for Keeps {
    fn checkpoint(&self, _seed: u64, checkpoint: &Checkpoint) {
        // Through text, as files have it.
        let text = serde_json::to_string(checkpoint).expect("it is plain data");
        *self.0.lock().expect("nobody panicked") =
            Some(serde_json::from_str(&text).expect("what was written is read"));
    }
}

/// How a run ended: its rules, its steps, and the questions whether to stop that were asked in all.
#[derive(Debug)]
struct End {
    rules: String,
    steps: u64,
    asked: usize,
    cuts: usize,
}

/// A run of a built-in world, stopped each time that so many questions were asked, and gone on with.
fn ended(world: &str, config: &Config, steps: u64, questions: usize) -> End {
    let world = find(world).expect("it is built in");
    let alphabet = world.alphabet();
    let problem = Arc::new(Problem::new(&alphabet, 1).expect("there is something to say"));
    let options = Options::default();
    let make = || world.make(&alphabet, "train", &options);
    let sizes =
        || Ok(Sizes { given: world.training_sizes(&alphabet, "train", &options)?, ..Sizes::default() });
    let search = Search::new(&problem, config, &make, &Silent).with_sizes(&sizes).within(steps);
    let mut saved: Option<Checkpoint> = None;
    let (mut patience, mut cuts) = (questions, 0);
    loop {
        let (keeps, asked) = (Keeps::default(), Cell::new(0));
        let stop = || {
            asked.set(asked.get() + 1);
            asked.get() > patience
        };
        let given = search.given(1).expect("the world can be made");
        let mut run = Run::new(given, &keeps, &stop);
        run.every = Duration::ZERO;
        let resumed = match &saved {
            Some(saved) => {
                let racing = saved.racing.as_ref().expect("the run is under way");
                run.from(racing, saved)
            }
            None => Ok(run),
        };
        let end = resumed.and_then(|mut run| {
            run.every = Duration::ZERO;
            run.search()?;
            let chosen = run.finish()?;
            Ok((chosen.policy.display_needed(&chosen.alphabet).to_string(), run.steps()))
        });
        match end {
            Ok((rules, steps)) => return End { rules, steps, asked: asked.get(), cuts },
            Err(error) => assert_eq!(error, Error::Interrupted),
        }
        cuts += 1;
        let before = saved.clone();
        saved = keeps.0.into_inner().expect("nobody panicked").or(saved);
        // What is longer than the patience has to be had in one go.
        patience += if saved == before { questions } else { 0 };
    }
}

/// Holds runs that are interrupted now and then against one that is not.
fn resumes(world: &str, config: &Config, steps: u64, rules: usize) {
    let whole = ended(world, config, steps, usize::MAX);
    assert!(whole.steps > 1000 && whole.rules.lines().count() >= rules, "{world}: {whole:?}");
    for share in [3, 10] {
        let part = ended(world, config, steps, whole.asked / share + 1);
        // What is longer than the patience is done in one go.
        assert!(part.cuts > share / 2, "{world}: {part:?}");
        assert_eq!((&part.rules, part.steps), (&whole.rules, whole.steps), "{world}, {} cuts", part.cuts);
    }
}

#[test]
fn an_interrupted_run_with_numbers_ends_with_the_same_rules_after_the_same_steps() {
    resumes("cartpole", &Config::default(), 60_000, 2);
}

#[test]
fn an_interrupted_run_with_facts_ends_with_the_same_rules_after_the_same_steps() {
    resumes("doorkey", &Config::default(), 60_000, 3);
    resumes("rearrange", &Config { without: vec![Move::Invent], ..Config::default() }, 30_000, 1);
}

#[test]
fn an_interrupted_run_by_the_gradient_alone_ends_with_the_same_rules_after_the_same_steps() {
    let without = vec![Move::Explore, Move::Draw, Move::Change, Move::Try];
    let config =
        Config { updates: 30, restarts: 2, doubling: false, batch: 256, without, ..Config::default() };
    resumes("blocks", &config, 60_000, 1);
    // What the plan drew when it chose a restart is drawn again in the middle of it.
    let turns = Config { without: vec![Move::Explore, Move::Try], restarts: 3, ..config };
    resumes("blocks", &turns, 60_000, 1);
}
