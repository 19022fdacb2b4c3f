//! What the sources keep: no cycles among the files of a crate, and nothing too long to read at once.
//!
//! What is better as it is says so: a comment line `// Long: ...` or `// Wide: ...` right above a function or a struct, with the
//! reason. [`CYCLES`] and [`LONG_FILES`] list what is still to be cleared up. They may only shrink.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Lines of a file, lines of a function, parameters, fields: more is too much.
const MOST_FILE: usize = 500;
const MOST_FUNCTION: usize = 80;
const MOST_PARAMETERS: usize = 6;
const MOST_FIELDS: usize = 15;

/// Where every number is a limit, which `limits.rs` explains.
const OF_THE_LEARNER: &[&str] = &["learner", "fit", "table", "invent"];

/// Files that are too long.
const LONG_FILES: &[&str] = &[
    "crates/cli/src/args.rs",
    "crates/cli/src/explain.rs",
    "crates/derrl/src/runs/folder.rs",
    "crates/env/src/named/adapter.rs",
    "crates/env/src/world.rs",
    "crates/learn/src/agents/reinforce.rs",
    "crates/learn/src/insight/diagnose/mod.rs",
    "crates/learn/src/insight/explain.rs",
    "crates/learn/src/insight/explain/what_if.rs",
    "crates/logic/src/derive/engine.rs",
    "crates/logic/src/domain.rs",
    "crates/logic/src/parser.rs",
    "crates/logic/src/syntax.rs",
    "crates/pddl/src/domain.rs",
    "crates/pddl/src/env.rs",
    "crates/pddl/src/simulator.rs",
    "crates/pddl/src/translate.rs",
    "crates/report/src/picture/places.rs",
    "crates/traci/src/protocol.rs",
];

/// Functions and structs that are too long or too wide: file and name.
const LARGE: &[&str] = &[
    "crates/cli/src/signals/table.rs: reproduce",
    "crates/env/src/gridworld.rs: Gridworld",
    "crates/env/src/named/adapter.rs: Named",
    "crates/env/src/named/adapter.rs: meet",
    "crates/export/src/problog.rs: write",
    "crates/export/src/prolog.rs: write",
    "crates/export/src/python.rs: write",
    "crates/export/src/rust.rs: write",
    "crates/learn/src/agents/gcn.rs: backward",
    "crates/learn/src/agents/mlp.rs: backward",
    "crates/learn/src/agents/nlrl/deduction.rs: backward",
    "crates/learn/src/agents/nlrl/deduction.rs: step",
    "crates/learn/src/agents/nlrl/deduction.rs: step_back",
    "crates/learn/src/agents/nlrl/mod.rs: backward",
    "crates/learn/src/agents/reinforce.rs: backward",
    "crates/learn/src/experience/rollout.rs: turn",
    "crates/learn/src/experience/rollout.rs: value_sampled",
    "crates/learn/src/experience/states.rs: add",
    "crates/learn/src/insight/diagnose/pair.rs: pair_of",
    "crates/learn/src/insight/explain/number.rs: first_that_turns",
    "crates/learn/src/training/inference.rs: substitute",
    "crates/logic/src/agenda/level.rs: change",
    "crates/logic/src/decide.rs: legal_derived",
    "crates/logic/src/derive/engine.rs: Engine",
    "crates/logic/src/derive/engine.rs: add",
    "crates/logic/src/domain.rs: Draft",
    "crates/logic/src/domain.rs: directive",
    "crates/logic/src/domain.rs: finish",
    "crates/logic/src/query.rs: try_tuple",
    "crates/logic/src/resolve.rs: variable",
    "crates/pages/src/run.rs: Run",
    "crates/pddl/src/scope.rs: effect",
    "crates/pddl/src/scope.rs: new",
    "crates/pddl/src/task.rs: new",
    "crates/pddl/src/translate.rs: write",
    "crates/report/src/picture/places.rs: new",
    "crates/reproduce/src/html.rs: to_html",
    "python/src/policy.rs: evaluate_json",
    "python/src/training.rs: learn",
    "python/src/training.rs: new",
];

