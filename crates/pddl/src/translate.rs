//! A PDDL domain in derrl's language: the text of a domain file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use derrl_logic::syntax::{Constant, Quoted};
use derrl_logic::{Alphabet, Error, Source, repeated_heads};

use crate::clauses::{Clause, Clauses, Heads, Helper, Literal, Symbol};
use crate::domain::{Domain, Role};
use crate::formula::Term;
use crate::repeated::{Repeated, has_types};
use crate::task::Task;
use crate::types::Kind;

/// A domain as derrl reads it.
///
/// | PDDL | becomes |
/// |---|---|
/// | types | types; `object` is `any`, `(either a b)` a type `a_or_b` above both |
/// | predicates that no effect changes | `:- background` |
/// | other predicates | `:- state` |
/// | literals of goals | background `goal_p`, `goal_not_p`, for the predicates that occur in the goals given; see [`Translation::open_text`] for others |
/// | actions | actions with the same parameters; their preconditions are clauses after `:- legal` |
/// | `:derived` | `:- derived` and clauses |
/// | `forall` in a condition | a derived predicate `..._fails` that holds where there is a counterexample |
/// | the type of a quantified variable, where no predicate implies it | background `is_type` |
///
/// | actions with equal arguments | declared once more, `:- action(send(X, Y, X)).`, where asked for |
///
/// Names are written in lower case, with `_` for `-`. Actions are about distinct objects, as always in derrl.
#[derive(Clone, Debug)]
pub struct Translation {
    /// The domain.
    pub domain: Arc<Domain>,
    text: String,
    pub(crate) predicates: Vec<String>,
    pub(crate) actions: Vec<String>,
    /// The goal predicates: whether the atom is to hold, and the predicate.
    pub(crate) goals: BTreeMap<(bool, u32), String>,
    /// Those that occur in the goals given.
    wanted: BTreeSet<(bool, u32)>,
    /// The kinds that conditions ask for by themselves.
    pub(crate) guards: BTreeMap<Kind, String>,
    kind_names: Vec<String>,
    /// The actions with equal arguments.
    repeated: BTreeSet<Repeated>,
}

/// A name of PDDL as derrl writes it.
pub fn plain(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
}

/// An object of PDDL as derrl writes it.
pub(crate) fn constant(name: &str) -> Constant {
    let name = plain(name);
    match name.parse::<i64>() {
        Ok(i) if i.to_string() == name => Constant::Int(i),
        _ => Constant::name(&name),
    }
}

/// Which names are taken, and by what.
#[derive(Default)]
struct Taken(BTreeMap<(String, usize), String>);

impl Taken {
    fn take(&mut self, name: &str, arity: usize, what: &str) -> Result<(), Error> {
        match self.0.insert((name.to_string(), arity), what.to_string()) {
            None => Ok(()),
            Some(other) => {
                Err(Error::new(format!("{other} and {what} would both be called `{name}/{arity}`"))
                    .with_help("rename one of them in the PDDL files"))
            }
        }
    }

    /// The name, or the first of `name_2`, `name_3`, ... that is free.
    fn free(&mut self, name: &str, arity: usize, what: &str) -> String {
        let mut free = name.to_string();
        let mut i = 2;
        while self.0.contains_key(&(free.clone(), arity)) {
            free = format!("{name}_{i}");
            i += 1;
        }
        self.0.insert((free.clone(), arity), what.to_string());
        free
    }
}

/// Names that derrl gives a meaning of their own.
const RESERVED: [&str; 4] = ["false", "true", "fail", "not"];

/// The name as derrl writes it, with `_` behind what has a meaning of its own.
fn unreserved(name: &str) -> String {
    let mut name = plain(name);
    if RESERVED.contains(&name.as_str()) {
        name.push('_');
    }
    name
}

