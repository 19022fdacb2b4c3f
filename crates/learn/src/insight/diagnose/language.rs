//! Languages a little wider than that of a domain, and states in them.

use std::sync::Arc;

use derrl_env::World;
use derrl_logic::alphabet::Predicate;
use derrl_logic::syntax::{Indicator, Quoted};
use derrl_logic::{
    Alphabet, Facts, Measure, Object, Pred, Role, RuleCount, Source, Types, Universe, candidate_bound,
};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// What is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// A predicate or number that the world reports and the domain file does not declare, or an action may not use.
    Predicate,
    /// The negation of a predicate.
    Negation,
    /// A variable.
    Variable,
    /// A derived predicate: a closure, a distance, or one that the world's own domain file defines.
    Derived,
    /// Longer bodies.
    Body,
    /// More rules for an action.
    Rules,
    /// What was the case earlier.
    Memory,
    /// Something that the world does not report.
    Unreported,
    /// Success that exploring could begin with.
    Exploration,
    /// Steps, or time.
    Budget,
    /// Chance decides too much.
    Luck,
    /// Nothing that could be found.
    Unknown,
}

/// A language a step wider.
#[derive(Clone, Debug)]
pub struct Wider {
    /// What kind of step.
    pub missing: Missing,
    /// What it adds, in words.
    pub what: String,
    /// The line of a domain file that adds it.
    pub line: String,
    /// The language.
    pub alphabet: Arc<Alphabet>,
    /// Whether the learner may take this step by itself.
    pub is_free: bool,
}

/// Candidate atoms of a language, at the most: beyond, comparing states takes too long.
const MOST_ATOMS: f64 = 1200.0;
/// Variables that are added, at the most; one where there are so many.
const MANY_VARIABLES: usize = 3;
const MORE_VARIABLES: usize = 2;

/// What the world reports, beside what a language declares: lines for a domain file, each with what it adds in words.
pub fn unspoken(world: &World, language: &Alphabet) -> Vec<(String, String)> {
    let own = world.own_alphabet();
    let own = if language.types.is_empty() { Arc::new(own.untyped()) } else { own };
    let mut lines = Vec::new();
    for (i, p) in own.predicates[..own.of_domain].iter().enumerate() {
        if !p.role.is_named() || language.find_predicate(&p.name, p.args.len()).is_some() {
            continue;
        }
        let name = Indicator(&p.name, p.args.len());
        if p.role.is_given() {
            let signature = signature(&own, &p.name, &p.args);
            lines.push((format!("the predicate {name}"), format!(":- {}({signature}).", p.role)));
        } else if let Some(text) = own.definition_text(Pred(i as u32)) {
            lines.push((format!("the derived predicate {name}"), text));
        }
    }
    for m in &own.measures {
        if language.find_measure(&m.name, m.args.len()).is_none() {
            let signature = signature(&own, &m.name, &m.args);
            let unit = m.unit.as_ref().map_or_else(String::new, |unit| format!(", {}", Quoted(unit)));
            let name = Indicator(&m.name, m.args.len());
            lines.push((format!("the number {name}"), format!(":- number({signature}{unit}).")));
        }
    }
    lines
}

fn signature(alphabet: &Alphabet, name: &str, args: &[derrl_logic::Type]) -> String {
    if args.is_empty() {
        return Quoted(name).to_string();
    }
    if alphabet.types.is_empty() {
        return Indicator(name, args.len()).to_string();
    }
    let types: Vec<String> = args.iter().map(|&t| Quoted(alphabet.types.name(t)).to_string()).collect();
    format!("{}({})", Quoted(name), types.join(", "))
}

/// A language with more lines; none where they do not fit it, or give too many candidate atoms.
pub fn with_lines(language: &Alphabet, lines: &[&str]) -> Option<Alphabet> {
    let text = format!("{language}{}\n", lines.join("\n"));
    Alphabet::parse(&Source::new("domain.pl", text)).ok()
}

/// The language with every negation, where no line says which predicates may be negated; none where it is too wide.
pub fn negated(language: &Alphabet) -> Option<Alphabet> {
    let mut all = language.clone();
    if all.predicates.iter().any(|p| p.negatable) {
        return None;
    }
    all.predicates.iter_mut().filter(|p| p.role.is_named()).for_each(|p| p.negatable = true);
    Some(all).filter(|all| candidate_bound(all) <= MOST_ATOMS)
}

