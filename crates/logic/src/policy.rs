//! Policies as text: a list of weighted rules, read against an alphabet and written canonically.

use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::alphabet::{Alphabet, Pred, Role, Type, Var};
use crate::derive::Interned;
use crate::diagnostic::{Error, Source};
use crate::number::Choice;
use crate::parser;
use crate::resolve::{Resolver, Scope, arguments};
use crate::rule::{Arg, Literal, Rule};
use crate::syntax::{self, Atom, Clause, Head, Item, Quoted, Span, TermKind, from_fn, write_application};

/// A set of weighted rules that values ground actions: the policy as text has it.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Policy {
    /// The rules in the order of the text.
    pub rules: Vec<Rule>,
}

impl Policy {
    /// The policy that a text holds.
    ///
    /// Rules may use any variable names, more variables than the domain's V (up to
    /// [`Alphabet::MAX_VARIABLES`]), predicates that the domain forbids the learner, negation and
    /// constants. A text without rules is the policy that has no opinion.
    ///
    /// ```
    /// use derrl_logic::{Alphabet, Policy, Source};
    /// let domain = ":- action(move(block, place)). :- state(top(block)). :- subtype(block, place).";
    /// let domain = Alphabet::parse(&Source::new("blocks.pl", domain))?;
    /// let policy = Policy::parse(&Source::new("policy.pl", "move(A, B) ← top(A), top(B)."), &domain)?;
    /// assert_eq!(policy.display(&domain).to_string(), "1.00::move(X, Y) :- top(X), top(Y).\n");
    /// # Ok::<(), derrl_logic::Error>(())
    /// ```
    ///
    /// The text may not define predicates of its own, nor compare numbers in a way that the alphabet lacks: see [`Policy::read`].
    pub fn parse(source: &Source, alphabet: &Alphabet) -> Result<Policy, Error> {
        let program = parser::parse(source)?;
        if let Some(directive) = program.items.iter().find_map(|item| match item {
            Item::Directive(directive) => Some(directive),
            Item::Clause(_) => None,
        }) {
            return Err(source
                .error(directive.span, "a policy holds rules only, not directives")
                .with_help("declarations belong in the domain file"));
        }
        let (policy, comparisons) = rules(source, &program, alphabet)?;
        if comparisons.has_new() {
            let error =
                Error::new(format!("{} compares numbers in a way that the alphabet lacks", source.name));
            return Err(error.with_help("read it together with its alphabet"));
        }
        Ok(policy)
    }

    /// The policy that a text holds, and the alphabet that it speaks: `alphabet`, with the predicates that the text defines for
    /// itself and the comparisons that it makes after all others. Whatever reads the policy reads it with that alphabet.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use derrl_logic::{Alphabet, Policy, Source};
    /// let domain = Arc::new(Alphabet::parse(&Source::new("d.pl", ":- action(move/2). :- state(on/2). :- state(top/1)."))?);
    /// let text = "\
    /// :- derived(above/2).
    /// above(X, Y) :- on(X, Y).
    /// above(X, Y) :- on(X, Z), above(Z, Y).
    /// 1.00::move(X, Y) :- top(X), top(Y), \\+ above(X, Y).
    /// ";
    /// let (policy, alphabet) = Policy::read(&Source::new("policy.pl", text), &domain)?;
    /// assert_eq!(policy.display(&alphabet).to_string(), text);
    /// # Ok::<(), derrl_logic::Error>(())
    /// ```
    pub fn read(source: &Source, alphabet: &Arc<Alphabet>) -> Result<(Policy, Arc<Alphabet>), Error> {
        let program = parser::parse(source)?;
        let extended = alphabet.of_domain_only().extended(source, &program)?;
        let alphabet = extended.map_or_else(|| Arc::clone(alphabet), Arc::new);
        Ok(with_comparisons(rules(source, &program, &alphabet)?, alphabet))
    }

