//! `derrl reproduce`: the paper's experiments, run and set beside the paper's values.
//!
//! Experiments are data (`experiments/*.toml`). Each asks for jobs; jobs are run once, on all cores, and kept; from their
//! results each part makes a section of the report.

mod ablation;
mod convergence;
mod curves;
mod experiments;
mod html;
mod job;
mod names;
mod page;
mod pool;
mod readme;
mod rules;
mod runs;
mod runtime;
mod sample;
mod scores;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, bail};
use derrl_env::{Error, Options, find};
use derrl_learn::{AGENTS, Config, find_agent};
use derrl_report::Theme;
use serde_json::{Map, Value, json};

use crate::args::{Part, Reproduce};
use crate::cli::{Failure, Outcome, print, print_json};
use crate::lock::Lock;
use crate::progress::catch_interrupts;
use crate::provenance::{commit, machine, today};
use crate::safe_file::{self, make_folder};
use crate::say;
use crate::shell::quoted;
use experiments::{Experiments, TableSpec};
use job::{Finished, Job, Results, Store};
use page::{Block, Page, Section};
use readme::Readme;

/// Which jobs a part asks for, and what it makes of their results.
struct PartSpec {
    part: Part,
    jobs: fn(&Plan) -> anyhow::Result<Vec<Job>>,
    section: fn(&Plan, &Results) -> anyhow::Result<Section>,
}

/// The parts, in the order of the report.
const PARTS: [PartSpec; 6] = [
    PartSpec { part: Part::Table, jobs: |plan| plan.all_table_jobs(|_, _| true), section: scores::section },
    PartSpec {
        part: Part::Convergence,
        jobs: |plan| {
            let spec = &plan.experiments.convergence;
            let drawn = |t: &TableSpec| spec.domains.contains(&t.domain) && t.options.noise.is_none();
            plan.all_table_jobs(|table, agent| drawn(table) && spec.agents.iter().any(|a| a == agent))
        },
        section: convergence::section,
    },
    PartSpec { part: Part::Runtime, jobs: runtime::all_jobs, section: runtime::section },
    PartSpec { part: Part::Ablation, jobs: ablation::all_jobs, section: ablation::section },
    PartSpec {
        part: Part::Rules,
        jobs: |plan| plan.all_table_jobs(|_, agent| agent == "derrl" || agent == "nlrl"),
        section: rules::section,
    },
    PartSpec {
        part: Part::Programs,
        jobs: |plan| plan.all_table_jobs(|table, agent| agent == "derrl" && table.options.noise.is_none()),
        section: rules::programs,
    },
];

/// What is to be reproduced, and how.
pub struct Plan {
    /// The experiments.
    pub experiments: Experiments,
    /// Whether budgets are small.
    pub quick: bool,
    /// Seeds a run, where asked for.
    seeds: Option<u64>,
    /// The most decisions of a run, where asked for.
    budget: Option<u64>,
    /// Domains that were asked for and can be run.
    domains: Vec<&'static str>,
}

impl Plan {
    /// Whether a domain is part of it.
    pub fn includes(&self, domain: &str) -> bool {
        self.domains.contains(&domain)
    }

    /// The generalisation tables that are part of it.
    pub fn tables(&self) -> impl Iterator<Item = &TableSpec> {
        self.experiments.tables.iter().filter(|t| self.includes(&t.domain))
    }

    /// How many seeds, where the experiment says `full`, and `quick` for a quick look.
    pub fn seeds(&self, full: u64, quick: u64) -> u64 {
        self.seeds.unwrap_or(if self.quick { full.min(quick) } else { full })
    }

    /// The runs of each agent in a table.
    pub fn table_seeds(&self, table: &TableSpec) -> u64 {
        self.seeds(table.seeds, table.quick.seeds)
    }

    /// The budget of an agent in a table.
    pub fn budget(&self, table: &TableSpec, agent: &str) -> u64 {
        self.decisions(table.decisions.get(agent).copied().unwrap_or(0), table.quick.decisions)
    }

