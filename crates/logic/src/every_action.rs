//! All ground actions of a universe, counted and found by number without listing them.

use crate::alphabet::{Action, Alphabet};
use crate::universe::{GroundAction, Object, Universe};

/// The list that [`Universe::ground_actions`] makes, without making it: n^2 actions of arity 2 take memory linear in n.
#[derive(Clone, Debug)]
pub struct EveryAction {
    actions: Vec<Tuples>,
    objects: usize,
}

/// The tuples of distinct objects of an action's types.
#[derive(Clone, Debug)]
struct Tuples {
    arity: usize,
    kinds: Vec<Kind>,
}

/// The objects that have the same of an action's types.
#[derive(Clone, Debug)]
struct Kind {
    /// Whether they can stand at each place.
    stands: Vec<bool>,
    /// In order.
    objects: Vec<Object>,
}

impl EveryAction {
    /// The ground actions of this alphabet over these objects.
    pub fn new(alphabet: &Alphabet, universe: &Universe) -> EveryAction {
        let tuples = |types: &[_]| {
            let mut kinds: Vec<Kind> = Vec::new();
            for o in universe.objects() {
                let stands: Vec<bool> =
                    types.iter().map(|&t| alphabet.types.is_subtype(universe.type_of(o), t)).collect();
                match kinds.iter_mut().find(|kind| kind.stands == stands) {
                    Some(kind) => kind.objects.push(o),
                    None => kinds.push(Kind { stands, objects: vec![o] }),
                }
            }
            Tuples { arity: types.len(), kinds }
        };
        let actions = alphabet.actions.iter().map(|a| tuples(&a.args)).collect();
        EveryAction { actions, objects: universe.len() }
    }

    /// How many objects there are.
    pub fn objects(&self) -> usize {
        self.objects
    }

    /// How many ground actions there are.
    pub fn len(&self) -> usize {
        self.actions.iter().map(|a| a.completions(&[])).sum()
    }

    /// How many ground actions of one action there are.
    pub fn len_of(&self, action: Action) -> usize {
        self.actions[action.0 as usize].completions(&[])
    }

    /// The ground action of one action with exactly `k` of its own before it, for `k` below their number.
    pub fn nth_of(&self, action: Action, k: usize) -> GroundAction {
        GroundAction { action, args: self.actions[action.0 as usize].nth(k, self.objects) }
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The ground action with exactly `k` before it.
    ///
    /// # Panics
    ///
    /// If there are not so many.
    pub fn nth(&self, mut k: usize) -> GroundAction {
        for (i, tuples) in self.actions.iter().enumerate() {
            let count = tuples.completions(&[]);
            if k < count {
                return self.nth_of(Action(i as u32), k);
            }
            k -= count;
        }
        panic!("there are not so many ground actions");
    }
}

impl Tuples {
    /// How many tuples begin with these objects.
    fn completions(&self, begin: &[Object]) -> usize {
        let left = |kind: &Kind| {
            kind.objects.len() - begin.iter().filter(|o| kind.objects.binary_search(o).is_ok()).count()
        };
        self.choices(begin.len(), &mut self.kinds.iter().map(left).collect::<Vec<_>>())
    }

    /// How many ways there are to fill the places from `place` on with distinct objects, so many `left` of each kind.
    fn choices(&self, place: usize, left: &mut Vec<usize>) -> usize {
        if place == self.arity {
            return 1;
        }
        let mut sum = 0;
        for kind in 0..left.len() {
            if self.kinds[kind].stands[place] && left[kind] > 0 {
                left[kind] -= 1;
                sum += (left[kind] + 1) * self.choices(place + 1, left);
                left[kind] += 1;
            }
        }
        sum
    }

    fn nth(&self, mut k: usize, objects: usize) -> Vec<Object> {
        let mut args = Vec::with_capacity(self.arity);
        for place in 0..self.arity {
            // Which object stands here matters for what can follow only by its kind.
            let follow: Vec<usize> = self.kinds.iter().map(|kind| self.follow(kind, place, &args)).collect();
            let before = |limit: u32| -> usize {
                let kinds = self.kinds.iter().zip(&follow);
                kinds.map(|(kind, follow)| follow * unused(kind, &args, Object(limit))).sum()
            };
            // The last object with at most k tuples before the first of its own.
            let (mut low, mut high) = (0, objects as u32);
            while high - low > 1 {
                let mid = u32::midpoint(low, high);
                if before(mid) <= k { low = mid } else { high = mid }
            }
            k -= before(low);
            args.push(Object(low));
        }
        args
    }

    /// How many tuples begin with `args` and then a certain object of this kind.
    fn follow(&self, kind: &Kind, place: usize, args: &[Object]) -> usize {
        let Some(&o) = kind.objects.iter().find(|o| !args.contains(o)).filter(|_| kind.stands[place]) else {
            return 0;
        };
        self.completions(&[args, &[o]].concat())
    }
}

/// How many objects of a kind are below `limit` and not among `args`.
fn unused(kind: &Kind, args: &[Object], limit: Object) -> usize {
    let used = args.iter().filter(|o| **o < limit && kind.objects.binary_search(o).is_ok()).count();
    kind.objects.partition_point(|o| *o < limit) - used
}