    /// The same for a policy that is read beside another one, whose definitions are part of `alphabet`: the alphabet returned has
    /// the definitions of both. Where both define a predicate of one name, they have to say the same.
    pub fn read_beside(source: &Source, alphabet: &Arc<Alphabet>) -> Result<(Policy, Arc<Alphabet>), Error> {
        let (policy, alone) = Policy::read(source, alphabet)?;
        if alone == *alphabet || alphabet.predicates.len() == alphabet.of_domain {
            return Ok((policy, alone));
        }
        let program = parser::parse(source)?;
        let both = alphabet.extended(source, &program)?.map_or_else(|| Arc::clone(alphabet), Arc::new);
        Ok(with_comparisons(rules(source, &program, &both)?, both))
    }

    /// The policy as text, a rule a line, its variables renamed by [`Rule::canonical`]. What the policy defines for itself comes first.
    ///
    /// Left out are rules that never value an action, because their body is empty (they abstain) or their
    /// weight is not above 0: a text cannot hold them.
    pub fn display<'a>(&'a self, alphabet: &'a Alphabet) -> impl fmt::Display + 'a {
        self.write(alphabet, |_| true)
    }

    /// The policy as text, without definitions of its own that no rule needs.
    pub fn display_needed<'a>(&'a self, alphabet: &'a Alphabet) -> impl fmt::Display + 'a {
        let asked = self.rules.iter().flat_map(|r| r.body.iter().map(|l| l.pred));
        let needed = alphabet.program.as_ref().map_or_else(Vec::new, |p| p.needed(asked));
        self.write(alphabet, move |p| needed.contains(&p))
    }

    /// The rules that a text holds: those that value actions.
    pub fn written(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(|rule| !rule.abstains())
    }

    /// The rules without their values and in an order of their own: what tells apart policies that look alike.
    pub fn clauses(&self, alphabet: &Alphabet) -> Vec<String> {
        let mut clauses: Vec<String> =
            self.written().map(|rule| rule.display_clause(alphabet).to_string()).collect();
        clauses.sort_unstable();
        clauses
    }

    /// The definitions that the policy brings, as text: all of them, or those that its rules need.
    pub fn display_definitions<'a>(&'a self, alphabet: &'a Alphabet, all: bool) -> impl fmt::Display + 'a {
        let asked = self.rules.iter().flat_map(|r| r.body.iter().map(|l| l.pred));
        let needed = alphabet.program.as_ref().map_or_else(Vec::new, |p| p.needed(asked));
        from_fn(move |f| write_own(alphabet, &|p| all || needed.contains(&p), f))
    }

    fn write<'a>(
        &'a self,
        alphabet: &'a Alphabet,
        is_kept: impl Fn(Pred) -> bool + 'a,
    ) -> impl fmt::Display + 'a {
        from_fn(move |f| {
            write_own(alphabet, &is_kept, f)?;
            self.written().try_for_each(|rule| writeln!(f, "{}", rule.display(alphabet)))
        })
    }
}

/// Writes the declarations and definitions that a policy brought into an alphabet.
fn write_own(alphabet: &Alphabet, is_kept: &dyn Fn(Pred) -> bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for at in alphabet.of_domain..alphabet.predicates.len() {
        if is_kept(Pred(at as u32)) {
            alphabet.write_declaration(Pred(at as u32), f)?;
        }
    }
    alphabet.write_definitions(true, is_kept, f)
}

