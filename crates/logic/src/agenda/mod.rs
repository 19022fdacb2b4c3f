//! Acting by rules in large states that change little: the derived actions, kept up to date fact by fact.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | [`Agenda`] |
//! | `conditions.rs` | when rules derive legal actions |
//! | `clause.rs` | clauses that count what they derive |
//! | `product.rs` | what clauses derive whose parts share no variable |
//! | `level.rs` | rules of one value: what they derive, kept up to date while that pays |
//! | `tally.rs`, `ranked.rs` | derived actions with their number of derivations, and the k-th of them |

mod clause;
mod conditions;
mod level;
mod product;
mod ranked;
mod tally;

use crate::alphabet::{Action, Alphabet, Pred, Type};
use crate::decide::strongest_first;
use crate::derive::Maintained;
use crate::diagnostic::Error;
use crate::every_action::EveryAction;
use crate::facts::Facts;
use crate::join::{Packing, Relation};
use crate::policy::Policy;
use crate::universe::{GroundAction, Object, Universe};
use conditions::Conditions;
use level::{Derived, Level};
use tally::Rows;

/// The actions that a policy prefers in a state whose facts change one by one.
///
/// It takes the same decisions as a [`Decider`](crate::Decider). Where that one joins its rules with all facts for every
/// decision, this one joins them with what has changed: the time of a decision depends on the changes and on what they derive,
/// not on the size of the state. Memory is linear in the facts and the derived actions.
///
/// Rules of a value that no decision has come down to are not looked at.
///
/// ```
/// use derrl_logic::{Agenda, Alphabet, Constant, Facts, Object, Policy, Source, Types, Universe};
///
/// let roads = Alphabet::parse(&Source::new("d.pl", ":- action(green/1). :- state(queue/1). :- state(closed/1)."))?;
/// let policy = Policy::parse(&Source::new("p.pl", "green(X) :- queue(X), \\+ closed(X)."), &roads)?;
/// let lanes = Universe::new((0..10_000).map(|i| (Constant::Int(i), Types::ANY)).collect());
/// let (queue, closed) = (roads.find_predicate("queue", 1).unwrap(), roads.find_predicate("closed", 1).unwrap());
///
/// let mut agenda = Agenda::new(&policy, &roads, &lanes).expect("pairs of 10,000 lanes fit 64 bits");
/// agenda.load(&Facts::new(&roads));
/// agenda.change(queue, &[Object(7)], true);
/// agenda.change(queue, &[Object(42)], true);
/// agenda.change(closed, &[Object(7)], true);
///
/// let best = agenda.best();
/// assert_eq!((best.value(), best.len()), (1.0, 1));
/// assert_eq!(best.nth(0).args, [Object(42)]);
/// # Ok::<(), derrl_logic::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Agenda {
    keys: Keys,
    /// One for each predicate, then one for each type.
    relations: Vec<Relation>,
    predicates: usize,
    /// For each relation, the atoms that it can make true.
    uses: Vec<Vec<Use>>,
    /// Rules by value, the highest first; then, for each action of which it is said, when it is legal.
    levels: Vec<Level>,
    /// How many levels are of rules.
    rules: usize,
    every: EveryAction,
    /// What follows from the facts, where rules or legality ask for derived ones.
    derived: Option<Box<Maintained>>,
    /// For each action, the level of the legal ones; `None` where any may be tried.
    legal: Vec<Option<usize>>,
    /// Why derived facts are missing.
    fault: Option<Error>,
}

/// An atom of a rule.
#[derive(Clone, Copy, Debug)]
struct Use {
    level: usize,
    clause: usize,
    atom: usize,
}

/// How actions become numbers that sort as they do: the action, then its arguments.
#[derive(Clone, Debug)]
struct Keys {
    packing: Packing,
    /// The bits below the action.
    width: u32,
    arities: Vec<usize>,
    /// For each type of an argument of an action, the objects that have it.
    members: Vec<Vec<bool>>,
}

impl Keys {
    /// `None` where actions or facts do not fit 64 bits.
    fn new(alphabet: &Alphabet, universe: &Universe) -> Option<Keys> {
        let packing = Packing::new(universe.len());
        let arities: Vec<usize> = alphabet.actions.iter().map(|a| a.args.len()).collect();
        let width = packing.width(arities.iter().copied().max().unwrap_or(0));
        let actions = usize::BITS - arities.len().leading_zeros();
        let facts = alphabet.predicates.iter().map(|p| p.args.len()).max().unwrap_or(0);
        if width + actions > 63 || packing.width(facts) > 63 {
            return None;
        }
        let mut members = vec![Vec::new(); alphabet.types.len()];
        for &t in alphabet.actions.iter().flat_map(|a| &a.args) {
            let is_of = |o| alphabet.types.is_subtype(universe.type_of(o), t);
            members[t.0 as usize] = universe.objects().map(is_of).collect();
        }
        Some(Keys { packing, width, arities, members })
    }

