//! C99: one file without heap and libraries, for small devices.
//!
//! A state is a struct with a table per predicate and measure that the policy needs. A rule is a function that says whether it derives an action;
//! a derived predicate is one, too, so that nothing is stored. Predicates that are defined by way of themselves would need a store.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use derrl_logic::alphabet::ActionDecl;
use derrl_logic::{Action, Alphabet, Arg, Constant, Extreme, Linear, Literal, Measure, Pred, Type, Var};

use crate::explicit::{Clause, Explicit, ExplicitRule, Meaning, number};

/// Why a policy cannot be written in C, where it cannot.
pub(crate) fn lacks(policy: &Explicit<'_>) -> Option<String> {
    let program = policy.alphabet.program.as_ref()?;
    let stored = |p: Pred| program.is_recursive(p);
    let defined =
        policy.definitions.iter().find(|d| !matches!(d.how, Meaning::Clauses(_)) || stored(d.pred))?;
    let name = &policy.alphabet.predicate(defined.pred).name;
    Some(format!("`{name}` is defined by way of itself, or is a closure or distance, and would need a store"))
}

pub(crate) fn write(policy: &Explicit<'_>) -> String {
    let c = Names::new(policy);
    let about = "In:  a state: how many objects there are, which are called 0, 1, 2, ..., and what holds of them.\n     \
                 Fields that are pointers are tables: on[X * objects + Y] of two objects X and Y.\n     \
                 A number that is not known is NaN. A constant that is no object of the state is -1.\n\
                 Out: how many best actions there are, the first `room` of them, and their value.\n     \
                 0 where no rule fires: then any action will do.\n\n\
                 It needs no library and no heap. Compile without -ffast-math; where the processor fuses\n\
                 multiplication and addition, with -ffp-contract=off.\n";
    let mut text =
        format!("/*\n{}*/\n\n#include <stddef.h>\n", policy.header(" *", about).replace("*/", "* /"));
    text.push_str(&c.declarations(policy));
    for defined in &policy.definitions {
        let arity = policy.alphabet.predicate(defined.pred).args.len();
        let params = parameters(arity);
        let _ = writeln!(text, "\n/* {} */", defined.text.join(" ").replace("*/", "* /"));
        let _ =
            writeln!(text, "static int derived_{}(const struct derrl_state *s{params})\n{{", defined.pred.0);
        if let Meaning::Clauses(clauses) = &defined.how {
            for clause in clauses {
                text.push_str(&c.search(clause, "return 1;", policy.alphabet));
            }
        }
        text.push_str("    return 0;\n}\n");
    }
    if policy.rules.iter().any(|r| !r.choices.is_empty()) {
        text.push_str(BETTER);
    }
    for (i, rule) in policy.rules.iter().enumerate() {
        text.push_str(&c.rule(i + 1, rule, policy));
    }
    text.push_str(&c.decide(policy));
    text
}

/// What who fills in a state from outside has to know, as Python writes it.
pub(crate) struct Layout {
    /// The fields behind the first three, in order: name, what it is about, how many objects, and kind.
    pub fields: Vec<String>,
    /// The number of each type, and of each action.
    pub types: Vec<String>,
    pub actions: Vec<String>,
    /// The most arguments of an action.
    pub arguments: usize,
}

/// The layout of the state that a policy takes.
pub(crate) fn layout(policy: &Explicit<'_>) -> Layout {
    let (names, alphabet) = (Names::new(policy), policy.alphabet);
    let field =
        |field: &str, of: &str, arity: usize, kind: &str| format!("({field:?}, {of:?}, {arity}, {kind:?})");
    let constants = names.constants.iter().map(|(c, name)| field(name, &c.to_string(), 0, "constant"));
    let given = names.used.iter().map(|p| (*p, alphabet.predicate(*p))).filter(|(_, p)| p.role.is_given());
    let given = given.map(|(p, d)| field(&names.predicates[p.0 as usize], &d.name, d.args.len(), "holds"));
    let reported = names.reported.iter().map(|m| (*m, alphabet.measure(*m)));
    let reported =
        reported.map(|(m, d)| field(&names.measures[m.0 as usize], &d.name, d.args.len(), "number"));
    let types = (0..alphabet.types.len() as u32).map(|t| format!("{:?}: {t}", alphabet.types.name(Type(t))));
    let whole = alphabet.actions.iter().filter(|a| !a.repeats());
    Layout {
        fields: constants.chain(given).chain(reported).collect(),
        types: types.collect(),
        actions: whole.enumerate().map(|(n, a)| format!("{:?}: {n}", a.name)).collect(),
        arguments: alphabet.actions.iter().map(ActionDecl::arity).max().unwrap_or(0).max(1),
    }
}

