//! What a report is made of, and how it reads as Markdown and on a terminal.

use std::fmt::Write;

use derrl_report::Document;
use serde::Serialize;
use serde_json::Value;

use crate::sample::Comparison;
use derrl_report::table::{WIDTH, columns, wrap};

/// The name of the page of all runs in the folder of a reproduction.
pub const RUNS_FILE: &str = "runs.html";

/// What leads to the page of the runs.
pub const RUNS_LINK: &str = "See the learned policies act: every run, every task, step by step, with reasons";

/// A part of the report.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its name in `results.json`.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// What it shows.
    pub blocks: Vec<Block>,
    /// What the paper claims, and whether it held here.
    pub claims: Vec<Claim>,
    /// The numbers behind it.
    pub data: Value,
}

/// A piece of a section.
#[derive(Clone, Debug)]
pub enum Block {
    /// A heading below that of the section.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// A table; its first row is the head.
    Table(Vec<Vec<Cell>>),
    /// A chart.
    Figure(Figure),
    /// Text as it is.
    Code(String),
}

/// A chart with its file name.
#[derive(Clone, Debug)]
pub struct Figure {
    /// `convergence-blocks`: the file is `figures/convergence-blocks.svg`.
    pub name: String,
    /// What it shows, for those who cannot see it.
    pub caption: String,
    /// The chart.
    pub chart: Document,
}

/// A cell of a table.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// What it says.
    pub text: String,
    /// What stands beside it, smaller.
    pub note: String,
    /// How it compares.
    pub mark: Mark,
}

/// How a value compares with the paper's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// There is nothing to compare.
    #[default]
    None,
    /// Better than in the paper.
    Better,
    /// As in the paper.
    Same,
    /// Worse than in the paper.
    Worse,
}

impl Mark {
    /// The sign that stands for it.
    pub fn sign(self) -> &'static str {
        match self {
            Mark::None => "",
            Mark::Better => "▲",
            Mark::Same => "=",
            Mark::Worse => "▼",
        }
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Cell {
        Cell { text: text.into(), ..Cell::default() }
    }
}

impl Cell {
    fn line(&self) -> String {
        let parts = [self.text.clone(), self.note.clone(), self.mark.sign().to_string()];
        parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// A row of a table.
pub fn row<T: Into<Cell>>(cells: impl IntoIterator<Item = T>) -> Vec<Cell> {
    cells.into_iter().map(Into::into).collect()
}

/// Something the paper claims, or that this project set itself.
#[derive(Clone, Debug, Serialize)]
pub struct Claim {
    /// The experiment's file.
    pub experiment: String,
    /// What is claimed.
    pub text: String,
    /// Whether it held.
    pub verdict: Verdict,
    /// Where it did not, or by how much it did.
    pub detail: String,
}

/// Whether a claim held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It held.
    Held,
    /// The difference is within the noise of the runs: nothing is shown either way.
    Level,
    /// It did not hold.
    NotHeld,
}

impl Verdict {
    /// In words, with a sign.
    pub fn sign(self) -> &'static str {
        match self {
            Verdict::Held => "✓ held",
            Verdict::Level => "≈ level",
            Verdict::NotHeld => "✗ not held",
        }
    }

    /// Of a claim that one value is higher than another.
    pub fn higher(comparison: Comparison) -> Verdict {
        match comparison {
            Comparison::Higher => Verdict::Held,
            Comparison::Level => Verdict::Level,
            Comparison::Lower => Verdict::NotHeld,
        }
    }

    /// Of a claim that one value is at least another: level only where it falls short within the noise.
    pub fn at_least(comparison: Comparison, falls_short: bool) -> Verdict {
        match comparison {
            Comparison::Lower => Verdict::NotHeld,
            Comparison::Level if falls_short => Verdict::Level,
            _ => Verdict::Held,
        }
    }
}

impl Claim {
    /// Whether it held.
    pub fn held(&self) -> bool {
        self.verdict == Verdict::Held
    }
}

/// A whole report.
#[derive(Clone, Debug)]
pub struct Page {
    /// Its heading.
    pub title: String,
    /// How it was made: name and value.
    pub facts: Vec<(&'static str, String)>,
    /// What is missing, and why.
    pub notices: Vec<String>,
    /// Whether there is a page of the runs beside it.
    pub runs: bool,
    /// Its parts.
    pub sections: Vec<Section>,
}

impl Page {
    /// All claims.
    pub fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.sections.iter().flat_map(|s| &s.claims)
    }

    /// How many claims held, in a sentence; none where nothing is claimed.
    pub fn verdict(&self) -> Option<String> {
        let count = |verdict| self.claims().filter(|c| c.verdict == verdict).count();
        let (all, held, level) = (self.claims().count(), count(Verdict::Held), count(Verdict::Level));
        match (all, all - held) {
            (0, _) => None,
            (_, 0) => Some(format!("All {all} claims held.")),
            (_, _) => Some(format!(
                "{held} of {all} claims held, {level} {} level (a difference within the noise), {} did not hold:",
                if level == 1 { "is" } else { "are" },
                all - held - level
            )),
        }
    }

