//! Larger problems composed of smaller ones: their objects side by side, what they have in common taken for one.
//!
//! A problem with one packet tells nothing about many packets, whatever likenesses are made of it. So different problems are joined:
//!
//! - what every problem has as many of, and none asks for, is shared: the robot, its two grippers, the four directions;
//! - kinds that are only values of others (where something is, how much fits in) are shared as a whole, or in one object, or not at
//!   all, by chance: so maps fill, grow longer or stand beside each other;
//! - all other objects stand side by side, and the goals of all are asked for;
//! - where an argument is settled by the others (a robot is in one place), the two objects that a fact then names are one: maps are
//!   glued where the robot is;
//! - relations that hold between any two objects (one floor is above the other) are completed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use derrl_env::Rng;
use rustc_hash::FxHashMap;

use crate::domain::{ObjectDecl, Role};
use crate::enlarge::{Unique, but};
use crate::formula::{Atom, Formula, Term};
use crate::problem::Problem;
use crate::simulator::Simulator;
use crate::task::Task;
use crate::types::TypeId;

/// Tries per problem that is asked for.
const TRIES: usize = 4;
/// Parts of a problem at the most.
const PARTS: usize = 4;

/// Objects of the same types.
type Likes = Vec<TypeId>;
type Fact = (u32, Vec<u32>);

/// Up to `count` problems of up to `most` objects, each composed of some of `bases`; `problems` tell what varies and what is unique.
/// It is not known whether they can be solved; nothing is joined whose joined states differ in what is shared.
pub fn composed(problems: &[Arc<Task>], bases: &[Arc<Task>], count: usize, most: usize) -> Vec<Arc<Task>> {
    let parts: Vec<&Arc<Task>> = bases.iter().filter(|t| is_plain(t)).collect();
    if parts.is_empty() {
        return Vec::new();
    }
    let mut rng = Rng::new(problems.len() as u64, count as u64);
    let traits = Traits::of(problems, &mut rng);
    let mut found = Vec::new();
    for _ in 0..TRIES * count {
        if found.len() == count {
            break;
        }
        let mut drawn: Vec<&Task> = Vec::new();
        let mut objects = 0;
        for _ in 0..2 + rng.below(PARTS - 1) {
            let part = parts[rng.below(parts.len())];
            if objects + part.size() <= most {
                objects += part.size();
                drawn.push(part);
            }
        }
        let Some(problem) = (drawn.len() > 1).then(|| Join::of(&drawn, &traits, &mut rng)).flatten() else {
            continue;
        };
        let task = Task::new(&drawn[0].domain, problem).ok().map(Arc::new);
        found.extend(task.filter(|t| !Simulator::new(Arc::clone(t)).reached()));
    }
    found
}

/// Whether a goal is no more than atoms that are to hold.
fn is_plain(task: &Task) -> bool {
    task.goal_is_literals() && task.goal_literals().iter().all(|(holds, ..)| *holds)
}

/// What the problems of a domain have in common.
struct Traits {
    /// Kinds of objects that are the same in all problems.
    fixed: BTreeSet<Likes>,
    /// Kinds of objects that are nothing but values of others.
    values: BTreeSet<Likes>,
    /// Arguments that are settled by the others: predicate and place.
    settled: Vec<(u32, usize)>,
    /// Relations that hold between any two objects of a kind, and whether they do so both ways.
    total: Vec<(u32, bool)>,
}

impl Traits {
    fn of(problems: &[Arc<Task>], rng: &mut Rng) -> Traits {
        let domain = &problems[0].domain;
        let unique = Unique::of(problems, rng);
        let several = |p: usize, place: usize| {
            let kind = domain.predicates[p].args[place];
            problems.iter().any(|t| {
                let objects = t.problem.objects.iter();
                objects.filter(|o| t.problem.types.belongs(&o.types, kind)).count() > 1
            })
        };
        // What is about one object only, or never holds at first, is unique by chance.
        let at_first = |p: usize| problems.iter().any(|t| !t.problem.init[p].is_empty());
        let places = (0..domain.predicates.len()).flat_map(|p| (0..unique.0[p].len()).map(move |i| (p, i)));
        let settled: Vec<(u32, usize)> = places
            .filter(|&(p, i)| unique.0[p][i] && at_first(p) && several(p, i))
            .map(|(p, i)| (p as u32, i))
            .collect();
        let total =
            (0..domain.predicates.len() as u32).filter_map(|p| total(problems, p).map(|both| (p, both)));
        let mut traits =
            Traits { fixed: fixed(problems), values: BTreeSet::new(), total: total.collect(), settled };
        traits.values = traits.only_values(problems);
        traits
    }

