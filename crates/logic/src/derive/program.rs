//! Definitions in ids, in an order in which they can be evaluated.

use std::fmt;

use super::strata::{Component, Edge, components};
use crate::alphabet::{Alphabet, Pred, Role, Type, Types, Var};
use crate::number::Comparison;
use crate::rule::{Arg, Literal};
use crate::syntax::{Constant, Indicator, Quoted, from_fn, write_application};

/// What one sentence of a text says about a derived predicate. A predicate holds where any of its definitions says so.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The predicate.
    pub pred: Pred,
    /// How it follows from others.
    pub how: How,
}

/// How a derived predicate follows from others.
///
/// Closures and distances speak of *nodes*. A node is one object, or a tuple of objects where the predicate that they follow
/// has more than two arguments: `step/4` leads from one pair to another.
#[derive(Clone, Debug, PartialEq)]
pub enum How {
    /// `p(X, Y) :- q(X, Z), r(Z, Y).`
    Clause(DefiningClause),
    /// `:- closure(above, on).`: another node is reached by one step of `of` or more.
    Closure {
        /// What a step is.
        of: Pred,
    },
    /// `:- distance(closer, link).`: `closer(X, Y, Z)` holds where `link(X, Y)` is a step and Y is nearer to Z than X is.
    /// `:- distance(nearer, link, goal).`: `nearer(X, Y)` says the same of the goal that is nearest.
    Distance {
        /// What a step is.
        along: Pred,
        /// The goals; `None` where the goal is an argument.
        to: Option<Pred>,
    },
    /// A comparison of measures. No sentence defines it: rules say it as it is.
    Compare(Comparison),
}

/// A clause that defines a derived predicate. Its variables are numbered by appearance.
#[derive(Clone, Debug, PartialEq)]
pub struct DefiningClause {
    /// The arguments of its head. A variable that no positive literal binds ranges over its type.
    pub head: Vec<Arg>,
    /// From what it follows. Empty for what holds always.
    pub body: Vec<Literal>,
    /// How many distinct variables it has.
    pub variables: usize,
}

impl DefiningClause {
    /// Head variables, each with the type of its place, that are looked up among the objects because no positive literal makes
    /// sure that they stand for one of that type.
    pub fn guards(&self, alphabet: &Alphabet, pred: Pred) -> Vec<(Var, Type)> {
        let signature = |p: Pred| alphabet.predicate(p).args.as_slice();
        self.guards_by(&alphabet.types, signature(pred), &signature)
    }

    pub(super) fn guards_by<'s>(
        &self,
        types: &Types,
        places: &[Type],
        signature: &dyn Fn(Pred) -> &'s [Type],
    ) -> Vec<(Var, Type)> {
        let mut guards: Vec<(Var, Type)> = Vec::new();
        for (arg, &t) in self.head.iter().zip(places) {
            let Arg::Var(v) = arg else { continue };
            let sure = self.body.iter().filter(|l| l.positive).any(|l| {
                let mut known = l.args.iter().zip(signature(l.pred));
                known.any(|(a, &place)| a == arg && types.is_subtype(place, t))
            });
            if !sure && !guards.contains(&(*v, t)) {
                guards.push((*v, t));
            }
        }
        guards
    }

    /// The clause as text, where it defines this predicate.
    pub fn display<'a>(&'a self, pred: Pred, alphabet: &'a Alphabet) -> impl fmt::Display + 'a {
        from_fn(move |f| {
            match alphabet.legality_of(pred) {
                Some(action) => {
                    let decl = alphabet.action(action);
                    write_application(f, &decl.name, &decl.written(&self.head))?;
                }
                None => write_application(f, &alphabet.predicate(pred).name, &self.head)?,
            }
            for (i, literal) in self.body.iter().enumerate() {
                write!(f, "{}{}", if i == 0 { " :- " } else { ", " }, literal.display(alphabet))?;
            }
            f.write_str(".")
        })
    }
}

/// The definitions of all derived predicates of an alphabet, stratified: no predicate depends on its own negation.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    definitions: Vec<Definition>,
    /// Comparisons, by their definitions: they depend on no predicate.
    pub(super) comparisons: Vec<usize>,
    /// By predicate: which definition it has, where it is a comparison.
    comparison_of: Vec<Option<usize>>,
    /// All others, in an order in which each depends on earlier ones only.
    pub(super) components: Vec<Component>,
    pub(super) types: Types,
    /// By predicate: the types of its arguments.
    pub(super) signatures: Vec<Vec<Type>>,
    /// By predicate: its name, for messages.
    pub(super) names: Vec<String>,
    /// By predicate: whether a definition says what holds.
    pub(super) derived: Vec<bool>,
}

