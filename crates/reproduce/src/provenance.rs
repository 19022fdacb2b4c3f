//! How a report was made, and the report as data.

use std::collections::BTreeSet;

use derrl_files::provenance::{commit, machine, today};
use serde_json::{Map, Value, json};

use crate::experiments;
use crate::job::{Finished, Results};
use crate::page::Page;

/// How a report was made. Runs may have been made on several days, by several versions of the code.
pub struct Provenance {
    /// The command line that asks for the same.
    pub command: String,
    /// Dates and commits of the runs.
    pub(crate) runs: [String; 2],
    report: [String; 2],
    /// The processor and its cores.
    pub(crate) machine: String,
}

impl Provenance {
    /// Of a report on these results, made now by this command.
    pub fn new(command: String, results: &Results) -> Provenance {
        let distinct = |of: fn(&Finished) -> &str| {
            let all: BTreeSet<&str> = results.iter().map(of).collect();
            all.into_iter().collect::<Vec<_>>().join(", ")
        };
        Provenance {
            command,
            runs: [distinct(|f| &f.date), distinct(|f| &f.commit)],
            report: [today(), commit()],
            machine: machine(derrl_learn::cores()),
        }
    }

    /// What a report says of itself, by name.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let said = |[date, commit]: &[String; 2]| format!("{date}, commit {commit}");
        vec![
            ("Command", self.command.clone()),
            ("Runs", said(&self.runs)),
            ("Report", said(&self.report)),
            ("Machine", self.machine.clone()),
        ]
    }

    /// The same for programs.
    pub fn json(&self) -> Value {
        json!({
            "command": self.command,
            "date": self.runs[0],
            "commit": self.runs[1],
            "report_date": self.report[0],
            "report_commit": self.report[1],
            "machine": self.machine,
            "version": env!("CARGO_PKG_VERSION"),
        })
    }
}

/// The raw numbers.
pub fn document(page: &Page, provenance: &Provenance) -> anyhow::Result<Value> {
    let sections: Map<String, Value> =
        page.sections.iter().map(|s| (s.id.to_string(), s.data.clone())).collect();
    let mut experiments = Map::new();
    for (id, file) in experiments::files()? {
        let claims: Vec<_> = page.claims().filter(|c| c.experiment == id).collect();
        // Nothing is said of what was not run.
        let held = if claims.is_empty() { Value::Null } else { claims.iter().all(|c| c.held()).into() };
        experiments.insert(id.to_string(), json!({ "held": held, "claims": claims, "experiment": file }));
    }
    Ok(json!({
        "run": provenance.json(),
        "notices": page.notices,
        "claims": page.claims().collect::<Vec<_>>(),
        "experiments": experiments,
        "results": sections,
    }))
}
