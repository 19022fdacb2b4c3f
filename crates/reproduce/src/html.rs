//! The report as one HTML page that needs nothing else: figures inside, light and dark, readable on a phone.

use std::fmt::Write;

use crate::page::RUNS_FILE;
use crate::page::{Block, Cell, Claim, Mark, Page, RUNS_LINK, Verdict};
use derrl_report::{css, escape};

const STYLE: &str = "
* { box-sizing: border-box; }
body { margin: 0 auto; padding: clamp(14px, 3vw, 36px); max-width: 1240px; background: var(--page); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif; overflow-wrap: anywhere; }
h1 { font-size: clamp(1.7rem, 1.2rem + 2vw, 2.5rem); line-height: 1.12; letter-spacing: -0.022em; margin: 0 0 .4rem; } h2 { font-size: 1.15rem; margin: 0; } h3 { font-size: .95rem; color: var(--soft); margin: 1.4rem 0 .4rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: clamp(14px, 2vw, 22px); margin-top: 18px; min-width: 0; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .1rem 1rem; color: var(--soft); font-size: .9rem; } dt { font-weight: 600; } dd { margin: 0; }
a { color: var(--accent); text-underline-offset: 3px; }
.notice { background: var(--unsure-soft); color: var(--unsure); border-radius: 10px; padding: 10px 14px; }
.verdict { font-size: 1.15rem; font-weight: 640; }
.scroll { overflow-x: auto; background: linear-gradient(to right, var(--card) 30%, transparent) left / 40px 100% no-repeat local, linear-gradient(to left, var(--card) 30%, transparent) right / 40px 100% no-repeat local, radial-gradient(farthest-side at 0 50%, rgb(0 0 0 / 28%), transparent) left / 14px 100% no-repeat scroll, radial-gradient(farthest-side at 100% 50%, rgb(0 0 0 / 28%), transparent) right / 14px 100% no-repeat scroll; }
table { border-collapse: collapse; min-width: 100%; font-size: .92rem; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
th, td { padding: 7px 10px; border-top: 1px solid var(--line); text-align: left; vertical-align: top; } tr:first-child > * { border-top: 0; }
th { font-weight: 600; color: var(--soft); } td small { display: block; color: var(--faint); white-space: nowrap; } td.number { white-space: nowrap; }
.better { color: var(--good); } .worse { color: var(--bad); } .yes { color: var(--good); font-weight: 600; } .no { color: var(--bad); font-weight: 600; } .level { color: var(--soft); font-weight: 600; }
.group { background: var(--sunk); font-weight: 600; }
pre { overflow-x: auto; padding: .8rem; background: var(--sunk); border-radius: 10px; font-size: .875rem; overflow-wrap: normal; }
.claims { padding-left: 1.2rem; } .claims li { margin: .2rem 0; }
summary { cursor: pointer; } summary h2, summary h3 { display: inline; } details details { margin-top: .9rem; } summary .sub { color: var(--soft); font-size: .92rem; margin-left: .6rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 420px), 1fr)); gap: 18px; }
figure { margin: 1rem 0; max-width: 42rem; } figure svg { width: 100%; height: auto; display: block; } svg text { font-family: inherit; }
figcaption { color: var(--soft); font-size: .9rem; }
@media (max-width: 40rem) {
  table { font-size: .85rem; } th, td { padding: .3rem .45rem; }
  .wide td:first-child:not(.group), .wide th:first-child { position: sticky; left: 0; background: var(--card); max-width: 7.5rem; }
}
";

/// A table of more columns than this is scrolled on a phone, and its first column stays.
const WIDE: usize = 4;

/// Letters of a cell that is a number with its unit and its noise, at the most.
const MOST_LETTERS: usize = 24;

/// The page: verdict, claims that did not hold and the first table at once, all details folded.
pub fn to_html(page: &Page) -> String {
    let title = escape(&page.title);
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
         <style>{}{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n",
        css()
    );
    for notice in &page.notices {
        let _ = writeln!(html, "<p class=\"notice\">{}</p>", with_code(notice));
    }
    if page.runs {
        let _ = writeln!(html, "<p><a href=\"{RUNS_FILE}\">{}</a></p>", escape(RUNS_LINK));
    }
    if let Some(verdict) = page.verdict() {
        // The worst first.
        let of = |verdict: Verdict| page.claims().filter(move |c| c.verdict == verdict);
        let failed = claims(of(Verdict::NotHeld).chain(of(Verdict::Level)));
        let _ = writeln!(
            html,
            "<section class=\"card\"><p class=\"verdict\">{}</p>\n{failed}</section>",
            escape(&verdict)
        );
    }
    for (i, section) in page.sections.iter().enumerate() {
        let held = section.claims.iter().filter(|c| c.held()).count();
        let told = match section.claims.len() {
            0 => String::new(),
            all => format!("<span class=\"sub\">{held} of {all} claims held</span>"),
        };
        // The first part is the table that people come for.
        let open = if i == 0 { " open" } else { "" };
        let _ = writeln!(
            html,
            "<details class=\"card\" id=\"{}\"{open}><summary><h2>{}</h2>{told}</summary>",
            section.id,
            escape(section.title)
        );
        // What follows a heading of the part that is open is folded: claims and table are what is seen at first.
        let is_folded = i == 0;
        let mut in_fold = false;
        let mut in_figures = false;
        for block in &section.blocks {
            let is_figure = matches!(block, Block::Figure(_));
            if is_figure != in_figures {
                html.push_str(if is_figure { "<div class=\"figures\">\n" } else { "</div>\n" });
                in_figures = is_figure;
            }
            let _ = match block {
                Block::Heading(heading) if is_folded => {
                    let end = if std::mem::replace(&mut in_fold, true) { "</details>\n" } else { "" };
                    writeln!(html, "{end}<details><summary><h3>{}</h3></summary>", escape(heading))
                }
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
        if in_figures {
            html.push_str("</div>\n");
        }
        if in_fold {
            html.push_str("</details>\n");
        }
        if !section.claims.is_empty() {
            let list = claims(section.claims.iter());
            let _ = if is_folded {
                writeln!(html, "<details><summary><h3>All claims</h3></summary>\n{list}</details>")
            } else {
                writeln!(html, "<h3>Claims</h3>\n{list}")
            };
        }
        html.push_str("</details>\n");
    }
    html.push_str("<section class=\"card\"><h2>How this was made</h2>\n<dl>\n");
    for (name, value) in &page.facts {
        let _ = writeln!(html, "<dt>{}</dt><dd>{}</dd>", escape(name), escape(value));
    }
    html.push_str("</dl></section>\n</body>\n</html>\n");
    html
}

/// Text in which `backticks` mark what is typed.
fn with_code(text: &str) -> String {
    let part = |(i, part): (usize, &str)| match escape(part) {
        part if i % 2 == 1 => format!("<code>{part}</code>"),
        part => part,
    };
    text.split('`').enumerate().map(part).collect()
}

/// Claims as a list, each with a sign whether it held.
fn claims<'c>(claims: impl Iterator<Item = &'c Claim>) -> String {
    let line = |claim: &Claim| {
        let class = match claim.verdict {
            Verdict::Held => "yes",
            Verdict::Level => "level",
            Verdict::NotHeld => "no",
        };
        let sign = claim.verdict.sign();
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
    // Numbers stay on one line; a sentence that begins with one does not.
    let is_number = cell.text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '−')
        && cell.text.chars().count() <= MOST_LETTERS;
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
