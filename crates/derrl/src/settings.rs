//! Settings of training, as people write them: in a file, or one by one.

use std::path::Path;

use anyhow::{Context, bail};
use derrl_files::bounded::read_text;
use derrl_learn::Config;

use crate::runs::config::MOST_CONFIG;

/// The settings of a file; those that it does not mention keep their defaults. The file of a run will do.
pub fn from_file(path: &Path) -> anyhow::Result<Config> {
    let shown = path.display();
    let text = read_text(path, MOST_CONFIG).with_context(|| format!("cannot read {shown}"))?;
    let mut all: toml::Table =
        text.parse().map_err(|e: toml::de::Error| anyhow::anyhow!("{shown} is not TOML: {}", e.message()))?;
    // `config.toml` of a run has its settings in a table of their own.
    if let Some(toml::Value::Table(settings)) = all.remove("settings") {
        all = settings;
    }
    let known = toml::Table::try_from(Config::default())?;
    if let Some(key) = all.keys().find(|key| !known.contains_key(*key)) {
        let help = derrl_env::nearest(key, known.keys().map(String::as_str));
        bail!("{shown}: there is no setting `{key}`{help}");
    }
    for (key, value) in &mut all {
        if let (toml::Value::Integer(i), Some(toml::Value::Float(_))) = (&*value, known.get(key)) {
            *value = toml::Value::Float(*i as f64);
        }
    }
    let config: Config =
        all.try_into().map_err(|e: toml::de::Error| anyhow::anyhow!("{shown}: {}", in_words(e.message())))?;
    config.check().with_context(|| shown.to_string())?;
    Ok(config)
}

/// The settings with one changed, as `key=value` says.
pub fn with_setting(config: &Config, setting: &str) -> anyhow::Result<Config> {
    let Some((key, value)) = setting.split_once('=') else {
        bail!("--set {setting}: write KEY=VALUE, as in --set updates=800");
    };
    let (key, value) = (key.trim(), value.trim());
    let mut table = toml::Table::try_from(config)?;
    if !table.contains_key(key) {
        let help = derrl_env::nearest(key, table.keys().map(String::as_str));
        bail!("--set {setting}: there is no setting `{key}`{help}");
    }
    // A value is read as TOML has it; a bare word is a name.
    let parsed = format!("v = {value}").parse::<toml::Table>().ok().and_then(|mut t| t.remove("v"));
    let mut parsed = parsed.unwrap_or_else(|| toml::Value::String(value.to_string()));
    if let (toml::Value::Integer(i), Some(toml::Value::Float(_))) = (&parsed, table.get(key)) {
        parsed = toml::Value::Float(*i as f64);
    }
    table.insert(key.to_string(), parsed);
    let changed: Config = table
        .try_into()
        .map_err(|e: toml::de::Error| anyhow::anyhow!("--set {setting}: {}", in_words(e.message())))?;
    changed.check().with_context(|| format!("--set {setting}"))?;
    Ok(changed)
}

/// What the reader of settings says, in words for people who do not know its types.
fn in_words(message: &str) -> String {
    let words = [
        ("usize", "a whole number from 0"),
        ("f64", "a number"),
        ("a sequence", "a list such as [32]"),
        ("invalid type: ", "not "),
    ];
    words.iter().fold(message.to_string(), |text, (from, to)| text.replace(from, to))
}
