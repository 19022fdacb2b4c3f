//! What was seen: steps of random play, or of rules that are given, each with the frames before and after it.

use derrl_env::{Pixels, Rng, Status};
use derrl_logic::GroundAction;

use super::outcome::Brings;
use crate::act::actor::Actor;
use crate::error::Error;

/// Steps of each outcome that are remembered. A step in a grid of 25 cells takes 38 kB.
const MOST: usize = 1500;

/// A step.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The frames before and after it.
    pub before: Vec<f32>,
    pub after: Vec<f32>,
    /// By cell, the cell to which the action leads.
    pub onward: Vec<usize>,
    /// What it brought.
    pub brought: Brings,
}

/// Who plays while a perception is learned.
pub struct Player<'a> {
    /// All actions.
    pub actions: Vec<GroundAction>,
    /// Rules to act by, once facts are seen.
    pub guide: Option<Actor<'a>>,
    /// Whether facts are seen.
    pub sees: bool,
}

/// Of the steps of a player who has rules, one in so many is random all the same.
const ASTRAY: usize = 8;

impl Player<'_> {
    fn choose(&mut self, env: &dyn Pixels, rng: &mut Rng) -> GroundAction {
        match &mut self.guide {
            Some(guide) if self.sees && rng.below(ASTRAY) > 0 => guide.act(env, rng),
            _ => self.actions[rng.below(self.actions.len())].clone(),
        }
    }
}

/// The steps that are remembered, and how many there were.
#[derive(Debug, Default)]
pub struct Memory {
    /// By outcome, the best first.
    outcomes: Vec<(Brings, Vec<Seen>)>,
    pub episodes: u64,
    pub steps: u64,
}

impl Memory {
    /// Plays so many episodes.
    pub fn play(
        &mut self,
        env: &mut dyn Pixels,
        player: &mut Player<'_>,
        episodes: usize,
        rng: &mut Rng,
    ) -> Result<(), Error> {
        (0..episodes).try_for_each(|_| self.play_one(env, player, rng))
    }

    fn play_one(
        &mut self,
        env: &mut dyn Pixels,
        player: &mut Player<'_>,
        rng: &mut Rng,
    ) -> Result<(), Error> {
        env.reset(rng);
        self.episodes += 1;
        let mut before = Vec::new();
        env.frame(&mut before);
        loop {
            let action = player.choose(env, rng);
            let onward = (0..env.cells()).map(|cell| env.onward(action.action, &action.args, cell)).collect();
            let outcome = env.step(action.action, &action.args, rng);
            if let Some(fault) = env.fault() {
                return Err(Error::World(fault.clone()));
            }
            let mut after = Vec::new();
            env.frame(&mut after);
            let seen = Seen { before, after: after.clone(), onward, brought: Brings::of(outcome) };
            self.keep(seen, rng);
            if outcome.status != Status::Running {
                return Ok(());
            }
            before = after;
        }
    }

    /// Keeps a step, in place of another one where there are too many.
    fn keep(&mut self, seen: Seen, rng: &mut Rng) {
        self.steps += 1;
        let at = match self.outcomes.binary_search_by(|(brings, _)| brings.order(&seen.brought)) {
            Ok(at) => at,
            Err(at) => {
                self.outcomes.insert(at, (seen.brought, Vec::new()));
                at
            }
        };
        let steps = &mut self.outcomes[at].1;
        if steps.len() < MOST {
            steps.push(seen);
        } else {
            steps[rng.below(MOST)] = seen;
        }
    }

    /// Takes over what another memory has seen.
    pub fn take(&mut self, other: Memory, rng: &mut Rng) {
        self.episodes += other.episodes;
        let kept: u64 = other.outcomes.iter().map(|(_, steps)| steps.len() as u64).sum();
        // Those that it has forgotten count all the same.
        self.steps += other.steps - kept;
        other.outcomes.into_iter().flat_map(|(_, steps)| steps).for_each(|seen| self.keep(seen, rng));
    }

    /// The outcomes there were, the best first.
    pub fn brings(&self) -> Vec<Brings> {
        self.outcomes.iter().map(|(brings, _)| *brings).collect()
    }

    /// How many steps of the rarest outcome there are.
    pub fn rarest(&self) -> usize {
        self.outcomes.iter().map(|(_, steps)| steps.len()).min().unwrap_or(0)
    }

    /// A step, each outcome as likely as any other.
    pub fn draw(&self, rng: &mut Rng) -> &Seen {
        let steps = &self.outcomes[rng.below(self.outcomes.len())].1;
        &steps[rng.below(steps.len())]
    }

    /// All steps.
    pub fn all(&self) -> impl Iterator<Item = &Seen> {
        self.outcomes.iter().flat_map(|(_, steps)| steps)
    }
}
