//! Restarts of a run that are done elsewhere: in other processes, or on other machines.
//!
//! A run that is spread asks which restarts are [`pending`], has each done by [`restart`] wherever there is room, and takes the
//! results in with [`absorb`], until none is pending. Then [`in_folder::learn`](crate::in_folder::learn) ends it. The result is
//! the same, bit for bit, as that of a run in one place.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::Context;
use derrl_env::World;
use derrl_learn::{Checkpoint, Observer};
use serde_json::{Value, json};

use crate::in_folder::so_far;
use crate::listener::{Control, Listener};
use crate::runs::folder::RunFolder;
use crate::runs::so_far::SoFar;
use crate::setup::Setup;

/// Stands among restarts for the scout that comes between the short and the long ones.
const SCOUT: u64 = u64::MAX;

/// What came of a restart.
#[derive(Debug)]
pub enum Restarted {
    /// It is done, or was stopped and can be resumed: to be given to [`absorb`]. Nothing where it was stopped at once.
    Result(Option<Value>),
    /// The world failed: its own error, and what was done before.
    Failed(derrl_env::Fault, Option<Value>),
}

/// Watches one restart, and stops the search when it is done.
struct One<'a> {
    restart: u64,
    /// How often the task was scouted before.
    looks: u8,
    control: &'a Control,
    done: AtomicBool,
    kept: Mutex<Option<Value>>,
}

fn looks(checkpoint: &Checkpoint) -> u8 {
    checkpoint.scout.as_ref().map_or(0, |s| s.looks)
}

impl Observer for One<'_> {
    fn updated(&self, _: u64, _: u64, _: &derrl_learn::UpdateStats) {
        self.control.updated();
    }

    fn checkpoint(&self, _: u64, checkpoint: &Checkpoint) {
        let done = checkpoint.done.iter().find(|d| d.restart == self.restart);
        let running = checkpoint.running.iter().find(|p| p.restart == self.restart);
        let scouted = self.restart == SCOUT && looks(checkpoint) > self.looks;
        if scouted {
            self.done.store(true, Ordering::SeqCst);
            let kept = json!({ "scout": checkpoint.scout });
            *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
            return;
        }
        let kept = match (done, running) {
            (Some(done), _) => json!({ "done": done, "scout": checkpoint.scout }),
            (None, Some(running)) => json!({ "running": running, "scout": checkpoint.scout }),
            // The scout is under way.
            (None, None) => json!({ "diary": checkpoint.diary, "scout": checkpoint.scout }),
        };
        self.done.store(done.is_some(), Ordering::SeqCst);
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
    }

    fn interrupted(&self) -> bool {
        self.done.load(Ordering::SeqCst) || self.control.stopped()
    }
}

/// Looks at how many restarts a search would do next and whether it would scout, and does neither.
#[derive(Default)]
struct Plan {
    restarts: AtomicU64,
    scouts: AtomicBool,
}

impl Observer for Plan {
    fn wave(&self, _: u64, restarts: usize) {
        self.restarts.store(restarts as u64, Ordering::SeqCst);
    }

    fn scouting(&self, _: u64) {
        self.scouts.store(true, Ordering::SeqCst);
    }

    fn interrupted(&self) -> bool {
        true
    }
}

/// The restarts that have to be done before the next look at their results; none where only the end is left.
pub fn pending(folder: &Path, world: &World) -> anyhow::Result<Vec<u64>> {
    let folder = RunFolder::open(folder)?.of_world(world);
    let checkpoint = folder.checkpoint()?;
    let plan = Plan::default();
    search(&folder, checkpoint.clone(), &plan)?;
    let end = plan.restarts.into_inner();
    let mut all: Vec<u64> = (0..end).filter(|r| checkpoint.done.iter().all(|d| d.restart != *r)).collect();
    // Where there are restarts to do, each of them scouts as well.
    if all.is_empty() && plan.scouts.into_inner() {
        all.push(SCOUT);
    }
    Ok(all)
}

