//! Rust: a module with a function from facts to the best actions.

use std::fmt::Write as _;

use derrl_logic::{Alphabet, Arg, Constant, Literal, Pred, Var};

use crate::explicit::{Clause, Defined, Explicit, Meaning, Step, Test, number};

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

    let components = policy.components();
    let state = match (policy.rules.is_empty(), components.is_empty()) {
        (true, _) => "_state",
        (false, true) => "state",
        (false, false) => "mut state",
    };
    let _ = write!(
        text,
        "\n/// The highest value that a rule gives, and the actions of that value.\n\
         pub fn best_actions(facts: &[Fact<'_>], objects: &[(Object, &str)]) -> (f64, BTreeSet<Action>) {{\n    \
             best_legal_actions(facts, objects, None)\n}}\n\n\
         /// The same among the legal actions, where the world lists them; all of these where no rule derives one.\n\
         pub fn best_legal_actions(\n    facts: &[Fact<'_>],\n    objects: &[(Object, &str)],\n    \
             legal: Option<&BTreeSet<Action>>,\n) -> (f64, BTreeSet<Action>) {{\n    \
             let {state} = State {{ facts: facts.to_vec(), objects }};\n"
    );
    for component in &components {
        let defined: Vec<String> = component
            .iter()
            .map(|d| format!("({}, define_{})", string(&policy.alphabet.predicate(d.pred).name), d.pred.0))
            .collect();
        let _ = writeln!(text, "    state.derive(&[{}]);", defined.join(", "));
    }
    if policy.rules.is_empty() {
        text.push_str("    (0.0, legal.cloned().unwrap_or_default())\n}\n");
    } else {
        text.push_str("    let mut found = BTreeSet::new();\n");
        for (level, value) in policy.values.iter().enumerate() {
            for (i, _) in policy.rules.iter().enumerate().filter(|(_, r)| r.level == level) {
                let _ = writeln!(text, "    rule_{}(&state, &mut found);", i + 1);
            }
            let _ = write!(
                text,
                "    if let Some(legal) = legal {{\n        found.retain(|a: &Action| legal.contains(a));\n    }}\n    \
                 if !found.is_empty() {{\n        return ({}, found);\n    }}\n",
                number(*value)
            );
        }
        text.push_str("    (0.0, legal.cloned().unwrap_or(found))\n}\n");
    }
    for (i, rule) in policy.rules.iter().enumerate() {
        let _ = write!(
            text,
            "\n// {}\nfn rule_{}(state: &State<'_>, found: &mut BTreeSet<Action>) {{\n",
            rule.text,
            i + 1
        );
        text.push_str(&clause_body(rule, Some(&policy.alphabet.action(rule.action).name), policy));
        text.push_str("}\n");
    }
    for defined in components.iter().flatten() {
        text.push_str(&definition(defined, policy));
    }
    text.push_str(STATE);
    if !components.is_empty() {
        text.push_str(DERIVE);
    }
    if policy.searches() {
        text.push_str(SEARCH);
    }
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
    facts: Vec<Fact<'a>>,
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

