//! The paper's programs: a loop of guarded steps, to read.

use std::fmt::Write as _;

use derrl_logic::{Arg, Literal};

use crate::explicit::{Explicit, ExplicitRule, apply};

pub(crate) fn write(policy: &Explicit<'_>) -> String {
    let about = "At every turn the first guard that holds is acted on, with any objects that make it true\n\
                 and with which the action is legal;\n\
                 of guards joined by `or` any that holds. Different variables are different objects.\n";
    let mut text = policy.header("#", about);
    text.push_str("\nwhile the episode lasts:\n");
    for level in 0..policy.values.len() {
        let rules: Vec<&ExplicitRule> = policy.at_level(level).collect();
        for (i, rule) in rules.iter().enumerate() {
            let keyword = match (level, i) {
                (0, 0) => "if",
                (_, 0) => "else if",
                _ => "or if",
            };
            let action = apply(&policy.alphabet.action(rule.action).name, &rule.head);
            let _ = writeln!(text, "    {keyword} {}:", guard(rule, policy));
            let _ = writeln!(text, "        {action}");
        }
    }
    if policy.rules.is_empty() {
        text.push_str("    any action\n");
    } else {
        let any = if policy.alphabet.has_legality() { "any legal action" } else { "any action" };
        let _ = writeln!(text, "    else:\n        {any}");
    }
    if !policy.definitions.is_empty() {
        text.push_str("\nwhere:\n");
        for line in policy.definitions.iter().flat_map(|d| &d.text) {
            let _ = writeln!(text, "    {line}");
        }
    }
    text
}

/// `there are X, Y, Z such that top(X) and on(X, Z) and isFloor(Y)`.
fn guard(rule: &ExplicitRule, policy: &Explicit<'_>) -> String {
    let atom = |l: &Literal| {
        let text = match policy.alphabet.comparison(l.pred) {
            Some(comparison) => comparison.display(&l.args, policy.alphabet).to_string(),
            None => apply(&policy.alphabet.predicate(l.pred).name, &l.args),
        };
        if l.positive { text } else { format!("not {text}") }
    };
    let mut conditions: Vec<String> = rule.literals.iter().map(atom).collect();
    conditions.extend(rule.choices.iter().map(|c| format!("with {}", c.display(policy.alphabet))));
    let types = &policy.alphabet.types;
    for (v, t) in &rule.guards {
        let kind =
            if types.name(*t) == "any" { "an object".to_string() } else { format!("a {}", types.name(*t)) };
        conditions.push(format!("{v} is {kind}"));
    }
    // Different variables go without saying; that they are not the objects named does not.
    for (a, b) in &rule.apart {
        if matches!((a, b), (Arg::Const(_), _) | (_, Arg::Const(_))) {
            conditions.push(format!("{a} is not {b}"));
        }
    }
    let mut variables: Vec<String> = rule.head.iter().map(ToString::to_string).collect();
    for v in rule.literals.iter().flat_map(Literal::vars) {
        if !variables.contains(&v.to_string()) {
            variables.push(v.to_string());
        }
    }
    let conditions = conditions.join(" and ");
    match variables.len() {
        0 => conditions,
        1 => format!("there is {} such that {conditions}", variables[0]),
        _ => format!("there are {} such that {conditions}", variables.join(", ")),
    }
}
