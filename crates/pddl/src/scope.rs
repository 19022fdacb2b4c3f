//! From text to conditions and effects: names to ids, with what to say of a name that is not known.

use derrl_logic::diagnostic::nearest;
use derrl_logic::syntax::Span;
use derrl_logic::{Error, Source};
use rustc_hash::FxHashMap;

use crate::domain::{Function, Predicate};
use crate::formula::{Atom, Cost, Effect, Formula, Term};
use crate::sexp::Sexp;
use crate::types::{Kind, TypeId, Types, typed_groups};

/// The most variables of one action, axiom or goal, quantified ones included.
const MAX_VARIABLES: usize = 1000;

/// What names mean at one place of a text.
pub(crate) struct Scope<'s> {
    pub(crate) source: &'s Source,
    pub(crate) types: &'s mut Types,
    pub(crate) predicates: &'s [Predicate],
    pub(crate) predicate_ids: &'s FxHashMap<String, u32>,
    pub(crate) functions: &'s [Function],
    pub(crate) function_ids: &'s FxHashMap<String, u32>,
    /// What objects are called here: `constant` or `object`.
    pub(crate) object_word: &'static str,
    pub(crate) objects: &'s FxHashMap<String, u32>,
    pub(crate) object_types: &'s dyn Fn(u32) -> &'s [TypeId],
    /// The variables in sight, innermost last.
    sight: Vec<(String, u16)>,
    /// The kind of every slot.
    pub(crate) kinds: Vec<Kind>,
    /// The name of every slot.
    pub(crate) names: Vec<String>,
}

