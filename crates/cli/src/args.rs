//! What can be asked for on the command line.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args as ClapArgs, Parser, Subcommand};
use derrl::asked::Asked;
use derrl::runs::manifest::MOST_SEEDS;
use derrl_env::Options;
use derrl_export::TARGETS;
use derrl_pages::Extent;

use crate::style::Color;

/// The version with the commit that was compiled, and what was compiled in.
const LONG_VERSION: &str = if cfg!(feature = "sumo") {
    concat!(env!("CARGO_PKG_VERSION"), " (", env!("DERRL_COMMIT"), "; with SUMO)")
} else {
    concat!(env!("CARGO_PKG_VERSION"), " (", env!("DERRL_COMMIT"), "; without SUMO)")
};

/// Learns reinforcement-learning policies that a person can read.
#[derive(Debug, Parser)]
#[command(name = "derrl", version, long_version = LONG_VERSION, about, propagate_version = true, max_term_width = 80)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// A command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List domains and their tasks
    Domains(Domains),
    /// Learn a policy for a domain and score it on all its tasks
    Train(Train),
    /// Score a policy
    Eval(Eval),
    /// Write what a policy does in a PDDL problem as a plan
    Plan(Plan),
    /// Write a folder to start from: a PDDL domain with problems, or a Rust crate
    New(New),
    /// Show, step by step, which rule acts and why
    Explain(Explain),
    /// Play the episodes of a log again, and compare every decision
    Replay(Replay),
    /// Prove that a policy reaches the goal in every instance up to a size, or find a shortest counterexample
    Verify(Verify),
    /// Compare the decisions of two policies in every state up to a size
    Diff(Diff),
    /// Remove every rule and atom of a policy that makes no difference up to a size
    Simplify(Simplify),
    /// Write a policy as a program of another language
    Export(Export),
    /// Write one self-contained HTML page for a run, or for a folder of runs
    Report(Report),
    /// Show the pages of a folder of runs, live, with a playground for rules
    Serve(Serve),
    /// Play an episode in the terminal
    Watch(Watch),
    /// Operate the traffic lights of your own SUMO scenario, by rules or by a known controller
    #[cfg(feature = "sumo")]
    Run(Run),
    /// Parse and type-check domain and policy files
    Check(Check),
    /// Run the paper's experiments and set the results beside the paper's
    Reproduce(Reproduce),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print the manual page
    #[command(after_help = "Example:\n  derrl man > ~/.local/share/man/man1/derrl.1")]
    Man,
}

/// `derrl serve`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  derrl serve runs        prints the address to open")]
pub struct Serve {
    /// The folder of a run, or one that holds several (default: `runs`; where there is none, examples are trained)
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// The port on this machine (default: any that is free)
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
}

/// `derrl watch`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  derrl watch runs/blocks-1\n  derrl watch runs/doorkey-1 --episode 3 --seconds 0.5\n\nOn a terminal, space stops and goes on, arrows step, q ends."
)]
pub struct Watch {
    /// A policy file, or the folder of a run
    pub policy: PathBuf,
    /// A built-in domain or the path of a domain file (not needed for the folder of a run)
    #[arg(long)]
    pub domain: Option<String>,
    /// The task to draw an instance from (default: train)
    #[arg(long, value_name = "TASK")]
    pub task: Option<String>,
    /// Which episode of the seed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub episode: u32,
    /// Steps to play at the most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub steps: u32,
    /// Seconds per step
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    pub seconds: f64,
    /// The seed of the instance and of breaking ties
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// When to use colour
    #[arg(long, value_enum, default_value_t)]
    pub color: Color,
    /// Options of the domain
    #[command(flatten)]
    pub world: WorldArgs,
}

