//! REINFORCE with a value baseline: the one training loop of NLRL, GCN and MLP.

use std::sync::Arc;

use derrl_env::{Env, Fault, Outcome, Rng};
use derrl_logic::{Alphabet, Facts, GroundAction, Universe};
use serde::{Deserialize, Serialize};

use crate::act::score::{run_episode, selection_streams};
use crate::agents::critic::Critic;
use crate::agents::seen::{Entry, Seen};
use crate::agents::training_atoms::TrainingAtoms;
use crate::agents::{Agent, Parameters, Saved, Setup, TrainingJob, TrainingResult, argmax};
use crate::error::Error;
use crate::experience::counted::Counted;
use crate::experience::episode::{Decision, play};
use crate::generator::adam::Adam;
use crate::learner::Point;
use crate::settings::streams::Purpose;

/// A differentiable policy: pi_theta(. | s) over the ground actions of a state, and its gradient.
pub trait Model: Send + 'static {
    /// What is computed once per universe.
    type World: Send + Sync;
    /// What is computed once per state.
    type State: Send + Sync;
    /// What the forward pass leaves for the backward pass, one per decision of a batch.
    type Tape: Default + Send;
    /// Room that a pass works in; one for all decisions.
    type Scratch: Default + Send;

    /// The number of parameters.
    fn parameters(&self) -> usize;

    /// Random initial parameters.
    fn initial(&self, rng: &mut Rng) -> Vec<f64>;

    /// What the passes read, computed once an update: theta itself where the model says nothing else.
    fn weights(&self, theta: &[f64]) -> Vec<f64> {
        theta.to_vec()
    }

    /// The gradient with respect to theta, in place of that with respect to [`Model::weights`].
    fn through_weights(&self, _weights: &[f64], _gradient: &mut [f64]) {}

    /// What is computed once per universe.
    fn world(&self, universe: &Universe, actions: &Arc<[GroundAction]>) -> Self::World;

    /// What is computed once per state.
    fn state(&self, world: &Self::World, facts: &Facts) -> Self::State;

    /// pi(. | s), in the order of the ground actions.
    fn forward<'t>(
        &self,
        weights: &[f64],
        world: &Self::World,
        state: &Self::State,
        scratch: &mut Self::Scratch,
        tape: &'t mut Self::Tape,
    ) -> &'t [f64];

    /// Adds the gradient of a loss with respect to the weights, given that with respect to pi and the tape of the forward
    /// pass. `d_pi` may be overwritten.
    #[allow(clippy::too_many_arguments)]
    fn backward(
        &self,
        weights: &[f64],
        world: &Self::World,
        state: &Self::State,
        scratch: &mut Self::Scratch,
        tape: &Self::Tape,
        d_pi: &mut [f64],
        gradient: &mut [f64],
    );

    /// What theta says, as text.
    fn rules(&self, _theta: &[f64]) -> Option<String> {
        None
    }
}

/// The settings of a training run of NLRL, GCN or MLP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BaselineConfig {
    /// Adam's learning rate at the start; it falls linearly to a tenth of that.
    pub learning_rate: f64,
    /// gamma, the discount per step.
    pub gamma: f64,
    /// Decisions per update, at the least: episodes are run to their end.
    pub batch: usize,
    /// The weight of the entropy bonus at the start; it falls linearly to zero.
    pub entropy: f64,
    /// The length of hidden layers and embeddings (GCN, MLP).
    pub hidden: usize,
    /// The standard deviation of the initial logits (NLRL).
    pub init_noise: f64,
    /// Runs that share the budget evenly; the one with the best return on the training task is kept.
    pub restarts: usize,
}

impl BaselineConfig {
    /// The first setting outside its range, as an error.
    pub fn check(&self) -> Result<(), Error> {
        let number = |ok: bool, name: &'static str, value: f64, range: &'static str| {
            if ok { Ok(()) } else { Err(Error::Setting { name, value: value.to_string(), range }) }
        };
        let rate = self.learning_rate;
        number(rate.is_finite() && rate > 0.0, "learning_rate", rate, "a number above 0")?;
        number((0.0..=1.0).contains(&self.gamma), "gamma", self.gamma, "from 0 to 1")?;
        for (name, value) in [("entropy", self.entropy), ("init_noise", self.init_noise)] {
            number(value.is_finite() && value >= 0.0, name, value, "0 or more")?;
        }
        for (name, value, most, range) in [
            ("batch", self.batch, 1_000_000, "a whole number from 1 to 1000000"),
            ("hidden", self.hidden, 4096, "a whole number from 1 to 4096"),
            ("restarts", self.restarts, 1000, "a whole number from 1 to 1000"),
        ] {
            number((1..=most).contains(&value), name, value as f64, range)?;
        }
        Ok(())
    }
}

