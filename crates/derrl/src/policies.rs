//! Policies with their domains, read from files and from the folders of runs.

use std::path::{Path, PathBuf};

use anyhow::bail;
use derrl_logic::{Policy, Scope, Source};

use crate::asked::Asked;
use crate::domain::{Domain, read_source};
use crate::runs::folder::RunFolder;
use crate::shell::quoted;

/// A policy with its domain: from a policy file and a named domain, or both from the folder of a run.
pub fn load_policy(path: &Path, domain: Option<&str>, untyped: bool) -> anyhow::Result<(Policy, Domain)> {
    load_policy_with(path, domain, untyped, &Asked::default())
}

/// The same with the PDDL problems asked for.
pub fn load_policy_with(
    path: &Path,
    domain: Option<&str>,
    untyped: bool,
    asked: &Asked,
) -> anyhow::Result<(Policy, Domain)> {
    load_policy_beside(path, domain, untyped, asked, None)
}

/// The same for a policy that is looked at beside another one, which is read by [`another_policy`].
pub fn load_policy_beside(
    path: &Path,
    domain: Option<&str>,
    untyped: bool,
    asked: &Asked,
    beside: Option<&Path>,
) -> anyhow::Result<(Policy, Domain)> {
    let shown = path.display();
    if !path.exists() {
        bail!("{shown} is missing: name a policy file, or the folder of a run, such as runs/blocks-1");
    }
    let (file, domain) = if path.is_dir() {
        let folder = RunFolder::open(path)?;
        let domain = match domain {
            Some(name) => Domain::load_with(name, untyped, asked)?,
            None if asked.test.is_empty() => folder.domain()?.under(asked, folder.config.untyped)?,
            None => folder.domain_testing(asked)?.under(asked, folder.config.untyped)?,
        };
        (folder.policy_path(), domain)
    } else if let Some(name) = domain {
        (path.to_path_buf(), Domain::load_with(name, untyped, asked)?)
    } else {
        match run_around(path) {
            Some(folder) => {
                let folder = RunFolder::open(folder)?;
                (path.to_path_buf(), folder.domain()?.under(asked, folder.config.untyped)?)
            }
            None => bail!("say which domain the policy is for, as in --domain blocks"),
        }
    };
    if path.is_dir() && !file.exists() {
        bail!("the run in {shown} is not finished: resume it with\n  derrl train --resume {}", quoted(path));
    }
    let source = read_source(&file)?;
    let beside = beside.map(|path| read_source(&policy_file(path)?)).transpose()?;
    let policies: Vec<&Source> = std::iter::once(&source).chain(&beside).collect();
    let mut domain = domain.open(&policies)?;
    let (policy, alphabet) = Policy::read(&source, &domain.alphabet)?;
    // What the policy defines is part of what is spoken here.
    domain.alphabet = alphabet;
    Ok((policy, domain))
}

/// The folder of the run that a policy file is in: the policy is for the domain of that run.
fn run_around(policy: &Path) -> Option<&Path> {
    let folder = policy.parent().map(|p| if p.as_os_str().is_empty() { Path::new(".") } else { p });
    folder.filter(|folder| folder.join("config.toml").is_file())
}

/// Whether a policy is, or is in, the folder of a run.
pub fn knows_domain(policy: &Path) -> bool {
    policy.is_dir() || run_around(policy).is_some()
}

/// Another policy of a domain: a policy file, or that of the folder of a run. What it defines for itself joins the alphabet of the
/// domain.
pub fn another_policy(path: &Path, domain: &mut Domain) -> anyhow::Result<Policy> {
    let (policy, alphabet) = Policy::read_beside(&read_source(&policy_file(path)?)?, &domain.alphabet)?;
    domain.alphabet = alphabet;
    Ok(policy)
}

/// What a policy was learned on, where its file says so.
pub fn scope_of(path: &Path) -> anyhow::Result<Option<Scope>> {
    Ok(Scope::read(&read_source(&policy_file(path)?)?)?)
}

/// The file of a policy: itself, or that of the folder of a run.
fn policy_file(path: &Path) -> anyhow::Result<PathBuf> {
    let folder = path.is_dir().then(|| RunFolder::open(path)).transpose()?;
    Ok(folder.map_or_else(|| path.to_path_buf(), |f| f.policy_path()))
}
