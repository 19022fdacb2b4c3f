//! The paper in plain form: P, then a sample of rules, then F, then pi, then the gradient.
//!
//! One file in the paper's notation, for every estimator and t-norm. It is slow and keeps nothing: every substitution of
//! every ground action is gone through each time. What learns is the fast path (`experience/rollout.rs` and
//! `training/gradient.rs`), which computes the same numbers from masks; tests hold the two against each other.

use derrl_env::Rng;
use derrl_logic::{Action, Arg, Facts, GroundAction, Object, Universe};

use crate::generator::sampler::gumbel_max;
use crate::language::ids::Learner;
use crate::language::problem::Problem;
use crate::language::slot::RuleDistribution;
use crate::settings::config::{Config, ConstraintMode};
use crate::settings::estimator::{Gradient, Value};
use crate::training::inference::{GroundAtoms, softmax};

/// The rules of a problem as R_theta gives them: P and the confidence c of every slot.
pub struct Plain<'a> {
    /// The slots, each with its candidate atoms K.
    pub problem: &'a Problem,
    /// Estimator, t-norm and temperature.
    pub config: &'a Config,
    /// P and c, by slot.
    pub rules: &'a [RuleDistribution],
}

/// A decision to learn from.
pub struct PlainStep<'a> {
    /// Y, by ground action, by substitution phi: which atoms of K are true.
    pub y: &'a [Vec<Vec<f64>>],
    /// The target predicate of each ground action.
    pub actions: &'a [Action],
    /// b^i of every slot: the places of its atoms in K. Empty where nothing is sampled.
    pub b: &'a [Vec<usize>],
    /// The ground action that was taken.
    pub taken: usize,
    /// A_t.
    pub advantage: f64,
    /// Whether it is the first of its episode.
    pub first: bool,
}