/// Files of a crate that hang together in a circle: each group by its first file and how many there are.
const CYCLES: &[&str] = &[
    "crates/learn/src/agents/reinforce.rs and 1 more",
    "crates/logic/src/alphabet.rs and 6 more",
    "crates/logic/src/derive/compare.rs and 1 more",
    "crates/logic/src/derive/program.rs and 1 more",
    "crates/logic/src/diagnostic.rs and 1 more",
    "crates/pddl/src/domain.rs and 1 more",
    "crates/reproduce/src/ablation.rs and 5 more",
];

/// A source file.
struct File {
    /// Its path from the root of the repository.
    path: String,
    /// Its crate, and its module there: `["runs", "folder"]`.
    krate: String,
    module: Vec<String>,
    lines: usize,
    /// Its text with comments and strings blanked out, so that places stay.
    code: String,
    /// Its text as it is.
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All sources of all crates, without those that hold nothing but tests.
fn files() -> Vec<File> {
    let root = root();
    let mut found = Vec::new();
    let crates = fs::read_dir(root.join("crates")).expect("there are crates");
    let mut sources: Vec<PathBuf> = crates.flatten().map(|e| e.path().join("src")).collect();
    sources.push(root.join("python/src"));
    for src in sources.iter().filter(|src| src.is_dir()) {
        let mut waiting = vec![src.clone()];
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(&folder).expect("it can be read").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    waiting.push(path);
                } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
                    found.push(read(&root, src, &path));
                }
            }
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    assert!(found.len() > 200, "only {} files were found", found.len());
    found
}

fn read(root: &Path, src: &Path, path: &Path) -> File {
    let text = fs::read_to_string(path).expect("sources are text");
    // Tests stand at the end of a file.
    let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_string();
    let within = path.strip_prefix(src).expect("it is below").with_extension("");
    let mut module: Vec<String> = within.iter().map(|p| p.to_string_lossy().into_owned()).collect();
    if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
        module.pop();
    }
    let shown = |path: &Path| path.strip_prefix(root).expect("it is below").display().to_string();
    File {
        path: shown(path),
        krate: shown(src),
        module,
        lines: text.lines().count(),
        code: blanked(&text),
        text,
    }
}

/// The text with comments, strings and characters blanked out.
fn blanked(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    let blank = |out: &mut Vec<u8>, from: usize, to: usize| {
        out[from..to].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
    };
    while at < bytes.len() {
        let rest = &bytes[at..];
        let end = if rest.starts_with(b"//") {
            at + rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len())
        } else if rest.starts_with(b"r\"") || rest.starts_with(b"r#") && raw_string(rest).is_some() {
            at + raw_string(rest).unwrap_or(rest.len())
        } else if rest[0] == b'"' {
            let mut end = 1;
            while end < rest.len() && rest[end] != b'"' {
                end += if rest[end] == b'\\' { 2 } else { 1 };
            }
            (at + end + 1).min(bytes.len())
        } else if rest[0] == b'\'' && rest.get(1) == Some(&b'\\') {
            at + 3 + rest[3..].iter().position(|&b| b == b'\'').unwrap_or(0)
        } else if rest[0] == b'\'' && rest.get(2) == Some(&b'\'') {
            at + 3
        } else {
            at += 1;
            continue;
        };
        blank(&mut out, at, end);
        at = end.max(at + 1);
    }
    String::from_utf8(out).expect("blanks are text")
}

/// How long the raw string is that begins here.
fn raw_string(rest: &[u8]) -> Option<usize> {
    let marks = rest[1..].iter().take_while(|&&b| b == b'#').count();
    (rest.get(1 + marks) == Some(&b'"')).then_some(())?;
    let close: Vec<u8> = std::iter::once(b'"').chain(std::iter::repeat_n(b'#', marks)).collect();
    let from = 2 + marks;
    rest[from..].windows(close.len()).position(|w| w == close).map(|found| from + found + close.len())
}

/// Where the bracket that opens at a place is closed.
fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (i, c) in code[open..].char_indices() {
        match c {
            '(' | '{' | '[' => depth += 1,
            ')' | '}' | ']' => {
                depth -= 1;
                if depth == 0 {
                    return open + i;
                }
            }
            _ => {}
        }
    }
    code.len()
}