impl Default for BaselineConfig {
    fn default() -> BaselineConfig {
        BaselineConfig {
            learning_rate: 0.005,
            gamma: 0.99,
            batch: 128,
            entropy: 0.05,
            hidden: 32,
            init_noise: 0.1,
            restarts: 1,
        }
    }
}

/// Episodes of the training task by which restarts are compared, at the most.
const SELECTION: usize = 200;
/// The share of a restart's budget by which restarts are compared, where there are several.
const SELECTION_SHARE: u64 = 9;
/// Points of a training curve, about.
const POINTS: u64 = 200;

/// A model with what it has learned.
pub struct BaselineAgent<M: Model> {
    model: M,
    settings: BaselineConfig,
    training: TrainingAtoms,
    /// Steps taken to see the objects of the task.
    looked: u64,
    seen: Seen<M>,
    /// One a learner of the world.
    learners: Vec<Parameters>,
    /// [`Model::weights`] of each.
    weights: Vec<Vec<f64>>,
    scratch: M::Scratch,
    tape: M::Tape,
}

impl<M: Model> BaselineAgent<M> {
    /// An untrained learner. The model is made from the objects of the training task.
    pub fn new(
        setup: &Setup<'_>,
        own: BaselineConfig,
        model: impl FnOnce(&Arc<Alphabet>, &TrainingAtoms, &BaselineConfig) -> Result<M, Error>,
    ) -> Result<BaselineAgent<M>, Error> {
        let settings = setup.learning.cloned().unwrap_or(own);
        settings.check()?;
        let mut env = (setup.make_env)()?;
        let mut counted = Counted::new(env.as_mut());
        let training = TrainingAtoms::collect(setup.alphabet, &mut counted);
        let looked = counted.taken();
        if let Some(fault) = env.fault() {
            return Err(Error::World(fault.clone()));
        }
        if training.actions() == 0 {
            return Err(Error::World(Fault::new("the training task has no ground action")));
        }
        let model = model(setup.alphabet, &training, &settings)?;
        let theta = model.initial(&mut Purpose::Baseline(0).rng(0));
        let weights = vec![model.weights(&theta)];
        Ok(BaselineAgent {
            seen: Seen::new(setup.alphabet),
            learners: vec![Parameters { theta, choices: 0 }],
            weights,
            model,
            settings,
            training,
            looked,
            scratch: M::Scratch::default(),
            tape: M::Tape::default(),
        })
    }

    fn refresh(&mut self) {
        self.weights = self.learners.iter().map(|l| self.model.weights(&l.theta)).collect();
    }

    /// The learner that acts for an agent. In a world with more agents than were trained, an agent takes after one that
    /// chose from as many actions, and they are dealt out in turn.
    fn learner_for(&self, wanted: usize, choices: usize) -> usize {
        if wanted < self.learners.len() && self.learners[wanted].choices == choices {
            return wanted;
        }
        let like: Vec<usize> =
            (0..self.learners.len()).filter(|&l| self.learners[l].choices == choices).collect();
        if like.is_empty() { wanted % self.learners.len() } else { like[wanted % like.len()] }
    }
}

/// One decision of a batch.
struct Step<M: Model> {
    entry: Arc<Entry<M>>,
    learner: usize,
    agent: usize,
    /// The ground action taken.
    action: usize,
    /// Its reward, then G_t.
    g: f64,
}

impl<M: Model> Decision for Step<M> {
    fn agent(&self) -> usize {
        self.agent
    }

    fn g(&mut self) -> &mut f64 {
        &mut self.g
    }
}

/// What one training run needs beside the parameters.
struct Workspace<M: Model> {
    rng: Rng,
    adams: Vec<Adam>,
    critics: Vec<Critic>,
    steps: Vec<Step<M>>,
    /// One a decision of the batch; kept for the next batch.
    tapes: Vec<M::Tape>,
    /// pi of each decision.
    pis: Vec<Vec<f64>>,
    returns: Vec<f64>,
}

