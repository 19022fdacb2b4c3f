//! What is to be reproduced: parts, domains, seeds and budgets, and the jobs that these need.

use anyhow::{Context, bail};
use derrl_env::{Error, Options, World, find};
use derrl_learn::{AGENTS, Config, find_agent};

use crate::experiments::{Experiments, TableSpec, settings};
use crate::job::{Job, Results};
use crate::names::capital;
use crate::page::Section;
use crate::{ablation, convergence, rules, runtime, scores};

/// Which jobs a part asks for, and what it makes of their results.
pub struct Part {
    /// Its name on the command line.
    pub name: &'static str,
    /// The runs that it needs.
    pub jobs: fn(&Plan) -> anyhow::Result<Vec<Job>>,
    /// Its section of the report.
    pub section: fn(&Plan, &Results) -> anyhow::Result<Section>,
}

/// The parts, in the order of the report.
pub const PARTS: [Part; 6] = [
    Part { name: "table", jobs: |plan| plan.all_table_jobs(|_, _| true), section: scores::section },
    Part {
        name: "convergence",
        jobs: |plan| {
            let spec = &plan.experiments.convergence;
            let drawn = |t: &&TableSpec| spec.domains.contains(&t.domain) && t.options.noise.is_none();
            let mut all = Vec::new();
            for table in plan.tables().filter(drawn) {
                for agent in spec.agents.iter().filter(|a| table.decisions.contains_key(*a)) {
                    all.extend(plan.curve_jobs(table, agent)?);
                }
            }
            Ok(all)
        },
        section: convergence::section,
    },
    Part { name: "runtime", jobs: runtime::all_jobs, section: runtime::section },
    Part { name: "ablation", jobs: ablation::all_jobs, section: ablation::section },
    Part {
        name: "rules",
        jobs: |plan| plan.all_table_jobs(|_, agent| agent == "derrl" || agent == "nlrl"),
        section: rules::section,
    },
    Part {
        name: "programs",
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
    /// Seeds per run, where asked for.
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

    /// Episodes per score of a table.
    pub fn episodes(&self, table: &TableSpec) -> usize {
        if self.quick { table.quick.episodes } else { table.episodes }
    }

    /// The runs of an agent in a table.
    pub fn table_jobs(&self, table: &TableSpec, agent: &str) -> anyhow::Result<Vec<Job>> {
        self.jobs_with(table, agent, &Config::default())
    }

    /// The runs of an agent in a table whose training curves are drawn.
    pub fn curve_jobs(&self, table: &TableSpec, agent: &str) -> anyhow::Result<Vec<Job>> {
        self.jobs_with(table, agent, &settings(&[&self.experiments.convergence.settings])?)
    }

    fn jobs_with(&self, table: &TableSpec, agent: &str, config: &Config) -> anyhow::Result<Vec<Job>> {
        let mut job = Job::new(agent, &table.domain, config)?;
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

/// A job once per seed.
pub(crate) fn each_seed(job: &Job, seeds: u64) -> Vec<Job> {
    (0..seeds).map(|seed| Job { seed, ..job.clone() }).collect()
}

/// What a person asks for.
#[derive(Debug, Default)]
pub struct Wish<'a> {
    /// Whether budgets are small.
    pub quick: bool,
    /// Seeds per run, in place of those of the experiments.
    pub seeds: Option<u64>,
    /// The most decisions per run.
    pub budget: Option<u64>,
    /// The domains; all where none is named.
    pub domains: &'a [String],
    /// Runs to do again, `AGENT` or `AGENT:DOMAIN`.
    pub again: &'a [String],
}

/// What was asked for, and what of it is left out, with the reason.
pub fn plan(args: &Wish) -> anyhow::Result<(Plan, Vec<String>)> {
    let experiments = Experiments::load()?;
    for which in args.again {
        let (agent, domain) = which.split_once(':').unwrap_or((which, experiments.tables[0].domain.as_str()));
        find_agent(agent).with_context(|| format!("--again {which}"))?;
        find(domain).with_context(|| format!("--again {which}"))?;
    }
    let mut names: Vec<&'static str> = Vec::new();
    let mut domains = Vec::new();
    let mut notices = Vec::new();
    for table in &experiments.tables {
        match find(&table.domain).map(World::name) {
            Ok(name) if names.contains(&name) => {}
            Ok(name) => names.push(name),
            Err(_) => {
                notices.push(format!("{} is left out: derrl was built without it.", capital(&table.domain)));
            }
        }
    }
    for name in args.domains {
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
                notices.push(format!("{} is left out: {first}", capital(name)));
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
