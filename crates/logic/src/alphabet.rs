//! The alphabet L = (P_tar, P_ext, arity, C, V) of a domain with its language bias, in ids.
//!
//! Syntax carries names; from here on the engine carries ids. An [`Alphabet`] is made in one place
//! ([`Alphabet::parse`], in `domain.rs`) and never changes afterwards.

use std::borrow::Cow;
use std::sync::Arc;

use crate::derive::Program;
use crate::rule::{Arg, Literal, Rule};
use crate::syntax::{Constant, from_fn, write_application};
use crate::template::Templates;

/// A predicate that facts are about, an index into [`Alphabet::predicates`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pred(pub u32);

/// What states report a number for, an index into [`Alphabet::measures`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Measure(pub u32);

/// A target predicate, an index into [`Alphabet::actions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Action(pub u32);

/// A type of objects, an index into [`Types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Type(pub u32);

/// A variable of V by its position: 0 is `X`, 1 is `Y`, 2 is `Z`, then `U`, `V`, `W`, `X6`, ...
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var(pub u8);

/// Where the facts of a predicate come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Changes during an episode (`:- state(...)`).
    State,
    /// Fixed during an episode (`:- background(...)`).
    Background,
    /// Follows from other predicates by definition (`:- derived(...)`, `:- closure(...)`, `:- distance(...)`).
    Derived,
    /// Says when an action is legal (`:- legal(...)`). No text names such a predicate, and no rule uses it.
    Legal,
    /// Says of objects that a comparison of their measures holds. In texts it is written as the comparison: [`Alphabet::comparison`].
    Comparison,
}

impl Role {
    /// Whether the world says what holds, not a definition.
    pub fn is_given(self) -> bool {
        matches!(self, Role::State | Role::Background)
    }

    /// Whether texts call the predicate by its name.
    pub fn is_named(self) -> bool {
        !matches!(self, Role::Legal | Role::Comparison)
    }
}

/// A predicate with its typed signature.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicate {
    /// Its name as written.
    pub name: String,
    /// The type of each argument; [`Types::ANY`] where none was declared.
    pub args: Vec<Type>,
    /// Where its facts come from.
    pub role: Role,
    /// Whether its negation is a candidate atom too (`:- negation(p/n)`).
    pub negatable: bool,
}

/// What states report a number for, with its typed signature (`:- number(queue(phase), cars).`).
#[derive(Clone, Debug, PartialEq)]
pub struct MeasureDecl {
    /// Its name as written.
    pub name: String,
    /// The type of each argument; [`Types::ANY`] where none was declared.
    pub args: Vec<Type>,
    /// Its unit. Measures of different units are not compared.
    pub unit: Option<String>,
}

/// How many rules an action may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleCount {
    /// At most this many, at least one.
    AtMost(usize),
    /// The learner finds the smallest sufficient number (`:- rules(p/n, auto)`).
    Auto,
}

/// A target predicate (an action) with its bias.
///
/// Its arguments are distinct objects. An action that may be taken with equal ones is declared once more, as an action of fewer
/// arguments that writes some of them twice: `:- action(move(X, X)).`
#[derive(Clone, Debug, PartialEq)]
pub struct ActionDecl {
    /// Its name as written.
    pub name: String,
    /// The type of each argument; [`Types::ANY`] where none was declared.
    pub args: Vec<Type>,
    /// Which argument stands at each place where the action is written: `0, 1, 0` for `send(X, Y, X)`.
    pub places: Vec<u8>,
    /// How many rules it may have.
    pub rules: RuleCount,
    /// Predicates its rules may not use (`:- forbid(move/2, goal_on/2)`).
    pub forbidden: Vec<Pred>,
    /// The derived predicate that says when it is legal (`:- legal(move/2)`). `None`: it may always be tried.
    pub legal: Option<Pred>,
}

impl ActionDecl {
    /// How many arguments it is written with.
    pub fn arity(&self) -> usize {
        self.places.len()
    }

    /// Whether it writes an argument twice.
    pub fn repeats(&self) -> bool {
        self.places.len() > self.args.len()
    }

    /// Its arguments in a rule, as they are written: its first variables.
    pub fn head(&self) -> Vec<Var> {
        self.places.iter().map(|&place| Var(place)).collect()
    }

    /// It as it is written with variables: `send(X, Y, X)`.
    pub fn example(&self) -> String {
        let head = self.head();
        from_fn(|f| write_application(f, &self.name, &head)).to_string()
    }