    /// Kinds that nothing which changes is about, but for saying what the value of something else is.
    fn only_values(&self, problems: &[Arc<Task>]) -> BTreeSet<Likes> {
        let domain = &problems[0].domain;
        let kinds = problems.iter().flat_map(|t| own(t).map(|o| o.types.clone()));
        let is_value = |likes: &Likes| {
            domain.predicates.iter().enumerate().all(|(p, predicate)| {
                predicate.role() == Role::Static
                    || predicate.args.iter().enumerate().all(|(i, &kind)| {
                        !domain.types.belongs(likes, kind) || self.settled.contains(&(p as u32, i))
                    })
            })
        };
        kinds.filter(|likes| !self.fixed.contains(likes) && is_value(likes)).collect()
    }
}

/// The objects of a problem that are not the domain's constants.
fn own(task: &Task) -> impl Iterator<Item = &ObjectDecl> {
    task.problem.objects[task.domain.constants.len()..].iter()
}

/// Kinds of which every problem has as many, and which no goal names.
fn fixed(problems: &[Arc<Task>]) -> BTreeSet<Likes> {
    let count = |task: &Task| {
        let mut count: BTreeMap<Likes, usize> = BTreeMap::new();
        own(task).for_each(|o| *count.entry(o.types.clone()).or_default() += 1);
        count
    };
    let mut fixed = count(&problems[0]);
    for task in problems {
        let here = count(task);
        fixed.retain(|likes, n| here.get(likes) == Some(n));
        for &o in task.goal_literals().iter().flat_map(|(_, _, tuple)| tuple) {
            fixed.remove(&task.problem.objects[o as usize].types);
        }
    }
    fixed.into_keys().collect()
}

/// Whether a relation that never changes holds between any two different objects of its kind in every problem; if so, whether both
/// ways.
fn total(problems: &[Arc<Task>], p: u32) -> Option<bool> {
    let predicate = &problems[0].domain.predicates[p as usize];
    let &[a, b] = predicate.args.as_slice() else { return None };
    if a != b || predicate.role() != Role::Static {
        return None;
    }
    let (mut some, mut both) = (false, true);
    for task in problems {
        let members = of_kind(&task.problem.objects, task, p);
        let holds: BTreeSet<&[u32]> = task.problem.init[p as usize].chunks_exact(2).collect();
        for (i, &x) in members.iter().enumerate() {
            for &y in &members[i + 1..] {
                let (there, back) = (holds.contains(&[x, y][..]), holds.contains(&[y, x][..]));
                if !there && !back {
                    return None;
                }
                some = true;
                both &= there && back;
            }
        }
    }
    some.then_some(both)
}

/// The objects that a predicate can be about.
fn of_kind(objects: &[ObjectDecl], task: &Task, p: u32) -> Vec<u32> {
    let kind = task.domain.predicates[p as usize].args[0];
    let of = |&o: &u32| task.problem.types.belongs(&objects[o as usize].types, kind);
    (0..objects.len() as u32).filter(of).collect()
}

/// Problems that are being joined.
struct Join<'a> {
    traits: &'a Traits,
    objects: Vec<ObjectDecl>,
    /// The parts that an object stands in, a bit each.
    parts: Vec<u32>,
    /// Objects that were found to be another one.
    same: Vec<u32>,
    facts: BTreeSet<Fact>,
    goals: BTreeSet<Fact>,
}

