//! The current generator as the rollouts use it: what is sampled, how strong it is, and the relaxed F.

use derrl_logic::Action;

use crate::experience::relaxed::Relaxation;
use crate::generator::sampler::Sampler;
use crate::language::ids::{KindId, Learner, SlotId};
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
    pub slot: SlotId,
    /// Where its body is in a sample.
    pub body: u32,
    /// e^(F / temperature).
    pub weight: f32,
}

impl Strength {
    /// Orders the slots of a learner by their weights.
    pub fn rank(&mut self, problem: &Problem, learner: Learner, weight: impl Fn(SlotId) -> f32) {
        self.0.clear();
        let all = problem.slots_of_learner(learner);
        let body = |slot: SlotId| (all.place_of(slot) * problem.grounder.words()) as u32;
        for action in problem.actions() {
            let from = self.0.len();
            let slots = problem.slots_of(learner, action);
            self.0.extend(slots.iter().map(|k| Ranked { slot: k, body: body(k), weight: weight(k) }));
            self.0[from..].sort_by(|a, b| b.weight.total_cmp(&a.weight));
        }
    }
}

impl Rules {
    /// Prepares sampling and relaxation of these distributions.
    pub fn prepare(&mut self, distributions: Vec<RuleDistribution>, problem: &Problem, temperature: f64) {
        self.crisp.resize_with(problem.learners(), Strength::default);
        for (learner, crisp) in problem.each_learner().zip(&mut self.crisp) {
            let weight = |k: SlotId| (distributions[k.index()].confidence / temperature).exp() as f32;
            crisp.rank(problem, learner, weight);
        }
        self.samplers.resize_with(problem.learners(), Sampler::default);
        for (learner, sampler) in problem.each_learner().zip(&mut self.samplers) {
            let slots = &distributions[problem.slots_of_learner(learner).range()];
            sampler.prepare(slots.iter().map(|d| d.p.as_slice()), problem.grounder.words());
        }
        self.relaxations.resize_with(problem.learners() * problem.kinds().len(), Relaxation::default);
        let each = problem.each_learner().flat_map(|l| problem.kinds().map(move |kind| (l, kind)));
        for ((learner, kind), relaxation) in each.zip(&mut self.relaxations) {
            let own = &distributions[problem.slots_of_learner(learner).range()];
            let slots = problem.kind(kind).slots.iter().map(|k| own[k.index()].p.as_slice());
            relaxation.prepare(slots, problem.grounder.words());
        }
        self.distributions = distributions;
    }

    /// The relaxed F of the slots of a kind of a learner.
    #[inline]
    pub fn relaxation(&self, problem: &Problem, learner: Learner, kind: KindId) -> &Relaxation {
        &self.relaxations[learner.index() * problem.kinds().len() + kind.index()]
    }
}

/// The slot of an action of a learner with the highest confidence times F for a ground action, and that value.
pub fn best_slot(
    problem: &Problem,
    rules: &Rules,
    learner: Learner,
    action: Action,
    masks: &[u64],
) -> (SlotId, f64) {
    let slots = problem.slots_of(learner, action);
    let mut best = (slots.first, f64::NEG_INFINITY);
    let kind = problem.kind_of(action);
    let mut of_kind = Vec::new();
    rules.relaxation(problem, learner, kind).best(masks, &mut of_kind);
    for k in slots.iter() {
        let f = rules.distributions[k.index()].confidence * of_kind[problem.lane(k).index()].0;
        if f > best.1 {
            best = (k, f);
        }
    }
    best
}