    /// These arguments as they are written: some of them twice where it [repeats](ActionDecl::repeats).
    pub fn written<T: Clone>(&self, args: &[T]) -> Vec<T> {
        self.places.iter().map(|&place| args[usize::from(place)].clone()).collect()
    }
}

/// Which argument stands at each place of a tuple, where equal ones are one argument: `0, 1, 0` for `(a, b, a)`.
pub fn places_of<T: PartialEq>(tuple: &[T]) -> Vec<u8> {
    let mut distinct: Vec<&T> = Vec::new();
    let place = |term| {
        distinct.iter().position(|&d| d == term).unwrap_or_else(|| {
            distinct.push(term);
            distinct.len() - 1
        }) as u8
    };
    tuple.iter().map(place).collect()
}

/// The distinct members of a tuple, in order.
pub fn distinct_of<T: PartialEq + Clone>(tuple: &[T]) -> Vec<T> {
    let mut distinct: Vec<T> = Vec::new();
    for term in tuple {
        if !distinct.contains(term) {
            distinct.push(term.clone());
        }
    }
    distinct
}

/// The types of a domain and which are subtypes of which.
#[derive(Clone, Debug, PartialEq)]
pub struct Types {
    names: Vec<String>,
    /// `below[t]` holds every type that is `t` or a subtype of it, sorted.
    below: Vec<Vec<Type>>,
}

impl Types {
    /// The type of everything: what an undeclared argument has.
    pub const ANY: Type = Type(0);

    /// The types named, with the declared `(sub, super)` pairs closed under transitivity.
    /// Index 0 is [`Types::ANY`], above all others.
    pub fn new(names: &[String], subtypes: &[(Type, Type)]) -> Types {
        let mut all = vec!["any".to_string()];
        all.extend(names.iter().cloned());
        let n = all.len();
        let mut le = vec![vec![false; n]; n];
        for (t, row) in le.iter_mut().enumerate() {
            row[t] = true;
            row[0] = true;
        }
        for &(sub, sup) in subtypes {
            le[sub.0 as usize][sup.0 as usize] = true;
        }
        for k in 0..n {
            for i in 0..n {
                for j in 0..n {
                    le[i][j] |= le[i][k] && le[k][j];
                }
            }
        }
        let below = (0..n).map(|t| (0..n).filter(|&s| le[s][t]).map(|s| Type(s as u32)).collect()).collect();
        Types { names: all, below }
    }

    /// The type of that name.
    pub fn find(&self, name: &str) -> Option<Type> {
        self.names.iter().position(|n| n == name).map(|i| Type(i as u32))
    }

    /// The name of a type.
    pub fn name(&self, t: Type) -> &str {
        &self.names[t.0 as usize]
    }

    /// How many types there are, [`Types::ANY`] included.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether only [`Types::ANY`] exists: an untyped domain.
    pub fn is_empty(&self) -> bool {
        self.names.len() == 1
    }

    /// The greatest type of the objects that have all of these, where there is one.
    pub fn common(&self, all: &[Type]) -> Option<Type> {
        let fits = |t: Type| all.iter().all(|&wanted| self.is_subtype(t, wanted));
        let fitting: Vec<Type> = (0..self.len() as u32).map(Type).filter(|&t| fits(t)).collect();
        fitting.iter().copied().find(|&t| fitting.iter().all(|&s| self.is_subtype(s, t)))
    }

    /// Whether every object of type `sub` is also of type `sup`.
    pub fn is_subtype(&self, sub: Type, sup: Type) -> bool {
        self.below[sup.0 as usize].binary_search(&sub).is_ok()
    }

    /// Whether an object can have both types: they have a common subtype.
    pub fn overlap(&self, a: Type, b: Type) -> bool {
        self.below[a.0 as usize].iter().any(|&t| self.is_subtype(t, b))
    }
}

/// A semantic constraint: `false :- b1..bn` (head `None`) or `h :- b1..bn`.
/// Its literals use variables numbered by first appearance in the axiom, not those of V.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// `h`, or `None` for `false`.
    pub head: Option<Literal>,
    /// `b1..bn`.
    pub body: Vec<Literal>,
    /// How many distinct variables it has.
    pub variables: usize,
    /// The axiom as the domain file has it, for messages.
    pub text: String,
}