/// The languages that are a step wider, the simplest steps first.
pub fn wider(world: &World, language: &Arc<Alphabet>, improves: bool) -> Vec<Wider> {
    let mut all = Vec::new();
    let mut add = |missing, what: String, line: String, alphabet: Option<Alphabet>, is_free| {
        let fits = |a: &Alphabet| candidate_bound(a) <= MOST_ATOMS;
        if let Some(alphabet) = alphabet.filter(fits) {
            all.push(Wider { missing, what, line, alphabet: Arc::new(alphabet), is_free });
        }
    };
    for (what, line) in unspoken(world, language) {
        let missing = if what.starts_with("the derived") { Missing::Derived } else { Missing::Predicate };
        let alphabet = with_lines(language, &[&line]);
        add(missing, what, line, alphabet, false);
    }
    for (a, action) in language.actions.iter().enumerate() {
        for &p in &action.forbidden {
            let predicate = language.predicate(p);
            let mut open = (**language).clone();
            open.actions[a].forbidden.retain(|&f| f != p);
            let name = Indicator(&predicate.name, predicate.args.len());
            let head = Indicator(&action.name, action.args.len());
            let what = format!("the predicate {name} in rules for {head}");
            add(Missing::Predicate, what, format!("% without :- forbid({head}, {name})."), Some(open), false);
        }
    }
    let is_named = |p: &&Predicate| p.role.is_named();
    let some_negated = language.predicates.iter().any(|p| p.negatable);
    for p in language.predicates.iter().filter(is_named).filter(|p| !p.negatable) {
        let name = Indicator(&p.name, p.args.len());
        let line = format!(":- negation({name}).");
        let alphabet = with_lines(language, &[&line]);
        add(Missing::Negation, format!("the negation of {name}"), line, alphabet, improves && !some_negated);
    }
    let more = if language.variables < MANY_VARIABLES { MORE_VARIABLES } else { 1 };
    for n in language.variables + 1..=language.variables + more {
        let alphabet = Alphabet { variables: n, variables_given: true, ..(**language).clone() };
        let what = if n == language.variables + 1 {
            "one more variable".to_string()
        } else {
            format!("{n} variables")
        };
        add(
            Missing::Variable,
            what,
            format!(":- variables({n})."),
            Some(alphabet),
            improves && !language.variables_given,
        );
    }
    if let Some(most) = language.max_body {
        let alphabet = Alphabet { max_body: None, ..(**language).clone() };
        let line = format!("% without :- max_body({most}).");
        add(Missing::Body, format!("bodies of more than {most} atoms"), line, Some(alphabet), false);
    }
    let limited = |r: &RuleCount| matches!(r, RuleCount::AtMost(_));
    if language.actions.iter().any(|a| limited(&a.rules)) {
        let mut alphabet = (**language).clone();
        alphabet.actions.iter_mut().for_each(|a| a.rules = RuleCount::Auto);
        let decl = language.actions.iter().find(|a| limited(&a.rules)).expect("there is one");
        let name = Indicator(&decl.name, decl.args.len());
        add(
            Missing::Rules,
            format!("more rules for {name}"),
            format!(":- rules({name}, auto)."),
            Some(alphabet),
            false,
        );
    }
    for line in ways(language) {
        let what = format!("the derived predicate of `{line}`");
        let alphabet = with_lines(language, &[&line]);
        add(Missing::Derived, what, line, alphabet, improves);
    }
    all
}

/// Closures of the binary predicates of a language, and distances by them.
fn ways(language: &Alphabet) -> Vec<String> {
    let given = || language.predicates[..language.of_domain].iter().filter(|p| p.role.is_named());
    let fits = |a, b| language.types.overlap(a, b);
    let mut lines = Vec::new();
    for step in given().filter(|p| p.args.len() == 2 && fits(p.args[0], p.args[1])) {
        let name = Quoted(&step.name);
        let fresh = |stem: &str| {
            let mut fresh = format!("{stem}_{}", step.name);
            while language.predicates.iter().any(|p| p.name == fresh) {
                fresh.push('_');
            }
            fresh
        };
        lines.push(format!(":- closure({}, {name}).", Quoted(&fresh("far"))));
        for target in given().filter(|p| p.args.len() == 1 && fits(p.args[0], step.args[1])) {
            let fresh = Quoted(&fresh("nearer")).to_string();
            lines.push(format!(":- distance({fresh}, {name}, {}).", Quoted(&target.name)));
        }
    }
    lines
}

/// States of one alphabet in another: facts by their names, objects by their numbers.
pub struct Projection<'a> {
    from: &'a Alphabet,
    to: &'a Alphabet,
    predicates: Vec<(Pred, Pred)>,
    measures: Vec<(Measure, Measure)>,
    universes: FxHashMap<Arc<Universe>, Arc<Universe>>,
}

impl<'a> Projection<'a> {
    /// From one alphabet to another.
    pub fn new(from: &'a Alphabet, to: &'a Alphabet) -> Projection<'a> {
        let is_given = |role: Role| role.is_given();
        let predicates = to.predicates.iter().enumerate().filter(|(_, p)| is_given(p.role));
        let predicates = predicates
            .filter_map(|(i, p)| Some((from.find_predicate(&p.name, p.args.len())?, Pred(i as u32))))
            .collect();
        let measures = to.measures.iter().enumerate();
        let measures = measures
            .filter_map(|(i, m)| Some((from.find_measure(&m.name, m.args.len())?, Measure(i as u32))))
            .collect();
        Projection { from, to, predicates, measures, universes: FxHashMap::default() }
    }

    /// The same objects.
    pub fn universe(&mut self, universe: &Arc<Universe>) -> Arc<Universe> {
        let (from, to) = (self.from, self.to);
        let of = |o: Object| {
            let t = to.types.find(from.types.name(universe.type_of(o))).unwrap_or(Types::ANY);
            (universe.name(o).clone(), t)
        };
        let new = || Arc::new(Universe::new(universe.objects().map(of).collect()));
        Arc::clone(self.universes.entry(Arc::clone(universe)).or_insert_with(new))
    }

    /// The same facts, and what follows from them.
    pub fn facts(&mut self, facts: &Facts, universe: &Arc<Universe>) -> Facts {
        let mut all = Facts::new(self.to);
        for &(from, to) in &self.predicates {
            facts.tuples(from).for_each(|args| all.push(to, args));
        }
        for &(from, to) in &self.measures {
            facts.numbers(from).for_each(|(args, value)| all.set(to, args, value));
        }
        all.seal();
        all.derive(&self.universe(universe));
        all
    }
}