/// How many parts there are between commas at the outermost level, brackets and angles aside.
fn parts(inside: &str) -> usize {
    let (mut depth, mut count, mut filled) = (0_i32, 0, false);
    let mut before = ' ';
    for c in inside.chars() {
        match c {
            '(' | '{' | '[' | '<' => depth += 1,
            '>' if before == '-' => {}
            ')' | '}' | ']' | '>' => depth -= 1,
            ',' if depth == 0 => {
                count += usize::from(filled);
                filled = false;
                before = c;
                continue;
            }
            _ => {}
        }
        filled |= !c.is_whitespace();
        before = c;
    }
    count + usize::from(filled)
}

/// Whether the lines right above a place say why it is as it is.
fn is_excused(file: &File, at: usize) -> bool {
    let start = file.text[..at].rfind('\n').map_or(0, |end| end + 1);
    let above = file.text[..start].lines().rev();
    let mut above = above.take_while(|line| line.trim_start().starts_with(['/', '#']));
    above.any(|line| ["// Long: ", "// Wide: "].iter().any(|mark| line.trim_start().starts_with(mark)))
}

/// Where an item of this kind begins, and its name.
fn items<'a>(code: &'a str, kind: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    code.match_indices(kind).filter_map(move |(at, _)| {
        let is_word = code[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '_');
        let name = &code[at + kind.len()..];
        let end = name.find(|c: char| !c.is_alphanumeric() && c != '_')?;
        (is_word && end > 0).then_some((at, &name[..end]))
    })
}

/// Functions and structs of a file that are too long or too wide.
fn large(file: &File) -> Vec<String> {
    let code = &file.code;
    let mut found = Vec::new();
    for (at, name) in items(code, "fn ") {
        let Some(open) = code[at..].find('(').map(|i| at + i) else { continue };
        // Bounds on types may hold brackets of their own.
        let open = match code[at..open].find('<') {
            Some(_) => after_generics(code, at).unwrap_or(open),
            None => open,
        };
        let close = closing(code, open);
        let parameters = parts(&code[open + 1..close]);
        let body = code[close..].find(['{', ';']).map(|i| close + i);
        let lines = body
            .filter(|&b| code[b..].starts_with('{'))
            .map_or(1, |body| code[at..=closing(code, body).min(code.len() - 1)].lines().count());
        if (parameters > MOST_PARAMETERS || lines > MOST_FUNCTION) && !is_excused(file, at) {
            found.push((name, format!("{lines} lines, {parameters} parameters")));
        }
    }
    for (at, name) in items(code, "struct ") {
        let Some(open) = code[at..].find(['{', ';', '(']).map(|i| at + i) else { continue };
        let fields =
            if code[open..].starts_with('{') { parts(&code[open + 1..closing(code, open)]) } else { 0 };
        if fields > MOST_FIELDS && !is_excused(file, at) {
            found.push((name, format!("{fields} fields")));
        }
    }
    found.into_iter().map(|(name, what)| format!("{}: {name}: {what}", file.path)).collect()
}

/// Where the parameters of a generic function begin.
fn after_generics(code: &str, at: usize) -> Option<usize> {
    let (mut depth, mut before) = (0_i32, ' ');
    for (i, c) in code[at..].char_indices() {
        match c {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            '(' if depth == 0 => return Some(at + i),
            _ => {}
        }
        before = c;
    }
    None
}

/// The paths that a file names within its crate: `crate::a::b` and `super::c`, groups taken apart.
fn named(file: &File) -> Vec<Vec<String>> {
    let mut all = Vec::new();
    for (start, up) in [("crate::", None), ("super::", Some(1))] {
        for (at, _) in file.code.match_indices(start) {
            let before = file.code[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || "_:$".contains(c)) {
                continue;
            }
            let mut base = Vec::new();
            let mut at = at + start.len();
            if let Some(mut up) = up {
                while file.code[at..].starts_with("super::") {
                    up += 1;
                    at += "super::".len();
                }
                base = file.module[..file.module.len().saturating_sub(up)].to_vec();
            }
            expand(&file.code[at..], &base, &mut all);
        }
    }
    all
}

