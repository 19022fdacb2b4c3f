//! SWI-Prolog: `best(Value, Actions)` over facts that are loaded beside the program.

use std::fmt::Write as _;

use derrl_logic::syntax::Quoted;
use derrl_logic::{Arg, Literal, Pred, Type};

use crate::definitions::{self, Style, Sugar, head_and_body};
use crate::explicit::{Clause, Explicit, Write, apply, number};
use crate::vocabulary::{Vocabulary, avoid};

/// Predicates of the ISO standard, which SWI-Prolog does not let a program define. (Others it does: `succ/2` and
/// `between/3` may well be facts.)
const LOCKED: &[(&str, &[usize])] = &[
    ("abolish", &[1]),
    ("acyclic_term", &[1]),
    ("arg", &[3]),
    ("asserta", &[1]),
    ("assertz", &[1]),
    ("at_end_of_stream", &[0, 1]),
    ("atom", &[1]),
    ("atom_chars", &[2]),
    ("atom_codes", &[2]),
    ("atom_concat", &[3]),
    ("atom_length", &[2]),
    ("atomic", &[1]),
    ("bagof", &[3]),
    ("call", &[1, 2, 3, 4, 5, 6, 7, 8]),
    ("callable", &[1]),
    ("catch", &[3]),
    ("char_code", &[2]),
    ("char_conversion", &[2]),
    ("clause", &[2]),
    ("close", &[1, 2]),
    ("compare", &[3]),
    ("compound", &[1]),
    ("copy_term", &[2]),
    ("current_char_conversion", &[2]),
    ("current_input", &[1]),
    ("current_op", &[3]),
    ("current_output", &[1]),
    ("current_predicate", &[1]),
    ("current_prolog_flag", &[2]),
    ("discontiguous", &[1]),
    ("dynamic", &[1]),
    ("fail", &[0]),
    ("false", &[0]),
    ("findall", &[3]),
    ("float", &[1]),
    ("flush_output", &[0, 1]),
    ("functor", &[3]),
    ("get_byte", &[1, 2]),
    ("get_char", &[1, 2]),
    ("get_code", &[1, 2]),
    ("ground", &[1]),
    ("halt", &[0, 1]),
    ("initialization", &[1]),
    ("integer", &[1]),
    ("is", &[2]),
    ("keysort", &[2]),
    ("length", &[2]),
    ("multifile", &[1]),
    ("nl", &[0, 1]),
    ("nonvar", &[1]),
    ("number", &[1]),
    ("number_chars", &[2]),
    ("number_codes", &[2]),
    ("numbervars", &[3]),
    ("once", &[1]),
    ("op", &[3]),
    ("open", &[3, 4]),
    ("peek_byte", &[1, 2]),
    ("peek_char", &[1, 2]),
    ("peek_code", &[1, 2]),
    ("phrase", &[2, 3]),
    ("predicate_property", &[2]),
    ("put_byte", &[1, 2]),
    ("put_char", &[1, 2]),
    ("put_code", &[1, 2]),
    ("read", &[1, 2]),
    ("read_term", &[2, 3]),
    ("repeat", &[0]),
    ("retract", &[1]),
    ("retractall", &[1]),
    ("set_input", &[1]),
    ("set_output", &[1]),
    ("set_prolog_flag", &[2]),
    ("set_stream_position", &[2]),
    ("setof", &[3]),
    ("sort", &[2]),
    ("stream_property", &[2]),
    ("sub_atom", &[5]),
    ("subsumes_term", &[2]),
    ("term_variables", &[2]),
    ("throw", &[1]),
    ("true", &[0]),
    ("unify_with_occurs_check", &[2]),
    ("var", &[1]),
    ("write", &[1, 2]),
    ("write_canonical", &[1, 2]),
    ("write_term", &[2, 3]),
    ("writeq", &[1, 2]),
];

/// Words that are operators: as operands they need brackets.
const OPERATORS: &[&str] = &[
    "as",
    "discontiguous",
    "div",
    "dynamic",
    "initialization",
    "is",
    "meta_predicate",
    "mod",
    "module_transparent",
    "multifile",
    "public",
    "rdiv",
    "rem",
    "table",
    "thread_initialization",
    "thread_local",
    "tnot",
    "volatile",
    "xor",
];

/// A term or an atom where an operator may stand beside it.
pub(crate) fn operand(text: &str) -> String {
    if OPERATORS.contains(&text) { format!("({text})") } else { text.to_string() }
}

/// What the Prolog program calls a predicate, where that is not its own name.
pub fn prolog_name(name: &str, arity: usize) -> Option<String> {
    avoid(name, |n| {
        let operator = !n.is_empty() && n.chars().all(|c| "+-*/\\^<>=~:.?@#&$!,;|[]{}".contains(c));
        operator || LOCKED.iter().any(|(locked, arities)| *locked == n && arities.contains(&arity))
    })
}

