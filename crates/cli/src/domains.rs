//! `derrl domains`.

use derrl::worlds::worlds;
use derrl_env::{Task, World, find_in};
use derrl_report::table::{WIDTH, wrap};
use serde_json::json;

use crate::args::Domains;
use crate::failure::Outcome;
use crate::output::{print, print_file, print_json};
use crate::style::Paint;

/// Lists the worlds and their tasks, or prints the domain file of one.
pub fn run(args: &Domains) -> Outcome {
    if let Some(name) = &args.domain {
        let spec = find_in(worlds(), name)?;
        if args.json {
            print_json(&document(spec))?;
        } else {
            print_file(&format!("{}\n", spec.domain().trim_end()));
        }
        return Ok(());
    }
    if args.json {
        let list: Vec<_> = worlds().iter().map(document).collect();
        print_json(&json!({ "domains": list }))?;
        return Ok(());
    }
    print(&table(Paint::stdout(args.color)));
    Ok(())
}

fn document(spec: &World) -> serde_json::Value {
    let task = |t: &Task| json!({"name": t.name, "summary": t.summary, "scored_by_default": t.scored});
    let tasks: Vec<_> = spec.tasks().iter().map(task).collect();
    json!({"name": spec.name(), "summary": spec.summary(), "options": spec.options(), "tasks": tasks, "domain_file": spec.domain()})
}

/// The worlds and their tasks, for people.
pub fn table(paint: Paint) -> String {
    let widest = worlds().iter().flat_map(derrl_env::World::tasks).map(|t| t.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (i, spec) in worlds().iter().enumerate() {
        if i > 0 {
            text.push('\n');
        }
        let options: Vec<String> = spec.options().iter().map(|o| format!("--{o}")).collect();
        let takes =
            if options.is_empty() { String::new() } else { format!(" (takes {})", options.join(", ")) };
        let line = wrap(&format!("{}: {}{takes}", spec.name(), spec.summary()), "", WIDTH);
        text.push_str(&line.replacen(spec.name(), &paint.strong(spec.name()), 1));
        for task in spec.tasks() {
            // The summary in a column of its own, also where it takes several lines.
            let indent = " ".repeat(widest + 4);
            let summary = wrap(&task.summary, &indent, WIDTH);
            let name = format!("  {:widest$}  ", task.name);
            text.push_str(&paint.rule(&name));
            text.push_str(summary.trim_start());
        }
    }
    text
}
