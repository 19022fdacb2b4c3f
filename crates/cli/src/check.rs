//! `derrl check`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use derrl::domain::{Domain, read_source};
use derrl::pddl::domain_file;
use derrl::worlds::worlds;
use derrl_env::find_in;
use derrl_learn::MOST_CANDIDATES;
use derrl_logic::{Alphabet, FileKind, Policy, Rule, Source, candidate_bound, candidates};
use serde_json::{Value, json};

use crate::args::Check;
use crate::failure::{Failure, Outcome};
use crate::output::{print, print_json};
use crate::say;

/// Checks files: every file is looked at, every problem is shown, and one bad file makes the command fail.
pub fn run(args: &Check) -> Outcome {
    let mut reports = Vec::new();
    let mut alphabet = match &args.domain {
        Some(name) => Some(Domain::load(name, false)?.alphabet.as_ref().clone()),
        None => None,
    };
    let (problems, files): (Vec<_>, Vec<_>) = args.files.iter().partition(|path| domain_file(path).is_some());
    for path in problems {
        reports.push((path.display().to_string(), check_pddl(path, &mut alphabet)));
    }
    let files = files.into_iter().flat_map(|path| files_of(path));
    let sources: Vec<_> = files.map(|path| (path.display().to_string(), read_source(&path))).collect();
    // Domains first, so that policies can be checked against them in whatever order they are named.
    for policies in [false, true] {
        for (name, source) in &sources {
            let kind = source.as_ref().ok().map(FileKind::detect);
            let is_policy = matches!(kind, Some(Ok(FileKind::Policy)));
            if is_policy == policies {
                let result = match source {
                    Err(error) => Err(format!("{error:#}")),
                    Ok(source) if is_policy => check_policy(source, alphabet.as_ref()),
                    Ok(source) => check_domain(source, &mut alphabet),
                };
                reports.push((name.clone(), result));
            }
        }
    }
    let bad = reports.iter().filter(|(_, r)| r.is_err()).count();
    if args.json {
        let list: Vec<Value> = reports
            .iter()
            .map(|(file, result)| match result {
                Ok(r) => json!({"file": file, "ok": true, "kind": r.kind, "summary": r.summary, "warnings": r.warnings}),
                Err(error) => json!({"file": file, "ok": false, "error": error}),
            })
            .collect();
        print_json(&json!({ "files": list }))?;
    } else {
        for (file, result) in &reports {
            match result {
                Ok(report) => {
                    print(&format!("{file}: {}\n", report.summary));
                    report.warnings.iter().for_each(|w| print(&format!("{w}\n")));
                }
                Err(error) => say!("{}{error}", if error.starts_with("error") { "" } else { "error: " }),
            }
        }
    }
    if bad > 0 {
        return Err(Failure::Input(anyhow::anyhow!("{bad} of {} files not in order", reports.len())));
    }
    Ok(())
}

/// The files to look at: of the folder of a run, its domain and, where there is one, its policy.
fn files_of(path: &Path) -> Vec<PathBuf> {
    let domain = path.join("domain.pl");
    if !path.is_dir() || !domain.is_file() {
        return vec![path.to_path_buf()];
    }
    let policy = Some(path.join("policy.pl")).filter(|policy| policy.is_file());
    [domain].into_iter().chain(policy).collect()
}

struct Report {
    kind: &'static str,
    summary: String,
    warnings: Vec<String>,
}

/// Checks a PDDL domain with its problems.
fn check_pddl(path: &Path, known: &mut Option<Alphabet>) -> Result<Report, String> {
    let domain = Domain::load(&path.to_string_lossy(), false).map_err(|e| format!("{e:#}"))?;
    Ok(of_domain(Alphabet::clone(&domain.alphabet), known, Vec::new()))
}

fn check_domain(source: &Source, known: &mut Option<Alphabet>) -> Result<Report, String> {
    let (alphabet, warnings) = Alphabet::check(source).map_err(|e| e.to_string())?;
    if alphabet.environment.is_some() && !is_elsewhere(source, &alphabet) {
        Domain::parse(&source.name, &source.name, source.text.clone(), false)
            .map_err(|e| format!("{e:#}"))?;
    }
    Ok(of_domain(alphabet, known, warnings.iter().map(ToString::to_string).collect()))
}

/// What a domain without mistakes declares. The first one is what policies are checked against.
fn of_domain(alphabet: Alphabet, known: &mut Option<Alphabet>, warnings: Vec<String>) -> Report {
    let atoms: Vec<String> = (0..alphabet.actions.len())
        .map(|a| {
            let action = derrl_logic::Action(a as u32);
            let decl = alphabet.action(action);
            let name = if decl.repeats() { decl.example() } else { decl.name.clone() };
            // To count more than can be learned with, one by one, would take all memory.
            match candidate_bound(&alphabet) {
                bound if bound > MOST_CANDIDATES => format!("{name} about {bound:.0e}, too many to train"),
                _ => format!("{name} {}", candidates(&alphabet, action).len()),
            }
        })
        .collect();
    let summary = format!(
        "domain ok: {} predicates, {} variables, {} constraints; candidate atoms: {}",
        alphabet.predicates.len(),
        alphabet.variables,
        alphabet.constraints.len(),
        atoms.join(", ")
    );
    known.get_or_insert(alphabet);
    Report { kind: "domain", summary, warnings }
}

/// Whether a domain file is that of a run in a world which this command does not have.
fn is_elsewhere(source: &Source, alphabet: &Alphabet) -> bool {
    let beside = Path::new(&source.name).with_file_name("config.toml");
    let unknown = alphabet.environment.as_deref().is_some_and(|name| find_in(worlds(), name).is_err());
    unknown && beside.is_file()
}

fn check_policy(source: &Source, alphabet: Option<&Alphabet>) -> Result<Report, String> {
    let read = || -> anyhow::Result<(Policy, Arc<Alphabet>)> {
        let Some(alphabet) = alphabet else {
            bail!(
                "{}: a policy is checked against its domain: add --domain NAME or the domain file",
                source.name
            );
        };
        Ok(Policy::read(source, &Arc::new(alphabet.clone()))?)
    };
    let (policy, alphabet) = read().map_err(|e| format!("{e:#}"))?;
    let n = policy.rules.len();
    let summary = format!("policy ok: {n} rule{}", if n == 1 { "" } else { "s" });
    let warning = |rule: &Rule| {
        let (_, message) = alphabet.contradicts(rule)?;
        Some(format!("warning: {}: {message}", rule.display(&alphabet)))
    };
    Ok(Report { kind: "policy", summary, warnings: policy.rules.iter().filter_map(warning).collect() })
}