/// What adds to the state what is derived.
const DERIVE: &str = r"
type Define = fn(&State<'_>, &mut BTreeSet<Vec<Object>>);

impl State<'_> {
    fn derive(&mut self, definitions: &[(&'static str, Define)]) {
        let mut grown = true;
        while grown {
            grown = false;
            for &(name, define) in definitions {
                let mut found = BTreeSet::new();
                define(self, &mut found);
                for tuple in found {
                    if !self.holds(name, &tuple.iter().collect::<Vec<_>>()) {
                        self.facts.push((name, tuple));
                        grown = true;
                    }
                }
            }
        }
    }
}
";

const SEARCH: &str = r"
type Node = Vec<Object>;

/// The number of steps from each node to the nearest of the ends.
fn distances(steps: &[(Node, Node)], ends: &[Node]) -> std::collections::BTreeMap<Node, usize> {
    let mut far: std::collections::BTreeMap<Node, usize> = ends.iter().map(|end| (end.clone(), 0)).collect();
    let mut queue = ends.to_vec();
    let mut at = 0;
    while let Some(node) = queue.get(at).cloned() {
        at += 1;
        let next = far[&node] + 1;
        for (before, _) in steps.iter().filter(|(_, to)| *to == node) {
            if !far.contains_key(before) {
                far.insert(before.clone(), next);
                queue.push(before.clone());
            }
        }
    }
    far
}

fn steps(state: &State<'_>, name: &'static str, k: usize) -> Vec<(Node, Node)> {
    state.facts(name, 2 * k).map(|fact| (fact[..k].to_vec(), fact[k..].to_vec())).collect()
}
";

/// A function that finds the tuples of a derived predicate.
fn definition(defined: &Defined, policy: &Explicit<'_>) -> String {
    let mut text = String::from("\n");
    for line in &defined.text {
        let _ = writeln!(text, "// {line}");
    }
    let used = match &defined.how {
        Meaning::Clauses(clauses) => clauses.iter().any(|c| !c.literals.is_empty() || !c.guards.is_empty()),
        _ => true,
    };
    let finds = !matches!(&defined.how, Meaning::Clauses(clauses) if clauses.is_empty());
    let _ = writeln!(
        text,
        "fn define_{}({}state: &State<'_>, {}found: &mut BTreeSet<Vec<Object>>) {{",
        defined.pred.0,
        if used { "" } else { "_" },
        if finds { "" } else { "_" }
    );
    let name = |p: Pred| string(&policy.alphabet.predicate(p).name);
    let steps = |p: Pred, k: usize| format!("    let steps = steps(state, {}, {k});\n", name(p));
    let nearer = |goal: &str, end: &str, indent: &str| {
        format!(
            "{indent}for (a, b) in &steps {{\n{indent}    \
             if far.get(b).is_some_and(|n| far.get(a) > Some(n)) {{\n{indent}        \
             found.insert([a.as_slice(), b.as_slice(){goal}].concat());\n{indent}    }}\n{indent}}}\n{end}"
        )
    };
    let ends = "    let ends: BTreeSet<&Node> = steps.iter().map(|(_, b)| b).collect();\n    for end in ends {\n        \
                let far = distances(&steps, std::slice::from_ref(end));\n";
    match defined.how {
        Meaning::Clauses(ref clauses) => {
            for clause in clauses {
                text.push_str(&clause_body(clause, None, policy));
            }
        }
        Meaning::Closure { of, k } => {
            text.push_str(&steps(of, k));
            text.push_str(ends);
            text.push_str(
                "        for node in far.keys().filter(|node| *node != end) {\n            \
                 found.insert([node.as_slice(), end.as_slice()].concat());\n        }\n    }\n",
            );
        }
        Meaning::Distance { along, to: None, k } => {
            text.push_str(&steps(along, k));
            text.push_str(ends);
            text.push_str(&nearer(", end.as_slice()", "    }\n", "        "));
        }
        Meaning::Distance { along, to: Some(to), k } => {
            text.push_str(&steps(along, k));
            let goals = format!("state.facts({}, {k}).map(<[Object]>::to_vec).collect::<Vec<_>>()", name(to));
            let _ = writeln!(text, "    let far = distances(&steps, &{goals});");
            text.push_str(&nearer("", "", "    "));
        }
    }
    text.push_str("}\n");
    text
}

/// Nested loops over facts and objects, with tests between them, that find actions of this name, or tuples.
fn clause_body(rule: &Clause, action: Option<&str>, policy: &Explicit<'_>) -> String {
    let alphabet = policy.alphabet;
    let mut constants: Vec<&Constant> = Vec::new();
    for arg in rule.head.iter().chain(rule.literals.iter().flat_map(|l| &l.args)) {
        if let Arg::Const(c) = arg
            && !constants.contains(&c)
        {
            constants.push(c);
        }
    }
    let mut writer = Writer { text: String::new(), depth: 1, tests: Vec::new(), constants, rule };
    // Clauses of one function have their constants apart.
    if action.is_none() && !writer.constants.is_empty() {
        writer.line("{");
        writer.depth += 1;
    }
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
    let args: Vec<String> = rule.head.iter().map(|a| format!("{}.clone()", writer.term(a))).collect();
    let tuple = format!("vec![{}]", args.join(", "));
    writer.test();
    match action {
        Some(action) => writer.line(&format!("found.insert(({}, {tuple}));", string(action))),
        None => writer.line(&format!("found.insert({tuple});")),
    }
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
    rule: &'r Clause,
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
            Test::IsA(arg, t) => {
                format!("state.of_type({}).any(|o| o == {})", string(alphabet.types.name(t)), self.term(arg))
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
