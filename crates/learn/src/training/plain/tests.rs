//! The fast path gives the numbers of the plain form, for every estimator and t-norm.

use std::sync::Arc;

use derrl_env::{Env, Options, Outcome, find, observe};
use derrl_logic::{Action, Alphabet, Object};

use super::*;
use crate::experience::counted::Counted;
use crate::experience::rollout::{Acting, Batch};
use crate::experience::rules::Rules;
use crate::experience::states::States;
use crate::generator::sigmoid;
use crate::language::body::Body;
use crate::settings::estimator::{ESTIMATORS, Sampling};
use crate::settings::tnorm::TNORMS;
use crate::training::gradient::{Experience, LogitGradient};

/// A world that notes the facts in which it is asked to act.
struct Recorded {
    env: Box<dyn Env>,
    alphabet: Arc<Alphabet>,
    met: Vec<(Facts, Arc<Universe>)>,
}

impl Env for Recorded {
    fn reset(&mut self, rng: &mut Rng) {
        self.env.reset(rng);
    }
    fn restart(&mut self) {
        self.env.restart();
    }
    fn universe(&self) -> &Arc<Universe> {
        self.env.universe()
    }
    fn facts(&self, facts: &mut Facts) {
        self.env.facts(facts);
    }
    fn code(&self) -> Option<u128> {
        self.env.code()
    }
    fn step(&mut self, action: Action, args: &[Object], rng: &mut Rng) -> Outcome {
        let mut facts = Facts::new(&self.alphabet);
        observe(self.env.as_ref(), &mut facts);
        self.met.push((facts, Arc::clone(self.env.universe())));
        self.env.step(action, args, rng)
    }
    fn succeeded(&self) -> bool {
        self.env.succeeded()
    }
    fn best_return(&self) -> Option<f64> {
        self.env.best_return()
    }
}

fn near(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() < 2e-5 + 1e-4 * expected.abs(), "{what}: {found}, plainly {expected}");
}

/// Holds a batch and its gradient against the plain form.
fn check(domain: &str, config: &Config, seed: u64) {
    let spec = find(domain).unwrap();
    let alphabet = spec.alphabet();
    let problem = Problem::new(&alphabet, 1).unwrap();
    let mut rng = Rng::new(seed, 0);
    let distribution = |atoms: usize, rng: &mut Rng| RuleDistribution {
        p: (0..atoms).map(|_| sigmoid(3.0 * rng.unit() - 2.5)).collect(),
        confidence: 0.8 + 0.2 * rng.unit(),
    };
    let distributions: Vec<_> = problem.slots.iter().map(|s| distribution(s.atoms, &mut rng)).collect();
    let mut rules = Rules::default();
    rules.prepare(distributions.clone(), &problem, config.temperature);
    let env = spec.make(&alphabet, "train", &Options::default()).unwrap();
    let mut env = Recorded { env, alphabet, met: Vec::new() };
    let mut states = States::new(&problem);
    let mut batch = Batch::default();
    batch.keep_bodies = true;
    let acting = Acting { problem: &problem, config, rules: &rules };
    batch.collect(&acting, config.batch, &mut states, &mut Counted::new(&mut env), &mut rng);
    assert_eq!(env.met.len(), batch.steps.len());

    let plain = Plain { problem: &problem, config, rules: &distributions };
    let samples = config.estimator.choices().0 != Sampling::Never;
    let words = problem.grounder.words();
    let bodies = |from: usize| {
        let of_slot =
            |k: usize| Body(&batch.bodies[from + k * words..from + (k + 1) * words]).atoms().collect();
        (0..problem.slots.len()).filter(|_| samples).map(of_slot).collect::<Vec<Vec<usize>>>()
    };
    let mut seen = Vec::new();
    for (step, (facts, universe)) in batch.steps.iter().zip(&env.met) {
        let actions = states.actions(step.state);
        let y: Vec<_> = actions.iter().map(|a| plain.substitutions(a, facts, universe)).collect();
        let targets: Vec<Action> = actions.iter().map(|a| a.action).collect();
        seen.push((y, targets, bodies(step.bodies as usize)));
    }
    let steps: Vec<PlainStep<'_>> = (0u32..)
        .zip(batch.steps.iter().zip(&seen))
        .map(|(i, (step, (y, actions, b)))| {
            let (taken, advantage) = (step.action as usize, step.advantage);
            PlainStep { y, actions, b, taken, advantage, first: batch.episodes.contains(&i) }
        })
        .collect();
    let what = format!("{domain}, {:?}, {:?}", config.estimator, config.tnorm);
    for (step, plainly) in batch.steps.iter().zip(&steps) {
        let f = plain.f(plainly);
        for (a, pi) in plain.pi(&f).into_iter().enumerate() {
            let derived = batch.derived(step).iter().find(|d| d.contains(a));
            let found = derived.map_or(1.0, |d| d.weight) * step.rest;
            near(f64::from(found), pi, &format!("{what}: pi"));
            assert!(derived.is_none_or(|d| d.slot.index() == f[a].0), "{what}: the slot that derives");
        }
    }
    let mut fast = LogitGradient::default();
    fast.differentiate(&Experience {
        problem: &problem,
        config,
        rules: &rules,
        states: &states,
        batch: &batch,
    });
    let (d_x, d_c) = plain.gradient(&steps);
    for k in 0..problem.slots.len() {
        near(fast.confidence[k], d_c[k], &format!("{what}: dJ/dc of slot {k}"));
        for (j, (found, expected)) in fast.atoms[k].iter().zip(&d_x[k]).enumerate() {
            near(*found, *expected, &format!("{what}: dJ/dx of atom {j} of slot {k}"));
        }
    }
}

#[test]
fn the_fast_path_gives_the_plain_numbers() {
    for (estimator, _) in ESTIMATORS {
        for (tnorm, _) in TNORMS {
            let config =
                Config { estimator, tnorm, batch: 60, group: 4, temperature: 0.7, ..Config::default() };
            for (domain, seed) in [("blocks", 1), ("countdown", 2), ("doorkey", 3), ("gridworld", 4)] {
                check(domain, &config, seed);
            }
        }
    }
}

#[test]
fn a_plain_sample_has_the_probabilities_of_its_atoms() {
    let problem = Problem::new(&find("countdown").unwrap().alphabet(), 1).unwrap();
    let p = |s: &crate::language::slot::Slot| (0..s.atoms).map(|j| [0.1, 0.5, 0.9][j % 3]).collect();
    let rules: Vec<_> = problem.slots.iter().map(|s| RuleDistribution { p: p(s), confidence: 1.0 }).collect();
    let plain = Plain { problem: &problem, config: &Config::default(), rules: &rules };
    let mut rng = Rng::new(5, 0);
    let mut counts = vec![0.0; rules[0].p.len()];
    for _ in 0..4000 {
        plain.sample(&mut rng)[0].iter().for_each(|&j| counts[j] += 1.0 / 4000.0);
    }
    for (share, p) in counts.iter().zip(&rules[0].p) {
        assert!((share - p).abs() < 0.04, "{share} for P = {p}");
    }
}
