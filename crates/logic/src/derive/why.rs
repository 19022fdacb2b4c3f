//! Why a derived fact holds: the clause and the substitution that derive it, and so on down to the facts of the world.
//!
//! Explanations are well-founded: each derived fact was found by evaluation after the facts that derive it here.

use std::fmt;
use std::ops::ControlFlow;

use super::engine::{Compiled, Engine};
use super::native::Graph;
use super::program::{How, Program};
use crate::alphabet::{Alphabet, Pred};
use crate::facts::Facts;
use crate::join::Slot;
use crate::query::Binding;
use crate::syntax::from_fn;
use crate::universe::{Object, Universe};

/// Why a fact holds, or does not.
#[derive(Clone, Debug, PartialEq)]
pub struct Derivation {
    /// Whether the fact holds; false for what a negated literal says.
    pub holds: bool,
    /// Its predicate.
    pub pred: Pred,
    /// Its objects.
    pub args: Vec<Object>,
    /// Why.
    pub reason: Reason,
}

/// Why a fact holds, or does not.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// The world says so, or the numbers that it reports.
    Given,
    /// Nothing derives it.
    Absent,
    /// A clause derives it.
    Clause {
        /// Which of [`Program::definitions`].
        definition: usize,
        /// What each variable of the clause stands for.
        substitution: Vec<Object>,
        /// The literals of its body, in their order.
        premises: Vec<Derivation>,
    },
    /// A closure: these steps lead from its first node to its second.
    Way {
        /// The facts that are the steps, in order.
        steps: Vec<Derivation>,
    },
    /// A distance: a step leads from a node so far from the goal to one that is nearer by one step.
    Nearer {
        /// The steps from the first node to the goal.
        before: u32,
        /// The steps from the second node to the goal.
        after: u32,
        /// The goal that is nearest.
        goal: Vec<Object>,
    },
    /// It is derived, but the explanation is long enough.
    Cut,
}

/// Explains the derived facts of one state.
pub struct Explainer<'a> {
    program: &'a Program,
    engine: Engine,
    /// Which definition each compiled clause is.
    most: usize,
}

