//! Domains and problems from files and folders.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use derrl_logic::{Error, Source};

use crate::domain::Domain;
use crate::sexp::MAX_BYTES;
use crate::task::Task;

/// A path as people write it: below the current folder, without that folder.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().ok();
    here.and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path).display().to_string()
}

/// The text of a file, under its path.
fn read(path: &Path) -> Result<Source, Error> {
    let name = shown(path);
    let cannot = |e: std::io::Error| Error::new(format!("cannot read `{name}`: {e}"));
    let file = std::fs::File::open(path).map_err(cannot)?;
    let mut bytes = Vec::new();
    // A device has no length, and no end.
    file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() > MAX_BYTES {
        return Err(Error::new(format!("`{name}` has more than {MAX_BYTES} bytes; no more are read"))
            .with_help("is this the right file?"));
    }
    // Old files hold comments in other encodings; names that are not UTF-8 show as what they are.
    Ok(Source::new(name, String::from_utf8_lossy(&bytes).into_owned()))
}

/// The domain in a file, or in `domain.pddl` of a folder.
pub fn load_domain(path: &Path) -> Result<Arc<Domain>, Error> {
    let file = if path.is_dir() { path.join("domain.pddl") } else { path.to_path_buf() };
    Domain::parse(&read(&file)?).map(Arc::new)
}

/// The problem files that a path stands for: itself, or the `.pddl` files of a folder but for `domain.pddl`, in natural
/// order (`p2` before `p10`). A folder without any is an error.
pub fn problem_files(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let name = shown(path);
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let entries = std::fs::read_dir(path).map_err(|e| Error::new(format!("cannot read `{name}`: {e}")))?;
    let mut files = Vec::new();
    for entry in entries {
        let file = entry.map_err(|e| Error::new(format!("cannot read `{name}`: {e}")))?.path();
        let is_problem = file.extension().is_some_and(|e| e.eq_ignore_ascii_case("pddl"))
            && !file.file_name().is_some_and(|n| n.eq_ignore_ascii_case("domain.pddl"));
        if is_problem && file.is_file() {
            files.push(file);
        }
    }
    if files.is_empty() {
        return Err(Error::new(format!("folder `{name}` holds no problem"))
            .with_help("problems are files whose names end in `.pddl`; subfolders are not searched"));
    }
    files.sort_by_cached_key(|f| natural(&f.display().to_string()));
    Ok(files)
}

/// A key that orders numbers in names by their value.
fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let text = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (before, after) = rest.split_at(text);
        let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        parts.push((before.to_string(), after[..digits].parse().unwrap_or(u64::MAX)));
        rest = &after[digits..];
    }
    parts
}

/// The compiled problem in a file.
pub fn load_problem(path: &Path, domain: &Arc<Domain>) -> Result<Arc<Task>, Error> {
    Task::parse(&read(path)?, domain).map(Arc::new)
}

/// The compiled problems that paths stand for: files, and folders of files.
pub fn load_problems<P: AsRef<Path>>(paths: &[P], domain: &Arc<Domain>) -> Result<Vec<Arc<Task>>, Error> {
    let mut tasks = Vec::new();
    for path in paths {
        for file in problem_files(path.as_ref())? {
            tasks.push(load_problem(&file, domain)?);
        }
    }
    Ok(tasks)
}
