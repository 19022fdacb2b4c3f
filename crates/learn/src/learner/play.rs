//! The world, whose steps the ledger counts.

use derrl_env::{Env, Rng, Status};
use derrl_logic::GroundAction;

use super::ledger::{From, Ledger, Part, streams};
use crate::error::Error;

/// The random streams of an episode.
#[derive(Clone, Debug)]
pub struct Streams {
    /// For the world.
    pub world: Rng,
    /// To break ties.
    pub ties: Rng,
}

/// How an episode went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Went {
    /// The sum of rewards.
    pub earned: f64,
    /// Whether it reached what the task asks for.
    pub success: bool,
}

/// A world, what was spent in it, and who may ask to stop.
pub struct World<'a> {
    env: Box<dyn Env>,
    seed: u64,
    stop: &'a dyn Fn() -> bool,
    /// What was spent.
    pub ledger: Ledger,
}

/// Chooses an action in a state of the world, that many steps into the episode.
pub type Turn<'t> = dyn FnMut(&dyn Env, &mut Streams, usize) -> GroundAction + 't;

/// Steps between two questions whether to stop.
const STOP_EVERY: usize = 64;

impl<'a> World<'a> {
    /// A world in which nothing was spent.
    pub fn new(env: Box<dyn Env>, seed: u64, stop: &'a dyn Fn() -> bool) -> World<'a> {
        World { env, seed, stop, ledger: Ledger::default() }
    }

    /// Draws the instance of that number.
    fn draw(&mut self, (from, number): (From, u64)) -> Streams {
        let (mut world, ties) = streams(self.seed, from, number);
        self.env.reset(&mut world);
        Streams { world, ties }
    }

    /// An error where the world cannot go on or somebody asks to stop.
    fn check(&self, env: &dyn Env) -> Result<(), Error> {
        match env.fault() {
            Some(fault) => Err(Error::World(fault.clone())),
            None if (self.stop)() => Err(Error::Interrupted),
            None => Ok(()),
        }
    }

    /// Plays the episode of that number.
    pub fn episode(&mut self, which: (From, u64), part: Part, turn: &mut Turn<'_>) -> Result<Went, Error> {
        self.episode_told(which, part, &mut Vec::new(), turn)
    }

    /// The same, and tells what each step earned.
    pub fn episode_told(
        &mut self,
        which: (From, u64),
        part: Part,
        rewards: &mut Vec<f64>,
        turn: &mut Turn<'_>,
    ) -> Result<Went, Error> {
        let mut streams = self.draw(which);
        let mut earned = 0.0;
        self.check(self.env.as_ref())?;
        for step in 0.. {
            if step % STOP_EVERY == STOP_EVERY - 1 {
                self.check(self.env.as_ref())?;
            }
            let action = turn(self.env.as_ref(), &mut streams, step);
            let outcome = self.env.step(action.action, &action.args, &mut streams.world);
            self.ledger.spend(part, 1);
            earned += outcome.reward;
            rewards.push(outcome.reward);
            if outcome.status != Status::Running {
                break;
            }
        }
        self.check(self.env.as_ref())?;
        Ok(Went { earned, success: self.env.succeeded() })
    }

    /// Takes `first` in a state of the world (a copy, or the world itself after a replay), goes on as `turn` says for so many steps in all, and
    /// says what they earned.
    pub fn attempt(
        &mut self,
        env: Option<&mut dyn Env>,
        streams: &mut Streams,
        first: &GroundAction,
        steps: usize,
        turn: &mut Turn<'_>,
    ) -> Result<f64, Error> {
        let (env, ledger): (&mut dyn Env, &mut Ledger) = match env {
            Some(env) => (env, &mut self.ledger),
            None => (self.env.as_mut(), &mut self.ledger),
        };
        let mut earned = 0.0;
        for step in 0..steps {
            let action = if step == 0 { first.clone() } else { turn(env, streams, step) };
            let outcome = env.step(action.action, &action.args, &mut streams.world);
            ledger.spend(Part::Trying, 1);
            earned += outcome.reward;
            if outcome.status != Status::Running {
                break;
            }
        }
        match env.fault() {
            Some(fault) => Err(Error::World(fault.clone())),
            None if (self.stop)() => Err(Error::Interrupted),
            None => Ok(earned),
        }
    }

    /// Plays the same actions again in the instance of that number. `None` where they do not bring the same rewards: then the world cannot be
    /// replayed.
    pub fn replay(
        &mut self,
        which: (From, u64),
        actions: &[(GroundAction, f64)],
    ) -> Result<Option<Streams>, Error> {
        let mut streams = self.draw(which);
        for (action, reward) in actions {
            let outcome = self.env.step(action.action, &action.args, &mut streams.world);
            self.ledger.spend(Part::Trying, 1);
            if outcome.reward != *reward || outcome.status != Status::Running {
                return Ok(None);
            }
        }
        self.check(self.env.as_ref())?;
        Ok(Some(streams))
    }

    /// The world as it stands.
    pub fn env(&self) -> &dyn Env {
        self.env.as_ref()
    }
}
