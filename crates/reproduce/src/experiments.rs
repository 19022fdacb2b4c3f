//! The experiments as data: one TOML file each, built in.

use std::collections::BTreeMap;

use anyhow::Context;
use derrl_env::Options;
use derrl_learn::Config;
use serde::Deserialize;

/// A file of `experiments/`, built in.
macro_rules! file {
    ($id:literal) => {
        ($id, include_str!(concat!("../experiments/", $id, ".toml")))
    };
}

/// The generalisation table, in the paper's order.
const TABLES: [(&str, &str); 6] = [
    file!("table-countdown"),
    file!("table-countdown-stochastic"),
    file!("table-blocks"),
    file!("table-doorkey"),
    file!("table-traffic"),
    file!("table-gridworld"),
];
const CONVERGENCE: (&str, &str) = file!("convergence");
const RUNTIME: (&str, &str) = file!("runtime");
const ABLATIONS: [(&str, &str); 5] = [
    file!("ablation-parts"),
    file!("ablation-constraints"),
    file!("ablation-tnorms"),
    file!("ablation-tnorms-paper"),
    file!("ablation-estimators"),
];

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
    pub ablations: Vec<AblationSpec>,
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
    /// Episodes per score.
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
    /// Runs of each agent.
    pub seeds: u64,
    /// Decisions of each agent.
    pub decisions: u64,
    /// Episodes per score.
    pub episodes: usize,
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

/// Which training curves are drawn: those of the table's runs, of DERRL with other settings.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConvergenceSpec {
    /// A figure each.
    pub domains: Vec<String>,
    /// A line each.
    pub agents: Vec<String>,
    /// Settings of DERRL that are changed.
    pub settings: toml::Table,
    /// What has to hold.
    pub expect: ConvergenceExpect,
}

/// What has to hold of training curves.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConvergenceExpect {
    /// This agent ...
    pub agent: String,
    /// ... beside this one ...
    pub beside: String,
    /// ... makes this share of the way from Random's score to the best known ...
    pub share: f64,
    /// ... in at most this many times as many episodes.
    pub factor: f64,
}

/// Which times are measured.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuntimeSpec {
    /// A line each.
    pub agents: Vec<String>,
    /// Measurements of each point.
    pub seeds: u64,
    /// Training decisions per measurement, for each agent.
    pub decisions: BTreeMap<String, u64>,
    /// Settings of DERRL beside the defaults.
    #[serde(default)]
    pub settings: toml::Table,
    /// What `--quick` takes instead.
    pub quick: QuickRuntime,
    /// What has to hold.
    pub expect: RuntimeExpect,
    /// A figure each.
    #[serde(rename = "axis")]
    pub axes: Vec<Axis>,
}

/// Fewer sizes and measurements.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuickRuntime {
    /// Measurements of each point.
    pub seeds: u64,
    /// How many sizes of an axis.
    pub sizes: usize,
    /// Training decisions per measurement, for each agent.
    pub decisions: BTreeMap<String, u64>,
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

/// An option of a world that says how large it is.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SizeOption {
    /// `--size`.
    Size,
    /// `--range`.
    Range,
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
    /// The option of the task `large` that says how much.
    pub option: SizeOption,
    /// The sizes.
    pub sizes: Vec<usize>,
    /// Further options of the world.
    #[serde(default)]
    pub options: Options,
    /// Training decisions per measurement, where they are costly.
    pub decisions: Option<BTreeMap<String, u64>>,
    /// What a reader should know.
    pub note: Option<String>,
    /// Whether `--quick` takes too long for it.
    #[serde(default)]
    pub slow: bool,
}

/// A setting that is changed.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AblationSpec {
    /// The name of the file, which is the name of its claims.
    #[serde(skip)]
    pub id: String,
    /// What is varied.
    pub title: String,
    /// Whose settings.
    pub agent: String,
    /// Runs of each variant.
    pub seeds: u64,
    /// The budget of a run, in decisions.
    pub decisions: u64,
    /// Episodes per score.
    pub episodes: usize,
    /// Whether training curves are drawn.
    pub figure: bool,
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
    /// What is compared.
    #[serde(rename = "variant")]
    pub variants: Vec<Variant>,
}

/// What has to hold of an ablation.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum AblationExpect {
    /// With one variant, learning is faster and rules have fewer redundant atoms than with another.
    Better {
        /// The one.
        better: String,
        /// The other.
        than: String,
    },
    /// One variant returns at least as much as any other.
    Best {
        /// Which.
        best: String,
        /// By how much it may fall short.
        tolerance: f64,
    },
}

/// A domain of an ablation, with what differs where decisions are costly.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AblationDomain {
    /// Its name.
    pub name: String,
    /// Runs of each variant.
    pub seeds: Option<u64>,
    /// The budget of a run.
    pub decisions: Option<u64>,
    /// Episodes per score.
    pub episodes: Option<usize>,
    /// Whether `--quick` takes too long for it.
    #[serde(default)]
    pub slow: bool,
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
        let tables = TABLES.iter().map(|file| {
            let spec: TableSpec = read(file)?;
            Ok(TableSpec { id: file.0.to_string(), ..spec })
        });
        let ablations = ABLATIONS.iter().map(|file| {
            let spec: AblationSpec = read(file)?;
            Ok(AblationSpec { id: file.0.to_string(), ..spec })
        });
        Ok(Experiments {
            tables: tables.collect::<anyhow::Result<_>>()?,
            convergence: read(&CONVERGENCE)?,
            runtime: read(&RUNTIME)?,
            ablations: ablations.collect::<anyhow::Result<_>>()?,
        })
    }
}

/// Every file by its name, as it reads.
pub fn files() -> anyhow::Result<Vec<(&'static str, toml::Table)>> {
    TABLES.iter().chain([&CONVERGENCE, &RUNTIME]).chain(&ABLATIONS).map(|f| Ok((f.0, read(f)?))).collect()
}

fn read<T: serde::de::DeserializeOwned>((id, text): &(&str, &str)) -> anyhow::Result<T> {
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
                spec.find_task(&row.task).unwrap();
                assert!(row.paper.keys().all(|a| table.decisions.contains_key(a)));
                values += row.paper.len();
            }
        }
        assert_eq!(values, 17 * 5, "the paper's table has 17 rows of 5 values");
        for axis in &all.runtime.axes {
            let spec = find(&axis.domain).unwrap();
            assert!(spec.find_task("large").is_ok() && axis.sizes.is_sorted(), "{}", axis.name);
        }
        for ablation in &all.ablations {
            let named = |name: &str| ablation.variants.iter().any(|v| v.name == name);
            assert!(match &ablation.expect {
                AblationExpect::Better { better, than } => named(better) && named(than),
                AblationExpect::Best { best, .. } => named(best),
            });
            for variant in &ablation.variants {
                settings(&[&ablation.settings, &variant.settings]).unwrap();
            }
            assert!(ablation.domains.iter().all(|d| find(&d.name).is_ok()));
        }
    }

    #[test]
    fn every_file_of_the_folder_is_built_in() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments");
        let mut there: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|e| e.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        // What counts as solved is read where it is judged.
        let mut known: Vec<&str> = files().unwrap().iter().map(|f| f.0).chain(["solved"]).collect();
        there.sort();
        known.sort_unstable();
        assert_eq!(there, known);
    }
}
