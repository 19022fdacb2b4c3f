//! PDDL domains: what can hold and what can be done, checked and in ids.

use derrl_logic::diagnostic::nearest;
use derrl_logic::syntax::Span;
use derrl_logic::{Error, Source};
use rustc_hash::FxHashMap;

use crate::formula::{Axiom, Formula, Schema};
use crate::scope::Scope;
use crate::sexp::{Sexp, read};
use crate::types::{Kind, TypeId, Types, typed_groups};

/// The most arguments of a predicate, function or action.
const MAX_ARITY: usize = 64;

/// The requirements that PDDL and its extensions know. What is not supported is an error where it is used.
const REQUIREMENTS: &[&str] = &[
    ":strips",
    ":typing",
    ":negative-preconditions",
    ":disjunctive-preconditions",
    ":equality",
    ":existential-preconditions",
    ":universal-preconditions",
    ":quantified-preconditions",
    ":conditional-effects",
    ":fluents",
    ":numeric-fluents",
    ":object-fluents",
    ":adl",
    ":durative-actions",
    ":duration-inequalities",
    ":continuous-effects",
    ":derived-predicates",
    ":timed-initial-literals",
    ":timed-effects",
    ":preferences",
    ":constraints",
    ":action-costs",
    ":goal-utilities",
    ":probabilistic-effects",
    ":rewards",
    ":mdp",
    ":non-deterministic",
    ":domain-axioms",
    ":subgoal-through-axioms",
    ":safety-constraints",
    ":expression-evaluation",
    ":open-world",
    ":true-negation",
    ":ucpop",
    ":action-expansions",
    ":foreach-expansions",
    ":dag-expansions",
    ":time",
    ":multi-agent",
    ":hierarchy",
    ":method-preconditions",
];

/// Whether and how a predicate changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// No effect changes it.
    Static,
    /// Some effect changes it.
    Fluent,
    /// Axioms define it.
    Derived,
}

/// A declared predicate.
#[derive(Clone, Debug, PartialEq)]
pub struct Predicate {
    /// Its name as written.
    pub name: String,
    /// The kind of each argument.
    pub args: Vec<Kind>,
    /// Whether axioms define it.
    pub(crate) derived: bool,
    /// Whether some effect changes it.
    pub(crate) changes: bool,
}

impl Predicate {
    /// Whether and how it changes.
    pub fn role(&self) -> Role {
        if self.derived {
            Role::Derived
        } else if self.changes {
            Role::Fluent
        } else {
            Role::Static
        }
    }
}

/// A declared function to numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name as written.
    pub name: String,
    /// The kind of each argument.
    pub args: Vec<Kind>,
}

/// An object or constant with its types (several where it was declared with `either`).
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectDecl {
    /// Its name as written.
    pub name: String,
    /// Its types.
    pub types: Vec<TypeId>,
}

/// A PDDL domain.
#[derive(Clone, Debug)]
pub struct Domain {
    /// Its name as written.
    pub name: String,
    /// The types.
    pub types: Types,
    /// The predicates, in the order of the file.
    pub predicates: Vec<Predicate>,
    /// The functions, in the order of the file.
    pub functions: Vec<Function>,
    /// The constants: the first objects of every problem.
    pub constants: Vec<ObjectDecl>,
    /// The action schemas, in the order of the file.
    pub schemas: Vec<Schema>,
    /// The axioms of derived predicates.
    pub axioms: Vec<Axiom>,
    /// For each derived predicate its stratum, 0 for the others: axioms of a stratum negate lower strata only.
    pub(crate) strata: Vec<u32>,
    pub(crate) predicate_ids: FxHashMap<String, u32>,
    pub(crate) function_ids: FxHashMap<String, u32>,
    pub(crate) constant_ids: FxHashMap<String, u32>,
}