impl<'a> Explainer<'a> {
    /// Derives what follows from the given facts among these, and remembers in which order. `None` where too much follows.
    pub fn new(program: &'a Program, facts: &Facts, universe: &Universe) -> Option<Explainer<'a>> {
        let all: Vec<Pred> = (0..program.signatures.len() as u32).map(Pred).collect();
        let mut engine = Engine::new(program, universe, &all).ok()?;
        engine.remember_order();
        engine.load(facts).ok()?;
        // What no definition reads is given all the same.
        for &p in &all {
            let at = p.0 as usize;
            if engine.group_of[at].is_none() && !engine.reads(at) {
                facts.tuples(p).for_each(|t| {
                    let fact = engine.packing.pack(t);
                    engine.relations[at].insert(fact);
                });
            }
        }
        Some(Explainer { program, engine, most: 0 })
    }

    /// Why a fact holds, in at most about `most` facts; `None` where it does not hold.
    pub fn why(&mut self, pred: Pred, args: &[Object], most: usize) -> Option<Derivation> {
        let fact = self.engine.packing.pack(args);
        self.most = most;
        self.engine.relations[pred.0 as usize].contains(fact).then(|| self.explain(pred.0 as usize, fact))
    }

    fn explain(&mut self, relation: usize, fact: u64) -> Derivation {
        let pred = Pred(relation as u32);
        let reason = if self.engine.group_of[relation].is_none() {
            Reason::Given
        } else if self.most == 0 {
            Reason::Cut
        } else {
            self.most -= 1;
            self.reason(relation, fact).unwrap_or(Reason::Cut)
        };
        let args = self.objects(fact, self.engine.arities[relation]);
        Derivation { holds: true, pred, args, reason }
    }

    fn objects(&self, fact: u64, arity: usize) -> Vec<Object> {
        (0..arity).map(|place| self.engine.packing.get(fact, arity, place)).collect()
    }

    fn reason(&mut self, relation: usize, fact: u64) -> Option<Reason> {
        let pred = Pred(relation as u32);
        let mut of = self.program.definitions().iter().enumerate().filter(|(_, d)| d.pred == pred);
        match of.clone().next()?.1.how {
            How::Closure { of } => return self.way(relation, of.0 as usize, fact),
            How::Distance { along, to } => {
                return self.nearer(relation, along.0 as usize, to.map(|p| p.0 as usize), fact);
            }
            How::Clause(_) | How::Compare(_) => {}
        }
        let found = self.engine.earliest(relation, fact)?;
        let (clause, phi) = found;
        let compiled: &Compiled = &self.engine.clauses[clause];
        let definition = of.find(|(at, _)| *at == compiled.definition)?.0;
        let literals = match &self.program.definitions()[definition].how {
            How::Clause(clause) => clause.body.len(),
            _ => 0,
        };
        // Literals about objects that this universe lacks are not compiled; guards come after all literals.
        let atoms: Vec<(bool, usize, u64)> = compiled.body.atoms[..literals.min(compiled.body.atoms.len())]
            .iter()
            .filter(|a| a.relation < self.program.signatures.len())
            .map(|a| {
                let key = a.args.iter().fold(0, |key, slot| {
                    let o = match slot {
                        Slot::Var(v) => phi[v.0 as usize].unwrap_or(Object(0)),
                        Slot::Object(o) => *o,
                    };
                    self.engine.packing.push(key, o)
                });
                (a.positive, a.relation, key)
            })
            .collect();
        let premises = atoms
            .into_iter()
            .map(|(positive, relation, key)| {
                if positive {
                    return self.explain(relation, key);
                }
                let args = self.objects(key, self.engine.arities[relation]);
                Derivation { holds: false, pred: Pred(relation as u32), args, reason: Reason::Absent }
            })
            .collect();
        Some(Reason::Clause { definition, substitution: phi.into_iter().flatten().collect(), premises })
    }

    /// The steps of a shortest way.
    fn way(&mut self, relation: usize, along: usize, fact: u64) -> Option<Reason> {
        let k = self.engine.arities[relation] / 2;
        let (packing, shift) = (self.engine.packing, self.engine.packing.width(k));
        let graph = Graph::new(&self.engine.relations[along], k, packing, &[], true);
        let (mut at, end) = (graph.number(fact >> shift)?, graph.number(fact & ((1 << shift) - 1))?);
        let mut distance = Vec::new();
        graph.search(std::iter::once(end), &mut distance);
        let mut steps = Vec::new();
        while at != end {
            let next = graph.nearer_step(at, &distance)?;
            let step = graph.node(at) << shift | graph.node(next);
            at = next;
            if self.most == 0 {
                let args = self.objects(step, 2 * k);
                steps.push(Derivation { holds: true, pred: Pred(along as u32), args, reason: Reason::Cut });
                break;
            }
            self.most -= 1;
            steps.push(self.explain(along, step));
        }
        Some(Reason::Way { steps })
    }

    /// How far both ends of a step are from the goal.
    fn nearer(&self, relation: usize, along: usize, to: Option<usize>, fact: u64) -> Option<Reason> {
        let k = self.engine.arities[along] / 2;
        let (packing, shift) = (self.engine.packing, self.engine.packing.width(k));
        let last = |key: u64| key & ((1 << shift) - 1);
        let (step, goals) = match to {
            None => (fact >> shift, vec![last(fact)]),
            Some(to) => (fact, self.engine.sorted(to)),
        };
        debug_assert!(self.engine.relations[relation].contains(fact), "only what holds is explained");
        let graph = Graph::new(&self.engine.relations[along], k, packing, &goals, true);
        let mut distance = Vec::new();
        graph.search(goals.iter().filter_map(|&g| graph.number(g)), &mut distance);
        let (x, y) = (graph.number(step >> shift)?, graph.number(last(step))?);
        let mut goal = y;
        while distance[goal as usize] > 0 {
            goal = graph.nearer_step(goal, &distance)?;
        }
        let goal = self.objects(graph.node(goal), k);
        Some(Reason::Nearer { before: distance[x as usize], after: distance[y as usize], goal })
    }
}

impl Engine {
    /// A clause and a substitution that derive a fact from facts that were there before it: of all, the ones whose latest fact is
    /// earliest.
    fn earliest(&mut self, relation: usize, fact: u64) -> Option<(usize, Vec<Option<Object>>)> {
        let mut best: Option<(u32, usize, Vec<Option<Object>>)> = None;
        let own = self.order_of(relation, fact);
        let group = self.group_of[relation]?;
        for c in self.groups[group].clauses.clone() {
            if self.clauses[c].relation != relation {
                continue;
            }
            let Some(mut binding) = self.clauses[c].unify(fact, self.packing) else { continue };
            self.plan_backward(c);
            let clause = &self.clauses[c];
            let Some(plan) = &clause.backward else { continue };
            let latest = |phi: &Binding| -> u32 {
                let facts = clause.body.atoms.iter().filter(|a| a.positive).map(|a| {
                    let key = a.args.iter().fold(0, |key, slot| {
                        let o = match slot {
                            Slot::Var(v) => phi[v.0 as usize].unwrap_or(Object(0)),
                            Slot::Object(o) => *o,
                        };
                        self.packing.push(key, o)
                    });
                    self.order_of(a.relation, key)
                });
                facts.max().unwrap_or(0)
            };
            let _ = self.join(clause, plan, 0).all(&mut binding, &mut |phi| {
                let latest = latest(phi);
                if latest < own && best.as_ref().is_none_or(|b| latest < b.0) {
                    best = Some((latest, c, phi.to_vec()));
                }
                ControlFlow::Continue(())
            });
        }
        best.map(|(_, clause, phi)| (clause, phi))
    }
}

impl Derivation {
    /// The explanation as text, a fact a line, each indented below what it derives.
    pub fn display<'d>(&'d self, alphabet: &'d Alphabet, universe: &'d Universe) -> impl fmt::Display + 'd {
        from_fn(move |f| self.write(0, alphabet, universe, f))
    }

    fn write(
        &self,
        depth: usize,
        alphabet: &Alphabet,
        universe: &Universe,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        let sign = if self.holds { "" } else { "\\+ " };
        write!(f, "{:1$}{sign}{2}", "", 2 * depth, universe.show_fact(alphabet, self.pred, &self.args))?;
        match &self.reason {
            Reason::Given | Reason::Absent => writeln!(f),
            Reason::Cut => writeln!(f, "  ..."),
            Reason::Clause { definition, premises, .. } => {
                writeln!(f, "  by  {}", alphabet.definitions()[*definition].display(alphabet))?;
                premises.iter().try_for_each(|p| p.write(depth + 1, alphabet, universe, f))
            }
            Reason::Way { steps } => {
                writeln!(f, "  in {} {}", steps.len(), if steps.len() == 1 { "step" } else { "steps" })?;
                steps.iter().try_for_each(|s| s.write(depth + 1, alphabet, universe, f))
            }
            Reason::Nearer { before, after, goal } => {
                let goal: Vec<String> = goal.iter().map(|&o| universe.name(o).to_string()).collect();
                writeln!(f, "  from {before} to {after} steps from {}", goal.join(", "))
            }
        }
    }
}

/// Why a fact holds, down to the facts of the world, in at most about `most` facts: a [`Derivation`] for a fact that holds. The
/// given facts among `facts` are what it starts from. To explain many facts of a state, make one [`Explainer`].
pub fn why(
    program: &Program,
    facts: &Facts,
    universe: &Universe,
    (pred, args): (Pred, &[Object]),
    most: usize,
) -> Option<Derivation> {
    Explainer::new(program, facts, universe)?.why(pred, args, most)
}
