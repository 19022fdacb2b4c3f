//! The current generator as the rollouts use it: what is sampled, how strong it is, and the relaxed F.

use derrl_logic::Action;

use crate::experience::relaxed::Relaxation;
use crate::generator::sampler::Sampler;
use crate::language::problem::Problem;
use crate::language::slot::RuleDistribution;

/// The current generator as the rollouts use it.
#[derive(Debug, Default)]
pub struct Rules {
    /// Per slot, what R_theta says.
    pub distributions: Vec<RuleDistribution>,
    /// Draws the bodies of all slots of a learner at once.
    pub samplers: Vec<Sampler>,
    /// By learner and kind of action, what the relaxed F needs.
    relaxations: Vec<Relaxation>,
    /// By learner, what crisp rules weigh.
    pub crisp: Vec<Strength>,
}

/// What rules of a learner weigh in the softmax where they fire: the slots, those of one action from the strongest to the weakest, so
/// that an action is the first one's that derives it.
#[derive(Debug, Default)]
pub struct Strength(pub Vec<Ranked>);

#[derive(Clone, Copy, Debug)]
pub struct Ranked {
    pub slot: u32,
    /// Where its body is in a sample.
    pub body: u32,
    /// e^(F / temperature).
    pub weight: f32,
}

impl Strength {
    /// Orders the slots of a learner by their weights.
    pub fn rank(&mut self, problem: &Problem, learner: usize, weight: impl Fn(usize) -> f32) {
        self.0.clear();
        let base = problem.slots_of_learner(learner).start;
        let body = |slot: usize| ((slot - base) * problem.grounder.words()) as u32;
        for action in problem.actions() {
            let from = self.0.len();
            let slots = problem.slots_of(learner, action);
            self.0.extend(slots.map(|k| Ranked { slot: k as u32, body: body(k), weight: weight(k) }));
            self.0[from..].sort_by(|a, b| b.weight.total_cmp(&a.weight));
        }
    }
}

impl Rules {
    /// Prepares sampling and relaxation of these distributions.
    pub fn prepare(&mut self, distributions: Vec<RuleDistribution>, problem: &Problem, temperature: f64) {
        self.crisp.resize_with(problem.learners(), Strength::default);
        for (learner, crisp) in self.crisp.iter_mut().enumerate() {
            crisp.rank(problem, learner, |k| (distributions[k].confidence / temperature).exp() as f32);
        }
        self.samplers.resize_with(problem.learners(), Sampler::default);
        for (learner, sampler) in self.samplers.iter_mut().enumerate() {
            let slots = &distributions[problem.slots_of_learner(learner)];
            sampler.prepare(slots.iter().map(|d| d.p.as_slice()), problem.grounder.words());
        }
        self.relaxations.resize_with(problem.learners() * problem.kinds.len(), Relaxation::default);
        for (i, relaxation) in self.relaxations.iter_mut().enumerate() {
            let (learner, kind) = (i / problem.kinds.len(), &problem.kinds[i % problem.kinds.len()]);
            let base = problem.slots_of_learner(learner).start;
            let slots = kind.slots.iter().map(|k| distributions[base + k].p.as_slice());
            relaxation.prepare(slots, problem.grounder.words());
        }
        self.distributions = distributions;
    }

    /// The relaxed F of the slots of a kind of a learner.
    #[inline]
    pub fn relaxation(&self, problem: &Problem, learner: usize, kind: usize) -> &Relaxation {
        &self.relaxations[learner * problem.kinds.len() + kind]
    }
}

/// The slot of an action of a learner with the highest confidence times F for a ground action, and that value.
pub fn best_slot(
    problem: &Problem,
    rules: &Rules,
    learner: usize,
    action: Action,
    masks: &[u64],
) -> (usize, f64) {
    let mut best = (problem.slots_of(learner, action).start, f64::NEG_INFINITY);
    let kind = problem.grounder.kind(action);
    let mut of_kind = Vec::new();
    rules.relaxation(problem, learner, kind).best(masks, &mut of_kind);
    for k in problem.slots_of(learner, action) {
        let f = rules.distributions[k].confidence * of_kind[problem.lane(k)].0;
        if f > best.1 {
            best = (k, f);
        }
    }
    best
}
