//! GCN: two relational graph convolutions over the objects of a state, then a score for every ground action.
//!
//! Objects are nodes. Unary facts and types are features of their node; nullary facts are features of all nodes; a fact
//! p(x1, .., xk) of two or more arguments is an edge from x_i to x_j of the type (p, i, j) for every i != j, so that
//! each relation is read in both directions and ternary facts come apart into pairs. With N_r(i) the neighbours of node
//! i by edges of type r and h^0 the features,
//!
//! h^l_i = tanh(b^l + W^l_0 h^{l-1}_i + sum_r W^l_r mean_{j in N_r(i)} h^{l-1}_j),   l = 1, 2
//!
//! score of a(x1, .., xk) = c_a + sum_i <u_{a,i}, h^2_{x_i}> + <u_{a,0}, mean_j h^2_j>
//!
//! and pi is the softmax of the scores. No parameter belongs to an object, so the number of objects may change.

use std::sync::Arc;

use derrl_env::Rng;
use derrl_logic::{Alphabet, Facts, GroundAction, Type, Universe};

use crate::agents::linear::{
    add_outer, add_product, add_transposed, softmax_in_place, through_softmax, through_tanh,
};
use crate::agents::reinforce::{BaselineAgent, BaselineConfig, Model};
use crate::agents::{AgentSpec, Setup};
use crate::error::Error;
use crate::generator::network::normal;

/// The row of the table of agents.
pub const SPEC: AgentSpec = AgentSpec {
    name: "gcn",
    summary: "a two-layer graph convolution network over objects and relations",
    learning: Some(learning),
    make: |setup| Ok(Box::new(learner(setup)?)),
};

/// An untrained learner.
pub fn learner(setup: &Setup<'_>) -> Result<BaselineAgent<Gcn>, Error> {
    let model =
        |alphabet: &Arc<Alphabet>, _: &_, learning: &BaselineConfig| Ok(Gcn::new(alphabet, learning.hidden));
    BaselineAgent::new(setup, learning(), model)
}

fn learning() -> BaselineConfig {
    BaselineConfig { learning_rate: 0.005, batch: 128, hidden: 16, ..BaselineConfig::default() }
}

/// The network with its sizes.
pub struct Gcn {
    alphabet: Arc<Alphabet>,
    /// The feature of each predicate of arity 0 or 1; types come after them.
    feature: Vec<Option<usize>>,
    /// The first edge type of each predicate of arity 2 or more.
    relation: Vec<Option<usize>>,
    features: usize,
    relations: usize,
    hidden: usize,
    at: Layout,
}

/// Where the parameters of each part start.
#[derive(Clone, Debug, Default)]
struct Layout {
    bias1: usize,
    w2: usize,
    bias2: usize,
    /// For each action: u_{a,0}, u_{a,1}, .., then c_a.
    scores: Vec<usize>,
    len: usize,
}

/// The nodes of a universe.
pub struct World {
    /// The types of each node, as features.
    types: Vec<Vec<usize>>,
    actions: Arc<[GroundAction]>,
}

/// The graph of a state.
pub struct Graph {
    /// For each node, the input of the first layer: (place, value) of what is not 0 in (h^0_i, mean by relation 1, ..).
    inputs: Vec<Vec<(u32, f64)>>,
    /// For each node and edge type that has any: the neighbours.
    neighbours: Vec<Neighbours>,
}

pub struct Neighbours {
    node: usize,
    relation: usize,
    from: Vec<usize>,
}

#[derive(Default)]
pub struct Tape {
    /// h^1 and h^2, node after node, then the mean of h^2.
    h1: Vec<f64>,
    h2: Vec<f64>,
    mean: Vec<f64>,
    /// The mean of the neighbours' h^1, in the order of [`Graph::neighbours`].
    messages: Vec<f64>,
    pi: Vec<f64>,
}

/// The gradients with respect to h^1, h^2, the mean of h^2 and one message.
#[derive(Default)]
pub struct Scratch {
    d1: Vec<f64>,
    d2: Vec<f64>,
    d_mean: Vec<f64>,
    d_message: Vec<f64>,
}

impl Gcn {
    fn new(alphabet: &Arc<Alphabet>, hidden: usize) -> Gcn {
        let mut features = 0;
        let mut relations = 0;
        let mut feature = Vec::new();
        let mut relation = Vec::new();
        for p in &alphabet.predicates {
            let arity = p.args.len();
            feature.push((arity < 2).then_some(features));
            relation.push((arity >= 2).then_some(relations));
            features += usize::from(arity < 2);
            relations += arity * arity.saturating_sub(1);
        }
        features += alphabet.types.len();
        // W^1 with one row an input, so that an input adds its row; W^2_0, W^2_1, .. with one row an output each.
        let bias1 = (relations + 1) * features * hidden;
        let w2 = bias1 + hidden;
        let bias2 = w2 + (relations + 1) * hidden * hidden;
        let mut len = bias2 + hidden;
        let mut scores = Vec::new();
        for a in &alphabet.actions {
            scores.push(len);
            len += (a.args.len() + 1) * hidden + 1;
        }
        let at = Layout { bias1, w2, bias2, scores, len };
        Gcn { alphabet: Arc::clone(alphabet), feature, relation, features, relations, hidden, at }
    }

