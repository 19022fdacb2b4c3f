//! `derrl reproduce table`: the paper's generalisation table, measured.

use derrl_learn::{AGENTS, mean_stderr};
use serde_json::{Map, Value, json};

use super::Plan;
use super::experiments::{Row, TableSpec};
use super::job::Results;
use super::names::shown;
use super::page::{Block, Cell, Claim, Mark, Section, row};
use crate::table::thousands;

/// Values this close to the paper's count as equal to it.
const CLOSE: f64 = 0.02;

/// A cell of the table.
struct Measured {
    agent: String,
    mean: f64,
    stderr: f64,
    best_known: f64,
    runs: Vec<f64>,
    paper: Option<f64>,
}

impl Measured {
    fn mark(&self) -> Mark {
        match self.paper {
            None => Mark::None,
            Some(paper) if (self.mean - paper).abs() <= CLOSE => Mark::Same,
            Some(paper) if self.mean > paper => Mark::Better,
            Some(_) => Mark::Worse,
        }
    }

    fn cell(&self) -> Cell {
        Cell {
            text: format!("{} ± {:.2}", two(self.mean), self.stderr),
            note: self.paper.map_or_else(String::new, |p| format!("({})", two(p))),
            mark: self.mark(),
        }
    }

    fn json(&self) -> Value {
        json!({
            "mean": self.mean,
            "stderr": self.stderr,
            "runs": self.runs,
            "paper": self.paper,
            "against_paper": match self.mark() {
                Mark::None => Value::Null,
                Mark::Better => "better".into(),
                Mark::Same => "same".into(),
                Mark::Worse => "worse".into(),
            },
        })
    }
}

/// A number of the table: two decimals, a true minus, no `-0.00`.
fn two(value: f64) -> String {
    let text = format!("{value:.2}");
    if text == "-0.00" { "0.00".to_string() } else { text.replace('-', "−") }
}

/// The section.
pub fn section(plan: &Plan, results: &Results) -> anyhow::Result<Section> {
    let mut rows = vec![row(["", "DERRL", "NLRL", "GCN", "MLP", "Random", "best known"])];
    let mut claims = Vec::new();
    let mut data = Map::new();
    let mut surprises = Vec::new();
    for table in plan.tables() {
        let mut measured = Vec::new();
        for (at, r) in table.rows.iter().enumerate() {
            measured.push((r, measure(plan, table, at, results)?));
        }
        rows.push(row([table.title.as_str()]));
        let mut list = Vec::new();
        for (r, cells) in &measured {
            let best = cells.iter().find(|c| c.best_known.is_finite()).map_or(f64::NAN, |c| c.best_known);
            let name = Cell::from(r.name.as_str());
            rows.push(
                [name]
                    .into_iter()
                    .chain(cells.iter().map(Measured::cell))
                    .chain([two(best).into()])
                    .collect(),
            );
            for c in cells.iter().filter(|c| c.paper.is_some()) {
                surprises.push((c.agent.clone(), c.mark(), format!("{}, {}", table.title, r.name)));
            }
            let agents: Map<String, Value> = cells.iter().map(|c| (c.agent.clone(), c.json())).collect();
            list.push(json!({"task": r.task, "name": r.name, "options": r.options, "best_known": best, "agents": agents}));
        }
        claims.extend(judge(table, &measured));
        data.insert(
            table.id.clone(),
            json!({
                "title": table.title,
                "domain": table.domain,
                "options": table.options,
                "seeds": plan.table_seeds(table),
                "episodes": plan.episodes(table),
                "decisions": table.decisions.keys().map(|a| (a.clone(), plan.budget(table, a).into())).collect::<Map<_, _>>(),
                "rows": list,
            }),
        );
    }
    let blocks = vec![
        Block::Text(format!(
            "Mean return ± standard error over seeds; in brackets the paper's value, and whether ours is better (▲), worse (▼) or the same (=, \
             within {CLOSE}). Each seed is a training run of its own, scored over the same instances for every agent. \
             Best known: what search or the best hand-written controller gets on these instances; with noise, what the best player can expect."
        )),
        Block::Table(rows),
        Block::Heading("Where agents come out better or worse than in the paper".to_string()),
        Block::Table(differences(&surprises)),
        Block::Heading("Budgets".to_string()),
        Block::Table(budgets(plan)),
    ];
    Ok(Section { id: "table", title: "Generalisation table", blocks, claims, data: Value::Object(data) })
}

