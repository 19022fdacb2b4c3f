//! The objects of one instance and the ground actions over them.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use crate::alphabet::{Action, Alphabet, Pred, Type};
use crate::syntax::{Constant, from_fn, write_application};

/// An object of a [`Universe`], by its position there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Object(pub u32);

/// An action applied to objects.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroundAction {
    /// The target predicate.
    pub action: Action,
    /// Its arguments.
    pub args: Vec<Object>,
}

/// C for one instance: named, typed objects. Facts and ground actions speak of these by [`Object`].
#[derive(Clone, Debug)]
pub struct Universe {
    objects: Vec<(Constant, Type)>,
    by_name: FxHashMap<Constant, Object>,
    /// A hash of the objects: equal universes are found by it, different ones are told apart by it almost always.
    fingerprint: u64,
}

impl PartialEq for Universe {
    fn eq(&self, other: &Universe) -> bool {
        self.fingerprint == other.fingerprint && self.objects == other.objects
    }
}

impl Eq for Universe {}

impl Hash for Universe {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.fingerprint);
    }
}

impl Universe {
    /// The universe of these objects. Names are distinct; a repeated name keeps its last object.
    pub fn new(objects: Vec<(Constant, Type)>) -> Universe {
        let by_name = objects.iter().enumerate().map(|(i, (c, _))| (c.clone(), Object(i as u32))).collect();
        let mut hasher = FxHasher::default();
        objects.hash(&mut hasher);
        Universe { by_name, fingerprint: hasher.finish(), objects }
    }

    /// How many objects there are.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// All objects, in order.
    pub fn objects(&self) -> impl Iterator<Item = Object> + use<> {
        (0..self.objects.len() as u32).map(Object)
    }

    /// The name of an object.
    pub fn name(&self, o: Object) -> &Constant {
        &self.objects[o.0 as usize].0
    }

    /// The type of an object.
    pub fn type_of(&self, o: Object) -> Type {
        self.objects[o.0 as usize].1
    }

    /// The object of that name.
    pub fn find(&self, name: &Constant) -> Option<Object> {
        self.by_name.get(name).copied()
    }

    /// Every ground action: each action with every tuple of distinct objects of its types, in the order of
    /// the alphabet and then of the objects. Takes time and memory in their number: n^arity.
    pub fn ground_actions(&self, alphabet: &Alphabet) -> Vec<GroundAction> {
        let actions = (0..alphabet.actions.len() as u32).map(Action);
        actions.flat_map(|action| self.actions_of(alphabet, action)).collect()
    }

    /// Every ground action of one action, in order.
    pub fn actions_of(&self, alphabet: &Alphabet, action: Action) -> Vec<GroundAction> {
        let mut out = Vec::new();
        let types = &alphabet.action(action).args;
        self.extend_tuples(alphabet, types, &mut Vec::with_capacity(types.len()), &mut |args| {
            out.push(GroundAction { action, args: args.to_vec() });
        });
        out
    }

    /// Whether there is any ground action. Unlike [`Universe::ground_actions`] it lists none.
    pub fn can_act(&self, alphabet: &Alphabet) -> bool {
        // A type without objects is seen at once; the search then fails only where objects are very few.
        let has = |t: &Type| self.objects.iter().any(|(_, of)| alphabet.types.is_subtype(*of, *t));
        let some = |types: &[Type]| types.iter().all(has) && self.has_tuple(alphabet, types, &mut Vec::new());
        alphabet.actions.iter().any(|decl| some(&decl.args))
    }

    fn has_tuple(&self, alphabet: &Alphabet, types: &[Type], args: &mut Vec<Object>) -> bool {
        let Some(&t) = types.get(args.len()) else { return true };
        self.objects().any(|o| {
            let fits = alphabet.types.is_subtype(self.type_of(o), t) && !args.contains(&o);
            fits && {
                args.push(o);
                let found = self.has_tuple(alphabet, types, args);
                args.pop();
                found
            }
        })
    }

    fn extend_tuples(
        &self,
        alphabet: &Alphabet,
        types: &[Type],
        args: &mut Vec<Object>,
        emit: &mut dyn FnMut(&[Object]),
    ) {
        let Some(&t) = types.get(args.len()) else {
            return emit(args);
        };
        for o in self.objects() {
            // Object identity: distinct head variables are distinct objects.
            if alphabet.types.is_subtype(self.type_of(o), t) && !args.contains(&o) {
                args.push(o);
                self.extend_tuples(alphabet, types, args, emit);
                args.pop();
            }
        }
    }

    /// `move(a, floor)`, in names.
    pub fn show_action(&self, alphabet: &Alphabet, action: Action, args: &[Object]) -> String {
        let decl = alphabet.action(action);
        self.show(&decl.name, &decl.written(args))
    }

    /// `on(a, b)`, or `queue(p1) > 3` where the predicate is a comparison.
    pub fn show_fact(&self, alphabet: &Alphabet, pred: Pred, args: &[Object]) -> String {
        match alphabet.comparison(pred) {
            Some(comparison) => {
                let names: Vec<&Constant> = args.iter().map(|&o| self.name(o)).collect();
                comparison.display(&names, alphabet).to_string()
            }
            None => self.show(&alphabet.predicate(pred).name, args),
        }
    }

    /// `p(a, b)` for any name and objects, as the parser reads it.
    pub fn show(&self, name: &str, args: &[Object]) -> String {
        let names: Vec<&Constant> = args.iter().map(|&o| self.name(o)).collect();
        from_fn(|f| write_application(f, name, &names)).to_string()
    }
}
