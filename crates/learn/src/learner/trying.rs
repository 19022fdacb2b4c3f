//! Trying every action in states that a policy comes to.

use derrl_env::{Env, Rng, choices};
use derrl_logic::{Alphabet, GroundAction};

use super::ledger::From;
use super::limits::{
    ASTRAY, ATTEMPT_DOUBLINGS, EPISODES, LATEST_ASTRAY, LONGEST_ASTRAY, SHORTEST_ATTEMPT, STATES,
    STATES_PER_EPISODE, TRIED_ACTIONS,
};
use super::list::RuleList;
use super::play::{Instance, Streams, World};
use super::seen::State;
use super::words::Lexicon;
use crate::act::actor::Actor;
use crate::error::Error;

/// A state with what its actions lose.
#[derive(Clone, Debug)]
pub struct Label {
    /// The state.
    pub state: State,
    /// What each action loses against the best; one that was not tried loses what the others lose on average.
    pub regrets: Vec<f64>,
    /// What any action loses on average.
    pub mean: f64,
}

/// A state to try actions in.
struct Mark {
    state: State,
    /// How many steps into the episode.
    step: usize,
    streams: Streams,
    /// The world in this state, where it can be copied.
    copy: Option<Box<dyn Env>>,
}

/// What was done in an episode, and what each step earned.
type History = Vec<(GroundAction, f64)>;

/// Tries all actions in some states that a list comes to. `None` where the world can neither be copied nor replayed.
pub fn labels(
    world: &mut World<'_>,
    list: &RuleList,
    (lexicon, sizes): (&Lexicon, usize),
    rng: &mut Rng,
) -> Result<Option<Vec<Label>>, Error> {
    let (policy, wider) = list.policy(&lexicon.alphabet(&list.words));
    // States are kept as the domain file has them, so that they serve all words.
    let alphabet = &lexicon.given.alphabet;
    let mut labels = Vec::new();
    for _ in 0..STATES / STATES_PER_EPISODE {
        let number = rng.below(1 << EPISODES) as u64;
        let instance = Instance { size: number as usize % sizes, number, astray: false };
        let mut actor = Actor::new(&policy, &wider);
        let (marks, history) = marks(world, instance, &mut actor, alphabet, rng)?;
        for mark in marks {
            if world.ledger.all() >= world.until {
                return Ok(Some(labels));
            }
            let horizon = SHORTEST_ATTEMPT << rng.below(ATTEMPT_DOUBLINGS);
            let tried = some(mark.state.actions.len(), TRIED_ACTIONS, rng);
            let mut worths = vec![None; mark.state.actions.len()];
            for a in tried {
                // What a rule says follows the world from step to step, so that each way to go on has its own.
                let mut actor = Actor::new(&policy, &wider);
                let mut go_on =
                    |env: &dyn Env, streams: &mut Streams, _: usize| actor.act(env, &mut streams.ties);
                let action = &mark.state.actions[a];
                let worth = if let Some(mut copy) = mark.copy.as_ref().and_then(|copy| copy.copy()) {
                    let mut streams = mark.streams.clone();
                    world.attempt(Some(copy.as_mut()), &mut streams, action, horizon, &mut go_on)?
                } else {
                    let before = &history[..mark.step];
                    let Some(mut streams) = world.replay((From::Trying, instance), before)? else {
                        return Ok(None);
                    };
                    streams.ties = mark.streams.ties.clone();
                    world.attempt(None, &mut streams, action, horizon, &mut go_on)?
                };
                worths[a] = Some(worth);
            }
            labels.extend(label(mark.state, &worths));
        }
    }
    Ok(Some(labels))
}

/// Up to `most` of the first `n` numbers.
fn some(n: usize, most: usize, rng: &mut Rng) -> Vec<usize> {
    let mut all: Vec<usize> = (0..n).collect();
    if n > most {
        rng.shuffle(&mut all);
        all.truncate(most);
        all.sort_unstable();
    }
    all
}

/// A state with regrets; `None` where all actions are worth the same.
fn label(state: State, worths: &[Option<f64>]) -> Option<Label> {
    let known = || worths.iter().flatten().copied();
    let best = known().fold(f64::NEG_INFINITY, f64::max);
    let mean = known().map(|w| best - w).sum::<f64>() / known().count().max(1) as f64;
    let regrets = worths.iter().map(|w| w.map_or(mean, |w| best - w)).collect();
    (mean > 0.0).then_some(Label { state, regrets, mean })
}

/// Plays an episode, perhaps astray for a while, and marks some of its states. Says what was done, too, with what it earned.
fn marks(
    world: &mut World<'_>,
    instance: Instance,
    actor: &mut Actor<'_>,
    alphabet: &Alphabet,
    rng: &mut Rng,
) -> Result<(Vec<Mark>, History), Error> {
    let astray = if rng.unit() < ASTRAY { 1 << rng.below(LONGEST_ASTRAY) } else { 0 };
    // Where nobody knows how long episodes are, long ones are as likely to go astray late as short ones.
    let from = 1 << rng.below(LATEST_ASTRAY);
    let from = rng.below(from);
    let mut marks: Vec<Mark> = Vec::new();
    let mut actions = Vec::new();
    let mut rewards = Vec::new();
    world.episode_told((From::Trying, instance), &mut rewards, &mut |env, streams, step| {
        // Each state is among the marks with the same chance.
        let at = if step < STATES_PER_EPISODE { step } else { rng.below(step + 1) };
        if at < STATES_PER_EPISODE {
            let mark =
                Mark { state: State::of(env, alphabet), step, streams: streams.clone(), copy: env.copy() };
            if at < marks.len() { marks[at] = mark } else { marks.push(mark) }
        }
        let action = if (from..from + astray).contains(&step) {
            let all = choices(env, alphabet);
            all[rng.below(all.len())].clone()
        } else {
            actor.act(env, &mut streams.ties)
        };
        actions.push(action.clone());
        action
    })?;
    marks.sort_by_key(|mark| mark.step);
    Ok((marks, actions.into_iter().zip(rewards).collect()))
}
