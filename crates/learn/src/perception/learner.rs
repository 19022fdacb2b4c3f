//! Learns a perception: plays, descends on the laws, and looks at new steps whether they hold.

use std::sync::Arc;

use derrl_env::{Pixels, Rng};
use derrl_logic::{Alphabet, Policy};

use super::frames::{Memory, Player, Seen};
use super::laws;
use super::network::{Descent, Network};
use super::outcome::Brings;
use super::sight::Perception;
use crate::act::actor::Actor;
use crate::error::Error;

/// How long to look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Looking {
    /// Episodes before a perception is learned, and again before it is learned further.
    pub round: usize,
    /// Episodes at the most.
    pub most: usize,
}

impl Default for Looking {
    fn default() -> Looking {
        Looking { round: 1000, most: 6000 }
    }
}

/// Both laws hold in this share of new steps once perception is learned. The scores of rules then lack less than is seen in 200
/// episodes.
const ENOUGH: f64 = 0.995;
/// Of the episodes of a round, one in so many tests what was learned.
const TESTS: usize = 4;
/// Steps of the rarest outcome without which a test says too little.
const TESTED: usize = 25;
/// Oneself is found where this share of steps agrees: networks that start badly find what stands still, or nothing.
const FOUND: f64 = 0.9;
/// Outcomes, and so symbols, at the most: rewards that are all different tell nothing apart.
const MOST_OUTCOMES: usize = 16;
/// How many networks are tried for oneself before more is played.
const STARTS: usize = 6;
/// Steps that choose among them.
const COMPARED: usize = 200;
/// Steps per batch.
const BATCH: usize = 16;
/// Updates that find oneself, and updates of both laws in every round.
const FIRST: usize = 150;
const MORE: usize = 800;
/// The learning rate at first; it falls to a tenth within a round.
const RATE: f32 = 3e-3;
/// The random stream of perception.
const STREAM: u64 = 0x9e7ce;

/// Learns to see from play in an environment: by rules where some are given, else at random. `None` if somebody asked to stop.
pub fn perceive(
    env: &mut dyn Pixels,
    alphabet: &Arc<Alphabet>,
    guide: Option<&Policy>,
    seed: u64,
    looking: Looking,
    stopped: &dyn Fn() -> bool,
) -> Result<Option<Perception>, Error> {
    let mut rng = Rng::new(seed, STREAM);
    env.reset(&mut rng);
    let actions = env.universe().ground_actions(alphabet);
    let guide = guide.map(|policy| Actor::new(policy, alphabet));
    let mut player = Player { actions, guide, sees: false };
    let tests = (looking.round / TESTS).max(1);
    let mut memory = Memory::default();
    let mut under_way: Option<Learned> = None;
    loop {
        memory.play(env, &mut player, looking.round.saturating_sub(tests).max(1), &mut rng)?;
        let brings = memory.brings();
        if brings.len() > MOST_OUTCOMES {
            return Err(Error::Sight(brings.len()));
        }
        // Another outcome is another symbol.
        let known = under_way.take().filter(|l| l.brings == brings);
        let mut now = known.unwrap_or_else(|| Learned::find(&memory, &brings, &mut rng));
        if !now.train(&memory, &mut rng, stopped) {
            return Ok(None);
        }
        let mut fresh = Memory::default();
        fresh.play(env, &mut player, tests, &mut rng)?;
        let (moves, foretells) = now.test(fresh.all());
        let is_tested = fresh.rarest() >= TESTED;
        memory.take(fresh, &mut rng);
        if (is_tested && moves.min(foretells) >= ENOUGH)
            || memory.episodes as usize + looking.round > looking.most
        {
            return Ok(Some(now.perception(&memory, moves, foretells)));
        }
        if player.guide.is_some() {
            env.look_through(Some(Arc::new(now.perception(&memory, moves, foretells))));
            player.sees = true;
        }
        under_way = (moves >= FOUND).then_some(now);
    }
}

/// A network under way.
struct Learned {
    network: Network,
    brings: Vec<Brings>,
}

impl Learned {
    /// Of several random networks that have learned a little, the one that finds oneself best.
    fn find(memory: &Memory, brings: &[Brings], rng: &mut Rng) -> Learned {
        let mut best: Option<(f64, Learned)> = None;
        for _ in 0..STARTS {
            let network = Network::new(brings.len() + 1, rng);
            let mut tried = Learned { network, brings: brings.to_vec() };
            let mut descent = Descent::new(&tried.network, RATE);
            (0..FIRST).for_each(|_| tried.update(memory, false, &mut descent, rng));
            let some: Vec<&Seen> = (0..COMPARED).map(|_| memory.draw(rng)).collect();
            let (moves, _) = tried.test(some.into_iter());
            if best.as_ref().is_none_or(|(most, _)| moves > *most) {
                best = Some((moves, tried));
            }
            if moves >= FOUND {
                break;
            }
        }
        best.expect("at least one start").1
    }

    fn perception(&self, memory: &Memory, moves: f64, foretells: f64) -> Perception {
        let (network, brings) = (self.network.clone(), self.brings.clone());
        Perception { network, brings, moves, foretells, episodes: memory.episodes, steps: memory.steps }
    }

    /// The updates of a round; false if somebody asked to stop.
    fn train(&mut self, memory: &Memory, rng: &mut Rng, stopped: &dyn Fn() -> bool) -> bool {
        let mut descent = Descent::new(&self.network, RATE);
        for i in 0..MORE {
            descent.set_rate(RATE * 0.1f32.powf(i as f32 / MORE as f32));
            self.update(memory, true, &mut descent, rng);
            if stopped() {
                return false;
            }
        }
        true
    }

    fn update(&mut self, memory: &Memory, both: bool, descent: &mut Descent, rng: &mut Rng) {
        for _ in 0..BATCH {
            let seen = memory.draw(rng);
            let brings = if both { self.number(seen) } else { None };
            laws::learn(&self.network, seen, brings, rng, &mut descent.gradient);
        }
        descent.step(&mut self.network);
    }

    /// The number of what a step brought; none where that was not met before.
    fn number(&self, seen: &Seen) -> Option<usize> {
        self.brings.iter().position(|b| *b == seen.brought)
    }

    /// The share of steps that agree with the first law; and with the second, each outcome counted alike.
    fn test<'a>(&self, steps: impl Iterator<Item = &'a Seen>) -> (f64, f64) {
        let mut moves = Share::default();
        let mut foretells = vec![Share::default(); self.brings.len() + 1];
        for seen in steps {
            let brings = self.number(seen).unwrap_or(self.brings.len());
            let (moved, foretold) = laws::agrees(&self.network, seen, brings);
            moves.count(moved);
            foretells[brings].count(foretold);
        }
        let shares: Vec<f64> = foretells.iter().filter_map(Share::share).collect();
        (moves.share().unwrap_or(0.0), shares.iter().sum::<f64>() / shares.len().max(1) as f64)
    }
}

/// How many of some agree.
#[derive(Clone, Default)]
struct Share {
    agree: u32,
    all: u32,
}

impl Share {
    fn count(&mut self, agrees: Option<bool>) {
        self.all += u32::from(agrees.is_some());
        self.agree += u32::from(agrees == Some(true));
    }

    fn share(&self) -> Option<f64> {
        (self.all > 0).then(|| f64::from(self.agree) / f64::from(self.all))
    }
}
