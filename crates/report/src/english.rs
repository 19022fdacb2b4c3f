//! Rules in English: a line per rule, made from templates.
//!
//! A world may say how its predicates and actions read ([`derrl_env::World::words`]), a line each: `top(X): X is free`. For all others the
//! words are taken from their names: `at_ferry(X)` reads "the ferry is at X". A predicate that reads "X is free" becomes an adjective
//! where X is first mentioned, one that reads "X is the floor" or "X is a key" becomes its noun.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use derrl_logic::syntax::{Extreme, Number, Op};
use derrl_logic::{Alphabet, Arg, Choice, Definition, How, Linear, Literal, Rule, Term, Type, Types, Var};

/// How rules of an alphabet read.
#[derive(Clone, Debug)]
pub struct English<'a> {
    alphabet: &'a Alphabet,
    /// By name and arity: the variables of a template, and its text.
    given: BTreeMap<(String, usize), Template>,
}

#[derive(Clone, Debug)]
struct Template {
    variables: Vec<String>,
    text: String,
}

/// Words after which an object is named: `at_ferry(X)`, `on(X, Y)`.
const PREPOSITIONS: &[&str] = &[
    "on", "in", "at", "under", "above", "below", "inside", "near", "behind", "beside", "before", "after",
    "over", "with", "from", "to", "into", "by", "of",
];

/// What is known of a variable while a sentence is made.
#[derive(Clone, Debug, Default)]
struct Known {
    adjectives: Vec<String>,
    noun: Option<String>,
    /// What its objects are called, where that says something.
    kind: Option<String>,
    /// Whether it is mentioned once only, so that it needs no name.
    once: bool,
    in_head: bool,
    said: bool,
}