    /// The budget of a run, where the experiment says `full`, and `quick` for a quick look.
    pub fn decisions(&self, full: u64, quick: u64) -> u64 {
        let budget = if self.quick { full.min(quick) } else { full };
        budget.min(self.budget.unwrap_or(u64::MAX))
    }

    /// Episodes a score of a table.
    pub fn episodes(&self, table: &TableSpec) -> usize {
        if self.quick { table.quick.episodes } else { table.episodes }
    }

    /// The runs of an agent in a table.
    pub fn table_jobs(&self, table: &TableSpec, agent: &str) -> anyhow::Result<Vec<Job>> {
        let mut job = Job::new(agent, &table.domain, &Config::default())?;
        job.options = table.options.clone();
        job.decisions = self.budget(table, agent);
        job.episodes = self.episodes(table);
        job.tasks = table.rows.iter().map(|r| (r.task.clone(), r.options.clone())).collect();
        Ok(each_seed(&job, self.table_seeds(table)))
    }

    /// The runs of those agents in those tables.
    fn all_table_jobs(&self, wanted: impl Fn(&TableSpec, &str) -> bool) -> anyhow::Result<Vec<Job>> {
        let mut all = Vec::new();
        for table in self.tables() {
            for agent in
                AGENTS.iter().filter(|a| table.decisions.contains_key(a.name) && wanted(table, a.name))
            {
                all.extend(self.table_jobs(table, agent.name)?);
            }
        }
        Ok(all)
    }
}

/// A job once a seed.
fn each_seed(job: &Job, seeds: u64) -> Vec<Job> {
    (0..seeds).map(|seed| Job { seed, ..job.clone() }).collect()
}

/// Runs what is missing, then writes the report.
pub fn run(args: &Reproduce) -> Outcome {
    commit(); // asked now: sources may change before the last run is done
    let (plan, notices) = plan(args)?;
    let parts: Vec<&PartSpec> =
        PARTS.iter().filter(|p| args.part == Part::All || args.part == p.part).collect();
    let mut jobs = Vec::new();
    for part in &parts {
        jobs.extend((part.jobs)(&plan)?);
    }
    let open = |path: &Path| anyhow::Ok((path.to_path_buf(), Readme::open(path)?));
    let readme = args.readme.as_deref().map(open).transpose()?;
    if readme.is_some() && !parts.iter().any(|p| p.part == Part::Table) {
        return Err(
            anyhow::anyhow!("--readme takes the generalisation table: reproduce `table` or `all`").into()
        );
    }
    for notice in &notices {
        say!("{notice}");
    }
    let _lock = Lock::of(&args.out)?; // held to the end
    let store = Store::open(&args.out)?;
    store.forget(jobs.iter().filter(|job| args.again.iter().any(|which| job.is(which))))?;
    catch_interrupts();
    let threads = args.threads.map_or_else(derrl_learn::cores, usize::from);
    let Some(results) = pool::run(jobs, &store, threads)? else {
        let text = "interrupted; what is finished is kept. Go on with the same command:";
        return Err(Failure::Interrupted(format!("{text} {} --out {}", command(args), quoted(&args.out))));
    };
    let mut sections = Vec::new();
    for part in &parts {
        sections.push((part.section)(&plan, &results)?);
    }
    let runs = runs::write(&plan, &results, &args.out)?;
    let title = "DERRL, reproduced".to_string();
    let provenance = Provenance::new(args, &results);
    let page = Page { title, facts: provenance.facts(), notices, runs: runs.is_some(), sections };
    let document = document(&page, &provenance)?;
    write(args, &page, &document)?;
    if let Some((path, readme)) = &readme {
        readme.write(path, &page, &provenance)?;
    }
    if args.json {
        print_json(&document)?;
    } else {
        print(&if args.verbose { page.to_text() } else { page.summary() });
        print(&format!(
            "\nwritten to {}: report.html, report.md, results.json, figures/{}\n",
            args.out.display(),
            if page.runs { ", runs.html, runs/" } else { "" }
        ));
    }
    Ok(())
}