impl<'a> Join<'a> {
    fn of(parts: &[&Task], traits: &'a Traits, rng: &mut Rng) -> Option<Problem> {
        let constants = &parts[0].domain.constants;
        let mut join = Join {
            traits,
            objects: constants.clone(),
            parts: vec![0; constants.len()],
            same: (0..constants.len() as u32).collect(),
            facts: BTreeSet::new(),
            goals: BTreeSet::new(),
        };
        let shared = join.shared_state(parts[0]);
        let mut values: FxHashMap<Fact, f64> = FxHashMap::default();
        for (i, part) in parts.iter().enumerate() {
            if join.shared_state(part) != shared {
                return None;
            }
            let to = join.add(part, i, rng)?;
            let of = |tuple: &[u32]| -> Vec<u32> { tuple.iter().map(|&o| to[o as usize]).collect() };
            for (p, (tuples, predicate)) in part.problem.init.iter().zip(&part.domain.predicates).enumerate()
            {
                let arity = predicate.args.len();
                join.facts.extend(tuples.chunks_exact(arity.max(1)).map(|t| (p as u32, of(t))));
            }
            join.goals.extend(part.goal_literals().iter().map(|(_, p, tuple)| (*p, of(tuple))));
            for ((f, args), &value) in &part.problem.values {
                values.entry((*f, of(args))).or_insert(value);
            }
        }
        join.settle()?;
        let most = parts.iter().map(|t| t.goal_literals().len()).max();
        if Some(join.goals.len()) <= most {
            return None;
        }
        join.complete(parts[0], rng)?;
        Some(join.problem(parts[0], &values))
    }

    /// What changes about nothing but shared objects: parts that differ in it have no state in common.
    fn shared_state(&self, part: &Task) -> (Vec<bool>, BTreeSet<(usize, Vec<String>)>) {
        let (problem, domain) = (&part.problem, &part.domain);
        let is_shared = |o: &&u32| {
            (**o as usize) < domain.constants.len()
                || self.traits.fixed.contains(&problem.objects[**o as usize].types)
        };
        let mut facts = BTreeSet::new();
        for (p, predicate) in domain.predicates.iter().enumerate() {
            let arity = predicate.args.len();
            if predicate.role() == Role::Fluent && arity > 0 {
                let tuples = problem.init[p].chunks_exact(arity);
                let about = tuples.filter(|t| t.iter().all(|o| is_shared(&o)));
                let names = |t: &[u32]| t.iter().map(|&o| problem.objects[o as usize].name.clone()).collect();
                facts.extend(about.map(|t| (p, names(t))));
            }
        }
        (problem.nullary.clone(), facts)
    }

    /// Adds the objects of a part. What each is now.
    fn add(&mut self, part: &Task, number: usize, rng: &mut Rng) -> Option<Vec<u32>> {
        let first = part.domain.constants.len();
        let mut to: Vec<u32> = (0..first as u32).collect();
        let before = self.objects.len();
        for object in own(part) {
            let fixed = self.traits.fixed.contains(&object.types).then(|| {
                let known = self.objects[first..before]
                    .iter()
                    .position(|o| o.name == object.name && o.types == object.types);
                known.map(|at| (first + at) as u32)
            });
            if let Some(known) = fixed.flatten() {
                to.push(known);
                continue;
            }
            if fixed.is_some() && number > 0 {
                return None; // as many, but of other names: nothing says which is which
            }
            to.push(self.objects.len() as u32);
            self.same.push(self.objects.len() as u32);
            self.parts.push(1 << number);
            let name =
                if fixed.is_some() { object.name.clone() } else { format!("{}-{number}", object.name) };
            self.objects.push(ObjectDecl { name, types: object.types.clone() });
        }
        for likes in self.traits.values.iter().filter(|_| number > 0) {
            let of = |range: std::ops::Range<usize>| -> Vec<u32> {
                range.filter(|&o| self.objects[o].types == *likes).map(|o| o as u32).collect()
            };
            let (mut old, mut new) = (of(first..before), of(before..self.objects.len()));
            // In files, what comes in an order is listed in it: all are matched as they come where there is an order.
            if !self
                .traits
                .total
                .iter()
                .any(|(p, _)| of_kind(&self.objects, part, *p).contains(old.first().unwrap_or(&0)))
            {
                rng.shuffle(&mut old);
                rng.shuffle(&mut new);
            }
            let shared = [0, 1, usize::MAX][rng.below(3)];
            for (a, b) in old.into_iter().zip(new).take(shared) {
                self.unite(a, b)?;
            }
        }
        Some(to)
    }

    fn find(&self, mut object: u32) -> u32 {
        while self.same[object as usize] != object {
            object = self.same[object as usize];
        }
        object
    }