impl<M: Model> BaselineAgent<M> {
    fn start(&mut self, learners: usize, seed: u64, restart: u64) -> Workspace<M> {
        let mut rng = Purpose::Baseline(restart).rng(seed);
        self.learners =
            (0..learners).map(|_| Parameters { theta: self.model.initial(&mut rng), choices: 0 }).collect();
        let n = self.model.parameters();
        Workspace {
            adams: vec![Adam::new(n, self.settings.learning_rate); learners],
            critics: (0..learners).map(|_| Critic::new(&self.training, &mut rng)).collect(),
            rng,
            steps: Vec::new(),
            tapes: Vec::new(),
            pis: Vec::new(),
            returns: Vec::new(),
        }
    }

    /// Runs whole episodes until the batch is full, or no steps are left.
    fn collect(&mut self, run: &mut Workspace<M>, env: &mut Counted<'_>) -> Result<(), Error> {
        run.steps.clear();
        run.returns.clear();
        let mut steps = std::mem::take(&mut run.steps);
        let gamma = self.settings.gamma;
        while steps.len() < self.settings.batch && (steps.is_empty() || env.left() > 0) && !env.stopped() {
            env.reset(&mut run.rng);
            let before = steps.len();
            let (tapes, pis) = (&mut run.tapes, &mut run.pis);
            let mut at = before;
            let turn = |env: &mut Counted<'_>, rng: &mut Rng| {
                at += 1;
                self.turn(at - 1, tapes, pis, env, rng)
            };
            let earned = play(env, &mut run.rng, gamma, &mut steps, turn);
            run.returns.push(earned);
            if let Some(fault) = env.world().fault() {
                return Err(Error::World(fault.clone()));
            }
            if steps.len() == before && !env.stopped() {
                return Err(Error::World(Fault::new(
                    "an instance of the training task has no ground action",
                )));
            }
        }
        run.steps = steps;
        Ok(())
    }

    /// Decides in the current state, and acts. What the backward pass needs goes to place `at` of tapes and pis.
    fn turn(
        &mut self,
        at: usize,
        tapes: &mut Vec<M::Tape>,
        pis: &mut Vec<Vec<f64>>,
        env: &mut Counted<'_>,
        rng: &mut Rng,
    ) -> Option<(Step<M>, Outcome)> {
        let entry = self.seen.look_up(&self.model, &self.training, env.world());
        if entry.known.actions.is_empty() || env.stopped_after(entry.known.actions.len()) {
            return None;
        }
        let agent = env.world().turn();
        let learner = env.world().learner(agent);
        if at == tapes.len() {
            tapes.push(M::Tape::default());
            pis.push(Vec::new());
        }
        let (weights, scratch) = (&self.weights[learner], &mut self.scratch);
        let pi = self.model.forward(weights, &entry.known.world, &entry.state, scratch, &mut tapes[at]);
        let action = draw(pi, rng);
        pis[at].clear();
        pis[at].extend_from_slice(pi);
        self.learners[learner].choices = pi.len();
        let chosen = &entry.known.actions[action];
        let outcome = env.step(chosen.action, &chosen.args, rng);
        Some((Step { entry, learner, agent, action, g: 0.0 }, outcome))
    }

    /// Moves theta and the critics by one batch. `done` is the share of the budget that is spent.
    fn update(&mut self, run: &mut Workspace<M>, done: f64) {
        let mut d_pi = Vec::new();
        let mut gradient = vec![0.0; self.model.parameters()];
        for learner in 0..self.learners.len() {
            let mine: Vec<usize> =
                (0..run.steps.len()).filter(|&t| run.steps[t].learner == learner).collect();
            if mine.is_empty() {
                continue;
            }
            let n = mine.len() as f64;
            // A_t = G_t - V(s_t), in units of its standard deviation
            let critic = &mut run.critics[learner];
            let mut advantages: Vec<f64> = Vec::with_capacity(mine.len());
            for &t in &mine {
                let step = &run.steps[t];
                advantages.push(step.g - critic.learn(&step.entry.atoms, step.g, 1.0 / n));
            }
            critic.descend();
            let spread = (advantages.iter().map(|a| a * a).sum::<f64>() / n).sqrt().max(LEAST_SPREAD);

            // J = -E[sum_t A_t log pi(a_t | s_t)] - entropy H(pi), so
            // dJ/dpi_a = -A_t 1[a = a_t] / pi_a + entropy (log pi_a + 1)
            gradient.fill(0.0);
            let entropy = self.settings.entropy * (1.0 - done);
            for (&t, a) in mine.iter().zip(&advantages) {
                let (step, pi) = (&run.steps[t], &run.pis[t]);
                d_pi.clear();
                d_pi.extend(pi.iter().map(|p| if *p > 0.0 { entropy * (p.ln() + 1.0) / n } else { 0.0 }));
                d_pi[step.action] -= a / (spread * n * pi[step.action].max(f64::MIN_POSITIVE));
                let (world, state) = (&step.entry.known.world, &step.entry.state);
                let weights = &self.weights[learner];
                let (scratch, tape) = (&mut self.scratch, &run.tapes[t]);
                self.model.backward(weights, world, state, scratch, tape, &mut d_pi, &mut gradient);
            }
            self.model.through_weights(&self.weights[learner], &mut gradient);
            let adam = &mut run.adams[learner];
            adam.set_rate(self.settings.learning_rate * (1.0 - 0.9 * done));
            adam.descend(&mut self.learners[learner].theta, &gradient);
        }
        self.refresh();
    }
}

