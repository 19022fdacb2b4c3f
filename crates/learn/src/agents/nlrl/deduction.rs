//! Differentiable forward chaining, and its gradient.
//!
//! Let e be the value of every ground atom: 0 or 1 for facts, in [0, 1] for invented predicates, which start at 0. With
//! w_s = softmax(theta_s) the weights of the candidate clauses of slot s, one step computes for every head atom h
//!
//! F_c(h) = max over the existential variables of e(first atom) e(second atom)      for each candidate c
//! S_s(h) = sum_c w_{s,c} F_c(h)                                                    for each slot s
//! e'(h)  = 1 - prod_{s of the predicate of h} (1 - S_s(h))                         (x + y - xy)
//!
//! After all steps the values of the action atoms give pi. As published, every clause is valued on every substitution,
//! anew at every decision; only clauses without invented predicates, which no step changes, are valued once per decision.

use std::sync::Arc;

use derrl_logic::{Alphabet, Facts, GroundAction, Object, Pred, SlotHead, Templates, Type, Universe};

use crate::agents::nlrl::clauses::{Slot, Symbol};

/// The ground atoms of a universe and, for every slot, where its body atoms are found among them.
pub struct World {
    /// Where the atoms of each predicate start in e: those of the domain first, then the invented ones.
    offsets: Vec<usize>,
    /// How many ground atoms there are of the domain's predicates.
    given: usize,
    /// All ground atoms.
    len: usize,
    objects: usize,
    actions: usize,
    slots: Vec<Grounded>,
}

/// A slot over a universe.
struct Grounded {
    /// Where the value of each head atom goes: a place of e beyond the given atoms, or a ground action.
    heads: Vec<usize>,
    /// Substitutions of the existential variables.
    substitutions: usize,
    /// For every atom, head and substitution (the last changing fastest), the place of the ground atom in e.
    index: Vec<u32>,
}

impl Grounded {
    fn rows(&self) -> usize {
        self.heads.len() * self.substitutions
    }

    /// The places of a body atom for one head, one per substitution.
    fn places(&self, atom: u32, head: usize) -> &[u32] {
        let from = atom as usize * self.rows() + head * self.substitutions;
        &self.index[from..from + self.substitutions]
    }
}

/// What the forward pass leaves for the backward pass.
#[derive(Default)]
pub struct Tape {
    /// e after every step, the first with all invented atoms at 0.
    values: Vec<Vec<f64>>,
    /// Per slot: F_c(h) of the candidates without invented predicates.
    fixed: Vec<Vec<f64>>,
    /// Per slot: sum of w_c F_c(h) over these.
    fixed_sums: Vec<Vec<f64>>,
    /// Per step and slot: F_c(h) of the other candidates with the substitution that gives it.
    deduced: Vec<Vec<(f64, u32)>>,
    /// Per step and slot: S_s(h).
    sums: Vec<Vec<f64>>,
    /// The values of the action atoms.
    actions: Vec<f64>,
    pi: Vec<f64>,
}

/// Room that a pass works in.
#[derive(Default)]
pub struct Scratch {
    /// Per slot: the values of its body atoms, in the order of [`Grounded::index`].
    columns: Vec<Vec<f64>>,
    /// The gradient with respect to e before a step, and after it.
    d_values: Vec<f64>,
    d_after: Vec<f64>,
    /// Per slot: the gradient with respect to S_s(h), summed over the steps.
    d_fixed: Vec<Vec<f64>>,
}

/// Forward chaining over the slots of some templates.
#[derive(Clone, Debug)]
pub struct Deduction {
    /// The slots with their candidates.
    pub slots: Vec<Slot>,
    arities: Vec<usize>,
    given: usize,
    steps: usize,
}

impl Deduction {
    /// Forward chaining over these slots.
    pub fn new(alphabet: &Alphabet, templates: &Templates, slots: Vec<Slot>) -> Deduction {
        let given = alphabet.predicates.iter().map(|p| p.args.len());
        let invented = templates.invented.iter().map(|p| p.args.len());
        Deduction {
            arities: given.chain(invented).collect(),
            given: alphabet.predicates.len(),
            // Invented predicates matter to actions only: with none, one step says all.
            steps: if templates.invented.is_empty() { 1 } else { templates.steps },
            slots,
        }
    }

    /// The number of candidate clauses.
    pub fn clauses(&self) -> usize {
        self.slots.iter().map(|s| s.clauses.len()).sum()
    }