/// What the program calls things.
struct Names {
    predicates: Vec<String>,
    measures: Vec<String>,
    types: Vec<String>,
    actions: Vec<String>,
    constants: Vec<(Constant, String)>,
    used: BTreeSet<Pred>,
    reported: BTreeSet<Measure>,
}

/// Names that fields may not have.
const TAKEN: &[&str] = &[
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return",
    "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void",
    "volatile", "while", "objects", "type", "legal",
];

/// An identifier like this name that is not taken yet.
fn identifier(name: &str, taken: &mut BTreeSet<String>) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut text: String = name.chars().map(plain).collect();
    if !text.starts_with(|c: char| c.is_ascii_alphabetic()) {
        text.insert_str(0, "n_");
    }
    while !taken.insert(text.clone()) {
        text.push('_');
    }
    text
}

impl Names {
    fn new(policy: &Explicit<'_>) -> Names {
        let alphabet = policy.alphabet;
        let mut fields: BTreeSet<String> = TAKEN.iter().map(ToString::to_string).collect();
        let mut labels = BTreeSet::new();
        let predicates = alphabet.predicates.iter().map(|p| identifier(&p.name, &mut fields)).collect();
        let measures = alphabet.measures.iter().map(|m| identifier(&m.name, &mut fields)).collect();
        let mut label = |name: &str| identifier(&name.to_ascii_uppercase(), &mut labels);
        let types = (0..alphabet.types.len() as u32).map(|t| label(alphabet.types.name(Type(t)))).collect();
        // An action with equal arguments has the name of the whole one, which stands before it.
        let mut actions: Vec<String> = Vec::new();
        for a in &alphabet.actions {
            let whole = alphabet.find_action(&a.name, a.arity()).filter(|_| a.repeats());
            actions.push(whole.map_or_else(|| label(&a.name), |whole| actions[whole.0 as usize].clone()));
        }
        let mut names = Names {
            predicates,
            measures,
            types,
            actions,
            constants: Vec::new(),
            used: BTreeSet::new(),
            reported: BTreeSet::new(),
        };
        let choices = || policy.rules.iter().flat_map(|r| &r.choices);
        for clause in policy.clauses() {
            let args = clause.head.iter().chain(clause.literals.iter().flat_map(|l| &l.args));
            for arg in args.chain(choices().flat_map(|c| &c.args)) {
                if let Arg::Const(constant) = arg
                    && names.constants.iter().all(|(known, _)| known != constant)
                {
                    let text = match constant {
                        Constant::Int(i) => format!("n{i}"),
                        Constant::Name(name) => name.to_string(),
                    };
                    names.constants.push((constant.clone(), identifier(&text, &mut fields)));
                }
            }
            for literal in &clause.literals {
                match alphabet.comparison(literal.pred) {
                    Some(c) => names.reported.extend(c.left.terms.iter().map(|t| t.measure)),
                    None => _ = names.used.insert(literal.pred),
                }
            }
        }
        names.reported.extend(choices().flat_map(|c| &c.of.terms).map(|t| t.measure));
        names
    }