impl Domain {
    /// The domain that a text describes, or the first mistake in it with its place.
    ///
    /// ```
    /// use derrl_pddl::Domain;
    /// use derrl_logic::Source;
    /// let text = "(define (domain lamps) (:predicates (lit ?x))
    ///   (:action press :parameters (?x) :precondition (not (lit ?x)) :effect (lit ?y)))";
    /// let error = Domain::parse(&Source::new("lamps.pddl", text)).unwrap_err();
    /// assert_eq!(error.message, "unknown variable `?y`");
    /// assert_eq!(error.place.as_ref().map(|p| (p.line, p.column)), Some((2, 77)));
    /// ```
    pub fn parse(source: &Source) -> Result<Domain, Error> {
        let file = read(source, "domain")?;
        let (name, sections) = define(source, &file, "domain")?;
        let mut domain = Domain {
            name: name.to_string(),
            types: Types::new(),
            predicates: Vec::new(),
            functions: Vec::new(),
            constants: Vec::new(),
            schemas: Vec::new(),
            axioms: Vec::new(),
            strata: Vec::new(),
            predicate_ids: FxHashMap::default(),
            function_ids: FxHashMap::default(),
            constant_ids: FxHashMap::default(),
        };
        let mut draft = Draft { source, domain: &mut domain };
        // Declarations may stand in any order, so each kind of section is read before those that use it.
        let passes: [&[&str]; 6] = [
            &[":requirements", ":types"],
            &[":constants"],
            &[":predicates"],
            &[":functions"],
            &[":derived"],
            &[":action"],
        ];
        for section in sections {
            draft.check_section(section)?;
        }
        for (i, pass) in passes.iter().enumerate() {
            if i == 4 {
                draft.mark_derived(sections)?;
            }
            for section in sections {
                let head = section.head().unwrap_or_default().to_ascii_lowercase();
                if pass.contains(&head.as_str()) {
                    draft.section(&head, section)?;
                }
            }
        }
        domain.finish(source)?;
        Ok(domain)
    }

    /// The predicate of that name, in any case.
    pub fn find_predicate(&self, name: &str) -> Option<u32> {
        self.predicate_ids.get(&name.to_ascii_lowercase()).copied()
    }

    /// The action of that name, in any case.
    pub fn find_action(&self, name: &str) -> Option<u32> {
        self.schemas.iter().position(|s| s.name.eq_ignore_ascii_case(name)).map(|i| i as u32)
    }

    /// Marks what changes, and orders derived predicates in strata.
    fn finish(&mut self, source: &Source) -> Result<(), Error> {
        for schema in &self.schemas {
            for effect in &schema.effects {
                for atom in effect.adds.iter().chain(&effect.deletes) {
                    self.predicates[atom.predicate as usize].changes = true;
                }
            }
        }
        // stratum(h) >= stratum(b), and > where b is negated; more than one stratum a derived predicate is a circle.
        self.strata = vec![0; self.predicates.len()];
        let derived = self.predicates.iter().filter(|p| p.derived).count() as u32;
        loop {
            let mut changed = false;
            for axiom in &self.axioms {
                let mut least = 0;
                axiom.body.normal(true).atoms(true, &mut |atom, positive| {
                    if self.predicates[atom.predicate as usize].derived {
                        least = least.max(self.strata[atom.predicate as usize] + u32::from(!positive));
                    }
                });
                let stratum = &mut self.strata[axiom.predicate as usize];
                if *stratum < least {
                    *stratum = least;
                    changed = true;
                    if least > derived {
                        let name = &self.predicates[axiom.predicate as usize].name;
                        return Err(source
                            .error(Span::new(0, 0), format!("`{name}` is derived from its own negation"))
                            .with_help("negation in axioms must not run in a circle"));
                    }
                }
            }
            if !changed {
                return Ok(());
            }
        }
    }
}

/// The name and the sections of `(define (KIND NAME) ...)`.
pub(crate) fn define<'f, 'a>(
    source: &Source,
    file: &'f Sexp<'a>,
    kind: &str,
) -> Result<(&'a str, &'f [Sexp<'a>]), Error> {
    let wrong = |span: Span, message: String| {
        source
            .error(span, message)
            .with_help(format!("a PDDL {kind} is written `(define ({kind} NAME) ...)`"))
    };
    let items = file.list().unwrap_or_default();
    let Some([define, title]) = items.get(..2) else {
        return Err(wrong(file.span(), format!("expected `(define ({kind} NAME) ...)`")));
    };
    if !define.is("define") {
        return Err(wrong(define.span(), "expected `define`".to_string()));
    }
    match title.list() {
        Some([word, Sexp::Word(name, _)]) if word.is(kind) => Ok((name, &items[2..])),
        Some([word, Sexp::Word(..)]) if word.is("domain") || word.is("problem") => {
            let found = word.word().unwrap_or_default().to_ascii_lowercase();
            let message = format!("this file is a {found}, not a {kind}");
            Err(source.error(title.span(), message).with_help(format!("give the file of the {kind} here")))
        }
        _ => Err(wrong(title.span(), format!("expected `({kind} NAME)`"))),
    }
}

struct Draft<'s> {
    source: &'s Source,
    domain: &'s mut Domain,
}

