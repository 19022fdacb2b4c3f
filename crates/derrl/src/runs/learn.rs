//! Learning in the folders of runs: search, score, keep what came of it. Programs and the command line call the same.

use std::sync::Arc;

use derrl_env::{Fault, Options};
use derrl_learn::{Diagnosis, Learned, Observer, Origin, Score, UpdateStats, WideningStep};
use derrl_logic::{Alphabet, How as Defined, Policy, Role, Scope};
use derrl_pages::Extent;
use derrl_report::table::fixed;
use serde_json::Value;

use crate::domain::Domain;
use crate::listener::Listener;
use crate::runs::config::RunConfig;
use crate::runs::diagnosis::{self, Unlearned};
use crate::runs::folder::RunFolder;
use crate::runs::page;
use crate::runs::result::RunResult;
use crate::runs::see::{self, Sight};
use crate::runs::sight::is_seen;
use crate::runs::so_far::{Cut, SoFar};
use crate::runs::tensorboard;
use crate::runs::watch::Watch;
use crate::score::{Exam, score, score_noting};
use crate::setup::Setup;

/// A run that took this share of its steps ended because of them.
const BUDGET_SPENT: f64 = 0.8;

/// How runs are learned.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// Threads; the result does not depend on it.
    pub threads: usize,
    /// Whether each run gets its page.
    pub page: bool,
    /// Whether each run gets event files for TensorBoard.
    pub tensorboard: bool,
}

/// How learning ended.
#[derive(Debug)]
pub enum End {
    /// All is learned and scored.
    Done,
    /// It was asked to stop, and can be resumed.
    Stopped,
    /// The world failed: its own error. The runs can be resumed.
    Failed(Fault),
}

/// What came of a run.
pub struct Finished {
    /// Its seed.
    pub seed: u64,
    /// The scores by task.
    pub scores: Vec<(String, Score)>,
    /// What was learned.
    pub policy: Policy,
    /// The alphabet that it speaks.
    pub alphabet: Arc<Alphabet>,
    /// Which part found each rule.
    pub origins: Vec<Origin>,
    /// The steps to wider languages that were tried.
    pub widenings: Vec<WideningStep>,
    /// What could be changed where the task is not solved.
    pub advice: Vec<String>,
    /// What ended the run before it would have ended by itself.
    pub cut: Option<Cut>,
    /// Environment steps taken in all.
    pub steps: u64,
    /// Restarts run.
    pub restarts: usize,
    /// Seconds it took.
    pub seconds: f64,
    /// What it sees by, as `train --json` has it, where states are pixels.
    pub sight: Option<Value>,
    /// What `train --json` prints.
    pub json: Value,
}

/// Learns and scores runs that differ in nothing but the seed, from where they are. Policy, scores and page stay in their
/// folders; `each` is given what came of each run.
pub fn learn(
    folders: &[RunFolder],
    how: How,
    listener: &dyn Listener,
    each: &mut dyn FnMut(&RunFolder, &Domain, Finished),
) -> anyhow::Result<End> {
    match learn_alike(folders, how, listener, each) {
        Err(error) => match error.downcast_ref::<derrl_learn::Error>() {
            Some(derrl_learn::Error::World(fault)) => Ok(End::Failed(fault.clone())),
            _ => Err(error),
        },
        ended => ended,
    }
}

/// Runs that learn to see do so one by one: each has symbols of its own.
fn learn_alike(
    folders: &[RunFolder],
    how: How,
    listener: &dyn Listener,
    each: &mut dyn FnMut(&RunFolder, &Domain, Finished),
) -> anyhow::Result<End> {
    if !is_seen(&folders[0].domain()?, &folders[0].config.options) {
        return learn_all(folders, how, listener, each);
    }
    for folder in folders {
        match learn_all(std::slice::from_ref(folder), how, listener, each)? {
            End::Done => {}
            ended => return Ok(ended),
        }
    }
    Ok(End::Done)
}