/// The heads of a text that write an argument twice: names, and which argument stands at each place. None where it is no policy.
pub fn repeated_heads(source: &Source) -> Vec<(String, Vec<u8>)> {
    let Ok(program) = parser::parse(source) else { return Vec::new() };
    let heads = program.items.iter().filter_map(|item| match item {
        Item::Clause(Clause { head: Head::Atom(head), .. }) => Some(head),
        _ => None,
    });
    let mut all: Vec<(String, Vec<u8>)> = heads
        .map(|head| (head.name.clone(), arguments(&head.args)))
        .filter_map(|(name, (places, distinct))| (distinct.len() < places.len()).then_some((name, places)))
        .collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// The most parts of a body that share no variable with each other or the head, where V is not larger. Trying them takes a time that grows with
/// the factorial of their number: under object identity each asks for objects that no other has.
const MAX_APART: usize = 8;

/// A policy with the alphabet that knows its comparisons.
fn with_comparisons(
    (policy, comparisons): (Policy, Interned),
    alphabet: Arc<Alphabet>,
) -> (Policy, Arc<Alphabet>) {
    if comparisons.has_new() {
        return (policy, Arc::new(comparisons.extend(&alphabet)));
    }
    (policy, alphabet)
}

/// The rules of a text, all definitions left out, and the comparisons that they make.
fn rules(
    source: &Source,
    program: &syntax::Program,
    alphabet: &Alphabet,
) -> Result<(Policy, Interned), Error> {
    let resolver = Resolver::new(source, alphabet);
    // A clause for a derived predicate of the domain is an error, which the reader of rules tells.
    let own = |clause: &Clause| {
        let Head::Atom(head) = &clause.head else { return false };
        let found = alphabet.find_predicate(&head.name, head.args.len());
        found.is_some_and(|p| p.0 as usize >= alphabet.of_domain)
    };
    let clauses = program.items.iter().filter_map(|item| match item {
        Item::Clause(clause) if !own(clause) => Some(clause),
        _ => None,
    });
    let rules = clauses.map(|clause| read_rule(clause, &resolver)).collect::<Result<_, _>>()?;
    Ok((Policy { rules }, resolver.into_comparisons()))
}

fn read_rule(clause: &Clause, resolver: &Resolver<'_>) -> Result<Rule, Error> {
    let source = resolver.source;
    let weight = read_weight(clause, source)?;
    let head = match &clause.head {
        Head::Atom(head) => head,
        Head::False(span) => {
            let error = source.error(*span, "a policy holds rules for actions, not constraints");
            return Err(error.with_help("constraints belong in the domain file"));
        }
        Head::Number(number) => {
            let error = source.error(number.span, "a policy holds rules for actions, not numbers");
            return Err(error.with_help("what measures are belongs in a state"));
        }
        Head::Never(action) => {
            let error = source.error(action.span, "a policy says what to do, not what is forbidden");
            return Err(
                error.with_help("rules that forbid belong in the domain file, or in one for --shield")
            );
        }
    };
    read_body(clause, head, weight, resolver)
}

/// A rule that forbids.
pub(crate) fn read_never(clause: &Clause, resolver: &Resolver<'_>) -> Result<Rule, Error> {
    let source = resolver.source;
    let Head::Never(head) = &clause.head else {
        let error = source.error(clause.head.span(), "this file holds rules that forbid, and no others");
        return Err(error.with_help("write them like `never(move(X, Y)) :- fragile(Y).`"));
    };
    if clause.weight.is_some() {
        let span = Span::new(clause.span.start, head.span.start);
        let error = source.error(span, "a rule that forbids has no weight");
        return Err(
            error.with_help("remove the number and `::`: the first rules are the most important ones")
        );
    }
    resolver.no_choices(clause)?;
    read_body(clause, head, 1.0, resolver)
}

/// A rule with this head.
fn read_body(clause: &Clause, head: &Atom, weight: f64, resolver: &Resolver<'_>) -> Result<Rule, Error> {
    let source = resolver.source;
    let full = resolver.action(&head.name, head.args.len(), head.span)?;
    for (place, (term, &t)) in head.args.iter().zip(&resolver.alphabet.action(full).args).enumerate() {
        if let TermKind::Const(_) = &term.kind {
            let message = format!("`{term}` in the head: the arguments of a head are variables");
            return Err(source
                .error(term.span, message)
                .with_help(instead_of_constant(head, place, resolver, t)));
        }
    }
    let (action, terms) = resolver.head(head)?;
    let types = &resolver.alphabet.action(action).args;
    let mut scope = Scope::default();
    for (term, &t) in terms.into_iter().zip(types) {
        if let TermKind::Var(name) = &term.kind {
            resolver.variable(name, term, t, head, true, &mut scope)?;
        }
    }
    if clause.body.is_empty() && clause.choices.is_empty() {
        let (message, when, remove) = if let Head::Never(_) = clause.head {
            (
                "this rule does not say when the action is forbidden",
                "say when",
                "remove the action from the domain",
            )
        } else {
            (
                "a rule without a body abstains: it would never choose its action",
                "say when to act",
                "remove the rule",
            )
        };
        return Err(source
            .error(clause.span, message)
            .with_help(format!("{when}, as in `{} :- ...`, or {remove}", clause.head)));
    }
    resolver.check_length(clause)?;
    let body: Vec<Literal> =
        clause.body.iter().map(|literal| resolver.literal(literal, &mut scope)).collect::<Result<_, _>>()?;
    let choices = choices(clause, resolver, &mut scope)?;
    let rule = Rule { weight, action, body, choices };
    let apart = rule.parts_apart(types.len());
    let most = MAX_APART.max(resolver.alphabet.variables);
    if apart > most {
        let message = format!(
            "this body falls into {apart} parts that share no variable with each other or the head; at most {most} are read"
        );
        let help = "such parts are tried in all combinations: join them by variables, or leave some out";
        return Err(source.error(clause.span, message).with_help(help));
    }
    if let Some(free) = scope.variables.iter().find(|v| !v.bound) {
        let message = format!("unsafe use of `{}`: it occurs only under `\\+`", free.name);
        let help = "a negated literal tests objects, it does not find them: use the variable in the head \
                    or in a positive literal too";
        return Err(source.error(free.first.span, message).with_help(help));
    }
    Ok(rule)
}

/// The choices of a rule, whose variables its head and body bind.
fn choices<'s>(
    clause: &'s Clause,
    resolver: &Resolver<'_>,
    scope: &mut Scope<'s>,
) -> Result<Vec<Choice>, Error> {
    let mut all = Vec::with_capacity(clause.choices.len());
    for choice in &clause.choices {
        let before = scope.variables.len();
        let resolved = resolver.choice(choice, scope)?;
        if let Some(free) = scope.variables.get(before) {
            let message = format!("`{}` occurs only in `{choice}`", free.name);
            let help = "say in the body what it ranges over: a choice is among what the body finds";
            return Err(resolver.source.error(free.first.span, message).with_help(help));
        }
        if resolved.args.is_empty() {
            let error = resolver.source.error(choice.span, format!("`{choice}` leaves no choice"));
            return Err(error.with_help("choose by a measure of objects, as in `most(queue(X))`"));
        }
        all.push(resolved);
    }
    Ok(all)
}

