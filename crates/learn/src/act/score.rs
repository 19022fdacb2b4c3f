//! Scoring a policy as its text reads: argmax of F, ties broken uniformly by a seeded generator.

use std::collections::BTreeMap;
use std::time::Instant;

use derrl_env::{Entered, Env, Rng, Status, observe, observe_given};
use derrl_logic::{Alphabet, Facts, GroundAction, Policy, Scope};
use serde::{Deserialize, Serialize};

pub use crate::act::actor::Actor;
use crate::error::Error;
use crate::experience::counted::Counted;
use crate::settings::streams::Purpose;

/// The share of successful episodes from which on a task counts as solved.
pub const SOLVED: f64 = 0.99;

/// The score of a policy on a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The mean undiscounted return.
    pub mean: f64,
    /// The standard error of that mean.
    pub stderr: f64,
    /// The share of episodes that reached what the task asks for; none where it asks for nothing that is reached or not.
    pub success_rate: Option<f64>,
    /// The mean best-known return of the same instances, where the world knows it.
    pub best_known: Option<f64>,
    /// How many episodes.
    pub episodes: usize,
    /// The mean return of other controllers of note on the same instances, where the world knows any.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub references: BTreeMap<String, f64>,
    /// How each problem went, where the task is a list of problems of which each is played once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<ProblemScore>,
}

impl Score {
    /// Whether nearly all episodes reached what the task asks for; none where it asks for nothing that is reached or not.
    pub fn solved(&self) -> Option<bool> {
        self.success_rate.map(|share| share >= SOLVED)
    }
}

/// How a policy did in one problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProblemScore {
    /// The file of the problem.
    pub file: String,
    /// Whether the goal was reached.
    pub solved: bool,
    /// How many actions it took.
    pub steps: usize,
    /// What they cost together.
    pub cost: f64,
    /// Seconds that acting and simulating took.
    pub seconds: f64,
}

/// The random streams of the `i`-th scored episode of a seed: one for the world, one to break ties. Neither training nor
/// selection uses them.
pub fn episode_streams(seed: u64, i: u64) -> (Rng, Rng) {
    (Purpose::Score(i).rng(seed), Purpose::ScoreTies(i).rng(seed))
}

/// The random streams of the `i`-th episode by which policies are selected.
pub fn selection_streams(seed: u64, i: u64) -> (Rng, Rng) {
    (Purpose::Selection(i).rng(seed), Purpose::SelectionTies(i).rng(seed))
}

/// How one episode went. It is written as `[value, success, steps]`, since there are many.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "(f64, bool, u64)", into = "(f64, bool, u64)")]
pub struct EpisodeResult {
    /// The undiscounted return.
    pub value: f64,
    /// Whether it reached what the task asks for.
    pub success: bool,
    /// How many actions it took.
    pub steps: u64,
}

impl From<(f64, bool, u64)> for EpisodeResult {
    fn from((value, success, steps): (f64, bool, u64)) -> EpisodeResult {
        EpisodeResult { value, success, steps }
    }
}

impl From<EpisodeResult> for (f64, bool, u64) {
    fn from(result: EpisodeResult) -> (f64, bool, u64) {
        (result.value, result.success, result.steps)
    }
}

/// Runs episodes `0..episodes` of this seed: the same instances for every policy, whatever it does.
pub fn run_episodes(
    policy: &Policy,
    alphabet: &Alphabet,
    env: &mut dyn Env,
    episodes: usize,
    seed: u64,
) -> Result<Vec<EpisodeResult>, Error> {
    let mut actor = Actor::new(policy, alphabet);
    let mut env = Counted::new(env);
    let act: &mut Act<'_> = &mut |env, rng| actor.act(env, rng);
    (0..episodes as u64).map(|i| run_episode(act, &mut env, episode_streams(seed, i))).collect()
}

/// The work of a decision, about, in units of [`Counted::stopped_after`].
const WORK: usize = 256;

/// Chooses an action in the current state of a world.
pub type Act<'a> = dyn FnMut(&dyn Env, &mut Rng) -> GroundAction + 'a;

/// Runs the episode of these random streams: one for the world, one to break ties. An error if the world fails or somebody
/// asks to stop.
pub fn run_episode(
    act: &mut Act<'_>,
    env: &mut Counted<'_>,
    (mut world, mut ties): (Rng, Rng),
) -> Result<EpisodeResult, Error> {
    env.reset(&mut world);
    finish_episode(act, env, &mut world, &mut ties)
}

/// Runs an episode from where the world is to its end.
fn finish_episode(
    act: &mut Act<'_>,
    env: &mut Counted<'_>,
    world: &mut Rng,
    ties: &mut Rng,
) -> Result<EpisodeResult, Error> {
    let mut result = EpisodeResult { value: 0.0, success: false, steps: 0 };
    while env.world().fault().is_none() {
        if env.stopped_after(WORK) {
            return Err(Error::Interrupted);
        }
        let action = act(env.world(), ties);
        let outcome = env.step(action.action, &action.args, world);
        result.value += outcome.reward;
        result.steps += 1;
        if outcome.status != Status::Running {
            break;
        }
    }
    match env.world().fault() {
        Some(fault) => Err(Error::World(fault.clone())),
        None => Ok(EpisodeResult { success: env.world().succeeded(), ..result }),
    }
}

