//! Episodes: sample rules, value the actions, act, and remember what the gradient needs.

use derrl_env::{Outcome, Rng};

use crate::experience::counted::Counted;
use crate::experience::episode::{Decision, play};
use crate::experience::rules::{Ranked, Rules, Strength, best_slot};
use crate::experience::states::{RUN, StateId, States};
use crate::language::body::{Body, word_bits};
use crate::language::ids::{Learner, SlotId};
use crate::language::problem::Problem;
use crate::settings::config::{Baseline, Config};
use crate::settings::estimator::{Gradient, Sampling, Value};

/// One decision of an episode.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Where it was taken.
    pub state: StateId,
    /// The ground action taken, by its place in the state's list.
    pub action: u32,
    /// Its derived actions: where their sets start in [`Batch::derived`], and how many there are.
    pub derived: (u32, u32),
    /// pi of each action that no rule derived: 1 over the sum of all e^(F / temperature).
    pub rest: f32,
    /// The sampled bodies of the learner's slots, by their place in [`Batch::bodies`].
    pub bodies: u32,
    /// The agent that acted.
    pub agent: u32,
    /// G_t, the discounted return from here on.
    pub g: f64,
    /// A_t, the return less its baseline.
    pub advantage: f64,
}

impl Decision for Step {
    #[inline]
    fn agent(&self) -> usize {
        self.agent as usize
    }

    #[inline]
    fn g(&mut self) -> &mut f64 {
        &mut self.g
    }
}

/// What acts: rules of a problem, by these settings.
#[derive(Clone, Copy, Debug)]
pub struct Acting<'a> {
    /// What is learned.
    pub problem: &'a Problem,
    /// How.
    pub config: &'a Config,
    /// The generator as it stands.
    pub rules: &'a Rules,
}

/// What the settings say about every turn, looked up once for all of them.
#[derive(Clone, Copy)]
struct Manner {
    sampling: Sampling,
    value: Value,
    /// Whether only the rules sampled last are kept.
    forgets: bool,
    /// Whether there are bodies that may not be proposed.
    restricts: bool,
}

/// Ground actions that a rule derived, and no stronger one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Derived {
    /// The place in the state's list of the action that the lowest bit of `actions` stands for.
    pub first: u32,
    /// The strongest slot that derived them.
    pub slot: SlotId,
    /// The actions, a bit each.
    pub actions: u64,
    /// How many these are.
    pub count: u32,
    /// e^(F / temperature).
    pub weight: f32,
}

impl Derived {
    /// The actions, by their place in the state's list.
    #[inline]
    pub fn places(self) -> impl Iterator<Item = usize> {
        word_bits(self.actions).map(move |bit| self.first as usize + bit)
    }

    /// Whether an action is among them.
    #[inline]
    pub fn contains(&self, place: usize) -> bool {
        place.checked_sub(self.first as usize).is_some_and(|bit| bit < RUN && self.actions >> bit & 1 == 1)
    }
}

/// The episodes of one update, in flat buffers that are reused.
#[derive(Debug, Default)]
pub struct Batch {
    /// All decisions, episode after episode.
    pub steps: Vec<Step>,
    /// Where each episode starts in `steps`.
    pub episodes: Vec<u32>,
    /// The first episode of each group: those of one group start from the same instance.
    groups: Vec<u32>,
    /// The actions derived at each step, in sets without a common action. All others have F = 0.
    pub derived: Vec<Derived>,
    /// Sampled rule vectors: for each sample, the bodies of all slots. The last one only where the gradient is that of the
    /// relaxed F, which does not ask for them.
    pub bodies: Vec<u64>,
    /// Whether all sampled rule vectors are kept, also those that the gradient does not ask for.
    pub keep_bodies: bool,
    /// The undiscounted return of each episode.
    pub returns: Vec<f64>,
    /// What the rules sampled last weigh.
    strength: Strength,
    sampled: Vec<Option<usize>>,
    by_state: Vec<(f64, u32)>,
}

