//! The world, whose steps the ledger counts.

use derrl_env::{Env, Rng, Status, choices};
use derrl_logic::{Alphabet, GroundAction};
use serde::{Deserialize, Serialize};

use super::ledger::{From, Ledger, streams};
use super::limits::{LONGEST_ASTRAY, STOP_EVERY};
use crate::error::Error;
use crate::settings::streams::Purpose;

/// The random streams of an episode.
#[derive(Clone, Debug)]
pub struct Streams {
    /// For the world.
    pub world: Rng,
    /// To break ties.
    pub ties: Rng,
}

/// How an episode went.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Play {
    /// The sum of rewards.
    pub earned: f64,
    /// Whether it reached what the task asks for.
    pub success: bool,
    /// How many steps it took.
    pub steps: u32,
}

/// An instance of a world: which of its sizes, the number of its random streams, and whether it starts with actions at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Instance {
    /// The size.
    pub size: usize,
    /// The number.
    pub number: u64,
    /// Whether the first actions are taken at random: training instances start in few states, and these say how a policy does in others
    /// that it may come to.
    pub astray: bool,
}

impl Instance {
    /// An instance of the first size, from its start.
    pub fn first(number: u64) -> Instance {
        Instance { size: 0, number, astray: false }
    }
}

/// A world by size, what was spent in it, and who may ask to stop.
pub struct World<'a> {
    /// The smallest size first.
    envs: Vec<Box<dyn Env>>,
    /// The size that is played.
    at: usize,
    seed: u64,
    stop: &'a dyn Fn() -> bool,
    /// The steps after which no action is tried any more.
    pub until: u64,
    /// What was spent.
    pub ledger: Ledger,
}

/// Chooses an action in a state of the world, that many steps into the episode.
pub type Turn<'t> = dyn FnMut(&dyn Env, &mut Streams, usize) -> GroundAction + 't;

impl<'a> World<'a> {
    /// A world in which nothing was spent.
    pub fn new(envs: Vec<Box<dyn Env>>, seed: u64, stop: &'a dyn Fn() -> bool) -> World<'a> {
        World { envs, at: 0, seed, stop, until: u64::MAX, ledger: Ledger::default() }
    }

    /// The world of a size, to be explored or trained in. Its steps have to be taken down.
    pub fn of_size(&mut self, size: usize) -> &mut dyn Env {
        self.envs[size].as_mut()
    }

    /// Draws an instance.
    fn draw(&mut self, (from, instance): (From, Instance)) -> Streams {
        let (mut world, ties) = streams(self.seed, from, instance.number);
        self.at = instance.size;
        self.envs[self.at].reset(&mut world);
        Streams { world, ties }
    }

    /// Draws an instance, and takes some actions at random where it starts astray. `None` where these end it.
    pub fn begin(&mut self, which: (From, Instance), alphabet: &Alphabet) -> Result<Option<Streams>, Error> {
        let mut streams = self.draw(which);
        if which.1.astray {
            let mut stray = Purpose::Stray(which.1.number).rng(self.seed);
            for _ in 0..1usize << stray.below(LONGEST_ASTRAY) {
                let env = self.envs[self.at].as_mut();
                let choices = choices(env, alphabet);
                let Some(action) = choices.get(stray.below(choices.len().max(1))) else { return Ok(None) };
                let outcome = env.step(action.action, &action.args, &mut streams.world);
                self.ledger.spend(1);
                if outcome.status != Status::Running {
                    return Ok(None);
                }
            }
        }
        self.check(self.env())?;
        Ok(Some(streams))
    }

    /// An error where the world cannot go on or somebody asks to stop.
    fn check(&self, env: &dyn Env) -> Result<(), Error> {
        match env.fault() {
            Some(fault) => Err(Error::World(fault.clone())),
            None if (self.stop)() => Err(Error::Interrupted),
            None => Ok(()),
        }
    }

    /// Plays an instance. Where the actions at random end it, nothing is earned and nothing failed.
    pub fn episode(
        &mut self,
        which: (From, Instance),
        alphabet: &Alphabet,
        turn: &mut Turn<'_>,
    ) -> Result<Play, Error> {
        match self.begin(which, alphabet)? {
            Some(streams) => self.go_on(streams, &mut Vec::new(), turn),
            None => Ok(Play { earned: 0.0, success: true, steps: 0 }),
        }
    }

    /// Plays an instance from its start, and tells what each step earned.
    pub fn episode_told(
        &mut self,
        which: (From, Instance),
        rewards: &mut Vec<f64>,
        turn: &mut Turn<'_>,
    ) -> Result<Play, Error> {
        let streams = self.draw(which);
        self.check(self.env())?;
        self.go_on(streams, rewards, turn)
    }

    fn go_on(
        &mut self,
        mut streams: Streams,
        rewards: &mut Vec<f64>,
        turn: &mut Turn<'_>,
    ) -> Result<Play, Error> {
        let (mut earned, mut steps) = (0.0, 0);
        for step in 0.. {
            if step % STOP_EVERY == STOP_EVERY - 1 {
                self.check(self.env())?;
            }
            let action = turn(self.env(), &mut streams, step);
            let outcome = self.envs[self.at].step(action.action, &action.args, &mut streams.world);
            self.ledger.spend(1);
            earned += outcome.reward;
            steps += 1;
            rewards.push(outcome.reward);
            if outcome.status != Status::Running {
                break;
            }
        }
        self.check(self.env())?;
        Ok(Play { earned, success: self.env().succeeded(), steps })
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
            None => (self.envs[self.at].as_mut(), &mut self.ledger),
        };
        let mut earned = 0.0;
        for step in 0..steps {
            let action = if step == 0 { first.clone() } else { turn(env, streams, step) };
            let outcome = env.step(action.action, &action.args, &mut streams.world);
            ledger.spend(1);
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
        which: (From, Instance),
        actions: &[(GroundAction, f64)],
    ) -> Result<Option<Streams>, Error> {
        let mut streams = self.draw(which);
        for (action, reward) in actions {
            let outcome = self.envs[self.at].step(action.action, &action.args, &mut streams.world);
            self.ledger.spend(1);
            if outcome.reward != *reward || outcome.status != Status::Running {
                return Ok(None);
            }
        }
        self.check(self.env())?;
        Ok(Some(streams))
    }

    /// The world as it stands.
    pub fn env(&self) -> &dyn Env {
        self.envs[self.at].as_ref()
    }
}
