//! Semantic constraints S_c over the candidate atoms of a rule.

use derrl_logic::{Action, Alphabet, Arg, Grounder, Literal, Var};

use crate::language::body::Body;

/// The instances of all axioms over K of one action: sets of atoms that may not stand together in a body.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Constraints {
    instances: Vec<Vec<usize>>,
}

impl Constraints {
    /// Each axiom `false :- b1..bn` forbids {b1..bn}, each `h :- b1..bn` makes {h, b1..bn} redundant, under every
    /// injective renaming of its variables into V. Instances with an atom that is not in K cannot occur.
    pub fn new(alphabet: &Alphabet, grounder: &Grounder, action: Action) -> Constraints {
        let atoms = grounder.atoms(action);
        let mut instances = Vec::new();
        for axiom in &alphabet.constraints {
            let literals: Vec<&Literal> = axiom.head.iter().chain(&axiom.body).collect();
            let mut renaming = Vec::with_capacity(axiom.variables);
            each_renaming(axiom.variables, alphabet.variables, &mut renaming, &mut |renaming| {
                let found: Option<Vec<usize>> = literals
                    .iter()
                    .map(|l| {
                        let renamed = rename(l, renaming);
                        atoms.iter().position(|a| *a == renamed)
                    })
                    .collect();
                if let Some(mut set) = found {
                    set.sort_unstable();
                    set.dedup();
                    instances.push(set);
                }
            });
        }
        instances.sort();
        instances.dedup();
        Constraints { instances }
    }

    /// How many instances there are.
    pub fn len(&self) -> usize {
        self.instances.len()
    }

    /// Whether nothing is forbidden.
    pub fn is_empty(&self) -> bool {
        self.instances.is_empty()
    }

    /// L_sem of one rule: the sum over instances of prod_j P_j. Adds `scale` times dL/dP_j to `gradient`.
    pub fn loss(&self, p: &[f64], scale: f64, gradient: &mut [f64]) -> f64 {
        let mut total = 0.0;
        for set in &self.instances {
            total += set.iter().map(|&j| p[j]).product::<f64>();
            for &j in set {
                gradient[j] += scale * set.iter().filter(|&&k| k != j).map(|&k| p[k]).product::<f64>();
            }
        }
        total
    }

    /// The first instance that a body violates.
    pub fn violated(&self, body: &[u64]) -> Option<&[usize]> {
        self.instances.iter().find(|set| set.iter().all(|&j| Body(body).contains(j))).map(Vec::as_slice)
    }
}

fn rename(literal: &Literal, renaming: &[u8]) -> Literal {
    let args = literal.args.iter().map(|a| match a {
        Arg::Var(v) => Arg::Var(Var(renaming[v.0 as usize])),
        Arg::Const(c) => Arg::Const(c.clone()),
    });
    Literal { positive: literal.positive, pred: literal.pred, args: args.collect() }
}

/// Calls `emit` with every injective map from `from` variables into `into` variables.
fn each_renaming(from: usize, into: usize, renaming: &mut Vec<u8>, emit: &mut dyn FnMut(&[u8])) {
    if renaming.len() == from {
        return emit(renaming);
    }
    for v in 0..into as u8 {
        if !renaming.contains(&v) {
            renaming.push(v);
            each_renaming(from, into, renaming, emit);
            renaming.pop();
        }
    }
}
