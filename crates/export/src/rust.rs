//! Rust: a module with a function from facts to the best actions.

use std::fmt::Write as _;

use derrl_logic::{Alphabet, Arg, Constant, Literal, Pred, Var};

use crate::explicit::{Explicit, ExplicitRule, Step, Test, number};

pub(crate) fn write(policy: &Explicit<'_>) -> String {
    let guarded = policy.guarded_types();
    let types = &policy.alphabet.types;
    let example = |(p, args): (Pred, Vec<&str>)| {
        let args: Vec<String> = args.iter().map(|a| format!("name({})", string(a))).collect();
        format!("({}, vec![{}])", string(&policy.alphabet.predicate(p).name), args.join(", "))
    };
    let examples: Vec<String> = policy.examples().into_iter().map(example).collect();
    let objects = match guarded.first() {
        None => "Objects without facts make no difference to this policy.".to_string(),
        Some((t, _)) => format!(
            "And its objects, each with its most specific type: (name(\"a\"), {}).",
            string(types.name(*t))
        ),
    };
    let about = format!(
        "In:  the facts of a state, as names with arguments: {}.\n     \
              Objects are name(\"a\") or int(3).\n     \
              {objects}\n\
         Out: the highest value and the set of actions that share it.\n     \
              An empty set where no rule fires: then any action will do.\n\n  \
           let (value, actions) = policy::best_actions(&facts, &objects);\n",
        examples.join(", ")
    );
    let mut text = policy.header("//!", &about);
    text.push_str(TYPES);

    let state = if policy.rules.is_empty() { "_state" } else { "state" };
    let _ = write!(
        text,
        "\n/// The highest value that a rule gives, and the actions of that value.\n\
         pub fn best_actions(facts: &[Fact<'_>], objects: &[(Object, &str)]) -> (f64, BTreeSet<Action>) {{\n    \
             let {state} = State {{ facts, objects }};\n"
    );
    if policy.rules.is_empty() {
        text.push_str("    (0.0, BTreeSet::new())\n}\n");
    } else {
        text.push_str("    let mut found = BTreeSet::new();\n");
        for (level, value) in policy.values.iter().enumerate() {
            for (i, _) in policy.rules.iter().enumerate().filter(|(_, r)| r.level == level) {
                let _ = writeln!(text, "    rule_{}(&state, &mut found);", i + 1);
            }
            let _ = write!(
                text,
                "    if !found.is_empty() {{\n        return ({}, found);\n    }}\n",
                number(*value)
            );
        }
        text.push_str("    (0.0, found)\n}\n");
    }
    for (i, rule) in policy.rules.iter().enumerate() {
        let _ = write!(
            text,
            "\n// {}\nfn rule_{}(state: &State<'_>, found: &mut BTreeSet<Action>) {{\n",
            rule.text,
            i + 1
        );
        text.push_str(&rule_body(rule, policy));
        text.push_str("}\n");
    }
    text.push_str(STATE);
    let mut rows = String::new();
    for (t, below) in &guarded {
        let below: Vec<String> = below.iter().map(|s| string(types.name(*s))).collect();
        let _ = writeln!(rows, "    ({}, &[{}]),", string(types.name(*t)), below.join(", "));
    }
    let _ = write!(
        text,
        "\n/// The types that each type includes.\nconst INCLUDED: &[(&str, &[&str])] = &[{}];\n",
        if rows.is_empty() { String::new() } else { format!("\n{rows}") }
    );
    text
}

const TYPES: &str = r"
#![allow(dead_code)]

use std::collections::BTreeSet;

/// An object: an integer or a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Object {
    Int(i64),
    Name(String),
}

/// The object of that name.
pub fn name(name: &str) -> Object {
    Object::Name(name.to_string())
}

/// The object that is this integer.
pub fn int(number: i64) -> Object {
    Object::Int(number)
}

/// A predicate and its arguments.
pub type Fact<'a> = (&'a str, Vec<Object>);

/// An action and its arguments.
pub type Action = (&'static str, Vec<Object>);
";

const STATE: &str = r"
struct State<'a> {
    facts: &'a [Fact<'a>],
    objects: &'a [(Object, &'a str)],
}

impl State<'_> {
    fn facts(&self, name: &'static str, arity: usize) -> impl Iterator<Item = &[Object]> {
        let of = move |fact: &&Fact<'_>| fact.0 == name && fact.1.len() == arity;
        self.facts.iter().filter(of).map(|fact| fact.1.as_slice())
    }

    fn holds(&self, name: &'static str, args: &[&Object]) -> bool {
        self.facts(name, args.len()).any(|fact| fact.iter().eq(args.iter().copied()))
    }

    fn of_type(&self, wanted: &str) -> impl Iterator<Item = &Object> {
        let included = INCLUDED.iter().find(|row| row.0 == wanted).map_or(&[][..], |row| row.1);
        self.objects.iter().filter(move |(_, kind)| included.contains(kind)).map(|(object, _)| object)
    }
}
";