/// The weight of a rule, which lies in (0, 1]; 1 where the text gives none.
fn read_weight(clause: &Clause, source: &Source) -> Result<f64, Error> {
    match clause.weight {
        None => Ok(1.0),
        Some(weight) if weight > 0.0 && weight <= 1.0 => Ok(weight),
        Some(weight) => {
            let (start, end) = (clause.span.start, clause.head.span().start);
            let written = source.text[start..end].split("::").next().unwrap_or_default().trim_end();
            let span = Span::new(start, start + written.len());
            let help = if weight > 1.0 {
                "weights are at most 1, the value of a rule that is certain"
            } else {
                "weights are above 0; remove the rule if it should never fire"
            };
            let message = format!("the weight `{written}` is not in (0, 1]");
            Err(source.error(span, message).with_help(help))
        }
    }
}

/// How to say with a body atom what a constant in the head was meant to say.
fn instead_of_constant(head: &Atom, place: usize, resolver: &Resolver<'_>, t: Type) -> String {
    let vars: Vec<Var> = (0..head.args.len()).map(|i| Var(i as u8)).collect();
    let spelt = from_fn(|f| write_application(f, &head.name, &vars));
    let types = &resolver.alphabet.types;
    let tests = |role| {
        let mut all = resolver.alphabet.predicates.iter();
        all.find(|p| p.role == role && p.args.len() == 1 && types.overlap(p.args[0], t))
    };
    let example = match tests(Role::Background).or_else(|| tests(Role::State)) {
        Some(p) => format!(", such as `{}({})`,", Quoted(&p.name), vars[place]),
        None => String::new(),
    };
    format!("write `{spelt}` and pick the object out in the body, with an atom{example} that holds for it")
}