/// What was asked for, and what of it is left out, with the reason.
fn plan(args: &Reproduce) -> anyhow::Result<(Plan, Vec<String>)> {
    let experiments = Experiments::load()?;
    for which in &args.again {
        let (agent, domain) = which.split_once(':').unwrap_or((which, experiments.tables[0].domain.as_str()));
        find_agent(agent).with_context(|| format!("--again {which}"))?;
        find(domain).with_context(|| format!("--again {which}"))?;
    }
    let mut names: Vec<&'static str> = Vec::new();
    for table in &experiments.tables {
        let name = find(&table.domain)?.name();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut domains = Vec::new();
    let mut notices = Vec::new();
    for name in &args.domains {
        domains.push(find(name)?.name());
    }
    if domains.is_empty() {
        domains = names;
    }
    let mut able = Vec::new();
    for name in domains {
        let spec = find(name)?;
        match spec.make(&spec.alphabet(), &spec.tasks()[0].name, &Options::default()) {
            Ok(_) if able.contains(&name) => {}
            Ok(_) => able.push(name),
            Err(Error::Simulator(reason)) => {
                let first = reason.lines().next().unwrap_or_default();
                notices.push(format!("{} is left out: {first}", names::capital(name)));
            }
            Err(error) => return Err(error.into()),
        }
    }
    if able.is_empty() {
        bail!("nothing is left to reproduce. {}", notices.join(" "));
    }
    if args.quick {
        notices.push("Quick: budgets are small, so results are weaker than those of a full run.".to_string());
    }
    Ok((
        Plan { experiments, quick: args.quick, seeds: args.seeds, budget: args.budget, domains: able },
        notices,
    ))
}

/// The command line that asks for the same, wherever it is kept.
fn command(args: &Reproduce) -> String {
    let part = clap::ValueEnum::to_possible_value(&args.part);
    let mut words = vec!["derrl".to_string(), "reproduce".to_string()];
    words.extend(part.map(|p| p.get_name().to_string()));
    words.extend(args.seeds.map(|n| format!("--seeds {n}")));
    words.extend(args.quick.then(|| "--quick".to_string()));
    words.extend(args.budget.map(|n| format!("--budget {n}")));
    words.extend(args.domains.iter().map(|d| format!("--domain {d}")));
    words.join(" ")
}

/// How a report was made. Runs may have been made on several days, by several versions of the code.
struct Provenance {
    command: String,
    runs: [String; 2],
    report: [String; 2],
    machine: String,
}

impl Provenance {
    fn new(args: &Reproduce, results: &Results) -> Provenance {
        let distinct = |of: fn(&Finished) -> &str| {
            let all: BTreeSet<&str> = results.iter().map(of).collect();
            all.into_iter().collect::<Vec<_>>().join(", ")
        };
        Provenance {
            command: command(args),
            runs: [distinct(|f| &f.date), distinct(|f| &f.commit)],
            report: [today(), commit()],
            machine: machine(),
        }
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let said = |[date, commit]: &[String; 2]| format!("{date}, commit {commit}");
        vec![
            ("Command", self.command.clone()),
            ("Runs", said(&self.runs)),
            ("Report", said(&self.report)),
            ("Machine", self.machine.clone()),
        ]
    }

    fn json(&self) -> Value {
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
fn document(page: &Page, provenance: &Provenance) -> anyhow::Result<Value> {
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

/// Writes the report into the folder, as HTML, Markdown and JSON, and the figures beside it.
fn write(args: &Reproduce, page: &Page, document: &Value) -> anyhow::Result<()> {
    let figures = args.out.join("figures");
    make_folder(&figures)?;
    for block in page.sections.iter().flat_map(|s| &s.blocks) {
        if let Block::Figure(figure) = block {
            let svg = figure.chart.to_svg(Theme::Light);
            safe_file::write(&figures.join(format!("{}.svg", figure.name)), &svg)?;
        }
    }
    safe_file::write(&args.out.join("results.json"), &serde_json::to_string_pretty(document)?)?;
    safe_file::write(&args.out.join("report.md"), &page.to_markdown())?;
    safe_file::write(&args.out.join("report.html"), &html::to_html(page))
}