/// L with its bias: what a domain file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Alphabet {
    /// The built-in dynamics this alphabet describes (`:- environment(blocks)`).
    pub environment: Option<String>,
    /// The types.
    pub types: Types,
    /// P_ext: what the world gives, what is derived from it, and when actions are legal.
    pub predicates: Vec<Predicate>,
    /// How many of the predicates the domain declares. Those after them are a policy's own, all derived.
    pub of_domain: usize,
    /// What derived predicates mean; `None` where there are none.
    pub program: Option<Arc<Program>>,
    /// What states report numbers for.
    pub measures: Vec<MeasureDecl>,
    /// P_tar.
    pub actions: Vec<ActionDecl>,
    /// Constants that rules may mention (`:- constant(floor)`).
    pub constants: Vec<Constant>,
    /// |V|.
    pub variables: usize,
    /// Whether the file says |V|; else it is the largest arity, and the learner may widen it.
    pub variables_given: bool,
    /// The longest body the learner may propose (`:- max_body(4)`).
    pub max_body: Option<usize>,
    /// S_c.
    pub constraints: Vec<Constraint>,
    /// Rules that forbid (`never(move(X, Y)) :- fragile(Y).`), the most important first. Their weights mean nothing.
    pub shield: Vec<Rule>,
    /// The clause templates of the NLRL baseline (`:- nlrl(...)`).
    pub templates: Option<Templates>,
}

/// Variables beside its head's that an action has in a language of many variables, unless the domain file says how many there are.
const SPARE_VARIABLES: usize = 3;
/// A language of more variables is one of many.
const MANY_VARIABLES: usize = 5;

impl Alphabet {
    /// How many variables V has where the domain file does not say: one more than the largest head, and enough for every predicate.
    pub(crate) fn usual_variables(&self) -> usize {
        let predicates = self.predicates.iter().map(|p| p.args.len());
        let measures = self.measures.iter().map(|m| m.args.len());
        let beside_heads = self.actions.iter().map(|a| a.args.len() + 1);
        predicates.chain(measures).chain(beside_heads).max().unwrap_or(1).clamp(1, Alphabet::MAX_VARIABLES)
    }

    /// How many of the variables of V rules for actions of this arity may use. That is all of them, unless one action has so many
    /// arguments that a rule for a smaller one would have more variables to spare than can be tried.
    pub fn variables_for(&self, arity: usize) -> usize {
        if self.variables_given || self.variables <= MANY_VARIABLES {
            return self.variables;
        }
        let widest = self.predicates.iter().filter(|p| p.role.is_named()).map(|p| p.args.len()).max();
        let own = (arity + SPARE_VARIABLES).max(widest.unwrap_or(0));
        (own + self.variables.saturating_sub(self.usual_variables())).clamp(arity, self.variables)
    }

    /// The predicate of that name and arity.
    pub fn find_predicate(&self, name: &str, arity: usize) -> Option<Pred> {
        let is = |p: &Predicate| p.name == name && p.args.len() == arity && p.role != Role::Comparison;
        let at = self.predicates.iter().position(is)?;
        Some(Pred(at as u32))
    }

    /// The measure of that name and arity.
    pub fn find_measure(&self, name: &str, arity: usize) -> Option<Measure> {
        let at = self.measures.iter().position(|m| m.name == name && m.args.len() == arity)?;
        Some(Measure(at as u32))
    }

    /// The action of that name and arity, all of whose arguments are distinct.
    pub fn find_action(&self, name: &str, arity: usize) -> Option<Action> {
        let at = self.actions.iter().position(|a| a.name == name && a.args.len() == arity && !a.repeats())?;
        Some(Action(at as u32))
    }

    /// The action of that name whose arguments stand at these places, as [`places_of`] gives them.
    pub fn find_written(&self, name: &str, places: &[u8]) -> Option<Action> {
        let at = self.actions.iter().position(|a| a.name == name && a.places == places)?;
        Some(Action(at as u32))
    }

