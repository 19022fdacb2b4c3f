//! Which episodes a page shows, and what it explains of them.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use derrl_env::{Env, Options};
use derrl_learn::{Ask, Bounds, Others, Trace, WhatIfs, explain_episode};
use serde_json::Value;

use crate::error::Error;
use crate::extent::Extent;
use crate::record::Subject;
pub use crate::writer::Episodes;
use crate::writer::{Episode, TaskEpisodes, Writer};

/// Other actions that are explained at a step, at the most.
const MOST_OTHERS: usize = 64;
/// Actions of a whole page for which it says what would have to change, and actions that it explains at all.
const MOST_CHANGES: usize = 10_000;
const MOST_EXPLAINED: usize = 40_000;
/// How far a page looks for changes: far enough for the worlds at hand, and quick.
const BOUNDS: Bounds = Bounds { changes: 4, states: 2_000, background: false, inconsistent: false };
/// Episodes that are looked at for ones to show, at the most.
const LOOKED_AT: usize = 12;

/// The most instructive of the first episodes of each task that was scored. What cannot be run is left out with a note: a page
/// without episodes is better than none.
pub fn of_tasks(subject: &Subject<'_>, scores: &Value, extent: Extent, notes: &mut Vec<String>) -> Episodes {
    let mut all = Episodes::default();
    if extent.episodes == 0 {
        return all;
    }
    let scored = |task: &str| scores.get(task).is_some();
    for task in subject.world.tasks() {
        let options = subject.options.of(task);
        for (suffix, options) in [("", quiet(&options)), ("+noise", options)] {
            let name = format!("{}{suffix}", task.name);
            if !scored(&name) {
                continue;
            }
            match of_task(subject, &task.name, &options, extent, &mut all) {
                // There was no time for any: a note says so, and a page offers no task that it cannot show.
                Ok(episodes) if episodes.is_empty() => {}
                Ok(episodes) => {
                    all.tasks.push(TaskEpisodes { task: name, summary: task.summary.clone(), episodes });
                }
                Err(problem) => {
                    notes.push(format!("no episodes of task `{name}`: {problem}"));
                    // What one task lacks, the next lacks too, and looking for it may take long.
                    return all;
                }
            }
        }
    }
    if extent.is_late() {
        let missing = match all.left_out {
            0 => "Some explanations are".to_string(),
            1 => "1 episode and some explanations are".to_string(),
            n => format!("{n} episodes and some explanations are"),
        };
        let place = subject.place;
        let explain = format!("`derrl explain {place} --episode N`");
        notes.push(format!("{missing} left out to save time: {explain} shows any of them"));
    }
    all
}

fn quiet(options: &Options) -> Options {
    Options { noise: None, ..options.clone() }
}

fn of_task(
    subject: &Subject<'_>,
    task: &str,
    options: &Options,
    extent: Extent,
    all: &mut Episodes,
) -> Result<Vec<Episode>, Error> {
    let mut env = subject.world.make(subject.alphabet, task, options)?;
    let numbers = most_instructive(subject, env.as_mut(), extent)?;
    let mut episodes = Vec::new();
    for (at, &number) in numbers.iter().enumerate() {
        // What is seen at a glance is there in any case: the first episode of the first task.
        if extent.is_late() && !(all.tasks.is_empty() && at == 0) {
            all.left_out += numbers.len() - at;
            break;
        }
        let what_if = if all.explained < MOST_CHANGES { WhatIfs::Others } else { WhatIfs::None };
        let others =
            if all.explained < MOST_EXPLAINED { Others::First(MOST_OTHERS, None) } else { Others::None };
        let ask = Ask { others, what_if, leeway: true, bounds: BOUNDS, until: extent.until, scope: None };
        let trace = play(subject, env.as_mut(), number, extent.steps, &ask)?;
        let number = number as usize + 1;
        let command = command(subject, task, options, number);
        episodes.push(Writer::new(subject.alphabet, env.as_ref(), all).episode(number, command, trace));
    }
    Ok(episodes)
}

fn play(
    subject: &Subject<'_>,
    env: &mut dyn Env,
    number: u64,
    steps: usize,
    ask: &Ask,
) -> Result<Trace, Error> {
    Ok(explain_episode(subject.policy, subject.alphabet, env, (subject.seed, number), steps, ask)?)
}

