//! ProbLog: the probability of an action is its value, and `best/1` holds for the actions of highest value.

use std::cell::{Cell, RefCell};
use std::fmt::Write as _;

use derrl_logic::syntax::Quoted;
use derrl_logic::{Arg, Literal, Var};

use crate::definitions::{self, Style, Sugar, head_and_body};
use crate::explicit::{Clause, Explicit, Write, apply, number};
use crate::prolog::operand;
use crate::vocabulary::{Vocabulary, avoid};

/// What ProbLog 2.2 has built in, by the arities that it claims: a program cannot define it.
const BUILT_IN: &[(&str, &[usize])] = &[
    ("all", &[3]),
    ("all_or_none", &[3]),
    ("arg", &[3]),
    ("atom", &[1]),
    ("atom_number", &[2]),
    ("atomic", &[1]),
    ("between", &[3]),
    ("callable", &[1]),
    ("check_state", &[1]),
    ("clause", &[2, 3]),
    ("cmd_args", &[1]),
    ("compare", &[3]),
    ("compound", &[1]),
    ("condition", &[1]),
    ("consult", &[1]),
    ("create_scope", &[2]),
    ("dbg_printdb", &[0]),
    ("dbreference", &[1]),
    ("fail", &[0]),
    ("false", &[0]),
    ("find_scope", &[2]),
    ("findall", &[3]),
    ("float", &[1]),
    ("functor", &[3]),
    ("ground", &[1]),
    ("integer", &[1]),
    ("is", &[2]),
    ("is_list", &[1]),
    ("length", &[2]),
    ("module", &[2]),
    ("nl", &[0]),
    ("nocache", &[2]),
    ("nonvar", &[1]),
    ("not", &[1]),
    ("notrace", &[0]),
    ("number", &[1]),
    ("numbervars", &[2, 3]),
    ("once", &[1]),
    ("plus", &[3]),
    ("possible", &[1]),
    ("primitive", &[1]),
    ("print_state", &[0]),
    ("rational", &[1]),
    ("reset_state", &[0]),
    ("sample_uniform1", &[3]),
    ("seq", &[1]),
    ("set_state", &[1]),
    ("simple", &[1]),
    ("sort", &[2]),
    ("subquery", &[2, 3, 5]),
    ("subquery_in_scope", &[3, 4, 6]),
    ("subsumes_chk", &[2]),
    ("subsumes_term", &[2]),
    ("succ", &[2]),
    ("trace", &[0]),
    ("true", &[0]),
    ("unknown", &[1]),
    ("use_module", &[1, 2]),
    ("var", &[1]),
    ("varnumbers", &[2]),
];

/// Names that ProbLog claims whatever their arity.
const CLAIMED: &[&str] = &[
    "call",
    "call_in_scope",
    "call_nc",
    "debugprint",
    "error",
    "evidence",
    "query",
    "try_call",
    "write",
    "writeln",
    "writenl",
];

/// What the ProbLog program calls a predicate, where that is not its own name.
pub fn problog_name(name: &str, arity: usize) -> Option<String> {
    avoid(name, |n| {
        let operator = !n.is_empty() && n.chars().all(|c| "+-*/\\^<>=~:.?@#&$!,;|[]{}".contains(c));
        let built_in = || BUILT_IN.iter().any(|(known, arities)| *known == n && arities.contains(&arity));
        operator || CLAIMED.contains(&n) || built_in()
    })
}

