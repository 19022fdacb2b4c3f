//! Runs that are done elsewhere: in other processes, or on other machines.
//!
//! A run that is spread asks what is [`pending`], has it done by [`restart`] wherever there is room, and takes the results in with
//! [`absorb`], until nothing is pending. Then [`in_folder::learn`](crate::in_folder::learn) writes what a finished run has. The result is
//! the same, bit for bit, as that of a run in one place: the learner goes through one record, move by move, so that what is handed on is the
//! record, and there is one piece of work at a time.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use derrl_env::World;
use derrl_learn::{Best, Checkpoint, Learned, Observer};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::in_folder::so_far;
use crate::listener::{Control, Listener};
use crate::runs::folder::RunFolder;
use crate::runs::so_far::SoFar;
use crate::setup::Setup;

/// What came of a piece of work.
#[derive(Debug)]
pub enum Restarted {
    /// It is done, or was stopped and can be resumed: to be given to [`absorb`]. Nothing where it was stopped at once.
    Result(Option<Value>),
    /// The world failed: its own error, and what was done before.
    Failed(derrl_env::Fault, Option<Value>),
}

/// What is handed on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Kept {
    checkpoint: Checkpoint,
    bests: Vec<SoFar>,
}

/// Keeps what is handed on.
struct Keeping<'a> {
    control: &'a Control,
    kept: Mutex<Option<Kept>>,
}

impl Keeping<'_> {
    fn keep(&self, change: impl FnOnce(&mut Kept)) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        change(kept.get_or_insert_with(Kept::default));
    }
}

impl Observer for Keeping<'_> {
    fn decided(&self, _: u64, decisions: u64) {
        self.control.decided(decisions);
    }

    fn phase(&self, _: u64, what: &str) {
        self.control.phase(what);
    }

    fn checkpoint(&self, _: u64, checkpoint: &Checkpoint) {
        self.keep(|kept| kept.checkpoint.clone_from(checkpoint));
    }

    fn best(&self, _: u64, best: &Best<'_>) {
        self.keep(|kept| kept.bests.push(SoFar::from(best)));
    }

    fn finished(&self, _: u64, checkpoint: &Checkpoint, _: &Learned) {
        self.keep(|kept| kept.checkpoint.clone_from(checkpoint));
    }

    fn interrupted(&self) -> bool {
        self.control.stopped()
    }
}

/// The pieces of work that are to be done: one, or none where the run is done.
pub fn pending(folder: &Path, world: &World) -> anyhow::Result<Vec<u64>> {
    let folder = RunFolder::open(folder)?.of_world(world);
    Ok(if folder.checkpoint()?.ending.is_some() { Vec::new() } else { vec![0] })
}

/// Does the work that is pending, from where it was.
pub fn restart(folder: &Path, world: &World, control: &Control) -> anyhow::Result<Restarted> {
    let folder = RunFolder::open(folder)?.of_world(world);
    let checkpoint = folder.checkpoint()?;
    let keeping = Keeping { control, kept: Mutex::default() };
    let mut domain = folder.domain()?;
    let setup = Setup::of_run(&folder, &mut domain)?;
    let ended = setup.search(vec![(folder.config.seed, checkpoint)], &keeping, 1);
    let kept = keeping.kept.into_inner().unwrap_or_else(PoisonError::into_inner);
    let kept = kept.map(serde_json::to_value).transpose()?;
    match ended {
        Err(derrl_learn::Error::World(fault)) => Ok(Restarted::Failed(fault, kept)),
        other => {
            other?;
            Ok(Restarted::Result(kept))
        }
    }
}

/// Takes in what [`restart`] gave. It took so many seconds more of the run's time.
/// Returns the best policy so far where it is new, as [`so_far`] says it.
pub fn absorb(
    folder: &Path,
    world: &World,
    results: Vec<Value>,
    seconds: f64,
) -> anyhow::Result<Option<Value>> {
    let place = folder;
    let folder = RunFolder::open(folder)?.of_world(world);
    folder.save_seconds(folder.seconds() + seconds)?;
    let mut bests = folder.bests();
    let known = bests.last().map(|best| best.policy.clone());
    for result in results {
        let kept: Kept = serde_json::from_value(result)?;
        if kept.checkpoint != Checkpoint::default() {
            folder.save(&kept.checkpoint)?;
        }
        bests.extend(kept.bests.into_iter().map(|best| SoFar { seconds: folder.seconds(), ..best }));
    }
    bests.dedup_by(|a, b| a.policy == b.policy);
    if bests.last().map(|best| &best.policy) == known.as_ref() {
        return Ok(None);
    }
    folder.save_bests(&bests)?;
    so_far(place)
}