/// How much there is to see in an episode: first the rules that fire, then the steps, up to a number that can be followed.
fn instructive(trace: &Trace) -> (usize, usize) {
    let fired = trace.steps.iter().filter_map(|s| s.explanation.fired.as_ref()).map(|m| m.rule);
    (fired.collect::<BTreeSet<_>>().len(), trace.steps.len().min(12))
}

/// The numbers of the episodes that show most, the best first. They end as most do; where some end otherwise, one of those comes
/// last. Where an episode takes a simulator, one is enough.
fn most_instructive(subject: &Subject<'_>, env: &mut dyn Env, extent: Extent) -> Result<Vec<u64>, Error> {
    if let Some(number) = extent.only {
        return Ok(vec![number]);
    }
    if env.simulator().is_some() {
        return Ok((0..extent.episodes.min(1) as u64).collect());
    }
    let mut found = Vec::new();
    for number in 0..LOOKED_AT.max(extent.episodes) as u64 {
        let trace = play(subject, env, number, extent.steps, &SILENT)?;
        found.push(Candidate { succeeds: trace.end.success, shows: instructive(&trace), number });
    }
    Ok(chosen(found, extent.episodes))
}

/// An episode that may be shown.
struct Candidate {
    succeeds: Option<bool>,
    /// How much there is to see.
    shows: (usize, usize),
    number: u64,
}

fn chosen(mut found: Vec<Candidate>, most: usize) -> Vec<u64> {
    let won = found.iter().filter(|c| c.succeeds == Some(true)).count();
    let usual = Some(2 * won >= found.len());
    found.sort_by_key(|c| (Reverse(c.shows), c.number));
    let (usual, others): (Vec<Candidate>, Vec<Candidate>) =
        found.into_iter().partition(|c| c.succeeds.is_none() || c.succeeds == usual);
    // A page with a single episode shows a usual one.
    let one = usize::from(most > 1 && !others.is_empty());
    let first = usual.into_iter().take(most - one);
    first.chain(others.into_iter().take(one)).map(|c| c.number).collect()
}

/// Asks for nothing but what was done.
const SILENT: Ask = Ask {
    others: Others::None,
    what_if: WhatIfs::None,
    leeway: false,
    bounds: BOUNDS,
    until: None,
    scope: None,
};

/// The first instructive episode of a task: one to show.
pub fn showpiece(subject: &Subject<'_>, task: &str, steps: usize) -> Result<Trace, Error> {
    let options = subject.options.of(subject.world.find_task(task)?);
    let mut env = subject.world.make(subject.alphabet, task, &options)?;
    let numbers = most_instructive(subject, env.as_mut(), Extent { episodes: 1, steps, ..Extent::of(1) })?;
    play(subject, env.as_mut(), numbers.first().copied().unwrap_or(0), steps, &SILENT)
}

/// How to see the same episode in a terminal.
fn command(subject: &Subject<'_>, task: &str, options: &Options, number: usize) -> String {
    let noise = options.noise.map(|p| format!(" --noise {p}")).unwrap_or_default();
    let Subject { place, seed, .. } = subject;
    format!("derrl explain {place} --task {task} --seed {seed} --episode {number}{noise}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(ends: &[Option<bool>]) -> Vec<Candidate> {
        let candidate = |(i, succeeds): (usize, &Option<bool>)| Candidate {
            succeeds: *succeeds,
            shows: (i % 3, i),
            number: i as u64,
        };
        ends.iter().enumerate().map(candidate).collect()
    }

    #[test]
    fn episodes_end_as_most_do_and_one_does_not() {
        let (won, lost) = (Some(true), Some(false));
        // By what they show: 5, 2, 4, 1, 3, 0.
        assert_eq!(chosen(candidates(&[won; 6]), 4), [5, 2, 4, 1]);
        assert_eq!(chosen(candidates(&[won, won, lost, won, won, lost]), 4), [4, 1, 3, 5]);
        assert_eq!(chosen(candidates(&[lost, lost, lost, lost, lost, won]), 3), [2, 4, 5]);
        assert_eq!(chosen(candidates(&[won, won, lost, won, won, lost]), 1), [4], "a usual one");
        assert_eq!(chosen(candidates(&[None; 6]), 2), [5, 2], "a world without goals");
        assert_eq!(chosen(candidates(&[won; 6]), 0), [0; 0]);
    }
}
