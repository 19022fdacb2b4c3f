//! Conditions compiled to joins: which objects make a condition true.
//!
//! A conjunction becomes a list of steps. Each step binds variables (by the tuples of a relation, by an equality, or by
//! all objects of a kind) or tests what is bound. Steps are ordered once per problem, by the number of tuples that
//! they are expected to give; what never changes is therefore joined first where it is selective.

use crate::formula::{Formula, Term};
use crate::relation::Relation;
use crate::types::Kind;

/// The objects of a kind, as a list and as a set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Members {
    pub(crate) list: Vec<u32>,
    bits: Vec<u64>,
}

impl Members {
    pub(crate) fn new(objects: usize, belongs: impl Fn(usize) -> bool) -> Members {
        let list: Vec<u32> = (0..objects).filter(|&o| belongs(o)).map(|o| o as u32).collect();
        let mut bits = vec![0; objects.div_ceil(64)];
        for &o in &list {
            bits[o as usize / 64] |= 1 << (o % 64);
        }
        Members { list, bits }
    }

    #[inline]
    pub(crate) fn contains(&self, object: u32) -> bool {
        self.bits[object as usize / 64] >> (object % 64) & 1 == 1
    }
}

/// What conditions are about: the relations that stay, those that change, and the objects of each kind.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) fixed: &'a [Relation],
    pub(crate) moving: &'a [Relation],
    pub(crate) kinds: &'a [Members],
}

/// A relation: whether it changes, and its predicate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) moves: bool,
    pub(crate) predicate: u32,
}

/// A condition whose variables are all bound.
#[derive(Clone, Debug)]
enum Test {
    Literal {
        place: Place,
        args: Vec<Term>,
        holds: bool,
    },
    Equal {
        a: Term,
        b: Term,
        holds: bool,
    },
    /// One of the conjunctions holds.
    Any(Vec<Query>),
    /// The conjunction holds for some objects, or for none.
    Exists(Query, bool),
}

/// What a scan does with an argument of a tuple.
#[derive(Clone, Copy, Debug)]
enum Slot {
    /// It must be this.
    Bound(Term),
    /// It becomes the value of a variable, of a kind that must be checked unless the predicate implies it.
    Bind(u16, Option<Kind>),
    /// It must be the value that the same tuple gave to this variable.
    Same(u16),
}

#[derive(Clone, Debug)]
enum Step {
    Test(Test),
    Assign { var: u16, kind: Kind, term: Term },
    Scan { place: Place, args: Vec<Slot> },
    Each { var: u16, kind: Kind },
}

/// A conjunction in the order in which it is solved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query {
    steps: Vec<Step>,
}

/// What is known of a problem when conditions are compiled.
pub(crate) struct Compiler<'a> {
    /// For each predicate, where its tuples are.
    pub(crate) places: &'a [Place],
    /// The declared kinds of each predicate's arguments.
    pub(crate) signatures: &'a [&'a [Kind]],
    /// About how many tuples each predicate has.
    pub(crate) sizes: &'a [f64],
    /// How many objects there are.
    pub(crate) objects: f64,
    /// How many objects of each kind there are.
    pub(crate) members: &'a [Members],
    /// Whether everything of the first kind is of the second.
    pub(crate) is_subkind: &'a dyn Fn(Kind, Kind) -> bool,
}