pub(crate) fn write(policy: &Explicit<'_>) -> String {
    let mut names = Vocabulary::new(policy.alphabet, problog_name, |_, _| None);
    let [best, chosen, rule_for, beaten, level, object, is_a] =
        ["best", "chosen", "rule_for", "beaten", "level", "object", "is_a"].map(|n| names.fresh(n));
    let mut helpers = names.clone();
    let guarded = policy.guarded_types();
    let types = &policy.alphabet.types;

    let objects = match guarded.first() {
        None => String::new(),
        Some((t, _)) => format!(
            "     and its objects, each with its most specific type: {object}(a, {}).\n",
            Quoted(types.name(*t))
        ),
    };
    let about = format!(
        "In:  the facts of a state, added to this program: {}\n\
         {objects}\
         Out: {best}(Action), with probability 1 for the actions of highest value, and\n     \
              {chosen}(Action), whose probability is the action's value.\n     \
              None where no rule fires: then any action will do.\n\n  \
           cat policy.pl state.pl | problog -\n{}",
        example(policy, &names),
        names.notes()
    );
    let mut text = policy.header("%", &about);
    let _ = writeln!(text, "\nquery({best}(_)).\nquery({chosen}(_)).");

    text.push_str("\n% Facts come from elsewhere; a predicate without facts is false.\n");
    let mut absent = |name: &str, arity: usize| {
        let _ = writeln!(text, "{} :- fail.", operand(&apply(&Quoted(name).to_string(), &vec!["_"; arity])));
    };
    for (p, arity) in policy.given() {
        absent(names.predicate(p), arity);
    }
    if !guarded.is_empty() {
        absent(&object, 2);
    }
    if policy.rules.is_empty() {
        absent(&rule_for, 2);
    }
    if policy.values.is_empty() {
        absent(&level, 1);
    }

    // F^a = max over the rules that derive a. Levels are nested, level(i+1) ⊂ level(i), and have the values of the
    // rules as probabilities, so that the probability of a union of levels is the highest of them.
    let _ = writeln!(text, "\n% A level for each value, the highest first, each within the one before.");
    for (i, value) in policy.values.iter().enumerate() {
        let _ = match i {
            0 => writeln!(text, "{}::{level}(1).", number(*value)),
            _ => writeln!(
                text,
                "{}::{level}({}) :- {level}({i}).   % {}",
                number(value / policy.values[i - 1]),
                i + 1,
                number(*value)
            ),
        };
    }
    let _ = writeln!(text, "\n% {rule_for}(Action, Level): a rule of this level derives the action.");
    let body = |clause: &Clause| {
        let call = Call::default();
        let parts = Write {
            atom: &|l: &Literal| call.write(&Quoted(names.predicate(l.pred)).to_string(), l),
            guard: &|v: &Arg, t| format!("{is_a}({v}, {})", Quoted(types.name(t))),
            apart: &|a: &Arg, b: &Arg| format!("{} \\= {}", operand(&a.to_string()), operand(&b.to_string())),
            not: "\\+ ",
        };
        head_and_body(clause, &ToString::to_string, &parts)
    };
    for rule in &policy.rules {
        let head = apply(&Quoted(names.action(rule.action)).to_string(), &rule.head);
        let _ = writeln!(text, "% {}", rule.text);
        let _ = writeln!(text, "{rule_for}({head}, {}) :- {}.", rule.level + 1, body(rule).1);
    }
    if !guarded.is_empty() {
        let _ = writeln!(text, "\n% {is_a}(Object, Type): the object is of this type or of a subtype.");
        for (t, below) in &guarded {
            for s in below {
                let _ = writeln!(
                    text,
                    "{is_a}(X, {}) :- {object}(X, {}).",
                    Quoted(types.name(*t)),
                    Quoted(types.name(*s))
                );
            }
        }
    }
    // Also what has no clause that fires has one.
    for d in &policy.definitions {
        let name = Quoted(names.predicate(d.pred)).to_string();
        let arity = policy.alphabet.predicate(d.pred).args.len();
        let _ = writeln!(text, "{} :- fail.", operand(&apply(&name, &vec!["_"; arity])));
    }
    let style =
        Style { name: &|p| operand(&Quoted(names.predicate(p)).to_string()), clause: &body, sugar: &sugar };
    text.push_str(&definitions::write(policy, &mut helpers, &style));
    let _ = write!(
        text,
        "\n{chosen}(A) :- {rule_for}(A, L), {level}(L).\n\
         {best}(A) :- {rule_for}(A, L), \\+ {beaten}(L).\n\
         {beaten}(L) :- {rule_for}(_, K), K < L.\n"
    );
    text
}