impl Program {
    /// The program of these definitions over the predicates of an alphabet; an error is a cycle through a negation.
    pub(crate) fn new(definitions: Vec<Definition>, alphabet: &Alphabet) -> Result<Program, Vec<Edge>> {
        let edges: Vec<Edge> = definitions.iter().enumerate().flat_map(|(at, d)| edges(at, d)).collect();
        let components = components(alphabet.predicates.len(), &definitions, &edges)?;
        let (comparisons, comparison_of) = comparisons(&definitions, alphabet.predicates.len());
        Ok(Program {
            comparisons,
            comparison_of,
            components,
            types: alphabet.types.clone(),
            signatures: alphabet.predicates.iter().map(|p| p.args.clone()).collect(),
            names: alphabet.predicates.iter().map(|p| p.name.clone()).collect(),
            derived: alphabet.predicates.iter().map(|p| !p.role.is_given()).collect(),
            definitions,
        })
    }

    /// The definitions, in the order of the text.
    pub fn definitions(&self) -> &[Definition] {
        &self.definitions
    }

    /// The comparison that a predicate is, where it is one.
    pub fn comparison(&self, pred: Pred) -> Option<&Comparison> {
        let at = (*self.comparison_of.get(pred.0 as usize)?)?;
        match &self.definitions[at].how {
            How::Compare(comparison) => Some(comparison),
            _ => None,
        }
    }

    /// The definitions of one predicate, in the order of the text.
    pub fn of(&self, pred: Pred) -> impl Iterator<Item = &Definition> {
        self.definitions.iter().filter(move |d| d.pred == pred)
    }

    /// Whether a definition says what holds of a predicate.
    pub fn defines(&self, pred: Pred) -> bool {
        self.derived.get(pred.0 as usize).is_some_and(|d| *d)
    }

    /// The derived predicates in an order in which each is defined by earlier ones, those it is defined together with, and given
    /// ones.
    pub fn order(&self) -> impl Iterator<Item = Pred> {
        self.components.iter().flat_map(|c| c.preds.iter().copied())
    }

    /// The derived predicates in that order, those that are defined by way of each other together.
    pub fn groups(&self) -> impl Iterator<Item = &[Pred]> {
        self.components.iter().map(|c| c.preds.as_slice())
    }

    /// Whether a predicate is defined by way of itself.
    pub fn is_recursive(&self, pred: Pred) -> bool {
        self.components.iter().any(|c| c.recursive && c.preds.contains(&pred))
    }

    /// The predicates that `asked` and what they depend on: given and derived ones, in order.
    pub fn needed(&self, asked: impl Iterator<Item = Pred>) -> Vec<Pred> {
        let mut needed = vec![false; self.signatures.len()];
        let mut todo: Vec<Pred> = asked.collect();
        while let Some(pred) = todo.pop() {
            if !std::mem::replace(&mut needed[pred.0 as usize], true) {
                todo.extend(self.of(pred).flat_map(|d| edges(0, d)).map(|e| e.from));
            }
        }
        (0..needed.len()).filter(|&p| needed[p]).map(|p| Pred(p as u32)).collect()
    }

    /// What the program says of the first `count` predicates, which depend on no others; `None` where that is nothing.
    pub(crate) fn first_predicates(&self, count: usize) -> Option<Program> {
        let mut all = self.clone();
        all.definitions.retain(|d| (d.pred.0 as usize) < count);
        all.components.retain(|c| c.preds.iter().all(|p| (p.0 as usize) < count));
        for component in &mut all.components {
            let theirs = |d: &Definition| component.preds.contains(&d.pred);
            let at = all.definitions.iter().enumerate().filter(|(_, d)| theirs(d)).map(|(at, _)| at);
            component.definitions = at.collect();
        }
        (all.comparisons, all.comparison_of) = comparisons(&all.definitions, count);
        all.signatures.truncate(count);
        all.names.truncate(count);
        all.derived.truncate(count);
        (!all.definitions.is_empty()).then_some(all)
    }

    /// The same program over objects that have no types.
    pub(crate) fn untyped(&self) -> Program {
        let mut all = self.clone();
        all.types = Types::new(&[], &[]);
        all.signatures.iter_mut().for_each(|args| args.fill(Types::ANY));
        all
    }
}

/// Which definitions are comparisons, and which one each predicate has.
fn comparisons(definitions: &[Definition], predicates: usize) -> (Vec<usize>, Vec<Option<usize>>) {
    let is = |at: &usize| matches!(definitions[*at].how, How::Compare(_));
    let all: Vec<usize> = (0..definitions.len()).filter(is).collect();
    let mut of = vec![None; predicates];
    for &at in &all {
        of[definitions[at].pred.0 as usize] = Some(at);
    }
    (all, of)
}

