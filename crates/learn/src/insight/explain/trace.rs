//! Episodes, explained step by step.

use std::sync::Arc;
use std::time::Instant;

use derrl_env::{Env, Fault, Scene, Status, list_legal, observe};
use derrl_logic::{
    Action, Alphabet, Constant, EveryAction, Facts, GroundAction, MOST_WORK, Policy, Scope, Universe, bounded,
};
use serde::Serialize;

use super::laws::Seen;
use super::reachable::Reachable;
use super::{Bounds, Explainer, Explanation, Leeway, WhatIf, find_action};
use crate::act::score::episode_streams;
use crate::error::Error;

/// What to say about each step beside the rule that fired.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// Which of the other actions to explain.
    pub others: Others,
    /// Which actions to ask for what would have to change.
    pub what_if: WhatIfs,
    /// Whether to say how far each number may be off.
    pub leeway: bool,
    /// How far to search for changes.
    pub bounds: Bounds,
    /// From this moment on, only the rules that fire are told: explanations take longer than the episode.
    pub until: Option<Instant>,
    /// What the policy was learned on: states outside are told.
    pub scope: Option<Scope>,
}

impl Ask {
    fn is_late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }
}

/// Which of the other actions to explain.
#[derive(Clone, Debug, Default)]
pub enum Others {
    /// None.
    #[default]
    None,
    /// This one, at the steps where it can be done.
    One(Action, Vec<Constant>),
    /// This many at the front in the order of the actions, and this one if there is one of this name.
    First(usize, Option<(Action, Vec<Constant>)>),
}

/// Which actions to ask for what would have to change.
#[derive(Clone, Debug, Default)]
pub enum WhatIfs {
    /// None.
    #[default]
    None,
    /// This one, at the steps where it can be done.
    One(Action, Vec<Constant>),
    /// All other actions that are explained.
    Others,
}

/// An explained episode.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Trace {
    /// Its steps.
    pub steps: Vec<ExplainedStep>,
    /// How it ended, or where it was left.
    pub end: End,
}

/// A step of an explained episode.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedStep {
    /// Which step, from 1.
    pub step: usize,
    /// Which agent acted, in a world of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<usize>,
    /// Why.
    #[serde(flatten)]
    pub explanation: Explanation,
    /// What would have to change for the action asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what_if: Option<WhatIf>,
    /// How far each number on which the decision depends may be off, where that was asked: those with the least room first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub leeway: Vec<Leeway>,
    /// The reward that followed.
    pub reward: f64,
    /// `running`, `terminated` or `truncated`.
    pub status: &'static str,
    /// What the world looked like, before the action.
    #[serde(skip)]
    pub scene: Scene,
}

/// How an episode ended, or where it was left.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct End {
    /// `running` if it was left, else `terminated` or `truncated`.
    pub status: &'static str,
    /// Whether it has reached what the task asks for; none where it asks for nothing that is reached or not.
    pub success: Option<bool>,
    /// The sum of rewards.
    #[serde(rename = "return")]
    pub total: f64,
    /// What holds at the end.
    pub facts: Vec<String>,
    /// What the world looks like at the end.
    #[serde(skip)]
    pub scene: Scene,
}

/// Episode number `episode` (from 0) of a seed, explained step by step, at most `steps` of them. It is the same episode that
/// [`evaluate`](crate::evaluate) scores.
pub fn explain_episode(
    policy: &Policy,
    alphabet: &Alphabet,
    env: &mut dyn Env,
    (seed, episode): (u64, u64),
    steps: usize,
    ask: &Ask,
) -> Result<Trace, Error> {
    let explainer = Explainer::new(policy, alphabet).learned_on(ask.scope.as_ref());
    let (mut world, mut ties) = episode_streams(seed, episode);
    let asks = !matches!(ask.what_if, WhatIfs::None) && !ask.is_late();
    let mut seen = if asks { Seen::of_world(&explainer, env, seed) } else { Seen::default() };
    env.reset(&mut world);
    let around =
        if asks { bounded(MOST_WORK, || Reachable::explore(&explainer, env)).ok().flatten() } else { None };
    let mut facts = Facts::new(alphabet);
    let (mut trace, mut listed) = (Vec::new(), Vec::new());
    let mut moments = Vec::new();
    let mut total = 0.0;
    let mut status = Status::Running;
    for step in 1..=steps {
        check(env)?;
        observe(env, &mut facts);
        let universe = Arc::clone(env.universe());
        let agent = (env.agents() > 1).then(|| env.turn());
        let scene = env.scene();
        let legal = list_legal(env, alphabet, &facts, &mut listed).then_some(listed.as_slice());
        let explainer = explainer.among(legal);
        let late = ask.is_late();
        let asked = if late { Vec::new() } else { ask.others.list(alphabet, &universe, legal) };
        let (action, explanation) =
            bounded(MOST_WORK, || explainer.explain(&facts, &universe, &mut ties, &asked))
                .map_err(Error::Definition)?
                .ok_or_else(|| {
                    Error::World(Fault::new("there is nothing to do: this state has no actions"))
                })?;
        if asks {
            seen.note(&facts, &universe, alphabet);
            let others = asked.into_iter().filter(|a| *a != action).collect();
            let facts = facts.clone();
            moments.push(Moment {
                facts,
                universe: Arc::clone(&universe),
                legal: legal.map(<[_]>::to_vec),
                others,
            });
        }
        let leeway = if ask.leeway && !late { explainer.leeway(&facts, &universe) } else { Vec::new() };
        let outcome = env.step(action.action, &action.args, &mut world);
        (status, total) = (outcome.status, total + outcome.reward);
        let reward = outcome.reward;
        let status = name(status);
        trace.push(ExplainedStep { step, agent, explanation, what_if: None, leeway, reward, status, scene });
        if outcome.status != Status::Running {
            break;
        }
    }
    check(env)?;
    observe(env, &mut facts);
    let end = End {
        status: name(status),
        success: env.has_goal().then(|| env.succeeded()),
        total,
        facts: facts.show(alphabet, env.universe()),
        scene: env.scene(),
    };
    let laws = seen.laws(alphabet);
    for (moment, step) in moments.iter().zip(&mut trace).take_while(|_| !ask.is_late()) {
        moment.answer(&explainer.under(&laws).among(moment.legal.as_deref()), ask, around.as_ref(), step);
    }
    Ok(Trace { steps: trace, end })
}

