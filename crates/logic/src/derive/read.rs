//! Definitions from text: what domains and policies declare as derived, and the clauses that say what it means.

use std::sync::Arc;

use super::program::{DefiningClause, Definition, How, Program};
use super::strata::Edge;
use crate::alphabet::{Alphabet, Pred, Predicate, Type};
use crate::diagnostic::{Error, Source, nearest};
use crate::domain::Draft;
use crate::file_kind::DEFINING;
use crate::resolve::{Resolver, Scope};
use crate::rule::Arg;
use crate::syntax::{self, Clause, Goal, Head, Indicator, Item, Quoted, Span, Term, TermKind, Tree};

/// `:- closure(above, on).`, `:- distance(closer, link).` or `:- distance(nearer, link, goal).`
pub(crate) struct Sugar<'a> {
    /// Which of the declared predicates it is.
    pub at: usize,
    pub tree: &'a Tree,
    pub args: &'a [Tree],
}

/// A closure or distance whose names are resolved: the index of the new predicate, then names and arities.
pub(crate) struct Expanded<'a> {
    at: usize,
    span: Span,
    along: (&'a str, usize),
    to: Option<(&'a str, usize)>,
    closure: bool,
}

impl<'a> Draft<'a> {
    /// Finds out the arguments and types of closures and distances, which are those of the predicates that they follow: declared
    /// here, or in the domain of a policy.
    pub(crate) fn expand_sugar(&mut self, domain: Option<&'a Alphabet>) -> Result<Vec<Expanded<'a>>, Error> {
        let mut waiting: Vec<Sugar<'a>> = std::mem::take(&mut self.sugar);
        let mut expanded = Vec::new();
        while !waiting.is_empty() {
            let unknown: Vec<usize> = waiting.iter().map(|s| s.at).collect();
            let mut left = Vec::new();
            let before = waiting.len();
            for sugar in waiting {
                // A closure may follow another one that is declared later.
                let follows = sugar.args[1..].iter().any(|arg| {
                    let name = tree_name(arg);
                    unknown.iter().any(|&at| at != sugar.at && name == Some(self.predicates[at].0.name))
                });
                if follows && left.len() + 1 < before {
                    left.push(sugar);
                } else {
                    expanded.push(self.expand(&sugar, domain)?);
                }
            }
            waiting = left;
        }
        expanded.sort_by_key(|e| e.at);
        Ok(expanded)
    }

    fn expand(&mut self, sugar: &Sugar<'a>, domain: Option<&'a Alphabet>) -> Result<Expanded<'a>, Error> {
        let closure = matches!(sugar.tree, Tree::Compound { name, .. } if name == "closure");
        let (along, steps) = self.followed(&sugar.args[1], sugar.at, domain)?;
        let arity = steps.len();
        if arity == 0 || arity % 2 == 1 {
            let message = format!("`{}` does not lead from one object to another", Indicator(along, arity));
            let help = "a step has 2 arguments, or 4 where it leads from pair to pair";
            return Err(self.source.error(sugar.args[1].span(), message).with_help(help));
        }
        let mut types = steps.clone();
        let mut to = None;
        if let Some(tree) = sugar.args.get(2) {
            let (goal, nodes) = self.followed(tree, sugar.at, domain)?;
            if nodes.len() != arity / 2 {
                let message = format!(
                    "`{}` is not about what `{}` leads to",
                    Indicator(goal, nodes.len()),
                    Indicator(along, arity)
                );
                let count =
                    if arity == 2 { "1 argument".to_string() } else { format!("{} arguments", arity / 2) };
                let help = format!("a goal of these steps has {count}");
                return Err(self.source.error(tree.span(), message).with_help(help));
            }
            to = Some((goal, nodes.len()));
        } else if !closure {
            types.extend_from_slice(&steps[arity / 2..]);
        }
        let name = self.predicates[sugar.at].0.name;
        self.register("a derived predicate", name, types.len(), sugar.tree)?;
        self.predicates[sugar.at].0.types = types;
        let along = (along, arity);
        Ok(Expanded { at: sugar.at, span: sugar.tree.span(), along, to, closure })
    }

    /// The predicate that a name or `name/arity` stands for, with its types.
    fn followed(
        &self,
        tree: &'a Tree,
        not: usize,
        domain: Option<&'a Alphabet>,
    ) -> Result<(&'a str, Vec<&'a str>), Error> {
        let mistake =
            |message: String, help: String| Err(self.source.error(tree.span(), message).with_help(help));
        let Some(name) = tree_name(tree) else {
            return mistake(format!("`{tree}` is not a predicate"), "write its name, as in `on`".to_string());
        };
        let here = self.predicates.iter().enumerate().filter(|(at, _)| *at != not);
        let mut all: Vec<(&'a str, Vec<&'a str>)> =
            here.map(|(_, (s, _))| (s.name, s.types.clone())).collect();
        if let Some(alphabet) = domain {
            let named = alphabet.predicates.iter().filter(|p| p.role.is_named());
            all.extend(
                named.map(|p| (p.name.as_str(), p.args.iter().map(|&t| alphabet.types.name(t)).collect())),
            );
        }
        let arity = if let Tree::Indicator { arity, .. } = tree { Some(*arity) } else { None };
        let fits = |p: &&(&str, Vec<&str>)| p.0 == name && arity.is_none_or(|n| n == p.1.len());
        let found: Vec<_> = all.iter().filter(fits).collect();
        match found.as_slice() {
            [one] => Ok((*one).clone()),
            [] => {
                let near = nearest(name, all.iter().map(|p| p.0));
                let help = near.map_or_else(
                    || "declare it, as in `:- state(on(block, place)).`".to_string(),
                    |near| format!("did you mean `{}`?", Quoted(near)),
                );
                mistake(format!("unknown predicate `{tree}`"), help)
            }
            several => {
                let one = Indicator(name, several[0].1.len());
                mistake(
                    format!("there are {} predicates `{}`", several.len(), Quoted(name)),
                    format!("say which, as in `{one}`"),
                )
            }
        }
    }
}

fn tree_name(tree: &Tree) -> Option<&str> {
    match tree {
        Tree::Indicator { name, .. } => Some(name),
        _ => tree.as_name(),
    }
}

/// The sentences of a text that define predicates.
pub(crate) struct Declared<'a> {
    /// The id of the first predicate that the text declares.
    pub first: usize,
    pub defining: &'a [&'a Clause],
    /// Predicates that need a clause, by their index, and where they are declared.
    pub undefined: &'a [(usize, Span)],
    /// The actions that need a clause.
    pub legal: &'a [&'a Tree],
}

