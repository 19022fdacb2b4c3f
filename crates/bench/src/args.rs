//! What can be asked for.

use std::path::PathBuf;

use clap::Parser;
use derrl_cli::{SeedRange, parse_seeds};

/// Measures derrl on this machine.
#[derive(Debug, Parser)]
#[command(
    name = "derrl-bench",
    version,
    about,
    after_help = "Example:\n  derrl-bench seeds --domain blocks --seeds 0..4"
)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
// Wide: each field is an option of the command line.
pub struct Bench {
    /// What to measure: `train` (steps per second of the environment alone, of acting and of training), `seeds` (how
    /// many seeds learn, how soon, and which rules), `samples` (how many decisions each agent needs), `scale` (the time of a
    /// decision in large states, beside SWI-Prolog and clingo), `pddl` (planning problems: loading, stepping, and the time to a
    /// plan beside Fast Downward's LAMA), `planning` (the planning competition's domains, trained on small problems and tested up to
    /// its largest), `zoo` (worlds of different nature, tested on larger instances),
    /// `diagnose` (whether what was taken away from a world is named), `shields` (whether anything forbidden is ever done, and what
    /// that costs) or `traffic` (our client
    /// beside SUMO alone)
    #[arg(default_value = "train", value_parser = ["train", "seeds", "samples", "scale", "pddl", "planning", "zoo", "diagnose", "shields", "traffic"])]
    pub name: String,
    /// Measure these domains only (default: all but traffic and signals, which take minutes)
    #[arg(long = "domain", value_name = "DOMAIN")]
    pub domains: Vec<String>,
    /// The worlds of `zoo`, `diagnose` and `shields` to measure (default: all)
    #[arg(long = "world", value_name = "WORLD")]
    pub worlds: Vec<String>,
    /// The seeds of `seeds` and `zoo` (default: 0..19, for traffic 0..4) and of `samples`, `planning` and `shields` (default: 0..4)
    #[arg(long, value_name = "A..B", value_parser = parse_seeds)]
    pub seeds: Option<SeedRange>,
    /// The sizes of `scale`: numbers of blocks, and of lanes (rounded up to a multiple of four)
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', default_values_t = [10, 100, 1_000, 10_000], value_parser = clap::value_parser!(u32).range(4..=100_000))]
    pub sizes: Vec<u32>,
    /// Append the figures, with date, commit and machine, to this file
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "bench/record.jsonl")]
    pub record: Option<PathBuf>,
    /// Seconds per measurement
    #[arg(long, default_value_t = 1.0, value_name = "S")]
    pub seconds: f64,
    /// CPU seconds per seed of `planning`: the best policy so far is tested then
    #[arg(long, default_value_t = 300.0, value_name = "S")]
    pub limit: f64,
    /// Steps that `shields` watches per world (default: 1,000,000)
    #[arg(long, value_name = "N")]
    pub steps: Option<u64>,
    /// Set the plans of `planning` beside LAMA's
    #[arg(long)]
    pub lama: bool,
    /// Train nothing in `planning`: test the rules written by hand
    #[arg(long)]
    pub by_hand: bool,
    /// Train one seed of `planning` in this process
    #[arg(long, hide = true)]
    pub alone: bool,
    /// Count the instructions of a training step as well, by valgrind
    #[arg(long)]
    pub instructions: bool,
    /// Do nothing but N updates, and print the steps taken: what `--instructions` counts
    #[arg(long, value_name = "N", hide = true)]
    pub updates: Option<usize>,
    /// The seed
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}