/// Takes apart what follows `crate::`: names, and groups of them.
fn expand(rest: &str, base: &[String], all: &mut Vec<Vec<String>>) {
    if rest.starts_with('{') {
        let inside = &rest[1..closing(rest, 0)];
        let mut from = 0;
        let mut depth = 0;
        for (i, c) in inside.char_indices().chain([(inside.len(), ',')]) {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    expand(inside[from..i].trim(), base, all);
                    from = i + 1;
                }
                _ => {}
            }
        }
        return;
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    if end == 0 {
        return;
    }
    let path: Vec<String> = base.iter().cloned().chain([rest[..end].to_string()]).collect();
    match rest[end..].strip_prefix("::") {
        Some(more) if more.starts_with(|c: char| c.is_alphabetic() || c == '{' || c == '_') => {
            expand(more, &path, all);
        }
        _ => all.push(path),
    }
}

/// The files of a crate that hang together in circles.
fn circles(files: &[&File]) -> Vec<Vec<String>> {
    let of: BTreeMap<&[String], usize> =
        files.iter().enumerate().map(|(i, f)| (f.module.as_slice(), i)).collect();
    let edges: Vec<BTreeSet<usize>> = files
        .iter()
        .enumerate()
        .map(|(i, file)| {
            let longest =
                |path: &Vec<String>| (1..=path.len()).rev().find_map(|n| of.get(&path[..n]).copied());
            named(file).iter().filter_map(longest).filter(|&to| to != i).collect()
        })
        .collect();
    let reach = |from: usize| {
        let (mut seen, mut waiting) = (BTreeSet::new(), vec![from]);
        while let Some(at) = waiting.pop() {
            waiting.extend(edges[at].iter().filter(|&&to| seen.insert(to)));
        }
        seen
    };
    let reached: Vec<BTreeSet<usize>> = (0..files.len()).map(reach).collect();
    let mut found: Vec<Vec<String>> = Vec::new();
    for i in 0..files.len() {
        if reached[i].contains(&i) {
            let same = (0..files.len()).filter(|&j| reached[i].contains(&j) && reached[j].contains(&i));
            let group: Vec<String> = same.map(|j| files[j].path.clone()).collect();
            if !found.contains(&group) {
                found.push(group);
            }
        }
    }
    found
}

/// An error where what was found is not what is listed: the list may only shrink, and does when it can.
fn compare(what: &str, found: &[String], listed: &[&str]) {
    let listed: BTreeSet<&str> = listed.iter().copied().collect();
    let found: BTreeSet<&str> = found.iter().map(String::as_str).collect();
    let new: Vec<&str> = found.difference(&listed).copied().collect();
    let gone: Vec<&str> = listed.difference(&found).copied().collect();
    assert!(new.is_empty(), "{what}, new:\n{}", new.join("\n"));
    assert!(gone.is_empty(), "{what}, no longer so, take it off the list:\n{}", gone.join("\n"));
}

#[test]
fn files_are_short() {
    let long: Vec<String> = files().into_iter().filter(|f| f.lines > MOST_FILE).map(|f| f.path).collect();
    compare("files of too many lines", &long, LONG_FILES);
}

#[test]
fn functions_are_short_and_narrow_and_so_are_structs() {
    // How large they are is for the message; the list has names.
    let large: Vec<String> = files().iter().flat_map(large).collect();
    let name = |text: &String| text.rsplit_once(": ").map_or_else(String::new, |(name, _)| name.to_string());
    let names: Vec<String> = large.iter().map(name).collect();
    println!("{}", large.join("\n"));
    compare("functions or structs that are too large", &names, LARGE);
}

#[test]
fn files_of_a_crate_form_no_cycles() {
    let files = files();
    let mut of_crate: BTreeMap<&str, Vec<&File>> = BTreeMap::new();
    for file in &files {
        of_crate.entry(&file.krate).or_default().push(file);
    }
    let groups = of_crate.values().flat_map(|files| circles(files));
    let mut found = Vec::new();
    for group in groups {
        println!("{}", group.join(" "));
        found.push(format!("{} and {} more", group[0], group.len() - 1));
    }
    compare("files in a circle", &found, CYCLES);
}