/// `derrl run`.
#[cfg(feature = "sumo")]
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  derrl run signals runs/signals-1 --sumocfg my.sumocfg\n  derrl run signals own-program --sumocfg my.sumocfg\n\n\
                  Delay, waiting and travel are means per vehicle, queue is one per light, and per lane before one. Those who \
                  never arrived or entered are unfinished; who stood inside a junction for five minutes in the end is stuck."
)]
pub struct Run {
    /// The world
    #[arg(value_parser = ["signals"])]
    pub domain: String,
    /// A policy file, the folder of a run, or a known controller: own-program, actuated, actuated-30, delay-based,
    /// longest-queue, greedy, max-pressure, max-pressure-standing or self-organising
    pub policy: String,
    /// Traffic scenarios: SUMO's .sumocfg files, names of the benchmark RESCO such as cologne1 (from the Python package
    /// sumo-rl), or the grids five and eight
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    pub sumocfg: Vec<String>,
    /// Seconds at the most for which a junction is cleared before another phase gets green; 0 for none
    #[arg(long, value_name = "S", default_value_t = derrl_traci::scenario::Safety::default().clearance, value_parser = clap::value_parser!(u64).range(0..=60))]
    pub clearance: u64,
    /// The seed that SUMO is given
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Show the traffic in SUMO's window
    #[arg(long)]
    pub window: bool,
    /// Write a page on which the hour can be watched: one HTML file, for one scenario
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `derrl completions`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Example:\n  derrl completions bash > ~/.local/share/bash-completion/completions/derrl"
)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// `derrl domains`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  derrl domains\n  derrl domains blocks > my.pl")]
pub struct Domains {
    /// Print the domain file of this domain, to start one of your own from
    pub domain: Option<String>,
    /// When to use colour
    #[arg(long, value_enum, default_value_t)]
    pub color: Color,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Which domain, with which options.
#[derive(Debug, Clone, ClapArgs)]
pub struct WorldArgs {
    /// The probability that a chosen action is replaced by doing nothing (countdown); the noise of pixels (pacman; default: 0.2)
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub noise: Option<f64>,
    /// The size of the instances of a task of free size (task `large`)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    pub size: Option<usize>,
    /// The number of obstacles of a task of free size (gridworld), or of enemies (pacman)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    pub obstacles: Option<usize>,
    /// How many numbers there are in a task of free size (countdown)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    pub range: Option<usize>,
    /// One learner for all agents of a kind, instead of one per agent (traffic)
    #[arg(long)]
    pub shared: bool,
    /// Traffic scenarios: SUMO's .sumocfg files, names of the benchmark RESCO such as cologne1 (from the Python package
    /// sumo-rl), or the grids five and eight (signals)
    #[arg(long, value_name = "FILE", num_args = 1.., value_parser = scenario)]
    pub sumocfg: Vec<String>,
    /// Seconds at the most for which a junction is cleared before another phase gets green; 0 for none (signals; default: 10)
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = whole)]
    pub clearance: Option<usize>,
    /// The true facts, instead of those that are seen in pixels (pacman)
    #[arg(long)]
    pub facts: bool,
    /// Ignore the types of the domain: candidate atoms are then exactly the paper's
    #[arg(long)]
    pub untyped: bool,
}

impl WorldArgs {
    /// The environment's share of these.
    pub fn options(&self) -> Options {
        Options {
            noise: self.noise,
            size: self.size,
            obstacles: self.obstacles,
            range: self.range,
            shared: self.shared,
            sumocfg: self.sumocfg.clone(),
            clearance: self.clearance,
            facts: self.facts,
        }
    }
}

/// Which PDDL problems, and what is forbidden in them or in any other domain.
#[derive(Debug, Clone, Default, ClapArgs)]
pub struct ProblemArgs {
    /// PDDL problems to train on: files, or folders of them
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub train: Vec<PathBuf>,
    /// PDDL problems to score on: files, or folders of them, a task each
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub test: Vec<PathBuf>,
    /// Steps in a PDDL problem at the most (default: 20, and 10 per object)
    #[arg(long, value_name = "N", value_parser = positive)]
    pub horizon: Option<usize>,
    /// A file of rules that forbid, such as `never(move(X, Y)) :- fragile(Y).`, beside those of the domain file
    #[arg(long, value_name = "FILE")]
    pub shield: Option<PathBuf>,
}

impl ProblemArgs {
    /// What the library is asked for.
    pub fn asked(&self) -> Asked {
        let ProblemArgs { train, test, horizon, shield } = self.clone();
        Asked { train, test, horizon, shield }
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|s: &f64| s.is_finite() && *s > 0.0);
    seconds.ok_or_else(|| "a number of seconds, more than 0".to_string())
}

fn positive(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|n| *n > 0).ok_or_else(|| "a number of steps, from 1".to_string())
}

