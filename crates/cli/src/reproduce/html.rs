//! The report as one HTML page that needs nothing else: figures inside, light and dark, readable on a phone.

use std::fmt::Write;

use super::page::{Block, Cell, Mark, Page, RUNS_LINK};
use crate::chart::escape;
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
figure { margin: 1rem 0; padding: .5rem; background: var(--card); border: 1px solid var(--line); } figure svg { width: 100%; height: auto; display: block; }
figcaption { color: var(--soft); font-size: .9rem; }
svg .bg { fill: var(--card); } svg text { fill: var(--ink); } svg .grid { stroke: var(--line); }
";

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
    if page.claims().next().is_some() {
        let _ = writeln!(html, "<h2>Claims</h2>\n{}", table(&page.claim_table()));
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
                    figure.svg,
                    escape(&figure.caption)
                ),
            };
        }
    }
    html.push_str("</body>\n</html>\n");
    html
}

fn table(rows: &[Vec<Cell>]) -> String {
    let mut html = "<div class=\"scroll\"><table>\n".to_string();
    let width = rows.first().map_or(0, Vec::len);
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
    let class = match (cell.text.as_str(), cell.text.chars().next()) {
        ("yes" | "no", _) => format!(" class=\"{}\"", cell.text),
        (_, Some('0'..='9' | '-' | '−')) => " class=\"number\"".to_string(),
        _ => String::new(),
    };
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