/// The numbers that a file writes down, other than 0, 1, 2 and a half, each with its line.
fn numbers(file: &File) -> Vec<String> {
    let code = file.code.as_bytes();
    let is_word = |c: u8| c.is_ascii_alphanumeric() || c == b'_';
    let (mut found, mut at) = (Vec::new(), 0);
    while at < code.len() {
        if !is_word(code[at]) {
            at += 1;
            continue;
        }
        let start = at;
        let is_number = code[start].is_ascii_digit();
        // `pair.0` is a field, `0..9` a range of two numbers, `1e-9` one number.
        let is_field = start > 0 && code[start - 1] == b'.' && (start < 2 || code[start - 2] != b'.');
        while at < code.len() {
            let (before, next) = (code[at.saturating_sub(1)], code.get(at + 1).copied().unwrap_or(b' '));
            let is_point = is_number && !is_field && code[at] == b'.' && next.is_ascii_digit();
            let is_sign =
                is_number && code[at] == b'-' && before == b'e' && !file.code[start..at].contains('x');
            if !(is_word(code[at]) || is_point || is_sign) {
                break;
            }
            at += 1;
        }
        let word = &file.code[start..at];
        let value = word.trim_end_matches("f64").trim_end_matches("usize").trim_end_matches("u64");
        let is_small = ["0", "1", "2", "0.0", "1.0", "2.0", "0.5"].contains(&value.trim_end_matches('_'));
        if is_number && !is_field && !is_small {
            let line = file.code[..start].matches('\n').count() + 1;
            found.push(format!("{}:{line}: {word}", file.path));
        }
    }
    found
}

#[test]
fn the_learner_has_its_numbers_in_one_file() {
    let is_learner = |file: &File| {
        file.krate.ends_with("learn/src")
            && file.module.first().is_some_and(|m| OF_THE_LEARNER.contains(&m.as_str()))
    };
    let files: Vec<File> = files().into_iter().filter(is_learner).collect();
    assert!(files.len() > 30, "only {} files of the learner were found", files.len());
    let found: Vec<String> = files.iter().flat_map(numbers).collect();
    assert!(found.is_empty(), "put these into limits.rs, each with its reason:\n{}", found.join("\n"));
}

#[test]
fn faults_are_found() {
    let file = |path: &str, module: &[&str], text: &str| File {
        path: path.to_string(),
        krate: "crates/some/src".to_string(),
        module: module.iter().map(ToString::to_string).collect(),
        lines: text.lines().count(),
        code: blanked(text),
        text: text.to_string(),
    };
    let a = file("a.rs", &["a"], "use crate::{b::{B, C}, d};\n// crate::a::none\n");
    let b = file("b.rs", &["b"], "fn f() { let x = \"crate::d\"; super::a::go() }\n");
    let d = file("d.rs", &["d"], "struct D;\n");
    assert_eq!(circles(&[&a, &b, &d]), [["a.rs", "b.rs"]]);
    assert!(circles(&[&a, &d]).is_empty());
    let wide = "fn f<F: Fn(u8) -> u8>(a: [u8; 2], b: Map<u8, u8>, c: F, d: u8, e: u8, f: u8, g: u8) {}\n";
    assert_eq!(large(&file("w.rs", &["w"], wide)), ["w.rs: f: 1 lines, 7 parameters"]);
    assert!(large(&file("w.rs", &["w"], &format!("// Wide: as in C.\n{wide}"))).is_empty());
    let long = format!("fn long() {{\n{}}}\n", "    go();\n".repeat(80));
    assert_eq!(large(&file("l.rs", &["l"], &long)), ["l.rs: long: 82 lines, 0 parameters"]);
    let said =
        "fn f(a: u8) { a.0 < 1e-9 && a.1.0 == 3 || (0..16).any(|b| b > 0.5) } // 7\nconst X: f64 = 2.0f64;\n";
    assert_eq!(numbers(&file("n.rs", &["n"], said)), ["n.rs:1: 1e-9", "n.rs:1: 3", "n.rs:1: 16"]);
}
