//! Answer sets: one model, in which `best/1` holds for the actions of highest value.

use std::fmt::Write as _;

use derrl_logic::{Arg, Constant, Literal};

use crate::definitions::{self, Style, Sugar, head_and_body};
use crate::explicit::{Explicit, Write, apply, number};
use crate::vocabulary::Vocabulary;

/// Whether clingo reads this as a name: a lower-case word, ASCII, other than `not`.
fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && name != "not"
}

/// What the answer-set program calls a predicate or an action, where that is not its own name: clingo has no quoted names,
/// so other characters than letters and digits are written as `_` with their code.
pub fn asp_name(name: &str) -> Option<String> {
    // Names that look like the result are changed too, so that no two names become the same.
    if is_word(name) && !name.starts_with("name_") {
        return None;
    }
    let mut word = "name_".to_string();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            word.push(c);
        } else {
            let _ = write!(word, "_{:x}_", u32::from(c));
        }
    }
    Some(word)
}

/// A constant as clingo has it: names that are no words become strings, integers beyond 32 bits a string in `int(...)`.
pub fn asp_constant(constant: &Constant) -> String {
    match constant {
        Constant::Int(i) if i32::try_from(*i).is_ok_and(|i| i != i32::MIN) => i.to_string(),
        Constant::Int(i) => format!("int(\"{i}\")"),
        Constant::Name(name) if is_word(name) => name.to_string(),
        Constant::Name(name) => {
            let escaped = name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            format!("\"{escaped}\"")
        }
    }
}

fn asp_arg(arg: &Arg) -> String {
    match arg {
        Arg::Var(v) => v.to_string(),
        Arg::Const(c) => asp_constant(c),
    }
}

pub(crate) fn write(policy: &Explicit<'_>) -> String {
    let rename = |name: &str, _: usize| asp_name(name);
    let mut names = Vocabulary::new(policy.alphabet, rename, rename);
    let [best, best_value, rule_for, level, object, is_a] =
        ["best", "best_value", "rule_for", "level", "object", "is_a"].map(|n| names.fresh(n));
    let mut helpers = names.clone();
    let guarded = policy.guarded_types();
    let types = &policy.alphabet.types;
    let type_constant = |t| asp_constant(&Constant::name(types.name(t)));

    let objects = match guarded.first() {
        None => String::new(),
        Some((t, _)) => format!(
            "     and its objects, each with its most specific type: {object}(a, {}).\n",
            type_constant(*t)
        ),
    };
    let about = format!(
        "In:  the facts of a state, as a file of facts: {}\n\
         {objects}\
         Out: one model, with {best}(Action) for every action of highest value and that\n     \
              {best_value}(\"Value\"). None where no rule fires: then any action will do.\n\n  \
           clingo policy.lp state.lp        (or: python -m clingo policy.lp state.lp)\n{}",
        example(policy, &names),
        names.notes()
    );
    let mut text = policy.header("%", &about);

    text.push_str("\n% Facts come from elsewhere; a predicate without facts is false.\n");
    for (p, arity) in policy.given() {
        let _ = writeln!(text, "#defined {}/{arity}.", names.predicate(p));
    }
    if !guarded.is_empty() {
        let _ = writeln!(text, "#defined {object}/2.");
    }
    let _ = writeln!(text, "#defined {rule_for}/2.\n#defined {level}/2.");

    let _ = writeln!(text, "\n% {level}(Level, Value): the values of the rules, the highest first.");
    for (i, value) in policy.values.iter().enumerate() {
        let _ = writeln!(text, "{level}({}, \"{}\").", i + 1, number(*value));
    }
    let _ = writeln!(text, "\n% {rule_for}(Action, Level): a rule of this level derives the action.");
    let args = |args: &[Arg]| args.iter().map(asp_arg).collect::<Vec<_>>();
    let atom = |l: &Literal| apply(names.predicate(l.pred), &args(&l.args));
    let parts = Write {
        atom: &atom,
        guard: &|v: &Arg, t| format!("{is_a}({}, {})", asp_arg(v), type_constant(t)),
        apart: &|a: &Arg, b: &Arg| format!("{} != {}", asp_arg(a), asp_arg(b)),
        not: "not ",
    };
    for rule in &policy.rules {
        let head = apply(names.action(rule.action), &rule.head);
        let _ = writeln!(text, "% {}", rule.text);
        let _ = writeln!(text, "{rule_for}({head}, {}) :- {}.", rule.level + 1, rule.body(&parts));
    }
    if !guarded.is_empty() {
        let _ = writeln!(text, "\n% {is_a}(Object, Type): the object is of this type or of a subtype.");
        for (t, below) in &guarded {
            for s in below {
                let _ =
                    writeln!(text, "{is_a}(X, {}) :- {object}(X, {}).", type_constant(*t), type_constant(*s));
            }
        }
    }
    let style = Style {
        name: &|p| names.predicate(p).to_string(),
        clause: &|c| head_and_body(c, &asp_arg, &parts),
        sugar: &sugar,
    };
    text.push_str(&definitions::write(policy, &mut helpers, &style));
    let _ = write!(
        text,
        "\n{best}(A) :- {rule_for}(A, L), L <= K : {rule_for}(_, K).\n\
         {best_value}(V) :- {best}(A), {rule_for}(A, L), {level}(L, V), L <= K : {rule_for}(_, K).\n\
         #show {best}/1.\n\
         #show {best_value}/1.\n"
    );
    text
}

/// Closures by recursion; distances by what is within so many steps, up to the number of all steps.
fn sugar(s: &Sugar) -> String {
    let Sugar { name, help, step, .. } = s;
    let (a, b, c) = (s.nodes("A"), s.nodes("B"), s.nodes("C"));
    if s.closure {
        return format!(
            "{help}({a}, {b}) :- {step}({a}, {b}).\n\
             {help}({a}, {b}) :- {step}({a}, {c}), {help}({c}, {b}).\n\
             {name}({a}, {b}) :- {help}({a}, {b}), ({a}) != ({b}).\n"
        );
    }
    let (goal, first) = match &s.goals {
        Some(goals) => (String::new(), format!("{help}({a}, 0) :- {goals}({a}).\n")),
        None => (format!(", {c}"), format!("{help}({a}, {a}, 0) :- {step}({b}, {a}).\n")),
    };
    format!(
        "{first}\
         {help}({a}{goal}, N + 1) :- {help}({a}{goal}, N), N < #count {{ {a1}, {b1} : {step}({a1}, {b1}) }}.\n\
         {help}({a}{goal}, N + 1) :- {step}({a}, {b}), {help}({b}{goal}, N), N < #count {{ {a1}, {b1} : {step}({a1}, {b1}) }}.\n\
         {name}({a}, {b}{goal}) :- {step}({a}, {b}), {help}({b}{goal}, N), not {help}({a}{goal}, N).\n",
        a1 = s.nodes("D"),
        b1 = s.nodes("E"),
    )
}

/// Two facts as an example.
fn example(policy: &Explicit<'_>, names: &Vocabulary) -> String {
    let fact = |(name, args): (&str, Vec<&str>)| format!("{}.", apply(name, &args));
    let examples = policy.examples().into_iter().map(|(p, args)| (names.predicate(p), args));
    examples.map(fact).collect::<Vec<_>>().join(" ")
}