    /// What the arguments of an action are pushed onto.
    fn action(&self, action: usize) -> u64 {
        (action as u64) << (self.width - self.packing.width(self.arities[action]))
    }

    fn fits(&self, o: Object, t: Type) -> bool {
        self.members[t.0 as usize][o.0 as usize]
    }

    fn ground_action(&self, key: u64) -> GroundAction {
        let action = (key >> self.width) as usize;
        let arity = self.arities[action];
        let args = (0..arity).map(|place| self.packing.get(key, arity, place)).collect();
        GroundAction { action: Action(action as u32), args }
    }

    /// The rows of an action.
    fn rows(&self, action: usize, last: Type) -> Rows {
        let keys = (action as u64) << self.width..(action as u64 + 1) << self.width;
        let members = &self.members[last.0 as usize];
        let last = (0..members.len() as u32).map(Object).filter(|o| members[o.0 as usize]).collect();
        Rows::new(keys, self.arities[action], last)
    }
}

impl Agenda {
    /// Compiles a policy for a universe, without facts yet. `None` where the facts or actions of this many objects do not fit
    /// 64 bits each (pairs of a thousand million objects do), and where the policy or what is legal depends on numbers.
    pub fn new(policy: &Policy, alphabet: &Alphabet, universe: &Universe) -> Option<Agenda> {
        if policy.rules.iter().any(|rule| !rule.choices.is_empty()) {
            return None;
        }
        let keys = Keys::new(alphabet, universe)?;
        let predicates = alphabet.predicates.len();
        let type_relation = |t: Type| predicates + t.0 as usize;
        let mut asked: Vec<Pred> = Vec::new();
        let mut compile = |all: &[Conditions]| {
            asked.extend(all.iter().flat_map(Conditions::predicates));
            all.iter().flat_map(|c| c.clauses(alphabet, universe, &type_relation)).collect::<Vec<_>>()
        };
        let mut levels: Vec<Level> = Vec::new();
        for rule in strongest_first(policy) {
            let clauses = compile(&Conditions::of_rule(rule, alphabet));
            match levels.last_mut() {
                Some(level) if level.value == rule.weight => level.clauses.extend(clauses),
                _ => levels.push(Level::new(rule.weight, clauses)),
            }
        }
        let rules = levels.len();
        let mut legal = Vec::new();
        for action in (0..alphabet.actions.len() as u32).map(Action) {
            let conditions = Conditions::of_legality(action, alphabet);
            legal.push(conditions.map(|all| {
                levels.push(Level::new(0.0, compile(&all)));
                levels.len() - 1
            }));
        }
        let mut uses = vec![Vec::new(); predicates + alphabet.types.len()];
        for (level, rules) in levels.iter().enumerate() {
            for (clause, rule) in rules.clauses.iter().enumerate() {
                for (atom, used) in rule.body.atoms.iter().enumerate() {
                    uses[used.relation].push(Use { level, clause, atom });
                }
            }
        }
        let mut relations = vec![Relation::default(); uses.len()];
        for t in (0..alphabet.types.len() as u32).map(Type) {
            let at = type_relation(t);
            if !uses[at].is_empty() {
                let is_of = |o: &Object| alphabet.types.is_subtype(universe.type_of(*o), t);
                universe.objects().filter(is_of).for_each(|o| relations[at].insert(u64::from(o.0)));
            }
        }
        if let Some(program) = &alphabet.program
            && program.needed(asked.iter().copied()).iter().any(|&p| program.comparison(p).is_some())
        {
            return None;
        }
        let every = EveryAction::new(alphabet, universe);
        let program = alphabet.program.as_ref().filter(|p| asked.iter().any(|&a| p.defines(a)));
        let derived = match program {
            Some(program) => Some(Box::new(Maintained::new(program, universe, asked.into_iter()).ok()?)),
            None => None,
        };
        let fault = None;
        Some(Agenda { keys, relations, predicates, uses, levels, rules, every, derived, legal, fault })
    }

    /// Starts over from these facts. What follows from them by definition is found here: it need not be among them.
    pub fn load(&mut self, facts: &Facts) {
        self.levels.iter_mut().for_each(Level::forget);
        self.relations[..self.predicates].iter_mut().for_each(Relation::clear);
        let packing = self.keys.packing;
        let put = |relations: &mut [Relation], pred: Pred, args: &[Object]| {
            let at = pred.0 as usize;
            if !self.uses[at].is_empty() {
                relations[at].insert(packing.pack(args));
            }
        };
        for (pred, args) in facts.iter() {
            if self.derived.as_ref().is_none_or(|d| !d.derives(pred)) {
                put(&mut self.relations, pred, args);
            }
        }
        self.fault = None;
        if let Some(derived) = &mut self.derived {
            self.fault = derived.load(facts).err();
            for pred in (0..self.predicates as u32).map(Pred).filter(|&p| derived.derives(p)) {
                derived.each(pred, &mut |args| put(&mut self.relations, pred, args));
            }
        }
    }

    /// Why derived facts are missing, where they are: then decisions are made without them.
    pub fn fault(&self) -> Option<&Error> {
        self.fault.as_ref()
    }