    fn predicate(&self, symbol: Symbol) -> usize {
        match symbol {
            Symbol::Given(p) => p.0 as usize,
            Symbol::Invented(p) => self.given + p,
        }
    }

    /// Grounds the slots over a universe. Takes memory in the number of body atoms times n^variables.
    pub fn world(&self, alphabet: &Alphabet, universe: &Universe, actions: &Arc<[GroundAction]>) -> World {
        let n = universe.len();
        let mut offsets = Vec::new();
        let mut len = 0;
        let mut given = 0;
        for (p, &arity) in self.arities.iter().enumerate() {
            if p == self.given {
                given = len;
            }
            offsets.push(len);
            len += n.pow(arity as u32);
        }
        if self.arities.len() == self.given {
            given = len;
        }
        let mut world = World { offsets, given, len, objects: n, actions: actions.len(), slots: Vec::new() };
        for slot in &self.slots {
            let heads: Vec<(usize, Vec<Object>)> = match slot.head {
                SlotHead::Action(action) => {
                    let mine = actions.iter().enumerate().filter(|(_, a)| a.action == action);
                    mine.map(|(i, a)| (i, a.args.clone())).collect()
                }
                SlotHead::Invented(p) => tuples(alphabet, universe, &slot.head_types)
                    .into_iter()
                    .map(|args| (world.place(self.given + p, &args), args))
                    .collect(),
            };
            let substitutions = n.pow(slot.existential as u32);
            let mut index = Vec::with_capacity(slot.atoms.len() * heads.len() * substitutions);
            for atom in &slot.atoms {
                let predicate = self.predicate(atom.symbol);
                for (_, head) in &heads {
                    for code in 0..substitutions {
                        // The digits of the code in base n are the existential variables.
                        let object = |&v: &u8| match usize::from(v).checked_sub(head.len()) {
                            None => head[usize::from(v)],
                            Some(e) => Object((code / n.pow(e as u32) % n) as u32),
                        };
                        let args: Vec<Object> = atom.vars.iter().map(object).collect();
                        index.push(world.place(predicate, &args) as u32);
                    }
                }
            }
            let heads = heads.into_iter().map(|h| h.0).collect();
            world.slots.push(Grounded { heads, substitutions, index });
        }
        world
    }
}

impl World {
    /// The place of a ground atom in e.
    fn place(&self, predicate: usize, args: &[Object]) -> usize {
        self.offsets[predicate] + args.iter().fold(0, |at, o| at * self.objects + o.0 as usize)
    }

    /// e of the given atoms: 1 for what holds.
    pub fn encode(&self, facts: &Facts) -> Vec<f64> {
        let mut e = vec![0.0; self.given];
        for (Pred(p), args) in facts.iter() {
            e[self.place(p as usize, args)] = 1.0;
        }
        e
    }
}

/// Every tuple of objects of these types.
fn tuples(alphabet: &Alphabet, universe: &Universe, types: &[Type]) -> Vec<Vec<Object>> {
    let mut all: Vec<Vec<Object>> = vec![Vec::new()];
    for &t in types {
        let fits = |&o: &Object| alphabet.types.is_subtype(universe.type_of(o), t);
        all = all
            .into_iter()
            .flat_map(|tuple| {
                universe.objects().filter(fits).map(move |o| {
                    let mut longer = tuple.clone();
                    longer.push(o);
                    longer
                })
            })
            .collect();
    }
    all
}

fn resized(vectors: &mut Vec<Vec<f64>>, n: usize) -> &mut [Vec<f64>] {
    vectors.resize_with(n.max(vectors.len()), Vec::new);
    &mut vectors[..n]
}