    /// As Markdown; figures are files in `figures/`.
    pub fn to_markdown(&self) -> String {
        let mut text = format!("# {}\n\n", self.title);
        for (name, value) in &self.facts {
            let _ = writeln!(text, "- {name}: {value}");
        }
        for notice in &self.notices {
            let _ = write!(text, "\n**{notice}**\n");
        }
        if self.runs {
            let _ = write!(text, "\n[{RUNS_LINK}]({RUNS_FILE})\n");
        }
        if let Some(verdict) = self.verdict() {
            let _ = write!(text, "\n{verdict}\n\n{}", markdown_claims(self.claims().filter(|c| !c.held())));
        }
        for section in &self.sections {
            let _ = write!(text, "\n## {}\n", section.title);
            for block in &section.blocks {
                let _ = match block {
                    Block::Heading(heading) => write!(text, "\n### {heading}\n"),
                    Block::Text(paragraph) => write!(text, "\n{paragraph}\n"),
                    Block::Table(rows) => write!(text, "\n{}", markdown_table(rows)),
                    Block::Figure(f) => write!(text, "\n![{}](figures/{}.svg)\n", f.caption, f.name),
                    Block::Code(code) => write!(text, "\n```\n{}\n```\n", code.trim_end()),
                };
            }
            if !section.claims.is_empty() {
                let _ = write!(text, "\n### Claims\n\n{}", markdown_claims(section.claims.iter()));
            }
        }
        text
    }

    /// What came of it, in a screenful: each part with its claims, and those that did not hold.
    pub fn summary(&self) -> String {
        let mut text = format!("{}\n\n", self.title);
        let mut rows = vec![["part", "claims held"].map(String::from).to_vec()];
        for section in &self.sections {
            let (all, held) = (section.claims.len(), section.claims.iter().filter(|c| c.held()).count());
            let told = if all == 0 { "no claims".to_string() } else { format!("{held} of {all}") };
            rows.push(vec![section.title.to_string(), told]);
        }
        text.push_str(&columns(&rows, "  "));
        for claim in self.claims().filter(|c| !c.held()) {
            let told = format!("{}: {}: {}", claim.verdict.sign(), claim.text, claim.detail);
            let _ = write!(text, "\n{}", wrap(&told, "  ", WIDTH));
        }
        for notice in &self.notices {
            let _ = write!(text, "\n{}", wrap(notice, "  ", WIDTH));
        }
        text.push_str("\nall tables: --verbose, or report.html\n");
        text
    }

    /// As plain text, without figures.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for section in &self.sections {
            let _ = write!(text, "\n{}\n", section.title);
            for block in &section.blocks {
                let _ = match block {
                    Block::Heading(heading) => write!(text, "\n{heading}\n"),
                    Block::Text(paragraph) => write!(text, "\n{}", wrap(paragraph, "", WIDTH)),
                    Block::Table(rows) => write!(text, "\n{}", plain_table(rows)),
                    Block::Figure(f) => writeln!(text, "figure: {}.svg", f.name),
                    Block::Code(code) => write!(text, "\n{}\n", code.trim_end()),
                };
            }
        }
        if self.claims().next().is_some() {
            let _ = writeln!(text, "\nclaims");
            for c in self.claims() {
                let told = format!("{}: {}: {}", c.verdict.sign(), c.text, c.detail);
                text.push_str(&wrap(&told, "  ", WIDTH));
            }
        }
        for notice in &self.notices {
            let _ = write!(text, "\n{}", wrap(notice, "", WIDTH));
        }
        text
    }
}

fn markdown_claims<'c>(claims: impl Iterator<Item = &'c Claim>) -> String {
    let line = |c: &Claim| format!("- {}: {}: {}\n", c.verdict.sign(), c.text, c.detail);
    claims.map(line).collect()
}

fn plain_table(rows: &[Vec<Cell>]) -> String {
    columns(&rows.iter().map(|r| r.iter().map(Cell::line).collect()).collect::<Vec<_>>(), "")
}

/// A table as Markdown.
pub fn markdown_table(rows: &[Vec<Cell>]) -> String {
    let mut text = String::new();
    for (i, cells) in rows.iter().enumerate() {
        let line: Vec<String> = cells.iter().map(|c| c.line().replace('|', "\\|")).collect();
        // A row of one cell is a heading among rows.
        let line = match &line[..] {
            [only] => format!("**{only}**{}", " |".repeat(rows[0].len() - 1)),
            _ => line.join(" | "),
        };
        let _ = writeln!(text, "| {line} |");
        if i == 0 {
            let _ = writeln!(text, "|{}", "---|".repeat(cells.len()));
        }
    }
    text
}
