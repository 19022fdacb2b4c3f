//! Python: a module with a function from facts to the best actions.

use std::fmt::Write as _;

use derrl_logic::{Alphabet, Arg, Constant, Literal, Pred, Var};

use crate::explicit::{Clause, Defined, Explicit, Meaning, Step, Test, number};

pub(crate) fn write(policy: &Explicit<'_>) -> String {
    let guarded = policy.guarded_types();
    let types = &policy.alphabet.types;
    let example = |(p, args): (Pred, Vec<&str>)| {
        let mut parts = vec![string(&policy.alphabet.predicate(p).name)];
        parts.extend(args.into_iter().map(string));
        tuple(&parts)
    };
    let examples: Vec<String> = policy.examples().into_iter().map(example).collect();
    let objects = match guarded.first() {
        None => "Objects without facts make no difference to this policy.".to_string(),
        Some((t, _)) => {
            format!("And its objects, each with its most specific type: (\"a\", {}).", string(types.name(*t)))
        }
    };
    let about = format!(
        "In:  the facts of a state, as tuples: {}.\n     \
              Names are strings and integers are integers.\n     \
              {objects}\n\
         Out: the highest value and the set of actions that share it, as tuples.\n     \
              An empty set where no rule fires: then any action will do.\n     \
              Where the world lists legal actions, give them as legal=: the answer is then among these.\n\n  \
           value, actions = best_actions(facts, objects)\n",
        examples.join(", ")
    );
    let mut text = policy.header("#", &about);
    text.push_str(
        "\n\ndef best_actions(facts, objects=(), legal=None):\n    state = State(facts, objects)\n",
    );
    let components = policy.components();
    for component in &components {
        let defined: Vec<String> = component
            .iter()
            .map(|d| {
                let p = policy.alphabet.predicate(d.pred);
                format!("({}, {}, define_{})", string(&p.name), p.args.len(), d.pred.0)
            })
            .collect();
        let _ = writeln!(text, "    state.derive([{}])", defined.join(", "));
    }
    for level in 0..policy.values.len() {
        let rules: Vec<usize> = (0..policy.rules.len()).filter(|&i| policy.rules[i].level == level).collect();
        let calls: Vec<String> = rules.iter().map(|i| format!("*rule_{}(state)", i + 1)).collect();
        let _ = write!(
            text,
            "    actions = {{{}}}\n    if legal is not None:\n        actions &= set(legal)\n    if actions:\n        \
             return {}, actions\n",
            calls.join(", "),
            number(policy.values[level])
        );
    }
    text.push_str("    return 0.0, set(legal or ())\n");
    for (i, rule) in policy.rules.iter().enumerate() {
        let _ = write!(text, "\n\n# {}\ndef rule_{}(state):\n", rule.text, i + 1);
        let name = string(&policy.alphabet.action(rule.action).name);
        text.push_str(&clause_body(rule, Some(name), policy));
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
    let rows: Vec<String> = guarded
        .iter()
        .map(|(t, below)| {
            let below: Vec<String> = below.iter().map(|s| string(types.name(*s))).collect();
            format!("    {}: {{{}}},\n", string(types.name(*t)), below.join(", "))
        })
        .collect();
    let _ = write!(
        text,
        "\n\n# The types that each type includes.\nINCLUDED = {{{}}}\n",
        newline(&rows.concat())
    );
    text
}

const STATE: &str = r"

class State:
    def __init__(self, facts, objects):
        self.relations = {}
        for name, *args in facts:
            self.relations.setdefault((name, len(args)), set()).add(tuple(args))
        self.objects = list(objects)

    def facts(self, name, arity):
        return self.relations.get((name, arity), ())

    def holds(self, name, *args):
        return args in self.facts(name, len(args))

    def of_type(self, wanted):
        return [name for name, kind in self.objects if kind in INCLUDED[wanted]]
";

/// Methods of the state that add what is derived.
const DERIVE: &str = r"
    def derive(self, definitions):
        grown = True
        while grown:
            grown = False
            for name, arity, define in definitions:
                new = set(define(self)) - set(self.facts(name, arity))
                self.relations.setdefault((name, arity), set()).update(new)
                grown = grown or bool(new)
";

const SEARCH: &str = r"

# The number of steps from each node to the nearest of the ends.
def distances(steps, ends):
    into = {}
    for a, b in steps:
        into.setdefault(b, []).append(a)
    far = {end: 0 for end in ends}
    queue = list(far)
    for node in queue:
        for before in into.get(node, ()):
            if before not in far:
                far[before] = far[node] + 1
                queue.append(before)
    return far
";

/// A function that yields the tuples of a derived predicate.
fn definition(defined: &Defined, policy: &Explicit<'_>) -> String {
    let mut text = String::from("\n\n");
    for line in &defined.text {
        let _ = writeln!(text, "# {line}");
    }
    let _ = writeln!(text, "def define_{}(state):", defined.pred.0);
    let facts = |p: Pred| {
        let p = policy.alphabet.predicate(p);
        format!("state.facts({}, {})", string(&p.name), p.args.len())
    };
    let steps = |p: Pred, k: usize| format!("    steps = [(f[:{k}], f[{k}:]) for f in {}]\n", facts(p));
    match defined.how {
        Meaning::Clauses(ref clauses) => {
            for clause in clauses {
                text.push_str(&clause_body(clause, None, policy));
            }
            if clauses.is_empty() {
                text.push_str("    return ()\n");
            }
        }
        Meaning::Closure { of, k } => {
            text.push_str(&steps(of, k));
            text.push_str(
                "    for end in {b for _, b in steps}:\n        for node in distances(steps, [end]):\n            \
                 if node != end:\n                yield node + end\n",
            );
        }
        Meaning::Distance { along, to: None, k } => {
            text.push_str(&steps(along, k));
            text.push_str(
                "    for end in {b for _, b in steps}:\n        far = distances(steps, [end])\n        \
                 for a, b in steps:\n            if b in far and far[b] < far[a]:\n                yield a + b + end\n",
            );
        }
        Meaning::Distance { along, to: Some(to), k } => {
            text.push_str(&steps(along, k));
            let _ = writeln!(text, "    far = distances(steps, {})", facts(to));
            text.push_str(
                "    for a, b in steps:\n        if b in far and far[b] < far[a]:\n            yield a + b\n",
            );
        }
    }
    text
}

fn newline(rows: &str) -> String {
    if rows.is_empty() { String::new() } else { format!("\n{rows}") }
}

/// Nested loops over facts and objects, with tests between them.
fn clause_body(rule: &Clause, name: Option<String>, policy: &Explicit<'_>) -> String {
    let alphabet = policy.alphabet;
    let mut writer = Writer { text: String::new(), depth: 1, tests: Vec::new() };
    for step in rule.steps() {
        match step {
            Step::Scan { literal, new } => writer.scan(literal, &new, &alphabet.predicate(literal.pred).name),
            Step::Range(v, t) => {
                writer.open(&format!("for {v} in state.of_type({}):", string(alphabet.types.name(t))));
            }
            Step::If(asked) => writer.tests.push(test(asked, alphabet)),
        }
    }
    let mut head: Vec<String> = name.into_iter().collect();
    head.extend(rule.head.iter().map(term));
    writer.test();
    writer.line(&format!("yield {}", tuple(&head)));
    writer.text
}

fn test(asked: Test<'_>, alphabet: &Alphabet) -> String {
    let holds = |l: &Literal| {
        let mut args = vec![string(&alphabet.predicate(l.pred).name)];
        args.extend(l.args.iter().map(term));
        format!("state.holds({})", args.join(", "))
    };
    match asked {
        Test::Holds(literal) => holds(literal),
        Test::Absent(literal) => format!("not {}", holds(literal)),
        Test::IsA(arg, t) => format!("{} in state.of_type({})", term(arg), string(alphabet.types.name(t))),
        Test::Apart(a, b) => format!("{} != {}", term(a), term(b)),
    }
}

struct Writer {
    text: String,
    depth: usize,
    /// Tests that stand before what comes next.
    tests: Vec<String>,
}

impl Writer {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{}{line}", "    ".repeat(self.depth));
    }

    fn test(&mut self) {
        let tests = std::mem::take(&mut self.tests);
        if !tests.is_empty() {
            self.line(&format!("if {}:", tests.join(" and ")));
            self.depth += 1;
        }
    }

    fn open(&mut self, line: &str) {
        self.test();
        self.line(line);
        self.depth += 1;
    }

    fn scan(&mut self, literal: &Literal, new: &[Var], name: &str) {
        // A place that is known already, or repeats a new variable, gets a name of its own and a test.
        let mut bound: Vec<&Arg> = Vec::new();
        let mut places = Vec::new();
        let mut tests = Vec::new();
        for (i, arg) in literal.args.iter().enumerate() {
            match arg {
                Arg::Var(v) if new.contains(v) && !bound.contains(&arg) => {
                    bound.push(arg);
                    places.push(v.to_string());
                }
                _ => {
                    places.push(format!("place_{i}"));
                    tests.push(format!("place_{i} == {}", term(arg)));
                }
            }
        }
        let (places, arity) = (tuple(&places), literal.args.len());
        self.open(&format!("for {places} in state.facts({}, {arity}):", string(name)));
        self.tests = tests;
    }
}

/// A tuple; Python wants a comma after the only element of one.
fn tuple(elements: &[String]) -> String {
    format!("({}{})", elements.join(", "), if elements.len() == 1 { "," } else { "" })
}

fn term(arg: &Arg) -> String {
    match arg {
        Arg::Var(v) => v.to_string(),
        Arg::Const(Constant::Int(i)) => i.to_string(),
        Arg::Const(Constant::Name(name)) => string(name),
    }
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
                let _ = write!(out, "\\U{:08x}", u32::from(c));
            }
        }
    }
    out.push('"');
    out
}