impl Batch {
    /// Runs whole episodes until there are this many decisions, in groups that start from the same instance. Stops
    /// early if the world fails or somebody asks to stop.
    pub fn collect(
        &mut self,
        on: &Acting<'_>,
        decisions: usize,
        states: &mut States,
        env: &mut Counted<'_>,
        rng: &mut Rng,
    ) {
        self.steps.clear();
        self.episodes.clear();
        self.derived.clear();
        self.bodies.clear();
        self.returns.clear();
        self.groups.clear();
        let (sampling, value, gradient) = on.config.estimator.choices();
        let forgets = gradient == Gradient::Relaxed && !self.keep_bodies;
        let manner = Manner { sampling, value, forgets, restricts: on.problem.restricts(on.config) };
        let mut steps = std::mem::take(&mut self.steps);
        while steps.len() < decisions && env.world().fault().is_none() && !env.stopped() {
            if self.returns.len().is_multiple_of(on.config.group) {
                self.groups.push(self.returns.len() as u32);
                env.reset(rng);
            } else {
                env.restart();
            }
            if env.world().fault().is_some() {
                break;
            }
            self.episodes.push(steps.len() as u32);
            self.sampled.clear();
            self.sampled.resize(env.world().learners(), None);
            let agents = env.world().agents();
            let turn = |env: &mut Counted<'_>, rng: &mut Rng| self.turn(on, manner, states, agents, env, rng);
            let earned = play(env, rng, on.config.gamma, &mut steps, turn);
            self.returns.push(earned);
        }
        self.steps = steps;
        self.advantages(on.config, states.len());
    }

    /// Decides in the current state, and acts.
    #[inline]
    fn turn(
        &mut self,
        on: &Acting<'_>,
        manner: Manner,
        states: &mut States,
        agents: usize,
        env: &mut Counted<'_>,
        rng: &mut Rng,
    ) -> Option<(Step, Outcome)> {
        let Acting { problem, config, rules } = *on;
        let Manner { sampling, value, .. } = manner;
        let world = env.world();
        let (agent, learner) = if agents > 1 { (world.turn(), world.learner(world.turn())) } else { (0, 0) };
        let learner = Learner::at(learner);
        let state = states.look_up(problem, world, learner, &|| env.stopped())?;
        let bodies = match (sampling, self.sampled[learner.index()]) {
            (Sampling::Never, _) => 0,
            (Sampling::Episode, Some(at)) => at,
            _ => {
                let at = self.sample(on, manner, learner, rng);
                self.sampled[learner.index()] = Some(at);
                at
            }
        };
        let from = self.derived.len();
        let total = match sampling {
            Sampling::Never => self.value_relaxed(problem, config, rules, states, state),
            _ => self.value_sampled(problem, rules, value, states, state, bodies),
        };
        let actions = states.actions(state);
        if env.stopped_after(actions.len()) {
            return None;
        }
        let action = draw(&self.derived[from..], total, actions.len(), rng);
        let derived = (from as u32, (self.derived.len() - from) as u32);
        let chosen = &actions[action];
        let outcome = env.step(chosen.action, &chosen.args, rng);
        let (action, bodies, agent) = (action as u32, bodies as u32, agent as u32);
        let rest = 1.0 / total;
        Some((Step { state, action, derived, rest, bodies, agent, g: 0.0, advantage: 0.0 }, outcome))
    }

    /// b^i, w^i ~ R_theta(i) for every slot of a learner. Returns where the sample starts in `bodies`; where
    /// the weights matter, what each sampled rule weighs goes to `strength`.
    #[inline]
    fn sample(&mut self, on: &Acting<'_>, manner: Manner, learner: Learner, rng: &mut Rng) -> usize {
        let Acting { problem, config, rules } = *on;
        let words = problem.grounder.words();
        let slots = problem.slots_of_learner(learner);
        if manner.forgets {
            self.bodies.clear(); // not needed any more
        }
        let at = self.bodies.len();
        self.bodies.resize(at + words * slots.count(), 0);
        rules.samplers[learner.index()].draw(rng, &mut self.bodies[at..]);
        if manner.restricts {
            for (k, body) in slots.iter().zip(self.bodies[at..].chunks_exact_mut(words)) {
                problem.legalise(config, k, &rules.distributions[k.index()].p, body);
            }
        }
        if manner.value == Value::Weighted {
            self.strength.rank(problem, learner, |k| {
                let from = at + slots.place_of(k) * words;
                let d = &rules.distributions[k.index()];
                let f = d.confidence * body_value(config, &d.p, &self.bodies[from..from + words]);
                (f / config.temperature).exp() as f32
            });
        }
        at
    }

