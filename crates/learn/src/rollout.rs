//! Episodes: sample rules, value the actions, act, and remember what the gradient needs.

use derrl_env::{Env, Rng, Status};
use derrl_logic::{Action, subset};

use crate::config::{Baseline, Config};
use crate::estimator::{Sampling, Value};
use crate::generator::{RuleDistribution, Sampler};
use crate::problem::Problem;
use crate::relaxed::{Relaxation, best_slot};
use crate::states::{RUN, StateId, States};

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

/// Ground actions that a rule derived, and no stronger one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Derived {
    /// The place in the state's list of the action that the lowest bit of `actions` stands for.
    pub first: u32,
    /// The strongest slot that derived them.
    pub slot: u32,
    /// The actions, a bit each.
    pub actions: u64,
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
    /// Sampled rule vectors: for each sample, the bodies of all slots.
    pub bodies: Vec<u64>,
    /// The undiscounted return of each episode.
    pub returns: Vec<f64>,
    exps: Vec<f32>,
    able: Vec<u32>,
    g: Vec<f64>,
    sampled: Vec<Option<usize>>,
    by_state: Vec<(f64, u32)>,
}

/// The current generator as the rollouts use it.
#[derive(Debug, Default)]
pub struct Rules {
    /// Per slot, what R_theta says.
    pub distributions: Vec<RuleDistribution>,
    /// Draws the bodies of all slots of a learner at once.
    samplers: Vec<Sampler>,
    /// Per slot, log(1 - P_j) and its sums, for the relaxed F.
    pub relaxations: Vec<Relaxation>,
    /// Per slot, e^(confidence / temperature): what a crisp rule that fires weighs.
    crisp: Vec<f32>,
}

impl Rules {
    /// Prepares sampling and relaxation of these distributions.
    pub fn prepare(&mut self, distributions: Vec<RuleDistribution>, problem: &Problem, temperature: f64) {
        self.crisp.clear();
        self.crisp.extend(distributions.iter().map(|d| (d.confidence / temperature).exp() as f32));
        self.samplers.resize_with(problem.learners(), Sampler::default);
        for (learner, sampler) in self.samplers.iter_mut().enumerate() {
            let slots = &distributions[problem.slots_of_learner(learner)];
            sampler.prepare(slots.iter().map(|d| d.p.as_slice()), problem.grounder.words());
        }
        self.relaxations.resize_with(distributions.len(), Relaxation::default);
        for (relaxation, d) in self.relaxations.iter_mut().zip(&distributions) {
            relaxation.prepare(&d.p);
        }
        self.distributions = distributions;
    }
}

impl Batch {
    /// Runs whole episodes until there are `config.batch` decisions, in groups that start from the same instance. Stops
    /// early if the world fails.
    pub fn collect(
        &mut self,
        problem: &Problem,
        config: &Config,
        rules: &Rules,
        states: &mut States,
        env: &mut dyn Env,
        rng: &mut Rng,
    ) {
        self.steps.clear();
        self.episodes.clear();
        self.derived.clear();
        self.bodies.clear();
        self.returns.clear();
        self.groups.clear();
        while self.steps.len() < config.batch && env.fault().is_none() {
            if self.returns.len().is_multiple_of(config.group) {
                self.groups.push(self.returns.len() as u32);
                env.reset(rng);
            } else {
                env.restart();
            }
            self.episode(problem, config, rules, states, env, rng);
        }
        self.advantages(config, states.len());
    }

    fn episode(
        &mut self,
        problem: &Problem,
        config: &Config,
        rules: &Rules,
        states: &mut States,
        env: &mut dyn Env,
        rng: &mut Rng,
    ) {
        let (sampling, value, _) = config.estimator.choices();
        let from = self.steps.len();
        let agents = env.agents();
        self.episodes.push(from as u32);
        self.sampled.clear();
        self.sampled.resize(env.learners(), None);
        let mut total = 0.0;
        loop {
            let (agent, learner) = if agents > 1 { (env.turn(), env.learner(env.turn())) } else { (0, 0) };
            let state = states.look_up(problem, env, learner);
            let bodies = match (sampling, self.sampled[learner]) {
                (Sampling::Never, _) => 0,
                (Sampling::Episode, Some(at)) => at,
                _ => {
                    let at = self.sample(problem, config, rules, value, learner, rng);
                    self.sampled[learner] = Some(at);
                    at
                }
            };
            let from = self.derived.len();
            let rest = match sampling {
                Sampling::Never => self.value_relaxed(problem, config, rules, states, state),
                _ => self.value_sampled(problem, rules, value, states, state, bodies),
            };
            let action = draw(&self.derived[from..], rest, states.actions(state).len(), rng);
            let derived = (from as u32, (self.derived.len() - from) as u32);
            let chosen = &states.actions(state)[action];
            let outcome = env.step(chosen.action, &chosen.args, rng);
            total += outcome.reward;
            let (action, bodies, agent) = (action as u32, bodies as u32, agent as u32);
            self.steps.push(Step {
                state,
                action,
                derived,
                rest,
                bodies,
                agent,
                g: outcome.reward,
                advantage: 0.0,
            });
            if agents > 1 {
                self.pay(env.round_rewards());
            }
            if outcome.status != Status::Running {
                break;
            }
        }
        // G_t = r_t + gamma G_{t+1}, for each agent by itself
        self.g.clear();
        self.g.resize(agents, 0.0);
        for step in self.steps[from..].iter_mut().rev() {
            let g = &mut self.g[step.agent as usize];
            *g = step.g + config.gamma * *g;
            step.g = *g;
        }
        self.returns.push(total);
    }