/// `derrl plan`.
///
/// Exit code 0 if the goal is reached, 1 if not.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  derrl plan runs/ferry-1 ferry/test/p1.pddl --out plan.txt")]
pub struct Plan {
    /// A policy file, or the folder of a run
    pub policy: PathBuf,
    /// The PDDL problem
    pub problem: PathBuf,
    /// The PDDL domain (not needed for the folder of a run)
    #[arg(long)]
    pub domain: Option<String>,
    /// Write the plan to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Steps at the most (default: 20, and 10 per object)
    #[arg(long, value_name = "N", value_parser = positive)]
    pub horizon: Option<usize>,
    /// A file of rules that forbid, beside those of the domain file
    #[arg(long, value_name = "FILE")]
    pub shield: Option<PathBuf>,
    /// The seed of breaking ties
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `derrl new`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  derrl new ferry\n  derrl new gripper --sizes 20,500\n  derrl new my-world --rust"
)]
pub struct New {
    /// The folder to make; its name is that of the domain
    pub name: PathBuf,
    /// Write a Rust crate with a world of its own
    #[arg(long)]
    pub rust: bool,
    /// Start a domain of another name from this planning domain
    #[arg(long, value_name = "DOMAIN", conflicts_with = "rust")]
    pub like: Option<String>,
    /// Sizes of the problems to test on: 8,12,20 unless said otherwise
    #[arg(long, value_name = "N,...", value_delimiter = ',', conflicts_with = "rust",
          value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub sizes: Vec<u64>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `derrl train`.
#[derive(Debug, ClapArgs)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
#[command(
    after_help = "Examples:\n  derrl train blocks\n  derrl train ./my.pl --seeds 0..9\n  derrl train ferry/domain.pddl --train ferry/train --test ferry/large\n  derrl train cartpole --max-seconds 60\n  derrl train --resume runs/blocks-1"
)]
// Wide: each field is an option of the command line.
pub struct Train {
    /// A built-in domain, the path of a domain file (.pl or .pddl), or a folder with `domain.pddl` and `train/`
    pub domain: Option<String>,
    /// The seed of the run
    #[arg(long, default_value_t = 0, conflicts_with = "seeds")]
    pub seed: u64,
    /// A range of seeds, both ends included: one run each
    #[arg(long, value_name = "A..B", value_parser = parse_seeds)]
    pub seeds: Option<SeedRange>,
    /// Train on this task: `train`, or one of free size with its --size (default: train)
    #[arg(long)]
    pub task: Option<String>,
    /// The folder of the run (default: the next free one in runs/)
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Change a setting; `derrl train --settings` lists them
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Start from the rules of this policy file, or of the folder of a run
    #[arg(long, value_name = "POLICY")]
    pub from: Option<PathBuf>,
    /// Keep these rules of --from as they are: their numbers in the file, from 1
    #[arg(long, value_name = "N,...", value_delimiter = ',', requires = "from")]
    pub freeze: Vec<usize>,
    /// Take settings from this TOML file; --set goes before it
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Explain the settings, with their defaults and ranges
    #[arg(long)]
    pub settings: bool,
    /// Print nothing but the paths of the policies
    #[arg(long, short, conflicts_with = "json")]
    pub quiet: bool,
    /// When to use colour
    #[arg(long, value_enum, default_value_t)]
    pub color: Color,
    /// Go on with a run that was interrupted
    #[arg(long, value_name = "DIR", conflicts_with_all = ["domain", "task", "out", "set", "seed", "seeds", "noise", "size", "obstacles", "range", "shared", "sumocfg", "clearance", "facts", "untyped", "from", "train", "test", "horizon", "max_steps", "shield", "episodes", "config", "freeze"])]
    pub resume: Option<PathBuf>,
    /// End each run within about so many steps of its world, with the best rules so far
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_steps: Option<u64>,
    /// End each run after so many seconds, with the best rules so far; scores come after. Runs of several seeds come one
    /// after the other. With --resume: seconds in all
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub max_seconds: Option<f64>,
    /// Episodes per score (default: 200, fewer where episodes are costly)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub episodes: Option<u32>,
    /// Threads to use (default: all cores); the result does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Write no report.html; `derrl report` writes it later
    #[arg(long)]
    pub no_report: bool,
    /// Write curves and scores for TensorBoard as well, into tensorboard/ in the folder of the run
    #[arg(long)]
    pub tensorboard: bool,
    /// Go ahead however much memory it takes
    #[arg(long)]
    pub force: bool,
    /// PDDL problems, and rules that forbid
    #[command(flatten)]
    pub problems: ProblemArgs,
    /// Options of the domain
    #[command(flatten)]
    pub world: WorldArgs,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `derrl eval`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  derrl eval runs/blocks-1\n  derrl eval my_policy.pl --domain blocks --task dynamic-blocks"
)]
pub struct Eval {
    /// A policy file, or the folder of a run
    pub policy: PathBuf,
    /// A built-in domain or the path of a domain file (not needed for the folder of a run)
    #[arg(long)]
    pub domain: Option<String>,
    /// Score on this task only (may be given several times; default: all tasks of fixed size)
    #[arg(long = "task", value_name = "TASK")]
    pub tasks: Vec<String>,
    /// Episodes per score (default: 200, fewer where episodes are costly)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub episodes: Option<u32>,
    /// The seed of the instances and of breaking ties
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Write every decision to this file, a line of JSON each; `derrl replay` checks it
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Exit with code 1 if no rule fires in some state, so that any action may be taken, or if a state lies outside what the
    /// policy was learned on, where its file says that
    #[arg(long)]
    pub strict: bool,
    /// PDDL problems, and rules that forbid
    #[command(flatten)]
    pub problems: ProblemArgs,
    /// Options of the domain
    #[command(flatten)]
    pub world: WorldArgs,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `derrl replay`.
///
/// Exit code 0 if every decision is as logged, 1 if not.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Example:\n  derrl eval runs/blocks-1 --log decisions.jsonl\n  derrl replay runs/blocks-1 decisions.jsonl"
)]
pub struct Replay {
    /// A policy file, or the folder of a run
    pub policy: PathBuf,
    /// The log that `derrl eval --log` wrote
    pub log: PathBuf,
    /// A built-in domain or the path of a domain file (not needed for the folder of a run)
    #[arg(long)]
    pub domain: Option<String>,
    /// Ignore the types of the domain
    #[arg(long)]
    pub untyped: bool,
    /// PDDL problems, and rules that forbid
    #[command(flatten)]
    pub problems: ProblemArgs,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `derrl explain`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  derrl explain runs/blocks-1\n  derrl explain runs/blocks-1 --why-not 'move(b, floor)'\n  derrl explain runs/blocks-1 --picture episode.gif"
)]
#[allow(clippy::struct_excessive_bools, reason = "flags of a command line")]
// Wide: each field is an option of the command line.
pub struct Explain {
    /// A policy file, or the folder of a run
    pub policy: PathBuf,
    /// A built-in domain or the path of a domain file (not needed for the folder of a run)
    #[arg(long)]
    pub domain: Option<String>,
    /// The task to draw an instance from (default: train)
    #[arg(long, value_name = "TASK")]
    pub task: Option<String>,
    /// Which episode of the seed to explain; they are the episodes that `eval` scores
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub episode: u32,
    /// Explain a state given by hand, in a file of facts, and run no episode. With --task, the background that the file
    /// does not mention is that of an instance of the task
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
    /// Steps to explain at the most
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub steps: u32,
    /// Also say at every step why this action was not chosen, e.g. "move(b, floor)"
    #[arg(long, value_name = "ACTION")]
    pub why_not: Option<String>,
    /// Also find the smallest set of facts whose change makes the policy choose this action
    #[arg(long, value_name = "ACTION")]
    pub what_if: Option<String>,
    /// Let --what-if change background facts too
    #[arg(long, requires = "what_if")]
    pub any_fact: bool,
    /// Let --what-if name a state that cannot be, where no state that can be does it
    #[arg(long, requires = "what_if")]
    pub any_state: bool,
    /// Facts that --what-if changes at the most
    #[arg(long, value_name = "N", default_value_t = 6, requires = "what_if", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub max_changes: u32,
    /// Draw the episode: all of it to a .gif, or the step of --step to an .svg or .png
    #[arg(long, value_name = "FILE", conflicts_with = "state")]
    pub picture: Option<PathBuf>,
    /// The step that --picture draws; the one after the last is the end
    #[arg(long, value_name = "N", default_value_t = 1, requires = "picture")]
    pub step: usize,
    /// Draw light on dark
    #[arg(long, requires = "picture")]
    pub dark: bool,
    /// When to use colour
    #[arg(long, value_enum, default_value_t)]
    pub color: Color,
    /// The seed of the instance and of breaking ties
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// PDDL problems, and rules that forbid
    #[command(flatten)]
    pub problems: ProblemArgs,
    /// Options of the domain
    #[command(flatten)]
    pub world: WorldArgs,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Which instances to look at: all up to a size.
#[derive(Debug, Clone, ClapArgs)]
pub struct ExtentArgs {
    /// The largest size: blocks, numbers on the stack, cells per side, or keys and doors together (default: the largest
    /// that takes about a second; not for PDDL, where every state of the given problems is looked at)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    pub max_objects: Option<usize>,
    /// Obstacles at the most (gridworld; default: 2)
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    pub obstacles: Option<usize>,
    /// Look at every state, also at those that differ from others only in names that the policy does not mention
    #[arg(long)]
    pub every_state: bool,
    /// Go ahead however much memory and time it takes
    #[arg(long)]
    pub force: bool,
    /// Threads to use (default: all cores); the result does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Ignore the types of the domain
    #[arg(long)]
    pub untyped: bool,
}

/// `derrl verify`.
///
/// Three answers: proved, proved if ties are random, refuted. Exit code 0 if what --ties asks for is proved, else 1.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  derrl verify runs/blocks-1\n  derrl verify runs/blocks-1 --max-objects 9\n  derrl verify my_policy.pl --domain doorkey --picture counterexample.svg"
)]
pub struct Verify {
    /// A policy file, or the folder of a run
    pub policy: PathBuf,
    /// A built-in domain or the path of a domain file (not needed for the folder of a run)
    #[arg(long)]
    pub domain: Option<String>,
    /// PDDL problems, and rules that forbid
    #[command(flatten)]
    pub problems: ProblemArgs,
    /// Which instances
    #[command(flatten)]
    pub extent: ExtentArgs,
    /// What counts as success: `worst` asks for the goal however ties are broken, `random` for the goal with
    /// probability 1 if they are broken at random
    #[arg(long, value_name = "HOW", default_value = "worst", value_parser = ["worst", "random"])]
    pub ties: String,
    /// A file that defines what must never hold in a state that is reached: predicates whose names begin with `bad`. For
    /// --served-within, it may also define what waits
    #[arg(long, value_name = "FILE")]
    pub property: Option<PathBuf>,
    /// Also say whether the goal is always reached within so many actions
    #[arg(long, value_name = "N")]
    pub within: Option<u32>,
    /// Also say whether nothing is starved: whether of any N actions in a row one names each object, or, where --property defines
    /// predicates whose names begin with `waiting`, each object of which one of these holds all the while
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub served_within: Option<u32>,
    /// Write a certificate to this file: all that `checker/check.py`, which shares no code with derrl, needs to check the
    /// verdict
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Draw the counterexample to this file (.svg or .png): that of the goal, else that of the first property
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,
    /// Draw light on dark
    #[arg(long, requires = "picture")]
    pub dark: bool,
    /// When to use colour
    #[arg(long, value_enum, default_value_t)]
    pub color: Color,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `derrl diff`.
///
/// Exit code 0 if the policies decide alike, 1 if they differ.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  derrl diff runs/blocks-1 my_policy.pl --max-objects 5")]
pub struct Diff {
    /// A policy file, or the folder of a run
    pub first: PathBuf,
    /// Another one
    pub second: PathBuf,
    /// A built-in domain or the path of a domain file (not needed for the folder of a run)
    #[arg(long)]
    pub domain: Option<String>,
    /// PDDL problems, and rules that forbid
    #[command(flatten)]
    pub problems: ProblemArgs,
    /// Which instances
    #[command(flatten)]
    pub extent: ExtentArgs,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `derrl simplify`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  derrl simplify runs/blocks-1 --max-objects 5")]
pub struct Simplify {
    /// A policy file, or the folder of a run
    pub policy: PathBuf,
    /// A built-in domain or the path of a domain file (not needed for the folder of a run)
    #[arg(long)]
    pub domain: Option<String>,
    /// PDDL problems, and rules that forbid
    #[command(flatten)]
    pub problems: ProblemArgs,
    /// Which instances
    #[command(flatten)]
    pub extent: ExtentArgs,
    /// Write the policy to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `derrl report`.
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "Examples:\n  derrl report runs/blocks-1\n  derrl report runs --out all.html\n  derrl report runs/blocks-1 --gif episode.gif"
)]
pub struct Report {
    /// The folder of a run, or one that holds several
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Where to write the page (default: report.html in the folder; runs.html in that of a reproduction)
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Episodes to show of each task (default: 4, fewer where there are many runs)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub episodes: Option<u32>,
    /// Also draw the first shown episode of the training task to this file (.gif)
    #[arg(long, value_name = "FILE")]
    pub gif: Option<PathBuf>,
    /// Steps to show of an episode at the most
    #[arg(long, value_name = "N", default_value_t = Extent::STEPS as u32, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub steps: u32,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `derrl export`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  derrl export runs/blocks-1 --to python --out policy.py")]
pub struct Export {
    /// A policy file, or the folder of a run
    pub policy: PathBuf,
    /// A built-in domain or the path of a domain file (not needed for the folder of a run)
    #[arg(long)]
    pub domain: Option<String>,
    /// The language
    #[arg(long, value_name = "TARGET", value_parser = targets())]
    pub to: String,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Ignore the types of the domain
    #[arg(long)]
    pub untyped: bool,
    /// A file of rules that forbid, beside those of the domain file
    #[arg(long, value_name = "FILE")]
    pub shield: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

fn targets() -> PossibleValuesParser {
    TARGETS.iter().map(|t| PossibleValue::new(t.name).help(t.summary)).collect::<Vec<_>>().into()
}

/// `derrl check`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  derrl check my.pl my_policy.pl")]
pub struct Check {
    /// Domain and policy files (.pl), a PDDL domain with its problems, or the folder of a run
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// The domain that policies are checked against (default: the first domain among the files)
    #[arg(long)]
    pub domain: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// `derrl reproduce`.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:\n  derrl reproduce all --quick\n  derrl reproduce table --domain blocks")]
pub struct Reproduce {
    /// What to reproduce
    #[arg(value_enum, default_value_t = Part::All)]
    pub part: Part,
    /// Seeds per run, from 0 (default: what each experiment says, 3 or more)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: Option<u64>,
    /// The folder of the results; runs that it holds already are not run again
    #[arg(long, value_name = "DIR", default_value = "reproduction")]
    pub out: PathBuf,
    /// Small budgets and two seeds: minutes instead of an hour, and weaker results
    #[arg(long)]
    pub quick: bool,
    /// No run takes more decisions than this (default: what each experiment says)
    #[arg(long, value_name = "DECISIONS", value_parser = clap::value_parser!(u64).range(1..))]
    pub budget: Option<u64>,
    /// These domains only, or scenarios of `signals` (may be given several times)
    #[arg(long = "domain", value_name = "DOMAIN")]
    pub domains: Vec<String>,
    /// Run these again, although they are finished, e.g. after a change to an agent: its name, or its name and a
    /// domain as in derrl:gridworld (may be given several times)
    #[arg(long, value_name = "AGENT[:DOMAIN]")]
    pub again: Vec<String>,
    /// Also put the generalisation table into this Markdown file, between its marks
    #[arg(long, value_name = "FILE")]
    pub readme: Option<PathBuf>,
    /// Threads to use (default: all cores); results other than times do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Print all tables, not only a summary
    #[arg(long, short, conflicts_with = "json")]
    pub verbose: bool,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// A part of the paper's experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Part {
    /// The generalisation table: every agent on every task, beside the paper's values
    Table,
    /// Training reward over episodes
    Convergence,
    /// Seconds an episode as problems grow
    Runtime,
    /// DERRL with one setting changed
    Ablation,
    /// The learned rules of every domain
    Rules,
    /// The same rules as programs: a loop with guarded steps
    Programs,
    /// Real traffic lights: every controller on the scenarios of RESCO, which takes hours
    #[cfg(feature = "sumo")]
    Signals,
    /// All of these but `signals`
    All,
}

/// A scenario of traffic. Files are named in full, because a run may be resumed from another folder.
fn scenario(text: &str) -> Result<String, String> {
    let path = std::path::Path::new(text);
    if !path.is_file() {
        return Ok(text.to_string());
    }
    let path = path.canonicalize().map_err(|e| e.to_string())?;
    path.into_os_string().into_string().map_err(|_| "its path is no text".to_string())
}

/// A count, worded for whoever gives something else.
fn whole(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("write a whole number from 0 to {}", usize::MAX))
}

/// Seeds from `first` to `last`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeedRange {
    /// The first seed.
    pub first: u64,
    /// The last seed.
    pub last: u64,
}

/// Reads a seed or a range of seeds, as in `0..9`.
pub fn parse_seeds(text: &str) -> Result<SeedRange, String> {
    let help = "write two whole numbers, as in 0..9 (both ends included)";
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    let number = |t: &str| t.parse::<u64>().map_err(|_| format!("`{t}` is not a seed; {help}"));
    let range = SeedRange { first: number(first)?, last: number(last)? };
    if range.first > range.last {
        return Err(format!("{first} is above {last}; {help}"));
    }
    if range.last - range.first >= MOST_SEEDS {
        return Err(format!("more than {MOST_SEEDS} seeds"));
    }
    Ok(range)
}