/// Closures by recursion; distances by what is within so many steps, up to the number of all steps.
fn sugar(s: &Sugar) -> String {
    let Sugar { name, help, step, .. } = s;
    let (a, b, c, d) = (s.nodes("A"), s.nodes("B"), s.nodes("C"), s.nodes("D"));
    let same = |x: &str, y: &str| format!("node({x}) = node({y})");
    if s.closure {
        return format!(
            "{help}({a}, {b}) :- {step}({a}, {b}).\n\
             {help}({a}, {b}) :- {step}({a}, {c}), {help}({d}, {b}), {}.\n\
             {name}({a}, {b}) :- {help}({a}, {b}), node({a}) \\= node({b}).\n",
            same(&d, &c)
        );
    }
    // Calls leave all places open or none: see `Call`.
    let (goal, first, known) = if let Some(goals) = &s.goals {
        (String::new(), format!("{help}({a}, N) :- N >= 0, {goals}({a}).\n"), String::new())
    } else {
        let c = s.nodes("C");
        let ends =
            format!("{help}({a}, {c}, N) :- N >= 0, {}, {step}({b}, {d}), {}.\n", same(&a, &c), same(&d, &a));
        (format!(", {c}"), ends, format!("{step}({}, {c}), ", s.nodes("E")))
    };
    format!(
        "{first}\
         {help}({a}{goal}, N) :- N > 0, M is N - 1, {step}({d}, {b}), {}, {help}({b}{goal}, M).\n\
         {help}_most(N) :- findall(node({a}, {b}), {step}({a}, {b}), L), length(L, N).\n\
         {name}({a}, {b}{goal}) :- {step}({a}, {b}), {known}{help}_most(K), between(0, K, N), {help}({b}{goal}, N), \\+ {help}({a}{goal}, N).\n",
        same(&d, &a)
    )
}

/// Writes the atoms of a body from left to right.
///
/// ProbLog 2.2 numbers the variables of a call -1, -2, ... and looks calls up by these numbers: it takes `p(X, -2)` for `p(X, Y)`
/// if it has answered that before. So whatever is known already when a call leaves something open (a constant, a variable that an
/// atom before has bound) is left open too, and compared afterwards.
#[derive(Default)]
struct Call {
    known: RefCell<Vec<Var>>,
    /// Places left open so far.
    opened: Cell<usize>,
}

impl Call {
    fn write(&self, name: &str, literal: &Literal) -> String {
        let mut known = self.known.borrow_mut();
        let is_known = |arg: &Arg| match arg {
            Arg::Var(v) => known.contains(v),
            Arg::Const(_) => true,
        };
        // Negated atoms come last, when nothing is open any more.
        let is_mixed =
            literal.positive && literal.args.iter().any(is_known) && !literal.args.iter().all(is_known);
        let mut tests = String::new();
        let mut place = |arg: &Arg| {
            if !is_mixed || !is_known(arg) {
                return arg.to_string();
            }
            self.opened.set(self.opened.get() + 1);
            let open = format!("Same{}", self.opened.get());
            let _ = write!(tests, ", {open} = {}", operand(&arg.to_string()));
            open
        };
        let args: Vec<String> = literal.args.iter().map(&mut place).collect();
        known.extend(literal.vars());
        format!("{}{tests}", operand(&apply(name, &args)))
    }
}

/// Two facts as an example.
fn example(policy: &Explicit<'_>, names: &Vocabulary) -> String {
    let fact = |(name, args): (&str, Vec<&str>)| format!("{}.", apply(&Quoted(name).to_string(), &args));
    let examples = policy.examples().into_iter().map(|(p, args)| (names.predicate(p), args));
    examples.map(fact).collect::<Vec<_>>().join(" ")
}
