//! `derrl run`: a controller in one's own SUMO scenario.

use std::sync::Arc;

use derrl_report::table::{WIDTH, columns, wrap};
use derrl_traci::Sumo;
use derrl_traci::scenario::{Manner, Safety};
use serde_json::json;

use super::Driver;
use crate::args::Run;
use crate::failure::{Failure, Outcome};
use crate::output::{print, print_json};
use crate::progress::{catch_interrupts, interrupted};

/// Drives each scenario once, and says how it went.
pub fn run(args: &Run) -> Outcome {
    let driver = Driver::find(&args.policy)?;
    let sumo = Sumo::find()?;
    let safety = Safety { clearance: args.clearance, ..Safety::default() };
    let manner = Manner { safety, outputs: true, window: args.window, watchful: true, ..Manner::default() };
    catch_interrupts();
    let heads = ["scenario", "delay", "waiting", "travel", "queue", "vehicles", "unfinished", "stuck"];
    let mut rows = vec![heads.map(String::from).to_vec()];
    let (mut list, mut acted) = (Vec::new(), Vec::new());
    for name in &args.sumocfg {
        let scenario = Arc::new(super::scenario(&sumo, name)?);
        let driven = driver.drive(&sumo, &scenario, args.seed, &manner, &mut || !interrupted())?;
        let Some(driven) = driven else { return Err(Failure::Interrupted("interrupted".to_string())) };
        let trips = driven.hour.trips;
        let missing = trips.unfinished + trips.undeparted;
        let mut row = vec![scenario.name().to_string()];
        row.extend([trips.delay, trips.waiting, trips.travel].map(|s| format!("{s:.1} s")));
        row.push(format!("{:.2}", driven.hour.queue));
        row.extend([trips.vehicles, missing, driven.hour.stuck].map(|n| n.to_string()));
        rows.push(row);
        acted.resize(driven.acted.len().max(acted.len()), 0);
        acted.iter_mut().zip(&driven.acted).for_each(|(all, n)| *all += n);
        list.push(json!({
            "scenario": scenario.name(), "seed": args.seed, "delay": trips.delay, "loss": trips.loss,
            "departure_delay": trips.departure_delay, "waiting": trips.waiting, "travel": trips.travel,
            "queue": driven.hour.queue, "vehicles": trips.vehicles, "unfinished": trips.unfinished,
            "undeparted": trips.undeparted, "stuck": driven.hour.stuck, "acted": driven.acted,
        }));
    }
    if args.json {
        let Safety { clearance, .. } = safety;
        let simulator = format!("SUMO {}", sumo.version);
        print_json(&json!({ "simulator": simulator, "clearance": clearance, "runs": list }))?;
        return Ok(());
    }
    print(&columns(&rows, ""));
    if let Driver::Rules(policy, alphabet) = &driver {
        print("\nhow often each rule acted\n");
        for (rule, n) in policy.rules.iter().zip(acted) {
            print(&wrap(&format!("{n:>7}  {}", rule.display(alphabet)), "", WIDTH));
        }
    }
    Ok(())
}
