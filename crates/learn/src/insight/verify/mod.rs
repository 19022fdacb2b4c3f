//! Does a policy always reach the goal? Every instance up to a size, every way of breaking ties, no horizon.
//!
//! | file | holds |
//! |---|---|
//! | `walk.rs` | one family of instances: which states are good, and the longest and expected runs from them |
//! | `failure.rs` | the bad states: whether luck alone decides, and a shortest way to fail |
//! | `counterexample.rs` | that way as a run, with the step where it goes wrong and why |
//! | `certificate.rs` | what somebody else needs to check a verdict |
//! | `reached.rs` | the states of a family that a policy can reach, as a graph |
//! | `property.rs` | what never holds, how many actions a run takes at the most, whether anything is starved |
//! | `served.rs` | the states of a family with all names, and the objects that are left out in them |

mod certificate;
mod counterexample;
mod failure;
mod property;
mod reached;
mod served;
mod walk;

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use derrl_env::{Extent, Size, Space, World, observe_state};
use derrl_logic::{Alphabet, Arg, Constant, Facts, Policy};
use serde::{Deserialize, Serialize, Serializer};

pub use certificate::{CertificateLine, certify};
pub use counterexample::{Counterexample, Kind, RunStep};
pub use failure::Failure;
pub use property::{Property, PropertyReport, Violating, check_property};
pub use walk::{Guarded, Tally, Worst};

use crate::error::Error;
use crate::parallel::in_chunks;
use walk::{Shorter, Walker};

/// What is verified: a policy in all instances of a world up to a size.
pub struct Subject<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// The alphabet it is written in.
    pub alphabet: &'a Arc<Alphabet>,
    /// The world.
    pub world: &'a World,
    /// Which instances.
    pub extent: Extent,
}

/// Told of progress; asked whether to go on.
pub trait Monitor {
    /// Families done of all families of a size.
    fn walked(&mut self, _size: &Size, _done: u64) {}

    /// What is needed to go on from here.
    fn progress(&mut self, _progress: &Progress) {}

    /// Whether to stop.
    fn interrupted(&mut self) -> bool {
        false
    }
}

/// Says nothing and never stops.
pub struct NoMonitor;

impl Monitor for NoMonitor {}

/// How far a verification has come.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// What was found in each size that is done.
    sizes: Vec<Tally>,
    /// Chunks done of the size under way, from the first without a gap, and what was found in them.
    prefix: usize,
    merged: Tally,
    /// Chunks done beyond.
    beyond: Vec<(usize, Tally)>,
}

/// What a verification takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// States to look at, about.
    pub states: f64,
    /// Memory in bytes, about.
    pub bytes: f64,
}

/// Memory for a state of the family that is walked: its entry, its place in the index, its frame.
const BYTES_A_STATE: f64 = 160.0;
/// Families of about this many states together are one piece of work.
const CHUNK_STATES: f64 = 50_000.0;
/// A failure found up to names is looked for again with all names if that takes no more states than this.
const MOST_EXACT: f64 = 5e6;

/// What it takes to look at all of a space on so many threads.
pub fn estimate(space: &dyn Space, threads: usize) -> Estimate {
    let states = space.sizes().iter().map(|s| s.states).sum();
    let at_once = |s: &Size| s.widest * (threads as u64).min(s.families) as f64;
    let widest = space.sizes().iter().map(at_once).fold(0.0, f64::max);
    Estimate { states, bytes: widest * BYTES_A_STATE }
}

/// The constants that policies mention, each once: objects of these names are told apart.
pub fn constants<'a>(policies: impl IntoIterator<Item = &'a Policy>) -> Vec<Constant> {
    let rules = policies.into_iter().flat_map(|p| &p.rules);
    let args =
        rules.flat_map(|r| r.body.iter().flat_map(|l| &l.args).chain(r.choices.iter().flat_map(|c| &c.args)));
    let mut all: Vec<Constant> = args
        .filter_map(|a| match a {
            Arg::Const(c) => Some(c.clone()),
            Arg::Var(_) => None,
        })
        .collect();
    all.sort();
    all.dedup();
    all
}