fn learn_all(
    folders: &[RunFolder],
    how: How,
    listener: &dyn Listener,
    each: &mut dyn FnMut(&RunFolder, &Domain, Finished),
) -> anyhow::Result<End> {
    let mut domain = folders[0].domain()?;
    let seeds =
        folders.iter().map(|f| Ok((f.config.seed, f.checkpoint()?))).collect::<anyhow::Result<Vec<_>>>()?;
    let watch = Watch::new(folders, listener);
    let sees = is_seen(&domain, &folders[0].config.options);
    let sight = if sees { see(&folders[0], &mut domain, &watch)? } else { None };
    if sees && sight.is_none() {
        watch.finish()?;
        return Ok(End::Stopped);
    }
    let setup = Setup::of_run(&folders[0], &mut domain)?;
    let learned = setup.search(seeds, &watch, how.threads);
    let learned = learned.map_err(anyhow::Error::from).and_then(|l| or_best(l, folders, &domain, &watch));
    let seconds = watch.finish()?;
    let Some(learned) = learned?.into_iter().collect::<Option<Vec<_>>>() else { return Ok(End::Stopped) };
    for ((folder, learned), seconds) in folders.iter().zip(learned).zip(seconds) {
        if let Some(Cut::Seconds(most)) = learned.1 {
            // Its time is up, also where other work of this process took a part of it.
            folder.save_seconds(seconds.max(most))?;
        }
        let ended = Ended { sight: sight.as_ref(), learned: &learned.0, cut: learned.1, seconds };
        let finished = finish(how.page, folder, &domain, &ended, listener)?;
        let Some(finished) = finished else { return Ok(End::Stopped) };
        if how.page {
            let extent = Extent::of(1).within(seconds);
            page::write(folder.path(), std::slice::from_ref(folder), &folder.page_path(), extent)?;
        }
        if how.tensorboard {
            tensorboard::write(folder, &folder.path().join(tensorboard::FOLDER))?;
        }
        each(folder, &domain, finished);
    }
    Ok(End::Done)
}

/// Learns to see. `None` if somebody asked to stop.
fn see(folder: &RunFolder, domain: &mut Domain, watch: &Watch<'_>) -> anyhow::Result<Option<Sight>> {
    let seed = folder.config.seed;
    watch.begins(seed);
    watch.phase(seed, "learning to see");
    let sight = see::learn(folder, domain, &|| watch.interrupted())?;
    watch.decided(seed, sight.as_ref().map_or(0, |s| s.perception.steps));
    Ok(sight)
}

/// What was learned, with what ended the run before its end, if anything did.
type Cutting = (Learned, Option<Cut>);

/// A run with what it sees by, and what ended it before its end, if anything did.
struct Ended<'a> {
    sight: Option<&'a Sight>,
    learned: &'a Learned,
    cut: Option<Cut>,
    seconds: f64,
}

/// What was learned: of a run that ends before its end, the best policy so far. `None` where somebody asked all to stop.
fn or_best(
    learned: Vec<Option<Learned>>,
    folders: &[RunFolder],
    domain: &Domain,
    watch: &Watch<'_>,
) -> anyhow::Result<Vec<Option<Cutting>>> {
    let cut = watch.cut().filter(|_| !watch.stopped());
    let ended = |(folder, learned): (&RunFolder, Option<Learned>)| match (learned, cut) {
        (Some(learned), _) => Ok(Some((learned, None))),
        (None, None) => Ok(None),
        (None, Some(cut)) => {
            let (best, steps) = watch.so_far(folder.config.seed);
            Ok(Some((SoFar::learned(best.as_ref(), &domain.alphabet, steps)?, Some(cut))))
        }
    };
    folders.iter().zip(learned).map(ended).collect()
}

/// Scores what was learned and writes it down; `None` if interrupted.
fn finish(
    has_page: bool,
    folder: &RunFolder,
    domain: &Domain,
    &Ended { sight, learned, cut, seconds }: &Ended<'_>,
    listener: &dyn Listener,
) -> anyhow::Result<Option<Finished>> {
    let unsimplified = learned.unsimplified.display(&learned.unsimplified_alphabet).to_string();
    let language = Arc::clone(&domain.alphabet);
    // What the policy defines is part of what is spoken here.
    let domain = &Domain { alphabet: Arc::clone(&learned.alphabet), ..domain.clone() };
    let config = &folder.config;
    let checkpoint = folder.checkpoint()?;
    let mut scope = Some(Scope::default());
    let scored = scores(folder, domain, &learned.policy, &mut scope, listener);
    listener.over();
    let Some(scores) = scored? else { return Ok(None) };
    let seen = match sight {
        Some(sight) => soft_score(sight, folder, domain, &learned.policy, &scores, listener)?,
        None => None,
    };
    if sight.is_some() && seen.is_none() {
        return Ok(None);
    }
    // A task that asks for nothing that is reached or not is neither solved nor unsolved.
    let solved = scores.first().and_then(|(_, s)| s.solved());
    // A budget of steps is planned ahead: it counts as what ended a run that took most of it or did not get there.
    let spent = |most: &u64| solved == Some(false) || learned.steps as f64 >= BUDGET_SPENT * *most as f64;
    let cut = cut.or_else(|| config.budget.filter(spent).map(Cut::Steps));
    let points = |curve: &[UpdateStats]| curve.iter().map(|p| (p.episodes as f64, p.mean_return)).collect();
    let curves: Vec<(u64, Vec<(f64, f64)>)> =
        checkpoint.done.iter().map(|o| (o.restart, points(&o.curve))).collect();
    let curve = curves.iter().find(|(restart, _)| *restart == learned.restart).map_or(&[][..], |c| &c.1);
    let unlearned =
        Unlearned { folder, domain, language: &language, learned, curve, was_cut: cut.is_some(), seconds };
    let found = if solved == Some(false) { unlearned.diagnosis(listener) } else { None };
    let result = RunResult {
        policy: &learned.policy,
        unsimplified,
        scores: &scores,
        scope: scope.unwrap_or_default(),
        restarts: checkpoint.done.len(),
        restart: learned.restart,
        episodes: checkpoint.done.iter().map(|o| o.episodes).sum(),
        // Every step counts, those of learning to see too.
        steps: learned.steps + sight.map_or(0, |s| s.perception.steps),
        sight: seen.clone(),
        selection_steps: learned.selection_steps,
        solved,
        cut,
        advice: scores
            .first()
            .map_or_else(Vec::new, |(_, score)| advice(learned, score, found.as_ref(), &domain.alphabet)),
        diagnosis: found.as_ref().map(diagnosis::document).transpose()?,
        origins: learned.origins.clone(),
        widenings: learned.widenings.clone(),
        seconds,
        curves,
    };
    Ok(Some(Finished {
        sight: seen,
        advice: result.advice.clone(),
        origins: learned.origins.clone(),
        widenings: learned.widenings.clone(),
        cut,
        seed: config.seed,
        policy: learned.policy.clone(),
        alphabet: Arc::clone(&learned.alphabet),
        steps: result.steps,
        restarts: result.restarts,
        seconds,
        json: result.keep(folder, domain, has_page)?,
        scores,
    }))
}