impl Translation {
    /// The domain in derrl's language. `tasks` tell which predicates goals are about: usually those that are
    /// trained on.
    ///
    /// A goal that they never have is no use to whoever learns from them: it would only make for more candidate atoms.
    pub fn new<'t>(
        domain: &Arc<Domain>,
        tasks: impl IntoIterator<Item = &'t Task>,
    ) -> Result<Translation, Error> {
        let mut wanted: BTreeSet<(bool, u32)> = BTreeSet::new();
        for task in tasks {
            wanted.extend(task.goal_literals().iter().map(|(holds, p, _)| (*holds, *p)));
        }
        Translation::about(domain, wanted, BTreeSet::new())
    }

    /// The same with these actions with equal arguments, as far as the domain allows them.
    pub fn with_repeated(self, repeated: &BTreeSet<Repeated>) -> Result<Translation, Error> {
        if repeated.is_subset(&self.repeated) {
            return Ok(self);
        }
        Translation::about(&self.domain, self.wanted, repeated.union(&self.repeated).cloned().collect())
    }

    fn about(
        domain: &Arc<Domain>,
        wanted: BTreeSet<(bool, u32)>,
        repeated: BTreeSet<Repeated>,
    ) -> Result<Translation, Error> {
        if domain.schemas.is_empty() {
            return Err(Error::new(format!("domain `{}` has no action", domain.name))
                .with_help("add one: `(:action NAME :parameters (...) :precondition (...) :effect (...))`"));
        }
        let mut taken = Taken::default();
        let mut predicates = Vec::new();
        let mut actions = Vec::new();
        for schema in &domain.schemas {
            let name = unreserved(&schema.name);
            taken.take(&name, schema.arity, &format!("action `{}`", schema.name))?;
            actions.push(name);
        }
        for p in &domain.predicates {
            let name = unreserved(&p.name);
            taken.take(&name, p.args.len(), &format!("predicate `{}`", p.name))?;
            predicates.push(name);
        }
        let mut goals = BTreeMap::new();
        let name = |(holds, p): (bool, u32)| {
            let predicate = &domain.predicates[p as usize];
            let name = format!("{}{}", if holds { "goal_" } else { "goal_not_" }, plain(&predicate.name));
            (name, predicate.args.len(), format!("the goal of predicate `{}`", predicate.name))
        };
        for &goal in &wanted {
            let (name, arity, what) = name(goal);
            taken.take(&name, arity, &what)?;
            goals.insert(goal, name);
        }
        let possible = (0..domain.predicates.len() as u32)
            .filter(|&p| domain.predicates[p as usize].role() != Role::Static)
            .flat_map(|p| [(true, p), (false, p)]);
        for goal in possible.filter(|goal| !wanted.contains(goal)) {
            let (name, arity, what) = name(goal);
            if taken.take(&name, arity, &what).is_ok() {
                goals.insert(goal, name);
            }
        }
        let mut translation = Translation {
            domain: domain.clone(),
            text: String::new(),
            predicates,
            actions,
            goals,
            wanted,
            guards: BTreeMap::new(),
            kind_names: kind_names(domain)?,
            repeated,
        };
        translation.write(&mut taken)?;
        translation.alphabet()?;
        Ok(translation)
    }

    /// The text of the domain file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// A text for this domain with all that a policy may speak of, whatever the problem at hand asks for: every goal that a problem
    /// could have, and the actions with equal arguments that these heads are of.
    pub fn open_text(&self, text: &str, heads: &[(String, Vec<u8>)]) -> Result<String, Error> {
        let known = Alphabet::parse(&Source::new(format!("{}.pl", plain(&self.domain.name)), text))?;
        let mut open = text.to_string();
        let new = heads.iter().filter(|(name, places)| known.find_written(name, places).is_none());
        let schemas = |(name, places): &(String, Vec<u8>)| {
            let fits = |s: usize| self.actions[s] == *name && self.domain.schemas[s].arity == places.len();
            (0..self.actions.len()).find(|&s| fits(s)).map(|s| (s as u32, places.clone()))
        };
        let new: BTreeSet<Repeated> = new.filter_map(schemas).collect();
        if !new.is_empty() {
            let wider = self.clone().with_repeated(&new)?;
            let more = wider.text.lines().filter(|line| !text.lines().any(|known| known == *line));
            for line in more.filter(|line| !self.text.lines().any(|known| known == *line)) {
                let _ = writeln!(open, "{line}");
            }
        }
        for ((_, p), name) in &self.goals {
            let args = &self.domain.predicates[*p as usize].args;
            let is_free = known.find_predicate(name, args.len()).is_none()
                && known.find_action(name, args.len()).is_none();
            if is_free {
                let _ = writeln!(open, ":- background({}).", self.signature(name, args));
            }
        }
        Ok(open)
    }

    /// The alphabet of a policy for this domain: see [`Translation::open_text`].
    pub fn alphabet_for(&self, policy: &Source) -> Result<Alphabet, Error> {
        let text = self.open_text(&self.text, &repeated_heads(policy))?;
        Alphabet::parse(&Source::new(format!("{}.pl", plain(&self.domain.name)), text))
    }

    /// The alphabet that the text describes.
    pub fn alphabet(&self) -> Result<Alphabet, Error> {
        let read =
            Alphabet::parse(&Source::new(format!("{}.pl", plain(&self.domain.name)), self.text.clone()));
        // Nobody wrote that text, so an error must not point into it.
        read.map_err(|error| {
            let line = error.place.as_ref().map_or(0, |place| place.line);
            let said = self.text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
            Error::new(format!("domain `{}`: {}", self.domain.name, error.message))
                .with_help(format!("it is about what derrl reads as `{said}`"))
        })
    }

    /// The name of a kind as a type; `any` for `object`.
    pub(crate) fn kind_name(&self, kind: Kind) -> &str {
        &self.kind_names[usize::from(kind.0)]
    }

    fn signature(&self, name: &str, kinds: &[Kind]) -> String {
        if kinds.is_empty() {
            return Quoted(name).to_string();
        }
        let types: Vec<String> = kinds.iter().map(|&k| Quoted(self.kind_name(k)).to_string()).collect();
        format!("{}({})", Quoted(name), types.join(", "))
    }

    fn write(&mut self, taken: &mut Taken) -> Result<(), Error> {
        let domain = self.domain.clone();
        // Clauses first: they tell which helpers and guards there are.
        let mut helpers: Vec<Helper> = Vec::new();
        let mut legal: Vec<Vec<Clause>> = Vec::new();
        for (schema, owner) in domain.schemas.iter().zip(&self.actions) {
            let head: Vec<u16> = (0..schema.arity as u16).collect();
            let mut clauses = Clauses {
                domain: &domain,
                owner,
                kinds: &schema.kinds,
                names: &schema.names,
                helpers: &mut helpers,
            };
            let given = &schema.kinds[..schema.arity];
            let places: Vec<u8> = (0..schema.arity as u8).collect();
            legal.push(clauses.of(&head, given, &schema.precondition, Heads::At(&places))?);
        }
        let mut axioms: Vec<Vec<Clause>> = Vec::new();
        for axiom in &domain.axioms {
            let predicate = &domain.predicates[axiom.predicate as usize];
            let head: Vec<u16> = (0..predicate.args.len() as u16).collect();
            let mut clauses = Clauses {
                domain: &domain,
                owner: &self.predicates[axiom.predicate as usize],
                kinds: &axiom.kinds,
                names: &axiom.names,
                helpers: &mut helpers,
            };
            let mut all = clauses.of(&head, &predicate.args, &axiom.body, Heads::Free)?;
            // `p(X, Y) :- p(X, Y)` says nothing; merging variables can bring it about.
            let itself = |c: &Clause, l: &Literal| {
                l.holds && l.symbol == Symbol::Predicate(axiom.predicate) && l.args == c.head
            };
            all.retain(|c| !c.body.iter().any(|l| itself(c, l)));
            axioms.push(all);
        }
        // Those with equal arguments come last, so that the names of what others need stay the same.
        let mut repeated: Vec<(Repeated, Vec<Clause>)> = Vec::new();
        for (s, places) in self.repeated.iter().filter(|of| has_types(&domain, of)) {
            let schema = &domain.schemas[*s as usize];
            let head: Vec<u16> = (0..schema.arity as u16).collect();
            let mut clauses = Clauses {
                domain: &domain,
                owner: &self.actions[*s as usize],
                kinds: &schema.kinds,
                names: &schema.names,
                helpers: &mut helpers,
            };
            let given = &schema.kinds[..schema.arity];
            let all = clauses.of(&head, given, &schema.precondition, Heads::At(places))?;
            if !all.is_empty() {
                repeated.push(((*s, places.clone()), all));
            }
        }
        let every = legal
            .iter()
            .chain(repeated.iter().map(|(_, clauses)| clauses))
            .chain(&axioms)
            .chain(helpers.iter().map(|h| &h.clauses))
            .flatten();
        let kinds: BTreeSet<Kind> = every
            .flat_map(|c| &c.body)
            .filter_map(|l| if let Symbol::Kind(kind) = l.symbol { Some(kind) } else { None })
            .collect();
        for kind in kinds {
            let name = if kind == Kind::OBJECT { "object" } else { self.kind_name(kind) };
            let name = taken.free(&format!("is_{name}"), 1, "a type");
            self.guards.insert(kind, name);
        }
        let helper_names: Vec<String> =
            helpers.iter().map(|h| taken.free(&h.name, h.kinds.len(), "a condition")).collect();
        let never = legal.iter().any(Vec::is_empty).then(|| taken.free("never", 0, "what never holds"));
        self.declarations(&helpers, &helper_names, never.as_deref());

        let constants: Vec<String> = domain.constants.iter().map(|c| constant(&c.name).to_string()).collect();
        let symbol = |s: Symbol| match s {
            Symbol::Predicate(p) => &self.predicates[p as usize],
            Symbol::Kind(kind) => &self.guards[&kind],
            Symbol::Helper(i) => &helper_names[i as usize],
            Symbol::Never => never.as_ref().expect("it has a name where something never holds"),
        };
        let mut text = String::new();
        let mut section = |name: &str, names: &[String], clauses: &[Clause]| {
            for clause in clauses {
                let variables = variable_names(names, clause);
                let show = |name: &str, args: &[Term]| {
                    let args: Vec<&str> = args
                        .iter()
                        .map(|t| match t {
                            Term::Var(v) => variables[v].as_str(),
                            Term::Object(o) => constants[*o as usize].as_str(),
                        })
                        .collect();
                    if args.is_empty() {
                        Quoted(name).to_string()
                    } else {
                        format!("{}({})", Quoted(name), args.join(", "))
                    }
                };
                let body: Vec<String> = clause
                    .body
                    .iter()
                    .map(|l| {
                        format!("{}{}", if l.holds { "" } else { "\\+ " }, show(symbol(l.symbol), &l.args))
                    })
                    .collect();
                let arrow = if body.is_empty() { "" } else { " :- " };
                let _ = writeln!(text, "{}{arrow}{}.", show(name, &clause.head), body.join(", "));
            }
        };
        for ((schema, name), clauses) in domain.schemas.iter().zip(&self.actions).zip(&legal) {
            if needs_no_clause(clauses) {
                continue;
            }
            if clauses.is_empty() {
                let head = (0..schema.arity as u16).map(Term::Var).collect();
                let body = vec![Literal { holds: true, symbol: Symbol::Never, args: Vec::new() }];
                section(name, &schema.names, &[Clause { head, body }]);
            } else {
                section(name, &schema.names, clauses);
            }
        }
        for (axiom, clauses) in domain.axioms.iter().zip(&axioms) {
            section(&self.predicates[axiom.predicate as usize], &axiom.names, clauses);
        }
        for ((s, _), clauses) in &repeated {
            if !needs_no_clause(&legal[*s as usize]) {
                section(&self.actions[*s as usize], &domain.schemas[*s as usize].names, clauses);
            }
        }
        for (helper, name) in helpers.iter().zip(&helper_names) {
            section(name, &helper.names, &helper.clauses);
        }
        for (schema, (name, clauses)) in domain.schemas.iter().zip(self.actions.iter().zip(&legal)) {
            if !needs_no_clause(clauses) {
                let _ = writeln!(self.text, ":- legal({}/{}).", Quoted(name), schema.arity);
            }
        }
        for ((s, places), _) in &repeated {
            let variables: Vec<String> = places.iter().map(|place| format!("X{}", place + 1)).collect();
            let name = Quoted(&self.actions[*s as usize]);
            let _ = writeln!(self.text, ":- action({name}({})).", variables.join(", "));
        }
        self.text.push_str(&text);
        Ok(())
    }

    fn declarations(&mut self, helpers: &[Helper], helper_names: &[String], never: Option<&str>) {
        let domain = self.domain.clone();
        let mut out = format!("% From the PDDL domain `{}`.\n", domain.name.replace(char::is_control, " "));
        for (schema, name) in domain.schemas.iter().zip(&self.actions) {
            let _ = writeln!(out, ":- action({}).", self.signature(name, &schema.kinds[..schema.arity]));
        }
        for (p, name) in domain.predicates.iter().zip(&self.predicates) {
            let role = match p.role() {
                Role::Static => "background",
                Role::Fluent => "state",
                Role::Derived => "derived",
            };
            let _ = writeln!(out, ":- {role}({}).", self.signature(name, &p.args));
        }
        for goal in &self.wanted {
            let (args, name) = (&domain.predicates[goal.1 as usize].args, &self.goals[goal]);
            let _ = writeln!(out, ":- background({}).", self.signature(name, args));
        }
        for name in self.guards.values() {
            let _ = writeln!(out, ":- background({}).", self.signature(name, &[Kind::OBJECT]));
        }
        if let Some(never) = never {
            let _ = writeln!(out, ":- background({}).", Quoted(never));
        }
        for (helper, name) in helpers.iter().zip(helper_names) {
            let _ = writeln!(out, ":- derived({}).", self.signature(name, &helper.kinds));
        }
        for (sub, sup) in subtypes(&domain, &self.kind_names) {
            let _ = writeln!(out, ":- subtype({}, {}).", Quoted(&sub), Quoted(&sup));
        }
        for c in &domain.constants {
            let _ = writeln!(out, ":- constant({}).", constant(&c.name));
        }
        self.text = out;
    }
}

