//! Domain files: directives and constraints to an [`Alphabet`], and back to text.
//!
//! Declarations may stand in any order: they are collected first, resolved together afterwards. Types are
//! numbered by name, so that the order of a file does not show in the ids of its types.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::alphabet::{
    Action, ActionDecl, Alphabet, Constraint, MeasureDecl, Pred, Predicate, Role, RuleCount, Type, Types,
    Var, places_of,
};
use crate::derive::{Declared, Sugar};
use crate::diagnostic::{Error, Source, nearest};
use crate::parser;
use crate::policy::read_never;
use crate::resolve::{Resolver, Scope, list};
use crate::syntax::{
    Clause, Constant, Directive, Head, Indicator, Item, Quoted, Span, Term, TermKind, Tree, from_fn,
    write_application,
};
use crate::template::Templates;

/// The directives: name, number of arguments, an example.
const DIRECTIVES: &[(&str, usize, &str)] = &[
    ("environment", 1, ":- environment(blocks)."),
    ("action", 1, ":- action(move(block, place))."),
    ("state", 1, ":- state(on(block, place))."),
    ("background", 1, ":- background(isFloor(place))."),
    ("number", 1, ":- number(queue(lane), cars)."),
    ("derived", 1, ":- derived(above(block, place))."),
    ("closure", 2, ":- closure(above, on)."),
    ("distance", 2, ":- distance(closer, link)."),
    ("legal", 1, ":- legal(move/2)."),
    ("subtype", 2, ":- subtype(block, place)."),
    ("variables", 1, ":- variables(3)."),
    ("rules", 2, ":- rules(move/2, 2)."),
    ("negation", 1, ":- negation(on/2)."),
    ("constant", 1, ":- constant(floor)."),
    ("max_body", 1, ":- max_body(4)."),
    ("forbid", 2, ":- forbid(move/2, goal_on/2)."),
    ("nlrl", 1, ":- nlrl(slot(move/2, 0, invented))."),
];

/// Names that Prolog gives a meaning which a declared predicate would fight with.
pub(crate) const RESERVED: &[&str] = &["false", "true", "fail", "not"];

/// The most types a domain may declare: closing the subtypes is cubic in their number.
const MAX_TYPES: usize = 256;

/// The most rules an action may be given.
const MAX_RULES: usize = 1000;

impl Alphabet {
    /// The alphabet that a domain file describes.
    ///
    /// Where the file says nothing, an action has at most one rule and |V| is the largest arity.
    ///
    /// ```
    /// use derrl_logic::{Alphabet, Source};
    /// let text = ":- action(up). :- state(north). :- background(obs/2). false :- obs(X, X).";
    /// let domain = Alphabet::parse(&Source::new("grid.pl", text))?;
    /// assert_eq!((domain.actions.len(), domain.predicates.len(), domain.variables), (1, 2, 2));
    /// assert_eq!(Alphabet::parse(&Source::new("again.pl", domain.to_string()))?, domain);
    /// # Ok::<(), derrl_logic::Error>(())
    /// ```
    pub fn parse(source: &Source) -> Result<Alphabet, Error> {
        let program = parser::parse(source)?;
        let mut draft = Draft::new(source);
        for item in &program.items {
            match item {
                Item::Directive(directive) => draft.directive(directive)?,
                Item::Clause(clause) => draft.clauses.push(clause),
            }
        }
        draft.finish()
    }

    /// A declared name with its types as a domain file writes it: `on(block, place)`, `obs/2`, `north`.
    pub(crate) fn signature<'a>(&'a self, name: &'a str, args: &'a [Type]) -> impl fmt::Display + 'a {
        from_fn(move |f| {
            if !args.is_empty() && args.iter().all(|&t| t == Types::ANY) {
                return write!(f, "{}", Indicator(name, args.len()));
            }
            let types: Vec<_> = args.iter().map(|&t| Quoted(self.types.name(t))).collect();
            write_application(f, name, &types)
        })
    }
}

/// A name with the names of its argument types, `any` where none is given.
pub(crate) struct Signature<'a> {
    pub(crate) name: &'a str,
    pub(crate) types: Vec<&'a str>,
}

/// An action with equal arguments: `:- action(send(X, Y, X)).`
struct Repeated<'a> {
    name: &'a str,
    places: Vec<u8>,
    span: Span,
}

