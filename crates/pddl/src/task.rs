//! A problem compiled for simulation: what stays, what changes, and actions as joins and lists of changes.

use std::sync::Arc;

use derrl_logic::{Error, Source};
use rustc_hash::FxHashMap;

use crate::domain::{Domain, Role};
use crate::formula::{Atom, Cost, Formula, Term};
use crate::problem::Problem;
use crate::query::{Compiler, Members, Place, Query, View};
use crate::relation::Relation;
use crate::types::Kind;

/// A domain and a problem of it, compiled. Shared by all its simulators.
#[derive(Debug)]
pub struct Task {
    /// The domain.
    pub domain: Arc<Domain>,
    /// The problem.
    pub problem: Problem,
    pub(crate) places: Vec<Place>,
    /// The relations that never change, by predicate; empty for the others.
    pub(crate) fixed: Vec<Relation>,
    pub(crate) kinds: Vec<Members>,
    pub(crate) schemas: Vec<Compiled>,
    /// The axioms, lower strata first.
    pub(crate) axioms: Vec<Vec<CompiledAxiom>>,
    pub(crate) goal: Goal,
    pub(crate) goal_literals: Vec<(bool, u32, Vec<u32>)>,
    goal_is_literals: bool,
    values: Vec<FxHashMap<Box<[u32]>, f64>>,
    dearest: f64,
    /// The most variables of a condition.
    pub(crate) slots: usize,
}

/// A compiled action schema.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) arity: usize,
    pub(crate) params: Vec<Kind>,
    /// The precondition, with all parameters bound.
    pub(crate) applicable: Query,
    /// The precondition, with no parameter bound.
    pub(crate) enumerate: Query,
    pub(crate) effects: Vec<CompiledEffect>,
}

#[derive(Debug)]
pub(crate) struct CompiledEffect {
    /// For which objects it happens; once, where there is no condition.
    pub(crate) query: Option<Query>,
    pub(crate) adds: Vec<Atom>,
    pub(crate) deletes: Vec<Atom>,
    pub(crate) costs: Vec<Cost>,
}

#[derive(Debug)]
pub(crate) struct CompiledAxiom {
    pub(crate) predicate: u32,
    pub(crate) arity: usize,
    pub(crate) query: Query,
}

/// How the goal is tested.
#[derive(Debug)]
pub(crate) enum Goal {
    /// A conjunction of ground literals.
    Literals,
    /// Anything else.
    Condition(Query, usize),
}

/// The most ground literals that a goal with `forall` is written out to.
const MAX_GOAL: usize = 100_000;