impl Plain<'_> {
    /// b^i ~ P^i for every slot, by the Gumbel-max trick.
    pub fn sample(&self, rng: &mut Rng) -> Vec<Vec<usize>> {
        let body = |d: &RuleDistribution| (0..d.p.len()).filter(|&j| gumbel_max(d.p[j], rng)).collect();
        self.rules.iter().map(body).collect()
    }

    /// Y of a ground action: a row per substitution phi of the variables by distinct objects, or by none; an entry per atom
    /// of K: its truth value.
    pub fn substitutions(&self, action: &GroundAction, facts: &Facts, universe: &Universe) -> Vec<Vec<f64>> {
        let alphabet = &self.problem.alphabet;
        let atoms = GroundAtoms::new(alphabet, universe);
        let v = atoms.encode(facts);
        let mut phis: Vec<Vec<Option<Object>>> = vec![action.args.iter().copied().map(Some).collect()];
        for _ in action.args.len()..alphabet.variables_for(action.args.len()) {
            let longer = |phi: &Vec<Option<Object>>| {
                let free: Vec<_> =
                    universe.objects().map(Some).filter(|o| !phi.contains(o)).chain([None]).collect();
                free.into_iter().map(|o| [phi.as_slice(), &[o]].concat()).collect::<Vec<_>>()
            };
            phis = phis.iter().flat_map(longer).collect();
        }
        let truth = |phi: &Vec<Option<Object>>| {
            let k = self.problem.grounder.atoms(action.action).iter();
            k.map(|literal| {
                let args = literal.args.iter().map(|arg| match arg {
                    Arg::Var(x) => phi[x.0 as usize],
                    Arg::Const(c) => universe.find(c).filter(|o| !phi.contains(&Some(*o))),
                });
                let Some(args) = args.collect::<Option<Vec<Object>>>() else { return 0.0 };
                let v_j = v[atoms.index(literal.pred, &args)];
                if literal.positive { v_j } else { 1.0 - v_j }
            })
            .collect()
        };
        phis.iter().map(truth).collect()
    }

    /// F of a slot for a ground action, without its confidence, and the phi that gives it.
    fn value(&self, slot: usize, value: Value, b: &[usize], y: &[Vec<f64>]) -> (f64, usize) {
        let p = &self.rules[slot].p;
        let of = |y: &Vec<f64>| match value {
            _ if b.is_empty() && value != Value::Relaxed => 0.0, // an empty body abstains
            // z = T(y, w) over the atoms of the body
            Value::Weighted => self.config.tnorm.value(&at(b, y), &at(b, p)),
            Value::Crisp => f64::from(u8::from(b.iter().all(|&j| y[j] == 1.0))),
            // prod_{j false under phi} (1 - P_j) - prod_j (1 - P_j)
            Value::Relaxed => {
                let none: f64 = p.iter().map(|p| 1.0 - p).product();
                let outside = p.iter().zip(y).filter(|(_, y)| **y == 0.0);
                outside.map(|(p, _)| 1.0 - p).product::<f64>() - none
            }
        };
        // F^i = max(z^i)
        let z = y.iter().map(of).zip(0..);
        z.fold((0.0, 0), |best, (z, phi)| if z > best.0 { (z, phi) } else { best })
    }

    /// The slot of a ground action with the highest c F, and that value.
    fn best(&self, value: Value, step: &PlainStep<'_>, a: usize) -> (usize, f64) {
        let slots = self.problem.slots_of(Learner::FIRST, step.actions[a]);
        let f = |k: usize| {
            let b = step.b.get(k).map_or(&[][..], Vec::as_slice);
            (k, self.rules[k].confidence * self.value(k, value, b, &step.y[a]).0)
        };
        let start = (slots.first.index(), 0.0);
        slots.range().map(f).fold(start, |best, one| if one.1 > best.1 { one } else { best })
    }

    /// F of every ground action, with the slot that gives it.
    pub fn f(&self, step: &PlainStep<'_>) -> Vec<(usize, f64)> {
        let (_, value, _) = self.config.estimator.choices();
        (0..step.actions.len()).map(|a| self.best(value, step, a)).collect()
    }

    /// pi = softmax(F / temperature).
    pub fn pi(&self, f: &[(usize, f64)]) -> Vec<f64> {
        softmax(&f.iter().map(|f| f.1).collect::<Vec<f64>>(), self.config.temperature)
    }

    /// The gradient of J + lambda_sem L_sem with respect to x_j = logit(P_j) and to c of every slot.
    pub fn gradient(&self, steps: &[PlainStep<'_>]) -> (Vec<Vec<f64>>, Vec<f64>) {
        let (_, value, through) = self.config.estimator.choices();
        let mut d_x: Vec<Vec<f64>> = self.rules.iter().map(|d| vec![0.0; d.p.len()]).collect();
        let mut d_c = vec![0.0; self.rules.len()];
        let episodes = steps.iter().filter(|s| s.first).count() as f64;
        for step in steps {
            let f = self.f(step);
            let pi = self.pi(&f);
            for (a, &(slot, f_a)) in f.iter().enumerate() {
                // dJ/dF_a = -A (1[a taken] - pi_a) / temperature
                let taken = f64::from(u8::from(a == step.taken));
                let d_f = -step.advantage * (taken - pi[a]) / (self.config.temperature * episodes);
                let derived = f_a > 0.0 || value == Value::Relaxed;
                // Relaxed: an action that no sampled rule derives is credited to the slot that is closest to it.
                let k = if derived { slot } else { self.best(Value::Relaxed, step, a).0 };
                let RuleDistribution { p, confidence } = &self.rules[k];
                let b = step.b.get(k).map_or(&[][..], Vec::as_slice);
                if derived {
                    d_c[k] += d_f * self.value(k, value, b, &step.y[a]).0;
                }
                match through {
                    Gradient::Relaxed => {
                        let (f, phi) = self.value(k, Value::Relaxed, b, &step.y[a]);
                        let none: f64 = p.iter().map(|p| 1.0 - p).product();
                        for (j, p_j) in p.iter().enumerate() {
                            // dF/dx_j = -P_j F outside the mask of phi, P_j prod(1 - P) inside
                            let outside = step.y[a][phi][j] == 0.0;
                            d_x[k][j] += d_f * confidence * p_j * if outside { -f } else { none };
                        }
                    }
                    Gradient::Weights if derived => {
                        let (_, phi) = self.value(k, value, b, &step.y[a]);
                        let mut d_w = vec![0.0; b.len()];
                        self.config.tnorm.gradient(&at(b, &step.y[a][phi]), &at(b, p), &mut d_w);
                        for (&j, d_w) in b.iter().zip(d_w) {
                            d_x[k][j] += d_f * confidence * d_w * p[j] * (1.0 - p[j]);
                        }
                    }
                    Gradient::Weights | Gradient::Score => {}
                }
            }
            if through == Gradient::Score && step.first {
                // J = -E[A log p(b)], d log p(b) / dx_j = b_j - P_j
                for ((d, b), d_x) in self.rules.iter().zip(step.b).zip(&mut d_x) {
                    for (j, p) in d.p.iter().enumerate() {
                        let b_j = f64::from(u8::from(b.contains(&j)));
                        d_x[j] -= step.advantage * (b_j - p) / episodes;
                    }
                }
            }
        }
        if self.config.constraints != ConstraintMode::Off {
            // dL_sem/dx_j = dL_sem/dP_j P_j (1 - P_j)
            for ((d, slot), d_x) in self.rules.iter().zip(&self.problem.slots).zip(&mut d_x) {
                let mut d_p = vec![0.0; d.p.len()];
                self.problem.constraints(slot.action).loss(&d.p, self.config.lambda_sem, &mut d_p);
                d_x.iter_mut().zip(&d.p).zip(d_p).for_each(|((d_x, p), d_p)| *d_x += d_p * p * (1.0 - p));
            }
        }
        (d_x, d_c)
    }
}

/// The entries of a vector at the atoms of a body.
fn at(b: &[usize], of: &[f64]) -> Vec<f64> {
    b.iter().map(|&j| of[j]).collect()
}

#[cfg(test)]
mod tests;
