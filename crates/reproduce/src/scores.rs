//! `derrl reproduce table`: the paper's generalisation table, measured.

use derrl_learn::{AGENTS, Score};
use serde_json::{Map, Value, json};

use crate::experiments::{Row, TableSpec};
use crate::job::Results;
use crate::names::shown;
use crate::page::{Block, Cell, Claim, Mark, Section, Verdict, row};
use crate::plan::Plan;
use crate::sample::{Comparison, Sample};
use derrl_report::table::thousands;

/// Values this close to the paper's count as equal to it.
const CLOSE: f64 = 0.02;

/// A cell of the table.
struct Measured {
    agent: String,
    returns: Sample,
    best_known: f64,
    /// What that is, where it is not the best that is known.
    beside: &'static str,
    paper: Option<f64>,
}

impl Measured {
    fn mark(&self) -> Mark {
        match self.paper {
            None => Mark::None,
            Some(paper) => match self.returns.compare_with(paper, CLOSE) {
                Comparison::Level => Mark::Same,
                Comparison::Higher => Mark::Better,
                Comparison::Lower => Mark::Worse,
            },
        }
    }

    fn cell(&self) -> Cell {
        Cell {
            text: format!("{}{}", two(self.returns.mean()), spread(&self.returns)),
            note: self.paper.map_or_else(String::new, |p| format!("({})", two(p))),
            mark: self.mark(),
        }
    }

    fn json(&self) -> Value {
        json!({
            "mean": self.returns.mean(),
            "stderr": self.returns.stderr(),
            "runs": self.returns.runs,
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

/// What a score is held against, and what that is where it is not the best that is known: in traffic nobody knows that, and the
/// controller that gives green to the longest queue plays by the same rules.
pub fn yardstick(score: &Score) -> Option<(f64, &'static str)> {
    let controller = score.references.get("longest-queue-first");
    controller.map(|value| (*value, " (longest queue first)")).or(score.best_known.map(|best| (best, "")))
}

/// How far the mean may be off: ` ± 0.01`, or ` (n = 1)` for a single run.
pub fn spread(sample: &Sample) -> String {
    sample.stderr().map_or_else(|| " (n = 1)".to_string(), |e| format!(" ± {e:.2}"))
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
            let (best, beside) = cells
                .iter()
                .find(|c| c.best_known.is_finite())
                .map_or((f64::NAN, ""), |c| (c.best_known, c.beside));
            let name = Cell::from(r.name.as_str());
            rows.push(
                [name]
                    .into_iter()
                    .chain(cells.iter().map(Measured::cell))
                    .chain([format!("{}{beside}", two(best)).into()])
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
             within {CLOSE} or twice the standard error). Each seed is a training run of its own, scored over the same instances for every agent. \
             Best known: what search gets on these instances; with noise, what the best player gets with the same luck. In traffic nobody \
             knows the best: beside it stands the controller that gives green to the longest queue, one lane at a time."
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
    let mut rows = vec![row(["", "decisions of each agent that learns", "seeds", "episodes per score"])];
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
            let scores = || finished.iter().filter_map(|f| f.scores.get(at));
            Ok(Measured {
                agent: a.name.to_string(),
                returns: Sample::of_means(scores().map(|s| (s.mean, s.stderr))),
                best_known: Sample::new(scores().filter_map(|s| Some(yardstick(s)?.0)).collect()).mean(),
                beside: scores().find_map(yardstick).map_or("", |(_, beside)| beside),
                paper: row.paper.get(a.name).copied(),
            })
        })
        .collect()
}

/// Whether what the experiment expects held.
fn judge(table: &TableSpec, measured: &[(&Row, Vec<Measured>)]) -> Vec<Claim> {
    let expect = &table.expect;
    let mut claims = Vec::new();
    for agent in &expect.at_least_paper {
        let mut rows = Vec::new();
        for (row, cells) in measured {
            for c in cells.iter().filter(|c| c.agent == *agent) {
                let Some(paper) = c.paper else { continue };
                let comparison = c.returns.compare_with(paper, expect.tolerance);
                let short = c.returns.mean() < paper - expect.tolerance;
                let detail = format!("{} ({} against {})", row.name, two(c.returns.mean()), two(paper));
                rows.push((Verdict::at_least(comparison, short), detail));
            }
        }
        let text = format!("{}: {} is at least the paper's", table.title, shown(agent));
        claims.push(over_rows(table, text, &rows));
    }
    let ours = &expect.best_when_generalising;
    let mut rows = Vec::new();
    for (row, cells) in measured.iter().filter(|(row, _)| row.generalises) {
        let Some(own) = cells.iter().find(|c| c.agent == *ours) else { continue };
        for other in cells.iter().filter(|c| c.agent != *ours) {
            let comparison = own.returns.compare(&other.returns, expect.tolerance);
            let short = own.returns.mean() < other.returns.mean() - expect.tolerance;
            let detail = format!(
                "{} ({} {} against {})",
                row.name,
                shown(&other.agent),
                two(other.returns.mean()),
                two(own.returns.mean())
            );
            rows.push((Verdict::at_least(comparison, short), detail));
        }
    }
    if !rows.is_empty() {
        let text = format!(
            "{}: {} is at least as good as every baseline where it has to generalise",
            table.title,
            shown(ours)
        );
        claims.push(over_rows(table, text, &rows));
    }
    claims
}

/// A claim about every row: the worst verdict counts, and the rows that have it are named.
fn over_rows(table: &TableSpec, text: String, rows: &[(Verdict, String)]) -> Claim {
    let verdict = rows.iter().map(|r| r.0).max().unwrap_or(Verdict::Held);
    let named: Vec<&str> = rows.iter().filter(|r| r.0 == verdict).map(|r| r.1.as_str()).collect();
    let detail = match verdict {
        Verdict::Held => "in every row".to_string(),
        Verdict::Level => format!("within the noise in {}", named.join("; ")),
        Verdict::NotHeld => format!("not in {}", named.join("; ")),
    };
    Claim { experiment: table.id.clone(), text, verdict, detail }
}