/// For each agent, the rows in which it came out better and worse than in the paper.
fn differences(marks: &[(String, Mark, String)]) -> Vec<Vec<Cell>> {
    let mut rows = vec![row(["agent", "better in", "worse in", "the same in"])];
    for agent in AGENTS {
        let list = |mark: Mark| {
            let of: Vec<&str> =
                marks.iter().filter(|m| m.0 == agent.name && m.1 == mark).map(|m| m.2.as_str()).collect();
            match of.len() {
                0 => "no row".to_string(),
                1 => format!("1 row: {}", of[0]),
                n => format!("{n} rows: {}", of.join("; ")),
            }
        };
        let cells = [Mark::Better, Mark::Worse, Mark::Same].map(list);
        rows.push(row([shown(agent.name)].into_iter().chain(cells)));
    }
    rows
}

/// The budgets of the tables.
fn budgets(plan: &Plan) -> Vec<Vec<Cell>> {
    let mut rows = vec![row(["", "decisions of each agent that learns", "seeds", "episodes a score"])];
    for table in plan.tables() {
        let mut agents: Vec<(u64, Vec<String>)> = Vec::new();
        for name in AGENTS.iter().map(|a| a.name).filter(|a| *a != "random") {
            let decisions = plan.budget(table, name);
            match agents.iter_mut().find(|(d, _)| *d == decisions) {
                Some((_, names)) => names.push(shown(name)),
                None => agents.push((decisions, vec![shown(name)])),
            }
        }
        let list: Vec<String> = match &agents[..] {
            [(decisions, _)] => vec![thousands(*decisions)],
            several => several
                .iter()
                .map(|(d, names)| format!("{} for {}", thousands(*d), names.join(", ")))
                .collect(),
        };
        let counts = [plan.table_seeds(table).to_string(), plan.episodes(table).to_string()];
        rows.push(row([table.title.clone(), list.join("; ")].into_iter().chain(counts)));
    }
    rows
}

/// Every agent on one row.
fn measure(plan: &Plan, table: &TableSpec, at: usize, results: &Results) -> anyhow::Result<Vec<Measured>> {
    let row = &table.rows[at];
    AGENTS
        .iter()
        .filter(|a| table.decisions.contains_key(a.name))
        .map(|a| {
            let finished = results.all(&plan.table_jobs(table, a.name)?);
            let runs: Vec<f64> = finished.iter().filter_map(|f| f.scores.get(at)).map(|s| s.mean).collect();
            let best: Vec<f64> =
                finished.iter().filter_map(|f| f.scores.get(at)).filter_map(|s| s.best_known).collect();
            let (mean, stderr) = mean_stderr(&runs);
            let best_known = if best.is_empty() { f64::NAN } else { mean_stderr(&best).0 };
            Ok(Measured {
                agent: a.name.to_string(),
                mean,
                stderr,
                best_known,
                runs,
                paper: row.paper.get(a.name).copied(),
            })
        })
        .collect()
}

/// Whether what the experiment expects held.
fn judge(table: &TableSpec, measured: &[(&Row, Vec<Measured>)]) -> Vec<Claim> {
    let expect = &table.expect;
    let mut claims = Vec::new();
    let claim = |text: String, failed: Vec<String>| Claim {
        experiment: table.id.clone(),
        text,
        held: failed.is_empty(),
        detail: if failed.is_empty() {
            "in every row".to_string()
        } else {
            format!("not in {}", failed.join("; "))
        },
    };
    for agent in &expect.at_least_paper {
        let failed = measured.iter().flat_map(|(row, cells)| {
            cells.iter().filter(|c| c.agent == *agent).filter_map(|c| {
                let paper = c.paper?;
                let short = c.mean < paper - expect.tolerance;
                short.then(|| format!("{} ({} against {})", row.name, two(c.mean), two(paper)))
            })
        });
        claims.push(claim(
            format!("{}: {} is at least the paper's", table.title, shown(agent)),
            failed.collect(),
        ));
    }
    let ours = &expect.best_when_generalising;
    let mut failed = Vec::new();
    for (row, cells) in measured.iter().filter(|(row, _)| row.generalises) {
        let Some(own) = cells.iter().find(|c| c.agent == *ours) else { continue };
        for other in cells.iter().filter(|c| c.mean > own.mean + expect.tolerance) {
            failed.push(format!(
                "{} ({} {} against {})",
                row.name,
                shown(&other.agent),
                two(other.mean),
                two(own.mean)
            ));
        }
    }
    if measured.iter().any(|(row, _)| row.generalises) {
        claims.push(claim(
            format!(
                "{}: {} is at least as good as every baseline where it has to generalise",
                table.title,
                shown(ours)
            ),
            failed,
        ));
    }
    claims
}
