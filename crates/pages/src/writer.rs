//! Explained episodes, written briefly: what repeats from step to step is written once.

use std::cmp::Reverse;
use std::collections::HashMap;

use derrl_env::{Env, Scene};
use derrl_learn::{ExplainedStep, Explanation, Trace, WhyNot};
use derrl_logic::{Alphabet, Role};
use derrl_report::{Marks, Picture};
use serde::Serialize;

use crate::answers::{Answers, Fired, Other, brief};
use crate::pictures::{Pictures, tenth};

/// All episodes of a run.
#[derive(Default, Serialize)]
pub struct Episodes {
    pub tasks: Vec<TaskEpisodes>,
    /// Situations and what is to be said about the actions not taken there. Policies that are lost come by the same ones again and
    /// again, so steps name them by number.
    situations: Vec<Situation>,
    #[serde(flatten)]
    drawn: Pictures,
    #[serde(skip)]
    known: HashMap<Vec<String>, usize>,
    /// Actions that are explained.
    #[serde(skip)]
    pub explained: usize,
    /// Episodes left out because there was no time for them.
    #[serde(skip)]
    pub left_out: usize,
}

/// A state and an action taken there.
#[derive(Serialize)]
struct Situation {
    facts: Vec<String>,
    others: Vec<Other>,
    /// Other actions that are not explained, because there are too many.
    #[serde(skip_serializing_if = "is_zero")]
    unexplained: usize,
}

/// The episodes of a task.
#[derive(Serialize)]
pub struct TaskEpisodes {
    pub task: String,
    pub summary: String,
    pub episodes: Vec<Episode>,
}

/// An explained episode.
#[derive(Serialize)]
pub struct Episode {
    /// Which episode of the seed, from 1.
    number: usize,
    /// The command that explains it in a terminal.
    command: String,
    background: Vec<String>,
    /// The step to open with, from 0.
    #[serde(skip_serializing_if = "is_zero")]
    opens: usize,
    steps: Vec<Step>,
    end: End,
    /// The best-known return from its start.
    #[serde(skip_serializing_if = "Option::is_none")]
    best: Option<f64>,
}

#[derive(Serialize)]
struct Step {
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<usize>,
    /// Where the agent is, where places have names.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    /// Seconds since the start, in worlds that have a clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<u64>,
    /// The number of its situation.
    at: usize,
    action: String,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    fired: Option<Fired>,
    /// The other actions of the same value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ties: Vec<String>,
    /// How far numbers may be off, each alone, before the decision changes: their names, and the ends below and above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    leeway: Vec<(String, Option<f64>, Option<f64>)>,
    reward: f64,
    /// The return so far, before the reward.
    total: f64,
    frame: Frame,
}

/// A picture by what changed since the step before.
#[derive(Serialize)]
struct Frame {
    label: String,
    /// The size, where it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<(f64, f64)>,
    /// All pieces from back to front by the numbers of their keys, where they are not the same as before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pieces: Option<Vec<usize>>,
    /// The pieces that changed.
    moved: Vec<Moved>,
}