impl Task {
    /// The compiled problem. Takes time and memory in the number of facts and objects.
    pub fn new(domain: &Arc<Domain>, problem: Problem) -> Result<Task, Error> {
        let n = problem.objects.len();
        for p in &domain.predicates {
            if !Relation::fits(p.args.len(), n) {
                return Err(Error::new(format!(
                    "predicate `{}` has {} arguments, too many for {n} objects",
                    p.name,
                    p.args.len()
                )));
            }
        }
        let places: Vec<Place> = domain
            .predicates
            .iter()
            .enumerate()
            .map(|(i, p)| Place { moves: p.role() != Role::Static, predicate: i as u32 })
            .collect();
        let mut sizes = Vec::new();
        let mut fixed = Vec::new();
        for (i, p) in domain.predicates.iter().enumerate() {
            let arity = p.args.len();
            let count = problem.init[i].len() / arity.max(1);
            if places[i].moves {
                fixed.push(Relation::new(0, 0, 0));
                sizes.push(if p.derived { n as f64 } else { count as f64 + 1.0 });
                continue;
            }
            let mut relation = Relation::new(arity, n, count);
            if problem.nullary[i] {
                relation.insert(&[]);
            }
            if arity > 0 {
                for tuple in problem.init[i].chunks_exact(arity) {
                    relation.insert(tuple);
                }
            }
            sizes.push(relation.len() as f64);
            fixed.push(relation);
        }
        let kinds: Vec<Members> = problem
            .types
            .kinds()
            .map(|(kind, _)| Members::new(n, |o| problem.types.belongs(&problem.objects[o].types, kind)))
            .collect();
        let signatures: Vec<&[Kind]> = domain.predicates.iter().map(|p| p.args.as_slice()).collect();
        let compiler = Compiler {
            places: &places,
            signatures: &signatures,
            sizes: &sizes,
            objects: n as f64,
            members: &kinds,
            is_subkind: &|a, b| problem.types.is_subkind(a, b),
        };
        let mut slots = problem.goal_kinds.len();
        let mut schemas = Vec::new();
        for schema in &domain.schemas {
            slots = slots.max(schema.kinds.len());
            let nothing = vec![false; schema.kinds.len()];
            let params: Vec<u16> = (0..schema.arity as u16).collect();
            let mut given = nothing.clone();
            given[..schema.arity].fill(true);
            let precondition = schema.precondition.normal(true);
            let effects = schema.effects.iter().map(|effect| {
                let condition = effect.condition.normal(true);
                let always = effect.vars.is_empty() && condition == Formula::TRUE;
                CompiledEffect {
                    query: (!always).then(|| compiler.query(&condition, &schema.kinds, &given, &effect.vars)),
                    adds: effect.adds.clone(),
                    deletes: effect.deletes.clone(),
                    costs: effect.costs.clone(),
                }
            });
            schemas.push(Compiled {
                arity: schema.arity,
                params: schema.kinds[..schema.arity].to_vec(),
                applicable: compiler.query(&precondition, &schema.kinds, &given, &[]),
                enumerate: compiler.query(&precondition, &schema.kinds, &nothing, &params),
                effects: effects.collect(),
            });
        }
        let mut axioms: Vec<Vec<CompiledAxiom>> = Vec::new();
        for axiom in &domain.axioms {
            slots = slots.max(axiom.kinds.len());
            let stratum = domain.strata[axiom.predicate as usize] as usize;
            while axioms.len() <= stratum {
                axioms.push(Vec::new());
            }
            let arity = domain.predicates[axiom.predicate as usize].args.len();
            let vars: Vec<u16> = (0..arity as u16).collect();
            let nothing = vec![false; axiom.kinds.len()];
            let query = compiler.query(&axiom.body.normal(true), &axiom.kinds, &nothing, &vars);
            axioms[stratum].push(CompiledAxiom { predicate: axiom.predicate, arity, query });
        }
        let view = View { fixed: &fixed, moving: &[], kinds: &kinds };
        let mut literals = Vec::new();
        let mut binding = vec![0; problem.goal_kinds.len()];
        let normal = problem.goal.normal(true);
        let goal_is_literals =
            write_out(&normal, &places, view, &problem.goal_kinds, &mut binding, &mut literals);
        // What is asked for twice is asked for once.
        literals.sort();
        literals.dedup();
        let goal = if goal_is_literals {
            Goal::Literals
        } else {
            let nothing = vec![false; problem.goal_kinds.len()];
            Goal::Condition(
                compiler.query(&normal, &problem.goal_kinds, &nothing, &[]),
                problem.goal_kinds.len(),
            )
        };
        let mut values = vec![FxHashMap::default(); domain.functions.len()];
        for ((f, args), &v) in &problem.values {
            values[*f as usize].insert(args.clone().into_boxed_slice(), v);
        }
        let mut task = Task {
            domain: domain.clone(),
            places,
            fixed,
            kinds,
            schemas,
            axioms,
            goal,
            goal_literals: literals,
            goal_is_literals,
            values,
            dearest: 1.0,
            slots,
            problem,
        };
        task.dearest = task.find_dearest();
        Ok(task)
    }

    /// The compiled problem that a text describes.
    pub fn parse(source: &Source, domain: &Arc<Domain>) -> Result<Task, Error> {
        Task::new(domain, Problem::parse(source, domain)?)
    }

    /// How large it is: its number of objects.
    pub fn size(&self) -> usize {
        self.problem.size()
    }

    /// The ground literals of the goal: whether the atom is to hold, the predicate and its objects. They are the whole
    /// goal iff [`Task::goal_is_literals`]; `forall` is written out, and what is static and holds is left out.
    pub fn goal_literals(&self) -> &[(bool, u32, Vec<u32>)] {
        &self.goal_literals
    }

    /// Whether the goal is no more than its literals: no `or` or `exists` is left in it.
    pub fn goal_is_literals(&self) -> bool {
        self.goal_is_literals
    }

    /// Whether the problem asks for the least total cost; else a plan costs its number of steps.
    pub fn minimizes_cost(&self) -> bool {
        self.problem.minimizes_cost
    }

    /// The most that one action can cost here by its unconditional effects and conditional ones together; 1 where the
    /// problem asks for few steps.
    pub fn dearest(&self) -> f64 {
        self.dearest
    }

