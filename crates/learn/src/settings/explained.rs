//! The settings in words, for people: what each does, its default and its range.

use super::config::{BASELINES, CONSTRAINT_MODES, Config};
use super::estimator::ESTIMATORS;
use super::tnorm::TNORMS;
use crate::error::Error;
use crate::learner::MOVES;

/// A setting in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// Its name.
    pub name: String,
    /// What it does.
    pub about: String,
    /// What it may be.
    pub range: String,
}

/// Every setting in words, in the order of [`Config`]. The words are those of its documentation: they are written once.
pub fn explained() -> Vec<Explained> {
    let fields = include_str!("config.rs").split_once("pub struct Config {").map_or("", |(_, rest)| rest);
    let fields = fields.split_once("\n}").map_or(fields, |(fields, _)| fields);
    let (mut found, mut about) = (Vec::new(), Vec::new());
    for line in fields.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix("///") {
            about.push(text.trim());
        } else if let Some((name, kind)) = line.strip_prefix("pub ").and_then(|rest| rest.split_once(": ")) {
            let range = range(name, kind.trim_end_matches(','));
            found.push(Explained { name: name.to_string(), about: about.join(" "), range });
            about.clear();
        }
    }
    found
}

/// What a setting may be: the names of a choice, else what the check of settings says of a value that is never right.
fn range(name: &str, kind: &str) -> String {
    let names = |all: Vec<&str>| all.join(", ");
    match kind {
        "Estimator" => return names(ESTIMATORS.iter().map(|e| e.1).collect()),
        "TNorm" => return names(TNORMS.iter().map(|t| t.1).collect()),
        "ConstraintMode" => return names(CONSTRAINT_MODES.iter().map(|m| m.1).collect()),
        "Baseline" => return names(BASELINES.iter().map(|b| b.1).collect()),
        "Vec<Move>" => return format!("a list of {}", names(MOVES.iter().map(|m| m.1).collect())),
        "bool" => return "true or false".to_string(),
        _ => {}
    }
    let mut config = Config::default();
    let number = match name {
        "lambda_sem" => Some(&mut config.lambda_sem),
        "gamma" => Some(&mut config.gamma),
        "temperature" => Some(&mut config.temperature),
        "learning_rate" => Some(&mut config.learning_rate),
        "body_prior" => Some(&mut config.body_prior),
        "init_noise" => Some(&mut config.init_noise),
        "pull" => Some(&mut config.pull),
        "sharpen" => Some(&mut config.sharpen),
        _ => None,
    };
    if let Some(number) = number {
        *number = -1.0;
    } else if kind.starts_with("Vec") {
        config.hidden = vec![0];
    } else {
        let count = match name {
            "updates" => &mut config.updates,
            "batch" => &mut config.batch,
            "group" => &mut config.group,
            "restarts" => &mut config.restarts,
            _ => return String::new(),
        };
        *count = 0;
    }
    range_of(&config)
}

/// What the setting that is out of range may be.
fn range_of(config: &Config) -> String {
    match config.check() {
        Err(Error::Setting { range, .. }) => range.to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_has_words_and_a_range() {
        let all = explained();
        assert!(all.len() >= 18, "{}", all.len());
        for setting in &all {
            assert!(!setting.about.is_empty() && !setting.range.is_empty(), "{setting:?}");
        }
        assert_eq!(all[0].name, "estimator");
    }
}
