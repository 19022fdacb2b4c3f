//! Learning to see, before rules are learned.

use std::sync::Arc;

use anyhow::Context;
use derrl_env::{Rng, Seeing};
use derrl_learn::{Drawn, Gallery, Looking, Perception, perceive};
use derrl_logic::{Policy, Source};
use serde_json::{Value, json};

use crate::domain::Domain;
use crate::runs::folder::RunFolder;
use crate::runs::sight::{GALLERY, PERCEPTION, read};

/// Instances that are looked at to say what symbols are, and the random stream that they are drawn from.
const SHOWN: usize = 200;
const STREAM: u64 = 0x5ee;

/// What was learned to see, for people.
pub struct Sight {
    /// The perception.
    pub perception: Arc<Perception>,
    /// What its symbols look like.
    pub gallery: Gallery,
    /// How to see by another sight.
    seeing: Seeing,
}

/// Learns to see, unless the folder has a perception already. `None` if somebody asked to stop.
pub fn learn(
    folder: &RunFolder,
    domain: &mut Domain,
    stopped: &dyn Fn() -> bool,
) -> anyhow::Result<Option<Sight>> {
    let seeing = *domain.world.seeing().context("the world is not seen as pixels")?;
    let config = &folder.config;
    let task = folder.task(domain)?.name.clone();
    let make = || (seeing.make)(&domain.alphabet, &task, &config.options);
    let file = folder.path().join(PERCEPTION);
    let perception = if file.exists() {
        read(&file)?
    } else {
        let mut env = make()?;
        // Rules to start from act while it learns to see.
        let text = config.start.as_ref().map(|start| Source::new("--from", start.policy.as_str()));
        let guide = text.map(|text| Policy::read(&text, &domain.alphabet)).transpose()?;
        let (guide, alphabet) = match &guide {
            Some((policy, alphabet)) => (Some(policy), alphabet),
            None => (None, &domain.alphabet),
        };
        let found = perceive(env.as_mut(), alphabet, guide, config.seed, Looking::default(), stopped)?;
        let Some(found) = found else { return Ok(None) };
        folder.write(PERCEPTION, &serde_json::to_string(&found)?)?;
        Arc::new(found)
    };
    let mut rng = Rng::new(config.seed, STREAM);
    let gallery = Gallery::of(&perception, make()?.as_mut(), seeing.kinds, SHOWN, &mut rng);
    folder.write(GALLERY, &serde_json::to_string(&gallery)?)?;
    domain.world = (seeing.through)(perception.clone());
    Ok(Some(Sight { perception, gallery, seeing }))
}

impl Sight {
    /// The domain as it is seen where symbols are drawn by their probabilities.
    pub fn drawn(&self, domain: &Domain) -> Domain {
        let world = (self.seeing.through)(Arc::new(Drawn(Arc::clone(&self.perception))));
        Domain { world, ..domain.clone() }
    }

    /// As `train --json` prints it, with the shares of training episodes that succeed with crisp and with drawn symbols.
    pub fn to_json(&self, crisp: Option<f64>, soft: Option<f64>) -> Value {
        let Perception { brings, moves, foretells, episodes, steps, .. } = &*self.perception;
        json!({
            "brings": brings, "moves": moves, "foretells": foretells, "episodes": episodes, "steps": steps,
            "kinds": self.gallery.kinds, "confusion": self.gallery.confusion, "right": self.gallery.right(),
            "crisp": crisp, "soft": soft,
        })
    }
}