/// The outcome of a verification.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Whether the policy reaches the goal in every instance.
    pub verdict: Verdict,
    /// What was found, size by size. Sizes beyond one that is refuted are not looked at.
    pub sizes: Vec<SizeReport>,
    /// The instance with the most actions beyond the fewest possible, where the policy always reaches the goal.
    pub worst_case: Option<WorstCase>,
    /// Where it is refuted, a shortest run that fails although ties are random; where it is proved if ties are random, a shortest
    /// loop that an adversary could go round. From an instance of the smallest size that has one.
    pub counterexample: Option<Counterexample>,
    /// What the shield does, where the domain has rules that forbid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shield: Option<ShieldReport>,
}

/// Whether rules that forbid are ever violated: asked apart from whether the goal is reached.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShieldReport {
    /// Whether no forbidden action is taken, in any state that can be reached, however ties are broken.
    pub never_violated: bool,
    /// States in which the policy alone could take a forbidden action, and the shield keeps it from that.
    pub corrected_states: u64,
    /// States in which every action is forbidden.
    pub forced_states: u64,
    /// One of these, of the smallest size that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub violation: Option<Violation>,
}

/// A state in which every action is forbidden.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Violation {
    /// What its family is called.
    pub instance: String,
    /// What holds.
    pub facts: Vec<String>,
}

/// Whether a policy always reaches the goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It does, however ties are broken.
    Proved,
    /// It does with probability 1 if ties are broken at random, as they are when the policy acts; an adversary who breaks them
    /// could keep it from the goal for ever.
    ProvedIfTiesAreRandom,
    /// It does not: there is a run that fails although ties are broken at random.
    Refuted,
}

/// What was found in the instances of one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizeReport {
    /// The size, in the world's unit.
    pub size: usize,
    /// In words.
    pub title: String,
    /// How many instances it has.
    #[serde(serialize_with = "count")]
    pub instances: u128,
    /// How many states were looked at; states alike but for names count once.
    pub states: u64,
    /// Instances in which some way of breaking ties does not reach the goal.
    #[serde(serialize_with = "count")]
    pub failing: u128,
    /// Those of them in which ties broken at random reach the goal with probability 1.
    #[serde(serialize_with = "count")]
    pub failing_by_bad_luck_only: u128,
    /// The most actions of a run, over instances that do not fail.
    pub longest_run: u32,
    /// Actions beyond the fewest possible, over instances that do not fail (but for the share of optimal ones).
    pub excess: Excess,
}

/// Actions beyond the fewest possible.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Excess {
    /// In the worst instance, with the worst way of breaking ties.
    pub worst: u32,
    /// On average over instances, with the worst way of breaking ties.
    pub mean: f64,
    /// On average over instances, with ties broken at random.
    pub mean_random_ties: f64,
    /// The share of all instances that are solved in the fewest actions, however ties are broken. Failing ones are not.
    pub optimal: f64,
}

/// The instance that takes the most actions beyond the fewest possible.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorstCase {
    /// What its family is called.
    pub instance: String,
    /// What holds at its start.
    pub facts: Vec<String>,
    /// The most actions that the policy takes.
    pub actions: u32,
    /// The fewest actions possible.
    pub fewest: u32,
}

/// Numbers beyond 64 bits are strings in JSON, which has no room for them.
fn count<S: Serializer>(count: &u128, serializer: S) -> Result<S::Ok, S::Error> {
    match u64::try_from(*count) {
        Ok(small) => serializer.serialize_u64(small),
        Err(_) => serializer.serialize_str(&count.to_string()),
    }
}

impl SizeReport {
    fn new(size: &Size, tally: &Tally) -> SizeReport {
        let solved = (tally.instances - tally.failing).max(1) as f64;
        SizeReport {
            size: size.size,
            title: size.title.clone(),
            instances: tally.instances,
            states: tally.states,
            failing: tally.failing,
            failing_by_bad_luck_only: tally.unlucky,
            longest_run: tally.longest,
            excess: Excess {
                worst: tally.worst.as_ref().map_or(0, Worst::excess),
                mean: tally.excess as f64 / solved,
                mean_random_ties: tally.expected_excess / solved,
                optimal: tally.optimal as f64 / tally.instances.max(1) as f64,
            },
        }
    }
}

