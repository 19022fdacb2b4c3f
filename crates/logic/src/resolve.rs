//! Names to ids: what domains, policies and states share when they turn syntax into the engine's terms.

use std::cell::RefCell;

use rustc_hash::FxHashMap;

use crate::alphabet::{Action, ActionDecl, Alphabet, Measure, Pred, Role, Type, Var, places_of};
use crate::derive::Interned;
use crate::diagnostic::{Error, Source, nearest};
use crate::number::{self, Choice, Comparison, Linear};
use crate::rule::{Arg, Literal};
use crate::syntax::{self, Atom, Clause, Goal, Head, Indicator, Quoted, Span, Sum, Term, TermKind};

impl Alphabet {
    /// The most variables a rule, a constraint or V may have, and the largest arity.
    pub const MAX_VARIABLES: usize = 32;

    /// The most literals of the body of a rule or constraint.
    pub const MAX_BODY: usize = 1000;
}

/// What a name and an arity stand for.
#[derive(Clone, Copy)]
enum Symbol {
    Pred(Pred),
    Action(Action),
    Measure(Measure),
}

/// Resolves the names of one source against an alphabet.
pub(crate) struct Resolver<'a> {
    pub(crate) source: &'a Source,
    pub(crate) alphabet: &'a Alphabet,
    symbols: FxHashMap<(&'a str, usize), Symbol>,
    /// The comparisons met so far.
    comparisons: RefCell<Interned>,
}

