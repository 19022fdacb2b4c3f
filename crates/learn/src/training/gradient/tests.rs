//! Every estimator's gradient against finite differences of the function it differentiates.

use std::sync::Arc;

use derrl_env::{Options, Rng, find};
use derrl_logic::Action;

use super::*;
use crate::experience::counted::Counted;
use crate::experience::relaxed::by_definition;
use crate::experience::rollout::Acting;
use crate::generator::sigmoid;
use crate::language::ids::Learner;
use crate::language::slot::RuleDistribution;
use crate::settings::estimator::{ESTIMATORS, Estimator};

/// A batch collected with random rules.
struct Fixture {
    problem: Arc<Problem>,
    config: Config,
    states: States,
    batch: Batch,
    rules: Rules,
    logits: Vec<Vec<f64>>,
    confidence: Vec<f64>,
}

impl Fixture {
    fn new(domain: &str, estimator: Estimator, seed: u64) -> Fixture {
        let spec = find(domain).unwrap();
        let alphabet = spec.alphabet();
        let problem = Arc::new(Problem::new(&alphabet, 1).unwrap());
        let config = Config { estimator, batch: 200, temperature: 0.7, ..Config::default() };
        let mut rng = Rng::new(seed, 0);
        let logits: Vec<Vec<f64>> =
            problem.slots.iter().map(|s| (0..s.atoms).map(|_| 3.0 * rng.unit() - 2.5).collect()).collect();
        let confidence = problem.slots.iter().map(|_| 0.8 + 0.2 * rng.unit()).collect();
        let mut fixture = Fixture {
            states: States::new(&problem),
            problem,
            config,
            batch: Batch::default(),
            rules: Rules::default(),
            logits,
            confidence,
        };
        fixture.rules = fixture.rules_at(&fixture.logits, &fixture.confidence);
        let mut env = spec.make(&alphabet, "train", &Options::default()).unwrap();
        let (states, batch) = (&mut fixture.states, &mut fixture.batch);
        let on = Acting { problem: &fixture.problem, config: &fixture.config, rules: &fixture.rules };
        batch.collect(&on, fixture.config.batch, states, &mut Counted::new(env.as_mut()), &mut rng);
        fixture
    }

    fn rules_at(&self, logits: &[Vec<f64>], confidence: &[f64]) -> Rules {
        let of = |(x, &confidence): (&Vec<f64>, &f64)| RuleDistribution {
            p: x.iter().map(|&x| sigmoid(x)).collect(),
            confidence,
        };
        let mut rules = Rules::default();
        rules.prepare(
            logits.iter().zip(confidence).map(of).collect(),
            &self.problem,
            self.config.temperature,
        );
        rules
    }

