//! Every command in the README and in `docs/` runs, and says what the page says it does.
//!
//! A fenced block `console` holds commands (`$ derrl train blocks`) and what they print. Each page is run from top to bottom in
//! a folder of its own. `$ cat FILE` followed by text writes that file. What the page prints must be printed, line by line;
//! `...` stands for anything, also within a line.
//!
//! | block | what is done |
//! |---|---|
//! | `console` | run to the end |
//! | `console no` | run to the end, with the answer no: exit code 1 |
//! | `console error` | run to the end, which is a mistake of the user: exit code 2 |
//! | `console long` | run for a moment, then interrupted |
//! | `console no-run` | nothing: only installing and testing, which other tests do |
//!
//! With `exact` at the end lines with digits are compared as well, but for times (`0.01 s`); elsewhere they may differ.
//! `UPDATE_DOCS=1 cargo test -p derrl-cli --test docs every_command` writes what the commands of exact blocks print into
//! the pages. All pages can be run one after the other in one folder: they write to different places.

use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// What is done with a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Run,
    No,
    Error,
    Long,
    NotRun,
}

/// The info strings of blocks of commands.
const KINDS: [(&str, Kind); 5] = [
    ("console", Kind::Run),
    ("console no", Kind::No),
    ("console error", Kind::Error),
    ("console long", Kind::Long),
    ("console no-run", Kind::NotRun),
];

/// How a command begins that needs not be run here.
const RUN_ELSEWHERE: [&str; 6] =
    ["git clone ", "cargo install ", "cargo test ", "pip install ", "./test.sh", "./release.sh "];

/// How long a long command runs.
const MOMENT: Duration = Duration::from_secs(1);

/// A command with what the page says it prints.
#[derive(Debug, Default, PartialEq)]
struct Step {
    kind: Kind,
    /// Whether lines with digits have to be printed, too.
    is_exact: bool,
    line: usize,
    command: String,
    prints: Vec<String>,
}

/// The commands of a page, in order.
fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside: Option<(Kind, bool)> = None;
    let mut in_block = false;
    let mut continued = false;
    for (i, line) in page.lines().enumerate() {
        if let Some(info) = line.strip_prefix("```") {
            in_block = !in_block;
            let kind = info.trim().trim_end_matches(" exact");
            let found = KINDS.iter().find(|(name, _)| in_block && *name == kind);
            inside = found.map(|(_, found)| (*found, kind != info.trim()));
            continued = false;
            continue;
        }
        let Some((kind, is_exact)) = inside else { continue };
        if let Some(command) = line.strip_prefix("$ ") {
            let command = command.to_string();
            steps.push(Step { kind, is_exact, line: i + 1, command, prints: Vec::new() });
            continued = line.ends_with('\\');
        } else if let Some(step) = steps.last_mut() {
            if continued {
                continued = line.ends_with('\\');
                let _ = write!(step.command, "\n{line}");
            } else {
                step.prints.push(line.to_string());
            }
        }
    }
    steps
}

/// Whether a line that a page shows has to be printed.
fn is_fixed(is_exact: bool, line: &str) -> bool {
    let varies = !is_exact && line.chars().any(|c| c.is_ascii_digit());
    !line.trim().is_empty() && !varies
}

/// A line without its times: `14,423 steps, 0.01 s` is `14,423 steps, ... s`.
fn timeless(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    let shown = |i: usize| {
        let unit = words.get(i + 1).map(|next| next.trim_end_matches([',', '.', ';', ':', ')']));
        if is_number(words[i].trim_start_matches('(')) && matches!(unit, Some("s" | "seconds")) {
            "..."
        } else {
            words[i]
        }
    };
    (0..words.len()).map(shown).collect::<Vec<_>>().join(" ")
}

/// Whether a line is what a page shows, where `...` stands for anything.
fn is_shown(wanted: &str, line: &str) -> bool {
    let wanted = timeless(wanted);
    let line = timeless(line);
    let mut parts = wanted.split("...").map(str::trim);
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let mut last = None;
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
        last = Some(part);
    }
    rest.is_empty() || last.is_some_and(|part| part.is_empty() || line.ends_with(part))
}

/// The number of the signal that Ctrl-C sends.
const SIGINT: i32 = 2;

/// A page with what its exact commands print now, by the lines of the commands.
fn updated(page: &str, printed: &[(usize, Vec<String>)]) -> String {
    let mut lines: Vec<&str> = Vec::new();
    let mut skipping = false;
    for (i, line) in page.lines().enumerate() {
        skipping &= !(line.starts_with("```") || line.starts_with("$ "));
        if !skipping {
            lines.push(line);
        }
        if let Some((_, said)) = printed.iter().find(|(at, _)| *at == i + 1) {
            lines.extend(said.iter().map(String::as_str));
            skipping = true;
        }
    }
    lines.join("\n") + "\n"
}

