//! Exploring training instances: actions tried least first, and the ways of a policy.

use std::collections::VecDeque;

use derrl_env::{Env, Rng};
use derrl_logic::GroundAction;
use rustc_hash::FxHashMap;

use super::{Place, Table};
use crate::act::actor::Actor;
use crate::error::Error;
use crate::limits::{
    ANY_ACTION, FOLLOWED, LEAVES, LONGEST_ASTRAY, PROBES, QUIET_EPISODES, SIGHT, TRIES_BY_CHANCE,
};

/// How much may be explored.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Instances drawn.
    pub instances: usize,
    /// Environment steps per instance, at the most, where no policy is followed.
    pub steps: u64,
    /// Of these, the steps of walks in all directions, at the most. Those left are for what lies beside the ways of the policy.
    pub walks: u64,
    /// Steps in the table, those of earlier explorations included, after which no episode begins.
    pub until: u64,
}

/// Explores instances of `env` and notes what comes of actions. Episodes alternate between walks that try what was tried
/// least where they are, and ways to the nearest action that was not tried enough. Then the policy is followed, where
/// there is one.
pub fn explore(
    table: &mut Table,
    env: &mut dyn Env,
    mut policy: Option<&mut Actor<'_>>,
    extent: Extent,
    rng: &mut Rng,
    stop: &dyn Fn() -> bool,
) -> Result<(), Error> {
    for _ in 0..extent.instances {
        if stop() || table.is_full() || table.steps >= extent.until {
            break;
        }
        env.reset(rng);
        let from = table.steps;
        let mut quiet = 0;
        let mut episode = 0;
        let walks = extent.until.min(from + extent.walks);
        while quiet < QUIET_EPISODES && table.steps < walks && !table.is_full() {
            if episode > 0 {
                env.restart();
            }
            let mut walk = Walk { table, route: VecDeque::new(), directed: episode % 2 == 1, news: false };
            walk.run(env, rng)?;
            quiet = if walk.news { 0 } else { quiet + 1 };
            episode += 1;
        }
        if let Some(actor) = policy.as_deref_mut() {
            for episode in 0_usize.. {
                let probes = episode.saturating_sub(FOLLOWED);
                let spent = table.steps - from >= extent.steps;
                let enough = probes >= PROBES && (extent.walks == extent.steps || spent);
                if enough || table.steps >= extent.until || table.is_full() || stop() {
                    break;
                }
                env.restart();
                let probe = episode >= FOLLOWED;
                let stray = if probe && episode % 2 == 1 { 1 << rng.below(LONGEST_ASTRAY) } else { 0 };
                follow(table, env, actor, Follow { probe, stray }, rng)?;
            }
        }
    }
    Ok(())
}

/// How closely an episode follows the policy.
#[derive(Clone, Copy, Debug)]
pub struct Follow {
    /// Whether it leaves the policy once, for an action that was never tried.
    pub probe: bool,
    /// How many actions at random come first.
    pub stray: usize,
}

/// Runs an episode by the policy.
pub fn follow(
    table: &mut Table,
    env: &mut dyn Env,
    actor: &mut Actor<'_>,
    Follow { probe, mut stray }: Follow,
    rng: &mut Rng,
) -> Result<(), Error> {
    let mut at = Some(table.at(env));
    let mut left = !probe;
    while let Some(place) = at.filter(|_| !table.is_full()) {
        if !probe {
            table.visit(place);
        }
        let state = table.state(place);
        let untried: Vec<usize> = (0..state.actions.len()).filter(|&a| state.seen[a].is_empty()).collect();
        let action = if stray > 0 && !state.actions.is_empty() {
            stray -= 1;
            Some(rng.below(state.actions.len()))
        } else if !left && !untried.is_empty() && rng.unit() < LEAVES {
            left = true;
            Some(untried[rng.below(untried.len())])
        } else {
            let chosen = actor.act(env, rng);
            state.actions.iter().position(|a| *a == chosen)
        };
        let Some(action) = action else { break };
        let ground = state.actions[action].clone();
        at = step(table, env, place, action, &ground, rng)?;
    }
    Ok(())
}

fn step(
    table: &mut Table,
    env: &mut dyn Env,
    at: Place,
    action: usize,
    ground: &GroundAction,
    rng: &mut Rng,
) -> Result<Option<Place>, Error> {
    let outcome = env.step(ground.action, &ground.args, rng);
    match env.fault() {
        Some(fault) => Err(Error::World(fault.clone())),
        None => Ok(table.note(at, action, outcome, env)),
    }
}

/// One episode of exploration.
struct Walk<'a> {
    table: &'a mut Table,
    /// States to pass through, with the action to take in each.
    route: VecDeque<(Place, usize)>,
    /// Whether it heads for what is unknown; else it tries what was tried least.
    directed: bool,
    /// Whether it met an action that was not known.
    news: bool,
}

impl Walk<'_> {
    fn run(&mut self, env: &mut dyn Env, rng: &mut Rng) -> Result<(), Error> {
        let mut at = Some(self.table.at(env));
        while let Some(place) = at {
            if self.table.state(place).actions.is_empty() || self.table.is_full() {
                break;
            }
            let Some(action) = self.choose(place, rng) else { break };
            let ground = self.table.state(place).actions[action].clone();
            at = step(self.table, env, place, action, &ground, rng)?;
        }
        Ok(())
    }

    /// The next action; `None` where nothing unknown can be reached.
    fn choose(&mut self, at: Place, rng: &mut Rng) -> Option<usize> {
        let enough = self.enough();
        let state = self.table.state(at);
        let n = state.actions.len();
        let least = (0..n).map(|a| state.tries(a)).fold(f64::INFINITY, f64::min);
        let unknown = least < enough;
        self.news |= unknown;
        if !unknown && self.directed {
            if self.route.front().is_none_or(|(place, _)| *place != at) {
                self.route = self.way_to_news(at)?;
            }
            return self.route.pop_front().map(|(_, action)| action);
        }
        if !self.directed && rng.unit() < ANY_ACTION {
            return Some(rng.below(n));
        }
        let ties: Vec<usize> = (0..n).filter(|&a| state.tries(a) == least).collect();
        Some(ties[rng.below(ties.len())])
    }

    fn enough(&self) -> f64 {
        if self.table.by_chance { TRIES_BY_CHANCE } else { 1.0 }
    }

    /// A shortest way, over what was seen, to a state with an action that is not known.
    fn way_to_news(&self, from: Place) -> Option<VecDeque<(Place, usize)>> {
        let enough = self.enough();
        let mut came: FxHashMap<Place, (Place, usize)> = FxHashMap::default();
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            let state = self.table.state(at);
            if at != from && (0..state.actions.len()).any(|a| state.tries(a) < enough) {
                let mut route = VecDeque::new();
                let mut to = at;
                while let Some(&(before, action)) = came.get(&to).filter(|_| to != from) {
                    route.push_front((before, action));
                    to = before;
                }
                return Some(route);
            }
            if came.len() > SIGHT {
                break;
            }
            for (action, seen) in state.seen.iter().enumerate() {
                for next in seen.iter().filter_map(|s| s.next) {
                    if next != from && !came.contains_key(&next) {
                        came.insert(next, (at, action));
                        queue.push_back(next);
                    }
                }
            }
        }
        None
    }
}
