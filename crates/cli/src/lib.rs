//! The command `derrl`, for programs that bring worlds of their own: [`main_with`] is all of it.
//!
//! ```no_run
//! # fn my_world() -> derrl::World { unimplemented!() }
//! fn main() -> std::process::ExitCode {
//!     derrl_cli::main_with([my_world()])
//! }
//! ```
//!
//! What the commands do is in the library `derrl`; here arguments and files are read, results printed, and exit codes chosen.
//!
//! | item | does |
//! |---|---|
//! | [`main_with`], [`run_with`], [`status_with`] | run the command |
//! | [`conclude`], [`Failure`], [`Outcome`] | exit codes, for commands like ours |
//! | [`print`], [`print_json`], [`message`] | results and messages |
//! | [`parse_seeds`], [`catch_interrupts`] | ranges of seeds, Ctrl-C |

#![deny(clippy::print_stdout, clippy::print_stderr)]

// The command line, a file per command.
mod args;
mod check;
mod cli;
mod diff;
mod domains;
mod eval;
mod explain;
mod export;
mod extent;
mod failure;
mod log;
mod manual;
mod new;
mod output;
mod picture;
mod plan;
mod progress;
mod report;
mod reproduce;
mod serve;
#[cfg(feature = "sumo")]
mod signals;
mod simplify;
mod style;
mod train;
mod verify;
mod watch;

pub use args::{SeedRange, parse_seeds};
pub use cli::{main_with, run_with, status_with};
pub use failure::{Failure, Outcome, conclude};
pub use output::{message, print, print_json};
pub use progress::{catch_interrupts, interrupted};

use output::say;