    /// F of every ground action under the sampled bodies: appends the derived actions and returns the sum of
    /// e^(F / temperature) over all.
    #[inline]
    fn value_sampled(
        &mut self,
        problem: &Problem,
        rules: &Rules,
        value: Value,
        states: &States,
        state: StateId,
        bodies: usize,
    ) -> f32 {
        let words = problem.grounder.words();
        let crisp = &rules.crisp[states.learner(state).index()];
        let Strength(ranked) = if value == Value::Crisp { crisp } else { &self.strength };
        let mut total = states.actions(state).len() as f32;
        let meeting = states.meeting(state);
        let sampled = &self.bodies[bodies..];
        let (mut run, mut taken) = (0, 0);
        for chances in meeting.chances.chunks(RUN) {
            // Most bodies have an atom that holds for none of the actions, and some are empty. All are tried without a
            // branch, as which of them fail cannot be foreseen, and a wrong guess costs more time than a look.
            let mut able = 0;
            for (bit, chance) in chances.iter().enumerate() {
                let body = sampled[ranked[chance.rank as usize].body as usize];
                able |= (meeting.may_derive(chance, body) & u64::from(body != 0 || words > 1)) << bit;
            }
            for bit in word_bits(able) {
                let chance = &chances[bit];
                let Ranked { slot, body, weight } = ranked[chance.rank as usize];
                if chance.run != run {
                    (run, taken) = (chance.run, 0);
                }
                let from = body as usize;
                let actions = meeting.derived(chance, &sampled[from..from + words]) & !taken;
                if actions != 0 && weight > 1.0 {
                    let count = actions.count_ones();
                    total += count as f32 * (weight - 1.0);
                    self.derived.push(Derived { first: chance.first, slot, actions, count, weight });
                    taken |= actions;
                }
            }
        }
        total
    }

    /// F of every ground action by relaxation: all are derived, to some degree. Returns the same sum.
    fn value_relaxed(
        &mut self,
        problem: &Problem,
        config: &Config,
        rules: &Rules,
        states: &States,
        state: StateId,
    ) -> f32 {
        let grounding = states.grounding(state);
        let learner = states.learner(state);
        let mut total = 0.0;
        for (a, action) in states.actions(state).iter().enumerate() {
            let (slot, f) = best_slot(problem, rules, learner, action.action, grounding.flat(a));
            let weight = (f / config.temperature).exp() as f32;
            total += weight;
            self.derived.push(Derived { first: a as u32, slot, actions: 1, count: 1, weight });
        }
        total
    }

    /// The actions derived at a step.
    #[inline]
    pub fn derived(&self, step: &Step) -> &[Derived] {
        &self.derived[step.derived.0 as usize..(step.derived.0 + step.derived.1) as usize]
    }

    /// A_t = G_t - baseline. The mean return of the *other* visits to the same state in this batch is the baseline where
    /// there are any, so that a step is never compared with itself; else that of its group.
    fn advantages(&mut self, config: &Config, states: usize) {
        self.by_state.clear();
        if config.baseline == Baseline::State {
            self.by_state.resize(states, (0.0, 0));
            for step in &self.steps {
                let (sum, count) = &mut self.by_state[step.state.0 as usize];
                *sum += step.g;
                *count += 1;
            }
        }
        for (i, &first) in self.groups.iter().enumerate() {
            let last = self.groups.get(i + 1).map_or(self.episodes.len(), |&g| g as usize);
            let episodes = &self.episodes[first as usize..last];
            let (Some(&start), count) = (episodes.first(), episodes.len() as f64) else { continue };
            if start as usize == self.steps.len() {
                continue; // stopped before its first step
            }
            let end = self.episodes.get(last).map_or(self.steps.len(), |&e| e as usize);
            let mean = episodes.iter().map(|&s| self.steps[s as usize].g).sum::<f64>() / count;
            for step in &mut self.steps[start as usize..end] {
                let baseline = match config.baseline {
                    Baseline::None => 0.0,
                    Baseline::Group => mean,
                    Baseline::State => match self.by_state[step.state.0 as usize] {
                        (sum, n) if n > 1 => (sum - step.g) / f64::from(n - 1),
                        _ => mean,
                    },
                };
                step.advantage = step.g - baseline;
            }
        }
    }
}

/// An action drawn from pi: the derived ones weigh what they weigh, each of the others 1, and all together `total`.
#[inline]
fn draw(derived: &[Derived], total: f32, actions: usize, rng: &mut Rng) -> usize {
    let mut u = rng.unit() as f32 * total;
    let mut others = actions;
    for d in derived {
        let count = d.count as usize;
        let all = count as f32 * d.weight;
        if u < all {
            let nth = if count > 1 { ((u / d.weight) as usize).min(count - 1) } else { 0 };
            return d.places().nth(nth).unwrap_or(0);
        }
        u -= all;
        others -= count;
    }
    if others == 0 {
        // Rounding left a crumb.
        return derived.last().and_then(|d| d.places().last()).unwrap_or(0);
    }
    let nth = (u as usize).min(others - 1);
    if derived.is_empty() {
        return nth;
    }
    (0..actions).filter(|&a| !derived.iter().any(|d| d.contains(a))).nth(nth).unwrap_or(0)
}

/// T(w, 1): the value of a rule whose body holds.
fn body_value(config: &Config, p: &[f64], body: &[u64]) -> f64 {
    let w: Vec<f64> = Body(body).atoms().map(|j| p[j]).collect();
    config.tnorm.value(&vec![1.0; w.len()], &w)
}