/// Whether the action can always be taken.
fn needs_no_clause(clauses: &[Clause]) -> bool {
    clauses.iter().any(|c| c.body.is_empty())
}

/// What types are called, by kind; two that would have the same name are an error.
fn kind_names(domain: &Domain) -> Result<Vec<String>, Error> {
    let types = &domain.types;
    let mut seen: BTreeMap<String, String> =
        BTreeMap::from([("any".to_string(), "type `object`".to_string())]);
    let mut take = |name: &str, what: String| match seen.insert(name.to_string(), what.clone()) {
        Some(other) if other != what => {
            Err(Error::new(format!("{other} and {what} would both be called `{name}`"))
                .with_help("rename one of them in the PDDL files"))
        }
        _ => Ok(()),
    };
    for t in 1..types.len() as u16 {
        take(&plain(types.name(t)), format!("type `{}`", types.name(t)))?;
    }
    types
        .kinds()
        .map(|(kind, members)| {
            if members.contains(&0) {
                return Ok("any".to_string());
            }
            let names: Vec<String> = members.iter().map(|&t| plain(types.name(t))).collect();
            let name = names.join("_or_");
            if members.len() > 1 {
                take(&name, format!("type `{}`", types.show(kind)))?;
            }
            Ok(name)
        })
        .collect()
}