impl<'a> English<'a> {
    /// For an alphabet, with what its world says about its words.
    pub fn new(alphabet: &'a Alphabet, words: &str) -> English<'a> {
        let mut given = BTreeMap::new();
        for (left, text) in words.lines().filter_map(|line| line.split_once(": ")) {
            let (name, args) = left.split_once('(').unwrap_or((left, ""));
            let variables: Vec<String> = args
                .trim_end_matches(')')
                .split(", ")
                .filter(|v| !v.is_empty())
                .map(str::to_string)
                .collect();
            given.insert(
                (name.to_string(), variables.len()),
                Template { variables, text: text.trim().to_string() },
            );
        }
        English { alphabet, given }
    }

    /// The rule as a sentence: "Put a free block X on the floor if X is on another place."
    pub fn rule(&self, rule: &Rule) -> String {
        let action = self.alphabet.action(rule.action);
        let rule = rule.canonical(action.args.len());
        let head: Vec<Arg> = action.head().into_iter().map(Arg::Var).collect();
        let mut known = self.known(&rule, &action.args);
        // What names or describes an object is said where it is first mentioned, not as a condition.
        let conditions: Vec<&Literal> =
            rule.body.iter().filter(|l| !self.describes(l, &mut known, action.args.len())).collect();
        let does = Self::fill(&self.action(&action.name, head.len()), &head, &mut known);
        let mut text = capital(&does);
        let said: Vec<String> = conditions.iter().map(|l| self.literal(l, &mut known)).collect();
        if !said.is_empty() {
            text.push_str(" if ");
            text.push_str(&joined(&said));
        }
        let choices: Vec<String> = rule.choices.iter().map(|c| self.choice(c, &mut known)).collect();
        if !choices.is_empty() {
            text.push_str(if said.is_empty() { ", " } else { "; of these, " });
            text.push_str(&choices.join(", then "));
        }
        text.push('.');
        text
    }

    /// What a derived predicate means: "inplace(X) holds if X should be on Y and X is on Y."
    pub fn definition(&self, definition: &Definition) -> String {
        let predicate = self.alphabet.predicate(definition.pred);
        let name = |pred| self.alphabet.predicate(pred).name.as_str();
        match &definition.how {
            How::Closure { of } => {
                format!("{}(X, Y): steps of {} lead from X to Y.", predicate.name, name(*of))
            }
            How::Distance { along, to: None } => {
                format!(
                    "{}(X, Y, Z): the step {} from X to Y comes nearer to Z.",
                    predicate.name,
                    name(*along)
                )
            }
            How::Distance { along, to: Some(to) } => format!(
                "{}(X, Y): the step {} from X to Y comes nearer to where {} holds.",
                predicate.name,
                name(*along),
                name(*to)
            ),
            How::Compare(_) => String::new(),
            How::Clause(clause) => {
                let mut known = self.count(&clause.body, &clause.head, &predicate.args);
                for known in known.values_mut() {
                    known.said = true;
                }
                let head = Self::with_arguments(&predicate.name, &clause.head);
                let body: Vec<String> = clause.body.iter().map(|l| self.literal(l, &mut known)).collect();
                if body.is_empty() {
                    format!("{head} always holds.")
                } else {
                    format!("{head}: {}.", joined(&body))
                }
            }
        }
    }

    /// The variables of a rule, with what their objects are called.
    fn known(&self, rule: &Rule, head: &[Type]) -> BTreeMap<u8, Known> {
        let args: Vec<Arg> = (0..head.len() as u8).map(|v| Arg::Var(Var(v))).collect();
        let mut known = self.count(&rule.body, &args, head);
        for choice in &rule.choices {
            for v in choice.vars() {
                known.entry(v.0).or_default().once = false;
            }
        }
        known
    }

    /// Which variables are mentioned once, and of what type they are: the narrowest that is asked for.
    fn count(&self, body: &[Literal], head: &[Arg], of_head: &[Type]) -> BTreeMap<u8, Known> {
        let mut types: BTreeMap<u8, (usize, Type)> = BTreeMap::new();
        // That something does not hold of an object says little about its type: it counts where nothing else is said.
        let (holding, others): (Vec<&Literal>, Vec<&Literal>) = body.iter().partition(|l| l.positive);
        let in_body = holding.into_iter().chain(others);
        let in_body =
            in_body.map(|l| (l.args.as_slice(), self.alphabet.predicate(l.pred).args.as_slice(), l.positive));
        for (args, places, narrows) in std::iter::once((head, of_head, true)).chain(in_body) {
            for (arg, &t) in args.iter().zip(places) {
                if let Arg::Var(v) = arg {
                    let entry = types.entry(v.0).or_insert((0, Types::ANY));
                    entry.0 += 1;
                    let counts = narrows || entry.1 == Types::ANY || self.kind(t).is_none();
                    if counts && self.alphabet.types.is_subtype(t, entry.1) {
                        entry.1 = t;
                    }
                }
            }
        }
        let known = |(v, (times, t))| {
            let once = times == 1 && !head.contains(&Arg::Var(Var(v)));
            let in_head = head.contains(&Arg::Var(Var(v)));
            (v, Known { kind: self.kind(t), once, in_head, ..Known::default() })
        };
        types.into_iter().map(known).collect()
    }

    /// What objects of a type are called. A letter says nothing.
    fn kind(&self, t: Type) -> Option<String> {
        let name = self.alphabet.types.name(t);
        (t != Types::ANY && name.chars().count() > 1).then(|| words(name).join(" "))
    }

    /// Takes a literal about one object of the head as a description of it, where it reads as one.
    fn describes(&self, literal: &Literal, known: &mut BTreeMap<u8, Known>, heads: usize) -> bool {
        let [Arg::Var(v)] = literal.args.as_slice() else { return false };
        if !literal.positive || usize::from(v.0) >= heads {
            return false;
        }
        if literal.pred.0 as usize >= self.alphabet.of_domain {
            return false;
        }
        let template = self.predicate(&self.alphabet.predicate(literal.pred).name, 1);
        let Some(rest) = template.text.strip_prefix(&format!("{} is ", template.variables[0])) else {
            return false;
        };
        let entry = known.entry(v.0).or_default();
        match rest.split_once(' ') {
            None if rest.chars().all(char::is_alphabetic) => {
                entry.adjectives.push(rest.to_string());
                true
            }
            Some(("the", _)) if entry.noun.is_none() => {
                entry.noun = Some(rest.to_string());
                true
            }
            Some(("a" | "an", noun)) if entry.noun.is_none() && !noun.contains(' ') => {
                entry.kind = Some(noun.to_string());
                true
            }
            _ => false,
        }
    }

    fn literal(&self, literal: &Literal, known: &mut BTreeMap<u8, Known>) -> String {
        if let Some(comparison) = self.alphabet.comparison(literal.pred) {
            let text = self.compared(&comparison.left, comparison.op, comparison.threshold, &literal.args);
            return if literal.positive { text } else { not(&text) };
        }
        let name = &self.alphabet.predicate(literal.pred).name;
        if literal.pred.0 as usize >= self.alphabet.of_domain {
            // The name of an invented predicate is no English; its meaning is said beside the rules.
            let does = if literal.positive { "holds" } else { "does not hold" };
            let of: Vec<String> = literal.args.iter().map(|a| Self::mention(a, known)).collect();
            return format!("{name} {does} of {}", joined(&of));
        }
        let template = self.predicate(name, literal.args.len());
        let template =
            if literal.positive { template } else { Template { text: not(&template.text), ..template } };
        Self::fill(&template, &literal.args, known)
    }

    fn choice(&self, choice: &Choice, _known: &mut BTreeMap<u8, Known>) -> String {
        let most = match choice.extreme {
            Extreme::Most => "most",
            Extreme::Least => "least",
        };
        if let [term] = choice.of.terms.as_slice()
            && let Some(noun) = self.noun(term, &choice.args)
        {
            let (most, least) = ("greatest", "least");
            let end = if (choice.extreme == Extreme::Most) == (term.factor > 0.0) { most } else { least };
            return format!("the one for which the {noun} is {end}");
        }
        format!("the one with the {most} {}", self.sum(&choice.of, &choice.args))
    }

    /// A comparison: "the angle is more than 0.02".
    fn compared(&self, left: &Linear, op: Op, threshold: f64, args: &[Arg]) -> String {
        let how = match op {
            Op::Greater => "more than",
            Op::AtLeast => "at least",
            Op::Less => "less than",
            Op::AtMost => "at most",
        };
        match left.terms.as_slice() {
            [first, second] if second.factor < 0.0 => {
                let mut right = second.clone();
                right.factor = -right.factor;
                let alone = |term| self.sum(&Linear { terms: vec![term] }, args);
                let by = match threshold {
                    0.0 => String::new(),
                    t if t < 0.0 => format!(" minus {}", Number(-t)),
                    t => format!(" plus {}", Number(t)),
                };
                let the = if right.factor == 1.0 || !self.is_worded(&right) { "the " } else { "" };
                format!("the {} is {how} {the}{}{by}", alone(first.clone()), alone(right))
            }
            _ => format!("the {} is {how} {}", self.sum(left, args), Number(threshold)),
        }
    }

    /// A sum of measures: "queue of X plus 2 × flow of X".
    fn sum(&self, of: &Linear, args: &[Arg]) -> String {
        let mut text = String::new();
        for (i, term) in of.terms.iter().enumerate() {
            text.push_str(match (i, term.factor < 0.0) {
                (0, _) => "",
                (_, false) => " plus ",
                (_, true) => " minus ",
            });
            if term.factor.abs() != 1.0 {
                let _ = write!(text, "{} × ", Number(term.factor.abs()));
            }
            if let Some(noun) = self.noun(term, args) {
                text.push_str(if term.factor.abs() == 1.0 { "" } else { "the " });
                text.push_str(&noun);
                continue;
            }
            text.push_str(&words(&self.alphabet.measure(term.measure).name).join(" "));
            let objects: Vec<String> =
                term.places.iter().map(|&p| args[usize::from(p)].to_string()).collect();
            if !objects.is_empty() {
                let _ = write!(text, " of {}", joined(&objects));
            }
        }
        text
    }

    /// Whether the world has words for a measure.
    fn is_worded(&self, term: &Term) -> bool {
        self.given.contains_key(&(self.alphabet.measure(term.measure).name.clone(), term.places.len()))
    }

    /// A measure in the words that the world has for it: "longest wait for X".
    fn noun(&self, term: &Term, args: &[Arg]) -> Option<String> {
        let name = &self.alphabet.measure(term.measure).name;
        let template = self.given.get(&(name.clone(), term.places.len()))?;
        let word = |word: &str| {
            let at = template.variables.iter().position(|v| v == word)?;
            Some(args[usize::from(term.places[at])].to_string())
        };
        let words = template.text.split(' ').map(|w| word(w).unwrap_or_else(|| w.to_string()));
        Some(words.collect::<Vec<_>>().join(" "))
    }

    fn with_arguments(name: &str, args: &[Arg]) -> String {
        let args: Vec<String> = args.iter().map(Arg::to_string).collect();
        if args.is_empty() { name.to_string() } else { format!("{name}({})", args.join(", ")) }
    }

    fn action(&self, name: &str, arity: usize) -> Template {
        self.given.get(&(name.to_string(), arity)).cloned().unwrap_or_else(|| {
            let variables = letters(arity);
            let object = variables.first().map_or_else(String::new, |first| format!(" {first}"));
            let with = variables
                .get(1..)
                .filter(|rest| !rest.is_empty())
                .map(|rest| format!(" with {}", joined(rest)));
            let text = format!("{}{object}{}", words(name).join(" "), with.unwrap_or_default());
            Template { variables, text }
        })
    }

    fn predicate(&self, name: &str, arity: usize) -> Template {
        if let Some(template) = self.given.get(&(name.to_string(), arity)) {
            return template.clone();
        }
        // A wish reads as what is wished for.
        if let Some(of) = name.strip_prefix("goal_") {
            let wished = self.predicate(of, arity);
            let text = wished.text.replacen(" is ", " should be ", 1);
            let text = if text == wished.text { format!("it is wanted that {text}") } else { text };
            return Template { text, ..wished };
        }
        Template { variables: letters(arity), text: by_name(name, arity) }
    }

    /// A template with noun phrases for its variables.
    fn fill(template: &Template, args: &[Arg], known: &mut BTreeMap<u8, Known>) -> String {
        let mut text = String::new();
        let mut word = String::new();
        // Coordinates, as in "(X, Y)", are letters and no more.
        let mut inside = 0;
        for c in template.text.chars().chain(std::iter::once('\n')) {
            if c.is_alphanumeric() || c == '_' {
                word.push(c);
                continue;
            }
            match template.variables.iter().position(|v| *v == word).and_then(|i| args.get(i)) {
                Some(arg @ Arg::Var(v)) if inside > 0 => {
                    known.entry(v.0).or_default().said = true;
                    text.push_str(&arg.to_string());
                }
                Some(arg) => text.push_str(&Self::mention(arg, known)),
                None => text.push_str(&word),
            }
            word.clear();
            inside += i32::from(c == '(') - i32::from(c == ')');
            if c != '\n' {
                text.push(c);
            }
        }
        text
    }

    /// An object as a sentence names it: in full where it is new, by its letter afterwards.
    fn mention(arg: &Arg, known: &mut BTreeMap<u8, Known>) -> String {
        let Arg::Var(v) = arg else { return arg.to_string() };
        let others: BTreeSet<String> =
            known.values().filter(|k| k.said && k.noun.is_none()).filter_map(|k| k.kind.clone()).collect();
        let entry = known.entry(v.0).or_default();
        if let Some(noun) = &entry.noun {
            entry.said = true;
            return noun.clone();
        }
        if entry.said {
            return v.to_string();
        }
        entry.said = true;
        let (kind, in_head) = (entry.kind.clone(), entry.in_head);
        let mut parts = entry.adjectives.clone();
        parts.extend(kind.clone());
        if entry.once {
            let noun = kind.clone().unwrap_or_else(|| "thing".to_string());
            return if kind.is_some_and(|k| others.contains(&k)) {
                format!("another {noun}")
            } else {
                article(&noun)
            };
        }
        if parts.is_empty() {
            return v.to_string();
        }
        let another = entry.adjectives.is_empty() && !in_head && kind.is_some_and(|k| others.contains(&k));
        let text = parts.join(" ");
        if another { format!("another {text} {v}") } else { format!("{} {v}", article(&text)) }
    }
}

/// A name in words: `isFloor` and `at-ferry` as "is floor" and "at ferry".
fn words(name: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut before = '_';
    for c in name.chars() {
        if c == '_' || c == '-' || c == ' ' {
            before = '_';
            continue;
        }
        let begins = before == '_' || (c.is_uppercase() && before.is_lowercase());
        if begins {
            all.push(String::new());
        }
        if let Some(word) = all.last_mut() {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    all
}

/// How a predicate of which nothing but the name is known reads of X, Y and so on.
fn by_name(name: &str, arity: usize) -> String {
    let mut all = words(name);
    if all.len() > 1 && all[0] == "is" {
        all.remove(0);
    }
    let is_preposition = |word: &String| PREPOSITIONS.contains(&word.as_str());
    let text = all.join(" ");
    let variables = letters(arity);
    match (arity, all.as_slice()) {
        (0, _) => text,
        // `at_ferry(X)`, `lift_at(X)`
        (1, [preposition, thing @ ..] | [thing @ .., preposition])
            if is_preposition(preposition) && !thing.is_empty() =>
        {
            format!("the {} is {preposition} X", thing.join(" "))
        }
        (1, [first, rest @ ..]) if first == "not" && !rest.is_empty() => {
            format!("X is not {}", rest.join(" "))
        }
        (1, _) => format!("X is {text}"),
        (2, [.., last]) if is_preposition(last) => format!("X is {text} Y"),
        (2, [only]) if only.ends_with("ing") => format!("X is {only} Y"),
        (2, [only]) if only.ends_with("ed") => format!("X is {only} to Y"),
        (2, [only]) if only.ends_with('s') && !only.ends_with("ss") => format!("X {only} Y"),
        (2, [.., last]) if last == "has" || last == "holds" => "X has Y".to_string(),
        (2, _) => format!("{text} leads from X to Y"),
        _ => format!("{text} holds of {}", joined(&variables)),
    }
}

fn letters(arity: usize) -> Vec<String> {
    (0..arity as u8).map(|v| Var(v).to_string()).collect()
}

/// The opposite of a sentence.
fn not(text: &str) -> String {
    for (is, is_not) in [
        (" is ", " is not "),
        (" are ", " are not "),
        (" should ", " should not "),
        (" has ", " does not have "),
        (" connects ", " does not connect "),
        (" sends ", " does not send "),
    ] {
        if let Some((before, after)) = text.split_once(is) {
            // "an obstacle is not at" reads worse than "no obstacle is at".
            return match before.strip_prefix("an ").or_else(|| before.strip_prefix("a ")) {
                Some(thing) if is == " is " => format!("no {thing}{is}{after}"),
                _ => format!("{before}{is_not}{after}"),
            };
        }
    }
    format!("not {text}")
}

fn article(noun: &str) -> String {
    let vowel = noun.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {noun}", if vowel { "an" } else { "a" })
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

fn joined<T: AsRef<str>>(all: &[T]) -> String {
    match all {
        [] => String::new(),
        [only] => only.as_ref().to_string(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}
