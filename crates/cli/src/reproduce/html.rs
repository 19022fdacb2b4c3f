//! The report as one HTML page that needs nothing else: figures inside, light and dark, readable on a phone.

use std::fmt::Write;

use super::page::{Block, Cell, Claim, Mark, Page, RUNS_LINK};
use derrl_report::escape;
use crate::report::RUNS_FILE;

const STYLE: &str = "
:root { color-scheme: light dark; --page: #fbfbfa; --card: #fff; --ink: #1c1c1a; --soft: #5f5f5a; --line: #dededa; --good: #0a7a3f; --bad: #b3261e; }
@media (prefers-color-scheme: dark) {
  :root { --page: #161616; --card: #1f1f1f; --ink: #e9e9e6; --soft: #a5a5a0; --line: #3a3a38; --good: #5fce8f; --bad: #ff8a80; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 62rem; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); } h3 { margin: 1.8rem 0 .4rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; color: var(--soft); } dt { font-weight: 600; } dd { margin: 0; overflow-wrap: anywhere; }
nav { display: flex; flex-wrap: wrap; gap: .2rem 1rem; } a { color: inherit; }
.notice { border-left: 4px solid var(--bad); padding: .4rem .8rem; background: var(--card); }
.scroll { overflow-x: auto; } table { border-collapse: collapse; background: var(--card); min-width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .7rem; border: 1px solid var(--line); text-align: left; vertical-align: top; }
th { font-weight: 600; } td small { display: block; color: var(--soft); white-space: nowrap; } td.number { white-space: nowrap; }
.better { color: var(--good); } .worse { color: var(--bad); } .yes { color: var(--good); font-weight: 600; } .no { color: var(--bad); font-weight: 600; }
.group { background: var(--page); font-weight: 600; }
pre { overflow-x: auto; padding: .8rem; background: var(--card); border: 1px solid var(--line); font-size: .875rem; }
.claims { padding-left: 1.2rem; } .claims li { margin: .2rem 0; }
figure { margin: 1rem 0; padding: .5rem; max-width: 42rem; background: var(--card); border: 1px solid var(--line); } figure svg { width: 100%; height: auto; display: block; }
figcaption { color: var(--soft); font-size: .9rem; }
@media (max-width: 40rem) {
  table { font-size: .85rem; } th, td { padding: .3rem .45rem; }
  .wide td:first-child:not(.group), .wide th:first-child { position: sticky; left: 0; background: var(--card); max-width: 7.5rem; }
}
svg .bg { fill: var(--card); } svg text { fill: var(--ink); } svg .grid { stroke: var(--line); }
";

/// A table of more columns than this is scrolled on a phone, and its first column stays.
const WIDE: usize = 4;

/// The page.
pub fn to_html(page: &Page) -> String {
    let title = escape(&page.title);
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n<dl>\n"
    );
    for (name, value) in &page.facts {
        let _ = writeln!(html, "<dt>{}</dt><dd>{}</dd>", escape(name), escape(value));
    }
    html.push_str("</dl>\n");
    for notice in &page.notices {
        let _ = writeln!(html, "<p class=\"notice\">{}</p>", escape(notice));
    }
    if page.runs {
        let _ = writeln!(html, "<p><a href=\"{RUNS_FILE}\">{}</a></p>", escape(RUNS_LINK));
    }
    html.push_str("<nav>");
    for section in &page.sections {
        let _ = write!(html, "<a href=\"#{}\">{}</a>", section.id, escape(section.title));
    }
    html.push_str("</nav>\n");
    if let Some(verdict) = page.verdict() {
        let _ = writeln!(html, "<p>{}</p>\n{}", escape(&verdict), claims(page.claims().filter(|c| !c.held)));
    }
    for section in &page.sections {
        let _ = writeln!(html, "<h2 id=\"{}\">{}</h2>", section.id, escape(section.title));
        for block in &section.blocks {
            let _ = match block {
                Block::Heading(heading) => writeln!(html, "<h3>{}</h3>", escape(heading)),
                Block::Text(text) => writeln!(html, "<p>{}</p>", escape(text)),
                Block::Table(rows) => writeln!(html, "{}", table(rows)),
                Block::Code(code) => writeln!(html, "<pre>{}</pre>", escape(code.trim_end())),
                Block::Figure(figure) => writeln!(
                    html,
                    "<figure>\n{}<figcaption>{}</figcaption>\n</figure>",
                    figure.chart.to_inline_svg(),
                    escape(&figure.caption)
                ),
            };
        }
        if !section.claims.is_empty() {
            let _ = writeln!(html, "<h3>Claims</h3>\n{}", claims(section.claims.iter()));
        }
    }
    html.push_str("</body>\n</html>\n");
    html
}

/// Claims as a list, each with a sign whether it held.
fn claims<'c>(claims: impl Iterator<Item = &'c Claim>) -> String {
    let line = |claim: &Claim| {
        let (class, sign) = if claim.held { ("yes", "✓ held") } else { ("no", "✗ not held") };
        let (text, detail) = (escape(&claim.text), escape(&claim.detail));
        format!("<li><span class=\"{class}\">{sign}</span> {text}: {detail}</li>\n")
    };
    let list: String = claims.map(line).collect();
    if list.is_empty() { list } else { format!("<ul class=\"claims\">\n{list}</ul>\n") }
}

fn table(rows: &[Vec<Cell>]) -> String {
    let width = rows.first().map_or(0, Vec::len);
    let class = if width > WIDE { " class=\"wide\"" } else { "" };
    let mut html = format!("<div class=\"scroll\"><table{class}>\n");
    for (i, cells) in rows.iter().enumerate() {
        html.push_str("<tr>");
        if let [only] = &cells[..]
            && width > 1
        {
            let _ = write!(html, "<td class=\"group\" colspan=\"{width}\">{}</td>", escape(&only.text));
        } else {
            for cell in cells {
                html.push_str(&draw(cell, if i == 0 { "th" } else { "td" }));
            }
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</table></div>");
    html
}

fn draw(cell: &Cell, tag: &str) -> String {
    let is_number = cell.text.starts_with(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '-', '−']);
    let class = if is_number { " class=\"number\"" } else { "" };
    let mark = match cell.mark {
        Mark::None => String::new(),
        Mark::Same => " =".to_string(),
        Mark::Better => " <span class=\"better\">▲</span>".to_string(),
        Mark::Worse => " <span class=\"worse\">▼</span>".to_string(),
    };
    let note = match (cell.note.as_str(), mark.as_str()) {
        ("", "") => String::new(),
        (note, mark) => format!("<small>{}{mark}</small>", escape(note)),
    };
    format!("<{tag}{class}>{}{note}</{tag}>", escape(&cell.text))
}