impl<'a> Repeated<'a> {
    /// What a tree of variables is, one of which stands twice.
    fn of(tree: &'a Tree) -> Option<Repeated<'a>> {
        let Tree::Compound { name, args, span } = tree else { return None };
        let variable = |arg: &'a Tree| match arg {
            Tree::Leaf(Term { kind: TermKind::Var(name), .. }) if name != "_" => Some(name),
            _ => None,
        };
        let variables: Vec<&String> = args.iter().map(variable).collect::<Option<_>>()?;
        let places = places_of(&variables);
        let repeats = places
            .iter()
            .enumerate()
            .any(|(i, &place)| usize::from(place) < i && places[..i].contains(&place));
        repeats.then_some(Repeated { name, places, span: *span })
    }

    fn written(&self) -> String {
        let head: Vec<Var> = self.places.iter().map(|&place| Var(place)).collect();
        from_fn(|f| write_application(f, self.name, &head)).to_string()
    }

    /// The action that it is: its arguments have the types of all their places.
    fn declare(&self, alphabet: &Alphabet, source: &Source) -> Result<ActionDecl, Error> {
        let Some(of) = alphabet.find_action(self.name, self.places.len()) else {
            let indicator = Indicator(self.name, self.places.len());
            let error = source.error(self.span, format!("the action `{indicator}` is not declared"));
            return Err(error.with_help(format!(
                "declare it with the types of its arguments too, as in `:- action({indicator}).`"
            )));
        };
        let whole = alphabet.action(of);
        let count = self.places.iter().max().map_or(0, |&most| most + 1);
        let argument = |place: u8| {
            let places = self.places.iter().zip(&whole.args).filter(|(p, _)| **p == place);
            let types: Vec<Type> = places.map(|(_, &t)| t).collect();
            alphabet.types.common(&types).ok_or_else(|| {
                let names = list(types.iter().map(|&t| Quoted(alphabet.types.name(t))));
                let message = format!(
                    "`{}` in `{}` has no type: no type is all of {names}",
                    Var(place),
                    self.written()
                );
                let help = "equal arguments need a type in common: declare one, or remove this directive";
                source.error(self.span, message).with_help(help)
            })
        };
        Ok(ActionDecl {
            args: (0..count).map(argument).collect::<Result<_, _>>()?,
            places: self.places.clone(),
            ..whole.clone()
        })
    }
}

/// A value that may be declared once, with the place of its declaration.
type Once<T> = Option<(T, Span)>;