/// The `(sub, super)` pairs of a domain's types and unions.
fn subtypes(domain: &Domain, kind_names: &[String]) -> BTreeSet<(String, String)> {
    let types = &domain.types;
    let mut pairs = BTreeSet::new();
    for t in 1..types.len() as u16 {
        for &p in types.parents(t).iter().filter(|&&p| p != 0) {
            pairs.insert((plain(types.name(t)), plain(types.name(p))));
        }
    }
    for (kind, members) in types.kinds() {
        if members.len() > 1 && !members.contains(&0) {
            let name = &kind_names[usize::from(kind.0)];
            pairs.extend(members.iter().map(|&t| (plain(types.name(t)), name.clone())));
        }
    }
    pairs
}

/// A name for each variable of a clause, after the parameters: `?from` is `From`.
fn variable_names(names: &[String], clause: &Clause) -> BTreeMap<u16, String> {
    let terms = clause.head.iter().chain(clause.body.iter().flat_map(|l| &l.args));
    let vars: BTreeSet<u16> =
        terms.filter_map(|t| if let Term::Var(v) = t { Some(*v) } else { None }).collect();
    let mut used = BTreeSet::new();
    let mut all = BTreeMap::new();
    for v in vars {
        let mut base: String =
            names[usize::from(v)].chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        match base.chars().next() {
            Some(c) if c.is_ascii_alphabetic() => base[..1].make_ascii_uppercase(),
            _ => base.insert(0, 'V'),
        }
        let mut name = base.clone();
        let mut i = 2;
        while !used.insert(name.clone()) {
            name = format!("{base}{i}");
            i += 1;
        }
        all.insert(v, name);
    }
    all
}