/// The scores on the task trained on, if it is none of those that are scored anyway, and on these. `scope` takes in the states of
/// the first of them.
fn scores(
    folder: &RunFolder,
    domain: &Domain,
    policy: &Policy,
    scope: &mut Option<Scope>,
    listener: &dyn Listener,
) -> anyhow::Result<Option<Vec<(String, Score)>>> {
    let config = &folder.config;
    let on = |tasks: &[String], options: &Options, scope: &mut Option<Scope>| {
        let exam = Exam { tasks, options, episodes: config.episodes, seed: config.seed };
        score_noting(policy, &domain.alphabet, &domain.world, &exam, scope, listener)
    };
    let of_first = config.options.of(&domain.world.tasks()[0]);
    let (trained, others) = match &config.task {
        Some(task) => {
            (on(std::slice::from_ref(task), &config.options, scope)?, on(&[], &of_first, &mut None)?)
        }
        None => (Some(Vec::new()), on(&[], &of_first, scope)?),
    };
    Ok(trained.zip(others).map(|(trained, others)| [trained, others].concat()))
}

/// What a run sees by, with its score on the training task where symbols are drawn by their probabilities. `None` if interrupted.
fn soft_score(
    sight: &Sight,
    folder: &RunFolder,
    domain: &Domain,
    policy: &Policy,
    crisp: &[(String, Score)],
    listener: &dyn Listener,
) -> anyhow::Result<Option<Value>> {
    let tasks = [folder.task(domain)?.name.clone()];
    let RunConfig { options, episodes, seed, .. } = &folder.config;
    let exam = Exam { tasks: &tasks, options, episodes: *episodes, seed: *seed };
    let drawn = sight.drawn(domain);
    let Some(soft) = score(policy, &drawn.alphabet, &drawn.world, &exam, listener)? else { return Ok(None) };
    let share = |scores: &[(String, Score)]| scores.first().and_then(|(_, s)| s.success_rate);
    Ok(Some(sight.to_json(share(crisp), share(&soft))))
}

/// What could be changed where the training task is not solved: the share of its episodes that succeed, then what is missing or,
/// where that was not found, what the learner says.
fn advice(learned: &Learned, score: &Score, found: Option<&Diagnosis>, alphabet: &Alphabet) -> Vec<String> {
    let (Some(share), Some(false)) = (score.success_rate, score.solved()) else { return Vec::new() };
    let best = score.best_known.map_or_else(String::new, |best| format!(", best known {best:.3}"));
    let first = format!(
        "{:.0}% of the training episodes succeed: return {}{best}",
        100.0 * share,
        fixed(score.mean, 3)
    );
    let mut advice = vec![first];
    if let Some(found) = found {
        advice.extend(diagnosis::lines(found));
        return advice;
    }
    // The learner counts the episodes that it selected rules by; scores are of new ones.
    advice.extend(learned.advice(alphabet).into_iter().filter(|text| !text.starts_with("not solved")));
    let has_distance = alphabet.definitions().iter().any(|d| matches!(d.how, Defined::Distance { .. }));
    let mut background = alphabet.predicates.iter().filter(|p| p.role == Role::Background);
    if !has_distance && background.any(|p| matches!(p.args.as_slice(), [a, b] if a == b)) {
        let hint = "distances: `:- distance(nearer, STEP, TARGET).` in the domain file lets rules see which step leads nearer to a \
                    target, as in examples/derived/gridworld.pl";
        advice.insert(1, hint.to_string());
    }
    advice
}
