//! Whole hours of traffic under one controller: `derrl run signals`, and the table of `derrl reproduce signals`.

mod page;
mod run;
mod table;

pub use run::run;
pub use table::reproduce;

use std::path::Path;
use std::sync::Arc;

use derrl_env::signals::Signals;
use derrl_env::{Env, Rng, Status, list_legal, observe};
use derrl_learn::{Explainer, episode_streams};
use derrl_logic::{Alphabet, Decider, Facts, GroundAction, Policy, Universe};
use derrl_pages::{Situation, Told};
use derrl_traci::Sumo;
use derrl_traci::scenario::{Film, Look, Manner, Outcome as Hour, Rival, Scenario};

use derrl::policies::load_policy;

/// What operates the lights.
pub enum Driver {
    /// Rules.
    Rules(Box<Policy>, Arc<Alphabet>),
    /// A controller that traffic engineers know.
    Rival(Rival),
}

/// An hour, and how often each rule of a policy acted.
pub struct Driven {
    pub hour: Hour,
    pub acted: Vec<u64>,
    /// What was recorded, where the manner asks for that, and why the rules acted as they did.
    pub film: Option<Film>,
    pub told: Option<Told>,
}

impl Driver {
    /// A known controller by its name, or the policy of a file or of the folder of a run.
    pub fn find(name: &str) -> anyhow::Result<Driver> {
        let path = Path::new(name);
        if let Some(rival) = Rival::find(name).filter(|_| !path.exists()) {
            return Ok(Driver::Rival(rival));
        }
        if !path.exists() {
            let known: Vec<&str> = Rival::ALL.iter().map(|r| r.name()).collect();
            anyhow::bail!(
                "{name} is missing: name a policy file, the folder of a run, or a known controller ({})",
                known.join(", ")
            );
        }
        let domain = if derrl::policies::knows_domain(path) { None } else { Some("signals") };
        let (policy, domain) = load_policy(path, domain, false)?;
        if domain.world.name() != "signals" {
            anyhow::bail!("{name} is for the world `{}`, not for `signals`", domain.world.name());
        }
        Ok(Driver::Rules(Box::new(policy), domain.alphabet))
    }

    /// Drives a scenario from its first second to its last. `go_on` is asked now and then.
    pub fn drive(
        &self,
        sumo: &Sumo,
        scenario: &Arc<Scenario>,
        seed: u64,
        manner: &Manner,
        go_on: &mut dyn FnMut() -> bool,
    ) -> anyhow::Result<Option<Driven>> {
        match self {
            Driver::Rival(rival) => {
                let (hour, film) = rival.record(sumo, scenario, seed, manner)?;
                Ok(Some(Driven { hour, acted: Vec::new(), film, told: None }))
            }
            Driver::Rules(policy, alphabet) => {
                let mut world = Signals::once(alphabet, sumo, scenario, seed, *manner)?;
                let lights = scenario.city().lights.len();
                let wording = derrl_env::find("signals")?.wording();
                let told =
                    (manner.look == Look::Recorded).then(|| Told::new(policy, alphabet, wording, lights));
                obey((policy, alphabet), &mut world, seed, told, go_on)
            }
        }
    }
}

/// Lets rules act to the end of an episode.
fn obey(
    (policy, alphabet): (&Policy, &Alphabet),
    world: &mut Signals,
    seed: u64,
    mut told: Option<Told>,
    go_on: &mut dyn FnMut() -> bool,
) -> anyhow::Result<Option<Driven>> {
    let (_, mut ties) = episode_streams(seed, 0);
    let mut facts = Facts::new(alphabet);
    let mut legal: Vec<GroundAction> = Vec::new();
    // Each light has a universe of its own.
    let mut deciders: Vec<(Arc<Universe>, Decider)> = Vec::new();
    let mut acted = vec![0; policy.rules.len()];
    world.restart();
    while world.fault().is_none() {
        if !go_on() {
            return Ok(None);
        }
        observe(world, &mut facts);
        let listed = list_legal(world, alphabet, &facts, &mut legal).then_some(legal.as_slice());
        let universe = world.universe();
        let at = deciders.iter().position(|(known, _)| Arc::ptr_eq(known, universe)).unwrap_or_else(|| {
            deciders.push((Arc::clone(universe), Decider::new(policy, alphabet, universe)));
            deciders.len() - 1
        });
        let decision = deciders[at].1.decide_among(&facts, alphabet, universe, listed);
        let mut before = ties.clone(); // who explains breaks the same tie
        let Some(action) = pick(&decision.ties, &mut ties) else { break };
        // The rule that acts has the value of the decision, and speaks of its action.
        let of = |rule: &derrl_logic::Rule| rule.weight == decision.value && rule.action == action.action;
        if let Some(n) = policy.rules.iter().position(of) {
            acted[n] += 1;
        }
        if let Some(told) = &mut told {
            let explainer = Explainer::new(policy, alphabet).among(listed);
            let legal = listed.unwrap_or_default();
            if let Some((_, why)) = explainer.explain(&facts, universe, &mut before, &[]) {
                told.note(world.deciding(), &Situation { alphabet, facts: &facts, universe, legal }, &why);
            }
        }
        if world.step(action.action, &action.args, &mut Rng::new(0, 0)).status != Status::Running {
            break;
        }
    }
    if let Some(fault) = world.fault() {
        return Err(derrl_env::Error::World(fault.clone()).into());
    }
    let film = world.film();
    Ok(world.hour().map(|hour| Driven { hour, acted, film, told }))
}

fn pick(ties: &[GroundAction], rng: &mut Rng) -> Option<GroundAction> {
    (!ties.is_empty()).then(|| ties[rng.below(ties.len())].clone())
}

/// A scenario that was asked for.
fn scenario(sumo: &Sumo, name: &str) -> anyhow::Result<Scenario> {
    // What is wrong with a file is the user's to mend, not a failure of the simulator.
    Scenario::find(sumo, name).map_err(|e| anyhow::anyhow!("{e}"))
}