/// What the directives read so far declare.
pub(crate) struct Draft<'a> {
    pub(crate) source: &'a Source,
    environment: Once<String>,
    variables: Once<usize>,
    max_body: Once<usize>,
    actions: Vec<Signature<'a>>,
    repeated: Vec<Repeated<'a>>,
    pub(crate) predicates: Vec<(Signature<'a>, Role)>,
    /// Measures with their units.
    measures: Vec<(Signature<'a>, Option<&'a str>)>,
    /// Closures and distances.
    pub(crate) sugar: Vec<Sugar<'a>>,
    /// Predicates that clauses have to define, by their index, and where they are declared.
    pub(crate) undefined: Vec<(usize, Span)>,
    legal: Vec<&'a Tree>,
    /// What each name and arity is declared as, and where.
    symbols: FxHashMap<(&'a str, usize), (&'static str, Span)>,
    subtypes: Vec<(&'a str, &'a str, Span)>,
    /// Every type named so far, and `any`.
    types: BTreeSet<&'a str>,
    rules: Vec<(&'a Tree, RuleCount)>,
    negations: Vec<&'a Tree>,
    forbids: Vec<(&'a Tree, &'a Tree)>,
    templates: Vec<&'a Tree>,
    constants: Vec<Constant>,
    pub(crate) clauses: Vec<&'a Clause>,
    /// Where each fact of the other directives was declared, by its canonical text.
    declared: FxHashMap<String, Span>,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(source: &'a Source) -> Draft<'a> {
        Draft {
            source,
            environment: None,
            variables: None,
            max_body: None,
            actions: Vec::new(),
            repeated: Vec::new(),
            predicates: Vec::new(),
            measures: Vec::new(),
            sugar: Vec::new(),
            undefined: Vec::new(),
            legal: Vec::new(),
            symbols: FxHashMap::default(),
            subtypes: Vec::new(),
            types: BTreeSet::from(["any"]),
            rules: Vec::new(),
            negations: Vec::new(),
            forbids: Vec::new(),
            templates: Vec::new(),
            constants: Vec::new(),
            clauses: Vec::new(),
            declared: FxHashMap::default(),
        }
    }

    pub(crate) fn directive(&mut self, directive: &'a Directive) -> Result<(), Error> {
        let tree = &directive.tree;
        let (name, args) = match tree {
            Tree::Compound { name, args, .. } => (name.as_str(), args.as_slice()),
            Tree::Leaf(_) | Tree::Indicator { .. } => (tree.as_name().unwrap_or_default(), [].as_slice()),
        };
        let Some(&(name, arity, example)) = DIRECTIVES.iter().find(|d| d.0 == name) else {
            return Err(self.unknown_directive(tree, name));
        };
        if args.len() != arity && (args.len(), name) != (3, "distance") && (args.len(), name) != (2, "number")
        {
            let count = match name {
                "distance" => "2 or 3 arguments",
                "number" => "1 or 2 arguments",
                _ if arity == 1 => "1 argument",
                _ => "2 arguments",
            };
            let message = format!("`{name}` takes {count}, not {}", args.len());
            return Err(self.mistake(tree.span(), message, example));
        }
        match name {
            "environment" => {
                let Some(environment) = args[0].as_name() else {
                    return Err(self.mistake(args[0].span(), "an environment is a lower-case name", example));
                };
                self.once("environment", self.environment.as_ref().map(|e| e.1), tree)?;
                self.environment = Some((environment.to_string(), tree.span()));
            }
            "action" => {
                if let Some(repeated) = Repeated::of(&args[0]) {
                    self.first(format!("action({})", repeated.written()), tree)?;
                    self.repeated.push(repeated);
                } else {
                    let action = self.signature("an action", &args[0], example)?;
                    self.actions.push(action);
                }
            }
            "state" => {
                let predicate = self.signature("a state predicate", &args[0], example)?;
                self.predicates.push((predicate, Role::State));
            }
            "background" => {
                let predicate = self.signature("a background predicate", &args[0], example)?;
                self.predicates.push((predicate, Role::Background));
            }
            "number" => {
                let measure = self.signature("a number", &args[0], example)?;
                let unit = args.get(1).map(|tree| {
                    let unit = tree.as_name();
                    unit.ok_or_else(|| {
                        self.mistake(tree.span(), "a unit is a name, such as `metre`", example)
                    })
                });
                self.measures.push((measure, unit.transpose()?));
            }
            "derived" => {
                let predicate = self.signature("a derived predicate", &args[0], example)?;
                self.undefined.push((self.predicates.len(), tree.span()));
                self.predicates.push((predicate, Role::Derived));
            }
            "closure" | "distance" => {
                let Some(new) = args[0].as_name() else {
                    let message = format!("`{}` is not a new name", args[0]);
                    return Err(self.mistake(args[0].span(), message, example));
                };
                self.sugar.push(Sugar { at: self.predicates.len(), tree, args });
                self.predicates.push((Signature { name: new, types: Vec::new() }, Role::Derived));
            }
            "legal" => {
                self.first(tree.to_string(), tree)?;
                self.legal.push(&args[0]);
            }
            "subtype" => self.subtype(tree, args, example)?,
            "variables" => {
                let most = Alphabet::MAX_VARIABLES;
                let count = self.count("the number of variables", &args[0], most, example)?;
                self.once("variables", self.variables.map(|v| v.1), tree)?;
                self.variables = Some((count, args[0].span()));
            }
            "max_body" => {
                let count = self.count("the longest body", &args[0], usize::MAX, example)?;
                self.once("max_body", self.max_body.map(|m| m.1), tree)?;
                self.max_body = Some((count, tree.span()));
            }
            "rules" => {
                let count = match args[1].as_name() {
                    Some("auto") => RuleCount::Auto,
                    _ if args[1].as_int().is_some() => {
                        RuleCount::AtMost(self.count("the number of rules", &args[1], MAX_RULES, example)?)
                    }
                    _ => {
                        let message = "the number of rules is an integer or `auto`";
                        return Err(self.mistake(args[1].span(), message, example));
                    }
                };
                // Two counts for one action are a mistake, whatever the counts.
                self.first(format!("rules({})", args[0]), tree)?;
                self.rules.push((&args[0], count));
            }
            "negation" => {
                self.first(tree.to_string(), tree)?;
                self.negations.push(&args[0]);
            }
            "forbid" => {
                self.first(tree.to_string(), tree)?;
                self.forbids.push((&args[0], &args[1]));
            }
            "nlrl" => self.templates.push(&args[0]),
            _ => {
                let Tree::Leaf(Term { kind: TermKind::Const(constant), .. }) = &args[0] else {
                    return Err(self.mistake(args[0].span(), "a constant is a name or an integer", example));
                };
                self.first(tree.to_string(), tree)?;
                self.constants.push(constant.clone());
            }
        }
        Ok(())
    }

    fn unknown_directive(&self, tree: &Tree, name: &str) -> Error {
        let names = DIRECTIVES.iter().map(|d| d.0);
        let help = match nearest(name, names.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the directives: {}", list(names)),
        };
        let message = match tree {
            Tree::Compound { .. } => format!("unknown directive `{}`", Quoted(name)),
            _ => format!("`{tree}` declares nothing"),
        };
        self.source.error(tree.span(), message).with_help(help)
    }

    fn mistake(&self, span: Span, message: impl Into<String>, example: &str) -> Error {
        self.source.error(span, message).with_help(format!("write it like `{example}`"))
    }

    fn again(&self, tree: &Tree, what: &str, first: Span) -> Error {
        let help =
            format!("it was first declared in line {}; remove one of them", self.source.line(first.start));
        self.source.error(tree.span(), format!("{what} is declared twice")).with_help(help)
    }

    /// An error if something that is declared at most once already was.
    fn once(&self, what: &str, first: Option<Span>, tree: &Tree) -> Result<(), Error> {
        first.map_or(Ok(()), |first| Err(self.again(tree, &format!("`{what}`"), first)))
    }

    /// An error if the very same thing was declared before.
    fn first(&mut self, what: String, tree: &Tree) -> Result<(), Error> {
        if let Some(&first) = self.declared.get(&what) {
            return Err(self.again(tree, &format!("`{what}`"), first));
        }
        self.declared.insert(what, tree.span());
        Ok(())
    }

    fn count(&self, what: &str, tree: &Tree, most: usize, example: &str) -> Result<usize, Error> {
        match tree.as_int().map(usize::try_from) {
            None => Err(self.mistake(tree.span(), format!("{what} is an integer"), example)),
            Some(Ok(n)) if (1..=most).contains(&n) => Ok(n),
            Some(Ok(n)) if n > 0 => {
                Err(self.source.error(tree.span(), format!("{what} is {n}; at most {most} is possible")))
            }
            Some(_) => {
                let message = format!("{what} is {tree}; it must be at least 1");
                Err(self.mistake(tree.span(), message, example))
            }
        }
    }

    /// A new action or predicate: `on(block, place)`, `on/2` or `north`.
    fn signature(
        &mut self,
        kind: &'static str,
        tree: &'a Tree,
        example: &str,
    ) -> Result<Signature<'a>, Error> {
        let most = Alphabet::MAX_VARIABLES;
        let (name, types) = match tree {
            Tree::Indicator { name, arity, .. } => (name.as_str(), vec!["any"; (*arity).min(most + 1)]),
            Tree::Compound { name, args, .. } => {
                let types = args.iter().map(|arg| self.type_name(arg, example)).collect::<Result<_, _>>()?;
                (name.as_str(), types)
            }
            Tree::Leaf(_) => match tree.as_name() {
                Some(name) => (name, Vec::new()),
                None => return Err(self.mistake(tree.span(), format!("`{tree}` is not {kind}"), example)),
            },
        };
        if types.len() > most {
            let message = format!("`{}` has more than {most} arguments", Quoted(name));
            return Err(self.source.error(tree.span(), message));
        }
        self.register(kind, name, types.len(), tree)?;
        Ok(Signature { name, types })
    }

    /// Notes that a name and arity is declared as one kind of thing; an error where it was declared before.
    pub(crate) fn register(
        &mut self,
        kind: &'static str,
        name: &'a str,
        arity: usize,
        tree: &'a Tree,
    ) -> Result<(), Error> {
        if RESERVED.contains(&name) {
            let message = format!("`{name}` has a meaning in Prolog already");
            return Err(self.source.error(tree.span(), message).with_help("choose another name"));
        }
        match self.symbols.insert((name, arity), (kind, tree.span())) {
            None => Ok(()),
            Some((other, first)) if other == kind => {
                Err(self.again(tree, &format!("`{}`", Indicator(name, arity)), first))
            }
            Some((other, first)) => {
                let indicator = Indicator(name, arity);
                let message = format!("`{indicator}` cannot be both {other} and {kind}");
                let line = self.source.line(first.start);
                let help = format!("it was first declared in line {line}; rename or remove one of them");
                Err(self.source.error(tree.span(), message).with_help(help))
            }
        }
    }

    fn type_name(&mut self, tree: &'a Tree, example: &str) -> Result<&'a str, Error> {
        let Some(name) = tree.as_name() else {
            let message = format!("`{tree}` is not a type: types are lower-case names");
            return Err(self.mistake(tree.span(), message, example));
        };
        self.types.insert(name);
        if self.types.len() > MAX_TYPES + 1 {
            let error = self.source.error(tree.span(), format!("more than {MAX_TYPES} types"));
            return Err(error.with_help("give arguments that need no type of their own the type `any`"));
        }
        Ok(name)
    }

    fn subtype(&mut self, tree: &'a Tree, args: &'a [Tree], example: &str) -> Result<(), Error> {
        let (sub, sup) = (self.type_name(&args[0], example)?, self.type_name(&args[1], example)?);
        for (name, arg) in [(sub, &args[0]), (sup, &args[1])] {
            if name == "any" {
                let message = "`any` is above every type and below none";
                return Err(self.source.error(arg.span(), message).with_help("remove this directive"));
            }
        }
        self.first(tree.to_string(), tree)?;
        self.subtypes.push((sub, sup, tree.span()));
        Ok(())
    }

    /// Resolves what was collected.
    fn finish(mut self) -> Result<Alphabet, Error> {
        let source = self.source;
        if self.actions.is_empty() {
            let end = source.text.trim_end().len();
            let error = source.error(Span::new(end, end), "the domain declares no action");
            return Err(error.with_help("declare one like `:- action(move(block, place)).`"));
        }
        let sugar = self.expand_sugar(None)?;
        let types = self.types()?;
        let ids = |signature: &Signature<'_>| -> Vec<Type> {
            let id = |name: &&str| types.find(name).expect("every type named in a signature was collected");
            signature.types.iter().map(id).collect()
        };
        let action = |a: &Signature<'_>| ActionDecl {
            name: a.name.to_string(),
            args: ids(a),
            places: (0..a.types.len() as u8).collect(),
            rules: RuleCount::Auto,
            forbidden: Vec::new(),
            legal: None,
        };
        let predicate = |(p, role): &(Signature<'_>, Role)| Predicate {
            name: p.name.to_string(),
            args: ids(p),
            role: *role,
            negatable: false,
        };
        let measure = |(m, unit): &(Signature<'_>, Option<&str>)| MeasureDecl {
            name: m.name.to_string(),
            args: ids(m),
            unit: unit.map(str::to_string),
        };
        let mut alphabet = Alphabet {
            environment: self.environment.map(|e| e.0),
            actions: self.actions.iter().map(action).collect(),
            predicates: self.predicates.iter().map(predicate).collect(),
            of_domain: 0,
            program: None,
            measures: self.measures.iter().map(measure).collect(),
            constants: self.constants,
            variables: 0,
            variables_given: self.variables.is_some(),
            max_body: self.max_body.map(|m| m.0),
            constraints: Vec::new(),
            shield: Vec::new(),
            templates: None,
            types,
        };
        for repeated in &self.repeated {
            let decl = repeated.declare(&alphabet, source)?;
            alphabet.actions.push(decl);
        }
        alphabet.variables = variables(&alphabet, self.variables, source)?;

        let resolver = Resolver::new(source, &alphabet);
        let action =
            |tree| indicator(tree, &resolver).and_then(|(name, n)| resolver.action(name, n, tree.span()));
        let pred =
            |tree| indicator(tree, &resolver).and_then(|(name, n)| resolver.predicate(name, n, tree.span()));
        let rules: Vec<_> =
            self.rules.iter().map(|(a, n)| Ok((action(a)?, *n))).collect::<Result<_, Error>>()?;
        let negations: Vec<_> = self.negations.iter().map(|&p| pred(p)).collect::<Result<_, Error>>()?;
        let forbids: Vec<_> =
            self.forbids.iter().map(|(a, p)| Ok((action(a)?, pred(p)?))).collect::<Result<_, Error>>()?;
        let legal: Vec<_> = self.legal.iter().map(|&a| action(a)).collect::<Result<_, Error>>()?;
        let defines = |c: &Clause| resolver.is_derived(&c.head) || resolver.is_any_action(&c.head, &legal);
        let (forbidding, others): (Vec<&Clause>, Vec<&Clause>) =
            self.clauses.iter().partition(|c| matches!(c.head, Head::Never(_)));
        let shield =
            forbidding.iter().map(|c| read_never(c, &resolver)).collect::<Result<Vec<_>, Error>>()?;
        let (defining, constraining): (Vec<&Clause>, Vec<&Clause>) =
            others.into_iter().partition(|c| defines(c));
        let constraints =
            constraining.iter().map(|c| constraint(c, &resolver)).collect::<Result<Vec<_>, Error>>()?;
        let templates = Templates::resolve(&self.templates, &resolver)?;
        let compared = resolver.into_comparisons().declare(&mut alphabet);
        // What is said of an action is said of it with equal arguments, too.
        let forms = |action: Action| alphabet.with_repeated(action);
        let legal = legal.into_iter().flat_map(forms).collect();
        let rules: Vec<_> = rules.into_iter().flat_map(|(a, n)| forms(a).map(move |a| (a, n))).collect();
        let forbids: Vec<_> = forbids.into_iter().flat_map(|(a, p)| forms(a).map(move |a| (a, p))).collect();
        declare_legality(&mut alphabet, legal);
        for (action, count) in rules {
            alphabet.actions[action.0 as usize].rules = count;
        }
        for pred in negations {
            alphabet.predicates[pred.0 as usize].negatable = true;
        }
        for (action, pred) in forbids {
            alphabet.actions[action.0 as usize].forbidden.push(pred);
        }
        alphabet.constraints = constraints;
        alphabet.shield = shield;
        alphabet.templates = templates;
        let declared =
            Declared { first: 0, defining: &defining, undefined: &self.undefined, legal: &self.legal };
        let program = declared.program(sugar, compared, &mut alphabet, source)?;
        alphabet.of_domain = alphabet.predicates.len();
        alphabet.program = program.map(Arc::new);
        Ok(alphabet)
    }

    /// The types that any declaration names, in the order of their names.
    fn types(&self) -> Result<Types, Error> {
        let names: Vec<String> =
            self.types.iter().filter(|n| **n != "any").map(ToString::to_string).collect();
        let id = |name: &str| {
            let at =
                names.binary_search_by(|n| n.as_str().cmp(name)).expect("every type named was collected");
            Type(at as u32 + 1)
        };
        let pairs: Vec<_> = self.subtypes.iter().map(|&(sub, sup, _)| (id(sub), id(sup))).collect();
        let types = Types::new(&names, &pairs);
        // Of the directives that make a cycle the last one closed it.
        for (&(sub, sup), &(sub_name, sup_name, span)) in pairs.iter().zip(&self.subtypes).rev() {
            if types.is_subtype(sup, sub) {
                let (sub, sup) = (Quoted(sub_name), Quoted(sup_name));
                let (message, help) = if sub_name == sup_name {
                    (format!("`{sub}` is a subtype of itself"), "remove this directive".to_string())
                } else {
                    let message = format!("subtype cycle: `{sup}` is a subtype of `{sub}` already");
                    (
                        message,
                        format!("use one type for `{sub}` and `{sup}`, or remove a directive between them"),
                    )
                };
                return Err(self.source.error(span, message).with_help(help));
            }
        }
        Ok(types)
    }
}

