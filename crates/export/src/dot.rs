//! A picture of the rules for Graphviz: a box for each rule, a node for each term, an edge for each binary atom.

use std::fmt::Write as _;

use derrl_logic::{Arg, Literal};

use crate::explicit::{Explicit, ExplicitRule, apply, number};

pub(crate) fn write(policy: &Explicit<'_>) -> String {
    let about = "A box for each rule, the strongest first; arguments of the action in bold;\n\
                 dashed is what must not hold.\n\n  \
                   dot -Tsvg policy.dot > policy.svg\n";
    let mut text = policy.header("//", about);
    text.push_str(
        "digraph policy {\n  rankdir=LR;\n  node [fontname=\"Helvetica\"];\n  edge [fontname=\"Helvetica\"];\n",
    );
    // Boxes side by side are drawn from the bottom up: what is written last stands on top.
    let mut order: Vec<usize> = (0..policy.rules.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse((policy.rules[i].level, i)));
    for i in order {
        write_rule(&mut text, i, &policy.rules[i], policy);
    }
    if !policy.definitions.is_empty() {
        let lines: Vec<&str> = policy.definitions.iter().flat_map(|d| &d.text).map(String::as_str).collect();
        // Lines that end in `\l` are set flush left.
        let label = quote(&lines.join("\n")).replace("\\n", "\\l");
        let _ = writeln!(text, "  definitions [shape=note, label={label}];");
    }
    text.push_str("}\n");
    text
}

fn write_rule(text: &mut String, i: usize, rule: &ExplicitRule, policy: &Explicit<'_>) {
    let action = apply(&policy.alphabet.action(rule.action).name, &rule.head);
    let title = format!("{}   value {}", action, number(rule.weight));
    let _ = writeln!(
        text,
        "  subgraph cluster_{i} {{\n    label={};\n    fontname=\"Helvetica\";",
        quote(&title)
    );
    let mut terms: Vec<Arg> = rule.head.clone();
    for arg in rule.literals.iter().flat_map(|l| &l.args) {
        if !terms.contains(arg) {
            terms.push(arg.clone());
        }
    }
    let node = |arg: &Arg| format!("r{i}_t{}", terms.iter().position(|t| t == arg).unwrap_or_default());
    let name = |l: &Literal| {
        let name = match policy.alphabet.comparison(l.pred) {
            Some(comparison) => comparison.display(&l.args, policy.alphabet).to_string(),
            None => policy.alphabet.predicate(l.pred).name.clone(),
        };
        if l.positive { name } else { format!("not {name}") }
    };
    for term in &terms {
        // What is said of this object alone stands in its node.
        let mut label = vec![term.to_string()];
        label.extend(rule.literals.iter().filter(|l| l.args == [term.clone()]).map(name));
        let guards = rule.guards.iter().filter(|(guarded, _)| term == guarded);
        label.extend(guards.map(|(_, t)| policy.alphabet.types.name(*t).to_string()));
        let style = match term {
            Arg::Var(_) if rule.head.contains(term) => "shape=ellipse, style=bold",
            Arg::Var(_) => "shape=ellipse",
            Arg::Const(_) => "shape=box",
        };
        let _ = writeln!(text, "    {} [label={}, {style}];", node(term), quote(&label.join("\n")));
    }
    for (j, literal) in rule.literals.iter().enumerate() {
        let dashed = if literal.positive { "" } else { ", style=dashed" };
        let label = quote(&name(literal));
        match literal.args.as_slice() {
            [_] => {}
            [a, b] => {
                let _ = writeln!(text, "    {} -> {} [label={label}{dashed}];", node(a), node(b));
            }
            args => {
                // No or many arguments: a node of its own, with an edge to each argument.
                let _ = writeln!(text, "    r{i}_a{j} [label={label}, shape=plaintext{dashed}];");
                for (place, arg) in args.iter().enumerate() {
                    let _ = writeln!(text, "    r{i}_a{j} -> {} [label=\"{}\"];", node(arg), place + 1);
                }
            }
        }
    }
    for (j, choice) in rule.choices.iter().enumerate() {
        let label = quote(&choice.display(policy.alphabet).to_string());
        let _ = writeln!(text, "    r{i}_c{j} [label={label}, shape=plaintext];");
    }
    if terms.is_empty() && rule.literals.is_empty() && rule.choices.is_empty() {
        let _ = writeln!(text, "    r{i}_always [label=\"always\", shape=plaintext];");
    }
    text.push_str("  }\n");
}

/// A string of the DOT language; line breaks become its `\n`.
fn quote(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}
