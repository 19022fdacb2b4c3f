//! PDDL problems: objects, what holds at first and what is asked for, checked and in ids.

use derrl_logic::{Error, Source};
use rustc_hash::FxHashMap;

use crate::domain::{Domain, ObjectDecl, define, objects};
use crate::formula::{Formula, Term};
use crate::scope::{Scope, number};
use crate::sexp::{Sexp, read};
use crate::types::{Kind, Types};

/// A problem of a domain.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Its name as written.
    pub name: String,
    /// The file it was read from, or what its source was called.
    pub file: String,
    /// The domain's types with the unions that the goal mentions besides.
    pub(crate) types: Types,
    /// The objects, the domain's constants first.
    pub objects: Vec<ObjectDecl>,
    /// What holds at first: for each predicate of the domain its tuples, one after the other.
    pub init: Vec<Vec<u32>>,
    /// The predicates without arguments that hold at first.
    pub(crate) nullary: Vec<bool>,
    /// The values of functions.
    pub values: FxHashMap<(u32, Vec<u32>), f64>,
    /// What is asked for.
    pub goal: Formula,
    /// The kind of every variable of the goal.
    pub goal_kinds: Vec<Kind>,
    /// Whether the problem asks for the least total cost.
    pub minimizes_cost: bool,
    pub(crate) ids: FxHashMap<String, u32>,
}

impl Problem {
    /// The problem that a text describes, or the first mistake in it with its place.
    pub fn parse(source: &Source, domain: &Domain) -> Result<Problem, Error> {
        let file = read(source, "problem")?;
        let (name, sections) = define(source, &file, "problem")?;
        let mut problem = Problem {
            name: name.to_string(),
            file: source.name.clone(),
            types: domain.types.clone(),
            objects: domain.constants.clone(),
            init: vec![Vec::new(); domain.predicates.len()],
            nullary: vec![false; domain.predicates.len()],
            values: FxHashMap::default(),
            goal: Formula::TRUE,
            goal_kinds: Vec::new(),
            minimizes_cost: false,
            ids: domain.constant_ids.clone(),
        };
        let known = [":domain", ":requirements", ":objects", ":init", ":goal", ":metric", ":length"];
        let mut found: [Option<&Sexp>; 7] = [None; 7];
        for section in sections {
            let Some(head) = section.head() else {
                return Err(source
                    .error(section.span(), "expected a section such as `(:init ...)`")
                    .with_help(format!("the sections of a problem: {}", known.join(" "))));
            };
            let Some(i) = known.iter().position(|k| head.eq_ignore_ascii_case(k)) else {
                return Err(source
                    .error(section.span(), format!("`{head}` is not supported in a problem"))
                    .with_help(format!("the sections of a problem: {}", known.join(" "))));
            };
            if found[i].replace(section).is_some() {
                return Err(source
                    .error(section.span(), format!("`{head}` stands here twice"))
                    .with_help("join the two sections"));
            }
        }
        let [of, _, declared, init, goal, metric, _] = found;
        check_domain(source, of, &file, domain)?;
        if let Some(section) = declared {
            let items = &section.list().unwrap_or_default()[1..];
            objects(source, &mut problem.types, items, &mut problem.objects, &mut problem.ids)?;
        }
        if problem.objects.len() > u32::MAX as usize / 2 {
            return Err(Error::new("more than 2^31 objects"));
        }
        let Some(goal) = goal else {
            return Err(source
                .error(file.span(), "the problem has no goal")
                .with_help("add `(:goal (and ...))`"));
        };
        let Some([_, goal]) = goal.list() else {
            return Err(source
                .error(goal.span(), "expected one condition as the goal")
                .with_help("several conditions are written `(:goal (and ... ...))`"));
        };
        let all = &problem.objects;
        let object_types = |o: u32| all[o as usize].types.as_slice();
        let mut scope = Scope::new(
            source,
            &mut problem.types,
            &domain.predicates,
            &domain.predicate_ids,
            &domain.functions,
            &domain.function_ids,
            "object",
            &problem.ids,
            &object_types,
        );
        problem.goal = scope.formula(goal)?;
        problem.goal_kinds = std::mem::take(&mut scope.kinds);
        if let Some(init) = init {
            for item in &init.list().unwrap_or_default()[1..] {
                initial(&scope, item, &mut problem.init, &mut problem.nullary, &mut problem.values)?;
            }
        }
        if let Some(metric) = metric {
            problem.minimizes_cost = minimizes(&scope, metric)?;
        }
        Ok(problem)
    }