/// Advantages below this are noise, not to be blown up.
const LEAST_SPREAD: f64 = 0.01;

/// An index drawn from a distribution.
fn draw(pi: &[f64], rng: &mut Rng) -> usize {
    let mut u = rng.unit() * pi.iter().sum::<f64>();
    for (a, &p) in pi.iter().enumerate() {
        if u < p {
            return a;
        }
        u -= p;
    }
    // Rounding may leave a little: the last action that can be drawn.
    pi.iter().rposition(|&p| p > 0.0).unwrap_or(0)
}

impl<M: Model> BaselineAgent<M> {
    /// One run from scratch of this many steps; `None` if the watcher stopped it.
    fn run(
        &mut self,
        training: &TrainingJob<'_>,
        decisions: u64,
        restart: u64,
        env: &mut Counted<'_>,
    ) -> Result<Option<TrainingResult>, Error> {
        let mut run = self.start(env.world().learners(), training.seed, restart);
        self.refresh();
        let mut trained = TrainingResult::default();
        let every = (decisions / POINTS).max(1);
        let (mut next, mut sum, mut count) = (0, 0.0, 0);
        let before = env.taken();
        env.limit(before + decisions);
        while trained.decisions < decisions {
            self.collect(&mut run, env)?;
            if env.stopped() {
                return Ok(None);
            }
            self.update(&mut run, trained.decisions as f64 / decisions as f64);
            trained.decisions = env.taken() - before;
            trained.episodes += run.returns.len() as u64;
            sum += run.returns.iter().sum::<f64>();
            count += run.returns.len();
            if trained.decisions >= next {
                let mean_return = sum / count as f64;
                let point = Point { episodes: trained.episodes, decisions: trained.decisions, mean_return };
                training.watcher.point(&point);
                trained.curve.push(point);
                (next, sum, count) = (trained.decisions + every, 0.0, 0);
            }
        }
        Ok(Some(trained))
    }

    /// The mean return on the training task, acting greedily, by no more than this many steps but for the last episode.
    fn judge(&mut self, env: &mut Counted<'_>, steps: u64, seed: u64) -> Result<f64, Error> {
        env.limit(env.taken() + steps);
        let episodes = SELECTION.min(env.world().cost().episodes()) as u64;
        let (mut total, mut run) = (0.0, 0);
        while run < episodes && (run == 0 || env.left() > 0) {
            let streams = selection_streams(seed, run);
            total += run_episode(&mut |env, rng| self.act(env, rng), env, streams)?.value;
            run += 1;
        }
        Ok(total / run as f64)
    }
}

impl<M: Model> Agent for BaselineAgent<M> {
    fn train(&mut self, training: &TrainingJob<'_>) -> Result<Option<TrainingResult>, Error> {
        let mut env = (training.make_env)()?;
        let stop = || training.watcher.interrupted();
        let mut env = Counted::until(env.as_mut(), &stop);
        let restarts = self.settings.restarts as u64;
        let mut best: Option<(f64, Vec<Parameters>, Vec<Point>)> = None;
        let mut all = TrainingResult {
            decisions: self.looked,
            selection_steps: self.looked,
            ..TrainingResult::default()
        };
        let budget = training.decisions.saturating_sub(self.looked) / restarts;
        for restart in 0..restarts {
            let selection = if restarts == 1 { 0 } else { budget / SELECTION_SHARE };
            let before = env.taken();
            let run = self.run(training, budget - selection, restart, &mut env)?;
            let Some(trained) = run else { return Ok(None) };
            all.episodes += trained.episodes;
            let value = if restarts == 1 {
                0.0
            } else {
                let left = budget.saturating_sub(trained.decisions);
                match self.judge(&mut env, left, training.seed) {
                    Err(Error::Interrupted) => return Ok(None),
                    value => value?,
                }
            };
            let taken = env.taken() - before;
            all.decisions += taken;
            all.selection_steps += taken - trained.decisions;
            if best.as_ref().is_none_or(|b| value > b.0) {
                best = Some((value, self.learners.clone(), trained.curve));
            }
        }
        if let Some((_, learners, curve)) = best {
            self.learners = learners;
            self.refresh();
            all.curve = curve;
        }
        Ok(Some(all))
    }