impl Deduction {
    /// pi in a state, given the weights of all clauses.
    pub fn forward<'t>(
        &self,
        weights: &[f64],
        world: &World,
        given: &[f64],
        scratch: &mut Scratch,
        tape: &'t mut Tape,
    ) -> &'t [f64] {
        let slots = self.slots.len();
        for e in resized(&mut tape.values, self.steps) {
            e.clear();
            e.extend_from_slice(given);
            e.resize(world.len, 0.0);
        }
        resized(&mut tape.sums, self.steps * slots);
        tape.deduced.resize_with((self.steps * slots).max(tape.deduced.len()), Vec::new);
        resized(&mut scratch.columns, slots);
        resized(&mut tape.fixed, slots);
        resized(&mut tape.fixed_sums, slots);
        for (s, (slot, grounded)) in self.slots.iter().zip(&world.slots).enumerate() {
            let columns = &mut scratch.columns[s];
            columns.clear();
            columns.extend(grounded.index.iter().map(|&k| tape.values[0][k as usize]));
            value_given(weights, slot, grounded, columns, &mut tape.fixed[s], &mut tape.fixed_sums[s]);
        }
        // The invented predicates, then once the actions.
        for step in 1..self.steps {
            self.step(weights, world, step, false, scratch, tape);
        }
        self.step(weights, world, self.steps, true, scratch, tape);
        act(&tape.actions, &mut tape.pi);
        &tape.pi
    }

    /// One step of forward chaining: from the values after step - 1 to the invented atoms (or the actions) after it.
    fn step(
        &self,
        weights: &[f64],
        world: &World,
        step: usize,
        actions: bool,
        scratch: &mut Scratch,
        tape: &mut Tape,
    ) {
        if actions {
            tape.actions.clear();
            tape.actions.resize(world.actions, 0.0);
        }
        for (s, (slot, grounded)) in self.slots.iter().zip(&world.slots).enumerate() {
            if matches!(slot.head, SlotHead::Action(_)) != actions {
                continue;
            }
            let before = &tape.values[step - 1];
            let (columns, rows, per_head) =
                (&mut scratch.columns[s], grounded.rows(), grounded.substitutions);
            for (i, atom) in slot.atoms.iter().enumerate() {
                if matches!(atom.symbol, Symbol::Invented(_)) {
                    let places = &grounded.index[i * rows..(i + 1) * rows];
                    let column = columns[i * rows..(i + 1) * rows].iter_mut();
                    column.zip(places).for_each(|(x, &k)| *x = before[k as usize]);
                }
            }
            let at = (step - 1) * self.slots.len() + s;
            let (sums, deduced) = (&mut tape.sums[at], &mut tape.deduced[at]);
            sums.clone_from(&tape.fixed_sums[s]);
            deduced.clear();
            for (c, &(i, j)) in slot.clauses.iter().enumerate().skip(slot.given) {
                let w = weights[slot.at + c];
                let first = &columns[i as usize * rows..(i as usize + 1) * rows];
                let second = &columns[j as usize * rows..(j as usize + 1) * rows];
                for (h, sum) in sums.iter_mut().enumerate() {
                    let at = h * per_head..(h + 1) * per_head;
                    let (f, by) = best(&first[at.clone()], &second[at]);
                    deduced.push((f, by));
                    *sum += w * f;
                }
            }
            // e'(h) = x + y - xy over the slots of the predicate
            for (&place, &x) in grounded.heads.iter().zip(sums.iter()) {
                let e = if actions { &mut tape.actions[place] } else { &mut tape.values[step][place] };
                *e += x - *e * x;
            }
        }
    }

    /// Adds the gradient with respect to the weights of all clauses, given that with respect to pi.
    pub fn backward(
        &self,
        weights: &[f64],
        world: &World,
        scratch: &mut Scratch,
        tape: &Tape,
        d_pi: &mut [f64],
        gradient: &mut [f64],
    ) {
        through_act(&tape.actions, &tape.pi, d_pi);
        for (d, grounded) in resized(&mut scratch.d_fixed, self.slots.len()).iter_mut().zip(&world.slots) {
            d.clear();
            d.resize(grounded.heads.len(), 0.0);
        }
        scratch.d_values.clear();
        scratch.d_values.resize(world.len, 0.0);
        self.step_back(weights, world, self.steps, Some(d_pi), scratch, tape, gradient);
        for step in (1..self.steps).rev() {
            std::mem::swap(&mut scratch.d_values, &mut scratch.d_after);
            scratch.d_values.clear();
            scratch.d_values.resize(world.len, 0.0);
            self.step_back(weights, world, step, None, scratch, tape, gradient);
        }
        for (s, slot) in self.slots.iter().enumerate() {
            let d = &scratch.d_fixed[s];
            let by_clause = tape.fixed[s].chunks_exact(d.len().max(1));
            for (g, f) in gradient[slot.at..slot.at + slot.given].iter_mut().zip(by_clause) {
                *g += f.iter().zip(d).map(|(f, d)| f * d).sum::<f64>();
            }
        }
    }

    /// The gradient of one step: from d e' (of the actions, or of the invented atoms in `d_after`) to d w and, added to
    /// `d_values`, d e.
    #[allow(clippy::too_many_arguments)]
    fn step_back(
        &self,
        weights: &[f64],
        world: &World,
        step: usize,
        d_actions: Option<&[f64]>,
        scratch: &mut Scratch,
        tape: &Tape,
        gradient: &mut [f64],
    ) {
        for (s, (slot, grounded)) in self.slots.iter().zip(&world.slots).enumerate() {
            if matches!(slot.head, SlotHead::Action(_)) != d_actions.is_some() {
                continue;
            }
            let at = (step - 1) * self.slots.len() + s;
            for (h, &place) in grounded.heads.iter().enumerate() {
                let d_e = d_actions.map_or_else(|| scratch.d_after[place], |d| d[place]);
                if d_e == 0.0 {
                    continue;
                }
                // d e' / d S_s = prod over the other slots of the predicate of (1 - S)
                let mut d = d_e;
                for (o, other) in self.slots.iter().enumerate() {
                    if o != s && other.head == slot.head {
                        d *= 1.0 - tape.sums[at - s + o][h];
                    }
                }
                scratch.d_fixed[s][h] += d;
                let before = &tape.values[step - 1];
                let heads = grounded.heads.len();
                for (c, &(i, j)) in slot.clauses.iter().enumerate().skip(slot.given) {
                    let (f, by) = tape.deduced[at][(c - slot.given) * heads + h];
                    gradient[slot.at + c] += d * f;
                    // d F = d e(first) e(second) + e(first) d e(second), at the substitution of the maximum
                    let d_f = d * weights[slot.at + c];
                    let first = grounded.places(i, h)[by as usize] as usize;
                    let second = grounded.places(j, h)[by as usize] as usize;
                    scratch.d_values[first] += d_f * before[second];
                    scratch.d_values[second] += d_f * before[first];
                }
            }
        }
    }
}