    fn declarations(&self, policy: &Explicit<'_>) -> String {
        let alphabet = policy.alphabet;
        let mut text = String::from("\nenum derrl_type {");
        let all = |labels: &[String], prefix: &str| {
            labels.iter().map(|l| format!(" {prefix}{l}")).collect::<Vec<_>>().join(",")
        };
        let _ = writeln!(text, "{} }};", all(&self.types, "DERRL_TYPE_"));
        let whole = alphabet.actions.iter().zip(&self.actions).filter(|(a, _)| !a.repeats());
        let labels: Vec<String> = whole.map(|(_, label)| label.clone()).collect();
        let _ = writeln!(text, "enum derrl_name {{{} }};", all(&labels, "DERRL_"));
        let widest = alphabet.actions.iter().map(ActionDecl::arity).max().unwrap_or(0).max(1);
        let _ = writeln!(
            text,
            "\nstruct derrl_action {{\n    enum derrl_name name;\n    int args[{widest}];\n}};\n\nstruct derrl_state {{"
        );
        text.push_str(
            "    int objects;\n    const unsigned char *type; /* of each object, an enum derrl_type */\n",
        );
        text.push_str("    /* Which actions are legal, where the world says so; else NULL. */\n");
        text.push_str("    int (*legal)(const struct derrl_state *, const struct derrl_action *);\n");
        for (constant, name) in &self.constants {
            let _ = writeln!(
                text,
                "    int {name}; /* the object {} */",
                constant.to_string().replace("*/", "* /")
            );
        }
        for &p in self.used.iter().filter(|p| alphabet.predicate(**p).role.is_given()) {
            let kind = if alphabet.predicate(p).args.is_empty() {
                "unsigned char "
            } else {
                "const unsigned char *"
            };
            let _ = writeln!(text, "    {kind}{};", self.predicates[p.0 as usize]);
        }
        for &m in &self.reported {
            let kind = if alphabet.measure(m).args.is_empty() { "double " } else { "const double *" };
            let _ = writeln!(text, "    {kind}{};", self.measures[m.0 as usize]);
        }
        text.push_str("};\n");
        for (t, below) in policy.guarded_types() {
            let tests: Vec<String> =
                below.iter().map(|s| format!("t == DERRL_TYPE_{}", self.types[s.0 as usize])).collect();
            let _ = writeln!(
                text,
                "\nstatic int is_{}(const struct derrl_state *s, int o)\n{{\n    int t = s->type[o];\n    return {};\n}}",
                t.0,
                tests.join(" || ")
            );
        }
        text
    }

    fn term(&self, arg: &Arg) -> String {
        match arg {
            Arg::Var(v) => v.to_string(),
            Arg::Const(constant) => {
                let known = self.constants.iter().find(|(known, _)| known == constant);
                format!("s->{}", known.map_or("", |(_, name)| name))
            }
        }
    }

    /// That the constants among these are objects.
    fn exist(&self, args: &[Arg]) -> String {
        let constants = args.iter().filter(|a| matches!(a, Arg::Const(_)));
        constants.fold(String::new(), |text, a| text + &self.term(a) + " >= 0 && ")
    }

    fn entry(&self, field: &str, args: &[&Arg]) -> String {
        let Some((first, rest)) = args.split_first() else { return format!("s->{field}") };
        let index = rest
            .iter()
            .fold(self.term(first), |index, arg| format!("({index}) * s->objects + {}", self.term(arg)));
        format!("s->{field}[{index}]")
    }