impl Declared<'_> {
    /// The program of these sentences, of what the alphabet defines already and of comparisons that it `compared` elsewhere; `None` where
    /// nothing is derived. Comparisons that only these sentences make join the predicates of the alphabet.
    pub fn program(
        &self,
        sugar: Vec<Expanded<'_>>,
        compared: Vec<Definition>,
        alphabet: &mut Alphabet,
        source: &Source,
    ) -> Result<Option<Program>, Error> {
        let mut definitions: Vec<Definition> = alphabet.definitions().to_vec();
        let known = definitions.len();
        let mut spans: Vec<Place<'_>> = Vec::new();
        let new = self.first;
        for e in sugar {
            let find = |(name, arity): (&str, usize)| {
                alphabet
                    .find_predicate(name, arity)
                    .expect("the predicates that it follows were found before")
            };
            let along = find(e.along);
            let how = if e.closure {
                How::Closure { of: along }
            } else {
                How::Distance { along, to: e.to.map(find) }
            };
            definitions.push(Definition { pred: Pred((new + e.at) as u32), how });
            spans.push(Place::Directive(e.span));
        }
        let resolver = Resolver::new(source, alphabet);
        for &clause in self.defining {
            definitions.push(define(clause, &resolver)?);
            spans.push(Place::Clause(clause));
        }
        let comparisons = resolver.into_comparisons();
        let has_clause = |p: Pred| definitions[known..].iter().any(|d| d.pred == p);
        for &(at, span) in self.undefined {
            let pred = Pred((new + at) as u32);
            if !has_clause(pred) {
                let p = alphabet.predicate(pred);
                let message = format!("`{}` has no definition", Indicator(&p.name, p.args.len()));
                let help = format!(
                    "say when it holds, as in `{} :- ...`, or remove this directive",
                    alphabet.example_atom(pred)
                );
                return Err(source.error(span, message).with_help(help));
            }
        }
        let actions = alphabet.actions.iter().filter(|_| !self.legal.is_empty());
        for (action, pred) in actions.filter_map(|a| a.legal.map(|p| (a, p))) {
            if !has_clause(pred) {
                let tree = self.legal.iter().find(|t| tree_name(t) == Some(action.name.as_str()));
                let span = tree.map_or(Span::default(), |t| t.span());
                let indicator = Indicator(&action.name, action.arity()).to_string();
                let called = if action.repeats() { action.example() } else { indicator };
                let message = format!("nothing says when `{called}` is legal");
                let help = format!("write clauses for it, as in `{} :- ...`", action.example());
                return Err(source.error(span, message).with_help(help));
            }
        }
        definitions.extend(compared);
        definitions.extend(comparisons.declare(alphabet));
        if definitions.is_empty() {
            return Ok(None);
        }
        Program::new(definitions, alphabet).map(Some).map_err(|cycle| {
            unstratified(&cycle, alphabet, source, |d| d.checked_sub(known).map(|at| &spans[at]))
        })
    }
}