impl Draft<'_> {
    fn check_section(&self, section: &Sexp) -> Result<(), Error> {
        const KNOWN: [&str; 7] =
            [":requirements", ":types", ":constants", ":predicates", ":functions", ":derived", ":action"];
        let Some(head) = section.head() else {
            return Err(self
                .source
                .error(section.span(), "expected a section such as `(:action ...)`")
                .with_help(format!("the sections of a domain: {}", KNOWN.join(" "))));
        };
        let lower = head.to_ascii_lowercase();
        if KNOWN.contains(&lower.as_str()) {
            return Ok(());
        }
        let unsupported = [
            ":durative-action",
            ":constraints",
            ":process",
            ":event",
            ":axiom",
            ":method",
            ":task",
            ":timeless",
        ];
        let error = if unsupported.contains(&lower.as_str()) {
            self.source.error(section.span(), format!("`{head}` is not supported"))
        } else {
            self.source.error(section.span(), format!("unknown section `{head}`"))
        };
        Err(match nearest(&lower, KNOWN) {
            Some(near) if !unsupported.contains(&lower.as_str()) => {
                error.with_help(format!("did you mean `{near}`?"))
            }
            _ => error.with_help(format!("the sections of a domain: {}", KNOWN.join(" "))),
        })
    }

    fn section(&mut self, head: &str, section: &Sexp) -> Result<(), Error> {
        let items = &section.list().unwrap_or_default()[1..];
        match head {
            ":requirements" => self.requirements(items),
            ":types" => self.domain.types.read(self.source, items),
            ":constants" => {
                let (domain, source) = (&mut *self.domain, self.source);
                objects(source, &mut domain.types, items, &mut domain.constants, &mut domain.constant_ids)
            }
            ":predicates" => self.predicates(items),
            ":functions" => self.functions(items),
            ":derived" => self.derived(section, items),
            _ => self.action(section, items),
        }
    }

    fn requirements(&self, items: &[Sexp]) -> Result<(), Error> {
        for item in items {
            let word = item.word().unwrap_or("a list");
            if !REQUIREMENTS.contains(&word.to_ascii_lowercase().as_str()) {
                let error = self.source.error(item.span(), format!("unknown requirement `{word}`"));
                return Err(match nearest(word, REQUIREMENTS.iter().copied()) {
                    Some(near) => error.with_help(format!("did you mean `{near}`?")),
                    None => error.with_help("a requirement is written like `:typing`"),
                });
            }
        }
        Ok(())
    }

    /// A declared name with the kinds of its arguments: `(on ?x - block ?y - block)`.
    fn signature<'a>(&mut self, item: &Sexp<'a>, what: &str) -> Result<(&'a str, Span, Vec<Kind>), Error> {
        let Some((first, rest)) = item.list().and_then(<[Sexp]>::split_first) else {
            return Err(self
                .source
                .error(item.span(), format!("expected a {what} in parentheses"))
                .with_help(format!("a {what} is declared like `(at ?x - car ?l - location)`")));
        };
        let Some(name) = first.word() else {
            return Err(self.source.error(first.span(), format!("expected the name of a {what}")));
        };
        let mut kinds = Vec::new();
        for group in typed_groups(self.source, rest, "variable")? {
            let kind = self.domain.types.kind(self.source, &group.types)?;
            for &(word, span) in &group.names {
                if !word.starts_with('?') {
                    return Err(self
                        .source
                        .error(span, format!("expected a variable, found `{word}`"))
                        .with_help(format!("a variable starts with a question mark: `?{word}`")));
                }
                kinds.push(kind);
            }
        }
        if kinds.len() > MAX_ARITY {
            return Err(self.source.error(item.span(), format!("more than {MAX_ARITY} arguments")));
        }
        Ok((name, first.span(), kinds))
    }

    fn predicates(&mut self, items: &[Sexp]) -> Result<(), Error> {
        const WORDS: [&str; 7] = ["and", "or", "not", "imply", "forall", "exists", "when"];
        for item in items {
            let (name, span, args) = self.signature(item, "predicate")?;
            // Equality is built in; some files declare it all the same.
            if name == "=" {
                continue;
            }
            let lower = name.to_ascii_lowercase();
            if WORDS.contains(&lower.as_str()) || name.starts_with(['?', ':']) || name == "-" {
                return Err(self
                    .source
                    .error(span, format!("`{name}` cannot be the name of a predicate"))
                    .with_help("give it another name"));
            }
            let id = self.domain.predicates.len() as u32;
            if self.domain.predicate_ids.insert(lower, id).is_some() {
                return Err(self
                    .source
                    .error(span, format!("predicate `{name}` is declared twice"))
                    .with_help("remove one of the declarations"));
            }
            self.domain.predicates.push(Predicate {
                name: name.to_string(),
                args,
                derived: false,
                changes: false,
            });
        }
        Ok(())
    }

    fn functions(&mut self, items: &[Sexp]) -> Result<(), Error> {
        let mut i = 0;
        while i < items.len() {
            if items[i].is("-") {
                match items.get(i + 1) {
                    Some(t) if t.is("number") => {}
                    other => {
                        let span = other.map_or(items[i].span(), Sexp::span);
                        return Err(self
                            .source
                            .error(span, "functions to other things than numbers are not supported")
                            .with_help("write `- number`"));
                    }
                }
                i += 2;
                continue;
            }
            let (name, span, args) = self.signature(&items[i], "function")?;
            let id = self.domain.functions.len() as u32;
            if self.domain.function_ids.insert(name.to_ascii_lowercase(), id).is_some() {
                return Err(self
                    .source
                    .error(span, format!("function `{name}` is declared twice"))
                    .with_help("remove one of the declarations"));
            }
            self.domain.functions.push(Function { name: name.to_string(), args });
            i += 1;
        }
        Ok(())
    }

    /// Marks the predicates that have axioms, before anything that must not change them is read.
    fn mark_derived(&mut self, sections: &[Sexp]) -> Result<(), Error> {
        for section in
            sections.iter().filter(|s| s.head().is_some_and(|h| h.eq_ignore_ascii_case(":derived")))
        {
            let items = section.list().unwrap_or_default();
            let Some(name) = items.get(1).and_then(Sexp::head) else {
                return Err(self
                    .source
                    .error(section.span(), "expected `(:derived (p ?x) condition)`")
                    .with_help("write the derived atom first, then its condition"));
            };
            let Some(&id) = self.domain.predicate_ids.get(&name.to_ascii_lowercase()) else {
                return Err(self
                    .source
                    .error(items[1].span(), format!("unknown predicate `{name}`"))
                    .with_help("declare derived predicates in `(:predicates ...)` too"));
            };
            self.domain.predicates[id as usize].derived = true;
        }
        Ok(())
    }

    fn derived(&mut self, section: &Sexp, items: &[Sexp]) -> Result<(), Error> {
        let [head, body] = items else {
            return Err(self
                .source
                .error(section.span(), "expected `(:derived (p ?x) condition)`")
                .with_help("write the derived atom first, then one condition"));
        };
        let (name, span, declared) = self.signature(head, "derived predicate")?;
        let id = self.domain.predicate_ids.get(&name.to_ascii_lowercase()).copied().unwrap_or_default();
        let args = self.domain.predicates[id as usize].args.clone();
        if args.len() != declared.len() {
            let message =
                format!("predicate `{name}` takes {} arguments, not {}", args.len(), declared.len());
            return Err(self
                .source
                .error(span, message)
                .with_help("as it is declared in `(:predicates ...)`"));
        }
        let variables = &head.list().unwrap_or_default()[1..];
        let (kinds, names, body) = self.scoped(|scope| {
            let slots = scope.variables(variables)?;
            // An argument with no type here has the type of the predicate's declaration.
            for (&slot, &kind) in slots.iter().zip(&args) {
                if scope.kinds[usize::from(slot)] == Kind::OBJECT {
                    scope.kinds[usize::from(slot)] = kind;
                }
            }
            scope.condition(body)
        })?;
        self.domain.axioms.push(Axiom { predicate: id, kinds, names, body });
        Ok(())
    }

    /// Reads something with variables of its own; the kinds and names of all its slots come with it.
    fn scoped<T>(
        &mut self,
        read: impl FnOnce(&mut Scope) -> Result<T, Error>,
    ) -> Result<(Vec<Kind>, Vec<String>, T), Error> {
        let domain = &mut *self.domain;
        let constants = &domain.constants;
        let object_types = |o: u32| constants[o as usize].types.as_slice();
        let mut scope = Scope::new(
            self.source,
            &mut domain.types,
            &domain.predicates,
            &domain.predicate_ids,
            &domain.functions,
            &domain.function_ids,
            "constant",
            &domain.constant_ids,
            &object_types,
        );
        let result = read(&mut scope)?;
        Ok((std::mem::take(&mut scope.kinds), std::mem::take(&mut scope.names), result))
    }

    fn action(&mut self, section: &Sexp, items: &[Sexp]) -> Result<(), Error> {
        const PARTS: [&str; 3] = [":parameters", ":precondition", ":effect"];
        let Some((name, span)) = items.first().and_then(|n| n.word().map(|w| (w, n.span()))) else {
            return Err(self
                .source
                .error(section.span(), "expected the name of an action")
                .with_help("write `(:action NAME :parameters (...) :precondition (...) :effect (...))`"));
        };
        if self.domain.find_action(name).is_some() {
            return Err(self
                .source
                .error(span, format!("action `{name}` is declared twice"))
                .with_help("give one of them another name"));
        }
        let mut found: [Option<&Sexp>; 3] = [None; 3];
        for pair in items[1..].chunks(2) {
            let word = pair[0].word().unwrap_or("a list");
            let Some(part) = PARTS.iter().position(|p| pair[0].is(p)) else {
                return Err(self
                    .source
                    .error(pair[0].span(), format!("expected a part of the action, found `{word}`"))
                    .with_help(format!("the parts of an action: {}", PARTS.join(" "))));
            };
            let Some(value) = pair.get(1) else {
                return Err(self.source.error(pair[0].span(), format!("nothing follows `{word}`")));
            };
            if found[part].replace(value).is_some() {
                return Err(self.source.error(pair[0].span(), format!("`{word}` stands here twice")));
            }
        }
        let [parameters, precondition, effect] = found;
        let source = self.source;
        let (kinds, names, (arity, precondition, effects)) = self.scoped(|scope| {
            let arity = match parameters {
                None => 0,
                Some(list) => {
                    let items = list.list().ok_or_else(|| {
                        source
                            .error(list.span(), "expected the parameters in parentheses")
                            .with_help("write `:parameters (?x - type)`, or `()` for none")
                    })?;
                    scope.variables(items)?.len()
                }
            };
            if arity > MAX_ARITY {
                return Err(source.error(span, format!("more than {MAX_ARITY} parameters")));
            }
            let precondition = precondition.map_or(Ok(Formula::TRUE), |p| scope.condition(p))?;
            let effects = effect.map_or(Ok(Vec::new()), |e| scope.effects(e))?;
            Ok((arity, precondition, effects))
        })?;
        let name = name.to_string();
        self.domain.schemas.push(Schema { name, arity, kinds, names, precondition, effects });
        Ok(())
    }
}

/// Adds the objects of a typed list to those that are known. One that is known already keeps its number, if its
/// types agree.
pub(crate) fn objects(
    source: &Source,
    types: &mut Types,
    items: &[Sexp],
    all: &mut Vec<ObjectDecl>,
    ids: &mut FxHashMap<String, u32>,
) -> Result<(), Error> {
    for group in typed_groups(source, items, "name")? {
        let kind = types.kind(source, &group.types)?;
        for (name, span) in group.names {
            if name.starts_with('?') {
                return Err(source
                    .error(span, format!("expected an object, found the variable `{name}`"))
                    .with_help("objects have no question mark"));
            }
            let members = types.members(kind).to_vec();
            if let Some(&o) = ids.get(&name.to_ascii_lowercase()) {
                // A problem may repeat the domain's constants; two different types are a mistake.
                if all[o as usize].types != members {
                    return Err(source
                        .error(span, format!("object `{name}` is declared twice, with different types"))
                        .with_help("remove one of the declarations"));
                }
                continue;
            }
            ids.insert(name.to_ascii_lowercase(), all.len() as u32);
            all.push(ObjectDecl { name: name.to_string(), types: members });
        }
    }
    Ok(())
}
