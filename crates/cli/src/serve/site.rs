//! Who may ask, and what is where.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, TryLockError};

use derrl::runs::RunFolder;
use derrl::runs::page;
use derrl_pages::{Extent, Live, Served};
use serde_json::{Value, json};

use super::http::{Answer, Request};
use super::playground;
use crate::report;

/// The pages of a folder of runs.
pub struct Site {
    folder: PathBuf,
    token: String,
    /// What this machine calls us: requests for any other host are not meant for us.
    hosts: [String; 2],
    /// Held while something is computed: one at a time.
    busy: Mutex<()>,
}

impl Site {
    /// The pages of the runs at or below a folder, under a token.
    pub fn new(folder: &Path, token: &str, port: u16) -> Site {
        Site {
            folder: folder.to_path_buf(),
            token: token.to_string(),
            hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
            busy: Mutex::new(()),
        }
    }

    /// What is at an address, for those who may know.
    pub fn answer(&self, request: &Request) -> Answer {
        let host = request.header("host").unwrap_or_default();
        if !self.hosts.iter().any(|h| h == host) {
            return Answer::refused(403, "this is not the host you are looking for");
        }
        // A page of another origin may send requests, and says so.
        let origin =
            request.header("origin").is_none_or(|o| self.hosts.iter().any(|h| o == format!("http://{h}")));
        let site = request.header("sec-fetch-site").is_none_or(|s| matches!(s, "same-origin" | "none"));
        if !origin || !site {
            return Answer::refused(403, "pages of other origins may not ask");
        }
        let (path, query) = request.target.split_once('?').unwrap_or((&request.target, ""));
        let Some(place) = path
            .strip_prefix('/')
            .and_then(|p| p.split_once('/'))
            .and_then(|(token, place)| same(token.as_bytes(), self.token.as_bytes()).then_some(place))
        else {
            return Answer::refused(
                404,
                "there is nothing here: the address has a token, which `derrl serve` printed",
            );
        };
        let asked = match (request.method.as_str(), place) {
            ("GET", "") => self.overview(),
            ("GET", "runs.json") => self.runs(),
            ("GET", "page") => self.page(query),
            ("GET", "playground") => self.playground(query),
            ("POST", "try") => self.attempt(&request.body),
            (_, "" | "runs.json" | "page" | "playground" | "try") => {
                Err(Refused(405, "not by this method".into()))
            }
            _ => Err(Refused(404, "there is nothing here".into())),
        };
        asked.unwrap_or_else(|Refused(status, reason)| Answer::refused(status, &reason))
    }

    fn overview(&self) -> Result<Answer, Refused> {
        let title = page::name(&self.folder);
        Ok(html(&derrl_pages::live(&title, Live::Overview, &json!({ "title": title }))?))
    }

    /// All runs, finished or not, with their curves.
    fn runs(&self) -> Result<Answer, Refused> {
        let mut runs = Vec::new();
        for folder in self.found()? {
            let label = page::relative(folder.path(), &self.folder);
            runs.push(page::glance(&folder, &label));
        }
        json_answer(200, &json!({ "runs": runs }))
    }

    fn page(&self, query: &str) -> Result<Answer, Refused> {
        let folder = self.named(query)?;
        let _working = self.work()?;
        let label = page::relative(folder.path(), &self.folder);
        let run = page::describe(&folder, &label, Extent::of(1))?;
        let playable = playground::playable(&folder).is_ok();
        let served = Served { label: &label, playable };
        Ok(html(&derrl_pages::served_page(&page::name(folder.path()), run, served)?))
    }

    fn playground(&self, query: &str) -> Result<Answer, Refused> {
        let folder = self.named(query)?;
        let label = page::relative(folder.path(), &self.folder);
        let data = playground::start(&folder, &label)?;
        Ok(html(&derrl_pages::live(&label, Live::Playground, &data)?))
    }

    fn attempt(&self, body: &[u8]) -> Result<Answer, Refused> {
        let asked: playground::Attempt =
            serde_json::from_slice(body).map_err(|e| Refused(400, format!("not what is asked for: {e}")))?;
        let folder = self.labelled(&asked.run)?;
        let _working = self.work()?;
        let found = playground::attempt(&folder, &asked)?;
        let status = if found.get("error").is_some() { 422 } else { 200 };
        json_answer(status, &found)
    }

    /// One at a time: a page that asks twice waits for itself.
    fn work(&self) -> Result<std::sync::MutexGuard<'_, ()>, Refused> {
        for _ in 0..100 {
            match self.busy.try_lock() {
                Ok(held) => return Ok(held),
                // A request that failed in the middle leaves nothing behind that the next would see.
                Err(TryLockError::Poisoned(held)) => return Ok(held.into_inner()),
                Err(TryLockError::WouldBlock) => {}
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        Err(Refused(503, "busy with another request".into()))
    }

    fn found(&self) -> Result<Vec<RunFolder>, Refused> {
        Ok(report::find_any(&self.folder)?)
    }

    fn named(&self, query: &str) -> Result<RunFolder, Refused> {
        let run =
            query.split('&').find_map(|pair| pair.strip_prefix("run=")).map(decoded).unwrap_or_default();
        self.labelled(&run)
    }

    /// The run of a label. Labels are compared with those of the runs that there are: no path is made of what was sent.
    fn labelled(&self, label: &str) -> Result<RunFolder, Refused> {
        let is_it = |f: &RunFolder| page::relative(f.path(), &self.folder) == label;
        let found = self.found()?.into_iter().find(is_it);
        found.ok_or_else(|| Refused(404, "there is no such run".into()))
    }
}

/// A status and a reason.
struct Refused(u16, String);

impl From<derrl_pages::Error> for Refused {
    fn from(error: derrl_pages::Error) -> Refused {
        Refused(422, error.to_string())
    }
}

impl From<anyhow::Error> for Refused {
    fn from(error: anyhow::Error) -> Refused {
        Refused(422, format!("{error:#}"))
    }
}

fn html(text: &str) -> Answer {
    Answer { status: 200, kind: "text/html; charset=utf-8", body: text.as_bytes().to_vec() }
}

fn json_answer(status: u16, value: &Value) -> Result<Answer, Refused> {
    let body = serde_json::to_vec(value).map_err(|e| Refused(500, e.to_string()))?;
    Ok(Answer { status, kind: "application/json", body })
}

/// Whether two texts are the same, in a time that does not tell where they differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |all, (x, y)| all | (x ^ y)) == 0
}

/// Text of an address without its `%20`.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let code = bytes.get(at + 1..at + 3).and_then(|two| std::str::from_utf8(two).ok());
        match (bytes[at], code.and_then(|two| u8::from_str_radix(two, 16).ok())) {
            (b'%', Some(byte)) => {
                out.push(byte);
                at += 3;
            }
            (b'+', _) => {
                out.push(b' ');
                at += 1;
            }
            (byte, _) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
