//! Certificates: what a program that shares no code with this one needs to check a verdict.
//!
//! A proof is a rank for every state that the policy can reach: in a *proved* one 1 + the largest rank of what may follow, in one
//! for *random ties* 1 + the smallest, where the goal has rank 0. A refutation is a run from a start into a *trap*: states that the
//! policy never leaves, none of them the goal. `checker/check.py` is such a program.

use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;

use super::reached::Reached;
use super::walk::Walker;
use super::{Monitor, Report, Subject, Verdict};
use crate::error::Error;

/// A line of a certificate.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum CertificateLine {
    /// What is claimed: the first line.
    Claim {
        /// The version of this format.
        certificate: u32,
        /// The world.
        world: String,
        /// The largest size.
        largest: usize,
        /// The most obstacles, in worlds that have some.
        #[serde(skip_serializing_if = "Option::is_none")]
        obstacles: Option<usize>,
        /// Whether states are told apart that differ only in names that the policy does not mention.
        every_state: bool,
        /// The verdict.
        verdict: Verdict,
        /// Whether nothing forbidden is done, where rules forbid and nothing is refuted.
        #[serde(skip_serializing_if = "Option::is_none")]
        never_violated: Option<bool>,
    },
    /// The sums of a size, before its families.
    Size {
        /// The size.
        size: usize,
        /// How many families it has.
        families: u64,
        /// How many instances: text, since there may be more than 64 bits can count.
        instances: String,
        /// How many states can be reached.
        states: u64,
        /// The largest rank of a start.
        longest: u32,
    },
    /// A family, and the rank of each state that can be reached.
    Family {
        /// Its name.
        family: String,
        /// By label.
        ranks: BTreeMap<String, u32>,
    },
    /// How the policy fails.
    Refutation {
        /// The size.
        size: usize,
        /// The family.
        family: String,
        /// The states of a run, from a start.
        run: Vec<String>,
        /// What the run leads into, the entry first. Empty where it ends elsewhere than at the goal.
        trap: Vec<String>,
    },
}

/// Gives `line` the lines of a certificate for what was found. `false` if the monitor stopped it.
pub fn certify(
    subject: &Subject<'_>,
    report: &Report,
    monitor: &mut dyn Monitor,
    line: &mut dyn FnMut(&CertificateLine),
) -> Result<bool, Error> {
    let space = subject.world.space(subject.alphabet, &subject.extent)?;
    let takes_obstacles = subject.world.options().contains(&"obstacles");
    line(&CertificateLine::Claim {
        certificate: 1,
        world: subject.world.name().to_string(),
        largest: subject.extent.largest,
        obstacles: takes_obstacles.then(|| subject.extent.most_obstacles()),
        every_state: subject.extent.every_state,
        verdict: report.verdict,
        never_violated: report
            .shield
            .as_ref()
            .filter(|_| report.verdict != Verdict::Refuted)
            .map(|s| s.never_violated),
    });
    let mut walker = Walker::new(subject);
    let sizes = match report.verdict {
        Verdict::Refuted => report.sizes.len() - 1..report.sizes.len(),
        _ => 0..report.sizes.len(),
    };
    for size in sizes {
        let entry = &space.sizes()[size];
        let (mut instances, mut states, mut longest) = (0u128, 0, 0);
        let mut families = Vec::new();
        for i in 0..entry.families {
            monitor.walked(entry, i);
            if monitor.interrupted() {
                return Ok(false);
            }
            let reached = Reached::new(&mut walker, space.as_ref(), size, i, &mut |_| false);
            let labels = reached.labels()?;
            if report.verdict == Verdict::Refuted {
                if let Some((run, trap)) = reached.failure(&labels) {
                    let family = reached.family.name();
                    line(&CertificateLine::Refutation { size: entry.size, family, run, trap });
                    return Ok(true);
                }
                continue;
            }
            let ranks = if report.verdict == Verdict::Proved { reached.longest() } else { reached.nearest() };
            let ranks: Option<Vec<u32>> = ranks.into_iter().collect();
            let ranks = ranks.ok_or_else(|| not_as_said(&reached.family.name()))?;
            instances = reached.starts.iter().fold(instances, |sum, s| sum.saturating_add(s.1));
            states += ranks.len() as u64;
            longest = reached.starts.iter().map(|s| ranks[s.0 as usize]).fold(longest, u32::max);
            families.push(CertificateLine::Family {
                family: reached.family.name(),
                ranks: labels.into_iter().zip(ranks).collect(),
            });
        }
        line(&CertificateLine::Size {
            size: entry.size,
            families: entry.families,
            instances: instances.to_string(),
            states,
            longest,
        });
        for family in &families {
            line(family);
        }
    }
    match report.verdict {
        Verdict::Refuted => Err(not_as_said(subject.world.name())),
        _ => Ok(true),
    }
}

/// The verdict does not hold of what was walked for the certificate: a mistake of this program.
fn not_as_said(place: &str) -> Error {
    Error::Certificate(format!("the verdict was not found again in {place}; please report this"))
}

impl Reached {
    /// What each state is called.
    fn labels(&self) -> Result<Vec<String>, Error> {
        let labels: Option<Vec<String>> = self.codes.iter().map(|&code| self.family.label(code)).collect();
        labels.ok_or_else(|| {
            Error::Certificate(
                "only built-in worlds have certificates: no checker knows the rules of another".into(),
            )
        })
    }

    /// A shortest run into a trap or to an end that is not the goal, and the trap.
    fn failure(&self, labels: &[String]) -> Option<(Vec<String>, Vec<String>)> {
        let luck = self.nearest();
        let mut from: Vec<Option<u32>> = vec![None; luck.len()];
        let mut queue: VecDeque<u32> = VecDeque::new();
        for &(start, _) in &self.starts {
            if from[start as usize].is_none() {
                from[start as usize] = Some(start);
                queue.push_back(start);
            }
        }
        while let Some(state) = queue.pop_front() {
            let trapped = luck[state as usize].is_none();
            if trapped || self.loses[state as usize] {
                let mut run = vec![state];
                while let Some(earlier) = from[run[run.len() - 1] as usize]
                    && earlier != run[run.len() - 1]
                {
                    run.push(earlier);
                }
                run.reverse();
                let mut trap = Vec::new();
                if trapped {
                    trap.extend(run.pop());
                    let mut known = vec![false; luck.len()];
                    known[state as usize] = true;
                    let mut at = 0;
                    while let Some(&inside) = trap.get(at) {
                        for &next in &self.after[inside as usize] {
                            if !std::mem::replace(&mut known[next as usize], true) {
                                trap.push(next);
                            }
                        }
                        at += 1;
                    }
                }
                let label = |states: Vec<u32>| -> Vec<String> {
                    states.into_iter().map(|s| labels[s as usize].clone()).collect()
                };
                return Some((label(run), label(trap)));
            }
            for &next in &self.after[state as usize] {
                if from[next as usize].is_none() {
                    from[next as usize] = Some(state);
                    queue.push_back(next);
                }
            }
        }
        None
    }
}
