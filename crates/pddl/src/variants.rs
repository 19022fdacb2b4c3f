//! Problems like a given one: the same objects, starting elsewhere, with what is asked for exchanged among objects of one kind.
//!
//! A few problems tell a reason from a coincidence badly: what happens to hold in all of them looks like a rule. Variants have
//! the same size and what never changes stays; the learner compares policies on them, too.

use std::sync::Arc;

use derrl_env::Rng;

use crate::domain::{Domain, ObjectDecl};
use crate::explore::{Solvability, solvability};
use crate::formula::{Atom, Formula, Term};
use crate::simulator::{Actions, Simulator};
use crate::task::Task;

/// Tries per variant that is asked for.
const TRIES: usize = 3;
/// Actions at random before a variant starts, per object, at the most.
pub const WALK: usize = 4;

/// Up to `count` variants of a problem that can be solved and are not solved at the start, as a search over at most `states` states
/// shows. There are none where that is not enough to tell.
pub fn variants(task: &Arc<Task>, count: usize, states: usize) -> Vec<Arc<Task>> {
    let mut rng = Rng::new(task.size() as u64, 0);
    let mut found: Vec<Arc<Task>> = Vec::new();
    for _ in 0..TRIES * count {
        if found.len() == count {
            break;
        }
        let Some(variant) = variant(task, &mut rng) else { continue };
        match solvability(&variant, states) {
            Solvability::Solvable(plan) if !plan.steps.is_empty() => found.push(variant),
            Solvability::Solvable(_) | Solvability::Unsolvable { .. } => {}
            // Others are as large.
            Solvability::Unknown { .. } => break,
        }
    }
    found
}

fn variant(task: &Arc<Task>, rng: &mut Rng) -> Option<Arc<Task>> {
    let mut simulator = Simulator::new(Arc::clone(task));
    let steps = rng.below(WALK * task.size() + 1);
    walk(&mut simulator, steps, rng, &mut |_| {});
    let domain = &task.domain;
    let mut problem = task.problem.clone();
    for (predicate, init) in domain.predicates.iter().zip(&mut problem.init) {
        if !predicate.derived {
            init.clear();
        }
    }
    simulator.facts(&mut |p, tuple| {
        let p = p as usize;
        if !domain.predicates[p].derived {
            problem.init[p].extend(tuple);
            problem.nullary[p] |= tuple.is_empty();
        }
    });
    for (p, holds) in problem.nullary.iter_mut().enumerate() {
        *holds &= domain.predicates[p].derived || simulator.holds(p as u32, &[]);
    }
    let exchanged = exchange(&problem.objects, domain, rng);
    rename(&mut problem.goal, &exchanged);
    Task::new(domain, problem).ok().map(Arc::new)
}

/// Takes actions at random, up to so many, and shows every state that they lead to.
pub fn walk(simulator: &mut Simulator, steps: usize, rng: &mut Rng, visit: &mut dyn FnMut(&Simulator)) {
    let mut actions = Actions::new();
    for _ in 0..steps {
        simulator.legal(&mut actions);
        if actions.is_empty() {
            break;
        }
        let (action, args) = actions.get(rng.below(actions.len()));
        let args = args.to_vec();
        simulator.apply(action, &args);
        visit(simulator);
    }
}

/// An object in place of each, one of the same types. Constants stay: actions may speak of them.
pub fn exchange(objects: &[ObjectDecl], domain: &Domain, rng: &mut Rng) -> Vec<u32> {
    let mut to: Vec<u32> = (0..objects.len() as u32).collect();
    let first = domain.constants.len();
    for i in (first..objects.len()).rev() {
        let like: Vec<usize> = (first..=i).filter(|&j| objects[j].types == objects[i].types).collect();
        to.swap(i, like[rng.below(like.len())]);
    }
    to
}

/// Puts other objects in the places of those that a condition is about.
pub fn rename(formula: &mut Formula, to: &[u32]) {
    let of = |term: &mut Term| {
        if let Term::Object(o) = term {
            *o = to[*o as usize];
        }
    };
    match formula {
        Formula::And(parts) | Formula::Or(parts) => parts.iter_mut().for_each(|part| rename(part, to)),
        Formula::Not(inner) | Formula::Exists(_, inner) | Formula::Forall(_, inner) => rename(inner, to),
        Formula::Atom(Atom { args, .. }) => args.iter_mut().for_each(of),
        Formula::Equal(a, b) => [a, b].into_iter().for_each(of),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Generator;

    fn task(name: &str, size: usize) -> Arc<Task> {
        let generator = Generator::find(name).expect("a generator of that name");
        let domain =
            crate::Domain::parse(&derrl_logic::Source::new("domain", generator.domain)).expect("it parses");
        let source = derrl_logic::Source::new("problem", generator.problem(size, 1));
        Arc::new(Task::parse(&source, &Arc::new(domain)).expect("it parses"))
    }

    #[test]
    fn variants_are_other_problems_of_the_same_objects_that_can_be_solved() {
        for name in ["ferry", "gripper", "miconic", "spanner"] {
            let task = task(name, 2);
            let found = variants(&task, 6, 20_000);
            assert!(!found.is_empty(), "{name}");
            let starts: std::collections::BTreeSet<u128> =
                found.iter().map(|v| Simulator::new(Arc::clone(v)).code()).collect();
            // A path of no return leaves little to walk to.
            assert!(starts.len() > 1 || name == "spanner", "{name}: they differ");
            for variant in &found {
                assert_eq!(variant.size(), task.size());
                let plan = solvability(variant, 20_000);
                assert!(matches!(plan, Solvability::Solvable(p) if !p.steps.is_empty()), "{name}");
            }
            assert_eq!(
                found.iter().map(|v| Simulator::new(Arc::clone(v)).code()).collect::<Vec<_>>(),
                variants(&task, 6, 20_000)
                    .iter()
                    .map(|v| Simulator::new(Arc::clone(v)).code())
                    .collect::<Vec<_>>(),
                "the same each time"
            );
        }
    }

    #[test]
    fn large_problems_have_none() {
        assert!(variants(&task("ferry", 30), 6, 1000).is_empty());
    }
}
