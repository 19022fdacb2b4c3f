//! Larger problems made of smaller ones: objects with likenesses, about which the same holds and is asked for.
//!
//! Small problems hardly tell a plan for many objects from one for few: a robot that fetches every ball before it delivers any
//! does well as long as there are as many balls as grippers. Likenesses are given to objects of kinds whose number differs from
//! problem to problem, as long as no fact comes up that could not hold: what is unique in all states seen stays unique, so that
//! there is one robot and each ball is in one room.

use std::sync::Arc;

use derrl_env::Rng;
use rustc_hash::FxHashSet;

use crate::domain::{ObjectDecl, Role};
use crate::formula::{Atom, Formula, Term};
use crate::problem::Problem;
use crate::simulator::Simulator;
use crate::task::Task;
use crate::types::TypeId;
use crate::variants::{WALK, exchange, rename, walk};

/// Facts of an enlarged problem, at the most.
const MOST_FACTS: usize = 20_000;

/// Problems with about `times` as many objects of each kind whose number varies, one made of each of `bases`; `problems` tell what
/// varies and what is unique. It is not known whether they can be solved. There are none where nothing varies.
pub fn enlarged(problems: &[Arc<Task>], bases: &[Arc<Task>], times: usize) -> Vec<Arc<Task>> {
    let varying = varying(problems);
    if varying.is_empty() {
        return Vec::new();
    }
    let mut rng = Rng::new(problems.len() as u64, times as u64);
    let unique = Unique::of(problems, &mut rng);
    let made = bases.iter().filter_map(|base| {
        let problem = enlarge(base, &varying, &unique, times, &mut rng)?;
        let task = Task::new(&base.domain, problem).ok().map(Arc::new)?;
        (!Simulator::new(Arc::clone(&task)).reached()).then_some(task)
    });
    made.collect()
}

/// The kinds of objects of which there are more in one problem than in another.
fn varying(problems: &[Arc<Task>]) -> Vec<Vec<TypeId>> {
    let of = |task: &Task| task.problem.objects[task.domain.constants.len()..].to_vec();
    let all: Vec<Vec<ObjectDecl>> = problems.iter().map(|t| of(t)).collect();
    let mut kinds: Vec<Vec<TypeId>> = all.iter().flatten().map(|o| o.types.clone()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let count =
        |objects: &Vec<ObjectDecl>, kind: &Vec<TypeId>| objects.iter().filter(|o| o.types == *kind).count();
    kinds.retain(|kind| all.iter().any(|objects| count(objects, kind) != count(&all[0], kind)));
    kinds
}

/// A predicate, one of its places, and the objects in its other places.
type Others = (u32, usize, Vec<u32>);

/// Which arguments of a predicate are settled by its others.
pub(crate) struct Unique(pub(crate) Vec<Vec<bool>>);

impl Unique {
    /// Those that no state contradicts that random walks come to.
    pub(crate) fn of(problems: &[Arc<Task>], rng: &mut Rng) -> Unique {
        let Some(first) = problems.first() else { return Unique(Vec::new()) };
        let mut unique = Unique(first.domain.predicates.iter().map(|p| vec![true; p.args.len()]).collect());
        for task in problems {
            let mut simulator = Simulator::new(Arc::clone(task));
            unique.see(&simulator);
            walk(&mut simulator, WALK * task.size(), rng, &mut |state| unique.see(state));
            // What is asked for has to hold at once, too.
            let mut seen = FxHashSet::default();
            for (_, p, tuple) in task.goal_literals().iter().filter(|(holds, ..)| *holds) {
                unique.add(*p, tuple, &mut seen);
            }
        }
        unique
    }

    /// Learns from the facts of a state.
    fn see(&mut self, state: &Simulator) {
        let mut seen = FxHashSet::default();
        state.facts(&mut |p, tuple| self.add(p, tuple, &mut seen));
    }

    /// Learns from one fact more of those that hold at once.
    fn add(&mut self, p: u32, tuple: &[u32], seen: &mut FxHashSet<Others>) {
        for (i, unique) in self.0[p as usize].iter_mut().enumerate() {
            *unique = *unique && seen.insert((p, i, but(tuple, i)));
        }
    }
}

/// A tuple without one of its places.
pub(crate) fn but(tuple: &[u32], place: usize) -> Vec<u32> {
    tuple.iter().enumerate().filter(|(i, _)| *i != place).map(|(_, &o)| o).collect()
}

/// Facts, with what is unique among them.
struct Known<'a> {
    unique: &'a Unique,
    /// By predicate, one tuple after the other.
    facts: Vec<Vec<Vec<u32>>>,
    seen: FxHashSet<Others>,
}