/// F_c(h) and its weighted sum, for the candidates that no step changes.
fn value_given(
    weights: &[f64],
    slot: &Slot,
    grounded: &Grounded,
    columns: &[f64],
    fixed: &mut Vec<f64>,
    sums: &mut Vec<f64>,
) {
    let (rows, per_head) = (grounded.rows(), grounded.substitutions);
    fixed.clear();
    sums.clear();
    sums.resize(grounded.heads.len(), 0.0);
    for (c, &(i, j)) in slot.clauses[..slot.given].iter().enumerate() {
        let w = weights[slot.at + c];
        let first = &columns[i as usize * rows..(i as usize + 1) * rows];
        let second = &columns[j as usize * rows..(j as usize + 1) * rows];
        for (h, sum) in sums.iter_mut().enumerate() {
            let at = h * per_head..(h + 1) * per_head;
            let f = best_value(&first[at.clone()], &second[at]);
            fixed.push(f);
            *sum += w * f;
        }
    }
}

/// max_s x_s y_s.
#[inline]
fn best_value(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).fold(0.0, |best, (x, y)| f64::max(best, x * y))
}

/// max_s x_s y_s and the first s that gives it.
#[inline]
fn best(x: &[f64], y: &[f64]) -> (f64, u32) {
    let f = best_value(x, y);
    let by = x.iter().zip(y).position(|(x, y)| x * y == f).unwrap_or(0);
    (f, by as u32)
}

/// Action probabilities from the values of the action atoms: divided by their sum if that is 1 or more, else what is
/// missing to 1 is shared evenly.
fn act(values: &[f64], pi: &mut Vec<f64>) {
    let sum: f64 = values.iter().sum();
    pi.clear();
    if sum >= 1.0 {
        pi.extend(values.iter().map(|v| v / sum));
    } else {
        let share = (1.0 - sum) / values.len() as f64;
        pi.extend(values.iter().map(|v| v + share));
    }
}

/// The gradient with respect to the values of the action atoms, in place of that with respect to pi.
fn through_act(values: &[f64], pi: &[f64], d: &mut [f64]) {
    let sum: f64 = values.iter().sum();
    let (mean, scale) = if sum >= 1.0 {
        (pi.iter().zip(&*d).map(|(p, d)| p * d).sum::<f64>(), 1.0 / sum)
    } else {
        (d.iter().sum::<f64>() / d.len() as f64, 1.0)
    };
    for d in d.iter_mut() {
        *d = (*d - mean) * scale;
    }
}