/// An error if too much follows from the definitions of an alphabet in an instance of this world. Draws one where anything is
/// defined.
pub fn check_definitions(alphabet: &Alphabet, env: &mut dyn Env) -> Result<(), Error> {
    if alphabet.program.is_none() {
        return Ok(());
    }
    env.reset(&mut Rng::new(0, 0));
    let mut facts = Facts::new(alphabet);
    observe(env, &mut facts);
    facts.fault().map_or(Ok(()), |error| Err(Error::Definition(error.clone())))
}

/// The score of a policy over `episodes` seeded episodes, beside the best known on the same instances. Of a task that lists its
/// instances each is played once.
pub fn evaluate(
    policy: &Policy,
    alphabet: &Alphabet,
    env: &mut dyn Env,
    episodes: usize,
    seed: u64,
) -> Result<Score, Error> {
    check_definitions(alphabet, env)?;
    let mut actor = Actor::new(policy, alphabet);
    score(&mut |env, rng| actor.act(env, rng), env, episodes, seed)
}

/// As [`evaluate`], and `go_on` is asked after each episode, with the number of those done; `None` where it says no.
pub fn evaluate_while(
    policy: &Policy,
    alphabet: &Alphabet,
    env: &mut dyn Env,
    episodes: usize,
    seed: u64,
    go_on: &mut dyn FnMut(usize) -> bool,
) -> Result<Option<Score>, Error> {
    check_definitions(alphabet, env)?;
    let mut actor = Actor::new(policy, alphabet);
    score_while(&mut |env, rng| actor.act(env, rng), env, episodes, seed, go_on)
}

/// As [`evaluate_while`], and `scope` takes in every state in which the policy acts.
pub fn evaluate_noting(
    policy: &Policy,
    alphabet: &Alphabet,
    env: &mut dyn Env,
    (episodes, seed): (usize, u64),
    scope: &mut Scope,
    go_on: &mut dyn FnMut(usize) -> bool,
) -> Result<Option<Score>, Error> {
    check_definitions(alphabet, env)?;
    let mut actor = Actor::new(policy, alphabet);
    let mut facts = Facts::new(alphabet);
    let act: &mut Act<'_> = &mut |env, rng| {
        observe_given(env, &mut facts);
        scope.see(&facts, alphabet, env.universe());
        actor.act(env, rng)
    };
    score_while(act, env, episodes, seed, go_on)
}

/// The score of anything that acts, over the same instances as [`evaluate`].
pub fn score(act: &mut Act<'_>, env: &mut dyn Env, episodes: usize, seed: u64) -> Result<Score, Error> {
    let score = score_while(act, env, episodes, seed, &mut |_| true)?;
    Ok(score.expect("a score that nothing interrupts comes to its end"))
}

fn score_while(
    act: &mut Act<'_>,
    env: &mut dyn Env,
    episodes: usize,
    seed: u64,
    go_on: &mut dyn FnMut(usize) -> bool,
) -> Result<Option<Score>, Error> {
    let mut env = Counted::new(env);
    let mut values = Vec::with_capacity(episodes);
    let (mut successes, mut best_known) = (0, Some(0.0));
    let mut references: BTreeMap<String, f64> = BTreeMap::new();
    let listed = env.world().instances();
    let episodes = if listed > 0 { listed } else { episodes };
    let mut problems = Vec::new();
    let n = episodes.max(1) as f64;
    for i in 0..episodes as u64 {
        let result = if listed > 0 {
            let (result, problem) = run_listed(act, &mut env, i as usize, episode_streams(seed, i))?;
            problems.push(problem);
            result
        } else {
            run_episode(act, &mut env, episode_streams(seed, i))?
        };
        values.push(result.value);
        successes += usize::from(result.success);
        // Asked after the episode: both are about the instance, not about how it went.
        best_known = best_known.zip(env.world().best_return()).map(|(sum, best)| sum + best / n);
        for (name, value) in env.world().references() {
            *references.entry(name.to_string()).or_default() += value / n;
        }
        if !go_on(values.len()) {
            return Ok(None);
        }
    }
    let (mean, stderr) = mean_stderr(&values);
    let success_rate = env.world().has_goal().then_some(successes as f64 / n);
    Ok(Some(Score { mean, stderr, success_rate, best_known, episodes, references, problems }))
}

/// Runs the episode of the `i`-th instance that a task lists. Where the goal holds at first, it returns 1; where nothing can be done
/// about it, 0.
fn run_listed(
    act: &mut Act<'_>,
    env: &mut Counted<'_>,
    i: usize,
    (mut world, mut ties): (Rng, Rng),
) -> Result<(EpisodeResult, ProblemScore), Error> {
    let started = Instant::now();
    let over = |success: bool| EpisodeResult { value: f64::from(u8::from(success)), success, steps: 0 };
    let result = match env.enter(i) {
        Entered::Begun => finish_episode(act, env, &mut world, &mut ties)?,
        Entered::Reached => over(true),
        Entered::Stuck => over(false),
    };
    let problem = ProblemScore {
        file: env.world().title().unwrap_or_default().to_string(),
        solved: result.success,
        steps: result.steps as usize,
        cost: env.world().spent().unwrap_or(result.steps as f64),
        seconds: started.elapsed().as_secs_f64(),
    };
    Ok((result, problem))
}

/// The mean of some numbers and its standard error (0 for fewer than two).
pub fn mean_stderr(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    if values.is_empty() {
        return (0.0, 0.0);
    }
    let mean = values.iter().sum::<f64>() / n;
    if values.len() < 2 {
        return (mean, 0.0);
    }
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}