/// What a page shows of what a command printed: without empty lines at the ends, and nothing of what goes to standard error but
/// where that is all.
fn worth_showing(output: &Output) -> Vec<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_matches('\n').to_string();
    let said = Some(text(&output.stdout)).filter(|t| !t.is_empty()).unwrap_or_else(|| text(&output.stderr));
    said.lines().map(|line| line.trim_end().to_string()).collect()
}

/// Runs a page; what went wrong, if anything did.
fn run(path: &Path) -> Vec<String> {
    let page = std::fs::read_to_string(path).expect("the page is readable");
    let folder = TempDir::new().expect("a temporary folder");
    let binaries = Path::new(env!("CARGO_BIN_EXE_derrl")).parent().expect("a binary is in a folder");
    let search = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap_or_default());
    std::os::unix::fs::symlink(root().join("checker"), folder.path().join("checker")).expect("a link");
    let (mut wrong, mut printed) = (Vec::new(), Vec::new());
    for step in steps(&page) {
        if let Some(file) = step.command.strip_prefix("cat ")
            && !step.prints.is_empty()
        {
            std::fs::write(folder.path().join(file), step.prints.join("\n") + "\n")
                .expect("a file can be written");
            continue;
        }
        let command = step.command.replace("cargo run --release --", "derrl");
        let place = format!("{}:{}: {}", path.display(), step.line, step.command);
        if step.kind == Kind::NotRun {
            if !RUN_ELSEWHERE.iter().any(|begin| command.starts_with(begin)) {
                wrong.push(format!("{place}\n  is run by no test"));
            }
            continue;
        }
        // A long command takes the place of the shell, so that it is the one that is interrupted.
        let exec = if step.kind == Kind::Long { "exec " } else { "" };
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{exec}{command}")]).current_dir(folder.path()).env("PATH", &search);
        let output = match step.kind {
            Kind::Long => for_a_moment(&mut shell),
            _ => shell.output().expect("sh runs"),
        };
        let said = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
        let said = String::from_utf8_lossy(&said);
        let is_right = match (step.kind, output.status.code()) {
            (Kind::Run, Some(0 | 1))
            | (Kind::No, Some(1))
            | (Kind::Error, Some(2))
            | (Kind::Long, Some(0 | 130)) => true,
            // A busy machine may interrupt a command before it has begun to listen.
            (Kind::Long, None) => output.status.signal() == Some(SIGINT),
            _ => false,
        };
        if !is_right {
            wrong.push(format!("{place}\n  ended with {}:\n{said}", output.status));
        }
        if step.is_exact && std::env::var_os("UPDATE_DOCS").is_some() {
            printed.push((step.line, worth_showing(&output)));
            continue;
        }
        for line in step.prints.iter().filter(|l| is_fixed(step.is_exact, l)) {
            if !said.lines().any(|l| is_shown(line, l)) {
                wrong.push(format!("{place}\n  does not print `{line}` but\n{said}"));
            }
        }
    }
    if !printed.is_empty() {
        std::fs::write(path, updated(&page, &printed)).expect("the page can be written");
    }
    wrong
}