/// Looks at every instance, size by size, up to the first size that is refuted. `None` if the monitor stopped it: then the last
/// progress it was told is where to go on.
pub fn verify(
    subject: &Subject<'_>,
    threads: usize,
    from: Progress,
    monitor: &mut dyn Monitor,
) -> Result<Option<Report>, Error> {
    let space = subject.world.space(subject.alphabet, &subject.extent)?;
    let mut progress = from;
    progress.sizes.truncate(space.sizes().len());
    let fails = |tally: &Tally| tally.failing > tally.unlucky;
    let failed = |progress: &Progress| progress.sizes.iter().any(fails);
    while progress.sizes.len() < space.sizes().len() && !failed(&progress) {
        let size = progress.sizes.len();
        if !walk_size(subject, space.as_ref(), size, threads, &mut progress, monitor) {
            monitor.progress(&progress);
            return Ok(None);
        }
        progress.sizes.push(std::mem::take(&mut progress.merged));
        progress.prefix = 0;
        monitor.progress(&progress);
    }
    let sizes: Vec<SizeReport> =
        space.sizes().iter().zip(&progress.sizes).map(|(s, t)| SizeReport::new(s, t)).collect();
    let refuted = progress.sizes.iter().position(fails);
    let unlucky = progress.sizes.iter().position(|tally| tally.unlucky > 0);
    let (verdict, shown) = match (refuted, unlucky) {
        (Some(size), _) => (Verdict::Refuted, Some(size)),
        (None, Some(size)) => (Verdict::ProvedIfTiesAreRandom, Some(size)),
        (None, None) => (Verdict::Proved, None),
    };
    let counterexample = match shown {
        None => None,
        Some(size) => counterexample(subject, space.as_ref(), size, &progress.sizes[size], threads, monitor)?,
    };
    let worst_case = match verdict {
        Verdict::Proved => worst_case(subject, space.as_ref(), &progress),
        Verdict::ProvedIfTiesAreRandom | Verdict::Refuted => None,
    };
    let shield = shield(subject, space.as_ref(), &progress);
    Ok(Some(Report { verdict, sizes, worst_case, counterexample, shield }))
}

/// What the shield does, if there is one.
fn shield(subject: &Subject<'_>, space: &dyn Space, progress: &Progress) -> Option<ShieldReport> {
    if subject.alphabet.shield.is_empty() {
        return None;
    }
    let sum = |of: fn(&Tally) -> u64| progress.sizes.iter().map(of).sum::<u64>();
    let forced_states = sum(|tally| tally.shield.forced);
    let first = progress.sizes.iter().enumerate().find_map(|(i, t)| t.shield.first.map(|first| (i, first)));
    let violation = first.map(|(size, (family, state))| {
        let family = space.family(size, family);
        let mut facts = Facts::new(subject.alphabet);
        observe_state(family.as_ref(), state, &mut facts);
        Violation { instance: family.title(), facts: facts.show(subject.alphabet, family.universe()) }
    });
    let corrected_states = sum(|tally| tally.shield.corrected);
    Some(ShieldReport { never_violated: forced_states == 0, corrected_states, forced_states, violation })
}

/// Walks what is left of a size. `false` if it was stopped.
fn walk_size(
    subject: &Subject<'_>,
    space: &dyn Space,
    size: usize,
    threads: usize,
    progress: &mut Progress,
    monitor: &mut dyn Monitor,
) -> bool {
    let entry = &space.sizes()[size];
    let all = chunks(entry);
    let is_done =
        |i: usize, progress: &Progress| i < progress.prefix || progress.beyond.iter().any(|b| b.0 == i);
    let todo: Vec<(usize, Range<u64>)> =
        all.iter().cloned().enumerate().filter(|(i, _)| !is_done(*i, progress)).collect();
    let mut walked: u64 = entry.families - todo.iter().map(|c| c.1.end - c.1.start).sum::<u64>();
    monitor.walked(entry, walked);
    let shortest = [AtomicUsize::new(usize::MAX - 1), AtomicUsize::new(usize::MAX - 1)];
    // Both callbacks below need the monitor, one at a time.
    let monitor = std::cell::RefCell::new(monitor);
    let mut stopped = false;
    in_chunks(
        &todo,
        threads,
        || Walker::new(subject),
        |walker, (_, families), stop| walk_families(walker, (space, size), families.clone(), &shortest, stop),
        |i, tally: Tally| {
            let (chunk, families) = &todo[i];
            walked += families.end - families.start;
            progress.beyond.push((*chunk, tally));
            while let Some(at) = progress.beyond.iter().position(|b| b.0 == progress.prefix) {
                let (_, tally) = progress.beyond.swap_remove(at);
                progress.merged.add(tally);
                progress.prefix += 1;
            }
            let mut monitor = monitor.borrow_mut();
            monitor.walked(entry, walked);
            monitor.progress(progress);
        },
        || {
            stopped |= monitor.borrow_mut().interrupted();
            stopped
        },
    );
    progress.prefix == all.len()
}