/// Where a definition stands.
enum Place<'a> {
    Clause(&'a Clause),
    Directive(Span),
}

/// The definition that a clause is.
fn define(clause: &Clause, resolver: &Resolver<'_>) -> Result<Definition, Error> {
    let (source, alphabet) = (resolver.source, resolver.alphabet);
    let Head::Atom(atom) = &clause.head else {
        return Err(source.error(clause.head.span(), "a definition has an atom for a head"));
    };
    if clause.weight.is_some() {
        let span = Span::new(clause.span.start, atom.span.end);
        let error = source.error(span, "a definition has no weight");
        return Err(error.with_help("remove the number and `::`: what is defined holds or does not"));
    }
    let (pred, types, terms): (Pred, &[Type], Vec<&Term>) = if resolver.is_action(atom) {
        let (action, terms) = resolver.head(atom)?;
        let decl = alphabet.action(action);
        let pred = decl.legal.expect("clauses of actions define only those with legality");
        (pred, &decl.args, terms)
    } else {
        let pred = resolver.predicate(&atom.name, atom.args.len(), atom.span)?;
        (pred, &alphabet.predicate(pred).args, atom.args.iter().collect())
    };
    if alphabet.definitions().iter().any(|d| d.pred == pred) {
        let message = format!("the domain says what `{}` means", atom.indicator());
        return Err(source.error(atom.span, message).with_help("define another predicate"));
    }
    let mut scope = Scope::default();
    let mut head = Vec::with_capacity(types.len());
    for (term, &t) in terms.into_iter().zip(types) {
        head.push(match &term.kind {
            TermKind::Var(name) => Arg::Var(resolver.variable(name, term, t, atom, true, &mut scope)?),
            TermKind::Const(constant) => Arg::Const(constant.clone()),
        });
    }
    resolver.check_length(clause)?;
    resolver.no_choices(clause)?;
    let mut body = Vec::with_capacity(clause.body.len());
    for literal in &clause.body {
        let resolved = resolver.literal(literal, &mut scope)?;
        if resolved.positive && resolved.pred == pred && resolved.args == head {
            let message = format!("`{literal}` follows from itself");
            return Err(source.error(literal.span, message).with_help("remove it from the body or the head"));
        }
        body.push(resolved);
    }
    if let Some(free) = scope.variables.iter().find(|v| !v.bound) {
        let message = format!("unsafe use of `{}`: it occurs only under `\\+`", free.name);
        let help =
            "to say that there is none, define what it would be as a predicate of its own and negate that";
        return Err(source.error(free.first.span, message).with_help(help));
    }
    let variables = scope.variables.len();
    Ok(Definition { pred, how: How::Clause(DefiningClause { head, body, variables }) })
}

/// The error for a cycle through a negation: the strict edge first.
fn unstratified<'p>(
    cycle: &[Edge],
    alphabet: &Alphabet,
    source: &Source,
    place: impl Fn(usize) -> Option<&'p Place<'p>>,
) -> Error {
    let named = |p: Pred| Indicator(alphabet.defined_name(p), alphabet.predicate(p).args.len()).to_string();
    let (strict, rest) = cycle.split_first().expect("a cycle has an edge");
    let mut span = Span::default();
    let mut negated = true;
    match place(strict.definition) {
        Some(Place::Clause(clause)) => {
            let name = &alphabet.predicate(strict.from).name;
            let literal = clause
                .body
                .iter()
                .find(|l| !l.positive && matches!(&l.goal, Goal::Atom(atom) if atom.name == *name));
            span = literal.map_or(clause.span, |l| l.span);
        }
        Some(Place::Directive(at)) => (span, negated) = (*at, false),
        None => {}
    }
    let mut parts: Vec<String> =
        rest.iter().rev().map(|e| format!("`{}` uses `{}`", named(e.to), named(e.from))).collect();
    parts.push(if negated {
        format!("`{}` uses `\\+ {}`", named(strict.to), named(strict.from))
    } else {
        format!("`{}` follows `{}`", named(strict.to), named(strict.from))
    });
    let whole = named(strict.from);
    let message = if negated {
        format!("`{whole}` depends on its own negation: {}", parts.join(", "))
    } else {
        format!("`{whole}` depends on where it leads: {}", parts.join(", "))
    };
    source.error(span, message).with_help("break the cycle: define one of these without the others")
}