/// A predicate for the legality of each of these actions, in the order of the actions.
fn declare_legality(alphabet: &mut Alphabet, mut legal: Vec<Action>) {
    legal.sort_unstable();
    legal.dedup();
    for action in legal {
        let decl = &mut alphabet.actions[action.0 as usize];
        let mut name = format!("legal_{}", decl.name);
        while alphabet.predicates.iter().any(|p| p.name == name) {
            name.push('_');
        }
        decl.legal = Some(Pred(alphabet.predicates.len() as u32));
        let args = decl.args.clone();
        alphabet.predicates.push(Predicate { name, args, role: Role::Legal, negatable: false });
    }
}

/// |V| as declared; or as many as the longest predicate has places and one more than the longest action, so that a rule can speak
/// of something that its action does not name.
fn variables(alphabet: &Alphabet, declared: Once<usize>, source: &Source) -> Result<usize, Error> {
    let Some((count, span)) = declared else { return Ok(alphabet.usual_variables()) };
    match alphabet.actions.iter().find(|a| a.args.len() > count) {
        None => Ok(count),
        Some(action) => {
            let arity = action.arity();
            let message =
                format!("`{}` needs {arity} variables for its head", Indicator(&action.name, arity));
            Err(source.error(span, message).with_help(format!("write `:- variables({arity}).` or more")))
        }
    }
}