/// What is found in these families; nothing if it was stopped.
fn walk_families(
    walker: &mut Walker<'_>,
    (space, size): (&dyn Space, usize),
    families: Range<u64>,
    shortest: &[AtomicUsize; 2],
    stop: &AtomicBool,
) -> Option<Tally> {
    let mut tally = Tally::default();
    for i in families {
        // Of failing runs of one length the first counts, whatever the order in which threads find them: within a chunk
        // only shorter ones are of interest, across chunks equal ones too.
        let bound = |here: &Option<Failure>, elsewhere: &AtomicUsize| {
            let here = here.as_ref().map_or(usize::MAX, Failure::length);
            here.min(elsewhere.load(Ordering::Relaxed) + 1)
        };
        let bounds = Shorter {
            failure: bound(&tally.failure, &shortest[0]),
            unlucky_loop: bound(&tally.unlucky_loop, &shortest[1]),
        };
        let found = walker.walk(i, space.family(size, i).as_ref(), bounds, stop)?;
        for (found, shortest) in [&found.failure, &found.unlucky_loop].into_iter().zip(shortest) {
            if let Some(failure) = found {
                shortest.fetch_min(failure.length(), Ordering::Relaxed);
            }
        }
        tally.add(found);
    }
    Some(tally)
}

/// The families of a size in pieces, the same whatever the number of threads.
pub(crate) fn chunks(size: &Size) -> Vec<Range<u64>> {
    let each = (CHUNK_STATES / size.widest.max(1.0)).clamp(1.0, 10_000.0) as u64;
    (0..size.families.div_ceil(each)).map(|c| c * each..((c + 1) * each).min(size.families)).collect()
}

/// A shortest failing run of a size that fails, or a shortest unlucky loop of one that does not. Where states alike but for names were taken for one, the size is walked again
/// with all names, if it is small enough: a loop must come back to the very same state.
fn counterexample(
    subject: &Subject<'_>,
    walked: &dyn Space,
    size: usize,
    tally: &Tally,
    threads: usize,
    monitor: &mut dyn Monitor,
) -> Result<Option<Counterexample>, Error> {
    let exact =
        subject.world.space(subject.alphabet, &Extent { every_state: true, ..subject.extent.clone() })?;
    let reduced = exact.sizes()[size] != walked.sizes()[size];
    if reduced && exact.sizes()[size].states <= MOST_EXACT {
        let mut again = Progress::default();
        if walk_size(subject, exact.as_ref(), size, threads, &mut again, monitor)
            && let Some(failure) = again.merged.shown()
        {
            return Ok(Some(counterexample::explain(subject, exact.as_ref(), size, failure)));
        }
    }
    Ok(tally.shown().map(|failure| counterexample::explain(subject, walked, size, failure)))
}

fn worst_case(subject: &Subject<'_>, space: &dyn Space, progress: &Progress) -> Option<WorstCase> {
    let worst = progress.sizes.iter().enumerate().filter_map(|(i, t)| t.worst.as_ref().map(|w| (i, w)));
    // The smallest instance of those that are equally bad.
    let (size, worst) = worst.rev().max_by_key(|(_, w)| w.excess())?;
    let family = space.family(size, worst.family);
    let mut facts = Facts::new(subject.alphabet);
    observe_state(family.as_ref(), worst.start, &mut facts);
    Some(WorstCase {
        instance: family.title(),
        facts: facts.show(subject.alphabet, family.universe()),
        actions: worst.longest,
        fewest: worst.shortest,
    })
}