    /// An action, and the same with equal arguments where that is declared.
    pub(crate) fn with_repeated(&self, action: Action) -> impl Iterator<Item = Action> + '_ {
        let of = self.action(action);
        let is_it = move |a: &ActionDecl| a.name == of.name && a.arity() == of.arity();
        let all = self.actions.iter().enumerate().filter(move |(_, a)| is_it(a));
        all.map(|(i, _)| Action(i as u32))
    }

    /// An action with its arguments at these places, as text: `send(X, Y, X)`.
    pub(crate) fn written_example(&self, action: Action, places: &[u8]) -> String {
        let head: Vec<Var> = places.iter().map(|&place| Var(place)).collect();
        from_fn(|f| write_application(f, &self.action(action).name, &head)).to_string()
    }

    /// The action of that name with these arguments, and its own arguments: fewer where it is declared with equal ones.
    pub fn find_ground<T: PartialEq + Clone>(&self, name: &str, args: &[T]) -> Option<(Action, Vec<T>)> {
        match self.find_written(name, &places_of(args)) {
            Some(action) => Some((action, distinct_of(args))),
            None => Some((self.find_action(name, args.len())?, args.to_vec())),
        }
    }

    /// The action that a predicate says is legal, where that is what it says.
    pub fn legality_of(&self, p: Pred) -> Option<Action> {
        let at = self.actions.iter().position(|a| a.legal == Some(p))?;
        Some(Action(at as u32))
    }

    /// Whether the domain says of an action when it is legal.
    pub fn has_legality(&self) -> bool {
        self.actions.iter().any(|a| a.legal.is_some())
    }

    /// The declaration behind an id.
    pub fn predicate(&self, p: Pred) -> &Predicate {
        &self.predicates[p.0 as usize]
    }

    /// The declaration behind an id.
    pub fn measure(&self, m: Measure) -> &MeasureDecl {
        &self.measures[m.0 as usize]
    }

    /// The declaration behind an id.
    pub fn action(&self, a: Action) -> &ActionDecl {
        &self.actions[a.0 as usize]
    }

    /// Whether every variable that both literals use can stand for an object of the types that they ask of it.
    pub fn fit(&self, a: &Literal, b: &Literal) -> bool {
        let uses = |l: &Literal| -> Vec<(Var, Type)> {
            let places = l.args.iter().zip(&self.predicate(l.pred).args);
            places.filter_map(|(arg, &t)| if let Arg::Var(v) = arg { Some((*v, t)) } else { None }).collect()
        };
        let (a, b) = (uses(a), uses(b));
        a.iter().all(|&(v, t)| b.iter().all(|&(w, u)| v != w || self.types.overlap(t, u)))
    }

    /// The same alphabet without the predicates that a policy defines for itself.
    pub fn of_domain_only(&self) -> Cow<'_, Alphabet> {
        if self.predicates.len() == self.of_domain {
            return Cow::Borrowed(self);
        }
        let mut all = self.clone();
        all.predicates.truncate(self.of_domain);
        all.program = self.program.as_ref().and_then(|p| p.first_predicates(self.of_domain)).map(Arc::new);
        Cow::Owned(all)
    }

    /// The same alphabet with every argument of type `any` (`--untyped`): K becomes exactly the paper's.
    #[must_use]
    pub fn untyped(&self) -> Alphabet {
        let mut all = self.clone();
        all.types = Types::new(&[], &[]);
        let signatures = all.predicates.iter_mut().map(|p| &mut p.args);
        let signatures = signatures.chain(all.measures.iter_mut().map(|m| &mut m.args));
        let signatures = signatures.chain(all.actions.iter_mut().map(|a| &mut a.args));
        for args in signatures {
            args.fill(Types::ANY);
        }
        if let Some(program) = &all.program {
            all.program = Some(Arc::new(program.untyped()));
        }
        if let Some(templates) = &mut all.templates {
            templates.forget_types();
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Source;

    #[test]
    fn small_actions_beside_a_large_one_have_three_variables_to_spare() {
        let text = ":- action(shake(a, a, a, a, a, a)).\n:- action(grasp(a)).\n:- state(p(a, a)).\n";
        let parse = |text: &str| Alphabet::parse(&Source::new("bar", text)).expect("it parses");
        let mut alphabet = parse(text);
        assert_eq!((alphabet.variables, alphabet.variables_for(6), alphabet.variables_for(1)), (7, 7, 4));
        alphabet.variables = 8;
        assert_eq!(
            (alphabet.variables_for(6), alphabet.variables_for(1)),
            (8, 5),
            "a wider language widens both"
        );
        let given = parse(&format!("{text}:- variables(7).\n"));
        assert_eq!(given.variables_for(1), 7, "what the file says holds");
        let few = parse(":- action(move(a, a)).\n:- action(wait).\n:- state(p(a, a)).\n");
        assert_eq!((few.variables_for(2), few.variables_for(0)), (3, 3));
    }
}