    /// Takes two objects for one; `None` where they cannot be.
    fn unite(&mut self, a: u32, b: u32) -> Option<()> {
        let (a, b) = (self.find(a).min(self.find(b)), self.find(a).max(self.find(b)));
        let (x, y) = (&self.objects[a as usize], &self.objects[b as usize]);
        // Objects of one part are different, and constants and shared objects are what they are.
        if a == b || x.types != y.types || self.parts[a as usize] & self.parts[b as usize] != 0 {
            return (a == b).then_some(());
        }
        self.same[b as usize] = a;
        self.parts[a as usize] |= self.parts[b as usize];
        Some(())
    }

    /// Takes objects for one until every settled argument is.
    fn settle(&mut self) -> Option<()> {
        loop {
            self.facts = self.renamed(&self.facts);
            let mut known: BTreeMap<(u32, usize, Vec<u32>), u32> = BTreeMap::new();
            let mut clashes = Vec::new();
            for &(p, place) in &self.traits.settled {
                for (_, tuple) in self.facts.iter().filter(|(q, _)| *q == p) {
                    let value = *known.entry((p, place, but(tuple, place))).or_insert(tuple[place]);
                    if value != tuple[place] {
                        clashes.push((value, tuple[place]));
                    }
                }
            }
            if clashes.is_empty() {
                self.goals = self.renamed(&self.goals);
                return Some(());
            }
            for (a, b) in clashes {
                self.unite(a, b)?;
            }
        }
    }

    fn renamed(&self, facts: &BTreeSet<Fact>) -> BTreeSet<Fact> {
        facts.iter().map(|(p, tuple)| (*p, tuple.iter().map(|&o| self.find(o)).collect())).collect()
    }

    /// Completes relations that hold between any two objects; `None` where they run in a circle.
    fn complete(&mut self, part: &Task, rng: &mut Rng) -> Option<()> {
        for &(p, both) in &self.traits.total {
            let mut left = of_kind(&self.objects, part, p);
            left.retain(|&o| self.find(o) == o);
            if both {
                let pairs = left.iter().flat_map(|&x| left.iter().map(move |&y| (x, y)));
                self.facts.extend(pairs.filter(|(x, y)| x != y).map(|(x, y)| (p, vec![x, y])));
                continue;
            }
            // One order of all: each time one of those that none of the others is before.
            while !left.is_empty() {
                let is_first =
                    |&&y: &&u32| !left.iter().any(|&x| x != y && self.facts.contains(&(p, vec![x, y])));
                let firsts: Vec<u32> = left.iter().filter(is_first).copied().collect();
                let &first = firsts.get(rng.below(firsts.len().max(1)))?;
                left.retain(|&o| o != first);
                self.facts.extend(left.iter().map(|&y| (p, vec![first, y])));
            }
        }
        Some(())
    }