    fn find_dearest(&self) -> f64 {
        if !self.problem.minimizes_cost {
            return 1.0;
        }
        let of = |cost: &Cost| match cost {
            Cost::Constant(c) => *c,
            Cost::Function(f, _) => self.values[*f as usize].values().copied().fold(0.0, f64::max),
        };
        let actions = self.schemas.iter().map(|s| {
            // A conditional cost may be due once for every binding: that is bounded by what is seen, not here.
            s.effects.iter().flat_map(|e| &e.costs).map(of).sum::<f64>()
        });
        let most = actions.fold(0.0, f64::max);
        if most > 0.0 { most } else { 1.0 }
    }

    /// The value of a cost; `None` where the problem gives the function no value for these objects.
    pub(crate) fn cost(&self, cost: &Cost, binding: &[u32]) -> Option<f64> {
        match cost {
            Cost::Constant(c) => Some(*c),
            Cost::Function(f, args) => {
                let mut objects = [0; 8];
                if args.len() <= objects.len() {
                    for (o, &t) in objects.iter_mut().zip(args) {
                        *o = crate::query::value(t, binding);
                    }
                    return self.values[*f as usize].get(&objects[..args.len()]).copied();
                }
                let objects: Vec<u32> = args.iter().map(|&t| crate::query::value(t, binding)).collect();
                self.values[*f as usize].get(objects.as_slice()).copied()
            }
        }
    }

    /// `(at car1 loc2)`, in the problem's own names.
    pub fn show_atom(&self, name: &str, args: &[u32]) -> String {
        let mut text = format!("({name}");
        for &o in args {
            text.push(' ');
            text.push_str(&self.problem.objects[o as usize].name);
        }
        text.push(')');
        text
    }
}

/// Writes the literals of a goal out; false where something else is left. Static literals that hold are left out;
/// one that does not hold stays, and can never be reached.
fn write_out(
    goal: &Formula,
    places: &[Place],
    view: View,
    kinds: &[Kind],
    binding: &mut [u32],
    literals: &mut Vec<(bool, u32, Vec<u32>)>,
) -> bool {
    if literals.len() > MAX_GOAL {
        return false;
    }
    let mut literal = |atom: &Atom, holds: bool, binding: &[u32]| {
        let place = places[atom.predicate as usize];
        let args: Vec<u32> = atom.args.iter().map(|&t| crate::query::value(t, binding)).collect();
        if place.moves || view.fixed[atom.predicate as usize].contains(&args) != holds {
            literals.push((holds, atom.predicate, args));
        }
        true
    };
    let same = |a: Term, b: Term, binding: &[u32]| {
        crate::query::value(a, binding) == crate::query::value(b, binding)
    };
    match goal {
        Formula::And(parts) => {
            // Every part, so that the literals are complete even where something else is among the parts.
            let mut all = true;
            for part in parts {
                all &= write_out(part, places, view, kinds, binding, literals);
            }
            all
        }
        Formula::Atom(atom) => literal(atom, true, binding),
        Formula::Equal(a, b) => same(*a, *b, binding),
        Formula::Not(inner) => match &**inner {
            Formula::Atom(atom) => literal(atom, false, binding),
            Formula::Equal(a, b) => !same(*a, *b, binding),
            _ => false,
        },
        Formula::Or(parts) => {
            // A part that is decided by what never changes decides the whole, or drops out.
            let mut open = Vec::new();
            for part in parts {
                match decided(part, places, view, binding) {
                    Some(true) => return true,
                    Some(false) => {}
                    None => open.push(part),
                }
            }
            let [one] = open[..] else { return false };
            write_out(one, places, view, kinds, binding, literals)
        }
        Formula::Exists(..) => false,
        Formula::Forall(vars, inner) => {
            fn all(
                vars: &[u16],
                kinds: &[Kind],
                view: View,
                binding: &mut [u32],
                visit: &mut dyn FnMut(&mut [u32]) -> bool,
            ) -> bool {
                let Some((&var, rest)) = vars.split_first() else { return visit(binding) };
                view.kinds[usize::from(kinds[usize::from(var)].0)].list.iter().all(|&o| {
                    binding[usize::from(var)] = o;
                    all(rest, kinds, view, binding, visit)
                })
            }
            all(vars, kinds, view, binding, &mut |b| write_out(inner, places, view, kinds, b, literals))
        }
    }
}

/// Whether a literal is decided by what never changes.
fn decided(part: &Formula, places: &[Place], view: View, binding: &[u32]) -> Option<bool> {
    match part {
        Formula::Atom(atom) if !places[atom.predicate as usize].moves => {
            Some(view.atom(places[atom.predicate as usize], &atom.args, binding))
        }
        Formula::Equal(a, b) => Some(crate::query::value(*a, binding) == crate::query::value(*b, binding)),
        Formula::Not(inner) => decided(inner, places, view, binding).map(|holds| !holds),
        _ => None,
    }
}
