//! Instances walked in all directions: what every action leads to in every state.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use derrl_env::{Env, Outcome, Rng, Scene, Status, choices, observe};
use derrl_logic::{Alphabet, Facts, GroundAction, Universe};
use rustc_hash::{FxHashMap, FxHasher};

use crate::error::Error;

/// How far an instance is walked.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// States of an instance, at the most: one that has more is left aside.
    pub states: usize,
    /// Steps that an instance may take.
    pub steps: u64,
}

/// What came of an action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// The state that followed; none where the episode ended.
    pub next: Option<usize>,
    /// The reward.
    pub reward: f64,
    /// Whether the episode ended with what the task asks for.
    pub success: bool,
    /// How often.
    pub count: f64,
    /// Whether the horizon cut the episode off there: what is paid then depends on the time.
    cut: bool,
}

impl Seen {
    fn is(&self, other: &Seen) -> bool {
        (self.next, self.success) == (other.next, other.success) && (self.reward - other.reward).abs() < 1e-9
    }
}

/// A state that was met.
#[derive(Debug)]
pub struct State {
    /// The instance.
    pub instance: usize,
    /// What the world reports, and what follows from it.
    pub facts: Facts,
    /// Equal for states of which the world reports the same, whatever their instances.
    pub sight: u64,
    /// The objects.
    pub universe: Arc<Universe>,
    /// What may be done.
    pub actions: Vec<GroundAction>,
    /// What came of each action.
    pub seen: Vec<Vec<Seen>>,
    /// The state and the action that led here first; none for a start.
    pub from: Option<(usize, usize)>,
    /// What it looks like.
    pub scene: Scene,
}

/// An action whose outcome depends on what came before, although the world reports the same.
#[derive(Clone, Copy, Debug)]
pub struct Hidden {
    /// The state.
    pub state: usize,
    /// The action.
    pub action: usize,
}

/// All that was seen.
#[derive(Debug)]
pub struct Survey {
    alphabet: Arc<Alphabet>,
    /// The states, in the order in which they were met.
    pub states: Vec<State>,
    /// The state that each instance starts in.
    pub starts: Vec<usize>,
    /// Whether all states of an instance are known, and all actions in them.
    pub is_whole: Vec<bool>,
    /// Whether some action has several outcomes by chance.
    pub by_chance: bool,
    /// Where an outcome depends on what came before.
    pub hidden: Option<Hidden>,
    /// Actions taken.
    pub steps: u64,
}

/// How often an action is tried where chance plays a part.
const TRIES_BY_CHANCE: f64 = 12.0;
/// How often a way is taken again to see whether its outcome is by chance: one that comes nine times in ten is not taken for certain.
const REPEATS: u64 = 48;

impl Survey {
    /// Nothing seen yet. `alphabet` is that of the environments.
    pub fn new(alphabet: &Arc<Alphabet>) -> Survey {
        Survey {
            alphabet: Arc::clone(alphabet),
            states: Vec::new(),
            starts: Vec::new(),
            is_whole: Vec::new(),
            by_chance: false,
            hidden: None,
            steps: 0,
        }
    }

    /// Walks the instance that these random numbers draw.
    pub fn walk(
        &mut self,
        env: &mut dyn Env,
        mut rng: Rng,
        limits: Limits,
        stop: &dyn Fn() -> bool,
    ) -> Result<(), Error> {
        env.reset(&mut rng);
        let mut walk =
            Walk { instance: self.starts.len(), index: FxHashMap::default(), first: self.states.len() };
        let first = walk.first;
        let start = self.meet(&mut walk, env, None);
        self.starts.push(start);
        self.is_whole.push(false);
        let until = self.steps + limits.steps;
        let mut is_fresh = true;
        loop {
            if !is_fresh {
                env.restart();
            }
            is_fresh = false;
            let mut at = start;
            let mut way: Vec<(usize, usize)> = Vec::new();
            let mut route: VecDeque<usize> = VecDeque::new();
            loop {
                if let Some(fault) = env.fault() {
                    return Err(Error::World(fault.clone()));
                }
                if self.states.len() - first > limits.states || self.steps > until || stop() {
                    return Ok(());
                }
                let action = if let Some(action) = self.untried(at) {
                    route.clear();
                    action
                } else {
                    if route.is_empty() {
                        route = self.route(at);
                    }
                    let Some(action) = route.pop_front() else { break };
                    action
                };
                way.push((at, action));
                let (next, goes_on) = self.step(&mut walk, env, at, action, &mut rng);
                if self.is_surprise(at, action) && !self.by_chance && self.hidden.is_none() {
                    self.find_reason(&mut walk, env, &way, &rng);
                    break;
                }
                match next.filter(|_| goes_on) {
                    Some(next) => at = next,
                    None => break,
                }
            }
            if way.is_empty() {
                // Nothing is left to try from the start.
                self.is_whole[walk.instance] = true;
                return Ok(());
            }
        }
    }