impl<'s> Scope<'s> {
    #[expect(clippy::too_many_arguments, reason = "a scope is made in three places, from parts that differ")]
    pub(crate) fn new(
        source: &'s Source,
        types: &'s mut Types,
        predicates: &'s [Predicate],
        predicate_ids: &'s FxHashMap<String, u32>,
        functions: &'s [Function],
        function_ids: &'s FxHashMap<String, u32>,
        object_word: &'static str,
        objects: &'s FxHashMap<String, u32>,
        object_types: &'s dyn Fn(u32) -> &'s [TypeId],
    ) -> Scope<'s> {
        Scope {
            source,
            types,
            predicates,
            predicate_ids,
            functions,
            function_ids,
            object_word,
            objects,
            object_types,
            sight: Vec::new(),
            kinds: Vec::new(),
            names: Vec::new(),
        }
    }

    fn error(&self, span: Span, message: impl Into<String>) -> Error {
        self.source.error(span, message)
    }

    /// Puts the variables of a typed list in sight and returns their slots.
    pub(crate) fn variables(&mut self, items: &[Sexp]) -> Result<Vec<u16>, Error> {
        let mut slots = Vec::new();
        for group in typed_groups(self.source, items, "variable")? {
            let kind = self.types.kind(self.source, &group.types)?;
            for (word, span) in group.names {
                let Some(name) = word.strip_prefix('?').filter(|n| !n.is_empty()) else {
                    return Err(self
                        .error(span, format!("expected a variable, found `{word}`"))
                        .with_help(format!("a variable starts with a question mark: `?{word}`")));
                };
                if self.kinds.len() >= MAX_VARIABLES {
                    return Err(self.error(span, format!("more than {MAX_VARIABLES} variables")));
                }
                let slot = self.kinds.len() as u16;
                let lower = name.to_ascii_lowercase();
                if slots.iter().any(|&s: &u16| self.names[usize::from(s)].eq_ignore_ascii_case(name)) {
                    return Err(self
                        .error(span, format!("variable `{word}` is declared twice"))
                        .with_help("give one of them another name"));
                }
                self.sight.push((lower, slot));
                self.kinds.push(kind);
                self.names.push(name.to_string());
                slots.push(slot);
            }
        }
        Ok(slots)
    }

    /// Takes that many variables out of sight.
    fn forget(&mut self, count: usize) {
        self.sight.truncate(self.sight.len() - count);
    }

    /// The term that a word stands for.
    fn term(&self, item: &Sexp) -> Result<Term, Error> {
        let Some(word) = item.word() else {
            return Err(self
                .error(item.span(), "expected a variable or a name, found a list")
                .with_help("arguments are variables and objects; functions of objects are not supported"));
        };
        let lower = word.to_ascii_lowercase();
        if let Some(name) = lower.strip_prefix('?') {
            let slot = self.sight.iter().rev().find(|(n, _)| n == name).map(|&(_, slot)| Term::Var(slot));
            return slot.ok_or_else(|| {
                let error = self.error(item.span(), format!("unknown variable `{word}`"));
                match nearest(name, self.sight.iter().map(|(n, _)| n.as_str())) {
                    Some(near) => error.with_help(format!("did you mean `?{near}`?")),
                    None => error.with_help("declare it as a parameter, or with `forall` or `exists`"),
                }
            });
        }
        self.objects.get(&lower).map(|&o| Term::Object(o)).ok_or_else(|| {
            let error = self.error(item.span(), format!("unknown {} `{word}`", self.object_word));
            // Sorted, so that of equally near names the message always has the same.
            let mut known: Vec<&str> = self.objects.keys().map(String::as_str).collect();
            known.sort_unstable();
            match nearest(&lower, known) {
                Some(near) => error.with_help(format!("did you mean `{near}`?")),
                None if self.object_word == "constant" => {
                    error.with_help("a variable starts with `?`; an object of every problem is declared in `(:constants ...)`")
                }
                None => error.with_help("declare it in `(:objects ...)`"),
            }
        })
    }

    fn kind_fits(&self, term: Term, kind: Kind) -> bool {
        match term {
            Term::Var(v) => self.types.overlap(self.kinds[usize::from(v)], kind),
            Term::Object(o) => self.types.belongs((self.object_types)(o), kind),
        }
    }

    fn show_kind(&self, term: Term) -> String {
        match term {
            Term::Var(v) => self.types.show(self.kinds[usize::from(v)]),
            Term::Object(o) => {
                let names: Vec<&str> = (self.object_types)(o).iter().map(|&t| self.types.name(t)).collect();
                names.join("/")
            }
        }
    }

    /// The arguments of a predicate or function, checked against its declaration.
    fn arguments(
        &self,
        what: &str,
        name: &str,
        declared: &[Kind],
        items: &[Sexp],
        span: Span,
    ) -> Result<Vec<Term>, Error> {
        if items.len() != declared.len() {
            let count = match declared.len() {
                1 => "1 argument".to_string(),
                n => format!("{n} arguments"),
            };
            let kinds: Vec<String> = declared.iter().map(|&k| self.types.show(k)).collect();
            return Err(self
                .error(span, format!("{what} `{name}` takes {count}, not {}", items.len()))
                .with_help(format!(
                    "it is declared `({})`",
                    [vec![name.to_string()], kinds].concat().join(" ")
                )));
        }
        let mut args = Vec::with_capacity(items.len());
        for (item, &kind) in items.iter().zip(declared) {
            let term = self.term(item)?;
            if kind != Kind::OBJECT && !self.kind_fits(term, kind) {
                let message = format!(
                    "`{}` is of type `{}`, but `{name}` is about `{}` here",
                    item.word().unwrap_or_default(),
                    self.show_kind(term),
                    self.types.show(kind)
                );
                return Err(self.error(item.span(), message).with_help("correct the type or the argument"));
            }
            args.push(term);
        }
        Ok(args)
    }

    /// An atom of a declared predicate.
    pub(crate) fn atom(&self, item: &Sexp) -> Result<Atom, Error> {
        let Some((head, name)) = item.list().and_then(|l| l.first()).and_then(|h| h.word().map(|w| (h, w)))
        else {
            return Err(self
                .error(item.span(), "expected an atom such as `(p ?x)`")
                .with_help("an atom is a predicate and its arguments in parentheses"));
        };
        let Some(&predicate) = self.predicate_ids.get(&name.to_ascii_lowercase()) else {
            let error = self.error(head.span(), format!("unknown predicate `{name}`"));
            return Err(match nearest(name, self.predicates.iter().map(|p| p.name.as_str())) {
                Some(near) => error.with_help(format!("did you mean `{near}`?")),
                None => error.with_help("declare it in `(:predicates ...)` of the domain"),
            });
        };
        let declared = &self.predicates[predicate as usize];
        let items = &item.list().unwrap_or_default()[1..];
        let args = self.arguments("predicate", &declared.name, &declared.args, items, item.span())?;
        Ok(Atom { predicate, args })
    }

    /// A function applied to its arguments: `(road-length ?a ?b)`, or `total-cost` with or without parentheses.
    pub(crate) fn function(&self, item: &Sexp) -> Result<(u32, Vec<Term>), Error> {
        let (name, items): (&str, &[Sexp]) = match item {
            Sexp::Word(word, _) => (word, &[]),
            Sexp::List(list, _) => (item.head().unwrap_or_default(), list.get(1..).unwrap_or_default()),
        };
        let Some(&f) = self.function_ids.get(&name.to_ascii_lowercase()) else {
            let error = self.error(item.span(), format!("unknown function `{name}`"));
            return Err(match nearest(name, self.functions.iter().map(|f| f.name.as_str())) {
                Some(near) => error.with_help(format!("did you mean `{near}`?")),
                None => error.with_help("declare it in `(:functions ...)` of the domain"),
            });
        };
        let declared = &self.functions[f as usize];
        let args = self.arguments("function", &declared.name, &declared.args, items, item.span())?;
        Ok((f, args))
    }

    /// The condition of an action or axiom. An error where it asks for an object of two types that no object has.
    pub(crate) fn condition(&mut self, item: &Sexp) -> Result<Formula, Error> {
        let formula = self.formula(item)?;
        self.check_types(item, &mut FxHashMap::default())?;
        Ok(formula)
    }

    /// Looks at the atoms that all have to hold: `asked` says of which type each variable has to be, and which atom says so.
    fn check_types(&self, item: &Sexp, asked: &mut FxHashMap<u16, (Kind, String)>) -> Result<(), Error> {
        let Some((head, rest)) = item.list().and_then(<[Sexp]>::split_first) else { return Ok(()) };
        if head.is("and") {
            return rest.iter().try_for_each(|part| self.check_types(part, asked));
        }
        let id = head.word().and_then(|name| self.predicate_ids.get(&name.to_ascii_lowercase()));
        let Some(predicate) = id.map(|&id| &self.predicates[id as usize]) else { return Ok(()) };
        for (arg, &kind) in rest.iter().zip(&predicate.args) {
            let Ok(Term::Var(slot)) = self.term(arg) else { continue };
            match asked.get(&slot) {
                Some((other, by)) if !self.types.overlap(*other, kind) => {
                    let (a, b) = (self.types.show(*other), self.types.show(kind));
                    let word = arg.word().unwrap_or_default();
                    let message =
                        format!("`{word}` is a `{a}` in `{by}`, but a `{b}` in `{}`", predicate.name);
                    return Err(self
                        .error(arg.span(), message)
                        .with_help("no object has both types: correct the declarations or the argument"));
                }
                Some(_) => {}
                None => drop(asked.insert(slot, (kind, predicate.name.clone()))),
            }
        }
        Ok(())
    }

    /// A formula.
    pub(crate) fn formula(&mut self, item: &Sexp) -> Result<Formula, Error> {
        let Some(items) = item.list() else {
            return Err(self
                .error(item.span(), "expected a condition in parentheses")
                .with_help("write `(p ?x)` or `(and (p ?x) (q ?x))`"));
        };
        // `()` is the empty conjunction.
        let Some(first) = items.first() else { return Ok(Formula::TRUE) };
        let rest = &items[1..];
        let Some(word) = first.word() else {
            return Err(self
                .error(first.span(), "expected `and`, `not` or a predicate, found a list")
                .with_help("several conditions are written `(and (p ?x) (q ?x))`"));
        };
        match word.to_ascii_lowercase().as_str() {
            "and" => Ok(Formula::And(rest.iter().map(|f| self.formula(f)).collect::<Result<_, _>>()?)),
            "or" => Ok(Formula::Or(rest.iter().map(|f| self.formula(f)).collect::<Result<_, _>>()?)),
            "not" => {
                let [inner] = rest else { return Err(self.wrong_count(item, "not", "1 condition")) };
                Ok(Formula::Not(Box::new(self.formula(inner)?)))
            }
            "imply" => {
                let [a, b] = rest else { return Err(self.wrong_count(item, "imply", "2 conditions")) };
                Ok(Formula::Or(vec![Formula::Not(Box::new(self.formula(a)?)), self.formula(b)?]))
            }
            quantifier @ ("forall" | "exists") => {
                let [vars, inner] = rest else {
                    return Err(self.wrong_count(item, quantifier, "a list of variables and a condition"));
                };
                let Some(list) = vars.list() else {
                    return Err(self
                        .error(vars.span(), "expected variables in parentheses")
                        .with_help(format!("write `({quantifier} (?x - type) ...)`")));
                };
                let slots = self.variables(list)?;
                let inner = self.formula(inner)?;
                self.forget(slots.len());
                let inner = Box::new(inner);
                Ok(if quantifier == "forall" {
                    Formula::Forall(slots, inner)
                } else {
                    Formula::Exists(slots, inner)
                })
            }
            "=" => {
                let [a, b] = rest else { return Err(self.wrong_count(item, "=", "2 terms")) };
                if [a, b].iter().any(|t| t.list().is_some() || self.is_number(t)) {
                    return Err(self.unsupported(item, "a comparison of numbers"));
                }
                Ok(Formula::Equal(self.term(a)?, self.term(b)?))
            }
            "<" | ">" | "<=" | ">=" => Err(self.unsupported(item, "a comparison of numbers")),
            "preference" if !self.predicate_ids.contains_key("preference") => {
                Err(self.unsupported(item, "a preference"))
            }
            "at" | "over" if rest.len() == 2 && rest[1].list().is_some() => {
                Err(self.unsupported(item, "a timed condition"))
            }
            _ => self.atom(item).map(Formula::Atom),
        }
    }

    /// Whether a word is a number and not the name of an object.
    fn is_number(&self, item: &Sexp) -> bool {
        number(item).is_some() && item.word().is_some_and(|w| !self.objects.contains_key(w))
    }

    pub(crate) fn unsupported(&self, item: &Sexp, what: &str) -> Error {
        self.error(item.span(), format!("{what} is not supported")).with_help(
            "supported: typed predicates, conditions with and, or, not, imply, forall, exists and =, \
             conditional effects, total-cost, derived predicates",
        )
    }

    fn wrong_count(&self, item: &Sexp, word: &str, takes: &str) -> Error {
        let found = item.list().map_or(0, |l| l.len() - 1);
        self.error(item.span(), format!("`{word}` takes {takes}, but {found} parts are here"))
            .with_help(format!("write `({word} ...)` with {takes}"))
    }

    /// The parts of an effect.
    pub(crate) fn effects(&mut self, item: &Sexp) -> Result<Vec<Effect>, Error> {
        let mut parts = vec![Effect {
            vars: Vec::new(),
            condition: Formula::TRUE,
            adds: Vec::new(),
            deletes: Vec::new(),
            costs: Vec::new(),
        }];
        self.effect(item, 0, false, &mut parts)?;
        parts.retain(|p| !(p.adds.is_empty() && p.deletes.is_empty() && p.costs.is_empty()));
        Ok(parts)
    }

    fn effect(
        &mut self,
        item: &Sexp,
        part: usize,
        inside_when: bool,
        parts: &mut Vec<Effect>,
    ) -> Result<(), Error> {
        let Some(items) = item.list() else {
            return Err(self
                .error(item.span(), "expected an effect in parentheses")
                .with_help("write `(p ?x)`, `(not (p ?x))` or `(and ...)`"));
        };
        let Some(first) = items.first() else { return Ok(()) };
        let rest = &items[1..];
        let Some(word) = first.word() else {
            return Err(self
                .error(first.span(), "expected `and`, `not`, `when`, `forall` or a predicate, found a list")
                .with_help("several effects are written `(and (p ?x) (q ?x))`"));
        };
        match word.to_ascii_lowercase().as_str() {
            "and" => {
                for inner in rest {
                    self.effect(inner, part, inside_when, parts)?;
                }
            }
            "not" => {
                let [inner] = rest else { return Err(self.wrong_count(item, "not", "1 atom")) };
                let atom = self.changed(inner)?;
                parts[part].deletes.push(atom);
            }
            "when" => {
                let [condition, inner] = rest else {
                    return Err(self.wrong_count(item, "when", "a condition and an effect"));
                };
                if inside_when {
                    return Err(self
                        .error(item.span(), "a `when` inside a `when`")
                        .with_help("join the conditions with `and`"));
                }
                let condition = self.formula(condition)?;
                let vars = parts[part].vars.clone();
                let (adds, deletes, costs) = (Vec::new(), Vec::new(), Vec::new());
                parts.push(Effect { vars, condition, adds, deletes, costs });
                self.effect(inner, parts.len() - 1, true, parts)?;
            }
            "forall" => {
                let [vars, inner] = rest else {
                    return Err(self.wrong_count(item, "forall", "a list of variables and an effect"));
                };
                let Some(list) = vars.list() else {
                    return Err(self
                        .error(vars.span(), "expected variables in parentheses")
                        .with_help("write `(forall (?x - type) ...)`"));
                };
                if inside_when {
                    return Err(self
                        .error(item.span(), "a `forall` inside a `when`")
                        .with_help("write `(forall (?x) (when ...))`"));
                }
                let slots = self.variables(list)?;
                let mut vars = parts[part].vars.clone();
                vars.extend(&slots);
                let condition = Formula::TRUE;
                let (adds, deletes, costs) = (Vec::new(), Vec::new(), Vec::new());
                parts.push(Effect { vars, condition, adds, deletes, costs });
                self.effect(inner, parts.len() - 1, inside_when, parts)?;
                self.forget(slots.len());
            }
            "increase" if !self.predicate_ids.contains_key("increase") => {
                let [target, amount] = rest else {
                    return Err(self.wrong_count(item, "increase", "a function and an amount"));
                };
                if !target.is("total-cost")
                    && target.head().is_none_or(|h| !h.eq_ignore_ascii_case("total-cost"))
                {
                    return Err(self.unsupported(item, "changing a number other than `total-cost`"));
                }
                self.function(target)?;
                let cost = if let Some(cost) = number(amount) {
                    Cost::Constant(self.cost(cost, amount.span())?)
                } else if amount.head().is_some_and(|h| matches!(h, "+" | "-" | "*" | "/")) {
                    return Err(self.unsupported(amount, "arithmetic"));
                } else {
                    let (f, args) = self.function(amount)?;
                    Cost::Function(f, args)
                };
                parts[part].costs.push(cost);
            }
            "assign" | "decrease" | "scale-up" | "scale-down" | "increase"
                if !self.predicate_ids.contains_key(&word.to_ascii_lowercase()) =>
            {
                return Err(self.unsupported(item, "changing a number other than by `increase`"));
            }
            "probabilistic" | "oneof" => return Err(self.unsupported(item, "an effect left to chance")),
            _ => {
                let atom = self.changed(item)?;
                parts[part].adds.push(atom);
            }
        }
        Ok(())
    }

    /// A cost that can be added up: finite and not negative.
    pub(crate) fn cost(&self, cost: f64, span: Span) -> Result<f64, Error> {
        if cost.is_finite() && (0.0..=1e15).contains(&cost) {
            return Ok(cost);
        }
        Err(self.error(span, format!("a cost of {cost}")).with_help("a cost is a number from 0 to 1e15"))
    }

    /// An atom that an effect may change.
    fn changed(&self, item: &Sexp) -> Result<Atom, Error> {
        let atom = self.atom(item)?;
        if self.predicates[atom.predicate as usize].derived {
            let name = &self.predicates[atom.predicate as usize].name;
            return Err(self
                .error(item.span(), format!("an effect changes `{name}`, which is derived"))
                .with_help("effects change what it is derived from"));
        }
        Ok(atom)
    }
}

/// The number that a word is.
pub(crate) fn number(item: &Sexp) -> Option<f64> {
    let word = item.word()?;
    if !word.starts_with(|c: char| c.is_ascii_digit() || c == '.' || c == '-' || c == '+') {
        return None;
    }
    word.parse().ok()
}
