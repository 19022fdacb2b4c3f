//! `derrl-bench diagnose`: worlds from which one thing was taken away, and whether the diagnosis names it.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use derrl::setup::Setup;
use derrl_env::Options;
use derrl_learn::{Checkpoint, Config, Diagnosis, Move, Patient, Silent, diagnose};
use derrl_report::table::{WIDTH, columns, wrap};
use derrl_zoo::{Deprived, deprived};
use serde_json::{Value, json};

use crate::Report;
use crate::args::Bench;

/// Trains each world without what was taken away, and asks what is missing.
pub fn run(args: &Bench) -> anyhow::Result<Report> {
    let wanted = |d: &Deprived| args.worlds.is_empty() || args.worlds.iter().any(|w| w == d.world.name());
    let mut rows =
        vec![["world", "taken away", "success", "named", "", "seconds"].map(String::from).to_vec()];
    let (mut right, mut all) = (0, Vec::new());
    for case in deprived().into_iter().filter(wanted) {
        let begun = Instant::now();
        let (success, found) = examine(&case, args.seed)?;
        let seconds = begun.elapsed().as_secs_f64();
        let named = found.as_ref().map(|d| serde_json::to_value(d.missing)).transpose()?;
        let named = named.as_ref().and_then(Value::as_str).unwrap_or("-").to_string();
        let is_right = named == case.missing;
        right += usize::from(is_right);
        let summary = found.as_ref().map_or_else(String::new, |d| d.summary.clone());
        say!("{}: {} ({}): {named}: {summary}", case.world.name(), case.missing, case.what);
        if let Some(found) = &found {
            found.evidence.iter().for_each(|e| say!("    {e}"));
            if let Some(remedy) = &found.remedy {
                say!("    {remedy}");
            }
        }
        rows.push(vec![
            case.world.name().to_string(),
            format!("{}: {}", case.missing, case.what),
            format!("{:.0}%", 100.0 * success),
            named,
            if is_right { "right" } else { "wrong" }.to_string(),
            format!("{seconds:.1}"),
        ]);
        all.push(json!({
            "world": case.world.name(), "missing": case.missing, "what": case.what, "success": success,
            "right": is_right, "seconds": seconds, "diagnosis": found,
        }));
    }
    let about = format!("{right} of {} named", all.len());
    let text = format!("{}\n{}", wrap(&about, "", WIDTH), columns(&rows, ""));
    Ok(Report { text, json: json!({ "diagnose": all }) })
}

/// Restarts of a run. Who lacks what is needed fails however long it is looked for.
const RESTARTS: usize = 6;

/// Trains, and diagnoses what came of it.
fn examine(case: &Deprived, seed: u64) -> anyhow::Result<(f64, Option<Diagnosis>)> {
    let options = Options::default();
    let without = vec![Move::Widen, Move::Invent];
    let config = Config { restarts: RESTARTS, without, ..Config::default() };
    let mut setup = Setup::of_world(&case.world, &options, &config)?;
    if let Some(steps) = case.budget {
        setup = setup.within(steps);
    }
    let learned = setup.search(vec![(seed, Checkpoint::default())], &Silent, derrl_learn::cores())?;
    let learned = learned.into_iter().flatten().next().context("interrupted")?;
    let language: Arc<_> = case.world.alphabet();
    let patient = Patient {
        world: &case.world,
        language: &language,
        policy: &learned.policy,
        alphabet: &learned.alphabet,
        task: &case.world.training_task()?.name,
        options: &options,
        seed,
        curve: &[],
        widens: case.improves,
        was_cut: case.budget.is_some(),
    };
    Ok((learned.success, diagnose(&patient, &|| false)?))
}