impl<'a> Known<'a> {
    fn new(unique: &'a Unique) -> Known<'a> {
        Known { unique, facts: vec![Vec::new(); unique.0.len()], seen: FxHashSet::default() }
    }

    fn fits(&self, p: u32, tuple: &[u32]) -> bool {
        let of = &self.unique.0[p as usize];
        (0..tuple.len()).all(|i| !of[i] || !self.seen.contains(&(p, i, but(tuple, i))))
    }

    fn add(&mut self, p: u32, tuple: Vec<u32>) {
        for i in 0..tuple.len() {
            self.seen.insert((p, i, but(&tuple, i)));
        }
        self.facts[p as usize].push(tuple);
    }

    /// The facts about an object, said of another one.
    fn copies(&self, of: u32, to: u32) -> Vec<(u32, Vec<u32>)> {
        let about = |p: u32| {
            let tuples = self.facts[p as usize].iter().filter(move |t| t.contains(&of));
            tuples.map(move |t| (p, t.iter().map(|&o| if o == of { to } else { o }).collect()))
        };
        (0..self.facts.len() as u32).flat_map(about).collect()
    }

    fn len(&self) -> usize {
        self.facts.iter().map(Vec::len).sum()
    }
}

fn enlarge(
    base: &Task,
    varying: &[Vec<TypeId>],
    unique: &Unique,
    times: usize,
    rng: &mut Rng,
) -> Option<Problem> {
    let domain = &base.domain;
    let mut problem = base.problem.clone();
    let (mut facts, mut goals) = (Known::new(unique), Known::new(unique));
    for (p, (tuples, predicate)) in problem.init.iter().zip(&domain.predicates).enumerate() {
        for tuple in tuples.chunks_exact(predicate.args.len().max(1)) {
            facts.add(p as u32, tuple.to_vec());
        }
    }
    // A goal with more in it than atoms may not survive.
    if !base.goal_is_literals() || base.goal_literals().iter().any(|(holds, ..)| !holds) {
        return None;
    }
    for (_, p, tuple) in base.goal_literals() {
        goals.add(*p, tuple.clone());
    }
    let first = domain.constants.len() as u32;
    let given = problem.objects.len() as u32;
    for object in (first..given).filter(|&o| varying.contains(&base.problem.objects[o as usize].types)) {
        for _ in 1..times {
            let like = problem.objects.len() as u32;
            let copies = facts.copies(object, like);
            let moves = |p: u32| domain.predicates[p as usize].role() != Role::Static;
            // What changes has to be as it is with the other.
            if !copies.iter().all(|(p, tuple)| !moves(*p) || facts.fits(*p, tuple)) {
                break;
            }
            for (p, tuple) in copies {
                if facts.fits(p, &tuple) {
                    facts.add(p, tuple);
                }
            }
            for (p, tuple) in goals.copies(object, like) {
                if goals.fits(p, &tuple) {
                    goals.add(p, tuple);
                }
            }
            value(&mut problem, object, like);
            add_object(&mut problem, object);
            if facts.len() > MOST_FACTS {
                return None;
            }
        }
    }
    if problem.objects.len() as u32 == given {
        return None;
    }
    for (p, (init, tuples)) in problem.init.iter_mut().zip(facts.facts).enumerate() {
        if !domain.predicates[p].args.is_empty() {
            *init = tuples.concat();
        }
    }
    let asked = |(p, tuples): (usize, Vec<Vec<u32>>)| {
        let atom = move |args: Vec<u32>| {
            let args = args.into_iter().map(Term::Object).collect();
            Formula::Atom(Atom { predicate: p as u32, args })
        };
        tuples.into_iter().map(atom)
    };
    problem.goal = Formula::And(goals.facts.into_iter().enumerate().flat_map(asked).collect());
    problem.goal_kinds.clear();
    let exchanged = exchange(&problem.objects, domain, rng);
    rename(&mut problem.goal, &exchanged);
    Some(problem)
}

/// The values of functions of an object, for another one.
fn value(problem: &mut Problem, of: u32, to: u32) {
    let about = problem.values.iter().filter(|((_, args), _)| args.contains(&of));
    let renamed = |args: &[u32]| args.iter().map(|&o| if o == of { to } else { o }).collect();
    let copies: Vec<_> = about.map(|((f, args), v)| ((*f, renamed(args)), *v)).collect();
    problem.values.extend(copies);
}

fn add_object(problem: &mut Problem, of: u32) {
    let types = problem.objects[of as usize].types.clone();
    let mut name = format!("like{}", problem.objects.len());
    while problem.find(&name).is_some() {
        name.push('x');
    }
    problem.ids.insert(name.clone(), problem.objects.len() as u32);
    problem.objects.push(ObjectDecl { name, types });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::{Solvability, solvability};
    use crate::generate::Generator;

    fn tasks(name: &str, sizes: &[usize]) -> Vec<Arc<Task>> {
        let generator = Generator::find(name).expect("a generator of that name");
        let domain =
            crate::Domain::parse(&derrl_logic::Source::new("domain", generator.domain)).expect("it parses");
        let domain = Arc::new(domain);
        let task = |&size: &usize| {
            let source = derrl_logic::Source::new("problem", generator.problem(size, size as u64));
            Arc::new(Task::parse(&source, &domain).expect("it parses"))
        };
        sizes.iter().map(task).collect()
    }

    fn count(task: &Task, predicate: &str) -> usize {
        let p = task.domain.predicates.iter().position(|p| p.name == predicate).expect("a predicate");
        task.problem.init[p].len() / task.domain.predicates[p].args.len()
    }

    #[test]
    fn what_varies_is_multiplied_and_what_is_unique_stays_so() {
        let given = tasks("gripper", &[2, 3, 4]);
        let made = enlarged(&given, &given, 4);
        assert_eq!(made.len(), given.len());
        for (task, base) in made.iter().zip(&given) {
            assert_eq!(
                count(task, "at"),
                4 * count(base, "at"),
                "each ball has likenesses, in one room each"
            );
            assert_eq!(count(task, "at-robby"), 1, "one robot");
            assert_eq!(count(task, "free"), 2, "two grippers: all problems have two");
            assert_eq!(task.goal_literals().len(), 4 * base.goal_literals().len(), "each is asked for");
        }
    }

    #[test]
    fn small_ones_can_be_solved_where_those_they_are_made_of_can() {
        for name in ["ferry", "gripper", "miconic", "spanner"] {
            let given = tasks(name, &[1, 2, 3]);
            let made = enlarged(&given, &given[..2], 2);
            assert!(!made.is_empty(), "{name}");
            for task in made {
                assert!(matches!(solvability(&task, 200_000), Solvability::Solvable(_)), "{name}");
            }
        }
    }

    #[test]
    fn where_nothing_varies_nothing_is_made() {
        let given = tasks("ferry", &[2, 2]);
        assert!(enlarged(&given, &given, 4).is_empty());
    }
}
