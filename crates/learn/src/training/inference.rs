//! Inference as the paper writes it: ground the rules, look up truth values, conjoin, take the best.
//!
//! This is the readable form, with the paper's matrices. Training computes the same values from cached masks
//! (`rollout.rs`); tests hold the two against each other.

use derrl_logic::{Alphabet, Arg, Facts, Literal, Object, Pred, Rule, Universe};

use crate::settings::tnorm::TNorm;

/// G: every ground atom in the order of the alphabet, each with its index j.
#[derive(Clone, Debug)]
pub struct GroundAtoms {
    offsets: Vec<usize>,
    objects: usize,
    len: usize,
}

impl GroundAtoms {
    /// The ground atoms over the predicates of the alphabet and the objects of the universe.
    pub fn new(alphabet: &Alphabet, universe: &Universe) -> GroundAtoms {
        let mut offsets = Vec::new();
        let mut len = 0;
        for p in &alphabet.predicates {
            offsets.push(len);
            len += universe.len().pow(p.args.len() as u32);
        }
        GroundAtoms { offsets, objects: universe.len(), len }
    }

    /// |G|.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The index j of a ground atom.
    pub fn index(&self, pred: Pred, args: &[Object]) -> usize {
        self.offsets[pred.0 as usize] + args.iter().fold(0, |at, o| at * self.objects + o.0 as usize)
    }

    /// v = encode(s, B): v_j = 1 iff g_j is among the facts.
    pub fn encode(&self, facts: &Facts) -> Vec<f64> {
        let mut v = vec![0.0; self.len];
        for (pred, args) in facts.iter() {
            v[self.index(pred, args)] = 1.0;
        }
        v
    }

    /// X^i: one row per substitution (under object identity), the indices of the ground atoms of the body. Rows are sorted.
    ///
    /// `head` are the objects of the head's variables. A variable that the rule does not mention is not substituted.
    pub fn ground(&self, rule: &Rule, head: &[Object], universe: &Universe) -> Vec<Vec<usize>> {
        let variables = rule.body.iter().flat_map(Literal::vars).map(|v| v.0 as usize + 1).max().unwrap_or(0);
        let mut phi: Vec<Option<Object>> = vec![None; variables.max(head.len())];
        head.iter().enumerate().for_each(|(v, &o)| phi[v] = Some(o));
        let mut used = vec![false; phi.len()];
        rule.body.iter().flat_map(Literal::vars).for_each(|v| used[v.0 as usize] = true);
        let mut rows = Vec::new();
        self.substitute(rule, universe, &used, 0, &mut phi, &mut rows);
        rows.sort();
        rows.dedup();
        rows
    }

    fn substitute(
        &self,
        rule: &Rule,
        universe: &Universe,
        used: &[bool],
        v: usize,
        phi: &mut Vec<Option<Object>>,
        rows: &mut Vec<Vec<usize>>,
    ) {
        if v == phi.len() {
            let row = rule.body.iter().map(|l| {
                let args: Option<Vec<Object>> = l
                    .args
                    .iter()
                    .map(|a| match a {
                        Arg::Var(v) => phi[v.0 as usize],
                        Arg::Const(c) => universe.find(c).filter(|o| !phi.contains(&Some(*o))),
                    })
                    .collect();
                args.map(|args| self.index(l.pred, &args))
            });
            rows.extend(row.collect::<Option<Vec<usize>>>());
            return;
        }
        if phi[v].is_some() || !used[v] {
            return self.substitute(rule, universe, used, v + 1, phi, rows);
        }
        for o in universe.objects() {
            if !phi.contains(&Some(o)) {
                phi[v] = Some(o);
                self.substitute(rule, universe, used, v + 1, phi, rows);
            }
        }
        phi[v] = None;
    }
}

/// z^i: the value of a rule under every substitution, from X^i, v and the weights w^i of its atoms.
pub fn valuations(rule: &Rule, x: &[Vec<usize>], v: &[f64], w: &[f64], tnorm: TNorm) -> Vec<f64> {
    let truth = |(&j, positive): (&usize, bool)| if positive { v[j] } else { 1.0 - v[j] };
    x.iter()
        .map(|row| {
            // Y^i = value(X^i)
            let y: Vec<f64> = row.iter().zip(rule.body.iter().map(|l| l.positive)).map(truth).collect();
            tnorm.value(&y, w)
        })
        .collect()
}

/// F^i = max(z^i); an empty body abstains.
pub fn value(rule: &Rule, z: &[f64]) -> f64 {
    if rule.body.is_empty() { 0.0 } else { z.iter().copied().fold(0.0, f64::max) }
}

/// pi = softmax(F / temperature).
pub fn softmax(f: &[f64], temperature: f64) -> Vec<f64> {
    let highest = f.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let e: Vec<f64> = f.iter().map(|f| ((f - highest) / temperature).exp()).collect();
    let total: f64 = e.iter().sum();
    e.iter().map(|e| e / total).collect()
}