    /// Acts, and notes what came of it: the next state, and whether the episode goes on.
    fn step(
        &mut self,
        walk: &mut Walk,
        env: &mut dyn Env,
        at: usize,
        action: usize,
        rng: &mut Rng,
    ) -> (Option<usize>, bool) {
        let taken = self.states[at].actions[action].clone();
        let Outcome { reward, status } = env.step(taken.action, &taken.args, rng);
        self.steps += 1;
        // A horizon is no end: the state beyond it follows.
        let next = (status != Status::Terminated).then(|| self.meet(walk, env, Some((at, action))));
        let success = next.is_none() && env.succeeded();
        let seen = Seen { next, reward, success, count: 1.0, cut: status == Status::Truncated };
        let all = &mut self.states[at].seen[action];
        if !seen.cut {
            all.retain(|s| !s.cut);
        }
        let is_new = all.is_empty();
        match all.iter_mut().find(|s| s.is(&seen)) {
            Some(known) => known.count += 1.0,
            None if seen.cut && !is_new => {}
            None => all.push(seen),
        }
        (next, status == Status::Running)
    }

    fn is_surprise(&self, at: usize, action: usize) -> bool {
        self.states[at].seen[action].len() > 1
    }

    /// Whether it is chance, or what came before, that an action has another outcome than it had.
    fn find_reason(&mut self, walk: &mut Walk, env: &mut dyn Env, way: &[(usize, usize)], rng: &Rng) {
        let mut ends = Vec::new();
        for repeat in 0..REPEATS {
            let mut chance = Rng::new(repeat, u64::from(rng.clone().bits() as u32));
            env.restart();
            let mut last = None;
            for &(at, action) in way {
                let taken = self.states[at].actions[action].clone();
                let Outcome { reward, status } = env.step(taken.action, &taken.args, &mut chance);
                self.steps += 1;
                let next = (status != Status::Terminated).then(|| self.meet(walk, env, Some((at, action))));
                last = Some(Seen {
                    next,
                    reward,
                    success: next.is_none() && env.succeeded(),
                    count: 1.0,
                    cut: false,
                });
                if status != Status::Running {
                    break;
                }
            }
            ends.extend(last);
        }
        // The same way always leads to what has just surprised.
        let surprise = way.last().and_then(|&(at, action)| self.states[at].seen[action].last().copied());
        if surprise.is_some_and(|surprise| ends.iter().all(|end| end.is(&surprise))) {
            self.hidden = way.last().map(|&(state, action)| Hidden { state, action });
        } else {
            self.by_chance = true;
        }
    }

    /// An action that was not tried enough.
    fn untried(&self, at: usize) -> Option<usize> {
        let enough = |seen: &[Seen]| {
            let tries: f64 = seen.iter().map(|s| s.count).sum();
            tries >= if self.by_chance { TRIES_BY_CHANCE } else { 1.0 }
        };
        self.states[at].seen.iter().position(|seen| !enough(seen))
    }

    /// The actions on a shortest way to a state in which something is left to try.
    fn route(&self, from: usize) -> VecDeque<usize> {
        let mut before: FxHashMap<usize, (usize, usize)> = FxHashMap::default();
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            if at != from && self.untried(at).is_some() {
                let mut route = VecDeque::new();
                let mut state = at;
                while state != from {
                    let (earlier, action) = before[&state];
                    route.push_front(action);
                    state = earlier;
                }
                return route;
            }
            for (action, seen) in self.states[at].seen.iter().enumerate() {
                for next in seen.iter().filter_map(|s| s.next) {
                    if next != from && !before.contains_key(&next) {
                        before.insert(next, (at, action));
                        queue.push_back(next);
                    }
                }
            }
        }
        VecDeque::new()
    }

    /// The current state by its number.
    fn meet(&mut self, walk: &mut Walk, env: &dyn Env, from: Option<(usize, usize)>) -> usize {
        let mut facts = Facts::new(&self.alphabet);
        observe(env, &mut facts);
        let universe = env.universe();
        let sight = sight(&facts, universe);
        *walk.index.entry((sight, env.code())).or_insert_with(|| {
            let actions = choices(env, &self.alphabet);
            self.states.push(State {
                instance: walk.instance,
                facts,
                sight,
                universe: Arc::clone(universe),
                seen: vec![Vec::new(); actions.len()],
                actions,
                from,
                scene: env.scene(),
            });
            self.states.len() - 1
        })
    }

    /// The states of instances that are known as a whole.
    pub fn known(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.states.len()).filter(|&s| self.is_whole[self.states[s].instance])
    }

    /// The states that led to a state, from a start.
    pub fn way_to(&self, state: usize) -> Vec<usize> {
        let mut way = vec![state];
        while let Some((earlier, _)) = self.states[way[way.len() - 1]].from
            && way.len() <= self.states.len()
        {
            way.push(earlier);
        }
        way.reverse();
        way
    }
}

/// The walk through an instance.
struct Walk {
    instance: usize,
    first: usize,
    index: FxHashMap<(u64, Option<u128>), usize>,
}

/// A hash of all that a world reports of a state.
fn sight(facts: &Facts, universe: &Universe) -> u64 {
    let mut hasher = FxHasher::default();
    universe.hash(&mut hasher);
    for fact in facts.iter() {
        fact.hash(&mut hasher);
    }
    for (measure, args, value) in facts.all_numbers() {
        (measure, args, value.to_bits()).hash(&mut hasher);
    }
    hasher.finish()
}