    fn second(&self, relation: usize) -> std::ops::Range<usize> {
        let size = self.hidden * self.hidden;
        let from = self.at.w2 + relation * size;
        from..from + size
    }

    /// Where u_{a,i} is, for the nodes that an action names (i from 1) and for the mean of all (i = 0).
    fn readouts<'a>(&'a self, action: &'a GroundAction) -> impl Iterator<Item = (usize, Option<usize>)> + 'a {
        let from = self.at.scores[action.action.0 as usize];
        let named = action.args.iter().map(|o| Some(o.0 as usize));
        std::iter::once(None).chain(named).enumerate().map(move |(i, node)| (from + i * self.hidden, node))
    }

    fn constant(&self, action: &GroundAction) -> usize {
        self.at.scores[action.action.0 as usize] + (action.args.len() + 1) * self.hidden
    }
}

impl Model for Gcn {
    type World = World;
    type State = Graph;
    type Tape = Tape;
    type Scratch = Scratch;

    fn parameters(&self) -> usize {
        self.at.len
    }

    fn initial(&self, rng: &mut Rng) -> Vec<f64> {
        let mut theta = vec![0.0; self.at.len];
        let mut fill = |part: std::ops::Range<usize>, scale: f64| {
            theta[part].iter_mut().for_each(|t| *t = scale * normal(rng));
        };
        fill(0..self.at.bias1, 1.0);
        fill(self.at.w2..self.at.bias2, 1.0 / (self.hidden as f64 * (self.relations + 1) as f64).sqrt());
        fill(self.at.bias2 + self.hidden..self.at.len, 0.1 / (self.hidden as f64).sqrt());
        theta
    }

    fn world(&self, universe: &Universe, actions: &Arc<[GroundAction]>) -> World {
        let types = &self.alphabet.types;
        let first = self.features - types.len();
        let of = |t: Type| {
            let above = (0..types.len()).filter(move |&s| types.is_subtype(t, Type(s as u32)));
            above.map(|s| first + s).collect()
        };
        World {
            types: universe.objects().map(|o| of(universe.type_of(o))).collect(),
            actions: Arc::clone(actions),
        }
    }

    fn state(&self, world: &World, facts: &Facts) -> Graph {
        let n = world.types.len();
        let mut features: Vec<Vec<usize>> = world.types.clone();
        let mut edges: Vec<Vec<usize>> = vec![Vec::new(); n * self.relations];
        for (p, args) in facts.iter() {
            match *args {
                [] => features.iter_mut().for_each(|f| f.extend(self.feature[p.0 as usize])),
                [o] => features[o.0 as usize].extend(self.feature[p.0 as usize]),
                _ => {
                    let mut r = self.relation[p.0 as usize].unwrap_or(0);
                    for (i, from) in args.iter().enumerate() {
                        for (j, to) in args.iter().enumerate() {
                            if i != j {
                                edges[to.0 as usize * self.relations + r].push(from.0 as usize);
                                r += 1;
                            }
                        }
                    }
                }
            }
        }
        let mut inputs: Vec<Vec<(u32, f64)>> =
            features.iter().map(|f| f.iter().map(|&k| (k as u32, 1.0)).collect()).collect();
        let mut neighbours = Vec::new();
        for (k, from) in edges.into_iter().enumerate().filter(|(_, from)| !from.is_empty()) {
            let (node, relation) = (k / self.relations, k % self.relations);
            let mut mean = vec![0.0; self.features];
            for &j in &from {
                features[j].iter().for_each(|&f| mean[f] += 1.0 / from.len() as f64);
            }
            let place = |f: usize| ((relation + 1) * self.features + f) as u32;
            inputs[node].extend(mean.iter().enumerate().filter(|m| *m.1 != 0.0).map(|(f, &m)| (place(f), m)));
            neighbours.push(Neighbours { node, relation, from });
        }
        Graph { inputs, neighbours }
    }