/// The name and arity of `name/arity`.
fn indicator<'t>(tree: &'t Tree, resolver: &Resolver<'_>) -> Result<(&'t str, usize), Error> {
    let (name, arity) = match tree {
        Tree::Indicator { name, arity, .. } => return Ok((name, *arity)),
        Tree::Compound { name, args, .. } => (name.as_str(), Some(args.len())),
        Tree::Leaf(_) => {
            let name = tree.as_name().unwrap_or_default();
            let Alphabet { actions, predicates, .. } = resolver.alphabet;
            let mut declared = actions.iter().map(|a| (&a.name, a.arity()));
            let mut others = predicates.iter().map(|p| (&p.name, p.args.len()));
            let namesake = declared.find(|d| d.0 == name).or_else(|| others.find(|d| d.0 == name));
            (name, namesake.map(|d| d.1))
        }
    };
    let help = match arity {
        Some(arity) => format!("write `{}`", Indicator(name, arity)),
        None => "write it like `move/2`".to_string(),
    };
    Err(resolver.source.error(tree.span(), "expected a name with its arity").with_help(help))
}

/// A semantic constraint.
fn constraint(clause: &Clause, resolver: &Resolver<'_>) -> Result<Constraint, Error> {
    let source = resolver.source;
    if clause.weight.is_some() {
        let span = Span::new(clause.span.start, clause.head.span().end);
        let error = source.error(span, "a constraint has no weight");
        return Err(error.with_help("remove the number and `::`; weighted rules belong in a policy file"));
    }
    let mut scope = Scope::default();
    let head = match &clause.head {
        Head::False(span) if clause.body.is_empty() => {
            let error = source.error(*span, "this constraint has no body");
            return Err(error.with_help("say what to forbid, as in `false :- on(X, Y), on(Y, X).`"));
        }
        Head::False(_) => None,
        Head::Never(action) => {
            return Err(source.error(action.span, "a rule that forbids is no constraint"));
        }
        Head::Number(number) => {
            let error = source.error(number.span, "a domain holds no facts");
            return Err(error.with_help("what measures are belongs in a state"));
        }
        Head::Atom(atom) => {
            if resolver.is_action(atom) {
                let message = format!("a rule for the action `{}` in a domain", atom.indicator());
                return Err(source
                    .error(atom.span, message)
                    .with_help("rules for actions belong in a policy file"));
            }
            let known = resolver.alphabet.predicates.iter().map(|p| p.name.as_str());
            let head = resolver.atom(atom, true, &mut scope).map_err(|error| match nearest(&atom.name, known) {
                Some(_) => error,
                None => error.with_help(format!(
                    "a clause that defines it needs `:- derived({}).`, better with the types of its arguments",
                    atom.indicator()
                )),
            })?;
            if clause.body.is_empty() {
                let error = source.error(clause.span, "a domain holds no facts");
                let help = format!(
                    "write `{atom} :- ...` for a consequence of other atoms, `false :- {atom}, ...` to forbid it"
                );
                return Err(error.with_help(help));
            }
            Some(head)
        }
    };
    resolver.check_length(clause)?;
    resolver.no_choices(clause)?;
    let mut body = Vec::with_capacity(clause.body.len());
    for literal in &clause.body {
        let resolved = resolver.literal(literal, &mut scope)?;
        if head.as_ref() == Some(&resolved) {
            let message = format!("`{literal}` follows from itself");
            return Err(source.error(literal.span, message).with_help("remove it from the body or the head"));
        }
        body.push(resolved);
    }
    Ok(Constraint { head, body, variables: scope.variables.len(), text: clause.to_string() })
}