fn check(env: &dyn Env) -> Result<(), Error> {
    env.fault().map_or(Ok(()), |fault| Err(Error::World(fault.clone())))
}

fn name(status: Status) -> &'static str {
    match status {
        Status::Running => "running",
        Status::Terminated => "terminated",
        Status::Truncated => "truncated",
    }
}

impl Others {
    /// The actions that are asked about, in order: of a universe, or of the legal ones where these are listed. One that is
    /// asked for by name need not be legal.
    pub fn list(
        &self,
        alphabet: &Alphabet,
        universe: &Universe,
        legal: Option<&[GroundAction]>,
    ) -> Vec<GroundAction> {
        let find = |action: Action, names: &[Constant]| find_action(alphabet, universe, action, names).ok();
        match self {
            Others::None => Vec::new(),
            Others::One(action, names) => find(*action, names).into_iter().collect(),
            Others::First(most, also) => {
                let mut all: Vec<_> = if let Some(legal) = legal {
                    legal.iter().take(*most).cloned().collect()
                } else {
                    let every = EveryAction::new(alphabet, universe);
                    (0..every.len().min(*most)).map(|k| every.nth(k)).collect()
                };
                let also = also.as_ref().and_then(|(action, names)| find(*action, names));
                all.extend(also.filter(|a| !all.contains(a)));
                all
            }
        }
    }
}

/// A state of the episode, and the other actions that are explained there.
struct Moment {
    facts: Facts,
    universe: Arc<Universe>,
    legal: Option<Vec<GroundAction>>,
    others: Vec<GroundAction>,
}

impl Moment {
    /// Says what would have to change for the actions that are asked about.
    fn answer(
        &self,
        explainer: &Explainer<'_>,
        ask: &Ask,
        around: Option<&Reachable>,
        step: &mut ExplainedStep,
    ) {
        let (alphabet, universe) = (explainer.alphabet, &*self.universe);
        let near = around.map(|around| (around, around.by_distance(&self.facts, alphabet)));
        let answer =
            |action: &GroundAction| explainer.ask(action, (&self.facts, universe), &near, ask.bounds);
        match &ask.what_if {
            WhatIfs::None => {}
            WhatIfs::One(action, names) => {
                let action = find_action(alphabet, universe, *action, names).ok();
                step.what_if = action.map(|action| answer(&action));
            }
            WhatIfs::Others => {
                let others = step.explanation.others.iter_mut().zip(&self.others);
                for (why, action) in others.take_while(|_| !ask.is_late()) {
                    why.what_if = Some(answer(action));
                }
            }
        }
    }
}

/// States that can be reached in the instance, by how much each differs from the present one.
type Near<'a> = Option<(&'a Reachable, Vec<(usize, usize)>)>;

impl Explainer<'_> {
    /// What would have to change for an action: told by a state that can be reached, where one is known.
    fn ask(
        &self,
        action: &GroundAction,
        (facts, universe): (&Facts, &Universe),
        near: &Near<'_>,
        bounds: Bounds,
    ) -> WhatIf {
        let reachable = near.as_ref().filter(|_| !bounds.background);
        let reachable = reachable.and_then(|(around, near)| around.what_if(self, action, near));
        reachable.unwrap_or_else(|| self.what_if(action, facts, universe, bounds))
    }
}