impl<'a> Resolver<'a> {
    pub(crate) fn new(source: &'a Source, alphabet: &'a Alphabet) -> Resolver<'a> {
        let predicates = alphabet.predicates.iter().enumerate();
        let actions = alphabet.actions.iter().enumerate().filter(|(_, a)| !a.repeats());
        let measures = alphabet.measures.iter().enumerate();
        let measures =
            measures.map(|(i, m)| ((m.name.as_str(), m.args.len()), Symbol::Measure(Measure(i as u32))));
        let symbols = predicates
            .filter(|(_, p)| p.role.is_named())
            .map(|(i, p)| ((p.name.as_str(), p.args.len()), Symbol::Pred(Pred(i as u32))))
            .chain(actions.map(|(i, a)| ((a.name.as_str(), a.args.len()), Symbol::Action(Action(i as u32)))))
            .chain(measures)
            .collect();
        let comparisons = RefCell::new(Interned::new(alphabet));
        Resolver { source, alphabet, symbols, comparisons }
    }

    /// The comparisons met so far: those that the alphabet lacks have the ids after its own.
    pub(crate) fn into_comparisons(self) -> Interned {
        self.comparisons.into_inner()
    }

    /// The predicate of that name and arity, which stands at `span`.
    pub(crate) fn predicate(&self, name: &str, arity: usize, span: Span) -> Result<Pred, Error> {
        match self.symbols.get(&(name, arity)) {
            Some(Symbol::Pred(pred)) => Ok(*pred),
            Some(Symbol::Action(_)) => {
                let message =
                    format!("`{}` is an action, not a state or background predicate", Indicator(name, arity));
                let help = format!("the domain's predicates: {}", self.known_predicates());
                Err(self.source.error(span, message).with_help(help))
            }
            Some(Symbol::Measure(_)) => {
                let message =
                    format!("`{}` is a number: it does not hold or fail to", Indicator(name, arity));
                let error = self.source.error(span, message);
                Err(error.with_help(format!(
                    "compare it, as in `{} > 3`",
                    &self.source.text[span.start..span.end]
                )))
            }
            None if arity == 1 && matches!(name, "most" | "least") => {
                let error = self.source.error(span, "a choice is by a measure of objects");
                Err(error.with_help(format!("name them, as in `{name}(queue(X))`")))
            }
            None => {
                let named = self.alphabet.predicates.iter().filter(|p| p.role.is_named());
                let declared = named.map(|p| (p.name.as_str(), p.args.as_slice()));
                let known = format!("the domain's predicates: {}", self.known_predicates());
                Err(self.unknown("predicate", (name, arity, span), &declared, &known))
            }
        }
    }

    /// The action of that name and arity, which stands at `span`.
    pub(crate) fn action(&self, name: &str, arity: usize, span: Span) -> Result<Action, Error> {
        match self.symbols.get(&(name, arity)) {
            Some(Symbol::Action(action)) => Ok(*action),
            Some(Symbol::Pred(pred)) => {
                let role = self.alphabet.predicate(*pred).role;
                let message = format!("`{}` is a {role} predicate, not an action", Indicator(name, arity));
                let help = format!("the domain's actions: {}", self.known_actions());
                Err(self.source.error(span, message).with_help(help))
            }
            Some(Symbol::Measure(_)) => {
                let message = format!("`{}` is a number, not an action", Indicator(name, arity));
                let help = format!("the domain's actions: {}", self.known_actions());
                Err(self.source.error(span, message).with_help(help))
            }
            None => {
                let declared = self.whole_actions().map(|a| (a.name.as_str(), a.args.as_slice()));
                let known = format!("the domain's actions: {}", self.known_actions());
                Err(self.unknown("action", (name, arity, span), &declared, &known))
            }
        }
    }

    /// The action that a head is of, and the terms of its arguments: what is written twice is one argument.
    pub(crate) fn head<'s>(&self, head: &'s Atom) -> Result<(Action, Vec<&'s Term>), Error> {
        let action = self.action(&head.name, head.args.len(), head.span)?;
        let (places, terms) = arguments(&head.args);
        if terms.len() == head.args.len() {
            return Ok((action, terms));
        }
        if let Some(action) = self.alphabet.find_written(&head.name, &places) {
            return Ok((action, terms));
        }
        let again = (0..places.len()).find(|&i| places[..i].contains(&places[i]));
        let term = &head.args[again.expect("an argument stands twice")];
        let message =
            format!("`{term}` occurs twice in the head, and `{}` is not declared so", head.indicator());
        let help = format!(
            "distinct variables stand for distinct objects: use another variable here; where the action may be taken with equal \
             arguments, the domain file says so by `:- action({}).`",
            self.alphabet.written_example(action, &places)
        );
        Err(self.source.error(term.span, message).with_help(help))
    }

    /// The measure of that name and arity, which stands at `span`.
    pub(crate) fn measure(&self, name: &str, arity: usize, span: Span) -> Result<Measure, Error> {
        let what = match self.symbols.get(&(name, arity)) {
            Some(Symbol::Measure(measure)) => return Ok(*measure),
            Some(Symbol::Pred(pred)) => format!("a {} predicate", self.alphabet.predicate(*pred).role),
            Some(Symbol::Action(_)) => "an action".to_string(),
            None => {
                let declared = self.alphabet.measures.iter().map(|m| (m.name.as_str(), m.args.as_slice()));
                return Err(self.unknown("measure", (name, arity, span), &declared, &self.known_measures()));
            }
        };
        let message = format!("`{}` is {what}, not a number", Indicator(name, arity));
        Err(self.source.error(span, message).with_help(self.known_measures()))
    }

    fn known_measures(&self) -> String {
        match self.alphabet.measures.as_slice() {
            [] => "the domain declares no numbers; declare them like `:- number(queue(lane)).`".to_string(),
            all => {
                let all = list(all.iter().map(|m| Indicator(&m.name, m.args.len())));
                format!("the domain's measures: {all}")
            }
        }
    }

    /// Whether an atom is that of an action.
    pub(crate) fn is_action(&self, atom: &Atom) -> bool {
        matches!(self.symbols.get(&(atom.name.as_str(), atom.args.len())), Some(Symbol::Action(_)))
    }

    /// Whether a head is that of one of these actions.
    pub(crate) fn is_any_action(&self, head: &Head, actions: &[Action]) -> bool {
        let Head::Atom(atom) = head else { return false };
        let symbol = self.symbols.get(&(atom.name.as_str(), atom.args.len()));
        matches!(symbol, Some(Symbol::Action(a)) if actions.contains(a))
    }

    /// Whether a head is that of a derived predicate.
    pub(crate) fn is_derived(&self, head: &Head) -> bool {
        let Head::Atom(atom) = head else { return false };
        let symbol = self.symbols.get(&(atom.name.as_str(), atom.args.len()));
        matches!(symbol, Some(Symbol::Pred(p)) if self.alphabet.predicate(*p).role == Role::Derived)
    }

    /// The error for a name and arity that is not among the declared `(name, argument types)`.
    fn unknown<'d>(
        &self,
        what: &str,
        (name, arity, span): (&str, usize, Span),
        declared: &(impl Iterator<Item = (&'d str, &'d [Type])> + Clone),
        known: &str,
    ) -> Error {
        let namesakes: Vec<_> = declared.clone().filter(|d| d.0 == name).collect();
        if let Some((_, args)) = namesakes.first() {
            let arities: Vec<String> = namesakes.iter().map(|(_, args)| args.len().to_string()).collect();
            let count = if arities == ["1"] { "argument" } else { "arguments" };
            let message = format!("`{}` takes {} {count}, not {arity}", Quoted(name), arities.join(" or "));
            let help = format!("it is declared as `{}`", self.alphabet.signature(name, args));
            return self.source.error(span, message).with_help(help);
        }
        let near = nearest(name, declared.clone().map(|d| d.0));
        let help = match declared.clone().find(|d| Some(d.0) == near) {
            Some((name, args)) => format!("did you mean `{}`?", Indicator(name, args.len())),
            None => known.to_string(),
        };
        self.source.error(span, format!("unknown {what} `{}`", Indicator(name, arity))).with_help(help)
    }

    fn known_predicates(&self) -> String {
        let named = self.alphabet.predicates.iter().filter(|p| p.role.is_named());
        list(named.map(|p| Indicator(&p.name, p.args.len())))
    }

    fn whole_actions(&self) -> impl Iterator<Item = &ActionDecl> + Clone {
        self.alphabet.actions.iter().filter(|a| !a.repeats())
    }

    fn known_actions(&self) -> String {
        list(self.whole_actions().map(|a| Indicator(&a.name, a.arity())))
    }

    /// An error if a body is longer than whoever walks it, literal by literal, should have to bear.
    pub(crate) fn check_length(&self, clause: &Clause) -> Result<(), Error> {
        let Some(first) = clause.body.get(Alphabet::MAX_BODY) else { return Ok(()) };
        let message =
            format!("a body of {} literals; at most {} are read", clause.body.len(), Alphabet::MAX_BODY);
        Err(self
            .source
            .error(first.span, message)
            .with_help("is this the right file? Rules have a few literals"))
    }

    /// An error where a clause that is no rule chooses.
    pub(crate) fn no_choices(&self, clause: &Clause) -> Result<(), Error> {
        let Some(choice) = clause.choices.first() else { return Ok(()) };
        let error =
            self.source.error(choice.span, format!("`{choice}` chooses among actions: only rules do"));
        Err(error.with_help("compare numbers here, or choose in a rule of a policy"))
    }

    /// A literal in ids; its variables join the scope.
    pub(crate) fn literal<'s>(
        &self,
        literal: &'s syntax::Literal,
        scope: &mut Scope<'s>,
    ) -> Result<Literal, Error> {
        match &literal.goal {
            Goal::Atom(atom) => self.atom(atom, literal.positive, scope),
            Goal::Comparison(comparison) => self.comparison(comparison, literal.positive, scope),
        }
    }

    /// A comparison in ids, negated unless `positive`; its variables join the scope.
    fn comparison<'s>(
        &self,
        comparison: &'s syntax::Comparison,
        positive: bool,
        scope: &mut Scope<'s>,
    ) -> Result<Literal, Error> {
        let mut form = Form::default();
        self.add(&comparison.left, 1.0, positive, &mut form, scope)?;
        self.add(&comparison.right, -1.0, positive, &mut form, scope)?;
        self.check(&form, comparison.span)?;
        let comparison = Comparison::new(form.linear, comparison.op, 0.0 - form.constant);
        let pred = self.comparisons.borrow_mut().pred(comparison, self.alphabet);
        Ok(Literal { positive, pred, args: form.args })
    }

    /// A choice in ids.
    pub(crate) fn choice<'s>(
        &self,
        choice: &'s syntax::Choice,
        scope: &mut Scope<'s>,
    ) -> Result<Choice, Error> {
        let mut form = Form::default();
        self.add(&choice.sum, 1.0, false, &mut form, scope)?;
        self.check(&form, choice.span)?;
        if form.constant != 0.0 {
            let error = self.source.error(choice.sum.span, "a number that is added changes no choice");
            return Err(error.with_help("leave it out"));
        }
        Ok(Choice { extreme: choice.extreme, of: form.linear, args: form.args })
    }

    /// Adds a sum, times `sign`, to a form.
    fn add<'s>(
        &self,
        sum: &'s Sum,
        sign: f64,
        binds: bool,
        form: &mut Form<'s>,
        scope: &mut Scope<'s>,
    ) -> Result<(), Error> {
        for summand in &sum.summands {
            let factor = sign * summand.factor;
            let Some(atom) = &summand.measure else {
                form.constant += factor;
                continue;
            };
            let measure = self.measure(&atom.name, atom.args.len(), atom.span)?;
            let types = &self.alphabet.measure(measure).args;
            let mut places = Vec::with_capacity(types.len());
            for (term, &t) in atom.args.iter().zip(types) {
                let arg = match &term.kind {
                    TermKind::Var(name) => Arg::Var(self.variable(name, term, t, atom, binds, scope)?),
                    TermKind::Const(constant) => Arg::Const(constant.clone()),
                };
                let known = form.args.iter().position(|a| *a == arg);
                places.push(known.unwrap_or(form.args.len()) as u8);
                if known.is_none() {
                    form.args.push(arg);
                }
            }
            let terms = &mut form.linear.terms;
            if let Some(term) = terms.iter_mut().find(|t| t.measure == measure && t.places == places) {
                term.factor += factor;
            } else {
                terms.push(number::Term { factor, measure, places });
                form.atoms.push(atom);
            }
        }
        Ok(())
    }

    /// Whether a form is one: one or two measures that can be added up.
    fn check(&self, form: &Form<'_>, span: Span) -> Result<(), Error> {
        let terms = &form.linear.terms;
        let nothing = terms.iter().zip(&form.atoms).find(|(t, _)| t.factor == 0.0);
        if let Some((_, atom)) = nothing {
            let message = format!("`{atom}` does not count here: its factors add up to 0");
            return Err(self.source.error(span, message).with_help("leave it out"));
        }
        if let Some((_, atom)) = terms.iter().zip(&form.atoms).find(|(t, _)| !t.factor.is_finite()) {
            return Err(self.source.error(span, format!("the factor of `{atom}` is too large")));
        }
        if !form.constant.is_finite() {
            return Err(self.source.error(span, "the numbers of this comparison add up to infinity"));
        }
        let (first, second) = match terms.as_slice() {
            [] => {
                let error = self.source.error(span, "this compares no measure");
                return Err(error.with_help(self.known_measures()));
            }
            [_] => return Ok(()),
            [first, second] => (first, second),
            _ => {
                let atom = form.atoms[2];
                let error = self.source.error(atom.span, "more than two measures in one sum");
                return Err(error.with_help("split it into several comparisons"));
            }
        };
        let weighed = terms.iter().any(|t| t.factor.abs() != 1.0);
        if weighed || self.alphabet.comparable(first.measure, second.measure) {
            return Ok(());
        }
        let unit = |m| Quoted(self.alphabet.measure(m).unit.as_deref().unwrap_or_default()).to_string();
        let (a, b) = (form.atoms[0], form.atoms[1]);
        let message =
            format!("`{a}` is in `{}` but `{b}` is in `{}`", unit(first.measure), unit(second.measure));
        let help = format!("compare measures of one unit, or give one a factor, as in `0.5*{b}`");
        Err(self.source.error(b.span, message).with_help(help))
    }

    /// An atom in ids, negated unless `positive`; its variables join the scope.
    pub(crate) fn atom<'s>(
        &self,
        atom: &'s Atom,
        positive: bool,
        scope: &mut Scope<'s>,
    ) -> Result<Literal, Error> {
        let pred = self.predicate(&atom.name, atom.args.len(), atom.span)?;
        let types = &self.alphabet.predicate(pred).args;
        let args = atom.args.iter().zip(types).map(|(term, &t)| match &term.kind {
            TermKind::Var(name) => self.variable(name, term, t, atom, positive, scope).map(Arg::Var),
            TermKind::Const(constant) => Ok(Arg::Const(constant.clone())),
        });
        Ok(Literal { positive, pred, args: args.collect::<Result<_, _>>()? })
    }

    /// The number of a variable, which is used in `atom` where a `t` is expected.
    pub(crate) fn variable<'s>(
        &self,
        name: &'s str,
        term: &'s Term,
        t: Type,
        atom: &'s Atom,
        binds: bool,
        scope: &mut Scope<'s>,
    ) -> Result<Var, Error> {
        let known = scope.variables.iter().position(|v| v.name == name && name != "_");
        let at = known.unwrap_or(scope.variables.len());
        if known.is_none() {
            if at == Alphabet::MAX_VARIABLES {
                let message = format!("more than {} variables in one sentence", Alphabet::MAX_VARIABLES);
                return Err(self.source.error(term.span, message).with_help("split it into several"));
            }
            scope.variables.push(Variable { name, first: term, bound: false, uses: Vec::new() });
        }
        let variable = &mut scope.variables[at];
        variable.bound |= binds;
        let types = &self.alphabet.types;
        if let Some((other, elsewhere)) = variable.uses.iter().find(|(other, _)| !types.overlap(*other, t)) {
            let (this, that) = (Quoted(types.name(t)), Quoted(types.name(*other)));
            let message = if elsewhere.span == atom.span {
                format!("`{name}` is both a `{that}` and a `{this}` in `{atom}`")
            } else {
                format!("`{name}` is a `{that}` in `{elsewhere}` but a `{this}` in `{atom}`")
            };
            let help =
                "no object has both types: use two variables, or declare a common subtype in the domain";
            return Err(self.source.error(term.span, message).with_help(help));
        }
        if variable.uses.iter().all(|(other, _)| *other != t) {
            variable.uses.push((t, atom));
        }
        Ok(Var(at as u8))
    }
}