/// Runs a command for a moment, then interrupts it as Ctrl-C does. A command that takes too long to end is killed. It is told twice:
/// a test run that was put in the background ignores interrupts, and so does what it starts, until that listens for them.
fn for_a_moment(command: &mut Command) -> Output {
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::null()).spawn().expect("sh runs");
    let start = Instant::now();
    let mut when = vec![Duration::from_secs(30), MOMENT];
    while child.try_wait().expect("a child can be waited for").is_none() {
        if when.last().is_some_and(|&moment| start.elapsed() > moment) {
            let id = child.id().to_string();
            if Command::new("kill").args(["-INT", &id]).status().is_ok_and(|status| status.success()) {
                when.pop();
            }
        }
        if start.elapsed() > Duration::from_secs(120) {
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.wait_with_output().expect("what it said can be read")
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The README and the pages of the book.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    let docs = std::fs::read_dir(root().join("docs")).expect("there are docs");
    pages
        .extend(docs.map(|e| e.expect("a page").path()).filter(|p| p.extension().is_some_and(|e| e == "md")));
    pages.sort();
    assert!(pages.len() > 3, "the book is missing");
    pages
}

/// The files and folders that a command of a page makes.
fn makes(step: &Step) -> Vec<String> {
    let words: Vec<&str> = step.command.split_whitespace().collect();
    let after = |mark: &str| {
        let at = words.iter().position(|word| *word == mark);
        at.and_then(|at| words.get(at + 1)).map(ToString::to_string)
    };
    let written = step.command.strip_prefix("cat ").filter(|_| !step.prints.is_empty()).map(str::to_string);
    let new = (words.starts_with(&["derrl", "new"])).then(|| words.get(2).map(ToString::to_string)).flatten();
    let out = if words.contains(&"reproduce") { None } else { after("--out") };
    [written, new, out, after(">")].into_iter().flatten().collect()
}

/// Who follows all pages in one folder must not meet what another page left.
#[test]
fn pages_write_to_different_places() {
    let mut made: Vec<(String, PathBuf)> = Vec::new();
    for page in pages() {
        let text = std::fs::read_to_string(&page).expect("the page is readable");
        let kinds = [Kind::Error, Kind::NotRun];
        for path in steps(&text).iter().filter(|step| !kinds.contains(&step.kind)).flat_map(makes) {
            let other = made.iter().find(|(known, of)| *known == path && *of != page);
            assert!(other.is_none(), "{}: `{path}` is made by {other:?} too", page.display());
            made.push((path, page.clone()));
        }
    }
    assert!(made.len() > 10, "{made:?}");
}

#[test]
fn every_command_of_every_page_runs() {
    let pages = pages();
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let runs: Vec<_> = pages.iter().map(|page| scope.spawn(|| run(page))).collect();
        runs.into_iter().flat_map(|r| r.join().expect("a page is run")).collect()
    });
    assert!(wrong.is_empty(), "{} commands:\n{}", wrong.len(), wrong.join("\n\n"));
}

/// The page on settings knows every setting there is.
#[test]
fn every_setting_is_on_its_page() {
    let page = std::fs::read_to_string(root().join("docs/settings.md")).expect("the page is readable");
    let output = Command::new(env!("CARGO_BIN_EXE_derrl")).args(["train", "--settings"]).output();
    let said = String::from_utf8(output.expect("derrl runs").stdout).expect("text");
    let names: Vec<&str> =
        said.lines().filter_map(|line| line.split_once(" = ")).map(|pair| pair.0).collect();
    assert!(names.len() > 10, "{said}");
    for name in names.iter().filter(|name| !name.starts_with('#')) {
        assert!(page.contains(&format!("`{name}`")), "docs/settings.md does not know `{name}`");
    }
}

#[test]
fn links_between_pages_lead_somewhere() {
    for folder in [root(), root().join("docs"), root().join("docs/reproduction")] {
        for page in std::fs::read_dir(&folder).expect("a folder").map(|e| e.expect("a file").path()) {
            if page.extension().is_none_or(|e| e != "md") {
                continue;
            }
            let text = std::fs::read_to_string(&page).expect("a page");
            for target in text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next()) {
                let is_file = !target.is_empty() && !target.contains("://") && !target.contains(' ');
                assert!(
                    !is_file || folder.join(target).exists(),
                    "{}: the link `{target}` leads nowhere",
                    page.display()
                );
            }
        }
    }
}

#[test]
fn times_vary_and_dots_stand_for_anything() {
    assert!(is_shown("blocks, seed 0: 14,423 steps, 0.01 s", "blocks, seed 0: 14,423 steps, 1.50 s"));
    assert!(!is_shown("blocks, seed 0: 14,423 steps, 0.01 s", "blocks, seed 0: 14,150 steps, 0.01 s"));
    assert!(is_shown("train ... 100%", "  train   0.975   0.001   100%"));
    assert!(!is_shown("train ... 100%", "  train   0.975   0.001   99%"));
    assert!(is_shown("...", "anything") && !is_shown("0.97::a.", "0.96::a."));
}

#[test]
fn what_commands_print_is_put_in() {
    let page = "a\n```console exact\n$ derrl a\nold\n$ derrl b\n```\nold\n";
    let printed = [(3, vec!["new".to_string(), "newer".to_string()]), (5, vec!["b".to_string()])];
    let wanted = "a\n```console exact\n$ derrl a\nnew\nnewer\n$ derrl b\nb\n```\nold\n";
    assert_eq!(updated(page, &printed), wanted);
}

#[test]
fn commands_are_found_with_what_they_print() {
    let page = "text\n```console\n$ derrl a \\\n    --b\nout\n$ derrl c\n```\n```console no-run\n$ derrl d\n```\n```prolog\n$ e\n```\n";
    let found = steps(page);
    assert_eq!(found.len(), 3);
    assert_eq!([found[0].kind, found[2].kind], [Kind::Run, Kind::NotRun]);
    assert_eq!(found[0].command, "derrl a \\\n    --b");
    assert_eq!(found[0].prints, ["out"]);
    assert_eq!((found[1].command.as_str(), found[1].line), ("derrl c", 6));
}