    fn forward<'t>(
        &self,
        weights: &[f64],
        world: &World,
        graph: &Graph,
        _: &mut Scratch,
        tape: &'t mut Tape,
    ) -> &'t [f64] {
        let (n, h) = (graph.inputs.len(), self.hidden);
        let node = |i: usize| i * h..(i + 1) * h;
        tape.h1.clear();
        for inputs in &graph.inputs {
            let from = tape.h1.len();
            tape.h1.extend_from_slice(&weights[self.at.bias1..self.at.w2]);
            for &(k, x) in inputs {
                let row = &weights[k as usize * h..(k as usize + 1) * h];
                tape.h1[from..].iter_mut().zip(row).for_each(|(y, w)| *y += w * x);
            }
        }
        tape.h1.iter_mut().for_each(|x| *x = x.tanh());

        tape.h2.clear();
        for i in 0..n {
            tape.h2.extend_from_slice(&weights[self.at.bias2..self.at.bias2 + h]);
            add_product(&weights[self.second(0)], &tape.h1[node(i)], &mut tape.h2[node(i)]);
        }
        tape.messages.clear();
        tape.messages.resize(graph.neighbours.len() * h, 0.0);
        for (k, edge) in graph.neighbours.iter().enumerate() {
            let message = &mut tape.messages[node(k)];
            for &j in &edge.from {
                message.iter_mut().zip(&tape.h1[node(j)]).for_each(|(m, x)| *m += x);
            }
            let scale = 1.0 / edge.from.len() as f64;
            for m in message.iter_mut() {
                *m *= scale;
            }
            add_product(&weights[self.second(edge.relation + 1)], message, &mut tape.h2[node(edge.node)]);
        }
        tape.h2.iter_mut().for_each(|x| *x = x.tanh());

        tape.mean.clear();
        tape.mean.resize(h, 0.0);
        for i in 0..n {
            tape.mean.iter_mut().zip(&tape.h2[node(i)]).for_each(|(m, x)| *m += x / n as f64);
        }
        tape.pi.clear();
        for action in world.actions.iter() {
            let mut score = weights[self.constant(action)];
            for (at, named) in self.readouts(action) {
                let embedding = named.map_or(&tape.mean[..], |i| &tape.h2[node(i)]);
                score += weights[at..at + h].iter().zip(embedding).map(|(u, x)| u * x).sum::<f64>();
            }
            tape.pi.push(score);
        }
        softmax_in_place(&mut tape.pi);
        &tape.pi
    }

    fn backward(
        &self,
        weights: &[f64],
        world: &World,
        graph: &Graph,
        scratch: &mut Scratch,
        tape: &Tape,
        d_pi: &mut [f64],
        gradient: &mut [f64],
    ) {
        let (n, h) = (graph.inputs.len(), self.hidden);
        let node = |i: usize| i * h..(i + 1) * h;
        let Tape { h1, h2, mean, messages, pi } = tape;
        let Scratch { d1, d2, d_mean, d_message } = scratch;
        through_softmax(pi, d_pi);
        for (d, size) in [(&mut *d1, n * h), (&mut *d2, n * h), (&mut *d_mean, h)] {
            d.clear();
            d.resize(size, 0.0);
        }
        for (action, &d) in world.actions.iter().zip(&*d_pi) {
            gradient[self.constant(action)] += d;
            for (at, named) in self.readouts(action) {
                let (embedding, d_embedding) = match named {
                    None => (&mean[..], &mut d_mean[..]),
                    Some(i) => (&h2[node(i)], &mut d2[node(i)]),
                };
                gradient[at..at + h].iter_mut().zip(embedding).for_each(|(g, x)| *g += d * x);
                d_embedding.iter_mut().zip(&weights[at..at + h]).for_each(|(dx, u)| *dx += d * u);
            }
        }
        for i in 0..n {
            d2[node(i)].iter_mut().zip(&*d_mean).for_each(|(d, m)| *d += m / n as f64);
        }
        through_tanh(h2, d2);
        for i in 0..n {
            let d = &d2[node(i)];
            gradient[self.at.bias2..self.at.bias2 + h].iter_mut().zip(d).for_each(|(g, d)| *g += d);
            add_outer(d, &h1[node(i)], &mut gradient[self.second(0)]);
            add_transposed(&weights[self.second(0)], d, &mut d1[node(i)]);
        }
        for (k, edge) in graph.neighbours.iter().enumerate() {
            let d = &d2[node(edge.node)];
            let second = self.second(edge.relation + 1);
            add_outer(d, &messages[node(k)], &mut gradient[second.clone()]);
            d_message.clear();
            d_message.resize(h, 0.0);
            add_transposed(&weights[second], d, d_message);
            let scale = 1.0 / edge.from.len() as f64;
            for &j in &edge.from {
                d1[node(j)].iter_mut().zip(&*d_message).for_each(|(d, m)| *d += m * scale);
            }
        }
        through_tanh(h1, d1);
        for (i, inputs) in graph.inputs.iter().enumerate() {
            let d = &d1[node(i)];
            gradient[self.at.bias1..self.at.w2].iter_mut().zip(d).for_each(|(g, d)| *g += d);
            for &(k, x) in inputs {
                let row = &mut gradient[k as usize * h..(k as usize + 1) * h];
                row.iter_mut().zip(d).for_each(|(g, d)| *g += d * x);
            }
        }
    }
}