    fn problem(&self, like: &Task, values: &FxHashMap<Fact, f64>) -> Problem {
        let mut number = vec![0; self.objects.len()];
        let mut objects: Vec<ObjectDecl> = Vec::new();
        for (o, object) in self.objects.iter().enumerate().filter(|(o, _)| self.find(*o as u32) == *o as u32)
        {
            number[o] = objects.len() as u32;
            objects.push(object.clone());
        }
        let of =
            |tuple: &[u32]| -> Vec<u32> { tuple.iter().map(|&o| number[self.find(o) as usize]).collect() };
        let mut init = vec![Vec::new(); like.problem.init.len()];
        for (p, tuple) in &self.facts {
            init[*p as usize].extend(of(tuple));
        }
        let goal = |(p, tuple): &Fact| {
            let args = of(tuple).into_iter().map(Term::Object).collect();
            Formula::Atom(Atom { predicate: *p, args })
        };
        Problem {
            name: "composed".to_string(),
            ids: objects.iter().enumerate().map(|(i, o)| (o.name.to_ascii_lowercase(), i as u32)).collect(),
            objects,
            init,
            values: values.iter().map(|((f, args), &v)| ((*f, of(args)), v)).collect(),
            goal: Formula::And(self.goals.iter().map(goal).collect()),
            goal_kinds: Vec::new(),
            ..like.problem.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::{Solvability, solvability};
    use crate::generate::{Generator, Numbers};

    fn tasks(name: &str, sizes: &[(usize, u64)]) -> Vec<Arc<Task>> {
        let generator = Generator::find(name).expect("a generator of that name");
        let domain = generator.domain().expect("it parses");
        let task = |&(size, seed): &(usize, u64)| generator.task(&domain, size, seed).expect("it parses");
        sizes.iter().map(task).collect()
    }

    fn numbered(name: &str, numbers: &[Numbers]) -> Vec<Arc<Task>> {
        let generator = Generator::find(name).expect("a generator of that name");
        let domain = generator.domain().expect("it parses");
        let text = |&numbers: &Numbers| derrl_logic::Source::new("problem", generator.problem_of(numbers, 0));
        numbers.iter().map(|n| Arc::new(Task::parse(&text(n), &domain).expect("it parses"))).collect()
    }

    fn count(task: &Task, predicate: &str) -> usize {
        let p = task.domain.predicates.iter().position(|p| p.name == predicate).expect("a predicate");
        task.problem.init[p].len() / task.domain.predicates[p].args.len()
    }

    #[test]
    fn problems_of_one_car_become_problems_of_several() {
        let given = tasks("ferry", &[(1, 0), (1, 1), (1, 2), (1, 3)]);
        let made = composed(&given, &given, 12, 40);
        assert_eq!(made.len(), 12);
        assert!(made.iter().any(|t| t.goal_literals().len() >= 4), "goals of up to four parts");
        let mut locations = BTreeSet::new();
        for task in &made {
            assert!(task.goal_literals().len() > 1);
            assert_eq!(count(task, "at"), task.goal_literals().len(), "each car is in one place");
            assert_eq!(count(task, "at-ferry"), 1, "one ferry");
            locations.insert(task.size() - task.goal_literals().len());
        }
        assert!(locations.len() > 2, "maps are shared, glued or put side by side: {locations:?}");
        let again = composed(&given, &given, 12, 40);
        assert!(made.iter().zip(&again).all(|(a, b)| a.problem.init == b.problem.init), "the same each time");
    }

    #[test]
    fn small_ones_can_be_solved_where_their_parts_can() {
        for name in
            ["ferry", "gripper", "miconic", "childsnack", "transport", "satellite", "logistics", "visitall"]
        {
            let mut given = tasks(name, &[(1, 0), (1, 1), (1, 4), (2, 2)]);
            if name == "satellite" {
                given = numbered(name, &[[1, 1, 1, 2, 1], [1, 1, 1, 3, 1], [1, 2, 1, 3, 1]]);
            }
            // One of these has so many states that one such problem has to do.
            let (count, most) = if name == "logistics" { (1, 200_000) } else { (4, 20_000) };
            let mut made = composed(&given, &given, if name == "satellite" { 12 } else { 4 }, 24);
            made.sort_by_key(|task| task.size());
            let found: Vec<Solvability> =
                made.iter().take(count).map(|task| solvability(task, most)).collect();
            assert!(found.iter().any(|f| matches!(f, Solvability::Solvable(_))), "{name}");
            assert!(!found.iter().any(|f| matches!(f, Solvability::Unsolvable { .. })), "{name}");
        }
    }

    #[test]
    fn an_order_of_all_stays_one() {
        let given = tasks("miconic", &[(1, 0), (2, 1), (2, 3)]);
        for task in composed(&given, &given, 8, 40) {
            let floors = task.size() - task.goal_literals().len();
            assert_eq!(count(&task, "above"), floors * (floors - 1) / 2);
            assert_eq!(count(&task, "lift-at"), 1);
        }
    }

    #[test]
    fn states_of_different_shared_things_are_not_joined() {
        // The ferry is empty in one and carries a car in the other.
        let generator = Generator::find("ferry").expect("a generator of that name");
        let domain = generator.domain().expect("it parses");
        let full =
            generator.problem(1, 0).replace("(empty-ferry)", "(on car1)").replace("(at car1", "(at car9");
        let full = full.replace("car1 - car", "car1 car9 - car");
        let full = Task::parse(&derrl_logic::Source::new("full", full), &domain).expect("it parses");
        let both = vec![generator.task(&domain, 1, 1).expect("it parses"), Arc::new(full)];
        for task in composed(&both, &both, 8, 60) {
            let holds =
                |name: &str| task.domain.predicates.iter().position(|p| p.name == name).expect("a predicate");
            let is_empty = task.problem.nullary[holds("empty-ferry")];
            assert_eq!(is_empty, task.problem.init[holds("on")].is_empty());
        }
    }
}
