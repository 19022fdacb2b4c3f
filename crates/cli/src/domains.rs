//! `derrl domains`.

use serde_json::json;

use crate::args::Domains;
use crate::cli::{Outcome, print, print_json, worlds};

/// Lists the worlds and their tasks.
pub fn run(args: &Domains) -> Outcome {
    if args.json {
        let list: Vec<_> = worlds()
            .iter()
            .map(|s| {
                let tasks: Vec<_> = s
                    .tasks()
                    .iter()
                    .map(|t| json!({"name": t.name, "summary": t.summary, "scored_by_default": t.scored}))
                    .collect();
                json!({"name": s.name(), "summary": s.summary(), "options": s.options(), "tasks": tasks, "domain_file": s.domain()})
            })
            .collect();
        print_json(&json!({ "domains": list }))?;
        return Ok(());
    }
    let widest = worlds().iter().flat_map(|s| s.tasks()).map(|t| t.name.len()).max().unwrap_or(0);
    for (i, spec) in worlds().iter().enumerate() {
        let options: Vec<String> = spec.options().iter().map(|o| format!("--{o}")).collect();
        let takes =
            if options.is_empty() { String::new() } else { format!(" (takes {})", options.join(", ")) };
        let gap = if i == 0 { "" } else { "\n" };
        print(&format!("{gap}{}: {}{takes}\n", spec.name(), spec.summary()));
        for task in spec.tasks() {
            print(&format!("  {:widest$}  {}\n", task.name, task.summary));
        }
    }
    Ok(())
}