/// What a definition depends on.
fn edges(at: usize, definition: &Definition) -> Vec<Edge> {
    let edge = |from: Pred, strict: bool| Edge { from, to: definition.pred, strict, definition: at };
    match &definition.how {
        How::Clause(clause) => clause.body.iter().map(|l| edge(l.pred, !l.positive)).collect(),
        How::Closure { of } => vec![edge(*of, true)],
        How::Distance { along, to } => std::iter::once(along).chain(to).map(|&p| edge(p, true)).collect(),
        How::Compare(_) => Vec::new(),
    }
}

impl Alphabet {
    /// The definitions of derived predicates and legal actions; none in most domains.
    pub fn definitions(&self) -> &[Definition] {
        self.program.as_ref().map_or(&[], |p| p.definitions())
    }

    /// The constants that definitions and rules that forbid mention, each once.
    pub fn defining_constants(&self) -> Vec<Constant> {
        let clauses = self.definitions().iter().filter_map(|d| match &d.how {
            How::Clause(clause) => Some(clause),
            _ => None,
        });
        let of_clauses = clauses.flat_map(|c| c.head.iter().chain(c.body.iter().flat_map(|l| &l.args)));
        let of_shield = self.shield.iter().flat_map(|rule| rule.body.iter().flat_map(|l| &l.args));
        let mut all: Vec<Constant> = Vec::new();
        for arg in of_clauses.chain(of_shield) {
            if let Arg::Const(c) = arg
                && !all.contains(c)
            {
                all.push(c.clone());
            }
        }
        all
    }

    /// What a derived predicate is called where it is defined: an action's own name for its legality.
    pub fn defined_name(&self, pred: Pred) -> &str {
        match self.legality_of(pred) {
            Some(action) => &self.action(action).name,
            None => &self.predicate(pred).name,
        }
    }

    /// The clauses that define derived predicates, as text: those of the domain, after what it says is legal, or a policy's own.
    pub(crate) fn write_definitions(
        &self,
        own: bool,
        is_kept: &dyn Fn(Pred) -> bool,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        let among = |p: Pred| (p.0 as usize >= self.of_domain) == own && is_kept(p);
        if !own {
            for action in self.actions.iter().filter(|a| a.legal.is_some() && !a.repeats()) {
                writeln!(f, ":- legal({}).", Indicator(&action.name, action.arity()))?;
            }
        }
        let clauses = self.definitions().iter().filter(|d| among(d.pred) && matches!(d.how, How::Clause(_)));
        clauses.enumerate().try_for_each(|(i, d)| {
            writeln!(f, "{}{}", if i == 0 && !own { "\n" } else { "" }, d.display(self))
        })
    }

    /// The directive that declares a derived predicate.
    pub(crate) fn write_declaration(&self, pred: Pred, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let p = self.predicate(pred);
        if p.role == Role::Comparison {
            return Ok(());
        }
        let sugar = self.definitions().iter().find(|d| d.pred == pred && !matches!(d.how, How::Clause(_)));
        match sugar {
            Some(d) => writeln!(f, "{}", d.display(self)),
            None => writeln!(f, ":- derived({}).", self.signature(&p.name, &p.args)),
        }
    }

    /// How a domain file declares and defines a derived predicate of this alphabet; none for one that the world reports.
    pub fn definition_text(&self, pred: Pred) -> Option<String> {
        if self.predicate(pred).role != Role::Derived {
            return None;
        }
        let declaration = from_fn(move |f| self.write_declaration(pred, f)).to_string();
        let clauses = self.definitions().iter().filter(|d| d.pred == pred && matches!(d.how, How::Clause(_)));
        Some(
            clauses
                .fold(declaration, |text, d| format!("{text}{}\n", d.display(self)))
                .trim_end()
                .to_string(),
        )
    }

    /// A predicate as closures and distances name it: by its name alone where that is enough.
    fn short_name(&self, pred: Pred) -> String {
        let p = self.predicate(pred);
        match self.predicates.iter().filter(|q| q.name == p.name && q.role.is_named()).count() {
            1 => Quoted(&p.name).to_string(),
            _ => Indicator(&p.name, p.args.len()).to_string(),
        }
    }
}

impl Definition {
    /// The definition as a domain or policy file has it.
    pub fn display<'a>(&'a self, alphabet: &'a Alphabet) -> impl fmt::Display + 'a {
        from_fn(move |f| {
            let called = |p: Pred| alphabet.short_name(p);
            let new = Quoted(&alphabet.predicate(self.pred).name);
            match &self.how {
                How::Clause(clause) => write!(f, "{}", clause.display(self.pred, alphabet)),
                How::Closure { of } => write!(f, ":- closure({new}, {}).", called(*of)),
                How::Distance { along, to: None } => write!(f, ":- distance({new}, {}).", called(*along)),
                How::Distance { along, to: Some(to) } => {
                    write!(f, ":- distance({new}, {}, {}).", called(*along), called(*to))
                }
                How::Compare(comparison) => f.write_str(&comparison.name(alphabet)),
            }
        })
    }
}