impl Compiler<'_> {
    /// The query of a condition in normal form. Of the slots, `bound` have values already; `vars` must get some.
    pub(crate) fn query(&self, condition: &Formula, kinds: &[Kind], bound: &[bool], vars: &[u16]) -> Query {
        let mut bound = bound.to_vec();
        let mut pending: Vec<&Formula> = match condition {
            Formula::And(parts) => parts.iter().collect(),
            one => vec![one],
        };
        let mut steps = Vec::new();
        loop {
            // What can be tested is, what is cheap first.
            for cheap in [true, false] {
                pending.retain(|f| {
                    let simple = matches!(f, Formula::Atom(_) | Formula::Equal(..) | Formula::Not(_));
                    let ready = simple == cheap && f.free().iter().all(|&v| bound[usize::from(v)]);
                    if ready {
                        steps.push(Step::Test(self.test(f, kinds, &bound)));
                    }
                    !ready
                });
            }
            let best = pending
                .iter()
                .enumerate()
                .filter_map(|(i, f)| Some((i, self.estimate(f, &bound)?)))
                .min_by(|a, b| a.1.total_cmp(&b.1));
            // A variable of a rare kind leads, rather than a relation with more tuples than that.
            let count = |var: u16| self.members[usize::from(kinds[usize::from(var)].0)].list.len();
            let rarest = vars.iter().copied().filter(|&v| !bound[usize::from(v)]).min_by_key(|&v| count(v));
            let rarest = rarest.filter(|&v| best.is_none_or(|(_, tuples)| (count(v) as f64) < tuples));
            if let Some(var) = rarest {
                bound[usize::from(var)] = true;
                steps.push(Step::Each { var, kind: kinds[usize::from(var)] });
            } else if let Some((i, _)) = best {
                let step = self.bind(pending.remove(i), kinds, &mut bound);
                steps.push(step);
            } else {
                // Nothing is unbound, so everything has been tested.
                return Query { steps };
            }
        }
    }

    fn is_bound(term: Term, bound: &[bool]) -> bool {
        match term {
            Term::Var(v) => bound[usize::from(v)],
            Term::Object(_) => true,
        }
    }

    /// About how many bindings a part gives; none where it can give no binding.
    fn estimate(&self, part: &Formula, bound: &[bool]) -> Option<f64> {
        match part {
            Formula::Atom(atom) => {
                let known = atom.args.iter().filter(|&&t| Self::is_bound(t, bound)).count();
                Some(self.sizes[atom.predicate as usize] / self.objects.max(1.0).powi(known as i32))
            }
            Formula::Equal(a, b) if Self::is_bound(*a, bound) || Self::is_bound(*b, bound) => Some(0.0),
            _ => None,
        }
    }

    /// The step that binds the variables of an atom or equality.
    fn bind(&self, part: &Formula, kinds: &[Kind], bound: &mut [bool]) -> Step {
        match part {
            Formula::Equal(a, b) => {
                let (open, term) = if Self::is_bound(*a, bound) { (*b, *a) } else { (*a, *b) };
                let Term::Var(var) = open else { unreachable!("an object is always bound") };
                bound[usize::from(var)] = true;
                Step::Assign { var, kind: kinds[usize::from(var)], term }
            }
            Formula::Atom(atom) => {
                let signature = self.signatures[atom.predicate as usize];
                let before = bound.to_vec();
                let slot = |(&term, &declared): (&Term, &Kind)| match term {
                    Term::Var(v) if !before[usize::from(v)] => {
                        if std::mem::replace(&mut bound[usize::from(v)], true) {
                            Slot::Same(v)
                        } else {
                            let kind = kinds[usize::from(v)];
                            Slot::Bind(v, (!(self.is_subkind)(declared, kind)).then_some(kind))
                        }
                    }
                    _ => Slot::Bound(term),
                };
                let args = atom.args.iter().zip(signature).map(slot).collect();
                Step::Scan { place: self.places[atom.predicate as usize], args }
            }
            _ => unreachable!("only atoms and equalities have an estimate"),
        }
    }

    fn test(&self, part: &Formula, kinds: &[Kind], bound: &[bool]) -> Test {
        match part {
            Formula::Atom(atom) => Test::Literal {
                place: self.places[atom.predicate as usize],
                args: atom.args.clone(),
                holds: true,
            },
            Formula::Equal(a, b) => Test::Equal { a: *a, b: *b, holds: true },
            Formula::Not(inner) => match self.test(inner, kinds, bound) {
                Test::Literal { place, args, holds } => Test::Literal { place, args, holds: !holds },
                Test::Equal { a, b, holds } => Test::Equal { a, b, holds: !holds },
                other => other,
            },
            Formula::And(_) => Test::Any(vec![self.query(part, kinds, bound, &[])]),
            Formula::Or(parts) => Test::Any(parts.iter().map(|p| self.query(p, kinds, bound, &[])).collect()),
            Formula::Exists(vars, inner) => Test::Exists(self.query(inner, kinds, bound, vars), true),
            Formula::Forall(vars, inner) => {
                Test::Exists(self.query(&inner.normal(false), kinds, bound, vars), false)
            }
        }
    }
}