    /// Gives each agent what it earned in the round that its last step, and those of the others, completed.
    fn pay(&mut self, rewards: &[f64]) {
        let round = self.steps.len().saturating_sub(rewards.len());
        for step in &mut self.steps[round..] {
            step.g = rewards.get(step.agent as usize).copied().unwrap_or(0.0);
        }
    }

    /// b^i, w^i ~ R_theta(i) for every slot of a learner. Returns where the sample starts in `bodies`; where
    /// the weights matter, e^(F / temperature) of each sampled rule, should its body hold, goes to `exps`.
    #[inline]
    fn sample(
        &mut self,
        problem: &Problem,
        config: &Config,
        rules: &Rules,
        value: Value,
        learner: usize,
        rng: &mut Rng,
    ) -> usize {
        let words = problem.grounder.words();
        let slots = problem.slots_of_learner(learner);
        let at = self.bodies.len();
        self.bodies.resize(at + words * slots.len(), 0);
        self.exps.resize(rules.distributions.len(), 1.0);
        rules.samplers[learner].draw(rng, &mut self.bodies[at..]);
        for (i, k) in slots.enumerate() {
            let body = &mut self.bodies[at + i * words..at + (i + 1) * words];
            let d = &rules.distributions[k];
            problem.legalise(config, k, &d.p, body);
            if value == Value::Weighted {
                let f = d.confidence * body_value(config, &d.p, body);
                self.exps[k] = (f / config.temperature).exp() as f32;
            }
        }
        at
    }

    /// F of every ground action under the sampled bodies: appends the derived actions and returns pi of the others.
    #[inline]
    fn value_sampled(
        &mut self,
        problem: &Problem,
        rules: &Rules,
        value: Value,
        states: &mut States,
        state: StateId,
        bodies: usize,
    ) -> f32 {
        let words = problem.grounder.words();
        let learner = states.learner(state);
        let base = problem.slots_of_learner(learner).start;
        let exps: &[f32] = if value == Value::Crisp { &rules.crisp } else { &self.exps };
        let mut total = states.actions(state).len() as f32;
        for p in 0..problem.alphabet.actions.len() {
            // Most bodies hold for no action at all: one comparison with all atoms that hold anywhere tells.
            let reach = states.reach(state, p);
            self.able.clear();
            for k in problem.slots_of(learner, Action(p as u32)) {
                let at = bodies + (k - base) * words;
                let body = &self.bodies[at..at + words];
                if exps[k] > 1.0 && body.iter().any(|&b| b != 0) && subset(body, reach) {
                    self.able.push(k as u32);
                }
            }
            if self.able.is_empty() {
                continue;
            }
            // The strongest first: an action is the first one's that derives it.
            self.able.sort_by(|&i, &j| exps[j as usize].total_cmp(&exps[i as usize]));
            let mut runs = states.runs(state, p);
            while !runs.is_over() {
                let mut taken = 0;
                for &k in &self.able {
                    let at = bodies + (k as usize - base) * words;
                    let actions = states.derived(state, &runs, &self.bodies[at..at + words]) & !taken;
                    if actions != 0 {
                        let weight = exps[k as usize];
                        total += actions.count_ones() as f32 * (weight - 1.0);
                        self.derived.push(Derived { first: runs.from, slot: k, actions, weight });
                        taken |= actions;
                    }
                }
                runs.advance();
            }
        }
        1.0 / total
    }

    /// F of every ground action by relaxation: all are derived, to some degree. Returns pi of an action with F = 0.
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
            let slots = problem.slots_of(learner, action.action);
            let (slot, f) = best_slot(slots, rules, grounding.flat(a), grounding.words());
            let weight = (f / config.temperature).exp() as f32;
            total += weight;
            self.derived.push(Derived { first: a as u32, slot: slot as u32, actions: 1, weight });
        }
        1.0 / total
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

/// An action drawn from pi: the derived ones weigh what they weigh, each of the others 1, all times `rest`.
#[inline]
fn draw(derived: &[Derived], rest: f32, actions: usize, rng: &mut Rng) -> usize {
    let mut u = rng.unit() as f32 / rest;
    let mut others = actions;
    for d in derived {
        let count = d.actions.count_ones() as usize;
        let all = count as f32 * d.weight;
        if u < all {
            let nth = ((u / d.weight) as usize).min(count - 1);
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
    let w: Vec<f64> = bits(body).map(|j| p[j]).collect();
    config.tnorm.value(&vec![1.0; w.len()], &w)
}

/// The set bits of a body.
pub fn bits(body: &[u64]) -> impl Iterator<Item = usize> + '_ {
    body.iter().enumerate().flat_map(|(word, &b)| word_bits(b).map(move |bit| word * 64 + bit))
}

/// The set bits of a word, from the lowest.
#[inline]
fn word_bits(mut left: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = left.trailing_zeros() as usize;
        (left != 0).then(|| {
            left &= left - 1;
            bit
        })
    })
}