    fn act(&mut self, env: &dyn Env, rng: &mut Rng) -> GroundAction {
        let entry = self.seen.look_up(&self.model, &self.training, env);
        let learner = self.learner_for(env.learner(env.turn()), entry.known.actions.len());
        let (world, state) = (&entry.known.world, &entry.state);
        let (weights, scratch) = (&self.weights[learner], &mut self.scratch);
        let pi = self.model.forward(weights, world, state, scratch, &mut self.tape);
        entry.known.actions[argmax(pi, rng)].clone()
    }

    fn save(&self) -> Saved {
        Saved::Parameters(self.learners.clone())
    }

    fn load(&mut self, saved: &Saved) -> Result<(), Error> {
        match saved {
            Saved::Parameters(all)
                if !all.is_empty() && all.iter().all(|p| p.theta.len() == self.model.parameters()) =>
            {
                self.learners.clone_from(all);
                self.refresh();
                Ok(())
            }
            _ => Err(Error::Policy(format!("this agent loads {} parameters", self.model.parameters()))),
        }
    }

    fn rules(&self) -> Option<String> {
        let texts: Option<Vec<String>> = self.learners.iter().map(|l| self.model.rules(&l.theta)).collect();
        texts.map(|texts| texts.join("\n"))
    }
}

#[cfg(test)]
impl<M: Model> BaselineAgent<M> {
    /// Holds the gradient of some random function of pi against finite differences, in states of a random episode.
    pub fn check_gradient(&mut self, env: &mut dyn Env, seed: u64) {
        const H: f64 = 1e-5;
        let rng = &mut Rng::new(seed, 0);
        // Larger than initial values, so that nothing is nearly linear; a fresh theta a state.
        let n = self.model.parameters();
        env.reset(rng);
        for _ in 0..6 {
            let entry = self.seen.look_up(&self.model, &self.training, env);
            let (world, state) = (&entry.known.world, &entry.state);
            let theta: Vec<f64> =
                self.model.initial(rng).iter().map(|t| 2.0 * t + 0.3 * (rng.unit() - 0.5)).collect();
            let c: Vec<f64> = entry.known.actions.iter().map(|_| rng.unit() - 0.5).collect();
            let mut scratch = M::Scratch::default();
            let mut loss = |theta: &[f64], tape: &mut M::Tape| {
                let pi = self.model.forward(&self.model.weights(theta), world, state, &mut scratch, tape);
                assert!((pi.iter().sum::<f64>() - 1.0).abs() < 1e-9, "pi is a distribution");
                pi.iter().zip(&c).map(|(p, c)| p * c).sum::<f64>()
            };
            let mut tape = M::Tape::default();
            loss(&theta, &mut tape);
            let weights = self.model.weights(&theta);
            let mut gradient = vec![0.0; n];
            let mut other = M::Scratch::default();
            self.model.backward(&weights, world, state, &mut other, &tape, &mut c.clone(), &mut gradient);
            self.model.through_weights(&weights, &mut gradient);
            let largest = gradient.iter().fold(1e-3, |m: f64, g| m.max(g.abs()));
            // All parameters that matter here, and some of the others.
            for k in (0..n).filter(|&k| gradient[k] != 0.0 || k % 37 == 0).step_by(1 + n / 500) {
                let mut moved = theta.clone();
                moved[k] += H;
                let above = loss(&moved, &mut tape);
                moved[k] -= 2.0 * H;
                let below = loss(&moved, &mut tape);
                let difference = (above - below) / (2.0 * H);
                let error = (difference - gradient[k]).abs() / largest;
                assert!(
                    error < 1e-4,
                    "parameter {k}: {} by backward, {difference} by differences",
                    gradient[k]
                );
            }
            let action = &entry.known.actions[rng.below(entry.known.actions.len())];
            if env.step(action.action, &action.args, rng).status != derrl_env::Status::Running {
                env.reset(rng);
            }
        }
    }
}
