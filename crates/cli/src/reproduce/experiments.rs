//! The experiments as data: one TOML file each, built in.

use std::collections::BTreeMap;

use anyhow::Context;
use derrl_env::Options;
use derrl_learn::Config;
use serde::Deserialize;

/// Every file of the generalisation table, in the paper's order.
const TABLES: [(&str, &str); 6] = [
    ("table-countdown", include_str!("../../../../experiments/table-countdown.toml")),
    ("table-countdown-stochastic", include_str!("../../../../experiments/table-countdown-stochastic.toml")),
    ("table-blocks", include_str!("../../../../experiments/table-blocks.toml")),
    ("table-doorkey", include_str!("../../../../experiments/table-doorkey.toml")),
    ("table-traffic", include_str!("../../../../experiments/table-traffic.toml")),
    ("table-gridworld", include_str!("../../../../experiments/table-gridworld.toml")),
];
const CONVERGENCE: &str = include_str!("../../../../experiments/convergence.toml");
const RUNTIME: &str = include_str!("../../../../experiments/runtime.toml");
const ABLATION: &str = include_str!("../../../../experiments/ablation.toml");

/// All experiments.
#[derive(Clone, Debug)]
pub struct Experiments {
    /// The generalisation table, a domain each.
    pub tables: Vec<TableSpec>,
    /// Which curves are drawn.
    pub convergence: ConvergenceSpec,
    /// Which times are measured.
    pub runtime: RuntimeSpec,
    /// Which settings are changed.
    pub ablation: AblationSpec,
}

/// The rows of the generalisation table for one domain.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableSpec {
    /// The name of the file, which is the name of its claims.
    #[serde(skip)]
    pub id: String,
    /// As the paper calls it.
    pub title: String,
    /// The domain.
    pub domain: String,
    /// Options of the world that agents train in.
    #[serde(default)]
    pub options: Options,
    /// Runs of each agent.
    pub seeds: u64,
    /// Episodes a score.
    pub episodes: usize,
    /// The budget of each agent, in decisions; agents without one are left out.
    pub decisions: BTreeMap<String, u64>,
    /// What `--quick` takes instead.
    pub quick: Quick,
    /// What has to hold.
    pub expect: TableExpect,
    /// The rows.
    #[serde(rename = "row")]
    pub rows: Vec<Row>,
}

/// Smaller budgets.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quick {
    /// Decisions of each agent.
    pub decisions: u64,
    /// Episodes a score.
    #[serde(default)]
    pub episodes: usize,
    /// How many sizes of an axis.
    #[serde(default)]
    pub sizes: usize,
}

/// What has to hold of a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableExpect {
    /// Agents that reach the paper's own value in every row.
    pub at_least_paper: Vec<String>,
    /// The agent that is at least as good as all others in every row that asks for generalisation.
    pub best_when_generalising: String,
    /// By how much a value may fall short.
    pub tolerance: f64,
}

/// A row of the table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The task.
    pub task: String,
    /// As the paper calls it.
    pub name: String,
    /// Options of the world that is scored in.
    #[serde(default)]
    pub options: Options,
    /// Whether it differs from what was trained on.
    #[serde(default)]
    pub generalises: bool,
    /// The paper's value by agent; none for a row that is ours.
    #[serde(default)]
    pub paper: BTreeMap<String, f64>,
}

/// Which training curves are drawn: those of the table's runs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConvergenceSpec {
    /// A figure each.
    pub domains: Vec<String>,
    /// A line each.
    pub agents: Vec<String>,
}

/// Which times are measured.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimeSpec {
    /// A line each.
    pub agents: Vec<String>,
    /// Measurements of each point.
    pub seeds: u64,
    /// Training decisions a measurement, for each agent.
    pub decisions: BTreeMap<String, u64>,
    /// Settings of DERRL beside the defaults.
    #[serde(default)]
    pub settings: toml::Table,
    /// What `--quick` takes instead.
    pub quick: Quick,
    /// What has to hold.
    pub expect: RuntimeExpect,
    /// A figure each.
    #[serde(rename = "axis")]
    pub axes: Vec<Axis>,
}

/// What has to hold of times.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimeExpect {
    /// This agent ...
    pub fast: String,
    /// ... beside this one ...
    pub slow: String,
    /// ... is at least this many times as fast, at every size.
    pub ratio: f64,
}