/// Does one of the pending restarts, from where it was.
pub fn restart(
    folder: &Path,
    world: &World,
    restart: u64,
    pending: &[u64],
    control: &Control,
) -> anyhow::Result<Restarted> {
    let folder = RunFolder::open(folder)?.of_world(world);
    let mut checkpoint = folder.checkpoint()?;
    // To this search the others are done: it does the one that is left. Some of them may have been taken in by now.
    checkpoint.done.retain(|d| !pending.contains(&d.restart));
    for &other in pending.iter().filter(|&&other| other != restart && other != SCOUT) {
        checkpoint.done.push(serde_json::from_value(elsewhere(other)).context("a restart done elsewhere")?);
    }
    checkpoint.done.sort_by_key(|d| d.restart);
    let one = One {
        restart,
        looks: looks(&checkpoint),
        control,
        done: AtomicBool::new(false),
        kept: Mutex::default(),
    };
    let ended = search(&folder, checkpoint, &one);
    let kept = one.kept.into_inner().unwrap_or_else(PoisonError::into_inner);
    match ended {
        Err(derrl_learn::Error::World(fault)) => Ok(Restarted::Failed(fault, kept)),
        other => {
            other?;
            Ok(Restarted::Result(kept))
        }
    }
}

/// Stands for a restart that is done elsewhere.
fn elsewhere(restart: u64) -> Value {
    json!({
        "restart": restart, "learned": "", "simplified": "", "redundant_atoms": 0, "returns": [], "length": 0,
        "updates": 0, "episodes": 0, "steps": 0, "selection_steps": 0, "curve": [],
    })
}

fn search(
    folder: &RunFolder,
    checkpoint: Checkpoint,
    observer: &dyn Observer,
) -> Result<(), derrl_learn::Error> {
    let broken = |error: anyhow::Error| derrl_learn::Error::Policy(format!("{error:#}"));
    let mut domain = folder.domain().map_err(broken)?;
    let setup = Setup::of_run(folder, &mut domain).map_err(broken)?;
    setup.search(vec![(folder.config.seed, checkpoint)], observer, 1)?;
    Ok(())
}

/// Takes in what [`restart`] gave. They took so many seconds more of the run's time.
/// Returns the best policy so far where it is new, as [`so_far`](crate::in_folder::so_far) says it.
pub fn absorb(
    folder: &Path,
    world: &World,
    results: Vec<Value>,
    seconds: f64,
) -> anyhow::Result<Option<Value>> {
    let place = folder;
    let folder = RunFolder::open(folder)?.of_world(world);
    let mut checkpoint = folder.checkpoint()?;
    for mut result in results {
        if let Some(scout) = result.get_mut("scout") {
            checkpoint.scout = serde_json::from_value(scout.take())?;
        }
        if let Some(diary) = result.get_mut("diary") {
            checkpoint.diary = serde_json::from_value(diary.take())?;
        }
        if let Some(done) = result.get_mut("done") {
            let done: derrl_learn::RestartResult = serde_json::from_value(done.take())?;
            checkpoint.running.retain(|p| p.restart != done.restart);
            checkpoint.done.retain(|d| d.restart != done.restart);
            checkpoint.done.push(done);
        } else if let Some(running) = result.get_mut("running") {
            let running: derrl_learn::Partial = serde_json::from_value(running.take())?;
            checkpoint.running.retain(|p| p.restart != running.restart);
            checkpoint.running.push(running);
        }
    }
    checkpoint.done.sort_by_key(|d| d.restart);
    checkpoint.running.sort_by_key(|p| p.restart);
    folder.save_seconds(folder.seconds() + seconds)?;
    folder.save(&checkpoint)?;
    let domain = folder.domain()?;
    let task = folder.task(&domain)?;
    let decided = domain.world.make(&domain.alphabet, &task.name, &folder.config.options)?.has_goal();
    let mut bests = folder.bests();
    match checkpoint.best(decided).map(|best| SoFar { seconds: folder.seconds(), ..SoFar::from(&best) }) {
        Some(best) if bests.last().is_none_or(|known| known.policy != best.policy) => {
            bests.push(best);
            folder.save_bests(&bests)?;
            so_far(place)
        }
        _ => Ok(None),
    }
}