/// The most arguments of an atom that is tested without allocating.
const SHORT: usize = 8;

impl View<'_> {
    fn relation(&self, place: Place) -> &Relation {
        let all = if place.moves { self.moving } else { self.fixed };
        &all[place.predicate as usize]
    }

    /// Whether a condition holds whose variables are all bound.
    pub(crate) fn holds(&self, query: &Query, binding: &mut [u32]) -> bool {
        !self.solve(&query.steps, binding, &mut |_| false)
    }

    /// Calls `emit` with every binding that makes the condition true, until it returns false.
    pub(crate) fn each(&self, query: &Query, binding: &mut [u32], emit: &mut dyn FnMut(&mut [u32]) -> bool) {
        self.solve(&query.steps, binding, emit);
    }

    /// Whether the end was reached: `emit` has never returned false.
    fn solve(&self, steps: &[Step], binding: &mut [u32], emit: &mut dyn FnMut(&mut [u32]) -> bool) -> bool {
        let Some((step, rest)) = steps.split_first() else { return emit(binding) };
        match step {
            Step::Test(test) => !self.test(test, binding) || self.solve(rest, binding, emit),
            Step::Assign { var, kind, term } => {
                let object = value(*term, binding);
                if !self.kinds[usize::from(kind.0)].contains(object) {
                    return true;
                }
                binding[usize::from(*var)] = object;
                self.solve(rest, binding, emit)
            }
            Step::Each { var, kind } => self.kinds[usize::from(kind.0)].list.iter().all(|&object| {
                binding[usize::from(*var)] = object;
                self.solve(rest, binding, emit)
            }),
            Step::Scan { place, args } => self.scan(self.relation(*place), args, rest, binding, emit),
        }
    }

    fn scan(
        &self,
        relation: &Relation,
        args: &[Slot],
        rest: &[Step],
        binding: &mut [u32],
        emit: &mut dyn FnMut(&mut [u32]) -> bool,
    ) -> bool {
        // Of the arguments that are bound, the one with the fewest tuples leads.
        let lists = args.iter().enumerate().filter_map(|(i, slot)| match slot {
            Slot::Bound(term) => Some(relation.with(i, value(*term, binding))),
            _ => None,
        });
        let shortest = lists.min_by_key(|l| l.len());
        let mut visit = |slot: u32| {
            let matches = relation.tuple(slot).iter().zip(args).all(|(&object, arg)| match *arg {
                Slot::Bound(term) => value(term, binding) == object,
                Slot::Same(var) => binding[usize::from(var)] == object,
                Slot::Bind(var, kind) => {
                    binding[usize::from(var)] = object;
                    kind.is_none_or(|k| self.kinds[usize::from(k.0)].contains(object))
                }
            });
            !matches || self.solve(rest, binding, emit)
        };
        match shortest {
            Some(list) => list.iter().all(|&slot| visit(slot)),
            None => (0..relation.len() as u32).all(visit),
        }
    }

    fn test(&self, test: &Test, binding: &mut [u32]) -> bool {
        match test {
            Test::Literal { place, args, holds } => self.atom(*place, args, binding) == *holds,
            Test::Equal { a, b, holds } => (value(*a, binding) == value(*b, binding)) == *holds,
            Test::Any(queries) => queries.iter().any(|q| self.holds(q, binding)),
            Test::Exists(query, holds) => self.holds(query, binding) == *holds,
        }
    }

    #[inline]
    pub(crate) fn atom(&self, place: Place, args: &[Term], binding: &[u32]) -> bool {
        let relation = self.relation(place);
        if args.len() <= SHORT {
            let mut tuple = [0; SHORT];
            for (o, &t) in tuple.iter_mut().zip(args) {
                *o = value(t, binding);
            }
            relation.contains(&tuple[..args.len()])
        } else {
            let tuple: Vec<u32> = args.iter().map(|&t| value(t, binding)).collect();
            relation.contains(&tuple)
        }
    }
}

/// The object that a term stands for.
#[inline]
pub(crate) fn value(term: Term, binding: &[u32]) -> u32 {
    match term {
        Term::Var(v) => binding[usize::from(v)],
        Term::Object(o) => o,
    }
}