/// Something that grows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// The domain.
    pub domain: String,
    /// What grows.
    pub name: String,
    /// In what it is counted.
    pub unit: String,
    /// The option of the task `large` that says how much: `size` or `range`.
    pub option: Option<String>,
    /// Or the task of each size.
    #[serde(default)]
    pub tasks: Vec<String>,
    /// The sizes.
    pub sizes: Vec<usize>,
    /// Further options of the world.
    #[serde(default)]
    pub options: Options,
}

/// Which settings are changed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AblationSpec {
    /// Runs of each variant.
    pub seeds: u64,
    /// The budget of a run, in decisions.
    pub decisions: u64,
    /// Whose settings.
    pub agent: String,
    /// Settings of all runs beside the defaults.
    #[serde(default)]
    pub settings: toml::Table,
    /// What `--quick` takes instead.
    pub quick: Quick,
    /// What has to hold.
    pub expect: AblationExpect,
    /// Where.
    #[serde(rename = "domain")]
    pub domains: Vec<AblationDomain>,
    /// What is compared with what.
    #[serde(rename = "group")]
    pub groups: Vec<Group>,
}

/// What has to hold of an ablation: without constraints, rules have more redundant atoms, and learning is slower.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AblationExpect {
    /// The variant with semantic constraints.
    pub with: String,
    /// The variant without.
    pub without: String,
}

/// A domain of the ablation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AblationDomain {
    /// Its name.
    pub name: String,
    /// Runs of each variant, where they are costly.
    pub seeds: Option<u64>,
    /// The budget of a run, where decisions are costly.
    pub decisions: Option<u64>,
}

/// Variants that are compared.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// What they vary in.
    pub name: String,
    /// Whether their curves are drawn.
    #[serde(default)]
    pub figure: bool,
    /// Settings of all of them.
    #[serde(default)]
    pub settings: toml::Table,
    /// The variants.
    pub variants: Vec<Variant>,
}

/// One way to set it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// Its settings.
    pub settings: toml::Table,
}

impl Experiments {
    /// The experiments as they are built in.
    pub fn load() -> anyhow::Result<Experiments> {
        let tables = TABLES.iter().map(|(id, text)| {
            let spec: TableSpec = read(id, text)?;
            Ok(TableSpec { id: (*id).to_string(), ..spec })
        });
        Ok(Experiments {
            tables: tables.collect::<anyhow::Result<_>>()?,
            convergence: read("convergence", CONVERGENCE)?,
            runtime: read("runtime", RUNTIME)?,
            ablation: read("ablation", ABLATION)?,
        })
    }
}

fn read<T: serde::de::DeserializeOwned>(id: &str, text: &str) -> anyhow::Result<T> {
    toml::from_str(text).with_context(|| format!("experiments/{id}.toml"))
}

/// The default settings with these changed; later ones win.
pub fn settings(changes: &[&toml::Table]) -> anyhow::Result<Config> {
    let mut table = toml::Table::try_from(Config::default())?;
    for (key, value) in changes.iter().flat_map(|t| t.iter()) {
        table.insert(key.clone(), value.clone());
    }
    let config: Config = toml::Value::Table(table).try_into()?;
    config.check()?;
    Ok(config)
}

#[cfg(test)]
mod tests {
    use derrl_env::find;
    use derrl_learn::find_agent;

    use super::*;

    #[test]
    fn every_experiment_names_what_exists() {
        let all = Experiments::load().unwrap();
        let mut values = 0;
        for table in &all.tables {
            let spec = find(&table.domain).unwrap();
            assert!(table.seeds >= 3 && table.decisions.keys().all(|a| find_agent(a).is_ok()));
            for row in &table.rows {
                spec.task(&row.task).unwrap();
                assert!(row.paper.keys().all(|a| table.decisions.contains_key(a)));
                values += row.paper.len();
            }
        }
        assert_eq!(values, 17 * 5, "the paper's table has 17 rows of 5 values");
        for axis in &all.runtime.axes {
            let spec = find(&axis.domain).unwrap();
            assert!(axis.tasks.iter().all(|t| spec.task(t).is_ok()));
            assert!(axis.option.is_some() || axis.tasks.len() == axis.sizes.len(), "{}", axis.name);
        }
        for group in &all.ablation.groups {
            for variant in &group.variants {
                settings(&[&all.ablation.settings, &group.settings, &variant.settings]).unwrap();
            }
        }
        assert!(all.ablation.domains.iter().all(|d| find(&d.name).is_ok()));
    }
}