/// The number of a key, a place, the number of its looks, and the way it came.
#[derive(Serialize)]
struct Moved(usize, f64, f64, usize, #[serde(skip_serializing_if = "Vec::is_empty")] Vec<(f64, f64)>);

#[derive(Serialize)]
struct End {
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    success: Option<bool>,
    #[serde(rename = "return")]
    total: f64,
    facts: Vec<String>,
    frame: Frame,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for this signature")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// Writes an episode down.
pub struct Writer<'a> {
    alphabet: &'a Alphabet,
    env: &'a dyn Env,
    all: &'a mut Episodes,
    /// The pieces of the step before by the numbers of their keys, with place and looks, and the size.
    before: Vec<(usize, f64, f64, usize)>,
    size: (f64, f64),
    total: f64,
}

impl<'a> Writer<'a> {
    /// Writes episodes of this environment down among these.
    pub fn new(alphabet: &'a Alphabet, env: &'a dyn Env, all: &'a mut Episodes) -> Writer<'a> {
        Writer { alphabet, env, all, before: Vec::new(), size: (0.0, 0.0), total: 0.0 }
    }

    /// An episode, with what is new in it added to what repeats.
    pub fn episode(mut self, number: usize, command: String, trace: Trace) -> Episode {
        let background = match trace.steps.first() {
            // Agents see different parts of a world.
            Some(first) if first.agent.is_none() => self.split(first.explanation.facts.clone()).1,
            _ => Vec::new(),
        };
        let opens = opening(&trace.steps);
        let steps = trace.steps.into_iter().map(|step| self.step(step)).collect();
        let end = trace.end;
        let frame = self.frame(&Picture::new(&end.scene, &end.facts, &Marks::default()));
        Episode {
            number,
            command,
            background,
            opens,
            steps,
            end: End {
                status: end.status,
                success: end.success,
                total: rounded(end.total),
                facts: self.visible(end.facts, self.env.agents() > 1),
                frame,
            },
            // In a world of several agents the best known takes simulations of its own.
            best: (self.env.agents() == 1).then(|| self.env.best_return()).flatten(),
        }
    }

    fn step(&mut self, step: ExplainedStep) -> Step {
        let marks = Marks::of(step.explanation.fired.as_ref());
        let picture = Picture::new(&step.scene, &step.explanation.facts, &marks);
        let frame = self.frame(&picture);
        let at = step.scene.place().map(str::to_owned);
        let time = step.scene.time();
        let Explanation { facts, action, value, fired, ties, others, unexplained, .. } = step.explanation;
        let total = self.total;
        self.total += step.reward;
        Step {
            agent: step.agent,
            at: self.situation(facts, &action, (others, unexplained), step.agent.is_some()),
            // Where no rule fires all actions tie, and saying so once is enough.
            ties: if fired.is_some() {
                ties.into_iter().filter(|t| *t != action).collect()
            } else {
                Vec::new()
            },
            fired: fired.map(brief),
            value,
            leeway: step.leeway.into_iter().map(|l| (l.of, l.down, l.up)).collect(),
            reward: step.reward,
            total: rounded(total),
            action,
            place: at,
            time,
            frame,
        }
    }

    /// The number of a situation, which is written down where it is new.
    fn situation(
        &mut self,
        facts: Vec<String>,
        action: &str,
        (others, unexplained): (Vec<WhyNot>, usize),
        with_background: bool,
    ) -> usize {
        // The same facts of another universe offer other actions.
        let actions = others.iter().map(|o| o.action.clone());
        let key: Vec<String> = facts.iter().cloned().chain([action.to_string()]).chain(actions).collect();
        if let Some(&known) = self.all.known.get(&key) {
            return known;
        }
        let number = self.all.situations.len();
        self.all.known.insert(key, number);
        self.all.explained += others.len();
        let mut answers = Answers { drawn: &mut self.all.drawn };
        let others = others.into_iter().map(|why| answers.other(why)).collect();
        let facts = self.visible(facts, with_background);
        self.all.situations.push(Situation { facts, others, unexplained });
        number
    }

    /// The facts to write with a step: the background is written once, but where agents differ in it, with each step.
    fn visible(&self, facts: Vec<String>, with_background: bool) -> Vec<String> {
        if with_background { facts } else { self.split(facts).0 }
    }

    /// State facts and background facts.
    fn split(&self, facts: Vec<String>) -> (Vec<String>, Vec<String>) {
        let predicates = &self.alphabet.predicates;
        let background: Vec<&str> =
            predicates.iter().filter(|p| p.role == Role::Background).map(|p| p.name.as_str()).collect();
        facts.into_iter().partition(|fact| {
            let name = fact.split('(').next().unwrap_or_default();
            !background.contains(&name.trim_matches('\''))
        })
    }

    /// A picture by what differs from that of the step before.
    fn frame(&mut self, picture: &Picture) -> Frame {
        let mut now = Vec::with_capacity(picture.pieces.len());
        let mut moved = Vec::new();
        for piece in &picture.pieces {
            let (key, looks) = (self.all.drawn.key(&piece.key), self.all.drawn.looks(&piece.looks));
            let at = (key, tenth(piece.x), tenth(piece.y), looks);
            if !self.before.contains(&at) {
                let path = piece.path.iter().map(|&(x, y)| (tenth(x), tenth(y))).collect();
                moved.push(Moved(at.0, at.1, at.2, at.3, path));
            }
            now.push(at);
        }
        let keys = |all: &[(usize, f64, f64, usize)]| all.iter().map(|p| p.0).collect::<Vec<_>>();
        let pieces = Some(keys(&now)).filter(|now| *now != keys(&self.before));
        let size = (picture.width, picture.height);
        let resized = Some(size).filter(|size| *size != self.size);
        (self.before, self.size) = (now, size);
        Frame { label: picture.label.clone(), size: resized, pieces, moved }
    }
}

/// The step to open an episode with: the first, but roads are empty at first. There it is one with a decision between lanes where
/// vehicles wait, at best by a rule, and as many of them as ever.
fn opening(steps: &[ExplainedStep]) -> usize {
    let busy = |step: &ExplainedStep| {
        if let Scene::Streets(streets) = &step.scene {
            let waiting = streets.vehicles.iter().filter(|v| v.stands).count() as u32;
            return (waiting > 0 && step.explanation.fired.is_some(), 0, waiting);
        }
        let Scene::Roads(roads) = &step.scene else { return (false, 0, 0) };
        let mut here: Vec<u32> = roads
            .lanes
            .iter()
            .zip(&roads.queues)
            .filter(|(lane, _)| Some(lane.to) == roads.turn)
            .map(|(_, waiting)| *waiting)
            .collect();
        here.sort_unstable_by(|a, b| b.cmp(a));
        // One lane alone leaves nothing to decide.
        let second = here.get(1).copied().unwrap_or(0);
        (second > 0 && step.explanation.fired.is_some(), second, here.iter().sum())
    };
    let most = steps.iter().enumerate().max_by_key(|(at, step)| (busy(step), Reverse(*at)));
    most.map_or(0, |(at, _)| at)
}

/// Without the noise of adding up, which would only make the page longer.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
