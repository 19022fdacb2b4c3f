//! `derrl reproduce`: runs the paper's experiments and writes the report. What they are and whether they hold is in `derrl-reproduce`.

mod pool;
mod runs;

use std::path::Path;

use derrl_report::Theme;
use derrl_reproduce::html;
use derrl_reproduce::job::Store;
use derrl_reproduce::page::{Block, Page};
use derrl_reproduce::plan::{self, PARTS, Wish, plan};
use derrl_reproduce::provenance::{Provenance, document};
use derrl_reproduce::readme::Readme;
use serde_json::Value;

use crate::args::{Part, Reproduce};
use crate::failure::{Failure, Outcome};
use crate::output::{print, print_json};
use crate::progress::catch_interrupts;
use crate::say;
use derrl::shell::quoted;
use derrl_files::lock::Lock;
use derrl_files::provenance::commit;
use derrl_files::safe_file::{self, make_folder};

/// Runs what is missing, then writes the report.
pub fn run(args: &Reproduce) -> Outcome {
    commit(); // asked now: sources may change before the last run is done
    let wish = Wish {
        quick: args.quick,
        seeds: args.seeds,
        budget: args.budget,
        domains: &args.domains,
        again: &args.again,
    };
    let (plan, notices) = plan(&wish)?;
    let parts: Vec<&plan::Part> =
        PARTS.iter().filter(|p| args.part == Part::All || p.name == name(args.part)).collect();
    let mut jobs = Vec::new();
    for part in &parts {
        jobs.extend((part.jobs)(&plan)?);
    }
    let open = |path: &Path| anyhow::Ok((path.to_path_buf(), Readme::open(path)?));
    let readme = args.readme.as_deref().map(open).transpose()?;
    if readme.is_some() && !parts.iter().any(|p| p.name == name(Part::Table)) {
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
        let text = "interrupted; what is finished is kept. Resume with the same command:";
        return Err(Failure::Interrupted(format!("{text}\n  {} --out {}", command(args), quoted(&args.out))));
    };
    let mut sections = Vec::new();
    for part in &parts {
        sections.push((part.section)(&plan, &results)?);
    }
    let runs = runs::write(&plan, &results, &args.out)?;
    let title = "DERRL, reproduced".to_string();
    let provenance = Provenance::new(command(args), &results);
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

/// The name of a part on the command line.
fn name(part: Part) -> String {
    clap::ValueEnum::to_possible_value(&part).map(|p| p.get_name().to_string()).unwrap_or_default()
}

/// The command line that asks for the same, wherever it is kept.
fn command(args: &Reproduce) -> String {
    let mut words = vec!["derrl".to_string(), "reproduce".to_string(), name(args.part)];
    words.extend(args.seeds.map(|n| format!("--seeds {n}")));
    words.extend(args.quick.then(|| "--quick".to_string()));
    words.extend(args.budget.map(|n| format!("--budget {n}")));
    words.extend(args.domains.iter().map(|d| format!("--domain {d}")));
    words.join(" ")
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