    /// How large it is: its number of objects.
    pub fn size(&self) -> usize {
        self.objects.len()
    }

    /// How many facts hold at first.
    pub fn facts(&self, domain: &Domain) -> usize {
        let tuples = self.init.iter().zip(&domain.predicates).map(|(t, p)| t.len() / p.args.len().max(1));
        tuples.sum::<usize>() + self.nullary.iter().filter(|&&n| n).count()
    }

    /// The object of that name, in any case.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.ids.get(&name.to_ascii_lowercase()).copied()
    }
}

fn check_domain(source: &Source, section: Option<&Sexp>, file: &Sexp, domain: &Domain) -> Result<(), Error> {
    let Some(section) = section else {
        return Err(source
            .error(file.span(), "the problem does not say which domain it belongs to")
            .with_help(format!("add `(:domain {})`", domain.name)));
    };
    match section.list() {
        Some([_, Sexp::Word(name, _)]) if name.eq_ignore_ascii_case(&domain.name) => Ok(()),
        Some([_, Sexp::Word(name, span)]) => Err(source
            .error(*span, format!("this is a problem of domain `{name}`, not of `{}`", domain.name))
            .with_help("give problems of the domain, or correct the name")),
        _ => Err(source
            .error(section.span(), "expected the name of a domain")
            .with_help(format!("write `(:domain {})`", domain.name))),
    }
}

/// One element of `:init`.
fn initial(
    scope: &Scope,
    item: &Sexp,
    init: &mut [Vec<u32>],
    nullary: &mut [bool],
    values: &mut FxHashMap<(u32, Vec<u32>), f64>,
) -> Result<(), Error> {
    let objects = |args: &[Term]| -> Vec<u32> {
        args.iter().filter_map(|t| if let Term::Object(o) = t { Some(*o) } else { None }).collect()
    };
    let source = scope.source;
    match (item.head(), item.list().unwrap_or_default()) {
        (Some("="), [_, function, value]) => {
            let (f, args) = scope.function(function)?;
            let Some(number) = number(value) else {
                return Err(source
                    .error(value.span(), "expected a number")
                    .with_help("a value is given like `(= (distance a b) 5)`"));
            };
            let number = scope.cost(number, value.span())?;
            values.insert((f, objects(&args)), number);
            Ok(())
        }
        (Some(word), [_, inner]) if word.eq_ignore_ascii_case("not") => {
            // What is not said to hold does not hold: saying so again is no news.
            scope.atom(inner).map(|_| ())
        }
        (Some(word), [_, _, inner]) if word.eq_ignore_ascii_case("at") && inner.list().is_some() => {
            Err(scope.unsupported(item, "a fact that becomes true at a time"))
        }
        _ => {
            let atom = scope.atom(item)?;
            let p = atom.predicate as usize;
            if scope.predicates[p].derived {
                let name = &scope.predicates[p].name;
                return Err(source
                    .error(item.span(), format!("`{name}` is derived and cannot be given"))
                    .with_help("give the facts that it is derived from"));
            }
            if atom.args.is_empty() {
                nullary[p] = true;
            }
            init[p].extend(objects(&atom.args));
            Ok(())
        }
    }
}

/// Whether a metric asks for the least total cost. Others are errors, except those that say no more than that plans
/// be short.
fn minimizes(scope: &Scope, metric: &Sexp) -> Result<bool, Error> {
    if let Some([_, direction, what]) = metric.list()
        && direction.is("minimize")
    {
        if what.is("total-cost") || what.head().is_some_and(|h| h.eq_ignore_ascii_case("total-cost")) {
            scope.function(what)?;
            return Ok(true);
        }
        if what.is("total-time") || what.head().is_some_and(|h| h.eq_ignore_ascii_case("total-time")) {
            return Ok(false);
        }
    }
    Err(scope
        .source
        .error(metric.span(), "this metric is not supported")
        .with_help("write `(:metric minimize (total-cost))`, or leave it out to ask for few steps"))
}
