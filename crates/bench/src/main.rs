//! Measures derrl: speed, samples, seeds, and worlds of different nature. For those who change it; users do not need it.
//!
//! ```sh
//! cargo run --release -p derrl-bench -- zoo
//! ```

/// Says a line on standard error; unlike `eprintln!`, it never panics.
macro_rules! say {
    ($($words:tt)*) => { derrl_cli::message(format_args!($($words)*)) };
}

mod args;
mod diagnose;
mod outside;
mod pddl;
mod planning;
mod record;
mod samples;
mod scale;
mod seeds;
mod shields;
#[cfg(feature = "sumo")]
mod traffic;
mod train;
mod zoo;

use clap::Parser;
use derrl_cli::{Outcome, conclude, print, print_json};
use derrl_env::{World, find_in, worlds};
use derrl_zoo::numbers;

use crate::args::Bench;

/// What a bench has found: a table for people and a document for programs.
struct Report {
    text: String,
    json: serde_json::Value,
}

fn main() -> std::process::ExitCode {
    let args = Bench::parse();
    conclude(|| run(&args)).into()
}

/// Measures what was asked for, and appends it to the record on request.
fn run(args: &Bench) -> Outcome {
    let mut known = worlds().to_vec();
    if args.name == "train" {
        // Objects with numbers: no built-in world has them.
        known.extend(numbers().into_iter().map(|animal| animal.world).filter(|w| w.name() == "queues"));
    }
    let specs: Vec<&World> = if args.domains.is_empty() || ["pddl", "planning"].contains(&args.name.as_str())
    {
        // What SUMO simulates needs a simulator and minutes: it is measured on request.
        known.iter().filter(|s| !["traffic", "signals"].contains(&s.name())).collect()
    } else {
        args.domains.iter().map(|d| find_in(&known, d)).collect::<Result<_, _>>()?
    };
    let report = match args.name.as_str() {
        "seeds" => seeds::run(args, &specs)?,
        "pddl" => pddl::run(args)?,
        "planning" => planning::run(args)?,
        "samples" => samples::run(args, &specs)?,
        "scale" => scale::run(args)?,
        "zoo" => zoo::run(args)?,
        "diagnose" => diagnose::run(args)?,
        "shields" => shields::run(args)?,
        #[cfg(feature = "sumo")]
        "traffic" => traffic::run(args)?,
        #[cfg(not(feature = "sumo"))]
        "traffic" => {
            return Err(anyhow::anyhow!("this build knows no SUMO: build it with the feature `sumo`").into());
        }
        _ => train::run(args, &specs)?,
    };
    if let Some(path) = &args.record {
        record::append(path, &args.name, &report.json)?;
    }
    if args.json {
        print_json(&report.json)?;
    } else {
        print(&report.text);
    }
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}