    fn sum(&self, of: &Linear, args: &[Arg]) -> String {
        let mut text = String::new();
        for (i, term) in of.terms.iter().enumerate() {
            let places: Vec<&Arg> = term.places.iter().map(|&p| &args[usize::from(p)]).collect();
            let value = self.entry(&self.measures[term.measure.0 as usize], &places);
            let sign = match (i, term.factor < 0.0) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            };
            text.push_str(sign);
            if term.factor.abs() != 1.0 {
                let _ = write!(text, "{} * ", double(term.factor.abs()));
            }
            text.push_str(&value);
        }
        text
    }

    /// The test of a literal.
    fn test(&self, literal: &Literal, alphabet: &Alphabet) -> String {
        let args: Vec<&Arg> = literal.args.iter().collect();
        let holds = match alphabet.comparison(literal.pred) {
            Some(c) => {
                let op = if c.op == derrl_logic::Op::AtMost { "<=".to_string() } else { c.op.to_string() };
                format!("{} {op} {}", self.sum(&c.left, &literal.args), double(c.threshold))
            }
            None if alphabet.predicate(literal.pred).role.is_given() => {
                self.entry(&self.predicates[literal.pred.0 as usize], &args)
            }
            None => {
                let args = args.iter().fold(String::new(), |text, a| text + ", " + &self.term(a));
                format!("derived_{}(s{args})", literal.pred.0)
            }
        };
        let not = if literal.positive { "" } else { "!" };
        format!("{not}({}{holds})", self.exist(&literal.args))
    }

    /// Loops over what the variables of a clause stand for, with each test as soon as it can be made; `found` stands inside. The
    /// arguments of the head are a0, a1, ...
    fn search(&self, clause: &Clause, found: &str, alphabet: &Alphabet) -> String {
        let mut text = String::new();
        let mut known: Vec<Var> = Vec::new();
        let mut tests: Vec<(Vec<Var>, String)> = Vec::new();
        let vars = |args: &[&Arg]| -> Vec<Var> {
            args.iter().filter_map(|a| if let Arg::Var(v) = a { Some(*v) } else { None }).collect()
        };
        for literal in &clause.literals {
            tests.push((literal.vars().collect(), self.test(literal, alphabet)));
        }
        for (arg, t) in &clause.guards {
            let term = self.term(arg);
            let exists = self.exist(std::slice::from_ref(arg));
            tests.push((vars(&[arg]), format!("({exists}is_{}(s, {term}))", t.0)));
        }
        for (a, b) in &clause.apart {
            tests.push((vars(&[a, b]), format!("{} != {}", self.term(a), self.term(b))));
        }
        text.push_str("    {\n");
        for (i, arg) in clause.head.iter().enumerate() {
            match arg {
                Arg::Var(v) if !known.contains(v) => {
                    known.push(*v);
                    let _ = writeln!(text, "        int {v} = a{i};");
                }
                _ => tests.push((vars(&[arg]), format!("{} == a{i}", self.term(arg)))),
            }
        }
        let mut open: Vec<Var> = clause.literals.iter().flat_map(Literal::vars).collect();
        open.retain(|v| !known.contains(v));
        open.sort_unstable();
        open.dedup();
        let mut depth = 2;
        for next in std::iter::once(None).chain(open.into_iter().map(Some)) {
            if let Some(v) = next {
                let _ =
                    writeln!(text, "{}for (int {v} = 0; {v} < s->objects; {v}++) {{", "    ".repeat(depth));
                known.push(v);
                depth += 1;
            }
            let (now, later) =
                tests.into_iter().partition(|(vars, _)| vars.iter().all(|v| known.contains(v)));
            tests = later;
            let now: Vec<(Vec<Var>, String)> = now;
            if !now.is_empty() {
                let now: Vec<String> = now.into_iter().map(|(_, test)| test).collect();
                let _ = writeln!(text, "{}if ({}) {{", "    ".repeat(depth), now.join(" && "));
                depth += 1;
            }
        }
        for line in found.lines() {
            let _ = writeln!(text, "{}{line}", "    ".repeat(depth));
        }
        for depth in (1..depth).rev() {
            let _ = writeln!(text, "{}}}", "    ".repeat(depth));
        }
        text
    }

    /// A function that says whether a rule derives an action. Where it chooses, the best score so far goes in and out first.
    fn rule(&self, i: usize, rule: &ExplicitRule, policy: &Explicit<'_>) -> String {
        let params = parameters(rule.head.len());
        let shown = rule.text.replace("*/", "* /");
        if rule.choices.is_empty() {
            let body = self.search(rule, "return 1;", policy.alphabet);
            return format!(
                "\n/* {shown} */\nstatic int rule_{i}(const struct derrl_state *s{params})\n{{\n    (void)s;\n{body}    return 0;\n}}\n"
            );
        }
        let n = rule.choices.len();
        let mut found = format!("double score[{n}];\n");
        for (j, choice) in rule.choices.iter().enumerate() {
            let sign = if choice.extreme == Extreme::Least { "-" } else { "" };
            let exist = self.exist(&choice.args);
            let exist =
                if exist.is_empty() { "1".to_string() } else { exist.trim_end_matches(" && ").to_string() };
            let _ = writeln!(
                found,
                "score[{j}] = {exist} ? {sign}({}) : UNKNOWN;\nif (score[{j}] != score[{j}]) score[{j}] = UNKNOWN;",
                self.sum(&choice.of, &choice.args)
            );
        }
        let _ = write!(found, "if (better(score, best, {n}, chosen)) return 1;");
        let body = self.search(rule, &found, policy.alphabet);
        format!(
            "\n/* {shown} */\nstatic int rule_{i}(const struct derrl_state *s{params}, double *best, int chosen)\n{{\n{body}    return 0;\n}}\n"
        )
    }

    fn decide(&self, policy: &Explicit<'_>) -> String {
        let mut text = String::from(
            "\nint derrl_decide(const struct derrl_state *s, struct derrl_action *best, int room, double *value)\n{\n    \
             struct derrl_action action;\n    int found = 0;\n    (void)action;\n    (void)best;\n    (void)room;\n    (void)s;\n",
        );
        for (level, value) in policy.values.iter().enumerate() {
            for (i, rule) in policy.rules.iter().enumerate().filter(|(_, r)| r.level == level) {
                let n = rule.choices.len();
                if n > 0 {
                    let unknown = vec!["UNKNOWN"; n].join(", ");
                    let _ = writeln!(text, "    double best_{}[{n}] = {{ {unknown} }};", i + 1);
                    let args = written(policy.alphabet.action(rule.action));
                    let call = format!("rule_{}(s{args}, best_{}, 0);", i + 1, i + 1);
                    text.push_str(&self.each(rule.action, &call, policy));
                }
            }
            for a in 0..policy.alphabet.actions.len() {
                let action = Action(a as u32);
                let rules = policy.rules.iter().enumerate();
                let rules = rules.filter(|(_, r)| r.level == level && r.action == action);
                let derives: Vec<String> = rules
                    .map(|(i, r)| {
                        let best =
                            if r.choices.is_empty() { String::new() } else { format!(", best_{}, 1", i + 1) };
                        let args = written(policy.alphabet.action(action));
                        format!("rule_{}(s{args}{best})", i + 1)
                    })
                    .collect();
                if !derives.is_empty() {
                    let emit = format!(
                        "if ({}) {{\n    if (found < room) best[found] = action;\n    found++;\n}}",
                        derives.join(" || ")
                    );
                    text.push_str(&self.each(action, &emit, policy));
                }
            }
            let _ = writeln!(
                text,
                "    if (found > 0) {{\n        *value = {};\n        return found;\n    }}",
                number(*value)
            );
        }
        text.push_str("    *value = 0.0;\n    return 0;\n}\n");
        text
    }

    /// Goes through the legal actions of one name.
    fn each(&self, action: Action, inside: &str, policy: &Explicit<'_>) -> String {
        let decl = policy.alphabet.action(action);
        let arity = decl.args.len();
        let mut text = String::new();
        for i in 0..arity {
            let indent = "    ".repeat(i + 1);
            let _ = writeln!(text, "{indent}for (int a{i} = 0; a{i} < s->objects; a{i}++) {{");
        }
        let indent = "    ".repeat(arity + 1);
        let _ = writeln!(text, "{indent}action.name = DERRL_{};", self.actions[action.0 as usize]);
        for (i, place) in decl.places.iter().enumerate() {
            let _ = writeln!(text, "{indent}action.args[{i}] = a{place};");
        }
        let _ = writeln!(text, "{indent}if (s->legal == NULL || s->legal(s, &action)) {{");
        for line in inside.lines() {
            let _ = writeln!(text, "{indent}    {line}");
        }
        let _ = writeln!(text, "{indent}}}");
        for i in (0..arity).rev() {
            let _ = writeln!(text, "{}}}", "    ".repeat(i + 1));
        }
        text
    }
}

/// What rules that choose need.
const BETTER: &str = "
/* Worse than every number. */
#define UNKNOWN (-1.7976931348623157e308)

/* Takes a score where it is better; or, at last, whether it is the best and each of its numbers is known. */
static int better(const double *score, double *best, int n, int chosen)
{
    for (int i = 0; i < n; i++) {
        if (chosen && (score[i] != best[i] || score[i] == UNKNOWN)) return 0;
        if (!chosen && score[i] < best[i]) return 0;
        if (!chosen && score[i] > best[i]) {
            for (int j = i; j < n; j++) best[j] = score[j];
            return 0;
        }
    }
    return chosen;
}
";

/// The arguments of an action as it is written, after others.
fn written(decl: &ActionDecl) -> String {
    decl.places.iter().fold(String::new(), |text, place| text + ", a" + &place.to_string())
}

/// So many arguments where a function is declared, after others.
fn parameters(arity: usize) -> String {
    (0..arity).fold(String::new(), |text, i| text + ", int a" + &i.to_string())
}

/// A number that C reads back to the same bits.
fn double(x: f64) -> String {
    format!("{x:e}")
}