    fn experience(&self) -> Experience<'_> {
        Experience {
            problem: &self.problem,
            config: &self.config,
            rules: &self.rules,
            states: &self.states,
            batch: &self.batch,
        }
    }

    /// log pi(a | s) of a step, given F of every ground action.
    fn log_pi(&self, f: &[f64], action: usize) -> f64 {
        crate::training::inference::softmax(f, self.config.temperature)[action].ln()
    }

    /// The slot with the highest confidence times relaxed F for a ground action, and that value.
    fn best_slot(&self, rules: &Rules, action: Action, masks: &[u64]) -> (usize, f64) {
        let f = |k: usize| {
            let d = &rules.distributions[k];
            (k, d.confidence * by_definition(&d.p, masks, self.problem.grounder.words()))
        };
        let slots = self.problem.slots_of(Learner::FIRST, action).range().map(f);
        slots.reduce(|a, b| if b.1 > a.1 { b } else { a }).unwrap()
    }

    /// The loss that the estimator differentiates, as a function of the rules, with the batch held fixed.
    fn loss(&self, rules: &Rules) -> f64 {
        let (_, value, gradient) = self.config.estimator.choices();
        let episodes = self.batch.episodes.len() as f64;
        let mut total = 0.0;
        for step in &self.batch.steps {
            let grounding = self.states.grounding(step.state);
            let words = grounding.words();
            let actions = self.states.actions(step.state);
            let derived = |a: usize| self.batch.derived(step).iter().find(|d| d.contains(a));
            let by = |a: usize| derived(a).map(|d| d.slot.index());
            let f = |a: usize| match (value, by(a)) {
                (Value::Relaxed, _) => self.best_slot(rules, actions[a].action, grounding.flat(a)).1,
                (_, None) => 0.0,
                (Value::Crisp, Some(k)) => rules.distributions[k].confidence,
                (Value::Weighted, Some(k)) => {
                    let d = &rules.distributions[k];
                    let from = step.bodies as usize + k * words;
                    let w: Vec<f64> =
                        Body(&self.batch.bodies[from..from + words]).atoms().map(|j| d.p[j]).collect();
                    d.confidence * self.config.tnorm.value(&vec![1.0; w.len()], &w)
                }
            };
            let values: Vec<f64> = (0..actions.len()).map(f).collect();
            total -= step.advantage * self.log_pi(&values, step.action as usize) / episodes;
            if gradient == Gradient::Relaxed && value == Value::Crisp {
                // Straight-through: dJ/dF of the crisp F, times the relaxed F as it varies with the atoms.
                for (a, action) in actions.iter().enumerate() {
                    let pi = f64::from(derived(a).map_or(1.0, |d| d.weight) * step.rest);
                    let taken = f64::from(u8::from(a as u32 == step.action));
                    let c = -step.advantage * (taken - pi) / (self.config.temperature * episodes);
                    let k = match by(a) {
                        None => self.best_slot(&self.rules, action.action, grounding.flat(a)).0,
                        Some(k) => k,
                    };
                    let frozen = self.rules.distributions[k].confidence;
                    total += c * frozen * by_definition(&rules.distributions[k].p, grounding.flat(a), words);
                }
            }
        }
        if gradient == Gradient::Score {
            for &first in &self.batch.episodes {
                let step = &self.batch.steps[first as usize];
                let words = self.problem.grounder.words();
                for (k, d) in rules.distributions.iter().enumerate() {
                    let from = step.bodies as usize + k * words;
                    let body: Vec<usize> = Body(&self.batch.bodies[from..from + words]).atoms().collect();
                    let log = |(j, p): (usize, &f64)| if body.contains(&j) { p.ln() } else { (1.0 - p).ln() };
                    total -= step.advantage * d.p.iter().enumerate().map(log).sum::<f64>() / episodes;
                }
            }
        }
        let mut unused = vec![0.0; 256];
        for (k, d) in rules.distributions.iter().enumerate() {
            let constraints = self.problem.constraints(self.problem.slots[k].action);
            total += self.config.lambda_sem * constraints.loss(&d.p, 0.0, &mut unused);
        }
        total
    }
}

/// Moves one logit or one confidence by h.
type Change<'a> = dyn Fn(&mut [Vec<f64>], &mut [f64], f64) + 'a;

#[test]
fn every_estimator_matches_finite_differences() {
    const H: f64 = 1e-5;
    for (estimator, name) in ESTIMATORS {
        for domain in ["blocks", "countdown", "doorkey"] {
            let fixture = Fixture::new(domain, estimator, 7);
            let mut gradient = LogitGradient::default();
            gradient.differentiate(&fixture.experience());
            let central = |change: &Change<'_>| {
                let at = |h: f64| {
                    let (mut logits, mut confidence) = (fixture.logits.clone(), fixture.confidence.clone());
                    change(&mut logits, &mut confidence, h);
                    fixture.loss(&fixture.rules_at(&logits, &confidence))
                };
                (at(H) - at(-H)) / (2.0 * H)
            };
            let mut largest: f64 = 0.0;
            for k in 0..fixture.logits.len() {
                for j in 0..fixture.logits[k].len() {
                    let expected = central(&|x, _, h| x[k][j] += h);
                    let found = gradient.atoms[k][j];
                    largest = largest.max(found.abs());
                    let tolerance = 1e-6 + 1e-4 * expected.abs();
                    assert!(
                        (found - expected).abs() < tolerance,
                        "{name} on {domain}: d/dx of atom {j} of slot {k} is {found}, by differences {expected}"
                    );
                }
                let expected = central(&|_, c, h| c[k] += h);
                let found = gradient.confidence[k];
                assert!(
                    (found - expected).abs() < 1e-4 + 1e-3 * expected.abs(),
                    "{name} on {domain}: d/dc of slot {k} is {found}, by differences {expected}"
                );
            }
            // The paper's own estimator is nearly zero almost everywhere: that is its trouble.
            assert!(
                largest > 0.0 || estimator == Estimator::Paper,
                "{name} on {domain} gives no gradient at all"
            );
        }
    }
}