impl Rule {
    /// The same rule with its variables numbered by appearance: the `arity` variables of the head first,
    /// then the others as the body mentions them.
    #[must_use]
    pub fn canonical(&self, arity: usize) -> Rule {
        let mut names: FxHashMap<Var, Var> = (0..arity).map(|i| (Var(i as u8), Var(i as u8))).collect();
        let mut rule = self.clone();
        let in_body = rule.body.iter_mut().flat_map(|literal| &mut literal.args);
        for arg in in_body.chain(rule.choices.iter_mut().flat_map(|choice| &mut choice.args)) {
            if let Arg::Var(v) = arg {
                let next = Var(names.len() as u8);
                *v = *names.entry(*v).or_insert(next);
            }
        }
        rule
    }

    /// The rule as text: `0.99::move(X, Y) :- top(X), on(X, Z), isFloor(Y).`
    ///
    /// The weight has two decimals, or as many as it takes not to read as zero.
    pub fn display<'a>(&'a self, alphabet: &'a Alphabet) -> impl fmt::Display + 'a {
        from_fn(move |f| {
            if (0.0..0.005).contains(&self.weight) && self.weight > 0.0 {
                write!(f, "{}::", self.weight)?;
            } else {
                write!(f, "{:.2}::", self.weight)?;
            }
            write!(f, "{}", self.display_clause(alphabet))
        })
    }

    /// The rule as text without its value: `move(X, Y) :- top(X), on(X, Z), isFloor(Y).`
    pub fn display_clause<'a>(&'a self, alphabet: &'a Alphabet) -> impl fmt::Display + 'a {
        from_fn(move |f| {
            let action = alphabet.action(self.action);
            let rule = self.canonical(action.args.len());
            write_application(f, &action.name, &action.head())?;
            rule.write_body(alphabet, f)
        })
    }

    /// The rule as one that forbids: `never(move(X, Y)) :- fragile(Y).`
    pub fn display_never<'a>(&'a self, alphabet: &'a Alphabet) -> impl fmt::Display + 'a {
        from_fn(move |f| {
            let action = alphabet.action(self.action);
            let rule = self.canonical(action.args.len());
            let head = action.head();
            f.write_str("never(")?;
            write_application(f, &action.name, &head)?;
            f.write_str(")")?;
            rule.write_body(alphabet, f)
        })
    }

    pub(crate) fn write_body(&self, alphabet: &Alphabet, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = " :- ";
        for literal in &self.body {
            write!(f, "{separator}{}", literal.display(alphabet))?;
            separator = ", ";
        }
        for choice in &self.choices {
            write!(f, "{separator}{}", choice.display(alphabet))?;
            separator = ", ";
        }
        f.write_str(".")
    }
}

impl Literal {
    /// The literal as text: `\+ on(X, floor)`.
    pub fn display<'a>(&'a self, alphabet: &'a Alphabet) -> impl fmt::Display + 'a {
        from_fn(move |f| {
            f.write_str(if self.positive { "" } else { "\\+ " })?;
            if let Some(comparison) = alphabet.comparison(self.pred) {
                return write!(f, "{}", comparison.display(&self.args, alphabet));
            }
            write_application(f, &alphabet.predicate(self.pred).name, &self.args)
        })
    }
}

impl fmt::Display for Arg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Arg::Var(v) => write!(f, "{v}"),
            Arg::Const(c) => write!(f, "{c}"),
        }
    }
}

impl fmt::Display for Var {
    /// `X`, `Y`, `Z`, `U`, `V`, `W`, then `X6`, `X7`, ...
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match ["X", "Y", "Z", "U", "V", "W"].get(usize::from(self.0)) {
            Some(name) => f.write_str(name),
            None => write!(f, "X{}", self.0),
        }
    }
}
