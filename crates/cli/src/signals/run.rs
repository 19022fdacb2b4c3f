//! `derrl run`: a controller in one's own SUMO scenario.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use derrl_files::safe_file::write_named;
use derrl_report::table::{WIDTH, columns, wrap};
use derrl_traci::Sumo;
use derrl_traci::scenario::{Light, Look, Manner, Safety, Scenario};
use serde_json::json;

use super::Driver;
use super::page::page;
use crate::args::Run;
use crate::failure::{Failure, Outcome};
use crate::output::{print, print_json};
use crate::progress::{catch_interrupts, interrupted};

/// Drives each scenario once, and says how it went.
pub fn run(args: &Run) -> Outcome {
    let driver = Driver::find(&args.policy)?;
    let sumo = Sumo::find()?;
    let safety = Safety { clearance: args.clearance, ..Safety::default() };
    let look = if args.page.is_some() { Look::Recorded } else { Look::Always };
    if args.page.is_some() && args.sumocfg.len() > 1 {
        return Err(anyhow::anyhow!("--page shows one scenario: name one in --sumocfg").into());
    }
    let manner = Manner { safety, outputs: true, window: args.window, look, ..Manner::default() };
    catch_interrupts();
    let heads =
        ["scenario", "delay", "waiting", "travel", "queue", "per lane", "vehicles", "unfinished", "stuck"];
    let mut rows = vec![heads.map(String::from).to_vec()];
    let (mut list, mut acted) = (Vec::new(), Vec::new());
    for name in &args.sumocfg {
        let scenario = Arc::new(super::scenario(&sumo, name)?);
        let driven = driver.drive(&sumo, &scenario, args.seed, &manner, &mut || !interrupted())?;
        let Some(driven) = driven else { return Err(Failure::Interrupted("interrupted".to_string())) };
        let trips = driven.hour.trips;
        let per_lane = driven.hour.queue / lanes(&scenario);
        let missing = trips.unfinished + trips.undeparted;
        let mut row = vec![scenario.name().to_string()];
        row.extend([trips.delay, trips.waiting, trips.travel].map(|s| format!("{s:.1} s")));
        row.extend([driven.hour.queue, per_lane].map(|n| format!("{n:.2}")));
        row.extend([trips.vehicles, missing, driven.hour.stuck].map(|n| n.to_string()));
        rows.push(row);
        acted.resize(driven.acted.len().max(acted.len()), 0);
        acted.iter_mut().zip(&driven.acted).for_each(|(all, n)| *all += n);
        list.push(json!({
            "scenario": scenario.name(), "seed": args.seed, "delay": trips.delay, "loss": trips.loss,
            "departure_delay": trips.departure_delay, "waiting": trips.waiting, "travel": trips.travel,
            "queue": driven.hour.queue, "queue_per_lane": per_lane, "vehicles": trips.vehicles, "unfinished": trips.unfinished,
            "undeparted": trips.undeparted, "stuck": driven.hour.stuck,
            "towed": driven.hour.towed, "acted": driven.acted,
            "page": args.page,
        }));
        let who =
            Path::new(&args.policy).file_name().map_or(args.policy.as_str().into(), OsStr::to_string_lossy);
        let text = page(&scenario, (&who, &format!("SUMO {}", sumo.version)), args.seed, driven)?;
        if let (Some(path), Some(text)) = (&args.page, text) {
            write_named(path, &text)?;
        }
    }
    if args.json {
        let Safety { clearance, .. } = safety;
        let simulator = format!("SUMO {}", sumo.version);
        print_json(&json!({ "simulator": simulator, "clearance": clearance, "runs": list }))?;
        return Ok(());
    }
    print(&columns(&rows, ""));
    if let Some(path) = &args.page {
        print(&format!("\n{}\n", path.display()));
    }
    if let Driver::Rules(policy, alphabet) = &driver {
        print("\nhow often each rule acted\n");
        for (rule, n) in policy.rules.iter().zip(acted) {
            print(&wrap(&format!("{n:>7}  {}", rule.display(alphabet)), "", WIDTH));
        }
    }
    Ok(())
}

/// How many lanes lead to a light, on average.
fn lanes(scenario: &Scenario) -> f64 {
    let lights = &scenario.city().lights;
    let of = |light: &Light| {
        let links = light.links.iter().flatten().filter(|l| !l.crossing);
        links.map(|l| l.from).collect::<BTreeSet<_>>().len()
    };
    lights.iter().map(of).sum::<usize>().max(1) as f64 / lights.len().max(1) as f64
}
