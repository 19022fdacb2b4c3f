//! Python: a module with a function from facts to the best actions.

use std::fmt::Write as _;

use derrl_logic::{Alphabet, Arg, Choice, Comparison, Constant, Extreme, Linear, Literal, Op, Pred, Var};

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
    let reported = match policy.alphabet.measures.first() {
        None => String::new(),
        Some(m) => {
            let mut parts = vec![string(&m.name)];
            parts.extend((0..m.args.len()).map(|_| "\"a\"".to_string()));
            parts.push("7.5".to_string());
            format!("     Numbers are facts with the number last: {}.\n", tuple(&parts))
        }
    };
    let about = format!(
        "In:  the facts of a state, as tuples: {}.\n     \
              Names are strings and integers are integers.\n     \
              {objects}\n{reported}\
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
    for (pred, _) in &policy.comparisons {
        let p = policy.alphabet.predicate(*pred);
        let (name, arity) = (string(&p.name), p.args.len());
        let _ = writeln!(text, "    state.relations[({name}, {arity})] = set(compare_{}(state))", pred.0);
    }
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
        let call = |i: &usize| match policy.rules[*i].choices.as_slice() {
            [] => format!("*rule_{}(state)", i + 1),
            choices => {
                let end = |c: &Choice| if c.extreme == Extreme::Most { "max" } else { "min" };
                let ends: Vec<&str> = choices.iter().map(end).collect();
                format!("*chosen(rule_{}(state), [{}], legal)", i + 1, ends.join(", "))
            }
        };
        let calls: Vec<String> = rules.iter().map(call).collect();
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
        text.push_str(&clause_body(rule, Some(name), &rule.choices, policy));
    }
    for (pred, comparison) in &policy.comparisons {
        text.push_str(&compare(*pred, comparison, policy.alphabet));
    }
    for defined in components.iter().flatten() {
        text.push_str(&definition(defined, policy));
    }
    let measures = &policy.alphabet.measures;
    if measures.is_empty() {
        text.push_str(STATE);
    } else {
        text.push_str(&STATE.replace(REPORTED.0, REPORTED.1));
    }
    if policy.has_numbers() {
        text.push_str(NUMBERS);
    }
    let given: Vec<String> = policy
        .given()
        .map(|(p, arity)| format!("({}, {arity})", string(&policy.alphabet.predicate(p).name)))
        .collect();
    let reported: Vec<String> =
        measures.iter().map(|m| format!("({}, {})", string(&m.name), m.args.len())).collect();
    if !components.is_empty() {
        text.push_str(DERIVE);
    }
    if policy.rules.iter().any(|r| !r.choices.is_empty()) {
        text.push_str(CHOSEN);
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
    if !measures.is_empty() {
        let _ = write!(
            text,
            "\n# What is a number, and what else is given: names with how many objects they have.\n\
             REPORTED = {{{}}}\nGIVEN = {{{}}}\n",
            reported.join(", "),
            given.join(", ")
        );
    }
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

/// How a state reads facts, where some are numbers.
const REPORTED: (&str, &str) = (
    r"
        for name, *args in facts:
            self.relations.setdefault((name, len(args)), set()).add(tuple(args))
",
    r"
        self.reported = {}
        for name, *args in facts:
            if (name, len(args) - 1) in REPORTED and (isinstance(args[-1], float) or (name, len(args)) not in GIVEN):
                self.reported.setdefault((name, len(args) - 1), {})[tuple(args[:-1])] = float(args[-1])
            else:
                self.relations.setdefault((name, len(args)), set()).add(tuple(args))
",
);

/// Methods of the state that read numbers.
const NUMBERS: &str = r"
    def numbers(self, name, arity):
        return self.reported.get((name, arity), {})

    def total(self, terms):
        total = None
        for factor, name, args in terms:
            value = self.numbers(name, len(args)).get(args)
            if value is None:
                return None
            total = factor * value if total is None else total + factor * value
        return total
";

/// What of a rule's substitutions its choices leave.
const CHOSEN: &str = r"

def chosen(found, ends, legal):
    found = [f for f in found if legal is None or f[1] in legal]
    for i, end in enumerate(ends):
        found = [f for f in found if f[0][i] is not None]
        best = end((f[0][i] for f in found), default=None)
        found = [f for f in found if f[0][i] == best]
    return {action for _, action in found}
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
                text.push_str(&clause_body(clause, None, &[], policy));
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
fn clause_body(rule: &Clause, name: Option<String>, choices: &[Choice], policy: &Explicit<'_>) -> String {
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
    let mut result = tuple(&head);
    if !choices.is_empty() {
        let total = |c: &Choice| format!("state.total({})", terms(&c.of, &c.args, alphabet));
        let totals: Vec<String> = choices.iter().map(total).collect();
        result = format!("{}, {result}", tuple(&totals));
    }
    writer.line(&format!("yield {result}"));
    writer.text
}

/// The terms of a sum: factors, measures and objects.
fn terms(of: &Linear, args: &[Arg], alphabet: &Alphabet) -> String {
    let term = |t: &derrl_logic::Term| {
        let places: Vec<String> = t.places.iter().map(|&p| term(&args[usize::from(p)])).collect();
        let name = string(&alphabet.measure(t.measure).name);
        let places = if places.is_empty() { "()".to_string() } else { tuple(&places) };
        format!("({}, {name}, {places})", float(t.factor))
    };
    tuple(&of.terms.iter().map(term).collect::<Vec<_>>())
}

/// A function that yields the objects of which a comparison holds.
fn compare(pred: Pred, comparison: &Comparison, alphabet: &Alphabet) -> String {
    let args: Vec<Var> = (0..comparison.left.arity()).map(|i| Var(i as u8)).collect();
    let shown = comparison.display(&args, alphabet);
    let mut text = format!("\n\n# {shown}\ndef compare_{}(state):\n", pred.0);
    let (mut known, mut depth) = (Vec::new(), 1);
    let mut sum = String::new();
    for (i, term) in comparison.left.terms.iter().enumerate() {
        let indent = "    ".repeat(depth);
        let mut tests = Vec::new();
        let mut places = Vec::new();
        for (j, &p) in term.places.iter().enumerate() {
            if known.contains(&p) {
                places.push(format!("again_{i}_{j}"));
                tests.push(format!("again_{i}_{j} == {}", args[usize::from(p)]));
            } else {
                known.push(p);
                places.push(args[usize::from(p)].to_string());
            }
        }
        let name = string(&alphabet.measure(term.measure).name);
        let places = if places.is_empty() { "_".to_string() } else { tuple(&places) };
        let _ = writeln!(
            text,
            "{indent}for {places}, value_{i} in state.numbers({name}, {}).items():",
            term.places.len()
        );
        depth += 1;
        if !tests.is_empty() {
            let _ = writeln!(text, "{}if {}:", "    ".repeat(depth), tests.join(" and "));
            depth += 1;
        }
        let plus = if i == 0 { "" } else { " + " };
        let _ = write!(sum, "{plus}{} * value_{i}", float(term.factor));
    }
    let op = if comparison.op == Op::AtMost { "<=".to_string() } else { comparison.op.to_string() };
    let indent = "    ".repeat(depth);
    let found = args.iter().map(ToString::to_string).collect::<Vec<_>>();
    let found = if found.is_empty() { "()".to_string() } else { tuple(&found) };
    let _ =
        writeln!(text, "{indent}if {sum} {op} {}:\n{indent}    yield {found}", float(comparison.threshold));
    text
}

/// A number that Python reads back to the same bits.
fn float(x: f64) -> String {
    format!("{x:?}")
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
