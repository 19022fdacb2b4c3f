//! What a run sees by, where the states of its world are pixels.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use derrl_env::Options;
use derrl_files::bounded::read_text;
use derrl_learn::Perception;

use crate::domain::Domain;
use crate::shell::quoted;

/// The file of a learned perception.
pub const PERCEPTION: &str = "perception.json";
/// The file of what its symbols look like.
pub const GALLERY: &str = "symbols.json";
/// Bytes of the first, at the most.
const MOST: usize = 4 << 20;
/// Whether rules of a world speak of what is seen in pixels.
pub fn is_seen(domain: &Domain, options: &Options) -> bool {
    domain.world.seeing().is_some() && !options.facts
}

/// The domain as the run in a folder sees it: with the perception that it learned, once it has one.
pub fn seen(path: &Path, domain: Domain, options: &Options) -> anyhow::Result<Domain> {
    let Some(seeing) = domain.world.seeing().filter(|_| !options.facts) else { return Ok(domain) };
    let file = path.join(PERCEPTION);
    if !file.exists() {
        if path.join("policy.pl").exists() {
            bail!(
                "{} is missing: the rules of this run speak of symbols that it tells apart",
                file.display()
            );
        }
        return Ok(domain);
    }
    let world = (seeing.through)(read(&file)?);
    Ok(Domain { world, ..domain })
}

/// A perception from its file, looked over.
pub fn read(file: &Path) -> anyhow::Result<Arc<Perception>> {
    let shown = file.display();
    let text = read_text(file, MOST).with_context(|| format!("cannot read {shown}"))?;
    let whole = serde_json::from_str::<Perception>(&text).ok().filter(Perception::is_whole);
    let Some(perception) = whole else {
        bail!("{shown} is not what a run writes: restore it, or start the run again: rm {}", quoted(file));
    };
    Ok(Arc::new(perception))
}