impl Alphabet {
    /// `p(X, Y)` for messages.
    fn example_atom(&self, pred: Pred) -> String {
        let p = self.predicate(pred);
        let vars: Vec<_> = (0..p.args.len()).map(|i| crate::alphabet::Var(i as u8)).collect();
        syntax::from_fn(|f| syntax::write_application(f, &p.name, &vars)).to_string()
    }

    /// This alphabet with the predicates that a policy's text defines for itself: those come last, so that the ids of all others
    /// stay what they are. The clauses that define them are told apart from rules by their heads.
    pub(crate) fn extended(
        &self,
        source: &Source,
        text: &syntax::Program,
    ) -> Result<Option<Alphabet>, Error> {
        let mut draft = Draft::new(source);
        for item in &text.items {
            let Item::Directive(directive) = item else { continue };
            let (name, arg) = match &directive.tree {
                Tree::Compound { name, args, .. } => (name.as_str(), args.first()),
                _ => ("", None),
            };
            if !DEFINING.contains(&name) {
                return Err(source
                    .error(directive.span, "a policy holds rules and definitions, not other directives")
                    .with_help("declarations belong in the domain file, except `:- derived(...)` for what the policy defines"));
            }
            draft.directive(directive)?;
            let clash = |name: &str, arity: usize| {
                self.find_predicate(name, arity).is_some()
                    || self.find_action(name, arity).is_some()
                    || self.find_measure(name, arity).is_some()
            };
            if let (Some((new, _)), Some(arg)) = (draft.predicates.last(), arg)
                && name == "derived"
                && clash(new.name, new.types.len())
            {
                let indicator = Indicator(new.name, new.types.len());
                let error = source.error(arg.span(), format!("the domain declares `{indicator}` already"));
                return Err(error.with_help("choose another name"));
            }
        }
        if draft.predicates.is_empty() {
            return Ok(None);
        }
        let sugar = draft.expand_sugar(Some(self))?;
        let first = self.predicates.len();
        let mut all = self.clone();
        for (new, role) in &draft.predicates {
            let id = |name: &&str| {
                self.types.find(name).ok_or_else(|| {
                    let known = (0..self.types.len() as u32).map(|t| self.types.name(Type(t)));
                    let help = match nearest(name, known) {
                        Some(near) => format!("did you mean `{}`?", Quoted(near)),
                        None => "a policy uses the types of its domain".to_string(),
                    };
                    let at = text.items.iter().find_map(|i| match i {
                        Item::Directive(d) if d.tree.to_string().contains(*name) => Some(d.span),
                        _ => None,
                    });
                    let message = format!("the domain has no type `{}`", Quoted(name));
                    source.error(at.unwrap_or_default(), message).with_help(help)
                })
            };
            if self.find_predicate(new.name, new.types.len()).is_some() {
                let indicator = Indicator(new.name, new.types.len()).to_string();
                let span = sugar.iter().map(|e| e.span).next().unwrap_or_default();
                let error = source.error(span, format!("the domain declares `{indicator}` already"));
                return Err(error.with_help("choose another name"));
            }
            let args = new.types.iter().map(id).collect::<Result<_, _>>()?;
            let name = new.name.to_string();
            all.predicates.push(Predicate { name, args, role: *role, negatable: false });
        }
        let resolver = Resolver::new(source, &all);
        let clauses = text.items.iter().filter_map(|item| match item {
            Item::Clause(clause) => Some(clause),
            Item::Directive(_) => None,
        });
        let defining: Vec<&Clause> = clauses.filter(|c| resolver.is_derived(&c.head)).collect();
        drop(resolver);
        let declared = Declared { first, defining: &defining, undefined: &draft.undefined, legal: &[] };
        let program = declared.program(sugar, Vec::new(), &mut all, source)?;
        all.program = program.map(Arc::new);
        Ok(Some(all))
    }
}
