//! `derrl-bench traffic`: simulated seconds per second with our client, beside SUMO running alone.

use derrl_traci::{Controller, DemandSpec, Layout, Lights, Network, Options, Sumo, alone};
use serde_json::json;

use crate::args::Bench;
use crate::{Report, median};
use derrl_report::table::{columns, thousands};

/// Measurements per figure: the median is reported.
const ROUNDS: u64 = 5;

/// Runs the same traffic with the client (fixed-time lights, so that both simulate the same; and deciding for every
/// intersection) and in SUMO alone, in turn.
pub fn run(args: &Bench) -> anyhow::Result<Report> {
    let sumo = Sumo::find()?;
    let demand = DemandSpec::default();
    let heads =
        ["network", "SUMO alone", "with our client", "and deciding", "client/alone", "deciding/alone"];
    let mut rows = vec![heads.map(String::from).to_vec()];
    let mut list = Vec::new();
    for (name, layout) in [("5 intersections", Layout::five()), ("8 intersections", Layout::eight())] {
        let network = Network::build(&sumo, &layout)?;
        let (mut by_itself, mut watched, mut deciding) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let seed = args.seed + round;
            by_itself.push(alone(&sumo, &network, Lights::FixedTime, &demand, seed)?.steps_per_second);
            let run = |c: Controller| c.run(&sumo, &network, &demand, seed, Options::default());
            watched.push(run(Controller::FixedTime)?.steps_per_second());
            deciding.push(run(Controller::LongestQueue)?.steps_per_second());
        }
        let [by_itself, watched, deciding] = [by_itself, watched, deciding].map(median);
        let mut row = vec![name.to_string()];
        row.extend([by_itself, watched, deciding].map(|rate| thousands(rate as u64)));
        row.extend([watched / by_itself, deciding / by_itself].map(|ratio| format!("{ratio:.2}")));
        rows.push(row);
        list.push(json!({
            "network": name, "alone": by_itself, "client": watched, "deciding": deciding,
            "client_to_alone": watched / by_itself, "deciding_to_alone": deciding / by_itself,
        }));
    }
    let text = format!(
        "simulated seconds per second, SUMO {}, median of {ROUNDS} episodes\n\n{}",
        sumo.version,
        columns(&rows, "")
    );
    Ok(Report { text, json: json!({ "simulator": format!("SUMO {}", sumo.version), "traffic": list }) })
}
