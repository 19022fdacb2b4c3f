//! `--readme FILE`: the generalisation table put into a Markdown file, between two marks.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};

use crate::page::{Block, Cell, Page, markdown_table};
use crate::provenance::Provenance;
use derrl_files::safe_file::write_named;

const BEGIN: &str = "<!-- derrl reproduce: begin -->";
const END: &str = "<!-- derrl reproduce: end -->";

/// A Markdown file in parts: what comes before the place for the table, and what after it. An error where it has none.
pub struct Readme {
    before: String,
    after: String,
}

impl Readme {
    /// Reads it.
    pub fn open(path: &Path) -> anyhow::Result<Readme> {
        let shown = path.display();
        let text = fs::read_to_string(path).with_context(|| format!("--readme {shown}: cannot read it"))?;
        let parts = text.split_once(BEGIN).and_then(|(before, rest)| {
            let (_, after) = rest.split_once(END)?;
            Some(Readme { before: before.to_string(), after: after.to_string() })
        });
        match parts {
            Some(parts) => Ok(parts),
            None => {
                bail!("--readme {shown}: the table goes between the lines `{BEGIN}` and `{END}`: add them")
            }
        }
    }

    /// Writes it with the table of the page.
    pub fn write(&self, path: &Path, page: &Page, provenance: &Provenance) -> anyhow::Result<()> {
        let table = page.sections.iter().find(|s| s.id == "table").and_then(|section| {
            section.blocks.iter().find_map(|block| match block {
                Block::Table(rows) => Some(markdown_table(&last_of_each(rows))),
                _ => None,
            })
        });
        let table = table.context("the report has no generalisation table")?;
        let Provenance { command, runs: [date, commit], machine, .. } = provenance;
        let (all, held) = (page.claims().count(), page.claims().filter(|c| c.held()).count());
        let intro = format!(
            "Measured by `{command}` on {date}, commit {commit}, {machine}; {held} of {all} claims held. Mean return ± standard error over seeds (`n = 1`: a single seed has none); in \
             brackets the paper's value, and whether ours is better (▲), worse (▼) or the same (=). Here the last test task of each world; \
             the report has all rows."
        );
        let paragraphs: Vec<String> =
            [intro].into_iter().chain(page.notices.iter().map(|n| format!("**{n}**"))).collect();
        let Readme { before, after } = self;
        write_named(path, &format!("{before}{BEGIN}\n{}\n\n{table}{END}{after}", paragraphs.join("\n\n")))
    }
}

/// A table with one row per heading: the last of those below it, with the heading in its name.
fn last_of_each(rows: &[Vec<Cell>]) -> Vec<Vec<Cell>> {
    let mut kept: Vec<Vec<Cell>> = rows.first().cloned().into_iter().collect();
    let mut heading: Option<&Cell> = None;
    for (i, row) in rows.iter().enumerate().skip(1) {
        if let [only] = row.as_slice() {
            heading = Some(only);
        }
        let is_last = rows.get(i + 1).is_none_or(|next| next.len() == 1);
        if let (Some(heading), [name, values @ ..]) = (heading, row.as_slice())
            && is_last
            && !values.is_empty()
        {
            let name = Cell::from(format!("{}: {}", heading.text, name.text).as_str());
            kept.push([name].into_iter().chain(values.iter().cloned()).collect());
        }
    }
    kept
}