    /// Says that a fact of the world holds from now on, or that it no longer does. What follows from it by definition is found by
    /// [`Agenda::best`].
    pub fn change(&mut self, pred: Pred, args: &[Object], holds: bool) {
        if let Some(derived) = &mut self.derived {
            if derived.derives(pred) {
                return;
            }
            derived.change(pred, args, holds);
        }
        self.set(pred, args, holds);
    }

    /// Lets what follows from the changes of facts come and go.
    fn settle(&mut self) {
        let Some(mut derived) = self.derived.take() else { return };
        let settled = derived.settle(&mut |pred, args, holds| self.set(pred, args, holds));
        self.fault = self.fault.take().or(settled.err());
        self.derived = Some(derived);
    }

    fn set(&mut self, pred: Pred, args: &[Object], holds: bool) {
        let at = pred.0 as usize;
        let fact = self.keys.packing.pack(args);
        if self.uses[at].is_empty() || self.relations[at].contains(fact) == holds {
            return;
        }
        if holds {
            self.relations[at].insert(fact);
        }
        for &Use { level, clause, atom } in &self.uses[at] {
            self.levels[level].change(clause, atom, fact, holds, &self.relations, &self.keys);
        }
        if !holds {
            self.relations[at].remove(fact);
        }
    }

    /// The best actions in the present state: argmax of F, with all ties.
    pub fn best(&mut self) -> Best<'_> {
        self.settle();
        for at in 0..self.rules {
            if self.derived_at(at).len() > 0 {
                return Best { agenda: self, level: Some(at) };
            }
        }
        for at in self.rules..self.levels.len() {
            self.derived_at(at);
        }
        Best { agenda: self, level: None }
    }

    /// What a level derives in the present state.
    fn derived_at(&mut self, at: usize) -> &Derived {
        self.levels[at].derived(&mut self.relations, &self.keys, self.every.objects())
    }

    /// How many facts it holds: those of predicates that rules and what is legal mention.
    pub fn facts(&self) -> usize {
        self.relations[..self.predicates].iter().map(Relation::len).sum()
    }

    /// The bytes that facts, indexes and derived actions take on the heap; hash tables are estimated from their capacity.
    pub fn bytes(&self) -> usize {
        self.relations.iter().map(Relation::bytes).sum::<usize>()
            + self.derived.as_ref().map_or(0, |d| d.bytes())
            + self.levels.iter().map(Level::bytes).sum::<usize>()
    }
}

/// The best actions in the present state of an [`Agenda`].
pub struct Best<'a> {
    agenda: &'a Agenda,
    /// `None` where no rule fires.
    level: Option<usize>,
}

impl Best<'_> {
    /// F of these actions; 0 where no rule fires.
    pub fn value(&self) -> f64 {
        self.level.map_or(0.0, |at| self.agenda.levels[at].value)
    }

    /// How many actions share this value: all of them where no rule fires, or all legal ones where the domain says what is legal
    /// and something is.
    pub fn len(&self) -> usize {
        match self.derived() {
            Some(derived) => derived.len(),
            None => match self.legal() {
                0 => self.agenda.every.len(),
                legal => legal,
            },
        }
    }

    /// How many actions are legal; 0 where the domain does not say.
    fn legal(&self) -> usize {
        if self.agenda.legal.iter().all(Option::is_none) {
            return 0;
        }
        (0..self.agenda.legal.len()).map(|action| self.legal_of(action)).sum()
    }

    fn legal_of(&self, action: usize) -> usize {
        let every = || self.agenda.every.len_of(Action(action as u32));
        self.agenda.legal[action]
            .map_or_else(every, |at| self.agenda.levels[at].known().map_or(0, Derived::len))
    }

    /// One of the legal actions, counted in their order from 0.
    fn nth_legal(&self, mut k: usize) -> GroundAction {
        let mut action = 0;
        while k >= self.legal_of(action) {
            k -= self.legal_of(action);
            action += 1;
        }
        let legal = self.agenda.legal[action];
        match legal.and_then(|at| self.agenda.levels[at].known()) {
            Some(legal) => self.agenda.keys.ground_action(legal.nth(k)),
            None => self.agenda.every.nth_of(Action(action as u32), k),
        }
    }

    /// Whether there is no action at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a rule fires.
    pub fn fires(&self) -> bool {
        self.level.is_some()
    }

    /// One of these actions, counted in their order from 0. None is listed for it.
    ///
    /// # Panics
    ///
    /// If there are not so many.
    pub fn nth(&self, k: usize) -> GroundAction {
        assert!(k < self.len(), "there are only {} best actions", self.len());
        match self.derived() {
            Some(derived) => self.agenda.keys.ground_action(derived.nth(k)),
            None if self.legal() > 0 => self.nth_legal(k),
            None => self.agenda.every.nth(k),
        }
    }

    fn derived(&self) -> Option<&Derived> {
        self.agenda.levels[self.level?].known()
    }
}