/// Nested loops over facts and objects, with tests between them.
fn rule_body(rule: &ExplicitRule, policy: &Explicit<'_>) -> String {
    let alphabet = policy.alphabet;
    let mut constants: Vec<&Constant> = Vec::new();
    for arg in rule.rule.body.iter().flat_map(|l| &l.args) {
        if let Arg::Const(c) = arg
            && !constants.contains(&c)
        {
            constants.push(c);
        }
    }
    let mut writer = Writer { text: String::new(), depth: 1, tests: Vec::new(), constants, rule };
    for i in 0..writer.constants.len() {
        let value = match writer.constants[i] {
            Constant::Int(i) => format!("int({i})"),
            Constant::Name(n) => format!("name({})", string(n)),
        };
        writer.line(&format!("let c{i} = &{value};"));
    }
    for step in rule.steps() {
        match step {
            Step::Scan { literal, new } => writer.scan(literal, &new, &alphabet.predicate(literal.pred).name),
            Step::Range(v, t) => {
                let t = string(alphabet.types.name(t));
                writer.open(&format!("for {} in state.of_type({t}) {{", lower(v)));
            }
            Step::If(asked) => {
                let test = writer.asked(asked, alphabet);
                writer.tests.push(test);
            }
        }
    }
    let action = string(&alphabet.action(rule.rule.action).name);
    let args: Vec<String> = rule.head.iter().map(|v| format!("{}.clone()", lower(*v))).collect();
    writer.test();
    writer.line(&format!("found.insert(({action}, vec![{}]));", args.join(", ")));
    writer.close();
    writer.text
}

struct Writer<'r> {
    text: String,
    depth: usize,
    /// Tests that stand before what comes next.
    tests: Vec<String>,
    /// The constants of the rule: `c0`, `c1`, ...
    constants: Vec<&'r Constant>,
    rule: &'r ExplicitRule,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{}{line}", "    ".repeat(self.depth));
    }

    fn test(&mut self) {
        let tests = std::mem::take(&mut self.tests);
        if !tests.is_empty() {
            self.line(&format!("if {} {{", tests.join(" && ")));
            self.depth += 1;
        }
    }

    fn open(&mut self, line: &str) {
        self.test();
        self.line(line);
        self.depth += 1;
    }

    fn close(&mut self) {
        while self.depth > 1 {
            self.depth -= 1;
            self.line("}");
        }
    }

    fn term(&self, arg: &Arg) -> String {
        match arg {
            Arg::Var(v) => lower(*v),
            Arg::Const(c) => {
                let at = self.constants.iter().position(|k| *k == c).unwrap_or_default();
                format!("c{at}")
            }
        }
    }

    fn asked(&self, asked: Test<'_>, alphabet: &Alphabet) -> String {
        let holds = |l: &Literal| {
            let args: Vec<String> = l.args.iter().map(|a| self.term(a)).collect();
            format!("state.holds({}, &[{}])", string(&alphabet.predicate(l.pred).name), args.join(", "))
        };
        match asked {
            Test::Holds(literal) => holds(literal),
            Test::Absent(literal) => format!("!{}", holds(literal)),
            Test::IsA(v, t) => {
                format!("state.of_type({}).any(|o| o == {})", string(alphabet.types.name(t)), lower(v))
            }
            Test::Apart(a, b) => format!("{} != {}", self.term(a), self.term(b)),
        }
    }

    fn scan(&mut self, literal: &Literal, new: &[Var], name: &str) {
        self.open(&format!("for fact in state.facts({}, {}) {{", string(name), literal.args.len()));
        let mut bound: Vec<&Arg> = Vec::new();
        let mut tests = Vec::new();
        for (i, arg) in literal.args.iter().enumerate() {
            match arg {
                Arg::Var(v) if new.contains(v) && !bound.contains(&arg) => {
                    bound.push(arg);
                    let unused = if self.rule.is_lonely(*v) { "_" } else { "" };
                    self.line(&format!("let {unused}{} = &fact[{i}];", lower(*v)));
                }
                _ => tests.push(format!("&fact[{i}] == {}", self.term(arg))),
            }
        }
        self.tests = tests;
    }
}

/// `x`, `y`, `z`, ..., `x6`, ...
fn lower(v: Var) -> String {
    v.to_string().to_lowercase()
}

/// A string literal of ASCII characters.
fn string(text: &str) -> String {
    let mut out = "\"".to_string();
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            ' '..='~' => out.push(c),
            c => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
        }
    }
    out.push('"');
    out
}