/// Which argument stands at each place of a head, and the arguments. Every `_` is one of its own.
pub(crate) fn arguments(terms: &[Term]) -> (Vec<u8>, Vec<&Term>) {
    let is_blank = |term: &Term| matches!(&term.kind, TermKind::Var(name) if name == "_");
    let keys: Vec<(&TermKind, usize)> =
        terms.iter().enumerate().map(|(i, t)| (&t.kind, if is_blank(t) { i + 1 } else { 0 })).collect();
    let places = places_of(&keys);
    let count = places.iter().max().map_or(0, |&most| usize::from(most) + 1);
    let first = |place: usize| places.iter().position(|&p| usize::from(p) == place).map(|i| &terms[i]);
    let distinct = (0..count).filter_map(first).collect();
    (places, distinct)
}

/// A sum while it is read.
#[derive(Default)]
struct Form<'s> {
    linear: Linear,
    constant: f64,
    args: Vec<Arg>,
    /// For each term, where it first stands.
    atoms: Vec<&'s Atom>,
}

/// The variables of one sentence, numbered by first appearance.
#[derive(Default)]
pub(crate) struct Scope<'s> {
    pub(crate) variables: Vec<Variable<'s>>,
}

/// A variable of a sentence.
pub(crate) struct Variable<'s> {
    /// As written. Every `_` is a variable of its own.
    pub(crate) name: &'s str,
    /// Where it first occurs.
    pub(crate) first: &'s Term,
    /// Whether the head or a positive literal says what it stands for.
    pub(crate) bound: bool,
    /// The different types it is used at, each with an atom that does so.
    uses: Vec<(Type, &'s Atom)>,
}

/// The first few names of a list for a message.
pub(crate) fn list<T: std::fmt::Display>(names: impl Iterator<Item = T>) -> String {
    const SHOWN: usize = 12;
    let mut all: Vec<String> = names.take(SHOWN + 1).map(|n| format!("`{n}`")).collect();
    match all.len() {
        0 => "none".to_string(),
        1..=SHOWN => all.join(", "),
        _ => {
            all.truncate(SHOWN);
            format!("{}, ...", all.join(", "))
        }
    }
}