pub(crate) fn write(policy: &Explicit<'_>) -> String {
    let mut names = Vocabulary::new(policy.alphabet, prolog_name, |_, _| None);
    let [best, best_of, value, object, is_a] =
        ["best", "best_of", "value", "object", "is_a"].map(|n| names.fresh(n));
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
        "In:  the facts of a state, as a file of facts: {}\n\
         {objects}\
         Out: {best}(Value, Actions): the highest value and the actions that share it.\n     \
              It fails where no rule fires: then any action will do.\n\n  \
           swipl -g \"({best}(V, As) -> print(V-As) ; print(any))\" -t halt policy.pl state.pl\n{}",
        example(policy, &names),
        names.notes()
    );
    let mut text = policy.header("%", &about);

    text.push_str("\n% Facts come from elsewhere; a predicate without facts is false.\n");
    let indicator = |p: Pred, a: usize| format!("{}/{a}", operand(&Quoted(names.predicate(p)).to_string()));
    let mut dynamic: Vec<String> = policy.given().map(|(p, a)| indicator(p, a)).collect();
    if !guarded.is_empty() {
        dynamic.push(format!("{object}/2"));
    }
    if !dynamic.is_empty() {
        let _ = writeln!(text, ":- dynamic {}.", dynamic.join(", "));
    }
    if policy.rules.is_empty() {
        let _ = writeln!(text, ":- dynamic {value}/2.");
    }

    let _ = writeln!(text, "\n% {value}(Action, Value): a rule derives the action with this value.");
    let guard = |v: &Arg, t: Type| format!("{is_a}({v}, {})", Quoted(types.name(t)));
    let apart = |a: &Arg, b: &Arg| format!("{} \\= {}", operand(&a.to_string()), operand(&b.to_string()));
    let body = |clause: &Clause| {
        // Prolog warns of variables that occur once, unless they begin with an underscore.
        let arg = |a: &Arg| match a {
            Arg::Var(v) if clause.is_lonely(*v) => format!("_{v}"),
            _ => a.to_string(),
        };
        let atom = |l: &Literal| {
            let args: Vec<String> = l.args.iter().map(arg).collect();
            operand(&apply(&Quoted(names.predicate(l.pred)).to_string(), &args))
        };
        let parts = Write { atom: &atom, guard: &guard, apart: &apart, not: "\\+ " };
        head_and_body(clause, &ToString::to_string, &parts)
    };
    for rule in &policy.rules {
        let head = apply(&Quoted(names.action(rule.action)).to_string(), &rule.head);
        let _ = writeln!(text, "% {}", rule.text);
        let _ = writeln!(text, "{value}({head}, {}) :- {}.", number(rule.weight), body(rule).1);
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
    if !policy.definitions.is_empty() {
        let table: Vec<String> = policy
            .definitions
            .iter()
            .map(|d| indicator(d.pred, policy.alphabet.predicate(d.pred).args.len()))
            .collect();
        let _ = writeln!(text, "\n:- table ({}).", table.join(", "));
    }
    let style =
        Style { name: &|p| operand(&Quoted(names.predicate(p)).to_string()), clause: &body, sugar: &sugar };
    text.push_str(&definitions::write(policy, &mut helpers, &style));
    // Facts may have changed since tables were filled.
    let fresh = if policy.definitions.is_empty() { "" } else { "abolish_all_tables,\n    " };
    let _ = write!(
        text,
        "\n{best}(Value, Actions) :-\n    \
             {fresh}findall(V-A, {value}(A, V), All),\n    \
             sort(All, Sorted),\n    \
             {best_of}(Sorted, Value, Actions).\n\n\
         % Sorted by value and without duplicates: the last value is the highest.\n\
         {best_of}([V-A | Rest], Value, Actions) :-\n    \
             {best_of}(Rest, V, [A], Value, Actions).\n\
         {best_of}([], Value, Actions, Value, Sorted) :-\n    \
             sort(Actions, Sorted).\n\
         {best_of}([V-A | Rest], W, As, Value, Actions) :-\n    \
             (   V =:= W\n    ->  {best_of}(Rest, W, [A | As], Value, Actions)\n    \
             ;   {best_of}(Rest, V, [A], Value, Actions)\n    ).\n"
    );
    text
}

/// Closures by tabling, distances by tables that keep the smallest number.
fn sugar(s: &Sugar) -> String {
    let Sugar { name, help, step, .. } = s;
    let (a, b, c) = (s.nodes("A"), s.nodes("B"), s.nodes("C"));
    let open = |nodes: usize| vec!["_"; nodes * s.k].join(", ");
    if s.closure {
        return format!(
            ":- table {help}/{}.\n\
             {help}({a}, {b}) :- {step}({a}, {b}).\n\
             {help}({a}, {b}) :- {step}({a}, {c}), {help}({c}, {b}).\n\
             {name}({a}, {b}) :- {help}({a}, {b}), node({a}) \\= node({b}).\n",
            2 * s.k
        );
    }
    match &s.goals {
        Some(goals) => format!(
            ":- table {help}({}, min).\n\
             {help}({a}, 0) :- {goals}({a}).\n\
             {help}({a}, N) :- {step}({a}, {b}), {help}({b}, M), N is M + 1.\n\
             {name}({a}, {b}) :- {step}({a}, {b}), {help}({a}, N), {help}({b}, M), M < N.\n",
            open(1)
        ),
        None => format!(
            ":- table {help}({}, min).\n\
             {help}({a}, {a}, 0) :- {step}({}, {a}).\n\
             {help}({a}, {c}, N) :- {step}({a}, {b}), {help}({b}, {c}, M), N is M + 1.\n\
             {name}({a}, {b}, {c}) :- {step}({a}, {b}), {help}({a}, {c}, N), {help}({b}, {c}, M), M < N.\n",
            open(2),
            open(1)
        ),
    }
}

/// Two facts as an example.
fn example(policy: &Explicit<'_>, names: &Vocabulary) -> String {
    let fact = |(name, args): (&str, Vec<&str>)| format!("{}.", apply(&Quoted(name).to_string(), &args));
    let examples = policy.examples().into_iter().map(|(p, args)| (names.predicate(p), args));
    examples.map(fact).collect::<Vec<_>>().join(" ")
}
