//! The HTML around what a page shows.

use derrl_report::{css, escape};
use serde::Serialize;
use serde_json::Value;

use crate::error::Error;
use crate::hour::Hour;
use crate::run::{Run, Summary, summarise};

const TEMPLATE: &str = include_str!("../web/page.html");
const STYLE: &str = include_str!("../web/style.css");

/// The scripts of all pages, in the order in which they build on each other.
const SCRIPTS: &[&str] = &[
    include_str!("../web/dom.js"),
    include_str!("../web/rules.js"),
    include_str!("../web/numbers.js"),
    include_str!("../web/player.js"),
    include_str!("../web/results.js"),
    include_str!("../web/symbols.js"),
];

#[derive(Serialize)]
struct Data<'a> {
    version: &'static str,
    title: &'a str,
    notes: &'a [String],
    summaries: Vec<Summary>,
    runs: &'a [Run],
    /// Where the page is served from, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    served: Option<Served<'a>>,
}

/// Where else there is to go on a page that `derrl serve` shows.
#[derive(Serialize)]
pub struct Served<'a> {
    /// The label of the run.
    pub label: &'a str,
    /// Whether there is a playground for it.
    pub playable: bool,
}

/// A page that needs nothing but itself.
pub fn page(title: &str, runs: &[Run], notes: &[String]) -> Result<String, Error> {
    complete(title, runs, notes, None)
}

/// The same page of one run, with the way back to all runs.
pub fn served_page(title: &str, run: Run, served: Served) -> Result<String, Error> {
    complete(title, &[run], &[], Some(served))
}

fn complete(title: &str, runs: &[Run], notes: &[String], served: Option<Served>) -> Result<String, Error> {
    let (version, summaries) = (env!("CARGO_PKG_VERSION"), summarise(runs));
    let data = Data { version, title, notes, summaries, runs, served };
    let scripts = [SCRIPTS.concat(), include_str!("../web/main.js").to_string()].concat();
    fill(title, &data, &scripts, "")
}

/// A page on which an hour of traffic can be watched.
pub fn hour_page(title: &str, hour: &Hour) -> Result<String, Error> {
    let scripts =
        [include_str!("../web/dom.js"), include_str!("../web/rules.js"), include_str!("../web/hour.js")];
    fill(title, hour, &scripts.concat(), "")
}

/// A page that asks `derrl serve` for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Live {
    /// All runs, as they grow.
    Overview,
    /// A policy to edit.
    Playground,
}

/// The text of such a page.
pub fn live(title: &str, which: Live, data: &Value) -> Result<String, Error> {
    let own = match which {
        Live::Overview => include_str!("../web/live.js"),
        Live::Playground => include_str!("../web/playground.js"),
    };
    fill(title, data, &[&SCRIPTS.concat(), own].concat(), "; connect-src 'self'")
}

fn fill(title: &str, data: &impl Serialize, scripts: &str, may_ask: &str) -> Result<String, Error> {
    // Inside a script element, only `</script` and `<!--` mean something: no `<` may stay.
    let json = serde_json::to_string(data)?.replace('<', "\\u003c");
    let script = format!("\"use strict\";\n(() => {{\n{scripts}}})();");
    let parts = [
        ("title", escape(title)),
        ("style", format!("{}{STYLE}", css())),
        ("data", json),
        ("script", script),
        ("connect", may_ask.to_string()),
    ];
    let mut page = String::with_capacity(TEMPLATE.len() + STYLE.len() + parts[2].1.len() + parts[3].1.len());
    let mut rest = TEMPLATE;
    // One pass over the template, so that nothing inside a part is taken for a place.
    while let Some((before, place, after)) = next_place(rest) {
        page.push_str(before);
        match parts.iter().find(|(name, _)| *name == place) {
            Some((_, text)) => page.push_str(text),
            None => return Err(Error::Template(place.to_string())),
        }
        rest = after;
    }
    page.push_str(rest);
    Ok(page)
}

/// The text before the next `{{place}}`, the place, and the text after it.
fn next_place(text: &str) -> Option<(&str, &str, &str)> {
    let (before, after) = text.split_once("{{")?;
    let (place, after) = after.split_once("}}")?;
    Some((before, place, after))
}