impl fmt::Display for Role {
    /// `state` or `background`, as the directive is called.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::State => "state",
            Role::Background => "background",
            Role::Derived => "derived",
            Role::Legal => "legal",
            Role::Comparison => "comparison",
        })
    }
}

impl fmt::Display for Alphabet {
    /// The domain file: parsing it gives the same alphabet.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(environment) = &self.environment {
            writeln!(f, ":- environment({}).", Quoted(environment))?;
        }
        for action in &self.actions {
            if action.repeats() {
                writeln!(f, ":- action({}).", action.example())?;
            } else {
                writeln!(f, ":- action({}).", self.signature(&action.name, &action.args))?;
            }
        }
        for (i, p) in self.predicates[..self.of_domain].iter().enumerate() {
            match p.role {
                Role::State | Role::Background => {
                    writeln!(f, ":- {}({}).", p.role, self.signature(&p.name, &p.args))?;
                }
                Role::Derived => self.write_declaration(Pred(i as u32), f)?,
                Role::Legal | Role::Comparison => {}
            }
        }
        for m in &self.measures {
            let signature = self.signature(&m.name, &m.args);
            match &m.unit {
                Some(unit) => writeln!(f, ":- number({signature}, {}).", Quoted(unit))?,
                None => writeln!(f, ":- number({signature}).")?,
            }
        }
        let types = &self.types;
        for (sub, sup) in types.covering() {
            writeln!(f, ":- subtype({}, {}).", Quoted(types.name(sub)), Quoted(types.name(sup)))?;
        }
        for constant in &self.constants {
            writeln!(f, ":- constant({constant}).")?;
        }
        if self.variables_given {
            writeln!(f, ":- variables({}).", self.variables)?;
        }
        if let Some(max_body) = self.max_body {
            writeln!(f, ":- max_body({max_body}).")?;
        }
        for p in self.predicates.iter().filter(|p| p.negatable) {
            writeln!(f, ":- negation({}).", Indicator(&p.name, p.args.len()))?;
        }
        for action in self.actions.iter().filter(|a| !a.repeats()) {
            let indicator = Indicator(&action.name, action.arity());
            match action.rules {
                RuleCount::AtMost(n) => writeln!(f, ":- rules({indicator}, {n}).")?,
                RuleCount::Auto => writeln!(f, ":- rules({indicator}, auto).")?,
            }
            for &pred in &action.forbidden {
                let p = self.predicate(pred);
                writeln!(f, ":- forbid({indicator}, {}).", Indicator(&p.name, p.args.len()))?;
            }
        }
        if let Some(templates) = &self.templates {
            write!(f, "{}", templates.display(self))?;
        }
        self.write_definitions(false, &|_| true, f)?;
        for (i, rule) in self.shield.iter().enumerate() {
            writeln!(f, "{}{}", if i == 0 { "\n" } else { "" }, rule.display_never(self))?;
        }
        for (i, constraint) in self.constraints.iter().enumerate() {
            writeln!(f, "{}{}", if i == 0 { "\n" } else { "" }, constraint.text)?;
        }
        Ok(())
    }
}

impl Types {
    /// The `(sub, super)` pairs with no type between them, of which all others follow.
    fn covering(&self) -> impl Iterator<Item = (Type, Type)> + '_ {
        let proper = |sub: Type, sup: Type| sub != sup && self.is_subtype(sub, sup);
        let all = move || (1..self.len()).map(|t| Type(t as u32));
        all().flat_map(move |sub| {
            all()
                .filter(move |&sup| proper(sub, sup) && !all().any(|t| proper(sub, t) && proper(t, sup)))
                .map(move |sup| (sub, sup))
        })
    }
}
